package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"barograph/engine"
	"barograph/fault"
	"barograph/lab"
	"barograph/measure"
	"barograph/run"
	"barograph/workload/scan"

	"github.com/spf13/cobra"
)

// scanFlags are a run of `barograph scan`.
type scanFlags struct {
	env                         *env
	db, data, out, labs         string
	paths, queries, partitions  []string
	workers, reps, cold, rounds int
	seed                        uint64
	explain, measureDisks       bool
	experiment                  scan.Experiment
}

func newScan(e *env) *cobra.Command {
	f := &scanFlags{env: e}
	c := &cobra.Command{
		Use:   "scan [experiment1|experiment2|sweep] --db URL --data DIR [--paths A,B,C]",
		Short: "Analytical scans over several disks: how many paths, how many partitions",
		Long: `Load the star of TPC-DS's query 3 over several disk paths, prove every answer, then time it. DIR is a folder that
barograph synth tpcds made. Questions: q3, q52, q55, and scan, the sum over all sales.

  experiment1   partitions on the first path alone: 1, 2, 4, 8, or those of --partitions
  experiment2   1, 2, … paths with a partition on each
  sweep         numbers of paths by numbers of partitions: 1, 2, 4, 8, 16, or those of --partitions

Without a name the placement that the flags describe is loaded. --partitions auto is the published rule: one for each path
where several are named; with a single one the least of the memory in GB, 16 and the cores; --explain says how it comes out,
and runs nothing. Configurations are loaded in random order, --rounds times. Cold answers are asked after the engine forgot
what it holds, where it can be told to, and the system's page cache was emptied.

Paths may be plain folders: then no disk is limited, and the report says so. barograph lab disks makes disks of given speeds.
` + exitStatuses,
		Example: `  barograph synth tpcds --sf 1 --out tpcds
  barograph scan --db duckdb:star.db --data tpcds --paths /disk1,/disk2 --partitions auto --cold 5
  barograph scan experiment2 --db duckdb:star.db --data tpcds --paths /d1,/d2,/d3,/d4,/d5,/d6 --query scan,q3 --reps 0 --cold 10
  barograph scan --db duckdb:star.db --data tpcds --paths /disk1 --explain`,
		Args:      cobra.MatchAll(cobra.MaximumNArgs(1), cobra.OnlyValidArgs),
		ValidArgs: words(scan.Experiments()),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				f.experiment = scan.Experiment(args[0])
			}
			return f.run(c.Context())
		},
	}
	c.Flags().StringVar(&f.db, "db", "", "URL of the engine (required)")
	c.Flags().StringVar(&f.data, "data", "", "folder of generated tables (required)")
	c.Flags().StringSliceVar(&f.paths, "paths", nil, "folders, one on each disk (default: where the engine keeps its data)")
	c.Flags().StringSliceVar(&f.partitions, "partitions", []string{"auto"}, "auto, or numbers of partitions")
	c.Flags().IntVar(&f.workers, "workers", 0, "workers of an answer (default: one for each partition)")
	c.Flags().StringSliceVar(&f.queries, "query", words(engine.StarQueries()), "questions")
	c.Flags().IntVar(&f.reps, "reps", 5, "warm answers to each question after each load")
	c.Flags().IntVar(&f.cold, "cold", 0, "cold answers to each question after each load")
	c.Flags().IntVar(&f.rounds, "rounds", 1, "loads of each configuration")
	c.Flags().Uint64Var(&f.seed, "seed", 1, "seed of the order")
	c.Flags().BoolVar(&f.explain, "explain", false, "print the configurations and how the rule came to them, and run nothing")
	c.Flags().BoolVar(&f.measureDisks, "measure-disks", false, "first measure how fast each path is read: 64 MiB")
	c.Flags().StringVar(&f.out, "out", "", "run folder (default: runs/{time}-scan)")
	c.Flags().StringVar(&f.labs, "lab-dir", defaultLabDir(), "folder of the labs: a server that one of them started is watched beside the run")
	c.MarkFlagRequired("db")   //nolint:errcheck // the flag exists
	c.MarkFlagRequired("data") //nolint:errcheck // the flag exists
	complete(c, "query", func() []string { return words(engine.StarQueries()) })
	return c
}

// run runs the experiment; what was measured before an interruption is kept.
func (f *scanFlags) run(ctx context.Context) error {
	for i, path := range f.paths {
		abs, err := filepath.Abs(path)
		if err != nil {
			return err
		}
		f.paths[i] = abs
	}
	for _, q := range f.queries {
		if !slices.Contains(engine.StarQueries(), engine.StarQuery(q)) {
			return usage(&fault.Error{Setting: "--query " + q, Problem: "is not known", Cure: "choose of " + strings.Join(words(engine.StarQueries()), ", ")})
		}
	}
	if f.cold > 0 && len(f.paths) == 0 && os.Geteuid() != 0 {
		return usage(&fault.Error{Setting: "--cold", Problem: "cannot empty the page cache of files that it does not know", Cure: "name --paths, or run as root"})
	}
	d, u, err := f.env.engines.Parse(f.db)
	if err != nil {
		return usage(err)
	}
	result := &run.Scans{
		Started: time.Now().UTC().Truncate(time.Second), Args: redacted(f.env.args), Experiment: string(f.experiment), Engine: d.Scheme, Place: string(d.Place),
		Server: labServer([]string{f.labs}, d, u), Machine: measure.ReadMachine(ctx, "."),
	}
	configs, err := f.configs(result)
	if err != nil {
		return usage(err)
	}
	if f.explain {
		return f.explained(result, configs)
	}
	files, manifest, err := engine.OpenStarFiles(f.data)
	if err != nil {
		return err
	}
	result.Scale, result.Generator, result.Rows = manifest.Scale, manifest.Generator, manifest.Rows
	result.Warnings = result.Machine.Warnings()
	o := scan.Options{
		Files: files, Configs: configs, Rounds: f.rounds, Warm: f.reps, Cold: f.cold, Seed: f.seed, PIDs: labProcesses(f.labs, d, u),
		Progress: func(s string) { fmt.Fprintln(f.env.stderr, s) },
	}
	for _, q := range f.queries {
		o.Queries = append(o.Queries, engine.StarQuery(q))
	}
	if o.Devices, err = f.disks(ctx, result); err != nil {
		return err
	}
	if o.Reference, err = engine.StarAnswers(ctx, files); err != nil {
		return err
	}
	return f.measured(ctx, o, result)
}

