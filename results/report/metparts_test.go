package report

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/run"
)

// The head of a report has the repetitions, the data, and a warning about the client only if a server was measured.
func TestHeadOfAStudy(t *testing.T) {
	started := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	for want, c := range map[string]struct {
		reps, planned, warmups int
		took                   time.Duration
	}{
		"1 repetition of each cell, after 1 warm-up":                                          {1, 0, 1, 0},
		"11 of 30 planned repetitions of each cell, after 2 warm-ups; the run took 3 min 4 s": {11, 30, 2, 184 * time.Second},
	} {
		r := &run.Run{
			Started: started, Reps: c.reps, PlannedReps: c.planned, Warmups: c.warmups,
			Data:     run.Data{Source: "seed", Files: 1, Bytes: 5e6, Lines: 1001, ByType: map[string]int64{"VL1L2": 2, "SL1L2": 1500}},
			Client:   measure.ClientLoad{Wall: 10 * time.Second, User: 9 * time.Second, Cores: 1},
			Archives: []run.Archive{{Engine: "x", Place: "embedded"}},
		}
		if c.took > 0 {
			r.Finished = started.Add(c.took)
		}
		f := &folder{dir: t.TempDir(), results: collect(r, nil, nil)}
		out := f.head("question")
		facts := map[string]string{}
		for _, x := range out.Facts {
			facts[x.Name] = x.Text
		}
		if facts["Repetitions"] != want || facts["Data"] != "seed. 1 file, 5.00 MB, 1,001 lines." {
			t.Errorf("%q", facts)
		}
		if len(out.Warnings) > 0 || out.Question != "question" {
			t.Errorf("%q", out.Warnings)
		}
		if isUnfinished := slices.ContainsFunc(out.Answers, isAlarm); isUnfinished != (c.took == 0) {
			t.Errorf("%+v", out.Answers)
		}
		compareRows(t, "line types", out.About[len(out.About)-1].Table, "SL1L2 | 1,500", "VL1L2 | 2")
		r.Archives[0].Place = "server"
		if got := f.head("").Warnings; len(got) != 1 || !strings.HasPrefix(got[0], "the client used 90 % of its 1 core") {
			t.Errorf("%q", got)
		}
		if r.Client.User = 8 * time.Second; len(f.head("").Warnings) != 0 {
			t.Error("a share of 80 % has a warning")
		}
	}
}

