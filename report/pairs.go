package report

import (
	"fmt"
	"math"
	"slices"

	"barograph/measure"
)

// medians is Table 1 of the original, with ways down and cases across: the
// fastest ways first, those that did not answer every case last.
func (rs *results) medians(s *Summary) table {
	t := table{Wide: true, Head: []column{{Name: "engine", Text: true}, {Name: "design", Text: true}, {Name: "flavour", Text: true}}}
	for _, c := range s.Cases {
		t.Head = append(t.Head, column{Name: c.Name, Unit: "ms"})
	}
	t.Head = append(t.Head, column{Name: "mean", Unit: "ms"}, column{Name: "ratio", Unit: "×"})
	ranked := map[way]cell{}
	var order []way
	for _, w := range rs.ways { // floors stand first: what all else contains
		if rs.floor(w.Engine, w.Design) {
			order = append(order, w)
		}
	}
	asked := 0
	for i := range s.Cases {
		if !s.Cases[i].empty() {
			asked++
		}
	}
	for _, r := range s.Ranking {
		w := way{r.Engine, r.Design, r.Flavour}
		ratio := value(float64(r.Ratio), number(float64(r.Ratio)))
		if span := interval(float64(r.Lo), float64(r.Hi)); span != none && r.Hi > r.Lo {
			ratio.Sub = span
		}
		ranked[w] = ratio
		order = append(order, w)
	}
	for _, w := range rs.ways {
		if !slices.Contains(order, w) {
			order = append(order, w)
		}
	}
	for _, w := range order {
		r := row{Cells: []cell{text(w.Engine), text(w.Design), text(w.Flavour)}}
		if rs.floor(w.Engine, w.Design) || rs.unranked(w.Engine, w.Design) != "" {
			r.Class = "floor"
		}
		sum, n := 0.0, 0
		for i := range s.Cases {
			k, c := s.Cases[i].find(w), dim(none)
			if k != nil && k.Times != nil {
				m := float64(k.Times.Median)
				c, sum, n = value(m, number(m)), sum+m, n+1
				if k == s.Cases[i].fastest() || k.compared() && k.Times.Mark == "~" {
					c.Class = "first"
				}
			} else if k != nil && k.Verdict == noRows {
				c = dim(noRows)
			} else if k != nil {
				c = cell{Text: k.Verdict, Class: "bad"}
			}
			r.Cells = append(r.Cells, c)
		}
		mean := dim(none)
		if n == asked && n > 0 {
			mean = value(sum/float64(n), number(sum/float64(n)))
		}
		ratio := dim(none)
		if rs.unranked(w.Engine, w.Design) != "" {
			ratio = dim("not ranked")
		}
		if q, ok := ranked[w]; ok {
			ratio = q
		}
		r.Cells = append(r.Cells, mean, ratio)
		t.Rows = append(t.Rows, r)
	}
	t.Note = "Medians. Bold: the fastest of the case, and what is not slower than it by more than the noise. Mean: over all cases, only of ways that answered every one. " +
		"Ratio: median divided by the fastest of the case, geometric mean over the cases."
	return t
}

// contest is two ways of asking that one of the original's tables compares.
type contest struct {
	name string // what stands in the first column
	a, b way
}

// duel compares ways pair by pair in every case. A cell shows how much b takes
// more or less than a, and both medians.
func (rs *results) duel(s *Summary, what string, pairs []contest) table {
	t := table{Wide: true, Head: []column{{Name: what, Text: true}}}
	for _, c := range s.Cases {
		t.Head = append(t.Head, column{Name: c.Name})
	}
	type place struct{ row, col int }
	var all []*measure.Comparison
	var places []place
	for i, p := range pairs {
		r := row{Cells: []cell{text(p.name)}}
		for k := range s.Cases {
			c := &s.Cases[k]
			a, b := c.find(p.a), c.find(p.b)
			r.Cells = append(r.Cells, dim(none))
			if a == nil || b == nil || a.Times == nil || b.Times == nil {
				continue
			}
			cmp := measure.Compare(b.Times.values, a.Times.values, rs.run.Seed)
			all, places = append(all, &cmp), append(places, place{i, k + 1})
			r.Cells[k+1] = cell{Sub: number(float64(a.Times.Median)) + " → " + number(float64(b.Times.Median)) + " ms"}
		}
		t.Rows = append(t.Rows, r)
	}
	measure.Correct(all)
	for i, c := range all {
		at := &t.Rows[places[i].row].Cells[places[i].col]
		at.Text, at.Sort = percent(c.Ratio-1), fmt.Sprintf("%.9g", c.Ratio)
		if m := mark(*c, len(all)); m == "~" || m == "?" {
			at.Text, at.Class = m, "dim"
		}
	}
	if len(all) > 0 {
		t.Note = fmt.Sprintf("Change of the median from the first to the second; “~”: no difference larger than the noise, “?”: too few repetitions to tell (%s, corrected together).", several(len(all), "comparison"))
	}
	return t
}

