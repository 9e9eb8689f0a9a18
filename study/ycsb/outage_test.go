package ycsb

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/barograph/barograph/engine/kv"
	"github.com/barograph/barograph/internal/fault"
)

var errLost = errors.New("connection reset")

// mortal is a server that fails once, in its calls-th call, and is available again after a time. Connections that were
// open then stay broken. The server executes its last call, but the reply is lost.
type mortal struct {
	calls   int64
	away    time.Duration // how long it is not available; 0 = for ever
	called  atomic.Int64
	died    atomic.Bool
	back    atomic.Bool
	refused atomic.Int64 // attempts to connect
}

// call reports whether a call reaches the server, and whether the client receives the reply.
func (m *mortal) call(bornAfter bool) (reached, replied bool) {
	if m.called.Add(1) == m.calls {
		m.died.Store(true)
		if m.away > 0 {
			time.AfterFunc(m.away, func() { m.back.Store(true) })
		}
		return true, false
	}
	ok := !m.died.Load() || bornAfter
	return ok, ok
}

func (m *mortal) records(r *kv.Records) *kv.Records {
	out := *r
	out.Connect = func(ctx context.Context) (*kv.Conn, error) {
		if m.died.Load() && !m.back.Load() {
			m.refused.Add(1)
			return nil, errLost
		}
		c, err := r.Connect(ctx)
		if err != nil {
			return nil, err
		}
		after, mine := m.died.Load(), *c
		around := func(f func() error) error {
			reached, replied := m.call(after)
			if !reached {
				return errLost
			}
			if err := f(); replied {
				return err
			}
			return errLost
		}
		mine.Read = func(ctx context.Context, key []byte, f kv.Fields, into *kv.Row) error {
			return around(func() error { return c.Read(ctx, key, f, into) })
		}
		mine.Insert = func(ctx context.Context, key []byte, row *kv.Row) error {
			return around(func() error { return c.Insert(ctx, key, row) })
		}
		mine.InsertMany = func(ctx context.Context, rows []kv.KeyRow) error {
			return around(func() error { return c.InsertMany(ctx, rows) })
		}
		mine.Update = func(ctx context.Context, key []byte, row *kv.Row) error {
			return around(func() error { return c.Update(ctx, key, row) })
		}
		return &mine, nil
	}
	return &out
}

// TestLostConnectionsAreOpenedAnew: a program that keeps a broken connection fails in microseconds, and counts failures
// as operations: 410,813 operations per second instead of 21,000.
func TestLostConnectionsAreOpenedAnew(t *testing.T) {
	c := config(t, "workload=core", "operationcount=20000", "dataintegrity=true")
	m := &mortal{calls: 5000, away: 30 * time.Millisecond}
	r, err := Run(t.Context(), wrapped{loaded(t, c), m.records}, c, Options{})
	if err != nil || code(r.Err()) != fault.Incomplete {
		t.Fatalf("%v; %v", err, r.Err())
	}
	failed := r.all(statusError)
	if r.Operations() != 20000 || failed < 1 || failed > 4 || r.Succeeded() != 20000-failed || r.all(statusWrong) != 0 {
		t.Errorf("of %d operations %d succeeded, %d failed: %v", r.Operations(), r.Succeeded(), failed, r.Problems)
	}
	if r.Reconnects != 4 || r.Outage <= 0 || r.Throughput() != float64(r.Succeeded())/r.Result.Elapsed.Seconds() {
		t.Errorf("%d connections reopened, away for %s, %g/s", r.Reconnects, r.Outage, r.Throughput())
	}
}

// TestLoadOutlivesItsServer: a record whose insert was executed without a reply is no duplicate.
func TestLoadOutlivesItsServer(t *testing.T) {
	for _, batch := range []string{"batchsize=1", "batchsize=10"} {
		for _, calls := range []int64{1, 17, 60} {
			c := config(t, batch)
			db, m := open(t), &mortal{calls: calls, away: 10 * time.Millisecond}
			r, err := Load(t.Context(), wrapped{db, m.records}, c, Options{})
			if err != nil || r.Err() != nil || r.Succeeded() != 1000 || r.Reconnects != 4 && calls > 1 {
				t.Fatalf("%s, dead at call %d: %v, %v", batch, calls, err, r)
			}
			if r, err := Run(t.Context(), db, c, Options{}); err != nil || r.Err() != nil {
				t.Errorf("%s, dead at call %d, then: %v", batch, calls, err)
			}
		}
	}
}

