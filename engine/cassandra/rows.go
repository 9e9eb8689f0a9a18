package cassandra

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"strings"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"github.com/barograph/barograph/question"
	"github.com/barograph/barograph/record"
)

// raw is a value as it came; nil = null. It is valid until the next page.
type raw []byte

// UnmarshalCQL keeps the bytes.
func (r *raw) UnmarshalCQL(_ gocql.TypeInfo, data []byte) error {
	*r = data
	return nil
}

func (r raw) whole() int64 {
	switch len(r) {
	case 8:
		return int64(binary.BigEndian.Uint64(r))
	case 4:
		return int64(int32(binary.BigEndian.Uint32(r)))
	}
	return 0
}

func (r raw) number() float64 {
	if len(r) != 8 {
		return record.Missing()
	}
	return math.Float64frombits(binary.BigEndian.Uint64(r))
}

// picked is the columns of a line type that a query brings.
type picked struct {
	*layout
	t       *record.LineType
	columns []*record.Column
	windows bool // times that are not plain
	repeats bool
	named   bool // the partition's name comes first
}

// all picks everything.
func (l *layout) all(t *record.LineType) *picked {
	p := &picked{layout: l, t: t, windows: true, repeats: t.Group != nil}
	for i := range t.Columns {
		p.columns = append(p.columns, &t.Columns[i])
	}
	return p
}

// pick picks what a question needs: its columns, and those that order its rows.
func (l *layout) pick(q *question.Question, plain bool) *picked {
	lists := func(c question.Column) bool { return c.Role == question.Repeating }
	p := &picked{layout: l, t: q.Type, windows: !plain, repeats: slices.ContainsFunc(q.Columns, lists)}
	for i := range q.Type.Columns {
		c := &q.Type.Columns[i]
		wanted := c.Key || slices.ContainsFunc(q.Columns, func(o question.Column) bool { return o.Role == question.Data && o.Name == c.Name })
		if wanted {
			p.columns = append(p.columns, c)
		}
	}
	return p
}

// text of the query, up to its condition.
func (p *picked) text() string {
	var names []string
	if p.named {
		names = append(names, p.partition[0])
	}
	names = append(names, p.order()...)
	if p.windows {
		names = append(names, windows)
	}
	for _, c := range p.columns {
		names = append(names, quoted(c))
	}
	if p.repeats {
		names = append(names, repeats)
	}
	return "SELECT " + strings.Join(names, ", ") + " FROM " + p.table(p.t) + " WHERE "
}

// scanner decodes rows into a batch.
type scanner struct {
	*picked
	counts func(number int64) bool
	admits func(valid int64, lead int32) bool // nil = all

	cells []raw
	dest  []any

	// the record before
	name  string
	valid int64
	lead  int64
	entry []byte
	taken bool // a value of it that counts was there
}

func (p *picked) scanner(counts func(int64) bool, admits func(int64, int32) bool) *scanner {
	n := len(p.order()) + len(p.columns)
	if p.named {
		n++
	}
	if p.windows {
		n += 4
	}
	if p.repeats {
		n++
	}
	s := &scanner{picked: p, counts: counts, admits: admits, cells: make([]raw, n), dest: make([]any, n)}
	for i := range s.cells {
		s.dest[i] = &s.cells[i]
	}
	return s
}

// place tells the header and, for documents, the valid time of a partition.
type place func(name string) (head uint32, valid int64, err error)

// rows appends the records of a reply that count, one per identity, the latest.
func (s *scanner) rows(iter *gocql.Iter, where place, into *record.Batch) (read int64, err error) {
	s.name, s.taken, s.lead = "", false, math.MinInt64
	head, valid, err := where("")
	for err == nil && iter.Scan(s.dest...) {
		read++
		cells := s.cells
		if s.named {
			if string(cells[0]) != s.name || read == 1 {
				s.name, s.taken, s.lead = string(cells[0]), false, math.MinInt64
				if head, valid, err = where(s.name); err != nil {
					break
				}
			}
			cells = cells[1:]
		}
		if s.bySeries {
			valid = cells[0].whole()
			cells = cells[1:]
		}
		if !s.fresh(valid, cells[0].whole(), cells[1]) || !s.counts(cells[2].whole()) {
			continue
		}
		s.taken = true
		if s.admits == nil || s.admits(valid, int32(s.lead)) {
			err = s.take(cells[3:], head, valid, into)
		}
	}
	return read, errors.Join(err, iter.Close())
}

// fresh reports whether no value of the row's record has been taken.
func (s *scanner) fresh(valid, lead int64, entry []byte) bool {
	if valid == s.valid && lead == s.lead && bytes.Equal(entry, s.entry) {
		return !s.taken
	}
	s.valid, s.lead, s.taken = valid, lead, false
	s.entry = append(s.entry[:0], entry...)
	return true
}

// take appends one record.
func (s *scanner) take(cells []raw, head uint32, valid int64, b *record.Batch) error {
	b.AppendTimes(head, int32(s.lead), valid, 0)
	if s.windows {
		if cells[0] != nil {
			i := b.Len() - 1
			b.ValidEnd[i], b.ObsLead[i], b.ObsBeg[i], b.ObsEnd[i] = cells[0].whole(), int32(cells[1].whole()), cells[2].whole(), cells[3].whole()
		}
		cells = cells[4:]
	}
	for k := range b.Num {
		b.Num[k] = append(b.Num[k], record.Missing())
	}
	for k := range b.Text {
		b.Text[k] = append(b.Text[k], record.NA)
	}
	for k, c := range s.columns {
		if c.Kind != record.Text {
			col := b.Num[c.Slot]
			col[len(col)-1] = cells[k].number()
		} else if cells[k] != nil {
			col := b.Text[c.Slot]
			col[len(col)-1] = string(cells[k])
		}
	}
	if s.t.Group == nil {
		return nil
	}
	if s.repeats {
		if err := appendList(b, cells[len(s.columns)]); err != nil {
			return err
		}
	}
	b.GroupEnd = append(b.GroupEnd, uint32(len(b.Group)))
	return nil
}

// appendList decodes a list of doubles: a count, then length and bytes of each.
func appendList(b *record.Batch, data raw) error {
	if data == nil {
		return nil // an empty list is stored as none
	}
	if len(data) < 4 {
		return errors.New("a list of numbers is damaged")
	}
	n := int(binary.BigEndian.Uint32(data))
	data = data[4:]
	if len(data) != 12*n {
		return errors.New("a list of numbers is damaged")
	}
	for ; n > 0; n-- {
		b.Group = append(b.Group, data[4:12].number())
		data = data[12:]
	}
	return nil
}
