package report

import (
	"math"
	"slices"
	"strings"

	"barograph/measure"
	"barograph/run"
)

// state says what may be shown of a cell.
type state int

// The states, the worst last: of several, the worst counts.
const (
	absent     state = iota // the flavour cannot express the case
	untimed                 // asked, but no repetition was recorded
	equal                   // proven: its times may be shown
	incomplete              // the archive does not hold the whole data
	failed
	wrong
)

func (s state) String() string {
	return [...]string{none, "not timed", "equal", "incomplete", "failed", "wrong"}[s]
}

// way is an engine, a design and a flavour: what can be chosen.
type way struct{ Engine, Design, Flavour string }

func (w way) String() string { return w.Engine + " · " + w.Design + " · " + w.Flavour }

func (w way) at(name string) Asked {
	return Asked{Engine: w.Engine, Design: w.Design, Case: name, Flavour: w.Flavour}
}

// Asked is a cell of the workload met.
type Asked struct {
	Engine  string `json:"engine"`
	Design  string `json:"design"`
	Case    string `json:"case"`
	Flavour string `json:"flavour"`
}

// way is "duckdb wide epoch-range".
func (a Asked) way() string { return a.Engine + " " + a.Design + " " + a.Flavour }

func askedOf(c run.Cell) Asked { return Asked{c.Engine, c.At("design"), c.At("case"), c.At("flavour")} }

// archive names an engine under a design.
type archive struct{ Engine, Design string }

func (a archive) String() string { return a.Engine + " · " + a.Design }

// result is what a run knows of a cell. Samples are kept only while the state is equal.
type result struct {
	state       state
	problem     string
	rows        int // that came; −1 = not known
	warm, cold  []*run.Measured
	coldProblem string // a cold start that gave no answer: then there are no cold times
}

// results are the samples of a run, sorted into cells.
type results struct {
	run      *run.Run
	cases    []run.Case
	archives []archive
	ways     []way
	cells    map[Asked]*result
}

// flavourOrder is the order in which ways of asking are listed; others follow.
func flavourOrder() []string {
	return []string{"metviewer-sql", "sql", "cached-sql", "iso-list", "iso-range", "epoch-list", "epoch-range", "keys", "keys-native", "recall"}
}

// collect sorts samples and plans into cells. A cell is wrong or failed as soon
// as one of its samples is, and then has no times.
func collect(r *run.Run, samples []run.Sample, plans []run.Plan) *results {
	out := &results{run: r, cases: slices.Clone(r.Cases), cells: map[Asked]*result{}}
	for _, a := range r.Archives {
		out.addArchive(archive{a.Engine, a.Design})
	}
	for _, p := range plans {
		if p.Cell != (run.Cell{}) {
			out.cell(askedOf(p.Cell)).raise(untimed, "")
		}
	}
	for _, s := range samples {
		out.add(s)
	}
	for c, res := range out.cells {
		if !out.whole(c.Engine, c.Design) && res.state != failed && res.state != wrong {
			res.raise(incomplete, "the archive does not hold the whole data")
		}
		if res.state != equal {
			res.warm, res.cold = nil, nil
		}
		if res.coldProblem != "" {
			res.cold = nil
		}
	}
	out.sortWays()
	return out
}

func (rs *results) addArchive(a archive) {
	if !slices.Contains(rs.archives, a) {
		rs.archives = append(rs.archives, a)
	}
}

func (rs *results) cell(c Asked) *result {
	res := rs.cells[c]
	if res == nil {
		res = &result{rows: -1}
		rs.cells[c] = res
		rs.addArchive(archive{c.Engine, c.Design})
		if w := (way{c.Engine, c.Design, c.Flavour}); !slices.Contains(rs.ways, w) {
			rs.ways = append(rs.ways, w)
		}
		if !slices.ContainsFunc(rs.cases, func(k run.Case) bool { return k.Name == c.Case }) {
			rs.cases = append(rs.cases, run.Case{Name: c.Case})
		}
	}
	return res
}

func (r *result) raise(s state, problem string) {
	if s > r.state {
		r.state, r.problem = s, problem
	}
}

