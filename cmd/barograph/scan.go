package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"barograph/engine"
	"barograph/fault"
	"barograph/measure"
	"barograph/run"
	"barograph/workload/scan"

	"github.com/spf13/cobra"
)

// scanFlags are a run of `barograph scan`.
type scanFlags struct {
	env                         *env
	db, data, out, labs, disks  string
	paths, queries, partitions  []string
	workers, reps, cold, rounds int
	seed                        uint64
	explain, measureDisks       bool
	experiment                  scan.Experiment

	lab         string // the engine of throwaway servers; "" = db names one
	profile     string
	nodes       int
	memory      int64 // MiB of a node; 0 = all
	settings    []string
	coldRestart bool

	driver *engine.Driver
	set    map[string]string // settings, by name
}

func newScan(e *env) *cobra.Command {
	f := &scanFlags{env: e}
	c := &cobra.Command{
		Use:   "scan [experiment1|experiment2|sweep] --engine URL | --lab ENGINE --data DIR [--paths A,B,C | --disks]",
		Short: "Analytical scans over several disks: how many paths, how many partitions",
		Long: `Load the star of TPC-DS's query 3 over several disk paths, prove every answer, then time it. DIR is a folder that
barograph synth tpcds made. Questions: q3, q52, q55, and scan, the sum over all sales.

  experiment1   partitions on the first path alone: 1, 2, 4, 8, or those of --partitions
  experiment2   1, 2, … paths with a partition on each
  sweep         numbers of paths by numbers of partitions: 1, 2, 4, 8, 16, or those of --partitions

Without a name the placement that the flags describe is loaded. --partitions auto is the published rule: one for each path
where several are named; with a single one the least of the memory in GB, 16 and the cores; --explain says how it comes out,
and runs nothing. Configurations are loaded in random order, --rounds times.

--lab starts throwaway servers instead of using one that is there: of AsterixDB, whose partitions are settled when a server
starts, a new one for each load; of the others one for the whole run. They are removed at the end, after ^C and after errors,
too. What ends with an error there, such as more partitions than fit into memory, is given up and reported, and the other
configurations go on: exit status 4.

Cold answers are asked after the engine forgot what it holds, where it can be told to, and the system's page cache was emptied.
A server of --lab that cannot be told is stopped and started again before each of them, which takes about a second for
PostgreSQL and MariaDB and much longer for AsterixDB; --cold-restart=false leaves its memory as it is. The report says what was done.

Paths may be plain folders: then no disk is limited, and the report says so. barograph lab disks makes disks of given speeds,
which --disks names all, and --disks=6 the first six.`,
		Example: `  barograph synth tpcds --sf 1 --documents --out tpcds
  barograph scan --engine duckdb:star.db --data tpcds --paths /disk1,/disk2 --partitions auto --cold 5
  barograph scan experiment2 --engine duckdb:star.db --data tpcds --paths /d1,/d2,/d3,/d4,/d5,/d6 --query scan,q3 --reps 0 --cold 10
  barograph lab disks --count 6 --profile hdd
  barograph scan sweep --lab asterixdb --data tpcds --disks --rounds 3 --cold 3
  barograph scan experiment2 --lab postgres --profile default --setting shared_buffers=64MB --data tpcds --disks=4 --cold 5
  barograph scan --engine duckdb:star.db --data tpcds --paths /disk1 --explain`,
		Args:      cobra.MatchAll(f.noNumber, cobra.MaximumNArgs(1), cobra.OnlyValidArgs),
		ValidArgs: words(scan.Experiments()),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				f.experiment = scan.Experiment(args[0])
			}
			if err := f.ofNoLab(c); err != nil {
				return err
			}
			return f.run(c.Context())
		},
	}
	f.define(c)
	c.AddCommand(newScanForecast(e), newScanVerification(e))
	return c
}

