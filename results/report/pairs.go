package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/results/measure"
)

// medians is Table 1 of the original, with a row for each configuration and a column for each case.
// The client overhead is first, then the ranked configurations, the fastest first. Those that did
// not answer every case are last.
func (rs *results) medians(s *Summary) *Table {
	t := table("engine", "design", "flavour")
	asked := 0
	for i := range s.Cases {
		t.Head = append(t.Head, Column{Name: s.Cases[i].Name, Spare: true})
		if !s.Cases[i].empty() {
			asked++
		}
	}
	t.Head = append(t.Head, Column{Name: "mean"}, Column{Name: "ratio", Unit: "×"})
	var order []Configuration
	ranked := map[Configuration]Cell{}
	for _, w := range rs.configurations { // the client overhead is first, because every other time contains it
		if rs.archive(w).Place == overheadPlace {
			order = append(order, w)
		}
	}
	for _, r := range s.Ranking {
		order = append(order, r.Configuration)
		ranked[r.Configuration] = estimate(measure.Estimate{Value: float64(r.Ratio), Low: float64(r.Lo), High: float64(r.Hi)})
	}
	for _, w := range rs.configurations {
		order = appendNew(order, w)
	}
	t.Note = "Medians. Bold: the fastest of the case, and each that is not significantly slower. Mean: over all cases, only for configurations that answered every case. " +
		"Ratio: median divided by the fastest of the case, geometric mean over the cases."
	for _, w := range order {
		cells, sum, n := texts(w.Engine, w.Design, w.Flavour), 0.0, 0
		for i := range s.Cases {
			c := s.Cases[i].medianCell(w)
			if cells = append(cells, c); c.Known {
				sum, n = sum+c.Value, n+1
			}
		}
		ratio := dim(none)
		if why := rs.archive(w).Unranked; why != "" {
			ratio = dim("not ranked")
			if more := " " + w.Engine + " is not ranked, because " + why + "."; !strings.Contains(t.Note, more) {
				t.Note += more
			}
		}
		if q := ranked[w]; q.Text != "" {
			ratio = q
		}
		t.add(rs.class(w), append(cells, when(n == asked && n > 0, numeric(sum/float64(n)), none), ratio)...)
		t.name(anchor("way", CellKey{w, ""}))
	}
	return t
}

// medianCell returns the median of a configuration, or the reason why it is missing.
func (c *CaseSummary) medianCell(w Configuration) Cell {
	k := c.find(w)
	switch {
	case k == nil:
		return dim(none)
	case k.Verdict == noRows:
		return dim(noRows)
	case k.Times == nil:
		return bad(k.Verdict)
	}
	out := numeric(k.Times.Median)
	if k == c.fastest() || k.compared() && k.Times.Mark == "~" {
		out.Class = "first"
	}
	return out
}

// configurationPair is two configurations that one of the original's tables compares.
type configurationPair struct {
	name string // the text of the first column
	a, b Configuration
}

// family is the comparisons of one table. Their p-values are corrected together before they are
// shown.
type family struct {
	tests []*measure.Comparison
	shows []func(c *measure.Comparison)
}

// add compares two samples.
func (f *family) add(a, b []float64, seed uint64, show func(c *measure.Comparison)) {
	c := measure.Compare(a, b, seed)
	f.tests, f.shows = append(f.tests, &c), append(f.shows, show)
}

// cells compares the times of two cells; it does nothing if one has no times.
func (f *family) cells(a, b *CellSummary, seed uint64, show func(c *measure.Comparison)) {
	if a != nil && b != nil && a.Times != nil && b.Times != nil {
		f.add(a.Times.values, b.Times.values, seed, show)
	}
}

func (f *family) correct() {
	measure.CorrectTogether(f.tests)
	for i, c := range f.tests {
		f.shows[i](c)
	}
}

