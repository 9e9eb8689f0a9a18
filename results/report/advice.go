package report

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/results/advise"
	"github.com/barograph/barograph/results/plot"
	"github.com/barograph/barograph/results/run"
)

// Advising is what the reader of a report adds to the run folder for the advice.
type Advising struct {
	Weights advise.Weights // nil = the defaults
	With    []string       // folders of barograph faults
}

// adviser describes the advice of a study with links to the measurements.
type adviser struct {
	*advise.Advice
	study        *advise.Study
	dir          string // of the report
	casePrefix   string // of a case in commands: its file and "#"; "" for run folders of earlier versions
	smallestPage string // page of the smallest size, with its configurations and archives; "" = this page
}

// advise adds the section with the recommendation, if one can be made.
func (r *Report) advise(o Advising) error {
	r.advising = o
	s, err := advise.Read(r.dir, o.With...)
	if err != nil {
		return err
	}
	a := adviser{Advice: s.Advise(o.Weights), study: s, dir: r.dir}
	sizeFolder := ""
	if len(s.Sizes) > 1 {
		sizeFolder = fmt.Sprintf("x%d/", s.Sizes[0].Copies)
		a.smallestPage = sizeFolder + FileName
	}
	cases := filepath.Join(r.dir, sizeFolder, run.CasesFile)
	if _, err := os.Stat(cases); err == nil {
		a.casePrefix = cases + "#"
	}
	if len(a.Choices) == 0 {
		return nil
	}
	r.Data["advice"] = a.Advice
	section := Section{ID: "advice", Title: "How the choice was made", Terminal: true, Prose: a.paragraphs(), Table: a.table()}
	if len(a.Eligible()) > 0 {
		section.Text = a.commands()
		afterAlarms := 0 // the report states a wrong result or an interrupted run before the choice
		for i, w := range r.Answers {
			if isAlarm(w) {
				afterAlarms = i + 1
			}
		}
		r.Answers = slices.Insert(r.Answers, afterAlarms, Words{"answer", a.headline()})
		r.Sections = slices.Insert(r.Sections, 0, a.chosen())
	}
	r.Sections = append(r.Sections, section)
	return nil
}

// sentence joins texts and cells into one paragraph.
func sentence(parts ...any) (out []Cell) {
	for _, p := range parts {
		switch x := p.(type) {
		case Cell:
			out = append(out, x)
		case string:
			out = append(out, text(x))
		case []Cell:
			out = append(out, x...)
		}
	}
	return out
}

// configurationOf returns the configuration of a choice.
func configurationOf(c *advise.Choice) Configuration {
	return Configuration{c.Engine, c.Design, c.Flavour}
}

// headline returns the choice in a sentence, with the reason and the cost of the runner-up.
func (a *adviser) headline() string {
	out := a.choice()
	if next := a.runnerUp(); next != nil {
		name, cost := configurationOf(next).String(), a.cost(next, &a.Choices[0])
		out = append(out, sentence(" The next, ", name, ", is ", cost, " as costly by the weights.")...)
	}
	return withoutLinks(out)
}

// paragraphs describes how the choice was made and what would change it.
func (a *adviser) paragraphs() [][]Cell {
	if len(a.Eligible()) == 0 {
		return [][]Cell{sentence(prose("no choice"))}
	}
	weights := sentence("The weights are " + a.Weights.String() + ".")
	first := &a.Choices[0]
	license := cmp.Or(first.Archive.License, "not recorded")
	out := sentence(configurationOf(first).String(), " needs ", needs(first), ". Its license: ", license, ".")
	if next := a.runnerUp(); next != nil {
		name, cost := configurationOf(next).String(), a.cost(next, first)
		out = append(out, sentence(" The next choice, ", name, ", is ", cost, " as costly by the weights: ")...)
		out = append(out, a.figures(next)...)
		out = append(out, sentence(" It needs ", needs(next), ".")...)
	}
	return [][]Cell{weights, out, sentence(strings.Join(a.changes(), " "))}
}

// runnerUp returns the best choice that is significantly worse than the first one. If all are tied, it returns the
// second; if there is only one choice, nil.
func (a *adviser) runnerUp() *advise.Choice {
	if n := len(a.Eligible()); n > 1 {
		return &a.Choices[max(a.Tied%n, 1)]
	}
	return nil
}

// choice returns the recommended choice and the figures that support it.
func (a *adviser) choice() []Cell {
	first := &a.Choices[0]
	name := configurationOf(first).String()
	out := sentence("Choose ", name, ", because ")
	switch {
	case len(a.Eligible()) == 1:
		out = sentence("Only ", name, " can be recommended: ")
	case !a.HasIntervals():
		out = sentence(prose("choice by medians")+" ", name, " is the best: ")
	case a.Tied > 1:
		ties := lists.Map(a.Choices[:a.Tied], func(c advise.Choice) string { return configurationOf(&c).String() })
		out = sentence(list(ties), " cannot be distinguished by these measurements. ")
		if a.Choices[1].ServerCount() > first.ServerCount() {
			out = append(out, sentence("Choose ", name, ", which needs less to run: ")...)
		} else {
			out = append(out, sentence("Choose the one you know; ", name, " has the better figures: ")...)
		}
	}
	return append(out, a.figures(first)...)
}

