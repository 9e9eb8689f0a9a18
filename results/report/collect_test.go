package report

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/results/plot"
	"github.com/barograph/barograph/results/run"
)

// rowTexts returns the texts of each row of a table, with the second line of a cell in brackets.
func rowTexts(tb *Table) []string {
	return lists.Map(tb.Rows, func(r Row) string {
		return strings.Join(lists.Map(r.Cells, func(c Cell) string {
			if c.Sub != "" {
				return c.Text + " (" + c.Sub + ")"
			}
			return c.Text
		}), " | ")
	})
}

// compareRows compares the rows of a table with the wanted ones.
func compareRows(t *testing.T, what string, tb *Table, want ...string) {
	t.Helper()
	if got := rowTexts(tb); !slices.Equal(got, want) {
		t.Errorf("%s:\n%s\nwant\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// The state of a cell is the worst of its repetitions. Only an equal cell keeps its times, and only without a failed cold
// start its cold ones.
func TestStatesOfResults(t *testing.T) {
	cell := run.MetCell("x", "wide", "a", "sql")
	m := &run.Measured{Total: time.Second}
	right := func(phase run.Phase, rows int) run.Sample {
		return run.Sample{Cell: cell, Phase: phase}.Judge(m, proof(t, rows), nil)
	}
	wrong := func(rows int, problem string) run.Sample {
		return run.Sample{Cell: cell, Phase: run.Warm}.Judge(m, answer.Proof{}, &answer.Diff{Problem: problem, GotRows: rows})
	}
	failed := func(phase run.Phase, problem string) run.Sample {
		return run.Sample{Cell: cell, Phase: phase}.Judge(m, answer.Proof{}, errors.New(problem))
	}
	untimed := run.Sample{Cell: cell, Phase: run.Warm}.Judge(nil, proof(t, 3), nil)
	for name, c := range map[string]struct {
		samples     []run.Sample
		incomplete  bool
		state       string
		rows        int
		warm, cold  int
		problem     string
		coldProblem string
	}{
		"planned":                 {nil, false, "not timed", -1, 0, 0, "", ""},
		"equal":                   {[]run.Sample{right(run.Warm, 3), right(run.Cold, 3), right(run.Warm, 3)}, false, "equal", 3, 2, 1, "", ""},
		"not timed":               {[]run.Sample{untimed}, false, "equal", 3, 0, 0, "", ""},
		"wrong":                   {[]run.Sample{right(run.Warm, 3), wrong(2, "a row is missing"), right(run.Warm, 3)}, false, "wrong", 2, 0, 0, "a row is missing", ""},
		"wrong twice":             {[]run.Sample{wrong(2, "first"), wrong(1, "second")}, false, "wrong", 2, 0, 0, "first", ""},
		"failed":                  {[]run.Sample{right(run.Warm, 3), failed(run.Warm, "no table")}, false, "failed", 3, 0, 0, "no table", ""},
		"failed, then wrong":      {[]run.Sample{failed(run.Warm, "no table"), wrong(2, "a row is missing")}, false, "wrong", 2, 0, 0, "a row is missing", ""},
		"wrong, then failed":      {[]run.Sample{wrong(2, "a row is missing"), failed(run.Warm, "no table")}, false, "wrong", 2, 0, 0, "a row is missing", ""},
		"a failed cold start":     {[]run.Sample{right(run.Warm, 3), right(run.Cold, 3), failed(run.Cold, "no file")}, false, "equal", 3, 1, 0, "", "no file"},
		"only a failed cold one":  {[]run.Sample{failed(run.Cold, "no file")}, false, "not timed", -1, 0, 0, "", "no file"},
		"of an incomplete one":    {[]run.Sample{right(run.Warm, 3)}, true, "incomplete", 3, 0, 0, "the archive is incomplete", ""},
		"wrong in an incomplete":  {[]run.Sample{wrong(2, "x")}, true, "wrong", 2, 0, 0, "x", ""},
		"failed in an incomplete": {[]run.Sample{failed(run.Warm, "y")}, true, "failed", -1, 0, 0, "y", ""},
	} {
		r := &run.Run{Archives: []run.Archive{{Engine: "x", Design: "wide", Complete: !c.incomplete}}, Cases: []run.Case{{Name: "b"}}}
		rs := collect(r, c.samples, []run.Plan{{Cell: cell}, {Name: "of no cell"}})
		res := rs.result(archiveQuery("x"), "a")
		if res.state.String() != c.state || res.rows != c.rows || len(res.warm) != c.warm || len(res.cold) != c.cold {
			t.Errorf("%s: %+v", name, res)
		}
		if !strings.Contains(res.problem, c.problem) || c.problem == "" && res.problem != "" || !strings.Contains(res.coldProblem, c.coldProblem) {
			t.Errorf("%s: %q, cold %q", name, res.problem, res.coldProblem)
		}
		names := lists.Map(rs.cases, func(c run.Case) string { return c.Name })
		if !slices.Equal(names, []string{"b", "a"}) || len(rs.cells) != 1 || len(r.Cases) != 1 {
			t.Errorf("%s: cases %q, %d cells", name, names, len(rs.cells))
		}
		if res := rs.result(archiveQuery("x"), "b"); res.state != absent || res.rows != -1 {
			t.Errorf("%s: a cell without a sample: %+v", name, res)
		}
	}
}

// Configurations are in the order of the archives and of the known flavours. Unknown flavours are last, by name.
func TestOrderOfConfigurations(t *testing.T) {
	r := &run.Run{Archives: []run.Archive{{Engine: "z", Design: "wide"}, {Engine: "a", Design: "wide"}}}
	var plans []run.Plan
	for _, flavour := range []string{"own-b", "keys", "", "own-a", "sql", "metviewer-sql"} {
		for _, engine := range []string{"a", "z"} {
			plans = append(plans, run.Plan{Cell: run.MetCell(engine, "wide", "q", flavour)})
		}
	}
	got := lists.Map(collect(r, nil, plans).configurations, Configuration.String)
	var want []string
	for _, engine := range []string{"z", "a"} {
		for _, flavour := range []string{" · metviewer-sql", " · sql", " · keys", "", " · own-a", " · own-b"} {
			want = append(want, engine+" · wide"+flavour)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
}

// An element of the matrix of proofs has the state and the number of returned rows.
func TestCellsOfTheMatrix(t *testing.T) {
	for _, c := range []struct {
		result
		text, class string
	}{
		{result{state: equal, rows: 1848}, "= 1,848", "ok"},
		{result{state: equal, rows: 0}, "= 0", "ok"},
		{result{state: equal, rows: -1}, "= ", "ok"},
		{result{state: wrong, rows: 12}, "wrong 12", "bad"},
		{result{state: failed, rows: 12}, "failed", "bad"},
		{result{state: incomplete, rows: 12}, "incomplete", "bad"},
		{result{state: untimed, rows: -1}, "not timed", "dim"},
		{result{state: absent, rows: -1}, none, "dim"},
	} {
		if got := c.cell(); got.Text != c.text || got.Class != c.class {
			t.Errorf("%s: %+v", c.state, got)
		}
	}
}

// A part of the time that no repetition measured is missing. Otherwise its median counts all repetitions.
func TestPartsOfTimes(t *testing.T) {
	of := func(m *run.Measured) time.Duration { return m.Derive }
	for _, c := range []struct {
		derive []time.Duration
		want   float64
	}{
		{nil, math.NaN()},
		{[]time.Duration{0, 0}, math.NaN()},
		{[]time.Duration{0, 4 * time.Millisecond}, 2},
		{[]time.Duration{5 * time.Millisecond, 3 * time.Millisecond, 9 * time.Millisecond}, 5},
	} {
		samples := lists.Map(c.derive, func(d time.Duration) *run.Measured { return &run.Measured{Derive: d} })
		if got := float64(positive(samples, of)); got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf("%v: %v, want %v", c.derive, got, c.want)
		}
	}
}

// The ratio of a cell is marked if it is not significant. The overhead and what is not ranked have none.
func TestRatiosOfCells(t *testing.T) {
	cell := func(change func(k *CellSummary)) *CellSummary {
		k := timedCell("x", 4, nan(), nan(), "")
		k.Times.Ratio = 2
		change(&k)
		return &k
	}
	best := cell(func(*CellSummary) {})
	for want, k := range map[string]*CellSummary{
		"1":               best,
		"~ 2.00":          cell(func(k *CellSummary) { k.Times.Mark = "~" }),
		"? 2.00":          cell(func(k *CellSummary) { k.Times.Mark = "?" }),
		"2.00 **":         cell(func(k *CellSummary) { k.Times.Mark = "**" }),
		"client overhead": cell(func(k *CellSummary) { k.ClientOverhead = true }),
		"not ranked":      cell(func(k *CellSummary) { k.Unranked = "a stand-in" }),
	} {
		got := k.ratio(best)
		hasNumber := strings.Contains(want, "2.00") || want == "1"
		if got.Text != want || got.Known != hasNumber || strings.Contains(want, "2.00") && got.Value != 2 {
			t.Errorf("%+v, want %q", got, want)
		}
		if isDim := got.Class == "dim"; isDim != (!strings.Contains(want, "*") && want != "1") {
			t.Errorf("%s has the class %q", want, got.Class)
		}
	}
	if got := coldCell(&Times{ColdProblem: "x", Cold: 3}); got.Text != "failed" || got.Class != "bad" {
		t.Errorf("%+v", got)
	}
	if got := coldCell(&Times{Cold: 3, ColdLo: 2, ColdHi: 4}); got.Text != "3.00" || got.Sub != "2.00 – 4.00" {
		t.Errorf("%+v", got)
	}
}

// The notes of a case have the numbers of repetitions and comparisons and what limits them.
func TestNotesOfACase(t *testing.T) {
	cell := func(engine string, n int) CellSummary {
		k := timedCell(engine, 4, nan(), nan(), "")
		k.Times.N = n
		return k
	}
	dry, other, cold := cell("dry", 30), cell("stand-in", 30), cell("x", 30)
	dry.ClientOverhead, other.Unranked, cold.Times.ColdProblem = true, "it is a stand-in", "no file"
	for name, c := range map[string]struct {
		CaseSummary
		want []string
	}{
		"nothing":  {CaseSummary{Cells: []CellSummary{{Verdict: "wrong"}}}, []string{"No configuration was timed in this case."}},
		"one":      {CaseSummary{Cells: []CellSummary{cell("x", 1)}}, []string{"1 repetition of each configuration. A 95 % interval of a median needs 6 repetitions."}},
		"five":     {CaseSummary{Cells: []CellSummary{cell("x", 5)}}, []string{"5 repetitions of each configuration. A 95 % interval of a median needs 6 repetitions."}},
		"six":      {CaseSummary{Cells: []CellSummary{cell("x", 6)}}, []string{"6 repetitions of each configuration."}},
		"various":  {CaseSummary{Cells: []CellSummary{cell("x", 30), cell("y", 7), {}}}, []string{"7 to 30 repetitions of each configuration."}},
		"compared": {CaseSummary{Comparisons: 1, LeastP: 0.049, Cells: []CellSummary{cell("x", 30)}}, []string{"30 repetitions of each configuration. Ratio and p: relative to the fastest, 1 comparison corrected together."}},
		"too few": {CaseSummary{Comparisons: 2, LeastP: 0.05, Cells: []CellSummary{cell("x", 30)}}, []string{
			"30 repetitions of each configuration. Ratio and p: relative to the fastest, 2 comparisons corrected together. " +
				"With these repetitions and comparisons p cannot be below 0.05, so no difference can be distinguished from noise (“?”); use more repetitions.",
		}},
		"exceptions": {CaseSummary{Cells: []CellSummary{dry, other, other, cold}}, []string{
			"30 repetitions of each configuration.",
			"Client overhead (dry): 4.00 ms, included in every time.", "stand-in is not ranked, because it is a stand-in.",
			"Cold start of x · wide · sql failed: no file",
		}},
	} {
		if got := c.notes(); !slices.Equal(got, c.want) {
			t.Errorf("%s:\n%q\nwant\n%q", name, got, c.want)
		}
	}
}

// study returns results with the client overhead, a ranked configuration, one that is not ranked, and one that did not
// answer every case.
func study() (*results, *Summary) {
	cell := func(engine, name string, median Number, mark string) CellSummary {
		k := timedCell(engine, median, nan(), nan(), mark)
		k.Case, k.ClientOverhead = name, engine == "dry"
		if engine == "stand-in" {
			k.Unranked = "it is a stand-in"
		}
		return k
	}
	rs := &results{
		run: &run.Run{Archives: []run.Archive{
			{Engine: "part", Design: "wide"},
			{Engine: "stand-in", Design: "wide", Unranked: "it is a stand-in"},
			{Engine: "x", Design: "wide"},
			{Engine: "dry", Design: "wide", Place: overheadPlace},
		}},
		configurations: []Configuration{archiveQuery("part"), archiveQuery("stand-in"), archiveQuery("x"), archiveQuery("dry")},
	}
	s := &Summary{
		Ranking: []Rank{{Configuration: archiveQuery("x"), Ratio: 1.5, Lo: 1.25, Hi: 2}},
		Cases: []CaseSummary{
			{Name: "a", Rows: 5, Cells: []CellSummary{
				cell("dry", "a", 1, ""), cell("part", "a", 2, ""), cell("x", "a", 4, "~"), cell("stand-in", "a", 6, ""),
			}},
			{Name: "b", Rows: 5, Cells: []CellSummary{
				cell("dry", "b", 2, ""), cell("stand-in", "b", 3, ""), cell("x", "b", 8, ""),
				{CellKey: CellKey{archiveQuery("part"), "b"}, Verdict: "wrong"},
			}},
			{Name: "c", Cells: []CellSummary{{CellKey: CellKey{archiveQuery("x"), "c"}, Verdict: noRows}}},
			{Name: "d", Rows: 5, Cells: []CellSummary{cell("part", "d", 1, ""), cell("x", "d", 3, "*")}},
		},
	}
	return rs, s
}

// Table 1 has the overhead first, then the ranked configurations. A mean needs all cases that have rows.
func TestTableOfMedians(t *testing.T) {
	rs, s := study()
	tb := rs.medians(s)
	compareRows(t, "medians", tb,
		"dry | wide | sql | 1.00 | 2.00 | — | — | — | —",
		"x | wide | sql | 4.00 | 8.00 | no rows | 3.00 | 5.00 | 1.50 (1.25 – 2.00)",
		"part | wide | sql | 2.00 | wrong | — | 1.00 | — | —",
		"stand-in | wide | sql | 6.00 | 3.00 | — | — | — | not ranked",
	)
	if n := strings.Count(tb.Note, "stand-in is not ranked, because it is a stand-in."); n != 1 {
		t.Errorf("%d reasons in %q", n, tb.Note)
	}
	var classes []string
	for _, r := range tb.Rows {
		row := r.Class + ":"
		for _, c := range r.Cells {
			row += " " + c.Class
		}
		classes = append(classes, strings.Join(strings.Fields(row), " "))
	}
	want := []string{"overhead: dim dim dim dim", "first first dim", "first bad dim first dim dim", "overhead: dim dim dim dim"}
	for i := range want { // bold: the fastest, and each that is not significantly slower
		if got := strings.TrimPrefix(classes[i], ": "); got != want[i] {
			t.Errorf("row %d: %q, want %q", i, got, want[i])
		}
	}
	if got := tb.Rows[1].ID; got != "configuration-.x.wide.sql" || !tb.Head[3].Spare || tb.Head[2].Spare {
		t.Errorf("the row of x has the anchor %s", got)
	}
	for c, want := range map[string]string{"dry": "overhead", "x": "", "stand-in": "overhead", "unknown": ""} {
		if got := rs.class(archiveQuery(c)); got != want {
			t.Errorf("%s: %q", c, got)
		}
	}
}

// A picture has a logarithmic axis if the longest time is more than 20 times the shortest.
func TestAxisOfTimes(t *testing.T) {
	for longest, isLog := range map[float64]bool{20: false, 20.1: true} {
		var rows []caseRow
		for _, v := range []float64{1, longest, math.NaN(), 0} {
			rows = append(rows, caseRow{Row: plot.Row{Value: plot.Value{V: v}}})
		}
		f := &folder{results: &results{run: &run.Run{Seed: 3}}}
		p, ok := f.picture("sub", panelOf("title", rows)).(plot.Rows)
		if !ok || p.Log != isLog || strings.Contains(p.XLabel, "logarithmic") != isLog || len(p.Panels) != 1 || len(p.Panels[0].Rows) != 4 || p.Seed != 3 {
			t.Errorf("%v: %+v", longest, p)
		}
	}
	rs, s := study()
	f := &folder{results: rs, sum: *s}
	p, ok := f.smallMultiples().(plot.Rows)
	if !ok || len(p.Panels) != 3 || p.Panels[1].Title != "b" || len(p.Panels[1].Rows) != 4 {
		t.Fatalf("%+v", p)
	}
	if r := p.Panels[1].Rows[3]; r.Note != "wrong answer" || !math.IsNaN(r.V) || r.Label != "part · wide · sql" || r.Group != "part" {
		t.Errorf("%+v", r)
	}
	for verdict, want := range map[string]string{"failed": "no answer", "incomplete": "incomplete archive", noRows: noRows} {
		if got := (&CellSummary{Verdict: verdict}).note(); got != want {
			t.Errorf("%s: %q", verdict, got)
		}
	}
}

// The table of a case has a column for the server, the keys and the cold starts only if one of its cells has a value.
func TestOptionalColumns(t *testing.T) {
	for want, change := range map[string]func(x *Times){
		"":                  func(*Times) {},
		"server (ms)":       func(x *Times) { x.Server = 3 },
		"keys derived (ms)": func(x *Times) { x.Derive = 4 },
		"cold (ms)":         func(x *Times) { x.ColdN, x.Cold = 1, 5 },
		"failed (ms)":       func(x *Times) { x.ColdProblem = "no file" },
	} {
		k := timedCell("x", 2, 1, 3, "")
		k.Times.Server, k.Times.Derive, k.Times.Cold, k.Times.PHolm, k.Times.Ratio, k.Times.FirstRow = nan(), nan(), nan(), nan(), nan(), 1.5
		k.Times.Lo, k.Times.Hi, k.Times.Letters, k.Times.RowsPerSecond, k.Times.MBPerSecond = 1, 3, "a", 500, 0.25
		change(k.Times)
		c := &CaseSummary{Name: "c", Cells: []CellSummary{k, {CellKey: CellKey{archiveQuery("y"), "c"}, Verdict: "failed"}}}
		tb := c.table()
		row := "x | wide | sql | 2.00 | 1.00 – 3.00 | 1 | — | a | every value | 1.50"
		if want != "" {
			row += " | " + map[string]string{"server (ms)": "3.00", "keys derived (ms)": "4.00", "cold (ms)": "5.00", "failed (ms)": "failed"}[want]
		}
		compareRows(t, want, tb, row+" | 500 | 0.250", "y | wide | sql | no answer"+strings.Repeat(" | —", len(tb.Head)-4))
		if tb.Rows[0].Class != "best" || tb.Rows[1].Class != "off" || tb.Rows[0].ID != "cell-c.x.wide.sql" {
			t.Errorf("%+v", tb.Rows)
		}
	}
}
