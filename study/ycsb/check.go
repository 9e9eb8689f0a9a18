package ycsb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/kv"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/results/measure/pace"
)

// checker is a worker's share of the check of values. Only the worker changes its counts until the
// run has finished.
type checker struct {
	number  uint64 // of the worker
	writes  uint64 // that it began
	version uint64 // of the last one
	id      uint64 // the hash of its key
	turns   uint64 // of records that were read
	ended   uint64 // operations
	seen    seen
	deep    bool // values are compared byte by byte
	quiet   bool // problems are not noted: it tries again
}

// seen counts what the checks of values saw.
type seen struct {
	stamped  int64 // records whose stamps were compared
	versions int64 // of these, those with a version that the ledger knew
	unmarked int64 // values without a stamp that are long enough for one
	short    int64 // values that are too short for one
	stale    int64 // reads of an older value, where the engine's setting allows it
	reread   int64 // keys of the ledger that were read again during the run
}

func (s *seen) add(o *seen) {
	s.stamped, s.versions, s.unmarked, s.short = s.stamped+o.stamped, s.versions+o.versions, s.unmarked+o.unmarked, s.short+o.short
	s.stale, s.reread = s.stale+o.stale, s.reread+o.reread
}

const (
	sequenceBits = 30
	nonceMask    = 1<<(versionBits-sequenceBits) - 1

	judgeEvery  = 8                     // records of scans, and reads that are faster than slowRead
	slowRead    = 10 * time.Microsecond // a read of this duration: the check of a record adds nothing measurable to it
	rereadEvery = 256                   // operations of a worker
)

// nonceOf makes versions of a run differ from those of the runs before, and those of
// each shard from those of the others, whichever starts a little earlier.
func nonceOf(began time.Time, s Shard) uint64 {
	of := max(s.Of, 1)
	return 1 + uint64((began.UnixMilli()*of+s.Index)%(nonceMask-nonceMask%of)) //nolint:gosec // not negative
}

// next makes the version of the next write, and returns the hash of its key. A
// load writes version 0.
func (k *worker) next(key []byte) uint64 {
	if k.nonce > 0 {
		k.writes++
		k.version = k.nonce<<sequenceBits | (k.writes*k.writers+k.number)&(1<<sequenceBits-1)
	}
	k.id = keyID(key)
	return k.id
}

// note opens the ledger for a write of k.row, and notes its begin.
func (k *worker) note(number int64, began time.Duration) *entry {
	if k.Integrity {
		return nil // every write of a field has the same value
	}
	e := k.ledger.open(k.id, number, len(k.fields), false)
	if e != nil {
		e.begin(k.row.Fields(), k.version, began)
	}
	return e
}

// settle notes how it ended.
func (k *worker) settle(e *entry, r *pace.Recorder, err error) {
	if e != nil {
		e.settle(k.row.Fields(), k.version, r.End(), err == nil, err != nil && !unanswered(err))
	}
}

// turn reports whether it is this record's turn to be judged.
func (k *worker) turn() bool {
	k.turns++
	return k.turns%judgeEvery == 0
}

// judgeRead checks k.row, whose read started at began. It counts an error as a failed check.
func (k *worker) judgeRead(r *pace.Recorder, began time.Duration) {
	if turn := k.turn(); !turn && r.Service() < slowRead {
		return
	}
	before := k.seen
	if status := k.judge("read", k.key, &k.row, began); status != statusOK {
		r.Done(kindVerify, status, r.Now())
	}
	if !r.IsCounted() {
		k.seen = before
	}
}

// judge compares a record with its key: each value must be one that was written
// to this key and field, with this length, and no older than the last that was
// acknowledged when the read began.
func (k *worker) judge(what string, key []byte, row *kv.Row, began time.Duration) int {
	id, stamps, known, stale := keyID(key), false, false, false
	e := k.ledger.find(id)
	if e != nil {
		e.mu.Lock()
		defer e.mu.Unlock()
		if e.gone(began) && !k.excused.Load() {
			return k.wrong(what+": a deleted record is there", func() string { return string(key) })
		}
	}
	var first, mask uint64 // the version of the first value
	differ, ours := false, false
	for i := range row.Len() {
		field, value := row.At(i)
		if field == 0 && k.accounts != nil {
			continue
		}
		version, bits, kind := readStamp(id, field, value)
		switch {
		case kind == stampInvalid, kind == stampAbsent && k.marked && !k.mayBeShort(field, len(value)), kind == stampValid && k.deep && !k.same(id, field, version, value):
			return k.wrong(k.explain(what, id, field, value), func() string { return fmt.Sprintf("%s, %s is %.60q", key, k.fields[field], value) })
		case kind == stampAbsent && len(value) < minStamped:
			k.seen.short++
		case kind == stampAbsent:
			k.seen.unmarked++
		case k.fresh && version != 0:
			return k.wrong(what+": a value is older than the one that was loaded", func() string { return fmt.Sprintf("%s, %s is %.60q", key, k.fields[field], value) })
		default:
			stamps = true
			if mask == 0 {
				first, mask = version, bits
			}
			differ = differ || (version^first)&bits&mask != 0
			ours = ours || version>>sequenceBits == k.nonce && k.nonce > 0
		}
		if e == nil || kind == stampAbsent && len(value) < minStamped {
			continue
		}
		switch e.fields[field].judge(version, bits, kind == stampValid, began) {
		case readFits:
			known = true
		case readStale:
			if k.Shard.Of > 1 && version>>sequenceBits != k.nonce {
				continue // another client may have written it
			}
			if known = true; k.lenient && began != never || k.excused.Load() {
				stale = true
				continue
			}
			return k.wrong(what+": a value is older than the last one that was acknowledged", func() string {
				return fmt.Sprintf("%s, %s is %.60q; if another client writes this table, give each of them its --shard", key, k.fields[field], value)
			})
		}
	}
	if differ && ours && k.WriteAll && k.Mix[opUpdatePath] == 0 {
		return k.wrong(what+": the fields are from different updates, although each update wrote all fields", func() string { return string(key) })
	}
	count(&k.seen.stamped, stamps)
	count(&k.seen.versions, known)
	count(&k.seen.stale, stale)
	return statusOK
}

