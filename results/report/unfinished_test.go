package report

import (
	"strings"
	"testing"

	"github.com/barograph/barograph/results/compare"
	"github.com/barograph/barograph/results/plot"
	"github.com/barograph/barograph/results/run"
)

// TestComparisonOfAnUnfinishedRun: the report counts the cells that a run has not measured, unless there are none. It
// states that no cell can be compared.
func TestComparisonOfAnUnfinishedRun(t *testing.T) {
	answers := func(pending int) []string {
		r := OfComparison(&compare.Comparison{
			Base:   "a",
			Others: []compare.RunComparison{{Run: "runA", Unfinished: []string{"runA was interrupted"}, Pending: pending}},
		})
		var out []string
		for _, a := range r.Answers {
			out = append(out, a.Text)
		}
		return out
	}
	for pending, want := range map[int]string{
		0: "NOT FINISHED: runA was interrupted.",
		1: "NOT FINISHED: runA was interrupted. The comparison omits 1 cell that it has not measured.",
	} {
		if got := answers(pending); len(got) != 2 || got[0] != want || got[1] != "runA and the baseline have no common cell." {
			t.Errorf("%d: %q", pending, got)
		}
	}
}

// TestContourNamesTheUnit: a contour plot has no axis of values, so its subtitle has the unit.
func TestContourNamesTheUnit(t *testing.T) {
	c := &run.VerificationPlot{Case: "q", Stat: "RMSE", Unit: "K", Axis: run.ByLead, Picture: "contour", Series: []run.Series{
		{Name: "P500", X: []float64{0, 24}, Y: []float64{1, 2}}, {Name: "P850", X: []float64{0, 24}, Y: []float64{2, 3}},
	}}
	svg, err := Curves(c, plot.SVG)
	if err != nil || !strings.Contains(string(svg), "root mean square error (K)") {
		t.Errorf("%v: no unit in %.300s", err, svg)
	}
}
