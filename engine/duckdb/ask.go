package duckdb

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/duckdb/duckdb-go/v2/mapping"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/question"
)

// The last line of a query of METviewer's tables says how it returns fcst_lead. METviewer stores
// hours for VSDB and HHMMSS for MET. If the query can match both, the query itself computes
// seconds.
const (
	leadHours = "\n-- fcst_lead comes in hours"
	leadHMS   = "\n-- fcst_lead comes as [H]HHMMSS"
)

// leadNote returns that line for records of these versions.
func leadNote(versions []string) string {
	switch hours := lists.Filter(versions, design.LeadsInHours); len(hours) {
	case 0:
		return leadHMS
	case len(versions):
		return leadHours
	}
	return ""
}

// Ask runs a query and copies its reply, column by column.
func (a *openArchive) Ask(ctx context.Context, q *archive.Query, into *answer.Builder) error {
	if ok, err := a.Exists(ctx, q.Question); err != nil || !ok {
		into.Reset(q.Question.Columns)
		return err
	}
	return a.db.ask(ctx, a.Design, q, into)
}

// ask runs a query of a design. It fails if the table does not exist.
func (db *database) ask(ctx context.Context, n design.Name, q *archive.Query, into *answer.Builder) error {
	into.Reset(q.Question.Columns)
	return db.withConn(ctx, func(c *conn) error {
		r, err := c.query(ctx, q.Text, q.Args...)
		if err != nil {
			return err
		}
		defer r.close()
		d := decoder{normalized: n == design.Normalized, columns: q.Question.Columns, texts: make([]interner, len(r.types))}
		if len(r.types) != len(d.columns) {
			return fmt.Errorf("duckdb: the reply has %d columns, the query selects %d", len(r.types), len(d.columns))
		}
		d.hours, d.hms = strings.HasSuffix(q.Text, leadHours), strings.HasSuffix(q.Text, leadHMS)
		for r.next() {
			for k := range d.columns {
				if err := d.column(r, k, into.Vector(k)); err != nil {
					return err
				}
			}
			into.Grow(r.rows)
		}
		return nil
	})
}

// decoder converts DuckDB's types to canonical types.
type decoder struct {
	normalized bool
	hours, hms bool // the unit of fcst_lead; neither = seconds
	columns    []question.Column
	texts      []interner
	repeats    []float64
}

func (d *decoder) column(r *result, k int, out *answer.Vector) error {
	v := r.vector(k)
	c := &d.columns[k]
	switch t := r.types[k]; {
	case c.Kind == question.Text && t == mapping.TypeVarchar:
		out.Text = d.texts[k].appendAll(out.Text, &v, r.rows)
	case c.Kind == question.Number && t == mapping.TypeDouble:
		out.Num = appendNumbers(out.Num, &v, r.rows, 0, r.rows, d.normalized)
	case c.Kind == question.List && t == mapping.TypeList:
		child, n := v.list()
		for _, s := range v.spans(r.rows) {
			d.repeats = appendNumbers(d.repeats[:0], &child, n, int(s.offset), int(s.offset+s.length), d.normalized)
			out.Num = c.AppendList(out.Num, d.repeats)
			out.End = append(out.End, len(out.Num))
		}
	case c.Kind == question.Time && t == mapping.TypeTimestamp:
		for _, micros := range v.int64s(r.rows) {
			out.Seconds = append(out.Seconds, micros/microseconds)
		}
	case (c.Kind == question.Time || c.Kind == question.Duration) && t == mapping.TypeBigInt:
		out.Seconds = append(out.Seconds, v.int64s(r.rows)...)
	case c.Kind == question.Duration && t == mapping.TypeInteger:
		for _, s := range v.int32s(r.rows) {
			out.Seconds = append(out.Seconds, int64(s))
		}
	default:
		return fmt.Errorf("duckdb: column %s has the unexpected type %d", c.Name, t)
	}
	if c.Kind == question.Duration && d.normalized {
		d.decodeLeads(c.Role, out.Seconds[len(out.Seconds)-r.rows:])
	}
	return nil
}

// decodeLeads converts METviewer's codes to seconds, in place.
func (d *decoder) decodeLeads(role question.Role, codes []int64) {
	switch {
	case role == question.Lead && d.hours:
		for i := range codes {
			codes[i] *= 3600
		}
	case role == question.Lead && !d.hms:
	default:
		for i, code := range codes {
			codes[i] = design.LeadSeconds("", code)
		}
	}
}

// appendNumbers appends the values from … to−1 of v, which has n values. NULL is missing, and in
// the normalized design METviewer's −9999, too.
func appendNumbers(out []float64, v *vector, n, from, to int, normalized bool) []float64 {
	at := len(out)
	out = append(out, v.float64s(n)[from:to]...)
	for i := range to - from {
		if v.null(from+i) || (normalized && out[at+i] == design.MissingNumber) {
			out[at+i] = math.NaN()
		}
	}
	return out
}

// interner converts DuckDB's texts to strings, one for each distinct text.
type interner struct {
	known map[string]string
	last  string
}

// maxInterned is the greatest number of texts of an interner.
const maxInterned = 1 << 16

func (n *interner) get(text []byte) string {
	if string(text) == n.last {
		return n.last
	}
	s, ok := n.known[string(text)]
	if !ok {
		if n.known == nil || len(n.known) >= maxInterned {
			n.known = map[string]string{}
		}
		s = string(text)
		n.known[s] = s
	}
	n.last = s
	return s
}

func (n *interner) appendAll(out []string, v *vector, rows int) []string {
	for i := range rows {
		out = append(out, n.get(v.text(i)))
	}
	return out
}
