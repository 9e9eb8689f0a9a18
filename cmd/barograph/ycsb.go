package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"barograph/engine"
	"barograph/fault"
	"barograph/measure"
	"barograph/measure/pace"
	"barograph/report"
	"barograph/run"
	"barograph/workload/ycsb"

	"github.com/spf13/cobra"
)

// ycsbFlags are the flags that load, run and sweep share.
type ycsbFlags struct {
	files, assignments []string
	db, layout, out    string
	labs               string
	status, csv        bool
	oldCodes, resume   bool
}

const ycsbExit = `
Exit status: 0 all that was asked is done and every answer is right; 1 failed; 2 the command line or a property is
not understood; 3 an answer is wrong (a scan, a value); 4 incomplete (records not found, operations failed, keys
taken, a rate that the engine does not hold); 5 the engine is not reached; 130 interrupted, what was measured is
printed. With --ycsb-exit-codes as YCSB has them: 0, also where operations failed, and 255 for counts that do not
fit.`

func newYCSB(e *env) *cobra.Command {
	c := &cobra.Command{
		Use:   "ycsb",
		Short: "YCSB's core workloads, with every answer checked",
		Long: `Ycsb loads and requests records as YCSB's core workload does: the same properties, keys, values, distributions and
output, so that what the one loads the other reads. Only keys whose insert was acknowledged are requested, scans are
checked, and what is not found fails the run.
` + ycsbExit,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newYCSBLoad(e), newYCSBRun(e), newYCSBSweep(e), newYCSBProperties(e))
	return c
}

// flags adds the flags; threads and target go to the properties of that name.
func (f *ycsbFlags) flags(c *cobra.Command) {
	c.Flags().StringArrayVarP(&f.files, "property-file", "P", nil, "file of properties, or workloada … workloadf; a later one stands over an earlier one")
	c.Flags().StringArrayVarP(&f.assignments, "property", "p", nil, "name=value; stands over the files")
	c.Flags().StringVar(&f.layout, "layout", "", "how the table is laid out: columns or document; pairs for key-value engines (default: the engine's first)")
	c.Flags().Float64("target", 0, "operations per second of the whole run; 0 = as fast as the engine answers")
	c.Flags().Bool("verify", false, "values follow from key and field, and each that is read is checked (dataintegrity=true; when loading, too)")
	c.Flags().BoolVarP(&f.status, "status", "s", false, "print progress to stderr")
	c.Flags().StringVar(&f.labs, "lab-dir", defaultLabDir(), "folder of the labs: a server that one of them started is watched beside the run")
	c.Flags().BoolVar(&f.oldCodes, "ycsb-exit-codes", false, "exit as YCSB does")
}

// one adds those of load and run.
func (f *ycsbFlags) one(c *cobra.Command) {
	f.flags(c)
	c.Flags().StringVar(&f.db, "db", "", "URL of the engine, see `barograph list engines`")
	c.Flags().Int64("threads", 1, "workers")
	c.Flags().String("shard", "", "i/n: do the i-th part of the work of n clients; `barograph merge` joins their folders")
	c.Flags().BoolVar(&f.csv, "csv", false, "print CSV: a row for each operation and outcome")
	if err := c.MarkFlagRequired("db"); err != nil {
		panic(err) // there is such a flag
	}
}

func newYCSBLoad(e *env) *cobra.Command {
	f := &ycsbFlags{}
	c := &cobra.Command{
		Use:   "load --db URL -P FILE [-p NAME=VALUE]…",
		Short: "Make the table and insert the records",
		Example: `  barograph ycsb load --db pebble:ycsb.pebble -P workloada -p recordcount=100000 -p batchsize=100
` + ycsbExit,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return f.exit(e, e.ycsb(c, f, true)) },
	}
	f.one(c)
	c.Flags().BoolVar(&f.resume, "resume", false, "go on with an unfinished load: a record that is there counts as loaded")
	return c
}

func newYCSBRun(e *env) *cobra.Command {
	f := &ycsbFlags{}
	c := &cobra.Command{
		Use:   "run --db URL -P FILE [-p NAME=VALUE]…",
		Short: "Request records by the workload's mix",
		Long: `Run requests records of a loaded table. Without --target each thread asks as soon as it is answered; with one,
operations are due at that rate of the whole run (-p arrivals=fixed or poisson), and both times are printed: [READ] is
the time of service, [Intended-READ] that from when the operation was due. -p warmup=SECONDS excludes the beginning.
A workload on dry: is loaded before it is run, as its memory ends with the command.`,
		Example: `  barograph ycsb run --db pebble:ycsb.pebble -P workloada -p recordcount=100000 -p operationcount=1000000 --threads 8
  barograph ycsb run --db postgres://postgres@localhost/test -P workloade -p maxexecutiontime=60 --target 500
` + ycsbExit,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return f.exit(e, e.ycsb(c, f, false)) },
	}
	f.one(c)
	f.folder(c)
	return c
}

func (f *ycsbFlags) folder(c *cobra.Command) {
	c.Flags().StringVar(&f.out, "out", "", "folder to make for the run: points.json, results.csv, latency.hlog, report.html")
}

