package sqlengine

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

// RecordDecoder converts rows of a table to records for a dump. A row has the columns of the header, if the design
// stores headers separately, and the columns of the line table. The decoder ignores columns that are no part of a
// record.
type RecordDecoder struct {
	Batch record.Batch // the records since the last Reset

	t             *record.LineType
	columns       []Column
	design        design.Name
	normalized    bool
	header        record.Header
	headerIndex   map[record.Header]uint32
	row           rowTimes
	key           []byte // the key column of the current row; nil = the table has none
	hash          record.Hasher
	previous      []string // by column: the text of the previous row, which AsText reuses
	decodeRepeats RepeatsDecoder
}

type rowTimes struct {
	valid, validEnd, init, obsLead, obsBeg, obsEnd, line int64

	lead, epoch       int64 // redundant columns, which must match the times
	hasLead, hasEpoch bool
}

// NewRecordDecoder returns a decoder for rows with these columns, of type t in design n, normalized or wide.
func NewRecordDecoder(n design.Name, t *record.LineType, columns []Column, decode RepeatsDecoder) *RecordDecoder {
	c := &RecordDecoder{t: t, columns: columns, design: n, normalized: n == design.Normalized, decodeRepeats: decode}
	c.header, c.previous = record.DefaultHeader(), make([]string, len(columns))
	c.Reset()
	return c
}

// Reset empties the batch and keeps its memory.
func (c *RecordDecoder) Reset() {
	c.Batch.Reset(c.t, "")
	c.headerIndex = map[record.Header]uint32{}
}

// SetHeader sets the header fields that the following rows do not contain.
func (c *RecordDecoder) SetHeader(h record.Header) { c.header = h }

// SetValue sets column k of the current row. It does not keep a []byte.
func (c *RecordDecoder) SetValue(k int, src any) (err error) {
	col := &c.columns[k]
	switch col.From {
	case Header:
		c.previous[k], err = AsText(src, c.previous[k])
		c.header[col.Field] = c.previous[k]
	case LineNum:
		c.row.line, err = AsInteger(src)
	case ValidBeg:
		c.row.valid, err = AsTime(src)
	case ValidEnd:
		c.row.validEnd, err = AsTime(src)
	case InitBeg:
		c.row.init, err = AsTime(src)
	case ObsBeg:
		c.row.obsBeg, err = AsTime(src)
	case ObsEnd:
		c.row.obsEnd, err = AsTime(src)
	case ObsLead:
		if c.row.obsLead, err = AsInteger(src); c.normalized {
			c.row.obsLead = design.LeadSeconds("", c.row.obsLead)
		}
	case Data:
		err = c.data(&col.Data, k, src)
	case Repeats:
		c.Batch.Group, err = c.decodeRepeats(src, c.Batch.Group)
		c.Batch.GroupEnd = append(c.Batch.GroupEnd, uint32(len(c.Batch.Group)))
	case Lead:
		c.row.lead, err = AsInteger(src)
		c.row.hasLead = true
	case ValidEpoch:
		c.row.epoch, err = AsInteger(src)
		c.row.hasEpoch = true
	case Identity:
		key, ok := src.([]byte)
		if c.key = append(c.key[:0], key...); !ok {
			err = fmt.Errorf("%T is not a key", src)
		}
	default: // numbers of headers and files, which records do not contain
	}
	if err != nil {
		return fmt.Errorf("%s, column %s: %w", c.t.Name, col.Name, err)
	}
	return nil
}

func (c *RecordDecoder) data(col *record.Column, k int, src any) (err error) {
	if col.Kind == record.Text {
		c.previous[k], err = AsText(src, c.previous[k])
		c.Batch.Text[col.Slot] = append(c.Batch.Text[col.Slot], c.previous[k])
		return err
	}
	f, err := AsNumber(src)
	if c.normalized {
		f = missingToNaN(f)
	}
	c.Batch.Num[col.Slot] = append(c.Batch.Num[col.Slot], f)
	return err
}

