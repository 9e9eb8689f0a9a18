package barograph_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/barograph/barograph/internal/core"
)

// module is the path that the packages are published under.
const module = "github.com/barograph/barograph"

// allowed is the import table: what each package may import of this module.
// Every package may import the packages of shared; tests may import any package.
// A pattern ending in /* stands for all packages below.
var allowed = map[string][]string{
	"internal/fault":    {},
	"internal/build":    {},
	"internal/jsonkeys": {},
	"internal/lists":    {},
	"record":            {},

	"results/measure": {},
	"results/plot":    {},

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
	"study/synth":         {"record", "formats/*"},
	"study/synth/tpcds":   {"formats/tpcds", "study/synth/tpcds/dsdgen"},

	"study/synth/tpcds/dsdgen": {},

	"query/question": {"record", "formats/metviewer", "stat"},
	"query/answer":   {"record", "query/question", "stat"},
	"archive/design": {"record", "query/question"},
	"query/flavour":  {"record", "query/question", "archive/design"},

	"engine":                  {"engine/launch"},
	"engine/launch":           {},
	"engine/archive":          {"record", "query/question", "query/answer", "archive/design", "query/flavour", "engine"},
	"engine/kv":               {"engine"},
	"engine/posts":            {"record", "engine"},
	"engine/tables":           {"record", "query/question", "query/answer", "archive/design", "engine", "engine/launch", "engine/archive", "formats/tpcds"},
	"engine/sqlengine":        {"record", "query/question", "query/answer", "archive/design", "query/flavour", "engine", "engine/archive", "engine/kv", "engine/posts", "engine/tables", "formats/tpcds"},
	"engine/docengine":        {"record", "query/question", "query/answer", "archive/design", "query/flavour", "engine", "engine/archive"},
	"engine/*":                {"record", "query/question", "query/answer", "archive/design", "query/flavour", "engine", "engine/launch", "engine/archive", "engine/kv", "engine/posts", "engine/tables", "engine/sqlengine", "engine/docengine", "engine/host", "formats/tpcds"},
	"engine/host":             {"record", "query/question", "query/answer", "archive/design", "query/flavour", "engine", "engine/archive"},
	"engine/dry":              {"record", "query/question", "query/answer", "archive/design", "query/flavour", "engine", "engine/archive", "engine/kv", "engine/dry/pairs"},
	"engine/dry/pairs":        {"engine", "engine/kv"},
	"engine/mongodb/ferretdb": {},
	"engine/all":              {"engine", "engine/*"},
	"engine/new":              {},

	"engine/enginetest":          {"record", "query/question", "query/answer", "archive/design", "query/flavour", "engine", "engine/archive", "engine/kv", "engine/posts", "engine/sqlengine", "archive/load", "study/synth", "lab", "formats"},
	"engine/enginetest/damages":  {},
	"engine/enginetest/scantest": {"engine", "engine/tables", "engine/enginetest", "study/synth/tpcds"},

	"results/curve":     {"record", "query/question", "query/answer", "stat", "results/run"},
	"query/export":      {"record", "query/question", "query/answer", "formats/shef", "formats/parquetfile"},
	"archive/load":      {"formats", "record", "archive/design", "engine", "engine/archive"},
	"archive/tablediff": {},
	"lab":               {"engine", "engine/launch", "results/run"},
	"results/run":       {"results/measure", "results/measure/pace", "query/answer"},

	"results/measure/pace": {"results/measure"},
	"study/ycsb":           {"study", "query/answer", "engine", "engine/kv", "lab", "results/measure", "results/measure/pace", "results/run", "study/ycsb/dist", "study/ycsb/history"},
	"study/ycsb/dist":      {},

	"river":              {"record", "formats", "formats/shef", "engine", "engine/posts"},
	"study/ycsb/history": {"engine", "engine/kv"},

	"study/post": {"study", "record", "formats", "formats/shef", "study/synth", "query/answer", "engine", "engine/posts", "lab", "results/measure", "results/run", "river"},

	// It makes the data of studies of met.
	"study/growth": {"record", "query/question", "query/answer", "formats", "archive/load", "study/met"},

	"study/*":         {"study", "record", "results/curve", "formats", "query/question", "query/answer", "archive/design", "query/flavour", "engine", "engine/launch", "engine/archive", "engine/tables", "archive/load", "lab", "results/measure", "results/measure/pace", "results/run"},
	"results/advise":  {"results/run", "results/measure", "query/answer"},
	"results/compare": {"results/run", "results/measure"},

	"results/report/site":    {"query/answer", "results/run", "results/measure", "results/plot", "results/report"},
	"results/report/sharing": {"query/answer", "results/run"},

	"results/report": {"results/run", "results/measure", "results/plot", "results/compare", "results/advise"},
	"serve":          {"record", "query/question", "query/answer", "archive/design", "query/flavour", "engine", "engine/archive", "results/curve", "stat", "query/export", "results/advise", "results/compare", "results/plot", "results/report", "results/run", "results/measure"},

	"cmd/barograph":   {"*"},
	"internal/fuzz":   {},
	"internal/core":   {},
	"internal/mutate": {"internal/core"},
	"internal/pages":  {"results/advise", "results/measure", "results/plot", "results/report", "results/report/site", "results/run"},

	// these hold a doc.go for the folders in them
	"archive": {}, "cmd": {}, "query": {}, "results": {},
	"study": {"engine", "results/run"},
}

