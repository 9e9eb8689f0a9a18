package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"text/template"
	"unicode"

	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/report/site"
	"github.com/barograph/barograph/results/run"
)

const committed = "../../" + pagesDir

// TestPages renders all pages from the kept folders and compares them with the committed files.
func TestPages(t *testing.T) {
	names, err := pageNames(committed)
	if err != nil || len(names) == 0 {
		t.Fatalf("no template: %v", err)
	}
	rendered := map[string]bool{}
	for _, name := range names {
		for file, want := range rendering(t, committed, name) {
			rendered[file] = true
			got, err := os.ReadFile(filepath.Join(committed, file))
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s differs from its rendering (%v): run docs/results/render.sh", file, err)
			}
		}
		if n, err := sizeOf(filepath.Join(committed, "runs", name)); name != landing && (err != nil || n > maxKept) {
			t.Errorf("the kept folders of %s have %d bytes (%v), not at most %d", name, n, err, maxKept)
		}
	}
	page, err := renderSite(committed)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join("../..", siteDir, site.FileName)); err != nil || !bytes.Equal(got, page) {
		t.Errorf("%s differs from its rendering (%v): run docs/results/render.sh", siteDir, err)
	}
	files, _ := filepath.Glob(filepath.Join(committed, "*.[ms][dv]*"))
	for _, f := range files {
		if base := filepath.Base(f); !rendered[base] && !strings.HasSuffix(base, ".tmpl") {
			t.Errorf("no template renders %s", base)
		}
	}
	t.Logf("%d pages, %d files", len(names), len(rendered))
}

func rendering(t *testing.T, dir, name string) map[string][]byte {
	t.Helper()
	files, err := render(dir, name)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return files
}

