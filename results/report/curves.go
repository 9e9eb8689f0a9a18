package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/results/plot"
	"github.com/barograph/barograph/results/run"
)

// Curves draws a verification plot against the lead, the pressure level or the valid time.
func Curves(c *run.VerificationPlot, format plot.Format) ([]byte, error) {
	return verificationDrawing{c, 0, format}.Draw()
}

// verificationDrawing draws a verification plot with a width in px; 0 is the width of a separate picture.
type verificationDrawing struct {
	*run.VerificationPlot
	width  int
	format plot.Format
}

// Draw draws the plot; it returns an error for an unknown axis.
func (d verificationDrawing) Draw() ([]byte, error) {
	c := d.VerificationPlot
	axes := map[run.Axis]struct {
		by    plot.Coordinate
		label string
	}{
		run.ByLead: {plot.Leads, "forecast lead (h)"}, run.ByLevel: {plot.Levels, "pressure (hPa)"},
		run.ByValidHour: {plot.Leads, "hour of the valid time (UTC)"}, run.ByTime: {plot.Times, "valid time (UTC)"},
		run.ByInitHour: {plot.Leads, "hour of the initial time (UTC)"}, run.ByInit: {plot.Times, "initial time (UTC)"},
		run.ByThresh: {plot.Numbers, "threshold (unit of the variable)"},
	}
	axis, ok := axes[c.Axis]
	if !ok && c.XLabel != "" { // the label describes the numbers
		axis.by, ok = plot.Numbers, true
	}
	shape, isDiagram := diagramOf(c)
	if !ok && !isDiagram {
		return nil, &fault.Error{
			Setting: "plots/" + c.Case + ".json: axis", Problem: fmt.Sprintf("%q is not an axis", c.Axis),
			Cure: "write the name of an independent variable, e.g. " + string(run.ByLead),
		}
	}
	label := valueLabel(c)
	l := plot.Lines{
		Frame: plot.Frame{
			Title: c.Title, Subtitle: c.Case + " · " + c.Stat, Caption: c.Note, Width: d.width, Format: d.format,
			XLabel: cmp.Or(c.XLabel, axis.label), YLabel: cmp.Or(c.YLabel, label),
		},
		Coordinate: axis.by, References: references(c.Stat),
	}
	if c.Baseline != "" {
		l.YLabel += " minus that of " + c.Baseline
		l.References = []plot.Reference{{Value: 0, Label: "no difference"}}
	}
	if c.Picture == "equivalence" {
		l.Coordinate, l.YLabel = plot.Numbers, "difference of "+label
		l.References = []plot.Reference{{Value: 0, Label: "no difference"}}
		for _, s := range c.Series {
			for i, side := range []string{"lower", "upper"} {
				l.References = append(l.References, plot.Reference{Value: s.EquivalenceBounds[i], Label: side + " bound of " + s.Name})
			}
		}
	}
	// Plain curves and revisions are plot.Joined, the zero value: points and the line through them. The styles from
	// plot.Bars on are bars and boxes.
	style := map[string]plot.Style{"bar": plot.Bars, "equivalence": plot.Boxes, "box": plot.Boxes}[c.Picture]
	if style >= plot.Bars && axis.by == plot.Levels {
		l.Coordinate = plot.Numbers
	}
	if c.Picture == "contour" || c.Picture == "scorecard" {
		return drawCells(l.Frame, c)
	}
	if c.Picture == "revision" {
		l.YLabel, l.References = "revision of "+l.YLabel, []plot.Reference{{Value: 0, Label: "no revision"}}
	}
	if l.Coordinate == plot.Levels && !isDiagram { // the values of the statistic are on the horizontal axis
		l.XLabel, l.YLabel = l.YLabel, l.XLabel
		if d.width == curveWidth {
			l.Height = profileHeight
		}
	}
	hasIntervals := len(c.Series) <= plot.Hues || style >= plot.Bars
	if !hasIntervals && !isDiagram {
		l.Caption += "; too many curves for intervals"
	}
	if least, most := counts(c); 0 <= least && least < most && !isDiagram {
		l.Caption += fmt.Sprintf("; %s to %s records for each point", count(least), count(most))
	}
	visible := func(s run.Series) bool { return !s.Right && !isHidden(s.Style) }
	ownAxis := c.RightPlot == nil && l.Coordinate != plot.Levels && slices.ContainsFunc(c.Series, visible)
	for _, s := range c.Series {
		if s.Right = s.Right && ownAxis; s.Right {
			l.RightLabel, s.Name = "curves derived from others", s.Name+" (right)"
		}
		if style == plot.Joined && !isDiagram {
			s = withGaps(s, c)
		}
		curve := curveOf(s, c, hasIntervals)
		curve.Labels, curve.Right, curve.Style = slices.Clone(s.Labels), s.Right, style
		curve.WhiskerLow, curve.WhiskerHigh, curve.Outliers = s.WhiskerLow, s.WhiskerHigh, s.Outliers
		l.Curves = append(l.Curves, curve)
	}
	if isDiagram {
		if c.LabelAxis != "" {
			l.Caption += "; the points are labeled by " + string(c.LabelAxis)
		}
		shape.apply(&l, c)
	}
	if r := c.RightPlot; r != nil {
		l.RightLabel = cmp.Or(r.YLabel, valueLabel(r))
		for _, s := range r.Series {
			curve := curveOf(s, c, hasIntervals)
			curve.Name, curve.Right = s.Name+" (right)", true
			l.Curves = append(l.Curves, curve)
		}
	}
	arrange(&l)
	if isDiagram {
		for _, q := range l.Curves {
			for i, label := range q.Labels {
				if k := slices.IndexFunc(c.Ticks, func(t run.Tick) bool { return t.Text == label }); k >= 0 {
					q.Labels[i] = c.Ticks[k].Label
				}
			}
		}
	} else if len(c.Ticks) > 0 {
		placeTicks(&l, c.Ticks)
	}
	return l.Draw()
}

