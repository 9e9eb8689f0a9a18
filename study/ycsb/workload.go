package ycsb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dustin/go-humanize/english"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/kv"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/results/measure/pace"
	"github.com/barograph/barograph/results/run"
	"github.com/barograph/barograph/study/ycsb/dist"
)

// The outcomes of operations. The first is success. Those from statusDeleted on are no failures
// either.
const (
	statusOK = iota
	statusNotFound
	statusExists
	statusError
	statusWrong
	statusDeleted // another worker deleted the requested record during the operation
	statusRetried // a repeated attempt succeeded
)

func kinds() []string {
	return []string{
		"READ", "UPDATE", "INSERT", "SCAN", "READ-MODIFY-WRITE", "DELETE", "READ-PATH", "UPDATE-PATH", "TRANSFER", "VERIFY",
	}
}

func statuses() []string {
	return []string{"OK", "NOT_FOUND", "ALREADY_EXISTS", "ERROR", "UNEXPECTED_STATE", "DELETED_MEANWHILE", "RETRIED"}
}

// workload is what the workers of one run share.
type workload struct {
	*Config
	fields       []string
	table        *kv.Records
	sequence     *sequence
	absent       *absent
	absentBefore int64     // number of keys in absent before the run
	present      *existing // nil = scans are not checked for missing records
	problems     Problems
	gap          int64        // number of keys between the last requested loaded key and the first inserted key
	loaded       atomic.Int64 // numbers that a load has assigned to its workers, from InsertStart; 0 in a run
	outages      outages
	errors       errorCounts
	retries      atomic.Int64
	failed       atomic.Int64 // failed operations, also those of the warm-up
	accounts     *accounts    // nil = no transfers

	ledger    *ledger      // the writes of a run; nil during a load
	nonce     uint64       // distinguishes the versions of this run; 0 during a load
	writers   uint64       // number of workers
	marked    bool         // every value of the table that can have a stamp has one
	fresh     bool         // a load has just written every value
	lenient   bool         // the engine's setting allows reads of older values
	excused   atomic.Bool  // a fault has happened after which the server may lose acknowledged writes
	skipped   atomic.Int64 // records that a resumed load found, and neither wrote nor timed
	replaced  atomic.Int64 // existing records that a load overwrote, plus ambiguous
	ambiguous atomic.Int64 // records that an earlier attempt of the load may have written

	mix        dist.Choice
	scrambled  dist.Scrambled
	exact      dist.ExactZipf
	uniform    dist.Uniform
	sequential dist.Sequential
	hotspot    dist.Hotspot
	distance   dist.Exponential
	latest     dist.Latest // each worker copies it, because drawing changes it
	lengths    func(field int, rng *rand.Rand) int64
	scanLength func(rng *rand.Rand) int64
	single     []kv.Fields // by field: only this field
	paths      []string    // by field: its path in a document
}

func newWorkload(c *Config, table *kv.Records) (*workload, error) {
	w := &workload{
		Config: c, fields: c.TableSpec("").Fields, table: table, sequence: newSequence(c.Records),
		absent: &absent{}, writers: uint64(c.Threads), //nolint:gosec // not negative
	}
	w.mix = dist.NewChoice(c.Mix[:]...)
	first, last := c.InsertStart, c.InsertStart+c.InsertCount-1
	w.gap = c.Records - last - 1
	w.uniform = dist.Uniform{Least: first, Most: last}
	switch c.Requests {
	case "zipfian":
		// As in YCSB, the distribution covers twice the expected inserts, so that the same keys
		// stay popular while the table grows.
		expected := int64(min(float64(c.Operations)*c.Mix[opInsert]*2, mostKeys))
		w.scrambled = dist.NewScrambled(first, last+1+expected, c.Theta)
	case "zipfian-exact":
		w.exact = dist.NewExactZipf(first, c.InsertCount, c.Theta)
	case "sequential":
		w.sequential.Least, w.sequential.Most = first, last
	case "hotspot":
		w.hotspot = dist.NewHotspot(first, last, c.HotData, c.HotOps)
	case "exponential":
		w.distance = dist.NewExponential(c.ExpPercentile, float64(c.InsertCount)*c.ExpFraction)
	case "latest":
		w.latest = dist.NewLatest(c.InsertCount-1, c.Theta)
	}
	w.scanLength = dist.Uniform{Least: c.MinScan, Most: c.MaxScan}.Draw
	if c.ScanLengths == "zipfian" {
		z := dist.NewZipf(c.MinScan, c.MaxScan-c.MinScan+1, dist.Theta)
		w.scanLength = z.Draw
	}
	for i := range w.fields {
		w.single = append(w.single, kv.Fields{i})
		w.paths = append(w.paths, "$."+w.fields[i])
	}
	var err error
	w.lengths, err = c.fieldLengths()
	if c.Transfers() {
		w.accounts = &accounts{}
	}
	return w, err
}

