package pace

import "time"

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
	Elapsed       time.Duration // since the end of the warm-up; negative before
	Ended, Failed int64         // parts of operations, after the warm-up
	Slice         Slice         // the last whole interval
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
	out.Groups, out.Series, out.Operations, out.Right = t.groups, t.series, t.whole, t.right
	out.Elapsed = max(t.last-r.Warmup, 0)
	if out.Ending != Completed {
		out.Unstarted = r.schedule.unstarted(r.clock.Now())
	}
	return out, t.err
}

func (t *tally) progress(now time.Duration) Progress {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := Progress{Elapsed: now - t.warmup}
	for _, kind := range t.groups {
		for status, g := range kind {
			if g != nil {
				p.Ended += g.Count
				if t.failure(status) {
					p.Failed += g.Count
				}
			}
		}
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