// curveOf returns a curve without its style and axis.
func curveOf(s run.Series, c *run.VerificationPlot, hasIntervals bool) plot.Curve {
	lo, hi := bounds(s, hasIntervals)
	return plot.Curve{Name: s.Name, Look: s.Style, Positions: s.X, Value: s.Y, Lo: lo, Hi: hi, Count: countsOf(s, c)}
}

// placeTicks moves the points of all curves to the positions of their ticks. A point between two ticks, which
// interrupts a line, moves between their positions.
func placeTicks(l *plot.Lines, ticks []run.Tick) {
	if slices.ContainsFunc(ticks, func(t run.Tick) bool { return t.Position != t.X }) {
		l.Coordinate = plot.Numbers
	}
	l.Ticks = map[float64]string{}
	for _, t := range ticks {
		l.Ticks[t.Position] = t.Label
	}
	for i := range l.Curves {
		l.Curves[i].Positions = lists.Map(l.Curves[i].Positions, func(x float64) float64 {
			k, ok := slices.BinarySearchFunc(ticks, x, func(t run.Tick, x float64) int { return cmp.Compare(t.X, x) })
			switch {
			case ok:
				return ticks[k].Position
			case k == 0 || k == len(ticks):
				return math.NaN()
			}
			return (ticks[k-1].Position + ticks[k].Position) / 2
		})
	}
}

// valueLabel names a statistic and its unit.
func valueLabel(c *run.VerificationPlot) string {
	if c.Unit == "" || c.Unit == "1" {
		return statName(c.Stat)
	}
	return statName(c.Stat) + " (" + c.Unit + ")"
}

// isHidden reports whether METviewer's plot_disp hides a curve.
func isHidden(look map[string]string) bool {
	return strings.HasPrefix(strings.ToUpper(look["plot_disp"]), "F")
}

// arrange removes the curves that METviewer's plot_disp hides, and sorts the others by its order_series, a number
// without leading zeros.
func arrange(l *plot.Lines) {
	var hidden []string
	l.Curves = slices.DeleteFunc(l.Curves, func(q plot.Curve) bool {
		if isHidden(q.Look) && q.Name != "" {
			hidden = append(hidden, q.Name)
		}
		return isHidden(q.Look)
	})
	slices.SortStableFunc(l.Curves, func(a, b plot.Curve) int {
		x, y := a.Look["order_series"], b.Look["order_series"]
		return cmp.Or(len(x)-len(y), cmp.Compare(x, y))
	})
	if hidden != nil {
		l.Caption += "; plot_disp hides " + strings.Join(hidden, ", ")
	}
}

// counts returns the smallest and the largest number of records behind a point of the curves.
func counts(c *run.VerificationPlot) (least, most int) {
	all := slices.Concat(lists.Map(c.Series, func(s run.Series) []int { return s.Records })...)
	if len(all) == 0 { // a run of an earlier version did not record them
		return 0, 0
	}
	return slices.Min(all), slices.Max(all)
}