// fieldLength is the length of a field's values if all have one length.
func (c *Config) fieldLength(field int) int64 {
	if c.EachLength != nil {
		return c.EachLength[field]
	}
	return c.FieldLength
}

// fieldLengths returns the function that draws the length of a value.
func (c *Config) fieldLengths() (func(field int, rng *rand.Rand) int64, error) {
	anyField := func(draw func(rng *rand.Rand) int64) func(int, *rand.Rand) int64 {
		return func(_ int, rng *rand.Rand) int64 { return draw(rng) }
	}
	switch c.FieldLengths {
	case "uniform":
		return anyField(dist.Uniform{Least: c.MinFieldLength, Most: c.FieldLength}.Draw), nil
	case "zipfian":
		z := dist.NewZipf(c.MinFieldLength, c.FieldLength-c.MinFieldLength+1, dist.Theta)
		return anyField(z.Draw), nil
	case "histogram":
		b, err := readHistogram(c.FieldHistogram)
		return anyField(b.Draw), err
	}
	return func(field int, _ *rand.Rand) int64 { return c.fieldLength(field) }, nil
}

// readHistogram reads "BlockSize\tN", then lines of a bucket and its count.
func readHistogram(file string) (*dist.Buckets, error) {
	bad := func(line int, err error) error {
		const cure = "write BlockSize, a tab and a number, then lines of a bucket, a tab and its count"
		return &fault.Error{File: file, Line: line, Problem: "is no histogram of lengths", Err: err, Cure: cure}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, bad(0, err)
	}
	var size int64
	var counts []int64
	total := int64(0)
	for i, line := range bytes.Split(bytes.TrimSpace(text), []byte("\n")) {
		name, value, _ := strings.Cut(strings.TrimSpace(string(line)), "\t")
		n, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64)
		if err != nil || n < 0 {
			return nil, bad(i+1, nil)
		}
		if i == 0 {
			if size = n; name != "BlockSize" || n < 1 || n > mostLength {
				return nil, bad(1, nil)
			}
			continue
		}
		bucket, err := strconv.Atoi(name)
		if err != nil || bucket < 0 || bucket > 1<<20 || size*int64(bucket+1) > mostLength || n > mostKeys-total {
			return nil, bad(i+1, nil)
		}
		for len(counts) <= bucket {
			counts = append(counts, 0)
		}
		if counts[bucket] > 0 {
			return nil, bad(i+1, errors.New("the bucket is given twice"))
		}
		counts[bucket] = n
		total += n
	}
	if total < 1 {
		return nil, bad(0, errors.New("it counts nothing"))
	}
	b := dist.NewBuckets(size, counts)
	return &b, nil
}

// pacing returns the options of the loop that runs the operations.
func (w *workload) pacing(o *Options) pace.Options {
	_, operations := w.Shard.split(0, w.Operations)
	return pace.Options{
		Kinds: kinds(), Statuses: statuses(), FirstHarmless: statusDeleted,
		Rate: w.Target / float64(max(w.Shard.Of, 1)), Phases: w.phases(), Arrivals: pace.Arrivals(w.Arrivals),
		Operations: operations, Warmup: time.Duration(w.Warmup) * time.Second,
		MaxDuration: time.Duration(w.Seconds) * time.Second,
		Seed:        uint64(w.Seed + w.Shard.Index), //nolint:gosec // not negative
		BusyWait:    w.Spin, ReportInterval: o.Interval, OnProgress: o.Watch, Grace: o.Grace, Clock: o.clock,
	}
}

