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

	"github.com/barograph/barograph/engine/kv"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/results/measure/pace"
	"github.com/barograph/barograph/results/run"
	"github.com/barograph/barograph/study/ycsb/dist"
)

// The outcomes of operations. The first is success. Those from deleted on are no failures either:
// another worker had deleted the requested record during the operation.
const (
	statusOK = iota
	statusNotFound
	statusExists
	statusError
	statusWrong
	statusDeleted
	statusRetried // it succeeded, at a further try
)

func kinds() []string {
	return []string{"READ", "UPDATE", "INSERT", "SCAN", "READ-MODIFY-WRITE", "DELETE", "READ-PATH", "UPDATE-PATH", "TRANSFER", "VERIFY"}
}

func statuses() []string {
	return []string{"OK", "NOT_FOUND", "ALREADY_EXISTS", "ERROR", "UNEXPECTED_STATE", "DELETED_MEANWHILE", "RETRIED"}
}

// workload is what the workers of one run share.
type workload struct {
	*Config
	fields   []string
	table    *kv.Records
	sequence *sequence
	absent   *absent
	lost     int64     // keys that absent had before the run
	present  *existing // nil = scans are not checked against it
	problems Problems
	gap      int64        // keys between the loaded ones of this shard and the inserted ones: the shards of other clients
	loaded   atomic.Int64 // numbers given out by a load, from InsertStart
	outages  outages
	errors   errorCounts
	retries  atomic.Int64
	failed   atomic.Int64 // operations, those of the warm-up too
	accounts *accounts    // nil = no transfers

	ledger    *ledger      // of a run's writes; nil = of a load
	nonce     uint64       // of the versions of a run; 0 = of a load
	writers   uint64       // workers
	marked    bool         // every value of the table that can have a stamp has one
	fresh     bool         // every value is the one that a load wrote
	lenient   bool         // the engine's setting allows reads of older values
	excused   atomic.Bool  // after a fault nothing is promised of what was acknowledged
	skipped   atomic.Int64 // records that a resumed load found, and neither wrote nor timed
	existing  atomic.Int64 // records that a load replaced, or that an earlier attempt of it may have written
	ambiguous atomic.Int64 // the latter

	mix        dist.Choice
	scrambled  dist.Scrambled
	exact      dist.Exact
	uniform    dist.Uniform
	sequential dist.Sequential
	hotspot    dist.Hotspot
	back       dist.Exponential
	latest     dist.Latest // to be copied: it grows
	lengths    func(field int, rng *rand.Rand) int64
	scanLength func(rng *rand.Rand) int64
	single     []kv.Fields // each field by itself
	paths      []string    // of each field in a document
}

func newWorkload(c *Config, table *kv.Records) (*workload, error) {
	w := &workload{Config: c, fields: c.TableSpec("").Fields, table: table, sequence: newSequence(c.Records), absent: &absent{}, writers: uint64(c.Threads)} //nolint:gosec // not negative
	w.mix = dist.NewChoice(c.Mix[:]...)
	first, last := c.InsertStart, c.InsertStart+c.InsertCount-1
	w.gap = c.Records - last - 1
	w.uniform = dist.Uniform{Least: first, Most: last}
	switch c.Requests {
	case "zipfian":
		// Room for twice the inserts that are expected, so that popular keys stay
		// what they are while the table grows.
		expected := int64(float64(c.Operations) * c.Mix[opInsert] * 2)
		w.scrambled = dist.NewScrambled(first, last+1+expected, c.Theta)
	case "zipfian-exact":
		w.exact = dist.NewExact(first, c.InsertCount, c.Theta)
	case "sequential":
		w.sequential.Least, w.sequential.Most = first, last
	case "hotspot":
		w.hotspot = dist.NewHotspot(first, last, c.HotData, c.HotOps)
	case "exponential":
		w.back = dist.NewExponential(c.ExpPercentile, float64(c.InsertCount)*c.ExpFraction)
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
		w.accounts = &accounts{moved: make([]atomic.Int64, c.InsertCount)}
	}
	return w, err
}

// fieldLength is how long a field's values are, where lengths are not drawn.
func (c *Config) fieldLength(field int) int64 {
	if c.EachLength != nil {
		return c.EachLength[field]
	}
	return c.FieldLength
}

