package curve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/barograph/barograph/answer"
	"github.com/barograph/barograph/fault"
	"github.com/barograph/barograph/question"
	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/run"
	"github.com/barograph/barograph/stat"
)

// ErrNoRecords says that an answer is empty.
var ErrNoRecords = errors.New("no record matches, so that there is no statistic")

// Drawn are curves whose values are known. Their intervals, which take far
// longer, are computed on demand.
type Drawn struct {
	run.Curves
	places [][]place        // of each of Series, along X
	made   []stat.Operation // of each of Series: how it is made of two curves; "" = it is one
	c      *collector
	stat   stat.Stat
	method method
}

// place is a point of a curve: its rows, and those of the curve that is taken
// off, paired with them.
type place struct{ rows, minus []int }

// Of computes a statistic from an answer: one curve per model, region and
// so on, along the lead where there are several, else along the level, else
// along the valid time. The aggregation is METviewer's (weighted by total),
// the interval a 95 % bootstrap over records with the given seed.
//
// Where the question has a Drawing, that says what the curves, their axis, their
// method and their interval are.
func Of(ctx context.Context, q *question.Question, a *answer.Answer, name string, seed uint64) (*run.Curves, error) {
	d, err := Values(q, a, name, seed)
	if err != nil {
		return nil, err
	}
	return d.Whole(ctx)
}

// Whole computes the intervals, and what a scorecard makes of them.
func (d *Drawn) Whole(ctx context.Context) (*run.Curves, error) {
	if err := d.Intervals(ctx); err != nil {
		return nil, err
	}
	if d.Picture == "scorecard" {
		return &d.Curves, d.card()
	}
	return &d.Curves, nil
}

// Values is Of without intervals: Low and High are missing.
func Values(q *question.Question, a *answer.Answer, name string, seed uint64) (*Drawn, error) {
	by := shapeOf(q)
	s, err := statOf(q, name, by)
	if err != nil {
		return nil, err
	}
	if a.Rows == 0 {
		return nil, ErrNoRecords
	}
	c := &collector{q: q, a: a, points: map[string]map[float64][]int{}}
	if by == nil || by.axis {
		c.axis = axisOf(q, a)
	}
	if err := c.collect(s.Needs); err != nil {
		return nil, err
	}
	m := methodOf(q, seed)
	m.note = c.noteOf(m.note, &s, by)
	out := &Drawn{Curves: run.Curves{Case: q.Name, Title: Title(q, a), Stat: s.Name, Unit: s.Unit, Axis: c.axis, Note: m.note}, c: c, stat: s, method: m}
	if q.Drawing != nil {
		out.XLabel, out.YLabel, out.Minus, out.Picture = q.Drawing.XLabel, q.Drawing.YLabel, q.Drawing.Minus, q.Drawing.Picture
	}
	out.namePlaces()
	if q.Drawing != nil && q.Drawing.EventEqual {
		left, err := c.equalize()
		if out.Note += left; err != nil {
			return nil, err
		}
	}
	out.Note += c.pooled()
	if by != nil {
		return out, out.picture(by)
	}
	if err := out.named(); err != nil {
		return nil, err
	}
	if err := out.derived(); err != nil {
		return nil, err
	}
	switch out.Picture {
	case "box":
		out.Note = "boxes from the lower to the upper quartile of the records' statistics, their median, whiskers to what is no farther than 1.5 times the box, circles beyond" + out.Note[len(m.note):]
		err = out.boxes()
	case "revision":
		err = out.revisions()
	default:
		err = out.testRevised()
	}
	return out, err
}

// statOf is the statistic of a question's curves; pictures of a shape of their
// own need columns alone.
func statOf(q *question.Question, name string, by *shape) (s stat.Stat, err error) {
	if by == nil {
		return question.StatOf(q, name)
	}
	if q.Type.Group != nil {
		s.Needs = []string{stat.Repeats}
	}
	return s, nil
}

// noteOf says what the values are made of; method is what their method says.
func (c *collector) noteOf(method string, s *stat.Stat, by *shape) string {
	switch {
	case by != nil:
		_, interval, has := strings.Cut(method, "; ")
		if method = "all records of a curve together"; has && c.q.Drawing.Picture == "performance" {
			method += "; of PODY a " + interval
		}
	case s.PerCase:
		method = "of the objects of each time and lead, then" + strings.TrimSuffix(" "+method, " of the records' statistics")
	case s.Each != nil:
		method = "of the pairs of objects of each time and lead, then" + strings.TrimSuffix(" "+method, " of the records' statistics")
	case s.Rows != nil:
		method = "of all objects together"
	}
	if c.kept > 0 {
		method += fmt.Sprintf("; %d rows are left out by the plot's condition on values", c.kept)
	}
	if c.off > 0 {
		method += fmt.Sprintf("; %d rows are left out, which have no place on this axis", c.off)
	}
	return method
}

