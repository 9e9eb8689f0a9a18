package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/barograph/barograph/results/run"
)

// Step is an access in the form that the page shows.
type Step struct {
	Method, Class string
	Object, Index string
	Counts        string
}

// why explains every timed case only by what the plans report about how rows are found. The section
// is empty if no plan reports that.
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
		}, Words: say("How each configuration found its rows, according to the plan of its engine, and how many it examined. The sentences are derived from these figures; a click on a flavour opens its plan."),
		Notes: []string{"Examined: rows of all tables of the plan, including those that were discarded. “≥”: a step has no count. “~”: an estimate of the engine. A document or a pair contains several records, so fewer than one may be examined for each row of the result. SQLite counts only full scans of tables; DuckDB counts the rows of the row groups that it could not skip; PostgreSQL’s counts of parallel scans are exact to half a row for each process. Plans were taken once, before the timing."},
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
		part := Section{ID: "why-" + c.Name, Title: c.Name, Small: c.Title + ", " + several(c.Rows, "row"), Words: []Words{{"because", f.because(c, best, worst)}}, Table: f.whyTable(c, slices.Compact([]*CellSummary{best, worst}))}
		if len(all) > len(part.Table.Rows) {
			part.Parts = []Section{{Title: "Every configuration of " + c.Name, Small: count(len(all)), Folded: true, Table: f.whyTable(c, all)}}
		}
		s.Parts = append(s.Parts, part)
	}
	return s
}

// slowest returns the last timed configuration that is not the client overhead, or nil.
func (c *CaseSummary) slowest() *CellSummary {
	for i := len(c.Cells) - 1; i >= 0; i-- {
		if c.Cells[i].Times != nil && !c.Cells[i].ClientOverhead {
			return &c.Cells[i]
		}
	}
	return nil
}

func (f *folder) whyTable(c *CaseSummary, cells []*CellSummary) *Table {
	t := table("engine", "design", "flavour", "median (ms)", "ratio (×)", "how rows are found (examined → kept)", "examined", "of", "per row (of the result)")
	best := c.fastest()
	for _, k := range cells {
		flavour := Cell{Text: k.Flavour, Link: "#" + anchor("plan", k.CellKey)}
		t.add(classOf(k.ClientOverhead, k == best), append([]Cell{text(k.Engine), text(k.Design), flavour, numeric(k.Times.Median), k.ratio(best)}, f.accessCells(c, k)...)...)
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
	n, known, measured := run.SumExamined(all)
	prefix := ""
	switch {
	case !known && n == 0:
		return []Cell{how, dim("not reported"), text(f.unit(k.CellKey))}
	case !known:
		prefix = "≥ "
	case !measured:
		prefix = "~ "
	}
	per := numeric(float64(n) / float64(c.Rows))
	if per.Known {
		per.Text = prefix + per.Text
	}
	return []Cell{how, value(n, prefix+count(n)), text(f.unit(k.CellKey)), per}
}

// access returns how a cell's plan reads stored data.
func (f *folder) access(c CellKey) []run.Access {
	return cmp.Or(first(f.plans, func(p run.Plan) bool { return cellKeyOf(p.Cell) == c }), &run.Plan{}).Access
}

// unit is the kind of object in which an archive stores its records: rows, documents, pairs.
func (f *folder) unit(c CellKey) string {
	return cmp.Or(f.archive(c.Configuration).ObjectKind, "rows")
}

// because describes in a sentence which counts of the plans accompany the difference between the
// slowest and the fastest configuration. It gives counts and methods. If the slowest does not
// examine more, it states that they explain nothing.
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
	head := fmt.Sprintf("%s %s %s (%s and %s ms, for %s of the result", slow, longer, fast,
		number(float64(worst.Times.Median)), number(float64(best.Times.Median)), several(c.Rows, "row"))
	if worst.Times.Mark == "?" {
		head += "; the repetitions are too few to distinguish the difference from noise"
	}
	head += "): "
	a, b := f.access(worst.CellKey), f.access(best.CellKey)
	if len(a) == 0 || len(b) == 0 {
		return head + "the run does not record how both find their rows."
	}
	n, m := f.examinedRows(worst.CellKey), f.examinedRows(best.CellKey)
	both := fmt.Sprintf("it examines %s (%s), the fastest %s (%s)", n.words, mainAccess(a).Description(), m.words, mainAccess(b).Description())
	switch {
	case !n.counted || !m.counted:
		return head + both + "; the plans do not count both."
	case n.unit != m.unit:
		return head + both + "; counts of " + n.unit + " and of " + m.unit + " cannot be compared."
	case n.n > m.n && m.n > 0:
		return head + both + ", " + number(float64(n.n)/float64(m.n)) + " times fewer."
	case n.n > m.n:
		return head + both + "."
	case n.n == m.n:
		return head + both + ", the same number: the rows examined do not explain the difference."
	}
	return head + both + ", which is more: the rows examined do not explain the difference."
}

// examinedRows is what a cell's plan examined.
type examinedRows struct {
	n       int64
	unit    string
	counted bool // n is complete and was measured
	words   string
}

func (f *folder) examinedRows(c CellKey) examinedRows {
	n, known, measured := run.SumExamined(f.access(c))
	l := examinedRows{n: n, unit: f.unit(c), counted: known && measured}
	l.words = count(n) + " " + l.unit
	switch {
	case !known && n == 0:
		l.words = l.unit + " that its engine does not count"
	case !known:
		l.words = "at least " + l.words
	case !measured:
		l.words = "about " + l.words
	}
	return l
}

// mainAccess returns the step that examines the most. If no step reports a count, it returns the
// first full scan, else the last step.
func mainAccess(all []run.Access) run.Access {
	most := slices.MaxFunc(all, func(a, b run.Access) int { return int(min(max(a.Examined-b.Examined, -1), 1)) })
	if most.Examined >= 0 {
		return most
	}
	return *cmp.Or(first(all, func(a run.Access) bool { return a.Method == "full scan" }), &all[len(all)-1])
}
