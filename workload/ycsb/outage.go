package ycsb

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/fault"
	"github.com/barograph/barograph/measure/pace"
)

// outages counts connections that were lost, and for how long there was one
// that was not open again.
type outages struct {
	mu      sync.Mutex
	without int           // workers that have none now
	since   time.Duration // when the first of these lost it
	total   time.Duration
	opened  int64
}

func (o *outages) begin(now time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.without == 0 {
		o.since = now
	}
	o.without++
}

func (o *outages) end(now time.Duration, reopened bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.without--; o.without == 0 {
		o.total += now - o.since
	}
	if reopened {
		o.opened++
	}
}

// recover follows an operation that failed with an error: it waits, longer the
// more have failed in a row, and opens the connection anew if it is lost, which
// reopened reports. Its error ends the run: in maxoutage seconds nothing succeeded.
func (k *worker) recover(ctx context.Context, r *pace.Recorder, failure error) (reopened bool, err error) {
	if k.failures == 0 {
		k.failing = r.Now()
	}
	limit, lost := time.Duration(k.MaxOutage)*time.Second, false
	over := func() bool { return limit > 0 && r.Now()-k.failing >= limit }
	pause := func() bool {
		k.failures++
		return !over() && r.Pause(engine.BackOff(k.failures, k.rng))
	}
	if !pause() && !over() {
		return false, nil // the run has ended
	}
	conn, failed := k.table.Reopen(ctx, k.conn, k.key, func() bool {
		if !lost {
			lost = true
			k.outages.begin(r.Now())
		}
		return pause()
	})
	k.conn = conn
	if lost {
		k.outages.end(r.Now(), failed == nil)
	}
	switch {
	case failed != nil && over():
		return false, &fault.Status{Code: fault.Unreachable, Err: &fault.Error{
			Setting: "property maxoutage", Problem: fmt.Sprintf("the engine was not reached for %s", limit), Err: failed, Cure: "see whether its server runs; give more seconds to wait for it longer",
		}}
	case failed == nil && over():
		return false, &fault.Status{Code: fault.Incomplete, Err: &fault.Error{
			Setting: "property maxoutage", Problem: fmt.Sprintf("whatever a worker asked for %s failed", limit), Err: failure, Cure: "see the problems listed",
		}}
	}
	return lost && failed == nil, nil
}

// unanswered reports whether an error is none of the answers that an engine has
// for a key.
func unanswered(err error) bool {
	return err != nil && !errors.Is(err, engine.ErrNotFound) && !errors.Is(err, engine.ErrExists)
}
