package duckdb

import (
	"context"
	"math"

	"github.com/duckdb/duckdb-go/v2/mapping"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/record"
)

// docWriter appends documents: rows with a list of structs. DuckDB stores each member of the
// structs as a column.
type docWriter struct {
	*chunkWriter
	t      *record.LineType
	subset string

	n         int // documents in the chunk
	list      vector
	members   []vector
	entries   int // number of entries in the chunk
	room      int // number of entries for which the chunk has room
	repeats   vector
	values    int // repeating values in the chunk
	valueRoom int
	id        []byte
	last      record.Header
}

func (l *loader) docWriter(lay *layout) (*docWriter, error) {
	w, err := newWriter(l.c, l.c.db.alias, l.schema, lay.table)
	if err != nil {
		return nil, err
	}
	return &docWriter{chunkWriter: w, t: lay.t, subset: l.subset}, nil
}

// initialRoom is the number of entries for which a new chunk has room.
const initialRoom = 1 << 16

// begin finds the vectors of an empty chunk.
func (w *docWriter) begin() {
	w.list = w.columns[len(w.columns)-1]
	w.entries, w.room, w.values, w.valueRoom = 0, 0, 0, 0
	w.members = w.members[:0]
	entry := mapping.ListVectorGetChild(w.list.raw)
	for k := range len(entryTimes) + len(w.t.Columns) {
		w.members = append(w.members, vector{raw: mapping.StructVectorGetChild(entry, mapping.IdxT(k))})
	}
	if w.t.Group != nil {
		k := len(entryTimes) + len(w.t.Columns)
		w.repeats = vector{raw: mapping.StructVectorGetChild(entry, mapping.IdxT(k))}
	}
}

// grow makes room for n more entries, and reads the addresses of the arrays, which may have moved.
func (w *docWriter) grow(n int) {
	if w.entries+n <= w.room {
		return
	}
	w.room = max(initialRoom, 2*w.room, w.entries+n)
	mapping.ListVectorReserve(w.list.raw, mapping.IdxT(w.room))
	for k := range w.members {
		w.members[k].refresh()
	}
	if w.t.Group != nil {
		w.repeats.refresh()
	}
}

// add appends a document. b has records of one header and valid time.
func (w *docWriter) add(b *record.Batch) error {
	if w.n == w.capacity {
		if err := w.sendDocs(); err != nil {
			return err
		}
	}
	if w.n == 0 {
		w.begin()
	}
	i, h, valid := w.n, &b.Headers[0], b.Valid[0]
	w.id = design.AppendKey(w.id[:0], b.Type, w.subset, h, valid)
	w.columns[0].setText(i, string(w.id))
	for f := range record.NumFields {
		v := &w.columns[1+f]
		if i > 0 && h[f] == w.last[f] {
			v.repeatText(i)
		} else {
			v.setText(i, h[f])
		}
	}
	w.last = *h
	k := 1 + int(record.NumFields)
	w.columns[k].int64s(w.capacity)[i] = valid
	w.id = design.AppendISO(w.id[:0], valid)
	w.columns[k+1].setText(i, string(w.id))
	w.grow(b.Len())
	w.list.spans(w.capacity)[i] = span{uint64(w.entries), uint64(b.Len())}
	w.fillEntries(b)
	w.entries += b.Len()
	w.n++
	return nil
}

