package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/results/plot"
	"github.com/barograph/barograph/results/run"
)

// On a line of constant critical success index, 1/CSI = 1/SR + 1/POD − 1; on one of constant bias, POD = bias · SR (Roebber
// 2009).
func TestLinesOfAPerformanceDiagram(t *testing.T) {
	guides := performanceGuides()
	if len(guides) != 9+5 {
		t.Fatalf("%d lines", len(guides))
	}
	for i, g := range guides[:9] {
		csi := float64(i+1) / 10
		if g.Label != fmt.Sprintf("CSI %.1f", csi) || len(g.At) != len(g.Value) || len(g.At) < int(90*(1-csi)) {
			t.Errorf("%s: %d points", g.Label, len(g.At))
		}
		for k := range g.At {
			if x, y := g.At[k], g.Value[k]; math.Abs(1/x+1/y-1-1/csi) > 1e-9 || x > 1.0001 || y > 1 || y <= 0 {
				t.Errorf("%s: %v, %v", g.Label, x, y)
			}
		}
	}
	for i, want := range []struct{ bias, x, y float64 }{{0.25, 1, 0.25}, {0.5, 1, 0.5}, {1, 1, 1}, {2, 0.5, 1}, {4, 0.25, 1}} {
		g := guides[9+i]
		if g.Label != fmt.Sprintf("bias %g", want.bias) || !slices.Equal(g.At, []float64{0, want.x}) || !slices.Equal(g.Value, []float64{0, want.y}) {
			t.Errorf("%+v", g)
		}
	}
}

// The grid of a Taylor diagram: rays of correlation end on the outer arc, and arcs have a constant distance from the origin
// or from the observations (Taylor 2001).
func TestGridOfATaylorDiagram(t *testing.T) {
	const most = 1.5
	guides := taylorGuides(most)
	if len(guides) != 7+2+3 {
		t.Fatalf("%d lines", len(guides))
	}
	for i, corr := range []float64{0.2, 0.4, 0.6, 0.8, 0.9, 0.95, 0.99} {
		g := guides[i]
		if x, y := g.At[1], g.Value[1]; g.Label != fmt.Sprintf("r %g", corr) || g.At[0] != 0 || g.Value[0] != 0 || math.Abs(math.Hypot(x, y)-most) > 1e-9 || math.Abs(x/most-corr) > 1e-9 {
			t.Errorf("%+v", g)
		}
	}
	for i, want := range []struct {
		x, r   float64
		label  string
		points int
	}{{0, 1, "", 46}, {0, most, "", 46}, {1, 0.25, "error 0.25", 91}, {1, 0.5, "error 0.5", 91}, {1, 0.75, "error 0.75", 0}} {
		g := guides[7+i]
		if g.Label != want.label || want.points > 0 && len(g.At) != want.points || len(g.At) < 40 {
			t.Errorf("%s: %d points", g.Label, len(g.At))
		}
		for k := range g.At {
			if math.Abs(math.Hypot(g.At[k]-want.x, g.Value[k])-want.r) > 1e-9 || g.At[k] < -1e-9 || math.Hypot(g.At[k], g.Value[k]) > most*1.001 {
				t.Errorf("%s: %v, %v", g.Label, g.At[k], g.Value[k])
			}
		}
	}
}

