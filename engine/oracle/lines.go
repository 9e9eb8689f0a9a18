package oracle

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"barograph/design"
	"barograph/engine"
	"barograph/engine/sqlengine"
	"barograph/record"
)

// lineWriter writes METviewer's tables.
type lineWriter struct {
	l       *loader
	headers *sqlengine.Interner[record.Header]
	files   *sqlengine.Interner[string]
	hash    record.Hasher
}

func (w *lineWriter) read(ctx context.Context, q querier) error {
	w.headers, w.files = sqlengine.NewInterner[record.Header](), sqlengine.NewInterner[string]()
	cols := sqlengine.HeaderColumns()
	var id int64
	var fields [record.NumFields]sql.NullString // an empty text is NULL
	into := []any{&id}
	for _, c := range cols[1:] {
		into = append(into, &fields[c.Field])
	}
	err := each(ctx, q, "SELECT "+sqlengine.Names("", cols)+" FROM "+w.l.a.dialect.Table(w.l.subset, design.HeaderTable), nil, into, func() error {
		var h record.Header
		for f := range fields {
			h[f] = fields[f].String
		}
		w.headers.Have(h, id)
		return nil
	})
	if err != nil {
		return err
	}
	var dir, name sql.NullString
	return each(ctx, q, "SELECT data_file_id, path, filename FROM "+w.l.a.dialect.Table(w.l.subset, sqlengine.FileTable), nil, []any{&id, &dir, &name}, func() error {
		w.files.Have(dir.String+name.String, id)
		return nil
	})
}

func (w *lineWriter) write(ctx context.Context, q querier, t *record.LineType, stored *engine.Stored) error {
	table, cols := w.l.table(t)
	there, err := w.find(ctx, q, t, table, cols)
	if err != nil {
		return err
	}
	remove, add := insert(table, nil), insert(table, cols)
	remove.text, remove.texts = "DELETE FROM "+table+" WHERE ROWID = CHARTOROWID(:1)", make([][]string, 1)
	for doc := range w.l.groupers[t].Docs() {
		w.hash.Use(doc.Rows)
		stored.New += int64(doc.Rows.Len())
		for i := range doc.Rows.Len() {
			old, ok := there[w.hash.Key(i)]
			if !ok {
				continue
			}
			stored.Meet(doc.From[i], old.have, old.row, doc.Rows, i)
			remove.set(0, old.rowid)
			if err := remove.end(ctx, q); err != nil {
				return err
			}
		}
	}
	if err := remove.flush(ctx, q); err != nil {
		return err
	}
	for doc := range w.l.groupers[t].Docs() {
		header, _ := w.headers.ID(sqlengine.HeaderKey(*doc.Header()))
		for i := range doc.Rows.Len() {
			file, _ := w.files.ID(doc.From[i])
			bindLine(add, cols, doc.Rows, i, header, file)
			if err := add.end(ctx, q); err != nil {
				return err
			}
		}
	}
	return add.flush(ctx, q)
}

// seriesAsked is the number of headers and valid times that one query looks up.
const seriesAsked = 200

// rowRef is a row of the archive and its record.
type rowRef struct {
	rowid string
	have  *record.Batch
	row   int
}

// find reads the records of the series and times that the commit brings again.
func (w *lineWriter) find(ctx context.Context, q querier, t *record.LineType, table string, cols []sqlengine.Column) (map[record.Key]rowRef, error) {
	headers := map[int64]record.Header{}
	var pairs []string
	for doc := range w.l.groupers[t].Docs() {
		if !w.l.catalog.Holding(t, doc.Header()).MayHold(doc.Valid()) {
			continue
		}
		id, fresh := w.headers.ID(sqlengine.HeaderKey(*doc.Header()))
		if pair := fmt.Sprintf("(%d, %s)", id, w.l.a.dialect.DateTime(doc.Valid())); !fresh && (len(pairs) == 0 || pairs[len(pairs)-1] != pair) {
			headers[id] = *doc.Header()
			pairs = append(pairs, pair)
		}
	}
	there := map[record.Key]rowRef{}
	have := sqlengine.NewCollector(design.Normalized, t, cols, sqlengine.AsRepeats)
	var rowid string
	var header int64
	into := []any{&rowid, &header} // the header comes first, so that its fields are known to the row
	for k := range cols {
		into = append(into, cell{have.Value, k, false})
	}
	into[2] = headerCell{&header, headers, have}
	for some := range slices.Chunk(pairs, seriesAsked) {
		var rowids []string
		have.Reset()
		err := each(ctx, q, "SELECT ROWIDTOCHAR(ld.ROWID), ld.stat_header_id, "+sqlengine.Names("ld.", cols)+" FROM "+table+
			" ld WHERE (ld.stat_header_id, ld.fcst_valid_beg) IN ("+strings.Join(some, ", ")+")", nil, into, func() error {
			have.Row()
			rowids = append(rowids, rowid)
			return nil
		})
		if err != nil {
			return nil, err
		}
		batch := have.Batch.Clone()
		w.hash.Use(batch)
		for i, at := range rowids {
			there[w.hash.Key(i)] = rowRef{at, batch, i}
		}
	}
	return there, nil
}

