package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/results/plot"
	"github.com/barograph/barograph/results/run"
)

// diagram is a picture whose axes are not those of plain curves: its axis labels and limits, its reference lines, and
// the mapping of values to positions.
type diagram struct {
	xLabel, yLabel   string
	xLimits, yLimits [2]float64
	square           bool
	style            plot.Style
	guides           []plot.Guide
	position         func(x, y float64) (float64, float64) // nil = the values are the position
}

// diagramOf returns the diagram of a verification plot; false for plain curves.
func diagramOf(c *run.VerificationPlot) (diagram, bool) {
	unit := [2]float64{0, 1}
	line := func(label string, from, to [2]float64) plot.Guide {
		return plot.Guide{At: []float64{from[0], to[0]}, Value: []float64{from[1], to[1]}, Label: label}
	}
	diagonal := func(label string, end float64) []plot.Guide {
		return []plot.Guide{line(label, [2]float64{}, [2]float64{end, end})}
	}
	var d diagram
	switch c.Picture {
	case "roc":
		d.xLabel, d.yLabel = "probability of false detection", "probability of detection"
		d.xLimits, d.yLimits, d.square, d.guides = unit, unit, true, diagonal("no skill", 1)
	case "reliability":
		d.xLabel, d.yLabel = "forecast probability", "observed frequency"
		d.xLimits, d.yLimits, d.guides = unit, unit, diagonal("perfect", 1)
		if base := baseRate(c); len(c.Series) == 1 && !math.IsNaN(base) {
			d.guides = append(d.guides, line("no resolution", [2]float64{0, base}, [2]float64{1, base}),
				line("no skill", [2]float64{0, base / 2}, [2]float64{1, (1 + base) / 2}))
		}
	case "performance":
		d.xLabel, d.yLabel = "success ratio (1 − FAR)", "probability of detection"
		d.xLimits, d.yLimits, d.square, d.guides = unit, unit, true, performanceGuides()
		if !slices.ContainsFunc(c.Series, func(s run.Series) bool { return s.Labels != nil }) {
			d.style = plot.Points // the points of a folder of an earlier version have no order
		}
	case "taylor":
		// the axis ends a tenth above the largest value, at the next quarter
		most := math.Ceil(max(largest(c, func(s run.Series) []float64 { return s.Y }), 1)*4.4) / 4
		d.xLabel, d.yLabel = "standard deviation (that of the observations is 1)", "standard deviation"
		d.xLimits, d.yLimits, d.square = [2]float64{0, most}, [2]float64{0, most}, true
		d.style, d.guides = plot.Points, taylorGuides(most)
		d.position = func(corr, sd float64) (float64, float64) { return sd * corr, sd * math.Sqrt(1-min(corr*corr, 1)) }
	case "rank_histogram":
		even := 0.0
		for _, s := range c.Series {
			even = max(even, 1/float64(max(len(s.X), 1)))
		}
		d.xLabel = cmp.Or(map[run.Axis]string{
			"rank": "rank of the observation in the ensemble", "bin": "probability integral transform",
			"ens": "member of the ensemble that is nearest",
		}[c.Axis], string(c.Axis))
		d.yLabel, d.style = "share", plot.Bars
		d.guides = []plot.Guide{line("even", [2]float64{0, even}, [2]float64{1e6, even})}
	case "eclv":
		d.xLabel, d.yLabel = "cost/loss ratio", "economic value"
		d.xLimits, d.yLimits = unit, [2]float64{run.LowestEconomicValue, 1}
		d.guides = []plot.Guide{line("no better than climatology", [2]float64{}, [2]float64{1, 0})}
	case "spread_skill":
		d.xLabel, d.yLabel = "variance of the ensemble", "mean squared error"
		most := largest(c, func(s run.Series) []float64 { return slices.Concat(s.X, s.Y) })
		d.guides = diagonal("spread as large as the error", most)
	default:
		return d, false
	}
	return d, true
}

// largest returns the largest positive value of the curves, or 0. It ignores NaN.
func largest(c *run.VerificationPlot, values func(s run.Series) []float64) (most float64) {
	for _, s := range c.Series {
		for _, v := range values(s) {
			if v > most {
				most = v
			}
		}
	}
	return most
}

// baseRate returns the relative frequency of the event over all bins of a reliability diagram. It returns NaN for a run
// of an earlier version, which did not record the number of forecasts.
func baseRate(c *run.VerificationPlot) float64 {
	events, forecasts := 0.0, 0.0
	for _, s := range c.Series {
		for i, n := range s.Records {
			events, forecasts = events+s.Y[i]*float64(n), forecasts+float64(n)
		}
	}
	return events / forecasts
}

// performanceGuides returns the lines of constant critical success index and of constant bias in a performance diagram
// (Roebber 2009).
func performanceGuides() (out []plot.Guide) {
	for csi := 1; csi < 10; csi++ {
		g := plot.Guide{Label: fmt.Sprintf("CSI %.1f", float64(csi)/10)}
		for x := float64(csi) / 10; x < 1.0001; x += 0.01 {
			if y := 1 / (10/float64(csi) - 1/x + 1); y <= 1 && y > 0 {
				g.At, g.Value = append(g.At, x), append(g.Value, y)
			}
		}
		out = append(out, g)
	}
	for _, bias := range []float64{0.25, 0.5, 1, 2, 4} {
		end := min(1, 1/bias)
		label := fmt.Sprintf("bias %g", bias)
		out = append(out, plot.Guide{At: []float64{0, end}, Value: []float64{0, end * bias}, Label: label})
	}
	return out
}

