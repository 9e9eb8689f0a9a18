package ycsb

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/run"
)

// Ramp searches for the knee: the highest rate of due operations that the engine sustains.
type Ramp struct {
	First float64       // operations per second; 0 = no ramp
	Bound time.Duration // limit of the 99th percentile; 0 = none
}

// Step is the measurement of one rate.
type Step struct {
	Rate, Goodput float64 // operations per second: due ones, successful ones
	P99           time.Duration
}

// Ramped is the result of a ramp.
type Ramped struct {
	Ramp
	Steps        []Step // in the order in which they were run
	Sustained    Step   // the highest sustained rate; zero if the first rate was not sustained
	NotSustained Step   // the lowest rate that was not sustained; zero if the ramp ended before one
}

const (
	sustainedShare = 0.95 // the engine sustains a rate if it completes this fraction of what is due
	steeper        = 1.5  // factor between a sustained rate and the next one, while all are sustained
	closeFactor    = 1.1  // the search ends if this factor separates the sustained rate from the other one
	mostSteps      = 40   // of a ramp
	stepLength     = 10   // seconds of each rate, if the workload has no time limit
)

func (r Ramp) sustains(s Step) bool {
	return s.Goodput >= sustainedShare*s.Rate && (r.Bound == 0 || s.P99 <= r.Bound)
}

// climb raises the rate by half until it is not sustained, then halves the interval between the
// highest sustained rate and the lowest other one. measure runs at a rate; false ends the search.
func (r Ramp) climb(measure func(rate float64) (Step, bool)) Ramped {
	out := Ramped{Ramp: r}
	rate := r.First
	for range mostSteps {
		s, ok := measure(rate)
		if !ok {
			return out
		}
		if out.Steps = append(out.Steps, s); r.sustains(s) {
			out.Sustained = s
		} else {
			out.NotSustained = s
		}
		switch {
		case out.NotSustained.Rate == 0:
			rate *= steeper
		case out.Sustained.Rate == 0 || out.NotSustained.Rate <= closeFactor*out.Sustained.Rate:
			return out
		default:
			rate = (out.Sustained.Rate + out.NotSustained.Rate) / 2
		}
	}
	return out
}

// String describes the result in one sentence.
func (r Ramped) String() string {
	at := func(s Step) string {
		return fmt.Sprintf("%.0f/s (%.0f/s done, p99 %s)", s.Rate, s.Goodput, s.P99.Round(10*time.Microsecond))
	}
	switch {
	case len(r.Steps) == 0:
		return "nothing was measured"
	case r.Sustained.Rate == 0:
		return "does not sustain even the first rate, " + at(r.NotSustained)
	case r.NotSustained.Rate == 0:
		return "sustains " + at(r.Sustained) + ", the highest rate that was tried"
	}
	reason := fmt.Sprintf("less than %.0f %% of the due operations are done", 100*sustainedShare)
	if r.NotSustained.Goodput >= sustainedShare*r.NotSustained.Rate {
		reason = fmt.Sprintf("the 99th percentile exceeds %s", r.Bound)
	}
	return fmt.Sprintf("the knee: it sustains %s; at %s %s", at(r.Sustained), at(r.NotSustained), reason)
}

// ramp searches for the knee of a mix on a target, with the largest number of threads.
func (s *Sweep) ramp(ctx context.Context, t *Target, m Mix) (failed error) {
	if t.Place == engine.Memory {
		return nil // the client overhead has no knee
	}
	c := *m.Config
	c.Ramp, c.Operations, c.Rates = true, 0, nil
	if c.Seconds == 0 {
		c.Seconds = stepLength
	}
	found := s.Ramp.climb(func(rate float64) (Step, bool) {
		var goodput, p99 []float64
		for rep := range max(s.Reps, 1) {
			c.Target = rate
			p, err := s.runPoint(ctx, t, Mix{m.Name, &c, m.Properties}, slices.Max(s.Threads), rep+1)
			x := p.Measured()
			if failed = errors.Join(ctx.Err(), exceptOverload(err)); failed != nil || x == nil {
				return Step{}, false
			}
			goodput, p99 = append(goodput, x.Throughput), append(p99, float64(x.Response.P99))
		}
		return Step{Rate: rate, Goodput: measure.Median(goodput), P99: time.Duration(measure.Median(p99))}, true
	})
	if failed == nil {
		threads := run.CountOf(slices.Max(s.Threads), "thread")
		s.Found(fmt.Sprintf("%s on %s with %s: %s", m.Name, t.title(), threads, found))
	}
	return failed
}

// exceptOverload returns an error, or nil if it is only an overload: a ramp searches for the overload.
func exceptOverload(err error) error {
	if fault.Code(err) == fault.Incomplete && isOverload(err) {
		return nil
	}
	return err
}

// isOverload reports whether an error is an overload, and so is every error that is joined to it.
func isOverload(err error) bool {
	switch e := err.(type) { //nolint:errorlint // it walks the tree itself
	case interface{ Unwrap() []error }:
		return !slices.ContainsFunc(e.Unwrap(), func(joined error) bool { return !isOverload(joined) })
	case interface{ Unwrap() error }:
		return isOverload(e.Unwrap())
	}
	return errors.Is(err, errOverload)
}
