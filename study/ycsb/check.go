package ycsb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/dustin/go-humanize/english"
	"golang.org/x/sync/errgroup"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/kv"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/results/measure/pace"
	"github.com/barograph/barograph/results/run"
)

// checker is the state of a worker's checks of values. Only the worker changes it until the run has
// finished.
type checker struct {
	number  uint64 // of the worker
	writes  uint64 // number of started writes
	version uint64 // of the last write
	id      uint64 // the hash of the key of the last write
	turns   uint64 // number of records that were read
	ended   uint64 // number of finished operations
	checks  checkCounts
	deep    bool // values are compared byte by byte
	quiet   bool // problems are not noted, because the worker will read the record again
}

// checkCounts counts the results of the checks of values.
type checkCounts struct {
	stamped  int64 // records whose stamps were compared
	versions int64 // of these, those with a version that the ledger knew
	unmarked int64 // values without a stamp that are long enough for one
	short    int64 // values that are too short for one
	stale    int64 // reads of an older value, where the engine's setting allows it
	reread   int64 // keys of the ledger that were read again during the run
}

func (s *checkCounts) add(o *checkCounts) {
	s.stamped, s.versions, s.unmarked = s.stamped+o.stamped, s.versions+o.versions, s.unmarked+o.unmarked
	s.short, s.stale, s.reread = s.short+o.short, s.stale+o.stale, s.reread+o.reread
}

const (
	sequenceBits = 30
	nonceMask    = 1<<(versionBits-sequenceBits) - 1

	judgeEvery  = 8                     // one of 8 records of scans, and of reads faster than slowRead, is checked
	slowRead    = 10 * time.Microsecond // a check adds nothing measurable to a read of this duration
	rereadEvery = 256                   // after 256 operations a worker reads a key of the ledger again
)

// nonceOf returns the part of a version that distinguishes a run from most earlier runs, and a shard from
// all other shards, whenever each of them starts. The modulus is a multiple of the number of shards: the nonce minus 1,
// modulo that number, is the index of the shard.
func nonceOf(began time.Time, s Shard) uint64 {
	of := max(s.Of, 1)
	return 1 + uint64((began.UnixMilli()*of+s.Index)%(nonceMask-nonceMask%of)) //nolint:gosec // not negative
}

// next sets the version of the next write, and returns the hash of its key. All writes of a load have
// version 0.
func (k *worker) next(key []byte) uint64 {
	if k.nonce > 0 {
		k.writes++
		k.version = k.nonce<<sequenceBits | (k.writes*k.writers+k.number)&(1<<sequenceBits-1)
	}
	k.id = keyID(key)
	return k.id
}

// beginWrite records in the ledger that a write of k.row starts. It returns nil if the ledger does not contain the key.
func (k *worker) beginWrite(number int64, began time.Duration) *entry {
	if k.Integrity {
		return nil // every write of a field has the same value
	}
	e := k.ledger.open(k.id, number, len(k.fields), false)
	if e != nil {
		e.begin(k.row.Fields(), k.version, began)
	}
	return e
}

// endWrite records in the ledger how a write finished; err is its error.
func (k *worker) endWrite(e *entry, r *pace.Recorder, err error) {
	if e != nil {
		e.settle(k.row.Fields(), k.version, r.End(), err == nil, err != nil && !unanswered(err))
	}
}

// turn reports whether the check of every judgeEvery-th record is due.
func (k *worker) turn() bool {
	k.turns++
	return k.turns%judgeEvery == 0
}

// judgeRead checks k.row, whose read started at began. It counts a wrong value as a failed check.
func (k *worker) judgeRead(r *pace.Recorder, began time.Duration) {
	if isDue := k.turn(); !isDue && r.Service() < slowRead {
		return
	}
	before := k.checks
	if status := k.judge("read", k.key, &k.row, began); status != statusOK {
		r.Done(kindVerify, status, r.Now())
	}
	if !r.IsCounted() {
		k.checks = before
	}
}

