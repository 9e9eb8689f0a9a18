package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"path"
	"path/filepath"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/lab"
	"github.com/barograph/barograph/results/measure/pace"
	"github.com/barograph/barograph/results/report"
	"github.com/barograph/barograph/results/run"
	"github.com/barograph/barograph/study/ycsb"

	"github.com/spf13/cobra"
)

// ycsbFlags has the flags of load, run and sweep. Each command defines only its own. Flags override properties.
type ycsbFlags struct {
	files, assignments    []string
	url, layout, out      string
	labDir                string
	target                float64
	threads               int64
	shard                 ycsb.Shard
	verify                bool
	status, csv           bool
	ycsbExitCodes, resume bool

	rate, faults, faultCommand string
	raw, metrics               string
	agents, scripts            []string
	agentsCA                   string
	historyClients             int
}

func newYCSB(e *env) *cobra.Command {
	c := &cobra.Command{
		Use:   "ycsb",
		Short: "Run YCSB's core workloads, and check every result",
		Long: `Ycsb runs the core workloads of the benchmark YCSB, with its properties, keys, values,
distributions and output. YCSB can read the records that Barograph loads, and Barograph those of YCSB. In contrast to
YCSB, Barograph requests only keys whose insert the engine acknowledged, checks the results of scans, and fails a run
in which records are not found.

First create the table by "ycsb load", then measure by "ycsb run".`,
	}
	return parent(c, newYCSBLoad(e), newYCSBRun(e), newYCSBSweep(e), newYCSBProperties(e))
}

// flags adds the flags that load, run and sweep share.
func (f *ycsbFlags) flags(c *cobra.Command) {
	c.Flags().StringArrayVarP(&f.files, "property-file", "P", nil, "property file, or workloada … workloadf; later ones override")
	c.Flags().StringArrayVarP(&f.assignments, "property", "p", nil, "name=value; overrides the files")
	c.Flags().StringVar(&f.layout, "layout", "", "layout of the table: columns, document, pairs …")
	c.Flags().StringArrayVar(&f.scripts, "ddl", nil, "SQL file, or ENGINE=FILE, that creates the table")
	c.Flags().Float64Var(&f.target, "target", 0, "operations per second of all threads and agents; 0 = no limit")
	c.Flags().StringVar(&f.rate, "rate", "", "several rates in turn, instead of --target: 500/s@30s,1000/s@30s")
	c.MarkFlagsMutuallyExclusive("target", "rate")
	c.Flags().BoolVar(&f.verify, "verify", false, "derive values from key and field, and check each value read (dataintegrity=true); give it to load and to run")
	c.Flags().BoolVarP(&f.status, "status", "s", false, "print progress to stderr")
	c.Flags().StringVar(&f.labDir, "lab-dir", engine.LabDir(), "folder of \"lab up\"; the run records the settings of its servers")
	c.Flags().BoolVar(&f.ycsbExitCodes, "ycsb-exit-codes", false, "use the exit statuses of YCSB")
	seldom(c, "ddl", "lab-dir", "layout", "rate", "status", "verify", "ycsb-exit-codes")
}

// singleFlags adds the flags of load and run.
func (f *ycsbFlags) singleFlags(e *env, c *cobra.Command) {
	f.flags(c)
	c.Flags().StringVar(&f.url, engineFlag, "", "URL of the engine (see \"barograph list engines\"), or lab:ENGINE for a server that \"lab up\" started")
	c.Flags().Int64Var(&f.threads, "threads", 1, "number of threads")
	c.Flags().Var(&f.shard, "shard", "do the i-th of n shares of the work (i/n), in load and run; barograph merge joins the n run folders")
	c.Flags().BoolVar(&f.csv, "csv", false, "print CSV: one row per run with every measured number (ns)")
	e.prepareEngineFlag(c, "db")
	required(c, engineFlag)
	seldom(c, "csv", "shard")
}

func newYCSBLoad(e *env) *cobra.Command {
	f := &ycsbFlags{}
	c := &cobra.Command{
		Use:     "load --engine URL -P FILE [-p NAME=VALUE]…",
		Short:   "Create the table and insert the records",
		Example: `  barograph ycsb load --engine pebble:ycsb.pebble -P workloada -p recordcount=100000 -p batchsize=100`,
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return f.exit(e, e.ycsb(c, f, true)) },
	}
	f.singleFlags(e, c)
	f.agentFlags(c)
	c.Flags().BoolVar(&f.resume, "resume", false, "continue an unfinished load: an existing record counts as loaded")
	return c
}

