package duckdb

import (
	"bytes"
	"context"
	"iter"
	"math"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/record"
)

// The number of rows of a table in one fetch.
const (
	pageRows = 1 << 17
	pageDocs = 1 << 14
)

// Dump yields the records of a subset as of its start.
func (a *openArchive) Dump(ctx context.Context, subset string) iter.Seq2[*record.Batch, error] {
	return archive.Dump(func(to *archive.Dumper) error {
		return a.db.withConn(ctx, func(c *conn) error {
			if err := c.Exec(ctx, "BEGIN TRANSACTION"); err != nil {
				return err
			}
			defer func() { _ = c.Exec(context.Background(), "ROLLBACK") }()
			types, err := a.StoredTypes(ctx, c, subset)
			if err != nil {
				return err
			}
			return a.dump(ctx, c, subset, types, "", to)
		})
	})
}

// RowRanges returns the ranges of rows of the tables of a subset.
func (a *openArchive) RowRanges(ctx context.Context, subset string) (parts []archive.RowRange, err error) {
	types, err := a.StoredTypes(ctx, a.Pool, subset)
	for _, t := range types {
		last := int64(0)
		if err == nil {
			last, err = sqlengine.QueryNumber(ctx, a.Pool, "SELECT coalesce(max(rowid), -1)::BIGINT FROM "+a.Dialect.Table(subset, newLayout(a.Design, t).table))
		}
		parts = append(parts, archive.SplitRows(t.Name, last, pageRows, vectorRows)...)
	}
	return parts, err
}

// DumpRows yields the records of a range of rows.
func (a *openArchive) DumpRows(ctx context.Context, subset string, r archive.RowRange) iter.Seq2[*record.Batch, error] {
	return archive.Dump(func(to *archive.Dumper) error {
		return a.db.withConn(ctx, func(c *conn) error {
			t, _ := record.TypeByName(r.LineType) // RowRanges has set it
			return a.dumpRows(ctx, c, subset, []*record.LineType{t}, "", r, to)
		})
	})
}

// Salvage reads the tables by ranges of row numbers and omits rows in damaged blocks.
func (a *openArchive) Salvage(ctx context.Context, subset string, lost func(archive.Loss)) iter.Seq2[*record.Batch, error] {
	return archive.SalvageSubset(ctx, a, subset, lost)
}

// vectorRows is the number of rows that DuckDB decodes together.
const vectorRows = 2048

// dump yields the records of line types that satisfy a further condition.
func (a *openArchive) dump(ctx context.Context, c *conn, subset string, types []*record.LineType, further string, to *archive.Dumper) error {
	return a.dumpRows(ctx, c, subset, types, further, archive.RowRange{Last: math.MaxInt64}, to)
}

