package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/kv"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/results/report"
	"github.com/barograph/barograph/results/run"
	"github.com/barograph/barograph/study/ycsb"
)

func newYCSBSweep(e *env) *cobra.Command {
	f := &ycsbFlags{threads: 1} // each point has its own number of threads
	s, maxLatency := &sweep{env: e}, time.Duration(0)
	c := &cobra.Command{
		Use:   "sweep --engine URL… --threads 1,2,4 -P FILE [-p NAME=VALUE]…",
		Short: "Run workloads with increasing numbers of threads on several engines",
		Long: `Sweep runs the same workloads on each engine with each number of threads, and prints throughput and latency. A run with
wrong results has no numbers. Latency is that of all operations, from when they were due. The engine dry runs
for up to two seconds a point and shows the client overhead.

--find-saturation doubles the number of threads until the 95th percentile of latency exceeds --max-latency, or twice the
threads bring less than 10 % more throughput; then it searches between the last two numbers.
--ramp raises the rate by half until less than 95 % of the due operations are done, or the 99th percentile exceeds
--max-latency; then it bisects the last two rates to within 10 %. Each rate runs for maxexecutiontime (default 10 s), with
the largest of --threads.

With --out the result is a run folder, whose report.html also fits the universal scalability law; --reps gives the
parameters intervals.`,
		Example: `  barograph ycsb sweep --engine sqlite:a.db --engine pebble:a.pebble --load --threads 1,2,4,8 -P workloada -p operationcount=20000
  barograph ycsb sweep --engine lab:postgres --workloads workloada,workloade --find-saturation --max-latency 20ms
  barograph ycsb sweep --engine lab:postgres --ramp 200 --max-latency 50ms --threads 16 -P workloada --out runs/knee`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if len(s.Threads) == 0 || slices.Min(s.Threads) < 1 {
				return fault.Misuse("--threads", "must be a list of positive numbers", "write for example 1,2,4,8")
			}
			if s.Ramp.First > 0 && (s.Find || f.rate != "" || f.target > 0 || f.faults != "") {
				return fault.Misuse("--ramp", "searches for the rate", "omit --find-saturation, --rate, --target and --fault")
			}
			s.Bound, s.Ramp.Bound = maxLatency, maxLatency
			if err := errors.Join(f.checkFaultFlags(c), s.mixes(c, f)); err != nil {
				return err
			}
			var err error
			if s.Agents, err = f.openAgents(s.Mixes[0].Config); err != nil {
				return err
			}
			if s.layouts, err = layoutsOf(f.layout); err != nil {
				return err
			}
			if s.scripts, err = e.scripts(f.scripts, s.urls); err != nil {
				return err
			}
			s.out, s.labDir = f.out, f.labDir
			s.clientOverhead = s.clientOverhead && f.faults == "" && s.Agents == nil
			s.prepareFaults = f.prepareFaults
			var stop func()
			if s.metrics, stop, err = f.serveMetrics(c.Context(), e); err != nil {
				return err
			}
			defer stop()
			return f.exit(e, s.run(c.Context()))
		},
	}
	f.flags(c)
	f.runAndSweepFlags(c)
	f.agentFlags(c)
	c.Flags().StringArrayVar(&s.urls, engineFlag, nil, "URL of an engine; several may be given")
	c.Flags().Var((*list)(&s.workloads), "workloads", "files of properties, or workloada … workloadf, each run separately, instead of -P")
	c.Flags().Int64SliceVar(&s.Threads, "threads", []int64{1, 2, 4, 8}, "numbers of threads")
	c.Flags().BoolVar(&s.Find, "find-saturation", false, "search for the number of threads above which throughput does not rise")
	c.Flags().DurationVar(&maxLatency, "max-latency", 0, "limit of latency: its 95th percentile with --find-saturation, its 99th with --ramp; 0 = none")
	formerly(c, "p95", "max-latency")
	formerly(c, "p99", "max-latency")
	c.Flags().Float64Var(&s.Ramp.First, "ramp", 0, "search for the highest sustained rate, starting at this many operations per second")
	c.Flags().Int64Var(&s.Most, "max-threads", 1024, "with --find-saturation: largest number of threads")
	c.Flags().IntVar(&s.Reps, "reps", 1, "timed repetitions of each point; 6 give an interval")
	c.Flags().BoolVar(&s.load, "load", false, "first load each engine")
	c.Flags().BoolVar(&s.replace, "replace", false, "first remove all records of each table, then load it")
	c.Flags().BoolVar(&s.clientOverhead, "client-overhead", true, "include the dry engine: the client overhead")
	c.Flags().BoolVar(&s.csv, "csv", false, "print CSV")
	e.prepareEngineFlag(c, "db")
	positive(c, "reps", "max-threads")
	formerly(c, "floor", "client-overhead")
	formerly(c, "most-threads", "max-threads")
	seldom(c, "client-overhead", "csv", "max-latency", "max-threads", "replace")
	required(c, engineFlag)
	return c
}

