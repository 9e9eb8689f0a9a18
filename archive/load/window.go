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

// window collects the records of one commit. It keeps one record of each identity. If the archive keeps conflicts, it
// keeps one of each identity and set of values. The others are dropped.
type window struct {
	subset      string
	batches     []*record.Batch
	droppedRows map[*record.Batch]map[int]bool
	index       archive.RecordIndex
	catalog     *design.Catalog
	rows        int
	bytes       int // approximate memory

	// onExisting is called for an incoming record whose identity is in the window. It reports whether
	// the new values replace the existing ones.
	onExisting func(old, fresh archive.Position) bool

	release func(*record.Batch) // takes a batch that is not used any more
}

// maxWindowBytes is the memory at which a window is committed even if it has few records: CNT has 100
// columns, and ORANK has one per ensemble member. Two windows exist: one is filled while the other
// is stored.
const maxWindowBytes = 64 << 20

// footprint is the approximate memory of a batch and of its rows in the index.
func footprint(b *record.Batch) int {
	const (
		header = int(unsafe.Sizeof(record.Header{}))
		index  = 40 // a Key, an archive.Position, and the unused memory of maps
	)
	n := cap(b.Headers)*header + cap(b.HeaderIndex)*4 + cap(b.Line)*4 + (cap(b.Lead)+cap(b.ObsLead))*4 + cap(b.GroupEnd)*4 +
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

func newWindow(subset string, onExisting func(old, fresh archive.Position) bool, release func(*record.Batch)) *window {
	return &window{
		subset: subset, droppedRows: map[*record.Batch]map[int]bool{}, catalog: design.NewCatalog(subset), onExisting: onExisting, release: release,
	}
}

// add takes a batch; the window owns it until reset.
func (w *window) add(b *record.Batch) {
	w.batches = append(w.batches, b)
	w.rows += b.Len()
	w.bytes += footprint(b)
	var dropped []archive.Position // dropped after AddEach, because the catalog must have counted a row before it drops it
	w.catalog.AddEach(b, func(i int, k record.Key) {
		fresh := archive.Position{Batch: b, I: i}
		old, exists := w.index.PutIfAbsent(k, fresh)
		if exists && b.KeepConflicts {
			old = w.sameValues(k, fresh, old)
		}
		switch {
		case !exists:
		case !w.onExisting(old, fresh):
			dropped = append(dropped, fresh)
		case b.KeepConflicts:
			w.index.Put(k, fresh)
		default:
			dropped = append(dropped, old)
			w.index.Replace(k, fresh)
		}
	})
	for _, row := range dropped {
		w.dropRow(row)
	}
}

// sameValues returns the row with the same values as the incoming one, or else the first row of its
// identity.
func (w *window) sameValues(k record.Key, fresh, first archive.Position) archive.Position {
	for at := range w.index.All(k) {
		if at.Batch.EqualValues(at.I, fresh.Batch, fresh.I) {
			return at
		}
	}
	return first
}

// incomingRow returns the window's row that conflicts with an archive record. isAdditional = it is not the first row of
// its identity in the window.
func (w *window) incomingRow(f archive.ExistingRecord) (row archive.Position, isAdditional bool) {
	var h record.Hasher
	first, _ := w.index.First(f.Key)
	for row = range w.index.All(f.Key) {
		if h.SetRow(row.Batch, row.I); h.Digest(row.I) == f.Incoming {
			break
		}
	}
	return row, row != first
}

// dropRow removes a row.
func (w *window) dropRow(r archive.Position) {
	w.catalog.Drop(r.Batch, r.I)
	rows := w.droppedRows[r.Batch]
	if rows == nil {
		rows = map[int]bool{}
		w.droppedRows[r.Batch] = rows
	}
	rows[r.I] = true
}

// describe names a record by its line type, header and times.
func describe(r archive.Position) string {
	b, i := r.Batch, r.I
	var text strings.Builder
	text.WriteString(b.Type.Name)
	for f, v := range b.Header(i) {
		if v != "" && v != record.NA {
			text.WriteString(" " + record.Field(f).String() + "=" + v)
		}
	}
	fmt.Fprintf(&text, " fcst_valid_beg=%s fcst_lead=%s", time.Unix(b.Valid[i], 0).UTC().Format(time.RFC3339), leadHours(int64(b.Lead[i])))
	return text.String()
}

// withoutDropped iterates over the batches without their dropped rows.
func (w *window) withoutDropped(yield func(*record.Batch) bool) {
	for _, b := range w.batches {
		if rows := w.droppedRows[b]; len(rows) > 0 {
			b = b.Filter(func(i int) bool { return !rows[i] })
		}
		if b.Len() > 0 && !yield(b) {
			return
		}
	}
}

// reset empties the window and recycles its memory.
func (w *window) reset() {
	for _, b := range w.batches {
		w.release(b)
	}
	clear(w.batches)
	clear(w.droppedRows)
	w.index.Clear()
	w.batches, w.rows, w.bytes, w.catalog = w.batches[:0], 0, 0, design.NewCatalog(w.subset)
}

// leadHours prints a lead as files and flags write it: 24 h, 1:30:00 h.
func leadHours(seconds int64) string { // int64, because the shortest int32 has no opposite
	if seconds%3600 == 0 {
		return fmt.Sprintf("%d h", seconds/3600)
	} else if seconds < 0 {
		return "-" + leadHours(-seconds)
	}
	return fmt.Sprintf("%d:%02d:%02d h", seconds/3600, seconds/60%60, seconds%60)
}
