package report

import (
	"fmt"
	"slices"
	"strings"

	"barograph/run"
)

// whyCase explains the times of a case by what the plans say of how rows are
// reached, and by nothing else.
type whyCase struct {
	Name, Title string
	Rows        int
	Sentence    string
	Pair        table // the fastest way and the slowest
	All         table // every way; no rows where the pair is all
}

// step is an access as the page shows it.
type step struct {
	Method, Class string
	Object, Index string
	Counts        string
}

// explains reports whether the folder holds what explanations are made of.
func (f *folder) explains() bool {
	return slices.ContainsFunc(f.plans, func(p run.Plan) bool { return len(p.Access) > 0 })
}

// why explains every case in which anything was timed.
func (f *folder) why() []whyCase {
	if !f.explains() {
		return nil
	}
	var out []whyCase
	for i := range f.sum.Cases {
		c := &f.sum.Cases[i]
		best, worst := c.fastest(), c.slowest()
		if best == nil {
			continue
		}
		w := whyCase{Name: c.Name, Title: c.Title, Rows: c.Rows, Sentence: f.because(c, best, worst)}
		ends := []*CellSummary{best}
		if worst != best {
			ends = append(ends, worst)
		}
		var all []*CellSummary
		for k := range c.Cells {
			if c.Cells[k].Times != nil {
				all = append(all, &c.Cells[k])
			}
		}
		w.Pair = f.whyTable(c, best, ends)
		if len(all) > len(ends) {
			w.All = f.whyTable(c, best, all)
		}
		out = append(out, w)
	}
	return out
}

// slowest is the last timed way that is no floor, or nil.
func (c *CaseSummary) slowest() *CellSummary {
	for i := len(c.Cells) - 1; i >= 0; i-- {
		if c.Cells[i].Times != nil && !c.Cells[i].Floor {
			return &c.Cells[i]
		}
	}
	return nil
}

func (f *folder) whyTable(c *CaseSummary, best *CellSummary, cells []*CellSummary) table {
	t := table{Wide: true, Head: []column{
		{Name: "engine", Text: true}, {Name: "design", Text: true}, {Name: "flavour", Text: true}, {Name: "median", Unit: "ms"}, {Name: "ratio", Unit: "×"},
		{Name: "how rows are reached", Unit: "looked at → kept", Text: true}, {Name: "looked at"}, {Name: "of", Text: true}, {Name: "per row", Unit: "of the answer"},
	}}
	for _, k := range cells {
		r := row{Cells: []cell{text(k.Engine), text(k.Design), {Text: k.Flavour, Link: "#" + planAnchor(k.Asked)}, value(float64(k.Times.Median), number(float64(k.Times.Median)))}}
		switch {
		case k.Floor:
			r.Class = "floor"
			r.Cells = append(r.Cells, dim("floor"))
		case k == best:
			r.Class = "best"
			r.Cells = append(r.Cells, value(1, "1"))
		default:
			r.Cells = append(r.Cells, ratioCell(k.Times))
		}
		r.Cells = append(r.Cells, f.reached(c, k)...)
		t.Rows = append(t.Rows, r)
	}
	return t
}

// reached are the columns on how a way reaches its rows.
func (f *folder) reached(c *CaseSummary, k *CellSummary) []cell {
	all := f.access(k.Asked)
	if len(all) == 0 {
		return []cell{dim("not recorded"), dim(none), dim(""), dim(none)}
	}
	how := cell{}
	words := make([]string, len(all))
	for i, a := range all {
		words[i] = a.Words()
		s := step{Method: a.Method, Class: strings.ReplaceAll(a.Method, " ", "-"), Object: a.Object, Index: a.Index}
		if a.Examined >= 0 { // else the next column says that it is not told
			s.Counts = a.Counts()
		}
		how.Steps = append(how.Steps, s)
	}
	how.Text = strings.Join(words, ", then ")
	n, known, measured := run.Examined(all)
	unit := f.unit(k.Asked)
	switch {
	case !known && n == 0:
		return []cell{how, dim("not told"), text(unit), dim(none)}
	case !known:
		return []cell{how, value(float64(n), "≥ "+count(n)), text(unit), perRow(n, c.Rows, "≥ ")}
	case !measured:
		return []cell{how, value(float64(n), "~ "+count(n)), text(unit), perRow(n, c.Rows, "~ ")}
	}
	return []cell{how, value(float64(n), count(n)), text(unit), perRow(n, c.Rows, "")}
}

