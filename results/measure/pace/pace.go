package pace

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/barograph/barograph/internal/fault"
)

// ErrDone is returned by a Worker that has finished its work.
var ErrDone = errors.New("all work is done")

// Worker runs operations. Only one goroutine uses it.
type Worker interface {
	// Do runs one operation and records it in r. If the operation has parts, such as the read and the update of a
	// read-modify-write, Do records these, too. A failed operation is a status, not an error: an error ends the run, and
	// ErrDone ends this worker. Run cancels ctx only when it can wait for the operation no longer.
	Do(ctx context.Context, r *Recorder) error
}

// Arrivals is the distribution of operations over time in an open loop.
type Arrivals string

// The arrivals.
const (
	Fixed   Arrivals = "fixed"   // one every 1/rate
	Poisson Arrivals = "poisson" // independent of each other: exponential gaps of mean 1/rate
)

// RatePhase is a rate and its duration.
type RatePhase struct {
	Rate     float64
	Duration time.Duration
}

// Options configures Run.
type Options struct {
	Kinds    []string // kinds of operations; a Recorder receives the index
	Statuses []string // outcomes of operations; index 0 is success
	// FirstHarmless is the index of the first status that is neither success nor failure, such as a record that is not
	// found. All later ones are harmless, too. 0 = every status except success is a failure.
	FirstHarmless int

	Rate float64 // operations per second of all workers together; 0 = closed loop
	// Phases are successive rates. The first rate already applies during the warm-up, but its duration counts from the
	// end of the warm-up. The last rate has no end. nil = Rate only.
	Phases      []RatePhase
	Arrivals    Arrivals      // "" = Fixed
	Operations  int64         // maximum number of operations after the warm-up; 0 = no limit
	Warmup      time.Duration // operations that are due earlier are run but not counted
	MaxDuration time.Duration // duration of the run after the warm-up; 0 = no limit
	// Grace is how long Run waits at the end for operations in flight before it cancels them. It then waits once more for
	// the same time before it abandons them. 0 = DefaultGrace.
	Grace    time.Duration
	Seed     uint64 // of Poisson arrivals
	BusyWait bool   // wait for an operation's time by polling the clock: exact, but uses a core

	ReportInterval time.Duration    // between two calls of OnProgress, and of OnInterval; 0 = one second
	SeriesInterval time.Duration    // of Result.Series; 0 = ReportInterval
	OnProgress     func(p Progress) // called after each ReportInterval, from one goroutine; nil = not called
	Clock          *Clock           // nil = the machine's

	// OnInterval receives the groups (by kind and status) of the operations that finished in each ReportInterval. from
	// and to count from the end of the warm-up. The callback may keep the groups. Workers buffer samples for up to
	// 100 ms, or until the end of their next operation; a buffered sample appears in the next interval. One goroutine at a
	// time calls it. nil = not called.
	OnInterval func(from, to time.Duration, groups [][]*OutcomeTimes)

	// OnFinished receives every recorded sample (each operation and each recorded part) of the operations that were due
	// after the warm-up. Samples come in batches and in any order, from one goroutine at a time, which waits for it. It
	// must not keep its argument. nil = not called.
	OnFinished func(all []OperationSample)
}

// DefaultGrace is the default of Options.Grace.
const DefaultGrace = 10 * time.Second

// Clock tells the time since the start of a run. Tests replace it.
type Clock struct {
	Now        func() time.Duration
	SleepUntil func(t time.Duration, stop <-chan struct{}) // returns at t, or earlier if stop is closed
	WorkerDone func()                                      // called when a worker has ended; nil = nothing to do
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
		go r.work(w) // without ctx: an operation in flight may finish after ctx is done, within Grace
	}
	r.supervise(ctx)
	return r.result()
}

func (o *Options) check(workers int) error {
	switch {
	case workers == 0:
		return &fault.Error{Setting: "threads", Problem: "there are no workers", Cure: "give at least 1"}
	case !(o.Rate >= 0):
		return &fault.Error{Setting: "target", Problem: "is negative", Cure: "give operations per second, or 0 for no target"}
	case slices.ContainsFunc(o.Phases, func(p RatePhase) bool { return !(p.Rate > 0) || p.Duration < 0 }):
		return &fault.Error{Setting: "target", Problem: "has a phase without a rate above 0, or with a negative duration", Cure: "give operations per second, and seconds"}
	case o.Arrivals != "" && o.Arrivals != Fixed && o.Arrivals != Poisson:
		return &fault.Error{Setting: "arrivals", Problem: "\"" + string(o.Arrivals) + "\" is not known", Cure: "choose fixed or poisson"}
	case o.Warmup < 0 || o.MaxDuration < 0:
		return &fault.Error{Setting: "warm-up or time limit", Problem: "is negative", Cure: "give seconds, or 0"}
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
	stopAt   time.Duration // when stop was closed

	tally totals
}

func newRunner(o Options) *runner {
	o.ReportInterval = cmp.Or(o.ReportInterval, time.Second)
	o.SeriesInterval, o.Grace = cmp.Or(o.SeriesInterval, o.ReportInterval), cmp.Or(o.Grace, DefaultGrace)
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
	return Clock{Now: now, SleepUntil: func(t time.Duration, stop <-chan struct{}) {
		wait := t - now()
		if spin {
			wait -= pollAhead
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

// pollAhead is how long before an operation's time its worker starts to poll the clock. The system may wake a sleeping
// goroutine about this much too late.
const pollAhead = 2 * time.Millisecond

// stopBecause stops the run for a reason. Only the first call has an effect.
func (r *runner) stopBecause(why Ending) {
	r.once.Do(func() {
		r.ending, r.stopAt = why, r.clock.Now()
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
		if r.clock.WorkerDone != nil {
			r.clock.WorkerDone()
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
			rec.flushBefore(due)
			r.clock.SleepUntil(due, r.stop)
			if r.stopped() {
				r.schedule.giveBack(due, r.stopAt)
				return
			}
			now = r.clock.Now()
		}
		rec.begin(due, now)
		err := w.Do(r.opCtx, rec)
		if errors.Is(err, ErrDone) {
			r.schedule.giveBack(due, 0)
			return
		}
		if err != nil {
			r.tally.fail(err)
			r.stopBecause(Failed)
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
	tick := time.NewTicker(r.ReportInterval)
	defer tick.Stop()
	var over <-chan time.Time
	if r.MaxDuration > 0 && r.Clock == nil { // a hung worker does not notice the time limit
		over = time.After(r.Warmup + r.MaxDuration)
	}
	for {
		select {
		case <-r.finished:
			r.stopBecause(r.schedule.ending())
			return
		case <-r.stop:
			r.drain()
			return
		case <-ctx.Done():
			r.stopBecause(Interrupted)
		case <-over:
			r.stopBecause(OutOfTime)
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