// dumpRows is dump for a range of rows of each table.
func (a *openArchive) dumpRows(ctx context.Context, c *conn, subset string, types []*record.LineType, further string, rows archive.RowRange, to *archive.Dumper) error {
	heads := map[int64]record.Header{}
	if a.Design == design.Normalized && len(types) > 0 {
		err := a.ReadHeaders(ctx, c, subset, func(h record.Header, id int64) { heads[id] = h })
		if err != nil {
			return err
		}
	}
	for _, t := range types {
		lay := newLayout(a.Design, t)
		table := a.Dialect.Table(subset, lay.table)
		last, err := sqlengine.QueryNumber(ctx, c, "SELECT coalesce(max(rowid), -1)::BIGINT FROM "+table)
		if err != nil {
			return err
		}
		page := int64(pageRows)
		if a.Design == design.Document {
			page = pageDocs
		}
		d := dumper{layout: &lay, heads: heads, docs: docReader{t: t}, subset: subset, texts: make([]interner, len(lay.columns))}
		last = min(last, rows.Last)
		for from := rows.First; from <= last; from += page {
			r, err := c.query(ctx, "SELECT "+sqlengine.ColumnList("", lay.columns)+" FROM "+table+
				" WHERE rowid BETWEEN "+literal(from)+" AND "+literal(min(from+page-1, last))+further)
			if err != nil {
				return err
			}
			err = d.page(r, to)
			r.close()
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// dumper converts chunks of one table to batches.
type dumper struct {
	layout *layout
	heads  map[int64]record.Header // headers by stat_header_id; normalized only
	docs   docReader
	subset string
	key    []byte
	texts  []interner
	batch  record.Batch
}

// page reads the chunks of a reply.
func (d *dumper) page(r *result, to *archive.Dumper) error {
	for r.next() {
		d.batch.Reset(d.layout.t, "")
		columns := make([]vector, len(d.layout.columns))
		for k := range columns {
			columns[k] = r.vector(k)
		}
		take := d.rows
		if d.layout.design == design.Document {
			take = d.documents
		}
		if err := take(columns, r.rows); err != nil {
			return err
		}
		if err := to.Yield(&d.batch); err != nil {
			return err
		}
	}
	return nil
}

// documents decodes a chunk of documents.
func (d *dumper) documents(columns []vector, rows int) error {
	list, epochs := columns[len(columns)-1], columns[1+int(record.NumFields)].int64s(rows)
	d.docs.use(list)
	for i := range rows {
		var h record.Header
		for f := range record.NumFields {
			h[f] = d.texts[f].get(columns[1+f].text(i))
		}
		iso := columns[2+int(record.NumFields)].text(i)
		if err := sqlengine.CheckDoc(d.layout.t, d.subset, &h, epochs[i], columns[0].text(i), iso, &d.key); err != nil {
			return err
		}
		d.docs.entriesInto(&d.batch, list.spans(rows)[i], d.batch.AddHeader(h), epochs[i])
	}
	return nil
}

// rows decodes a chunk of records.
func (d *dumper) rows(columns []vector, rows int) error {
	b := &d.batch
	heads := d.rowHeaders(columns, rows)
	for i := range rows {
		b.AppendTimes(heads[i], 0, 0, 0)
	}
	for k := range d.layout.columns {
		c, v := &d.layout.columns[k], &columns[k]
		switch c.From {
		case sqlengine.ValidBeg:
			seconds(b.Valid, v)
		case sqlengine.ValidEnd:
			seconds(b.ValidEnd, v)
		case sqlengine.ObsBeg:
			seconds(b.ObsBeg, v)
		case sqlengine.ObsEnd:
			seconds(b.ObsEnd, v)
		case sqlengine.ObsLead:
			copy(b.ObsLead, v.int32s(rows))
			if d.layout.design == design.Normalized {
				for i, code := range b.ObsLead {
					b.ObsLead[i] = int32(design.LeadSeconds("", int64(code)))
				}
			}
		case sqlengine.Data:
			d.data(k, v, rows)
		case sqlengine.Repeats:
			child, n := v.list()
			for _, s := range v.spans(rows) {
				b.Group = appendNumbers(b.Group, &child, n, int(s.offset), int(s.offset+s.length), d.layout.design == design.Normalized)
				b.GroupEnd = append(b.GroupEnd, uint32(len(b.Group)))
			}
		}
	}
	for k := range d.layout.columns { // the lead is valid − init, independent of its code
		if d.layout.columns[k].From == sqlengine.InitBeg {
			for i, init := range columns[k].int64s(rows) {
				b.Lead[i] = int32(b.Valid[i] - init/microseconds)
			}
		}
	}
	return d.agrees(columns, rows)
}

// agrees returns an error if redundant values contradict each other.
func (d *dumper) agrees(columns []vector, rows int) error {
	b := &d.batch
	for k := range d.layout.columns {
		switch d.layout.columns[k].From {
		case sqlengine.Lead:
			for i, stored := range columns[k].int32s(rows) {
				if err := sqlengine.CheckLead(d.layout.design, d.layout.t, b.Header(i), int64(stored), int64(b.Lead[i])); err != nil {
					return err
				}
			}
		case sqlengine.ValidEpoch:
			for i, epoch := range columns[k].int64s(rows) {
				if err := sqlengine.CheckEpoch(d.layout.t, epoch, b.Valid[i]); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (d *dumper) data(k int, v *vector, rows int) {
	c, b := &d.layout.columns[k], &d.batch
	if c.Type == sqlengine.Text {
		b.Text[c.Data.Slot] = d.texts[k].appendAll(b.Text[c.Data.Slot], v, rows)
		return
	}
	b.Num[c.Data.Slot] = appendNumbers(b.Num[c.Data.Slot], v, rows, 0, rows, d.layout.design == design.Normalized)
}

func seconds(out []int64, v *vector) {
	for i, micros := range v.int64s(len(out)) {
		out[i] = micros / microseconds
	}
}

// rowHeaders adds the headers of a chunk to the batch and returns their number for each row.
// Adjacent rows mostly have the same header.
func (d *dumper) rowHeaders(columns []vector, rows int) []uint32 {
	out := make([]uint32, rows)
	for i := range out {
		if i > 0 && d.sameHeader(columns, rows, i) {
			out[i] = out[i-1]
			continue
		}
		var h record.Header
		for k := range d.layout.columns {
			if c := &d.layout.columns[k]; c.From == sqlengine.HeaderID {
				h = d.heads[columns[k].int64s(rows)[i]]
			} else if c.From == sqlengine.Header {
				h[c.Field] = d.texts[k].get(columns[k].text(i))
			}
		}
		out[i] = d.batch.AddHeader(h)
	}
	return out
}

func (d *dumper) sameHeader(columns []vector, rows, i int) bool {
	for k := range d.layout.columns {
		switch d.layout.columns[k].From {
		case sqlengine.HeaderID:
			if ids := columns[k].int64s(rows); ids[i] != ids[i-1] {
				return false
			}
		case sqlengine.Header:
			if !bytes.Equal(columns[k].text(i), columns[k].text(i-1)) {
				return false
			}
		}
	}
	return true
}