// cost returns the cost of a choice by the weights, as a multiple of the cost of the first.
func (a *adviser) cost(c, first *advise.Choice) Cell {
	row := anchor("choice", CellKey{configurationOf(c), ""})
	return Cell{Text: number(c.Score.Value/first.Score.Value) + " times", Link: "#" + row}
}

// figures returns in words those figures of a choice that have a weight.
func (a *adviser) figures(c *advise.Choice) (out []Cell) {
	for _, by := range advise.Criteria() {
		if _, known := c.Figures[by]; !known || a.Counted[by] == 0 {
			continue
		}
		f := a.figure(c, by)
		if f.Sub != "" && by == advise.QueryTime {
			f.Text += " (" + f.Sub + ")"
		}
		f.Sub = ""
		if len(out) > 0 {
			out = append(out, text(", "))
		}
		out = append(out, sentence(map[advise.Criterion][]Cell{
			advise.QueryTime:       sentence("a query of the mix takes ", f),
			advise.FullLoad:        sentence("all the data load in ", f),
			advise.IncrementalLoad: sentence("the same amount loads into the largest archive in ", f),
			advise.Disk:            sentence("the archive takes ", f, " on disk"),
			advise.Growth:          sentence("with four times the subsets in the engine a query takes ", f, " as long"),
			advise.NodeFailure:     sentence("a node failure costs ", f, " without service"),
		}[by])...)
	}
	return append(out, text("."))
}

// figure returns a number with a link to the measurement in the report.
func (a *adviser) figure(c *advise.Choice, by advise.Criterion) Cell {
	e, known := c.Figures[by]
	if !known {
		return dim(none)
	}
	printed, scale := number, 1.0
	var out Cell
	archive := anchor("archive", CellKey{Configuration{c.Engine, c.Design, ""}, ""})
	switch by {
	case advise.QueryTime:
		scale = 1e3
		out.Link = a.smallestPage + "#" + anchor("configuration", CellKey{configurationOf(c), ""})
		printed = func(v float64) string { return number(v) + " ms" }
	case advise.Disk:
		printed, out.Link = byteSize, a.smallestPage+"#"+archive
	case advise.FullLoad:
		printed, out.Link = seconds, a.smallestPage+"#"+archive
	case advise.IncrementalLoad:
		printed, out.Link = seconds, "#"+archive
	case advise.Growth:
		out.Link = "#laws"
		printed = func(v float64) string { return number(v) + " times" }
	case advise.NodeFailure:
		printed, out.Link = seconds, a.nodeFailure(c)
	}
	out.Text, out.Known, out.Value = printed(e.Value*scale), true, e.Value
	if e.Low < e.High {
		out.Sub = interval(e.Low*scale, e.High*scale)
	}
	return out
}

// seconds prints a time in seconds for people.
func seconds(v float64) string { return elapsed(time.Duration(v * 1e9)) }

// serversInWords describes the servers that a choice needs.
func serversInWords(c *advise.Choice) string {
	switch n := c.ServerCount(); {
	case n == 0:
		return "embedded"
	case n > 1:
		return "a cluster of " + several(n, "node")
	}
	return "one server"
}

// needs describes what must be installed and run.
func needs(c *advise.Choice) string {
	switch {
	case c.ServerCount() == 0:
		return "nothing besides Barograph"
	case c.Archive.Install != "":
		return serversInWords(c) + " (" + c.Archive.Install + ")"
	}
	return serversInWords(c)
}

// changes returns sentences about what would change the advice, and about what has no weight.
func (a *adviser) changes() (out []string) {
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	for _, by := range a.Missing {
		name := strings.ToUpper(string(by[:1])) + string(by[1:])
		add("%s has no weight, because it was not measured for %s.", name, a.names(a.Unmeasured(by)))
	}
	switch {
	case a.BestWithMoreData < 0 && len(a.study.Sizes) > 1:
		add(prose("growth not determined"), a.names(a.Unmeasured(advise.Growth)))
	case a.BestWithMoreData < 0:
		add("%s", prose("no choice of other data"))
	case a.BestWithMoreData < max(a.Tied, 1):
		add("With four times the subsets in the engine the choice is the same.")
	default:
		add("With four times the subsets in the engine it is %s.", configurationOf(&a.Choices[a.BestWithMoreData]))
	}
	for _, c := range a.Changes {
		side := "below"
		if c.Factor > 1 {
			side = "above"
		}
		add("If the weight %s is %s %s (%s times as much), the choice is %s.",
			c.Weight, side, number(a.Weights[c.Weight]*c.Factor), number(c.Factor), configurationOf(&a.Choices[c.To]))
	}
	if len(a.Changes) == 0 && len(a.Eligible()) > a.Tied {
		add("The choice stays the same if any one weight is a tenth to ten times as large.")
	}
	for i := len(a.Eligible()); i < len(a.Choices); i++ {
		add("%s is excluded: %s.", configurationOf(&a.Choices[i]), a.Choices[i].Excluded)
	}
	isMissing := slices.Contains(a.Missing, advise.NodeFailure)
	if a.Counted[advise.NodeFailure] == 0 && a.Weights["recover"] > 0 && !isMissing {
		add("%s", prose("no weight of node failures"))
	}
	return out
}