func count(n *int64, is bool) {
	if is {
		*n++
	}
}

// explain describes the error of a value whose stamp does not fit.
func (k *worker) explain(what string, id uint64, field int, value []byte) string {
	for f := range k.fields {
		if _, _, kind := readStamp(id, f, value); kind == stampValid {
			return what + ": a value is that of another field"
		}
	}
	if n := k.fieldLength(field); k.FieldLengths == "constant" && int64(len(value)) != n {
		return what + ": a value has another length than was written"
	}
	if _, _, kind := readStamp(id, field, value); kind == stampAbsent {
		return what + ": a value has no stamp, as values of this table have: it is damaged, or another program wrote it"
	}
	return what + ": a value was not written to its key and field"
}

// same computes a value anew.
func (k *worker) same(id uint64, field int, version uint64, value []byte) bool {
	k.want = appendValue(k.want[:0], id, field, len(value), version)
	return bytes.Equal(value, k.want)
}

// mayBeShort reports whether a field may have a value of n bytes that has no stamp.
func (c *Config) mayBeShort(field, n int) bool {
	return n < minStamped && (c.FieldLengths != "constant" || c.fieldLength(field) == int64(n))
}

// reread reads some key of the ledger again, which is no operation of the mix.
func (k *worker) reread(ctx context.Context, r *pace.Recorder) {
	n := k.ledger.len()
	if n == 0 {
		return
	}
	e := k.ledger.at(k.rng.Int64N(n))
	if e == nil {
		return
	}
	began, before := r.Now(), k.seen
	status, err := k.readEntry(ctx, e, began)
	if k.seen = before; err == nil { // it is no read of the mix
		count(&k.seen.reread, r.IsCounted())
		if status == statusWrong || status == statusNotFound {
			r.Done(kindVerify, status, began)
		}
	}
}

// readEntry reads the record of an entry, and judges it. The status is that of
// the record: statusDeleted where it is gone, as it must be.
func (k *worker) readEntry(ctx context.Context, e *entry, began time.Duration) (int, error) {
	k.key = k.appendKey(k.key[:0], k.keyNumber(e.number))
	k.row.Reset()
	k.deep = true
	defer func() { k.deep = false }()
	err := k.conn.Read(ctx, k.key, nil, &k.row)
	switch {
	case errors.Is(err, kv.ErrNotFound):
		e.mu.Lock()
		exists := e.exists(began) && !k.absent.has(e.number)
		e.mu.Unlock()
		if !exists || k.excused.Load() || k.lenient && began != never {
			return statusDeleted, nil
		}
		return k.status("read again", e.number, err), nil
	case err != nil:
		return statusError, err
	case !k.complete(&k.row, nil):
		return k.wrong("read again: fields are missing", func() string { return fmt.Sprintf("%s has %d", k.key, k.row.Len()) }), nil
	}
	if k.Integrity {
		e.mu.Lock()
		gone := e.gone(began)
		e.mu.Unlock()
		if gone && !k.excused.Load() {
			return k.wrong("read again: a deleted record is there", func() string { return string(k.key) }), nil
		}
		return k.verify(k.key, &k.row), nil
	}
	return k.judge("read again", k.key, &k.row, began), nil
}

// readSteps are the limits of the records that are read back after a load or a run.
const (
	leastRead  = 1000             // records, however long it takes, within
	mostReads  = 2 * time.Minute  // in any case
	usualReads = 10 * time.Second // after which no more than leastRead are read
	patience   = 5 * time.Second  // for a store that may serve older values
)

