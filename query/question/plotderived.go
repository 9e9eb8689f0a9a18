package question

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/barograph/barograph/formats/metviewer"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/stat"
)

// refusals maps each derived curve of a plot (axis, index) to the reason why no question computes it; nil = a question
// does.
type refusals map[[2]int]error

// list lists the derived curves of a plot that none of its questions computes.
func (r refusals) list(p *metviewer.Plot) (out []string) {
	for axis, all := range p.Derived {
		for i, d := range all {
			why, known := r[[2]int{axis, i}]
			if known && why == nil {
				continue
			}
			why = cmp.Or(why, errors.New("the plot has no curves on this axis"))
			out = append(out, fmt.Sprintf("line %d: listDiffSeries%d: %s: %v", d.Line, axis+1, stat.Operation(d.Op).Name(d.A, d.B), why))
		}
	}
	return Unique(out)
}

var errNoCurve = errors.New("is not a curve of this axis")

// derivedSide is one of the two curves from which a derived curve is computed.
type derivedSide struct {
	items    []int
	stat     string
	lineType *record.LineType // whose lines contain the statistic
}

// addDerivedCurves adds the derived curves of which the question has both sides. The questions of a plot share refusals. An
// entry is overwritten, with one exception: errNoCurve of this question does not replace the result of another question,
// because each question lacks the curves of the other variables.
func (b *builder) addDerivedCurves() {
	axis := b.dep.Axis - 1
	for i, d := range b.p.Derived[axis] {
		at := [2]int{axis, i}
		before, known := b.refusals[at]
		if known && before == nil && !b.hasBothSides(d) {
			continue // another question of the plot computes it
		}
		if why := b.addDerivedCurve(d); !known || !errors.Is(why, errNoCurve) {
			b.refusals[at] = why
		}
	}
}

// hasBothSides reports whether the question has both sides of a derived curve.
func (b *builder) hasBothSides(d metviewer.Derived) bool {
	one, errA := b.findSide(d.A)
	other, errB := b.findSide(d.B)
	return errA == nil && errB == nil && one.lineType == b.q.Type && other.lineType == b.q.Type
}

// addDerivedCurve adds a derived curve, or returns the reason why it cannot be computed.
func (b *builder) addDerivedCurve(d metviewer.Derived) (why error) {
	if !slices.Contains(stat.Operations(), d.Op) {
		return errors.New("the operation does not exist" + fault.Meant(d.Op, stat.Operations()))
	}
	one, err := b.findSide(d.A)
	if err != nil {
		return err
	}
	other, err := b.findSide(d.B)
	op, drawing := stat.Operation(d.Op), b.q.Drawing
	_, objects := b.q.Type.Column("object_id")
	switch {
	case err != nil:
		return err
	case one.lineType != other.lineType:
		return fmt.Errorf("%s comes from %s lines and %s from %s lines, which have no common cases",
			one.stat, one.lineType.Name, other.stat, other.lineType.Name)
	case objects:
		return errors.New("objects have no cases to pair")
	case drawing.ShowsLineType() || drawing.Picture == "revision":
		return errors.New("the template " + b.p.Template + " draws no derived curves")
	case op == stat.Significant && drawing.Replicates == 0:
		return errors.New("its significance requires a bootstrap, which the plot does not request (boot_repl and agg_stat)")
	case op == stat.Significant && one.stat != other.stat:
		return errors.New("two statistics have no perfect score in common")
	case drawing.Picture == "box" && op == stat.Equivalence:
		return errors.New("a test of equivalence has no box")
	case one.lineType == b.q.Type:
		drawing.Derived = append(drawing.Derived, Derived{op, one.items, other.items, one.stat, other.stat, d.Style})
	}
	return nil
}

// findSide finds a curve by the name that a derived curve uses: METviewer joins the values of the
// series' fields, the variable and the statistic with blanks.
func (b *builder) findSide(name string) (derivedSide, error) {
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
	var found []derivedSide
	for _, c := range all {
		words := strings.Join(c.words, " ")
		if len(fields) == 1 && len(metviewer.Members(words)) > 1 { // METviewer numbers groups
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
			return derivedSide{}, fmt.Errorf("%q names no statistic, but the axis has %s", name, strings.Join(b.dep.Stats, " and "))
		}
		for _, s := range b.dep.Stats {
			if rest != "" && rest != s {
				continue
			}
			t, _, err := lineTypeOf(b.p, s)
			if err != nil {
				return derivedSide{}, fmt.Errorf("%s: %w", s, err)
			}
			found = append(found, derivedSide{c.items, s, t})
			break
		}
	}
	switch {
	case len(found) == 0:
		return derivedSide{}, fmt.Errorf("%q %w", name, errNoCurve)
	case len(found) > 1:
		return derivedSide{}, fmt.Errorf("%q names %d curves of this axis, because values contain blanks", name, len(found))
	}
	return found[0], nil
}
