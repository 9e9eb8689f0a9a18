package ycsb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/kv"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/results/measure/pace"
	"github.com/barograph/barograph/study/ycsb/dist"
)

// worker runs the operations of a run. Its memory is used again and again.
type worker struct {
	*workload
	conn   *kv.Conn
	rng    *rand.Rand
	latest dist.Latest

	key, want []byte
	row       kv.Row
	scan      scan
	checker

	tries    int64         // of the current operation, before this one
	again    func()        // records the failure of this attempt, if there is no further attempt
	failure  error         // of the current operation, where it is no answer
	failures int           // in a row
	failing  time.Duration // when the first of these was
}

func (w *workload) worker(conn *kv.Conn, number int) *worker {
	k := &worker{workload: w, conn: conn, latest: w.latest, rng: rand.New(rand.NewPCG(uint64(w.Seed), w.Shard.stream(number)))} //nolint:gosec // not negative
	k.scan.each = k.scanned
	k.number = uint64(number) //nolint:gosec // not negative
	return k
}

// Do runs one operation of the mix.
func (k *worker) Do(ctx context.Context, r *pace.Recorder) error {
	op, number, err := k.choose()
	for k.tries = 0; err == nil; k.tries++ {
		k.failure, k.again = nil, nil
		k.inTime(ctx, r, op, number)
		if k.failure == nil {
			k.failures = 0
			return nil
		}
		var reopened bool
		reopened, err = k.recover(ctx, r, k.failure)
		k.errors.note(k.failure, reopened)
		if again := k.again; again == nil || err != nil || r.IsStopping() {
			if again != nil {
				again()
			}
			if err == nil {
				err = k.tooMany()
			}
			return err
		}
		k.retries.Add(1)
	}
	return err
}

// tooMany counts a failed operation; its error ends the run.
func (k *worker) tooMany() error {
	if n := k.failed.Add(1); k.MaxErrors == 0 || n <= k.MaxErrors {
		return nil
	}
	return &fault.Status{Code: fault.Incomplete, Err: &fault.Error{Setting: "property maxerrors", Problem: fmt.Sprintf("more than %d operations failed", k.MaxErrors), Err: k.failure, Cure: "see the problems listed; allow more, or 0 for any number"}}
}

// done records the outcome of a component of an operation that may be repeated.
func (k *worker) done(r *pace.Recorder, kind, status int, began time.Duration) {
	switch {
	case status == statusError && k.tries < k.Retries:
		before := k.again
		k.again = func() { // there is no further attempt
			if before != nil {
				before()
			}
			r.Done(kind, status, began)
		}
	case status == statusOK && k.tries > 0:
		r.Done(kind, statusRetried, r.Began())
	default:
		r.Done(kind, status, began)
	}
}

// inTime gives an operation no more than its time.
func (k *worker) inTime(ctx context.Context, r *pace.Recorder, op int, number int64) {
	if k.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(k.Timeout*float64(time.Second)))
		defer cancel()
	}
	k.operate(ctx, r, op, number)
	if k.ended++; k.ended%rereadEvery == 0 {
		k.reread(ctx, r)
	}
}

// choose draws an operation and the number of its key; an insert takes its own.
func (k *worker) choose() (op int, number int64, err error) {
	if k.absent.count.Load()-k.lost > mostFailedInserts && k.Mix[opDelete] == 0 {
		return 0, 0, &fault.Error{Problem: fmt.Sprintf("more than %d inserts failed", mostFailedInserts), Cure: "see the errors above"}
	}
	if op = k.mix.Draw(k.rng); op != opInsert {
		number, err = k.request(op == opDelete)
	}
	return op, number, err
}

func (k *worker) operate(ctx context.Context, r *pace.Recorder, op int, number int64) {
	if op == opInsert {
		k.insert(ctx, r)
		return
	}
	k.key = k.appendKey(k.key[:0], k.keyNumber(number))
	switch op {
	case opRead:
		k.read(ctx, r, number)
	case opUpdate:
		k.update(ctx, r, number)
	case opScan:
		k.doScan(ctx, r, number)
	case opModify:
		began := r.Now()
		status := k.read(ctx, r, number)
		if status == statusOK {
			status = k.update(ctx, r, number)
		}
		k.done(r, opModify, status, began)
	case opDelete:
		k.delete(ctx, r, number)
	case opReadPath:
		k.readPath(ctx, r, number)
	case opTransfer:
		k.transfer(ctx, r, number)
	case opUpdatePath:
		k.fill(false)
		field, value := k.row.At(0)
		began := r.Now()
		e := k.note(number, began)
		err := k.conn.UpdatePath(ctx, k.key, k.paths[field], value)
		r.Done(opUpdatePath, k.status("update path", number, err), began)
		k.settle(e, r, err)
	}
}

