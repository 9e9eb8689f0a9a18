package pace

import (
	"sync"
	"time"

	"github.com/barograph/barograph/results/measure"
)

// Recorder records the times of one worker's operations. It buffers a few samples, then adds them to the histograms that
// all workers share. Memory therefore does not grow with the number of workers.
type Recorder struct {
	runner *runner

	due            time.Duration // when the current operation was due
	began          time.Duration // when it started
	service        time.Duration // service time of the last part
	end            time.Duration // end of the last part
	oldest         time.Duration // when the oldest buffered sample ended
	samples        [maxSamples]OperationSample
	sampleCount    int
	operations     [maxSamples]operation // operations that finished since the last flush
	operationCount int                   // number of buffered operations
	failed         bool                  // a part of the current operation failed
	skipped        bool                  // the current operation does not count
}

// operation is a finished operation.
type operation struct {
	end, response time.Duration
	failed        bool // a part of it failed
}

// A Recorder buffers at most maxSamples samples and maxSamples operations. It adds both buffers to the totals
//   - when one of them is full;
//   - when it records a sample while the oldest entry is older than maxDelay;
//   - before a sleep at whose end the oldest entry would be older than maxDelay/4, because this delays no operation.
//
// While an operation runs without recording a part, the entries wait for its end.
const maxSamples, maxDelay = 128, 100 * time.Millisecond

// OperationSample is a finished operation or a finished part of one.
type OperationSample struct {
	Kind, Status uint8
	End          time.Duration // since the run began, with its warm-up
	Service      time.Duration // from its start to its end
	Wait         time.Duration // from when the operation was due to its start; the response time is Service + Wait
	Records      int32         // number of records that it processed; more than 1 in a batch
}

// Now is the time since the run began.
func (r *Recorder) Now() time.Duration { return r.runner.clock.Now() }

// Began is when the current operation started.
func (r *Recorder) Began() time.Duration { return r.began }

func (r *Recorder) begin(due, now time.Duration) {
	r.due, r.began, r.failed, r.skipped = due, now, false, false
}

// Service is the service time of the last recorded part.
func (r *Recorder) Service() time.Duration { return r.service }

// End returns when the last recorded part ended. In the warm-up nothing is recorded, and End returns the present time.
func (r *Recorder) End() time.Duration {
	if r.IsCounted() {
		return r.end
	}
	return r.Now()
}

// IsCounted reports whether the current operation was due after the warm-up. Others are run but not counted.
func (r *Recorder) IsCounted() bool { return r.due >= r.runner.Warmup }

// Done records the current operation or a part of it, from began until now. Its response time is
// its service time plus the time that the operation waited for a worker.
func (r *Recorder) Done(kind, status int, began time.Duration) { r.DoneMany(kind, status, began, 1) }

// DoneMany is Done for a part that processed several records at once.
func (r *Recorder) DoneMany(kind, status int, began time.Duration, records int) {
	if !r.IsCounted() {
		return
	}
	if r.runner.tally.isFailure(status) {
		r.failed = true
	}
	now := r.runner.clock.Now()
	r.service, r.end = now-began, now
	r.buffering(now)
	r.samples[r.sampleCount] = OperationSample{uint8(kind), uint8(status), now, now - began, r.began - r.due, int32(records)} //nolint:gosec // few kinds, small batches
	if r.sampleCount++; r.sampleCount == maxSamples || now-r.oldest > maxDelay {
		r.flush()
	}
}

// Skip excludes the current operation from the counts, because there was nothing to do. The worker records no part of it.
func (r *Recorder) Skip() { r.skipped = true }

// finish counts the current operation, which ended with its last part.
func (r *Recorder) finish() {
	if !r.IsCounted() || r.skipped {
		return
	}
	end := max(r.end, r.began)
	r.buffering(end)
	r.operations[r.operationCount] = operation{end, end - r.due, r.failed}
	if r.operationCount++; r.operationCount == maxSamples {
		r.flush()
	}
}

