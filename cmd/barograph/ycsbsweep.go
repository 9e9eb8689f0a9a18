package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path"
	"time"

	"barograph/engine"
	"barograph/fault"
	"barograph/report"
	"barograph/run"
	"barograph/workload/ycsb"

	"github.com/spf13/cobra"
)

func newYCSBSweep(e *env) *cobra.Command {
	f := &ycsbFlags{}
	s := &sweep{env: e}
	var threads string
	c := &cobra.Command{
		Use:   "sweep --engine URL… --threads 1,2,4 -P FILE [-p NAME=VALUE]…",
		Short: "Run workloads with more and more threads, on several engines",
		Long: `Sweep runs the same workloads on each engine with each number of threads, and prints throughput and latency of each.
A run whose answers are not right has no numbers. Latency is that of all operations, from when they were due. The
engine dry, which is no database, runs beside them for up to two seconds a point: it is the client's own floor.

With --find-saturation the numbers of threads are not given but found: they double until the 95th percentile of the
latency exceeds --p95, or until twice the threads bring less than a tenth more; then the largest number that holds
the bound is looked for in between.

With --out the result is a run folder, whose report.html has throughput as bars and the 95th percentile as a line, a
group for each engine, and the fit of the universal scalability law; --reps gives its parameters their uncertainty.`,
		Example: `  barograph ycsb sweep --engine sqlite:a.db --engine pebble:a.pebble --load --threads 1,2,4,8 -P workloada -p operationcount=20000
  barograph ycsb sweep --engine postgres://postgres@localhost/test --workloads workloada,workloade --find-saturation --p95 20ms -p maxexecutiontime=10 --out runs/saturation
` + ycsbExit,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			var err error
			if s.threads, err = counts("--threads", threads); err != nil {
				return err
			}
			if s.base, err = f.properties(c); err != nil {
				return err
			}
			if err := s.mixes(f); err != nil {
				return err
			}
			s.layout, s.out, s.labs = engine.Layout(f.layout), f.out, f.labs
			return f.exit(e, s.run(c.Context()))
		},
	}
	f.flags(c)
	f.folder(c)
	c.Flags().StringArrayVar(&s.urls, engineFlag, nil, "URL of an engine; several may be given")
	c.Flags().StringSliceVar(&s.workloads, "workloads", nil, "files of properties, or workloada … workloadf, each run by itself, in place of -P")
	c.Flags().StringVar(&threads, "threads", "1,2,4,8", "numbers of workers")
	c.Flags().BoolVar(&s.find, "find-saturation", false, "find the numbers of workers up to where more of them bring nothing")
	c.Flags().DurationVar(&s.bound, "p95", 0, "with --find-saturation: the 95th percentile of latency that must be held, such as 20ms; 0 = none")
	c.Flags().Int64Var(&s.most, "most-threads", 1024, "with --find-saturation: the most workers")
	c.Flags().IntVar(&s.reps, "reps", 1, "runs of each point; their order is random within each")
	c.Flags().BoolVar(&s.load, "load", false, "load each engine first")
	c.Flags().BoolVar(&s.floor, "floor", true, "run the engine dry beside the others")
	c.Flags().BoolVar(&s.csv, "csv", false, "print CSV")
	e.enginesNamed(c, "db")
	positive(c, "reps", "most-threads")
	c.MarkFlagRequired(engineFlag) //nolint:errcheck // the flag exists
	return c
}

// sweep is a grid of runs: mixes, engines, numbers of threads, repetitions.
type sweep struct {
	*env
	urls, workloads   []string
	threads           []int64
	find, load, floor bool
	csv               bool
	bound             time.Duration
	most              int64
	reps              int
	layout            engine.Layout
	out, labs         string

	base    ycsb.Properties
	mix     []mix
	targets []*kvTarget
	folder  *run.Points // nil = none was asked for
	points  []*run.Point
	found   []string // what --find-saturation found, in words
}

// mix is a workload by its name.
type mix struct {
	name   string
	config *ycsb.Config
}

