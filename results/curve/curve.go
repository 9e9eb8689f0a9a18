package curve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/dustin/go-humanize/english"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/results/run"
	"github.com/barograph/barograph/stat"
)

// ErrNoRecords means that an answer is empty, or that no record of it is drawn.
var ErrNoRecords = errors.New("no record matches")

// ErrNoDifference means that a question subtracts a baseline, but the baseline or every other curve has no record.
const ErrNoDifference = fault.Class("the records do not give a difference")

// LazyCurves are curves whose values are computed. Their intervals take far longer, and WithIntervals computes them on
// demand.
type LazyCurves struct {
	run.VerificationPlot
	places [][]point // of each of Series, along X
	// for each of Series: how it is derived from two curves; "" = it is not derived
	operations []stat.Operation
	labels     [][]string // for each of Series: its label in each field of the drawing
	subtracted [][]string // for each of Series: labels of the second curve that it is derived from; nil = not derived
	kinds      []string   // for each of Series: the kind of its intervals
	c          *collector
	stat       stat.Stat
	method     method
}

// point is a point of a curve: its rows, and the paired rows of the curve that is subtracted. other
// is the statistic of the latter; nil = the same statistic.
type point struct {
	rows, baselineRows []int
	other              *stat.Stat
}

// Compute computes a statistic from an answer: one curve per model, region and so on, along the
// lead if there are several, else along the level, else along the valid time. The aggregation is
// METviewer's (weighted by total); the interval is a 95 % bootstrap over records with the given
// seed.
//
// If the question has a Drawing, the Drawing determines the curves, their axis, method and
// interval.
func Compute(ctx context.Context, q *question.Question, a *answer.Answer, name string, seed uint64) (*run.VerificationPlot, error) {
	d, err := ComputePoints(q, a, name, seed)
	if err != nil {
		return nil, err
	}
	return d.WithIntervals(ctx)
}

// WithIntervals adds the intervals, and the marks of a scorecard, which follow from them.
func (d *LazyCurves) WithIntervals(ctx context.Context) (*run.VerificationPlot, error) {
	if err := d.Intervals(ctx); err != nil {
		return nil, err
	}
	if d.Picture == "scorecard" {
		return &d.VerificationPlot, d.markScorecard()
	}
	return &d.VerificationPlot, nil
}

// ComputePoints computes the values only: Low and High are NaN until WithIntervals.
func ComputePoints(q *question.Question, a *answer.Answer, name string, seed uint64) (*LazyCurves, error) {
	if err := checkDifferences(q); err != nil {
		return nil, err
	}
	shape := pictureShapeOf(q)
	s, err := statOf(q, name, shape)
	if err != nil {
		return nil, err
	}
	if a.Rows == 0 {
		return nil, ErrNoRecords
	}
	c := &collector{q: q, a: a, singleCurve: cmp.Or(s.Name, strings.Join(Stats(q), " ")), points: map[string]map[float64][]int{}}
	if shape == nil || shape.axis {
		c.axis = axisOf(q, a)
	}
	needs, err := needsOf(q, &s)
	if err != nil {
		return nil, err
	}
	if err := c.collect(needs); err != nil {
		return nil, err
	}
	out := &LazyCurves{VerificationPlot: run.VerificationPlot{Case: q.Name, Stat: s.Name, Unit: s.Unit, Axis: c.axis}, c: c, stat: s, method: methodOf(q, seed)}
	if q.Drawing != nil {
		out.XLabel, out.YLabel, out.Baseline, out.Picture = q.Drawing.XLabel, q.Drawing.YLabel, q.Drawing.Baseline, q.Drawing.Picture
	}
	if len(q.Changed) > 0 {
		out.Case += " with " + strings.Join(q.Changed, ", ")
	}
	if err := out.nameCategories(); err != nil {
		return nil, err
	}
	if q.Drawing != nil && q.Drawing.EventEqual {
		left, err := c.equalize()
		if out.Note += left; err != nil {
			return nil, err
		}
	}
	out.Note += c.pooled()
	out.Title = out.title()
	rows := c.rows()
	out.Unit = c.unitOf(s.Unit, rows)
	if n := c.counts(rows); n != "" {
		out.Note += "; " + n
	}
	out.addOmitted()
	defer func() { // after the styles of the curves have chosen the kinds of intervals
		out.Note = out.methodNote(shape) + out.intervalNote(shape) + out.Note
		out.noteOmitted()
	}()
	if shape != nil {
		return out, out.picture(shape)
	}
	if tests, err := out.equivalences(); tests || err != nil {
		return out, err
	}
	if err := out.addSeries(); err != nil {
		return nil, err
	}
	if err := out.addDerived(); err != nil {
		return nil, err
	}
	switch out.Picture {
	case "box":
		err = out.boxes()
	case "revision":
		err = out.revisions()
	default:
		err = out.addRevisionTests()
	}
	return out, err
}

