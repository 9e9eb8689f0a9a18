package pace

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/barograph/barograph/internal/fault"
)

// ErrDone is returned by a Worker that has no more to do.
var ErrDone = errors.New("all work is done")

// Worker runs operations. It is used by one goroutine.
type Worker interface {
	// Do runs one operation and tells r how its parts went. ctx ends only when
	// the run cannot wait for the operation any longer. An operation that fails
	// is a status, not an error; an error ends the run, ErrDone the worker.
	Do(ctx context.Context, r *Recorder) error
}

// Arrivals is how operations are spread in an open loop.
type Arrivals string

// The arrivals.
const (
	Fixed   Arrivals = "fixed"   // one every 1/rate
	Poisson Arrivals = "poisson" // independent of each other: exponential gaps of mean 1/rate
)

// Phase is a rate that holds for a time.
type Phase struct {
	Rate float64
	For  time.Duration
}

// Options for Run.
type Options struct {
	Kinds    []string // of operations; a Recorder is given the index
	Statuses []string // how operations end; index 0 is success
	Harmless int      // the first status that is no failure, as those behind it are none; 0 = there is none

	Rate       float64       // operations per second of all workers together; 0 = closed loop
	Phases     []Phase       // rates one after the other, after the warm-up, in which the first holds; the last one goes on. Nil = Rate alone
	Arrivals   Arrivals      // "" = Fixed
	Operations int64         // ends the run after so many, those of the warm-up not counted; 0 = no limit
	Warmup     time.Duration // operations that should begin before are run and not counted
	Limit      time.Duration // ends the run so long after the warm-up; 0 = no limit
	Grace      time.Duration // how long running operations may take when the run ends, until they are cancelled, and again until they are abandoned; 0 = DefaultGrace
	Seed       uint64        // of Poisson arrivals
	Spin       bool          // wait for an operation's time by looking at the clock: exact, at the price of a core

	Interval time.Duration    // between two calls of Watch and of Each; 0 = one second
	Fine     time.Duration    // of the series; 0 = Interval
	Watch    func(p Progress) // called after each Interval, from one goroutine; nil = not
	Clock    *Clock           // nil = the machine's

	// Each is given what ended in each Interval after the warm-up, for logs of
	// intervals, from one goroutine at a time; the groups are its own. What a
	// worker keeps back is in the next: up to 100 ms. Nil = not.
	Each func(from, to time.Duration, groups [][]*Group)

	// Ended is given all that ended after the warm-up, some at a time, in any
	// order, from one goroutine at a time, which waits for it; it keeps nothing of
	// what it is given. Nil = not.
	Ended func(all []Sample)
}

// DefaultGrace is the grace that a run gives where none is set.
const DefaultGrace = 10 * time.Second

// Clock tells and spends time since the run began. Tests bring one of their own.
type Clock struct {
	Now   func() time.Duration
	Until func(t time.Duration, stop <-chan struct{}) // returns at t, or earlier where stop is closed
	Leave func()                                      // a worker has ended; nil = nothing to do
}

// Run runs operations until they are all done, the time is over, ctx is done
// or a worker fails. A ctx that is done is no error: the result says
// Interrupted and holds what was measured. The error is that of the first
// worker that failed; the result is valid with it, too.
func Run(ctx context.Context, workers []Worker, o Options) (*Result, error) {
	if err := o.check(len(workers)); err != nil {
		return nil, err
	}
	r := newRunner(o)
	r.start = time.Now()
	for _, w := range workers {
		r.running.Add(1)
		go r.work(w) // operations outlive a gentle stop
	}
	r.oversee(ctx)
	return r.result()
}

func (o *Options) check(workers int) error {
	switch {
	case workers == 0:
		return &fault.Error{Setting: "threads", Problem: "nobody works", Cure: "give at least 1"}
	case o.Rate < 0:
		return &fault.Error{Setting: "target", Problem: "a rate is not negative", Cure: "give operations per second, or 0 for no target"}
	case o.Arrivals != "" && o.Arrivals != Fixed && o.Arrivals != Poisson:
		return &fault.Error{Setting: "arrivals", Problem: "\"" + string(o.Arrivals) + "\" is not known", Cure: "choose fixed or poisson"}
	case o.Warmup < 0 || o.Limit < 0:
		return &fault.Error{Setting: "warm-up and time limit", Problem: "a time is not negative", Cure: "give seconds, or 0"}
	}
	return nil
}