// mixes reads the workloads; properties of the command line stand over theirs.
func (s *sweep) mixes(f *ycsbFlags) error {
	if len(s.workloads) == 0 {
		c, err := f.settle(s.base)
		s.mix = []mix{{f.mixName(), c}}
		return err
	}
	if len(f.files) > 0 {
		return usage(&fault.Error{Setting: "--workloads", Problem: "stands in place of -P", Cure: "give one of them"})
	}
	for _, name := range s.workloads {
		p, err := ycsb.ReadWorkload(name)
		if err != nil {
			return usage(err)
		}
		c, err := f.settle(p, s.base)
		if err != nil {
			return err
		}
		if c.Records != s.records(c) || c.Table != s.table(c) {
			return usage(&fault.Error{Setting: "--workloads " + name, Problem: "has another table or number of records than the one before", Cure: "give -p recordcount and -p table for all"})
		}
		s.mix = append(s.mix, mix{path.Base(name), c})
	}
	return nil
}

func (s *sweep) records(c *ycsb.Config) int64 {
	if len(s.mix) == 0 {
		return c.Records
	}
	return s.mix[0].config.Records
}

func (s *sweep) table(c *ycsb.Config) string {
	if len(s.mix) == 0 {
		return c.Table
	}
	return s.mix[0].config.Table
}

// run runs all points; an engine that fails does not keep the others from it.
func (s *sweep) run(ctx context.Context) (err error) {
	c := s.mix[0].config
	if c.Shard.Of > 1 {
		return usage(&fault.Error{Setting: "--shard " + c.Shard.String(), Problem: "is for single runs: clients that sweep would not keep step", Cure: "run `barograph ycsb run` on each client for each number of threads, and merge"})
	}
	defer func() { err = errors.Join(err, closeAll(s.targets)) }()
	if err := s.open(ctx, c); err != nil {
		return err
	}
	if s.out != "" {
		if s.folder, err = s.env.points(ctx, s.out, c, s.targets); err != nil {
			return err
		}
	}
	first := s.all(ctx)
	if s.folder != nil {
		s.folder.Run.Findings = s.found
		return errors.Join(s.finish(s.folder), first)
	}
	return errors.Join(s.print(), first)
}

// floorRecords are the most that the floor keeps in memory.
const floorRecords = 100_000

// open opens the engines and loads those that must be.
func (s *sweep) open(ctx context.Context, c *ycsb.Config) error {
	urls := s.urls
	if s.floor && !hasMemory(s.env, urls) {
		urls = append(append([]string(nil), urls...), "dry")
	}
	for _, u := range urls {
		layout := s.layout
		d, _, err := s.engines.Parse(u)
		if err == nil && d.Place == engine.Memory {
			layout = ""
		}
		t, err := s.openKV(ctx, u, layout, s.labs)
		if err != nil {
			return err
		}
		s.targets = append(s.targets, t)
		if s.load || t.driver.Place == engine.Memory {
			began := time.Now()
			if err := loadFirst(ctx, t, floorOf(t, c)); err != nil {
				return fmt.Errorf("%s: %w", t.driver.Scheme, err)
			}
			t.load = time.Since(began)
		}
	}
	return nil
}

func hasMemory(e *env, urls []string) bool {
	for _, u := range urls {
		if d, _, err := e.engines.Parse(u); err == nil && d.Place == engine.Memory {
			return true
		}
	}
	return false
}

// floorOf is the workload as the floor runs it: its records fit in memory, and
// two seconds tell what it takes.
func floorOf(t *kvTarget, c *ycsb.Config) *ycsb.Config {
	if t.driver.Place != engine.Memory {
		return c
	}
	out := *c
	if out.Records > floorRecords {
		out.Records, out.InsertStart, out.InsertCount = floorRecords, 0, floorRecords
	}
	if out.Seconds == 0 || out.Seconds > 2 {
		out.Seconds = 2
	}
	out.Warmup = 0
	return &out
}

