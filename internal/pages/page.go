package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/template"
	"text/template/parse"

	"github.com/barograph/barograph/results/run"
)

// page is a page that is being rendered.
type page struct {
	dir, name string
	original  original
	expanded  string // run folders as Barograph's packages read them
	index     map[string]keptFolder
	folders   map[string]*folder
	files     map[string][]byte // the rendered files by name
	values    map[string]any    // what the templates share, see set and get
}

// folder is a run folder that was read.
type folder struct {
	dir     string
	run     *run.Run
	samples []run.Sample
	plans   []run.Plan
	facts   map[string]string
	values  []any // the samples as JSON, for paths
	runJSON any
}

// original is the file NAME.json: the numbers of a published evaluation.
type original struct {
	Title  string                   `json:"title"`
	Year   int                      `json:"year"`
	Source string                   `json:"source"` // where the document is
	Text   string                   `json:"text"`   // file name of its text in shared/seeds
	Tables map[string]originalTable `json:"tables"`
	// Figures are single numbers by name, each with the section in which the document has it.
	Figures map[string]originalFigure `json:"figures"`
}

type originalTable struct {
	Where   string   `json:"where"`
	Unit    string   `json:"unit"`
	Columns []string `json:"columns"` // the first is that of the rows' names
	Rows    [][]any  `json:"rows"`    // null = the document has no number there
}

type originalFigure struct {
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
	Where string  `json:"where"`
}

// render executes the template of a page. The result is its file and those of its pictures.
func render(dir, name string) (map[string][]byte, error) {
	p, err := newPage(dir, name)
	if err != nil {
		return nil, err
	}
	return p.files, nil
}

// newPage renders a page. The landing page has no runs of its own: it uses what the other pages set. A page without
// NAME.json compares with no published evaluation.
func newPage(dir, name string) (p *page, err error) {
	p = &page{dir: dir, name: name, folders: map[string]*folder{}, files: map[string][]byte{}, values: map[string]any{}}
	text, err := os.ReadFile(filepath.Join(dir, name+".md.tmpl"))
	if err != nil {
		return nil, err
	}
	if name != landing {
		if err := readJSON(filepath.Join(dir, name+".json"), &p.original); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		remove, err2 := p.expandRuns()
		if err2 != nil {
			return nil, err2
		}
		defer func() { err = errors.Join(err, remove()) }()
		if err := readJSON(filepath.Join(dir, "runs", name, keptIndex), &p.index); err != nil {
			return nil, err
		}
	}
	t, err := template.New(name + ".md.tmpl").Option("missingkey=error").Funcs(p.functions()).Parse(string(text))
	if err != nil {
		return nil, err
	}
	if err := typedFigures(t); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	out.WriteString("<!-- written by docs/results/render.sh; edit " + name + ".md.tmpl -->\n")
	if err := t.Execute(&out, p); err != nil {
		return nil, err
	}
	p.files[name+".md"] = tidy(out.Bytes())
	return p, nil
}

// expandRuns expands the kept run folders of the page into a temporary folder, which remove removes.
func (p *page) expandRuns() (remove func() error, err error) {
	if p.expanded, err = os.MkdirTemp("", "barograph-pages-"); err != nil {
		return nil, err
	}
	expanded := p.expanded
	remove = func() error { return os.RemoveAll(expanded) }
	if err := expand(filepath.Join(p.dir, "runs", p.name), expanded); err != nil {
		return nil, errors.Join(err, remove())
	}
	return remove, nil
}

// on reads a number from the kept run folders of another page.
func (p *page) on(name string, read func(other *page) (number, error)) (n number, err error) {
	other := &page{dir: p.dir, name: name, folders: map[string]*folder{}}
	remove, err := other.expandRuns()
	if err != nil {
		return n, err
	}
	defer func() { err = errors.Join(err, remove()) }()
	return read(other)
}

// finding is what a page contributes to the landing page.
type finding struct {
	Name, Title string // Name is that of the page; "" = the evaluation has no page yet
	Year        int
	Sentences   []any  // set "found"
	Picture     string // set "picture"
}

// findings renders all other pages.
func (p *page) findings() (out []finding, err error) {
	names, err := pageNames(p.dir)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if _, err := os.Stat(filepath.Join(p.dir, name+".json")); err != nil {
			continue // the landing page itself, or a page without a published evaluation
		}
		other, err := newPage(p.dir, name)
		if err != nil {
			return nil, err
		}
		f := finding{Name: name, Title: other.original.Title, Year: other.original.Year}
		f.Sentences, _ = other.values["found"].([]any)
		f.Picture, _ = other.values["picture"].(string)
		if other.files[f.Picture] == nil && f.Picture != "" {
			return nil, fmt.Errorf("%s.md.tmpl sets the picture %q, which does not exist", name, f.Picture)
		}
		out = append(out, f)
	}
	originals, err := filepath.Glob(filepath.Join(p.dir, "*.json"))
	if err != nil {
		return nil, err
	}
	for _, path := range originals {
		name := strings.TrimSuffix(filepath.Base(path), ".json")
		if slices.Contains(names, name) {
			continue
		}
		var o original
		if err := readJSON(path, &o); err != nil {
			return nil, err
		}
		out = append(out, finding{Title: o.Title, Year: o.Year})
	}
	slices.SortStableFunc(out, func(a, b finding) int { return b.Year - a.Year })
	return out, nil
}

