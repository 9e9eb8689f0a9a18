package load

import (
	"fmt"
	"strings"
	"time"
	"unsafe"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/record"
)

// window holds the records of one commit. No two of them have the same identity,
// unless all are kept, and then the same values: where two lines bring one
// record, one of the rows is dead.
type window struct {
	subset  string
	batches []*record.Batch
	dead    map[*record.Batch]map[int]bool
	at      archive.Index
	catalog *design.Catalog
	rows    int
	bytes   int // of memory, about

	// meet is called for a record that stands in the window and is brought again;
	// it reports whether the new values stand.
	meet func(old, fresh archive.Position) bool

	release func(*record.Batch) // takes a batch that is not used any more
}

// maxBytes is the memory of a window that is committed even if it has few
// records: those of CNT have 100 columns, those of ORANK a member each. There
// are two: one is filled while the other is stored.
const maxBytes = 64 << 20

// footprint is the memory that a batch and its rows in the index take, about.
func footprint(b *record.Batch) int {
	const (
		header = int(unsafe.Sizeof(record.Header{}))
		index  = 40 // a Key, an archive.Position, and the room that maps leave
	)
	n := cap(b.Headers)*header + cap(b.Head)*4 + cap(b.Line)*4 + (cap(b.Lead)+cap(b.ObsLead))*4 + cap(b.GroupEnd)*4 +
		(cap(b.Valid)+cap(b.ValidEnd)+cap(b.ObsBeg)+cap(b.ObsEnd)+cap(b.Group))*8 + b.Len()*index
	for _, c := range b.Num {
		n += cap(c) * 8
	}
	for _, c := range b.Text {
		n += cap(c) * 16
		for _, s := range c {
			n += len(s)
		}
	}
	return n
}

func newWindow(subset string, meet func(old, fresh archive.Position) bool, release func(*record.Batch)) *window {
	return &window{
		subset: subset, dead: map[*record.Batch]map[int]bool{}, catalog: design.NewCatalog(subset), meet: meet, release: release,
	}
}

// add takes the batch over until reset.
func (w *window) add(b *record.Batch) {
	w.batches = append(w.batches, b)
	w.rows += b.Len()
	w.bytes += footprint(b)
	var killed []archive.Position // the catalog drops a row that it has counted
	w.catalog.AddEach(b, func(i int, k record.Key) {
		fresh := archive.Position{Batch: b, I: i}
		old, there := w.at.PutFirst(k, fresh)
		if there && b.Keep {
			old = w.same(k, fresh, old)
		}
		switch {
		case !there:
		case !w.meet(old, fresh):
			killed = append(killed, fresh)
		case b.Keep:
			w.at.Put(k, fresh)
		default:
			killed = append(killed, old)
			w.at.Replace(k, fresh)
		}
	})
	for _, row := range killed {
		w.kill(row)
	}
}

// same is the row that has the values of a fresh one, or the first of its identity.
func (w *window) same(k record.Key, fresh, first archive.Position) archive.Position {
	for at := range w.at.All(k) {
		if at.Batch.Same(at.I, fresh.Batch, fresh.I) {
			return at
		}
	}
	return first
}

// brought is the row of a contradiction; beside = it is not the first of its identity.
func (w *window) brought(f archive.ExistingRecord) (row archive.Position, beside bool) {
	var h record.Hasher
	first, _ := w.at.First(f.Key)
	for row = range w.at.All(f.Key) {
		if h.UseRow(row.Batch, row.I); h.Digest(row.I) == f.Incoming {
			break
		}
	}
	return row, row != first
}

// kill takes a row out.
func (w *window) kill(r archive.Position) {
	w.catalog.Drop(r.Batch, r.I)
	rows := w.dead[r.Batch]
	if rows == nil {
		rows = map[int]bool{}
		w.dead[r.Batch] = rows
	}
	rows[r.I] = true
}

// describe names a record: its line type, header and times.
func describe(r archive.Position) string {
	b, i := r.Batch, r.I
	var text strings.Builder
	text.WriteString(b.Type.Name)
	for f, v := range b.Header(i) {
		if v != "" && v != record.NA {
			text.WriteString(" " + record.Field(f).String() + "=" + v)
		}
	}
	fmt.Fprintf(&text, " fcst_valid_beg=%s fcst_lead=%s", time.Unix(b.Valid[i], 0).UTC().Format(time.RFC3339), leadHours(b.Lead[i]))
	return text.String()
}

// live walks the batches without their dead rows.
func (w *window) live(yield func(*record.Batch) bool) {
	for _, b := range w.batches {
		if rows := w.dead[b]; len(rows) > 0 {
			b = b.Only(func(i int) bool { return !rows[i] })
		}
		if b.Len() > 0 && !yield(b) {
			return
		}
	}
}

// reset forgets everything and gives the memory back.
func (w *window) reset() {
	for _, b := range w.batches {
		w.release(b)
	}
	clear(w.batches)
	clear(w.dead)
	w.at.Clear()
	w.batches, w.rows, w.bytes, w.catalog = w.batches[:0], 0, 0, design.NewCatalog(w.subset)
}

// leadHours prints a lead as files and flags have it: 24 h, 1:30:00 h.
func leadHours(seconds int32) string {
	if seconds%3600 == 0 {
		return fmt.Sprintf("%d h", seconds/3600)
	}
	return fmt.Sprintf("%d:%02d:%02d h", seconds/3600, seconds/60%60, seconds%60)
}
