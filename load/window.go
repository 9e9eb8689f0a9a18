package load

import (
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"unsafe"

	"barograph/design"
	"barograph/record"
)

func hexOf(b []byte) string { return hex.EncodeToString(b) }

// window holds the records of one commit. No two of them have the same
// identity: where a later record has that of an earlier one, the earlier row is
// dead.
type window struct {
	subset  string
	batches []*record.Batch
	dead    map[*record.Batch]map[int]bool
	at      map[record.Key]place
	hash    record.Hasher
	catalog *design.Catalog
	rows    int
	bytes   int // of memory, about

	replace  func(file string)   // called for each record that a later one of the window replaces
	conflict func(record.Reject) // called instead where both stand in one file and differ in their values
}

// maxBytes is the memory of a window that is committed even if it has few
// records: those of CNT have 100 columns, those of ORANK a member each.
const maxBytes = 64 << 20

// footprint is the memory that a batch and its rows in the index take, about.
func footprint(b *record.Batch) int {
	const (
		header = int(unsafe.Sizeof(record.Header{}))
		index  = 40 // a Key, a place, and the room that maps leave
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

type place struct {
	batch *record.Batch
	row   int32
}

func newWindow(subset string, replace func(string), conflict func(record.Reject)) *window {
	return &window{
		subset: subset, dead: map[*record.Batch]map[int]bool{}, at: map[record.Key]place{}, catalog: design.NewCatalog(subset),
		replace: replace, conflict: conflict,
	}
}

// add takes the batch over until reset.
func (w *window) add(b *record.Batch) {
	w.batches = append(w.batches, b)
	w.rows += b.Len()
	w.bytes += footprint(b)
	w.catalog.Add(b)
	w.hash.Use(b)
	for i := range b.Len() {
		k := w.hash.Key(i)
		if old, ok := w.at[k]; ok {
			w.kill(old, b, i)
		}
		w.at[k] = place{b, int32(i)}
	}
}

// kill takes out an earlier row because row i of b has the same identity. A
// later file may bring a later value; one file that gives one series, time and
// lead two values contradicts itself, and the earlier line is quarantined.
func (w *window) kill(old place, b *record.Batch, i int) {
	rows := w.dead[old.batch]
	if rows == nil {
		rows = map[int]bool{}
		w.dead[old.batch] = rows
	}
	rows[int(old.row)] = true
	if old.batch.File != b.File {
		w.replace(old.batch.File)
		return
	}
	var h record.Hasher
	h.Use(old.batch)
	was := h.Digest(int(old.row))
	h.Use(b)
	if was == h.Digest(i) {
		w.replace(b.File)
		return
	}
	line := old.batch.Line[old.row]
	w.conflict(record.Reject{
		File: b.File, Line: line, Text: describe(old.batch, int(old.row)),
		Reason: fmt.Sprintf("line %d has the same header, times and lead, but other values; the later line stands", b.Line[i]),
	})
}

// describe writes the values of a record that is quarantined, as name=value.
func describe(b *record.Batch, i int) string {
	text := []byte(b.Type.Name)
	for k := range b.Type.Columns {
		c := &b.Type.Columns[k]
		text = append(append(append(text, ' '), c.Name...), '=')
		if c.Kind == record.Text {
			text = append(text, b.Text[c.Slot][i]...)
		} else if f := b.Num[c.Slot][i]; math.IsNaN(f) {
			text = append(text, record.NA...)
		} else {
			text = strconv.AppendFloat(text, f, 'g', -1, 64)
		}
	}
	for _, f := range b.Repeats(i) {
		text = strconv.AppendFloat(append(text, ' '), f, 'g', -1, 64)
	}
	return string(text[:min(len(text), record.MaxRejectText)])
}

// live walks the batches without their dead rows.
func (w *window) live(yield func(*record.Batch) bool) {
	for _, b := range w.batches {
		if rows := w.dead[b]; len(rows) > 0 {
			b = without(b, rows)
		}
		if b.Len() > 0 && !yield(b) {
			return
		}
	}
}

// without copies b, leaving out some rows.
func without(b *record.Batch, rows map[int]bool) *record.Batch {
	out := &record.Batch{}
	out.Reset(b.Type, b.File)
	for _, h := range b.Headers {
		out.AddHeader(h)
	}
	for i := range b.Len() {
		if !rows[i] {
			out.AppendRow(b, i, b.Head[i])
		}
	}
	return out
}

// reset forgets everything and gives the memory back.
func (w *window) reset() {
	for _, b := range w.batches {
		release(b)
	}
	clear(w.batches)
	clear(w.dead)
	clear(w.at)
	w.batches, w.rows, w.bytes, w.catalog = w.batches[:0], 0, 0, design.NewCatalog(w.subset)
}
