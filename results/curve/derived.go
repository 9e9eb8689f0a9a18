package curve

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/results/run"
	"github.com/barograph/barograph/stat"
)

// derivedOf returns the derived curves that are drawn together with those of a statistic, and the
// statistic of the second curve of each; nil = the same statistic.
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

// needsOf returns the columns of a statistic and of the second curves of derived ones.
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

// addDerived adds the curves that the drawing derives from two other curves.
func (d *LazyCurves) addDerived() error {
	all, others, err := derivedOf(d.c.q, &d.stat)
	if err != nil {
		return err
	}
	for i, made := range all {
		one, other := d.c.curveName(made.A), d.c.curveName(made.B)
		if err := d.series(d.derivedName(made, others[i]), one, made.Operation, other, others[i]); err != nil {
			return err
		}
		d.setStyle("", made.Style)
		s := &d.Series[len(d.Series)-1]
		if s.Right = d.Picture == "" && made.Operation != stat.Single; len(s.X) == 0 {
			d.Omitted = append(d.Omitted, s.Name+": no case in common")
		}
	}
	return nil
}

// equivalences draws METviewer's equivalence tests and nothing else, if the question requests any. For each test it shows
// the mean difference of two curves over all their common cases along the axis, its 90 % and 95 % intervals, and the
// bounds.
func (d *LazyCurves) equivalences() (drawn bool, err error) {
	all, others, err := derivedOf(d.c.q, &d.stat)
	is := func(made question.Derived) bool { return made.Operation == stat.Equivalence }
	if err != nil || !slices.ContainsFunc(all, is) {
		return false, err
	}
	var names []string
	low, high := -stat.EquivalenceBound, stat.EquivalenceBound
	if b := d.c.q.Drawing.EquivalenceBounds[0]; b != nil {
		low = *b
	}
	if b := d.c.q.Drawing.EquivalenceBounds[1]; b != nil {
		high = *b
	}
	d.Note = "the difference of all cases, over all places of the axis; box 90 %, whiskers 95 % interval" + d.Note[len(d.method.note):]
	for i, made := range all {
		one, other := d.c.curveName(made.A), d.c.curveName(made.B)
		name := d.derivedName(made, others[i])
		if !is(made) {
			d.Omitted = append(d.Omitted, name+": METviewer's plot of tests of equivalence has no other curve")
			continue
		}
		p := point{other: others[i]}
		for _, x := range slices.Sorted(maps.Keys(d.c.points[one])) {
			m := d.c.matchCases(d.c.points[one][x], d.c.points[other][x])
			p.rows, p.baselineRows = append(p.rows, m.rows...), append(p.baselineRows, m.baselineRows...)
		}
		var e stat.EquivalenceTest
		ok := false
		if len(p.rows) > 0 {
			a, b, err := d.perRecord(p)
			if err != nil {
				return true, err
			}
			e, ok = stat.Equivalent(a, b, low, high)
		}
		if !ok {
			d.Omitted = append(d.Omitted, fmt.Sprintf("%s: %d cases in common, without a spread, have no test", name, len(p.rows)))
			continue
		}
		at := fmt.Sprint(len(names) + 1)
		names = append(names, at+" "+name)
		d.Ticks = append(d.Ticks, run.Tick{X: float64(len(names)), Text: at, Position: float64(len(names)), Label: at})
		d.Note += fmt.Sprintf("; %s: %s", name, e.Outcome())
		d.Series = append(d.Series, run.Series{
			Name: name, X: []float64{float64(len(names))}, Records: []int{e.N}, Y: run.Values{e.Difference},
			Low: run.Values{e.Narrow[0]}, High: run.Values{e.Narrow[1]}, WhiskerLow: run.Values{e.Wide[0]}, WhiskerHigh: run.Values{e.Wide[1]}, EquivalenceBounds: e.Bounds[:],
		})
		d.setStyle("", made.Style)
	}
	if d.Series == nil {
		return true, fmt.Errorf("%w: %s", ErrNoRecords, strings.Join(d.Omitted, ", "))
	}
	d.places, d.operations = make([][]point, len(d.Series)), make([]stat.Operation, len(d.Series))
	d.Picture, d.Axis, d.XLabel = Equivalence, "curve", strings.Join(names, ", ")
	return true, nil
}

// derivedName names a derived curve, with the statistics of both curves if these differ.
func (d *LazyCurves) derivedName(made question.Derived, other *stat.Stat) string {
	one, two := d.c.curveName(made.A), d.c.curveName(made.B)
	if other != nil {
		one, two = one+" "+d.stat.Name, two+" "+other.Name
	}
	return made.Name(one, two)
}

// Equivalence is the picture of equivalence tests. A question cannot name it.
const Equivalence = "equivalence"

// OmittedDerived names the derived curves that are not drawn with any of these statistics.
func OmittedDerived(q *question.Question, names []string) (out []string) {
	if q.Drawing == nil || q.Drawing.ShowsLineType() {
		return nil
	}
	for _, made := range q.Drawing.Derived {
		if made.StatA != "" && !slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(name, made.StatA) }) {
			words := func(items []int, stat string) string { return joinLabels(q.Drawing.Curves, items) + " " + stat }
			out = append(out, made.Name(words(made.A, made.StatA), words(made.B, made.StatB)))
		}
	}
	return out
}

// matchCases pairs rows of two curves at one point. Two rows are paired if they belong to the same case: equal times, and
// equal values of all fields that the question names and that do not distinguish the curves. Other pooled values, such as
// each model's own analysis, may differ.
func (c *collector) matchCases(rows, others []int) (p point) {
	curveFields, unmatched := c.curveFields(), map[string][]int{}
	identity := func(i int) string {
		var id []byte
		for k, col := range c.a.Columns {
			named := col.Role != question.HeaderField || k < len(c.q.Columns)
			if named && col.Role != question.Data && !slices.Contains(curveFields, col.Name) {
				id = append(c.a.AppendValue(id, k, i), 0)
			}
		}
		return string(id)
	}
	for _, i := range others {
		id := identity(i)
		unmatched[id] = append(unmatched[id], i)
	}
	for _, i := range rows {
		id := identity(i)
		if w := unmatched[id]; len(w) > 0 {
			p.rows, p.baselineRows, unmatched[id] = append(p.rows, i), append(p.baselineRows, w[0]), w[1:]
		}
	}
	return p
}
