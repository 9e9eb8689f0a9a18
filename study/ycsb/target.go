package ycsb

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/kv"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/lab"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/measure/pace"
	"github.com/barograph/barograph/results/run"
	"github.com/barograph/barograph/study"
)

// Target is an engine on which workloads run, one after the other.
type Target struct {
	Scheme  string
	Place   engine.Place
	KV      kv.Database
	Form    // of its table
	Server  Server
	Replace bool        // LoadAll replaces the records of an earlier load and its runs
	Folder  *run.Folder // receives the events; nil = none
	Metrics *Metrics    // of its runs; nil = none
	History int         // number of clients that record a history during each run without faults; 0 = none

	inserted int64  // number of keys that the runs until now inserted
	absent   absent // keys that these runs deleted, or failed to insert
	failed   error  // the error after which a sweep does not use the engine any more

	faults *Faults          // of each run; nil = none
	steady []engine.Promise // of the engine while nothing fails

	rawURL string
	url    *url.URL // rawURL, parsed
	open   func(raw string) (*engine.Engine, error)
	d      *engine.Driver
	db     *engine.Engine
	lab    *lab.State // the lab that runs the engine's server; nil = none

	relays []*lab.Relay // one in front of each node; nil = no relays

	load time.Duration // duration of LoadAll
}

// Form is the physical form of a target's table.
type Form struct {
	Layout kv.Layout // "" = the engine's first
	DDL    *kv.DDL   // creates the table; nil = the engine does
	Space  string    // see kv.Table
	Table  string    // name of the table; "" = the workload's
}

// Name is the name of the form in cells and reports: the layout or, of a user's script, its file and
// digest.
func (f *Form) Name() string {
	if f.DDL != nil {
		return f.DDL.Name()
	}
	return string(f.Layout)
}

// title is the engine and, if the sweep has several tables of the engine, the form.
func (t *Target) title() string {
	if t.DDL == nil && t.Table == "" {
		return t.Scheme
	}
	return t.Scheme + " " + t.Name()
}

// Options returns the options of a load or a run on the target.
func (t *Target) Options() Options {
	return Options{
		Layout: t.Layout, DDL: t.DDL, Space: t.Space, Table: t.Table, Server: t.Server, Faults: t.faults,
		Metrics: t.Metrics, Steady: t.steady, History: t.History, absent: &t.absent,
	}
}

// LoadAll loads every record, at full speed and without measuring: into an engine that stores its records
// only during a command, or before a sweep that requests it.
func (t *Target) LoadAll(ctx context.Context, c *Config) error {
	all := *t.fit(c)
	all.InsertStart, all.InsertCount, all.Shard = 0, all.Records, Shard{}
	all.Target, all.Rates, all.Seconds = 0, nil, 0
	began := time.Now()
	o := t.Options()
	r, err := Load(ctx, t.KV, &all, Options{
		Layout: o.Layout, DDL: o.DDL, Space: o.Space, Table: o.Table,
		Replace: t.Replace,
	})
	if err != nil {
		return fmt.Errorf("%s: %w", t.title(), err)
	}
	if err := r.Err(); err != nil {
		return fmt.Errorf("%s: %w", t.title(), err)
	}
	t.load = time.Since(began)
	return nil
}

// The limits of a run that measures the client overhead: its records fit in memory, and it takes two
// seconds.
const (
	overheadRecords = 100_000
	overheadSeconds = 2
)

// fit returns the workload as the target runs it. In memory, for the client overhead, it is limited. The
// table contains the records that earlier runs inserted.
func (t *Target) fit(c *Config) *Config {
	if t.Place != engine.Memory {
		return c.Grown(t.inserted)
	}
	out := *c
	if out.Records > overheadRecords {
		out.Records, out.InsertStart, out.InsertCount = overheadRecords, 0, overheadRecords
	}
	if out.Seconds == 0 || out.Seconds > overheadSeconds {
		out.Seconds = overheadSeconds
	}
	out.Warmup = 0
	return out.Grown(t.inserted)
}

// mostAttempts is how often Measure runs a workload if the system stops this process each time.
const mostAttempts = 3

// cell returns the cell that a run on the target measures.
func (t *Target) cell(c *Config, mix string, threads int, f *Faults) run.Cell {
	var more []any
	if len(c.Rates) > 0 {
		more = []any{"rate", c.Rates}
	}
	if c.Ramp {
		more = append(more, "ramp", "yes")
	}
	if c.Transfers() {
		more = append(more, "isolation", string(c.Isolation))
	}
	if f != nil || t.nodes() > 1 {
		more = append(more, "nodes", t.nodes())
	}
	if f != nil {
		more = append(more, "acknowledged", f.Acknowledged, "fault", f)
	}
	target := c.Target / float64(max(c.Shard.Of, 1))
	return run.MixCell(t.Scheme, t.Name(), mix, threads, target, c.Shard.String(), more...)
}

