package own

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"
)

// serialized returns a function that several goroutines may call at the same time. It calls report for one of them
// after the other.
func serialized(report func(s string)) func(s string) {
	var mu sync.Mutex
	return func(s string) {
		mu.Lock()
		defer mu.Unlock()
		report(s)
	}
}

// progressInterval is the time between two reports of progress.
func (r *runner) progressInterval() time.Duration { return cmp.Or(r.ProgressEach, 10*time.Second) }

// reportCount reports that n of all steps are complete, at most once in a progress interval. It estimates the remaining
// time from the mean duration of the steps since began.
func (r *runner) reportCount(what string, n, all int, began time.Time) {
	if n == 0 || n == all || time.Since(r.reportedAt) < r.progressInterval() {
		return
	}
	r.reportedAt = time.Now()
	left := time.Duration(float64(time.Since(began)) / float64(n) * float64(all-n))
	r.Progress(fmt.Sprintf("%s: %d of %d, about %s left", what, n, all, left.Round(time.Second)))
}

// withProgress runs a step that may take long, and reports its progress once in each progress interval: the percentage
// n/all and the remaining time. part names the part of the step that n and all describe; "" = all of the step. The
// first report of a named part, and each report without a usable percentage, has the elapsed time and restarts the
// rate. The rate of an unnamed step counts from its start. done may be nil.
func (r *runner) withProgress(what string, done func() (part string, n, all int64), step func() error) error {
	began, ended := time.Now(), make(chan struct{})
	var reported sync.WaitGroup
	reported.Go(func() {
		partBegan, lastPart, doneBefore := began, "", int64(0)
		for tick := time.Tick(r.progressInterval()); ; {
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
			if n <= doneBefore || n >= all || part != lastPart {
				partBegan, lastPart, doneBefore = time.Now(), part, n
				if n >= all {
					doneBefore = 0
				}
				r.Progress(fmt.Sprintf("%s: %s so far", text, time.Since(began).Round(time.Second)))
				continue
			}
			left := time.Duration(float64(time.Since(partBegan)) / float64(n-doneBefore) * float64(all-n))
			r.Progress(fmt.Sprintf("%s: %d %%, about %s left", text, 100*n/all, left.Round(time.Second)))
		}
	})
	err := step()
	close(ended)
	reported.Wait()
	return err
}

// engineStep returns a function that describes the step that the engine executes now, for withProgress. It returns nil
// if the engine never describes its steps.
func (p *participant) engineStep(ctx context.Context) func() (part string, n, all int64) {
	if p.own.Running == nil {
		return nil
	}
	return func() (string, int64, int64) { return p.own.Running(ctx) }
}