// judge checks a record: each value must have been written to this key and field, with this length, and
// must not be older than the last value that was acknowledged when the read began. what names the read.
func (k *worker) judge(what string, key []byte, row *kv.Row, began time.Duration) int {
	id, stamps, known, stale := keyID(key), false, false, false
	e := k.ledger.find(id)
	if e != nil {
		e.mu.Lock()
		defer e.mu.Unlock()
		if e.mustBeAbsent(began) && !k.excused.Load() {
			return k.wrong(what+": a deleted record exists", func() string { return string(key) })
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
		case kind == stampInvalid,
			kind == stampAbsent && k.marked && !k.mayBeShort(field, len(value)),
			kind == stampValid && k.deep && !k.same(id, field, version, value):
			return k.wrong(k.explain(what, id, field, value), func() string { return k.describe(key, field, value) })
		case kind == stampAbsent && len(value) < minStamped:
			k.checks.short++
		case kind == stampAbsent:
			k.checks.unmarked++
		case k.fresh && version != 0:
			const older = ": a value is older than the one that was loaded"
			return k.wrong(what+older, func() string { return k.describe(key, field, value) })
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
				const cure = "; if another client writes this table, give each client its --shard"
				return k.describe(key, field, value) + cure
			})
		}
	}
	// An earlier run may have written single fields. Each update of this run wrote all fields.
	if differ && ours && k.WriteAll && k.Mix[opUpdatePath] == 0 {
		const torn = ": the fields are from different updates, although each update wrote all fields"
		return k.wrong(what+torn, func() string { return string(key) })
	}
	count(&k.checks.stamped, stamps)
	count(&k.checks.versions, known)
	count(&k.checks.stale, stale)
	return statusOK
}

func count(n *int64, isTrue bool) {
	if isTrue {
		*n++
	}
}

// describe shows a value with its place.
func (k *worker) describe(key []byte, field int, value []byte) string {
	return fmt.Sprintf("%s, %s is %.60q", key, k.fields[field], value)
}

// explain describes what is wrong with a value.
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
		return what + ": a value has no stamp, unlike the others of this table: it is damaged, or another program wrote it"
	}
	return what + ": a value was not written to its key and field"
}

// same compares a value, byte by byte, with the one that follows from its stamp.
func (k *worker) same(id uint64, field int, version uint64, value []byte) bool {
	k.want = appendValue(k.want[:0], id, field, len(value), version)
	return bytes.Equal(value, k.want)
}

// mayBeShort reports whether a field may have a value of n bytes that has no stamp.
func (c *Config) mayBeShort(field, n int) bool {
	return n < minStamped && (c.FieldLengths != "constant" || c.fieldLength(field) == int64(n))
}

// reread reads a random key of the ledger again. That is no operation of the mix.
func (k *worker) reread(ctx context.Context, r *pace.Recorder) {
	n := k.ledger.len()
	if n == 0 {
		return
	}
	e := k.ledger.at(k.rng.Int64N(n))
	if e == nil {
		return
	}
	began, before := r.Now(), k.checks
	status, err := k.readEntry(ctx, e, began)
	if k.checks = before; err == nil {
		count(&k.checks.reread, r.IsCounted())
		if status == statusWrong || status == statusNotFound {
			r.Done(kindVerify, status, began)
		}
	}
}

// readEntry reads and checks the record of an entry. The status is statusDeleted if the record does not
// exist and need not exist.
func (k *worker) readEntry(ctx context.Context, e *entry, began time.Duration) (int, error) {
	k.key = k.appendKey(k.key[:0], k.keyNumber(e.number))
	k.row.Reset()
	k.deep = true
	defer func() { k.deep = false }()
	err := k.conn.Read(ctx, k.key, nil, &k.row)
	switch {
	case errors.Is(err, kv.ErrNotFound):
		e.mu.Lock()
		exists := e.mustExist(began) && !k.absent.has(e.number)
		e.mu.Unlock()
		if !exists || k.excused.Load() || k.lenient && began != never {
			return statusDeleted, nil
		}
		return k.status("read again", e.number, err), nil
	case err != nil:
		return statusError, err
	case !k.complete(&k.row, nil):
		return k.wrong("read again: fields are missing", func() string {
			return fmt.Sprintf("%s has %d", k.key, k.row.Len())
		}), nil
	}
	if k.Integrity {
		e.mu.Lock()
		gone := e.mustBeAbsent(began)
		e.mu.Unlock()
		if gone && !k.excused.Load() {
			return k.wrong("read again: a deleted record exists", func() string { return string(k.key) }), nil
		}
		return k.verify(k.key, &k.row), nil
	}
	return k.judge("read again", k.key, &k.row, began), nil
}

