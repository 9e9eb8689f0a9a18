package ycsb

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/dustin/go-humanize/english"
	"golang.org/x/sync/errgroup"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/kv"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/measure/pace"
	"github.com/barograph/barograph/results/run"
	"github.com/barograph/barograph/study/ycsb/history"
)

// Options for Load and Run; the zero value is the default.
type Options struct {
	Layout   kv.Layout     // "" = the engine's usual one
	DDL      *kv.DDL       // makes the table of a load; nil = the engine does
	Space    string        // see kv.Table
	Table    string        // name of the table; "" = the workload's
	Resume   bool          // a load counts an existing record as loaded
	Replace  bool          // a load replaces the records of an earlier load and its runs
	Interval time.Duration // between two calls of Watch; 0 = one second; with Faults always one second
	Watch    func(p pace.Progress)
	Grace    time.Duration                   // see pace.Options
	Server   Server                          // observed during the run
	Faults   *Faults                         // injected into the server during the run; nil = none
	Begin    func(ctx context.Context) error // returns when the run may start; called when it is ready; nil = at once
	Raw      string                          // Parquet file of every operation; "" = none
	Metrics  *Metrics                        // counts every operation; nil = none
	Steady   []engine.Promise                // of the engine while nothing fails; nil = all of them
	History  int                             // number of clients that record a history in a run without Faults; 0 = none

	clock *pace.Clock // a test's; nil = the machine's
	// keys that earlier runs on the table deleted or failed to insert; this run adds its own; nil = none
	absent *absent
}

// spec returns the workload's table, as the options describe it.
func (o *Options) spec(c *Config) kv.Table {
	t := c.TableSpec(o.Layout)
	t.Name, t.DDL, t.Space = cmp.Or(o.Table, t.Name), o.DDL, o.Space
	return t
}

// Report is the result of a load or a run.
type Report struct {
	Config   *Config
	Load     bool
	Resume   bool
	Threads  int
	Result   *pace.Result
	Cleanup  *measure.Histogram // of closing the connections
	Client   measure.ClientLoad
	Machine  measure.MachineLoad
	Server   *run.ServerLoad // nil = the server was not observed
	Problems []run.ProblemCount
	Seen     int64 // approximate number of operations before the first of Problems
	Warnings []string
	Inserted int64 // number of keys that a run inserted, or tried to; see Config.Grown
	Skipped  int64 // records that a resumed load found in the table

	Retries    int64         // repeated attempts of reads and updates
	Reconnects int64         // connections that were lost and reopened
	Outage     time.Duration // time during which at least one worker had no connection
	Stopped    time.Duration // how long the system stopped this process: the times are not those of the engine

	Fault     *run.Fault        // the faults that were injected into the server; nil = none
	History   *run.HistoryCheck // of the clients that recorded a history; nil = none
	Transfers *run.Transfers    // nil = no transfers

	faults    *Faults
	calls     []history.Op // of History
	struck    time.Time    // when the first fault started; zero = no fault
	cost      *run.FaultCost
	quantiles []run.SeriesInterval // of each second
	failed    error                // error of the load or run
	back      answer.Tally         // result of the read-back
	checks    checkCounts          // of values, during the run
	intervals []logged             // for WriteLogs; nil unless hdrhistogram.fileoutput is set
}

// Load makes the table and inserts the records insertstart … insertstart +
// insertcount - 1. The report is valid also with an error, unless it is nil.
func Load(ctx context.Context, db kv.Database, c *Config, o Options) (*Report, error) {
	all := *c
	all.Operations, all.Warmup = 0, 0 // the load ends with its last record
	if all.timedByRates {
		all.Seconds = 0
	}
	all.InsertStart, all.InsertCount = c.Shard.split(c.InsertStart, c.InsertCount)
	spec := o.spec(c)
	spec.Make = true
	return execute(ctx, db, spec, &all, o, true)
}

// Run requests records of a loaded table by the workload's mix.
func Run(ctx context.Context, db kv.Database, c *Config, o Options) (*Report, error) {
	if o.Faults != nil {
		var err error
		if c, err = o.Faults.settle(c); err != nil {
			return nil, err
		}
	}
	return execute(ctx, db, o.spec(c), c, o, false)
}

