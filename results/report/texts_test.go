package report

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/run"
)

// Cells print a number, or a dash for one that is not known.
func TestCellsOfNumbers(t *testing.T) {
	for name, c := range map[string]struct {
		got       Cell
		text, sub string
		known     bool
	}{
		"a number":        {numeric(12.345), "12.3", "", true},
		"NaN":             {numeric(math.NaN()), none, "", false},
		"infinity":        {numeric(math.Inf(-1)), none, "", false},
		"a count":         {countCell(1234), "1,234", "", true},
		"no count":        {countCell(-1), none, "", false},
		"zero":            {countCell(0), "0", "", true},
		"a size":          {size(int64(1500), ""), "1.50 kB", "", true},
		"a rate":          {size(2e6, "/s"), "2.00 MB/s", "", true},
		"an empty size":   {size(int64(0), ""), "0 B", "", true},
		"no size":         {size(int64(-1), ""), none, "", false},
		"a duration":      {millis(1500 * time.Microsecond), "1.50", "", true},
		"an interval":     {estimate(measure.Estimate{Value: 2, Low: 1, High: 3}), "2.00", "1.00 – 3.00", true},
		"no interval":     {estimate(exact(2)), "2.00", "", true},
		"no estimate":     {estimate(measure.MedianEstimate(nil)), none, "", false},
		"bounds":          {span(1.0, 2.0), "1.00 – 2.00", "", true},
		"no bounds":       {span(math.NaN(), math.NaN()), none, "", false},
		"NaN as text":     {value(math.NaN(), "x"), "x", "", false},
		"a large number":  {numeric(1e18), "1.00e+18", "", true},
		"a small number":  {numeric(0.0001), "0.000100", "", true},
		"a smaller one":   {numeric(0.00009), "9.00e-05", "", true},
		"a missing size":  {text(byteSize(math.NaN())), none, "", false},
		"no percentage":   {text(percent(math.NaN())), none, "", false},
		"an open bound":   {text(interval(math.NaN(), 1)), none, "", false},
		"the overhead":    {text(classOf(true, true)), "overhead", "", false},
		"the best":        {text(classOf(false, true)), "best", "", false},
		"an ordinary row": {text(classOf(false, false)), "", "", false},
	} {
		if c.got.Text != c.text || c.got.Sub != c.sub || c.got.Known != c.known {
			t.Errorf("%s: %+v", name, c.got)
		}
	}
	for want, words := range map[string][]string{"": nil, "a": {"a"}, "a and b": {"a", "b"}, "a, b and c": {"a", "b", "c"}} {
		if got := list(words); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Lines are broken at spaces. A word that is longer than a line has its own. Characters that control a terminal are
// replaced.
func TestBrokenLines(t *testing.T) {
	for in, want := range map[string]string{
		"":                      "",
		"ab cd ef":              "ab cd\nef", // ab cd has 5 runes
		"abc def":               "abc\ndef",
		"ä ö ü":                 "ä ö ü", // 5 runes, 8 bytes
		"a bcdefgh i":           "a\nbcdefgh\ni",
		" a\t\nb ":              "a b",
		"a\x1b \x7f\x85\u202e.": "a�\n���.",
		"\u2066\u2069\u00a0x":   "�� x",
	} {
		if got := wrapAt(5, in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	for r, isPrinted := range map[rune]bool{
		' ': true, '~': true, 0x1f: false, 0x7f: false, 0x9f: false, 0xa0: true, 0x2029: true, 0x202a: false, 0x202e: false, 0x202f: true,
		0x2065: true, 0x2066: false, 0x2069: false, 0x206a: true,
	} {
		if got := printable(string(r)); (got == string(r)) != isPrinted {
			t.Errorf("%U: %q", r, got)
		}
	}
	if got := wrap(strings.Repeat("a ", 60)); len(strings.SplitN(got, "\n", 2)[0]) != 109 { // 55 letters and 54 spaces
		t.Errorf("%q", got)
	}
}

// A table on a terminal has numbers on the right and omits spare columns from the last one until it fits.
func TestTableOnATerminal(t *testing.T) {
	made := func(width int) *Table {
		tb := table("name", "first (ms)", "second")
		tb.Head[1].Spare, tb.Head[2].Spare = true, true
		tb.add("", text("ä"), value(12.5, "12.5"))
		tb.add("", text("long name"), value(3, "3"), Cell{Text: "x", Sub: "sub"})
		tb.add("", text("quiet"), value(99999999999, "99999999999"))
		tb.Rows[2].Quiet = true
		tb.Note, tb.Width = "A note.", width
		return tb
	}
	const all = "  name       first (ms)  second\n  ä                12.5  —\n  long name           3  x sub\nA note.\n"
	const without = "  name       first (ms)\n  ä                12.5\n  long name           3\nOnly in report.html: second.\nA note.\n"
	const least = "  name\n  ä\n  long name\nOnly in report.html: first (ms) and second.\nA note.\n"
	for width, want := range map[int]string{0: all, 31: all, 30: without, 23: without, 22: least, 5: least} {
		var b strings.Builder
		if made(width).print(&b); b.String() != want {
			t.Errorf("width %d:\n%s\nwant\n%s", width, b.String(), want)
		}
	}
	empty := table("name")
	empty.Note = "Nothing."
	var b strings.Builder
	if empty.print(&b); b.String() != "Nothing.\n" {
		t.Errorf("%q", b.String())
	}
	for n, want := range map[int]string{120: strings.Repeat("ä", 120), 121: strings.Repeat("ä", 120) + "…"} {
		reason := table("reason")
		reason.add("", bad(strings.Repeat("ä", n)))
		b.Reset()
		if reason.print(&b); b.String() != "  reason\n  "+want+"\n" {
			t.Errorf("a reason of %d runes: %q", n, b.String())
		}
	}
	if tb := table("a", "b", "c", "d", "e", "f"); tb.Wide() {
		t.Error("six columns are wide")
	} else if tb.Head = append(tb.Head, Column{}); !tb.Wide() {
		t.Error("seven columns are not wide")
	}
	tb := table("a", "b")
	tb.add("", text(strings.Repeat("x", 60)), Cell{Text: strings.Repeat("x", 61), Steps: []Step{{}}})
	if tb.Head[0].Wrap || tb.Head[1].Wrap {
		t.Errorf("%+v", tb.Head)
	}
	if tb.add("", text(strings.Repeat("x", 61)), value(1, "1")); !tb.Head[0].Wrap || tb.Head[0].Number || !tb.Head[1].Number {
		t.Errorf("%+v", tb.Head)
	}
}

// A terminal shows the answers, warnings, facts and the sections that are marked for it, with their parts.
func TestReportOnATerminal(t *testing.T) {
	tb := table("a")
	tb.add("", text("1"))
	r := &Report{
		Name: "r\x1b", When: "today", Answers: []Words{{"answer", "It is x."}}, Warnings: []string{"slow"}, Facts: []Fact{{"Disk", "ext4"}},
		Sections: []Section{
			{Title: "hidden", Text: "hidden", Parts: []Section{{Title: "part", Terminal: true, Text: "line 1\n\nline 2"}}},
			{Title: "shown", Small: "small", Terminal: true, Words: []Words{{"", "Words."}}, Prose: [][]Cell{{text("A "), {Text: "link", Link: "#x"}}}, Table: tb},
		},
	}
	var b strings.Builder
	if err := r.Print(&b); err != nil {
		t.Fatal(err)
	}
	want := "r�  today\nIt is x.\nwarning: slow\nDisk: ext4\n\npart\n  line 1\n\n  line 2\n\nshown small\nWords.\nA link\n  a\n  1\n"
	if got := strings.ReplaceAll(b.String(), "  line 1 ", "  line 1"); got != want {
		t.Errorf("%q\nwant\n%q", got, want)
	}
	for name, c := range map[string]struct {
		Section
		isEmpty bool
	}{
		"words":          {Section{Words: []Words{{}}, Prose: [][]Cell{{}}, Steps: []Step{{}}, Notes: []string{"x"}}, true},
		"an empty table": {Section{Table: table("a")}, true},
		"a table":        {Section{Table: tb}, false},
		"a text":         {Section{Text: "x"}, false},
		"facts":          {Section{Facts: []Fact{{}}}, false},
		"parts":          {Section{Parts: []Section{{}}}, false},
		"a picture":      {Section{Pictures: []Drawing{nil}}, false},
	} {
		if c.Empty() != c.isEmpty || len(filled(c.Section)) != map[bool]int{true: 0, false: 1}[c.isEmpty] {
			t.Errorf("%s: empty %v", name, !c.isEmpty)
		}
	}
}

// picture is a drawing with a fixed content; "" = an error.
type picture string

func (p picture) Draw() ([]byte, error) {
	if p == "" {
		return nil, errors.New("no content")
	}
	return []byte(p), nil
}

// Each picture is a file that is named after its section and its part.
func TestFilesOfPictures(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "folder")
	r := &Report{Sections: []Section{
		{ID: "times", Pictures: []Drawing{picture("1"), picture("2")}, Parts: []Section{{}, {Pictures: []Drawing{picture("3")}}}},
		{Pictures: []Drawing{picture("4")}},
		{ID: "a/b", Pictures: []Drawing{picture("5")}},
	}}
	paths, err := r.Pictures(dir)
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range []string{"times-1.svg", "times-2.svg", "times-part2-1.svg", "section-1.svg", "a-b-1.svg"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || string(text) != string(rune('1'+i)) || paths[i] != filepath.Join(dir, name) {
			t.Errorf("%s: %q, %v, %s", name, text, err, paths[i])
		}
	}
	r.Sections[0].Parts[1].Pictures = []Drawing{picture("")}
	if paths, err := r.Pictures(dir); err == nil || len(paths) != 2 {
		t.Errorf("%q, %v", paths, err)
	}
	file := filepath.Join(dir, "times-1.svg")
	if _, err := r.Pictures(file); err == nil {
		t.Error("a file is a folder")
	}
}

// The facts about a run: the machine, its disk, the data, the servers and the engines that were not included.
func TestFactsOfARun(t *testing.T) {
	r := &run.Run{
		Version: "v1",
		Machine: measure.Machine{
			CPU: "A1", Threads: 8, UsableCPUs: 4, Memory: 16e9, OS: "debian 12", Kernel: "6.1", Go: "go1.26", Arch: "amd64",
			Disk: measure.Disk{Type: "ext4", Total: 500e9, Free: 100e9}, Load: [3]float64{0.256},
		},
		Data: run.Data{Records: 1234, Quarantined: 1, Subset: "s", Digest: "d1"},
		Archives: []run.Archive{
			{Engine: "x", Place: "embedded"},
			{Engine: "pg", Place: "server"},
			{Engine: "pg", Place: "server"},
			{Engine: "my", Place: "server", Server: &run.Server{Nodes: 2, Profile: "tuned", Settings: map[string]string{"b": "2", "a": "1"}}},
		},
	}
	want := []Fact{
		{"Data", "the data"},
		{"Records", "1,234 distinct; 1 line quarantined. Subset s."},
		{"Digest", "d1"},
		{"Machine", "A1 · 8 threads, 4 usable by the client · 16.0 GB memory · debian 12 · 6.1"},
		{"Disk", "ext4, 100 GB of 500 GB free · load average before the run 0.26"},
		{"Barograph", "v1 · go1.26 amd64"},
		{"Servers", "pg: " + serverInWords(nil) + " · my: 2 nodes, profile tuned (a=1, b=2), on the same machine as the client: they share cores, memory and loopback"},
	}
	if got := dataFacts(r, "the data"); !slices.Equal(got, want) {
		t.Errorf("%q\nwant\n%q", got, want)
	}
	r.Machine.Virtual, r.Machine.Unknown = "kvm", []string{"the disk", "the load"}
	r.Skipped = []fault.Skip{{Engine: "a", Reason: "not installed", Cure: "install a"}, {Engine: "b", Reason: "too old", Cure: "update"}}
	r.Archives = r.Archives[:1]
	got := runFacts(r)
	want = []Fact{
		{"Machine", want[3].Text + " · virtual (kvm)"},
		want[4],
		{"Not known", "the disk; the load"},
		want[5],
		{"Not included", "a: not installed (install a) · b: too old (update)"},
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant\n%q", got, want)
	}
	r.Archives = []run.Archive{{Engine: "x", Design: "rows", Product: "X", Version: "2", Place: "embedded", URL: "x:y", Settings: map[string]string{"k": "v"}}, {Engine: "y", Acknowledged: "is on disk"}}
	for workload, column := range map[string]string{"met": "design", run.MixWorkload: "layout"} {
		r.Workload = workload
		tb := engineTable(r)
		compareRows(t, workload, tb, "x | rows | X 2 | embedded | x:y | not reported | k=v", "y |  |  |  |  | is on disk | ")
		if tb.Head[1].Name != column {
			t.Errorf("%s: %s", workload, tb.Head[1].Name)
		}
	}
}

// An engine that is not ranked is a warning, once, unless the run has the reason already.
func TestWarningsAboutRanks(t *testing.T) {
	r := &run.Run{Warnings: []string{"y: a copy"}, Archives: []run.Archive{
		{Engine: "x", Unranked: "a stand-in"}, {Engine: "x", Design: "other", Unranked: "a stand-in"}, {Engine: "y", Unranked: "a copy"}, {Engine: "z"},
	}}
	if got := unranked(r); !slices.Equal(got, []string{"x is not ranked: a stand-in"}) {
		t.Errorf("%q", got)
	}
	got := lists.Map([]string{"x", "y", "z", "none"}, func(engine string) bool { return isUnranked(r, engine) })
	if !slices.Equal(got, []bool{true, true, false, false}) {
		t.Errorf("%v", got)
	}
}

// A command line can be copied into a shell.
func TestQuotedArguments(t *testing.T) {
	for want, args := range map[string][]string{
		"barograph":                                     nil,
		"/usr/bin/barograph met x":                      {"/usr/bin/barograph", "met", "x"},
		"barograph met '' 'a b' a-b=1,2/c":              {"met", "", "a b", "a-b=1,2/c"},
		`barograph 'a$b' 'a;b' '~' 'a*' '!x' '{a}' '#'`: {"a$b", "a;b", "~", "a*", "!x", "{a}", "#"},
	} {
		if got := commandLine(args); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