// sameArchive pairs two flavours in every archive that has both.
func (rs *results) sameArchive(a, b string) []contest {
	var out []contest
	for _, k := range rs.archives {
		wa, wb := way{k.Engine, k.Design, a}, way{k.Engine, k.Design, b}
		if slices.Contains(rs.ways, wa) && slices.Contains(rs.ways, wb) {
			out = append(out, contest{k.String() + ": " + a + " → " + b, wa, wb})
		}
	}
	return out
}

// section is one of the original's tables, or the sentence that stands for it.
type section struct {
	Title, Lead string
	Table       *table
}

// original returns Tables 2 to 7 of the original README, from this run's figures,
// and the break-down of the client's time that the original asked for.
func (rs *results) original(s *Summary) []section {
	var out []section
	add := func(title, lead, missing string, pairs []contest) {
		sec := section{Title: title, Lead: lead}
		if len(pairs) == 0 {
			sec.Lead = missing
		} else {
			t := rs.duel(s, "archive", pairs)
			sec.Table = &t
		}
		out = append(out, sec)
	}
	add("Table 2 · SQL and the query cache", "What the server's query cache saves.",
		"No engine of this run has a query cache that answers the same SQL again, so there is nothing to compare.", rs.sameArchive("sql", "cached-sql"))
	add("Table 3 · ISO strings and epochs", "The valid times as ISO strings, then as epochs, otherwise the same question.",
		"No archive of this run was asked with both ISO strings and epochs.", append(rs.sameArchive("iso-list", "epoch-list"), rs.sameArchive("iso-range", "epoch-range")...))
	add("Table 4 · A list of times and a range", "Every valid time named, then a range from the first to the last.",
		"No archive of this run was asked with both a list and a range of times.", append(rs.sameArchive("iso-list", "iso-range"), rs.sameArchive("epoch-list", "epoch-range")...))
	t5 := section{Title: "Table 5 · SQL, a range, and keys", Lead: "The relational question, the range over documents, and the ids derived from the question instead of searched for."}
	if t := rs.keysTable(s); len(t.Rows) > 0 {
		t5.Table = &t
	} else {
		t5.Lead = "No archive of this run was asked by keys."
	}
	out = append(out, t5, rs.clientTime(s), rs.clusters(s))
	t7 := rs.sizes(s)
	return append(out, section{Title: "Table 7 · Records and sizes of the answers", Table: &t7})
}

