package ycsb

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/measure"
	"github.com/barograph/barograph/run"
)

// Mix is a workload by its name.
type Mix struct {
	Name   string
	Config *Config
}

// Sweep runs mixes on engines, with numbers of threads, again and again.
type Sweep struct {
	Mixes   []Mix
	Targets []*Target
	Threads []int64
	Reps    int
	Seed    uint64 // of the order

	Find  bool          // the numbers of threads are looked for; see Saturate
	Bound time.Duration // with Find
	Most  int64         // likewise

	Add   func(s run.Sample) error // is given each sample as it comes
	Found func(words string)       // what Find found
}

// Run runs all points in rounds, each in a fresh random order: what drifts meets
// all mixes, engines and numbers of threads alike. An engine that fails does not
// keep the others from it. The error is the first.
func (s *Sweep) Run(ctx context.Context) (first error) {
	width := len(s.Mixes) * len(s.Targets)
	if !s.Find {
		width *= len(s.Threads)
	}
	reps := max(s.Reps, 1)
	if s.Find {
		reps = 1 // each number of threads is repeated where it is found
	}
	for i, round := range measure.Interleave(s.Seed, width, reps) {
		m, t := s.Mixes[i%len(s.Mixes)], s.Targets[i/len(s.Mixes)%len(s.Targets)]
		var err error
		if s.Find {
			err = s.saturate(ctx, t, m)
		} else {
			_, err = s.cell(ctx, t, m, s.Threads[i/len(s.Mixes)/len(s.Targets)], round+1)
		}
		if first == nil {
			first = err
		}
		if ctx.Err() != nil {
			return first
		}
	}
	return first
}

// saturate looks for the number of threads up to which more bring something.
func (s *Sweep) saturate(ctx context.Context, t *Target, m Mix) (failed error) {
	repeated := func(n int64) (Summary, bool) {
		var all []run.Sample
		for rep := range max(s.Reps, 1) {
			p, err := s.cell(ctx, t, m, n, rep+1)
			if failed = errors.Join(err, ctx.Err()); failed != nil || p.Measured() == nil {
				return Summary{}, false
			}
			all = append(all, p)
		}
		return summarize(all), true
	}
	if t.Place == engine.Memory {
		repeated(1)
		return failed
	}
	if result := Saturate(s.Bound, s.Most, repeated); failed == nil && len(result.Runs) > 0 {
		s.Found(fmt.Sprintf("%s on %s: %s", m.Name, t.Scheme, result))
	}
	return failed
}

// cell runs one point; nothing where the engine failed before, and it was said.
func (s *Sweep) cell(ctx context.Context, t *Target, m Mix, threads int64, rep int) (run.Sample, error) {
	if ctx.Err() != nil || t.failed != nil {
		return run.Sample{}, ctx.Err()
	}
	with := *m.Config
	with.Threads = threads
	p, _, err := t.Measure(ctx, &with, t.Options(), m.Name, rep)
	if err != nil {
		err = fmt.Errorf("%s on %s with %d threads: %w", m.Name, t.Scheme, threads, err)
		if p.Verdict != run.Equal && !errors.Is(err, ErrCannot) {
			t.failed = err
		}
	}
	return p, errors.Join(err, s.Add(p))
}
