package report

import (
	"cmp"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/barograph/barograph/results/run"
)

// Step is an access of a plan, as the page shows it.
type Step struct {
	Method, Class string
	Object, Index string
	Counts        string
}

// why explains the times of every case by how the engines found the rows, as far as their plans report it. The section
// is empty if no plan reports it.
func (f *folder) why() Section {
	if !slices.ContainsFunc(f.plans, func(p run.Plan) bool { return len(p.Access) > 0 }) {
		return Section{}
	}
	s := Section{
		ID: "why", Title: "Why", Steps: []Step{
			{"full scan", "full-scan", "a full scan", "", ""},
			{"pruned scan", "pruned-scan", "blocks that cannot match are skipped", "", ""},
			{"index scan", "index-scan", "ranges of an index are read", "", ""},
			{"key lookup", "key-lookup", "single entries are read by their complete key", "", ""},
		}, Words: explain("why"), Notes: []string{prose("examined rows")},
	}
	for i := range f.sum.Cases {
		c := &f.sum.Cases[i]
		best, worst := c.fastest(), c.slowest()
		if best == nil {
			continue
		}
		var all []*CellSummary
		for k := range c.Cells {
			if c.Cells[k].Times != nil {
				all = append(all, &c.Cells[k])
			}
		}
		part := Section{
			ID: "why-" + c.Name, Title: c.Name, Small: c.Title + ", " + several(c.Rows, "row"),
			Words: []Words{{"because", f.because(c, best, worst)}},
			Table: f.whyTable(c, slices.Compact([]*CellSummary{best, worst})),
		}
		if len(all) > len(part.Table.Rows) {
			title := "Every configuration of " + c.Name
			part.Parts = []Section{{Title: title, Small: count(len(all)), Folded: true, Table: f.whyTable(c, all)}}
		}
		s.Parts = append(s.Parts, part)
	}
	return s
}

// slowest returns the slowest configuration that may be compared, or nil.
func (c *CaseSummary) slowest() *CellSummary {
	for i := len(c.Cells) - 1; i >= 0; i-- {
		if c.Cells[i].isCompared() {
			return &c.Cells[i]
		}
	}
	return nil
}

// whyTable lists how configurations of a case found their rows.
func (f *folder) whyTable(c *CaseSummary, cells []*CellSummary) *Table {
	t := table("engine", "design", "flavour", "median (ms)", "ratio (×)", "how rows are found (examined → kept)", "examined",
		"kind", "per row (of the result)")
	best := c.fastest()
	for _, k := range cells {
		flavour := Cell{Text: k.Flavour, Link: "#" + anchor("plan", k.CellKey)}
		row := []Cell{text(k.Engine), text(k.Design), flavour, numeric(k.Times.Median), k.ratio(best)}
		t.add(classOf(k.ClientOverhead, k == best), append(row, f.accessCells(c, k)...)...)
	}
	return t
}

// accessCells returns the columns about how a configuration finds its rows.
func (f *folder) accessCells(c *CaseSummary, k *CellSummary) []Cell {
	all := f.access(k.CellKey)
	if len(all) == 0 {
		return []Cell{dim("not recorded"), dim(none), dim("")}
	}
	how := Cell{}
	for _, a := range all {
		s := Step{Method: a.Method, Class: strings.ReplaceAll(a.Method, " ", "-"), Object: a.Object, Index: a.Index}
		if a.Examined >= 0 { // otherwise the next column shows that the count is not reported
			s.Counts = a.Counts()
		}
		how.Steps = append(how.Steps, s)
		how.Text += ", then " + a.Description()
	}
	how.Text = strings.TrimPrefix(how.Text, ", then ")
	n, known, counted := run.SumExamined(all)
	prefix := ""
	switch {
	case !known && n == 0:
		return []Cell{how, dim("not reported"), text(f.objectKind(k.CellKey))}
	case !known:
		prefix = "≥ "
	case !counted:
		prefix = "~ "
	}
	per := numeric(float64(n) / float64(c.Rows))
	if per.Known {
		per.Text = prefix + per.Text
	}
	return []Cell{how, value(n, prefix+count(n)), text(f.objectKind(k.CellKey)), per}
}

// access returns how a cell's plan reads stored data.
func (f *folder) access(c CellKey) []run.Access {
	return cmp.Or(first(f.plans, func(p run.Plan) bool { return cellKeyOf(p.Cell) == c }), &run.Plan{}).Access
}