// look lets workers read n records that must exist, each once: the first, the last and one of each
// range between them. found counts those with every field and with correct values.
func (w *workload) look(ctx context.Context, all []*worker, n int64) (found, wrong int64, missing []string, err error) {
	rng := rand.New(rand.NewPCG(uint64(w.Seed), math.MaxUint64)) //nolint:gosec // not negative
	numbers := make([]int64, min(n, w.InsertCount))
	for i := range numbers {
		parts := Shard{Index: int64(i), Of: int64(len(numbers))}
		first, size := parts.split(w.InsertStart, w.InsertCount)
		numbers[i] = first + rng.Int64N(size)
	}
	numbers[0], numbers[len(numbers)-1] = w.InsertStart, w.InsertStart+w.InsertCount-1
	var mu sync.Mutex
	err = readAll(ctx, all, int64(len(numbers)), func(ctx context.Context, k *worker, i int64) error {
		if k.absent.has(numbers[i]) {
			return nil
		}
		k.row.Reset()
		k.key = k.appendKey(k.key[:0], numbers[i])
		err := k.conn.Read(ctx, k.key, nil, &k.row)
		status := statusOK
		if err == nil {
			status = k.judgeAll(&k.row)
		}
		if err == nil && status == statusOK && w.loaded.Load() > 0 { // after a load; after a run readLast does it
			status, err = k.isOnce(ctx)
		}
		mu.Lock()
		defer mu.Unlock()
		switch {
		case errors.Is(err, kv.ErrNotFound):
			missing = append(missing, string(k.key))
		case err != nil:
			return err
		case status != statusOK:
			wrong++
		default:
			found++
		}
		return nil
	})
	return found, wrong, missing, err
}

// judgeAll checks every byte of a record while no worker writes.
func (k *worker) judgeAll(row *kv.Row) int {
	k.deep = true
	defer func() { k.deep = false }()
	switch {
	case !k.complete(row, nil):
		return k.wrong("read back: fields are missing", func() string { return fmt.Sprintf("%s has %d", k.key, row.Len()) })
	case k.Integrity:
		return k.verify(k.key, row)
	}
	return k.judge("read back", k.key, row, never)
}

// isOnce scans from the existing record of k.key: the scan must return that record, and no second one
// with its key.
func (k *worker) isOnce(ctx context.Context) (status int, err error) {
	if k.conn.Scan == nil {
		return statusOK, nil
	}
	const problem = "scan: an existing record comes twice, or not at all"
	n := 0
	err = k.conn.Scan(ctx, k.key, 2, nil, func(key []byte, _ *kv.Row) error {
		if order := bytes.Compare(key, k.key); n == 0 && order != 0 || n > 0 && order <= 0 {
			status = k.wrong(problem, func() string { return fmt.Sprintf("from %s: %s", k.key, key) })
		}
		n++
		return nil
	})
	if err == nil && n == 0 {
		status = k.wrong(problem, func() string { return fmt.Sprintf("from %s: no record", k.key) })
	}
	return status, err
}

const (
	probed    = 64   // records that are read before and after a run
	lookShare = 1000 // after a load one of 1000 records is read, and at least leastRead
)

// probe reads some records before a run. If the load was interrupted, or loaded other keys, every
// request would be a miss. It also finds out whether the values have stamps.
func (w *workload) probe(ctx context.Context, c *kv.Conn) error {
	k := w.worker(c, 0)
	found, wrong, missing, err := w.look(ctx, []*worker{k}, probed)
	if err != nil {
		return err
	}
	w.problems.kinds = nil // the run itself reports wrong values
	w.problems.after.Store(0)
	w.marked = k.checks.unmarked == 0 && (k.checks.stamped > 0 || wrong > 0) && !w.Integrity
	switch {
	case len(missing) > 0:
		const problem = "load incomplete: of %s looked for, %s missing, such as %s"
		const cure = "load recordcount=%d with the same insertorder and zeropadding, or give the recordcount, or the " +
			"insertstart and insertcount, that were loaded"
		return &fault.Status{Code: fault.Incomplete, Err: &fault.Error{
			Setting: "table " + w.Table, Cure: fmt.Sprintf(cure, w.Records),
			Problem: fmt.Sprintf(problem, run.CountOf(found+wrong+int64(len(missing)), "record"),
				english.Plural(len(missing), "is", "are"), missing[0]),
		}}
	case w.Integrity && found == 0:
		const problem = "none of %s has the values of dataintegrity (--verify): the table was loaded without it, " +
			"or with other fieldlength, or the engine changes values"
		const cure = "load the table with --verify and the same field lengths, or run without --verify: " +
			"Barograph then checks values by their stamps"
		return &fault.Status{Code: fault.Differs, Err: &fault.Error{
			Setting: "table " + w.Table, Problem: fmt.Sprintf(problem, run.CountOf(wrong, "record")), Cure: cure,
		}}
	}
	return nil
}

