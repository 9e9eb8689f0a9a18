package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/plot"
)

// minLogRatio is the ratio of the largest to the smallest median from which a picture has a logarithmic axis.
const minLogRatio = 20

// Sizes of pictures on the page, in px. A picture of pageWidth fills the page: its width is that of the text and of the
// picture's own margins. Two pictures of curveWidth are next to each other.
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
		cells, class := texts(k.Engine, k.Design, k.Flavour), classOf(k.ClientOverhead || k.Unranked != "", k == best)
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

// medians returns Table 1 of the original, with a row for each configuration and a column for each case. The client
// overhead is first, because every other time contains it. Then follow the ranked configurations, the fastest first,
// and then those that did not answer every case.
func (rs *results) medians(s *Summary) *Table {
	t := table("engine", "design", "flavour")
	t.Head = append(t.Head, lists.Map(s.Cases, func(c CaseSummary) Column { return Column{Name: c.Name, Spare: true} })...)
	t.Head = append(t.Head, Column{Name: "mean"}, Column{Name: "ratio", Unit: "×"})
	casesWithRows := len(lists.Filter(s.Cases, func(c CaseSummary) bool { return !c.empty() }))
	isOverhead := func(c Configuration) bool { return rs.archive(c).Place == overheadPlace }
	order, ranked := lists.Filter(rs.configurations, isOverhead), map[Configuration]Cell{}
	for _, r := range s.Ranking {
		order = append(order, r.Configuration)
		ranked[r.Configuration] = estimate(estimateOf(r.Ratio, r.Lo, r.Hi))
	}
	for _, c := range rs.configurations {
		order = appendNew(order, c)
	}
	t.Note = prose("medians")
	for _, configuration := range order {
		cells := texts(configuration.Engine, configuration.Design, configuration.Flavour)
		sum, n := 0.0, 0
		for i := range s.Cases {
			c := s.Cases[i].medianCell(configuration)
			if cells = append(cells, c); c.Known {
				sum, n = sum+c.Value, n+1
			}
		}
		ratio := dim(none)
		if reason := rs.archive(configuration).Unranked; reason != "" {
			ratio = dim("not ranked")
			sentence := " " + configuration.Engine + " is not ranked, because " + reason + "."
			if !strings.Contains(t.Note, sentence) {
				t.Note += sentence
			}
		}
		if r, isRanked := ranked[configuration]; isRanked {
			ratio = r
		}
		mean := when(n == casesWithRows && n > 0, numeric(sum/float64(n)), none)
		t.add(rs.class(configuration), append(cells, mean, ratio)...)
		t.setAnchor(anchor("configuration", CellKey{configuration, ""}))
	}
	return t
}

// medianCell returns the median of a configuration, or the reason why it is missing.
func (c *CaseSummary) medianCell(configuration Configuration) Cell {
	k := c.find(configuration)
	switch {
	case k == nil:
		return dim(none)
	case k.Verdict == noRows:
		return dim(noRows)
	case k.Times == nil:
		return bad(k.Verdict)
	}
	out := numeric(k.Times.Median)
	if k == c.fastest() || k.isCompared() && k.Times.Mark == "~" {
		out.Class = "first"
	}
	return out
}

// configurationPair is two configurations that one of the original's tables compares.
type configurationPair struct {
	name string // the text of the first column
	a, b Configuration
}

// family contains the comparisons of one table. Their p-values are corrected together. The callback of each comparison
// then shows it.
type family struct {
	tests     []*measure.Comparison
	callbacks []func(c *measure.Comparison)
}

// add compares sample a with sample b: the ratio is median(a) / median(b). To show a change from x to y, add (y, x).
func (f *family) add(a, b []float64, seed uint64, show func(c *measure.Comparison)) {
	c := measure.Compare(a, b, seed)
	f.tests, f.callbacks = append(f.tests, &c), append(f.callbacks, show)
}

// addCells compares the times of two cells; it does nothing if one has no times.
func (f *family) addCells(a, b *CellSummary, seed uint64, show func(c *measure.Comparison)) {
	if a != nil && b != nil && a.Times != nil && b.Times != nil {
		f.add(a.Times.values, b.Times.values, seed, show)
	}
}

