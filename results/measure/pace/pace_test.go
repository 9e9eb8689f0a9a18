package pace

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/barograph/barograph/internal/fault"
)

// stub is an engine with a known delay that stalls. An operation that begins during a stall waits for its end; one that
// is running when a stall begins takes longer by the stall.
type stub struct {
	clock *virtual
	delay func(i int) time.Duration
	every time.Duration // a stall begins at each multiple; 0 = never
	stall time.Duration
	done  int
	fails int // one of so many operations fails; 0 = none
}

// end returns the end of an operation that begins at began and takes d without a stall.
func (s *stub) end(began, d time.Duration) time.Duration {
	if s.every == 0 {
		return began + d
	}
	at := began / s.every * s.every // the stall before, or at, began
	if at > 0 && began < at+s.stall {
		began = at + s.stall
	}
	if next := began/s.every*s.every + s.every; began < next && began+d > next {
		return began + d + s.stall
	}
	return began + d
}

func (s *stub) Do(_ context.Context, r *Recorder) error {
	began := r.Now()
	s.clock.until(s.end(began, s.delay(s.done)))
	s.done++
	status := 0
	if s.fails > 0 && s.done%s.fails == 0 {
		status = 1
	}
	r.Done(0, status, began)
	return nil
}

func constant(d time.Duration) func(int) time.Duration { return func(int) time.Duration { return d } }