// checkDifferences returns an error for a scorecard without a baseline, and for differences that METviewer does not draw:
// those of objects, because two models have different objects, and those of revisions.
func checkDifferences(q *question.Question) error {
	_, ofObjects := q.Type.Column("object_id")
	switch d := cmp.Or(q.Drawing, &question.Drawing{}); {
	case d.Picture == "scorecard" && d.Baseline == "":
		return fault.Misuse("picture scorecard", "needs a baseline", "name it with minus, or use --scorecard CANDIDATE,BASELINE")
	case (ofObjects || d.Picture == "revision") && (d.Baseline != "" || len(d.Derived) > 0):
		const problem = "has differences, but objects and revisions have no cases to pair"
		return fault.Misuse("question "+q.Name, problem, "remove minus, --scorecard and derived")
	}
	return nil
}

// statOf is the statistic of a question's curves. Pictures with their own shape only need columns.
func statOf(q *question.Question, name string, shape *pictureShape) (s stat.Stat, err error) {
	if shape == nil {
		return question.StatOf(q, name)
	}
	if s.Needs = strings.Fields(shape.needs); q.Type.Group != nil {
		s.Needs = append(s.Needs, stat.Repeats)
	}
	return s, nil
}

// methodNote describes how the values were computed, and how many rows were not used.
func (d *LazyCurves) methodNote(shape *pictureShape) string {
	note := d.method.note
	// methodOf describes a mean as "mean of the records' statistics". Values of objects are not those of records.
	combine := strings.TrimSuffix(" "+note, " of the records' statistics") // " mean"
	switch {
	case d.Picture == Equivalence:
		note = "the difference of all cases, over all places of the axis; box 90 %, whiskers 95 % interval"
	case d.Picture == "box":
		note = "boxes from the lower to the upper quartile of the records' statistics, their median, whiskers to what is no farther than 1.5 times the box, circles beyond"
	case shape != nil:
		note = "all records of a curve together"
	case d.stat.PerCase:
		note = "of the objects of each time and lead, then" + combine
	case d.stat.ValuesFunc != nil:
		note = "of the pairs of objects of each time and lead, then" + combine
	case d.stat.RecordsFunc != nil:
		note = "of all objects together"
	}
	if d.c.excluded > 0 {
		note += "; the plot's condition on values excludes " + run.CountOf(d.c.excluded, "row")
	}
	if d.c.outsideAxis > 0 {
		note += "; " + english.Plural(d.c.outsideAxis, "row without a place on this axis is", "rows without a place on this axis are") + " omitted"
	}
	return note
}

// nameCategories adds the question's ticks. Without them, it lists in the axis label which value the positions 1, 2, 3 …
// of a text axis represent: "model: 1 GFS, 2 ECMWF". The picture of a line type has other axes, and labels its points.
func (d *LazyCurves) nameCategories() error {
	places, drawing := d.c.axisCategories(string(d.c.axis)), d.c.q.Drawing
	if drawing.ShowsLineType() {
		return nil
	}
	if places != nil {
		d.XLabel = cmp.Or(d.XLabel, string(d.c.axis))
	}
	if drawing != nil && len(drawing.Ticks) > 0 && d.c.axis != "" {
		return d.addTicks(drawing)
	}
	if places != nil {
		numbered := lists.Map(lists.Indices(len(places)), func(i int) string { return fmt.Sprint(i+1, " ", places[i]) })
		d.XLabel += ": " + strings.Join(numbered, ", ")
		d.Note += "; " + d.XLabel
	}
	return nil
}

// addTicks adds a tick for each value on the axis.
func (d *LazyCurves) addTicks(drawing *question.Drawing) error {
	text, err := d.c.text(string(d.c.axis))
	if err != nil {
		return err
	}
	for _, points := range d.c.points {
		for x, rows := range points {
			given := drawing.Tick(text(rows[0]))
			t := run.Tick{X: x, Text: given.Value, Position: x, Label: given.Label}
			if given.Position != nil {
				t.Position = *given.Position
			}
			d.Ticks = append(d.Ticks, t)
		}
	}
	slices.SortFunc(d.Ticks, func(a, b run.Tick) int { return cmp.Or(cmp.Compare(a.X, b.X), cmp.Compare(a.Text, b.Text)) })
	d.Ticks = slices.CompactFunc(d.Ticks, func(a, b run.Tick) bool { return a.X == b.X }) // of several texts of one number, the first
	return nil
}

