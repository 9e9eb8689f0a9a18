package sqlengine

import (
	"context"

	"github.com/barograph/barograph/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/record"
)

// From hands out the rows of a query for the collector's columns.
func (c *Collector) From(ctx context.Context, q Querier, text string, to *engine.Dumper) error {
	err := q.Rows(ctx, text, nil, func(row []any) error {
		if err := c.Values(row); err != nil {
			return err
		}
		return c.End(to)
	})
	if err != nil {
		return err
	}
	return to.Rest(&c.Batch)
}

// Values takes the values of a row, from its first column on.
func (c *Collector) Values(row []any) error {
	for k, v := range row {
		if err := c.Value(k, v); err != nil {
			return err
		}
	}
	return nil
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

// docDumpColumns are those of DocColumns that a dump selects before the
// entries: the header's fields and the valid time, Unix seconds.
func docDumpColumns() []Column { return DocColumns()[1 : 2+int(record.NumFields)] }

// documents turns documents into the records of a dump.
type documents struct {
	batch  record.Batch
	heads  map[record.Header]uint32
	header record.Header // of the document before
}

func newDocuments(t *record.LineType) *documents {
	d := &documents{heads: map[record.Header]uint32{}}
	d.batch.Reset(t, "")
	return d
}

// add takes a row of docDumpColumns and the entries as JSON, and hands the
// batch out when it is full.
func (d *documents) add(row []any, to *engine.Dumper) (err error) {
	h := &d.header
	for f := range h {
		if h[f], err = AsText(row[f], h[f]); err != nil {
			return err
		}
	}
	valid, err := AsWhole(row[len(h)])
	if err != nil {
		return err
	}
	entries, err := asBytes(row[len(h)+1])
	if err != nil {
		return err
	}
	head, ok := d.heads[*h]
	if !ok {
		head = d.batch.AddHeader(*h)
		d.heads[*h] = head
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