// play runs stubs on a virtual clock.
func play(t *testing.T, workers int, o Options, each func(s *stub)) *Result {
	t.Helper()
	v := newVirtual(workers)
	o.Kinds, o.Statuses, o.Clock = []string{"READ"}, []string{"OK", "ERROR"}, v.clock()
	all := make([]Worker, workers)
	for i := range all {
		s := &stub{clock: v, delay: constant(time.Millisecond)}
		if each != nil {
			each(s)
		}
		all[i] = s
	}
	got, err := Run(t.Context(), all, o)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// expectedTimes computes the response and service times of a queue: arrivals in order, each to the
// worker that is free first. It knows nothing of the loop under test.
func expectedTimes(
	workers int, arrivals []time.Duration, end func(began time.Duration) time.Duration,
) (response, service []time.Duration) {
	free := make([]time.Duration, workers)
	for _, due := range arrivals {
		w := 0
		for i := range free {
			if free[i] < free[w] {
				w = i
			}
		}
		began := max(due, free[w])
		free[w] = end(began)
		response = append(response, free[w]-due)
		service = append(service, free[w]-began)
	}
	return response, service
}

func quantile(sorted []time.Duration, p float64) time.Duration {
	return sorted[min(max(int(math.Ceil(p/100*float64(len(sorted))))-1, 0), len(sorted)-1)]
}

// near reports each percentile of a histogram that differs from the computed times by more than 1 %.
func near(t *testing.T, name string, at func(p float64) time.Duration, times []time.Duration) {
	t.Helper()
	slices.SortFunc(times, cmp.Compare)
	for _, p := range []float64{50, 90, 95, 99, 99.9, 100} {
		want, got := quantile(times, p), at(p)
		if math.Abs(float64(got-want)) > 0.01*float64(want) {
			t.Errorf("%s, %v %%: %v, computed %v", name, p, got, want)
		}
	}
}

// TestStalls: the engine stalls for 500 ms every 5 s. At 1,000 operations per second the response times of the open loop
// contain the time for which operations wait because of a stall. The closed loop sends none meanwhile, so only its
// slowest operations show it.
func TestStalls(t *testing.T) {
	const workers, rate, seconds = 4, 1000, 60
	stalls := func(s *stub) { s.every, s.stall = 5*time.Second, 500*time.Millisecond }
	model := &stub{}
	stalls(model)
	end := func(began time.Duration) time.Duration { return model.end(began, time.Millisecond) }
	fixed := make([]time.Duration, rate*seconds)
	for i := range fixed {
		fixed[i] = time.Duration(i) * time.Second / rate
	}
	var poisson []time.Duration
	rng := rand.New(rand.NewPCG(7, scheduleStream))
	for at := rng.ExpFloat64() / rate; at < seconds; at += rng.ExpFloat64() / rate {
		poisson = append(poisson, time.Duration(at*1e9))
	}
	for _, x := range []struct {
		how Arrivals
		due []time.Duration
	}{{Fixed, fixed}, {Poisson, poisson}} {
		t.Run(string(x.how), func(t *testing.T) {
			got := play(t, workers, Options{Rate: rate, Arrivals: x.how, Seed: 7, MaxDuration: seconds * time.Second}, stalls)
			g := got.Groups[0][0]
			if g.Count+got.Unstarted != int64(len(x.due)) {
				t.Errorf("%d done and %d unstarted of %d", g.Count, got.Unstarted, len(x.due))
			}
			response, service := expectedTimes(workers, x.due[:g.Count], end)
			near(t, "response", g.Response.At, response)
			near(t, "service", g.Service.At, service)
		})
	}
	closed := play(t, workers, Options{Operations: 200_000}, stalls).Groups[0][0]
	if p999 := closed.Response.At(99.9); p999 > 2*time.Millisecond {
		t.Errorf("the closed loop shows the stall at 99.9 %%: %v", p999)
	}
	if most := closed.Response.Max(); most < 500*time.Millisecond {
		t.Errorf("the closed loop's slowest operation took %v", most)
	}
}

// TestRateAfterWarmup: each second after the warm-up has the target's number of operations, whatever the number of
// workers. (go-ycsb runs 5,991 operations in the first second after a warm-up, with a target of 1,000.)
func TestRateAfterWarmup(t *testing.T) {
	for _, workers := range []int{1, 7, 32} {
		got := play(t, workers, Options{Rate: 1000, Warmup: 5 * time.Second, MaxDuration: 20 * time.Second}, nil)
		if len(got.Series) < 20 || got.Groups[0][0].Count != 20_000 || got.Unstarted != 0 {
			t.Fatalf("%d workers: %d slices, %d operations, %d unstarted", workers, len(got.Series), got.Groups[0][0].Count, got.Unstarted)
		}
		for i, s := range got.Series[:20] {
			if s.Finished < 990 || s.Finished > 1010 {
				t.Errorf("%d workers, second %d: %d operations", workers, i, s.Finished)
			}
		}
	}
}

// TestOverload: if operations are due faster than the workers can run them, each of them is run or counted as unstarted,
// and the response times grow with the backlog. (BenchBase drops what exceeds a queue of 10,000, sysbench aborts.)
func TestOverload(t *testing.T) {
	const rate, seconds = 50_000, 2
	got := play(t, 2, Options{Rate: rate, MaxDuration: seconds * time.Second}, nil) // 2 workers do 2,000 a second
	g := got.Groups[0][0]
	if g.Count+got.Unstarted != rate*seconds || g.Count < 2*1000*seconds || g.Count > 2*1000*seconds+2 {
		t.Errorf("%d done, %d unstarted of %d", g.Count, got.Unstarted, rate*seconds)
	}
	if p := g.Response.At(50); p < 900*time.Millisecond {
		t.Errorf("median response %v though the backlog grows for 2 s", p)
	}
	if got.Ending != OutOfTime {
		t.Errorf("ended by %s", got.Ending)
	}
}

func TestWarmupIsExcludedAndOperationsAreCounted(t *testing.T) {
	slowStart := func(s *stub) {
		s.delay = func(int) time.Duration {
			if s.clock.Now() < time.Second {
				return 50 * time.Millisecond
			}
			return time.Millisecond
		}
	}
	got := play(t, 2, Options{Warmup: 2 * time.Second, Operations: 1000}, slowStart)
	g := got.Groups[0][0]
	if g.Count != 1000 || got.Operations != 1000 || got.Ending != Completed || g.Response.Max() > 2*time.Millisecond {
		t.Errorf("%d operations, the slowest %v, ended by %s", g.Count, g.Response.Max(), got.Ending)
	}
	if got.Elapsed != 500*time.Millisecond {
		t.Errorf("1,000 operations of 1 ms by 2 workers in %v", got.Elapsed)
	}
}

func TestFailuresAreCountedApartAndInTheSeries(t *testing.T) {
	got := play(t, 1, Options{Operations: 1000}, func(s *stub) { s.fails = 10 })
	if got.Count(0, 0) != 900 || got.Count(0, 1) != 100 {
		t.Errorf("%d good, %d failed", got.Count(0, 0), got.Count(0, 1))
	}
	var failed int64
	for _, s := range got.Series {
		failed += s.Failed
	}
	if failed != 100 {
		t.Errorf("the series has %d failures", failed)
	}
}

// worker is a function.
type worker func(ctx context.Context, r *Recorder) error

func (w worker) Do(ctx context.Context, r *Recorder) error { return w(ctx, r) }

// parts is a worker whose operations have two parts and a sample of their own; the second
// part of every tenth operation fails.
type parts struct {
	clock *virtual
	done  int
}

func (w *parts) Do(_ context.Context, r *Recorder) error {
	w.done++
	began, status := r.Now(), 0
	if w.done%10 == 0 {
		status = 1
	}
	w.clock.until(began + time.Millisecond)
	r.Done(1, 0, began)
	w.clock.until(began + 3*time.Millisecond)
	r.Done(2, status, began+time.Millisecond)
	r.Done(0, status, began)
	return nil
}

// TestPartsAreNotOperations: the series and the result count operations. Their parts are
// counted in their groups only.
func TestPartsAreNotOperations(t *testing.T) {
	v := newVirtual(1)
	o := Options{Kinds: []string{"READ-MODIFY-WRITE", "READ", "UPDATE"}, Statuses: []string{"OK", "ERROR"}, Clock: v.clock(), Operations: 300, Rate: 100}
	got, err := Run(t.Context(), []Worker{&parts{clock: v}}, o)
	if err != nil {
		t.Fatal(err)
	}
	if got.Operations != 300 || got.Succeeded != 270 || got.Count(1, 0) != 300 || got.Count(2, 0) != 270 || len(got.Series) != 3 {
		t.Errorf("%d operations, %d correct, %d reads, %d updates, %d seconds", got.Operations, got.Succeeded, got.Count(1, 0), got.Count(2, 0), len(got.Series))
	}
	for second, s := range got.Series {
		if s.Finished != 100 || s.Failed != 10 || s.Slowest != 3*time.Millisecond {
			t.Errorf("second %d: %+v", second, s)
		}
	}
}

// TestHungOperationDoesNotHangTheRun: YCSB waits for ever for a thread that is blocked.
func TestHungOperationDoesNotHangTheRun(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	started := make(chan struct{}, 2)
	cancelled := worker(func(ctx context.Context, _ *Recorder) error { started <- struct{}{}; <-ctx.Done(); return nil })
	hung := worker(func(context.Context, *Recorder) error { started <- struct{}{}; <-release; return nil })
	for _, x := range []struct {
		w    Worker
		hung bool
	}{{cancelled, false}, {hung, true}} {
		ctx, stop := context.WithCancel(t.Context())
		go func() { <-started; stop() }()
		got, err := Run(ctx, []Worker{x.w}, Options{Kinds: []string{"READ"}, Statuses: []string{"OK"}, Grace: time.Millisecond})
		if err != nil || got.Hung != x.hung || got.Ending != Interrupted {
			t.Errorf("hung %v, ended by %s, %v", got.Hung, got.Ending, err)
		}
		stop()
	}
	got, err := Run(t.Context(), []Worker{cancelled}, Options{Kinds: []string{"READ"}, Statuses: []string{"OK"}, Grace: time.Millisecond, MaxDuration: time.Millisecond})
	if err != nil || got.Ending != OutOfTime {
		t.Errorf("a blocked worker and a time limit: %s, %v", got.Ending, err)
	}
}

func TestStopIsGentleAndReports(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	n := 0
	w := worker(func(ctx context.Context, r *Recorder) error {
		if n++; n == 100 {
			stop()
		}
		r.Done(0, 0, r.Now())
		return ctx.Err() // the operation itself is not disturbed
	})
	got, err := Run(ctx, []Worker{w}, Options{Kinds: []string{"READ"}, Statuses: []string{"OK"}, Rate: 1e6})
	if err != nil || got.Ending != Interrupted || got.Count(0, 0) < 100 {
		t.Errorf("%d operations, ended by %s, %v", got.Count(0, 0), got.Ending, err)
	}
}

func TestWorkersEndAndFail(t *testing.T) {
	n := 0
	limited := worker(func(_ context.Context, r *Recorder) error {
		if n == 10 {
			return ErrDone
		}
		n++
		r.Done(0, 0, r.Began())
		return nil
	})
	o := Options{Kinds: []string{"READ"}, Statuses: []string{"OK"}}
	got, err := Run(t.Context(), []Worker{limited}, o)
	if err != nil || got.Count(0, 0) != 10 || got.Ending != Completed {
		t.Errorf("%d operations, %s, %v", got.Count(0, 0), got.Ending, err)
	}
	bad := errors.New("bad")
	got, err = Run(t.Context(), []Worker{worker(func(context.Context, *Recorder) error { return bad })}, o)
	if !errors.Is(err, bad) || got.Ending != Failed {
		t.Errorf("%s, %v", got.Ending, err)
	}
	if _, err = Run(t.Context(), nil, o); err == nil {
		t.Error("a run without workers is no error")
	}
	o.Arrivals = "bursty"
	if _, err = Run(t.Context(), []Worker{limited}, o); !errors.As(err, new(*fault.Error)) {
		t.Errorf("unknown arrivals: %v", err)
	}
	for _, p := range []RatePhase{{0, time.Second}, {-1, time.Second}, {math.NaN(), time.Second}, {1, -time.Second}} {
		o = Options{Phases: []RatePhase{p}, MaxDuration: time.Millisecond}
		if _, err = Run(t.Context(), []Worker{limited}, o); !errors.As(err, new(*fault.Error)) {
			t.Errorf("phase %v: %v", p, err)
		}
	}
}

// Gaps of Poisson arrivals are exponential: by the chi-square test in 20 classes
// of equal probability (30.1 is the 5 % point of 19 degrees of freedom).
func TestPoissonGaps(t *testing.T) {
	const n, classes, rate = 100_000, 20, 250.0
	s := newSchedule(&Options{Rate: rate, Arrivals: Poisson, Seed: 3})
	var seen [classes]float64
	before := time.Duration(0)
	for range n {
		due, _ := s.next(0)
		p := 1 - math.Exp(-(due-before).Seconds()*rate)
		seen[min(int(p*classes), classes-1)]++
		before = due
	}
	chi := 0.0
	for _, c := range seen {
		chi += (c - n/classes) * (c - n/classes) / (n / classes)
	}
	if chi > 30.1 {
		t.Errorf("chi-square %.1f with %d degrees of freedom", chi, classes-1)
	}
}

func TestNothingIsAllocatedPerOperation(t *testing.T) {
	const n = 20_000
	allocs := testing.AllocsPerRun(1, func() {
		o := Options{Kinds: []string{"READ"}, Statuses: []string{"OK"}, Operations: n, Rate: 1e9}
		_, err := Run(t.Context(), []Worker{worker(func(_ context.Context, r *Recorder) error { r.Done(0, 0, r.Began()); return nil })}, o)
		if err != nil {
			t.Fatal(err)
		}
	})
	if allocs > n/50 {
		t.Errorf("%v allocations of %d operations", allocs, n)
	}
}

func BenchmarkLoop(b *testing.B) {
	w := worker(func(_ context.Context, r *Recorder) error { r.Done(0, 0, r.Began()); return nil })
	b.ReportAllocs()
	if _, err := Run(b.Context(), []Worker{w}, Options{Kinds: []string{"READ"}, Statuses: []string{"OK"}, Operations: int64(b.N)}); err != nil {
		b.Fatal(err)
	}
}

// The intervals of a run add up to the run, and none begins in the warm-up.
func TestIntervalsAddUp(t *testing.T) {
	var sum [2]int64
	var last time.Duration
	intervals := 0
	o := Options{
		Kinds: []string{"a"}, Statuses: []string{"ok", "bad"}, Operations: 400, Rate: 1000, Warmup: 50 * time.Millisecond, ReportInterval: 100 * time.Millisecond,
		OnInterval: func(from, to time.Duration, groups [][]*OutcomeTimes) {
			if from != last || to <= from {
				t.Errorf("an interval from %s to %s follows one to %s", from, to, last)
			}
			last = to
			intervals++
			for i, g := range groups[0] {
				if g != nil {
					sum[i] += g.Service.Count()
				}
			}
		},
	}
	n := 0
	r, err := Run(t.Context(), []Worker{worker(func(_ context.Context, r *Recorder) error {
		n++
		r.Done(0, n%2, r.Began())
		return nil
	})}, o)
	if err != nil {
		t.Fatal(err)
	}
	if sum[0] != r.Count(0, 0) || sum[1] != r.Count(0, 1) || sum[0]+sum[1] != 400 || intervals < 3 {
		t.Errorf("%d intervals with %v, the run %d and %d", intervals, sum, r.Count(0, 0), r.Count(0, 1))
	}
}

// TestPhases: each rate holds for its time, also where arrivals are random.
func TestPhases(t *testing.T) {
	for _, arrivals := range []Arrivals{Fixed, Poisson} {
		o := Options{Phases: []RatePhase{{100, 2 * time.Second}, {1000, 3 * time.Second}, {10, time.Second}}, Arrivals: arrivals, Warmup: time.Second, MaxDuration: 8 * time.Second, Seed: 1}
		s, got := newSchedule(&o), make([]int, 9)
		for {
			due, more := s.next(0)
			if !more {
				break
			}
			got[int(due/time.Second)]++
		}
		for second, want := range []int{100, 100, 100, 1000, 1000, 1000, 10, 10, 10} {
			if off := got[second] - want; off*off > map[Arrivals]int{Fixed: 1, Poisson: 16 * want}[arrivals] {
				t.Errorf("%s, second %d: %d arrivals, want %d", arrivals, second, got[second], want)
			}
		}
	}
}

// TestPhasesOfSeveralWorkers: workers take arrivals while another one changes the rate. The race detector checks it.
func TestPhasesOfSeveralWorkers(t *testing.T) {
	var o Options
	for range 50 {
		o.Phases = append(o.Phases, RatePhase{Rate: 20_000, Duration: time.Millisecond})
	}
	o.MaxDuration = 50 * time.Millisecond
	var done atomic.Int64
	workers := make([]Worker, 8)
	for i := range workers {
		workers[i] = worker(func(context.Context, *Recorder) error {
			done.Add(1)
			return nil
		})
	}
	if _, err := Run(t.Context(), workers, o); err != nil || done.Load() == 0 {
		t.Errorf("%d operations, error %v", done.Load(), err)
	}
}

// TestProgress: the percentiles of OnProgress are those of the operations that have succeeded since its last call.
func TestProgress(t *testing.T) {
	var all totals
	all.init(&Options{Kinds: []string{"READ"}, Statuses: []string{"OK", "ERROR"}, SeriesInterval: time.Second, OnProgress: func(Progress) {}})
	all.add(nil, []operation{{response: 2 * time.Millisecond}, {response: time.Minute, failed: true}})
	if p := all.progress(time.Second).Response; math.Abs(float64(p.P50-2*time.Millisecond)) > 1e4 || p.P99 != p.P50 {
		t.Errorf("%+v", p)
	}
	if p := all.progress(time.Second).Response; p.Max != 0 {
		t.Errorf("reported twice: %+v", p)
	}
}

// TestRefusedOptions: options that no run can have are refused before a worker starts.
func TestRefusedOptions(t *testing.T) {
	t.Parallel()
	worker := []Worker{nil}
	for problem, c := range map[string]struct {
		workers []Worker
		o       Options
	}{
		"no workers":     {nil, Options{}},
		"is negative":    {worker, Options{Rate: -1}},
		"a rate above 0": {worker, Options{Phases: []RatePhase{{Rate: 10, Duration: time.Second}, {Duration: time.Second}}}},
		"is not known":   {worker, Options{Arrivals: "sometimes"}},
		"time limit":     {worker, Options{Warmup: -time.Second}},
	} {
		if _, err := Run(t.Context(), c.workers, c.o); err == nil || !strings.Contains(err.Error(), problem) {
			t.Errorf("%v, want %s", err, problem)
		}
	}
}

// TestSamplesBeforeASleep: samples do not wait for the end of a long sleep. With 10 workers and one operation per second,
// each interval has its operations; earlier versions reported them 10 s later.
func TestSamplesBeforeASleep(t *testing.T) {
	t.Parallel()
	late, total := 0, 0
	var lists sync.Mutex
	o := Options{Rate: 1, MaxDuration: 60 * time.Second, OnFinished: func(all []OperationSample) {
		lists.Lock()
		defer lists.Unlock()
		for _, s := range all {
			total++
			if all[len(all)-1].End-s.End > maxDelay {
				late++
			}
		}
	}}
	clock := newVirtual(10)
	o.Clock = clock.clock()
	var workers []Worker
	var ends []time.Duration // of the operations; a sample must arrive before the next operation of any worker ends
	for range 10 {
		workers = append(workers, worker(func(_ context.Context, r *Recorder) error {
			lists.Lock()
			if len(ends)-total > 1 { // the last operation may still be in its worker's hands
				late++
			}
			ends = append(ends, r.Now())
			lists.Unlock()
			r.Done(0, 0, r.Began())
			return nil
		}))
	}
	o.Kinds, o.Statuses = []string{"READ"}, []string{"OK"}
	if _, err := Run(t.Context(), workers, o); err != nil || total != 60 || late > 0 {
		t.Errorf("%d samples, %d of them late, %v", total, late, err)
	}
}

// TestUnstartedAfterAFailure: arrivals that are due after the run was stopped are not unstarted.
func TestUnstartedAfterAFailure(t *testing.T) {
	t.Parallel()
	clock := newVirtual(2)
	n := 0
	workers := []Worker{
		worker(func(_ context.Context, r *Recorder) error { // fails while the other one works
			clock.until(r.Now() + 10*time.Millisecond)
			return errors.New("no")
		}),
		worker(func(_ context.Context, r *Recorder) error { // works for 5 s more
			n++
			clock.until(r.Now() + 5*time.Second)
			r.Done(0, 0, r.Began())
			return nil
		}),
	}
	o := Options{Kinds: []string{"READ"}, Statuses: []string{"OK"}, Rate: 1000, MaxDuration: time.Minute, Clock: clock.clock()}
	got, err := Run(t.Context(), workers, o)
	if err == nil || got.Unstarted > 20 {
		t.Errorf("%d unstarted after %d operations, %v", got.Unstarted, n, err)
	}
}

// TestCompleteRunAtItsTimeLimit: a run whose last operation was due before the time limit is complete, although the
// next arrival would be due after it.
func TestCompleteRunAtItsTimeLimit(t *testing.T) {
	for operations, want := range map[int64]Ending{999: Completed, 1000: Completed, 1001: OutOfTime} {
		got := play(t, 4, Options{Rate: 100, Operations: operations, MaxDuration: 10 * time.Second}, nil)
		if got.Ending != want || got.Operations != min(operations, 1000) || got.Unstarted != 0 {
			t.Errorf("%d operations: ended by %s after %d, %d unstarted", operations, got.Ending, got.Operations, got.Unstarted)
		}
	}
}

// TestUnstartedOfSleepers: a worker may still sleep when its operation is due. If the run stops then, the operation is
// unstarted.
func TestUnstartedOfSleepers(t *testing.T) {
	for _, operations := range []int64{0, 2, 3} {
		ctx, stop := context.WithCancel(t.Context())
		var now atomic.Int64
		asleep := make(chan struct{}, 3)
		clock := &Clock{
			Now: func() time.Duration { return time.Duration(now.Load()) },
			SleepUntil: func(_ time.Duration, stop <-chan struct{}) {
				asleep <- struct{}{}
				<-stop // the system wakes it too late
			},
		}
		sleepers := int(min(cmp.Or(operations, 4), 4)) - 1 // the first operation is due at once
		go func() {
			for range sleepers {
				<-asleep
			}
			now.Store(int64(25 * time.Millisecond)) // the operations of 10 and 20 ms are due, that of 30 ms is not
			stop()
		}()
		w := worker(func(_ context.Context, r *Recorder) error { r.Done(0, 0, r.Began()); return nil })
		o := Options{Kinds: []string{"READ"}, Statuses: []string{"OK"}, Rate: 100, Operations: operations, Clock: clock}
		got, err := Run(ctx, []Worker{w, w, w}, o)
		want := min(cmp.Or(operations, 3), 3) - 1
		if err != nil || got.Operations != 1 || got.Unstarted != want || got.Ending != Interrupted {
			t.Errorf("%d operations: %d done, %d unstarted, want %d; ended by %s, %v", operations, got.Operations, got.Unstarted, want, got.Ending, err)
		}
		stop()
	}
}