// namePlaces names the places below the axis, since the axis has numbers.
func (d *Drawn) namePlaces() {
	if places := slices.Clone(d.c.placesOf(string(d.c.axis))); places != nil {
		for i, p := range places {
			places[i] = fmt.Sprint(i+1, " ", p)
		}
		d.XLabel = cmp.Or(d.XLabel, string(d.c.axis)) + ": " + strings.Join(places, ", ")
		d.Note += "; " + d.XLabel
	}
}

// named adds the curves by their names, or their differences from another one.
func (d *Drawn) named() error {
	for _, name := range d.c.names {
		op, less := stat.Operation(""), ""
		if d.Minus != "" {
			if op, less = stat.Diff, d.c.counterpart(name); less == "" {
				continue
			}
		}
		if err := d.series(name, name, op, less); err != nil {
			return err
		}
	}
	if d.Series == nil {
		return fault.Unknown("minus", d.Minus, d.c.names)
	}
	return nil
}

// derived adds the curves that the question's picture makes of two others.
func (d *Drawn) derived() error {
	if d.c.q.Drawing == nil {
		return nil
	}
	for _, made := range d.c.q.Drawing.Derived {
		one, other := d.c.named(made.A), d.c.named(made.B)
		if err := d.series(made.Name(one, other), one, made.Operation, other); err != nil {
			return err
		}
	}
	return nil
}

// series computes the values of one curve: of the rows of a curve or, with an
// operation, of those of two that are of the same cases.
func (d *Drawn) series(title, name string, op stat.Operation, other string) error {
	out, places := run.Series{Name: cmp.Or(title, d.Stat)}, []place(nil)
	for _, x := range slices.Sorted(maps.Keys(d.c.points[name])) {
		p := place{rows: d.c.points[name][x]}
		if op != "" {
			if p = d.c.matched(p.rows, d.c.points[other][x]); p.rows == nil {
				continue
			}
		}
		y, err := d.value(op, p)
		if err != nil {
			return err
		}
		places = append(places, p)
		out.X, out.N = append(out.X, x), append(out.N, d.count(p.rows))
		out.Y, out.Low, out.High = append(out.Y, y), append(out.Low, math.NaN()), append(out.High, math.NaN())
	}
	d.Series, d.places, d.made = append(d.Series, out), append(d.places, places), append(d.made, op)
	return nil
}

// of are records as package stat takes them.
func (d *Drawn) of(rows []int) stat.Series {
	return stat.Series{Stat: &d.stat, Type: d.c.q.Type, Cols: d.c.take(rows)}
}

func (d *Drawn) value(op stat.Operation, p place) (float64, error) {
	switch {
	case d.stat.OfObjects() && op != "":
		return op.Of(d.ofObjects(p.rows), d.ofObjects(p.minus)), nil
	case d.stat.OfObjects():
		return d.ofObjects(p.rows), nil
	case op == "":
		return d.method.value(&d.stat, d.c.q.Type, d.c.take(p.rows))
	case op == stat.Significant:
		if d.method.bootstrap == nil {
			return math.NaN(), nil
		}
		y, ok, err := d.method.bootstrap.Significance(d.of(p.rows), d.of(p.minus))
		if !ok {
			y = math.NaN()
		}
		return y, err
	case op == stat.Equivalence:
		a, b, err := d.each(p)
		e, ok := stat.Equivalent(a, b)
		if !ok {
			return math.NaN(), err
		}
		d.Note += "; ETB of " + strconv.Itoa(e.N) + " cases: " + e.Outcome()
		return e.Difference, err
	case d.method.Method == stat.Overall:
		a, err := d.method.value(&d.stat, d.c.q.Type, d.c.take(p.rows))
		if err != nil {
			return a, err
		}
		b, err := d.method.value(&d.stat, d.c.q.Type, d.c.take(p.minus))
		return op.Of(a, b), err
	}
	values, err := d.perCase(op, p)
	y, ok := d.method.Of(values)
	if !ok {
		y = math.NaN()
	}
	return y, err
}

// count is the number of records that a value is made of: of objects those, or
// their times and leads, that the statistic chooses.
func (d *Drawn) count(rows []int) (n int) {
	if !slices.Contains(d.stat.Needs, "simple_flag") || d.stat.OfObjects() && !d.stat.PerCase && d.stat.Each == nil {
		return len(rows)
	}
	values, _ := d.perCase("", place{rows: rows}) // what is wrong is told with the value
	for _, v := range values {
		if !math.IsNaN(v) {
			n++
		}
	}
	return n
}

