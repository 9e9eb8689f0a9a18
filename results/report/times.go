package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/plot"
)

// minLogRatio is the ratio of the largest to the smallest median from which a picture has a logarithmic axis.
const minLogRatio = 20

// pageWidth is the width of the page's text and the margins of a picture, in px; curveWidth is half of it.
const (
	pageWidth     = 1096
	curveWidth    = 558
	profileHeight = 500 // lower than a separate profile, to fit next to a die-off
)

// times shows the medians of all cases, then each case.
func (f *folder) times() Section {
	medians := Section{Title: "Table 1 · All medians, ms", Table: f.medians(&f.sum), Terminal: true}
	s := Section{ID: "times", Title: "Times", Parts: filled(medians)}
	if len(s.Parts) == 0 {
		s.Words = []Words{{"none", "No cell was timed."}}
	} else {
		s.Words = say("%s", f.speedInWords(&f.sum))
		if slices.ContainsFunc(f.sum.Cases, func(c CaseSummary) bool { return c.fastest() != nil }) {
			s.Pictures = []Drawing{f.smallMultiples()}
		}
	}
	s.Parts = append(s.Parts, lists.Map(lists.Indices(len(f.sum.Cases)), f.caseSection)...)
	return s
}

// caseSection compares the configurations of the i-th case.
func (f *folder) caseSection(i int) Section {
	c, k := &f.sum.Cases[i], f.cases[i]
	properties := fmt.Sprintf("%s, %s", several(c.Rows, "row"), byteSize(float64(k.Bytes)))
	if k.LineType != "" {
		properties = k.LineType + ", " + properties
	}
	s := Section{ID: "case-" + c.Name, Title: c.Name, Small: c.Title, Folded: true, Table: c.table(), Notes: c.notes()}
	s.Words = []Words{{"meta", properties}}
	if len(c.Cells) > 0 && c.Cells[0].Times != nil {
		rows := c.rows(func(k *CellSummary) bool { return k.Times != nil })
		for i := range rows {
			rows[i].Repetitions = c.find(rows[i].configuration).Times.values
		}
		picture := f.picture("Every repetition; upright tick: median", panelOf("", rows))
		s.Parts = []Section{{Title: "Every repetition of " + c.Name, Folded: true, Pictures: []Drawing{picture}}}
	}
	return s
}

// smallMultiples draws the cases one below the other on one axis, each with the fastest flavour of every engine and
// design.
func (f *folder) smallMultiples() Drawing {
	var panels []plot.Panel
	for i := range f.sum.Cases {
		c, seen := &f.sum.Cases[i], map[Configuration]bool{}
		rows := c.rows(func(k *CellSummary) bool {
			archive := Configuration{k.Engine, k.Design, ""}
			isFirst := !seen[archive]
			seen[archive] = true
			return isFirst
		})
		if c.fastest() != nil {
			panels = append(panels, panelOf(c.Name, rows))
		}
	}
	return f.picture(prose("median picture"), panels...)
}

// caseRow is a row of a picture, and its configuration.
type caseRow struct {
	plot.Row
	configuration Configuration
}

// rows returns the rows of the shown cells, the fastest first.
func (c *CaseSummary) rows(shown func(k *CellSummary) bool) (out []caseRow) {
	for i := range c.Cells {
		k := &c.Cells[i]
		if !shown(k) {
			continue
		}
		row := plot.Row{Label: k.String(), Group: k.Engine, Value: plot.Value{V: math.NaN(), Note: k.note()}}
		if t := k.Times; t != nil {
			row.Value = valueOf(estimateOf(t.Median, t.Lo, t.Hi))
		}
		out = append(out, caseRow{row, k.Configuration})
	}
	return out
}

// panelOf returns a panel of a picture.
func panelOf(title string, rows []caseRow) plot.Panel {
	return plot.Panel{Title: title, Rows: lists.Map(rows, func(r caseRow) plot.Row { return r.Row })}
}

// picture draws panels that share an axis of time.
func (f *folder) picture(subtitle string, panels ...plot.Panel) Drawing {
	lo, hi := math.Inf(1), 0.0
	for _, p := range panels {
		for _, r := range p.Rows {
			if r.V > 0 {
				lo, hi = min(lo, r.V), max(hi, r.V)
			}
		}
	}
	out := plot.Rows{
		Frame: plot.Frame{Subtitle: subtitle, XLabel: "time (ms)", Width: pageWidth},
		Unit:  "ms", Log: hi > minLogRatio*lo, Sorted: true, Seed: f.run.Seed, Panels: panels,
	}
	if out.Log {
		out.XLabel = "time (ms, logarithmic)"
	}
	return out
}

// note returns the reason why a cell has no times.
func (k *CellSummary) note() string {
	notes := map[string]string{"wrong": "wrong answer", "failed": "no answer", "incomplete": "incomplete archive"}
	return cmp.Or(notes[k.Verdict], k.Verdict)
}