func perRow(n int64, rows int, prefix string) cell {
	if rows == 0 {
		return dim(none)
	}
	v := float64(n) / float64(rows)
	return value(v, prefix+number(v))
}

// access is how a cell's plan reaches what is stored.
func (f *folder) access(c Asked) []run.Access {
	for _, p := range f.plans {
		if askedOf(p.Cell) == c {
			return p.Access
		}
	}
	return nil
}

// unit is what an archive stores its records in: rows, documents, pairs.
func (f *folder) unit(c Asked) string {
	if a := f.find(c.Engine, c.Design); a != nil && a.Object != "" {
		return a.Object
	}
	return "rows"
}

// because says in a sentence what of the plans goes with the slowest way being
// slower than the fastest. It states counts and methods; where they do not
// differ the right way round it says that they explain nothing.
func (f *folder) because(c *CaseSummary, best, worst *CellSummary) string {
	fast := way{best.Engine, best.Design, best.Flavour}.String()
	if worst == best {
		return fmt.Sprintf("Only %s was timed: there is nothing to compare it with.", fast)
	}
	slow := way{worst.Engine, worst.Design, worst.Flavour}.String()
	if worst.Times.Mark == "~" {
		return fmt.Sprintf("Not even the slowest way, %s, is slower than the fastest, %s, by more than the noise: there is nothing to explain.", slow, fast)
	}
	head := fmt.Sprintf("%s takes %s times as long as %s (%s against %s ms", slow, number(float64(worst.Times.Ratio)), fast,
		number(float64(worst.Times.Median)), number(float64(best.Times.Median)))
	head += fmt.Sprintf(", for %s of the answer", several(c.Rows, "row"))
	if worst.Times.Mark == "?" {
		head += "; by medians alone, as the repetitions are too few to tell a difference from noise"
	}
	head += "): "
	a, b := f.access(worst.Asked), f.access(best.Asked)
	if len(a) == 0 || len(b) == 0 {
		return head + "the run does not hold how both reach their rows."
	}
	n, m := f.looked(worst.Asked), f.looked(best.Asked)
	both := fmt.Sprintf("it looks at %s (%s), the fastest at %s (%s)", n.words, mainAccess(a).Words(), m.words, mainAccess(b).Words())
	switch {
	case !n.counted || !m.counted:
		return head + both + "; without both counts the plans say no more."
	case n.unit != m.unit:
		return head + both + "; counts of " + n.unit + " and of " + m.unit + " do not compare."
	case n.n > m.n && m.n > 0:
		return head + both + ", " + number(float64(n.n)/float64(m.n)) + " times fewer."
	case n.n > m.n:
		return head + both + "."
	case n.n == m.n:
		return head + both + ", the same number: what is looked at does not explain the difference."
	}
	return head + both + ", which is more: what is looked at does not explain the difference."
}

// looked is what a cell's plan looked at.
type looked struct {
	n       int64
	unit    string
	counted bool // n is whole and was measured
	words   string
}

func (f *folder) looked(c Asked) looked {
	n, known, measured := run.Examined(f.access(c))
	l := looked{n: n, unit: f.unit(c), counted: known && measured}
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

// mainAccess is the step that looks at the most; where none tells, the first
// that reads a table whole, else the last.
func mainAccess(all []run.Access) run.Access {
	most := slices.MaxFunc(all, func(a, b run.Access) int { return int(min(max(a.Examined-b.Examined, -1), 1)) })
	if most.Examined >= 0 {
		return most
	}
	if i := slices.IndexFunc(all, func(a run.Access) bool { return a.Method == "full scan" }); i >= 0 {
		return all[i]
	}
	return all[len(all)-1]
}

// planAnchor is the place of a cell's plan in the page.
func planAnchor(c Asked) string {
	return "plan-" + strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '-' || r == '_' {
			return r
		}
		return '-'
	}, strings.Join([]string{c.Case, c.Engine, c.Design, c.Flavour}, "."))
}