// define defines the flags.
func (f *scanFlags) define(c *cobra.Command) {
	c.Flags().StringVar(&f.db, engineFlag, "", "URL of the engine")
	c.Flags().StringVar(&f.lab, "lab", "", "`engine` of which throwaway servers are started")
	c.Flags().IntVar(&f.nodes, "nodes", 1, "nodes of each throwaway server")
	c.Flags().StringVar(&f.profile, "profile", tunedProfile, "settings of throwaway servers: tuned, default")
	c.Flags().Int64Var(&f.memory, "memory", 0, "`MiB` that the profile counts on for a node of a throwaway server: less memory, smaller buffers; 0 = all")
	c.Flags().StringArrayVar(&f.settings, "setting", nil, "`name=value`, a setting of throwaway servers in their own words, in place of the profile's; may be repeated")
	c.Flags().StringVar(&f.data, "data", "", "folder of generated tables (required)")
	c.Flags().StringSliceVar(&f.paths, "paths", nil, "folders, one on each disk (default: where the engine keeps its data)")
	c.Flags().StringVar(&f.disks, "disks", "", "the throttled disks in the labs' folder are the paths: all, or the first `n`")
	c.Flags().Lookup("disks").NoOptDefVal = allDisks
	c.Flags().StringSliceVar(&f.partitions, "partitions", []string{"auto"}, "auto, or numbers of partitions")
	c.Flags().IntVar(&f.workers, "workers", 0, "workers of an answer (default: one for each partition)")
	c.Flags().StringSliceVar(&f.queries, "query", words(engine.StarQueries()), "questions")
	c.Flags().IntVar(&f.reps, "reps", 5, "warm answers to each question after each load")
	c.Flags().IntVar(&f.cold, "cold", 0, "cold answers to each question after each load")
	c.Flags().BoolVar(&f.coldRestart, "cold-restart", true, "start a throwaway server anew before each cold answer, if its engine cannot be told to forget")
	c.Flags().IntVar(&f.rounds, "rounds", 1, "loads of each configuration")
	c.Flags().Uint64Var(&f.seed, "seed", 1, "seed of the order")
	c.Flags().BoolVar(&f.explain, "explain", false, "print the configurations and how the rule came to them, and run nothing")
	c.Flags().BoolVar(&f.measureDisks, "measure-disks", false, "first measure how fast each path is read: 64 MiB")
	c.Flags().StringVar(&f.out, "out", "", "run folder (default: runs/{time}-scan)")
	c.Flags().StringVar(&f.labs, "lab-dir", engine.LabDir(), "folder of the labs and their disks: a server that one of them started is watched beside the run")
	f.env.enginesNamed(c, "db")
	positive(c, "nodes", "rounds")
	c.MarkFlagsOneRequired(engineFlag, "lab")
	c.MarkFlagsMutuallyExclusive(engineFlag, "lab")
	c.MarkFlagsMutuallyExclusive("paths", "disks")
	c.MarkFlagRequired("data") //nolint:errcheck // the flag exists
	complete(c, "query", func() []string { return words(engine.StarQueries()) })
	complete(c, "lab", func() []string { return (&labs{e: f.env}).schemes() })
}

// noNumber: a number that stands by itself was meant for --disks.
func (f *scanFlags) noNumber(_ *cobra.Command, args []string) error {
	for _, a := range args {
		if _, err := strconv.Atoi(a); err == nil && f.disks == allDisks {
			return &fault.Error{Setting: "--disks " + a, Problem: "is two words", Cure: "write --disks=" + a}
		}
	}
	return nil
}

// ofNoLab refuses flags that tell of a lab where there is none.
func (f *scanFlags) ofNoLab(c *cobra.Command) error {
	for _, name := range []string{"nodes", "profile", "memory", "setting", "cold-restart"} {
		if f.lab == "" && c.Flags().Changed(name) {
			return usage(&fault.Error{Setting: "--" + name, Problem: "tells of servers that --lab starts", Cure: "name an engine with --lab, or leave it out"})
		}
	}
	return nil
}