// Pause waits inside an operation, for example for a server that is down, and reports whether the
// run continues; the end of the run ends the wait. Result.Elapsed includes the pause even if no
// operation finishes after it.
func (r *Recorder) Pause(d time.Duration) bool {
	c := &r.runner.clock
	end := c.Now() + d
	r.flushBefore(end)
	c.SleepUntil(end, r.runner.stop)
	r.runner.tally.extend(c.Now())
	return !r.runner.stopped()
}

// IsStopping reports whether no operation may start any more.
func (r *Recorder) IsStopping() bool { return r.runner.stopped() }

// buffering is called before a sample or an operation that ended at now is buffered. It records the first such end.
func (r *Recorder) buffering(now time.Duration) {
	if r.sampleCount+r.operationCount == 0 {
		r.oldest = now
	}
}

// flushBefore is called before the worker sleeps until wake. It flushes if the oldest entry would be too old then.
func (r *Recorder) flushBefore(wake time.Duration) {
	if r.sampleCount+r.operationCount > 0 && wake-r.oldest > maxDelay/4 {
		r.flush()
	}
}

// flush adds both buffers to the totals and empties them.
func (r *Recorder) flush() {
	r.runner.tally.add(r.samples[:r.sampleCount], r.operations[:r.operationCount])
	r.sampleCount, r.operationCount = 0, 0
}

// OutcomeTimes is the measurement of one kind of operation with one outcome.
type OutcomeTimes struct {
	Count             int64
	RecordCount       int64 // number of records; more than Count if operations processed batches
	Service, Response *measure.Histogram
}

// SeriesPoint is one interval of the series. It counts operations, not their parts.
type SeriesPoint struct {
	Finished int64         // finished operations, including failed ones
	Failed   int64         // finished operations with a failed part
	Slowest  time.Duration // longest response time
}

// totals collects the samples of all workers.
type totals struct {
	interval time.Duration // Options.SeriesInterval
	warmup   time.Duration
	harmless int                     // Options.FirstHarmless
	finished func([]OperationSample) // Options.OnFinished

	mu         sync.Mutex
	closed     bool
	groups     [][]*OutcomeTimes // by kind and status; nil = there was none
	series     []SeriesPoint     // beginning with the end of the warm-up
	last       time.Duration     // end of the last operation or pause
	operations int64             // finished operations, successful or not
	failed     int64             // operations with a failed part
	err        error             // of the first worker that failed

	currentGroups [][]*OutcomeTimes // since the last call of OnInterval; nil = OnInterval is not used
	from          time.Duration     // when currentGroups begin
	// response times of successful operations since the last call of OnProgress; nil = OnProgress is not used
	recent *measure.Histogram
}

func (t *totals) init(o *Options) {
	t.interval, t.warmup, t.harmless, t.finished = o.SeriesInterval, o.Warmup, o.FirstHarmless, o.OnFinished
	t.groups = emptyGroups(len(o.Kinds), len(o.Statuses))
	if o.OnProgress != nil {
		t.recent = measure.NewHistogram()
	}
	if o.OnInterval != nil {
		t.currentGroups, t.from = emptyGroups(len(o.Kinds), len(o.Statuses)), o.Warmup
	}
}

func emptyGroups(kinds, statuses int) [][]*OutcomeTimes {
	out := make([][]*OutcomeTimes, kinds)
	for i := range out {
		out[i] = make([]*OutcomeTimes, statuses)
	}
	return out
}

// isFailure reports whether a status is neither success nor harmless.
func (t *totals) isFailure(status int) bool {
	return status != 0 && (t.harmless == 0 || status < t.harmless)
}

// swap starts a new interval and returns the groups of the previous one; groups is nil before the end of the warm-up.
func (t *totals) swap(now time.Duration) (from time.Duration, groups [][]*OutcomeTimes) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if now <= t.from || t.currentGroups == nil {
		return from, nil
	}
	from, groups = t.from, t.currentGroups
	t.from, t.currentGroups = now, emptyGroups(len(groups), len(groups[0]))
	return from, groups
}

