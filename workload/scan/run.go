package scan

import (
	"context"
	"errors"
	"fmt"
	"time"

	"barograph/engine"
	"barograph/measure"
	"barograph/run"
)

// Options of Run.
type Options struct {
	Files     engine.StarFiles
	Reference *engine.StarReference
	Queries   []engine.StarQuery
	Configs   []engine.Placement
	Rounds    int // how often every configuration is loaded and timed, in random order; 0 = 1
	Warm      int // repetitions after each load
	Cold      int // likewise, each with emptied caches; 0 = none
	Seed      uint64

	Devices []string                                     // of the paths, see measure.Devices; the configurations take the first ones
	PIDs    []int32                                      // of a server on this machine
	Drop    func(paths []string) (how string, err error) // empties the system's cache; nil = measure.DropCaches

	Progress func(s string)
	Save     func() error // keeps what was measured so far; called after every load
}

// runner is a run under way.
type runner struct {
	Options
	scans engine.Scans
	into  *run.Scans
	reps  map[repeated]int
}

// repeated is what repetitions are counted for.
type repeated struct {
	config int
	cell   cell
}

// cell is what is timed under a configuration.
type cell struct {
	query engine.StarQuery
	phase run.Phase
}

// ErrWrong says that an answer differs from the reference.
var ErrWrong = errors.New("an answer differs from the reference")

// Run loads every configuration, proves its answers and times them. What was
// measured before an error is in into.
func Run(ctx context.Context, scans engine.Scans, o Options, into *run.Scans) error {
	if o.Drop == nil {
		o.Drop = measure.DropCaches
	}
	r := &runner{Options: o, scans: scans, into: into, reps: map[repeated]int{}}
	into.Seed = o.Seed
	for _, p := range o.Configs {
		into.Configs = append(into.Configs, run.ScanConfig{Paths: len(p.Paths), Partitions: p.Partitions, Workers: p.Parallel()})
	}
	wrong := false
	for config, round := range measure.Interleave(o.Seed, len(o.Configs), max(o.Rounds, 1)) {
		o.Progress(fmt.Sprintf("round %d: %s", round+1, Words(&into.Configs[config])))
		bad, err := r.config(ctx, config, round)
		wrong = wrong || bad
		if saved := o.Save(); err == nil {
			err = saved
		}
		if err != nil {
			return fmt.Errorf("%s: %w", Words(&into.Configs[config]), err)
		}
	}
	if wrong {
		return ErrWrong
	}
	return nil
}

// Words names a configuration.
func Words(c *run.ScanConfig) string {
	paths := fmt.Sprintf("%d paths", c.Paths)
	switch c.Paths {
	case 0:
		paths = "the engine's own folder"
	case 1:
		paths = "1 path"
	}
	parts := fmt.Sprintf("%d partitions", c.Partitions)
	if c.Partitions == 1 {
		parts = "1 partition"
	}
	return paths + ", " + parts
}

// config loads a configuration, proves and times it.
func (r *runner) config(ctx context.Context, config, round int) (wrong bool, err error) {
	p, out := r.Configs[config], &r.into.Configs[config]
	p.Anew = true
	star, err := r.scans.Open(ctx, p)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, star.Close()) }()
	began := time.Now()
	loaded, err := star.Load(ctx, r.Files)
	if err != nil {
		return false, fmt.Errorf("load: %w", err)
	}
	out.Load += time.Since(began)
	out.Loads++
	for t, want := range r.Reference.Rows {
		if got := loaded.Rows[t]; got != want {
			return false, fmt.Errorf("load: %s holds %d rows, not %d", t, got, want)
		}
	}
	if star.Size != nil {
		if out.Bytes, err = star.Size(ctx); err != nil {
			return false, err
		}
	}
	if round == 0 {
		if err := r.plans(ctx, star, out); err != nil {
			return false, err
		}
	}
	var cells []cell
	for _, q := range r.Queries {
		right, err := r.prove(ctx, star, config, q)
		if err != nil {
			return wrong, err
		}
		if !right {
			wrong = true
			continue
		}
		cells = append(cells, cell{q, run.Warm})
	}
	bad, err := r.times(ctx, star, config, round, cells)
	return wrong || bad, err
}