// delete removes a record that nobody requests any more.
func (k *worker) delete(ctx context.Context, r *pace.Recorder, number int64) {
	began := r.Now()
	e := k.ledger.open(keyID(k.key), number, len(k.fields), false)
	if e != nil {
		e.remove(began)
	}
	status := k.status("delete", number, k.conn.Delete(ctx, k.key))
	r.Done(opDelete, status, began)
	if e != nil {
		e.removed(r.End(), status == statusOK)
	}
}

// readPath reads one value of a document.
func (k *worker) readPath(ctx context.Context, r *pace.Recorder, number int64) {
	field := k.rng.IntN(len(k.fields))
	k.row.Reset()
	began := r.Now()
	status := k.status("read path", number, k.conn.ReadPath(ctx, k.key, k.paths[field], &k.row))
	if status == statusOK && k.row.Len() != 1 {
		status = k.wrong("read path: not one value", func() string { return fmt.Sprintf("%s has %d at %s", k.key, k.row.Len(), k.paths[field]) })
	}
	r.Done(opReadPath, status, began)
	if status != statusOK {
		return
	}
	_, got := k.row.At(0)
	if !k.Integrity {
		k.want = append(k.want[:0], got...)
		k.row.Reset()
		k.row.Add(field, k.want) // with its own number
		k.judgeRead(r, began)
		return
	}
	began = r.Now()
	k.want = appendDerived(k.want[:0], k.key, k.fields[field], k.fieldLength(field))
	if !bytes.Equal(got, k.want) {
		status = k.wrong("verify: a value is not that of its key and field", func() string { return fmt.Sprintf("%s, %s is %.60q, not %.60q", k.key, k.fields[field], got, k.want) })
	}
	r.Done(kindVerify, status, began)
}

const (
	mostFailedInserts = 1 << 20
	mostDraws         = 100_000 // until a key is found that was not deleted
)

// request draws the number of an existing key. It marks a key that is to be deleted, so that no
// worker requests it afterward.
func (k *worker) request(remove bool) (int64, error) {
	for range mostDraws {
		last := k.sequence.last.Load() - k.gap
		number := k.draw(last)
		if number < k.InsertStart || number > last {
			continue
		}
		if number >= k.InsertStart+k.InsertCount {
			number += k.gap
		}
		if remove {
			if k.absent.mark(number) {
				return number, nil
			}
		} else if !k.absent.has(number) {
			return number, nil
		}
	}
	return 0, &fault.Error{Problem: "no record is left to request", Cure: "load more records, or lower deleteproportion"}
}

// draw draws from the loaded keys of this shard and, following them, the inserted ones up to last,
// as if there were no keys of other shards between.
func (k *worker) draw(last int64) int64 {
	switch k.Requests {
	case "zipfian":
		return k.scrambled.Draw(k.rng)
	case "zipfian-exact":
		return k.exact.Draw(k.rng)
	case "latest":
		return k.InsertStart + k.latest.Draw(k.rng, last-k.InsertStart)
	case "hotspot":
		return k.hotspot.Draw(k.rng)
	case "exponential":
		return last - k.back.Draw(k.rng)
	case "sequential":
		return k.sequential.Draw()
	}
	return k.uniform.Draw(k.rng)
}

// status names the outcome of a call and records its fault.
func (k *worker) status(what string, number int64, err error) int {
	switch {
	case err == nil:
		return statusOK
	case errors.Is(err, kv.ErrNotFound):
		if what != "delete" && k.absent.has(number) {
			return statusDeleted
		}
		k.problem(what+": a record that must be there is not found", func() string { return string(k.key) })
		return statusNotFound
	case errors.Is(err, kv.ErrExists):
		k.problem(what+": the key exists already", func() string {
			return string(k.key) + "; raise recordcount to the number of records that are there, or drop the table"
		})
		return statusExists
	}
	k.failure = err
	k.problem(what+": error: "+strings.ReplaceAll(err.Error(), string(k.key), "…"), func() string { return string(k.key) })
	return statusError
}

// wrong notes an answer that cannot be.
func (k *worker) wrong(what string, example func() string) int {
	k.problem(what, example)
	return statusWrong
}

// problem records a fault, and the number of operations before it was seen.
func (k *worker) problem(what string, example func() string) {
	if k.quiet {
		return
	}
	k.problems.after.CompareAndSwap(0, max(1, int64(k.ended*k.writers))) //nolint:gosec // few
	k.problems.note(what, example)
}