// sweep has the flags of a sweep, and its run folder.
type sweep struct {
	*env
	ycsb.Sweep
	urls, workloads     []string
	load, replace       bool
	clientOverhead, csv bool
	layouts             []kv.Layout
	scripts             []engineScript
	out, labDir         string
	prepareFaults       func(ctx context.Context, t *ycsb.Target, workloads ...*ycsb.Config) error

	metrics *ycsb.Metrics // nil = none
	folder  *run.Folder   // in memory without --out
}

// mixes reads the workloads. Properties of the command line override theirs.
func (s *sweep) mixes(c *cobra.Command, f *ycsbFlags) error {
	if len(s.workloads) == 0 {
		return s.addMix(c, f, f.mixName())
	}
	if len(f.files) > 0 {
		return fault.Misuse("--workloads", "replaces -P", "omit one of them")
	}
	for _, name := range s.workloads {
		p, err := ycsb.ReadWorkload(name)
		if err != nil {
			return usage(err)
		}
		if err := s.addMix(c, f, path.Base(name), p); err != nil {
			return err
		}
		config := s.Mixes[len(s.Mixes)-1].Config
		if first := s.Mixes[0].Config; config.Records != first.Records || config.Table != first.Table {
			return fault.Misuse("--workloads "+name, "has another table or number of records than the first workload",
				"set -p recordcount and -p table for all")
		}
	}
	return nil
}

// addMix adds a workload: its configuration, and its properties, which agents need.
func (s *sweep) addMix(c *cobra.Command, f *ycsbFlags, name string, further ...ycsb.Properties) error {
	config, err := f.config(c, further...)
	if err != nil {
		return err
	}
	of := ""
	if len(s.workloads) > 0 {
		of = " of " + name
	}
	s.warnOfProperties(config, of)
	all, err := f.properties(c, further...)
	s.Mixes = append(s.Mixes, ycsb.Mix{Name: name, Config: config, Properties: all})
	if len(f.agents) > 0 && config.Inserts() {
		return fault.Misuse("--agents",
			"cannot sweep "+name+", which inserts: a client does not know the records that other clients inserted",
			"load the table again before each `barograph ycsb run --agents`")
	}
	return err
}

// run runs all points. If an engine fails, it continues with the others.
func (s *sweep) run(ctx context.Context) (err error) {
	c := s.Mixes[0].Config
	if c.Shard.Of > 1 {
		return fault.Misuse("--shard "+c.Shard.String(),
			"works with single runs only: sweeps of several clients would not run in step",
			"run `barograph ycsb run` on each client for each number of threads, and merge the folders")
	}
	defer func() { err = errors.Join(err, ycsb.CloseAll(s.Targets)) }()
	if err := s.open(ctx, c); err != nil {
		return err
	}
	if s.folder, err = s.ycsbFolder(ctx, s.out, c, s.Targets); err != nil {
		return err
	}
	s.Seed, s.Add, s.Found = uint64(c.Seed), s.addSample, s.addFinding //nolint:gosec // not negative
	runErr := s.Run(ctx)
	if s.out != "" {
		return errors.Join(s.finishFolder(s.folder), runErr)
	}
	return errors.Join(s.print(s.folder.Samples()), s.folder.Close(), runErr)
}