// optionalColumn is a column that a case has only if one of its cells has a value for it.
type optionalColumn struct {
	name     string
	cell     func(t *Times) Cell
	hasValue func(t *Times) bool
}

// optionalColumns returns the optional columns of a case.
func (c *CaseSummary) optionalColumns() []optionalColumn {
	isKnown := func(v Number) bool { return !math.IsNaN(float64(v)) }
	return lists.Filter([]optionalColumn{
		{"server (ms)", func(t *Times) Cell { return numeric(t.Server) }, func(t *Times) bool { return isKnown(t.Server) }},
		{"keys derived (ms)", func(t *Times) Cell { return numeric(t.Derive) }, func(t *Times) bool { return isKnown(t.Derive) }},
		{"cold (ms)", coldCell, func(t *Times) bool { return t.ColdN > 0 || t.ColdProblem != "" }},
	}, func(o optionalColumn) bool {
		return slices.ContainsFunc(c.Cells, func(k CellSummary) bool { return k.Times != nil && o.hasValue(k.Times) })
	})
}

// table lists the configurations of a case.
func (c *CaseSummary) table() *Table {
	optional, best := c.optionalColumns(), c.fastest()
	columns := []string{"engine", "design", "flavour", "median (ms)", "95 % interval (ms)", "ratio (×)", "p", "group", "proof"}
	columns = append(columns, "first row (ms)")
	columns = append(columns, lists.Map(optional, func(o optionalColumn) string { return o.name })...)
	t := table(append(columns, "rows/s", "answer (MB/s)")...)
	for i := range c.Cells {
		k := &c.Cells[i]
		cells := texts(k.Engine, k.Design, k.Flavour)
		class := classOf(k.ClientOverhead || k.Unranked != "", k == best)
		if x := k.Times; x == nil {
			class, cells = "off", append(cells, bad(k.note()))
		} else {
			p := when(!math.IsNaN(float64(x.PHolm)), value(x.PHolm, probability(float64(x.PHolm))), none)
			cells = append(cells, numeric(x.Median), span(x.Lo, x.Hi), k.ratio(best), p)
			cells = append(cells, text(cmp.Or(x.Letters, none)), text(k.Proof), numeric(x.FirstRow))
			for _, o := range optional {
				cells = append(cells, o.cell(x))
			}
			cells = append(cells, numeric(x.RowsPerSecond), numeric(x.MBPerSecond))
		}
		t.add(class, cells...)
		t.setAnchor(anchor("cell", k.CellKey))
	}
	return t
}

// ratio compares the cell with the fastest of its case.
func (k *CellSummary) ratio(best *CellSummary) Cell {
	t := k.Times
	switch {
	case k.ClientOverhead:
		return dim("client overhead")
	case k.Unranked != "":
		return dim("not ranked")
	case k == best:
		return value(1, "1")
	case t.Mark == "~" || t.Mark == "?":
		return Cell{Text: t.Mark + " " + number(float64(t.Ratio)), Class: "dim", Known: true, Value: float64(t.Ratio)}
	}
	return value(t.Ratio, number(float64(t.Ratio))+" "+t.Mark)
}

// coldCell returns the median of the cold starts.
func coldCell(t *Times) Cell {
	if t.ColdProblem != "" {
		return bad("failed")
	}
	return estimate(estimateOf(t.Cold, t.ColdLo, t.ColdHi))
}

// notes describes how the table was computed and what limits it.
func (c *CaseSummary) notes() (out []string) {
	least, most := math.MaxInt, 0
	var exceptions []string
	for _, k := range c.Cells {
		switch {
		case k.Times == nil:
			continue
		case k.ClientOverhead:
			median := number(float64(k.Times.Median))
			exceptions = appendNew(exceptions, "Client overhead ("+k.Engine+"): "+median+" ms, included in every time.")
		case k.Unranked != "":
			exceptions = appendNew(exceptions, k.Engine+" is not ranked, because "+k.Unranked+".")
		}
		if k.Times.ColdProblem != "" {
			exceptions = append(exceptions, "Cold start of "+k.String()+" failed: "+k.Times.ColdProblem)
		}
		least, most = min(least, k.Times.N), max(most, k.Times.N)
	}
	if most == 0 {
		return []string{"No configuration was timed in this case."}
	}
	reps := several(most, "repetition") + " of each configuration."
	if least < most {
		reps = fmt.Sprintf("%d to %d repetitions of each configuration.", least, most)
	}
	if c.Comparisons > 0 {
		reps += fmt.Sprintf(" Ratio and p: relative to the fastest, %s corrected together.", several(c.Comparisons, "comparison"))
	}
	if ci := measure.MedianCI(make([]float64, least), measure.Confidence); !ci.Known {
		reps += fmt.Sprintf(" A 95 %% interval of a median needs %d repetitions.", ci.Need)
	}
	if c.LeastP >= measure.Alpha {
		reps += " " + fmt.Sprintf(prose("least p"), probability(float64(c.LeastP)))
	}
	return append([]string{reps}, exceptions...)
}
