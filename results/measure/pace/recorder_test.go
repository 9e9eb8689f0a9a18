package pace

import (
	"math"
	"slices"
	"testing"
	"time"
)

const ms = time.Millisecond

// recording is a recorder on a clock that the test sets, and the batches of samples that it passed on.
type recording struct {
	*Recorder
	now     time.Duration
	batches []int
	samples []OperationSample
}

// newRecording has the kinds a and b. A record that is not found is neither success nor failure.
func newRecording(warmup time.Duration) *recording {
	r := &recording{}
	r.Recorder = &Recorder{runner: newRunner(Options{
		Kinds: []string{"a", "b"}, Statuses: []string{"OK", "ERROR", "NOT_FOUND", "EXISTS"}, FirstHarmless: 2, Warmup: warmup, SeriesInterval: time.Second,
		Clock: &Clock{Now: func() time.Duration { return r.now }, SleepUntil: func(at time.Duration, _ <-chan struct{}) { r.now = max(r.now, at) }},
		OnFinished: func(all []OperationSample) {
			r.batches, r.samples = append(r.batches, len(all)), append(r.samples, all...)
		},
	})}
	return r
}

// near3 reports whether two times are equal to three digits.
func near3(a, b time.Duration) bool { return math.Abs(float64(a-b)) <= 0.001*float64(b) }

// TestTimesOfAnOperation: the service time of a part counts from its beginning, the wait from when the operation was due.
// Operations that were due in the warm-up leave no trace.
func TestTimesOfAnOperation(t *testing.T) {
	r := newRecording(1000 * ms)
	r.begin(999*ms, 1000*ms)
	r.now = 1001 * ms
	r.Done(0, 1, 1000*ms)
	r.finish()
	if r.IsCounted() || r.End() != 1001*ms || r.Service() != 0 {
		t.Errorf("in the warm-up: counted %t, end %s, service %s", r.IsCounted(), r.End(), r.Service())
	}
	r.begin(1000*ms, 1100*ms)
	r.now = 1300 * ms
	r.DoneMany(1, 2, 1150*ms, 5)
	r.now = 1400 * ms
	if !r.IsCounted() || r.Began() != 1100*ms || r.Now() != 1400*ms || r.Service() != 150*ms || r.End() != 1300*ms {
		t.Errorf("began %s, now %s, service %s, end %s", r.Began(), r.Now(), r.Service(), r.End())
	}
	r.finish()
	r.begin(1400*ms, 1400*ms)
	r.now = 1500 * ms
	r.Done(0, 1, 1400*ms)
	r.now = 1600 * ms
	r.Done(0, 0, 1500*ms) // the operation failed, although its last part did not
	r.finish()
	r.begin(1600*ms, 1700*ms)
	r.Skip()
	r.finish()
	r.flush()
	want := []OperationSample{
		{1, 2, 1300 * ms, 150 * ms, 100 * ms, 5}, {0, 1, 1500 * ms, 100 * ms, 0, 1}, {0, 0, 1600 * ms, 100 * ms, 0, 1},
	}
	if !slices.Equal(r.samples, want) {
		t.Errorf("%+v, want %+v", r.samples, want)
	}
	got, err := r.runner.result()
	if err != nil || got.Operations != 2 || got.Succeeded != 1 || got.Elapsed != 600*ms || got.Count(1, 2) != 1 || got.Count(1, 0) != 0 {
		t.Errorf("%+v, %v", got, err)
	}
	if g := got.Groups[1][2]; g.RecordCount != 5 || !near3(g.Service.Max(), 150*ms) || !near3(g.Response.Max(), 250*ms) {
		t.Errorf("%+v: service %s, response %s", g, g.Service.Max(), g.Response.Max())
	}
	if want := []SeriesPoint{{Finished: 2, Failed: 1, Slowest: 300 * ms}}; !slices.Equal(got.Series, want) {
		t.Errorf("%+v, want %+v", got.Series, want)
	}
}

