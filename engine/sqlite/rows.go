package sqlite

import (
	"database/sql/driver"
	"fmt"
	"math"
	"path"
	"strings"
	"time"

	"barograph/design"
	"barograph/engine"
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
	header  int64 // number of the header and of the file that bind binds
	file    int64
}

// chunks are the numbers of rows that one statement inserts. Rows of one
// document differ in few columns; the others are bound once per chunk. Inserting
// a million values so takes half the CPU time of one statement per row.
var chunks = [...]int{16, 4, 1} //nolint:gochecknoglobals // a constant table

// lineTable holds the statements of one line table.
type lineTable struct {
	columns []sqlengine.Column
	shared  []sqlengine.Column // those that rows of one document mostly have in common
	own     []sqlengine.Column
	inserts [len(chunks)]*stmt // parameters: the shared columns, then the own columns of each row
	find    *stmt              // the rows of a header and valid time
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
	lt := &lineTable{columns: cols, have: sqlengine.NewCollector(design.Normalized, t, cols, sqlengine.AsRepeats)}
	var err error
	for _, c := range cols {
		if common(c.From) {
			lt.shared = append(lt.shared, c)
		} else {
			lt.own = append(lt.own, c)
		}
	}
	for k, rows := range chunks {
		if lt.inserts[k], err = w.l.c.prepare(lt.insert(name, rows)); err != nil {
			return nil, err
		}
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

func (w *rowWriter) put(doc *design.Doc, overlap bool, stored *engine.Stored) error {
	lt, err := w.table(doc.Rows.Type)
	if err != nil {
		return err
	}
	id, fresh := w.headers.ID(sqlengine.HeaderKey(*doc.Header()))
	if overlap && !fresh {
		if err := w.replace(lt, id, doc, stored); err != nil {
			return err
		}
	}
	return w.insert(lt, id, doc)
}

// common reports whether the rows of a document mostly agree in a column.
func common(from sqlengine.Source) bool {
	switch from {
	case sqlengine.HeaderID, sqlengine.FileID, sqlengine.Header, sqlengine.ValidBeg, sqlengine.ValidEnd,
		sqlengine.ObsLead, sqlengine.ObsBeg, sqlengine.ObsEnd:
		return true
	}
	return false
}

// insert writes the statement that inserts a chunk.
func (lt *lineTable) insert(name string, rows int) string {
	var b strings.Builder
	b.WriteString("INSERT INTO " + name + " (" + sqlengine.Names("", lt.shared) + ", " + sqlengine.Names("", lt.own) + ") VALUES ")
	next := len(lt.shared) + 1
	for r := range rows {
		if r > 0 {
			b.WriteString(", ")
		}
		for k := range lt.shared {
			fmt.Fprintf(&b, "%c?%d", "(,"[min(k, 1)], k+1)
		}
		for range lt.own {
			fmt.Fprintf(&b, ",?%d", next)
			next++
		}
		b.WriteByte(')')
	}
	return b.String()
}

// insert writes the rows of a document in chunks.
func (w *rowWriter) insert(lt *lineTable, id int64, doc *design.Doc) error {
	for from := 0; from < doc.Rows.Len(); {
		same := alike(doc, from, chunks[0])
		k := 0
		for chunks[k] > same {
			k++
		}
		s := lt.inserts[k]
		w.header = id
		w.file, _ = w.files.ID(doc.From[from])
		w.bind(s.args, lt.shared, doc.Rows, from)
		for r := range chunks[k] {
			w.bind(s.args[len(lt.shared)+r*len(lt.own):], lt.own, doc.Rows, from+r)
		}
		if err := s.run(); err != nil {
			return err
		}
		from += chunks[k]
	}
	return nil
}

// alike counts the rows from a row on, at most so many, that agree in the
// shared columns.
func alike(doc *design.Doc, from, most int) int {
	b := doc.Rows
	for n := 1; n < most; n++ {
		i := from + n
		if i == b.Len() || doc.From[i] != doc.From[from] || b.ValidEnd[i] != b.ValidEnd[from] || b.ObsLead[i] != b.ObsLead[from] ||
			b.ObsBeg[i] != b.ObsBeg[from] || b.ObsEnd[i] != b.ObsEnd[from] {
			return n
		}
	}
	return most
}

// replace removes the rows whose identity the document brings again.
func (w *rowWriter) replace(lt *lineTable, id int64, doc *design.Doc, stored *engine.Stored) error {
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
		return err
	}
	at := make(map[record.Key]int, len(lt.ids))
	w.hash.Use(&lt.have.Batch)
	for i := range lt.ids {
		at[w.hash.Key(i)] = i
	}
	w.hash.Use(doc.Rows)
	for j := range doc.Rows.Len() {
		i, ok := at[w.hash.Key(j)]
		if !ok {
			continue
		}
		lt.remove.set(lt.ids[i])
		if err := lt.remove.run(); err != nil {
			return err
		}
		stored.Meet(doc.From[j], &lt.have.Batch, i, doc.Rows, j)
	}
	return nil
}

// bind sets arguments to the columns of row i of b.
func (w *rowWriter) bind(args []driver.NamedValue, columns []sqlengine.Column, b *record.Batch, i int) {
	h := b.Header(i)
	for k := range columns {
		c := &columns[k]
		v := &args[k].Value
		switch c.From {
		case sqlengine.HeaderID:
			*v = w.header
		case sqlengine.FileID:
			*v = w.file
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