// TestChangedNumber changes a digit of one of the original's numbers, of the digests, of the sizes on disk and of the
// times in turn. Each change must change the page or fail.
func TestChangedNumber(t *testing.T) {
	dir := t.TempDir()
	const name = "met-2020"
	for _, f := range []string{name + ".md.tmpl", name + ".json"} {
		if err := copyFile(filepath.Join(committed, f), filepath.Join(dir, f)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.CopyFS(filepath.Join(dir, "runs", name), os.DirFS(filepath.Join(committed, "runs", name))); err != nil {
		t.Fatal(err)
	}
	want := rendering(t, dir, name)
	for _, c := range []struct{ file, find, replace string }{
		{name + ".json", "9940", "8940"},
		{"runs/" + name + "/kept.json", `"digest": "`, `"digest": "0`},
		{"runs/" + name + "/seven/run.json", `"bytes_on_disk": `, `"bytes_on_disk": 1`},
		{"runs/" + name + "/seven/samples.jsonl", `"measured.total_ns":[`, `"measured.total_ns":[9`},
	} {
		path := filepath.Join(dir, c.file)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		changed := bytes.ReplaceAll(text, []byte(c.find), []byte(c.replace))
		if bytes.Equal(changed, text) {
			t.Fatalf("%s has no %s", c.file, c.find)
		}
		if err := os.WriteFile(path, changed, 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := render(dir, name); err == nil && equalFiles(got, want) {
			t.Errorf("%s: %s became %s, and the page is the same", c.file, c.find, c.replace)
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if !equalFiles(rendering(t, dir, name), want) {
		t.Error("the same files are rendered differently")
	}
}

func equalFiles(a, b map[string][]byte) bool {
	same := len(a) == len(b)
	for name := range a {
		same = same && bytes.Equal(a[name], b[name])
	}
	return same
}

// TestTypedFigures: a figure in the text of a template fails, also in a branch; names with digits and computed figures
// do not.
func TestTypedFigures(t *testing.T) {
	for text, fails := range map[string]bool{
		"PostgreSQL takes {{value 1}} ms.":                       false,
		"PostgreSQL takes {{1}} ms.":                             true,
		"below {{0.5}}":                                          true,
		"test_3 of Table 1 asks SAL1L2 at P500 in 2019":          false,
		"`--days 1,4`, [page](x-3.md), the 95 % interval":        false,
		"PostgreSQL takes 12 ms.":                                true,
		"{{if true}}twice{{else}}2.5 times{{end}}":               true,
		"{{range $x := .}}34,598{{end}}":                         true,
		"1. first\n2. second, at the 95th percentile and in p99": false,
		"25–36 % less":                                           true,
		`{{printf "%.1f %% less, in test_3" (value 1)}}`:         false,
		`{{printf "groups[%d].p95" 1}}`:                          false,
		`{{$x := printf "takes 12 ms"}}`:                         true,
		`{{if true}}{{printf "%s" (printf "12 ms")}}{{end}}`:     true,
		"PostgreSQL takes 2000 ms.":                              true,
		"in 1999 s":                                              true,
		"in 2000 the":                                            false,
		"95 % of the time":                                       true,
		"Intervals are of 95 %.":                                 false,
		"with 95 % intervals":                                    false,
		"{{digits 2 12.5}}":                                      true,
		"{{integer 12000}}":                                      true,
		"{{12000 | integer}}":                                    true,
		"{{digits 2 (value 1)}}":                                 false,
		`{{printf "%v ms" 12}}`:                                  true,
		`{{printf "%v ms" (integer 12)}}`:                        true,
		`{{printf "%v ms" (value 12)}}`:                          false,
	} {
		functions := template.FuncMap{
			"value":   func(int) int { return 1 },
			"integer": func(any) string { return "" },
			"digits":  func(int, any) string { return "" },
		}
		if err := typedFigures(template.Must(template.New("t").Funcs(functions).Parse(text))); (err != nil) != fails {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestOriginals: every number of a NAME.json occurs in the text of the document.
func TestOriginals(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(committed, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatal("no originals", err)
	}
	seeds := "../../../shared/seeds"
	if _, err := os.Stat(seeds); err != nil {
		t.Skip("NOT TESTED: the numbers of the originals; the documents are not in ../shared/seeds")
	}
	for _, file := range files {
		var o original
		if err := readJSON(file, &o); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(seeds, o.Text))
		if err != nil {
			t.Fatal(err)
		}
		occurs := map[float64]bool{}
		for _, m := range regexp.MustCompile(`\d[\d,]*(\.\d+)?(E\+\d+)?`).FindAllString(string(text), -1) {
			if v, err := strconv.ParseFloat(strings.ReplaceAll(m, ",", ""), 64); err == nil {
				occurs[v] = true
			}
			if v, err := strconv.ParseFloat(strings.Replace(m, ",", ".", 1), 64); err == nil { // a decimal comma
				occurs[v] = true
			}
		}
		n := 0
		check := func(where string, v float64) {
			if n++; !occurs[v] && !occurs[-v] {
				t.Errorf("%s: %s: the document has no %v", filepath.Base(file), where, v)
			}
		}
		for name, table := range o.Tables {
			for _, r := range table.Rows {
				if len(r) != len(table.Columns) {
					t.Errorf("%s: table %s: the row %v does not have %d cells", filepath.Base(file), name, r, len(table.Columns))
				}
				for _, x := range r[1:] {
					if v, ok := x.(float64); ok {
						check("table "+name, v)
					}
				}
			}
		}
		for name, f := range o.Figures {
			check(name, f.Value)
		}
		t.Logf("%s: %d numbers", filepath.Base(file), n)
	}
}

// TestKeep keeps a run folder and reads it again: the samples are the same except for what keep drops.
func TestKeep(t *testing.T) {
	from, to, back := t.TempDir(), filepath.Join(t.TempDir(), "kept"), t.TempDir()
	if err := os.CopyFS(filepath.Join(from, "a"), os.DirFS("../../docs/results/ycsb/bandwidth")); err != nil {
		t.Fatal(err)
	}
	if err := keep(from, to, everyPlan()); err != nil && !strings.Contains(err.Error(), "more than") {
		t.Fatal(err)
	}
	if err := expand(to, back); err != nil {
		t.Fatal(err)
	}
	want, wantSamples, err := run.Read(filepath.Join(from, "a"))
	if err != nil {
		t.Fatal(err)
	}
	got, gotSamples, err := run.Read(filepath.Join(back, "a"))
	if err != nil {
		t.Fatal(err)
	}
	if a, b := asJSON(t, want), asJSON(t, got); !bytes.Equal(a, b) {
		t.Errorf("run.json: %s\nwas %s", b, a)
	}
	flat := func(samples []run.Sample) (out []string) {
		for i := range samples {
			m, err := flatten(&samples[i], regexp.MustCompile(nothing))
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, string(asJSON(t, m)))
		}
		slices.Sort(out)
		return out
	}
	if a, b := flat(wantSamples), flat(gotSamples); len(a) == 0 || !slices.Equal(a, b) {
		t.Errorf("%d samples became %d other ones", len(a), len(b))
	}
}

// everyPlan keeps all plans with their texts, and drops nothing.
func everyPlan() keepOptions {
	return keepOptions{regexp.MustCompile(""), regexp.MustCompile(""), regexp.MustCompile(nothing)}
}

// TestDrop: -drop omits the counters whose names match and no other ones.
func TestDrop(t *testing.T) {
	counter := func(name string) any { return map[string]any{"name": name, "value": 1.0} }
	counters := []any{counter("reads"), counter("reads at 127.0.0.1:7000"), counter("reads at 127.0.0.2:7000"), counter("writes")}
	v := map[string]any{"server": map[string]any{"counters": counters, "times": 1}}
	drop(v, regexp.MustCompile(` at [^ ]+:[^ ]+$`))
	want := map[string]any{"server": map[string]any{"counters": []any{counter("reads"), counter("writes")}}}
	if got, want := asJSON(t, v), asJSON(t, want); !bytes.Equal(got, want) {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestScanPlans: the kept description of a scan has no text of a plan, whatever the text contains.
func TestScanPlans(t *testing.T) {
	for _, plan := range []string{"", "Scan {a: [1]}\n", `"quoted" \ end`, `\`} {
		text := asJSON(t, map[string]any{"a": "b", "plan": plan, "z": []int{1}})
		var indented bytes.Buffer
		if err := json.Indent(&indented, text, "", ""); err != nil {
			t.Fatal(err)
		}
		got := map[string]any{}
		err := json.Unmarshal(scanPlans.ReplaceAll(indented.Bytes(), []byte(`${1}""`)), &got)
		if err != nil || got["plan"] != "" || got["a"] != "b" || got["z"] == nil {
			t.Errorf("%q: %v, %v", plan, got, err)
		}
	}
}

// TestPicturesOfOtherPages: a rendering removes the old pictures of the page, but not those of a page whose name
// continues that of the page.
func TestPicturesOfOtherPages(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"met.md.tmpl": "text", "met-2020.md.tmpl": "text", "runs/met/kept.json": "{}", "met-old.svg": "", "met-2020-sizes.svg": "",
	} {
		if err := writeFile(filepath.Join(dir, name), []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := write(dir, []string{"met"}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "met-old.svg")); err == nil {
		t.Error("an old picture of the page remains")
	}
	if _, err := os.Stat(filepath.Join(dir, "met-2020-sizes.svg")); err != nil {
		t.Error(err)
	}
}

// TestReadme: README.txt of the pages describes every function of the templates, each once, and no other one.
func TestReadme(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(committed, "README.txt"))
	if err != nil {
		t.Fatal(err)
	}
	_, list, found := strings.Cut(string(text), "\nFunctions. ")
	if !found {
		t.Fatal("README.txt has no list of functions")
	}
	var described []string
	quoted := regexp.MustCompile(`"[^"]*"`)
	for _, m := range regexp.MustCompile(`(?m)^  (\S.*?)(?:  .*)?$`).FindAllStringSubmatch(list, -1) {
		for _, word := range strings.FieldsFunc(quoted.ReplaceAllString(m[1], ""), func(r rune) bool { return r == ' ' || r == ',' }) {
			if unicode.IsLower([]rune(word)[0]) {
				described = append(described, word)
			}
		}
	}
	slices.Sort(described)
	if want := slices.Sorted(maps.Keys((&page{}).functions())); !slices.Equal(described, want) {
		t.Errorf("README.txt describes\n%s\nthe functions are\n%s", described, want)
	}
}

// TestKeepAgain keeps the steps of two days one after the other: a run of the second day replaces the one of the same
// name with all that is below it, and the other runs and steps stay.
func TestKeepAgain(t *testing.T) {
	to := filepath.Join(t.TempDir(), "kept")
	for _, day := range []map[string]string{
		{"a/run.json": "1", "a/b/run.json": "1", "c/run.json": "1", "steps.facts": "a 10\nc 30\n"},
		{"a/run.json": "2", "d/run.json": "2", "steps.facts": "a 11\nd 40\n"},
	} {
		from := t.TempDir()
		for name, text := range day {
			if filepath.Base(name) == run.DescriptionFile {
				text = `{"day": ` + text + `}`
				if err := writeFile(filepath.Join(from, filepath.Dir(name), "events.jsonl"), nil); err != nil {
					t.Fatal(err)
				}
			}
			if err := writeFile(filepath.Join(from, name), []byte(text)); err != nil {
				t.Fatal(err)
			}
		}
		if err := keep(from, to, everyPlan()); err != nil {
			t.Fatal(err)
		}
	}
	var index map[string]keptFolder
	if err := readJSON(filepath.Join(to, keptIndex), &index); err != nil {
		t.Fatal(err)
	}
	if got := slices.Sorted(maps.Keys(index)); !slices.Equal(got, []string{"a", "c", "d"}) {
		t.Errorf("kept runs %v", got)
	}
	for name, want := range map[string]string{"a/run.json": `"day": 2`, "c/run.json": `"day": 1`, "steps.facts": "a 11\nc 30\nd 40\n"} {
		if text, err := os.ReadFile(filepath.Join(to, name)); err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s: %s %v", name, text, err)
		}
	}
	if _, err := os.Stat(filepath.Join(to, "a", "b")); err == nil {
		t.Error("a/b of the first day is still kept")
	}
}

// TestFunctions: projections are found by all their conditions, an interval contains its bounds, and a page can show
// what a killed node did to clients and why a cell has no time.
func TestFunctions(t *testing.T) {
	p := &page{name: "met-2020", expanded: t.TempDir(), folders: map[string]*folder{}}
	if err := expand(filepath.Join(committed, "runs", p.name), p.expanded); err != nil {
		t.Fatal(err)
	}
	size, err := p.projection("growth", "engine=sqlite", "design=document")
	if err != nil || size.Low >= size.Value || size.Value >= size.High {
		t.Errorf("size %+v, %v", size, err)
	}
	query, err := p.projection("growth", "engine=sqlite", "design=document", "flavour=keys", "case=dieoff_sal1l2_hgt")
	if err != nil || query.Value == size.Value {
		t.Errorf("time %+v, %v", query, err)
	}
	for _, conditions := range [][]string{{"engine=sqlite"}, {"engine=sqlite", "design=document", "rep=1"}} {
		if n, err := p.projection("growth", conditions...); err == nil {
			t.Errorf("%v has the projection %v", conditions, n)
		}
	}
	for flavour, want := range map[string]string{"keys": "power", "metviewer-sql": "line"} {
		design := map[string]string{"keys": "document", "metviewer-sql": "normalized"}[flavour]
		law, err := p.projectionLaw("growth", "engine=sqlite", "design="+design, "flavour="+flavour, "case=dieoff_sal1l2_hgt")
		if err != nil || law != want {
			t.Errorf("law of %s: %q, %v", flavour, law, err)
		}
	}
	for x, want := range map[float64]bool{size.Low: true, size.High: true, size.Low * 0.99: false, size.High * 1.01: false} {
		if got, err := within(size, x); err != nil || got != want {
			t.Errorf("within %+v %v: %v, %v", size, x, got, err)
		}
	}
	c := &page{name: "cluster", expanded: t.TempDir(), folders: map[string]*folder{}}
	if err := expand(filepath.Join(committed, "runs", c.name), c.expanded); err != nil {
		t.Fatal(err)
	}
	kills, err := c.kills("fault3", "missing")
	if err != nil || strings.Count(kills, "\n") != 4 || !strings.Contains(kills, "| cassandra, document, 3 | the load |") || !strings.Contains(kills, "correct results since the kill | 0 | 0 |") {
		t.Errorf("%s%v", kills, err)
	}
	if lost, err := c.damage("fault3", "missing"); err != nil || lost.Value != 0 {
		t.Errorf("damage %+v, %v", lost, err)
	}
	for i, k := range c.folders["fault3"].samples {
		k.Kill.Acknowledged, k.Kill.Found, k.Kill.Wrong, k.Kill.Errors = k.Kill.Acknowledged+5, k.Kill.Found+3, i, 4
	}
	lost, err := c.damage("fault3")
	failed, err2 := c.failedCalls("fault3")
	if errors.Join(err, err2) != nil || lost.Value != 2*2+1 || failed.Value != 2*4 {
		t.Errorf("damage %+v, failed calls %+v: %v, %v", lost, failed, err, err2)
	}
	if text, err := p.failures("many/clients"); err != nil || text != "" {
		t.Errorf("no failures: %q, %v", text, err)
	}
	for i := range p.folders["many/clients"].samples { // two problems, one of them with two amounts
		switch x := &p.folders["many/clients"].samples[i]; {
		case x.Cell.Engine == "duckdb" && x.Cell.Value("threads") == "8":
			x.Problem = "failed to allocate data of size 4.0 KiB"
		case x.Cell.Engine == "duckdb" && x.Cell.Value("threads") == "16":
			x.Problem = "failed to allocate data of size 16.0 KiB"
		case x.Cell.Engine == "mariadb" && x.Cell.Value("threads") == "8":
			x.Problem = "no answer"
		}
	}
	if text, err := p.failures("many/clients"); err != nil || !strings.Contains(text, "duckdb document keys (8)") || !strings.Contains(text, "mariadb document keys (8)") ||
		strings.Count(text, "\n") != 1 || strings.Contains(text, "pebble") {
		t.Errorf("failures: %q, %v", text, err)
	}
	if n, err := c.total("fault3", "measured.total_ns", "engine=none"); err == nil {
		t.Errorf("the total of no samples is %v", n)
	}
	if text, err := p.option("many/clients", "--duration"); err != nil || text != "5s" {
		t.Errorf("option: %q, %v", text, err)
	}
	if text, err := p.option("many/clients", "--nothing"); err == nil {
		t.Errorf("option: %q", text)
	}
	all, err := p.answer("growth")
	if err != nil {
		t.Fatal(err)
	}
	if some, err := p.answer("growth", "Measured afterwards"); err != nil || len(some) >= len(all) || !strings.Contains(all, some) {
		t.Errorf("%q, %v", some, err)
	}
	if text, err := p.answer("growth", "no such words"); err == nil {
		t.Errorf("an answer without the words: %q", text)
	}
}

// TestOtherPage: a page reads the run folders of another one, and a number that is not there is an error.
func TestOtherPage(t *testing.T) {
	functions := (&page{dir: committed, name: "cluster"}).functions()
	valueOn := functions["valueOn"].(func(otherPage, name, quantity string, conditions ...string) (number, error))
	fieldOn := functions["fieldOn"].(func(otherPage, name, path string) (number, error))
	last, err := valueOn("met-2020", "growth/days-128", "total_ns",
		"engine=duckdb", "design=document", "flavour=keys", "case=dieoff_sal1l2_hgt")
	first, err2 := valueOn("met-2020", "growth/days-1", "total_ns",
		"engine=duckdb", "design=document", "flavour=keys", "case=dieoff_sal1l2_hgt")
	if errors.Join(err, err2) != nil || first.N != 7 || last.Value <= first.Value {
		t.Errorf("%+v, %+v, %v, %v", first, last, err, err2)
	}
	if n, err := fieldOn("met-2020", "day", "data.files"); err != nil || n.Value != 30 {
		t.Errorf("%v files, %v", n, err)
	}
	if n, err := fieldOn("met-2020", "none", "data.files"); err == nil {
		t.Errorf("a folder that does not exist: %v", n)
	}
	if n, err := valueOn("none", "day", "total_ns"); err == nil {
		t.Errorf("a page that does not exist: %v", n)
	}
}

// TestArithmetic: the ends of a projection are those of its interval, and a result that is no number is an error.
func TestArithmetic(t *testing.T) {
	six := func(v float64) []float64 { return []float64{v, 1.02 * v, 1.04 * v, 1.06 * v, 1.08 * v, 1.1 * v} }
	law, err := measure.FitGrowth([]float64{1, 2}, [][]float64{six(1), six(2)}, 1)
	if err != nil {
		t.Fatal(err)
	}
	p, err := project(law, 4)
	functions := (&page{}).functions()
	end := func(name string) number {
		n, e := functions[name].(func(x any) (number, error))(p)
		err = errors.Join(err, e)
		return n
	}
	if low, high := end("lower"), end("upper"); err != nil || low.Value != p.Low || high.Value != p.High || p.Low >= p.High {
		t.Errorf("%v to %v, want %+v; %v", low, high, p, err)
	}
	if n, err := functions["lower"].(func(x any) (number, error))(2.5); err == nil {
		t.Errorf("the lower end of a number without an interval is %v", n)
	}
	ratio := func(x, y float64) float64 { return x / y }
	if n, err := combine(1, 0, ratio); err == nil {
		t.Errorf("1 / 0 is %v", n)
	}
	if n, err := combine(missing("not measured"), 0, ratio); err != nil || n.Note != "not measured" {
		t.Errorf("missing / 0: %v, %v", n, err)
	}
	for _, x := range []float64{0, -1} {
		if n, err := geomean([]any{1.0, x}); err == nil {
			t.Errorf("the geometric mean of 1 and %v is %v", x, n)
		}
	}
}

// TestDamagedFolder: a run folder that cannot be read is an error, not "not measured", each time.
func TestDamagedFolder(t *testing.T) {
	p := &page{name: "x", expanded: t.TempDir(), folders: map[string]*folder{}}
	if err := writeFile(filepath.Join(p.expanded, "damaged", run.DescriptionFile), []byte("{")); err != nil {
		t.Fatal(err)
	}
	functions := p.functions()
	tryField := functions["tryField"].(func(name, path string) (number, error))
	tryText := functions["tryText"].(func(name, path string) (string, error))
	for range 2 {
		if n, err := tryField("damaged", "machine.threads"); err == nil {
			t.Errorf("a damaged folder: %v", n)
		}
		if text, err := tryText("damaged", "id"); err == nil {
			t.Errorf("a damaged folder: %q", text)
		}
	}
	if n, err := tryField("none", "machine.threads"); err != nil || n.Note != "not measured" {
		t.Errorf("%v, %v", n, err)
	}
	if text, err := tryText("none", "id"); err != nil || text != "not measured" {
		t.Errorf("%q, %v", text, err)
	}
}

// TestEqualWarnings: equal warnings are one line with all their places, also if one place is the beginning of another one.
func TestEqualWarnings(t *testing.T) {
	const problem = "1 product is a duplicate"
	f := &folder{run: &run.Run{Warnings: []string{"a-b: " + problem, "a: " + problem, "a-b: " + problem, "the machine was busy", "the machine was busy"}}}
	p := &page{name: "x", expanded: t.TempDir(), folders: map[string]*folder{"r": f}}
	if err := writeFile(filepath.Join(p.expanded, "r", run.DescriptionFile), nil); err != nil {
		t.Fatal(err)
	}
	got, err := p.warnings("r")
	if want := []string{"`r`: a-b; a: " + problem, "`r`: the machine was busy"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
}

// TestOptions: a picture refuses an option that it does not have.
func TestOptions(t *testing.T) {
	p := &page{name: "x", files: map[string][]byte{}}
	if _, err := p.bars("a", "", "", "", "", "log sidebside", nil); err == nil || !strings.Contains(err.Error(), "sidebside") {
		t.Errorf("bars: %v", err)
	}
	if _, err := p.lines("b", "", "", "", "", "logarithmic", nil); err == nil || !strings.Contains(err.Error(), "logarithmic") {
		t.Errorf("lines: %v", err)
	}
}

// TestOfLeast: a sentence names the least of the known numbers.
func TestOfLeast(t *testing.T) {
	names := []any{"a", "b", "c"}
	if name, err := ofLeast(names, []any{exactly(3), missing("—"), exactly(2)}); name != "c" || err != nil {
		t.Errorf("%q, %v", name, err)
	}
	for _, numbers := range [][]any{{exactly(1)}, {missing("—"), missing("—"), missing("—")}} {
		if name, err := ofLeast(names, numbers); err == nil {
			t.Errorf("%v: %q", numbers, name)
		}
	}
}

func asJSON(t *testing.T, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