// TestOutageEndsTheRun: a server that stays away ends the run, before failures use up operationcount.
func TestOutageEndsTheRun(t *testing.T) {
	c := config(t, "maxoutage=1", "operationcount=1000000")
	m := &mortal{calls: 500}
	r, err := Run(t.Context(), wrapped{loaded(t, c), m.records}, c, Options{})
	if code(err) != fault.Unreachable || !strings.Contains(err.Error(), "not reached for 1s: connection reset") {
		t.Fatalf("%v", err)
	}
	if r.all(statusError) > 4 || r.Operations() > 504 || r.Reconnects != 0 || r.Result.Elapsed < time.Second {
		t.Errorf("%d operations, %d failed, in %s", r.Operations(), r.all(statusError), r.Result.Elapsed)
	}
	if n := m.refused.Load(); n > 100 {
		t.Errorf("%d attempts to connect in a second by 4 workers: no pause between", n)
	}
	// maxexecutiontime ends the run, too, without a delay.
	c = config(t, "maxexecutiontime=1", "operationcount=0")
	r, err = Run(t.Context(), wrapped{loaded(t, c), (&mortal{calls: 500}).records}, c, Options{})
	if err != nil || code(r.Err()) != fault.Incomplete || r.all(statusError) > 4 {
		t.Errorf("%v; %v", err, r.Err())
	}
}

// TestEndlessErrorsEndTheRun: if an engine returns only errors, workers pause between requests, and the run ends.
func TestEndlessErrorsEndTheRun(t *testing.T) {
	never := conns(func(c *kv.Conn) {
		c.InsertMany = nil
		c.Insert = func(context.Context, []byte, *kv.Row) error { return errors.New("never") }
	})
	r, err := Load(t.Context(), wrapped{open(t), never}, config(t, "core_workload_insertion_keep_going_on_error=true", "maxoutage=1"), Options{})
	if code(err) != fault.Incomplete || !strings.Contains(err.Error(), "failed: never") || r.all(statusError) > 100 || r.Reconnects != 0 {
		t.Errorf("%v, %d errors", err, r.all(statusError))
	}
}

// TestRetries: failed reads and updates are repeated, and those that then succeed are counted separately.
func TestRetries(t *testing.T) {
	calls := atomic.Int64{}
	seldom := conns(func(c *kv.Conn) {
		read, update := c.Read, c.Update
		lost := func() error {
			if n := calls.Add(1); n > 200 && n < 2000 && n%50 == 0 {
				return errLost
			}
			return nil
		}
		c.Read = func(ctx context.Context, key []byte, f kv.Fields, into *kv.Row) error {
			return cmp.Or(lost(), read(ctx, key, f, into))
		}
		c.Update = func(ctx context.Context, key []byte, r *kv.Row) error { return cmp.Or(lost(), update(ctx, key, r)) }
	})
	for _, tries := range []string{"0", "5"} {
		calls.Store(0)
		c := config(t, "readproportion=0.4", "updateproportion=0.3", "readmodifywriteproportion=0.3", "retries="+tries)
		r, err := Run(t.Context(), wrapped{loaded(t, config(t)), seldom}, c, Options{})
		retried := r.tally(statusRetried, opRead, opUpdate)
		if again := tries != "0"; err != nil || (r.Err() == nil) != again || (retried > 0) != again || (r.Retries > 0) != again || again && r.Succeeded() != 3000 || r.Retries < retried/2 {
			t.Errorf("retries=%s: %v, %v; %d retried, %d tries more, %d succeeded", tries, err, r.Err(), retried, r.Retries, r.Succeeded())
		}
	}
}