// pairTable compares pairs of configurations in every case. A cell shows how much longer or shorter b
// takes than a, and both medians.
func (rs *results) pairTable(s *Summary, what string, pairs []configurationPair) *Table {
	t := table(what)
	t.Head = append(t.Head, lists.Map(s.Cases, func(c CaseSummary) Column { return Column{Name: c.Name, Number: true} })...)
	var all family
	for _, p := range pairs {
		t.add("", text(p.name))
		row := t.Rows[len(t.Rows)-1].Cells
		for k := range s.Cases {
			a, b := s.Cases[k].find(p.a), s.Cases[k].find(p.b)
			all.cells(b, a, rs.run.Seed, func(c *measure.Comparison) {
				at := value(c.Ratio, percent(c.Ratio-1))
				if m := c.Mark(); m == "~" || m == "?" {
					at.Text, at.Class = m, "dim"
				}
				at.Sub = number(float64(a.Times.Median)) + " → " + number(float64(b.Times.Median)) + " ms"
				row[k+1] = at
			})
		}
	}
	all.correct()
	if n := len(all.tests); n > 0 {
		t.Note = fmt.Sprintf("Change of the median from the first to the second; “~”: no significant difference, “?”: too few repetitions (%s, corrected together).", several(n, "comparison"))
	}
	return t
}

// sameArchive pairs two flavours in every archive that has both.
func (rs *results) sameArchive(a, b string) (out []configurationPair) {
	for _, k := range rs.archives {
		wa, wb := Configuration{k.Engine, k.Design, a}, Configuration{k.Engine, k.Design, b}
		if slices.Contains(rs.configurations, wa) && slices.Contains(rs.configurations, wb) {
			out = append(out, configurationPair{k.String() + ": " + a + " → " + b, wa, wb})
		}
	}
	return out
}

// original returns Tables 2 to 7 of the original README with this run's figures, and the breakdown
// of the client's time, which the original named as an open question.
func (rs *results) original(s *Summary) (out []Section) {
	add := func(title, lead, missing string, t *Table) {
		if len(t.Rows) == 0 {
			lead = missing
		}
		out = append(out, Section{Title: title, Words: say("%s", lead), Table: t})
	}
	add("Table 2 · SQL and the query cache", "What the server's query cache saves.",
		"No engine of this run has a query cache that answers the same SQL again, so there is nothing to compare.", rs.pairTable(s, "archive", rs.sameArchive("sql", "cached-sql")))
	add("Table 3 · ISO strings and epochs", "The same question with the valid times as ISO strings, then as epochs.",
		"No archive of this run was queried with both ISO strings and epochs.", rs.pairTable(s, "archive", append(rs.sameArchive("iso-list", "epoch-list"), rs.sameArchive("iso-range", "epoch-range")...)))
	add("Table 4 · A list of times and a range", "A list of all valid times, then a range from the first to the last.",
		"No archive of this run was queried with both a list and a range of times.", rs.pairTable(s, "archive", append(rs.sameArchive("iso-list", "iso-range"), rs.sameArchive("epoch-list", "epoch-range")...)))
	add("Table 5 · SQL, a range, and keys", "The relational query, the range over documents, and reads by keys that are derived from the question.",
		"No archive of this run was queried by keys.", rs.keysTable(s))
	add("Parts of the time of queries by keys", "The client's time for a query by keys, in the order of its steps.", "No server of this run was queried by keys.", rs.clientTime(s))
	return append(out, rs.clusters(s), Section{Title: "Table 7 · Records and sizes of the answers", Table: rs.sizes(s)})
}

// byKeys calls each for every configuration that queries by keys and every case in which it was
// timed.
func (rs *results) byKeys(s *Summary, each func(w Configuration, c *CaseSummary, k *CellSummary)) {
	for _, w := range rs.configurations {
		for i := range s.Cases {
			if k := s.Cases[i].find(w); strings.HasPrefix(w.Flavour, "keys") && k != nil && k.Times != nil {
				each(w, &s.Cases[i], k)
			}
		}
	}
}