func newYCSBProperties(e *env) *cobra.Command {
	return &cobra.Command{
		Use:   "properties",
		Short: "List the properties that are known",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			type property struct {
				Name    string `json:"name"`
				Default string `json:"default"`
				Help    string `json:"help"`
			}
			var all []property
			for _, s := range ycsb.Settings() {
				all = append(all, property{s.Name, s.Default, s.Help})
			}
			if e.json {
				return e.printJSON(all)
			}
			w := tabwriter.NewWriter(e.stdout, 0, 0, 2, ' ', 0)
			for _, p := range all {
				fmt.Fprintf(w, "%s\t%s\t%s\n", p.Name, p.Default, p.Help)
			}
			return w.Flush()
		},
	}
}

// exit turns statuses into those of YCSB, where that is asked for.
func (f *ycsbFlags) exit(e *env, err error) error {
	if err == nil || !f.oldCodes || errors.Is(err, context.Canceled) {
		return err
	}
	if p, ok := errors.AsType[*fault.Error](err); ok && (p.Setting == "property recordcount" || p.Setting == "property dataintegrity") {
		return &fault.Status{Code: 255, Err: err}
	}
	fmt.Fprintf(e.stderr, "barograph: %v\n", err)
	return nil
}

// properties are those of the command line: assignments, then flags.
func (f *ycsbFlags) properties(c *cobra.Command) (ycsb.Properties, error) {
	all := ycsb.Properties{}
	for _, a := range f.assignments {
		if err := all.Set(a); err != nil {
			return nil, usage(err)
		}
	}
	for flag, property := range map[string]string{"threads": "threadcount", "target": "target", "verify": "dataintegrity", "shard": "shard"} {
		if fl := c.Flags().Lookup(flag); fl != nil && fl.Changed && (flag != "threads" || fl.Value.Type() == "int64") { // sweep's is a list
			all[property] = fl.Value.String()
		}
	}
	return all, nil
}

// settle reads the files, then puts properties over them.
func (f *ycsbFlags) settle(over ...ycsb.Properties) (*ycsb.Config, error) {
	all := ycsb.Properties{}
	for _, name := range f.files {
		p, err := ycsb.ReadWorkload(name)
		if err != nil {
			return nil, usage(err)
		}
		maps.Copy(all, p)
	}
	for _, p := range over {
		maps.Copy(all, p)
	}
	config, err := ycsb.NewConfig(all)
	if err != nil {
		return nil, usage(err)
	}
	return config, nil
}

// mixName is what the tables call the workload.
func (f *ycsbFlags) mixName() string {
	if len(f.files) == 0 {
		return "custom"
	}
	return path.Base(f.files[len(f.files)-1])
}

// ycsb loads or runs.
func (e *env) ycsb(c *cobra.Command, f *ycsbFlags, load bool) error {
	over, err := f.properties(c)
	if err != nil {
		return err
	}
	config, err := f.settle(over)
	if err != nil {
		return err
	}
	for _, name := range config.Ignored {
		fmt.Fprintf(e.stderr, "barograph: property %s has no effect here, see `barograph ycsb properties`\n", name)
	}
	t, err := e.openKV(c.Context(), f.db, engine.Layout(f.layout), f.labs)
	if err != nil {
		return err
	}
	targets := []*kvTarget{t}
	o := t.options()
	o.Resume = f.resume
	if f.status || config.Status {
		o.Interval = time.Duration(config.StatusInterval) * time.Second
		o.Watch = e.statusLine(config)
	}
	if load {
		r, err := ycsb.Load(c.Context(), t.db.KV, config, o)
		return errors.Join(e.told(f, r, t, err), closeAll(targets))
	}
	if t.driver.Place == engine.Memory {
		if err := loadFirst(c.Context(), t, config); err != nil {
			return errors.Join(err, closeAll(targets))
		}
	}
	if f.out == "" {
		r, err := ycsb.Run(c.Context(), t.db.KV, config, o)
		return errors.Join(e.told(f, r, t, err), closeAll(targets))
	}
	return errors.Join(e.runInto(c.Context(), f, config, t, o), closeAll(targets))
}

// told writes what a load or a run did, and returns what was not right with it.
func (e *env) told(f *ycsbFlags, r *ycsb.Report, t *kvTarget, err error) error {
	if r == nil || r.Result == nil {
		return err
	}
	if err = errors.Join(err, e.writeYCSB(f, r, t)); err == nil {
		err = r.Err()
	}
	return err
}

