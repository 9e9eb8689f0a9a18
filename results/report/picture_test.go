package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/results/plot"
	"github.com/barograph/barograph/results/run"
)

// newSeries returns a curve of n points. f returns a point of the curve; its argument increases from 0 to 1.
func newSeries(name string, n int, f func(part float64) (x, y float64)) run.Series {
	s := run.Series{Name: name}
	for i := range n {
		x, y := f(float64(i) / float64(n-1))
		s.X, s.Y, s.Records = append(s.X, x), append(s.Y, y), append(s.Records, 1000-90*i)
		s.Low, s.High = append(s.Low, math.NaN()), append(s.High, math.NaN())
	}
	return s
}

// samplePlots returns a verification plot of every kind.
func samplePlots() map[string]*run.VerificationPlot {
	curves := func(picture, stat string, axis run.Axis, series ...run.Series) *run.VerificationPlot {
		return &run.VerificationPlot{
			Case: picture, Title: "Made numbers", Stat: stat, Unit: "1", Axis: axis, Picture: picture,
			Note: "the note of the plot", Series: series,
		}
	}
	two := func(n int, f func(part, skill float64) (x, y float64)) []run.Series {
		return []run.Series{
			newSeries("GFS", n, func(p float64) (float64, float64) { return f(p, 1) }),
			newSeries("ECM", n, func(p float64) (float64, float64) { return f(p, 1.5) }),
		}
	}
	byLead := func(p, skill float64) (float64, float64) { return 24 + 216*p, 1 + 3*p/skill }
	out := map[string]*run.VerificationPlot{
		"roc": curves("roc", "PODY", "POFD",
			two(11, func(p, skill float64) (float64, float64) { return p * p, math.Pow(p, 0.8/skill) })...),
		"reliability": curves("reliability", "frequency", "probability",
			newSeries("GEFS", 10, func(p float64) (float64, float64) { return 0.05 + 0.9*p, 0.1 + 0.75*p })),
		"performance": curves("performance", "PODY", "success_ratio", two(8,
			func(p, skill float64) (float64, float64) { return 0.9 - 0.5*p/skill, 0.8 - 0.6*p/skill })...),
		"taylor": curves("taylor", "FSTDEV/OSTDEV", "PR_CORR",
			two(8, func(p, skill float64) (float64, float64) { return 1 - 0.5*p/skill, 1 - 0.2*p })...),
		"rank_histogram": curves("rank_histogram", "share", "rank", two(11, func(p, skill float64) (float64, float64) {
			return 1 + 10*p, 0.06 + 0.1*math.Abs(p-0.5)/skill
		})...),
		"phist": curves("rank_histogram", "share", "bin", two(10, func(p, skill float64) (float64, float64) {
			return 0.05 + 0.9*p, 0.06 + 0.2*math.Abs(p-0.5)/skill
		})...),
		"relp": curves("rank_histogram", "share", "ens",
			two(6, func(p, skill float64) (float64, float64) { return 1 + 5*p, 0.12 + 0.08*p/skill })...),
		"eclv": curves("eclv", "ECLV", "cost_loss_ratio", two(19, func(p, skill float64) (float64, float64) {
			return 0.05 + 0.9*p, skill/2 - 3*(p-0.4)*(p-0.4)
		})...),
		"spread_skill": curves("spread_skill", "MSE", "VAR_MEAN",
			two(9, func(p, skill float64) (float64, float64) { return 1 + 9*p, 2 + 7*p/skill })...),
		"bar":     curves("bar", "RMSE", run.ByLead, two(10, byLead)...),
		"box":     curves("box", "RMSE", run.ByLead, two(10, byLead)...),
		"contour": curves("contour", "RMSE", run.ByLead, levels()...),
		"revision": curves("revision", "ME", run.ByTime, two(40, func(p, skill float64) (float64, float64) {
			return 1.5463e9 + 864000*p, math.Sin(40*p) / skill
		})...),
		"scorecard": curves("scorecard", "RMSE", run.ByLead, two(10, byLead)...),
		"right":     curves("", "RMSE", run.ByLead, two(10, byLead)...),
		"right_bar": curves("bar", "FBIAS", run.ByLead, two(10, byLead)...),
	}
	// The 48 h file is missing on 8 of 29 days, and one day is missing completely.
	out["die_off_of_holes"] = curves("", "RMSE", run.ByLead, two(11, byLead)...)
	out["days_of_holes"] = curves("", "RMSE", run.ByTime, two(29, func(p, skill float64) (float64, float64) {
		return 1.5463e9 + 28*86400*p, 1 + math.Sin(9*p)/skill/4
	})...)
	out["profile_of_holes"] = curves("", "RMSE", run.ByLevel,
		two(6, func(p, skill float64) (float64, float64) { return 1000 - 900*p, 1 + 3*p/skill })...)
	for _, name := range []string{"die_off_of_holes", "days_of_holes", "profile_of_holes"} {
		for i := range out[name].Series {
			s := &out[name].Series[i]
			for k := range s.Records {
				s.Records[k] = 29
			}
			s.Records[1+i] = 21
			if name == "days_of_holes" {
				s.X, s.Y, s.Records = slices.Delete(s.X, 12, 13), slices.Delete(s.Y, 12, 13), slices.Delete(s.Records, 12, 13)
				s.Low, s.High = s.Low[1:], s.High[1:]
			}
		}
	}
	for i := range out["box"].Series {
		s := &out["box"].Series[i]
		for k, y := range s.Y {
			s.Low[k], s.High[k] = y-0.4, y+0.6
			s.WhiskerLow, s.WhiskerHigh, s.Outliers = append(s.WhiskerLow, y-0.8), append(s.WhiskerHigh, y+1.1), append(s.Outliers, nil)
			if k%3 == 0 {
				s.Outliers[k] = []float64{y - 1.1, y + 1.4, y + 1.6}
			}
		}
	}
	out["performance"].LabelAxis, out["roc"].LabelAxis = run.ByLead, run.ByThresh
	for i := range out["roc"].Series {
		for k := range out["roc"].Series[i].X {
			out["roc"].Series[i].Labels = append(out["roc"].Series[i].Labels, fmt.Sprintf(">%d", 10-k))
		}
	}
	for i := range out["performance"].Series {
		s := &out["performance"].Series[i]
		for k, y := range s.Y {
			s.Labels = append(s.Labels, fmt.Sprint(24+24*k))
			s.Low[k], s.High[k] = y-0.05, y+0.04
		}
	}
	for i := range out["scorecard"].Series {
		out["scorecard"].Series[i].Marks = []int{2, 2, 1, 0, 0, run.MarkTooFew, -1, -1, -2, -2}
	}
	for _, name := range []string{"right", "right_bar"} {
		out[name].RightPlot = curves("", "ME", run.ByLead,
			newSeries("ME GFS", 10, func(p float64) (float64, float64) { return 24 + 216*p, 0.5 - p }))
	}
	return out
}