// EndRow completes the current row.
func (c *RecordDecoder) EndRow() error {
	header, ok := c.headerIndex[c.header]
	if !ok {
		header = c.Batch.AddHeader(c.header)
		c.headerIndex[c.header] = header
	}
	r, b := &c.row, &c.Batch
	b.AppendTimes(header, int32(r.valid-r.init), r.valid, uint32(r.line))
	i := b.Len() - 1
	b.ValidEnd[i], b.ObsLead[i], b.ObsBeg[i], b.ObsEnd[i] = r.validEnd, int32(r.obsLead), r.obsBeg, r.obsEnd
	if c.key != nil {
		if c.hash.SetRow(b, i); string(AppendIdentity(nil, c.hash.Key(i))) != string(c.key) {
			valid := time.Unix(r.valid, 0).UTC().Format(time.RFC3339)
			return fmt.Errorf("%s: a record of %s has the key of another record", c.t.Name, valid)
		}
	}
	if r.hasLead {
		if err := CheckLead(c.design, c.t, &c.header, r.lead, r.valid-r.init); err != nil {
			return err
		}
	}
	if r.hasEpoch {
		return CheckEpoch(c.t, r.epoch, r.valid)
	}
	return nil
}

// AppendIdentity appends the key of a record as tables store it.
func AppendIdentity(dst []byte, k record.Key) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(dst, k.Hi), k.Lo)
}

// ResultDecoder converts the rows of a reply to an answer. A row has the columns of the question, in its order. One
// goroutine uses a ResultDecoder, for one reply.
type ResultDecoder struct {
	columns       []question.Column
	normalized    bool
	query         *archive.Query
	into          *answer.Builder
	previous      []string // by column: the text of the previous row
	repeats       []float64
	decodeRepeats RepeatsDecoder
}

// NewResultDecoder resets into and returns a decoder of the reply to q in design n.
func NewResultDecoder(n design.Name, q *archive.Query, into *answer.Builder) *ResultDecoder {
	into.Reset(q.Question.Columns)
	return &ResultDecoder{
		columns: q.Question.Columns, normalized: n == design.Normalized, query: q, into: into,
		previous: make([]string, len(q.Question.Columns)), decodeRepeats: AsRepeats,
	}
}

// AddValue appends the value of column k to the current row. src may be any type that drivers return. AddValue does not
// keep a []byte.
func (d *ResultDecoder) AddValue(k int, src any) error {
	c := &d.columns[k]
	var err error
	switch c.Kind {
	case question.Text:
		d.previous[k], err = AsText(src, d.previous[k])
		d.into.Text(k, d.previous[k])
	case question.Number:
		var f float64
		f, err = AsNumber(src)
		d.AddNumber(k, f)
	case question.List:
		d.repeats, err = d.decodeRepeats(src, d.repeats[:0])
		d.AddList(k, d.repeats)
	case question.Time:
		var v int64
		v, err = AsTime(src)
		d.into.Seconds(k, v)
	default:
		var v int64
		v, err = AsInteger(src)
		d.AddLead(k, v)
	}
	if err != nil {
		return fmt.Errorf("row %d, column %s: %w", d.into.Rows+1, c.Name, err)
	}
	return nil
}

// AddNumber appends a decoded number.
func (d *ResultDecoder) AddNumber(k int, f float64) {
	if d.normalized {
		f = missingToNaN(f)
	}
	d.into.Num(k, f)
}

// AddList appends the values of the repeating columns of a record.
func (d *ResultDecoder) AddList(k int, repeats []float64) { d.into.List(k, repeats) }

// AddLead appends a lead as stored: in seconds, or as METviewer's code.
func (d *ResultDecoder) AddLead(k int, v int64) {
	if d.columns[k].Role == question.Lead {
		v = d.query.LeadCoding.Seconds(v)
	} else if d.normalized { // obs_lead
		v = design.LeadSeconds("", v)
	}
	d.into.Seconds(k, v)
}

// EndRow completes the current row.
func (d *ResultDecoder) EndRow() { d.into.Row() }

// AddRow decodes and appends a complete row.
func (d *ResultDecoder) AddRow(row []any) error {
	if len(row) != len(d.columns) {
		return fmt.Errorf("the reply has %d columns, the query selects %d", len(row), len(d.columns))
	}
	for k, v := range row {
		if err := d.AddValue(k, v); err != nil {
			return err
		}
	}
	d.EndRow()
	return nil
}

// AddText appends a text from bytes, which it does not keep.
func (d *ResultDecoder) AddText(k int, v []byte) {
	if string(v) != d.previous[k] { // this comparison does not allocate
		d.previous[k] = string(v)
	}
	d.into.Text(k, d.previous[k])
}

// AddTime appends a decoded time in Unix seconds.
func (d *ResultDecoder) AddTime(k int, v int64) { d.into.Seconds(k, v) }

// DumpQuery runs a query for the decoder's columns and yields the records.
func (c *RecordDecoder) DumpQuery(ctx context.Context, q Querier, text string, to *archive.Dumper) error {
	err := q.Rows(ctx, text, nil, func(row []any) error {
		if err := c.SetRow(row); err != nil {
			return err
		}
		return c.EndRowAndYield(to)
	})
	if err != nil {
		return err
	}
	return to.Yield(&c.Batch)
}