// chosen returns the requested fields.
func (k *worker) chosen() kv.Fields {
	if k.ReadAll {
		return nil
	}
	return k.single[k.rng.IntN(len(k.single))]
}

func (k *worker) read(ctx context.Context, r *pace.Recorder, number int64) int {
	f := k.chosen()
	began := r.Now()
	k.row.Reset()
	status := k.status("read", number, k.conn.Read(ctx, k.key, f, &k.row))
	if status == statusOK && !k.complete(&k.row, f) {
		status = k.wrong("read: fields are missing", func() string { return fmt.Sprintf("%s has %d", k.key, k.row.Len()) })
	}
	k.done(r, opRead, status, began)
	switch {
	case status != statusOK:
	case k.Integrity:
		began = r.Now()
		r.Done(kindVerify, k.verify(k.key, &k.row), began)
	default:
		k.judgeRead(r, began)
	}
	return status
}

func (k *worker) complete(row *kv.Row, f kv.Fields) bool {
	if f != nil {
		return row.Len() == len(f)
	}
	return row.Len() == len(k.fields)
}

// verify computes each value anew.
func (k *worker) verify(key []byte, row *kv.Row) int {
	for i := range row.Len() {
		field, got := row.At(i)
		k.want = appendDerived(k.want[:0], key, k.fields[field], k.fieldLength(field))
		if !bytes.Equal(got, k.want) {
			return k.wrong("verify: a value is not that of its key and field", func() string {
				return fmt.Sprintf("%s, %s is %.60q, not %.60q", key, k.fields[field], got, k.want)
			})
		}
	}
	return statusOK
}

// fill makes the record of k.key, or one field of it, in a version of its own.
func (k *worker) fill(all bool) {
	k.row.Reset()
	id := k.next(k.key)
	if !all {
		k.fillField(&k.row, k.key, id, k.rng.IntN(len(k.fields)))
		return
	}
	for i := range k.fields {
		k.fillField(&k.row, k.key, id, i)
	}
}

func (k *worker) fillField(row *kv.Row, key []byte, id uint64, i int) {
	if i == 0 && k.accounts != nil {
		row.SetData(strconv.AppendInt(row.Data(), k.Balance, 10))
	} else if k.Integrity {
		row.SetData(appendDerived(row.Data(), key, k.fields[i], k.fieldLength(i)))
	} else {
		row.SetData(appendValue(row.Data(), id, i, int(k.lengths(i, k.rng)), k.version))
	}
	row.End(i)
}

func (k *worker) update(ctx context.Context, r *pace.Recorder, number int64) int {
	k.fill(k.WriteAll)
	began := r.Now()
	e := k.note(number, began)
	err := k.conn.Update(ctx, k.key, &k.row)
	status := k.status("update", number, err)
	k.done(r, opUpdate, status, began)
	k.settle(e, r, err)
	return status
}

// insert adds a record after the last one. A key whose insert failed is never requested; a key that
// was taken exists.
func (k *worker) insert(ctx context.Context, r *pace.Recorder) {
	number := k.sequence.take()
	k.key = k.appendKey(k.key[:0], k.keyNumber(number))
	k.fill(true)
	began := r.Now()
	e := k.ledger.open(k.id, number, len(k.fields), true)
	if e != nil && !k.Integrity {
		e.begin(k.row.Fields(), k.version, began)
	}
	err := k.conn.Insert(ctx, k.key, &k.row)
	status := k.status("insert", number, err)
	r.Done(opInsert, status, began)
	if e != nil {
		if !k.Integrity {
			k.settle(e, r, err)
		}
		e.insert(r.End(), status == statusOK)
	}
	if status != statusOK && status != statusExists {
		k.absent.mark(number)
	}
	k.sequence.settled(number)
}

// loader inserts the records of a load.
type loader struct {
	*worker
	keys   []byte
	rows   []kv.Row
	batch  []kv.KeyRow
	resume bool

	replace bool // an existing record is written again
	taken   bool // with replace: the last record that was written by itself existed
}