// TestBuffersAreEmptied: a recorder passes its samples on if it has 128 of them or 128 operations, or if the oldest entry
// is older than 100 ms. Before a sleep it does so if the entry would be older than 25 ms at the end of the sleep.
func TestBuffersAreEmptied(t *testing.T) {
	r := newRecording(0)
	for i := range 300 {
		r.begin(0, 0)
		r.Done(0, 0, 0)
		if i == 127 && len(r.batches) != 1 || i == 126 && len(r.batches) != 0 {
			t.Errorf("%d batches after %d samples", len(r.batches), i+1)
		}
	}
	if !slices.Equal(r.batches, []int{128, 128}) {
		t.Errorf("batches of %d", r.batches)
	}
	r = newRecording(0)
	for i := range 129 { // operations without a sample
		if r.begin(0, 0); i == 128 && (r.operationCount != 0 || r.runner.tally.operations != 128) || i == 127 && r.operationCount != 127 {
			t.Errorf("%d buffered and %d counted after %d operations", r.operationCount, r.runner.tally.operations, i)
		}
		r.finish()
	}
	for _, c := range []struct {
		age    time.Duration
		passed []int
	}{{100 * ms, nil}, {100*ms + 1, []int{2}}} {
		r = newRecording(0)
		for _, at := range []time.Duration{50 * ms, 50*ms + c.age} {
			r.begin(0, 0)
			r.now = at
			r.Done(0, 0, 0)
		}
		if !slices.Equal(r.batches, c.passed) {
			t.Errorf("after %s: batches of %d", c.age, r.batches)
		}
	}
	for _, c := range []struct {
		sleep  time.Duration
		passed []int
	}{{25 * ms, nil}, {25*ms + 1, []int{1}}} {
		r = newRecording(0)
		r.flushBefore(time.Hour) // nothing is buffered
		r.begin(0, 0)
		r.now = 50 * ms
		r.Done(0, 0, 0)
		r.flushBefore(50*ms + c.sleep)
		if !slices.Equal(r.batches, c.passed) {
			t.Errorf("before a sleep of %s: batches of %d", c.sleep, r.batches)
		}
	}
	r = newRecording(0)
	r.begin(0, 0)
	r.finish() // an operation without a part is an entry, too
	if r.flushBefore(26 * ms); r.runner.tally.operations != 1 {
		t.Error("an operation waits for the end of a sleep")
	}
}

