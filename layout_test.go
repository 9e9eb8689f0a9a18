package barograph_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// module is the path that the packages are published under.
const module = "github.com/barograph/barograph"

// allowed is the import table of CONTRIBUTING.md: what each package may import
// of this module. Every package may import fault; tests may look upward.
// A pattern ending in /* stands for all packages below.
var allowed = map[string][]string{
	"fault":  {},
	"record": {},

	"measure":     {},
	"report/plot": {},

	"stat":                {"record"},
	"formats":             {"record", "formats/*"},
	"formats/number":      {},
	"formats/lines":       {"record"},
	"formats/vsdb":        {"record", "formats/lines"},
	"formats/metstat":     {"record", "formats/lines", "formats/number"},
	"formats/metviewer":   {},
	"formats/shef":        {"record"},
	"formats/parquetfile": {},
	"formats/tpcds":       {"formats/parquetfile"},
	"synth":               {"record", "formats/*"},
	"synth/tpcds":         {"formats/tpcds", "synth/tpcds/dsdgen"},

	"synth/tpcds/dsdgen": {},

	"question": {"record", "formats/metviewer", "stat"},
	"answer":   {"record", "question", "stat"},
	"design":   {"record", "question"},
	"flavour":  {"record", "question", "design"},

	"engine":                  {"record", "question", "answer", "design", "flavour"},
	"engine/tables":           {"record", "question", "answer", "design", "engine", "formats/tpcds"},
	"engine/sqlengine":        {"record", "question", "answer", "design", "flavour", "engine", "engine/tables", "formats/tpcds"},
	"engine/docengine":        {"record", "question", "answer", "design", "flavour", "engine"},
	"engine/*":                {"record", "question", "answer", "design", "flavour", "engine", "engine/tables", "engine/sqlengine", "engine/docengine", "engine/host", "formats/tpcds"},
	"engine/host":             {"record", "question", "answer", "design", "flavour", "engine"},
	"engine/dry":              {"record", "question", "answer", "design", "flavour", "engine", "engine/dry/pairs"},
	"engine/dry/pairs":        {"engine"},
	"engine/mongodb/ferretdb": {},
	"engine/all":              {"engine", "engine/*"},
	"engine/new":              {},

	"enginetest":          {"record", "question", "answer", "design", "flavour", "engine", "engine/sqlengine", "load", "synth", "lab", "formats"},
	"enginetest/damages":  {},
	"enginetest/scantest": {"engine", "engine/tables", "enginetest", "synth/tpcds"},

	"curve":     {"record", "question", "answer", "stat", "run"},
	"export":    {"record", "question", "answer", "formats/shef", "formats/parquetfile"},
	"load":      {"formats", "record", "design", "engine"},
	"tablediff": {},
	"lab":       {"engine", "run"},
	"run":       {"measure", "measure/pace", "answer"},

	"measure/pace":       {"measure"},
	"workload/ycsb":      {"answer", "engine", "lab", "measure", "measure/pace", "run", "workload/ycsb/dist", "workload/ycsb/history"},
	"workload/ycsb/dist": {},

	"river":                 {"record", "formats", "formats/shef", "engine", "engine/sqlengine"},
	"workload/ycsb/history": {"engine"},

	"workload/post": {"record", "formats", "formats/shef", "synth", "answer", "engine", "measure", "run", "river"},

	"workload/*": {"record", "curve", "formats", "question", "answer", "design", "flavour", "engine", "engine/tables", "load", "lab", "measure", "measure/pace", "run"},
	"advise":     {"run", "measure", "answer"},
	"compare":    {"run", "measure"},
	"report":     {"run", "measure", "report/plot", "compare", "advise"},
	"serve":      {"record", "question", "answer", "design", "flavour", "engine", "curve", "stat", "export", "compare", "report", "run", "measure"},

	"cmd/barograph": {"*"},
	"fuzz":          {},
}