// headerCell takes stat_header_id, and tells the collector the header.
type headerCell struct {
	id      *int64
	headers map[int64]record.Header
	have    *sqlengine.Collector
}

// Scan takes the driver's value; what is before it in the row is scanned.
func (c headerCell) Scan(any) error {
	c.have.SetHeader(c.headers[*c.id])
	return nil
}

// bindLine gives the parameters of an INSERT of record i.
func bindLine(to *bulk, cols []sqlengine.Column, b *record.Batch, i int, header, file int64) {
	h := b.Header(i)
	whole := func(k int, v int64) { to.set(k, strconv.FormatInt(v, 10)) }
	moment := func(k int, v int64) { to.set(k, string(sqlengine.AppendDateTime(nil, v))) }
	for k := range cols {
		switch c := &cols[k]; c.From {
		case sqlengine.HeaderID:
			whole(k, header)
		case sqlengine.FileID:
			whole(k, file)
		case sqlengine.LineNum:
			whole(k, int64(b.Line[i]))
		case sqlengine.Header:
			to.set(k, h[c.Field])
		case sqlengine.Lead:
			whole(k, design.LeadCode(h[record.Version], b.Lead[i]))
		case sqlengine.ValidBeg:
			moment(k, b.Valid[i])
		case sqlengine.ValidEnd:
			moment(k, b.ValidEnd[i])
		case sqlengine.InitBeg:
			moment(k, b.Init(i))
		case sqlengine.ObsLead:
			whole(k, design.LeadHMS(b.ObsLead[i]))
		case sqlengine.ObsBeg:
			moment(k, b.ObsBeg[i])
		case sqlengine.ObsEnd:
			moment(k, b.ObsEnd[i])
		case sqlengine.Repeats:
			to.setBlob(k, design.AppendRepeats(nil, b.Repeats(i)))
		case sqlengine.Data:
			to.set(k, datum(&c.Data, b, i))
		}
	}
}

// datum is the value of a column of the line type.
func datum(c *record.Column, b *record.Batch, i int) string {
	if c.Kind == record.Text {
		return b.Text[c.Slot][i]
	}
	f := b.Num[c.Slot][i]
	if math.IsNaN(f) {
		f = design.MissingNumber
	}
	return strconv.FormatFloat(f, 'G', -1, 64)
}

// finish writes the headers and files that came with this commit.
func (w *lineWriter) finish(ctx context.Context, q querier) error {
	cols := sqlengine.HeaderColumns()
	add := insert(w.l.a.dialect.Table(w.l.subset, design.HeaderTable), cols)
	headers, first := w.headers.Fresh()
	for n := range headers {
		add.set(0, strconv.FormatInt(first+int64(n), 10))
		for k, c := range cols[1:] {
			add.set(k+1, headers[n][c.Field])
		}
		if err := add.end(ctx, q); err != nil {
			return err
		}
	}
	if err := add.flush(ctx, q); err != nil {
		return err
	}
	add = insert(w.l.a.dialect.Table(w.l.subset, sqlengine.FileTable), sqlengine.FileColumns())
	files, first := w.files.Fresh()
	now := string(sqlengine.AppendDateTime(nil, time.Now().Unix()))
	for n, f := range files {
		dir, name := path.Split(f)
		for k, v := range []string{strconv.FormatInt(first+int64(n), 10), strconv.FormatInt(sqlengine.FileKind(name), 10), name, dir, now, ""} {
			add.set(k, v)
		}
		if err := add.end(ctx, q); err != nil {
			return err
		}
	}
	return add.flush(ctx, q)
}

func (w *lineWriter) settled(committed bool) {
	switch {
	case w.headers == nil:
	case committed:
		w.headers.Keep()
		w.files.Keep()
	default:
		w.headers.Drop()
		w.files.Drop()
	}
}
