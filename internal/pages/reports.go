package main

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/results/plot"
	"github.com/barograph/barograph/results/report"
	"github.com/barograph/barograph/results/run"
)

// answer returns the first sentences of the report of a run folder; with texts, only those that contain all texts.
func (p *page) answer(name string, containing ...string) (string, error) {
	r, err := report.Open(filepath.Join(p.expanded, name))
	if err != nil {
		return "", err
	}
	var out []string
	for _, w := range r.Answers {
		lacks := func(text string) bool { return !strings.Contains(w.Text, text) }
		if (w.Class == "answer" || w.Class == "because") && !slices.ContainsFunc(containing, lacks) {
			out = append(out, w.Text)
		}
	}
	if len(out) == 0 {
		return "", fmt.Errorf("the report of %s has no sentence with %q", name, containing)
	}
	return strings.Join(out, " "), nil
}

// failures returns a list of the problems of a folder, each with the configurations and (in parentheses) the numbers of
// clients that have it; "" = nothing failed.
func (p *page) failures(name string) (string, error) {
	f, err := p.open(name)
	if err != nil {
		return "", err
	}
	var order []string // of the problems, without their amounts
	problems, cells := map[string]string{}, map[string][]string{}
	for i := range f.samples {
		s := &f.samples[i]
		if s.Problem == "" {
			continue
		}
		kind := amounts.ReplaceAllString(s.Problem, "")
		if cells[kind] == nil {
			order, problems[kind] = append(order, kind), strings.ReplaceAll(s.Problem, "`", "'")
		}
		cells[kind] = append(cells[kind], strings.Join([]string{
			s.Cell.Engine, s.Cell.Value("layout"), s.Cell.Value("mix"), "(" + s.Cell.Value("threads") + ")",
		}, " "))
	}
	var out []string
	for _, kind := range order {
		slices.Sort(cells[kind])
		out = append(out, "- "+strings.Join(slices.Compact(cells[kind]), ", ")+": `"+problems[kind]+"`")
	}
	return strings.Join(out, "\n"), nil
}

// amounts are the parts by which two texts about one problem differ.
var amounts = regexp.MustCompile(`(?i)failed to \w+( \w+)* of|could not \w+ \w+ of|[0-9.]+( [kmg]i?b)?`)

// option is the value of an option in the command line of a run.
func (p *page) option(name, flag string) (string, error) {
	f, err := p.open(name)
	if err != nil {
		return "", err
	}
	if i := slices.Index(f.run.Args, flag); i >= 0 && i+1 < len(f.run.Args) {
		return f.run.Args[i+1], nil
	}
	return "", fmt.Errorf("%s was not run with %s", name, flag)
}

// projection is what a growth study stored about its largest size before it measured this size. The conditions name
// engine, design, flavour and case. Without flavour and case it is a size on disk in MB, else a time in ms.
func (p *page) projection(name string, conditions ...string) (number, error) {
	q, err := p.storedProjection(name, conditions)
	return number{Estimate: q.Projected}, err
}

// projectionLaw is the law of a projection, which fitted the smaller sizes better than the other one.
func (p *page) projectionLaw(name string, conditions ...string) (string, error) {
	q, err := p.storedProjection(name, conditions)
	if q.Law == "linear" {
		return "line", err
	}
	return q.Law, err
}

func (p *page) storedProjection(name string, conditions []string) (q report.Projection, err error) {
	var stored struct {
		Projections []report.Projection `json:"projections"`
	}
	if err := readJSON(filepath.Join(p.expanded, name, "growth.json"), &stored); err != nil {
		return q, err
	}
	want := report.Projection{}
	for _, c := range conditions {
		axis, value, _ := strings.Cut(c, "=")
		switch axis {
		case "engine":
			want.Engine = value
		case "design":
			want.Design = value
		case "flavour":
			want.Flavour = value
		case "case":
			want.Case = value
		default:
			return q, fmt.Errorf("a projection has no %s", axis)
		}
	}
	for _, q := range stored.Projections {
		if q.CellKey == want.CellKey {
			return q, nil
		}
	}
	return q, fmt.Errorf("%s/growth.json has no projection of %v", name, conditions)
}