func newYCSBRun(e *env) *cobra.Command {
	f := &ycsbFlags{}
	c := &cobra.Command{
		Use:   "run --engine URL -P FILE [-p NAME=VALUE]…",
		Short: "Read and write records in the proportions of the workload",
		Long: `Run executes a workload on a loaded table. Without --target each thread sends its next request
when it has the result of the last one. With --target, operations are due at that rate over all threads (-p
arrivals=fixed or poisson), and run prints two latencies: [READ] is the service time, [Intended-READ] counts from when
the operation was due. With -p warmup=SECONDS the first seconds do not count. The engine "dry:" is a store in memory, to
measure the client itself; run loads its table first.`,
		Example: `  barograph ycsb load --engine pebble:ycsb.pebble -P workloada -p recordcount=100000
  barograph ycsb run --engine pebble:ycsb.pebble -P workloada -p recordcount=100000 -p operationcount=1000000 --threads 8
  barograph ycsb run --engine postgres://postgres@localhost/test -P workloade -p operationcount=0 -p maxexecutiontime=60 --target 500`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return f.exit(e, e.ycsb(c, f, false)) },
	}
	f.singleFlags(e, c)
	f.runAndSweepFlags(c)
	f.agentFlags(c)
	c.Flags().StringVar(&f.raw, "raw", "", "Parquet file to write, with one row per operation: when it was due, its start, end and outcome")
	return c
}

// runAndSweepFlags adds the flags of run and sweep.
func (f *ycsbFlags) runAndSweepFlags(c *cobra.Command) {
	c.Flags().StringVar(&f.faults, "fault", "", "faults of the server, timed from the end of the warm-up: "+
		"kill:node2@20s,restart@40s. Also stop, resume (SIGSTOP); partition, heal, bandwidth:10mbit, full-bandwidth, delay:5ms, "+
		"no-delay (lab up --isolate); slow:5ms, fast (delayed replies); disk-full, disk-free, power-off, power-on "+
		"(lab up --frail-disks)")
	c.Flags().StringVar(&f.faultCommand, "fault-command", "", "command that causes the faults on your own server; Barograph calls it as COMMAND ACTION NODE [AMOUNT]")
	c.Flags().IntVar(&f.historyClients, "history", 8, "number of extra clients whose calls are checked for lost and stale data; without --fault only if given")
	c.Flags().StringVar(&f.metrics, "metrics", "", "address for Prometheus metrics during the run: :9100 (this machine only) or HOST:9100")
	c.Flags().StringVar(&f.out, "out", "", "run folder to create")
	seldom(c, "fault", "fault-command", "history", "metrics")
}

func newYCSBProperties(e *env) *cobra.Command {
	return &cobra.Command{
		Use:   "properties",
		Short: "List the known properties",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			all := ycsb.Settings()
			return e.print(all, func(out io.Writer) error {
				w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
				for _, p := range all {
					fmt.Fprintf(w, "%s\t%s\t%s\n", p.Name, p.Default, p.Help)
				}
				return w.Flush()
			})
		},
	}
}

// exit replaces exit statuses by those of YCSB, with --ycsb-exit-codes.
func (f *ycsbFlags) exit(e *env, err error) error {
	if err == nil || !f.ycsbExitCodes || errors.Is(err, context.Canceled) {
		return err
	}
	if p, ok := errors.AsType[*fault.Error](err); ok && (p.Setting == "property recordcount" || p.Setting == "property dataintegrity") {
		return &fault.Status{Code: 255, Err: err}
	}
	e.reportError(err)
	return nil
}

// config reads the properties of files, then further properties, then assignments, then flags. Each
// overrides the ones before.
func (f *ycsbFlags) config(c *cobra.Command, further ...ycsb.Properties) (*ycsb.Config, error) {
	all, err := f.properties(c, further...)
	if err != nil {
		return nil, err
	}
	config, err := ycsb.NewConfig(all, func(to *ycsb.Config) {
		if c.Flags().Changed("shard") {
			to.Shard = f.shard
		}
	})
	if err != nil {
		return nil, usage(err)
	}
	return config, nil
}

