package report

import (
	"cmp"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/results/run"
)

// planLimit is the maximum size of a query and its plan on the page, in bytes. A query that lists the keys of a long period
// has megabytes.
const planLimit = 560

// planSection lists the plans by case.
func (f *folder) planSection() Section {
	s := Section{ID: "plans", Title: "Queries and plans"}
	for _, c := range append(slices.Clone(f.cases), run.Case{}) {
		part := Section{Title: cmp.Or(c.Name, "other"), Folded: true}
		for _, p := range f.plans {
			cell := cellKeyOf(p.Cell)
			if cell.Case != c.Name {
				continue
			}
			shown := Section{ID: anchor("plan", cell), Class: "plan", Title: cell.String(), Text: p.Text, Folded: true}
			if c.Name == "" {
				shown.ID, shown.Title = "", p.Name
			}
			if len(p.Text) > planLimit {
				head, tail := p.Text[:planLimit/2], p.Text[len(p.Text)-planLimit/2:]
				omitted := fmt.Sprintf("\n\n… %s left out …\n\n", byteSize(float64(len(p.Text)-planLimit)))
				shown.Text = strings.ToValidUTF8(head, "") + omitted + strings.ToValidUTF8(tail, "")
			}
			file := Cell{Text: "plans/" + p.Name + ".txt", Link: "plans/" + url.PathEscape(p.Name) + ".txt"}
			shown.Prose = [][]Cell{{file}}
			part.Parts = append(part.Parts, shown)
		}
		place := func(s Section) int {
			return slices.IndexFunc(f.configurations, func(c Configuration) bool { return c.String() == s.Title })
		}
		slices.SortStableFunc(part.Parts, func(a, b Section) int { return place(a) - place(b) })
		part.Small = count(len(part.Parts))
		s.Parts = append(s.Parts, filled(part)...)
	}
	if len(s.Parts) == 0 {
		s.Words = []Words{{"none", "This run kept no plans."}}
	}
	return s
}

// anchor returns the id of an element of the page for a cell. kind is "plan", "cell" (the row of the cell in the table of
// its case), "way" (the row of its configuration in the table of all cases), "archive", "choice" or "law".
func anchor(kind string, c CellKey) string {
	name := strings.Join([]string{c.Case, c.Engine, c.Design, c.Flavour}, ".")
	return kind + "-" + notInAnchors.ReplaceAllString(name, "-")
}

// notInAnchors matches a character that an anchor does not contain.
var notInAnchors = regexp.MustCompile(`[^A-Za-z0-9._-]`)

// method describes how the run measured, and how to repeat it.
func (f *folder) method() Section {
	s := Section{ID: "method", Title: "How it was measured", Facts: glossary()}
	s.Notes = []string{"Cold starts were not measured in this run."}
	if f.run.ColdMethod != "" {
		s.Notes = []string{"Cold starts here: " + f.run.ColdMethod + "."}
	}
	load := Section{Title: "The client's own load", Words: []Words{{"none", "Not recorded."}}}
	if c := f.run.Client; c.Wall > 0 {
		load.Words = say("For an embedded engine this includes the engine, which runs inside the client.")
		cpu := fmt.Sprintf("%s user and %s system in %s: %.0f %% of %s",
			elapsed(c.User), elapsed(c.System), elapsed(c.Wall), 100*c.Share(), several(c.Cores, "core"))
		collections := fmt.Sprintf("%s, %s in pauses, the longest %s",
			several(int(c.GCs), "cycle"), elapsed(c.GCPause), elapsed(c.GCPauseMax))
		memory := "peak resident " + byteSize(float64(c.PeakRSS))
		load.Facts = []Fact{{"CPU", cpu}, {"Memory", memory}, {"Garbage collector", collections}}
	}
	repetition := Section{Title: "To repeat it", Text: commandLine(f.run.Args)}
	repetition.Notes = []string{fmt.Sprintf("Seed %d determines the order of the repetitions and the bootstrap. %s",
		f.run.Seed, prose("run folder"))}
	link := func(file string) Cell { return Cell{Text: file, Link: file} }
	repetition.Prose = [][]Cell{sentence("All repetitions: ", link("samples.csv"), ", ", link("samples.parquet"), ".")}
	s.Parts = []Section{load, repetition}
	return s
}

// glossary defines the terms of a report on a study of met.
func glossary() []Fact {
	names := []string{
		"Cell", "Equal", "Time", "First row", "Median, interval", "Ratio", "p", "Group", "Interleaving",
		"Client overhead", "Cold", "Client", "Keys derived", "Complete archive",
	}
	return lists.Map(names, func(name string) Fact { return Fact{name, prose("glossary: " + name)} })
}
