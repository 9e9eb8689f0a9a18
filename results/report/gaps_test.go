package report

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/results/plot"
	"github.com/barograph/barograph/results/run"
)

const day = 86400

// TestGaps: a missing value interrupts the line at each gap.
func TestGaps(t *testing.T) {
	leads := func(x ...float64) run.Series { return run.Series{X: x, Y: make(run.Values, len(x))} }
	for _, tc := range []struct {
		name  string
		axis  run.Axis
		s     run.Series
		other []float64
		gaps  []float64
	}{
		{"no missing day", run.ByTime, leads(0, day, 2*day, 3*day), nil, nil},
		{"a missing day", run.ByTime, leads(0, day, 2*day, 4*day, 5*day), nil, []float64{3 * day}},
		{"in any order", run.ByTime, leads(5*day, 4*day, 0, day, 2*day), nil, []float64{3 * day}},
		{"two gaps", run.ByTime, leads(0, day, 2*day, 5*day, 6*day, 7*day, 9*day), nil, []float64{3 * day, 8 * day}},
		{"no usual step", run.ByTime, leads(0, day, 3*day, 10*day), nil, nil},
		{"another curve has the lead", run.ByLead, leads(0, 12, 24, 48, 60), []float64{0, 12, 24, 36, 48}, []float64{36}},
		{"no curve has the lead", run.ByLead, leads(0, 12, 24, 48, 60), []float64{0, 12, 24, 48}, nil},
		{"another curve with other hours", run.ByTime, leads(0, day, 2*day), []float64{day / 2, 3 * day / 2}, nil},
		{"one point", run.ByTime, leads(0), nil, nil},
	} {
		got := withGaps(tc.s, &run.VerificationPlot{Axis: tc.axis, Series: []run.Series{tc.s, {X: tc.other}}})
		var gaps []float64
		for i, x := range got.X {
			if math.IsNaN(got.Y[i]) {
				gaps = append(gaps, x)
			}
		}
		if !slices.Equal(gaps, tc.gaps) {
			t.Errorf("%s: gaps at %v, want %v", tc.name, gaps, tc.gaps)
		}
	}
}

// TestCountsInCaption: the caption states the numbers of records behind the points if they differ.
func TestCountsInCaption(t *testing.T) {
	c := &run.VerificationPlot{
		Case: "c", Title: "t", Stat: "ME", Unit: "K", Axis: run.ByLead, Note: "pooled",
		Series: []run.Series{{Name: "a", X: []float64{0, 24, 48}, Records: []int{29, 29, 21}, Y: run.Values{1, 2, 3}}},
	}
	svg, err := Curves(c, plot.SVG)
	if text := "21 to 29 records for each point"; err != nil || !strings.Contains(string(svg), text) {
		t.Errorf("%v: the caption lacks %q", err, text)
	}
	c.Series[0].Records = []int{29, 29, 29}
	if svg, err = Curves(c, plot.SVG); err != nil || strings.Contains(string(svg), "records for each point") {
		t.Errorf("%v: a range of one number", err)
	}
}
