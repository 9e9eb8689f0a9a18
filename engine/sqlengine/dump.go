package sqlengine

import (
	"bytes"
	"context"
	"fmt"

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
	if err := c.Row(); err != nil {
		return err
	}
	emptied, err := to.Full(&c.Batch)
	if emptied {
		clear(c.heads)
	}
	return err
}

// docDumpColumns are those of DocColumns that a dump selects before the
// entries: the id, the header's fields, the valid time in Unix seconds and as text.
func docDumpColumns() []Column { return DocColumns()[:3+int(record.NumFields)] }

// documents turns documents into the records of a dump.
type documents struct {
	batch  record.Batch
	heads  map[record.Header]uint32
	header record.Header // of the document before
	subset string
	key    []byte
}

func newDocuments(t *record.LineType, subset string) *documents {
	d := &documents{heads: map[record.Header]uint32{}, subset: subset}
	d.batch.Reset(t, "")
	return d
}

// add takes a row of docDumpColumns and the entries as JSON, and hands the
// batch out when it is full.
func (d *documents) add(row []any, to *engine.Dumper) (err error) {
	h := &d.header
	for f := range h {
		if h[f], err = AsText(row[1+f], h[f]); err != nil {
			return err
		}
	}
	valid, err := AsWhole(row[1+len(h)])
	if err != nil {
		return err
	}
	entries, err := asBytes(row[3+len(h)])
	if err != nil {
		return err
	}
	if err := d.agrees(row[0], row[2+len(h)], valid); err != nil {
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

// agrees is an error where a document's id or its time as text is not that of
// its header and valid time.
func (d *documents) agrees(id, iso any, valid int64) error {
	has, err := asBytes(id)
	if err != nil {
		return err
	}
	text, err := asBytes(iso)
	if err != nil {
		return err
	}
	return DocAgrees(d.batch.Type, d.subset, &d.header, valid, has, text, &d.key)
}

// DocAgrees is an error where a document's id or its time as text is not that
// of its header and valid time: of what is kept twice somebody has changed one.
// key is memory for it.
func DocAgrees(t *record.LineType, subset string, h *record.Header, valid int64, id, iso []byte, key *[]byte) error {
	*key = design.AppendKey((*key)[:0], t, subset, h, valid)
	if !bytes.Equal(id, *key) {
		return fmt.Errorf("%s: the id %q is that of a document of %q", t.Name, id, *key)
	}
	if *key = design.AppendISO((*key)[:0], valid); !bytes.Equal(iso, *key) {
		return fmt.Errorf("%s: fcst_valid_beg is %q in the document %q", t.Name, iso, id)
	}
	return nil
}

// LeadAgrees is an error where a lead as it is stored is not that of the times.
func LeadAgrees(n design.Name, t *record.LineType, h *record.Header, stored, lead int64) error {
	if n == design.Normalized {
		lead = design.LeadCode(h[record.Version], int32(lead)) //nolint:gosec // as it was stored
	}
	if stored == lead {
		return nil
	}
	return fmt.Errorf("%s: fcst_lead is %d in a row whose times make it %d", t.Name, stored, lead)
}

// EpochAgrees is an error where fcst_valid_epoch is not fcst_valid_beg.
func EpochAgrees(t *record.LineType, epoch, valid int64) error {
	if epoch == valid {
		return nil
	}
	return fmt.Errorf("%s: fcst_valid_epoch is %d in a row whose fcst_valid_beg is %d", t.Name, epoch, valid)
}
