package sqlite

import (
	"database/sql/driver"

	"barograph/design"
	"barograph/engine"
	"barograph/engine/sqlengine"
	"barograph/record"
)

// docWriter writes documents.
type docWriter struct {
	l      *loader
	tables map[*record.LineType]*docTable
	key    []byte
	data   []byte
	merged record.Batch
}

// docTable holds the statements of one table of documents.
type docTable struct {
	columns []sqlengine.Column
	insert  *stmt
	find    *stmt
	update  *stmt
	have    record.Batch
}

func newDocWriter(l *loader) *docWriter {
	return &docWriter{l: l, tables: map[*record.LineType]*docTable{}}
}

func (w *docWriter) load() error   { return nil }
func (w *docWriter) finish() error { return nil }
func (w *docWriter) settled(bool)  {}

func (w *docWriter) table(t *record.LineType) (*docTable, error) {
	if dt := w.tables[t]; dt != nil {
		return dt, nil
	}
	name, cols := w.l.tableName(t)
	dt := &docTable{columns: cols}
	insert := sqlengine.Insert(name, cols, 1)
	insert = insert[:len(insert)-len("?)")] + "jsonb(?))" // data stands last
	var err error
	if dt.insert, err = w.l.c.prepare(insert); err != nil {
		return nil, err
	}
	if dt.find, err = w.l.c.prepare("SELECT json(data) FROM " + name + " WHERE id = ?"); err != nil {
		return nil, err
	}
	if dt.update, err = w.l.c.prepare("UPDATE " + name + " SET data = jsonb(?) WHERE id = ?"); err != nil {
		return nil, err
	}
	w.tables[t] = dt
	return dt, nil
}

func (w *docWriter) put(doc *design.Doc, overlap bool, stored *engine.Stored) error {
	dt, err := w.table(doc.Rows.Type)
	if err != nil {
		return err
	}
	w.key = design.AppendKey(w.key[:0], doc.Rows.Type, w.l.subset, doc.Header(), doc.Valid())
	id := string(w.key)
	if overlap {
		if done, err := w.merge(dt, id, doc, stored); err != nil || done {
			return err
		}
	}
	w.data = design.AppendEntries(w.data[:0], doc.Rows)
	w.bind(dt, id, doc)
	return dt.insert.run()
}

// merge puts the document into the one that the archive holds; done is false
// where it holds none.
func (w *docWriter) merge(dt *docTable, id string, doc *design.Doc, stored *engine.Stored) (done bool, err error) {
	dt.have.Reset(doc.Rows.Type, "")
	dt.find.set(id)
	err = dt.find.rows(func(v []driver.Value) error {
		done = true
		text, err := sqlengine.AsText(v[0], "")
		if err != nil {
			return err
		}
		return design.ParseEntries([]byte(text), &dt.have, dt.have.AddHeader(*doc.Header()), doc.Valid())
	})
	if err != nil || !done {
		return false, err
	}
	design.Merge(&w.merged, &dt.have, doc, func(i, j int) { stored.Meet(doc.From[j], &dt.have, i, doc.Rows, j) })
	w.data = design.AppendEntries(w.data[:0], &w.merged)
	dt.update.set(string(w.data), id)
	return true, dt.update.run()
}

// bind sets the arguments of an insert.
func (w *docWriter) bind(dt *docTable, id string, doc *design.Doc) {
	h := doc.Header()
	for k := range dt.columns {
		c := &dt.columns[k]
		v := &dt.insert.args[k].Value
		switch c.From {
		case sqlengine.DocID:
			*v = id
		case sqlengine.Header:
			*v = h[c.Field]
		case sqlengine.ValidEpoch:
			*v = doc.Valid()
		case sqlengine.ValidBeg:
			*v = string(design.AppendISO(nil, doc.Valid()))
		case sqlengine.DocData:
			*v = string(w.data)
		}
	}
}
