package sqlengine

import (
	"fmt"

	"github.com/barograph/barograph/answer"
	"github.com/barograph/barograph/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/question"
)

// Decoder turns the rows of a reply into an answer. It has the columns of the
// question, in its order. A Decoder is used by one goroutine, for one reply.
type Decoder struct {
	columns    []question.Column
	normalized bool
	query      *engine.Query
	into       *answer.Builder
	last       []string // by column: the text of the row before
}

// NewDecoder resets into and prepares to decode the reply to q under design n.
func NewDecoder(n design.Name, q *engine.Query, into *answer.Builder) *Decoder {
	into.Reset(q.Question.Columns)
	return &Decoder{
		columns: q.Question.Columns, normalized: n == design.Normalized, query: q, into: into,
		last: make([]string, len(q.Question.Columns)),
	}
}

// Value appends the value of column k to the row under way. src may be any
// type that drivers hand over; a []byte is not kept.
func (d *Decoder) Value(k int, src any) error {
	c := &d.columns[k]
	var err error
	switch c.Kind {
	case question.Text:
		d.last[k], err = AsText(src, d.last[k])
		d.into.Text(k, d.last[k])
	case question.Number:
		var f float64
		f, err = AsNumber(src)
		d.Num(k, f)
	case question.Time:
		var v int64
		v, err = AsTime(src)
		d.into.Whole(k, v)
	default:
		var v int64
		v, err = AsWhole(src)
		d.Span(k, v)
	}
	if err != nil {
		return fmt.Errorf("row %d, column %s: %w", d.into.Rows+1, c.Name, err)
	}
	return nil
}

// Num appends a number that is decoded already.
func (d *Decoder) Num(k int, f float64) {
	if d.normalized {
		f = orMissing(f)
	}
	d.into.Num(k, f)
}

// Span appends a lead as it came: in seconds, or in METviewer's code.
func (d *Decoder) Span(k int, v int64) {
	if d.columns[k].Role == question.Lead {
		v = d.query.Leads.InSeconds(v)
	} else if d.normalized { // obs_lead
		v = design.LeadSeconds("", v)
	}
	d.into.Whole(k, v)
}

// Row ends the row under way.
func (d *Decoder) Row() { d.into.Row() }

// Values decodes a row.
func (d *Decoder) Values(row []any) error {
	if len(row) != len(d.columns) {
		return fmt.Errorf("%d columns came, %d were asked for", len(row), len(d.columns))
	}
	for k, v := range row {
		if err := d.Value(k, v); err != nil {
			return err
		}
	}
	d.Row()
	return nil
}

// Text appends a text that came as bytes, which are not kept.
func (d *Decoder) Text(k int, v []byte) {
	if string(v) != d.last[k] { // does not allocate
		d.last[k] = string(v)
	}
	d.into.Text(k, d.last[k])
}

// Time appends a time that is decoded already, in Unix seconds.
func (d *Decoder) Time(k int, v int64) { d.into.Whole(k, v) }
