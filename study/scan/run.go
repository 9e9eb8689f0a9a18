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
	Rounds    int // loads and measurements of every configuration, in random order; 0 = 1
	Warm      int // warm repetitions after each load
	Cold      int // cold repetitions after each load, with emptied caches; 0 = none
	Seed      uint64

	// ContinueOnError: after an error in a configuration, Run keeps its measurements, does not load it again, and
	// continues with the others.
	ContinueOnError bool

	Devices []string                                     // of the paths, see measure.Devices; a configuration uses the first ones
	Drop    func(paths []string) (how string, err error) // empties the page cache; nil = measure.DropCaches

	Progress func(s string)
}

// runner is a run in progress.
type runner struct {
	Options
	open   Opener
	folder *run.Folder
	reps   map[repKey]int
}

// repKey is the key by which repetitions are counted.
type repKey struct {
	cell  run.Cell
	phase run.Phase
}

// Errors of Run after which the run folder is complete.
var (
	ErrWrong         = errors.New("a result differs from the reference")
	ErrConfigsFailed = errors.New("configurations failed") // with Options.ContinueOnError; run.ScanConfig.Problem has the reasons
)

// Run loads every configuration, proves its results and times them. into must have the
// description of the engine. After an error, into has the measurements made before it.
func Run(ctx context.Context, open Opener, o Options, into *run.Folder) error {
	if o.Drop == nil {
		o.Drop = measure.DropCaches
	}
	r := &runner{Options: o, open: open, folder: into, reps: map[repKey]int{}}
	all := into.Run.Scan
	into.Run.Seed = o.Seed
	resumed := len(all.Configs) > 0
	for _, s := range into.Samples() {
		r.reps[repKey{s.Cell, s.Phase}]++
	}
	for _, p := range o.Configs {
		if resumed {
			break
		}
		all.Configs = append(all.Configs, run.ScanConfig{Paths: len(p.Paths), Partitions: p.Partitions, Workers: p.Parallel()})
	}
	for config, round := range measure.Interleave(o.Seed, len(o.Configs), max(o.Rounds, 1)) {
		out := &all.Configs[config]
		if out.Problem != "" || round < out.Rounds {
			continue // the configuration failed, or was measured before the run was interrupted
		}
		o.Progress(fmt.Sprintf("round %d: %s", round+1, ConfigName(out)))
		err := r.config(ctx, config, round)
		if err != nil && r.continuesAfter(ctx, err) {
			out.Problem = fault.Redact(err.Error())
			why, _, _ := strings.Cut(out.Problem, "\n")
			o.Progress(fmt.Sprintf("%s failed: %s", ConfigName(out), why))
			err = nil
		}
		if err == nil && out.Problem == "" {
			out.Rounds = round + 1
		}
		if saved := into.Save(); err == nil {
			err = saved
		}
		if err != nil {
			return fmt.Errorf("%s: %w", ConfigName(out), err)
		}
	}
	err := into.ExitError(ErrWrong, ErrWrong)
	if n := FailedConfigs(all); n > 0 {
		err = errors.Join(err, &fault.Status{Code: fault.Incomplete, Err: fmt.Errorf("%d of %d %w", n, len(all.Configs), ErrConfigsFailed)})
	}
	return err
}

// continuesAfter reports whether Run continues with the other configurations after an error: only if the error
// concerns this configuration, not the caller and not all configurations.
func (r *runner) continuesAfter(ctx context.Context, err error) bool {
	_, common := errors.AsType[*fault.Status](err)
	return r.ContinueOnError && ctx.Err() == nil && !common && !errors.Is(err, tables.ErrStarFiles)
}

// FailedConfigs counts the configurations that ended with an error.
func FailedConfigs(r *run.Scan) (n int) {
	for i := range r.Configs {
		if r.Configs[i].Problem != "" {
			n++
		}
	}
	return n
}

// ConfigName names a configuration.
func ConfigName(c *run.ScanConfig) string {
	if c.Paths == 0 {
		return "the engine's own folder, " + run.CountOf(c.Partitions, "partition")
	}
	return run.CountOf(c.Paths, "path") + ", " + run.CountOf(c.Partitions, "partition")
}

// config opens an engine for a configuration, and loads and measures it.
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
	out := &r.folder.Run.Scan.Configs[config]
	out.Open += time.Since(began)
	out.Opens++
	t := &trial{runner: r, config: config, round: round, host: host}
	if err := t.open(ctx, true); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.close()) }()
	return t.run(ctx)
}