// addSeries adds the curves by their names, or their differences from the baseline.
func (d *LazyCurves) addSeries() error {
	for _, name := range d.c.names {
		op, subtracted := stat.Operation(""), ""
		if d.Baseline != "" {
			if op, subtracted = stat.Diff, d.c.counterpart(name); subtracted == "" {
				continue
			}
		}
		if err := d.series(name, name, op, subtracted, nil); err != nil {
			return err
		}
		if subtracted != "" {
			d.Series[len(d.Series)-1].Derivation = op.Name(name, subtracted)
		}
		d.setStyle(name, nil)
	}
	switch {
	case d.Series != nil:
		return nil
	case d.Baseline == "" || d.c.names == nil: // no row is of a curve that the drawing names
		return ErrNoRecords
	}
	unknown := fault.Unknown("baseline (minus or --scorecard)", d.Baseline, d.c.names)
	if slices.ContainsFunc(d.c.names, d.c.isBaseline) {
		unknown.Problem = strings.TrimSuffix("has no curve to compare with: "+strings.Join(d.c.absent, ", "), ": ")
		unknown.Cure = "name one that has records"
	}
	unknown.Err = ErrNoDifference
	return &fault.Status{Code: fault.Usage, Err: unknown}
}

// ValuesOf returns the values of the i-th of Series in each field that makes curves.
func (d *LazyCurves) ValuesOf(i int) (values []string) {
	for g, label := range d.labels[i] {
		values = append(values, strings.Join(d.c.groups[g].members[slices.Index(d.c.groups[g].all, label)], "+"))
	}
	return values
}

// setStyle sets the style and the kind of intervals of the last of Series. A derived curve has the style derived. For
// any other curve derived is nil, and setStyle finds the style of the curve name in the drawing.
func (d *LazyCurves) setStyle(name string, derived map[string]string) {
	s := &d.Series[len(d.Series)-1]
	s.Style = derived
	at, first := slices.Index(d.c.curveOrder, name), 0
	if !d.c.q.Drawing.ShowsLineType() { // its picture has the curves of one kind
		first = indexOfStat(d.c.q, Stats(d.c.q), &d.stat) * len(d.c.curveOrder)
	}
	if at >= 0 && first >= 0 && first+at < len(d.c.q.Drawing.Styles) {
		s.Style = d.c.q.Drawing.Styles[first+at]
	}
	d.kinds = append(d.kinds, d.method.kind(s.Style["plot_ci"]))
}

// series computes the values of one curve, from its rows or, with an operation, from the rows of
// two curves in their common cases.
func (d *LazyCurves) series(title, name string, op stat.Operation, other string, second *stat.Stat) error {
	out, places := run.Series{Name: cmp.Or(title, d.Stat)}, []point(nil)
	for _, x := range slices.Sorted(maps.Keys(d.c.points[name])) {
		p := point{rows: d.c.points[name][x]}
		if op != "" {
			if p = d.c.matchCases(p.rows, d.c.points[other][x]); p.rows == nil {
				continue
			}
			p.other = second
		}
		y, err := d.value(op, p)
		if err != nil {
			return err
		}
		places = append(places, p)
		out.X, out.Records = append(out.X, x), append(out.Records, d.recordCount(p.rows))
		out.Y, out.Low, out.High = append(out.Y, y), append(out.Low, math.NaN()), append(out.High, math.NaN())
	}
	d.Series, d.places, d.operations = append(d.Series, out), append(d.places, places), append(d.operations, op)
	d.labels, d.subtracted = append(d.labels, d.c.labels[name]), append(d.subtracted, d.c.labels[other])
	return nil
}

// seriesOf returns the records of a point, and those that are subtracted, in the form that package stat
// requires.
func (d *LazyCurves) seriesOf(p point) (series, subtracted stat.Series) {
	return stat.Series{Stat: &d.stat, Type: d.c.q.Type, Cols: d.c.copyRows(p.rows)}, stat.Series{Stat: cmp.Or(p.other, &d.stat), Type: d.c.q.Type, Cols: d.c.copyRows(p.baselineRows)}
}

func (d *LazyCurves) value(op stat.Operation, p point) (float64, error) {
	switch ofRecords := d.stat.NeedsRecords(); {
	case op == "" && !ofRecords:
		return d.method.value(&d.stat, d.c.q.Type, d.c.copyRows(p.rows))
	case op == stat.Significant:
		if d.method.bootstrap == nil {
			return math.NaN(), nil
		}
		y, ok, err := d.method.bootstrap.Significance(d.seriesOf(p))
		if !ok {
			y = math.NaN()
		}
		return y, err
	case d.method.SummaryMethod == stat.Overall && !ofRecords:
		a, err := d.method.value(&d.stat, d.c.q.Type, d.c.copyRows(p.rows))
		if err != nil {
			return a, err
		}
		b, err := d.method.value(cmp.Or(p.other, &d.stat), d.c.q.Type, d.c.copyRows(p.baselineRows))
		return op.Apply(a, b), err
	}
	values, err := d.perCase(op, p)
	y, ok := d.method.Combine(values)
	if !ok {
		y = math.NaN()
	}
	return y, err
}