// readAll has all workers read n things, as many as the limits allow.
func readAll(ctx context.Context, all []*worker, n int64, read func(ctx context.Context, k *worker, i int64) error) error {
	began := time.Now()
	var next, done atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	for _, k := range all {
		g.Go(func() error {
			for {
				i, took := next.Add(1)-1, time.Since(began)
				if i >= n || took > mostReads || took > usualReads && done.Load() >= leastRead {
					return ctx.Err()
				}
				if err := read(ctx, k, i); err != nil {
					return fmt.Errorf("read %s: %w", k.key, err)
				}
				done.Add(1)
			}
		})
	}
	return g.Wait()
}

// readLedger reads the keys that the run wrote, after its end: none may show
// anything older than what was acknowledged.
func (r *Report) readLedger(ctx context.Context, all []*worker) error {
	l := all[0].ledger
	var updated, inserted, deleted, wrong, missing atomic.Int64
	err := readAll(ctx, all, l.len(), func(ctx context.Context, k *worker, i int64) error {
		e := l.at(i)
		if e == nil {
			return nil
		}
		compared := k.seen.versions
		status, err := k.readLast(ctx, e)
		switch {
		case err != nil:
			return err
		case status == statusWrong:
			wrong.Add(1)
		case status == statusNotFound:
			missing.Add(1)
		case e.deleted > 0:
			deleted.Add(1)
		case e.inserted:
			inserted.Add(1)
		case k.seen.versions > compared: // else its values are too short for a stamp, or nothing is known of them
			updated.Add(1)
		}
		return nil
	})
	r.back.KeysUpdated, r.back.KeysInserted, r.back.KeysDeleted = updated.Load(), inserted.Load(), deleted.Load()
	r.back.Wrong += wrong.Load()
	r.back.Missing += missing.Load()
	return err
}

// readLast reads an entry's record when all is over. What may lag is given time.
func (k *worker) readLast(ctx context.Context, e *entry) (status int, err error) {
	for end := time.Now().Add(patience); ; {
		k.quiet = k.lenient && time.Now().Before(end)
		status, err = k.readEntry(ctx, e, never)
		if !k.quiet || err != nil || status == statusOK || status == statusDeleted {
			break
		}
		if err := engine.Pause(ctx, patience/25); err != nil {
			return status, err
		}
	}
	k.quiet = false
	if err != nil || status != statusOK || !e.inserted {
		return status, err
	}
	return k.twice(ctx)
}

// counting is the count of a table's records around a load.
type counting struct {
	before int64
	err    error // the reason if the table has no count
}

var errUncounted = errors.New("the engine cannot count")

const (
	countFirst = 10 * time.Second // for which a count may take before a load
	countShare = 4                // beyond that, at most this fraction of the load's time
)

func (w *workload) count(ctx context.Context, limit time.Duration) (int64, error) {
	if w.table.Count == nil {
		return 0, errUncounted
	}
	if w.Shard.Of > 1 {
		return 0, errors.New("other clients load, too")
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return w.table.Count(ctx)
}

// recount counts the table after a load: it must have grown by what was
// acknowledged.
func (r *Report) recount(ctx context.Context, w *workload, c counting) {
	after := int64(0)
	if c.err == nil {
		after, c.err = w.count(ctx, max(countFirst, r.Result.Elapsed/countShare))
	}
	if c.err != nil {
		r.Warnings = append(r.Warnings, "the records of the table were not counted: "+fault.Redact(c.err.Error()))
		return
	}
	r.back.Counted = after
	added := r.tally(statusOK, opInsert) - w.existing.Load()
	least, most := c.before+added, c.before+added+w.ambiguous.Load()
	if after < least || after > most {
		w.problems.after.CompareAndSwap(0, r.Operations())
	}
	switch {
	case after < least:
		r.back.Missing = max(r.back.Missing, least-after) // those that were looked for in vain are among them
		w.problems.note("count: acknowledged records are missing", func() string {
			return fmt.Sprintf("the table had %d, %d were added, and it has %d", c.before, added, after)
		})
	case after > most:
		r.back.Wrong += after - most
		w.problems.note("count: there are more records than were inserted", func() string {
			return fmt.Sprintf("the table had %d, %d were added, and it has %d", c.before, added, after)
		})
	}
}

// checked adds up what the workers saw.
func (r *Report) checked(all []*worker) {
	for _, k := range all {
		r.seen.add(&k.seen)
	}
}

// tallyChecks completes the tally of answers by the checks of values and writes.
func (r *Report) tallyChecks(a *answer.Tally) {
	a.Stamped, a.Versions, a.Unmarked, a.Short, a.Stale, a.Reread = r.seen.stamped, r.seen.versions, r.seen.unmarked, r.seen.short, r.seen.stale, r.seen.reread
	a.Updates, a.Inserts, a.Deletes = r.tally(statusOK, opUpdate, opUpdatePath), r.tally(statusOK, opInsert), r.tally(statusOK, opDelete)
	a.Counted, a.KeysUpdated, a.KeysInserted, a.KeysDeleted = r.back.Counted, r.back.KeysUpdated, r.back.KeysInserted, r.back.KeysDeleted
	if a.Derived = r.Config.Integrity; r.Load {
		a.ReadBack = r.back.Found
	}
}
