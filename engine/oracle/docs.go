package oracle

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strconv"

	"barograph/design"
	"barograph/engine"
	"barograph/engine/sqlengine"
	"barograph/fault"
	"barograph/record"
)

// docWriter writes documents.
type docWriter struct {
	l      *loader
	have   record.Batch
	merged record.Batch
}

func (w *docWriter) read(context.Context, querier) error   { return nil }
func (w *docWriter) finish(context.Context, querier) error { return nil }
func (w *docWriter) settled(bool)                          {}

func (w *docWriter) write(ctx context.Context, q querier, t *record.LineType, stored *engine.Stored) error {
	table, cols := w.l.table(t)
	old, err := w.find(ctx, q, t, table)
	if err != nil {
		return err
	}
	add := insert(table, cols)
	change := insert(table, nil)
	change.text = "UPDATE " + table + " SET data = :1 WHERE id = :2"
	change.texts, change.blobs[0] = make([][]string, 2), nil
	for doc := range w.l.groupers[t].Docs() {
		id := w.id(doc)
		if len(id) > idBytes {
			return &fault.Error{File: doc.From[0], Problem: fmt.Sprintf("holds a series whose id has %d bytes; Oracle's columns take %d", len(id), idBytes), Cure: "use the normalized design"}
		}
		stored.New += int64(doc.Rows.Len())
		if entries, ok := old[id]; ok {
			if err := w.merge(entries, doc, stored); err != nil {
				return err
			}
			change.setBlob(0, design.AppendEntries(nil, &w.merged))
			change.set(1, id)
			err = change.end(ctx, q)
		} else {
			bindDoc(add, cols, id, doc)
			err = add.end(ctx, q)
		}
		if err != nil {
			return err
		}
	}
	if err := change.flush(ctx, q); err != nil {
		return err
	}
	return add.flush(ctx, q)
}

func (w *docWriter) id(doc *design.Doc) string {
	return string(design.AppendKey(nil, doc.Rows.Type, w.l.subset, doc.Header(), doc.Valid()))
}

// idsAsked is the number of documents that one query looks up.
const idsAsked = 1000

// find reads the documents that the new ones will be merged with, by id.
func (w *docWriter) find(ctx context.Context, q querier, t *record.LineType, table string) (map[string][]byte, error) {
	var ids []string
	for doc := range w.l.groupers[t].Docs() {
		if w.l.catalog.Holding(t, doc.Header()).MayHold(doc.Valid()) {
			ids = append(ids, w.id(doc))
		}
	}
	old := map[string][]byte{}
	var id string
	var data sql.RawBytes
	for some := range slices.Chunk(ids, idsAsked) {
		where, args := w.l.a.dialect.DocKeys(some)
		err := each(ctx, q, "SELECT r.id, r.data FROM "+table+" r WHERE "+where, arguments(args), []any{&id, &data}, func() error {
			old[id] = slices.Clone(data)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return old, nil
}

// merge puts the document into the one that the archive holds, as w.merged.
func (w *docWriter) merge(entries []byte, doc *design.Doc, stored *engine.Stored) error {
	w.have.Reset(doc.Rows.Type, "")
	if err := design.ParseEntries(entries, &w.have, w.have.AddHeader(*doc.Header()), doc.Valid()); err != nil {
		return err
	}
	design.Merge(&w.merged, &w.have, doc, func(i, j int) { stored.Meet(doc.From[j], &w.have, i, doc.Rows, j) })
	return nil
}

// bindDoc gives the parameters of an INSERT of a document.
func bindDoc(b *bulk, cols []sqlengine.Column, id string, doc *design.Doc) {
	for k := range cols {
		switch c := &cols[k]; c.From {
		case sqlengine.DocID:
			b.set(k, id)
		case sqlengine.Header:
			b.set(k, doc.Header()[c.Field])
		case sqlengine.ValidEpoch:
			b.set(k, strconv.FormatInt(doc.Valid(), 10))
		case sqlengine.ValidBeg:
			b.set(k, string(design.AppendISO(nil, doc.Valid())))
		case sqlengine.DocData:
			b.setBlob(k, design.AppendEntries(nil, doc.Rows))
		}
	}
}
