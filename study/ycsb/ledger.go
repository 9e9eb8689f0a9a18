package ycsb

import (
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// ledger remembers the writes of a run to a sample of the keys that the run
// writes: the first ones, and one in ledgerShare of the others. So a read of one
// of them shows whether the engine kept its word. Workers may write a key at the
// same time: of each field the ledger keeps all versions that may be the current
// one, and when others were overwritten for certain.
type ledger struct {
	ids     []atomic.Uint64 // open addressing; 0 = free
	entries []entry
	most    int64
	used    atomic.Int64
	order   []atomic.Int32 // places of entries in the order in which they came, plus 1
}

const (
	firstKeys   = 1024
	ledgerShare = 512
	never       = time.Duration(math.MaxInt64)
)

func newLedger(records int64) *ledger {
	most := firstKeys + 2*records/ledgerShare
	size := int64(1)
	for size < 2*most {
		size *= 2
	}
	return &ledger{ids: make([]atomic.Uint64, size), entries: make([]entry, size), most: most, order: make([]atomic.Int32, most)}
}

// entry is the state of one key.
type entry struct {
	mu       sync.Mutex
	number   int64         // of the key
	fields   []*register   // nil = the run has not written it
	inserted bool          // by this run
	since    time.Duration // when the insert was acknowledged
	unsure   bool          // whether the record exists: its insert or delete was not answered
	deleted  time.Duration // when the delete was acknowledged; 0 = it was not
	deleting time.Duration // when it began
}

// register is the state of one field: every version that a read may return.
type register struct {
	live     []write
	space    [2]write       // of live, mostly
	gone     [2]overwritten // the last ones, in a ring
	next     int            // in gone
	initial  time.Duration  // when the value from before the run was overwritten for certain; 0 = it was not
	forgot   time.Duration  // when the last one was overwritten that the ring lost
	unjudged bool           // there were too many concurrent writes
}

// write is one that may be the current one. ended is never, where it is in
// flight or its outcome is unknown.
type write struct {
	version      uint64
	began, ended time.Duration
}

type overwritten struct {
	version uint64
	at      time.Duration
}

const mostLive = 64

// find returns the entry of a key; nil where it has none.
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

// open returns the entry of a key that is about to be written; nil where it is
// not of the sample. No key enters later than at its first write.
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
			e.mu.Lock() // before its id is seen
			if l.ids[at].CompareAndSwap(0, id) {
				e.number, e.fields, e.inserted, e.unsure = number, make([]*register, fields), insert, insert
				e.mu.Unlock()
				l.order[place-1].Store(int32(at) + 1) //nolint:gosec // few
				return e
			}
			e.mu.Unlock()
		}
		if l.ids[at].Load() == id { // another worker was faster
			return e
		}
	}
}

// len is how many keys have an entry.
func (l *ledger) len() int64 {
	if l == nil {
		return 0
	}
	return min(l.used.Load(), l.most)
}

// at returns the i-th entry, or nil.
func (l *ledger) at(i int64) *entry {
	place := l.order[i].Load()
	if place == 0 {
		return nil
	}
	return &l.entries[place-1]
}

// begin notes a write of fields, before it is sent.
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

// settle notes how a write ended: done, refused, or, where it is neither,
// unknown.
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

// remove begins to delete the record.
func (e *entry) remove(now time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.deleting = now
}

// removed notes how a delete ended.
func (e *entry) removed(now time.Duration, done bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if done {
		e.deleted = now
	} else {
		e.unsure = true
	}
}

// insert notes how an insert ended.
func (e *entry) insert(now time.Duration, done bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.since, e.unsure = now, !done
}

// exists reports whether a read that began then must find the record.
func (e *entry) exists(began time.Duration) bool {
	return !e.unsure && e.deleting == 0 && e.since <= began
}

// gone reports whether a read that started at began may miss the record: the record was certainly
// deleted, and no later write may have created it again.
func (e *entry) gone(began time.Duration) bool {
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

func (r *register) remove(version uint64) {
	for i := range r.live {
		if r.live[i].version == version {
			r.live = append(r.live[:i], r.live[i+1:]...)
			return
		}
	}
}

// acknowledge notes that a write is done: each that ended before it began is
// overwritten.
func (r *register) acknowledge(version uint64, now time.Duration) {
	began := never
	for i := range r.live {
		if r.live[i].version == version {
			r.live[i].ended, began = now, r.live[i].began
		}
	}
	if began == never {
		return // it was not noted
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

// judge returns whether a read that began then may show a version, of which mask
// has the bits that are known. known is false for a value without a version.
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