// plans keeps texts and plans.
func (r *runner) plans(ctx context.Context, star *engine.Star, out *run.ScanConfig) error {
	for _, q := range r.Queries {
		plan := run.ScanPlan{Query: string(q), Text: star.Text(q)}
		if star.Plan != nil {
			var err error
			if plan.Plan, err = star.Plan(ctx, q); err != nil {
				return err
			}
		}
		out.Plans = append(out.Plans, plan)
	}
	return nil
}

// prove asks once, untimed. A wrong answer is kept as such.
func (r *runner) prove(ctx context.Context, star *engine.Star, config int, q engine.StarQuery) (right bool, err error) {
	rows, err := star.Ask(ctx, q)
	if err != nil {
		return false, fmt.Errorf("%s: %w", q, err)
	}
	differs := r.Reference.Check(q, rows)
	if differs != nil {
		r.into.Points = append(r.into.Points, run.ScanPoint{Config: config, Query: string(q), Phase: run.Warm, Verdict: run.Wrong, Problem: differs.Error(), Rows: len(rows)})
	}
	return differs == nil, nil
}

// times times warm answers, then cold ones, each in random order.
func (r *runner) times(ctx context.Context, star *engine.Star, config, round int, cells []cell) (wrong bool, err error) {
	for _, phase := range []struct {
		phase run.Phase
		reps  int
	}{{run.Warm, r.Warm}, {run.Cold, r.Cold}} {
		seed := r.Seed + uint64(config)<<32 + uint64(round)<<16 //nolint:gosec // not negative
		for i := range measure.Interleave(seed, len(cells), phase.reps) {
			c := cell{cells[i].query, phase.phase}
			if c.phase == run.Cold {
				if err := r.chill(ctx, star, config); err != nil {
					return wrong, err
				}
			}
			point, err := r.point(ctx, star, config, c)
			if err != nil {
				return wrong, fmt.Errorf("%s: %w", c.query, err)
			}
			wrong = wrong || point.Verdict != run.Equal
			r.into.Points = append(r.into.Points, point)
		}
	}
	return wrong, nil
}

// chill empties the caches that can be reached.
func (r *runner) chill(ctx context.Context, star *engine.Star, config int) error {
	how := "the engine's own memory was left as it was"
	if star.Cold != nil {
		if err := star.Cold(ctx); err != nil {
			return err
		}
		how = "the engine forgot what it held"
	}
	dropped, err := r.Drop(r.Configs[config].Paths)
	if err != nil {
		return fmt.Errorf("a cold start: %w", err)
	}
	r.into.Cold = how + "; " + dropped
	return nil
}

// point asks once and measures.
func (r *runner) point(ctx context.Context, star *engine.Star, config int, c cell) (run.ScanPoint, error) {
	at := repeated{config, c}
	r.reps[at]++
	p := run.ScanPoint{Config: config, Query: string(c.query), Phase: c.phase, Rep: r.reps[at]}
	disks, err := measure.StartDisks(ctx, r.Devices[:min(len(r.Devices), len(r.Configs[config].Paths))])
	if err != nil {
		return p, err
	}
	var server *measure.ProcessMeter
	if len(r.PIDs) > 0 {
		server = measure.StartProcesses(ctx, r.PIDs)
	}
	machine, err := measure.StartMachine(ctx)
	if err != nil {
		return p, err
	}
	spent := measure.CPUTime()
	began := time.Now()
	rows, err := star.Ask(ctx, c.query)
	p.Time = time.Since(began)
	p.Client = measure.CPUTime() - spent
	if err != nil {
		return p, err
	}
	if p.Machine, err = machine.Stop(ctx); err != nil {
		return p, err
	}
	if server != nil {
		load := server.Stop(ctx)
		p.Server = &load
	}
	if p.Devices, err = disks.Stop(ctx); err != nil {
		return p, err
	}
	p.Free, p.Rows, p.Verdict = measure.AvailableMemory(ctx), len(rows), run.Equal
	if differs := r.Reference.Check(c.query, rows); differs != nil {
		p.Verdict, p.Problem, p.Time = run.Wrong, differs.Error(), 0
	}
	return p, nil
}