func execute(
	ctx context.Context, db kv.Database, spec kv.Table, c *Config, o Options, load bool,
) (r *Report, err error) {
	if db == nil {
		const cure = "choose one that `barograph list engines` shows with layouts"
		return nil, &fault.Error{Problem: "the engine stores no records under keys", Cure: cure}
	}
	if c.Threads > mostThreads {
		return nil, fault.Misuse("--threads", fmt.Sprintf("is more than %d", mostThreads), "give fewer threads")
	}
	table, err := db.Table(ctx, spec)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, table.Close()) }()
	w, err := newWorkload(c, table)
	if err != nil {
		return nil, err
	}
	r = &Report{Config: c, Load: load, Resume: o.Resume, Cleanup: measure.NewHistogram()}
	r.Threads = w.threads(r, load)
	conns, err := w.connect(ctx, r.Threads)
	if err != nil {
		return nil, errors.Join(err, closeAll(conns))
	}
	err = w.perform(ctx, conns, &o, r)
	if r.Result == nil {
		return nil, errors.Join(err, closeAll(conns))
	}
	r.failed = err
	return r, err
}

// perform runs the workers over their connections. It closes the connections, unless a worker hangs. If r.Result is nil
// when it returns, no operation was started, and the caller closes them.
func (w *workload) perform(ctx context.Context, conns []*kv.Conn, o *Options, r *Report) (err error) {
	w.lenient = !slices.Contains(o.steady(), engine.ReadYourWrites)
	if o.absent != nil {
		w.absent, w.absentBefore = o.absent, o.absent.count.Load()
	}
	if !r.Load {
		if err := w.ready(ctx, conns, r); err != nil {
			return err
		}
		w.nonce, w.ledger = nonceOf(time.Now(), w.Shard), newLedger(w.InsertCount)
	}
	workers, own := make([]pace.Worker, r.Threads), make([]*worker, r.Threads)
	for i, conn := range conns {
		own[i] = w.worker(conn, i)
		if workers[i] = own[i]; r.Load {
			workers[i] = &loader{worker: own[i], resume: o.Resume, replace: o.Replace}
		}
	}
	if o.Faults != nil {
		o.Server = Server{} // faults end its processes and start others
	}
	c, err := w.prepareLoad(ctx, own[0], o, r)
	if err != nil {
		return err
	}
	finish, err := w.witness(ctx, o, r)
	if err != nil {
		return err
	}
	if o.Begin != nil {
		if err := o.Begin(ctx); err != nil {
			return errors.Join(err, finish(ctx))
		}
	}
	pacing := w.pacing(o)
	if w.HdrFiles {
		pacing.ReportInterval = time.Duration(w.StatusInterval) * time.Second
		pacing.OnInterval = func(from, to time.Duration, groups [][]*pace.OutcomeTimes) {
			r.intervals = append(r.intervals, logged{from, to, groups})
		}
	}
	r.faults = o.Faults
	endReporting, err := o.reporting(&pacing)
	if err != nil {
		return errors.Join(err, finish(ctx))
	}
	watch, err := observe(ctx, o.Server, time.Duration(w.Warmup)*time.Second)
	if err != nil {
		return errors.Join(err, endReporting(nil), finish(ctx))
	}
	endFaults := w.inflict(ctx, o.Faults, &pacing, r)
	standstills := measure.StartStandstillMeter()
	r.Result, err = pace.Run(ctx, workers, pacing)
	if r.Load && err == nil && !r.Result.Hung && r.Result.Ending == pace.OutOfTime && w.loaded.Load() >= w.InsertCount {
		r.Result.Ending, r.Result.Unstarted = pace.Completed, 0 // only arrivals after the last record were too late
	}
	if r.Stopped = standstills.Total(); o.clock != nil {
		r.Stopped = 0 // a test's clock does not measure stops
	}
	standstills.Stop()
	err = errors.Join(err, endReporting(r.Result))
	unmeasured := watch.stop(ctx, r)
	err = errors.Join(err, endFaults(ctx), finish(ctx))
	if r.Result == nil {
		return err
	}
	if !r.Result.Hung {
		r.addChecks(own)
	}
	if err == nil && ctx.Err() == nil && r.isReadable() {
		if err = r.readBack(ctx, w, own, c); err == nil {
			err = r.wrongBack()
		}
	}
	if w.accounts != nil && ctx.Err() == nil && !r.Load && !r.Result.Hung {
		err = errors.Join(err, r.audit(ctx, own[0]))
	}
	r.Problems, r.Seen = w.problems.list(), min(w.problems.after.Load(), max(r.Operations(), 1))
	r.Retries, r.Skipped = w.retries.Load(), w.skipped.Load()
	r.Inserted = w.sequence.next.Load() - w.Records
	if r.Reconnects, r.Outage = w.outages.totals(); r.Outage > 0 {
		const lost = "connections were lost: for %s at least one worker had none; %d were reopened"
		r.Warnings = append(r.Warnings, fmt.Sprintf(lost, r.Outage.Round(time.Millisecond), r.Reconnects))
	}
	if !r.Result.Hung {
		err = errors.Join(err, r.cleanUp(own))
	}
	if unavailable := watch.counters(ctx, r.Server); unavailable != nil {
		r.Warnings = append(r.Warnings, unavailable.Error())
	}
	return errors.Join(err, unmeasured)
}

