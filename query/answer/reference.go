package answer

import (
	"cmp"
	"slices"

	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

// Reference computes the answers to several questions from the records, without a database. The
// caller adds the records in the order of the files. Of records with the same identity, the first
// one counts, as in an archive. If the batch keeps conflicts (record.Batch.KeepConflicts), all with different values
// count. A Reference keeps only the matching records.
type Reference struct {
	selections []*selection
	hash       record.Hasher
}

// selection is a question with the records that match it.
type selection struct {
	q       *question.Question
	match   *Matcher
	rows    record.Batch
	headers map[record.Header]uint32
	seen    map[record.Key]bool // keys of the rows, see record.Hasher.RecordKey
}

// NewReference prepares a Reference for these questions.
func NewReference(qs ...*question.Question) *Reference {
	r := &Reference{}
	for _, q := range qs {
		p := &selection{q: q, match: NewMatcher(q), headers: map[record.Header]uint32{}, seen: map[record.Key]bool{}}
		p.rows.Reset(q.Type, "")
		r.selections = append(r.selections, p)
	}
	return r
}

// Add evaluates every record of b, which the caller may reuse afterwards.
func (r *Reference) Add(b *record.Batch) {
	if b.Len() == 0 {
		return
	}
	hashed := false
	for _, p := range r.selections {
		if p.q.Type != b.Type {
			continue
		}
		p.match.Use(b)
		for i := range b.Len() {
			if !p.match.Row(i) {
				continue
			}
			if !hashed {
				r.hash.SetBatch(b)
				hashed = true
			}
			p.add(r.hash.RecordKey(i, b.KeepConflicts), b, i)
		}
	}
}

// add appends row i of b, unless the selection has a row with the key k.
func (p *selection) add(k record.Key, b *record.Batch, i int) {
	if p.seen[k] {
		return
	}
	h := *b.Header(i)
	head, ok := p.headers[h]
	if !ok {
		head = p.rows.AddHeader(h)
		p.headers[h] = head
	}
	p.seen[k] = true
	p.rows.AppendRow(b, i, head)
}

// Rows returns the matching records of each question, in the order of NewReference.
func (r *Reference) Rows() []*record.Batch {
	return lists.Map(r.selections, func(p *selection) *record.Batch { return &p.rows })
}

// Answers returns one answer per question, in the order of NewReference.
func (r *Reference) Answers() []*Answer {
	return lists.Map(r.selections, func(p *selection) *Answer { return Select(p.q, &p.rows) })
}

// Select sorts the rows of b and projects q's columns; every row must match q. It defines a
// question's order, and the reference uses it. Engines without a query language use the faster Arrange.
func Select(q *question.Question, b *record.Batch) *Answer {
	var into Builder
	SelectInto(q, b, &into)
	return into.Take()
}

// SelectInto is Select into an existing builder.
func SelectInto(q *question.Question, b *record.Batch, into *Builder) {
	rows := lists.Indices(b.Len())
	compareRows := compareBy(slices.Concat(q.Order, q.TieBreakers()), b)
	slices.SortFunc(rows, compareRows)
	into.Reset(q.Columns)
	for n, i := range rows {
		if n > 0 && compareRows(rows[n-1], i) == 0 {
			into.addTie(n)
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
				into.Seconds(k, whole)
			}
		}
		into.Row()
	}
}

// addTie records that the current row, with this number, has the same identity as the previous one.
func (b *Builder) addTie(row int) {
	if last := len(b.Ties) - 1; last >= 0 && b.Ties[last][1] == row {
		b.Ties[last][1]++
		return
	}
	b.Ties = append(b.Ties, [2]int{row - 1, row + 1})
}

// compareBy returns a function that compares two rows of b, column by column.
func compareBy(cols []question.Column, b *record.Batch) func(i, j int) int {
	return func(i, j int) int {
		for k := range cols {
			c := &cols[k]
			if c.Role == question.HeaderField && b.HeaderIndex[i] == b.HeaderIndex[j] {
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