// open opens the engines, and loads them with --load, with --replace, or if they are in memory.
func (s *sweep) open(ctx context.Context, c *ycsb.Config) error {
	inMemory := func(url string) bool {
		d, _, err := s.engines.Parse(url)
		return err == nil && d.Place == engine.Memory
	}
	urls := s.urls
	if s.clientOverhead && !c.Transfers() && !slices.ContainsFunc(urls, inMemory) {
		urls = append(slices.Clone(urls), "dry")
	}
	all := lists.Map(s.Mixes, func(m ycsb.Mix) *ycsb.Config { return m.Config })
	for _, u := range urls {
		d, _, err := s.engines.Parse(u)
		if err != nil {
			return err
		}
		for _, form := range s.forms(d, c.Table) {
			if err := s.openOne(ctx, u, form, all); err != nil {
				return err
			}
		}
	}
	return nil
}

// openOne opens an engine with a table of one form, and loads the table if the sweep loads.
func (s *sweep) openOne(ctx context.Context, url string, form ycsb.Form, all []*ycsb.Config) error {
	t, err := s.openKV(ctx, url, form, s.labDir)
	if err != nil {
		return err
	}
	s.Targets = append(s.Targets, t)
	t.Replace, t.Metrics = s.replace, s.metrics
	if err := s.prepareFaults(ctx, t, all...); err != nil {
		return err
	}
	if s.load || s.replace || t.Place == engine.Memory {
		return t.LoadAll(ctx, all[0])
	}
	return nil
}

func (s *sweep) addSample(x run.Sample) error {
	outcome := "no times: " + x.Problem
	if m := x.Measured(); m != nil {
		outcome = fmt.Sprintf("%.0f operations/s, p95 %s", m.Throughput, m.Response.P95.Round(time.Microsecond))
	}
	name := x.Cell.Engine
	if len(s.layouts) > 1 || len(s.scripts) > 0 {
		name += " " + x.Cell.Value("layout")
	}
	fmt.Fprintf(s.stderr, "%s, %s, %s threads, run %d: %s\n", x.Cell.Value("mix"), name, x.Cell.Value("threads"), x.Rep, outcome)
	return s.folder.Add(x)
}

// addFinding prints a result of a search, such as the highest sustained rate, and stores it in the run folder.
func (s *sweep) addFinding(text string) {
	fmt.Fprintln(s.stderr, text)
	s.folder.Run.Findings = append(s.folder.Run.Findings, text)
}

// print prints the samples. A wrong sample has no numbers.
func (s *sweep) print(samples []run.Sample) error {
	switch {
	case s.json:
		return s.printJSON(samples)
	case s.csv:
		return run.WriteCSV(s.stdout, samples)
	case len(samples) == 0:
		return nil
	}
	return report.OfPoints(&s.folder.Run, samples).Print(s.stdout)
}

// mustExist returns an error if a URL names a file or folder that does not exist, which an embedded engine would create.
func (e *env) mustExist(raw string) error {
	d, u, err := e.engines.Parse(raw)
	if err != nil || d.Place != engine.Embedded || strings.HasPrefix(engine.Path(u), ":") {
		return nil //nolint:nilerr // openKV reports a faulty URL
	}
	if _, err := os.Stat(engine.Path(u)); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return &fault.Error{
		Setting: fault.Redact(raw), Problem: "does not exist",
		Cure: "check the path, or load it first: barograph ycsb load --engine " + fault.Redact(raw),
	}
}

// openKV opens an engine for workloads.
func (e *env) openKV(ctx context.Context, raw string, form ycsb.Form, labs string) (*ycsb.Target, error) {
	return ycsb.Open(ctx, e.engines, raw, form, labs, engine.Options{Log: e.log()})
}

// ycsbFolder creates the run folder of a workload; in memory if dir is "".
func (e *env) ycsbFolder(ctx context.Context, dir string, c *ycsb.Config, targets []*ycsb.Target) (*run.Folder, error) {
	r := e.newRun(ctx, dir, run.MixWorkload, uint64(c.Seed), "YCSB") //nolint:gosec // not negative
	r.Data.Records = c.Records
	for _, t := range targets {
		a, err := t.Archive(ctx, c)
		if err != nil {
			return nil, err
		}
		r.Archives = append(r.Archives, a)
	}
	f, err := run.Create(dir, r)
	for _, t := range targets {
		t.Folder = f
	}
	return f, err
}

// finishFolder writes the end time of a run folder and its report.
func (e *env) finishFolder(p *run.Folder) error {
	p.Run.Finished = time.Now().UTC()
	return errors.Join(p.Close(), e.report(p.Dir))
}