// all runs the grid: in each repetition the engines take turns, in random order.
func (s *sweep) all(ctx context.Context) (first error) {
	for rep := 1; rep <= max(s.reps, 1); rep++ {
		for i, m := range s.mix {
			order := rand.New(rand.NewPCG(uint64(m.config.Seed), uint64(rep*len(s.mix)+i))).Perm(len(s.targets)) //nolint:gosec // not negative
			if s.find && rep == 1 {
				for _, k := range order {
					if err := s.saturate(ctx, s.targets[k], m); err != nil && first == nil {
						first = err
					}
				}
				continue
			}
			for _, n := range s.threads {
				for _, k := range order {
					if _, err := s.cell(ctx, s.targets[k], m, n, rep); err != nil && first == nil {
						first = err
					}
					if ctx.Err() != nil {
						return first
					}
				}
			}
		}
	}
	return first
}

// saturate looks for the number of workers up to which more bring something.
func (s *sweep) saturate(ctx context.Context, t *kvTarget, m mix) error {
	if t.driver.Place == engine.Memory {
		_, err := s.cell(ctx, t, m, 1, 1)
		return err
	}
	var failed error
	result := ycsb.Saturate(s.bound, s.most, func(n int64) (ycsb.Summary, bool) {
		p, err := s.cell(ctx, t, m, n, 1)
		if err != nil || p == nil || ctx.Err() != nil {
			failed = err
			return ycsb.Summary{}, false
		}
		return ycsb.Summary{Threads: p.Threads, Throughput: p.Throughput, P95: p.Response.P95}, true
	})
	if failed == nil {
		words := fmt.Sprintf("%s on %s: %s", m.name, t.driver.Scheme, result)
		s.found = append(s.found, words)
		fmt.Fprintln(s.stderr, words)
	}
	return failed
}

// cell runs one point. The point is nil where there was none to run.
func (s *sweep) cell(ctx context.Context, t *kvTarget, m mix, threads int64, rep int) (*run.Point, error) {
	if ctx.Err() != nil || t.failed != nil { // it was said where it failed
		return nil, ctx.Err()
	}
	with := *floorOf(t, m.config).Grown(t.inserted)
	with.Threads = threads
	o := t.options()
	p, r, err := pointOf(ctx, t, &with, o, m.name, rep)
	if r != nil {
		t.inserted += r.Inserted
	}
	if err != nil {
		err = fmt.Errorf("%s on %s with %d threads: %w", m.name, t.driver.Scheme, threads, err)
		if p.Verdict != run.Equal && !errors.Is(err, ycsb.ErrCannot) {
			t.failed = err
		}
	}
	s.points = append(s.points, p)
	if s.folder != nil {
		err = errors.Join(err, s.folder.Add(p))
	}
	fmt.Fprintf(s.stderr, "%s, %s, %d threads: %.0f operations/s, p95 %s\n", m.name, t.driver.Scheme, threads, p.Throughput, p.Response.P95.Round(time.Microsecond))
	return p, err
}

// pointOf runs a workload and makes a point of it, whatever happens. The error
// is that of the run, or what was not right with it.
func pointOf(ctx context.Context, t *kvTarget, c *ycsb.Config, o ycsb.Options, name string, rep int) (*run.Point, *ycsb.Report, error) {
	r, err := ycsb.Run(ctx, t.db.KV, c, o)
	if r == nil || r.Result == nil {
		return &run.Point{Mix: name, Engine: t.driver.Scheme, Layout: string(t.layout), Place: string(t.driver.Place), Threads: int(c.Threads), Rep: rep, Clients: 1,
			Verdict: run.Failed, Problem: err.Error(), Started: time.Now().UTC()}, nil, err
	}
	p := r.Point(name, t.driver.Scheme, t.driver.Place, t.layout, rep)
	if err != nil && p.Verdict == run.Equal {
		p.Verdict, p.Problem = run.Failed, err.Error()
	}
	if err == nil {
		err = r.Err()
	}
	return p, r, err
}

// print prints the points; one that is not right has no numbers.
func (s *sweep) print() error {
	switch {
	case s.json:
		return s.printJSON(s.points)
	case s.csv:
		return run.WritePointsCSV(s.stdout, s.points)
	case len(s.points) == 0:
		return nil
	}
	return report.PointsText(s.stdout, s.points)
}