// table lists all choices, the recommended one first.
func (a *adviser) table() *Table {
	t := table("engine", "design", "flavour", "cost (×)")
	criteria := slices.DeleteFunc(advise.Criteria(), func(by advise.Criterion) bool {
		return !slices.ContainsFunc(a.Choices, func(c advise.Choice) bool { _, ok := c.Figures[by]; return ok })
	})
	weight := func(by advise.Criterion) Column {
		return Column{Name: string(by), Unit: "weight " + number(a.Counted[by])}
	}
	t.Head = append(append(t.Head, lists.Map(criteria, weight)...), Column{Name: "requirements"}, Column{Name: "license"})
	for i := range a.Choices {
		c := &a.Choices[i]
		cells := append(texts(c.Engine, c.Design, c.Flavour), estimate(c.Score))
		class := classOf(false, i < a.Tied)
		if c.Excluded != "" {
			cells[3], class = bad("excluded"), "off"
		}
		cells = append(cells, lists.Map(criteria, func(by advise.Criterion) Cell { return a.figure(c, by) })...)
		t.add(class, append(cells, text(serversInWords(c)), text(cmp.Or(c.Archive.License, none)))...)
		t.setAnchor(anchor("choice", CellKey{configurationOf(c), ""}))
	}
	t.Note = prose("advice table")
	return t
}

// maxChoiceRows is the maximum number of rows of the table in the section “The choice”.
const maxChoiceRows = 10

// chosen returns the first section: a picture and a table of the choices, the recommended one first.
func (a *adviser) chosen() Section {
	t := table("configuration", "query (ms)", "load", "on disk", "requirements")
	d := plot.Dots{Frame: plot.Frame{
		Subtitle: "Each engine and design with its fastest flavour. The area of a dot is the size on disk.",
		XLabel:   "time to load all the data (s, logarithmic)", Width: pageWidth,
		YLabel: "time of a query of the mix (ms, logarithmic)",
	}}
	for i := range a.Eligible() {
		c := &a.Choices[i]
		query, load, disk := a.figure(c, advise.QueryTime), a.figure(c, advise.FullLoad), a.figure(c, advise.Disk)
		name := configurationOf(c).String()
		d.Dots = append(d.Dots, plot.Dot{
			Label: c.Engine + " · " + c.Design, Group: c.Engine,
			Note: fmt.Sprintf("%s: query %s, load %s, %s", name, query.Text, load.Text, disk.Text),
			X:    c.Figures[advise.FullLoad].Value, Y: query.Value * 1e3, Size: disk.Value, Bold: i < a.Tied,
		})
		if query.Text = strings.TrimSuffix(query.Text, " ms"); i < maxChoiceRows {
			t.add(classOf(false, i < a.Tied), text(name), query, load, disk, text(serversInWords(c)))
		}
	}
	s := Section{ID: "choice", Title: "The choice", Terminal: true, Table: t}
	if more := len(a.Choices) - len(t.Rows); more > 0 {
		t.Note = several(more, "more configuration") + ": see the section “How the choice was made” of the report."
	}
	switch unloaded := a.Unmeasured(advise.FullLoad); {
	case len(unloaded) < len(a.Eligible()):
		s.Pictures = []Drawing{d}
		if len(unloaded) > 0 {
			s.Notes = []string{"Not in the picture, because their load was not measured: " + a.names(unloaded) + "."}
		}
	default:
		s.Notes = []string{"There is no picture of query and load times: no load was measured in this run."}
	}
	return s
}

// names lists the engines and designs of choices.
func (a *adviser) names(all []advise.Choice) string {
	return list(lists.Map(all, func(c advise.Choice) string { return c.Engine + " · " + c.Design }))
}

// commands returns the commands that create the recommended archive, query it and verify it.
func (a *adviser) commands() string {
	c, size := &a.Choices[0], &a.study.Sizes[0]
	archive := []string{"--engine", c.Archive.URL, "--design", c.Design, "--subset", size.Data.Subset}
	lines := []string{"# keep it"}
	if c.Archive.Server != nil {
		engine, nodes := engineAndNodes(c.Archive)
		up := []string{"lab", "up", engine}
		if nodes > 1 {
			up = append(up, "--nodes", fmt.Sprint(nodes))
		}
		lines = append(lines, commandLine(up)+"   # a temporary server; for production use your own")
	}
	if len(size.Data.Paths) > 0 { // otherwise the archive contains all the data already
		lines = append(lines, commandLine(slices.Concat([]string{"load"}, size.Data.Paths, archive)))
	}
	for _, k := range size.Cases[:min(1, len(size.Cases))] { // only the first case
		ask := slices.Concat([]string{"ask", a.casePrefix + k.Name}, archive, []string{"--flavour", c.Flavour})
		lines = append(lines, commandLine(ask))
	}
	return strings.Join(append(lines, commandLine([]string{"verify", c.Archive.URL})), "\n")
}
