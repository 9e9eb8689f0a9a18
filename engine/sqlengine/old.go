package sqlengine

import (
	"context"
	"database/sql"

	"barograph/design"
	"barograph/engine"
	"barograph/record"
)

// DumpTypes dumps the tables of line types in turn, each by docs under the
// document design, else by lines, until one fails.
func DumpTypes(n design.Name, types []*record.LineType, lines, docs func(t *record.LineType) error) error {
	one := lines
	if n == design.Document {
		one = docs
	}
	for _, t := range types {
		if err := one(t); err != nil {
			return err
		}
	}
	return nil
}

// Dump hands out the rows of a query for the collector's columns, and closes them.
func (c *Collector) Dump(rows *sql.Rows, to *engine.Dumper) error {
	return c.DumpCells(rows, c.Scan(), to)
}

// DumpCells is Dump for a driver whose values need cells of their own, each of
// which gives what it scans to Value.
func (c *Collector) DumpCells(rows *sql.Rows, cells []any, to *engine.Dumper) error {
	defer rows.Close() //nolint:errcheck // Err below says what went wrong
	for rows.Next() {
		if err := rows.Scan(cells...); err != nil {
			return err
		}
		if err := c.End(to); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	return to.Rest(&c.Batch)
}

// DocDumpColumns are those of DocColumns that a dump selects before the
// entries: the header's fields and the valid time, Unix seconds.
func DocDumpColumns() []Column { return DocColumns()[1 : 2+int(record.NumFields)] }

// Documents turns documents into the records of a dump.
type Documents struct {
	batch record.Batch
	heads map[record.Header]uint32
}

// NewDocuments prepares to read documents of type t.
func NewDocuments(t *record.LineType) *Documents {
	d := &Documents{heads: map[record.Header]uint32{}}
	d.batch.Reset(t, "")
	return d
}

// Add takes a document with its entries as JSON, and hands the batch out when
// it is full.
func (d *Documents) Add(h record.Header, valid int64, entries []byte, to *engine.Dumper) error {
	head, ok := d.heads[h]
	if !ok {
		head = d.batch.AddHeader(h)
		d.heads[h] = head
	}
	if err := design.ParseEntries(entries, &d.batch, head, valid); err != nil {
		return err
	}
	emptied, err := to.Full(&d.batch)
	if emptied {
		clear(d.heads)
	}
	return err
}

// Rest hands out what was taken last.
func (d *Documents) Rest(to *engine.Dumper) error { return to.Rest(&d.batch) }

// Dump hands out the rows of a query for DocDumpColumns and the entries as
// JSON, and closes them.
func (d *Documents) Dump(rows *sql.Rows, to *engine.Dumper) error {
	defer rows.Close()                          //nolint:errcheck // Err below says what went wrong
	var fields [record.NumFields]sql.NullString // Oracle's empty text is NULL
	var valid int64
	var entries sql.RawBytes
	cells := make([]any, 0, len(fields)+2)
	for f := range fields {
		cells = append(cells, &fields[f])
	}
	cells = append(cells, &valid, &entries)
	for rows.Next() {
		if err := rows.Scan(cells...); err != nil {
			return err
		}
		var h record.Header
		for f := range fields {
			h[f] = fields[f].String
		}
		if err := d.Add(h, valid, entries, to); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	return d.Rest(to)
}

// cell is a sql.Scanner that decodes in place: database/sql hands it the
// driver's value as it is, without a conversion in between.
type cell struct {
	d *Decoder
	k int
}

func (c cell) Scan(src any) error { return c.d.Value(c.k, src) }

// Rows decodes all rows of a reply that came through database/sql, and closes it.
func (d *Decoder) Rows(ctx context.Context, rows *sql.Rows) error {
	defer rows.Close() //nolint:errcheck // Err below says what went wrong
	cells := make([]any, len(d.columns))
	for k := range cells {
		cells[k] = cell{d, k}
	}
	for rows.Next() {
		if err := rows.Scan(cells...); err != nil {
			return err
		}
		d.Row()
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return rows.Err()
}

// Scan returns one sql.Scanner per column, for rows of database/sql.
func (c *Collector) Scan() []any {
	cells := make([]any, len(c.columns))
	for k := range cells {
		cells[k] = collectCell{c, k}
	}
	return cells
}

type collectCell struct {
	c *Collector
	k int
}

func (c collectCell) Scan(src any) error { return c.c.Value(c.k, src) }
