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
	"github.com/barograph/barograph/results/run"
	"github.com/barograph/barograph/study/ycsb/dist"
)

// worker runs the operations of a run. It reuses its buffers for every operation.
type worker struct {
	*workload
	conn   *kv.Conn
	rng    *rand.Rand
	latest dist.Latest

	key, want []byte
	row       kv.Row
	scan      scan
	checker

	tries         int64         // attempts of the current operation before this one
	recordFailure func()        // records the failure of this attempt; called unless another attempt follows
	failure       error         // of the current operation, if the engine did not answer
	failures      int           // consecutive ones
	failing       time.Duration // time of the first of these
}

func (w *workload) worker(conn *kv.Conn, number int) *worker {
	rng := rand.New(rand.NewPCG(uint64(w.Seed), w.Shard.stream(number))) //nolint:gosec // not negative
	k := &worker{workload: w, conn: conn, latest: w.latest, rng: rng}
	k.scan.each = k.scanned
	k.number = uint64(number) //nolint:gosec // not negative
	return k
}

// Do runs one operation of the mix.
func (k *worker) Do(ctx context.Context, r *pace.Recorder) error {
	op, number, err := k.choose()
	for k.tries = 0; err == nil; k.tries++ {
		k.failure, k.recordFailure = nil, nil
		k.attempt(ctx, r, op, number)
		if k.failure == nil {
			k.failures = 0
			return nil
		}
		var reopened bool
		reopened, err = k.recover(ctx, r, k.failure)
		k.errors.note(k.failure, reopened)
		if record := k.recordFailure; record == nil || err != nil || r.IsStopping() {
			if record != nil {
				record()
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

// tooMany counts a failed operation. It returns an error, which ends the run, if more operations failed than maxerrors.
func (k *worker) tooMany() error {
	if n := k.failed.Add(1); k.MaxErrors == 0 || n <= k.MaxErrors {
		return nil
	}
	return &fault.Status{Code: fault.Incomplete, Err: &fault.Error{
		Setting: "property maxerrors", Problem: "more than " + run.CountOf(k.MaxErrors, "operation") + " failed",
		Err: k.failure, Cure: "see the problems listed; allow more, or 0 for any number",
	}}
}

// done records the outcome of a component of an operation that may be repeated.
func (k *worker) done(r *pace.Recorder, kind, status int, began time.Duration) {
	switch {
	case status == statusError && k.tries < k.Retries:
		recordEarlier := k.recordFailure // of an earlier component
		k.recordFailure = func() {
			if recordEarlier != nil {
				recordEarlier()
			}
			r.Done(kind, status, began)
		}
	case status == statusOK && k.tries > 0:
		r.Done(kind, statusRetried, r.Began())
	default:
		r.Done(kind, status, began)
	}
}

// attempt makes one attempt of an operation, within the timeout. After every rereadEvery-th one it also rereads a key
// of the ledger.
func (k *worker) attempt(ctx context.Context, r *pace.Recorder, op int, number int64) {
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
	if k.absent.count.Load()-k.absentBefore > mostFailedInserts && k.Mix[opDelete] == 0 {
		problem := fmt.Sprintf("more than %d inserts failed", mostFailedInserts)
		return 0, 0, &fault.Error{Problem: problem, Cure: "see the problems listed"}
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
		e := k.beginWrite(number, began)
		err := k.conn.UpdatePath(ctx, k.key, k.paths[field], value)
		r.Done(opUpdatePath, k.status("update path", number, err), began)
		k.endWrite(e, r, err)
	}
}

// delete removes a record, which request has marked: no worker requests it any more.
func (k *worker) delete(ctx context.Context, r *pace.Recorder, number int64) {
	began := r.Now()
	e := k.ledger.open(keyID(k.key), number, len(k.fields), false)
	if e != nil {
		e.beginDelete(began)
	}
	status := k.status("delete", number, k.conn.Delete(ctx, k.key))
	r.Done(opDelete, status, began)
	if e != nil {
		e.settleDelete(r.End(), status == statusOK)
	}
}

// readPath reads one value of a document.
func (k *worker) readPath(ctx context.Context, r *pace.Recorder, number int64) {
	field := k.rng.IntN(len(k.fields))
	k.row.Reset()
	began := r.Now()
	status := k.status("read path", number, k.conn.ReadPath(ctx, k.key, k.paths[field], &k.row))
	if status == statusOK && k.row.Len() != 1 {
		status = k.wrong("read path: not one value", func() string {
			return fmt.Sprintf("%s has %d at %s", k.key, k.row.Len(), k.paths[field])
		})
	}
	r.Done(opReadPath, status, began)
	if status != statusOK {
		return
	}
	_, got := k.row.At(0)
	if !k.Integrity {
		k.want = append(k.want[:0], got...)
		k.row.Reset()
		k.row.Add(field, k.want) // with the number of the field, which ReadPath does not know
		k.judgeRead(r, began)
		return
	}
	began = r.Now()
	k.want = appendDerived(k.want[:0], k.key, k.fields[field], k.fieldLength(field))
	if !bytes.Equal(got, k.want) {
		status = k.wrong("verify: a value is not that of its key and field", func() string {
			return fmt.Sprintf("%s, %s is %.60q, not %.60q", k.key, k.fields[field], got, k.want)
		})
	}
	r.Done(kindVerify, status, began)
}

const (
	mostFailedInserts = 1 << 20
	mostDraws         = 100_000 // of a key, until one exists
)

// request draws the number of an existing key. It marks a key that is to be deleted, so that no
// worker requests it afterward.
func (k *worker) request(remove bool) (int64, error) {
	for range mostDraws {
		last := k.sequence.last.Load() - k.gap // draw numbers the inserted keys without the gap
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
	return 0, &fault.Error{
		Problem: fmt.Sprintf("no record is left to request: %d drawn keys do not exist", mostDraws),
		Cure:    "load more records, or lower deleteproportion, or operationcount × insertproportion",
	}
}

// draw draws from the loaded keys and the inserted ones up to last. It numbers the inserted keys
// directly after the loaded ones, without the gap.
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
		return last - k.distance.Draw(k.rng)
	case "sequential":
		return k.sequential.Draw()
	}
	return k.uniform.Draw(k.rng)
}

// status returns the outcome of a call. It notes a failure among the problems. what names the call.
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
			return string(k.key) + "; raise recordcount to the number of records of the table, or drop the table"
		})
		return statusExists
	}
	k.failure = err
	k.problem(what+": error: "+strings.ReplaceAll(err.Error(), string(k.key), "…"), func() string { return string(k.key) })
	return statusError
}