// nodes returns the number of nodes of the lab that runs the server; 1 = no lab runs it.
func (t *Target) nodes() int {
	if t.lab == nil {
		return 1
	}
	return len(t.lab.Nodes)
}

// watch makes a run write events to the folder: its progress, the server's counters and the faults.
func (t *Target) watch(o *Options, cell run.Cell) {
	report, before := o.Watch, int64(0)
	addEvent := func(e run.Event) {
		e.Cell = cell
		_ = t.Folder.AddEvent(e) // the folder keeps the error
	}
	o.Server.OnCounters = func(counted []run.Counter) {
		addEvent(run.Event{Kind: run.CountersEvent, Text: t.Scheme, Counters: counted})
	}
	if o.Faults != nil {
		f, inflict := *o.Faults, o.Faults.Inflict
		f.Inflict = func(ctx context.Context, x lab.Fault) (string, error) {
			addEvent(run.Event{Kind: run.KillEvent, Text: x.String()})
			output, err := inflict(ctx, x)
			switch {
			case err != nil:
				text := fmt.Sprintf("%s: %s: %s", x.What(), fault.Redact(err.Error()), output)
				addEvent(run.Event{Kind: run.WarningEvent, Text: text})
			case output != "":
				addEvent(run.Event{Kind: run.StepEvent, Text: x.What() + ": " + output})
			}
			return output, err
		}
		o.Faults = &f
	}
	o.Watch = func(p pace.Progress) {
		if p.Finished < before {
			before = 0 // Measure repeats the run
		}
		e := run.Event{Kind: run.RateEvent, Done: p.Finished - before, Failed: p.Failed}
		if r := p.Response; r.Max > 0 {
			e.Times = &run.IntervalPercentiles{P50: r.P50, P95: r.P95, P99: r.P99}
		}
		addEvent(e)
		if before = p.Finished; report != nil {
			report(p)
		}
	}
}

// Measure runs a workload and returns a sample of it, also after a failure. It repeats a run during
// which this process was suspended, and the sample reports that. The report is nil if there was no
// run; the error is that of the run or, if there is none, its problem (see Report.Err).
func (t *Target) Measure(
	ctx context.Context, c *Config, o Options, mix string, rep int,
) (run.Sample, *Report, error) {
	var repeated []string // the reasons
	cell, since := t.cell(c, mix, int(c.Threads), o.Faults), time.Time{}
	if t.Folder != nil {
		since = t.Folder.Run.Started
		t.watch(&o, cell)
	}
	if o.Metrics != nil {
		o.Metrics = o.Metrics.forRun(prometheus.Labels{
			"engine": t.Scheme, "layout": t.Name(), "workload": mix,
			"threads": strconv.FormatInt(c.Threads, 10),
		})
	}
	for attempt := 1; ; attempt++ {
		r, err := Run(ctx, t.KV, t.fit(c), o)
		if r == nil {
			return run.Sample{Cell: cell, Rep: rep}.Judge(nil, answer.Proof{}, err), nil, err
		}
		t.inserted += r.Inserted
		// Agents run at the same time, and a client does not know the keys that other clients inserted.
		isRepeatable := o.Begin == nil && (r.Inserted == 0 || c.Shard.Of < 2)
		if r.Stopped > 0 && err == nil && isRepeatable && attempt < mostAttempts && ctx.Err() == nil {
			const text = "the system stopped this process for %s: the run was repeated"
			repeated = append(repeated, fmt.Sprintf(text, r.Stopped.Round(time.Millisecond)))
			continue
		}
		r.Warnings = append(repeated, r.Warnings...)
		if err == nil {
			err = r.Err()
		}
		s, failed := r.Sample(mix, t, rep, since)
		if r.History != nil {
			file, storeErr := run.StoreHistory(t.Folder, r.calls, t.Scheme, t.Name(), mix, strconv.Itoa(r.Threads),
				cmp.Or(o.Faults.String(), "steady"), strconv.Itoa(rep))
			r.History.File, failed = file, errors.Join(failed, storeErr)
		}
		return s, r, errors.Join(err, failed)
	}
}