// properties returns the properties of the workload.
func (f *ycsbFlags) properties(c *cobra.Command, further ...ycsb.Properties) (ycsb.Properties, error) {
	all := ycsb.Properties{}
	for _, name := range f.files {
		p, err := ycsb.ReadWorkload(name)
		if err != nil {
			return nil, usage(err)
		}
		maps.Copy(all, p)
	}
	for _, p := range further {
		maps.Copy(all, p)
	}
	assignments := f.assignments
	if f.rate != "" {
		assignments = append(slices.Clip(assignments), "rate="+f.rate)
	}
	for _, a := range assignments {
		if err := all.Set(a); err != nil {
			return nil, usage(err)
		}
	}
	for flag, property := range map[string]struct {
		name  string
		value any
	}{"threads": {"threadcount", f.threads}, "target": {"target", f.target}, "verify": {"dataintegrity", f.verify}} {
		if c.Flags().Changed(flag) {
			all[property.name] = fmt.Sprint(property.value)
		}
	}
	return all, nil
}

// checkFaultFlags refuses --fault-command without --fault. If neither --fault nor --history is given, it also sets the
// number of extra clients to 0.
func (f *ycsbFlags) checkFaultFlags(c *cobra.Command) error {
	if f.faults == "" && !c.Flags().Changed("history") {
		f.historyClients = 0
	}
	if f.faults == "" && f.faultCommand != "" {
		return fault.Misuse("--fault-command", "needs --fault", "add for example --fault kill@20s,restart@40s, or omit --fault-command")
	}
	return nil
}

// prepareFaults prepares the faults of --fault for a target and its workloads.
func (f *ycsbFlags) prepareFaults(ctx context.Context, t *ycsb.Target, workloads ...*ycsb.Config) error {
	if f.faults == "" {
		t.History = f.historyClients
		return nil
	}
	all, err := lab.ParseFaults(f.faults)
	if err != nil {
		return usage(err)
	}
	return t.Afflict(ctx, all, f.faultCommand, f.historyClients, workloads...)
}

// mixName is the name of the workload in tables.
func (f *ycsbFlags) mixName() string {
	if len(f.files) == 0 {
		return "custom"
	}
	return path.Base(f.files[len(f.files)-1])
}

// warnOfProperties names properties that have no effect, and proportions that are divided by their sum. of is
// " of NAME" if there are several workloads, else "".
func (e *env) warnOfProperties(c *ycsb.Config, of string) {
	for _, name := range c.Ignored {
		fmt.Fprintf(e.stderr, "barograph: property %s%s has no effect; see `barograph ycsb properties`\n", name, of)
	}
	if sum := c.Shares(); math.Abs(sum-1) > 1e-6 {
		fmt.Fprintf(e.stderr, "barograph: the proportions of operations%s sum to %.4g; Barograph divides each by the sum\n", of, sum)
	}
}

// ycsb loads the table of a workload, or runs the workload.
func (e *env) ycsb(c *cobra.Command, f *ycsbFlags, load bool) (err error) {
	config, err := f.config(c)
	if err != nil {
		return err
	}
	if err := f.checkFaultFlags(c); err != nil {
		return err
	}
	if err := e.mayWrite("--raw", f.raw, nil); err != nil {
		return err
	}
	e.warnOfProperties(config, "")
	ctx := c.Context()
	agents, err := f.openAgents(config)
	if err != nil {
		return err
	}
	form, err := f.form(e)
	if err != nil {
		return err
	}
	if !load {
		if err := e.mustExist(f.url); err != nil {
			return err
		}
	}
	t, err := e.openKV(ctx, f.url, form, f.labDir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ycsb.CloseAll([]*ycsb.Target{t})) }()
	if agents != nil {
		p, err := f.properties(c)
		if err != nil {
			return err
		}
		return e.runOnAgents(ctx, f, agents, ycsb.Task{Properties: p, Load: load, Resume: f.resume}, config, t)
	}
	if err := f.prepareFaults(ctx, t, config); err != nil {
		return err
	}
	var stop func()
	if t.Metrics, stop, err = f.serveMetrics(ctx, e); err != nil {
		return err
	}
	defer stop()
	o := t.Options()
	o.Resume, o.Raw = f.resume, f.raw
	if f.status || config.Status {
		o.Interval = time.Duration(config.StatusInterval) * time.Second
		o.Watch = e.statusLine(config, f.faults != "")
	}
	if load {
		s, r, err := t.Load(ctx, config, o, f.mixName())
		if r != nil && t.DDL != nil {
			fmt.Fprintf(e.stderr, "barograph: the table %s is that of %s (SHA-256 %s)\n", config.Table, t.DDL.File, t.DDL.Digest())
		}
		if r != nil {
			err = errors.Join(err, e.writeYCSB(f, r, s))
		}
		return err
	}
	if t.Place == engine.Memory {
		if err := t.LoadAll(ctx, config); err != nil {
			return err
		}
	}
	if f.out != "" {
		return e.runInto(ctx, f, config, t, o)
	}
	p, r, err := t.Measure(ctx, config, o, f.mixName(), 1)
	if r != nil {
		err = errors.Join(err, e.writeYCSB(f, r, p))
	}
	return err
}

