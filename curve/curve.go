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
	return &d.Curves, d.Intervals(ctx)
}

// Values is Of without intervals: Low and High are missing.
func Values(q *question.Question, a *answer.Answer, name string, seed uint64) (*Drawn, error) {
	s, err := question.StatOf(q, name)
	if err != nil {
		return nil, err
	}
	if a.Rows == 0 {
		return nil, ErrNoRecords
	}
	c := &collector{q: q, a: a, axis: axisOf(q, a), points: map[string]map[float64][]int{}}
	if err := c.collect(s.Needs); err != nil {
		return nil, err
	}
	m := methodOf(q, seed)
	if c.off > 0 {
		m.note += fmt.Sprintf("; %d rows are left out, which have no place on this axis", c.off)
	}
	out := &Drawn{Curves: run.Curves{Case: q.Name, Title: Title(q, a), Stat: s.Name, Unit: s.Unit, Axis: c.axis, Note: m.note}, c: c, stat: s, method: m}
	if d := q.Drawing; d != nil {
		out.XLabel, out.YLabel, out.Minus = d.XLabel, d.YLabel, d.Minus
		if d.EventEqual {
			left, err := c.equalize()
			if err != nil {
				return nil, err
			}
			out.Note += left
		}
	}
	out.Note += c.pooled()
	for _, name := range c.names {
		less := ""
		if out.Minus != "" {
			if less = c.counterpart(name); less == "" {
				continue
			}
		}
		op := stat.Operation("")
		if out.Minus != "" {
			op = stat.Diff
		}
		if err := out.series(name, name, op, less); err != nil {
			return nil, err
		}
	}
	if out.Series == nil {
		return nil, fault.Unknown("minus", out.Minus, c.names)
	}
	if d := q.Drawing; d != nil {
		for _, made := range d.Derived {
			one, other := c.named(made.A), c.named(made.B)
			if err := out.series(made.Name(one, other), one, made.Operation, other); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// Question is the question with all that its answer suggested written out: the
// statistic, the axis, and what makes the curves, with its values.
func (d *Drawn) Question() *question.Question {
	q := *d.c.q
	drawing := *cmp.Or(q.Drawing, question.NewDrawing(q.Type, d.Stat, ""))
	drawing.Stats, drawing.Axis = []string{d.Stat}, string(d.Axis)
	curves := slices.Clone(drawing.Curves)
	if len(curves) == 0 {
		for _, field := range d.c.parting() {
			curves = append(curves, question.Group{Field: field})
		}
	}
	for i := range curves {
		if text, err := d.c.text(curves[i].Field); err == nil && curves[i].Values == nil {
			curves[i].Values = d.c.eachValue(text)
		}
	}
	drawing.Curves = curves
	q.Drawing = &drawing
	return &q
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
		out.X, out.N = append(out.X, x), append(out.N, len(p.rows))
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
	case op == stat.Significant || len(p.rows) < 2: // nothing to resample
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
	return q.Title + "; " + strings.Join(parts, ", ")
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

// collector sorts the rows of an answer into curves and points.
type collector struct {
	q      *question.Question
	a      *answer.Answer
	axis   run.Axis
	names  []string                     // curves, in order of first sight
	points map[string]map[float64][]int // curve → x → rows
	groups []grouping                   // of the drawing
	off    int                          // rows that have no place on the axis
	cols   [][]float64                  // the numeric columns of the type, by slot; nil = not in the answer
}

func (c *collector) collect(needs []string) error {
	c.cols = make([][]float64, c.q.Type.NumCols())
	for k, col := range c.a.Columns {
		if col.Role == question.Data && col.Kind == question.Number {
			c.cols[col.Slot] = c.a.Vectors[k].Num
		}
	}
	if slices.Contains(needs, stat.Repeats) {
		needs = append(slices.Clone(needs), c.q.Type.Group.Fields...)
		c.repeat()
	}
	for _, need := range append([]string{"total"}, needs...) {
		if t := c.q.Type; t.Group != nil && slices.Contains(t.Group.Fields, need) && columnOf(c.a, need) < 0 {
			return &fault.Error{Setting: "question " + c.q.Name + ": columns", Problem: "lacks " + need, Cure: "add it, or ask for another statistic"}
		}
		col, ok := c.q.Type.Column(need)
		if ok && col.Kind != record.Text && c.cols[col.Slot] == nil {
			return &fault.Error{Setting: "question " + c.q.Name + ": columns", Problem: "lacks " + need, Cure: "add it, or ask for another statistic"}
		}
	}
	x, err := c.xOf()
	if err != nil {
		return err
	}
	if d := c.q.Drawing; d != nil && len(d.Curves) > 0 {
		return c.collectDrawn(x)
	}
	naming := c.naming()
	for i := range c.a.Rows {
		c.put(cmp.Or(c.nameOf(naming, i), strings.Join(Stats(c.q), " ")), x(i), i)
	}
	c.inTime()
	return nil
}

// repeat puts the repeating columns behind the others, those of a record in the
// order in which they stand in it. Of a record that repeats less often than
// others the rest is missing.
func (c *collector) repeat() {
	fixed, fields := len(c.cols), len(c.q.Type.Group.Fields)
	for k, col := range c.a.Columns {
		if col.Role != question.Repeating {
			continue
		}
		v := &c.a.Vectors[k]
		for i := range c.a.Rows {
			for n, x := range v.List(i) {
				slot := fixed + n*fields + col.Slot
				for slot >= len(c.cols) {
					c.cols = append(c.cols, slices.Repeat([]float64{record.Missing()}, c.a.Rows))
				}
				c.cols[slot][i] = x
			}
		}
	}
}

// inTime puts the rows of each point into the order of time, in which blocks of
// them are drawn: valid time, then lead.
func (c *collector) inTime() {
	valid, lead := columnOf(c.a, "fcst_valid_beg"), columnOf(c.a, "fcst_lead")
	if valid < 0 || lead < 0 {
		return
	}
	v, l := c.a.Vectors[valid].Whole, c.a.Vectors[lead].Whole
	order := func(i, j int) int { return cmp.Or(cmp.Compare(v[i], v[j]), cmp.Compare(l[i], l[j])) }
	for _, points := range c.points {
		for _, rows := range points {
			if !slices.IsSortedFunc(rows, order) {
				slices.SortStableFunc(rows, order)
			}
		}
	}
}

func (c *collector) put(name string, x float64, row int) {
	p := c.points[name]
	if p == nil {
		p = map[float64][]int{}
		c.points[name] = p
		c.names = append(c.names, name)
	}
	if math.IsNaN(x) { // a level without a pressure, a threshold without a number
		c.off++
		return
	}
	p[x] = append(p[x], row)
}

// naming chooses the columns that name a curve: the header fields that have
// several values, but for the independent one; where there are none, model and
// vx_mask.
func (c *collector) naming() []int {
	var differ, fixed []int
	for k, col := range c.a.Columns[:len(c.q.Columns)] { // what was added to see what is pooled names nothing
		switch {
		case col.Role != question.HeaderField || col.Name == string(c.axis):
		case several(c.a.Vectors[k].Text):
			differ = append(differ, k)
		case col.Name == "model" || col.Name == "vx_mask":
			fixed = append(fixed, k)
		}
	}
	if len(differ) > 0 {
		return differ
	}
	return fixed
}

// parting are the fields by whose values a row is of one curve or another.
func (c *collector) parting() (fields []string) {
	if d := c.q.Drawing; d != nil && len(d.Curves) > 0 {
		for _, g := range d.Curves {
			fields = append(fields, g.Field)
		}
		return fields
	}
	for _, k := range c.naming() {
		fields = append(fields, c.a.Columns[k].Name)
	}
	return fields
}

// pooled says of which header fields, leads and times a value has several. What
// goes with the axis or with a curve, as obs_lev with fcst_lev, is none of them.
func (c *collector) pooled() string {
	fields, words := c.parting(), []string(nil)
	for k, col := range c.a.Columns {
		n := 1
		for _, places := range c.points {
			for _, rows := range places {
				switch v := &c.a.Vectors[k]; col.Role {
				case question.HeaderField:
					n = max(n, among(v.Text, rows))
				case question.ValidBeg, question.Lead:
					n = max(n, among(v.Whole, rows))
				}
			}
		}
		if n > 1 && col.Name != string(c.axis) && !slices.Contains(fields, col.Name) {
			words = append(words, fmt.Sprintf("%d values of %s", n, col.Name))
		}
	}
	if words == nil {
		return ""
	}
	return "; pools " + strings.Join(words, ", ")
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
	for _, name := range names {
		s, err := question.StatOf(q, name)
		if err != nil {
			return nil, err
		}
		if more = append(more, s.Needs...); slices.Contains(s.Needs, stat.Repeats) {
			more = append(more, q.Type.Group.Fields...)
		}
	}
	for _, name := range more {
		if c, err := question.ColumnByName(q.Type, name); err == nil && !slices.ContainsFunc(wide.Columns, func(have question.Column) bool { return have.Name == name }) {
			wide.Columns = append(wide.Columns, c)
		}
	}
	return &wide, nil
}

// nameOf is the curve of row i.
func (c *collector) nameOf(naming []int, i int) string {
	parts := make([]string, len(naming))
	for j, k := range naming {
		parts[j] = c.a.Vectors[k].Text[i]
	}
	return strings.Join(parts, " ")
}

// xOf returns the place of a row on the axis: hours, hPa, Unix seconds, hours
// of the day or the number of a threshold.
func (c *collector) xOf() (func(i int) float64, error) {
	name := string(c.axis)
	switch c.axis {
	case run.ByValidHour:
		name = "fcst_valid_beg"
	case run.ByInitHour:
		name = "fcst_init_beg"
	}
	k := columnOf(c.a, name)
	if k < 0 {
		return nil, &fault.Error{Setting: "question " + c.q.Name + ": columns", Problem: "lacks " + name, Cure: "add it: it is the independent axis"}
	}
	v := &c.a.Vectors[k]
	switch c.axis {
	case run.ByLead:
		return func(i int) float64 { return float64(v.Whole[i]) / 3600 }, nil
	case run.ByTime, run.ByInit:
		return func(i int) float64 { return float64(v.Whole[i]) }, nil
	case run.ByValidHour, run.ByInitHour:
		return func(i int) float64 { return float64(question.HourOf(v.Whole[i])) }, nil
	case run.ByThresh:
		return func(i int) float64 { return Threshold(v.Text[i]) }, nil
	}
	return func(i int) float64 { return pressure(v.Text[i]) }, nil
}

// pressure reads a level such as P500 as 500 hPa; NaN for other levels.
func pressure(level string) float64 {
	digits, ok := strings.CutPrefix(level, "P")
	hpa, err := strconv.ParseFloat(digits, 64)
	if !ok || err != nil {
		return math.NaN()
	}
	return hpa
}

// take copies some rows of the numeric columns; a column that the answer lacks is missing.
func (c *collector) take(rows []int) [][]float64 {
	cols := make([][]float64, len(c.cols))
	for slot, from := range c.cols {
		cols[slot] = make([]float64, len(rows))
		for i, r := range rows {
			if from == nil {
				cols[slot][i] = record.Missing()
			} else {
				cols[slot][i] = from[r]
			}
		}
	}
	return cols
}