// correct corrects the p-values and shows the comparisons.
func (f *family) correct() {
	measure.CorrectTogether(f.tests)
	for i, c := range f.tests {
		f.callbacks[i](c)
	}
}

// pairTable compares pairs of configurations in every case. A cell shows the change of the median from a to b, and both
// medians.
func (rs *results) pairTable(s *Summary, what string, pairs []configurationPair) *Table {
	t := table(what)
	for i := range s.Cases {
		t.Head = append(t.Head, Column{Name: s.Cases[i].Name, Number: true})
	}
	var all family
	for _, p := range pairs {
		t.add("", text(p.name))
		row := t.Rows[len(t.Rows)-1].Cells
		for k := range s.Cases {
			a, b := s.Cases[k].find(p.a), s.Cases[k].find(p.b)
			all.addCells(b, a, rs.run.Seed, func(c *measure.Comparison) {
				cell := value(c.Ratio, percent(c.Ratio-1))
				if m := c.Mark(); m == "~" || m == "?" {
					cell.Text, cell.Class = m, "dim"
				}
				cell.Sub = number(float64(a.Times.Median)) + " → " + number(float64(b.Times.Median)) + " ms"
				row[k+1] = cell
			})
		}
	}
	all.correct()
	if n := len(all.tests); n > 0 {
		t.Note = fmt.Sprintf(prose("changes of medians"), several(n, "comparison"))
	}
	return t
}

// sameArchive pairs two flavours in every archive that has both.
func (rs *results) sameArchive(a, b string) (out []configurationPair) {
	for _, k := range rs.archives {
		first, second := Configuration{k.Engine, k.Design, a}, Configuration{k.Engine, k.Design, b}
		if slices.Contains(rs.configurations, first) && slices.Contains(rs.configurations, second) {
			out = append(out, configurationPair{k.String() + ": " + a + " → " + b, first, second})
		}
	}
	return out
}

// original returns Tables 2 to 7 of the original README with this run's figures, and the breakdown of the client's
// time, which the original named as an open question.
func (rs *results) original(s *Summary) (out []Section) {
	add := func(title string, t *Table, caption, ifEmpty string) {
		if len(t.Rows) == 0 {
			caption = ifEmpty
		}
		out = append(out, Section{Title: title, Words: say("%s", caption), Table: t})
	}
	pairs := func(all ...[]configurationPair) *Table { return rs.pairTable(s, "archive", slices.Concat(all...)) }
	add("Table 2 · SQL and the query cache", pairs(rs.sameArchive("sql", "cached-sql")),
		"What the server's query cache saves.",
		"No engine of this run has a query cache that answers the same SQL again, so there is nothing to compare.")
	add("Table 3 · ISO strings and epochs",
		pairs(rs.sameArchive("iso-list", "epoch-list"), rs.sameArchive("iso-range", "epoch-range")),
		"The same question with the valid times as ISO strings, then as epochs.",
		"No archive of this run was queried with both ISO strings and epochs.")
	add("Table 4 · A list of times and a range",
		pairs(rs.sameArchive("iso-list", "iso-range"), rs.sameArchive("epoch-list", "epoch-range")),
		"A list of all valid times, then a range from the first to the last.",
		"No archive of this run was queried with both a list and a range of times.")
	add("Table 5 · SQL, a range, and keys", rs.keysTable(s),
		"The relational query, the range over documents, and reads by keys that are derived from the question.",
		"No archive of this run was queried by keys.")
	add("Parts of the time of queries by keys", rs.clientTime(s),
		"The client's time for a query by keys, in the order of its steps.", "No server of this run was queried by keys.")
	return append(out, rs.clusters(s), Section{Title: "Table 7 · Records and sizes of the answers", Table: rs.sizes(s)})
}

// byKeys calls each for every configuration that queries by keys and every case in which it was timed.
func (rs *results) byKeys(s *Summary, each func(c *CaseSummary, k *CellSummary)) {
	for _, configuration := range rs.configurations {
		for i := range s.Cases {
			k := s.Cases[i].find(configuration)
			if strings.HasPrefix(configuration.Flavour, "keys") && k != nil && k.Times != nil {
				each(&s.Cases[i], k)
			}
		}
	}
}

