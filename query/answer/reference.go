package answer

import (
	"cmp"
	"slices"

	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

// Reference computes the answers to several questions from the records alone.
// Records are added in the order of the files: where two have one identity, the
// first stands, as in an archive. It holds the matching records only.
type Reference struct {
	parts []*part
	hash  record.Hasher
}

type part struct {
	q     *question.Question
	match *Matcher
	rows  record.Batch
	heads map[record.Header]uint32
	at    map[record.Key]bool // identities of the rows
}

// NewReference prepares the reference for these questions.
func NewReference(qs ...*question.Question) *Reference {
	r := &Reference{}
	for _, q := range qs {
		p := &part{q: q, match: NewMatcher(q), heads: map[record.Header]uint32{}, at: map[record.Key]bool{}}
		p.rows.Reset(q.Type, "")
		r.parts = append(r.parts, p)
	}
	return r
}

// Add looks at every record of b; b may be reused afterwards.
func (r *Reference) Add(b *record.Batch) {
	if b.Len() == 0 {
		return
	}
	hashed := false
	for _, p := range r.parts {
		if p.q.Type != b.Type {
			continue
		}
		p.match.Use(b)
		for i := range b.Len() {
			if !p.match.Row(i) {
				continue
			}
			if !hashed {
				r.hash.Use(b)
				hashed = true
			}
			p.put(r.hash.Record(i, b.Keep), b, i)
		}
	}
}

// put appends row i of b, unless there is an earlier row of the same identity.
func (p *part) put(k record.Key, b *record.Batch, i int) {
	if p.at[k] {
		return
	}
	h := *b.Header(i)
	head, ok := p.heads[h]
	if !ok {
		head = p.rows.AddHeader(h)
		p.heads[h] = head
	}
	p.at[k] = true
	p.rows.AppendRow(b, i, head)
}

// Rows are the records that the questions ask for, those of each for itself.
func (r *Reference) Rows() (out []*record.Batch) {
	for _, p := range r.parts {
		out = append(out, &p.rows)
	}
	return out
}

// Answers returns one answer per question, in the order of NewReference.
func (r *Reference) Answers() []*Answer {
	out := make([]*Answer, len(r.parts))
	for i, p := range r.parts {
		out[i] = Select(p.q, &p.rows)
	}
	return out
}

// Select sorts the rows of b, all of which match q, and projects q's columns.
// It is the definition of a question's order, used by the reference and by
// engines that have no language of their own.
func Select(q *question.Question, b *record.Batch) *Answer {
	var into Builder
	SelectInto(q, b, &into)
	return into.Take()
}

// SelectInto is Select into a builder.
func SelectInto(q *question.Question, b *record.Batch, into *Builder) {
	rows := make([]int, b.Len())
	for i := range rows {
		rows[i] = i
	}
	less := by(slices.Concat(q.Order, q.Tie()), b)
	slices.SortFunc(rows, less)
	into.Reset(q.Columns)
	for n, i := range rows {
		if n > 0 && less(rows[n-1], i) == 0 {
			into.tie(n)
		}
		for k := range q.Columns {
			c := &q.Columns[k]
			if c.Kind == question.List {
				into.List(k, b.Repeats(i))
				continue
			}
			text, whole, num := c.Value(b, i)
			switch c.Kind {
			case question.Text:
				into.Text(k, text)
			case question.Number:
				into.Num(k, num)
			default:
				into.Whole(k, whole)
			}
		}
		into.Row()
	}
}

// tie notes that the row under way, of that number, and the one before have one
// identity.
func (b *Builder) tie(row int) {
	if last := len(b.Ties) - 1; last >= 0 && b.Ties[last][1] == row {
		b.Ties[last][1]++
		return
	}
	b.Ties = append(b.Ties, [2]int{row - 1, row + 1})
}

// by compares two rows of b column by column: by q.Order and then by the rest
// of the identity, where those are the columns.
func by(cols []question.Column, b *record.Batch) func(i, j int) int {
	return func(i, j int) int {
		for k := range cols {
			c := &cols[k]
			if c.Role == question.HeaderField && b.Head[i] == b.Head[j] {
				continue
			}
			ti, wi, ni := c.Value(b, i)
			tj, wj, nj := c.Value(b, j)
			var r int
			switch c.Kind {
			case question.Text:
				r = cmp.Compare(ti, tj)
			case question.Number:
				r = cmp.Compare(ni, nj)
			default:
				r = cmp.Compare(wi, wj)
			}
			if r != 0 {
				return r
			}
		}
		return 0
	}
}
