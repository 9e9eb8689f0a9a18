package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/barograph/barograph/results/plot"
	"github.com/barograph/barograph/results/run"
)

var update = flag.Bool("update", false, "write the goldens")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; run with -update", err)
	}
	if string(want) != got {
		t.Errorf("%s differs; run with -update and read the difference\n%s", path, got)
	}
}

func html(t *testing.T, dir string) string {
	t.Helper()
	path, err := Write(dir, Advising{})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func terminal(t *testing.T, dir string) string {
	t.Helper()
	var b bytes.Buffer
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Print(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func summary(t *testing.T, dir string) (Summary, string) {
	t.Helper()
	r, samples, err := run.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	s := collect(r, samples, nil).summarise()
	text, err := json.MarshalIndent(s, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return s, string(text)
}

// withoutPictures removes SVG, styles and scripts; the texts and tables remain.
func withoutPictures(page string) string {
	for _, tag := range []string{"svg", "style", "script"} {
		page = regexp.MustCompile(`(?s)<`+tag+`[ >].*?</`+tag+`>`).ReplaceAllString(page, "<"+tag+"/>")
	}
	return page
}

func TestSummary(t *testing.T) {
	r, cells := makeRun()
	dir := writeRun(t, r, cells, reps)
	_, text := summary(t, dir)
	golden(t, "summary.json", text+"\n")
}

func TestTheSameFolderGivesTheSamePage(t *testing.T) {
	r, cells := makeRun()
	dir := writeRun(t, r, cells, reps)
	if a, b := html(t, dir), html(t, dir); a != b {
		t.Error("two pages of one folder differ")
	}
}

// TestReportOfForeignFolder: a run folder of somebody else may contain a link with the name of the report's temporary
// file. The report does not overwrite the link's file.
func TestReportOfForeignFolder(t *testing.T) {
	r, cells := makeRun()
	dir, private := writeRun(t, r, cells, reps), filepath.Join(t.TempDir(), "private")
	err := errors.Join(os.WriteFile(private, []byte("mine"), 0o600), os.Symlink(private, filepath.Join(dir, FileName+".new")))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Write(dir, Advising{}); err != nil {
		t.Error(err)
	}
	if text, err := os.ReadFile(private); err != nil || string(text) != "mine" {
		t.Errorf("%.80q, %v", text, err)
	}
}

// In ClickBench issue 945, failed queries took no time and therefore won.
func TestFailingQueriesDoNotWinClickBench945(t *testing.T) {
	r, cells := makeRun()
	dir := writeRun(t, r, cells, reps)
	s, text := summary(t, dir)
	page, lines := html(t, dir), terminal(t, dir)
	if s.Wrong != 1 || s.Failed != 1 {
		t.Errorf("%d wrong, %d failed; want 1 and 1", s.Wrong, s.Failed)
	}
	for _, c := range s.Cases {
		for _, k := range c.Cells {
			bad := k.Verdict == "wrong" || k.Verdict == "failed"
			if bad && k.Times != nil {
				t.Errorf("%s %s is %s and has times", c.Name, k.Configuration, k.Verdict)
			}
			if best := c.fastest(); bad && best != nil && best.CellKey == k.CellKey {
				t.Errorf("%s is the fastest of %s", k.Configuration, c.Name)
			}
		}
	}
	for _, rank := range s.Ranking {
		if rank.Engine == "sqlite" {
			t.Error("sqlite is ranked, although it is wrong in one case and failed in another")
		}
	}
	for where, shown := range map[string]string{"page": withoutPictures(page), "terminal": lines, "summary": text} {
		if !strings.Contains(strings.ToLower(shown), "wrong") || !strings.Contains(shown, "failed") {
			t.Errorf("the %s does not name the wrong and the failed cell", where)
		}
	}
	checkNoTime(t, dir, "sqlite", []string{"test_2", "test_3"}, page)
}

// timed matches a table cell with a number.
var timed = regexp.MustCompile(`<td class=(?:n|"n (?:ok|bad|first)")[^>]*>[\d.]`)

// checkNoTime checks that the folder has no time of an engine in some cases, and that the page shows none.
func checkNoTime(t *testing.T, dir, engine string, names []string, page string) {
	t.Helper()
	_, samples, err := run.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range samples {
		if s.Cell.Engine == engine && slices.Contains(names, s.Cell.Value("case")) && s.Measured() != nil {
			t.Errorf("a time is recorded: %+v", s)
		}
	}
	for _, name := range names {
		_, article, found := strings.Cut(page, `<details id="case-`+name+`">`)
		if article, _, _ = strings.Cut(article, "</table>"); !found || article == "" {
			t.Fatalf("the page has no case %s", name)
		}
		for _, tr := range regexp.MustCompile(`(?s)<tr[^>]*>.*?</tr>`).FindAllString(article, -1) {
			if strings.Contains(tr, ">"+engine+"<") && timed.MatchString(tr) {
				t.Errorf("%s: a row that must have no time contains a number: %s", name, tr)
			}
		}
		_, panel, _ := strings.Cut(page, `<section id="times">`)
		_, panel, _ = strings.Cut(panel, ">"+name+"</text>")
		panel, _, _ = strings.Cut(panel, ">test_")
		if n := bars(panel, engine); n != 1 {
			t.Errorf("%s: %s is in the picture %d times, want once, with words in place of a bar", name, engine, n)
		}
	}
}

// bars counts the names of rows of an engine in a panel of a picture.
func bars(article, engine string) int {
	return len(regexp.MustCompile(`>`+engine+` · [^<]*</text>`).FindAllString(article, -1))
}

// JSONBench ranked PostgreSQL with 70 % and MongoDB with 78.6 % of the documents loaded. Barograph must not.
func TestPartialLoadsAreNotRankedJSONBench(t *testing.T) {
	r, cells := makeRun()
	dir := writeRun(t, r, cells, reps)
	s, _ := summary(t, dir)
	for _, rank := range s.Ranking {
		if rank.Engine == "mongodb" {
			t.Error("mongodb is ranked, although its archive is incomplete")
		}
	}
	for _, c := range s.Cases {
		if best := c.fastest(); best == nil || best.Engine == "mongodb" {
			t.Errorf("%s: the fastest is %+v", c.Name, best)
		}
		if k := c.find(Configuration{"mongodb", "document", "keys"}); k == nil || k.Verdict != "incomplete" || k.Times != nil {
			t.Errorf("%s: mongodb is %+v", c.Name, k)
		}
	}
	page := html(t, dir)
	checkNoTime(t, dir, "mongodb", []string{"test_1", "test_2", "test_3"}, page)
	f := met(t, dir)
	for _, row := range f.loads().Table.Rows {
		if row.Cells[0].Text == "mongodb" && row.Cells[2].Text != none {
			t.Errorf("the load of an incomplete archive shows %q", row.Cells[2].Text)
		}
	}
	if !strings.Contains(page, "345464 records") {
		t.Error("the page does not describe the incomplete archive")
	}
}

// TestOneWrongRepetitionRemovesAllTimes: a cell with correct repetitions and a wrong one is wrong.
func TestOneWrongRepetitionRemovesAllTimes(t *testing.T) {
	r, cells := makeRun()
	f := met(t, writeRun(t, r, cells, reps))
	res := f.result(Configuration{"sqlite", "normalized", "sql"}, "test_2")
	if res.state != wrong || len(res.warm) > 0 {
		t.Errorf("state %s with %d samples", res.state, len(res.warm))
	}
	if f.sum.Cases[1].fastest().Engine != "pebble" {
		t.Errorf("the fastest is %s", f.sum.Cases[1].fastest().Configuration)
	}
}

func TestMarkup(t *testing.T) {
	const evil = `<script>alert(1)</script>"'><img src=x onerror=alert(2)>&`
	r, cells := makeRun()
	r.ID, r.Data.Source, r.Warnings, r.Args = evil, evil, []string{evil}, []string{evil}
	r.Cases[0].Title, r.Machine.CPU, r.ColdMethod = evil, evil, evil
	r.Archives[1].Version, r.Archives[1].Settings, r.Archives[5].Problem = evil, map[string]string{evil: evil}, evil
	for i := range cells {
		if cells[i].Flavour == "iso-list" {
			cells[i].Flavour = `<b&"onclick=x>`
		}
	}
	dir := writeRun(t, r, cells, reps)
	c := curve("test_1", evil)
	c.Title, c.Note, c.Stat, c.Unit = evil, evil, evil, evil
	text, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "plots", "test_1.json"), text, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "plans", "test_1.duckdb.wide.sql.txt"), []byte("</pre>"+evil), 0o644); err != nil {
		t.Fatal(err)
	}
	page := html(t, dir)
	if n := strings.Count(page, "<script"); n != 1 {
		t.Errorf("%d scripts, want only that of the page", n)
	}
	for _, bad := range []string{"<img", "<b&", "</pre><script"} {
		if strings.Contains(page, bad) {
			t.Errorf("the page contains %s unescaped", bad)
		}
	}
	if strings.Contains(terminal(t, dir), "\x1b") {
		t.Error("an escape reached the terminal")
	}
}

// TestWideTable: the terminal omits the last columns that would break the table, and names them.
func TestWideTable(t *testing.T) {
	wide := table("engine")
	for i := range 20 {
		wide.Head = append(wide.Head, Column{Name: fmt.Sprintf("a_longer_case_%d", i), Spare: true})
	}
	wide.add("", text("pebble"))
	wide.add("", text("sqlite"))
	wide.Rows[1].Quiet = true
	var b strings.Builder
	wide.print(&b)
	got := b.String()
	if !strings.HasPrefix(got, "  engine  a_longer_case_0  ") ||
		!strings.Contains(got, "Only in report.html: a_longer_case_10, ") || strings.Contains(got, "sqlite") {
		t.Error(got)
	}
	for line := range strings.Lines(got) {
		if n := utf8.RuneCountInString(line); n > maxTableWidth {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	b.Reset()
	wide.Head = wide.Head[:9]
	for i := range wide.Rows {
		wide.Rows[i].Cells = wide.Rows[i].Cells[:9]
	}
	if wide.print(&b); !strings.HasPrefix(b.String(), "  engine  a_longer_case_0  a_longer_case_1") {
		t.Error(b.String())
	}
}

func TestNoControlCharactersOnTerminal(t *testing.T) {
	r, cells := makeRun()
	r.Warnings = []string{"red \x1b[31m and \u202e turned"}
	if got := terminal(t, writeRun(t, r, cells, 1)); strings.ContainsAny(got, "\x1b\u202e") {
		t.Errorf("control characters reached the terminal: %q", got)
	}
}

// TestOffline: a report opens without a network, and contacts no server.
func TestOffline(t *testing.T) {
	r, cells := makeRun()
	dir := writeRun(t, r, cells, reps)
	page := strings.ReplaceAll(html(t, dir), `xmlns="http://www.w3.org/2000/svg"`, "")
	for _, bad := range []string{"http://", "https://", "src=", "@import", "url(", "<link"} {
		if strings.Contains(page, bad) {
			t.Errorf("the page contains %s", bad)
		}
	}
	for _, href := range regexp.MustCompile(`href="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		if _, err := os.Stat(filepath.Join(dir, href[1])); err == nil && filepath.IsLocal(href[1]) {
			continue // a file in the run folder
		}
		if !strings.HasPrefix(href[1], "#") || !strings.Contains(page, `id="`+href[1][1:]+`"`) {
			t.Errorf("the page links to %q", href[1])
		}
	}
}

func TestEmptyRun(t *testing.T) {
	dir := writeRun(t, run.Run{ID: "empty", Workload: "met"}, nil, 0)
	if err := os.Remove(filepath.Join(dir, "plots", "test_3.json")); err != nil {
		t.Fatal(err)
	}
	page, lines := html(t, dir), terminal(t, dir)
	for _, want := range []string{"No query was run", "No cell was timed", "Nothing was loaded", "was interrupted"} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is not in the page", want)
		}
	}
	if !strings.Contains(lines, "No query was run") {
		t.Errorf("the terminal shows %q", lines)
	}
	if !strings.Contains(page, `<p class="answer bad">No query was run`) {
		t.Error("a run without results is marked as correct")
	}
}

func TestInterruptedRun(t *testing.T) {
	r, cells := makeRun()
	r.Finished, r.Reps = time.Time{}, 2
	dir := writeRun(t, r, cells, 2)
	s, _ := summary(t, dir)
	if s.Finished {
		t.Error("an interrupted run counts as finished")
	}
	if !strings.Contains(html(t, dir), "was interrupted") || !strings.Contains(terminal(t, dir), "INTERRUPTED") {
		t.Error("the report does not mark the run as interrupted")
	}
	for _, c := range s.Cases {
		for _, k := range c.Cells {
			if k.Times != nil && !k.ClientOverhead && k.Times.Mark != "" && k.Times.Mark != "?" {
				t.Errorf("two repetitions show a difference: %s %s", k.Configuration, k.Times.Mark)
			}
		}
	}
	if !strings.Contains(s.InWords, "too few") {
		t.Errorf("the answer does not state that two repetitions are too few: %s", s.InWords)
	}
}

// TestUntimedCells: a run that was interrupted before its timing has plans but no samples.
func TestUntimedCells(t *testing.T) {
	r, cells := makeRun()
	r.Archives[5].Complete = true
	dir := writeRun(t, r, cells, 0)
	f := met(t, dir)
	if f.sum.NotTimed == 0 || f.sum.Equal != 0 {
		t.Errorf("%d not timed, %d equal", f.sum.NotTimed, f.sum.Equal)
	}
	if !strings.Contains(f.sum.InWords, "No database was timed") {
		t.Errorf("words: %s", f.sum.InWords)
	}
	if f.sum.allCorrect() {
		t.Error("results that do not exist count as correct")
	}
}

func TestCaseWithoutCorrectResults(t *testing.T) {
	r, cells := makeRun()
	for i := range cells {
		cells[i].wrongAt = 0
	}
	dir := writeRun(t, r, cells, 3)
	s, _ := summary(t, dir)
	if len(s.Ranking) != 0 || s.Equal != 0 {
		t.Errorf("ranked %v, equal %d", s.Ranking, s.Equal)
	}
	if page := html(t, dir); !strings.Contains(page, "WRONG") || !strings.Contains(page, "No configuration was timed") {
		t.Error("the page does not report that all results are wrong")
	}
}

func TestColdFailureKeepsWarmTimes(t *testing.T) {
	c := run.MetCell("duckdb", "wide", "test_1", "sql")
	r := &run.Run{Archives: []run.Archive{{Engine: "duckdb", Design: "wide", Complete: true}}, Cases: []run.Case{{Name: "test_1"}}}
	samples := []run.Sample{
		run.Sample{Cell: c, Phase: run.Warm}.Judge(&run.Measured{Total: 5e6}, proof(t, 1), nil), run.Sample{Cell: c, Phase: run.Cold}.Judge(
			&run.Measured{Total: 9e6}, proof(t, 1), nil),
		{Cell: c, Phase: run.Cold, Verdict: run.Failed, Problem: "cannot drop"},
	}
	k := collect(r, samples, nil).summarise().Cases[0].Cells[0]
	if k.Times == nil || k.Times.ColdN != 0 || k.Times.ColdProblem != "cannot drop" {
		t.Errorf("times %+v", k.Times)
	}
	samples[2].Verdict = run.Wrong
	if k := collect(r, samples, nil).summarise().Cases[0].Cells[0]; k.Times != nil || k.Verdict != "wrong" {
		t.Errorf("a wrong cold answer leaves %+v", k)
	}
}

func TestUnknownArchiveIsNotRanked(t *testing.T) {
	c := run.MetCell("x", "wide", "test_1", "sql")
	s := collect(&run.Run{}, []run.Sample{run.Sample{Cell: c, Phase: run.Warm}.Judge(&run.Measured{Total: 5e6},
		proof(t, 1), nil)}, nil).summarise()
	if s.Incomplete != 1 || len(s.Ranking) != 0 {
		t.Errorf("%+v", s)
	}
}

func TestNoise(t *testing.T) {
	r, cells := makeRun()
	s, _ := summary(t, writeRun(t, r, cells, reps))
	c := &s.Cases[0]
	if got := c.find(Configuration{"duckdb", "wide", "sql"}).Times.Mark; got != "***" && got != "**" {
		t.Errorf("six times as long is marked %q", got)
	}
	a, b := c.find(Configuration{"duckdb", "wide", "epoch-range"}).Times, c.find(Configuration{"sqlite", "normalized", "sql"}).Times
	if a.Letters != b.Letters {
		t.Errorf("equal distributions have the letters %q and %q", a.Letters, b.Letters)
	}
}

func TestCurves(t *testing.T) {
	for _, axis := range []run.Axis{run.ByLead, run.ByLevel, run.ByTime} {
		c := curve("test_3", "G2/NHX")
		c.Axis = axis
		for i := range c.Series[0].X {
			c.Series[0].X[i] += 10
		}
		svg, err := Curves(c, plot.SVG)
		if err != nil || !bytes.HasPrefix(svg, []byte("<svg")) {
			t.Errorf("%s: %v", axis, err)
		}
	}
	if _, err := Curves(&run.VerificationPlot{Axis: "colour"}, plot.SVG); err == nil || !strings.Contains(err.Error(), "colour") {
		t.Errorf("an unknown axis: %v", err)
	}
}

func TestManyCurvesAreSplit(t *testing.T) {
	var names []string
	for _, mask := range []string{"G2", "G2/NHX", "G2/SHX", "G2/TRO", "G2/PNA"} {
		for _, level := range []string{"P1000", "P250", "P500", "P700"} {
			names = append(names, mask+" "+level)
		}
	}
	parts := split(curve("test_2", names...))
	if len(parts) != 4 || len(parts[0].Series) != 5 || parts[0].Series[1].Name != "G2/NHX" || !strings.HasSuffix(parts[0].Title, "P1000") {
		t.Errorf("%d parts, the first %s with %v", len(parts), parts[0].Title, parts[0].Series)
	}
}

func TestSameCurvesAreDrawnOnce(t *testing.T) {
	got := verification([]*run.VerificationPlot{curve("test_3", "a"), curve("test_4", "a"), curve("test_5", "b"), curve("test_6")})
	if len(got.Parts) != 2 || !got.Parts[0].Folded || len(got.Parts[0].Table.Rows) != len(curve("", "a").Series[0].X) {
		t.Errorf("%+v", got.Parts)
	}
	if len(got.Pictures) != 2 || len(got.Notes) != 2 || !strings.Contains(got.Notes[0], "test_4") {
		t.Errorf("%d pictures and the notes %q", len(got.Pictures), got.Notes)
	}
}

// TestOtherPicturesOfTheSameCurves: a plot of another kind, or with other curves on the right axis, is drawn too.
func TestOtherPicturesOfTheSameCurves(t *testing.T) {
	bars, right, same := curve("bars", "a"), curve("right", "a"), curve("same", "a")
	bars.Picture, right.RightAxis, same.RightAxis = "bar", curve("", "b"), curve("", "b")
	got := verification([]*run.VerificationPlot{curve("lines", "a"), bars, right, same})
	if len(got.Pictures) != 3 || len(got.Notes) != 1 || got.Notes[0] != "same (die-off of same) gives the same curves as right." {
		t.Errorf("%d pictures and the notes %q", len(got.Pictures), got.Notes)
	}
}

// TestUndefinedValuesAreNotSorted: rows are not sorted by a value that is not a number.
func TestUndefinedValuesAreNotSorted(t *testing.T) {
	for row, c := range pointTable(curve("test_3", "a")).Rows {
		if y := c.Cells[3]; (y.Text == none) != (row == 3) || y.Known != (row != 3) {
			t.Errorf("row %d: %+v", row, y)
		}
	}
	if s := value(math.Inf(1), none).Sort(); s != "" {
		t.Error(s)
	}
}

func TestNumber(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", 0.0568: "0.0568", 0.5: "0.500", 0.9996: "1.00", 1.234: "1.23", 9.996: "10.0", 12.34: "12.3", 99.96: "100", 123.4: "123",
		999.6: "1,000", 1234: "1,230", 1234567: "1,230,000", -2.5: "−2.50", 0.00001234: "1.23e-05", math.NaN(): none, math.Inf(1): none,
	} {
		if got := number(v); got != want {
			t.Errorf("number(%v) = %s, want %s", v, got, want)
		}
	}
	if got := count(-1234567); got != "−1,234,567" {
		t.Error(got)
	}
	if got := percent(-0.0345); got != "−3.5 %" && got != "−3.4 %" {
		t.Error(got)
	}
}

func TestCommandLine(t *testing.T) {
	if got, want := commandLine([]string{"met", "my data", "it's"}), `barograph met 'my data' 'it'\''s'`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// met reads a run of the workload met.
func met(t *testing.T, dir string) *folder {
	t.Helper()
	r, samples, err := run.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	f, err := openMet(dir, r, samples)
	if err != nil {
		t.Fatal(err)
	}
	return f
}