func (w *docWriter) fillEntries(b *record.Batch) {
	at, n := w.entries, b.Len()
	copy(w.members[0].int32s(w.room)[at:], b.Lead)
	ends, begs, obsEnds := w.members[1].int64s(w.room)[at:], w.members[3].int64s(w.room)[at:], w.members[4].int64s(w.room)[at:]
	leads := w.members[2].int32s(w.room)[at:]
	for i := range n {
		if b.HasPlainTimes(i) {
			for k := 1; k < len(entryTimes); k++ {
				w.members[k].setNull(at + i)
			}
			continue
		}
		ends[i], leads[i], begs[i], obsEnds[i] = b.ValidEnd[i], b.ObsLead[i], b.ObsBeg[i], b.ObsEnd[i]
	}
	for k := range b.Type.Columns {
		c, v := &b.Type.Columns[k], &w.members[len(entryTimes)+k]
		if c.Kind != record.Text {
			out := v.float64s(w.room)
			for i, f := range b.Num[c.Slot] {
				if math.IsNaN(f) {
					v.setNull(at + i)
				} else {
					out[at+i] = f
				}
			}
			continue
		}
		for i, s := range b.Text[c.Slot] {
			v.setText(at+i, s)
		}
	}
	if b.Type.Group != nil {
		w.fillRepeats(b)
	}
}

func (w *docWriter) fillRepeats(b *record.Batch) {
	if need := w.values + len(b.Group); need > w.valueRoom {
		w.valueRoom = max(initialRoom, 2*w.valueRoom, need)
		mapping.ListVectorReserve(w.repeats.raw, mapping.IdxT(w.valueRoom))
	}
	child := readVector(mapping.ListVectorGetChild(w.repeats.raw))
	spans, out := w.repeats.spans(w.room), child.float64s(w.valueRoom)
	for i := range b.Len() {
		list := b.Repeats(i)
		spans[w.entries+i] = span{uint64(w.values), uint64(len(list))}
		for _, f := range list {
			if math.IsNaN(f) {
				child.setNull(w.values)
			} else {
				out[w.values] = f
			}
			w.values++
		}
	}
}

// sendDocs appends the chunk.
func (w *docWriter) sendDocs() error {
	if w.n == 0 {
		return nil
	}
	if w.t.Group != nil {
		mapping.ListVectorSetSize(w.repeats.raw, mapping.IdxT(w.values))
	}
	mapping.ListVectorSetSize(w.list.raw, mapping.IdxT(w.entries))
	n := w.n
	w.n = 0
	return w.send(n)
}

// docReader decodes the list of entries of documents.
type docReader struct {
	t       *record.LineType
	entries int
	members []vector
	repeats vector
	values  []float64
	child   vector
	texts   interner
}

// use points the reader to a chunk's list of entries.
func (d *docReader) use(list vector) {
	entry, n := list.list()
	d.entries, d.members = n, d.members[:0]
	for k := range len(entryTimes) + len(d.t.Columns) {
		d.members = append(d.members, entry.member(k))
	}
	if d.t.Group != nil {
		d.repeats = entry.member(len(entryTimes) + len(d.t.Columns))
		var values int
		d.child, values = d.repeats.list()
		d.values = d.child.float64s(values)
	}
}

// entriesInto appends the entries of one document to b, with header head.
func (d *docReader) entriesInto(b *record.Batch, s span, head uint32, valid int64) {
	from, to := int(s.offset), int(s.offset+s.length)
	for i := from; i < to; i++ {
		b.AppendTimes(head, d.members[0].int32s(d.entries)[i], valid, 0)
		if d.members[1].null(i) {
			continue
		}
		at := b.Len() - 1
		b.ValidEnd[at], b.ObsLead[at] = d.members[1].int64s(d.entries)[i], d.members[2].int32s(d.entries)[i]
		b.ObsBeg[at], b.ObsEnd[at] = d.members[3].int64s(d.entries)[i], d.members[4].int64s(d.entries)[i]
	}
	for k := range d.t.Columns {
		c, v := &d.t.Columns[k], &d.members[len(entryTimes)+k]
		if c.Kind == record.Text {
			for i := from; i < to; i++ {
				b.Text[c.Slot] = append(b.Text[c.Slot], d.texts.get(v.text(i)))
			}
			continue
		}
		b.Num[c.Slot] = appendNumbers(b.Num[c.Slot], v, d.entries, from, to, false)
	}
	if d.t.Group == nil {
		return
	}
	for i := from; i < to; i++ {
		r := d.repeats.spans(d.entries)[i]
		b.Group = appendNumbers(b.Group, &d.child, len(d.values), int(r.offset), int(r.offset+r.length), false)
		b.GroupEnd = append(b.GroupEnd, uint32(len(b.Group)))
	}
}