func (d *Drawn) ofObjects(rows []int) float64 {
	values := d.objects(rows)
	if !d.stat.PerCase && d.stat.Each == nil && len(values) == 1 {
		return values[0]
	}
	y, ok := d.method.Of(values)
	if !ok {
		y = math.NaN()
	}
	return y
}

// objects are the values of a statistic that is of several records at once: of all
// of them, of those of each time and lead, or several of each.
func (d *Drawn) objects(rows []int) (values []float64) {
	id := columnOf(d.c.a, "object_id")
	of := func(rows []int) {
		cols, all := make([][]float64, len(d.stat.Needs)), d.c.take(rows)
		for k, need := range d.stat.Needs {
			c, _ := d.c.q.Type.Column(need)
			cols[k] = all[c.Slot]
		}
		if d.stat.Each == nil {
			if y, ok := d.stat.Rows(cols); ok {
				values = append(values, y)
			}
			return
		}
		names := make([]string, len(rows))
		for i, r := range rows {
			names[i] = d.c.a.Vectors[id].Text[r]
		}
		values = append(values, d.stat.Each(names, cols)...)
	}
	if !d.stat.PerCase && d.stat.Each == nil {
		of(rows)
		return values
	}
	cases := map[string][]int{}
	for _, r := range rows {
		key := d.c.caseOf(r, question.HeaderField, question.ValidBeg, question.Lead)
		cases[key] = append(cases[key], r)
	}
	for _, key := range slices.Sorted(maps.Keys(cases)) {
		of(cases[key])
	}
	return values
}

// caseOf is what a row has in columns of these roles.
func (c *collector) caseOf(row int, roles ...question.Role) string {
	var key strings.Builder
	for k, col := range c.a.Columns {
		switch v := &c.a.Vectors[k]; {
		case !slices.Contains(roles, col.Role):
		case col.Role == question.HeaderField:
			fmt.Fprintf(&key, "%s\x00", v.Text[row])
		default:
			fmt.Fprintf(&key, "%d\x00", v.Whole[row])
		}
	}
	return key.String()
}

// each are the statistics of the records of both curves of a place.
func (d *Drawn) each(p place) (a, b []float64, err error) {
	if a, err = stat.PerRecord(&d.stat, d.c.q.Type, d.c.take(p.rows)); err == nil && p.minus != nil {
		b, err = stat.PerRecord(&d.stat, d.c.q.Type, d.c.take(p.minus))
	}
	return a, b, err
}

// perCase are the statistics of the records of a place, or what the operation
// makes of those of each case.
func (d *Drawn) perCase(op stat.Operation, p place) ([]float64, error) {
	if d.stat.OfObjects() {
		return d.objects(p.rows), nil
	}
	a, b, err := d.each(p)
	for i := range b {
		a[i] = op.Of(a[i], b[i])
	}
	return a, err
}

// Intervals computes the intervals of all points; it ends soon after its context.
func (d *Drawn) Intervals(ctx context.Context) error {
	return d.Each(ctx, func(int, int, stat.Interval) {})
}

// Each is Intervals, and hands each interval on, by its curve and point.
func (d *Drawn) Each(ctx context.Context, f func(curve, point int, iv stat.Interval)) error {
	for i := range d.Series {
		s := &d.Series[i]
		for k, p := range d.places[i] {
			if err := ctx.Err(); err != nil {
				return err
			}
			iv, ok, err := d.interval(d.method.kind(i), d.made[i], p, s.Y[k])
			if err != nil {
				return err
			}
			if ok {
				s.Low[k], s.High[k] = iv.Low, iv.High
				f(i, k, iv)
			}
		}
	}
	return nil
}