// TestPause: a pause lasts as long as it was requested, counts as time of the run, and reports whether the run continues.
// Samples do not wait for its end.
func TestPause(t *testing.T) {
	r := newRecording(100 * ms)
	r.begin(100*ms, 100*ms)
	r.now = 200 * ms
	r.Done(0, 0, 100*ms)
	if !r.Pause(300*ms) || r.now != 500*ms || !slices.Equal(r.batches, []int{1}) || r.IsStopping() {
		t.Errorf("now %s, batches of %d", r.now, r.batches)
	}
	r.runner.stopBecause(Interrupted)
	r.runner.stopBecause(Failed) // too late
	if r.Pause(100*ms) || !r.IsStopping() {
		t.Error("the run continues after its end")
	}
	got, err := r.runner.result()
	if err != nil || got.Elapsed != 500*ms || got.Ending != Interrupted {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestFailures: every status but success is a failure, unless it is harmless.
func TestFailures(t *testing.T) {
	for _, c := range []struct {
		harmless int
		want     []bool // by status
	}{{0, []bool{false, true, true}}, {1, []bool{false, false, false}}, {2, []bool{false, true, false}}} {
		all := totals{harmless: c.harmless}
		for status, want := range c.want {
			if got := all.isFailure(status); got != want {
				t.Errorf("status %d, harmless from %d on: failure %t", status, c.harmless, got)
			}
		}
	}
}

// TestSeriesAtItsLimits: an operation that ends exactly at the end of an interval belongs to the next one. Intervals
// without an operation are empty.
func TestSeriesAtItsLimits(t *testing.T) {
	all := totals{}
	all.init(&Options{SeriesInterval: time.Second, Warmup: 10 * time.Second})
	all.add(nil, []operation{
		{10 * time.Second, 5 * ms, false}, {11*time.Second - 1, 9 * ms, true}, {13 * time.Second, ms, false}, {11 * time.Second, 2 * ms, false},
	})
	want := []SeriesPoint{{2, 1, 9 * ms}, {1, 0, 2 * ms}, {}, {1, 0, ms}}
	if !slices.Equal(all.series, want) || all.last != 13*time.Second || all.operations != 4 || all.failed != 1 {
		t.Errorf("%+v, last %s, %d operations, %d failed", all.series, all.last, all.operations, all.failed)
	}
	if p := all.progress(9 * time.Second); p.Elapsed != -time.Second || p.Finished != 4 || p.Failed != 1 {
		t.Errorf("%+v", p)
	}
}

// TestIntervalsAtTheirLimits: no interval ends before the warm-up, and the first one begins with its end.
func TestIntervalsAtTheirLimits(t *testing.T) {
	r := newRecording(time.Second)
	type interval struct {
		from, to time.Duration
		n        int64
	}
	var got []interval
	r.runner.OnInterval = func(from, to time.Duration, groups [][]*OutcomeTimes) {
		n := int64(-1)
		if g := groups[0][0]; g != nil {
			n = g.Count
		}
		got = append(got, interval{from, to, n})
	}
	r.runner.tally.init(&r.runner.Options)
	for _, at := range []time.Duration{500 * ms, 1000 * ms, 1500 * ms, 1500 * ms, 1800 * ms} {
		r.now = at
		r.runner.snapshot()
		if at == 1500*ms {
			r.begin(1000*ms, 1000*ms)
			r.Done(0, 0, 1000*ms)
			r.flush()
		}
	}
	if want := []interval{{0, 500 * ms, -1}, {500 * ms, 800 * ms, 2}}; !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if n := r.runner.tally.groups[0][0].Count; n != 2 {
		t.Errorf("the run has %d samples", n)
	}
}

// TestDefaults: a run reports each second and waits 10 s at its end, unless its options say otherwise.
func TestDefaults(t *testing.T) {
	for _, c := range []struct{ given, want Options }{
		{Options{}, Options{ReportInterval: time.Second, SeriesInterval: time.Second, Grace: 10 * time.Second}},
		{Options{ReportInterval: 7}, Options{ReportInterval: 7, SeriesInterval: 7, Grace: 10 * time.Second}},
		{Options{ReportInterval: 7, SeriesInterval: 8, Grace: 9}, Options{ReportInterval: 7, SeriesInterval: 8, Grace: 9}},
	} {
		if r := newRunner(c.given); r.ReportInterval != c.want.ReportInterval || r.SeriesInterval != c.want.SeriesInterval || r.Grace != c.want.Grace || r.tally.interval != c.want.SeriesInterval {
			t.Errorf("%+v, want %+v", r.Options, c.want)
		}
	}
}

// TestMachineClock: a sleep ends at its time or later, or when the run stops. A time that is over needs no sleep.
func TestMachineClock(t *testing.T) {
	for _, poll := range []bool{false, true} {
		c := machineClock(poll)
		for _, wait := range []time.Duration{0, 100 * time.Microsecond, 3 * ms} {
			until := c.Now() + wait
			if c.SleepUntil(until, nil); c.Now() < until {
				t.Errorf("polling %t: a sleep of %s ends early", poll, wait)
			}
		}
		stop := make(chan struct{})
		close(stop)
		for _, until := range []time.Duration{-time.Hour, c.Now() + time.Hour} {
			if c.SleepUntil(until, stop); c.Now() > 30*time.Minute {
				t.Error("a stop does not end a sleep")
			}
		}
	}
}