// addToGroup counts a sample in the group of its kind and status.
func addToGroup(in [][]*OutcomeTimes, s *OperationSample) {
	g := in[s.Kind][s.Status]
	if g == nil {
		g = &OutcomeTimes{Service: measure.NewHistogram(), Response: measure.NewHistogram()}
		in[s.Kind][s.Status] = g
	}
	g.Count++
	g.RecordCount += int64(s.Records)
	g.Service.Record(s.Service)
	g.Response.Record(s.Service + s.Wait)
}

func (t *totals) add(samples []OperationSample, operations []operation) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return // the samples are of an abandoned worker
	}
	if t.finished != nil {
		t.finished(samples)
	}
	for i := range samples {
		s := &samples[i]
		addToGroup(t.groups, s)
		if t.currentGroups != nil {
			addToGroup(t.currentGroups, s)
		}
	}
	for i := range operations {
		t.count(&operations[i])
	}
}

// count adds an operation.
func (t *totals) count(o *operation) {
	t.operations++
	t.last = max(t.last, o.end)
	at := int((o.end - t.warmup) / t.interval)
	for len(t.series) <= at {
		t.series = append(t.series, SeriesPoint{})
	}
	point := &t.series[at]
	point.Finished++
	point.Slowest = max(point.Slowest, o.response)
	if o.failed {
		t.failed++
		point.Failed++
	} else if t.recent != nil {
		t.recent.Record(o.response)
	}
}

// extend records that the run continued until this time.
func (t *totals) extend(now time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.closed {
		t.last = max(t.last, now)
	}
}

func (t *totals) fail(err error) {
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
	OutOfTime   Ending = "time"        // the time limit was reached before all workers had finished
	Interrupted Ending = "interrupted" // the caller's context was done
	Failed      Ending = "failed"      // a worker returned an error
)

// Result is the measurement of a run after its warm-up.
type Result struct {
	Ending         Ending
	Groups         [][]*OutcomeTimes // by kind and status, as in Options; nil if there was none
	Started        time.Time         // start of the run, including the warm-up
	Operations     int64             // finished operations; one may have several parts, each in Groups
	Succeeded      int64             // of Operations: those without a failed part
	Elapsed        time.Duration     // from the end of the warm-up to the end of the last operation or pause, whichever is later
	Series         []SeriesPoint     // beginning with the end of the warm-up; the last interval may be incomplete
	SeriesInterval time.Duration     // of Series

	// Unstarted is the number of operations of an open loop that were due before the run ended but that no worker started,
	// because the engine does not sustain the rate. It is 0 if the ending is Completed.
	Unstarted int64
	// Hung: at least one worker did not return although its operation was canceled. This operation is not counted, nor
	// are finished ones that the worker still buffers.
	Hung bool
}

// Progress describes how far a run is.
type Progress struct {
	Elapsed          time.Duration       // since the end of the warm-up; negative before
	Finished, Failed int64               // operations after the warm-up
	Response         measure.Percentiles // successful operations since the previous progress
}

// result builds the Result after all workers have finished or were abandoned.
func (r *runner) result() (*Result, error) {
	out := &Result{Started: r.start, SeriesInterval: r.SeriesInterval, Ending: r.ending}
	select {
	case <-r.finished:
	default:
		out.Hung = true
	}
	r.snapshot()
	t := &r.tally
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	out.Groups, out.Series, out.Operations, out.Succeeded = t.groups, t.series, t.operations, t.operations-t.failed
	out.Elapsed = max(t.last-r.Warmup, 0)
	if out.Ending != Completed {
		out.Unstarted = r.schedule.unstarted(r.stopAt)
	}
	return out, t.err
}

func (t *totals) progress(now time.Duration) Progress {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := Progress{Elapsed: now - t.warmup, Finished: t.operations, Failed: t.failed}
	if t.recent != nil {
		p.Response = t.recent.Percentiles()
		t.recent.Reset()
	}
	return p
}

// Count is the number of operations of a kind with an outcome.
func (r *Result) Count(kind, status int) int64 {
	if g := r.Groups[kind][status]; g != nil {
		return g.Count
	}
	return 0
}