// warnings are the warnings of run folders, each once, without those of cases that have no rows. Equal texts after the first
// colon are one warning, with all that is before it.
func (p *page) warnings(names ...string) (out []string, err error) {
	for _, name := range names {
		if !p.exists(name) {
			continue
		}
		f, err := p.open(name)
		if err != nil {
			return nil, err
		}
		places := map[string]string{} // of the warnings with the same text
		for _, w := range f.run.Warnings {
			place, text, ok := strings.Cut(w, ": ")
			if i := slices.Index(out, "`"+name+"`: "+places[text]+": "+text); ok && i >= 0 && !slices.Contains(strings.Split(places[text], "; "), place) {
				places[text] += "; " + place
				out[i] = "`" + name + "`: " + places[text] + ": " + text
			} else if full := "`" + name + "`: " + w; i < 0 && !slices.Contains(out, full) && !strings.Contains(w, "has no rows in this data") {
				places[text] = place
				out = append(out, full)
			}
		}
	}
	return out, nil
}

// days lists the sizes of a growth study, in ascending order.
func (p *page) days(name string) (out []string) {
	for _, path := range lists.Files(filepath.Join(p.expanded, name), "days-*") {
		out = append(out, strings.TrimPrefix(filepath.Base(path), "days-"))
	}
	slices.SortFunc(out, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
	return out
}

// section is a table of the report of a run folder, by the title of its section.
func (p *page) section(name, title string) (string, error) {
	r, err := report.Open(filepath.Join(p.expanded, name))
	if err != nil {
		return "", err
	}
	var titles []string
	var find func(sections []report.Section) *report.Section
	find = func(sections []report.Section) *report.Section {
		for i := range sections {
			titles = append(titles, sections[i].Title)
			if sections[i].Title == title && sections[i].Table != nil {
				return &sections[i]
			}
			if s := find(sections[i].Parts); s != nil {
				return s
			}
		}
		return nil
	}
	s := find(r.Sections)
	if s == nil {
		return "", fmt.Errorf("the report of %s has no table %q among %q", name, title, titles)
	}
	return markdown(s.Table), nil
}

// killed lists the samples of run folders that `barograph faults` wrote. It omits folders that do not exist.
func (p *page) killed(names []string) (out []*run.Sample, err error) {
	for _, name := range names {
		if !p.exists(name) {
			continue
		}
		f, err := p.open(name)
		if err != nil {
			return nil, err
		}
		for i := range f.samples {
			s := &f.samples[i]
			if s.Kill == nil || s.Measured() == nil {
				return nil, fmt.Errorf("%s: %s has no outcome of a kill", name, s.Cell)
			}
			out = append(out, s)
		}
	}
	return out, nil
}

// damage is how many acknowledged records were lost and how many results were wrong when nodes were killed.
func (p *page) damage(names ...string) (number, error) {
	all, err := p.killed(names)
	n := 0.0
	for _, s := range all {
		n += float64(s.Kill.Acknowledged - s.Kill.Found + int64(s.Kill.Wrong))
	}
	return exactly(n), err
}

// failedCalls is how many calls of clients failed when nodes were killed.
func (p *page) failedCalls(names ...string) (number, error) {
	all, err := p.killed(names)
	n := 0.0
	for _, s := range all {
		n += float64(s.Kill.Errors)
	}
	return exactly(n), err
}

// kills is a table of what clients noticed when a node was killed, from run folders that `barograph faults` wrote.
func (p *page) kills(names ...string) (string, error) {
	all, err := p.killed(names)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	out.WriteString("| engine, design, nodes | node killed during | until the node was back | lost or wrong | failed calls | " +
		"longest time without a success, s | node back after, s |\n" +
		"|---|---|---|---:|---:|---:|---:|\n")
	for _, s := range all {
		k, m := s.Kill, s.Measured()
		during, untilBack := "the load", run.FormatCount(k.Acknowledged)+" records acknowledged since the load began"
		lostOrWrong := k.Acknowledged - k.Found
		if s.Cell.Value("during") == run.DuringQuestions {
			during, untilBack = "the questions", run.CountOf(k.CorrectWhileDown, "correct result")+" since the kill"
			lostOrWrong = int64(k.Wrong)
		}
		fmt.Fprintf(&out, "| %s, %s, %d | %s | %s | %d | %d | %s | %s |\n",
			s.Cell.Engine, s.Cell.Value("design"), k.Nodes, during, untilBack, lostOrWrong, k.Errors,
			plot.Digits(m.LongestGap.Seconds(), 3), plot.Digits(m.Total.Seconds(), 3))
	}
	return out.String(), nil
}

// factsOf is a table of what was measured where, when and by which program.
func (p *page) factsOf(names ...string) (string, error) {
	var out strings.Builder
	machines, versions, products := map[string]bool{}, map[string]bool{}, map[string]bool{}
	var order []string
	add := func(to map[string]bool, kind, text string) {
		if !to[text] {
			to[text] = true
			order = append(order, fmt.Sprintf("| %s | %s |\n", kind, text))
		}
	}
	var runs strings.Builder
	for _, name := range names {
		if !p.exists(name) {
			fmt.Fprintf(&runs, "| `%s` | not measured | | | |\n", name)
			continue
		}
		f, err := p.open(name)
		if err != nil {
			return "", err
		}
		m := f.run.Machine
		add(machines, "machine", fmt.Sprintf("%s, %d threads, %d usable, %s GB of memory, %s, %s, %s",
			m.CPU, m.Threads, m.UsableCPUs, plot.Digits(float64(m.Memory)/1e9, 3), m.OS, m.Kernel, m.Virtual))
		add(versions, "Barograph", "commit `"+f.run.Version+"`, "+m.Go)
		for _, a := range f.run.Archives {
			text := a.Product + " " + a.Version
			if a.Server != nil {
				text += fmt.Sprintf(", profile %s, %s", a.Server.Profile, run.CountOf(a.Server.Nodes, "node"))
			}
			if a.Unranked != "" {
				text += ", not ranked: " + a.Unranked
			}
			if a.Engine != "dry" {
				add(products, "engine", text)
			}
		}
		k, ok := p.index[name]
		if !ok {
			return "", fmt.Errorf("%s has no folder %s", keptIndex, name)
		}
		took := "interrupted"
		if !f.run.Finished.IsZero() {
			took = f.run.Finished.Sub(f.run.Started).Round(time.Second).String()
		}
		fmt.Fprintf(&runs, "| `%s` | %s | %s | %s | `%s` (%s, %s) |\n",
			name, f.run.Started.UTC().Format("2006-01-02 15:04"), took,
			plot.Digits(m.Load[0], 3), k.Digest, run.CountOf(k.Files, "file"), sizeText(k.Bytes))
	}
	if len(machines) > 1 {
		return "", errors.New("the runs are of several machines")
	}
	slices.SortStableFunc(order, func(a, b string) int {
		return strings.Compare(strings.SplitN(a, "|", 3)[1], strings.SplitN(b, "|", 3)[1])
	})
	out.WriteString("| | |\n|---|---|\n" + strings.Join(order, ""))
	out.WriteString("\n| run folder | started (UTC) | took | load average before | digest of the complete folder |\n" +
		"|---|---|---|---|---|\n" + runs.String())
	return out.String(), nil
}

func markdown(t *report.Table) string {
	var out strings.Builder
	var rule strings.Builder
	rule.WriteString("|")
	out.WriteString("|")
	for _, c := range t.Head {
		name := c.Name
		if c.Unit != "" {
			name += " (" + c.Unit + ")"
		}
		out.WriteString(" " + name + " |")
		rule.WriteString(map[bool]string{true: "---:|", false: "---|"}[c.Number])
	}
	out.WriteString("\n" + rule.String() + "\n")
	for _, r := range t.Rows {
		out.WriteString("|")
		for _, c := range r.Cells {
			text := strings.TrimSpace(c.Text + " " + c.Sub)
			out.WriteString(" " + strings.ReplaceAll(text, "|", `\|`) + " |")
		}
		out.WriteString("\n")
	}
	return out.String()
}

func sizeText(n int64) string {
	if n < 1e6 {
		return plot.Digits(float64(n)/1e3, 3) + " kB"
	}
	return plot.Digits(float64(n)/1e6, 3) + " MB"
}