// recordCount is the number of records from which a value is computed. For statistics of objects,
// it is the number of selected objects, or of their times and leads.
func (d *LazyCurves) recordCount(rows []int) int {
	if !slices.Contains(d.stat.Needs, "simple_flag") || d.stat.RecordsFunc != nil && !d.stat.PerCase {
		return len(rows)
	}
	values, _ := d.perCase("", point{rows: rows}) // what is wrong is reported with the value
	return len(lists.Filter(values, func(v float64) bool { return !math.IsNaN(v) }))
}

// objectValues are the values of a statistic that needs several records at once: one value from all
// records, one for each time and lead, or several for each of these.
func (d *LazyCurves) objectValues(rows []int) (values []float64) {
	id := columnOf(d.c.a, "object_id")
	cases := map[string][]int{}
	for _, r := range rows {
		key := "" // all records together
		if d.stat.PerCase || d.stat.ValuesFunc != nil {
			key = d.c.caseOf(r, question.HeaderField, question.ValidBeg, question.Lead)
		}
		cases[key] = append(cases[key], r)
	}
	for _, key := range slices.Sorted(maps.Keys(cases)) {
		cols, all := make([][]float64, len(d.stat.Needs)), d.c.copyRows(cases[key])
		for k, need := range d.stat.Needs {
			c, _ := d.c.q.Type.Column(need)
			cols[k] = all[c.Slot]
		}
		if d.stat.ValuesFunc != nil {
			names := lists.Pick(d.c.a.Vectors[id].Text, cases[key])
			values = append(values, d.stat.ValuesFunc(names, cols)...)
		} else if y, ok := d.stat.RecordsFunc(cols); ok {
			values = append(values, y)
		}
	}
	return values
}

// caseOf joins the values of a row in columns of these roles.
func (c *collector) caseOf(row int, roles ...question.Role) string {
	var key []byte
	for k, col := range c.a.Columns {
		if slices.Contains(roles, col.Role) {
			key = append(c.a.AppendValue(key, k, row), 0)
		}
	}
	return string(key)
}

// distinctCount is the number of different values in some rows.
func distinctCount[T comparable](vs []T, rows []int) int {
	return len(lists.Set(rows, func(i int) T { return vs[i] }))
}

// axisOf chooses the independent axis: that of the drawing, or the first of lead, level and valid
// time that has several values.
func axisOf(q *question.Question, a *answer.Answer) run.Axis {
	if q.Drawing != nil && q.Drawing.Axis != "" {
		return run.Axis(q.Drawing.Axis)
	}
	if q.Drawing != nil && q.Drawing.Picture == "revision" {
		return run.ByTime
	}
	if k := columnOf(a, "fcst_lead"); k >= 0 && varies(a.Vectors[k].Seconds) {
		return run.ByLead
	}
	if k := columnOf(a, "fcst_lev"); k >= 0 && varies(a.Vectors[k].Text) {
		return run.ByLevel
	}
	return run.ByTime
}

func varies[T comparable](vs []T) bool {
	return slices.ContainsFunc(vs, func(v T) bool { return v != vs[0] })
}

func columnOf(a *answer.Answer, name string) int {
	return slices.IndexFunc(a.Columns, func(c question.Column) bool { return c.Name == name })
}

// Widen returns a question whose answer has, after q's own columns, the columns that the statistics
// need and those that may be pooled.
func Widen(q *question.Question, names []string) (*question.Question, error) {
	wide := *q
	wide.Columns = slices.Clone(q.Columns)
	more := []string{"total", "fcst_valid_beg", "fcst_lead"}
	for f := range record.NumFields {
		if len(q.Header[f]) != 1 {
			more = append(more, f.String())
		}
	}
	shape := pictureShapeOf(q)
	if shape != nil {
		names, more = Stats(q), append(more, lists.Map(q.Type.Columns, func(c record.Column) string { return c.Name })...)
	}
	for _, name := range names {
		s, err := statOf(q, name, shape)
		if err != nil {
			return nil, err
		}
		needs, err := needsOf(q, &s)
		if err != nil {
			return nil, err
		}
		more = append(more, needs...)
	}
	if asksForRevisions(q) {
		more = append(more, "object_id", "time_index")
	}
	for _, name := range more {
		if c, err := question.ColumnByName(q.Type, name); err == nil && !slices.ContainsFunc(wide.Columns, func(have question.Column) bool { return have.Name == name }) {
			wide.Columns = append(wide.Columns, c)
		}
	}
	return &wide, nil
}
