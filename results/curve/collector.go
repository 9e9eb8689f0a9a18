package curve

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/results/run"
	"github.com/barograph/barograph/stat"
)

// collector sorts the rows of an answer into curves and points.
type collector struct {
	q           *question.Question
	a           *answer.Answer
	axis        run.Axis
	singleCurve string                       // the name of the only curve, if no field distinguishes curves
	names       []string                     // curves, in order of first occurrence
	points      map[string]map[float64][]int // curve → x → rows
	groups      []grouping                   // groupings of the drawing
	labels      map[string][]string          // curve of the drawing → its label in each of groups
	curveOrder  []string                     // the curves of the drawing in its order, including those without rows
	exclusions  map[string]bool              // curves of rows that the drawing's conditions exclude
	absent      []string                     // curves without a row, with the reason
	outsideAxis int                          // number of rows without a place on the axis
	excluded    int                          // number of rows that the drawing's conditions exclude
	cols        [][]float64                  // the numeric columns of the type, by slot; nil = not in the answer
}

func (c *collector) collect(needs []string) error {
	c.cols = make([][]float64, c.q.Type.NumCols())
	for k, col := range c.a.Columns {
		if col.Role == question.Data && col.Kind == question.Number {
			c.cols[col.Slot] = c.a.Vectors[k].Num
		}
	}
	if slices.Contains(needs, stat.Repeats) {
		c.repeat()
	}
	for _, need := range append([]string{"total"}, needs...) {
		if _, err := question.ColumnByName(c.q.Type, need); err == nil && columnOf(c.a, need) < 0 {
			return &fault.Error{Setting: "question " + c.q.Name + ": columns", Problem: "lacks " + need, Cure: "add it, or choose another statistic"}
		}
	}
	x, err := c.xOf()
	if err != nil {
		return err
	}
	if d := c.q.Drawing; d != nil && len(d.Curves) > 0 {
		return c.collectDrawn(x)
	}
	naming := c.namingColumns()
	for i := range c.a.Rows {
		if !c.admits(i) {
			continue
		}
		c.addRow(cmp.Or(c.nameOf(naming, i), c.singleCurve), x(i), i)
	}
	c.sortByTime()
	return nil
}

// admits reports whether a row fulfills the drawing's conditions, and counts the others.
func (c *collector) admits(i int) bool {
	if c.q.Drawing == nil {
		return true
	}
	for k := range c.q.Drawing.ValueConditions {
		b := &c.q.Drawing.ValueConditions[k]
		if col, _ := c.q.Type.Column(b.Column); !b.Accepts(c.cols[col.Slot][i]) {
			c.excluded++
			return false
		}
	}
	return true
}

// repeat appends the repeating columns to the others, in the order in which the record has them. If
// a record repeats less often than others, the rest is missing.
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

// sortByTime sorts the rows of each point by valid time and lead, because the bootstrap draws
// blocks of consecutive rows.
func (c *collector) sortByTime() {
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

func (c *collector) addRow(name string, x float64, row int) {
	p := c.points[name]
	if p == nil {
		p = map[float64][]int{}
		c.points[name] = p
		c.names = append(c.names, name)
	}
	if math.IsNaN(x) || math.IsInf(x, 0) { // a level without a pressure, a threshold without a number
		c.outsideAxis++
		return
	}
	p[x] = append(p[x], row)
}

// namingColumns chooses the columns that name a curve: the header fields with several values,
// except the independent one, or else model and vx_mask.
func (c *collector) namingColumns() []int {
	var differ, fixed []int
	for k, col := range c.a.Columns[:len(c.q.Columns)] { // columns that Widen added do not name curves
		switch {
		case col.Role != question.HeaderField || col.Name == string(c.axis):
		case varies(c.a.Vectors[k].Text):
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

// curveFields are the fields whose values decide to which curve a row belongs.
func (c *collector) curveFields() []string {
	if d := c.q.Drawing; d != nil && len(d.Curves) > 0 {
		return lists.Map(d.Curves, func(g question.Group) string { return g.Field })
	}
	return lists.Map(c.namingColumns(), func(k int) string { return c.a.Columns[k].Name })
}

// pooled says over how many values of header fields, leads and times each point pools. It ignores
// fields that the axis or the curve determines, such as obs_lev for fcst_lev.
func (c *collector) pooled() string {
	fields, words := c.curveFields(), []string(nil)
	for k, col := range c.a.Columns {
		n := 1
		for _, places := range c.points {
			for _, rows := range places {
				switch v := &c.a.Vectors[k]; col.Role {
				case question.HeaderField:
					n = max(n, distinctCount(v.Text, rows))
				case question.ValidBeg, question.Lead:
					n = max(n, distinctCount(v.Seconds, rows))
				}
			}
		}
		if n > 1 && col.Name != string(c.axis) && !slices.Contains(fields, col.Name) {
			words = append(words, run.CountOf(n, "value")+" of "+col.Name)
		}
	}
	if words == nil {
		return ""
	}
	return "; pools " + strings.Join(words, ", ")
}

// nameOf is the name of row i's curve.
func (c *collector) nameOf(naming []int, i int) string {
	parts := make([]string, len(naming))
	for j, k := range naming {
		if parts[j] = c.a.Vectors[k].Text[i]; len(naming) > 1 {
			parts[j] = quoteName(parts[j])
		}
	}
	return strings.Join(parts, " ")
}

// quoteName quotes a value that would be ambiguous among others: the curve of "X Y" and Z differs
// from that of X and "Y Z".
func quoteName(value string) string {
	if strings.ContainsAny(value, ` "`) {
		return strconv.Quote(value)
	}
	return value
}

// copyRows copies some rows of the numeric columns. A column that the answer lacks is missing.
func (c *collector) copyRows(rows []int) [][]float64 {
	return lists.Map(c.cols, func(from []float64) []float64 {
		if from == nil {
			return slices.Repeat([]float64{record.Missing()}, len(rows))
		}
		return lists.Pick(from, rows)
	})
}
