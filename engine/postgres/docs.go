package postgres

import (
	"context"
	"io"
	"iter"

	"github.com/jackc/pgx/v5"

	"barograph/design"
	"barograph/engine"
	"barograph/engine/sqlengine"
	"barograph/record"
)

// docWriter writes documents.
type docWriter struct {
	l        *loader
	groupers map[*record.LineType]*design.Grouper
	order    []*record.LineType // of first sight
	key      []byte
	data     []byte
	have     record.Batch
	merged   record.Batch
}

func newDocWriter(l *loader) *docWriter {
	return &docWriter{l: l, groupers: map[*record.LineType]*design.Grouper{}}
}

func (w *docWriter) add(b *record.Batch) {
	g := w.groupers[b.Type]
	if g == nil {
		g = design.NewGrouper(b.Type)
		w.groupers[b.Type] = g
		w.order = append(w.order, b.Type)
	}
	g.Add(b)
}

func (w *docWriter) types() []*record.LineType               { return w.order }
func (w *docWriter) read(context.Context, *pgx.Conn) error   { return nil }
func (w *docWriter) finish(context.Context, *pgx.Conn) error { return nil }

func (w *docWriter) reset(bool) {
	clear(w.groupers)
	w.order = nil
}

func (w *docWriter) id(doc *design.Doc) []byte {
	w.key = design.AppendKey(w.key[:0], doc.Rows.Type, w.l.subset, doc.Header(), doc.Valid())
	return w.key
}

// write takes the documents that are there already out of the archive, merges
// them with the new ones, and copies all.
func (w *docWriter) write(ctx context.Context, c *pgx.Conn, t *record.LineType, known *design.Catalog, stored *engine.Stored) error {
	name, cols, _ := sqlengine.Table(design.Document, t)
	table := w.l.a.dialect.Table(w.l.subset, name)
	old, err := w.take(ctx, c, table, t, known)
	if err != nil {
		return err
	}
	next, stop := iter.Pull(w.groupers[t].Docs())
	defer stop()
	return copyRows(ctx, c, table, cols, func(dst []byte) ([]byte, error) {
		doc, ok := next()
		if !ok {
			return dst, io.EOF
		}
		id, rows := w.id(doc), doc.Rows
		if entries, ok := old[string(id)]; !ok {
			stored.Objects++
		} else {
			if err := w.merge(entries, doc, stored); err != nil {
				return dst, err
			}
			rows = &w.merged
		}
		return w.append(dst, cols, id, doc, rows), nil
	})
}

// take deletes the documents that the new ones will be merged with, and
// returns their entries by id.
func (w *docWriter) take(ctx context.Context, c *pgx.Conn, table string, t *record.LineType, stored *design.Catalog) (map[string][]byte, error) {
	if len(stored.Groups) == 0 {
		return nil, nil
	}
	var ids []string
	for doc := range w.groupers[t].Docs() {
		if stored.Holding(t, doc.Header()).MayHold(doc.Valid()) {
			ids = append(ids, string(w.id(doc)))
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	rows, err := c.Query(ctx, "DELETE FROM "+table+" WHERE id = ANY($1) RETURNING id, data::text", ids)
	if err != nil {
		return nil, err
	}
	old := map[string][]byte{}
	var id string
	var data []byte
	_, err = pgx.ForEachRow(rows, []any{&id, &data}, func() error {
		old[id], data = data, nil
		return nil
	})
	return old, err
}

// merge puts the document into the one that the archive held, as w.merged.
func (w *docWriter) merge(entries []byte, doc *design.Doc, stored *engine.Stored) error {
	w.have.Reset(doc.Rows.Type, "")
	if err := design.ParseEntries(entries, &w.have, w.have.AddHeader(*doc.Header()), doc.Valid()); err != nil {
		return err
	}
	design.Merge(&w.merged, &w.have, doc, func(i, j int) { stored.Meet(doc.From[j], &w.have, i, doc.Rows, j) })
	return nil
}

// append appends a document as a row.
func (w *docWriter) append(dst []byte, cols []sqlengine.Column, id []byte, doc *design.Doc, rows *record.Batch) []byte {
	const jsonbVersion = 1
	dst = append(dst, 0, byte(len(cols)))
	for k := range cols {
		switch c := &cols[k]; c.From {
		case sqlengine.DocID:
			dst = appendText(dst, id)
		case sqlengine.Header:
			dst = appendText(dst, doc.Header()[c.Field])
		case sqlengine.ValidEpoch:
			dst = appendBig(dst, doc.Valid())
		case sqlengine.ValidBeg:
			dst = append(dst, 0, 0, 0, byte(len(design.ISO)))
			dst = design.AppendISO(dst, doc.Valid())
		case sqlengine.DocData:
			w.data = design.AppendEntries(append(w.data[:0], jsonbVersion), rows)
			dst = appendText(dst, w.data)
		}
	}
	return dst
}