// SetRow sets the values of the first columns of the current row; EndRow completes it.
func (c *RecordDecoder) SetRow(row []any) error {
	for k, v := range row {
		if err := c.SetValue(k, v); err != nil {
			return err
		}
	}
	return nil
}

// EndRowAndYield completes the current row and yields the batch if it is full.
func (c *RecordDecoder) EndRowAndYield(to *archive.Dumper) error {
	if err := c.EndRow(); err != nil {
		return err
	}
	emptied, err := to.YieldFull(&c.Batch)
	if emptied {
		clear(c.headerIndex)
	}
	return err
}

// docDumpColumns returns the columns of DocColumns that a dump selects before the entries:
// the id, the header fields, and the valid time in Unix seconds and as text.
func docDumpColumns() []Column { return DocColumns()[:3+int(record.NumFields)] }

// documentDecoder converts rows of documents to the records of a dump.
type documentDecoder struct {
	batch       record.Batch
	headerIndex map[record.Header]uint32
	header      record.Header // of the current document; AsText reuses the texts of the previous one
	subset      string
	key         []byte
}

func newDocumentDecoder(t *record.LineType, subset string) *documentDecoder {
	d := &documentDecoder{headerIndex: map[record.Header]uint32{}, subset: subset}
	d.batch.Reset(t, "")
	return d
}

// add takes a row: the id, the header fields, the valid time in Unix seconds and as text, and the entries as JSON (see
// docDumpColumns). It yields the batch if it is full.
func (d *documentDecoder) add(row []any, to *archive.Dumper) (err error) {
	h := &d.header
	for f := range h {
		if h[f], err = AsText(row[1+f], h[f]); err != nil {
			return err
		}
	}
	valid, err := AsInteger(row[1+len(h)])
	if err != nil {
		return err
	}
	entries, err := asBytes(row[3+len(h)])
	if err != nil {
		return err
	}
	if err := d.checkCopies(row[0], row[2+len(h)], valid); err != nil {
		return err
	}
	header, ok := d.headerIndex[*h]
	if !ok {
		header = d.batch.AddHeader(*h)
		d.headerIndex[*h] = header
	}
	if err := design.ParseEntries(entries, &d.batch, header, valid); err != nil {
		return err
	}
	emptied, err := to.YieldFull(&d.batch)
	if emptied {
		clear(d.headerIndex)
	}
	return err
}

// checkCopies is CheckDoc for the current document, with the values of a row.
func (d *documentDecoder) checkCopies(id, iso any, valid int64) error {
	storedID, err := asBytes(id)
	if err != nil {
		return err
	}
	text, err := asBytes(iso)
	if err != nil {
		return err
	}
	return CheckDoc(d.batch.Type, d.subset, &d.header, valid, storedID, text, &d.key)
}

// CheckDoc returns an error if a document's id or its time as text does not match its header and valid time, from
// which both were derived. A difference shows that the stored document was changed. key is a buffer.
func CheckDoc(t *record.LineType, subset string, h *record.Header, valid int64, id, iso []byte, key *[]byte) error {
	*key = design.AppendKey((*key)[:0], t, subset, h, valid)
	if !bytes.Equal(id, *key) {
		return fmt.Errorf("%s: the document has the id %q, but its header and time give %q", t.Name, id, *key)
	}
	if *key = design.AppendISO((*key)[:0], valid); !bytes.Equal(iso, *key) {
		return fmt.Errorf("%s: fcst_valid_beg is %q in the document %q", t.Name, iso, id)
	}
	return nil
}

// CheckLead returns an error if a stored lead differs from the lead that the times give.
func CheckLead(n design.Name, t *record.LineType, h *record.Header, stored, lead int64) error {
	if n == design.Normalized {
		lead = design.LeadCode(h[record.Version], int32(lead)) //nolint:gosec // the lead fits
	}
	if stored == lead {
		return nil
	}
	return fmt.Errorf("%s: fcst_lead is %d, but the times of the row give %d", t.Name, stored, lead)
}

// CheckEpoch returns an error if fcst_valid_epoch differs from fcst_valid_beg.
func CheckEpoch(t *record.LineType, epoch, valid int64) error {
	if epoch == valid {
		return nil
	}
	return fmt.Errorf("%s: fcst_valid_epoch is %d, but fcst_valid_beg of the row is %d", t.Name, epoch, valid)
}