// fieldLengths draws the lengths of values.
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
		return &fault.Error{File: file, Line: line, Problem: "is no histogram of lengths", Err: err, Cure: "write BlockSize, a tab and a number, then lines of a bucket, a tab and its count"}
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
			return nil, bad(i+1, err)
		}
		if i == 0 {
			if size = n; name != "BlockSize" || n < 1 {
				return nil, bad(1, nil)
			}
			continue
		}
		bucket, err := strconv.Atoi(name)
		if err != nil || bucket < 0 || bucket > 1<<20 {
			return nil, bad(i+1, err)
		}
		for len(counts) <= bucket {
			counts = append(counts, 0)
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

// pacing are the options of the loop.
func (w *workload) pacing(o *Options) pace.Options {
	_, operations := w.Shard.split(0, w.Operations)
	return pace.Options{
		Kinds: kinds(), Statuses: statuses(), FirstHarmless: statusDeleted, Rate: w.Target / float64(max(w.Shard.Of, 1)), Arrivals: pace.Arrivals(w.Arrivals), Operations: operations,
		Warmup: time.Duration(w.Warmup) * time.Second, MaxDuration: time.Duration(w.Seconds) * time.Second, Seed: uint64(w.Seed + w.Shard.Index), //nolint:gosec // not negative
		Phases: w.phases(), BusyWait: w.Spin, ReportInterval: o.Interval, OnProgress: o.Watch, Grace: o.Grace, Clock: o.clock,
	}
}

// look lets workers read n records that must exist, each once: the first, the last and one of each
// range between them. found counts those with every field and with their own values.
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
		if err == nil && status == statusOK && n > probed {
			status, err = k.twice(ctx)
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

// judgeAll judges every byte of a record that is read while nobody writes.
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

// twice scans from an existing record; no second record may have its key.
func (k *worker) twice(ctx context.Context) (status int, err error) {
	if k.conn.Scan == nil {
		return statusOK, nil
	}
	n := 0
	err = k.conn.Scan(ctx, k.key, 2, nil, func(key []byte, _ *kv.Row) error {
		if order := bytes.Compare(key, k.key); n == 0 && order != 0 || n > 0 && order <= 0 {
			status = k.wrong("scan: a record is there twice, or left out", func() string { return fmt.Sprintf("from %s: %s", k.key, key) })
		}
		n++
		return nil
	})
	return status, err
}

const (
	probed    = 64   // records, before a run
	lookShare = 1000 // after a load one of so many is read, at least leastRead
)

// probe looks before a run: of a load that was cut off, or that is another's,
// every request would be a miss. It finds out whether the values have stamps.
func (w *workload) probe(ctx context.Context, c *kv.Conn) error {
	k := w.worker(c, 0)
	found, wrong, missing, err := w.look(ctx, []*worker{k}, probed)
	if err != nil {
		return err
	}
	w.problems.kinds = nil // the run finds the faults
	w.problems.after.Store(0)
	w.marked = k.seen.unmarked == 0 && (k.seen.stamped > 0 || wrong > 0) && !w.Integrity
	switch {
	case len(missing) > 0:
		return &fault.Status{Code: fault.Incomplete, Err: &fault.Error{
			Setting: "table " + w.Table, Problem: fmt.Sprintf("load incomplete: of %d records looked for %d are missing, such as %s", found+wrong+int64(len(missing)), len(missing), missing[0]),
			Cure: fmt.Sprintf("load recordcount=%d with the same insertorder and zeropadding, or give the recordcount, or the insertstart and insertcount, that were loaded", w.Records),
		}}
	case w.Integrity && found == 0:
		return &fault.Status{Code: fault.Differs, Err: &fault.Error{
			Setting: "table " + w.Table, Problem: fmt.Sprintf("none of %d records has the values of dataintegrity (--verify): the table was loaded without it, or with other fieldlength, or the engine changes values", wrong),
			Cure: "load the table with --verify and the same field lengths, or run without --verify: values are checked by their stamps then",
		}}
	}
	return nil
}

// readBack looks after a load or a run that was right so far: writes are the
// engine's word until they are read.
func (r *Report) readBack(ctx context.Context, w *workload, all []*worker, c counting) error {
	if r.Fault != nil { // connections may have been lost by the last operations
		for _, k := range all {
			tries := 0
			k.conn, _ = k.table.Reopen(ctx, k.conn, k.key, func() bool {
				tries++
				time.Sleep(kv.BackOff(tries, k.rng))
				return tries < 20
			})
		}
	}
	n := int64(probed)
	if r.Load {
		n, w.marked, w.fresh = min(w.InsertCount, max(leastRead, w.InsertCount/lookShare)), !w.Integrity && (!r.Resume || w.skipped.Load()+w.existing.Load() == 0), !r.Resume // existing records may be another program's
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

// wrongBack returns the fault of the records that were read back, or nil.
func (r *Report) wrongBack() error {
	switch {
	case r.back.Wrong > 0:
		return &fault.Status{Code: fault.Differs, Err: &fault.Error{Problem: fmt.Sprintf("%d records are wrong that were read back or counted after the end", r.back.Wrong), Cure: "see the problems listed: the engine lost or changed what it acknowledged, or another client writes the same table"}}
	case r.back.Missing > r.Config.MaxMisses:
		return &fault.Status{Code: fault.Incomplete, Err: &fault.Error{Problem: fmt.Sprintf("%d records are missing that were acknowledged", r.back.Missing), Cure: "see the problems listed: the engine lost what it acknowledged, or another client deletes in the same table"}}
	}
	return nil
}

// Problems counts what went wrong, by what it was, with the first example of each.
type Problems struct {
	after atomic.Int64 // about how many operations the first was seen

	mu    sync.Mutex
	kinds []run.ProblemCount
}

const mostProblems = 20 // that are distinguished

// note counts a problem; example is called for the first of its kind.
func (p *Problems) note(what string, example func() string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range p.kinds {
		if p.kinds[i].Kind == what || len(p.kinds) == mostProblems && i == mostProblems-1 {
			p.kinds[i].Count++
			return
		}
	}
	p.kinds = append(p.kinds, run.ProblemCount{Kind: what, Count: 1, Example: example()})
}

func (p *Problems) list() []run.ProblemCount {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.kinds)
}