// tidy removes the blank lines that actions leave, and spaces at the ends of lines.
func tidy(text []byte) []byte {
	text = regexp.MustCompile(`[ \t]+\n`).ReplaceAll(text, []byte("\n"))
	text = regexp.MustCompile(`\n{3,}`).ReplaceAll(text, []byte("\n\n"))
	return append(bytes.TrimSpace(text), '\n')
}

func readJSON(path string, v any) error {
	text, err := os.ReadFile(path)
	if err == nil {
		if err = json.Unmarshal(text, v); err != nil {
			err = fmt.Errorf("%s: %w", path, err)
		}
	}
	return err
}

var (
	// codeText matches code, targets of links, and comments, in which digits are allowed.
	codeText = regexp.MustCompile("(?s)```.*?```|`[^`]*`|\\]\\([^)]*\\)|<!--.*?-->")
	// allowedNames matches names with digits that are no figures: years, table 1, SAL1L2, 95 % interval, and numbers of a
	// list.
	allowedNames = regexp.MustCompile(`(?i)\b((19|20)\d\d|` +
		`(test|tests|table|tables|figure|workload|experiment|query|part|http|rule)s? \d(, \d)*( (and|to) \d)?|` +
		`[a-z/_]+\d[\w/]*|95 % intervals?|(50|95|99)th)\b|\bintervals are of 95 %|(?m:^\d+\.)`)
	// yearsWithUnit matches what allowedNames would take for a year, but has a unit.
	yearsWithUnit = regexp.MustCompile(`\b(19|20)\d\d (ms|µs|ns|s|min|h|%|[kMGT]?i?B|bytes|times)(\W|$)`)
	wordWithDigit = regexp.MustCompile(`\S*\d\S*`)
	// verb matches a verb of printf.
	verb = regexp.MustCompile(`%[-+# 0]*\d*(\.\d+)?[a-z]`)
)

// typedText returns what a pipeline prints as it is typed: the formats of all calls of printf that have several words,
// without their verbs, and the numbers that these calls, digits and integer print.
func typedText(pipe *parse.PipeNode) (text string) {
	if pipe == nil {
		return ""
	}
	for _, c := range pipe.Cmds {
		printed, isPrinter := map[string]int{"integer": 1, "digits": 2, "printf": 2}[c.Args[0].String()] // first printed argument
		for i, a := range c.Args {
			switch a := a.(type) {
			case *parse.PipeNode:
				text += typedText(a)
			case *parse.StringNode:
				if i == 1 && c.Args[0].String() == "printf" {
					if isPrinter = strings.Contains(a.Text, " "); isPrinter {
						text += verb.ReplaceAllString(strings.ReplaceAll(a.Text, "%%", "%"), " ") + " "
					}
				}
			case *parse.NumberNode:
				if isPrinter && i >= printed {
					text += " " + a.Text + " "
				}
			}
		}
	}
	return text
}

// typedFigures finds figures that are typed into a template where computed ones belong: in its text, in the formats of
// printf, and in the arguments that printf, digits and integer print. It does not see figures in other strings, in
// arithmetic and in variables. A number from 1900 to 2099 without a unit counts as a year.
func typedFigures(t *template.Template) error {
	var text strings.Builder
	var walk func(n parse.Node)
	list := func(l *parse.ListNode) {
		if l != nil {
			for _, n := range l.Nodes {
				walk(n)
			}
		}
	}
	branch := func(n *parse.BranchNode) {
		text.WriteString(typedText(n.Pipe))
		list(n.List)
		list(n.ElseList)
	}
	walk = func(n parse.Node) {
		switch n := n.(type) {
		case *parse.TextNode:
			text.Write(n.Text)
		case *parse.ActionNode: // {{0.5}} prints a typed figure, too
			c := n.Pipe.Cmds
			isValue := len(n.Pipe.Decl) == 0 && len(c[0].Args) == 1 // also {{12 | integer}}
			if isValue && c[0].Args[0].Type() == parse.NodeNumber {
				text.WriteString(c[0].String())
			}
			text.WriteString(" " + typedText(n.Pipe))
		case *parse.IfNode:
			branch(&n.BranchNode)
		case *parse.RangeNode:
			branch(&n.BranchNode)
		case *parse.WithNode:
			branch(&n.BranchNode)
		default:
			text.WriteString(" ")
		}
	}
	for _, each := range t.Templates() {
		list(each.Root)
	}
	prose := codeText.ReplaceAllString(text.String(), " ")
	found := yearsWithUnit.FindAllString(prose, -1)
	found = append(found, wordWithDigit.FindAllString(allowedNames.ReplaceAllString(prose, " "), -1)...)
	if len(found) > 0 {
		return fmt.Errorf("%s: figures are typed, not computed: %q", t.Name(), found)
	}
	return nil
}