// prepareLoad removes the records of earlier loads, if the load replaces them, and counts the records of the table.
func (w *workload) prepareLoad(ctx context.Context, k *worker, o *Options, r *Report) (c counting, err error) {
	if !r.Load {
		return c, nil
	}
	if o.Replace {
		remove := w.table.Clear
		if remove == nil {
			remove = k.trim
		}
		if err := remove(ctx); err != nil {
			return c, err
		}
	}
	c.before, c.err = w.count(ctx, countFirst)
	return c, nil
}

// isReadable reports whether the records can be read back: the run has no problem, or faults were injected. The records
// of an overloaded run can be read, too; an overloaded load lacks records.
func (r *Report) isReadable() bool {
	if r.Result.Hung {
		return false
	}
	err := r.Err()
	return err == nil || r.Fault != nil || !r.Load && errors.Is(err, errOverload)
}

// threads returns the number of workers, at most one for each operation.
func (w *workload) threads(r *Report, load bool) int {
	_, work := w.Shard.split(0, w.Operations)
	if load {
		work = w.InsertCount
	}
	if work > 0 && w.Threads > work {
		const idle = "threadcount is %s, but the number of records or operations to be done is only %s"
		r.Warnings = append(r.Warnings, fmt.Sprintf(idle, run.FormatCount(w.Threads), run.FormatCount(work)))
		return int(work)
	}
	return int(w.Threads)
}

func (w *workload) connect(ctx context.Context, n int) ([]*kv.Conn, error) {
	conns := make([]*kv.Conn, n)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(8)
	for i := range conns {
		g.Go(func() (err error) {
			conns[i], err = w.table.Connect(ctx)
			return err
		})
	}
	return conns, g.Wait()
}

func closeAll(conns []*kv.Conn) (err error) {
	for _, c := range conns {
		if c != nil {
			err = errors.Join(err, c.Close())
		}
	}
	return err
}

// cleanUp closes the connections and measures the time of each, as YCSB does.
func (r *Report) cleanUp(workers []*worker) (err error) {
	for _, k := range workers {
		clock := measure.StartClock()
		err = errors.Join(err, k.conn.Close())
		r.Cleanup.Record(clock.Now())
	}
	return err
}

// ErrCannot means that a table of this layout does not support the operations of the mix. Another
// mix may run on the engine.
var ErrCannot = errors.New("the table does not support an operation of the mix")

// errOverload means that operations were due and never started.
var errOverload = errors.New("more operations were due than started")

// supports returns an error if the table does not support an operation of the mix.
func (w *workload) supports(c *kv.Conn) error {
	cannot := func(setting, problem, cure string) error {
		return &fault.Error{Setting: setting, Problem: problem, Err: ErrCannot, Cure: cure}
	}
	switch {
	case w.Mix[opDelete] > 0 && c.Delete == nil:
		return cannot("property deleteproportion", "the engine deletes no records", "set it to 0")
	case w.Mix[opScan] > 0 && c.Scan == nil:
		return cannot("property scanproportion",
			"tables of this layout of the engine cannot be scanned in the order of keys",
			"give a --layout that `barograph list engines` shows without \"no scans\", if the engine has one")
	case w.Mix[opReadPath] > 0 && c.ReadPath == nil || w.Mix[opUpdatePath] > 0 && c.UpdatePath == nil:
		return cannot("properties readpathproportion and updatepathproportion",
			"this layout of the engine has no documents", "give --layout document, on an engine that has it")
	case w.accounts != nil && c.Transact == nil:
		return cannot("property transferproportion", "the table has no transactions of several records",
			"choose an engine that `barograph list engines` shows with transactions; workers that share connections "+
				"(?pipeline=) have none")
	}
	return nil
}

