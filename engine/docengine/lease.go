package docengine

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/barograph/barograph/engine"
)

// lockText is the content of a lock: who holds it, and how often that one has
// given a sign of life. No owner = it is free.
type lockText struct {
	Owner string `json:"owner,omitempty"`
	Beat  int64  `json:"beat,omitempty"`
}

// errLost is the cause by which the context of a holder ends whose lock was
// taken over.
var errLost = errors.New("the lock was lost: no sign of life for a whole lease; load the files again")

const (
	poll         = 20 * time.Millisecond // between two looks at a lock that another one holds
	beats        = 5                     // signs of life per lease
	metaPatience = 30 * time.Second      // for one small write that must not be broken off
)

// lease is a lock that is held.
type lease struct {
	meta Meta
	name string
	text lockText

	mu   sync.Mutex
	rev  int64
	stop context.CancelCauseFunc // ends the holder's context
	done chan struct{}           // closed when no more signs of life are given
}

// watch observes a lock that another one holds.
type watch struct {
	seen  lockText
	since time.Time
}

// dead reports whether the lock has not changed for a lease.
func (w *watch) dead(now lockText, patience time.Duration) bool {
	if w.since.IsZero() || now != w.seen {
		w.seen, w.since = now, time.Now()
		return false
	}
	return time.Since(w.since) >= patience
}

func loadLock(ctx context.Context, m Meta, name string) (lockText, int64, error) {
	var l lockText
	text, rev, err := m.Load(ctx, name)
	if err != nil || rev == 0 {
		return l, rev, err
	}
	if err := json.Unmarshal(text, &l); err != nil {
		return l, rev, fmt.Errorf("lock %s: %w", name, err)
	}
	return l, rev, nil
}

// acquire waits for a lock. The context that it returns ends when the lock is
// lost; release gives the lock back.
func acquire(ctx context.Context, m Meta, name string, patience time.Duration) (context.Context, *lease, error) {
	mine := lockText{Owner: rand.Text()}
	text, err := json.Marshal(mine)
	if err != nil {
		return nil, nil, err
	}
	var w watch
	for {
		now, rev, err := loadLock(ctx, m, name)
		if err != nil {
			return nil, nil, err
		}
		if now.Owner == "" || w.dead(now, patience) {
			got, err := swapWhole(ctx, m, name, text, rev)
			if err == nil {
				l := &lease{meta: m, name: name, text: mine, rev: got, done: make(chan struct{})}
				var held context.Context
				held, l.stop = context.WithCancelCause(ctx)
				go l.live(held, patience)
				return held, l, nil
			}
			if !errors.Is(err, ErrChanged) {
				return nil, nil, err
			}
		}
		if err := engine.Pause(ctx, poll); err != nil {
			return nil, nil, err
		}
	}
}

// swapWhole is a Swap that is not broken off when ctx ends: whether it was done
// would not be known.
func swapWhole(ctx context.Context, m Meta, name string, text []byte, rev int64) (int64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), metaPatience)
	defer stop()
	return m.Swap(ctx, name, text, rev)
}

// live gives signs of life until ctx ends.
func (l *lease) live(ctx context.Context, patience time.Duration) {
	defer close(l.done)
	last := time.Now()
	for engine.Pause(ctx, patience/beats) == nil {
		err := l.swap(ctx, lockText{Owner: l.text.Owner, Beat: l.text.Beat + 1})
		switch {
		case err == nil:
			last = time.Now()
		case errors.Is(err, errLost) || time.Since(last) >= patience:
			l.stop(errLost)
			return
		}
	}
}

// swap changes the lock, which is held.
func (l *lease) swap(ctx context.Context, to lockText) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	text, err := json.Marshal(to)
	if err != nil {
		return err
	}
	rev, err := swapWhole(context.WithoutCancel(ctx), l.meta, l.name, text, l.rev)
	if errors.Is(err, ErrChanged) { // also where an earlier swap was done but reported as failed
		now, there, e := loadLock(context.WithoutCancel(ctx), l.meta, l.name)
		switch {
		case e != nil:
			return e
		case now.Owner != l.text.Owner:
			return errLost
		}
		l.rev = there
		return err
	}
	if err == nil {
		l.rev, l.text = rev, to
	}
	return err
}

// release gives the lock back. Where that fails it is free after a lease.
func (l *lease) release(ctx context.Context) {
	l.stop(nil)
	<-l.done
	for range 2 { // the first may only learn the lock's revision
		if err := l.swap(ctx, lockText{}); err == nil || !errors.Is(err, ErrChanged) {
			return
		}
	}
}
