package report

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/results/run"
)

// TestColdStartsKeepTheProof: only the digest of a cold start's result is compared. That does not lower the degree of the
// proof of the warm results, whether the cold start is before or after them.
func TestColdStartsKeepTheProof(t *testing.T) {
	cell := run.MetCell("x", "wide", "a", "sql")
	warm := run.Sample{Cell: cell, Phase: run.Warm}.Judge(&run.Measured{Total: time.Second}, proof(t, 1), nil)
	cold := run.Sample{Cell: cell, Phase: run.Cold}.Judge(&run.Measured{Total: time.Minute}, digestProof(t, 1), nil)
	r := &run.Run{Archives: []run.Archive{{Engine: "x", Design: "wide", Complete: true}}}
	for want, samples := range map[string][]run.Sample{everyValue: {warm, cold, warm}, "digest": {cold}} {
		if got := collect(r, samples, nil).summarise().Cases[0].Cells[0].Proof; got != want {
			t.Errorf("the proof is %q, want %q", got, want)
		}
	}
	for _, samples := range [][]run.Sample{{warm, cold}, {cold, warm}} {
		if got := collect(r, samples, nil).summarise().Cases[0].Cells[0].Proof; got != everyValue {
			t.Errorf("the proof is %q", got)
		}
	}
}

// TestFastestInEachCase: the mean of the ratios does not show that a configuration is the fastest in each case. In one of
// 20 cases this one takes 1.1 times as long as the fastest, so the mean is 1.005.
func TestFastestInEachCase(t *testing.T) {
	for ratio, want := range map[Number]string{
		1:      "x · wide · sql is the fastest in each of 20 cases.",
		1.0048: "and another configuration is significantly faster in 1 of 20.",
	} {
		best := Rank{Configuration: Configuration{"x", "wide", "sql"}, Ratio: ratio, Lo: ratio, Hi: ratio, Unbeaten: 19}
		got := (&results{}).fastestInWords(&Summary{Ranking: []Rank{best}}, 20)
		if !strings.HasSuffix(got, want) {
			t.Errorf("%v: %s", ratio, got)
		}
	}
}

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

	r := &run.Run{Archives: []run.Archive{
		{Engine: "weak", Design: "wide", Complete: true}, {Engine: "strong", Design: "wide", Complete: true},
	}}
	var weakAndStrong []run.Sample
	for rep := range 6 {
		for _, name := range []string{"a", "b"} {
			m := &run.Measured{Total: time.Duration(100+rep) * time.Millisecond}
			weak := run.Sample{Cell: run.MetCell("weak", "wide", name, "sql"), Phase: run.Warm, Rep: rep}
			strong := run.Sample{Cell: run.MetCell("strong", "wide", name, "sql"), Phase: run.Warm, Rep: rep}
			weakAndStrong = append(weakAndStrong, weak.Judge(m, digestProof(t, 1), nil),
				strong.Judge(&run.Measured{Total: 9 * m.Total}, proof(t, 1), nil))
		}
	}
	s := collect(r, weakAndStrong, nil).summarise()
	if len(s.Ranking) != 1 || s.Ranking[0].Engine != "strong" || strings.Contains(s.InWords, "weak") {
		t.Errorf("%+v: %s", s.Ranking, s.InWords)
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
