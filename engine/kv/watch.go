package kv

import (
	"context"
	"sync"
)

// Watch cancels the call in flight of a connection when the context of the call is done. It watches a context once for
// all consecutive calls with it. All workers of a run share a context, and each context.AfterFunc locks it.
type Watch struct {
	Cancel func() // makes the call in flight return soon; called at most once for a call
	Settle func() // called after a canceled call

	mu       sync.Mutex
	watched  context.Context //nolint:containedctx // of the last call, and probably of the next one
	stop     func() bool
	running  bool // a call is in flight
	canceled bool
}

// Begin starts a call. If the context is done, it returns the context's error, and no call starts.
func (w *Watch) Begin(ctx context.Context) error {
	w.mu.Lock()
	if ctx != w.watched {
		w.forget()
		if w.watched = ctx; ctx.Done() != nil {
			w.stop = context.AfterFunc(ctx, func() { w.cancel(ctx) })
		}
	}
	w.running = true
	w.mu.Unlock()
	err := ctx.Err() // the context may have been done before running was set
	if err != nil {
		w.End()
	}
	return err
}

// End ends a call.
func (w *Watch) End() {
	w.mu.Lock()
	canceled := w.canceled
	w.running, w.canceled = false, false
	w.mu.Unlock()
	if canceled {
		w.Settle()
	}
}

// Close ends the watch of the last context.
func (w *Watch) Close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.forget()
}

func (w *Watch) forget() {
	if w.stop != nil {
		w.stop()
	}
	w.watched, w.stop = nil, nil
}

// cancel cancels the call in flight if it has this context.
func (w *Watch) cancel(ctx context.Context) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.running && w.watched == ctx {
		w.canceled = true
		w.Cancel()
	}
}
