package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/results/compare"
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/plot"
	"github.com/barograph/barograph/results/run"
)

// The sentence counts the cells of each verdict, in the order of their importance. It names a common change beyond the
// margin of 3 %.
func TestChangesInWords(t *testing.T) {
	one := func(verdicts ...compare.Verdict) []compare.Finding {
		return lists.Map(verdicts, func(v compare.Verdict) compare.Finding { return compare.Finding{Verdict: v} })
	}
	common := func(ratios ...float64) []compare.CommonChange {
		return lists.Map(ratios, func(r float64) compare.CommonChange {
			return compare.CommonChange{Phase: run.Warm, Quantity: "time", Cells: 5, Ratio: r}
		})
	}
	changed := func(ratio string) string {
		return " The warm time of all 5 cells together changed by a factor of " + ratio + ": the cause is the machine or the client."
	}
	for want, a := range map[string]compare.RunComparison{
		"new and the baseline have no common cell.":           {},
		"new, of 1 cell: 1 without a significant difference.": {Findings: one(compare.Same), CommonChanges: common(1.02, 1, 0.98)},
		"new, of 4 cells: 1 broken, 2 faster and 1 absent." + changed("1.04") + changed("0.960"): {
			Findings: one(compare.Missing, compare.Faster, compare.Broken, compare.Faster), CommonChanges: common(1.04, 1.01, 0.96),
		},
		"new, of 12 cells: 1 broken, 1 slower, 1 faster, 1 not right in either run, 1 repaired, 1 absent, 1 new, 1 correct with another result, " +
			"1 not timed, 1 with too few repetitions to compare, 1 without a significant difference and 1 of client overhead.": {
			Findings: one(compare.ClientOverhead, compare.Same, compare.TooFew, compare.NoTimes, compare.DifferentAnswer, compare.Added, compare.Missing,
				compare.Repaired, compare.StillIncorrect, compare.Faster, compare.Slower, compare.Broken),
		},
	} {
		if got := changes("new", &a); got != want {
			t.Errorf("%s\nwant\n%s", got, want)
		}
	}
}

// The answers of a comparison are what is not finished, what makes it void, and what changed. Each warning is reported
// once.
func TestAnswersOfAComparison(t *testing.T) {
	void := compare.Difference{Fact: "data", Base: "d1", New: "", NotComparable: true}
	otherMachine := compare.Difference{Fact: "processor", Base: "A", New: "B", NotComparable: true}
	version := compare.Difference{Fact: "go", Base: "", New: "go1.26"}
	c := &compare.Comparison{Base: "runs/old", Started: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC), Margin: 0.03, Tests: 1, Others: []compare.RunComparison{
		{Run: "runs/a", Unfinished: []string{"a is still running"}, Pending: 2, MachineWarnings: []string{"busy"}, Differences: []compare.Difference{void, version}},
		{Run: "runs/b", Unfinished: []string{"b was interrupted"}, MachineWarnings: []string{"busy", "in memory"}, Differences: []compare.Difference{void, otherMachine}},
		{Run: "runs/c", Findings: []compare.Finding{{Verdict: compare.Broken}}},
	}}
	r := OfComparison(c)
	got := lists.Map(r.Answers, func(w Words) string { return w.Class + ": " + w.Text })
	want := []string{
		"alarm: NOT FINISHED: a is still running. The comparison omits 2 cells that it has not measured.",
		"alarm: VOID: a " + prose("void: other data"), "answer right: a and the baseline have no common cell.",
		"alarm: NOT FINISHED: b was interrupted.",
		"alarm: VOID: b " + prose("void: other work"), "answer right: b and the baseline have no common cell.",
		"answer bad: c, of 1 cell: 1 broken.",
	}
	if !slices.Equal(got, want) || !slices.Equal(r.Warnings, []string{"busy", "in memory"}) || r.Name != "old" {
		t.Errorf("%s\nwarnings %q", strings.Join(got, "\n"), r.Warnings)
	}
	if len(r.Sections) != 3 || r.Sections[1].ID != "run-2" || r.Sections[1].Title != "b" || r.Sections[1].Small != "baseline old" {
		t.Fatalf("%+v", r.Sections)
	}
	titles := func(s Section) []string { return lists.Map(s.Parts, func(p Section) string { return p.Title }) }
	if got := titles(r.Sections[0]); !slices.Equal(got, []string{"What makes the comparison void", "What else differs"}) {
		t.Fatalf("%q", got)
	}
	compareRows(t, "void", r.Sections[0].Parts[0].Table, "data | d1 | —")
	compareRows(t, "harmless", r.Sections[0].Parts[1].Table, "go | — | go1.26")
	compareRows(t, "void of b", r.Sections[1].Parts[0].Table, "data | d1 | —", "processor | A | B")
	if got := titles(r.Sections[2]); !slices.Equal(got, []string{"Every cell"}) {
		t.Errorf("%q", got)
	}
}