// taylorGuides returns the grid of a Taylor diagram: rays of correlation, arcs of standard deviation, and arcs of the
// distance from the observations (Taylor 2001).
func taylorGuides(most float64) (out []plot.Guide) {
	for _, corr := range []float64{0.2, 0.4, 0.6, 0.8, 0.9, 0.95, 0.99} {
		x, y := most*corr, most*math.Sqrt(1-corr*corr)
		out = append(out, plot.Guide{At: []float64{0, x}, Value: []float64{0, y}, Label: fmt.Sprintf("r %g", corr)})
	}
	arc := func(x, r float64, label string) {
		g := plot.Guide{Label: label}
		for a := 0.0; a <= 180; a += 2 {
			at, value := x+r*math.Cos(a*math.Pi/180), r*math.Sin(a*math.Pi/180)
			if at >= 0 && math.Hypot(at, value) <= most*1.0001 {
				g.At, g.Value = append(g.At, at), append(g.Value, value)
			}
		}
		out = append(out, g)
	}
	arc(0, 1, "")
	arc(0, most, "")
	for _, r := range []float64{0.25, 0.5, 0.75} {
		arc(1, r, fmt.Sprintf("error %g", r))
	}
	return out
}

// apply gives a picture the axes and the guides of the diagram, and moves the points of its curves.
func (d diagram) apply(l *plot.Lines, c *run.VerificationPlot) {
	l.Coordinate, l.CoordinateLimits, l.ValueLimits = plot.Numbers, d.xLimits, d.yLimits
	l.Square, l.Guides, l.References = d.square, d.guides, nil
	l.XLabel, l.YLabel = cmp.Or(c.XLabel, d.xLabel), cmp.Or(c.YLabel, d.yLabel)
	if d.square && l.Width == 0 {
		l.Width = 640
	}
	for i := range l.Curves {
		q := &l.Curves[i]
		q.Style = d.style
		if d.position != nil {
			q.Positions, q.Value = slices.Clone(q.Positions), slices.Clone(q.Value)
			for k := range q.Positions {
				q.Positions[k], q.Value[k] = d.position(q.Positions[k], q.Value[k])
			}
		}
	}
	switch c.Picture {
	case "taylor":
		observations := plot.Curve{Name: "observations", Positions: []float64{1}, Value: []float64{0}, Style: plot.Points}
		l.Curves = append(l.Curves, observations)
	case "reliability":
		for _, s := range c.Series {
			if len(s.Records) > 0 { // a run of an earlier version did not record them
				l.RightLabel = "forecasts"
				bars := plot.Curve{SameColorAs: s.Name, Look: s.Style, Positions: s.X, Value: floats(s.Records)}
				bars.Style, bars.Right = plot.Bars, true
				l.Curves = append(l.Curves, bars)
			}
		}
	}
}

// drawCells draws the values of curves as colored cells, with a row for each curve and a column for each position.
func drawCells(f plot.Frame, c *run.VerificationPlot) ([]byte, error) {
	positions := slices.Concat(lists.Map(c.Series, func(s run.Series) []float64 { return s.X })...)
	slices.Sort(positions)
	positions = slices.Compact(positions)
	quantity := f.YLabel // with its unit
	f.YLabel = ""
	m := plot.Cells{Frame: f, Lines: c.Picture == "contour" && len(c.Series) > 1}
	series := slices.Clone(c.Series)
	if c.Picture == "contour" { // pressures from the top down, as in a profile
		m.Subtitle = c.Case + " · " + quantity
		slices.SortStableFunc(series, func(a, b run.Series) int {
			return cmp.Compare(pressure(a.Name), pressure(b.Name))
		})
	}
	for _, x := range positions {
		label := fmt.Sprint(x)
		if i := slices.IndexFunc(c.Ticks, func(t run.Tick) bool { return t.X == x }); i >= 0 {
			label = c.Ticks[i].Label
		} else if c.Axis == run.ByTime || c.Axis == run.ByInit {
			label = time.Unix(int64(x), 0).UTC().Format("2 Jan 15Z")
		}
		m.Columns = append(m.Columns, label)
	}
	for _, s := range series {
		var marks []plot.Mark
		if c.Picture == "scorecard" {
			marks = make([]plot.Mark, len(positions))
		}
		row := plot.CellRow{Marks: marks, Label: s.Name, Values: slices.Repeat([]float64{math.NaN()}, len(positions))}
		for i, x := range s.X {
			k, _ := slices.BinarySearch(positions, x)
			row.Values[k] = s.Y[i]
			if marks != nil {
				marks[k] = map[int]plot.Mark{
					2 * run.MarkBetter: plot.BetterAt99, run.MarkBetter: plot.BetterAt95, 0: plot.Same,
					-run.MarkBetter: plot.WorseAt95, -2 * run.MarkBetter: plot.WorseAt99,
				}[s.Marks[i]]
			}
			m.Diverging = m.Diverging || s.Y[i] < 0
		}
		m.Rows = append(m.Rows, row)
	}
	return m.Draw()
}

// pressure returns the pressure of a level such as P500; 0 for other names.
func pressure(name string) float64 {
	v, err := strconv.ParseFloat(strings.TrimPrefix(name, "P"), 64)
	if err != nil || !strings.HasPrefix(name, "P") {
		return 0
	}
	return v
}
