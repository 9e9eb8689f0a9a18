package met

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"barograph/answer"
	"barograph/fault"
	"barograph/question"
	"barograph/record"
	"barograph/run"
	"barograph/stat"
)

// DefaultStat is the statistic that is drawn of a line type where none is
// named; "" where the line type has none.
func DefaultStat(t *record.LineType) string {
	switch t.Name {
	case "SAL1L2":
		return "ANOM_CORR"
	case "VAL1L2":
		return "VAL1L2_ANOM_CORR"
	case "SL1L2":
		return "RMSE"
	case "VL1L2":
		return "VL1L2_RMSVE"
	case "CTC":
		return "CSI"
	}
	return ""
}

// bootstrapReplicates is the number of resamplings behind a plot's interval.
const bootstrapReplicates = 300

// Curves computes a statistic from an answer: one curve per model, region and
// so on, along the lead where there are several, else along the level, else
// along the valid time. The aggregation is METviewer's (weighted by total),
// the interval a 95 % bootstrap over records with the given seed.
func Curves(q *question.Question, a *answer.Answer, name string, seed uint64) (*run.Curves, error) {
	s, err := stat.ByName(q.Type.Name, name)
	if err != nil {
		return nil, err
	}
	c := &collector{q: q, a: a, axis: axisOf(a), points: map[string]map[float64][]int{}}
	if err := c.collect(s.Needs); err != nil {
		return nil, err
	}
	out := &run.Curves{
		Case: q.Name, Title: q.Title, Stat: s.Name, Unit: s.Unit, Axis: c.axis,
		Note: fmt.Sprintf("partial sums weighted by total; 95 %% interval by bootstrap over records, %d replicates, seed %d", bootstrapReplicates, seed),
	}
	for _, name := range c.names {
		series, err := c.series(name, &s, seed)
		if err != nil {
			return nil, err
		}
		out.Series = append(out.Series, series)
	}
	return out, nil
}

// axisOf chooses the independent axis: the first of lead, level and valid time
// that has several values.
func axisOf(a *answer.Answer) run.Axis {
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
	cols   [][]float64                  // the numeric columns of the type, by slot; nil = not in the answer
}

func (c *collector) collect(needs []string) error {
	c.cols = make([][]float64, c.q.Type.NumCols())
	for k, col := range c.a.Columns {
		if col.Role == question.Data && col.Kind == question.Number {
			c.cols[col.Slot] = c.a.Vectors[k].Num
		}
	}
	for _, need := range append([]string{"total"}, needs...) {
		col, ok := c.q.Type.Column(need)
		if ok && col.Kind != record.Text && c.cols[col.Slot] == nil {
			return &fault.Error{Setting: "question " + c.q.Name + ": columns", Problem: "lacks " + need, Cure: "add it, or ask for another statistic"}
		}
	}
	x := columnOf(c.a, string(c.axis))
	if x < 0 {
		return &fault.Error{Setting: "question " + c.q.Name + ": columns", Problem: "lacks " + string(c.axis), Cure: "add it: it is the independent axis"}
	}
	naming := c.naming()
	for i := range c.a.Rows {
		c.put(c.nameOf(naming, i), c.xOf(x, i), i)
	}
	return nil
}

func (c *collector) put(name string, x float64, row int) {
	p := c.points[name]
	if p == nil {
		p = map[float64][]int{}
		c.points[name] = p
		c.names = append(c.names, name)
	}
	p[x] = append(p[x], row)
}

// naming chooses the columns that name a curve: the header fields that have
// several values, but for the independent one; where there are none, model and
// vx_mask.
func (c *collector) naming() []int {
	var differ, fixed []int
	for k, col := range c.a.Columns {
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

// nameOf is the curve of row i.
func (c *collector) nameOf(naming []int, i int) string {
	parts := make([]string, len(naming))
	for j, k := range naming {
		parts[j] = c.a.Vectors[k].Text[i]
	}
	return strings.Join(parts, " ")
}

// xOf is the place of row i on the axis: hours, hPa or Unix seconds.
func (c *collector) xOf(k, i int) float64 {
	switch c.axis {
	case run.ByLead:
		return float64(c.a.Vectors[k].Whole[i]) / 3600
	case run.ByTime:
		return float64(c.a.Vectors[k].Whole[i])
	}
	return Pressure(c.a.Vectors[k].Text[i])
}

// Pressure reads a level such as P500 as 500 hPa; NaN for other levels.
func Pressure(level string) float64 {
	digits, ok := strings.CutPrefix(level, "P")
	hpa, err := strconv.ParseFloat(digits, 64)
	if !ok || err != nil {
		return math.NaN()
	}
	return hpa
}

// series computes one curve.
func (c *collector) series(name string, s *stat.Stat, seed uint64) (run.Series, error) {
	out := run.Series{Name: name}
	xs := make([]float64, 0, len(c.points[name]))
	for x := range c.points[name] {
		if !math.IsNaN(x) {
			xs = append(xs, x)
		}
	}
	slices.Sort(xs)
	boot := stat.Bootstrap{Replicates: bootstrapReplicates, Seed: seed}
	for _, x := range xs {
		rows := c.points[name][x]
		iv, ok, err := boot.Interval(s, c.q.Type, c.take(rows))
		if err != nil {
			return out, err
		}
		if !ok {
			iv = stat.Interval{Value: math.NaN(), Low: math.NaN(), High: math.NaN()}
		}
		if len(rows) < 2 { // nothing to resample
			iv.Low, iv.High = math.NaN(), math.NaN()
		}
		out.X = append(out.X, x)
		out.Y, out.Low, out.High = append(out.Y, iv.Value), append(out.Low, iv.Low), append(out.High, iv.High)
	}
	return out, nil
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