// runner is the state of one run.
type runner struct {
	Options
	clock    Clock
	start    time.Time
	schedule *schedule
	opCtx    context.Context // of operations
	abort    context.CancelFunc

	running sync.WaitGroup
	all     chan struct{} // closed when every worker has ended
	stop    chan struct{} // closed when no operation may begin any more
	once    sync.Once
	why     Ending

	tally tally
}

func newRunner(o Options) *runner {
	if o.Interval == 0 {
		o.Interval = time.Second
	}
	if o.Fine == 0 {
		o.Fine = o.Interval
	}
	if o.Grace == 0 {
		o.Grace = DefaultGrace
	}
	r := &runner{Options: o, schedule: newSchedule(&o), all: make(chan struct{}), stop: make(chan struct{})}
	r.tally.init(&o)
	r.opCtx, r.abort = context.WithCancel(context.Background())
	if r.clock = machine(o.Spin); o.Clock != nil {
		r.clock = *o.Clock
	}
	return r
}

// machine is the machine's monotonic clock, from now on.
func machine(spin bool) Clock {
	began := time.Now()
	now := func() time.Duration { return time.Since(began) }
	timers := sync.Pool{New: func() any { t := time.NewTimer(time.Hour); t.Stop(); return t }}
	return Clock{Now: now, Until: func(t time.Duration, stop <-chan struct{}) {
		wait := t - now()
		if spin {
			wait -= spinning
		}
		if wait > 0 {
			timer := timers.Get().(*time.Timer) //nolint:forcetypeassert // New makes no others
			timer.Reset(wait)
			select {
			case <-timer.C:
			case <-stop:
			}
			timer.Stop()
			timers.Put(timer)
		}
		for spin && now() < t {
			select {
			case <-stop:
				return
			default:
			}
		}
	}}
}

// spinning is how long before its time an operation's worker begins to look
// at the clock: the system wakes a sleeper up to about so much late.
const spinning = 2 * time.Millisecond

// end stops the run, for the first reason that is given.
func (r *runner) end(why Ending) {
	r.once.Do(func() {
		r.why = why
		close(r.stop)
	})
}

func (r *runner) stopped() bool {
	select {
	case <-r.stop:
		return true
	default:
		return false
	}
}

// work is the loop of one worker.
func (r *runner) work(w Worker) {
	rec := &Recorder{runner: r}
	defer func() {
		rec.flush()
		if r.clock.Leave != nil {
			r.clock.Leave()
		}
		r.running.Done()
	}()
	for !r.stopped() {
		now := r.clock.Now()
		due, more := r.schedule.next(now)
		if !more {
			return
		}
		if due > now {
			rec.rest(now)
			r.clock.Until(due, r.stop)
			if r.stopped() {
				r.schedule.giveBack(due)
				return
			}
			now = r.clock.Now()
		}
		rec.begin(due, now)
		err := w.Do(r.opCtx, rec)
		if errors.Is(err, ErrDone) {
			r.schedule.giveBack(due)
			return
		}
		if err != nil {
			r.tally.fail(err)
			r.end(Failed)
			return
		}
		rec.finish()
	}
}

// oversee waits for the workers, and sees that the run ends when it must.
func (r *runner) oversee(ctx context.Context) {
	defer r.abort()
	go func() {
		r.running.Wait()
		close(r.all)
	}()
	tick := time.NewTicker(r.Interval)
	defer tick.Stop()
	var over <-chan time.Time
	if r.Limit > 0 && r.Clock == nil { // a worker that hangs does not see the end of time
		over = time.After(r.Warmup + r.Limit)
	}
	for {
		select {
		case <-r.all:
			r.end(r.schedule.ending())
			return
		case <-r.stop:
			r.wind()
			return
		case <-ctx.Done():
			r.end(Interrupted)
		case <-over:
			r.end(OutOfTime)
		case <-tick.C:
			if r.Watch != nil {
				r.Watch(r.tally.progress(r.clock.Now()))
			}
			r.snapshot()
		}
	}
}

// snapshot gives Each the interval that ends now.
func (r *runner) snapshot() {
	if r.Each == nil {
		return
	}
	now := r.clock.Now()
	if from, groups := r.tally.swap(now); groups != nil {
		r.Each(max(from-r.Warmup, 0), now-r.Warmup, groups)
	}
}

// wind gives running operations some grace, cancels them, then abandons them.
func (r *runner) wind() {
	for range 2 {
		select {
		case <-r.all:
			return
		case <-time.After(r.Grace):
			r.abort()
		}
	}
}