// configs are the configurations, and in result the rule that led to them.
func (f *scanFlags) configs(result *run.Scans) ([]engine.Placement, error) {
	var partitions []int
	for _, s := range f.partitions {
		if s == "auto" {
			if f.experiment != scan.One {
				continue // it has its own
			}
			n, why := scan.Auto(f.nodes(result))
			partitions, result.Rule = append(partitions, n), why
			continue
		}
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 {
			return nil, &fault.Error{Setting: "--partitions " + s, Problem: "is no number of partitions", Cure: "write auto, 8, or 1,2,4,8"}
		}
		partitions = append(partitions, n)
	}
	configs, err := scan.Placements(f.experiment, f.paths, partitions, f.workers)
	for _, p := range configs {
		err = errors.Join(err, p.Check())
	}
	return configs, err
}

// nodes are the engine's machines: this one, or the nodes of a lab on it, which
// divide the paths among themselves.
func (f *scanFlags) nodes(result *run.Scans) []scan.Node {
	all := []scan.Node{{Cores: result.Machine.UsableCPUs, Memory: result.Machine.Memory, Paths: len(f.paths)}}
	if s := result.Server; s != nil && s.Nodes > 0 {
		all = make([]scan.Node, s.Nodes)
		for i := range all {
			all[i] = scan.Node{Cores: result.Machine.UsableCPUs, Memory: result.Machine.Memory, Paths: (len(f.paths) + s.Nodes - 1 - i) / s.Nodes}
			if s.Memory > 0 {
				all[i].Memory = uint64(s.Memory) //nolint:gosec // above 0
			}
		}
	}
	return all
}

// explained prints the configurations and the rule.
func (f *scanFlags) explained(result *run.Scans, configs []engine.Placement) error {
	if f.env.json {
		return f.env.printJSON(map[string]any{"rule": result.Rule, "placements": configs})
	}
	if result.Rule != "" {
		fmt.Fprintf(f.env.stdout, "partitions: %s\n", result.Rule)
	}
	for _, p := range configs {
		fmt.Fprintf(f.env.stdout, "%s, workers: %d\n", scan.Words(&run.ScanConfig{Paths: len(p.Paths), Partitions: p.Partitions}), p.Parallel())
	}
	return nil
}

// disks looks at the paths.
func (f *scanFlags) disks(ctx context.Context, result *run.Scans) ([]string, error) {
	for _, path := range f.paths {
		if err := os.MkdirAll(path, 0o755); err != nil {
			return nil, err
		}
	}
	devices, err := measure.Devices(ctx, f.paths)
	if err != nil {
		return nil, err
	}
	limited := 0
	for i, path := range f.paths {
		d := run.ScanDisk{Path: path, Device: devices[i], Type: measure.ReadMachine(ctx, path).Disk.Type}
		throttled, ok := lab.DiskOf(path)
		if ok {
			limited++
			d.Limit, d.Rate = throttled.Limits.ReadMBps*1e6, throttled.Measured.ReadMBps*1e6
			d.How = "measured by barograph lab disks; limits: " + throttled.Limits.String()
		}
		if f.measureDisks {
			if d.Rate, d.How, err = measure.ReadRate(path); err != nil {
				return nil, err
			}
		}
		result.Disks = append(result.Disks, d)
	}
	switch {
	case limited == 0:
		result.Limited = "plain folders: disks were not limited"
	case limited == len(f.paths):
		result.Limited = "every path lies on a throttled disk of the lab"
	default:
		result.Limited = fmt.Sprintf("%d of %d paths lie on throttled disks of the lab; the others are plain folders, not limited", limited, len(f.paths))
	}
	return devices, nil
}

// measured runs, and writes the run folder and its report.
func (f *scanFlags) measured(ctx context.Context, o scan.Options, result *run.Scans) error {
	db, err := f.env.engines.Open(ctx, f.db, engine.Options{Log: f.env.log()})
	if err != nil {
		return err
	}
	if db.Scans == nil {
		return errors.Join(usage(&fault.Error{Setting: "--db " + result.Engine, Problem: "has no tables of the analytical workload", Cure: "choose duckdb, postgres, mariadb, asterixdb or trino"}), db.Close())
	}
	about, err := db.About(ctx)
	if err != nil {
		return errors.Join(err, db.Close())
	}
	result.Product, result.Version, result.Settings = about.Product, about.Version, about.Settings
	if f.out == "" {
		f.out = filepath.Join("runs", run.ID(result.Started, "scan"))
	}
	o.Save = func() error { return result.Save(f.out) }
	err = errors.Join(scan.Run(ctx, db.Scans, o, result), db.Close())
	if result.Laws = scan.Laws(result); len(result.Laws) > 0 {
		err = errors.Join(err, o.Save())
	}
	if len(result.Points) > 0 {
		err = errors.Join(err, f.env.report(f.out))
	}
	if errors.Is(err, scan.ErrWrong) {
		return &fault.Status{Code: fault.Differs, Err: err}
	}
	return err
}
