package curve

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/barograph/barograph/internal/lists"
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
	for _, derived := range q.Drawing.Derived {
		if derived.StatA != "" && indexOfStat(q, []string{derived.StatA}, s) < 0 {
			continue // the curves of StatA are drawn with another statistic, and this derived curve with them
		}
		var other *stat.Stat
		if derived.StatB != "" && derived.StatB != derived.StatA {
			of, err := question.StatOf(q, derived.StatB)
			if err != nil {
				return nil, nil, err
			}
			other = &of
		}
		all, others = append(all, derived), append(others, other)
	}
	return all, others, nil
}

// indexOfStat returns the index of the first of some names that is a name of s; -1 = none is.
func indexOfStat(q *question.Question, names []string, s *stat.Stat) int {
	return slices.IndexFunc(names, func(name string) bool {
		named, err := question.StatOf(q, name)
		return err == nil && named.Name == s.Name
	})
}

// needsOf returns the columns that must be in the answer: those of a statistic, of the second curves of derived ones, and
// of the drawing.
func needsOf(q *question.Question, s *stat.Stat) ([]string, error) {
	needs := slices.Clone(s.Needs)
	_, others, err := derivedOf(q, s)
	for _, other := range others {
		if other != nil {
			needs = append(needs, other.Needs...)
		}
	}
	if slices.Contains(needs, stat.Repeats) {
		needs = append(needs, q.Type.Group.Fields...)
	}
	if s.ValuesFunc != nil {
		needs = append(needs, "object_id")
	}
	if d := q.Drawing; d != nil {
		needs = append(needs, lists.Map(d.ValueConditions, func(c question.ValueCondition) string { return c.Column })...)
		if d.Picture == "revision" {
			needs = append(needs, "fcst_lead")
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
	for i, derived := range all {
		one, other := d.c.curveName(derived.A), d.c.curveName(derived.B)
		if err := d.series(d.derivedName(derived, others[i]), one, derived.Operation, other, others[i]); err != nil {
			return err
		}
		d.setStyle("", derived.Style)
		d.Series[len(d.Series)-1].Right = d.Picture == "" && derived.Operation != stat.Single
	}
	return nil
}

// equivalences draws METviewer's equivalence tests and nothing else, if the question requests any. For each test it shows
// the mean difference of two curves over all their common cases along the axis, its 90 % and 95 % intervals, and the
// bounds.
func (d *LazyCurves) equivalences() (drawn bool, err error) {
	all, others, err := derivedOf(d.c.q, &d.stat)
	isTest := func(derived question.Derived) bool { return derived.Operation == stat.Equivalence }
	if err != nil || !slices.ContainsFunc(all, isTest) {
		return false, err
	}
	var names []string
	bounds := []float64{-stat.EquivalenceBound, stat.EquivalenceBound}
	for i, b := range d.c.q.Drawing.EquivalenceBounds {
		if b != nil {
			bounds[i] = *b
		}
	}
	for i, derived := range all {
		one, other := d.c.curveName(derived.A), d.c.curveName(derived.B)
		name := d.derivedName(derived, others[i])
		if !isTest(derived) {
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
			e, ok = stat.Equivalent(a, b, bounds[0], bounds[1])
		}
		if !ok {
			d.Omitted = append(d.Omitted, name+": "+run.CountOf(len(p.rows), "case")+" in common, but a test requires two with a spread")
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
		d.setStyle("", derived.Style)
	}
	if d.Series == nil {
		return true, fmt.Errorf("%w: %s", ErrNoRecords, strings.Join(d.Omitted, ", "))
	}
	d.places, d.operations = make([][]point, len(d.Series)), make([]stat.Operation, len(d.Series))
	d.Picture, d.Axis, d.XLabel = Equivalence, "curve", strings.Join(names, ", ")
	return true, nil
}

// derivedName names a derived curve, with the statistics of both curves if these differ.
func (d *LazyCurves) derivedName(derived question.Derived, other *stat.Stat) string {
	one, two := d.c.curveName(derived.A), d.c.curveName(derived.B)
	if other != nil {
		one, two = one+" "+d.stat.Name, two+" "+other.Name
	}
	return derived.Name(one, two)
}

// Equivalence is the picture of equivalence tests. A question cannot name it.
const Equivalence = "equivalence"

// OmittedDerived names the derived curves that are not drawn with any of these statistics.
func OmittedDerived(q *question.Question, names []string) (out []string) {
	if q.Drawing == nil || q.Drawing.ShowsLineType() {
		return nil
	}
	for _, derived := range q.Drawing.Derived {
		if s, err := question.StatOf(q, derived.StatA); derived.StatA != "" && err == nil && indexOfStat(q, names, &s) < 0 {
			words := func(items []int, stat string) string { return joinLabels(q.Drawing.Curves, items) + " " + stat }
			out = append(out, derived.Name(words(derived.A, derived.StatA), words(derived.B, derived.StatB)))
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
			isValue := slices.Contains([]question.Role{question.Data, question.Repeating, question.GroupStatistic}, col.Role)
			if named && !isValue && !slices.Contains(curveFields, col.Name) {
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
