package own

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"
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

// reporting runs a step that may take long. Every ten seconds it reports the time until then, or, if done returns how
// much of all is done, the percentage and the remaining time at the rate since the first of it. part is "", or the name of
// the part of the step that n and all are about. done may be nil.
func (r *runner) reporting(what string, done func() (part string, n, all int64), step func() error) error {
	began, ended := time.Now(), make(chan struct{})
	var reported sync.WaitGroup
	reported.Go(func() {
		first, last, base := began, "", int64(0)
		for tick := time.Tick(r.shownEach()); ; {
			select {
			case <-ended:
				return
			case <-tick:
			}
			var part string
			var n, all int64
			if done != nil {
				part, n, all = done()
			}
			text := what
			if part != "" {
				text += ": " + part
			}
			if n <= base || n >= all || part != last {
				first, last, base = time.Now(), part, n
				if n >= all {
					base = 0
				}
				r.Progress(fmt.Sprintf("%s: %s so far", text, time.Since(began).Round(time.Second)))
				continue
			}
			left := time.Duration(float64(time.Since(first)) / float64(n-base) * float64(all-n))
			r.Progress(fmt.Sprintf("%s: %d %%, about %s left", text, 100*n/all, left.Round(time.Second)))
		}
	})
	err := step()
	close(ended)
	reported.Wait()
	return err
}

// running returns what an engine reports of its own steps, for reporting; nil = nothing.
func (p *participant) running(ctx context.Context) func() (part string, n, all int64) {
	if p.own.Running == nil {
		return nil
	}
	return func() (string, int64, int64) { return p.own.Running(ctx) }
}