// ready checks that the table is loaded, and prepares the checks of scans and transfers.
func (w *workload) ready(ctx context.Context, conns []*kv.Conn, r *Report) error {
	if err := w.supports(conns[0]); err != nil {
		return err
	}
	if err := w.probe(ctx, conns[0]); err != nil {
		return err
	}
	if w.accounts != nil {
		if err := w.worker(conns[0], 0).countBefore(ctx); err != nil {
			return err
		}
	}
	if w.Mix[opScan] == 0 {
		return nil
	}
	if w.present = newExisting(w.Config); w.present == nil {
		const unchecked = "the table has more than %d records: scans are checked for order, bounds and their first record, " +
			"not for other missing records"
		r.Warnings = append(r.Warnings, fmt.Sprintf(unchecked, mostIndexed))
	}
	r.warnOfPartitions(ctx, w)
	return nil
}

// manyPartitions is the number of partitions per scan from which a run has a warning. A scan that is shorter
// than a partition reads one, sometimes two.
const manyPartitions = 3

// warnOfPartitions adds a warning if the partitions of the table are small compared with the scans of the mix.
// A scan of n records that starts at a random place of a partition of s records reads 1 + (n-1)/s partitions on
// average.
func (r *Report) warnOfPartitions(ctx context.Context, w *workload) {
	if w.table.Partitions == nil {
		return
	}
	partitions, err := w.table.Partitions(ctx)
	if err != nil {
		r.Warnings = append(r.Warnings, "the partitions of the table were not counted: "+fault.Redact(err.Error()))
		return
	}
	const draws = 1000
	rng, length := rand.New(rand.NewPCG(1, 1)), 0.0
	for range draws {
		length += float64(w.scanLength(rng)) / draws
	}
	size := float64(w.Records) / float64(partitions)
	if read := min(1+(length-1)/size, float64(partitions)); read >= manyPartitions {
		const many = "the table has %d partitions of %.3g records on average: a scan of %.3g records reads %.3g of them, " +
			"each with requests of its own; a smaller prefix= in the URL makes larger partitions when the table is created"
		r.Warnings = append(r.Warnings, fmt.Sprintf(many, partitions, size, length, read))
	}
}

// tally counts the records of operations of the kinds with an outcome.
func (r *Report) tally(status int, kinds ...int) (n int64) {
	for _, kind := range kinds {
		if g := r.Result.Groups[kind][status]; g != nil {
			n += g.RecordCount
		}
	}
	return n
}

// all counts the records of all operations with an outcome. It counts the components of a read-modify-write, and not
// the operation again.
func (r *Report) all(status int) int64 {
	return r.tally(status,
		opRead, opUpdate, opInsert, opScan, opDelete, opReadPath, opUpdatePath, opTransfer, kindVerify)
}

// Operations is the number of operations that finished, with any outcome; for a load, of records. A
// read-modify-write is one operation.
func (r *Report) Operations() int64 {
	if !r.Load {
		return r.Result.Operations
	}
	n := int64(0)
	for status := range statuses() {
		n += r.tally(status, opInsert)
	}
	return n
}

// Response is the histogram of the response times of the successful operations. If the mix has reads or updates of its
// own, it also contains those of the read-modify-writes.
func (r *Report) Response() *measure.Histogram { return r.response(r.Result.Groups) }

func (r *Report) response(groups [][]*pace.OutcomeTimes) *measure.Histogram {
	h := measure.NewHistogram()
	for kind := range ops {
		if !r.isOperation(kind) {
			continue
		}
		if g := groups[kind][statusOK]; g != nil {
			_ = h.Merge(g.Response) // both have the same range
		}
	}
	return h
}

// isOperation reports whether a kind is an operation of the mix, not a component of a read-modify-write or a check.
func (r *Report) isOperation(kind int) bool {
	return kind < ops && (r.Load || r.Config.Mix[kind] > 0)
}

// Succeeded is the number of successful operations; for a load, of stored records.
func (r *Report) Succeeded() int64 {
	if r.Load {
		return r.tally(statusOK, opInsert)
	}
	return r.Result.Succeeded
}