// keysTable is Table 5. For each configuration that queries by keys it compares the relational
// query of the same engine, the range query in the same design, and the keys.
func (rs *results) keysTable(s *Summary) *Table {
	t := table("archive", "case", "SQL (ms)", "range (ms)", "keys (ms)", "deriving keys (ms)", "SQL − keys (ms)", "range − keys (ms)")
	var gaps family
	rs.byKeys(s, func(w Configuration, c *CaseSummary, k *CellSummary) {
		sql := c.find(rs.first(Configuration{w.Engine, "normalized", "sql"}, Configuration{w.Engine, "wide", "sql"}))
		span := c.find(rs.first(Configuration{w.Engine, w.Design, "iso-range"}, Configuration{w.Engine, w.Design, "epoch-range"}))
		t.add("", text(w.String()), text(c.Name), numeric(sql.median()), numeric(span.median()), numeric(k.median()), numeric(k.Times.Derive))
		row := t.Rows[len(t.Rows)-1].Cells
		for i, other := range []*CellSummary{sql, span} {
			gaps.cells(other, k, rs.run.Seed, func(test *measure.Comparison) {
				at := numeric(other.median() - k.median())
				if m := test.Mark(); m == "~" || m == "?" {
					at.Text, at.Class = m+" "+at.Text, "dim"
				}
				row[6+i], t.Head[6+i].Number = at, true
			})
		}
	})
	gaps.correct()
	t.Note = "SQL: flavour sql of the same engine's normalized design (else its wide one). Range: iso-range (else epoch-range) of the archive that was queried by keys. " +
		"Deriving the keys precedes the call, and its time does not include it. “~”: no significant difference, “?”: too few repetitions."
	return t
}

// median of a cell; NaN if the cell does not exist or has no times.
func (k *CellSummary) median() float64 {
	if k != nil && k.Times != nil {
		return float64(k.Times.Median)
	}
	return math.NaN()
}

// first returns the first of the given configurations that the run contains.
func (rs *results) first(configurations ...Configuration) Configuration {
	isKnown := func(w Configuration) bool { return slices.Contains(rs.configurations, w) }
	return *cmp.Or(first(configurations, isKnown), &Configuration{})
}

// clientTime shows how the client spends the time of a query by keys, in the steps that the
// original names: derive the ids, wait for the server, decode the response, assemble the result. It
// covers only servers. An embedded engine works in the client's own process, so its time cannot be
// distinguished from the client's.
func (rs *results) clientTime(s *Summary) *Table {
	t := table("archive", "case", "ids", "derive (ms)", "request (ms)", "decode (ms)", "assemble (ms)", "first row after (ms)")
	rs.byKeys(s, func(w Configuration, c *CaseSummary, k *CellSummary) {
		busy, overhead := float64(k.Times.Client), math.NaN()
		if rs.archive(w).Place != "server" || math.IsNaN(busy) {
			return
		}
		if i := slices.IndexFunc(c.Cells, func(k CellSummary) bool { return k.ClientOverhead }); i >= 0 {
			overhead = c.Cells[i].median()
		}
		t.add("", text(w.String()), text(c.Name), countCell(k.Times.Keys), numeric(k.Times.Derive), numeric(max(0, k.median()-busy)), numeric(max(0, busy-overhead)), numeric(overhead), numeric(k.Times.FirstRow))
	})
	t.Note = "Medians. Derive: before the call. Request: the time of the call in which the client waited. Decode: the processor time of the client during the call, including its driver and garbage collector, " +
		"without assembling. Assemble: the client overhead, measured by building the same result from memory. A client that decodes several responses at once can spend more processor time than the call took."
	return t
}

// sizes is Table 7: records and bytes of each reference result.
func (rs *results) sizes(s *Summary) *Table {
	t := table("case", "question", "line type", "rows", "columns", "size (bytes)", "per row (bytes)", "keys asked")
	for i, c := range rs.cases {
		keys := dim(none)
		for _, k := range s.Cases[i].Cells {
			if k.Times != nil && k.Times.Keys > 0 {
				keys = countCell(k.Times.Keys)
			}
		}
		t.add("", text(c.Name), text(c.Title), text(c.LineType), countCell(c.Rows), countCell(len(c.Columns)), countCell(c.Bytes), numeric(float64(c.Bytes)/float64(c.Rows)), keys)
	}
	t.Note = "Sizes are those of the decoded result in canonical types."
	return t
}
