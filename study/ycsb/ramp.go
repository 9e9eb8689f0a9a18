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

// Ramp looks for the rate at which operations may be due until they are not done
// as they come: the knee.
type Ramp struct {
	First float64       // operations per second; 0 = no ramp
	Bound time.Duration // of the 99th percentile; 0 = none
}

// Step is what was measured at a rate.
type Step struct {
	Rate, Goodput float64 // operations per second that were due, and that succeeded
	P99           time.Duration
}

// Ramped is what a ramp found.
type Ramped struct {
	Ramp
	Steps  []Step // in the order in which they were run
	Holds  Step   // the highest sustained rate; zero if the first rate was not sustained
	Breaks Step   // the lowest that was not; zero where a run failed before
}

const (
	follows    = 0.95 // the engine sustains a rate if it completes this fraction of what is due
	steeper    = 1.5  // times the rate before
	closeBy    = 1.1  // times the sustained rate: the search ends within this factor
	mostSteps  = 40   // upwards
	rampBehind = 10   // seconds of a rate, where the workload gives none
)

func (r Ramp) holds(s Step) bool {
	return s.Goodput >= follows*s.Rate && (r.Bound == 0 || s.P99 <= r.Bound)
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
		if out.Steps = append(out.Steps, s); r.holds(s) {
			out.Holds = s
		} else {
			out.Breaks = s
		}
		switch {
		case out.Breaks.Rate == 0:
			rate *= steeper
		case out.Holds.Rate == 0 || out.Breaks.Rate <= closeBy*out.Holds.Rate:
			return out
		default:
			rate = (out.Holds.Rate + out.Breaks.Rate) / 2
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
	case r.Holds.Rate == 0:
		return "does not even hold " + at(r.Breaks)
	case r.Breaks.Rate == 0:
		return "held " + at(r.Holds) + ", the highest rate that was tried"
	}
	broke := "what is done no longer follows"
	if r.Breaks.Goodput >= follows*r.Breaks.Rate {
		broke = fmt.Sprintf("the 99th percentile exceeds %s", r.Bound)
	}
	return fmt.Sprintf("the knee: it holds %s; at %s %s", at(r.Holds), at(r.Breaks), broke)
}

// ramp looks for the knee of a mix on a target, with the most of the threads.
func (s *Sweep) ramp(ctx context.Context, t *Target, m Mix) (failed error) {
	if t.Place == engine.Memory {
		return nil // it is run for two seconds, at any rate
	}
	c := *m.Config
	c.Ramp, c.Operations, c.Rates = true, 0, nil
	if c.Seconds == 0 {
		c.Seconds = rampBehind
	}
	found := s.Ramp.climb(func(rate float64) (Step, bool) {
		var goodput, p99 []float64
		for rep := range max(s.Reps, 1) {
			c.Target = rate
			p, err := s.cell(ctx, t, Mix{m.Name, &c, m.Properties}, slices.Max(s.Threads), rep+1)
			x := p.Measured()
			if failed = errors.Join(ctx.Err(), overloaded(err)); failed != nil || x == nil {
				return Step{}, false
			}
			goodput, p99 = append(goodput, x.Throughput), append(p99, float64(x.Response.P99))
		}
		return Step{Rate: rate, Goodput: measure.Median(goodput), P99: time.Duration(measure.Median(p99))}, true
	})
	if failed == nil {
		s.Found(fmt.Sprintf("%s on %s with %s: %s", m.Name, t.title(), run.CountOf(int(slices.Max(s.Threads)), "thread"),
			found))
	}
	return failed
}

// overloaded is an error that is no overload, which a ramp is about.
func overloaded(err error) error {
	if errors.Is(err, errOverload) && fault.Code(err) == fault.Incomplete {
		return nil
	}
	return err
}