// The limits and lines of each diagram.
func TestDiagrams(t *testing.T) {
	plotOf := func(picture string, series ...run.Series) *run.VerificationPlot {
		return &run.VerificationPlot{Picture: picture, Series: series}
	}
	unit := [2]float64{0, 1}
	s := run.Series{X: []float64{0.25, 0.75}, Y: run.Values{0.5, 2}, Records: []int{3, 1}}
	labeled := s
	labeled.Labels = []string{"a", "b"}
	for name, c := range map[string]struct {
		plot             *run.VerificationPlot
		xLimits, yLimits [2]float64
		square           bool
		style            plot.Style
		lines            []string // label: from – to
	}{
		"roc":              {plotOf("roc", s), unit, unit, true, plot.Joined, []string{"no skill: 0 0 – 1 1"}},
		"reliability":      {plotOf("reliability", s), unit, unit, false, plot.Joined, []string{"perfect: 0 0 – 1 1", "no resolution: 0 0.875 – 1 0.875", "no skill: 0 0.4375 – 1 0.9375"}},
		"two reliabilites": {plotOf("reliability", s, s), unit, unit, false, plot.Joined, []string{"perfect: 0 0 – 1 1"}},
		"rank histogram":   {plotOf("rank_histogram", s), [2]float64{}, [2]float64{}, false, plot.Bars, []string{"even: 0 0.5 – 1e+06 0.5"}},
		"economic value":   {plotOf("eclv", s), unit, [2]float64{-0.2, 1}, false, plot.Joined, []string{"no better than climatology: 0 0 – 1 0"}},
		"spread and skill": {plotOf("spread_skill", s), [2]float64{}, [2]float64{}, false, plot.Joined, []string{"spread as large as the error: 0 0 – 2 2"}},
		"performance":      {plotOf("performance", labeled), unit, unit, true, plot.Joined, nil},
		"unordered points": {plotOf("performance", s), unit, unit, true, plot.Points, nil},
		"taylor":           {plotOf("taylor", s), [2]float64{0, 2.25}, [2]float64{0, 2.25}, true, plot.Points, nil}, // 2 · 1.1, at the next quarter
		"a small taylor":   {plotOf("taylor"), [2]float64{0, 1.25}, [2]float64{0, 1.25}, true, plot.Points, nil},
	} {
		d, ok := diagramOf(c.plot)
		if !ok || d.xLimits != c.xLimits || d.yLimits != c.yLimits || d.square != c.square || d.style != c.style {
			t.Errorf("%s: %+v", name, d)
		}
		lines := lists.Map(d.guides, func(g plot.Guide) string {
			last := len(g.At) - 1
			return fmt.Sprintf("%s: %v %v – %v %v", g.Label, g.At[0], g.Value[0], g.At[last], g.Value[last])
		})
		if c.lines != nil && !slices.Equal(lines, c.lines) {
			t.Errorf("%s: %q", name, lines)
		}
		if d.position != nil != (c.plot.Picture == "taylor") {
			t.Errorf("%s: positions", name)
		}
		if d.position != nil { // a correlation of 0.6 at a standard deviation of 2, and one that rounding puts above 1
			if x, y := d.position(0.6, 2); math.Abs(x-1.2) > 1e-12 || math.Abs(y-1.6) > 1e-12 {
				t.Errorf("%v, %v", x, y)
			}
			if x, y := d.position(1.0000001, 2); math.Abs(x-2) > 1e-6 || y != 0 {
				t.Errorf("%v, %v", x, y)
			}
		}
	}
	if _, ok := diagramOf(plotOf("bar", s)); ok {
		t.Error("bars are a diagram")
	}
}

