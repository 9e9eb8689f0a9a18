package report

import (
	"strings"
	"testing"

	"github.com/barograph/barograph/results/run"
)

// TestBecause: a sentence states what the plans report. It gives a ratio only if both counts were measured in the same
// unit and the slower configuration examined more.
func TestBecause(t *testing.T) {
	scan := func(n int64) run.Access {
		return run.Access{Object: "lines", Method: "full scan", Examined: n, Kept: -1, Counted: n >= 0}
	}
	keys := func(n int64) run.Access {
		return run.Access{Object: "docs", Method: "key lookup", Index: "pk", Examined: n, Kept: n, Counted: true}
	}
	estimate := scan(70)
	estimate.Counted = false
	for _, c := range []struct {
		name         string
		slow, fast   []run.Access
		unit         string // of the fast archive
		mark         string
		want, absent string
	}{
		{
			"fewer rows",
			[]run.Access{scan(1000), keys(10)},
			[]run.Access{keys(10)},
			"rows", "***",
			"slow · d · f takes 4.00 times (3.50 – 4.50) as long as fast · d · f (8.00 and 2.00 ms, for 5 rows of the result): " +
				"it examines 1,010 rows (full scan of lines), the fastest 10 rows (key lookup in docs by pk), 101 times fewer.", "",
		},
		{
			"nothing at all",
			[]run.Access{scan(1000)},
			[]run.Access{keys(0)},
			"rows", "***",
			"the fastest 0 rows (key lookup in docs by pk).", "fewer",
		},
		{"the same", []run.Access{scan(10)}, []run.Access{scan(10)}, "rows", "***", "the same number: the rows examined do not explain", "fewer"},
		{"more", []run.Access{keys(3)}, []run.Access{scan(10)}, "rows", "***", "which is more: the rows examined do not explain", "fewer"},
		{
			"two units",
			[]run.Access{scan(1000)},
			[]run.Access{keys(10)},
			"documents", "***",
			"counts of rows and of documents cannot be compared", "fewer",
		},
		{
			"not counted",
			[]run.Access{scan(-1)},
			[]run.Access{keys(10)},
			"rows", "***",
			"rows that its engine does not count (full scan of lines)", "fewer",
		},
		{
			"partly counted",
			[]run.Access{scan(1000), {Object: "h", Method: "index scan", Examined: -1, Kept: -1}},
			[]run.Access{keys(10)},
			"rows", "***", "at least 1,000 rows", "fewer",
		},
		{"estimated", []run.Access{estimate}, []run.Access{keys(10)}, "rows", "***", "about 70 rows", "fewer"},
		{"not recorded", nil, []run.Access{keys(10)}, "rows", "***", "the run does not record how both find their rows", "examines"},
		{"noise", []run.Access{scan(1000)}, []run.Access{keys(10)}, "rows", "~", "is not significantly slower than the fastest", "examines"},
		{
			"too few repetitions",
			[]run.Access{scan(1000)},
			[]run.Access{keys(10)},
			"rows", "?",
			"slow · d · f has a longer median than fast", "as long as",
		},
	} {
		slow, fast := CellKey{Configuration{"slow", "d", "f"}, "c"}, CellKey{Configuration{"fast", "d", "f"}, "c"}
		f := &folder{
			results: &results{run: &run.Run{Archives: []run.Archive{
				{Engine: "slow", Design: "d", ObjectKind: "rows"}, {Engine: "fast", Design: "d", ObjectKind: c.unit},
			}}},
			plans: []run.Plan{
				{Cell: run.MetCell("slow", "d", "c", "f"), Access: c.slow},
				{Cell: run.MetCell("fast", "d", "c", "f"), Access: c.fast},
			},
		}
		sum := &CaseSummary{Name: "c", Rows: 5, Cells: []CellSummary{
			{CellKey: fast, Times: &Times{Median: 2}}, {CellKey: slow, Times: &Times{Median: 8, Ratio: 4, RatioLo: 3.5, RatioHi: 4.5, Mark: c.mark}},
		}}
		got := f.because(sum, sum.fastest(), sum.slowest())
		if !strings.Contains(got, c.want) || c.absent != "" && strings.Contains(got, c.absent) {
			t.Errorf("%s: %s", c.name, got)
		}
	}
}

// TestNoAccesses: the report of a folder of an earlier version has no section with reasons.
func TestNoAccesses(t *testing.T) {
	r, plans := makeRun()
	for i := range plans {
		plans[i].Engine = strings.ReplaceAll(plans[i].Engine, "sqlite", "mongodb")
	}
	var old []cellPlan
	for _, p := range plans {
		if p.Engine == "mongodb" {
			old = append(old, p)
		}
	}
	if page := html(t, writeRun(t, r, old, 3)); strings.Contains(page, `id="why"`) || strings.Contains(page, `href="#why"`) {
		t.Error("reasons are given without accesses")
	}
}

// TestSlowestIsCompared: a stand-in, whose times are shown but not compared, is not the slowest configuration.
func TestSlowestIsCompared(t *testing.T) {
	c := &CaseSummary{Cells: []CellSummary{
		{Times: &Times{Median: 1}}, {Times: &Times{Median: 2}}, {Times: &Times{Median: 3}, Unranked: "a stand-in"},
	}}
	if k := c.slowest(); k == nil || k.Times.Median != 2 {
		t.Errorf("the slowest is %+v", k)
	}
}
