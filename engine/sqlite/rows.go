package sqlite

import (
	"database/sql/driver"
	"math"
	"path"
	"time"

	"barograph/design"
	"barograph/engine/sqlengine"
	"barograph/record"
)

// rowWriter writes METviewer's tables.
type rowWriter struct {
	l       *loader
	headers *sqlengine.Interner[record.Header]
	files   *sqlengine.Interner[string]
	tables  map[*record.LineType]*lineTable
	times   map[int64]string // epoch → DATETIME
	hash    record.Hasher
}

// lineTable holds the statements of one line table.
type lineTable struct {
	columns []sqlengine.Column
	insert  *stmt
	find    *stmt // the rows of a header and valid time
	remove  *stmt
	have    *sqlengine.Collector // decodes find, whose first column is the rowid
	ids     []int64
}

func newRowWriter(l *loader) *rowWriter {
	return &rowWriter{
		l: l, headers: sqlengine.NewInterner[record.Header](), files: sqlengine.NewInterner[string](),
		tables: map[*record.LineType]*lineTable{}, times: map[int64]string{},
	}
}

func (w *rowWriter) load() error {
	w.headers, w.files = sqlengine.NewInterner[record.Header](), sqlengine.NewInterner[string]()
	table := w.l.a.dialect.Table(w.l.subset, design.HeaderTable)
	cols := sqlengine.HeaderColumns()
	s, err := w.l.c.prepare("SELECT " + sqlengine.Names("", cols) + " FROM " + table)
	if err != nil {
		return err
	}
	err = s.rows(func(values []driver.Value) error {
		var h record.Header
		for k, c := range cols[1:] {
			if h[c.Field], err = sqlengine.AsText(values[k+1], ""); err != nil {
				return err
			}
		}
		w.headers.Have(h, values[0].(int64))
		return nil
	})
	if err != nil {
		return err
	}
	s, err = w.l.c.prepare("SELECT data_file_id, path, filename FROM " + w.l.a.dialect.Table(w.l.subset, sqlengine.FileTable))
	if err != nil {
		return err
	}
	return s.rows(func(v []driver.Value) error {
		w.files.Have(v[1].(string)+v[2].(string), v[0].(int64))
		return nil
	})
}

// table prepares the statements of a line table.
func (w *rowWriter) table(t *record.LineType) (*lineTable, error) {
	if lt := w.tables[t]; lt != nil {
		return lt, nil
	}
	name, cols := w.l.tableName(t)
	lt := &lineTable{columns: cols, have: sqlengine.NewCollector(design.Normalized, t, cols, repeats)}
	var err error
	if lt.insert, err = w.l.c.prepare(sqlengine.Insert(name, cols, 1)); err != nil {
		return nil, err
	}
	lt.find, err = w.l.c.prepare("SELECT rowid, " + sqlengine.Names("", cols) + " FROM " + name + " WHERE stat_header_id = ? AND fcst_valid_beg = ?")
	if err != nil {
		return nil, err
	}
	if lt.remove, err = w.l.c.prepare("DELETE FROM " + name + " WHERE rowid = ?"); err != nil {
		return nil, err
	}
	w.tables[t] = lt
	return lt, nil
}

func (w *rowWriter) put(doc *design.Doc, overlap bool, replaced map[string]int64) (int64, error) {
	lt, err := w.table(doc.Rows.Type)
	if err != nil {
		return 0, err
	}
	id, fresh := w.headers.ID(sqlengine.HeaderKey(*doc.Header()))
	added := int64(doc.Rows.Len())
	if overlap && !fresh {
		n, err := w.replace(lt, id, doc, replaced)
		if err != nil {
			return 0, err
		}
		added -= n
	}
	for i := range doc.Rows.Len() {
		file, _ := w.files.ID(doc.From[i])
		w.bind(lt, id, file, doc.Rows, i)
		if err := lt.insert.run(); err != nil {
			return 0, err
		}
	}
	return added, nil
}

