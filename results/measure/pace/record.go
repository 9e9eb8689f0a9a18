package pace

import (
	"sync"
	"time"

	"github.com/barograph/barograph/results/measure"
)

// Recorder takes the times of one worker's operations. It keeps some of them
// before it adds them to the run's histograms, of which there is one set: the
// memory does not grow with the workers.
type Recorder struct {
	runner *runner

	due     time.Duration // when the current operation should have started
	began   time.Duration // when it began
	service time.Duration // of the last part
	end     time.Duration // of it
	flushed time.Duration
	kept    [keptSamples]Sample
	n       int
	whole   [keptSamples]operation // that ended since the last flush
	ended   int                    // their number
	failed  bool                   // a part of the current operation has
	skipped bool                   // the current operation is not counted
}

// operation is a whole operation that ended.
type operation struct {
	end, response time.Duration
	failed        bool // a part of it has
}

const (
	keptSamples = 128
	keptFor     = 100 * time.Millisecond
)

// Sample is a part of an operation, or the whole of it, that ended.
type Sample struct {
	Kind, Status  uint8
	End           time.Duration // since the run began, with its warm-up
	Service, Wait time.Duration // it had been due both before its end
	Records       int32         // in a batch
}

// Now is the time since the run began.
func (r *Recorder) Now() time.Duration { return r.runner.clock.Now() }

// Began is when the current operation began.
func (r *Recorder) Began() time.Duration { return r.began }

func (r *Recorder) begin(due, now time.Duration) {
	r.due, r.began, r.failed, r.skipped = due, now, false, false
}

// Service is the service time of the part that was noted last.
func (r *Recorder) Service() time.Duration { return r.service }

// End is when the part ended that was noted last, or now, where it does not count.
func (r *Recorder) End() time.Duration {
	if r.Counts() {
		return r.end
	}
	return r.Now()
}

// Counts reports whether the current operation counts: the warm-up is over.
func (r *Recorder) Counts() bool { return r.due >= r.runner.Warmup }

// Done notes a part of the current operation, or the whole of it, that began
// then and ends now. Its response time is its service time and what the
// operation waited for a worker.
func (r *Recorder) Done(kind, status int, began time.Duration) { r.DoneMany(kind, status, began, 1) }

// DoneMany is Done for a part that handled so many records at once.
func (r *Recorder) DoneMany(kind, status int, began time.Duration, records int) {
	if !r.Counts() {
		return
	}
	if r.runner.tally.failure(status) {
		r.failed = true
	}
	now := r.runner.clock.Now()
	r.service, r.end = now-began, now
	if r.n == 0 {
		r.flushed = now
	}
	r.kept[r.n] = Sample{uint8(kind), uint8(status), now, now - began, r.began - r.due, int32(records)} //nolint:gosec // few kinds, small batches
	if r.n++; r.n == keptSamples || now-r.flushed > keptFor {
		r.flush()
	}
}

// Skip leaves the current operation out of all counts: there was nothing to do.
func (r *Recorder) Skip() { r.skipped = true }

// finish counts the current operation. It ended with its last part.
func (r *Recorder) finish() {
	if !r.Counts() || r.skipped {
		return
	}
	end := max(r.end, r.began)
	r.whole[r.ended] = operation{end, end - r.due, r.failed}
	if r.ended++; r.ended == keptSamples {
		r.flush()
	}
}

// Pause waits inside an operation, such as for a server that is away, and
// reports whether the run goes on: it ends the wait. The time counts as the run's,
// also where no operation ends behind it.
func (r *Recorder) Pause(d time.Duration) bool {
	c := &r.runner.clock
	r.rest(c.Now())
	c.Until(c.Now()+d, r.runner.stop)
	r.runner.tally.reach(c.Now())
	return !r.runner.stopped()
}

// Over reports whether no operation may begin any more.
func (r *Recorder) Over() bool { return r.runner.stopped() }

// rest adds what is kept before the worker sleeps.
func (r *Recorder) rest(now time.Duration) {
	if r.n > 0 && now-r.flushed > keptFor/4 {
		r.flush()
	}
}

func (r *Recorder) flush() {
	r.runner.tally.add(r.kept[:r.n], r.whole[:r.ended])
	r.n, r.ended = 0, 0
}

// Group is what was measured of one kind of operation that ended one way.
type Group struct {
	Count             int64
	Records           int64 // as Count, but for batches
	Service, Response *measure.Histogram
}

// Slice is one interval of the series. It counts whole operations, whatever the number
// of their parts.
type Slice struct {
	Ended  int64         // operations that ended in it, also those that failed
	Failed int64         // operations among Ended of which a part failed
	Slow   time.Duration // the longest response of Ended
}

// tally gathers the samples of all workers.
type tally struct {
	interval time.Duration
	warmup   time.Duration
	harmless int
	ended    func([]Sample)

	mu     sync.Mutex
	closed bool
	groups [][]*Group // by kind and status; nil = there was none
	series []Slice    // from the end of the warm-up
	last   time.Duration
	whole  int64 // operations
	failed int64 // operations of which a part failed
	err    error

	now    [][]*Group         // of the current interval; nil = nobody asks for it
	lately *measure.Histogram // responses of what succeeded since the last progress; nil = nobody watches
	from   time.Duration      // when it began
}