// storeDocs writes the documents of g, merged with existing documents of the same id.
func (l *loader) storeDocs(ctx context.Context, _ sqlengine.Querier, g *design.Grouper, candidates []design.Row, stored *archive.CommitResult) error {
	lay := newLayout(design.Document, g.Type)
	existing, err := l.takeExisting(ctx, g, sqlengine.Series(candidates), &lay)
	if err != nil {
		return err
	}
	w, err := l.docWriter(&lay)
	if err != nil {
		return err
	}
	defer w.close()
	var merged record.Batch
	n := 0
	for doc := range g.Docs() {
		rows := doc.Rows
		if old := existing[series{*doc.Header(), doc.Valid()}]; old == nil {
			stored.Objects++
		} else {
			design.Merge(&merged, old, doc, func(i, j int) { stored.Resolve(doc.Files[j], old, i, doc.Rows, j) })
			rows = &merged
		}
		n++
		if err := w.add(rows); err != nil {
			return err
		}
		if n%w.capacity == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	if err := w.sendDocs(); err != nil {
		return err
	}
	return w.flush(ctx)
}

// takeExisting fetches and deletes the existing documents with a header and valid time of g. candidates lists
// the documents that may exist.
func (l *loader) takeExisting(ctx context.Context, g *design.Grouper, candidates []design.Row, lay *layout) (map[series]*record.Batch, error) {
	if len(candidates) == 0 {
		return nil, nil
	}
	if err := l.c.Exec(ctx, "CREATE OR REPLACE TEMP TABLE barograph_stage (n BIGINT, id VARCHAR)"); err != nil {
		return nil, err
	}
	if err := l.stageIDs(ctx, g, candidates); err != nil {
		return nil, err
	}
	first, last := bounds(candidates)
	table := l.a.Dialect.Table(l.subset, lay.table)
	condition := " t.fcst_valid_epoch BETWEEN " + literal(first) + " AND " + literal(last)
	r, err := l.c.query(ctx, "SELECT s.n, t.fcst_valid_epoch, t.data FROM "+table+" t JOIN temp.main.barograph_stage s ON t.id = s.id WHERE"+condition)
	if err != nil {
		return nil, err
	}
	defer r.close()
	existing := map[series]*record.Batch{}
	reader := docReader{t: g.Type}
	for r.next() {
		n, valid, list := r.vector(0), r.vector(1), r.vector(2)
		reader.use(list)
		for i := range r.rows {
			b := &record.Batch{}
			b.Reset(g.Type, "")
			row := candidates[n.int64s(r.rows)[i]]
			reader.entriesInto(b, list.spans(r.rows)[i], b.AddHeader(g.Headers[row.Header]), valid.int64s(r.rows)[i])
			existing[series{g.Headers[row.Header], row.Valid}] = b
		}
	}
	return existing, l.c.Exec(ctx, "DELETE FROM "+table+" t WHERE"+condition+" AND t.id IN (SELECT id FROM temp.main.barograph_stage)")
}

// series identifies a document by its header and valid time.
type series struct {
	header record.Header
	valid  int64
}

// stageIDs writes the ids of the candidates into the stage, with their numbers.
func (l *loader) stageIDs(ctx context.Context, g *design.Grouper, candidates []design.Row) error {
	columns := []sqlengine.Column{{Type: sqlengine.BigInt}, {Type: sqlengine.Text}}
	return l.stage(func(w *chunkWriter) error {
		n := -1
		return w.rows(ctx, columns, func(to sqlengine.Sink) (bool, error) {
			if n++; n == len(candidates) {
				return false, nil
			}
			to.Integer(0, int64(n))
			to.Text(1, string(design.AppendKey(nil, g.Type, l.subset, &g.Headers[candidates[n].Header], candidates[n].Valid)))
			return true, nil
		})
	})
}