func (rs *results) places() string {
	var out []string
	for _, a := range rs.run.Archives {
		p := map[string]string{"embedded": "embedded in the client", "server": "a single server"}[a.Place]
		if p != "" && !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	if len(out) == 0 {
		return "local"
	}
	if len(out) > 1 {
		return out[0] + " or " + list(out[1:])
	}
	return out[0]
}

// keysTable is Table 5: of each engine that can be asked by keys, the
// relational way, the range in the design that has keys, and the keys.
func (rs *results) keysTable(s *Summary) table {
	t := table{Wide: true, Head: []column{{Name: "archive", Text: true}, {Name: "case", Text: true}, {Name: "SQL", Unit: "ms"}, {Name: "range", Unit: "ms"},
		{Name: "keys", Unit: "ms"}, {Name: "deriving keys", Unit: "ms"}, {Name: "SQL − keys", Unit: "ms"}, {Name: "range − keys", Unit: "ms"}}}
	var gaps gaps
	for _, w := range rs.ways {
		if w.Flavour != "keys" && w.Flavour != "keys-native" {
			continue
		}
		for i := range s.Cases {
			c := &s.Cases[i]
			keys := c.find(w)
			if keys == nil || keys.Times == nil {
				continue
			}
			k := float64(keys.Times.Median)
			sql, span := c.find(rs.relational(w.Engine)), c.find(rs.ranged(w))
			t.Rows = append(t.Rows, row{Cells: []cell{text(w.String()), text(c.Name), numeric(sql.median()), numeric(span.median()),
				value(k, number(k)), numeric(float64(keys.Times.Derive)), dim(none), dim(none)}})
			last := t.Rows[len(t.Rows)-1].Cells
			gaps.add(&last[6], sql, keys, rs.run.Seed)
			gaps.add(&last[7], span, keys, rs.run.Seed)
		}
	}
	gaps.print()
	t.Note = "SQL: flavour sql of the same engine's normalized design (else its wide one). Range: iso-range (else epoch-range) of the archive that was asked by keys. " +
		"Deriving the keys comes before the call, and is not contained in its time. “~”: no difference larger than the noise, “?”: too few repetitions to tell."
	return t
}

// median of a cell that may not exist or have no time: then NaN.
func (k *CellSummary) median() float64 {
	if k != nil && k.Times != nil {
		return float64(k.Times.Median)
	}
	return math.NaN()
}

// gaps are differences that a table shows together.
type gaps struct {
	cells []*cell
	diffs []float64
	tests []*measure.Comparison
}

func (g *gaps) add(at *cell, a, b *CellSummary, seed uint64) {
	if math.IsNaN(a.median()) || math.IsNaN(b.median()) {
		return
	}
	c := measure.Compare(a.Times.values, b.Times.values, seed)
	g.cells, g.diffs, g.tests = append(g.cells, at), append(g.diffs, a.median()-b.median()), append(g.tests, &c)
}

// print corrects the tests together and writes the cells.
func (g *gaps) print() {
	measure.Correct(g.tests)
	for i, at := range g.cells {
		*at = numeric(g.diffs[i])
		if m := mark(*g.tests[i], len(g.tests)); m == "~" || m == "?" {
			at.Text, at.Class = m+" "+at.Text, "dim"
		}
	}
}

func (rs *results) relational(engine string) way {
	for _, design := range []string{"normalized", "wide"} {
		if w := (way{engine, design, "sql"}); slices.Contains(rs.ways, w) {
			return w
		}
	}
	return way{}
}

func (rs *results) ranged(keys way) way {
	for _, f := range []string{"iso-range", "epoch-range"} {
		if w := (way{keys.Engine, keys.Design, f}); slices.Contains(rs.ways, w) {
			return w
		}
	}
	return way{}
}

// sizes is Table 7: records and bytes of each reference answer.
func (rs *results) sizes(s *Summary) table {
	t := table{Head: []column{{Name: "case", Text: true}, {Name: "question", Text: true}, {Name: "line type", Text: true},
		{Name: "rows"}, {Name: "columns"}, {Name: "size", Unit: "bytes"}, {Name: "per row", Unit: "bytes"}, {Name: "keys asked"}}}
	for i, c := range rs.cases {
		per, keys := dim(none), dim(none)
		if c.Rows > 0 {
			v := float64(c.Bytes) / float64(c.Rows)
			per = value(v, number(v))
		}
		for _, k := range s.Cases[i].Cells {
			if k.Times != nil && k.Times.Keys > 0 {
				keys = value(float64(k.Times.Keys), count(k.Times.Keys))
			}
		}
		t.Rows = append(t.Rows, row{Cells: []cell{text(c.Name), text(c.Title), text(c.LineType), value(float64(c.Rows), count(c.Rows)),
			value(float64(len(c.Columns)), count(len(c.Columns))), value(float64(c.Bytes), count(c.Bytes)), per, keys}})
	}
	t.Note = "Sizes are of the answer in canonical types, as every client has decoded it."
	return t
}
