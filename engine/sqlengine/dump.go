package sqlengine

import (
	"database/sql"

	"barograph/design"
	"barograph/engine"
	"barograph/record"
)

// Dump hands out the rows of a query for the collector's columns, and closes them.
func (c *Collector) Dump(rows *sql.Rows, to *engine.Dumper) error {
	defer rows.Close() //nolint:errcheck // Err below says what went wrong
	cells := c.Scan()
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

// End ends the row under way and hands the batch out when it is full.
func (c *Collector) End(to *engine.Dumper) error {
	c.Row()
	emptied, err := to.Full(&c.Batch)
	if emptied {
		clear(c.heads)
	}
	return err
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
	defer rows.Close() //nolint:errcheck // Err below says what went wrong
	var h record.Header
	var valid int64
	var entries sql.RawBytes
	cells := make([]any, 0, len(h)+2)
	for f := range record.NumFields {
		cells = append(cells, &h[f])
	}
	cells = append(cells, &valid, &entries)
	for rows.Next() {
		if err := rows.Scan(cells...); err != nil {
			return err
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