// runInto runs a workload into a run folder, and then on the dry engine, which shows the client
// overhead.
func (e *env) runInto(ctx context.Context, f *ycsbFlags, c *ycsb.Config, t *ycsb.Target, o ycsb.Options) error {
	targets := []*ycsb.Target{t}
	if t.Place != engine.Memory && o.Faults == nil && !c.Transfers() {
		overhead, err := e.openKV(ctx, "dry", ycsb.Form{}, "")
		if err != nil {
			return err
		}
		defer ycsb.CloseAll([]*ycsb.Target{overhead}) //nolint:errcheck // an engine in memory
		targets = append(targets, overhead)
	}
	folder, err := e.ycsbFolder(ctx, f.out, c, targets)
	if err != nil {
		return err
	}
	p, r, err := t.Measure(ctx, c, o, f.mixName(), 1)
	if r == nil { // no operation was started
		return errors.Join(err, folder.Discard())
	}
	err = errors.Join(err, folder.Add(p), e.writeYCSB(f, r, p))
	if len(targets) > 1 && ctx.Err() == nil {
		overhead := targets[1]
		failed := overhead.LoadAll(ctx, c)
		if failed == nil {
			var x run.Sample
			x, _, failed = overhead.Measure(ctx, c, overhead.Options(), f.mixName(), 1)
			failed = errors.Join(failed, folder.Add(x))
		}
		if failed != nil {
			err = errors.Join(err, fmt.Errorf("client overhead (dry engine): %w", failed))
		}
	}
	if folderErr := e.withoutOutput().finishFolder(folder); folderErr != nil {
		return errors.Join(err, folderErr)
	}
	fmt.Fprintf(e.stderr, "report: %s\n", filepath.Join(folder.Dir, report.FileName))
	return err
}

// statusLine writes progress as YCSB does, without the times of each operation. It counts operations that succeeded.
// With eachSecond the run calls the function each second, not only after each status interval.
func (e *env) statusLine(c *ycsb.Config, eachSecond bool) func(p pace.Progress) {
	succeeded, calls := int64(0), int64(0)
	return func(p pace.Progress) {
		if calls++; eachSecond && calls%c.StatusInterval != 0 {
			return
		}
		rate := float64(p.Finished-p.Failed-succeeded) / float64(c.StatusInterval)
		succeeded = p.Finished - p.Failed
		fmt.Fprintf(e.stderr, "%s%s %d sec: %d operations; %.1f current ops/sec; %d failed\n",
			c.Label, time.Now().Format("2006-01-02 15:04:05.000"), int64(p.Elapsed.Seconds()), succeeded, rate, p.Failed)
	}
}

// writeYCSB writes the results as YCSB does, and warnings and problems to stderr.
func (e *env) writeYCSB(f *ycsbFlags, r *ycsb.Report, s run.Sample) (err error) {
	for _, w := range r.Warnings {
		fmt.Fprintf(e.stderr, "barograph: %s\n", w)
	}
	for _, p := range r.Problems {
		fmt.Fprintf(e.stderr, "barograph: %d × %s, such as %s\n", p.Count, p.Kind, p.Example)
	}
	if r.Seen > 0 {
		fmt.Fprintf(e.stderr, "barograph: the first problem occurred after about %s\n", run.CountOf(r.Seen, "operation"))
	}
	to := e.stdout
	if name := r.Config.ExportFile; name != "" {
		file, refused := e.create("exportfile", name) // after an error the results go to standard output
		defer func() { err = errors.Join(err, refused) }()
		if refused == nil {
			defer func() { err = errors.Join(err, file.Close()) }()
			to = file
		}
	}
	if r.Config.HdrFiles {
		if err := r.WriteLogs(); err != nil {
			return err
		}
	}
	if s.Verdict == run.Equal && r.Err() == nil {
		fmt.Fprintf(e.stderr, "barograph: %s\n", report.Checked(r.Answers()))
	}
	if r.Server != nil && s.Verdict == run.Equal && r.Skipped == 0 { // a resumed load that finds records inserts few
		fmt.Fprintf(e.stderr, "barograph: %s\n", report.Bottleneck(s))
	}
	switch {
	case f.csv:
		return run.WriteCSV(to, []run.Sample{s})
	case !e.json:
		return r.WriteText(to)
	}
	return (&env{stdout: to}).printJSON(r.JSON(s))
}
