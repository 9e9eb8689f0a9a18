package load

import (
	"encoding/hex"

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
	replace func(file string) // called once for each record that a later one of the window replaces
}

type place struct {
	batch *record.Batch
	row   int32
}

func newWindow(subset string, replace func(string)) *window {
	return &window{subset: subset, dead: map[*record.Batch]map[int]bool{}, at: map[record.Key]place{}, catalog: design.NewCatalog(subset), replace: replace}
}

// add takes the batch over until reset.
func (w *window) add(b *record.Batch) {
	w.batches = append(w.batches, b)
	w.rows += b.Len()
	w.catalog.Add(b)
	w.hash.Use(b)
	for i := range b.Len() {
		k := w.hash.Key(i)
		if old, ok := w.at[k]; ok {
			w.kill(old)
		}
		w.at[k] = place{b, int32(i)}
	}
}

func (w *window) kill(p place) {
	rows := w.dead[p.batch]
	if rows == nil {
		rows = map[int]bool{}
		w.dead[p.batch] = rows
	}
	rows[int(p.row)] = true
	w.replace(p.batch.File)
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
	w.batches, w.rows, w.catalog = w.batches[:0], 0, design.NewCatalog(w.subset)
}