// Do inserts the next records: one, or a batch.
func (l *loader) Do(ctx context.Context, r *pace.Recorder) error {
	size := l.Batch
	if l.conn.InsertMany == nil {
		size = 1
	}
	end := l.loaded.Add(size)
	first, end := end-size, min(end, l.InsertCount)
	if first >= end {
		return pace.ErrDone
	}
	first, end = first+l.InsertStart, end+l.InsertStart
	l.ended += uint64(end - first) //nolint:gosec // not negative
	unsure := false
	if end-first > 1 {
		began := r.Now()
		err := l.many(ctx, first, end)
		if err == nil {
			l.failures = 0
			r.DoneMany(opInsert, statusOK, began, int(end-first))
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		} // one at a time, to find which one
		if unanswered(err) {
			l.key = l.appendKey(l.key[:0], first)
			if unsure, err = l.recover(ctx, r, err); err != nil {
				return err
			}
		}
	}
	for number := first; number < end; number++ {
		if err := l.one(ctx, r, number, unsure); err != nil {
			return err
		}
	}
	return nil
}

// mostGaps is the number of consecutive missing keys after which the search ends.
const mostGaps = 100

// trim removes what earlier runs inserted behind the records of a load.
func (k *worker) trim(ctx context.Context) error {
	if k.conn.Delete == nil {
		return nil
	}
	for number, gaps := k.Records, 0; gaps < mostGaps; number++ {
		k.key = k.appendKey(k.key[:0], number)
		switch err := k.conn.Delete(ctx, k.key); {
		case errors.Is(err, kv.ErrNotFound):
			gaps++
		case err != nil:
			return fmt.Errorf("remove %s: %w", k.key, err)
		default:
			gaps = 0
		}
	}
	return nil
}

func (l *loader) many(ctx context.Context, first, end int64) error {
	for int64(len(l.rows)) < end-first {
		l.rows = append(l.rows, kv.Row{})
	}
	l.keys, l.batch = l.keys[:0], l.batch[:0]
	for n := first; n < end; n++ {
		row, begin := &l.rows[n-first], len(l.keys)
		row.Reset()
		l.keys = l.appendKey(l.keys, n)
		key := l.keys[begin:len(l.keys):len(l.keys)]
		id := keyID(key)
		for i := range l.fields {
			l.fillField(row, key, id, i)
		}
		l.batch = append(l.batch, kv.KeyRow{Key: key, Row: row})
	}
	return l.conn.InsertMany(ctx, l.batch)
}

// put inserts l.row. If the load replaces records, put replaces an existing one, and first tries what the record before
// needed. A run of existing records thus costs one statement each. taken reports an existing record.
func (l *loader) put(ctx context.Context) (taken bool, err error) {
	if taken = l.taken; !taken {
		err = l.conn.Insert(ctx, l.key, &l.row)
		taken = errors.Is(err, kv.ErrExists)
	}
	if l.taken = taken && l.replace; !l.taken {
		return taken, err
	}
	if err = l.conn.Update(ctx, l.key, &l.row); errors.Is(err, kv.ErrNotFound) {
		l.taken = false
		err = l.conn.Insert(ctx, l.key, &l.row)
		taken = errors.Is(err, kv.ErrExists)
	}
	return taken, err
}

// one inserts one record, and repeats the insert after a failure, never after success. If the key
// is taken at a later attempt, an earlier one wrote it; unsure means that there may have been one.
// An attempt whose connection was lost does not count toward RetryLimit.
func (l *loader) one(ctx context.Context, r *pace.Recorder, number int64, unsure bool) error {
	l.key = l.appendKey(l.key[:0], number)
	l.fill(true)
	began := r.Now()
	for tries := int64(0); ; tries++ {
		taken, err := l.put(ctx)
		if taken && l.resume && !unsure {
			l.failures = 0
			l.skipped.Add(1)
			r.Skip()
			return nil
		}
		if taken && (l.replace && err == nil || l.resume) {
			l.existing.Add(1)
			if unsure {
				l.ambiguous.Add(1) // by an earlier load, or by the try before this one
			}
		}
		taken = taken && !l.replace
		if taken && (unsure || l.resume) {
			err = nil
		}
		if err == nil {
			l.failures = 0
		} else if !taken && ctx.Err() == nil {
			unsure = true
			reopened, failed := l.recover(ctx, r, err)
			if failed != nil {
				return failed
			}
			if reopened {
				tries--
				continue
			}
		}
		if err == nil || taken || tries == l.RetryLimit || ctx.Err() != nil {
			status := l.status("insert", number, err)
			r.Done(opInsert, status, began)
			if status == statusError && !l.KeepGoing {
				return fmt.Errorf("insert %s, try %d: %w", l.key, tries+1, err)
			}
			return nil
		}
		wait := time.Duration(l.RetryInterval * (0.8 + 0.4*l.rng.Float64()) * float64(time.Second))
		_ = engine.Pause(ctx, wait) // the next try sees the end
	}
}
