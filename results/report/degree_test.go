package report

import (
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/results/run"
)

// TestDegreesAreNotRankedTogether: results with different degrees of proof are never ranked together.
func TestDegreesAreNotRankedTogether(t *testing.T) {
	var all []*point
	for rep := 1; rep <= 6; rep++ {
		weak := newPoint("fast", "server", 1, rep, 2000)
		weak.Proof = "keys and counts"
		strong := newPoint("slow", "server", 1, rep, 1000)
		strong.Proof = everyValue
		all = append(all, weak, strong)
	}
	got := gather(&run.Run{}, all).sentence("workloada")
	if strings.Contains(got, "then slow") || strings.Count(got, "Highest throughput: ") != 2 ||
		!strings.Contains(got, "proven by keys and counts") {
		t.Error(got)
	}

	c := &CaseSummary{Cells: []CellSummary{{Proof: "digest", Times: &Times{Median: 1}}, {Proof: everyValue, Times: &Times{Median: 2}}}}
	c.excludeWeakerProofs()
	if best := c.fastest(); best == nil || best.Proof != everyValue || c.Cells[0].Unranked == "" {
		t.Errorf("the fastest is %+v", best)
	}

	f := scanFolder(t)
	samples := f.Samples()
	for i := range samples {
		if f.Run.ConfigIndex(samples[i].Cell) == 1 {
			samples[i].Proof = "digest"
		}
	}
	if scans := gatherScans(&f.Run, samples); slices.ContainsFunc(scans.cells, func(c *scanCell) bool { return c.comparison != nil }) {
		t.Errorf("results with different degrees of proof are compared: %v", scans.cells)
	}
}
