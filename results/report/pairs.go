package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/barograph/barograph/results/measure"
)

// medians returns Table 1 of the original, with a row for each configuration and a column for each case. The client
// overhead is first, because every other time contains it. Then follow the ranked configurations, the fastest first,
// and then those that did not answer every case.
func (rs *results) medians(s *Summary) *Table {
	t := table("engine", "design", "flavour")
	casesWithRows := 0
	for i := range s.Cases {
		t.Head = append(t.Head, Column{Name: s.Cases[i].Name, Spare: true})
		if !s.Cases[i].empty() {
			casesWithRows++
		}
	}
	t.Head = append(t.Head, Column{Name: "mean"}, Column{Name: "ratio", Unit: "×"})
	var order []Configuration
	ranked := map[Configuration]Cell{}
	for _, c := range rs.configurations {
		if rs.archive(c).Place == overheadPlace {
			order = append(order, c)
		}
	}
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
		t.setAnchor(anchor("way", CellKey{configuration, ""}))
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

// add compares two samples.
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
