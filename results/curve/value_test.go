package curve_test

import (
	"math"
	"slices"
	"testing"

	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/results/curve"
	"github.com/barograph/barograph/results/run"
	"github.com/barograph/barograph/stat"
)

// richardson is the economic value of a forecast by its expenses (Richardson 2000), for each unit of loss: without a
// forecast a user protects always (ratio) or never (base), and with a perfect forecast only before each event.
func richardson(ratio, pody, pofd, base float64) float64 {
	climate, perfect := min(ratio, base), base*ratio
	forecast := pofd*(1-base)*ratio + pody*base*ratio + (1-pody)*base
	return (climate - forecast) / (climate - perfect)
}

// TestEconomicValue compares METviewer's formula with the expenses of all ratios of cost and loss.
func TestEconomicValue(t *testing.T) {
	ctc := line{[]float64{100, 20, 10, 20, 50, 0.5}, nil} // POD 20/40, POFD 10/60, base rate 40/100
	pct := []line{{[]float64{5, 3}, []float64{0, 1, 2, 0.5, 0, 2, 1}}, {[]float64{5, 3}, []float64{0, 1, 2, 0.5, 2, 0, 1}}}
	for lineType, c := range map[string]struct {
		lines []line
		value func(ratio float64) float64
	}{
		"CTC": {[]line{ctc}, func(r float64) float64 { return richardson(r, 0.5, 1./6, 0.4) }},
		// 4 events, 6 others: above 0.5 there are 2 and 2, above 0 all; each user takes the better threshold
		"PCT": {pct, func(r float64) float64 { return max(richardson(r, 0.5, 1./3, 0.4), richardson(r, 1, 1, 0.4)) }},
	} {
		q, a := asked(t, lineType, &question.Drawing{Picture: "eclv", Axis: "fcst_lead", Method: "overall"}, c.lines...)
		got, err := curve.Compute(t.Context(), q, a, "eclv", 1)
		if err != nil {
			t.Fatalf("%s: %v", lineType, err)
		}
		s := got.Series[0]
		if len(s.X) != 19 {
			t.Fatalf("%s: values at %v", lineType, s.X)
		}
		for i, ratio := range s.X {
			if want := c.value(ratio); math.Abs(ratio-float64(i+1)/20) > 1e-12 || !(math.Abs(s.Y[i]-want) <= 1e-9) || s.Records[i] != len(c.lines) {
				t.Errorf("%s: at ratio %g of %d records the value is %g, want %g", lineType, ratio, s.Records[i], s.Y[i], want)
			}
		}
	}
}

// TestShareAxis: the right axis of a picture takes the curves of further statistics, and has a unit only if all have it.
func TestShareAxis(t *testing.T) {
	plot := func(statistic, unit string, axis run.Axis, names ...string) *run.VerificationPlot {
		p := &run.VerificationPlot{Stat: statistic, Unit: unit, Axis: axis}
		for _, n := range names {
			p.Series = append(p.Series, run.Series{Name: n})
		}
		return p
	}
	left := plot("RMSE", "K", run.ByLead, "gfs")
	if curve.ShareAxis(nil, plot("ME", "K", run.ByLead, "gfs")) || curve.ShareAxis(left, plot("ME", "K", run.ByTime, "gfs")) || left.RightPlot != nil {
		t.Error("a picture shares the axis of none, or of one with another lower axis")
	}
	names := func() (out []string) {
		for _, s := range left.RightPlot.Series {
			out = append(out, s.Name)
		}
		return out
	}
	first := plot("ME", "K", run.ByLead, "gfs", "ecm")
	if !curve.ShareAxis(left, first) || left.RightPlot.Stat != "ME" || left.RightPlot.Unit != "K" || !slices.Equal(names(), []string{"ME gfs", "ME ecm"}) {
		t.Errorf("%+v", left.RightPlot)
	}
	if !curve.ShareAxis(left, plot("ME", "K", run.ByLead, "ukmo")) || left.RightPlot.Stat != "ME" || left.RightPlot.Unit != "K" {
		t.Errorf("the same statistic again: %+v", left.RightPlot)
	}
	if !curve.ShareAxis(left, plot("TOTAL", "", run.ByLead, "gfs")) || left.RightPlot.Stat != "ME, TOTAL" || left.RightPlot.Unit != "" {
		t.Errorf("another statistic: %+v", left.RightPlot)
	}
	if !slices.Equal(names(), []string{"ME gfs", "ME ecm", "ME ukmo", "TOTAL gfs"}) || len(left.Series) != 1 || len(first.Series) != 2 || first.Series[0].Name != "gfs" {
		t.Errorf("curves %q", names())
	}
}

