package pace

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/barograph/barograph/internal/fault"
)

// ErrDone is returned by a Worker that has finished its work.
var ErrDone = errors.New("all work is done")

// Worker runs operations. Only one goroutine uses it.
type Worker interface {
	// Do runs one operation and reports its parts to r. ctx is cancelled only if the run cannot wait
	// for the operation any longer. A failed operation is a status, not an error. An error ends the
	// run; ErrDone ends only this worker.
	Do(ctx context.Context, r *Recorder) error
}

// Arrivals is the distribution of operations over time in an open loop.
type Arrivals string

// The arrivals.
const (
	Fixed   Arrivals = "fixed"   // one every 1/rate
	Poisson Arrivals = "poisson" // independent of each other: exponential gaps of mean 1/rate
)

// Phase is a rate and its duration.
type Phase struct {
	Rate     float64
	Duration time.Duration
}

// Options configures Run.
type Options struct {
	Kinds    []string // kinds of operations; a Recorder receives the index
	Statuses []string // outcomes of operations; index 0 is success
	// the first status that is not a failure; it and all later ones are harmless; 0 = there is none
	FirstHarmless int

	Rate float64 // operations per second of all workers together; 0 = closed loop
	// Phases are successive rates after the warm-up, during which the first rate applies; the last
	// rate has no end. nil = Rate only.
	Phases     []Phase
	Arrivals   Arrivals      // "" = Fixed
	Operations int64         // maximum number of operations after the warm-up; 0 = no limit
	Warmup     time.Duration // operations that are due earlier are run but not counted
	Limit      time.Duration // duration of the run after the warm-up; 0 = no limit
	// Grace is how long running operations may take at the end before they are cancelled, and after
	// that before they are abandoned; 0 = DefaultGrace.
	Grace    time.Duration
	Seed     uint64 // of Poisson arrivals
	BusyWait bool   // wait for an operation's time by polling the clock: exact, but uses a core

	Interval       time.Duration    // between two calls of OnProgress and of OnInterval; 0 = one second
	SeriesInterval time.Duration    // interval of the series; 0 = Interval
	OnProgress     func(p Progress) // called after each Interval, from one goroutine; nil = not called
	Clock          *Clock           // nil = the machine's

	// OnInterval receives, for logs of intervals, the operations that finished in each Interval after
	// the warm-up, from one goroutine at a time; it owns the groups. Operations that a worker still
	// buffers, for up to 100 ms, are in the next interval. nil = not called.
	OnInterval func(from, to time.Duration, groups [][]*Group)

	// OnFinished receives all operations that finished after the warm-up, in batches and in any order,
	// from one goroutine at a time, which waits for it. It must not keep its argument. nil = not
	// called.
	OnFinished func(all []Sample)
}

// DefaultGrace is the default of Options.Grace.
const DefaultGrace = 10 * time.Second

// Clock is the time since the start of a run. Tests replace it.
type Clock struct {
	Now   func() time.Duration
	Until func(t time.Duration, stop <-chan struct{}) // returns at t, or earlier where stop is closed
	Leave func()                                      // called when a worker has ended; nil = nothing to do
}

// Run runs operations until all are done, the time is over, ctx is done or a worker fails. If ctx
// is done, the result has the ending Interrupted and the measurements until then; this is not an
// error. The error is that of the first failed worker; the result is valid in this case, too.
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
	r.supervise(ctx)
	return r.result()
}

func (o *Options) check(workers int) error {
	switch {
	case workers == 0:
		return &fault.Error{Setting: "threads", Problem: "there are no workers", Cure: "give at least 1"}
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
	opCtx    context.Context // passed to operations
	abort    context.CancelFunc

	running  sync.WaitGroup
	finished chan struct{} // closed when every worker has ended
	stop     chan struct{} // closed when no operation may start any more
	once     sync.Once
	ending   Ending

	tally totals
}

func newRunner(o Options) *runner {
	if o.Interval == 0 {
		o.Interval = time.Second
	}
	if o.SeriesInterval == 0 {
		o.SeriesInterval = o.Interval
	}
	if o.Grace == 0 {
		o.Grace = DefaultGrace
	}
	r := &runner{Options: o, schedule: newSchedule(&o), finished: make(chan struct{}), stop: make(chan struct{})}
	r.tally.init(&o)
	r.opCtx, r.abort = context.WithCancel(context.Background())
	if r.clock = machineClock(o.BusyWait); o.Clock != nil {
		r.clock = *o.Clock
	}
	return r
}

// machineClock is the machine's monotonic clock, starting now.
func machineClock(spin bool) Clock {
	began := time.Now()
	now := func() time.Duration { return time.Since(began) }
	timers := sync.Pool{New: func() any { t := time.NewTimer(time.Hour); t.Stop(); return t }}
	return Clock{Now: now, Until: func(t time.Duration, stop <-chan struct{}) {
		wait := t - now()
		if spin {
			wait -= busyWait
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

// busyWait is how long before an operation's time its worker starts to poll the clock: the system
// wakes a sleeping goroutine up to about this much late.
const busyWait = 2 * time.Millisecond

// stopFor stops the run; the first reason counts.
func (r *runner) stopFor(why Ending) {
	r.once.Do(func() {
		r.ending = why
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
			rec.flushBefore(now)
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
			r.stopFor(Failed)
			return
		}
		rec.finish()
	}
}

// supervise waits for the workers, and stops the run when necessary.
func (r *runner) supervise(ctx context.Context) {
	defer r.abort()
	go func() {
		r.running.Wait()
		close(r.finished)
	}()
	tick := time.NewTicker(r.Interval)
	defer tick.Stop()
	var over <-chan time.Time
	if r.Limit > 0 && r.Clock == nil { // a worker that hangs does not see the end of time
		over = time.After(r.Warmup + r.Limit)
	}
	for {
		select {
		case <-r.finished:
			r.stopFor(r.schedule.ending())
			return
		case <-r.stop:
			r.drain()
			return
		case <-ctx.Done():
			r.stopFor(Interrupted)
		case <-over:
			r.stopFor(OutOfTime)
		case <-tick.C:
			if r.OnProgress != nil {
				r.OnProgress(r.tally.progress(r.clock.Now()))
			}
			r.snapshot()
		}
	}
}

// snapshot passes the interval that ends now to OnInterval.
func (r *runner) snapshot() {
	if r.OnInterval == nil {
		return
	}
	now := r.clock.Now()
	if from, groups := r.tally.swap(now); groups != nil {
		r.OnInterval(max(from-r.Warmup, 0), now-r.Warmup, groups)
	}
}

// drain waits for running operations, then cancels them, then abandons them.
func (r *runner) drain() {
	for range 2 {
		select {
		case <-r.finished:
			return
		case <-time.After(r.Grace):
			r.abort()
		}
	}
}
