package curve

import (
	"slices"
	"strings"

	"github.com/barograph/barograph/question"
	"github.com/barograph/barograph/stat"
)

// derivedOf are the curves made of two others that are drawn with those of a
// statistic, and the statistic of what is taken off in each, nil = the same.
func derivedOf(q *question.Question, s *stat.Stat) (all []question.Derived, others []*stat.Stat, err error) {
	if q.Drawing == nil {
		return nil, nil, nil
	}
	for _, made := range q.Drawing.Derived {
		if made.StatA != "" {
			if of, err := question.StatOf(q, made.StatA); err != nil || of.Name != s.Name {
				if err != nil {
					return nil, nil, err
				}
				continue // it is drawn with that one
			}
		}
		var other *stat.Stat
		if made.StatB != "" && made.StatB != made.StatA {
			of, err := question.StatOf(q, made.StatB)
			if err != nil {
				return nil, nil, err
			}
			other = &of
		}
		all, others = append(all, made), append(others, other)
	}
	return all, others, nil
}

// needsOf are the columns of a statistic and of those that are taken off its curves.
func needsOf(q *question.Question, s *stat.Stat) ([]string, error) {
	needs := slices.Clone(s.Needs)
	_, others, err := derivedOf(q, s)
	for _, other := range others {
		if other != nil {
			needs = append(needs, other.Needs...)
		}
	}
	return needs, err
}

// derive adds the curves that the question's picture makes of two others.
func (d *Drawn) derive() error {
	all, others, err := derivedOf(d.c.q, &d.stat)
	if err != nil {
		return err
	}
	for i, made := range all {
		one, other := d.c.named(made.A), d.c.named(made.B)
		title := made.Name(one, other)
		if others[i] != nil {
			title = made.Name(one+" "+d.stat.Name, other+" "+others[i].Name)
		}
		if err := d.series(title, one, made.Operation, other, others[i]); err != nil {
			return err
		}
		d.kinds = append(d.kinds, len(d.c.place)+i)
		if s := &d.Series[len(d.Series)-1]; len(s.X) == 0 {
			d.Omitted = append(d.Omitted, s.Name+": no case in common")
		}
	}
	return nil
}

// Undrawn names the curves made of two others that are drawn with none of some statistics.
func Undrawn(q *question.Question, names []string) (out []string) {
	if q.Drawing == nil || q.Drawing.Whole() {
		return nil
	}
	for _, made := range q.Drawing.Derived {
		if made.StatA != "" && !slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(name, made.StatA) }) {
			words := func(items []int, stat string) string { return wordsOf(q.Drawing.Curves, items) + " " + stat }
			out = append(out, made.Name(words(made.A, made.StatA), words(made.B, made.StatB)))
		}
	}
	return out
}

// matched pairs the rows of two curves at a place that are of the same case: of
// the same times, and of all fields that the question names but what parts the
// curves. What it pools beyond that, such as each model's own analysis, may differ.
func (c *collector) matched(rows, others []int) (p place) {
	parting, waiting := c.parting(), map[string][]int{}
	identity := func(i int) string {
		var id []byte
		for k, col := range c.a.Columns {
			named := col.Role != question.HeaderField || k < len(c.q.Columns)
			if named && col.Role != question.Data && !slices.Contains(parting, col.Name) {
				id = append(c.a.AppendValue(id, k, i), 0)
			}
		}
		return string(id)
	}
	for _, i := range others {
		id := identity(i)
		waiting[id] = append(waiting[id], i)
	}
	for _, i := range rows {
		id := identity(i)
		if w := waiting[id]; len(w) > 0 {
			p.rows, p.minus, waiting[id] = append(p.rows, i), append(p.minus, w[0]), w[1:]
		}
	}
	return p
}