// levels returns errors that are greatest at the height of the jet.
func levels() (out []run.Series) {
	for _, p := range []float64{850, 700, 500, 250, 200, 100} {
		out = append(out, newSeries(fmt.Sprintf("P%g", p), 10, func(at float64) (float64, float64) {
			off := (p - 250) / 150
			return 24 + 216*at, (1 + 3*at) * (1 + math.Exp(-off*off))
		}))
	}
	out[0].Y[7] = math.NaN()
	return out
}

// TestPictures compares every kind of picture with its reviewed golden.
func TestPictures(t *testing.T) {
	for name, c := range samplePlots() {
		svg, err := Curves(c, plot.SVG)
		if err != nil {
			t.Fatal(name, err)
		}
		if text := string(svg); strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
			t.Errorf("%s contains NaN or Inf", name)
		}
		golden(t, "picture_"+name+".svg", string(svg))
	}
}

// TestPerformanceOfEarlierVersion: the points of a folder without labels have no order, so no line joins them.
func TestPerformanceOfEarlierVersion(t *testing.T) {
	c := samplePlots()["performance"]
	for _, want := range []plot.Style{0, plot.Points} {
		d, ok := diagramOf(c)
		if !ok || d.style != want {
			t.Errorf("style %v, want %v", d.style, want)
		}
		for i := range c.Series {
			c.Series[i].Labels = nil
		}
	}
}

