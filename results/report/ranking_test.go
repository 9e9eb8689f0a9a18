package report

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/run"
)

// archiveQuery is the SQL query of an engine's wide archive.
func archiveQuery(engine string) Configuration { return Configuration{engine, "wide", "sql"} }

// timedCell returns a cell with a median in ms and its ratio to the fastest of its case, with an interval.
func timedCell(engine string, median, low, high Number, mark string) CellSummary {
	return CellSummary{
		CellKey: CellKey{archiveQuery(engine), "c"}, Verdict: "equal", Rows: 1, Proof: everyValue,
		Times: &Times{N: 6, Median: median, Lo: nan(), Hi: nan(), RatioLo: low, RatioHi: high, Mark: mark},
	}
}

// near reports whether two numbers are equal up to rounding.
func near(a Number, b float64) bool { return math.Abs(float64(a)-b) < 1e-12 }

// A rank is the geometric mean of the ratios to the fastest of each case. The half-widths of the intervals of independent
// cases, as logarithms, add as squares.
func TestRanks(t *testing.T) {
	rs := &results{configurations: []Configuration{archiveQuery("x"), archiveQuery("y"), archiveQuery("z"), archiveQuery("part")}}
	cases := []CaseSummary{
		{Name: "without rows", Cells: []CellSummary{{CellKey: CellKey{archiveQuery("z"), "without rows"}, Verdict: noRows}}},
		{Name: "1", Cells: []CellSummary{
			timedCell("x", 1, nan(), nan(), ""), timedCell("y", 2, 1, 4, "~"), timedCell("part", 3, 3, 3, "?"), timedCell("z", 4, 2, 8, "*"),
		}},
		{Name: "2", Cells: []CellSummary{timedCell("y", 1, nan(), nan(), ""), timedCell("x", 8, 4, 16, "?"), timedCell("z", 16, 8, 64, "***")}},
	}
	got := rs.rank(cases)
	want := []struct {
		engine        string
		ratio, lo, hi float64
		unbeaten      int
	}{
		{"y", math.Sqrt2, 1, math.Sqrt2 * math.Sqrt2, 2},
		{"x", math.Sqrt(8), math.Sqrt(8) / math.Sqrt2, math.Sqrt(8) * math.Sqrt2, 2},
		{"z", 8, 8 * math.Pow(2, -math.Sqrt(1+1)/2), 8 * math.Pow(2, math.Sqrt(1+4)/2), 0},
	}
	if len(got) != len(want) {
		t.Fatalf("%+v", got)
	}
	for i, w := range want {
		if g := got[i]; g.Engine != w.engine || !near(g.Ratio, w.ratio) || !near(g.Lo, w.lo) || !near(g.Hi, w.hi) || g.Unbeaten != w.unbeaten {
			t.Errorf("%+v, want %+v", g, w)
		}
	}
	if got := rs.rank(cases[:1]); got == nil || len(got) > 0 { // JSON has an empty list, not null
		t.Errorf("without times: %+v", got)
	}
}

// Only cells with times of a database that may be ranked are compared. A cell that is not compared has no ratio and is
// not unbeaten.
func TestComparedCells(t *testing.T) {
	x := timedCell("x", 4, nan(), nan(), "~")
	for name, c := range map[string]struct {
		change     func(k *CellSummary)
		isCompared bool
		isUnbeaten bool
	}{
		"timed":               {func(*CellSummary) {}, true, true},
		"too few":             {func(k *CellSummary) { k.Times.Mark = "?" }, true, true},
		"the fastest":         {func(k *CellSummary) { k.Times.Mark = "" }, true, true},
		"slower":              {func(k *CellSummary) { k.Times.Mark = "*" }, true, false},
		"not timed":           {func(k *CellSummary) { k.Times = nil }, false, false},
		"the client overhead": {func(k *CellSummary) { k.ClientOverhead = true }, false, false},
		"not ranked":          {func(k *CellSummary) { k.Unranked = "a stand-in" }, false, false},
	} {
		k, times := x, *x.Times
		k.Times = &times
		c.change(&k)
		s := &CaseSummary{Cells: []CellSummary{timedCell("best", 2, nan(), nan(), ""), k}}
		if k.isCompared() != c.isCompared || k.isUnbeaten() != c.isUnbeaten {
			t.Errorf("%s: compared %v, unbeaten %v", name, k.isCompared(), k.isUnbeaten())
		}
		if ratio, ok := s.ratio(archiveQuery("x")); ok != c.isCompared || ok && ratio != 2 || !ok && !math.IsNaN(ratio) {
			t.Errorf("%s: ratio %v, %v", name, ratio, ok)
		}
	}
	var none *CellSummary
	s := &CaseSummary{Cells: []CellSummary{timedCell("x", 0, nan(), nan(), "")}}
	for _, engine := range []string{"x", "y"} { // a median of 0 has no ratio, and y is not there
		if _, ok := s.ratio(archiveQuery(engine)); ok || none.isUnbeaten() || (&CaseSummary{}).fastest() != nil {
			t.Errorf("%s has a ratio", engine)
		}
	}
}