func TestJoinsStatistics(t *testing.T) {
	two := []string{"RMSE", "ME"}
	for name, c := range map[string]struct {
		drawing *question.Drawing
		want    bool
	}{
		"no drawing":        {nil, false},
		"curves":            {&question.Drawing{Stats: two}, true},
		"bars":              {&question.Drawing{Stats: two, Picture: "bar"}, true},
		"boxes":             {&question.Drawing{Stats: two, Picture: "box"}, true},
		"a scorecard":       {&question.Drawing{Stats: two, Picture: "scorecard"}, false},
		"one statistic":     {&question.Drawing{Stats: two[:1]}, false},
		"the right axis":    {&question.Drawing{Stats: two, RightAxis: true}, false},
		"a difference":      {&question.Drawing{Stats: two, Derived: []question.Derived{{Operation: stat.Diff}}}, true},
		"equivalence tests": {&question.Drawing{Stats: two, Derived: []question.Derived{{Operation: stat.Diff}, {Operation: stat.Equivalence}}}, false},
	} {
		if got := curve.JoinsStatistics(&question.Question{Drawing: c.drawing}); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestJoinStatistics: the joined picture has all curves under their statistic, each note once, and a unit only if all have
// it.
func TestJoinStatistics(t *testing.T) {
	all := func(unit string) []*run.VerificationPlot {
		return []*run.VerificationPlot{
			{Stat: "RMSE", Unit: "K", Title: "RMSE of T", Note: "mean; 95 % interval", Omitted: []string{"ukmo"}, Series: []run.Series{{Name: "gfs"}, {Name: "RMSE"}}},
			{Stat: "ME", Unit: unit, Title: "ME of T", Note: "mean; bias", Omitted: []string{"ukmo", "ecm"}, Series: []run.Series{{Name: "gfs"}, {Name: "DIFF(a ME-b ME)"}, {Name: "DIFF(a-b)"}, {Name: "a ME"}}},
		}
	}
	names := []string{"RMSE gfs", "RMSE", "ME gfs", "DIFF(a ME-b ME)", "ME DIFF(a-b)", "ME a ME"}
	for _, c := range []struct {
		unit, title string
		q           question.Question
		wantUnit    string
	}{
		{"K", "RMSE, ME of T", question.Question{}, "K"},
		{"", "RMSE, ME of T", question.Question{Title: "Errors", Untitled: true}, ""},
		{"K", "RMSE of T", question.Question{Title: "Errors"}, "K"},
	} {
		plots := all(c.unit)
		got := curve.JoinStatistics(plots, &c.q)
		var curves []string
		for _, s := range got.Series {
			curves = append(curves, s.Name)
		}
		if got.Stat != "RMSE, ME" || got.Unit != c.wantUnit || got.Title != c.title || got.Note != "mean; 95 % interval; bias" || !slices.Equal(got.Omitted, []string{"ukmo", "ecm"}) || !slices.Equal(curves, names) {
			t.Errorf("%+v", got)
		}
		if plots[0].Series[0].Name != "gfs" || len(plots[0].Series) != 2 {
			t.Errorf("the first picture changed: %+v", plots[0])
		}
	}
}

// TestMergeScorecards: only scorecards with the same axis are merged.
func TestMergeScorecards(t *testing.T) {
	card := func(picture string, axis run.Axis, name string) *run.VerificationPlot {
		return &run.VerificationPlot{Picture: picture, Axis: axis, Series: []run.Series{{Name: name}}}
	}
	to := card("scorecard", run.ByLead, "a")
	if curve.MergeScorecards(nil, to) || curve.MergeScorecards(to, card("", run.ByLead, "b")) || curve.MergeScorecards(to, card("scorecard", run.ByTime, "b")) ||
		curve.MergeScorecards(card("", run.ByLead, "a"), card("", run.ByLead, "b")) || len(to.Series) != 1 {
		t.Errorf("merged: %+v", to)
	}
	if !curve.MergeScorecards(to, card("scorecard", run.ByLead, "b")) || len(to.Series) != 2 || to.Series[1].Name != "b" {
		t.Errorf("%+v", to)
	}
}