func TestScopeOfAStudy(t *testing.T) {
	c := func(engine, flavour string) Configuration { return Configuration{engine, "wide", flavour} }
	for want, configurations := range map[string][]Configuration{
		"":                                      {c("dry", "recall")},
		"1 engine, 1 configuration and 1 case.": {c("x", "sql")},
		"2 engines, 3 configurations and 1 case, and the client overhead.": {c("x", "sql"), c("dry", "recall"), c("x", "keys"), c("y", "sql")},
	} {
		r := &run.Run{Archives: []run.Archive{{Engine: "dry", Design: "wide", Place: overheadPlace}, {Engine: "x", Design: "wide"}, {Engine: "y", Design: "wide"}}}
		f := &folder{results: &results{run: r, cases: []run.Case{{Name: "a"}}, configurations: configurations}}
		if got := f.scope(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// The matrix has a row for each list of equal verdicts. Each wrong or failed cell has a section; a click shows the sixth
// and the following ones.
func TestMatrixOfProofs(t *testing.T) {
	rs := &results{
		run:   &run.Run{Archives: []run.Archive{{Engine: "x", Design: "wide", Complete: true}, {Engine: "y", Design: "wide", Problem: "1 record of 2"}}},
		cells: map[CellKey]*result{},
	}
	for i := range 7 {
		name := fmt.Sprint("q", i)
		rs.cases = append(rs.cases, run.Case{Name: name, Rows: 1})
		rs.cell(CellKey{archiveQuery("x"), name}).raise(wrong, "difference "+name)
		for _, engine := range []string{"a", "b"} {
			res := rs.cell(CellKey{archiveQuery(engine), name})
			res.raise(equal, "")
			res.rows = 5
		}
	}
	rs.cells[CellKey{archiveQuery("x"), "q6"}].raise(failed, "")
	f := &folder{results: rs, sum: Summary{Equal: 14, Wrong: 7}}
	s := f.proof()
	matrix := s.Parts[len(s.Parts)-1]
	compareRows(t, "matrix", matrix.Table,
		"x · wide · sql"+strings.Repeat(" | wrong ", 7), "a · wide · sql, b · wide · sql"+strings.Repeat(" | = 5", 7))
	if len(s.Parts) != 8 || !matrix.Open || s.Words[1].Text != "Incomplete: y · wide: 1 record of 2" || matrix.Table.Head[7].Unit != "1 row" {
		t.Fatalf("%d parts, %+v", len(s.Parts), s.Words)
	}
	for i, p := range s.Parts[:7] {
		if p.ID != fmt.Sprintf("diff-%d", i+1) || p.Title != "WRONG" || p.Small != fmt.Sprintf("q%d, x · wide · sql", i) || p.Text != fmt.Sprint("difference q", i) ||
			p.Open != (i < 5) || p.Terminal != (i < 5) || matrix.Table.Rows[0].Cells[1+i].Link != "#"+p.ID {
			t.Errorf("%+v", p)
		}
	}
	if got := (&folder{results: &results{run: &run.Run{}}}).proof(); len(got.Parts) != 0 || got.Words[0].Text != "No query was run." {
		t.Errorf("%+v", got)
	}
}

func TestMethodOfAStudy(t *testing.T) {
	r := &run.Run{
		Args: []string{"met", "my data"}, Seed: 7,
		Client: measure.ClientLoad{Wall: 10 * time.Second, User: 4 * time.Second, System: time.Second, Cores: 2, PeakRSS: 3e8, GCs: 1, GCPause: 9 * time.Millisecond, GCPauseMax: time.Millisecond},
	}
	f := &folder{results: &results{run: r}}
	s := f.method()
	want := []Fact{
		{"CPU", "4.00 s user and 1.00 s system in 10.0 s: 25 % of 2 cores"},
		{"Memory", "peak resident 300 MB"},
		{"Garbage collector", "1 cycle, 9.00 ms in pauses, the longest 1.00 ms"},
	}
	if !slices.Equal(s.Parts[0].Facts, want) || s.Notes[0] != "Cold starts were not measured in this run." || s.Parts[1].Text != "barograph met 'my data'" {
		t.Errorf("%+v", s)
	}
	if !strings.HasPrefix(s.Parts[1].Notes[0], "Seed 7 determines") || withoutLinks(s.Parts[1].Prose[0]) != "All repetitions: samples.csv, samples.parquet." {
		t.Errorf("%+v", s.Parts[1])
	}
	r.Client.Wall, r.ColdMethod = 0, "new process"
	if s := f.method(); len(s.Parts[0].Facts) > 0 || s.Parts[0].Words[0].Text != "Not recorded." || s.Notes[0] != "Cold starts here: new process." {
		t.Errorf("%+v", s)
	}
}

// The table of 2020 has the recorded figures; an empty one is a dash, and a wrong result is marked.
func TestRecordedIn2020(t *testing.T) {
	tb := recorded2020().Table
	if got := rowTexts(tb)[0]; got != "1 | 510 | 510 | 47.9 | 107.7 | — | — | 62.5 | 213.8 | — | —" || len(tb.Head) != 11 {
		t.Error(got)
	}
	for _, r := range tb.Rows {
		for _, c := range r.Cells {
			if (c.Text == "wrong") != (c.Class == "bad") || (c.Text == none) != (c.Class == "dim") {
				t.Errorf("%+v", c)
			}
		}
	}
}

// The columns about the plan of a cell: how it finds rows, and how many it examined, for each row of the result.
func TestExaminedRowsOfACell(t *testing.T) {
	access := func(method string, examined int64, counted bool) run.Access {
		return run.Access{Object: "t", Method: method, Examined: examined, Kept: -1, Counted: counted}
	}
	for name, c := range map[string]struct {
		all   []run.Access
		rows  int
		want  string
		steps []string
	}{
		"no plan":       {nil, 5, "not recorded | — | ", nil},
		"counted":       {[]run.Access{access("full scan", 1000, true), access("key lookup", 10, true)}, 5, "full scan of t, then key lookup in t | 1,010 | documents | 202", []string{"full-scan 1,000", "key-lookup 10"}},
		"an estimate":   {[]run.Access{access("index scan", 10, false)}, 5, "index scan of t | ~ 10 | documents | ~ 2.00", []string{"index-scan ~10"}},
		"partly":        {[]run.Access{access("full scan", 10, true), access("key lookup", -1, false)}, 5, "full scan of t, then key lookup in t | ≥ 10 | documents | ≥ 2.00", []string{"full-scan 10", "key-lookup "}},
		"not counted":   {[]run.Access{access("full scan", -1, false)}, 5, "full scan of t | not reported | documents", []string{"full-scan "}},
		"an empty plan": {[]run.Access{access("full scan", 0, true)}, 0, "full scan of t | 0 | documents | —", []string{"full-scan 0"}},
	} {
		f := &folder{
			results: &results{run: &run.Run{Archives: []run.Archive{{Engine: "x", Design: "wide", ObjectKind: "documents"}}}},
			plans:   []run.Plan{{Cell: run.MetCell("x", "wide", "other", "sql")}, {Cell: run.MetCell("x", "wide", "q", "sql"), Access: c.all}},
		}
		k := &CellSummary{CellKey: CellKey{archiveQuery("x"), "q"}}
		tb := &Table{Rows: []Row{{Cells: f.accessCells(&CaseSummary{Rows: c.rows}, k)}}}
		compareRows(t, name, tb, c.want)
		steps := lists.Map(tb.Rows[0].Cells[0].Steps, func(s Step) string { return s.Class + " " + s.Counts })
		if !slices.Equal(steps, c.steps) {
			t.Errorf("%s: %q", name, steps)
		}
	}
	if got := (&folder{results: &results{run: &run.Run{}}}).objectKind(CellKey{}); got != "rows" {
		t.Error(got)
	}
}

// The main access is the one that examines the most; without counts, the first full scan, else the last one.
func TestMainAccess(t *testing.T) {
	a := func(object, method string, n int64) run.Access {
		return run.Access{Object: object, Method: method, Examined: n}
	}
	for want, all := range map[string][]run.Access{
		"b": {a("a", "full scan", 5), a("b", "index scan", 7), a("c", "full scan", -1)},
		"z": {a("z", "index scan", 0), a("y", "full scan", -1)},
		"f": {a("e", "index scan", -1), a("f", "full scan", -1), a("g", "full scan", -1)},
		"l": {a("k", "index scan", -1), a("l", "key lookup", -1)},
	} {
		if got := mainAccess(all); got.Object != want {
			t.Errorf("%+v, want %s", got, want)
		}
	}
}

// Plans are listed by case, in the order of the configurations. A plan of more than 560 bytes is shortened in its middle.
func TestListOfPlans(t *testing.T) {
	plan := func(engine, name, text string) run.Plan {
		return run.Plan{Name: name + "." + engine + " #1", Cell: run.MetCell(engine, "wide", name, "sql"), Text: text}
	}
	long := strings.Repeat("a", 280) + strings.Repeat("b", 1000) + strings.Repeat("c", 280)
	f := &folder{
		results: &results{run: &run.Run{}, cases: []run.Case{{Name: "q"}, {Name: "none"}}, configurations: []Configuration{archiveQuery("x"), archiveQuery("y")}},
		plans:   []run.Plan{plan("y", "q", long[:560]), plan("x", "q", long), {Name: "old plan", Text: "SELECT"}},
	}
	s := f.planSection()
	if len(s.Parts) != 2 || s.Parts[0].Title != "q" || s.Parts[0].Small != "2" || s.Parts[1].Title != "other" || s.Parts[1].Small != "1" {
		t.Fatalf("%+v", s.Parts)
	}
	x, y, old := s.Parts[0].Parts[0], s.Parts[0].Parts[1], s.Parts[1].Parts[0]
	if want := long[:280] + "\n\n… 1.00 kB left out …\n\n" + long[1280:]; x.Text != want || x.ID != "plan-q.x.wide.sql" || x.Title != "x · wide · sql" {
		t.Errorf("%+v", x)
	}
	if y.Text != long[:560] || y.Prose[0][0].Text != "plans/q.y #1.txt" || y.Prose[0][0].Link != "plans/q.y%20%231.txt" {
		t.Errorf("%+v", y)
	}
	if old.ID != "" || old.Title != "old plan" || old.Text != "SELECT" {
		t.Errorf("%+v", old)
	}
	f.plans = nil
	if s := f.planSection(); s.Words[0].Text != "This run kept no plans." {
		t.Errorf("%+v", s)
	}
	if got := anchor("cell", CellKey{Configuration{"a b", "ä/c", "f"}, "q_1.x"}); got != "cell-q_1.x.a-b.--c.f" {
		t.Error(got)
	}
}