// wrong notes a result that a correct engine cannot return.
func (k *worker) wrong(kind string, example func() string) int {
	k.problem(kind, example)
	return statusWrong
}

// problem notes a problem and, of the first one, the approximate number of operations before it.
func (k *worker) problem(kind string, example func() string) {
	if k.quiet {
		return
	}
	k.problems.after.CompareAndSwap(0, max(1, int64(k.ended*k.writers))) //nolint:gosec // few
	k.problems.note(kind, example)
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

// verify compares each value with the one that follows from its key and field (dataintegrity).
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

// fill puts new values of all fields of k.key, or of a random field, into k.row, with the next version.
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
	e := k.beginWrite(number, began)
	err := k.conn.Update(ctx, k.key, &k.row)
	status := k.status("update", number, err)
	k.done(r, opUpdate, status, began)
	k.endWrite(e, r, err)
	return status
}

// insert inserts the next key of the sequence. If the insert fails, no worker requests the key; if a
// record has the key already, workers may request it.
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
			k.endWrite(e, r, err)
		}
		e.settleInsert(r.End(), status == statusOK)
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

	replace bool // the load replaces existing records
	taken   bool // with replace: a record already had the last key that put wrote
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
	isAmbiguous := false           // the engine may have stored the batch
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
		}
		if isAmbiguous = unanswered(err); isAmbiguous {
			l.key = l.appendKey(l.key[:0], first)
			if _, err = l.recover(ctx, r, err); err != nil {
				return err
			}
		} // the records follow one at a time, to find out which of them cannot be inserted
	}
	for number := first; number < end; number++ {
		if err := l.one(ctx, r, number, isAmbiguous); err != nil {
			return err
		}
	}
	return nil
}

// mostGaps is the number of consecutive missing keys after which trim ends. Keys are missing if the run of
// another client inserted fewer, or if the inserts failed during an outage.
const mostGaps = mostShards

// trim removes the records that earlier runs inserted, whose numbers follow those of the load.
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

// put inserts l.row. If the load replaces records, put replaces an existing one. It first tries the
// statement, insert or update, that succeeded for the previous record: of successive existing records,
// each then costs one statement. taken reports that a record had the key already.
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

// one inserts one record, and repeats the insert after a failure, never after success. If a record has
// the key at a later attempt, an earlier attempt wrote it. isAmbiguous means that an earlier attempt may
// have written this one. An attempt whose connection was lost does not count toward RetryLimit.
func (l *loader) one(ctx context.Context, r *pace.Recorder, number int64, isAmbiguous bool) error {
	l.key = l.appendKey(l.key[:0], number)
	l.fill(true)
	began := r.Now()
	for tries := int64(0); ; tries++ {
		taken, err := l.put(ctx)
		if taken && l.resume && !isAmbiguous {
			l.failures = 0
			l.skipped.Add(1)
			r.Skip()
			return nil
		}
		if taken && (l.replace && err == nil || l.resume) {
			l.replaced.Add(1)
			if isAmbiguous {
				l.ambiguous.Add(1) // an earlier load wrote it, or an earlier attempt of this one
			}
		}
		taken = taken && !l.replace // from here on: a record has the key and was not replaced
		if taken && (isAmbiguous || l.resume) {
			err = nil
		}
		if err == nil {
			l.failures = 0
		} else if !taken && ctx.Err() == nil {
			isAmbiguous = true
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
		_ = engine.Pause(ctx, wait) // the next attempt notices that ctx is done
	}
}