// replace removes the rows whose identity the document brings again.
func (w *rowWriter) replace(lt *lineTable, id int64, doc *design.Doc, replaced map[string]int64) (int64, error) {
	lt.have.Reset()
	lt.ids = lt.ids[:0]
	lt.have.SetHeader(*doc.Header())
	lt.find.set(id, w.dateTime(doc.Valid()))
	err := lt.find.rows(func(values []driver.Value) error {
		lt.ids = append(lt.ids, values[0].(int64))
		for k, v := range values[1:] {
			if err := lt.have.Value(k, v); err != nil {
				return err
			}
		}
		lt.have.Row()
		return nil
	})
	if err != nil || len(lt.ids) == 0 {
		return 0, err
	}
	at := make(map[record.Key]int64, len(lt.ids))
	w.hash.Use(&lt.have.Batch)
	for i, rowid := range lt.ids {
		at[w.hash.Key(i)] = rowid
	}
	var n int64
	w.hash.Use(doc.Rows)
	for i := range doc.Rows.Len() {
		rowid, ok := at[w.hash.Key(i)]
		if !ok {
			continue
		}
		lt.remove.set(rowid)
		if err := lt.remove.run(); err != nil {
			return n, err
		}
		replaced[doc.From[i]]++
		n++
	}
	return n, nil
}

// bind sets the arguments of an insert to row i of b.
func (w *rowWriter) bind(lt *lineTable, header, file int64, b *record.Batch, i int) {
	h := b.Header(i)
	args := lt.insert.args
	for k := range lt.columns {
		c := &lt.columns[k]
		v := &args[k].Value
		switch c.From {
		case sqlengine.HeaderID:
			*v = header
		case sqlengine.FileID:
			*v = file
		case sqlengine.LineNum:
			*v = int64(b.Line[i])
		case sqlengine.Header:
			*v = h[c.Field]
		case sqlengine.Lead:
			*v = design.LeadCode(h[record.Version], b.Lead[i])
		case sqlengine.ValidBeg:
			*v = w.dateTime(b.Valid[i])
		case sqlengine.ValidEnd:
			*v = w.dateTime(b.ValidEnd[i])
		case sqlengine.InitBeg:
			*v = w.dateTime(b.Init(i))
		case sqlengine.ObsLead:
			*v = design.LeadHMS(b.ObsLead[i])
		case sqlengine.ObsBeg:
			*v = w.dateTime(b.ObsBeg[i])
		case sqlengine.ObsEnd:
			*v = w.dateTime(b.ObsEnd[i])
		case sqlengine.Repeats:
			*v = string(design.AppendRepeats(nil, b.Repeats(i)))
		case sqlengine.Data:
			*v = datum(&c.Data, b, i)
		}
	}
}

// datum is the value of a column of the line type.
func datum(c *record.Column, b *record.Batch, i int) driver.Value {
	if c.Kind == record.Text {
		return b.Text[c.Slot][i]
	}
	f := b.Num[c.Slot][i]
	if math.IsNaN(f) {
		return float64(design.MissingNumber)
	}
	return f
}

func (w *rowWriter) dateTime(epoch int64) string {
	s, ok := w.times[epoch]
	if !ok {
		s = string(sqlengine.AppendDateTime(nil, epoch))
		w.times[epoch] = s
	}
	return s
}

// finish writes the headers and files that came with this commit.
func (w *rowWriter) finish() error {
	cols := sqlengine.HeaderColumns()
	s, err := w.l.c.prepare(sqlengine.Insert(w.l.a.dialect.Table(w.l.subset, design.HeaderTable), cols, 1))
	if err != nil {
		return err
	}
	headers, first := w.headers.Fresh()
	for n := range headers {
		s.args[0].Value = first + int64(n)
		for k, c := range cols[1:] {
			s.args[k+1].Value = headers[n][c.Field]
		}
		if err := s.run(); err != nil {
			return err
		}
	}
	s, err = w.l.c.prepare(sqlengine.Insert(w.l.a.dialect.Table(w.l.subset, sqlengine.FileTable), sqlengine.FileColumns(), 1))
	if err != nil {
		return err
	}
	files, first := w.files.Fresh()
	now := string(sqlengine.AppendDateTime(nil, time.Now().Unix()))
	for n, f := range files {
		dir, name := path.Split(f)
		s.set(first+int64(n), sqlengine.FileKind(name), name, dir, now, nil)
		if err := s.run(); err != nil {
			return err
		}
	}
	return nil
}

func (w *rowWriter) settled(committed bool) {
	if committed {
		w.headers.Keep()
		w.files.Keep()
		return
	}
	w.headers.Drop()
	w.files.Drop()
}

// repeats decodes the text form of repeating columns.
func repeats(src any, into []float64) ([]float64, error) {
	text, err := sqlengine.AsText(src, "")
	if err != nil {
		return into, err
	}
	return design.ParseRepeats([]byte(text), into)
}
