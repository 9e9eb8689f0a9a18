package mariadb

import (
	"context"
	"database/sql"
	"iter"
	"slices"
	"strconv"
	"strings"

	"barograph/design"
	"barograph/engine"
	"barograph/engine/sqlengine"
	"barograph/flavour"
	"barograph/record"
)

// docWriter writes documents.
type docWriter struct {
	l        *loader
	made     map[*record.LineType]bool
	groupers map[*record.LineType]*design.Grouper
	there    map[*record.LineType]map[string][]byte // id → entries of the documents that are there
}

func (w *docWriter) refresh(context.Context) error       { return nil }
func (w *docWriter) begin(context.Context) (bool, error) { return false, nil }
func (w *docWriter) settle(context.Context) error        { return nil }
func (w *docWriter) finish(context.Context) error        { return nil }

func (w *docWriter) settled(bool) { w.groupers, w.there = nil, nil }

// prepare groups the records and merges them with the documents that are there.
func (w *docWriter) prepare(ctx context.Context, stored *engine.Stored) error {
	w.groupers, w.there = map[*record.LineType]*design.Grouper{}, map[*record.LineType]map[string][]byte{}
	if w.made == nil {
		w.made = map[*record.LineType]bool{}
	}
	for _, t := range w.l.types {
		if !w.made[t] {
			if err := w.l.exec(ctx, w.l.a.typeTable(w.l.subset, t)); err != nil {
				return err
			}
			w.made[t] = true
		}
		g := design.NewGrouper(t)
		for _, b := range w.l.batches[t] {
			g.Add(b)
		}
		w.groupers[t] = g
		if err := w.find(ctx, t); err != nil {
			return err
		}
		if err := w.count(t, stored); err != nil {
			return err
		}
	}
	return nil
}

// docsAsked is the number of documents that one query looks up.
const docsAsked = 1000

// find reads the documents that the commit adds to.
func (w *docWriter) find(ctx context.Context, t *record.LineType) error {
	there := map[string][]byte{}
	w.there[t] = there
	seen := map[docRef]struct{}{}
	var ids []string
	var key []byte
	for _, b := range w.l.batches[t] {
		for i := range b.Len() {
			h := b.Header(i)
			if !w.l.catalog.Holding(t, h).MayHold(b.Valid[i]) {
				continue
			}
			ref := docRef{*h, b.Valid[i]}
			if _, ok := seen[ref]; ok {
				continue
			}
			seen[ref] = struct{}{}
			key = design.AppendKey(key[:0], t, w.l.subset, h, b.Valid[i])
			ids = append(ids, flavour.Quote(string(key)))
		}
	}
	name, _, _ := sqlengine.Table(design.Document, t)
	for some := range slices.Chunk(ids, docsAsked) {
		rows, err := w.l.conn.QueryContext(ctx, "SELECT id, data FROM "+w.l.table(name)+" WHERE id IN ("+strings.Join(some, ", ")+")")
		if err != nil {
			return err
		}
		if err := keep(rows, there); err != nil {
			return err
		}
	}
	return nil
}

type docRef struct {
	header record.Header
	valid  int64
}

func keep(rows *sql.Rows, there map[string][]byte) error {
	defer rows.Close() //nolint:errcheck // Err below says what went wrong
	for rows.Next() {
		var id string
		var data []byte
		if err := rows.Scan(&id, &data); err != nil {
			return err
		}
		there[id] = data
	}
	return rows.Err()
}

// merged puts a document together with what is there under its id.
func (w *docWriter) merged(doc *design.Doc, id string, have, into *record.Batch, meet func(i, j int)) (*record.Batch, error) {
	data, ok := w.there[doc.Rows.Type][id]
	if !ok {
		return doc.Rows, nil
	}
	have.Reset(doc.Rows.Type, "")
	if err := design.ParseEntries(data, have, have.AddHeader(*doc.Header()), doc.Valid()); err != nil {
		return nil, err
	}
	design.Merge(into, have, doc, meet)
	return into, nil
}

func (w *docWriter) count(t *record.LineType, stored *engine.Stored) error {
	for _, b := range w.l.batches[t] {
		stored.New += int64(b.Len())
	}
	if len(w.there[t]) == 0 {
		return nil
	}
	var have, into record.Batch
	var key []byte
	for doc := range w.groupers[t].Docs() {
		key = design.AppendKey(key[:0], t, w.l.subset, doc.Header(), doc.Valid())
		_, err := w.merged(doc, string(key), &have, &into, func(i, j int) { stored.Meet(doc.From[j], &have, i, doc.Rows, j) })
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *docWriter) write(ctx context.Context) error {
	for _, t := range w.l.types {
		if err := w.writeType(ctx, t); err != nil {
			return err
		}
	}
	return nil
}

func (w *docWriter) writeType(ctx context.Context, t *record.LineType) error {
	name, cols, _ := sqlengine.Table(design.Document, t)
	sent, names, set := split(cols, w.l.batches[t])
	f := infile{table: w.l.table(name), columns: names, charset: "utf8mb4", replace: true, set: strings.Join(set, ", "), rows: 1}
	var have, into record.Batch
	var key, data []byte
	var failure error
	docs, stop := iter.Pull(w.groupers[t].Docs())
	defer stop()
	f.more = each(func(dst []byte) ([]byte, bool) {
		doc, ok := docs()
		if !ok || failure != nil {
			return dst, false
		}
		key = design.AppendKey(key[:0], t, w.l.subset, doc.Header(), doc.Valid())
		rows, err := w.merged(doc, string(key), &have, &into, func(int, int) {})
		if err != nil {
			failure = err
			return dst, false
		}
		data = design.AppendEntries(data[:0], rows)
		for k, c := range sent {
			if k > 0 {
				dst = append(dst, '\t')
			}
			dst = appendDoc(dst, c, doc, key, data)
		}
		return append(dst, '\n'), true
	})
	if err := f.run(ctx, w.l.conn); err != nil {
		return err
	}
	return failure
}

// appendDoc appends the value of a column of the document design.
func appendDoc(dst []byte, c *sqlengine.Column, doc *design.Doc, key, data []byte) []byte {
	switch c.From {
	case sqlengine.DocID:
		return appendText(dst, key)
	case sqlengine.Header:
		return appendText(dst, doc.Header()[c.Field])
	case sqlengine.ValidEpoch:
		return strconv.AppendInt(dst, doc.Valid(), 10)
	case sqlengine.ValidBeg:
		return design.AppendISO(dst, doc.Valid())
	}
	return appendText(dst, data)
}