// A diagram replaces the axes and guides of a picture, moves the points of its curves, and adds its own curves.
func TestAppliedDiagrams(t *testing.T) {
	s := run.Series{Name: "a", X: []float64{0.6}, Y: run.Values{2}, Records: []int{3}}
	for picture, want := range map[string]string{
		"taylor":      "a [1.2] [1.6] 2 false; observations [1] [0] 2 false", // 2 = points
		"reliability": "a [0.6] [2] 0 false;  [0.6] [3] 1 true",
		"roc":         "a [0.6] [2] 0 false",
	} {
		c := &run.VerificationPlot{Picture: picture, Series: []run.Series{s}, YLabel: "own"}
		d, _ := diagramOf(c)
		l := plot.Lines{Coordinate: plot.Leads, Curves: []plot.Curve{{Name: "a", Positions: s.X, Value: s.Y}}, References: []plot.Reference{{}}}
		d.apply(&l, c)
		got := strings.Join(lists.Map(l.Curves, func(q plot.Curve) string {
			return fmt.Sprintf("%s %.3g %.3g %d %v", q.Name, q.Positions, q.Value, map[plot.Style]int{plot.Joined: 0, plot.Bars: 1, plot.Points: 2}[q.Style], q.Right)
		}), "; ")
		if got != want || l.Coordinate != plot.Numbers || l.References != nil || l.YLabel != "own" || l.XLabel != d.xLabel || l.Square != d.square {
			t.Errorf("%s: %s, %+v", picture, got, l)
		}
		if wide := l.Width == 640; wide != d.square || (l.RightLabel != "") != (picture == "reliability") || s.X[0] != 0.6 {
			t.Errorf("%s: width %d, right %q", picture, l.Width, l.RightLabel)
		}
	}
	if got := baseRate(&run.VerificationPlot{Series: []run.Series{{X: []float64{0, 1}, Y: run.Values{0.25, 1}, Records: []int{4, 2}}}}); got != 0.5 {
		t.Errorf("3 events of 6 forecasts: %v", got)
	}
	for name, want := range map[string]float64{"P500": 500, "P7.5": 7.5, "Z10": 0, "500": 0, "P": 0, "Px": 0} {
		if got := pressure(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// The usual step of a curve is the most frequent one, of equally frequent ones the smallest, if at least half of the steps
// are equal to it.
func TestUsualSteps(t *testing.T) {
	for _, c := range []struct {
		x    []float64
		want float64
	}{
		{nil, 0},
		{[]float64{5}, 0},
		{[]float64{0, 6, 12, 24}, 6},
		{[]float64{0, 12, 24, 30, 36}, 6}, // twice each
		{[]float64{0, 6, 18, 24, 36}, 6},
		{[]float64{0, 1, 3, 6}, 0}, // one of three
		{[]float64{0, 1, 3}, 1},    // one of two
		{[]float64{2, 2, 2, 3}, 0}, // equal positions have no step
	} {
		if got := usualStep(c.x, lists.Indices(len(c.x))); got != c.want {
			t.Errorf("%v: %v, want %v", c.x, got, c.want)
		}
	}
	s := run.Series{X: []float64{0, 6, 18}, Y: run.Values{1, 2, 3}, Low: run.Values{0, 1, 2}, High: run.Values{2, 3, 4}}
	got := withGaps(s, &run.VerificationPlot{Axis: run.ByInit})
	if !slices.Equal(got.X, []float64{0, 6, 18, 12}) || len(got.Low) != 4 || !math.IsNaN(got.High[3]) || len(s.X) != 3 {
		t.Errorf("%+v", got)
	}
	s.X = []float64{0, 6, 15} // one and a half steps are no gap
	if got := withGaps(s, &run.VerificationPlot{Axis: run.ByTime}); len(got.X) != 3 {
		t.Errorf("%+v", got)
	}
}

// Curves that plot_disp hides are removed and named; the others are in the order of order_series.
func TestArrangedCurves(t *testing.T) {
	look := func(display, order string) map[string]string {
		return map[string]string{"plot_disp": display, "order_series": order}
	}
	l := plot.Lines{Frame: plot.Frame{Caption: "pooled"}, Curves: []plot.Curve{
		{Name: "a", Look: look("TRUE", "10")}, {Name: "b", Look: look("false", "1")}, {Name: "c", Look: look("", "9")}, {Look: look("F", "2")}, {Name: "d", Look: look("f", "")}, {Name: "e", Look: look("T", "11")},
	}}
	arrange(&l)
	names := lists.Map(l.Curves, func(q plot.Curve) string { return q.Name })
	if !slices.Equal(names, []string{"c", "a", "e"}) || l.Caption != "pooled; plot_disp hides b, d" {
		t.Errorf("%q, %q", names, l.Caption)
	}
	if arrange(&l); l.Caption != "pooled; plot_disp hides b, d" {
		t.Error(l.Caption)
	}
}

// The number of records behind each point is known for plain curves only.
func TestRecordsBehindPoints(t *testing.T) {
	s := run.Series{X: []float64{0, 6, 3}, Records: []int{4, 5}} // a gap was added
	for picture, isKnown := range map[string]bool{"": true, "bar": true, "equivalence": false, "revision": false, "roc": false} {
		got := countsOf(s, &run.VerificationPlot{Picture: picture})
		if isKnown != (len(got) == 3) || isKnown && (got[0] != 4 || got[1] != 5 || !math.IsNaN(got[2])) {
			t.Errorf("%s: %v", picture, got)
		}
	}
	if got := countsOf(run.Series{X: []float64{0}}, &run.VerificationPlot{}); got != nil {
		t.Errorf("of an earlier version: %v", got)
	}
	least, most := counts(&run.VerificationPlot{Series: []run.Series{{Records: []int{4, 9}}, {}, {Records: []int{2, 5}}}})
	if least != 2 || most != 9 {
		t.Errorf("%d to %d", least, most)
	}
}

// The table of points has the values with their intervals, at most 200 of them. Times are dates.
func TestTableOfPoints(t *testing.T) {
	c := &run.VerificationPlot{Case: "q", Axis: run.ByLead, Stat: "ME", Series: []run.Series{
		{Name: "a", X: []float64{0, 24}, Y: run.Values{1, 2}, Low: run.Values{0.5, math.NaN()}, High: run.Values{1.5, math.NaN()}, Records: []int{1234}},
	}}
	compareRows(t, "leads", pointTable(c), "a | 0 | 1,234 | 1.00 | 0.500 | 1.50", "a | 24 | — | 2.00 | — | —")
	c.Axis, c.Series[0].X = run.ByTime, []float64{0, 86400 + 6*3600}
	compareRows(t, "times", pointTable(c), "a | 1970-01-01 00Z | 1,234 | 1.00 | 0.500 | 1.50", "a | 1970-01-02 06Z | — | 2.00 | — | —")
	for n, note := range map[int]string{200: "", 201: "The first 200 of 201 points; plots/q.json in the run folder has all."} {
		c.Series = []run.Series{{X: make([]float64, n), Y: make(run.Values, n)}}
		if tb := pointTable(c); len(tb.Rows) != 200 || tb.Note != note {
			t.Errorf("%d points: %d rows, %q", n, len(tb.Rows), tb.Note)
		}
	}
}

// Names of curves are split at spaces outside of quotes. Curves are distributed by the word that results in the fewest
// pictures of at most eight curves.
func TestWordsOfCurves(t *testing.T) {
	for name, want := range map[string][]string{
		"G2 P500": {"G2", "P500"}, " a  b ": {"a", "b"}, "": nil, `"a b" c`: {`"a b"`, "c"}, `"a \" b" c`: {`"a \" b"`, "c"}, `"a b`: {`"a b`},
	} {
		if got := wordsOf(name); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	series := func(names ...string) (out []run.Series) {
		for _, n := range names {
			out = append(out, run.Series{Name: n})
		}
		return out
	}
	names, groups, ok := byWord(series("a x", "b x", "a y"), 0)
	if !ok || !slices.Equal(names, []string{"a", "b"}) || len(groups) != 2 || groups[0][1].Name != "y" || groups[1][0].Name != "x" {
		t.Errorf("%q %+v", names, groups)
	}
	if _, _, ok := byWord(series("a x", "b"), 1); ok {
		t.Error("a name without a second word is grouped by it")
	}
	grid := func(n, m int) *run.VerificationPlot {
		c := &run.VerificationPlot{Title: "t"}
		for i := range n {
			for k := range m {
				c.Series = append(c.Series, run.Series{Name: fmt.Sprintf("a%d b%d", i, k)})
			}
		}
		return c
	}
	for _, c := range []struct{ n, m, parts int }{{2, 4, 1}, {3, 3, 3}, {2, 8, 2}, {8, 2, 2}, {2, 9, 9}, {9, 9, 1}, {1, 9, 9}, {4, 3, 3}} {
		if got := split(grid(c.n, c.m)); len(got) != c.parts {
			t.Errorf("%d × %d curves: %d pictures, want %d", c.n, c.m, len(got), c.parts)
		}
	}
	if got := split(grid(8, 2)); got[1].Title != "t · b1" || got[1].Series[7].Name != "a7" {
		t.Errorf("%+v", got[1])
	}
}

// The texts of a picture: axes, references, intervals and what is not shown.
func TestTextsOfCurves(t *testing.T) {
	made := func(change func(c *run.VerificationPlot)) *run.VerificationPlot {
		c := &run.VerificationPlot{Case: "q", Title: "title", Stat: "ME", Unit: "K", Axis: run.ByLead, Note: "pooled", Series: []run.Series{
			{Name: "one", X: []float64{0, 24}, Y: run.Values{1, 2}}, {Name: "two", X: []float64{0, 24}, Y: run.Values{2, 3}},
		}}
		change(c)
		return c
	}
	for name, x := range map[string]struct {
		plot            *run.VerificationPlot
		present, absent []string
	}{
		"plain":      {made(func(*run.VerificationPlot) {}), []string{">title<", ">q · ME<", "mean error (K)", "forecast lead (h)", "no bias", ">one<", ">two<"}, []string{"(right)", "too many"}},
		"own labels": {made(func(c *run.VerificationPlot) { c.XLabel, c.YLabel = "own x", "own y" }), []string{"own x", "own y"}, []string{"forecast lead", "mean error"}},
		"a baseline": {made(func(c *run.VerificationPlot) { c.Baseline = "base" }), []string{"mean error (K) minus that of base", "no difference"}, []string{"no bias"}},
		"revision":   {made(func(c *run.VerificationPlot) { c.Picture = "revision" }), []string{"revision of mean error (K)", "no revision"}, []string{"no bias"}},
		"equivalence": {
			made(func(c *run.VerificationPlot) {
				c.Picture = "equivalence"
				for i := range c.Series {
					c.Series[i].EquivalenceBounds, c.Series[i].Low, c.Series[i].High = run.Values{-0.5, 0.5}, run.Values{0, 1}, run.Values{2, 3}
				}
			}),
			[]string{"difference of mean error (K)", "lower bound of one", "upper bound of two"},
			[]string{"no bias"},
		},
		"numbers": {made(func(c *run.VerificationPlot) { c.Axis, c.XLabel = "fcst_var", "own numbers" }), []string{"own numbers"}, nil},
		"many": {made(func(c *run.VerificationPlot) {
			for range plot.Hues - 1 {
				c.Series = append(c.Series, c.Series[0])
			}
		}), []string{"; too many curves for intervals"}, nil},
		"derived on the right": {made(func(c *run.VerificationPlot) { c.Series[1].Right = true }), []string{"curves derived from others", "two (right)"}, []string{"one (right)"}},
		"only right ones":      {made(func(c *run.VerificationPlot) { c.Series[0].Right, c.Series[1].Right = true, true }), nil, []string{"(right)"}},
		"the visible one is right": {made(func(c *run.VerificationPlot) {
			c.Series[0].Style, c.Series[1].Right = map[string]string{"plot_disp": "FALSE"}, true
		}), []string{"plot_disp hides one"}, []string{"(right)"}},
		"another statistic": {made(func(c *run.VerificationPlot) {
			c.Series[1].Right = true
			c.RightPlot = &run.VerificationPlot{Stat: "RMSE", Unit: "1", Series: []run.Series{{Name: "three", X: []float64{0}, Y: run.Values{7}}}}
		}), []string{"root mean square error", "three (right)"}, []string{"two (right)", "square error (1)"}},
		"labeled": {made(func(c *run.VerificationPlot) {
			c.Picture, c.LabelAxis = "roc", "thresh_i"
			c.Series[0].Y, c.Series[1].Y = run.Values{0.2, 0.3}, run.Values{0.4, 0.5}
			c.Series[0].X, c.Series[1].X = []float64{0.1, 0.2}, []float64{0.1, 0.2}
		}), []string{"; the points are labeled by thresh_i", "probability of detection"}, []string{"mean error"}},
	} {
		svg, err := Curves(x.plot, plot.SVG)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, text := range x.present {
			if !strings.Contains(string(svg), text) {
				t.Errorf("%s: %q is missing", name, text)
			}
		}
		for _, text := range x.absent {
			if strings.Contains(string(svg), text) {
				t.Errorf("%s: %q is present", name, text)
			}
		}
	}
	_, err := Curves(made(func(c *run.VerificationPlot) { c.Axis = "nonsense" }), plot.SVG)
	if err == nil || !strings.Contains(err.Error(), `plots/q.json: axis`) || !strings.Contains(err.Error(), `"nonsense" is not an axis`) {
		t.Errorf("%v", err)
	}
	for stat, want := range map[string]float64{"ANOM_CORR": 0.6, "VAL1L2_ANOM_CORR": 0.6, "ME": 0} {
		if got := references(stat); len(got) != 1 || got[0].Value != want {
			t.Errorf("%s: %+v", stat, got)
		}
	}
	if got := references("CSI"); got != nil || statName("XYZ") != "XYZ" {
		t.Errorf("%+v", got)
	}
}