// runInto runs into a run folder, with the floor beside it.
func (e *env) runInto(ctx context.Context, f *ycsbFlags, c *ycsb.Config, t *kvTarget, o ycsb.Options) error {
	targets := []*kvTarget{t}
	if t.driver.Place != engine.Memory {
		floor, err := e.openKV(ctx, "dry", "", "")
		if err != nil {
			return err
		}
		defer closeAll([]*kvTarget{floor}) //nolint:errcheck // it is memory
		targets = append(targets, floor)
	}
	folder, err := e.points(ctx, f.out, c, targets)
	if err != nil {
		return err
	}
	p, r, err := pointOf(ctx, t, c, o, f.mixName(), 1)
	err = errors.Join(err, folder.Add(p))
	if r != nil {
		err = errors.Join(err, e.writeYCSB(f, r, t))
	}
	if len(targets) > 1 && ctx.Err() == nil {
		floor, with := targets[1], floorOf(targets[1], c)
		failed := loadFirst(ctx, floor, with)
		if failed == nil {
			var x *run.Point
			x, _, failed = pointOf(ctx, floor, with, floor.options(), f.mixName(), 1)
			failed = errors.Join(failed, folder.Add(x))
		}
		if failed != nil {
			err = errors.Join(err, fmt.Errorf("the floor: %w", failed))
		}
	}
	quiet := *e
	quiet.stdout, quiet.json = io.Discard, false
	if f := quiet.finish(folder); f != nil {
		return errors.Join(err, f)
	}
	fmt.Fprintf(e.stderr, "report: %s\n", filepath.Join(folder.Dir, report.FileName))
	return err
}

// loadFirst loads what is kept no longer than this command, or what is asked to
// be loaded before a sweep.
func loadFirst(ctx context.Context, t *kvTarget, c *ycsb.Config) error {
	whole := *c
	whole.InsertStart, whole.InsertCount, whole.Target, whole.Seconds, whole.Shard = 0, c.Records, 0, 0, ycsb.Shard{}
	r, err := ycsb.Load(ctx, t.db.KV, &whole, ycsb.Options{Layout: t.layout})
	if err != nil {
		return err
	}
	return r.Err()
}

// statusLine writes progress as YCSB does, without the times of each operation.
func (e *env) statusLine(c *ycsb.Config) func(p pace.Progress) {
	before := int64(0)
	return func(p pace.Progress) {
		rate := float64(p.Ended-before) / float64(c.StatusInterval)
		before = p.Ended
		fmt.Fprintf(e.stderr, "%s%s %d sec: %d operations; %.1f current ops/sec; %d failed\n", c.Label, time.Now().Format("2006-01-02 15:04:05.000"),
			int64(p.Elapsed.Seconds()), p.Ended, rate, p.Failed)
	}
}

// ycsbResult is the report for machines.
type ycsbResult struct {
	Phase        string              `json:"phase"`
	Engine       string              `json:"engine"`
	Threads      int                 `json:"threads"`
	Ending       pace.Ending         `json:"ending"`
	Operations   int64               `json:"operations"`
	Succeeded    int64               `json:"succeeded"`
	Throughput   float64             `json:"throughput_ops_s"` // of operations that succeeded
	Reconnects   int64               `json:"reconnects"`
	Outage       time.Duration       `json:"outage_ns"`
	Measurements []ycsb.Measurement  `json:"measurements"`
	Problems     []ycsb.Problem      `json:"problems"`
	Warnings     []string            `json:"warnings"`
	Machine      measure.MachineLoad `json:"machine"`
	Server       *run.ServerLoad     `json:"server,omitempty"`
	Right        bool                `json:"right"`
}

func (e *env) writeYCSB(f *ycsbFlags, r *ycsb.Report, t *kvTarget) (err error) {
	for _, w := range r.Warnings {
		fmt.Fprintf(e.stderr, "barograph: %s\n", w)
	}
	for _, p := range r.Problems {
		fmt.Fprintf(e.stderr, "barograph: %d × %s, such as %s\n", p.Count, p.What, p.Example)
	}
	to := e.stdout
	if name := r.Config.ExportFile; name != "" {
		file, err := os.Create(name)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, file.Close()) }()
		to = file
	}
	if r.Config.HdrFiles {
		if err := r.WriteLogs(); err != nil {
			return err
		}
	}
	p := r.Point(f.mixName(), t.driver.Scheme, t.driver.Place, t.layout, 1)
	if r.Server != nil {
		fmt.Fprintf(e.stderr, "barograph: %s\n", report.Bottleneck(p))
	}
	switch {
	case f.csv:
		return run.WritePointsCSV(to, []*run.Point{p})
	case !e.json:
		return r.WriteText(to)
	}
	out := ycsbResult{
		Phase: "run", Engine: t.driver.Scheme, Threads: r.Threads, Ending: r.Result.Ending, Operations: r.Operations(), Succeeded: r.Succeeded(), Throughput: r.Throughput(), Reconnects: r.Reconnects, Outage: r.Outage,
		Measurements: r.Measurements(), Problems: r.Problems, Warnings: r.Warnings, Server: r.Server, Machine: r.Machine, Right: r.Err() == nil,
	}
	if r.Load {
		out.Phase = "load"
	}
	return (&env{stdout: to}).printJSON(out)
}

// counts reads a list such as 1,2,4.
func counts(flag, list string) ([]int64, error) {
	var out []int64
	for s := range strings.SplitSeq(list, ",") {
		n, err := strconv.ParseInt(strings.TrimSpace(s), 10, 64)
		if err != nil || n < 1 {
			return nil, usage(&fault.Error{Setting: flag + " " + list, Problem: "is no list of counts", Cure: "write like 1,2,4,8"})
		}
		out = append(out, n)
	}
	return out, nil
}
