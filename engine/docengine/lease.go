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

// errLost is the cause with which the context of an owner ends after the loss of the lock: another client took it
// over, or may have done so.
var errLost = errors.New("the lock was lost: no heartbeat during a complete lease; load the files again")

const (
	pollInterval  = 20 * time.Millisecond // between two looks at a lock of another owner
	beatsPerLease = 5
	swapTimeout   = 30 * time.Second // time limit of one swap
)

// ownedLock is a lock that this process owns.
type ownedLock struct {
	meta Meta
	name string
	text lockText

	mu    sync.Mutex
	rev   int64
	owned context.Context // ends when the lock is lost or freed, but not with the caller's context
	stop  func(error)     // ends owned, and the context that acquire returned
	done  chan struct{}   // closed after the last heartbeat
}

// watch observes a lock of another owner.
type watch struct {
	last  lockText
	since time.Time
}

// isDead reports whether the lock has not changed for a lease.
func (w *watch) isDead(current lockText, leaseTime time.Duration) bool {
	if w.since.IsZero() || current != w.last {
		w.last, w.since = current, time.Now()
		return false
	}
	return time.Since(w.since) >= leaseTime
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

// acquire waits for a lock. The returned context ends when the lock is lost; release frees the lock. All clients must
// have the same leaseTime: one with a shorter lease would take a living owner for dead.
func acquire(ctx context.Context, m Meta, name string, leaseTime time.Duration) (context.Context, *ownedLock, error) {
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
		if current.Owner == "" || w.isDead(current, leaseTime) {
			sent := time.Now()
			newRev, err := swapUncanceled(ctx, m, name, text, rev)
			if err == nil {
				l := &ownedLock{meta: m, name: name, text: own, rev: newRev, done: make(chan struct{})}
				lockCtx, stopOwner := context.WithCancelCause(ctx)
				owned, stopBeats := context.WithCancelCause(context.WithoutCancel(ctx))
				l.owned, l.stop = owned, func(cause error) { stopBeats(cause); stopOwner(cause) }
				go l.beat(owned, sent, leaseTime)
				return lockCtx, l, nil
			}
			if !errors.Is(err, ErrChanged) {
				return nil, nil, err
			}
		}
		if err := engine.Pause(ctx, pollInterval); err != nil {
			return nil, nil, err
		}
	}
}

// swapUncanceled is a Swap that continues after ctx ends. Otherwise its outcome would be unknown.
func swapUncanceled(ctx context.Context, m Meta, name string, text []byte, rev int64) (int64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), swapTimeout)
	defer stop()
	return m.Swap(ctx, name, text, rev)
}

// beat gives heartbeats until ctx ends. last is the time of the request that took the lock. The lock counts as lost
// if no heartbeat succeeds in time, also while a request hangs. A process that was suspended tries once more.
func (l *ownedLock) beat(ctx context.Context, last time.Time, leaseTime time.Duration) {
	defer close(l.done)
	pause := leaseTime / beatsPerLease
	for engine.Pause(ctx, pause) == nil {
		sent := time.Now() // of the heartbeat: other clients may see it, and start to wait, before its reply arrives
		err := l.swap(ctx, false, max(leaseTime-sent.Sub(last), pause))
		switch {
		case err == nil:
			last = sent
		case errors.Is(err, errLost) || time.Since(last) >= leaseTime-pause: // the next heartbeat would be too late
			l.stop(errLost)
			return
		}
	}
}

// swap renews the lock for another lease, or frees it if free is set. It takes at most limit, and at most swapTimeout.
func (l *ownedLock) swap(ctx context.Context, free bool, limit time.Duration) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), min(limit, swapTimeout))
	defer stop()
	current := l.text
	for range 3 {
		next := lockText{Owner: current.Owner, Beat: current.Beat + 1}
		if free {
			next = lockText{}
		}
		text, err := json.Marshal(next)
		if err != nil {
			return err
		}
		rev, err := l.meta.Swap(ctx, l.name, text, l.rev)
		if err == nil {
			l.rev, l.text = rev, next
		}
		if !errors.Is(err, ErrChanged) {
			return err
		}
		// An earlier swap may have succeeded but reported an error. Other clients then count the lease from its text, so
		// the next heartbeat has another.
		current, rev, err = loadLock(ctx, l.meta, l.name)
		switch {
		case err != nil:
			return err
		case current.Owner != l.text.Owner:
			return errLost
		}
		l.rev, l.text = rev, current
	}
	return ErrChanged
}

// release frees the lock. If that fails, the lock is free after a lease.
func (l *ownedLock) release(ctx context.Context) {
	l.stop(nil)
	<-l.done
	_ = l.swap(ctx, true, swapTimeout)
}