// countsOf returns the number of records behind each point of a curve; NaN for the points that withGaps added. It
// returns nil for pictures whose points are not computed from records only, and for runs of earlier versions.
func countsOf(s run.Series, c *run.VerificationPlot) []float64 {
	_, isDiagram := diagramOf(c)
	if isDiagram || c.Picture == "equivalence" || c.Picture == "revision" || len(s.Records) == 0 {
		return nil
	}
	return append(floats(s.Records), slices.Repeat([]float64{math.NaN()}, len(s.X)-len(s.Records))...)
}

// floats converts integers.
func floats(numbers []int) []float64 {
	return lists.Map(numbers, func(n int) float64 { return float64(n) })
}

// withGaps adds a missing value in each gap of a curve, because the plot draws no line across it. Two neighbors have a
// gap if they are more than one and a half usual steps apart. On an axis other than time, it is a gap only if another
// curve has a value in it.
func withGaps(s run.Series, c *run.VerificationPlot) run.Series {
	order := lists.Indices(len(s.X))
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(s.X[a], s.X[b]) })
	step := usualStep(s.X, order)
	if step == 0 {
		return s
	}
	othersHave := func(from, to float64) bool {
		return slices.ContainsFunc(c.Series, func(o run.Series) bool {
			return slices.ContainsFunc(o.X, func(x float64) bool { return from < x && x < to })
		})
	}
	isTimeAxis := c.Axis == run.ByTime || c.Axis == run.ByInit
	hasBounds := len(s.Low) == len(s.X) && len(s.High) == len(s.X)
	s.X, s.Y = slices.Clone(s.X), slices.Clone(s.Y)
	s.Low, s.High = slices.Clone(s.Low), slices.Clone(s.High)
	for k := 1; k < len(order); k++ {
		from, to := s.X[order[k-1]], s.X[order[k]]
		if to-from <= 1.5*step || !isTimeAxis && !othersHave(from, to) {
			continue
		}
		s.X, s.Y = append(s.X, from+step), append(s.Y, math.NaN())
		if hasBounds {
			s.Low, s.High = append(s.Low, math.NaN()), append(s.High, math.NaN())
		}
	}
	return s
}

// usualStep returns the most frequent distance between neighbors of a curve; 0 if less than half of them have it.
func usualStep(x []float64, order []int) float64 {
	n, usual := map[float64]int{}, 0.0
	for k := 1; k < len(order); k++ {
		d := x[order[k]] - x[order[k-1]]
		if n[d]++; d > 0 && (n[d] > n[usual] || n[d] == n[usual] && d < usual) {
			usual = d
		}
	}
	if 2*n[usual] < len(order)-1 {
		return 0
	}
	return usual
}

// bounds returns the bounds of a curve's intervals; nil if it has none or if they are not shown.
func bounds(s run.Series, shown bool) (lo, hi []float64) {
	if !shown || len(s.Low) != len(s.X) || len(s.High) != len(s.X) {
		return nil, nil
	}
	return s.Low, s.High
}

// statName spells out METviewer's abbreviations of common statistics.
func statName(name string) string {
	return cmp.Or(map[string]string{
		"ANOM_CORR": "anomaly correlation", "VAL1L2_ANOM_CORR": "vector anomaly correlation",
		"RMSE":        "root mean square error",
		"VL1L2_RMSVE": "root mean square vector error", "CSI": "critical success index", "ME": "mean error",
	}[name], name)
}

// references returns the customary reference lines of a statistic.
func references(name string) []plot.Reference {
	switch name {
	case "ANOM_CORR", "VAL1L2_ANOM_CORR":
		return []plot.Reference{{Value: 0.6, Label: "useful skill: 0.6"}}
	case "ME":
		return []plot.Reference{{Value: 0, Label: "no bias"}}
	}
	return nil
}

// verification draws the curves of a run. Cases with the same curves share a picture. If a case has too many curves for
// one picture, split distributes them.
func verification(all []*run.VerificationPlot) Section {
	s := Section{
		ID: "verification", Title: "Verification", SideBySide: true,
		Words: say("The reference results, which all proven results equal."),
	}
	var drawn []*run.VerificationPlot
	for _, c := range all {
		if i := slices.IndexFunc(drawn, func(d *run.VerificationPlot) bool { return sameCurves(c, d) }); i >= 0 {
			s.Notes = append(s.Notes, c.Case+" ("+c.Title+") gives the same curves as "+drawn[i].Case+".")
			continue
		}
		if len(c.Series) == 0 {
			s.Notes = append(s.Notes, c.Case+" ("+c.Title+") has no curve.")
			continue
		}
		drawn = append(drawn, c)
		s.Parts = append(s.Parts, Section{Title: "The points of " + c.Case, Small: c.Title, Folded: true, Table: pointTable(c)})
		s.Pictures = append(s.Pictures, lists.Map(split(c), func(part *run.VerificationPlot) Drawing {
			return verificationDrawing{VerificationPlot: part, width: curveWidth}
		})...)
	}
	if len(drawn) == 0 {
		const nothing = "No case of this run selects the columns of a statistic, or no case had rows."
		s.Words, s.SideBySide = []Words{{"none", nothing}}, false
	}
	return s
}

