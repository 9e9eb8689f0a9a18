package own

import (
	"cmp"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/barograph/barograph/results/run"
)

// oneAtATime lets several goroutines report.
func oneAtATime(report func(s string)) func(s string) {
	var one sync.Mutex
	return func(s string) {
		one.Lock()
		defer one.Unlock()
		report(s)
	}
}

// shownEach is the time between two reports of progress.
func (r *runner) shownEach() time.Duration { return cmp.Or(r.ProgressEach, 10*time.Second) }

// progress reports that n of all steps that began at a time are done, at most every ten seconds, with the
// remaining time at the mean duration of a step.
func (r *runner) progress(what string, n, all int, began time.Time) {
	if n == 0 || n == all || time.Since(r.shown) < r.shownEach() {
		return
	}
	r.shown = time.Now()
	left := time.Duration(float64(time.Since(began)) / float64(n) * float64(all-n))
	r.Progress(fmt.Sprintf("%s: %d of %d, about %s left", what, n, all, left.Round(time.Second)))
}

// reporting runs a step that may take long. Every ten seconds it reports the time until then, or, if the step counts
// rows, how many of all are done and the remaining time.
func (r *runner) reporting(what string, rows *atomic.Int64, all int64, step func() error) error {
	began, ended := time.Now(), make(chan struct{})
	var reported sync.WaitGroup
	reported.Go(func() {
		for tick := time.Tick(r.shownEach()); ; {
			select {
			case <-ended:
				return
			case <-tick:
			}
			took, n := time.Since(began), int64(0)
			if rows != nil {
				n = rows.Load()
			}
			if n == 0 || n >= all {
				r.Progress(fmt.Sprintf("%s: %s so far", what, took.Round(time.Second)))
				continue
			}
			left := time.Duration(float64(took) / float64(n) * float64(all-n))
			r.Progress(fmt.Sprintf("%s: %d of %s, about %s left", what, n, run.CountOf(int(all), "row"), left.Round(time.Second)))
		}
	})
	err := step()
	close(ended)
	reported.Wait()
	return err
}