// objectKind returns the kind of object in which an archive stores its records: rows, documents, pairs.
func (f *folder) objectKind(c CellKey) string {
	return cmp.Or(f.archive(c.Configuration).ObjectKind, "rows")
}

// because describes in a sentence the difference between the slowest and the fastest configuration, with the methods
// and counts of their plans. If the slowest does not examine more rows, the sentence states that they do not explain
// the difference.
func (f *folder) because(c *CaseSummary, best, worst *CellSummary) string {
	fast := best.String()
	if worst == best {
		return fmt.Sprintf("Only %s was timed, so there is no comparison.", fast)
	}
	slow := worst.String()
	if worst.Times.Mark == "~" {
		return fmt.Sprintf("The slowest configuration, %s, is not significantly slower than the fastest, %s.", slow, fast)
	}
	longer := "has a longer median than"
	if span := interval(float64(worst.Times.RatioLo), float64(worst.Times.RatioHi)); span != none && worst.Times.Mark != "?" {
		longer = fmt.Sprintf("takes %s times (%s) as long as", number(float64(worst.Times.Ratio)), span)
	}
	times := fmt.Sprintf("%s %s %s (%s and %s ms, for %s of the result", slow, longer, fast,
		number(float64(worst.Times.Median)), number(float64(best.Times.Median)), several(c.Rows, "row"))
	if worst.Times.Mark == "?" {
		times += "; the repetitions are too few to distinguish the difference from noise"
	}
	slowAccess, fastAccess := f.access(worst.CellKey), f.access(best.CellKey)
	if len(slowAccess) == 0 || len(fastAccess) == 0 {
		return times + "): the run does not record how both find their rows."
	}
	slowRows, fastRows := f.examinedRows(worst.CellKey), f.examinedRows(best.CellKey)
	both := fmt.Sprintf("%s): it examines %s (%s), the fastest %s (%s)", times, slowRows.words,
		mainAccess(slowAccess).Description(), fastRows.words, mainAccess(fastAccess).Description())
	switch {
	case !slowRows.isCounted || !fastRows.isCounted:
		return both + "; the plans do not count both."
	case slowRows.kind != fastRows.kind:
		return both + "; counts of " + slowRows.kind + " and of " + fastRows.kind + " cannot be compared."
	case slowRows.n > fastRows.n && fastRows.n > 0:
		return both + ", " + number(float64(slowRows.n)/float64(fastRows.n)) + " times fewer."
	case slowRows.n > fastRows.n:
		return both + "."
	case slowRows.n == fastRows.n:
		return both + ", the same number: the rows examined do not explain the difference."
	}
	return both + ", which is more: the rows examined do not explain the difference."
}

// examinedRows is the number of rows, documents or pairs that a plan examined.
type examinedRows struct {
	n         int64
	kind      string
	isCounted bool // n is complete, and the engine counted all of it
	words     string
}

// examinedRows sums the counts of a cell's plan.
func (f *folder) examinedRows(c CellKey) examinedRows {
	n, known, counted := run.SumExamined(f.access(c))
	e := examinedRows{n: n, kind: f.objectKind(c), isCounted: known && counted}
	e.words = count(n) + " " + e.kind
	switch {
	case !known && n == 0:
		e.words = e.kind + " that its engine does not count"
	case !known:
		e.words = "at least " + e.words
	case !counted:
		e.words = "about " + e.words
	}
	return e
}

// mainAccess returns the step that examines the most. If no step reports a count, it returns the first full scan, else
// the last step.
func mainAccess(all []run.Access) run.Access {
	most := slices.MaxFunc(all, func(a, b run.Access) int { return cmp.Compare(a.Examined, b.Examined) })
	if most.Examined >= 0 {
		return most
	}
	return *cmp.Or(first(all, func(a run.Access) bool { return a.Method == "full scan" }), &all[len(all)-1])
}

// planLimit is the maximum size of a query and its plan on the page, in bytes. A query that lists the keys of a long
// period has megabytes.
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

// anchor returns the id of an element of the page for a cell. kind is "plan", "cell" (the row of the cell in the table
// of its case), "configuration" (its row in the table of all cases), "archive", "choice" or "law".
func anchor(kind string, c CellKey) string {
	name := strings.Join([]string{c.Case, c.Engine, c.Design, c.Flavour}, ".")
	return kind + "-" + notInAnchors.ReplaceAllString(name, "-")
}

// notInAnchors matches a character that an anchor does not contain.
var notInAnchors = regexp.MustCompile(`[^A-Za-z0-9._-]`)