// The limits of the read-back after a load or a run. It ends after mostReads; after usualReads it ends as
// soon as leastRead records have been read.
const (
	leastRead  = 1000
	mostReads  = 2 * time.Minute
	usualReads = 10 * time.Second
	patience   = 5 * time.Second // for which a store that may return older values is asked again for a record
)

// readAll calls read with the numbers 0 … n-1, by all workers together, until the limits.
func readAll(
	ctx context.Context, all []*worker, n int64, read func(ctx context.Context, k *worker, i int64) error,
) error {
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

// readLedger reads the keys of the ledger after the run: none may have an older value than the last
// acknowledged one.
func (r *Report) readLedger(ctx context.Context, all []*worker) error {
	l := all[0].ledger
	var updated, inserted, deleted, wrong, missing atomic.Int64
	err := readAll(ctx, all, l.len(), func(ctx context.Context, k *worker, i int64) error {
		e := l.at(i)
		if e == nil {
			return nil
		}
		compared := k.checks.versions
		status, err := k.readLast(ctx, e)
		switch {
		case err != nil:
			return err
		case status == statusWrong:
			wrong.Add(1)
		case status == statusNotFound:
			missing.Add(1)
		case status == statusDeleted && e.deleted > 0:
			deleted.Add(1)
		case status == statusDeleted || e.deleted > 0: // an insert failed, or a fault excuses the result: it proves nothing
		case e.inserted:
			inserted.Add(1)
		case k.checks.versions > compared: // otherwise its values are too short for a stamp, or the ledger knows no version
			updated.Add(1)
		}
		return nil
	})
	r.back.KeysUpdated, r.back.KeysInserted, r.back.KeysDeleted = updated.Load(), inserted.Load(), deleted.Load()
	r.back.Wrong += wrong.Load()
	r.back.Missing += missing.Load()
	return err
}

// readLast reads an entry's record after the run. If the engine may return older values, readLast tries
// again until patience has passed.
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
	return k.isOnce(ctx)
}

// counting is the number of a table's records before a load.
type counting struct {
	before int64
	err    error // why the records were not counted; nil = they were
}

var errUncounted = errors.New("the engine cannot count")

const (
	countFirst = 10 * time.Second // limit of the count before a load
	countShare = 4                // limit of the count after it: countFirst, or 1/countShare of the load's time if longer
)

func (w *workload) count(ctx context.Context, limit time.Duration) (int64, error) {
	if w.table.Count == nil {
		return 0, errUncounted
	}
	if w.Shard.Of > 1 {
		return 0, errors.New("other clients load the same table")
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return w.table.Count(ctx)
}

// recount counts the table after a load: it must have grown by the acknowledged records.
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
	added := r.tally(statusOK, opInsert) - w.replaced.Load()
	least, most := c.before+added, c.before+added+w.ambiguous.Load()
	counts := func() string {
		return fmt.Sprintf("the table had %s, %s added, and now it has %s",
			run.CountOf(c.before, "record"), english.Plural(int(added), "was", "were"), run.FormatCount(after))
	}
	if after < least || after > most {
		w.problems.after.CompareAndSwap(0, r.Operations())
	}
	switch {
	case after < least:
		r.back.Missing = max(r.back.Missing, least-after) // the records that readBack did not find are among them
		w.problems.note("count: acknowledged records are missing", counts)
	case after > most:
		r.back.Wrong += after - most
		w.problems.note("count: the table has more records than were inserted", counts)
	}
}

// addChecks adds the counts of the workers' checks.
func (r *Report) addChecks(all []*worker) {
	for _, k := range all {
		r.checks.add(&k.checks)
	}
}

// tallyChecks adds the checks of values and writes to the tally of answers.
func (r *Report) tallyChecks(a *answer.Tally) {
	a.Stamped, a.Versions, a.Unmarked = r.checks.stamped, r.checks.versions, r.checks.unmarked
	a.Short, a.Stale, a.Reread = r.checks.short, r.checks.stale, r.checks.reread
	a.Updates = r.tally(statusOK, opUpdate, opUpdatePath)
	a.Inserts, a.Deletes = r.tally(statusOK, opInsert), r.tally(statusOK, opDelete)
	a.KeysUpdated, a.KeysInserted, a.KeysDeleted = r.back.KeysUpdated, r.back.KeysInserted, r.back.KeysDeleted
	a.Counted = r.back.Counted
	if a.Derived = r.Config.Integrity; r.Load {
		a.ReadBack = r.back.Found
	}
}