// rule finds the row of a package: its own, or that of its folder.
func rule(pkg string) (row string, ok bool) {
	if _, ok = allowed[pkg]; ok {
		return pkg, true
	}
	row = path.Dir(pkg) + "/*"
	_, ok = allowed[row]
	return row, ok
}

// permission is the place in a row that allows an import; -1 = none does.
func permission(row, imported string) int {
	return slices.IndexFunc(allowed[row], func(d string) bool {
		return d == "*" || d == imported || (strings.HasSuffix(d, "/*") && path.Dir(imported) == strings.TrimSuffix(d, "/*"))
	})
}

// goFiles walks the Go files of the module, as slash paths.
func goFiles(t *testing.T, each func(name string)) {
	t.Helper()
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "runs" || d.Name() == "testdata" || (strings.HasPrefix(d.Name(), ".") && name != ".")) {
			return filepath.SkipDir
		}
		if strings.HasSuffix(name, ".go") {
			each(filepath.ToSlash(name))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestImportTable holds every file that is not a test against the table, and the
// table against them: what no package of a row imports does not stand in it.
func TestImportTable(t *testing.T) {
	unused := map[string][]string{}
	for row, deps := range allowed {
		unused[row] = slices.Clone(deps)
	}
	goFiles(t, func(name string) {
		pkg := path.Dir(name)
		if strings.HasSuffix(name, "_test.go") || pkg == "." {
			return
		}
		row, ok := rule(pkg)
		if !ok {
			t.Errorf("%s: package %s has no row in the import table", name, pkg)
			return
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range f.Imports {
			full, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			imported, ours := strings.CutPrefix(full, module+"/")
			if at := permission(row, imported); at >= 0 {
				unused[row][at] = ""
			} else if ours && imported != "fault" {
				t.Errorf("%s imports %s; %s may import %v", name, imported, pkg, allowed[row])
			}
		}
	})
	for row, deps := range unused {
		for _, d := range deps {
			if d != "" {
				t.Errorf("%s may import %s, and does not", row, d)
			}
		}
	}
}

// TestNamesAndSizes holds files under about 600 lines and packages to names
// that say what they hold.
func TestNamesAndSizes(t *testing.T) {
	goFiles(t, func(name string) {
		switch path.Base(path.Dir(name)) {
		case "util", "utils", "common", "helpers", "misc":
			t.Errorf("%s: the package's name says nothing of what it holds", name)
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(text), "\n"); n > 620 {
			t.Errorf("%s has %d lines: does it hold two things?", name, n)
		}
	})
}

// TestNoInit: nothing registers itself; engine/all is the only list of engines. The one
// exception registers nothing: a process that reads a DuckDB archive is any program that
// links the engine, and must leave before that program's main.
func TestNoInit(t *testing.T) {
	goFiles(t, func(name string) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "\nfunc init()") && name != "engine/duckdb/reader.go" {
			t.Errorf("%s has an init function", name)
		}
	})
}

// TestWords: one verb for one idea, Go's own for a predicate, and none of the
// sentences again that a native reader stumbled over.
func TestWords(t *testing.T) {
	other := regexp.MustCompile(`(?i)(tell|say)s whether|hope/dares|\beverybodys\b|untold is the number|throwaway server is had|held says what held|deal deals|once prepares a statement where`)
	goFiles(t, func(name string) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if at := other.Find(text); at != nil && name != "layout_test.go" {
			t.Errorf("%s: %q: write %q of a predicate, and plain sentences", name, at, "reports whether")
		}
	})
}

// TestStandInsAreCarried: each workload that copies an engine's description
// into a run copies why it is in no ranking, too.
func TestStandInsAreCarried(t *testing.T) {
	copies := 0
	goFiles(t, func(name string) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), "about.Version") || name == "layout_test.go" {
			return
		}
		if copies++; !strings.Contains(string(text), "about.Unranked") {
			t.Errorf("%s copies an engine's description without About.Unranked", name)
		}
	})
	if copies < 7 {
		t.Errorf("%d copies were found", copies)
	}
}
