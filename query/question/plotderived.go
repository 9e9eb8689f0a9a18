package question

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/barograph/barograph/formats/metviewer"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/stat"
)

// claims tell for each derived curve of a plot, by axis and place, why no question
// computes it; "" where one does.
type claims map[[2]int]string

// refused names the derived curves of a plot that no question of it computes.
func (c claims) refused(p *metviewer.Plot) (out []string) {
	for axis, all := range p.Derived {
		for i, d := range all {
			why, known := c[[2]int{axis, i}]
			if known && why == "" {
				continue
			}
			if why == "" {
				why = "the plot has no curves on this axis"
			}
			out = append(out, fmt.Sprintf("line %d: listDiffSeries%d: %s: %s", d.Line, axis+1, stat.Operation(d.Op).Name(d.A, d.B), why))
		}
	}
	return unique(out)
}

const noCurve = " is no curve of this axis"

// side is one of the two curves that a derived curve is made of.
type side struct {
	items []int
	stat  string
	of    *record.LineType // whose lines have the statistic
}

// derived adds the derived curves whose sides are both of the question.
func (b *builder) derived() {
	axis := b.dep.Axis - 1
	for i, d := range b.p.Derived[axis] {
		at := [2]int{axis, i}
		before, known := b.claims[at]
		if known && before == "" && !b.makes(d) {
			continue // another question of the plot computes it
		}
		if why := b.derive(d); !known || !strings.HasSuffix(why, noCurve) { // which says less than any other reason
			b.claims[at] = why
		}
	}
}

// makes reports whether both sides of a derived curve are of the question.
func (b *builder) makes(d metviewer.Derived) bool {
	one, errA := b.side(d.A)
	other, errB := b.side(d.B)
	return errA == nil && errB == nil && one.of == b.q.Type && other.of == b.q.Type
}

// derive adds a derived curve, or reports why it cannot be computed.
func (b *builder) derive(d metviewer.Derived) (why string) {
	if !slices.Contains(stat.Operations(), d.Op) {
		return "there is no such operation" + fault.Meant(d.Op, stat.Operations())
	}
	one, err := b.side(d.A)
	if err != nil {
		return err.Error()
	}
	other, err := b.side(d.B)
	op, drawing := stat.Operation(d.Op), b.q.Drawing
	_, objects := b.q.Type.Column("object_id")
	switch {
	case err != nil:
		return err.Error()
	case one.of != other.of:
		return fmt.Sprintf("%s is of %s lines and %s of %s lines, which have no common cases", one.stat, one.of.Name, other.stat, other.of.Name)
	case objects:
		return "objects have no cases to pair"
	case drawing.Whole() || drawing.Picture == "revision":
		return "the template " + b.p.Template + " draws no curve made of two others"
	case op == stat.Significant && drawing.Replicates == 0:
		return "its significance comes from a bootstrap, which the plot does not ask for (boot_repl and agg_stat)"
	case op == stat.Significant && one.stat != other.stat:
		return "two statistics have no perfect score in common"
	case drawing.Picture == "box" && op == stat.Equivalence:
		return "a test of equivalence has no box"
	case one.of == b.q.Type:
		drawing.Derived = append(drawing.Derived, Derived{Operation: op, A: one.items, B: other.items, StatA: one.stat, StatB: other.stat})
	}
	return ""
}

// side finds the curve that a derived curve names: METviewer joins the values of the
// series' fields, the variable and the statistic with blanks.
func (b *builder) side(name string) (side, error) {
	type curve struct {
		words []string
		items []int
	}
	fields, all, groups := b.p.Series[b.dep.Axis-1], []curve{{}}, 0
	for _, f := range fields {
		var next []curve
		for _, c := range all {
			for i := range f.List {
				next = append(next, curve{append(slices.Clip(c.words), f.List[i]), append(slices.Clip(c.items), i)})
			}
		}
		all = next
	}
	var found []side
	for _, c := range all {
		words := strings.Join(c.words, " ")
		if len(fields) == 1 && len(metviewer.Members(words)) > 1 { // Group_y1_N counts the groups of the axis as they come
			groups++
			words = fmt.Sprintf("Group_y%d_%d", b.dep.Axis, groups)
		}
		rest, ok := strings.CutPrefix(name, words)
		if !ok || len(fields) == 0 {
			continue
		}
		rest = strings.TrimSpace(rest)
		if r, ok := strings.CutPrefix(rest+" ", b.dep.Var+" "); ok {
			rest = strings.TrimSpace(r)
		}
		if rest == "" && len(b.dep.Stats) > 1 {
			return side{}, fmt.Errorf("%q names no statistic, and the axis has %s", name, strings.Join(b.dep.Stats, " and "))
		}
		for _, s := range b.dep.Stats {
			if rest != "" && rest != s {
				continue
			}
			t, _, err := lineTypeOf(b.p, s)
			if err != nil {
				return side{}, fmt.Errorf("%s: %w", s, err)
			}
			found = append(found, side{c.items, s, t})
			break
		}
	}
	switch {
	case len(found) == 0:
		return side{}, errors.New(strconv.Quote(name) + noCurve)
	case len(found) > 1:
		return side{}, fmt.Errorf("%q names %d curves of this axis, since values have blanks", name, len(found))
	}
	return found[0], nil
}