// Throughput is the number of successful operations per second of the complete run, including
// outages.
func (r *Report) Throughput() float64 {
	if r.Result.Elapsed <= 0 {
		return 0
	}
	return float64(r.Succeeded()) / r.Result.Elapsed.Seconds()
}

// verdict collects the problems of a run and keeps the first one.
type verdict struct{ first error }

func (v *verdict) add(code int, problem, cure string, classes ...error) {
	if v.first == nil {
		v.first = &fault.Status{Code: code, Err: &fault.Error{Problem: problem, Cure: cure, Err: errors.Join(classes...)}}
	}
}

// Err returns the problem of the run, with its exit status; nil = none. Of several problems it returns the first one
// that correctness and completeness report, in this order.
func (r *Report) Err() error {
	var v verdict
	r.correctness(&v)
	r.completeness(&v)
	worst := v.first
	if r.Result.Ending == pace.Interrupted {
		switch {
		case worst == nil:
			worst = &fault.Status{Code: fault.Interrupted, Err: context.Canceled}
		case fault.Code(worst) == fault.Incomplete: // a wrong result keeps its status
			worst = &fault.Status{Code: fault.Interrupted, Err: fmt.Errorf("interrupted; %w", worst)}
		}
	}
	return worst
}

// correctness reports wrong results and, after all of them, results whose correctness is unknown.
func (r *Report) correctness(v *verdict) {
	if wrong := r.Transfers.Problem(); wrong != "" {
		v.add(fault.Differs, wrong, "transactions of this engine are not atomic or not isolated at this isolation level; "+
			"its speed is not comparable")
	}
	if n := r.all(statusWrong); n > 0 {
		v.add(fault.Differs, english.Plural(int(n), "answer is", "answers are")+" wrong", "see the problems listed; wrong results are not timed")
	}
	if broken := r.brokenPromises(); broken != "" {
		v.add(fault.Differs, broken, "see the history in the run folder")
	}
	if r.Transfers != nil && r.Transfers.Undecided {
		const unknown = "whether the balances are correct is not known: the engine did not answer the commits of %s"
		v.add(fault.Incomplete, fmt.Sprintf(unknown, run.CountOf(r.Transfers.Unknown, "transfer")), "run it again with fewer threads, or more records")
	}
	if unknown := r.undecided(); unknown != "" {
		v.add(fault.Incomplete, "it is not known whether the store is correct: "+unknown,
			"run it again, for a shorter time or with fewer clients (--history)")
	}
}

// completeness reports operations that failed or were not done, and times that do not count.
func (r *Report) completeness(v *verdict) {
	if n := r.all(statusError); n > 0 {
		v.add(fault.Incomplete, run.CountOf(n, "operation")+" failed"+r.outage(), "see the problems listed")
	}
	if n := r.all(statusNotFound); n > r.Config.MaxMisses {
		v.add(fault.Incomplete, english.Plural(int(n), "existing record was", "existing records were")+" not found",
			"load the table again, or allow misses by maxmisses")
	}
	if n := r.all(statusExists); n > 0 && r.Load {
		v.add(fault.Incomplete, fmt.Sprintf("%s existed already, %s new",
			run.CountOf(n, "record"), english.Plural(int(r.all(statusOK)), "is", "are")),
			"drop the table first (a sweep does by --replace), or continue an unfinished load by --resume")
	} else if n > 0 {
		v.add(fault.Incomplete, run.CountOf(n, "key")+" to insert existed already",
			"raise recordcount to the number of records, or load the table again")
	}
	if r.Stopped > 0 && !r.Load {
		const stopped = "the system stopped this process for %s; the times are not those of the engine"
		v.add(fault.Incomplete, fmt.Sprintf(stopped, r.Stopped.Round(time.Millisecond)),
			"run it again on a machine that is not suspended")
	}
	if r.Result.Hung {
		v.add(fault.Incomplete, "operations did not return after they were canceled", "check whether the engine works")
	}
	if n := r.Result.Unstarted; n > 0 && r.Result.Ending == pace.OutOfTime {
		v.add(fault.Incomplete, "overload: "+english.Plural(int(n), "operation was", "operations were")+" due and never started"+r.outage(),
			"lower the target, or add threads", errOverload)
	}
	if r.Result.Ending == pace.OutOfTime && r.Load {
		v.add(fault.Incomplete, "the time limit (maxexecutiontime) ended the load before all records were stored",
			"raise it, or continue the load by --resume")
	}
}