// run runs the experiment; what was measured before an interruption is kept.
func (f *scanFlags) run(ctx context.Context) error {
	if err := f.findPaths(); err != nil {
		return err
	}
	for _, q := range f.queries {
		if !slices.Contains(engine.StarQueries(), engine.StarQuery(q)) {
			return usage(fault.Unknown("--query", q, engine.StarQueries()))
		}
	}
	if f.cold > 0 && len(f.paths) == 0 && os.Geteuid() != 0 {
		return usage(&fault.Error{Setting: "--cold", Problem: "cannot empty the page cache of files that it does not know", Cure: "name --paths, or run as root"})
	}
	result := &run.Scans{
		Started: time.Now().UTC().Truncate(time.Second), Args: redacted(f.env.args), Experiment: string(f.experiment), Machine: measure.ReadMachine(ctx, "."),
	}
	pids, err := f.findEngine(ctx, result)
	if err != nil {
		return err
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
		Files: files, Configs: configs, Rounds: f.rounds, Warm: f.reps, Cold: f.cold, Seed: f.seed, GoOn: f.lab != "",
		Progress: func(s string) { fmt.Fprintln(f.env.stderr, s) },
	}
	for _, q := range f.queries {
		o.Queries = append(o.Queries, engine.StarQuery(q))
	}
	if o.Devices, err = f.lookAtDisks(ctx, result); err != nil {
		return err
	}
	if o.Reference, err = engine.StarAnswers(ctx, files); err != nil {
		return err
	}
	if f.out == "" {
		f.out = filepath.Join("runs", run.ID(result.Started, "scan"))
	}
	o.Save = func() error { return result.Save(f.out) }
	if f.lab != "" {
		return f.ended(f.onLabs(ctx, o, result), o, result)
	}
	return f.ended(f.onServer(ctx, pids, o, result), o, result)
}

// findEngine finds the engine, and the processes of a server that a lab started
// before.
func (f *scanFlags) findEngine(ctx context.Context, result *run.Scans) (pids []int32, err error) {
	if f.lab != "" {
		if f.driver, err = f.labDriver(); err != nil {
			return nil, err
		}
		f.labPlanned(result)
	} else {
		d, u, err := f.env.engines.Parse(f.db)
		if err != nil {
			return nil, usage(err)
		}
		if !f.explain {
			if err := f.env.reach(ctx, f.db); err != nil {
				return nil, err
			}
		}
		f.driver, result.Server, pids = d, labServer([]string{f.labs}, d, u), labProcesses(f.labs, d, u)
	}
	result.Engine, result.Place, result.Product = f.driver.Scheme, string(f.driver.Place), f.driver.Scheme
	return pids, nil
}

// configs are the configurations, and in result the rule that led to them.
func (f *scanFlags) configs(result *run.Scans) ([]engine.Placement, error) {
	var partitions []int
	for _, s := range f.partitions {
		if s == "auto" {
			if f.experiment != scan.One {
				continue // it has its own
			}
			n, why := scan.Auto(f.machines(result))
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
	if err != nil {
		return nil, err
	}
	return f.offered(configs)
}

// machines are the engine's: this one, or the nodes of a lab on it, which
// divide the paths among themselves.
func (f *scanFlags) machines(result *run.Scans) []scan.Node {
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

// onServer runs on the engine that --engine names.
func (f *scanFlags) onServer(ctx context.Context, pids []int32, o scan.Options, result *run.Scans) error {
	db, err := f.env.engines.Open(ctx, f.db, engine.Options{Log: f.env.log()})
	if err != nil {
		return err
	}
	if db.Scans == nil {
		return errors.Join(noScans("--engine "+result.Engine), db.Close())
	}
	if err := noteAbout(ctx, db, result); err != nil {
		return errors.Join(err, db.Close())
	}
	return errors.Join(scan.Run(ctx, scan.Opened(db.Scans, pids), o, result), db.Close())
}

func noScans(setting string) error {
	return usage(&fault.Error{Setting: setting, Problem: "has no tables of the analytical workload", Cure: "choose duckdb, postgres, mariadb, asterixdb or trino"})
}

// noteAbout keeps what the engine says of itself.
func noteAbout(ctx context.Context, db *engine.Engine, result *run.Scans) error {
	about, err := db.About(ctx)
	if err != nil {
		return err
	}
	result.Product, result.Version, result.Settings = about.Product, about.Version, about.Settings
	return nil
}

// ended writes the laws and the report of what was measured, and says by the
// exit status how it ended.
func (f *scanFlags) ended(err error, o scan.Options, result *run.Scans) error {
	fast := scan.TooFast(result)
	result.Warnings = append(result.Warnings, fast...)
	if result.Laws = scan.Laws(result); len(result.Laws)+len(fast) > 0 {
		err = errors.Join(err, o.Save())
	}
	if len(result.Points) > 0 || scan.GivenUp(result) > 0 {
		err = errors.Join(err, f.env.report(f.out))
	}
	switch {
	case errors.Is(err, scan.ErrWrong):
		return &fault.Status{Code: fault.Differs, Err: err}
	case errors.Is(err, scan.ErrGaveUp):
		return &fault.Status{Code: fault.Incomplete, Err: err}
	}
	return err
}
