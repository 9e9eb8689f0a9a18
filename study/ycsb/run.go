package ycsb

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

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
	Table    string        // its name; "" = the workload's
	Resume   bool          // a load counts an existing record as loaded
	Replace  bool          // a load replaces the records of an earlier load and its runs
	Interval time.Duration // between two calls of Watch; 0 = one second
	Watch    func(p pace.Progress)
	Grace    time.Duration                   // see pace.Options
	Server   Server                          // is observed during the run
	Faults   *Faults                         // are inflicted on it; nil = none
	Begin    func(ctx context.Context) error // is waited for when all is ready; nil = it begins at once
	Raw      string                          // Parquet file of every operation; "" = none
	Metrics  *Metrics                        // count them; nil = none
	Steady   []engine.Promise                // of the engine while nothing fails; nil = all of them
	History  int                             // number of clients that record a history during a run without Faults; 0 = none

	clock  *pace.Clock // of a test; nil = the machine's
	absent *absent     // keys that earlier runs on the table deleted or failed to insert, and receives this run's; nil = none
}

// spec is the workload's table.
func (o *Options) spec(c *Config) kv.Table {
	t := c.TableSpec(o.Layout)
	t.Name, t.DDL, t.Space = cmp.Or(o.Table, t.Name), o.DDL, o.Space
	return t
}

// Report is what a load or a run did.
type Report struct {
	Config   *Config
	Load     bool
	Resume   bool
	Threads  int
	Result   *pace.Result
	Cleanup  *measure.Histogram // of closing the connections
	Client   measure.ClientLoad
	Machine  measure.MachineLoad
	Server   *run.ServerLoad // nil = nothing is known of one
	Problems []run.ProblemCount
	Seen     int64 // after about how many operations the first of Problems was seen
	Warnings []string
	Inserted int64 // keys that a run took for inserts; see Config.Grown
	Skipped  int64 // records that a resumed load found in the table

	Retries    int64         // further tries of reads and updates
	Reconnects int64         // connections that were lost and opened anew
	Outage     time.Duration // time during which at least one worker had no connection
	Stopped    time.Duration // how long the system stopped this process: the times are not those of the engine

	Fault     *run.Fault        // what was done to the server; nil = nothing
	History   *run.HistoryCheck // that was recorded next to it; nil = none
	Transfers *run.Transfers    // nil = no transfers

	faults    *Faults
	calls     []history.Op // next to it
	struck    time.Time    // when the first fault started; zero = no fault
	cost      *run.FaultCost
	quantiles []run.SeriesInterval // of each second
	failed    error                // with which it ended
	back      answer.Tally         // of what was read back after it
	seen      seen                 // by the checks of values during the run
	intervals []logged             // for WriteLogs; nil unless hdrhistogram.fileoutput is set
}