// TestTicks: the axis shows the given labels, the points move to the positions of their ticks, and a gap in a line
// remains. The labels of points change with the ticks. The plot itself does not change.
func TestTicks(t *testing.T) {
	l := plot.Lines{Coordinate: plot.Leads, Curves: []plot.Curve{{Positions: []float64{48, 24, 72, 60, 200}}}}
	placeTicks(&l, []run.Tick{
		{X: 24, Position: 1, Label: "Day 1"}, {X: 48, Position: 3, Label: "Day 2"}, {X: 72, Position: 4, Label: "Day 3"},
	})
	got := fmt.Sprint(l.Curves[0].Positions, l.Ticks, l.Coordinate == plot.Numbers)
	if got != "[3 1 4 3.5 NaN] map[1:Day 1 3:Day 2 4:Day 3] true" {
		t.Error(got)
	}
	leads := []float64{24, 48, 72}
	ticks := []run.Tick{
		{X: 24, Text: "24", Position: 24, Label: "one"},
		{X: 48, Text: "48", Position: 48, Label: "two"},
		{X: 72, Text: "72", Position: 72, Label: "three"},
	}
	for _, picture := range []string{"", "bar", "contour", "performance"} {
		c := &run.VerificationPlot{Case: "x", Title: "x", Stat: "PODY", Axis: run.ByLead, Picture: picture, Ticks: ticks, LabelAxis: "fcst_lead"}
		for _, name := range []string{"GFS", "ECM"} {
			c.Series = append(c.Series, run.Series{Name: name, X: leads, Y: []float64{0.5, 0.6, 0.7}})
		}
		if picture == "performance" {
			c.Series = c.Series[:1]
			c.Series[0].X, c.Series[0].Labels = []float64{0.1, 0.2, 0.3}, []string{"24", "48", "72"}
		}
		svg, err := Curves(c, plot.SVG)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{">one<", ">two<", ">three<"} {
			if !strings.Contains(string(svg), want) {
				t.Errorf("picture %q has no label %s", picture, want)
			}
		}
		if strings.Contains(string(svg), ">48<") || picture == "performance" && c.Series[0].Labels[0] != "24" {
			t.Errorf("picture %q also shows the values, or has changed its plot", picture)
		}
	}
}

// TestCrowdedTicks: a label that would overlap the previous one is omitted.
func TestCrowdedTicks(t *testing.T) {
	c := &run.VerificationPlot{Case: "x", Title: "x", Stat: "RMSE", Axis: run.ByLead, Series: []run.Series{{Name: "GFS"}}}
	for i := range 60 {
		c.Ticks = append(c.Ticks, run.Tick{X: float64(i), Position: float64(i), Label: fmt.Sprint("label ", i)})
		c.Series[0].X, c.Series[0].Y = append(c.Series[0].X, float64(i)), append(c.Series[0].Y, 1)
	}
	svg, err := Curves(c, plot.SVG)
	if n := strings.Count(string(svg), ">label "); err != nil || n < 8 || n > 20 {
		t.Error(n, err)
	}
}

// TestReliabilityOfEarlierVersion: a run folder without numbers of forecasts has the curve of the reliability diagram,
// but neither its base rate nor its bars.
func TestReliabilityOfEarlierVersion(t *testing.T) {
	c := samplePlots()["reliability"]
	c.Series[0].Records = nil
	svg, err := Curves(c, plot.SVG)
	if err != nil || !strings.Contains(string(svg), "perfect") || strings.Contains(string(svg), "no resolution") {
		t.Errorf("%v: %.300s", err, svg)
	}
}