func (t *tally) init(o *Options) {
	t.interval, t.warmup, t.harmless, t.ended = o.Fine, o.Warmup, o.Harmless, o.Ended
	t.groups = emptyGroups(len(o.Kinds), len(o.Statuses))
	if o.Watch != nil {
		t.lately = measure.NewHistogram()
	}
	if o.Each != nil {
		t.now, t.from = emptyGroups(len(o.Kinds), len(o.Statuses)), o.Warmup
	}
}

func emptyGroups(kinds, statuses int) [][]*Group {
	out := make([][]*Group, kinds)
	for i := range out {
		out[i] = make([]*Group, statuses)
	}
	return out
}

func (t *tally) failure(status int) bool {
	return status != 0 && (t.harmless == 0 || status < t.harmless)
}

// swap ends the current interval; nil before the end of the warm-up.
func (t *tally) swap(now time.Duration) (from time.Duration, groups [][]*Group) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if now <= t.from || t.now == nil {
		return 0, nil
	}
	from, groups = t.from, t.now
	t.from, t.now = now, emptyGroups(len(groups), len(groups[0]))
	return from, groups
}

// note counts a sample in the group of its kind and status.
func note(in [][]*Group, s *Sample) {
	g := in[s.Kind][s.Status]
	if g == nil {
		g = &Group{Service: measure.NewHistogram(), Response: measure.NewHistogram()}
		in[s.Kind][s.Status] = g
	}
	g.Count++
	g.Records += int64(s.Records)
	g.Service.Record(s.Service)
	g.Response.Record(s.Service + s.Wait)
}

func (t *tally) add(samples []Sample, whole []operation) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return // of an abandoned worker
	}
	if t.ended != nil {
		t.ended(samples)
	}
	for i := range samples {
		s := &samples[i]
		note(t.groups, s)
		if t.now != nil {
			note(t.now, s)
		}
	}
	for i := range whole {
		t.count(&whole[i])
	}
}

// count adds a whole operation.
func (t *tally) count(o *operation) {
	t.whole++
	t.last = max(t.last, o.end)
	at := int((o.end - t.warmup) / t.interval)
	for len(t.series) <= at {
		t.series = append(t.series, Slice{})
	}
	slice := &t.series[at]
	slice.Ended++
	slice.Slow = max(slice.Slow, o.response)
	if o.failed {
		t.failed++
		slice.Failed++
	} else if t.lately != nil {
		t.lately.Record(o.response)
	}
}

// reach says that the run went on until then.
func (t *tally) reach(now time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.closed {
		t.last = max(t.last, now)
	}
}

func (t *tally) fail(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err == nil {
		t.err = err
	}
}

// Ending is why a run ended.
type Ending string

// The endings.
const (
	Completed   Ending = "completed"   // all operations were run
	OutOfTime   Ending = "time"        // the time limit was reached
	Interrupted Ending = "interrupted" // the caller's context was done
	Failed      Ending = "failed"      // a worker returned an error
)

// Result is what a run measured after its warm-up.
type Result struct {
	Ending     Ending
	Groups     [][]*Group    // by kind and status, as in Options; nil where there was none
	Began      time.Time     // of the run, with its warm-up
	Operations int64         // that ended; one may have several parts, each in Groups
	Right      int64         // of these, those of which no part failed
	Elapsed    time.Duration // from the end of the warm-up to the end of the last operation, or of its last pause
	Series     []Slice       // from the end of the warm-up; the last may be incomplete
	Interval   time.Duration // of Series

	// Unstarted operations of an open loop were due when the run ended, and no
	// worker had come to them: the engine does not hold the rate.
	Unstarted int64
	// Hung workers did not return though their operation was cancelled; what
	// they last did is not counted.
	Hung bool
}

// Progress is how far a run is.
type Progress struct {
	Elapsed       time.Duration       // since the end of the warm-up; negative before
	Ended, Failed int64               // operations after the warm-up
	Slice         Slice               // the last complete interval
	Response      measure.Percentiles // of what succeeded since the progress before
}

// result closes the books.
func (r *runner) result() (*Result, error) {
	out := &Result{Began: r.start, Interval: r.Fine, Ending: r.why}
	select {
	case <-r.all:
	default:
		out.Hung = true
	}
	r.snapshot()
	t := &r.tally
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	out.Groups, out.Series, out.Operations, out.Right = t.groups, t.series, t.whole, t.whole-t.failed
	out.Elapsed = max(t.last-r.Warmup, 0)
	if out.Ending != Completed {
		out.Unstarted = r.schedule.unstarted(r.clock.Now())
	}
	return out, t.err
}

func (t *tally) progress(now time.Duration) Progress {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := Progress{Elapsed: now - t.warmup, Ended: t.whole, Failed: t.failed}
	if t.lately != nil {
		p.Response = t.lately.Percentiles()
		t.lately.Reset()
	}
	if at := int(p.Elapsed/t.interval) - 1; p.Elapsed > 0 && at >= 0 && at < len(t.series) {
		p.Slice = t.series[at]
	}
	return p
}

// Count is the number of operations of a kind, by the outcome asked for.
func (r *Result) Count(kind, status int) int64 {
	if g := r.Groups[kind][status]; g != nil {
		return g.Count
	}
	return 0
}