// Load makes the table and inserts the records insertstart … insertstart +
// insertcount - 1. The report is valid also with an error, unless it is nil.
func Load(ctx context.Context, db kv.Database, c *Config, o Options) (*Report, error) {
	pacing := *c
	pacing.Operations, pacing.Warmup = 0, 0 // its records are its limit
	pacing.InsertStart, pacing.InsertCount = c.Shard.split(c.InsertStart, c.InsertCount)
	spec := o.spec(c)
	spec.Make = true
	return execute(ctx, db, spec, &pacing, o, true)
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

func execute(ctx context.Context, db kv.Database, spec kv.Table, c *Config, o Options, load bool) (r *Report, err error) {
	if db == nil {
		return nil, &fault.Error{Problem: "the engine keeps no records under keys", Cure: "choose one that `barograph list engines` shows with layouts"}
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

// perform runs the workers over their connections and closes these, unless one
// hangs.
func (w *workload) perform(ctx context.Context, conns []*kv.Conn, o *Options, r *Report) (err error) {
	w.lenient = !slices.Contains(o.steady(), engine.ReadYourWrites)
	if o.absent != nil {
		w.absent, w.lost = o.absent, o.absent.count.Load()
	}
	if !r.Load {
		w.nonce, w.ledger = nonceOf(time.Now(), w.Shard), newLedger(w.InsertCount)
		if err := w.ready(ctx, conns, r); err != nil {
			return err
		}
	}
	workers, own := make([]pace.Worker, r.Threads), make([]*worker, r.Threads)
	for i, conn := range conns {
		own[i] = w.worker(conn, i)
		if workers[i] = own[i]; r.Load {
			workers[i] = &loader{worker: own[i], resume: o.Resume, replace: o.Replace}
		}
	}
	if o.Faults != nil {
		o.Server = Server{} // its processes come and go
	}
	if o.Begin != nil {
		if err := o.Begin(ctx); err != nil {
			return err
		}
	}
	watch, err := observe(ctx, o.Server, time.Duration(w.Warmup)*time.Second)
	if err != nil {
		return err
	}
	pacing := w.pacing(o)
	if w.HdrFiles {
		pacing.ReportInterval = time.Duration(w.StatusInterval) * time.Second
		pacing.OnInterval = func(from, to time.Duration, groups [][]*pace.OutcomeTimes) {
			r.intervals = append(r.intervals, logged{from, to, groups})
		}
	}
	r.faults = o.Faults
	if o.Replace && r.Load {
		remove := w.table.Clear
		if remove == nil {
			remove = own[0].trim
		}
		if err := remove(ctx); err != nil {
			return err
		}
	}
	var c counting
	if r.Load {
		c.before, c.err = w.count(ctx, countFirst)
	}
	finish, err := w.witness(ctx, o, r)
	if err != nil {
		return err
	}
	inflicted := w.inflict(ctx, o.Faults, &pacing, r)
	kept, err := o.reporting(&pacing)
	if err != nil {
		return errors.Join(err, watch.stop(ctx, r), inflicted(ctx), finish(ctx))
	}
	still := measure.StartStandstillMeter()
	r.Result, err = pace.Run(ctx, workers, pacing)
	if r.Stopped = still.Total(); o.clock != nil {
		r.Stopped = 0 // a test's clock does not measure stops
	}
	still.Stop()
	err = errors.Join(err, kept(r.Result))
	unmeasured := watch.stop(ctx, r)
	err = errors.Join(err, inflicted(ctx), finish(ctx))
	if r.Result == nil {
		return err
	}
	if !r.Result.Hung {
		r.checked(own)
	}
	// What an overloaded run wrote can be read as after any other; an overloaded load lacks records.
	if fault := r.Err(); err == nil && ctx.Err() == nil && !r.Result.Hung &&
		(fault == nil || r.Fault != nil || !r.Load && errors.Is(fault, errOverload)) {
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
	if r.Reconnects, r.Outage = w.outages.opened, w.outages.total; r.Outage > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("connections were lost: for %s some worker had none; %d were opened anew", r.Outage.Round(time.Millisecond), r.Reconnects))
	}
	if !r.Result.Hung {
		err = errors.Join(err, r.cleanUp(own))
	}
	if silent := watch.counters(ctx, r.Server); silent != nil {
		r.Warnings = append(r.Warnings, silent.Error())
	}
	return errors.Join(err, unmeasured)
}

// threads returns the number of workers, at most one for each operation.
func (w *workload) threads(r *Report, load bool) int {
	_, work := w.Shard.split(0, w.Operations)
	if load {
		work = w.InsertCount
	}
	if work > 0 && w.Threads > work {
		r.Warnings = append(r.Warnings, fmt.Sprintf("threadcount is %d, but there is work for %d only", w.Threads, work))
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

// cleanUp closes the connections and times that, as YCSB does.
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
var ErrCannot = errors.New("the mix asks for what the table cannot do")

// errOverload means that not all operations that were due were started.
var errOverload = errors.New("more was due than was done")

// ready checks that the table is loaded, and prepares the check of scans.
func (w *workload) ready(ctx context.Context, conns []*kv.Conn, r *Report) error {
	if w.Mix[opDelete] > 0 && conns[0].Delete == nil {
		return &fault.Error{Setting: "property deleteproportion", Problem: "the engine deletes no records", Err: ErrCannot, Cure: "set it to 0"}
	}
	if w.Mix[opScan] > 0 && conns[0].Scan == nil {
		return &fault.Error{
			Setting: "property scanproportion", Problem: "tables of this layout of the engine cannot be scanned in the order of keys", Err: ErrCannot,
			Cure: "give a --layout that `barograph list engines` shows without \"no scans\", if the engine has one",
		}
	}
	if w.Mix[opReadPath] > 0 && conns[0].ReadPath == nil || w.Mix[opUpdatePath] > 0 && conns[0].UpdatePath == nil {
		return &fault.Error{Setting: "properties readpathproportion and updatepathproportion", Problem: "this layout of the engine has no documents to reach into", Err: ErrCannot, Cure: "give --layout document, on an engine that has it"}
	}
	if w.accounts != nil && conns[0].Transact == nil {
		return &fault.Error{Setting: "property transferproportion", Problem: "the table has no transactions of several records", Err: ErrCannot, Cure: "choose an engine that `barograph list engines` shows with transactions; workers that share connections (?pipeline=) have none"}
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
		r.Warnings = append(r.Warnings, fmt.Sprintf("scans of more than %d records are checked for order, bounds and their first record, not for what is left out", mostIndexed))
	}
	r.warnOfPartitions(ctx, w)
	return nil
}

// manyPartitions is the number of partitions per scan from which a run has a warning: a scan of ranges that
// fit their partitions reads one, sometimes two.
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
		r.Warnings = append(r.Warnings, fmt.Sprintf(
			"the table has %d partitions of %.3g records on average: a scan of %.3g records reads %.3g of them, each with requests of its own; a smaller prefix= in the URL makes larger partitions when the table is created",
			partitions, size, length, read))
	}
}

// tally sums how operations ended.
func (r *Report) tally(status int, kinds ...int) (n int64) {
	for _, kind := range kinds {
		if g := r.Result.Groups[kind][status]; g != nil {
			n += g.RecordCount
		}
	}
	return n
}

func (r *Report) all(status int) int64 {
	return r.tally(status, opRead, opUpdate, opInsert, opScan, opDelete, opReadPath, opUpdatePath, opTransfer, kindVerify)
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

// Response is the histogram of the times, from when it was due, of the
// operations that succeeded. In a mix with read-modify-writes and reads, their
// reads are in it, too.
func (r *Report) Response() *measure.Histogram { return r.response(r.Result.Groups) }

func (r *Report) response(groups [][]*pace.OutcomeTimes) *measure.Histogram {
	h := measure.NewHistogram()
	for kind := range ops {
		if !r.isWhole(kind) {
			continue
		}
		if g := groups[kind][statusOK]; g != nil {
			_ = h.Merge(g.Response) // both have one range
		}
	}
	return h
}

// isWhole distinguishes operations from the components of a read-modify-write and from checks.
func (r *Report) isWhole(kind int) bool {
	return kind < ops && (r.Load || r.Config.Mix[kind] > 0)
}

// Succeeded is how many of the operations, or of a load's records, did.
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

// Err returns the fault of the run, with its exit status; nil = no fault.
func (r *Report) Err() error {
	var worst error
	say := func(code int, problem, cure string, is ...error) {
		if worst == nil {
			worst = &fault.Status{Code: code, Err: &fault.Error{Problem: problem, Cure: cure, Err: errors.Join(is...)}}
		}
	}
	if wrong := r.Transfers.Problem(); wrong != "" {
		say(fault.Differs, wrong, "transactions of this engine are not atomic or not isolated at this isolation level; its speed is not comparable")
	}
	if r.Transfers != nil && r.Transfers.Undecided {
		say(fault.Incomplete, fmt.Sprintf("whether the balances are right is not known: the commits of %d transfers were not answered", r.Transfers.Unknown), "run it again with fewer threads, or more records")
	}
	if n := r.all(statusWrong); n > 0 {
		say(fault.Differs, fmt.Sprintf("%d answers are wrong", n), "see the problems listed; what is wrong has no times")
	}
	if broken := r.brokenPromises(); broken != "" {
		say(fault.Differs, broken, "see the history in the run folder")
	}
	if open := r.undecided(); open != "" {
		say(fault.Incomplete, "it is not known whether the store is correct: "+open, "run it again, for a shorter time or with fewer clients (--history)")
	}
	if n := r.all(statusError); n > 0 {
		say(fault.Incomplete, run.CountOf(int(n), "operation")+" failed"+r.outage(), "see the problems listed")
	}
	if n := r.all(statusNotFound); n > r.Config.MaxMisses {
		say(fault.Incomplete, fmt.Sprintf("%d records that must be there were not found", n), "load the table anew, or allow some by maxmisses")
	}
	if n := r.all(statusExists); n > 0 && r.Load {
		say(fault.Incomplete, fmt.Sprintf("%d records were there already, %d are new", n, r.all(statusOK)), "drop the table first (a sweep does by --replace), or go on with an unfinished load by --resume")
	} else if n > 0 {
		say(fault.Incomplete, fmt.Sprintf("%d keys to insert existed already", n), "raise recordcount to the number of records, or load the table anew")
	}
	if r.Stopped > 0 && !r.Load {
		say(fault.Incomplete, "the system stopped this process for "+r.Stopped.Round(time.Millisecond).String()+"; the times are not those of the engine", "run it again on a machine that is not suspended")
	}
	if r.Result.Hung {
		say(fault.Incomplete, "operations did not return after they were cancelled", "see whether the engine is alive")
	}
	if n := r.Result.Unstarted; n > 0 && r.Result.Ending == pace.OutOfTime {
		say(fault.Incomplete, fmt.Sprintf("overload: %d operations were due and never started%s", n, r.outage()), "lower the target, or add threads", errOverload)
	}
	if r.Result.Ending == pace.OutOfTime && r.Load {
		say(fault.Incomplete, "the load ended by maxexecutiontime before all records were in", "raise it, or go on by --resume")
	}
	if r.Result.Ending == pace.Interrupted {
		switch {
		case worst == nil:
			worst = &fault.Status{Code: fault.Interrupted, Err: context.Canceled}
		case fault.Code(worst) == fault.Incomplete: // a later fault must not replace a wrong result
			worst = &fault.Status{Code: fault.Interrupted, Err: fmt.Errorf("interrupted; %w", worst)}
		}
	}
	return worst
}
