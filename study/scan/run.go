package scan

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/barograph/barograph/engine/tables"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/run"
)

// Options of Run.
type Options struct {
	Files     tables.StarFiles
	Reference *tables.StarReference
	Queries   []tables.StarQuery
	Configs   []tables.Placement
	Rounds    int // how often every configuration is loaded and timed, in random order; 0 = 1
	Warm      int // repetitions after each load
	Cold      int // likewise, each with emptied caches; 0 = none
	Seed      uint64

	// GoOn: an error ends a configuration, which keeps what was measured of it
	// and is not loaded again, and the others go on.
	GoOn bool

	Devices []string                                     // of the paths, see measure.Devices; the configurations take the first ones
	Drop    func(paths []string) (how string, err error) // empties the system's cache; nil = measure.DropCaches

	Progress func(s string)
}

// runner is a run under way.
type runner struct {
	Options
	open Opener
	into *run.Folder
	reps map[repeated]int
}

// repeated is what repetitions are counted for.
type repeated struct {
	cell  run.Cell
	phase run.Phase
}

// Errors of Run that concern no single call.
var (
	ErrWrong  = errors.New("an answer differs from the reference")
	ErrGaveUp = errors.New("configurations were given up") // with Options.GoOn; why is in run.ScanConfig.Problem
)

// Run loads every configuration, proves its answers and times them. What was
// measured before an error is in into, a run whose engine is known.
func Run(ctx context.Context, open Opener, o Options, into *run.Folder) error {
	if o.Drop == nil {
		o.Drop = measure.DropCaches
	}
	r := &runner{Options: o, open: open, into: into, reps: map[repeated]int{}}
	all := into.Run.Scan
	into.Run.Seed = o.Seed
	goesOn := len(all.Configs) > 0
	for _, s := range into.Samples() {
		r.reps[repeated{s.Cell, s.Phase}]++
	}
	for _, p := range o.Configs {
		if goesOn {
			break
		}
		all.Configs = append(all.Configs, run.ScanConfig{Paths: len(p.Paths), Partitions: p.Partitions, Workers: p.Parallel()})
	}
	for config, round := range measure.Interleave(o.Seed, len(o.Configs), max(o.Rounds, 1)) {
		out := &all.Configs[config]
		if out.Problem != "" || round < out.Rounds {
			continue // it was given up, or timed before the run was interrupted
		}
		o.Progress(fmt.Sprintf("round %d: %s", round+1, Words(out)))
		err := r.config(ctx, config, round)
		if err != nil && r.passes(ctx, err) {
			out.Problem = fault.Redact(err.Error())
			why, _, _ := strings.Cut(out.Problem, "\n")
			o.Progress(fmt.Sprintf("%s: given up: %s", Words(out), why))
			err = nil
		}
		if err == nil && out.Problem == "" {
			out.Rounds = round + 1
		}
		if saved := into.Save(); err == nil {
			err = saved
		}
		if err != nil {
			return fmt.Errorf("%s: %w", Words(out), err)
		}
	}
	err := into.Verdict(ErrWrong, ErrWrong)
	if n := GivenUp(all); n > 0 {
		err = errors.Join(err, &fault.Status{Code: fault.Incomplete, Err: fmt.Errorf("%d of %d %w", n, len(all.Configs), ErrGaveUp)})
	}
	return err
}

// passes reports whether the other configurations go on after an error: it is
// this one's own, neither the caller's nor one that all would meet.
func (r *runner) passes(ctx context.Context, err error) bool {
	_, common := errors.AsType[*fault.Status](err)
	return r.GoOn && ctx.Err() == nil && !common && !errors.Is(err, tables.ErrStarFiles)
}

// GivenUp counts the configurations that ended with an error.
func GivenUp(r *run.Scan) (n int) {
	for i := range r.Configs {
		if r.Configs[i].Problem != "" {
			n++
		}
	}
	return n
}

// Words names a configuration.
func Words(c *run.ScanConfig) string {
	if c.Paths == 0 {
		return "the engine's own folder, " + run.Several(c.Partitions, "partition")
	}
	return run.Several(c.Paths, "path") + ", " + run.Several(c.Partitions, "partition")
}

// config opens an engine for a configuration and tries it.
func (r *runner) config(ctx context.Context, config, round int) (err error) {
	began := time.Now()
	host, err := r.open(ctx, r.Configs[config])
	if err != nil {
		return err
	}
	defer func() {
		if err != nil && ctx.Err() == nil && host.Log != nil {
			err = fmt.Errorf("%w\n%s", err, host.Log())
		}
		err = errors.Join(err, host.Close())
	}()
	out := &r.into.Run.Scan.Configs[config]
	out.Open += time.Since(began)
	out.Opens++
	t := &trial{runner: r, config: config, round: round, host: host}
	if err := t.open(ctx, true); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.close()) }()
	return t.run(ctx)
}