// shared lists the packages that every package may import.
var shared = []string{"internal/fault", "internal/build", "internal/jsonkeys", "internal/lists"}

// top lists the folders of Go at the top, at most twelve.
var top = []string{"archive", "cmd", "engine", "formats", "lab", "query", "record", "results", "river", "serve", "stat", "study"}

// TestTopFolders: at most twelve folders of Go at the top, each with a doc.go.
func TestTopFolders(t *testing.T) {
	found := map[string]bool{}
	goFiles(t, func(name string) {
		if folder, _, ok := strings.Cut(name, "/"); ok && folder != "internal" {
			found[folder] = true
		}
	})
	if got := slices.Sorted(maps.Keys(found)); !slices.Equal(got, top) || len(top) > 12 {
		t.Errorf("the folders at the top are %v, not %v", got, top)
	}
	for _, folder := range top {
		if _, err := os.Stat(folder + "/doc.go"); err != nil {
			t.Error(err)
		}
	}
}

// TestCoreLines counts the lines of Go without tests, blanks and comments, and
// prints them by folder where BAROGRAPH_LINES is set (.ci/lines).
func TestCoreLines(t *testing.T) {
	const limit = 55_000
	inCore, others := map[string]int{}, map[string]int{}
	goFiles(t, func(name string) {
		if strings.HasSuffix(name, "_test.go") {
			return
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		lines := map[int]bool{}
		var s scanner.Scanner
		set := token.NewFileSet()
		file := set.AddFile(name, -1, len(text))
		s.Init(file, text, nil, 0)
		for {
			pos, tok, literal := s.Scan()
			if tok == token.EOF {
				break
			}
			if tok == token.SEMICOLON && literal == "\n" {
				continue
			}
			first := file.Line(pos)
			for i := range strings.Count(literal, "\n") + 1 {
				lines[first+i] = true
			}
		}
		folder := path.Dir(name)
		if parts := strings.Split(folder, "/"); len(parts) > 2 {
			folder = path.Join(parts[:2]...)
		}
		if core.Satellite(name) {
			others[folder] += len(lines)
		} else {
			inCore[folder] += len(lines)
		}
	})
	sum := func(m map[string]int) (n int) {
		for _, lines := range m {
			n += lines
		}
		return n
	}
	if os.Getenv("BAROGRAPH_LINES") != "" {
		for _, p := range []struct {
			name    string
			folders map[string]int
		}{{"core", inCore}, {"satellites", others}} {
			for _, folder := range slices.Sorted(maps.Keys(p.folders)) {
				fmt.Fprintf(os.Stdout, "%7d  %s\n", p.folders[folder], folder)
			}
			fmt.Fprintf(os.Stdout, "%7d  %s\n\n", sum(p.folders), strings.ToUpper(p.name))
		}
	}
	if n := sum(inCore); n > limit {
		t.Errorf("the core has %d lines; its limit is %d", n, limit)
	}
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

// TestImportTable compares the imports of every file that is not a test with the
// table, in both directions. The core imports no satellite.
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
			if ours && !core.Satellite(name) && !core.Satellite(pkg) && core.Satellite(imported) && pkg != "cmd/barograph" && pkg != "engine/all" {
				t.Errorf("%s is in the core and imports the satellite %s", name, imported)
			}
			if at := permission(row, imported); at >= 0 {
				unused[row][at] = ""
			} else if ours && !slices.Contains(shared, imported) {
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

// rejected are words of a private dialect that plain text has no use for, and sentences that
// readers stumbled over.
var rejected = regexp.MustCompile(`(?i)\b((fore|un)?told|foretells?|unasked|everybodys|askers?|(un)?parted|mend(ed|s|ing)?|begun|same again|other values|` +
	`(is|are|be|was|were|been) had|beside it|(tell|say)s whether|hope/dares|held says what held|deal deals|once prepares a statement where)\b`)

// ambiguous words often mean that a sentence must be rewritten.
var ambiguous = regexp.MustCompile(`(?i)\b(part|way|under|there|above|ends|hold|whole|tell)s?\b`)

// quotations are names that earlier versions stored or accepted.
var quotations = regexp.MustCompile("\"start_told\"|\"begun/?\"|formerly\\(c, \"\\w+\"|--(mend|askers)\\b|`((lines_)?same_again|other_values|mend)`")

// TestWords rejects words in Go, Markdown, scripts and the golden reports, except in
// quotations; identifiers count by the words in them. It logs how often ambiguous words occur.
func TestWords(t *testing.T) {
	camel := regexp.MustCompile(`([a-z0-9])([A-Z])`)
	counts := map[string]int{}
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if name == "runs" || (strings.HasPrefix(d.Name(), ".") && name != ".") || d.Name() == "node_modules" {
				return filepath.SkipDir
			}
			return err
		}
		golden := strings.HasPrefix(filepath.ToSlash(name), "results/report/testdata/")
		if name == "layout_test.go" || !golden && !slices.Contains([]string{".go", ".md", ".sh", ".ts"}, path.Ext(name)) {
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		for i, line := range strings.Split(quotations.ReplaceAllString(string(text), ""), "\n") {
			line = strings.ReplaceAll(camel.ReplaceAllString(line, "$1 $2"), "_", " ")
			if word := rejected.FindString(line); word != "" {
				t.Errorf("%s:%d: %q: write plain words", name, i+1, word)
			}
			for _, word := range ambiguous.FindAllString(line, -1) {
				counts[strings.ToLower(word)]++
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("ambiguous words: %v", counts)
}

// TestOneParticipant: only study.Participant and Describe copy what an engine says
// of itself into a run folder, so that no study can lose a field.
func TestOneParticipant(t *testing.T) {
	goFiles(t, func(name string) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "Unranked = about") != (name == "study/participant.go") && name != "layout_test.go" {
			t.Errorf("%s copies an engine's description, or study/participant.go does not", name)
		}
		if bytes.Contains(text, []byte("Unranked: about.")) && name != "layout_test.go" {
			t.Errorf("%s copies an engine's description", name)
		}
	})
}

// TestNamesOfEngine: the contract that every engine and ability imports stays small.
func TestNamesOfEngine(t *testing.T) {
	const limit = 60
	files, err := filepath.Glob("engine/*.go")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			names = append(names, exported(d)...)
		}
	}
	if len(names) > limit {
		t.Errorf("package engine exports %d names, not %d at most: %v", len(names), limit, names)
	}
}

// exported are the names that a declaration adds to its package; methods add none.
func exported(d ast.Decl) (names []string) {
	add := func(n *ast.Ident) {
		if n.IsExported() {
			names = append(names, n.Name)
		}
	}
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			add(d.Name)
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				add(s.Name)
			case *ast.ValueSpec:
				for _, n := range s.Names {
					add(n)
				}
			}
		}
	}
	return names
}