func (rs *results) add(s run.Sample) {
	res := rs.cell(askedOf(s.Cell))
	switch s.Verdict {
	case run.Equal:
		res.raise(equal, "")
		if res.state == equal {
			res.rows = s.Rows
		}
		m := s.Measured()
		if m == nil {
			return // nothing was timed
		}
		if s.Phase == run.Cold {
			res.cold = append(res.cold, m)
		} else {
			res.warm = append(res.warm, m)
		}
	case run.Wrong:
		if res.state < wrong {
			res.rows = s.Rows
		}
		res.raise(wrong, s.Problem)
	default: // an unknown verdict proves nothing
		if s.Phase == run.Cold { // the cold start failed, not the answer that was proven warm
			res.coldProblem = s.Problem
			res.raise(untimed, "")
			return
		}
		res.raise(failed, s.Problem)
	}
}

// sortWays puts the ways into the order of the archives, then of the flavours.
func (rs *results) sortWays() {
	flavours := flavourOrder()
	rank := func(w way) int {
		f := slices.Index(flavours, w.Flavour)
		if f < 0 {
			f = len(flavours)
		}
		return slices.Index(rs.archives, archive{w.Engine, w.Design})*100 + f
	}
	slices.SortStableFunc(rs.ways, func(a, b way) int {
		if d := rank(a) - rank(b); d != 0 {
			return d
		}
		return strings.Compare(a.Flavour, b.Flavour)
	})
}

func (rs *results) find(engine, design string) *run.Archive {
	for i, a := range rs.run.Archives {
		if a.Engine == engine && a.Design == design {
			return &rs.run.Archives[i]
		}
	}
	return nil
}

// whole reports whether an archive was seen to hold exactly the data.
func (rs *results) whole(engine, design string) bool {
	a := rs.find(engine, design)
	return a != nil && a.Whole
}

// floor reports whether an engine answers from the client's own memory: it is
// shown, and ranked nowhere.
func (rs *results) floor(engine, design string) bool {
	a := rs.find(engine, design)
	return a != nil && a.Place == "memory"
}

// unranked says why an archive's times are shown but compared with nothing;
// "" = they are compared. A floor has a word of its own.
func (rs *results) unranked(engine, design string) string {
	if a := rs.find(engine, design); a != nil {
		return a.Unranked
	}
	return ""
}

// at returns a cell, absent ones too.
func (rs *results) at(w way, name string) *result {
	if res := rs.cells[w.at(name)]; res != nil {
		return res
	}
	return &result{rows: -1}
}

// tally counts the cells by state.
func (rs *results) tally() map[state]int {
	out := map[state]int{}
	for _, res := range rs.cells {
		out[res.state]++
	}
	return out
}

// engines are the names that get a colour, floors last.
func (rs *results) engines() []string {
	var ranked, floors []string
	for _, a := range rs.archives {
		to := &ranked
		if rs.floor(a.Engine, a.Design) {
			to = &floors
		}
		if !slices.Contains(*to, a.Engine) {
			*to = append(*to, a.Engine)
		}
	}
	return append(pad(ranked, len(floors)), floors...)
}

// pad leaves places in the palette free, so that floors are grey, its last colour.
func pad(names []string, floors int) []string {
	for floors > 0 && len(names) < 7 {
		names = append(names, "")
	}
	return names
}

func times(samples []*run.Measured, of func(*run.Measured) float64) []float64 {
	out := make([]float64, len(samples))
	for i := range samples {
		out[i] = of(samples[i])
	}
	return out
}

func total(m *run.Measured) float64  { return ms(m.Total) }
func first(m *run.Measured) float64  { return ms(m.First) }
func server(m *run.Measured) float64 { return ms(m.Inside) }
func client(m *run.Measured) float64 { return ms(m.CPU) }
func derive(m *run.Measured) float64 { return ms(m.Derive) }

// positive is the median of values of which any is above zero, else NaN: zero
// stands for "not measured".
func positive(vs []float64) float64 {
	if slices.ContainsFunc(vs, func(v float64) bool { return v > 0 }) {
		return measure.Median(vs)
	}
	return math.NaN()
}
