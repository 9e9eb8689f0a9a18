package sqlengine

import (
	"context"
	"iter"
	"slices"
	"strings"

	"github.com/barograph/barograph/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/record"
)

// StoreDocs stores documents, merged with those of the same id that are there.
func (l *Loader) StoreDocs(ctx context.Context, q Querier, g *design.Grouper, held []design.Row, stored *engine.Stored) error {
	table, cols := l.a.Table(l.subset, g.Type)
	old, err := l.oldDocs(ctx, q, table, g, held)
	if err != nil {
		return err
	}
	next, stop := iter.Pull(g.Docs())
	defer stop()
	var have, merged record.Batch
	var id, data []byte
	return l.s.Insert(ctx, q, table, cols, func(to Sink) (bool, error) {
		doc, ok := next()
		if !ok {
			return false, nil
		}
		id = design.AppendKey(id[:0], g.Type, l.subset, doc.Header(), doc.Valid())
		if err := l.checkKey(doc.From[0], string(id)); err != nil {
			return false, err
		}
		rows := doc.Rows
		entries, ok := old[string(id)]
		if !ok {
			stored.Objects++
		} else {
			have.Reset(g.Type, "")
			if err := design.ParseEntries([]byte(entries), &have, have.AddHeader(*doc.Header()), doc.Valid()); err != nil {
				return false, err
			}
			design.Merge(&merged, &have, doc, func(i, j int) { stored.Meet(doc.From[j], &have, i, doc.Rows, j) })
			rows = &merged
		}
		data = design.AppendEntries(data[:0], rows)
		PutDoc(to, cols, string(id), doc, data)
		return true, nil
	})
}

// PutDoc hands the values of a document to a sink.
func PutDoc(to Sink, cols []Column, id string, doc *design.Doc, data []byte) {
	for k := range cols {
		switch c := &cols[k]; c.From {
		case DocID:
			to.Text(k, id)
		case Header:
			to.Text(k, doc.Header()[c.Field])
		case ValidEpoch:
			to.Whole(k, doc.Valid())
		case ValidBeg:
			to.Text(k, string(design.AppendISO(nil, doc.Valid())))
		case DocData:
			to.JSON(k, data)
		}
	}
}

// idsAsked is the number of documents that one query looks up.
const idsAsked = 1000

// oldDocs are the entries, by id, of the documents that new ones are merged
// with. They are deleted where the new ones do not take their place.
func (l *Loader) oldDocs(ctx context.Context, q Querier, table string, g *design.Grouper, held []design.Row) (map[string]string, error) {
	old := map[string]string{}
	for some := range slices.Chunk(Series(held), idsAsked) {
		ids := make([]string, len(some))
		for i, r := range some {
			ids[i] = string(design.AppendKey(nil, g.Type, l.subset, &g.Heads[r.Head], r.Valid))
		}
		where, args := l.a.Dialect.DocKeys(ids)
		found := len(old)
		err := q.Rows(ctx, "SELECT r.id, "+l.a.entries("r.data")+" FROM "+table+" r WHERE "+where, args, func(row []any) error {
			var id, data string
			err := Scan(row, &id, &data)
			old[id] = data
			return err
		})
		if err == nil && len(old) > found && !l.s.Upserts {
			err = q.Exec(ctx, "DELETE FROM "+table+" WHERE "+strings.TrimPrefix(where, "r."), args...)
		}
		if err != nil {
			return nil, err
		}
	}
	return old, nil
}
