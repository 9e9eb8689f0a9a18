package ycsb

import (
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// ledger records the writes of a run to a sample of the written keys: the first firstKeys ones, and one in
// ledgerShare of the others. A read of one of them shows whether the engine kept an acknowledged write.
// Several workers may write a key at the same time. Therefore the ledger keeps, for each field, all
// versions that may be the current one, and the time when each other version was certainly overwritten.
type ledger struct {
	ids     []atomic.Uint64 // open addressing; 0 = free
	entries []entry         // at the same indexes
	most    int64           // maximum number of entries
	used    atomic.Int64    // number of requested entries, which may exceed most
	order   []atomic.Int32  // indexes of entries plus 1, in the order of their first write; 0 = not yet known
}

const (
	firstKeys   = 1024
	ledgerShare = 512
	mostEntries = 1 << 20                      // of a ledger: about 200 MB
	never       = time.Duration(math.MaxInt64) // later than the run: a write without an end, a read after the run
)

func newLedger(records int64) *ledger {
	most := min(firstKeys+2*(records/ledgerShare), mostEntries)
	size := int64(1)
	for size < 2*most {
		size *= 2
	}
	return &ledger{
		ids: make([]atomic.Uint64, size), entries: make([]entry, size), most: most, order: make([]atomic.Int32, most),
	}
}

// entry is the state of one key.
type entry struct {
	mu       sync.Mutex
	number   int64         // of the key
	fields   []*register   // by field; nil = the run has not written the field
	inserted bool          // this run inserts the record
	since    time.Duration // when the insert was acknowledged
	unsure   bool          // the existence of the record is unknown: its insert or delete was not answered
	deleted  time.Duration // when the delete was acknowledged; 0 = it was not
	deleting time.Duration // when the delete began
}

// register is the state of one field: the versions that a read may return.
type register struct {
	live     []write        // versions that may be the current one
	space    [2]write       // initial memory of live
	gone     [2]overwritten // a ring of the last overwritten versions
	next     int            // index in gone of the next one
	initial  time.Duration  // when the value from before the run was certainly overwritten; 0 = not yet
	forgot   time.Duration  // the latest time of the versions that gone had to drop
	unjudged bool           // there were too many concurrent writes to know the versions
}

// write is a version that may be the current one. ended is never if the write is in flight or its outcome
// is unknown.
type write struct {
	version      uint64
	began, ended time.Duration
}

// overwritten is a version that was certainly overwritten at a time.
type overwritten struct {
	version uint64
	at      time.Duration
}

const mostLive = 64 // versions of a register

// find returns the entry of a key; nil = it has none.
func (l *ledger) find(id uint64) *entry {
	if l == nil {
		return nil
	}
	last := uint64(len(l.ids) - 1)
	for at := id & last; ; at = (at + 1) & last {
		switch l.ids[at].Load() {
		case id:
			return &l.entries[at]
		case 0:
			return nil
		}
	}
}

// open returns the entry of a key that is about to be written; nil = the key is not in the sample. A key
// that is not in the sample at its first write never enters it.
func (l *ledger) open(id uint64, number int64, fields int, insert bool) *entry {
	e := l.find(id)
	if e != nil || l == nil {
		return e
	}
	if n := l.used.Load(); n >= l.most || n >= firstKeys && id%ledgerShare != 0 {
		return nil
	}
	place := l.used.Add(1)
	if place > l.most {
		return nil
	}
	last := uint64(len(l.ids) - 1)
	for at := id & last; ; at = (at + 1) & last {
		e = &l.entries[at]
		if l.ids[at].Load() == 0 {
			e.mu.Lock() // before find can return the entry
			if l.ids[at].CompareAndSwap(0, id) {
				e.number, e.fields, e.inserted, e.unsure = number, make([]*register, fields), insert, insert
				e.mu.Unlock()
				l.order[place-1].Store(int32(at) + 1) //nolint:gosec // few
				return e
			}
			e.mu.Unlock()
		}
		if l.ids[at].Load() == id { // another worker has opened it meanwhile
			return e
		}
	}
}

// len returns the number of entries, for at.
func (l *ledger) len() int64 {
	if l == nil {
		return 0
	}
	return min(l.used.Load(), l.most)
}

// at returns the i-th entry; nil = a worker is just opening it, or the place stays empty because two workers opened
// the same key.
func (l *ledger) at(i int64) *entry {
	place := l.order[i].Load()
	if place == 0 {
		return nil
	}
	return &l.entries[place-1]
}

// begin records that a write of fields starts. Call it before the write is sent.
func (e *entry) begin(fields []int, version uint64, now time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, f := range fields {
		r := e.fields[f]
		if r == nil {
			r = &register{}
			r.live, e.fields[f] = r.space[:0], r
		}
		if len(r.live) < mostLive {
			r.live = append(r.live, write{version, now, never})
		} else {
			r.unjudged = true
		}
	}
}

// settle records the outcome of a write: done, refused or, if it is neither, unknown.
func (e *entry) settle(fields []int, version uint64, now time.Duration, done, refused bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, f := range fields {
		switch r := e.fields[f]; {
		case done:
			r.acknowledge(version, now)
		case refused:
			r.remove(version)
		}
	}
}

// beginDelete records that a delete of the record starts.
func (e *entry) beginDelete(now time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.deleting = now
}

// settleDelete records the outcome of a delete.
func (e *entry) settleDelete(now time.Duration, done bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if done {
		e.deleted = now
	} else {
		e.unsure = true
	}
}

// settleInsert records the outcome of an insert.
func (e *entry) settleInsert(now time.Duration, done bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.since, e.unsure = now, !done
}

// mustExist reports whether a read that started at began must find the record.
func (e *entry) mustExist(began time.Duration) bool {
	return !e.unsure && e.deleting == 0 && e.since <= began
}

// mustBeAbsent reports whether a read that started at began must not find the record: the record was certainly
// deleted, and no later write may have created it again.
func (e *entry) mustBeAbsent(began time.Duration) bool {
	if e.deleted == 0 || e.deleted > began {
		return false
	}
	for _, r := range e.fields {
		if r == nil {
			continue
		}
		for _, w := range r.live {
			if w.ended >= e.deleting {
				return false
			}
		}
	}
	return true
}

// remove removes a refused version.
func (r *register) remove(version uint64) {
	for i := range r.live {
		if r.live[i].version == version {
			r.live = append(r.live[:i], r.live[i+1:]...)
			return
		}
	}
}

// acknowledge records that a write is done. This write overwrote each other write that had ended before this one began.
func (r *register) acknowledge(version uint64, now time.Duration) {
	began := never
	for i := range r.live {
		if r.live[i].version == version {
			r.live[i].ended, began = now, r.live[i].began
		}
	}
	if began == never {
		return // there was no room in live
	}
	if r.initial == 0 {
		r.initial = now
	}
	kept := r.live[:0]
	for _, w := range r.live {
		if w.ended >= began {
			kept = append(kept, w)
			continue
		}
		r.forgot = max(r.forgot, r.gone[r.next].at)
		r.gone[r.next] = overwritten{w.version, now}
		r.next = (r.next + 1) % len(r.gone)
	}
	r.live = kept
}

// Verdicts on a value that was read.
const (
	readFits = iota
	readUnknown
	readStale
)

// judge reports whether a read that started at began may return a version. mask has the bits of the
// version that the value contains. known is false for a value without a version.
func (r *register) judge(version, mask uint64, known bool, began time.Duration) int {
	if r == nil || r.unjudged {
		return readUnknown
	}
	if known {
		for _, w := range r.live {
			if w.version&mask == version {
				return readFits
			}
		}
		for _, w := range r.gone {
			if w.at > 0 && w.version&mask == version {
				if w.at <= began {
					return readStale
				}
				return readFits
			}
		}
	}
	if r.initial == 0 || r.initial > began || r.forgot > began {
		return readUnknown
	}
	return readStale
}