// Load loads the target's share of the records and returns a sample of the load. The report is nil
// if the load did not start; the error is that of the load or, if there is none, its problem (see Report.Err).
func (t *Target) Load(ctx context.Context, c *Config, o Options, mix string) (run.Sample, *Report, error) {
	r, err := Load(ctx, t.KV, c, o)
	if r == nil {
		failed := run.Sample{Cell: t.cell(c, mix, int(c.Threads), nil), Rep: 1}
		return failed.Judge(nil, answer.Proof{}, err), nil, err
	}
	if err == nil {
		err = r.Err()
	}
	s, failed := r.Sample(mix, t, 1, time.Time{})
	return s, r, errors.Join(err, failed)
}

// Open opens an engine to run workloads on a table of a form. labs is the folder of the labs, one of which
// may run the engine's server.
func Open(
	ctx context.Context, all engine.Registry, raw string, form Form, labs string, o engine.Options,
) (*Target, error) {
	d, u, err := all.Parse(raw)
	if err != nil {
		return nil, &fault.Status{Code: fault.Usage, Err: err}
	}
	t := &Target{Scheme: d.Scheme, Place: d.Place, Form: form, rawURL: raw, url: u, d: d}
	t.open = func(raw string) (*engine.Engine, error) { return all.Open(ctx, raw, o) }
	if form.Layout == "" && len(kv.OfferOf(d).Layouts) > 0 {
		t.Layout = kv.OfferOf(d).Layouts[0]
	}
	if err := (&kv.Table{Layout: t.Layout, DDL: form.DDL}).CheckDDL(*d); err != nil {
		return nil, &fault.Status{Code: fault.Usage, Err: err}
	}
	if t.db, err = t.open(raw); err != nil {
		return nil, err
	}
	t.lab, t.KV = lab.Serving([]string{labs}, d, u), kv.DatabaseOf(t.db)
	t.Server = Server{Metrics: t.db.Metrics, Statements: t.db.Statements, PIDs: t.lab.PIDs()}
	if t.db.About != nil {
		about, err := t.db.About(ctx)
		if err != nil {
			return nil, errors.Join(err, t.db.Close())
		}
		t.steady = about.PromisesWithoutFailures()
	}
	return t, nil
}

// about returns the engine's description of itself and, if the workload's table exists, of the
// table.
func (t *Target) about(ctx context.Context, c *Config) (about engine.About, described string, err error) {
	if about, err = t.db.About(ctx); err != nil || t.KV == nil {
		return about, "", err
	}
	o := t.Options()
	table, err := t.KV.Table(ctx, o.spec(c))
	if err != nil {
		return about, "", nil //nolint:nilerr // the run itself reports the error
	}
	if table.DescribeDurability != nil {
		err = table.DescribeDurability(ctx, &about)
	}
	if table.Form != nil && err == nil {
		described, err = table.Form(ctx)
	}
	return about, described, errors.Join(err, table.Close())
}

// Archive describes the target in a run folder.
func (t *Target) Archive(ctx context.Context, c *Config) (run.Archive, error) {
	a := study.Participant(t.d, t.rawURL, engine.About{}, t.lab.Server())
	a.Design, a.Load = t.Name(), t.load
	if t.db.About == nil {
		return a, nil
	}
	about, described, err := t.about(ctx, c)
	if study.Describe(&a, about); described != "" || t.DDL != nil {
		a.Table = &run.Table{Name: cmp.Or(t.Table, c.Table), Definition: described}
		if t.Space != "" {
			a.Table.Schema = "ycsb_" + t.Space // the engines' name of it
		}
	}
	if t.DDL != nil {
		a.Table.DDLFile, a.Table.DDLDigest, a.Table.DDL = t.DDL.File, t.DDL.Digest(), fault.Redact(t.DDL.Text)
	}
	return a, err
}

// CloseAll closes targets that Open opened.
func CloseAll(targets []*Target) (err error) {
	for _, t := range targets {
		e := t.db.Close()
		for _, r := range t.relays {
			e = errors.Join(e, r.Close())
		}
		if e != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", t.Scheme, e))
		}
	}
	return err
}