// mostReopens is the number of attempts of each worker to reopen its connection for the read-back.
const mostReopens = 20

// readBack reads records after a load or a run, if isReadable allows it: an acknowledgement does
// not prove that the engine has stored the record.
func (r *Report) readBack(ctx context.Context, w *workload, all []*worker, c counting) error {
	if r.Fault != nil { // the last operations may have lost their connections
		for _, k := range all {
			attempts := 0
			k.conn, _ = k.table.Reopen(ctx, k.conn, k.key, func() bool {
				attempts++
				return attempts < mostReopens && engine.Pause(ctx, kv.BackOff(attempts, k.rng)) == nil
			})
		}
	}
	n := int64(probed)
	if r.Load {
		n = min(w.InsertCount, max(leastRead, w.InsertCount/lookShare))
		foundSome := r.Resume && w.skipped.Load()+w.replaced.Load() > 0 // another program may have written these
		w.marked, w.fresh = !w.Integrity && !foundSome, !r.Resume
	}
	found, wrong, missing, err := w.look(ctx, all, n)
	r.back = answer.Tally{Found: found, Wrong: wrong, Missing: int64(len(missing))}
	for _, key := range missing {
		w.problems.after.CompareAndSwap(0, r.Operations())
		w.problems.note("read back: a record that must be there is not found", func() string { return key })
	}
	if err == nil && r.Load {
		r.recount(ctx, w, c)
	} else if err == nil {
		err = r.readLedger(ctx, all)
	}
	if err != nil {
		return fmt.Errorf("read back: %w", err)
	}
	return nil
}

// wrongBack returns the problem of the records that were read back, or nil.
func (r *Report) wrongBack() error {
	switch {
	case r.back.Wrong > 0:
		return &fault.Status{Code: fault.Differs, Err: &fault.Error{
			Problem: english.Plural(int(r.back.Wrong), "wrong record was", "wrong records were") +
				" read back or counted after the end",
			Cure: "see the problems listed: the engine lost or changed acknowledged records, or another client writes the " +
				"same table",
		}}
	case r.back.Missing > r.Config.MaxMisses:
		return &fault.Status{Code: fault.Incomplete, Err: &fault.Error{
			Problem: english.Plural(int(r.back.Missing), "acknowledged record is", "acknowledged records are") + " missing",
			Cure: "see the problems listed: the engine lost acknowledged records, or another client deletes in the same " +
				"table",
		}}
	}
	return nil
}

// Problems counts problems by kind, with the first example of each kind.
type Problems struct {
	after atomic.Int64 // approximate number of operations before the first problem; 0 = no problem

	mu    sync.Mutex
	kinds []run.ProblemCount
}

// A run distinguishes mostProblems kinds of problems; the last kind is otherProblems.
const (
	mostProblems  = 20
	otherProblems = "problems of further kinds"
)

// note counts a problem. It calls example for the first problem of a kind.
func (p *Problems) note(kind string, example func() string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := p.index(kind)
	if i < 0 && len(p.kinds) >= mostProblems-1 {
		kind = otherProblems
		i = p.index(kind)
	}
	if i < 0 {
		p.kinds = append(p.kinds, run.ProblemCount{Kind: kind, Count: 1, Example: example()})
		return
	}
	p.kinds[i].Count++
}

func (p *Problems) index(kind string) int {
	return slices.IndexFunc(p.kinds, func(c run.ProblemCount) bool { return c.Kind == kind })
}

func (p *Problems) list() []run.ProblemCount {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.kinds)
}
