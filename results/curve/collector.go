package curve

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/results/run"
	"github.com/barograph/barograph/stat"
)

// collector sorts the rows of an answer into curves and points.
type collector struct {
	q      *question.Question
	a      *answer.Answer
	axis   run.Axis
	only   string                       // the name of a curve that no field tells apart
	names  []string                     // curves, in order of first sight
	points map[string]map[float64][]int // curve → x → rows
	groups []grouping                   // of the drawing
	labels map[string][]string          // curve of the drawing → its label in each of groups
	place  []string                     // the curves of the drawing, those without rows too, in its order
	absent []string                     // those that have no row, with the reason
	off    int                          // rows that have no place on the axis
	kept   int                          // rows that the drawing's conditions leave out
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
	if d := c.q.Drawing; d != nil {
		for _, b := range d.Bounds {
			needs = append(slices.Clip(needs), b.Column)
		}
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
		if !c.drawn(i) {
			continue
		}
		c.put(cmp.Or(c.nameOf(naming, i), c.only), x(i), i)
	}
	c.inTime()
	return nil
}

// drawn reports whether a row fulfils the drawing's conditions, and counts those that do not.
func (c *collector) drawn(i int) bool {
	if c.q.Drawing == nil {
		return true
	}
	for k := range c.q.Drawing.Bounds {
		b := &c.q.Drawing.Bounds[k]
		if col, _ := c.q.Type.Column(b.Column); !b.Admits(c.cols[col.Slot][i]) {
			c.kept++
			return false
		}
	}
	return true
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
	v, l := c.a.Vectors[valid].Seconds, c.a.Vectors[lead].Seconds
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
					n = max(n, among(v.Seconds, rows))
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

// nameOf is the curve of row i.
func (c *collector) nameOf(naming []int, i int) string {
	parts := make([]string, len(naming))
	for j, k := range naming {
		if parts[j] = c.a.Vectors[k].Text[i]; len(naming) > 1 {
			parts[j] = word(parts[j])
		}
	}
	return strings.Join(parts, " ")
}

// word quotes a value that would not be one word among others: the curve of "X Y" and Z
// is not that of X and "Y Z".
func word(value string) string {
	if strings.ContainsAny(value, ` "`) {
		return strconv.Quote(value)
	}
	return value
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