// The table has both medians, their ratio, the own ratio and the verdict. A terminal shows up to 30 cells, and none that
// has not changed.
func TestTableOfFindings(t *testing.T) {
	right := func(v float64) compare.CellResult {
		return compare.CellResult{State: compare.Correct, Median: measure.Estimate{Value: v, Low: v / 2, High: v * 2}}
	}
	missing := measure.MedianEstimate(nil)
	finding := func(v compare.Verdict, base, now compare.CellResult, ratio measure.Estimate, p float64) compare.Finding {
		return compare.Finding{Cell: run.MetCell("x", "wide", "q", "sql"), Quantity: "time", Unit: "ms", Verdict: v, Base: base, New: now, Ratio: ratio, OwnRatio: ratio, P: p}
	}
	wrong := compare.CellResult{State: compare.Wrong, Median: missing}
	a := &compare.RunComparison{Findings: []compare.Finding{
		finding(compare.Broken, right(2), wrong, missing, 1),
		finding(compare.Slower, right(2), right(8), measure.Estimate{Value: 4, Low: 3, High: 5}, 0.0123),
		finding(compare.Repaired, wrong, right(2), missing, 1),
		finding(compare.Same, right(2), right(2), exact(1), 1),
	}}
	tb := findings(a, &compare.Comparison{Margin: 0.03, Tests: 2})
	compareRows(t, "findings", tb,
		"x · q · wide · sql | time (ms) | 2.00 (1.00 – 4.00) | wrong | — | — | — | broken",
		"x · q · wide · sql | time (ms) | 2.00 (1.00 – 4.00) | 8.00 (4.00 – 16.0) | 4.00 (3.00 – 5.00) | 4.00 (3.00 – 5.00) | 0.012 | slower",
		"x · q · wide · sql | time (ms) | wrong | 2.00 (1.00 – 4.00) | — | — | — | repaired",
		"x · q · wide · sql | time (ms) | 2.00 (1.00 – 4.00) | 2.00 (1.00 – 4.00) | 1.00 | 1.00 | 1 | ~",
	)
	for i, want := range []string{"bad false", "bad false", "ok false", "dim true"} {
		if got := fmt.Sprint(tb.Rows[i].Cells[7].Class, " ", tb.Rows[i].Quiet); got != want {
			t.Errorf("row %d: %s", i, got)
		}
	}
	if !strings.Contains(tb.Note, "differs by more than 3 % and significantly (two-sided Mann–Whitney rank tests, 2 tests corrected") {
		t.Error(tb.Note)
	}
	pictures := ratios(a)
	rows, ok := pictures[0].(plot.Rows)
	if !ok || len(rows.Panels) != 1 || len(rows.Panels[0].Rows) != 2 || rows.Panels[0].Rows[0].Value != (plot.Value{V: 4, Lo: 3, Hi: 5}) || !rows.Log {
		t.Errorf("%+v", pictures)
	}
	if ratios(&compare.RunComparison{Findings: a.Findings[:1]}) != nil {
		t.Error("there is a picture without a ratio")
	}
	many := &compare.RunComparison{Findings: slices.Repeat(a.Findings[1:2], 32)}
	for i, r := range findings(many, &compare.Comparison{}).Rows {
		if r.Quiet != (i >= 30) {
			t.Errorf("cell %d is quiet: %v", i, r.Quiet)
		}
	}
}

// A load and a size that were not measured have no ratio.
func TestTableOfLoads(t *testing.T) {
	compareRows(t, "loads", loadChanges(&compare.RunComparison{Loads: []compare.Load{
		{Engine: "x", Design: "wide", Time: [2]time.Duration{2 * time.Second, 3 * time.Second}, Bytes: [2]int64{4e6, 2e6}},
		{Engine: "y", Design: "wide", Time: [2]time.Duration{0, 3 * time.Second}, Bytes: [2]int64{4e6, 0}},
	}}), "x | wide | 2.00 | 3.00 | 1.50 | 4.00 | 2.00 | 0.500", "y | wide | — | 3.00 | — | 4.00 | — | —")
	if c := change(math.NaN(), 1); c[0].Text != none || c[1].Text != "1.00" || c[2].Text != none {
		t.Errorf("%+v", c)
	}
}