func TestProofInWords(t *testing.T) {
	for want, s := range map[string]Summary{
		"No query was run: this run has no results.":                                {},
		"1 of 1 results equal the reference.":                                       {Equal: 1},
		"1,234 of 1,234 results equal the reference.":                               {Equal: 1234},
		"1 cell is WRONG, of 3; 2 results equal the reference.":                     {Equal: 2, Wrong: 1},
		"2 cells are WRONG and 1 cell failed, of 4; 1 result equals the reference.": {Equal: 1, Wrong: 2, Failed: 1},
		"3 cells failed, of 3; 0 results equal the reference.":                      {Failed: 3},
		"1 cell belongs to an incomplete archive and 1 cell has no recorded repetition, of 7; 5 results equal the reference.": {
			Equal: 5, Incomplete: 1, NotTimed: 1,
		},
		"2 cells belong to incomplete archives and 3 cells have no recorded repetition, of 5; 0 results equal the reference.": {
			Incomplete: 2, NotTimed: 3,
		},
	} {
		if got := (&results{}).proofInWords(&s); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if isCorrect := s.Equal > 0 && !strings.Contains(want, ", of "); s.allCorrect() != isCorrect {
			t.Errorf("%s: all correct %v", want, s.allCorrect())
		}
	}
}

func TestMultipleOfTheFastest(t *testing.T) {
	for want, r := range map[string]Rank{
		"2.00 times (1.50 – 3.00)": {Ratio: 2, Lo: 1.5, Hi: 3},
		"about as long as":         {Ratio: 2, Lo: 1, Hi: 3},
		"longer than":              {Ratio: 2, Lo: nan(), Hi: 3},
	} {
		if got := r.times(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// The sentence names the fastest configuration, the next engine or design, METviewer's own SQL, the cases that others won,
// and the cases in which nothing can be distinguished. A significant difference needs a least p below 0.05.
func TestSpeedInWords(t *testing.T) {
	rank := func(engine, design, flavour string, ratio, lo, hi Number, unbeaten int) Rank {
		return Rank{Configuration: Configuration{engine, design, flavour}, Ratio: ratio, Lo: lo, Hi: hi, Unbeaten: unbeaten}
	}
	c := func(name string, leastP Number, cells ...CellSummary) CaseSummary {
		return CaseSummary{Name: name, LeastP: leastP, Cells: cells}
	}
	x, y := timedCell("x", 1, nan(), nan(), ""), timedCell("y", 2, 1.5, 3, "~")
	interval := timedCell("x", 1.5, nan(), nan(), "")
	interval.Times.Lo, interval.Times.Hi = 1, 2
	empty := CellSummary{CellKey: CellKey{archiveQuery("x"), "e"}, Verdict: noRows}
	best, same, next := rank("x", "wide", "sql", 1, 1, 1, 2), rank("x", "wide", "keys", 1.2, 1.1, 1.3, 0), rank("y", "wide", "sql", 2, 1.5, 3, 0)
	sql := rank("m", "normalized", "metviewer-sql", 4, 3, 5, 0)
	beaten := rank("x", "wide", "sql", 1.1, 1.05, 1.2, 1)
	for name, s := range map[string]struct {
		Summary
		want string
	}{
		"nothing": {Summary{}, "No database was timed."},
		"none answered all": {
			Summary{Cases: []CaseSummary{c("1", 0.01, x), c("2", 0.01, y)}},
			"No configuration answered all 2 timed cases correctly, so none is ranked over all.",
		},
		"one case": {
			Summary{Ranking: []Rank{best}, Cases: []CaseSummary{c("e", 0.01, empty), c("1", 0.01, interval, y)}},
			"By query time alone, the fastest configuration in 1 is x · wide · sql, with a median of 1.50 ms (1.00 – 2.00). " +
				"Not significantly slower: y · wide · sql. No record of this data matches e, so no ranking includes it.",
		},
		"one case of few repetitions": {
			Summary{Ranking: []Rank{best}, Cases: []CaseSummary{c("1", 0.01, x)}},
			"By query time alone, the fastest configuration in 1 is x · wide · sql.",
		},
		"the fastest in each": {
			Summary{Ranking: []Rank{best, same, next, sql}, Cases: []CaseSummary{c("1", 0.01, x), c("2", 0.049, x)}},
			"By query time alone, x · wide · sql is the fastest in each of 2 cases. The next engine or design is y · wide · sql: " +
				"it takes 2.00 times (1.50 – 3.00) the fastest. METviewer's own SQL takes 4.00 times (3.00 – 5.00) the fastest at best (m · normalized).",
		},
		"some are too noisy": {
			Summary{Ranking: []Rank{best}, Cases: []CaseSummary{c("1", 0.01, x), c("2", 0.05, x)}},
			"By query time alone, x · wide · sql is the fastest in each of 2 cases. " +
				"In 1 case the repetitions are too few to distinguish any difference from noise.",
		},
		"another is faster in a case": {
			Summary{Ranking: []Rank{beaten, next}, Cases: []CaseSummary{c("1", 0.01, x), c("2", 0.01, y)}},
			"By query time alone, x · wide · sql is the fastest over 2 cases: it takes 1.10 times (1.05 – 1.20) the fastest of each case " +
				"(geometric mean), and another configuration is significantly faster in 1 of 2. " +
				"The next engine or design is y · wide · sql: it takes 2.00 times (1.50 – 3.00) the fastest.",
		},
		"no other is significantly faster": {
			Summary{Ranking: []Rank{rank("x", "wide", "sql", 1.1, 1.05, 1.2, 2)}, Cases: []CaseSummary{c("1", 0.01, x), c("2", 0.01, x)}},
			"By query time alone, x · wide · sql is the fastest over 2 cases: it takes 1.10 times (1.05 – 1.20) the fastest of each case " +
				"(geometric mean), and another configuration is significantly faster in none of them.",
		},
		"METviewer's SQL is the fastest": {
			Summary{Ranking: []Rank{rank("m", "normalized", "metviewer-sql", 1, 1, 1, 2)}, Cases: []CaseSummary{c("1", 0.01, x), c("2", 0.01, x)}},
			"By query time alone, m · normalized · metviewer-sql is the fastest in each of 2 cases. " +
				"x · wide · sql is faster in 1 and 2, but did not answer every case.",
		},
		"all are too noisy": {
			Summary{Ranking: []Rank{best, same, next, sql}, Cases: []CaseSummary{c("1", 0.05, x), c("2", 1, x)}},
			"The repetitions are too few to distinguish any difference from noise. By the medians, x · wide · sql is the fastest over 2 cases " +
				"(geometric mean); the next engine or design is y · wide · sql; the fastest with METviewer's own SQL is m · normalized.",
		},
		"all are too noisy, and there is no other": {
			Summary{Ranking: []Rank{best}, Cases: []CaseSummary{c("1", 0.5, x), c("2", 1, x)}},
			"The repetitions are too few to distinguish any difference from noise. By the medians, x · wide · sql is the fastest over 2 cases (geometric mean).",
		},
	} {
		if got := (&results{}).speedInWords(&s.Summary); got != s.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, s.want)
		}
	}
}

// The times of a cell are medians in ms. Without a size of the reference, the first answer gives it. A part of the time
// that was never measured is missing.
func TestTimesOfACell(t *testing.T) {
	sample := func(ms, firstRow, server int) *run.Measured {
		return &run.Measured{
			Total: time.Duration(ms) * time.Millisecond, FirstRow: time.Duration(firstRow) * time.Millisecond,
			ServerTime: time.Duration(server) * time.Millisecond, Keys: 16, Bytes: 4e6,
		}
	}
	res := &result{state: equal, rows: 40, warm: []*run.Measured{sample(10, 1, 0), sample(30, 5, 8), sample(20, 3, 6)}, coldProblem: "no cache"}
	got := summariseTimes(res, run.Case{Bytes: 2e6})
	for what, c := range map[string][2]Number{
		"median": {got.Median, 20}, "first row": {got.FirstRow, 3}, "server": {got.Server, 6}, "rows/s": {got.RowsPerSecond, 2000}, "MB/s": {got.MBPerSecond, 100},
		"repetitions": {Number(got.N), 3}, "keys": {Number(got.Keys), 16}, "cold": {Number(got.ColdN), 0},
	} {
		if c[0] != c[1] {
			t.Errorf("%s: %v, want %v", what, c[0], c[1])
		}
	}
	for what, v := range map[string]Number{"client": got.Client, "derive": got.Derive, "lower bound": got.Lo, "cold": got.Cold, "ratio": got.Ratio, "p": got.PHolm} {
		if !math.IsNaN(float64(v)) {
			t.Errorf("%s is known: %v", what, v)
		}
	}
	if got.ColdProblem != "no cache" || !slices.Equal(got.values, []float64{10, 30, 20}) {
		t.Errorf("%+v", got)
	}
	if got := summariseTimes(res, run.Case{}).MBPerSecond; got != 200 {
		t.Errorf("%v MB/s of the first answer", got)
	}
	res.cold = []*run.Measured{sample(70, 0, 0), sample(90, 0, 0)}
	if got := summariseTimes(res, run.Case{}); got.Cold != 80 || got.ColdN != 2 {
		t.Errorf("cold: %v of %d", got.Cold, got.ColdN)
	}
}

// Every cell that may be ranked is compared with the fastest. Of five times each, the least two-sided p is 2 of (10 choose
// 5); Holm's correction doubles it for two comparisons.
func TestComparisonsOfACase(t *testing.T) {
	cell := func(engine string, ms float64) CellSummary {
		k := timedCell(engine, Number(ms+2), nan(), nan(), "")
		k.Times.Ratio, k.Times.PHolm = nan(), nan()
		k.Times.values = []float64{ms, ms + 1, ms + 2, ms + 3, ms + 4}
		return k
	}
	c := CaseSummary{LeastP: nan(), Cells: []CellSummary{cell("dry", 1), cell("x", 98), cell("stand-in", 150), cell("y", 198), cell("z", 398), {}}}
	c.Cells[0].ClientOverhead, c.Cells[2].Unranked = true, "a stand-in"
	c.compare(1)
	least := 2 * 2. / 252
	if c.Comparisons != 2 || !near(c.LeastP, least) {
		t.Errorf("%d comparisons, least p %v, want %v", c.Comparisons, c.LeastP, least)
	}
	for i, want := range map[int]float64{3: 2, 4: 4} {
		if k := c.Cells[i].Times; !near(k.Ratio, want) || k.Mark != "*" || !near(k.PHolm, least) || !near(k.P, least/2) || k.RatioLo > k.Ratio || k.RatioHi < k.Ratio {
			t.Errorf("%s: %+v", c.Cells[i].Engine, k)
		}
	}
	var letters []string
	for _, k := range c.Cells[:5] {
		letters = append(letters, k.Times.Letters)
	}
	for _, i := range []int{0, 1, 2} {
		if k := c.Cells[i].Times; !math.IsNaN(float64(k.Ratio)) || k.Mark != "" {
			t.Errorf("%s is compared: %+v", c.Cells[i].Engine, k)
		}
	}
	if letters[0] != "" || letters[2] != "" || letters[1] == "" || letters[1] == letters[3] || letters[3] == letters[4] {
		t.Errorf("groups %q", letters)
	}
	one := CaseSummary{LeastP: nan(), Cells: c.Cells[:2]}
	if one.compare(1); one.Comparisons != 0 || !math.IsNaN(float64(one.LeastP)) {
		t.Errorf("of one cell: %+v", one)
	}
}

// A weaker proof excludes a cell from the ranking only if another cell has the highest degree of proof.
func TestWeakerProofs(t *testing.T) {
	for name, c := range map[string]struct {
		proofs []string
		want   []string
	}{
		"all the highest": {[]string{everyValue, everyValue}, []string{"", ""}},
		"none":            {[]string{"digest", "digest"}, []string{"", ""}},
		"both":            {[]string{"digest", everyValue}, []string{"its results are proven only by digest", ""}},
	} {
		var s CaseSummary
		for _, p := range c.proofs {
			k := timedCell("x", 1, nan(), nan(), "")
			k.Proof = p
			s.Cells = append(s.Cells, k)
		}
		s.Cells = append(s.Cells, CellSummary{Verdict: "wrong"})
		s.excludeWeakerProofs()
		for i, want := range append(c.want, "") {
			if got := s.Cells[i].Unranked; got != want {
				t.Errorf("%s, cell %d: %q", name, i, got)
			}
		}
	}
}

// JSON has no NaN and no infinity.
func TestNumbersAsJSON(t *testing.T) {
	text, err := json.Marshal([]Number{1.5, nan(), Number(math.Inf(1)), Number(math.Inf(-1)), 0})
	if err != nil || string(text) != "[1.5,null,null,null,0]" {
		t.Errorf("%s, %v", text, err)
	}
	if e := estimateOf(1, 2, 3); e != (measure.Estimate{Value: 1, Low: 2, High: 3}) {
		t.Errorf("%+v", e)
	}
}