// interval is that of a place with value y, of METviewer's kind.
func (d *Drawn) interval(kind string, op stat.Operation, p place, y float64) (iv stat.Interval, ok bool, err error) {
	switch {
	case op == stat.Equivalence:
		a, b, err := d.each(p)
		e, ok := stat.Equivalent(a, b)
		return stat.Interval{Value: y, Low: e.Narrow[0], High: e.Narrow[1]}, ok, err
	case op == stat.Significant || len(p.rows) < 2 || d.stat.OfObjects() && kind != "std": // nothing to resample
		return iv, false, nil
	case kind == "boot" && d.method.bootstrap != nil && op != "":
		return d.method.bootstrap.Difference(op, d.of(p.rows), d.of(p.minus))
	case kind == "boot" && d.method.bootstrap != nil:
		return d.method.bootstrap.Interval(&d.stat, d.c.q.Type, d.c.take(p.rows))
	case kind == "std" && d.method.Method != stat.Overall:
		values, err := d.perCase(op, p)
		se := stat.StandardError(d.method.Method, values, d.method.inflate)
		margin := stat.Margin(d.method.confidence, se)
		return stat.Interval{Value: y, Low: y - margin, High: y + margin, Spread: se}, !math.IsNaN(margin), err
	case (kind == "met_prm" || kind == "met_boot") && op == "" && d.c.q.Drawing.Finished:
		low, high, has := d.stat.Limits(map[string]byte{"met_prm": 'n', "met_boot": 'b'}[kind])
		iv.Value = y
		for to, column := range map[*float64]string{&iv.Low: low, &iv.High: high} {
			s := d.stat
			s.Needs = []string{column}
			if has && err == nil {
				*to, err = d.method.value(&s, d.c.q.Type, d.c.take(p.rows))
			}
		}
		return iv, has, err
	}
	return iv, false, nil
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

// Title is the title of a question with how much of the data answers it.
func Title(q *question.Question, a *answer.Answer) string {
	var parts []string
	add := func(n int, what string) {
		if n > 1 {
			what += "s"
		}
		parts = append(parts, fmt.Sprintf("%d %s", n, what))
	}
	for k, c := range a.Columns {
		v := &a.Vectors[k]
		switch c.Name {
		case "fcst_lev":
			add(distinct(v.Text), "level")
		case "vx_mask":
			add(distinct(v.Text), "region")
		case "fcst_lead":
			add(distinct(v.Whole), "lead")
		case "fcst_valid_beg":
			days := make([]int64, a.Rows)
			for i, t := range v.Whole {
				days[i] = t / (24 * 3600)
			}
			add(distinct(days), "day")
		}
	}
	if a.Rows == 0 {
		parts = []string{"no rows in this data"}
	}
	if len(parts) == 0 {
		return q.Title
	}
	return strings.TrimPrefix(q.Title+"; "+strings.Join(parts, ", "), "; ")
}

func distinct[T cmp.Ordered](vs []T) int {
	return len(slices.Compact(slices.Sorted(slices.Values(vs))))
}

// among is how many values some rows have.
func among[T comparable](vs []T, rows []int) int {
	seen := map[T]bool{}
	for _, i := range rows {
		seen[vs[i]] = true
	}
	return len(seen)
}

// axisOf chooses the independent axis: that of the drawing, or the first of
// lead, level and valid time that has several values.
func axisOf(q *question.Question, a *answer.Answer) run.Axis {
	if q.Drawing != nil && q.Drawing.Axis != "" {
		return run.Axis(q.Drawing.Axis)
	}
	if q.Drawing != nil && q.Drawing.Picture == "revision" {
		return run.ByTime
	}
	if k := columnOf(a, "fcst_lead"); k >= 0 && several(a.Vectors[k].Whole) {
		return run.ByLead
	}
	if k := columnOf(a, "fcst_lev"); k >= 0 && several(a.Vectors[k].Text) {
		return run.ByLevel
	}
	return run.ByTime
}

func several[T comparable](vs []T) bool {
	return slices.ContainsFunc(vs, func(v T) bool { return v != vs[0] })
}

func columnOf(a *answer.Answer, name string) int {
	return slices.IndexFunc(a.Columns, func(c question.Column) bool { return c.Name == name })
}

// Widen returns the question whose answer holds, after q's own columns, what
// the statistics need, and all that they may pool.
func Widen(q *question.Question, names []string) (*question.Question, error) {
	wide := *q
	wide.Columns = slices.Clone(q.Columns)
	more := []string{"total", "fcst_valid_beg", "fcst_lead"}
	for f := range record.NumFields {
		if len(q.Header[f]) != 1 {
			more = append(more, f.String())
		}
	}
	if q.Drawing != nil {
		for _, b := range q.Drawing.Only {
			more = append(more, b.Column)
		}
	}
	if q.Drawing.Whole() {
		for _, c := range q.Type.Columns {
			more = append(more, c.Name)
		}
		if names = nil; q.Type.Group != nil {
			more = append(more, q.Type.Group.Fields...)
		}
	}
	for _, name := range names {
		s, err := question.StatOf(q, name)
		if err != nil {
			return nil, err
		}
		if more = append(more, s.Needs...); slices.Contains(s.Needs, stat.Repeats) {
			more = append(more, q.Type.Group.Fields...)
		}
		if s.Each != nil {
			more = append(more, "object_id")
		}
	}
	if ofRevisions(q) {
		more = append(more, "object_id", "time_index")
	}
	for _, name := range more {
		if c, err := question.ColumnByName(q.Type, name); err == nil && !slices.ContainsFunc(wide.Columns, func(have question.Column) bool { return have.Name == name }) {
			wide.Columns = append(wide.Columns, c)
		}
	}
	return &wide, nil
}
