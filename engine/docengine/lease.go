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

// lockText is the content of a lock: its owner, and the owner's number of heartbeats. No owner
// = the lock is free.
type lockText struct {
	Owner string `json:"owner,omitempty"`
	Beat  int64  `json:"beat,omitempty"`
}

// errLost is the cause with which the context of an owner ends after another client took the
// lock over.
var errLost = errors.New("the lock was lost: no heartbeat during a complete lease; load the files again")

const (
	poll         = 20 * time.Millisecond // interval for checking a lock of another owner
	beats        = 5                     // heartbeats per lease
	metaPatience = 30 * time.Second      // limit of one small write that must not be canceled
)

// lease is a lock that this process owns.
type lease struct {
	meta Meta
	name string
	text lockText

	mu   sync.Mutex
	rev  int64
	stop context.CancelCauseFunc // ends the owner's context
	done chan struct{}           // closed after the last heartbeat
}

// watch observes a lock of another owner.
type watch struct {
	last  lockText
	since time.Time
}

// dead reports whether the lock has not changed for a lease.
func (w *watch) dead(current lockText, patience time.Duration) bool {
	if w.since.IsZero() || current != w.last {
		w.last, w.since = current, time.Now()
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

// acquire waits for a lock. The returned context ends when the lock is lost; release frees
// the lock.
func acquire(ctx context.Context, m Meta, name string, patience time.Duration) (context.Context, *lease, error) {
	own := lockText{Owner: rand.Text()}
	text, err := json.Marshal(own)
	if err != nil {
		return nil, nil, err
	}
	var w watch
	for {
		current, rev, err := loadLock(ctx, m, name)
		if err != nil {
			return nil, nil, err
		}
		if current.Owner == "" || w.dead(current, patience) {
			newRev, err := swapUncanceled(ctx, m, name, text, rev)
			if err == nil {
				l := &lease{meta: m, name: name, text: own, rev: newRev, done: make(chan struct{})}
				var lockCtx context.Context
				lockCtx, l.stop = context.WithCancelCause(ctx)
				go l.beat(lockCtx, patience)
				return lockCtx, l, nil
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

// swapUncanceled is a Swap that continues after ctx ends. Otherwise its outcome would be unknown.
func swapUncanceled(ctx context.Context, m Meta, name string, text []byte, rev int64) (int64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), metaPatience)
	defer stop()
	return m.Swap(ctx, name, text, rev)
}

// beat gives heartbeats until ctx ends.
func (l *lease) beat(ctx context.Context, patience time.Duration) {
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

// swap replaces the text of the owned lock.
func (l *lease) swap(ctx context.Context, to lockText) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	text, err := json.Marshal(to)
	if err != nil {
		return err
	}
	rev, err := swapUncanceled(context.WithoutCancel(ctx), l.meta, l.name, text, l.rev)
	if errors.Is(err, ErrChanged) { // also after an earlier swap that succeeded but reported an error
		current, revision, e := loadLock(context.WithoutCancel(ctx), l.meta, l.name)
		switch {
		case e != nil:
			return e
		case current.Owner != l.text.Owner:
			return errLost
		}
		l.rev = revision
		return err
	}
	if err == nil {
		l.rev, l.text = rev, to
	}
	return err
}

// release frees the lock. If that fails, the lock is free after a lease.
func (l *lease) release(ctx context.Context) {
	l.stop(nil)
	<-l.done
	for range 2 { // the first attempt may only read the lock's revision
		if err := l.swap(ctx, lockText{}); err == nil || !errors.Is(err, ErrChanged) {
			return
		}
	}
}