// open reads a kept run folder, once.
func (p *page) open(name string) (*folder, error) {
	if f, ok := p.folders[name]; ok {
		return f, nil
	}
	f := &folder{dir: filepath.Join(p.expanded, name), facts: map[string]string{}}
	var err error
	if f.run, f.samples, err = run.Read(f.dir); err != nil {
		return nil, err
	}
	if f.plans, err = run.ReadPlans(f.dir); err != nil {
		return nil, err
	}
	text, err := json.Marshal(f.run)
	if err == nil {
		err = json.Unmarshal(text, &f.runJSON)
	}
	for i := range f.samples {
		if err == nil {
			text, err = json.Marshal(f.samples[i])
		}
		var v any
		if err == nil {
			err = json.Unmarshal(text, &v)
		}
		f.values = append(f.values, v)
	}
	if err != nil {
		return nil, err
	}
	p.folders[name] = f
	return f, nil
}

// fact reads a line "name value" of a file NAME.facts, which run.sh wrote.
func (p *page) fact(file, name string) (string, error) {
	text, err := os.ReadFile(filepath.Join(p.expanded, file+".facts"))
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(text)) {
		if k, v, ok := strings.Cut(strings.TrimSpace(line), " "); ok && k == name {
			return v, nil
		}
	}
	return "", fmt.Errorf("%s.facts has no line %s", file, name)
}

// matching returns the indices of the samples that meet conditions such as "engine=duckdb",
// "case=test_3" or "phase=cold". Without a phase it omits the cold samples.
func (f *folder) matching(conditions []string) (out []int) {
	phase := run.Phase("")
	for _, c := range conditions {
		if v, ok := strings.CutPrefix(c, "phase="); ok {
			phase = run.Phase(v)
		}
	}
	for i := range f.samples {
		s := &f.samples[i]
		meets := phase == "" && s.Phase != run.Cold || s.Phase == phase
		for _, c := range conditions {
			name, want, _ := strings.Cut(c, "=")
			switch name {
			case "phase":
			case "engine":
				meets = meets && s.Cell.Engine == want
			default:
				meets = meets && s.Cell.Value(name) == want
			}
		}
		if meets {
			out = append(out, i)
		}
	}
	return out
}

// cellsOf names the cells of samples.
func (f *folder) cellsOf(samples []int) []string {
	cells := map[string]bool{}
	for _, i := range samples {
		cells[f.samples[i].Cell.String()] = true
	}
	return slices.Sorted(maps.Keys(cells))
}

// errAbsent is the error of at for a path that leads to nothing: JSON omits zeros, and a failed repetition has no
// measurement.
var errAbsent = errors.New("is absent")

// at follows a path such as groups[operation=READ].response.p95_ns in JSON. An index selects the
// only member of an array that meets all its conditions.
func at(v any, path string) (any, error) {
	for _, step := range steps(path) {
		name, index, _ := strings.Cut(strings.TrimSuffix(step, "]"), "[")
		object, ok := v.(map[string]any)
		if !ok && v != nil {
			return nil, fmt.Errorf("%v has no members, so no %s", v, step)
		}
		if v, ok = object[name]; !ok {
			return nil, fmt.Errorf("%s %w among %v", name, errAbsent, slices.Sorted(maps.Keys(object)))
		}
		if index == "" {
			continue
		}
		array, ok := v.([]any)
		if !ok && v != nil {
			return nil, fmt.Errorf("%s is %v, not an array", name, v)
		}
		found := 0
		for _, member := range array {
			m, _ := member.(map[string]any)
			meets := m != nil
			for c := range strings.SplitSeq(index, ",") {
				key, want, _ := strings.Cut(c, "=")
				meets = meets && fmt.Sprint(m[key]) == want
			}
			if meets {
				v = member
				found++
			}
		}
		if found == 0 {
			return nil, fmt.Errorf("a member of %s that meets [%s] %w", name, index, errAbsent)
		}
		if found > 1 {
			return nil, fmt.Errorf("%d members of %s meet [%s]", found, name, index)
		}
	}
	return v, nil
}

// steps splits a path at the points outside of brackets.
func steps(path string) (out []string) {
	depth, start := 0, 0
	for i, c := range path {
		switch {
		case c == '[':
			depth++
		case c == ']':
			depth--
		case c == '.' && depth == 0:
			out = append(out, path[start:i])
			start = i + 1
		}
	}
	return append(out, path[start:])
}