// Answers counts the results by verdict and by the checks that they passed. Reads and scans must return
// their keys, with every field, in order. With dataintegrity each value must be the one that follows from
// its key and field. The result of the read-back is included, so that a run of writes is checked, too.
func (r *Report) Answers() answer.Tally {
	a := answer.Tally{
		Succeeded: r.Succeeded(), Wrong: r.all(statusWrong) + r.back.Wrong,
		Failed:  r.all(statusError) + r.all(statusExists),
		Found:   r.tally(statusOK, opRead, opScan, opReadPath) + r.back.Found,
		Values:  r.tally(statusOK, kindVerify),
		Written: r.tally(statusOK, opInsert, opUpdate, opDelete, opUpdatePath, opTransfer),
	}
	r.tallyChecks(&a)
	if r.Transfers != nil {
		a.Values += r.Transfers.Accounts
		if r.Transfers.Problem() != "" {
			a.Wrong++
		}
	}
	if r.Config.Integrity {
		a.Values += r.back.Found
	}
	if n := r.all(statusNotFound) + r.back.Missing; n > r.Config.MaxMisses {
		a.Missing = n
	}
	return a
}

// timed reports whether the times may be shown: results were checked, none is wrong or missing, and the
// system did not stop the process. Failed operations have times of their own.
func (r *Report) timed() bool {
	a := r.Answers()
	return a.Wrong == 0 && a.Missing == 0 && a.Found > 0 && r.Stopped == 0
}

// Sample converts the report to a sample of a target for a run folder. mix is the workload's name. The
// sample's start counts from since, the start of the folder.
func (r *Report) Sample(mix string, t *Target, rep int, since time.Time) (run.Sample, error) {
	res, a := r.Result, r.Answers()
	tally := a
	s := run.Sample{
		Cell: t.cell(r.Config, mix, r.Threads, r.faults), Rep: rep, Answers: &tally, ProblemCounts: r.Problems,
		Warnings: r.Warnings, Fault: r.Fault, Transfers: r.Transfers,
	}
	m := &run.Measured{Total: res.Elapsed, Usage: &run.Usage{Client: r.Client, Machine: r.Machine, Server: r.Server}}
	m.Start = max(0, res.Started.Add(time.Duration(r.Config.Warmup)*time.Second).Sub(since))
	m.Mix = &run.Mix{
		Place: string(t.Place), LoadMachines: 1, Ending: string(res.Ending), Operations: r.Operations(),
		Unstarted: res.Unstarted, Reconnects: r.Reconnects, Outage: r.Outage,
		Throughput: r.Throughput(), Interval: res.SeriesInterval, FaultCost: r.cost,
	}
	for i, x := range res.Series {
		var s run.SeriesInterval
		if i < len(r.quantiles) {
			s = r.quantiles[i]
		}
		s.Completed, s.Failed, s.Slowest = x.Finished, x.Failed, x.Slowest
		m.Series = append(m.Series, s)
	}
	if err := r.groups(m.Mix); err != nil {
		return s, err
	}
	problem, failed := r.Err(), r.failed
	if r.Fault == nil {
		s.History = r.History
	} else {
		a.Failed = 0 // failures while a server was down belong to the measurement
	}
	broken := r.brokenPromises() != ""
	if broken {
		a.Wrong++
	}
	if broken || failed == nil && (a.Wrong+a.Missing+a.Failed > 0 || r.Result.Hung || r.Stopped > 0) {
		failed = problem
		if a.Wrong > 0 && problem != nil {
			failed = &answer.Diff{Problem: problem.Error()} // it says what is wrong
		}
	}
	proof, failed := answer.CompareAll(a, failed)
	if s = s.Judge(m, proof, failed); problem != nil && s.Verdict == run.Equal {
		warning := problem.Error() // the run stopped early, or did not reach the target
		if errors.Is(problem, context.Canceled) {
			warning = fmt.Sprintf("the run was interrupted after %s", res.Elapsed.Round(time.Millisecond))
		}
		s.Warnings = append(slices.Clip(s.Warnings), warning)
	}
	return s, nil
}

// groups adds the times of each kind and outcome to a mix, and summarizes them.
func (r *Report) groups(m *run.Mix) error {
	service := measure.NewHistogram()
	for kind, name := range kinds() {
		for status, outcome := range statuses() {
			g := r.Result.Groups[kind][status]
			if g == nil {
				continue
			}
			inTotal := status == statusOK && r.isOperation(kind)
			if inTotal {
				_ = service.Merge(g.Service) // both have the same range
			}
			out := run.Group{Operation: name, Outcome: outcome, Count: g.Count, Records: g.RecordCount, InTotal: inTotal}
			if err := out.SetTimes(g.Service, g.Response); err != nil {
				return err
			}
			m.Groups = append(m.Groups, out)
		}
	}
	m.Service, m.Response = run.Summarize(service), run.Summarize(r.Response())
	return nil
}