// maxPoints is the maximum number of points that a page lists for a case.
const maxPoints = 200

// pointTable lists the points of a case's picture.
func pointTable(c *run.VerificationPlot) *Table {
	t := table("curve", string(c.Axis), "n", c.Stat, "low", "high")
	points := 0
	for _, s := range c.Series {
		for i, x := range s.X {
			if points++; points > maxPoints {
				continue
			}
			at := fmt.Sprint(x)
			if c.Axis == run.ByTime || c.Axis == run.ByInit {
				at = time.Unix(int64(x), 0).UTC().Format("2006-01-02 15Z")
			}
			cells := []Cell{text(s.Name), value(x, at), dim(none), value(s.Y[i], number(s.Y[i]))}
			if i < len(s.Records) { // a run of an earlier version did not record them
				cells[2] = value(s.Records[i], count(s.Records[i]))
			}
			if lo, hi := bounds(s, true); lo != nil && !math.IsNaN(lo[i]) {
				cells = append(cells, value(lo[i], number(lo[i])), value(hi[i], number(hi[i])))
			}
			t.add("", cells...)
		}
	}
	if points > maxPoints {
		t.Note = fmt.Sprintf("The first %s of %s points; plots/%s.json in the run folder has all.",
			count(maxPoints), count(points), c.Case)
	}
	return t
}

// sameCurves reports whether two plots have the same curves of the same statistic, on both axes, in the same kind of
// picture.
func sameCurves(a, b *run.VerificationPlot) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Stat == b.Stat && a.Axis == b.Axis && a.Picture == b.Picture && len(a.Series) > 0 &&
		fmt.Sprint(a.Series) == fmt.Sprint(b.Series) && // as text, since NaN is not equal to itself
		sameCurves(a.RightPlot, b.RightPlot)
}

// split distributes curves with names such as "G2/NHX P500" by one word of their names: the one that results in the
// fewest pictures of at most plot.Hues curves each.
func split(c *run.VerificationPlot) []*run.VerificationPlot {
	if len(c.Series) <= plot.Hues {
		return []*run.VerificationPlot{c}
	}
	var best [][]run.Series
	var title []string
	for k := 0; ; k++ {
		names, groups, ok := byWord(c.Series, k)
		if !ok {
			break
		}
		tooLarge := slices.ContainsFunc(groups, func(g []run.Series) bool { return len(g) > plot.Hues })
		if len(groups) > 1 && !tooLarge && (best == nil || len(groups) < len(best)) {
			best, title = groups, names
		}
	}
	if best == nil {
		return []*run.VerificationPlot{c}
	}
	out := make([]*run.VerificationPlot, len(best))
	for i, g := range best {
		part := *c
		part.Title, part.Series = c.Title+" · "+title[i], g
		out[i] = &part
	}
	return out
}

// wordsOf splits the name of a curve at spaces; a value that contains spaces is quoted.
func wordsOf(name string) (words []string) {
	quoted, from := false, 0
	for i, c := range name + " " {
		switch {
		case c == '"' && (i == 0 || name[i-1] != '\\'):
			quoted = !quoted
		case c == ' ' && (!quoted || i == len(name)):
			if i > from {
				words = append(words, name[from:i])
			}
			from = i + 1
		}
	}
	return words
}

// byWord groups series by the k-th word of their names; false if a name has no such word.
func byWord(series []run.Series, k int) (names []string, groups [][]run.Series, ok bool) {
	for _, s := range series {
		words := wordsOf(s.Name)
		if k >= len(words) {
			return nil, nil, false
		}
		i := slices.Index(names, words[k])
		if i < 0 {
			i = len(names)
			names, groups = append(names, words[k]), append(groups, nil)
		}
		s.Name = strings.Join(slices.Delete(words, k, k+1), " ")
		groups[i] = append(groups[i], s)
	}
	return names, groups, true
}