// keysTable returns Table 5. For each configuration that queries by keys it compares the relational query of the same
// engine, the range query in the same design, and the keys.
func (rs *results) keysTable(s *Summary) *Table {
	t := table("archive", "case", "SQL (ms)", "range (ms)", "keys (ms)", "deriving keys (ms)", "SQL − keys (ms)",
		"range − keys (ms)")
	var differences family
	rs.byKeys(s, func(c *CaseSummary, k *CellSummary) {
		engine, design := k.Engine, k.Design
		sql := c.find(rs.firstOf(Configuration{engine, "normalized", "sql"}, Configuration{engine, "wide", "sql"}))
		byRange := c.find(rs.firstOf(Configuration{engine, design, "iso-range"}, Configuration{engine, design, "epoch-range"}))
		t.add("", text(k.String()), text(c.Name), numeric(sql.median()), numeric(byRange.median()), numeric(k.median()),
			numeric(k.Times.Derive))
		row := t.Rows[len(t.Rows)-1].Cells
		for i, other := range []*CellSummary{sql, byRange} {
			differences.addCells(other, k, rs.run.Seed, func(test *measure.Comparison) {
				cell := numeric(other.median() - k.median())
				if m := test.Mark(); m == "~" || m == "?" {
					cell.Text, cell.Class = m+" "+cell.Text, "dim"
				}
				row[6+i], t.Head[6+i].Number = cell, true
			})
		}
	})
	differences.correct()
	t.Note = prose("keys")
	return t
}

// median returns the median of a cell; NaN if the cell does not exist or has no times.
func (k *CellSummary) median() float64 {
	if k != nil && k.Times != nil {
		return float64(k.Times.Median)
	}
	return math.NaN()
}

// firstOf returns the first of the given configurations that the run contains.
func (rs *results) firstOf(configurations ...Configuration) Configuration {
	isKnown := func(c Configuration) bool { return slices.Contains(rs.configurations, c) }
	return *cmp.Or(first(configurations, isKnown), &Configuration{})
}

// clientTime shows how the client spends the time of a query by keys, in the steps that the original names: derive the
// ids, wait for the server, decode the response, assemble the result. It covers only servers. An embedded engine works
// in the client's own process, so its time cannot be distinguished from the client's.
func (rs *results) clientTime(s *Summary) *Table {
	t := table("archive", "case", "ids", "derive (ms)", "request (ms)", "decode (ms)", "assemble (ms)",
		"first row after (ms)")
	rs.byKeys(s, func(c *CaseSummary, k *CellSummary) {
		cpu := float64(k.Times.Client)
		if rs.archive(k.Configuration).Place != "server" || math.IsNaN(cpu) {
			return
		}
		overhead := first(c.Cells, func(k CellSummary) bool { return k.ClientOverhead }).median()
		t.add("", text(k.String()), text(c.Name), countCell(k.Times.Keys), numeric(k.Times.Derive),
			numeric(max(0, k.median()-cpu)), numeric(max(0, cpu-overhead)), numeric(overhead), numeric(k.Times.FirstRow))
	})
	t.Note = prose("client time")
	return t
}

// sizes returns Table 7: records and bytes of each reference result.
func (rs *results) sizes(s *Summary) *Table {
	t := table("case", "question", "line type", "rows", "columns", "size (bytes)", "per row (bytes)", "keys read")
	for i, c := range rs.cases {
		keys := dim(none)
		for _, k := range s.Cases[i].Cells {
			if k.Times != nil && k.Times.Keys > 0 {
				keys = countCell(k.Times.Keys)
			}
		}
		counts := []Cell{countCell(c.Rows), countCell(len(c.Columns)), countCell(c.Bytes)}
		counts = append(counts, numeric(float64(c.Bytes)/float64(c.Rows)), keys)
		t.add("", append(texts(c.Name, c.Title, c.LineType), counts...)...)
	}
	t.Note = "Sizes are those of the decoded result in canonical types."
	return t
}
