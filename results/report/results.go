package report

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/run"
)

// state describes what may be shown of a cell.
type state int

// The states, in ascending precedence. A cell has the last of the states that its plan, its repetitions and its archive
// give it.
const (
	absent     state = iota // the flavour cannot express the case
	untimed                 // planned, but no repetition was recorded
	equal                   // proven: its times may be shown
	incomplete              // the archive does not contain all the data
	failed
	wrong
)

func (s state) String() string {
	return [...]string{none, "not timed", "equal", "incomplete", "failed", "wrong"}[s]
}

// Configuration is a query configuration: engine, design and flavour.
type Configuration struct {
	Engine  string `json:"engine"`
	Design  string `json:"design"`
	Flavour string `json:"flavour"`
}

func (c Configuration) String() string {
	return strings.TrimSuffix(c.Engine+" · "+c.Design+" · "+c.Flavour, " · ")
}

// CellKey names a cell of the workload met: a case with a configuration.
type CellKey struct {
	Configuration
	Case string `json:"case"`
}

// cellKeyOf returns the key of a cell of the workload met.
func cellKeyOf(c run.Cell) CellKey {
	return CellKey{Configuration{c.Engine, c.Value("design"), c.Value("flavour")}, c.Value("case")}
}

// result is what a run recorded about a cell. Samples are kept only while the state is equal.
type result struct {
	state       state
	problem     string
	proof       string
	rows        int // returned rows; −1 = unknown
	warm, cold  []*run.Measured
	coldProblem string // a cold start failed: the cell has no cold times
}

// results contains the samples of a run, grouped by cell.
type results struct {
	run            *run.Run
	cases          []run.Case
	archives       []Configuration // without flavours
	configurations []Configuration
	cells          map[CellKey]*result
}

// flavourOrder returns flavours in the order of lists; others follow.
func flavourOrder() []string {
	return strings.Fields("metviewer-sql sql cached-sql iso-list iso-range epoch-list epoch-range keys keys-native recall")
}

// collect groups samples and plans by cell. One wrong or failed sample makes its cell wrong or failed, and the cell
// then has no times.
func collect(r *run.Run, samples []run.Sample, plans []run.Plan) *results {
	out := &results{run: r, cases: slices.Clone(r.Cases), cells: map[CellKey]*result{}}
	for _, a := range r.Archives {
		out.archives = appendNew(out.archives, Configuration{a.Engine, a.Design, ""})
	}
	for _, p := range plans {
		if p.Cell != (run.Cell{}) {
			out.cell(cellKeyOf(p.Cell)).raise(untimed, "")
		}
	}
	for _, s := range samples {
		out.add(s)
	}
	for c, res := range out.cells {
		if !out.archive(c.Configuration).Complete && res.state != failed && res.state != wrong {
			res.raise(incomplete, "the archive is incomplete")
		}
		if res.state != equal {
			res.warm, res.cold = nil, nil
		}
		if res.coldProblem != "" {
			res.cold = nil
		}
	}
	out.sortConfigurations()
	return out
}

// appendNew appends a value unless the list contains it.
func appendNew[T comparable](all []T, v T) []T {
	if slices.Contains(all, v) {
		return all
	}
	return append(all, v)
}

// grouped groups values by a key. The keys are in the order of their first values.
func grouped[T any, K comparable](all []T, keyOf func(v T) K) (keys []K, groups map[K][]T) {
	groups = map[K][]T{}
	for _, v := range all {
		k := keyOf(v)
		keys, groups[k] = appendNew(keys, k), append(groups[k], v)
	}
	return keys, groups
}

// cell finds or adds a cell, with its archive, configuration and case.
func (rs *results) cell(c CellKey) *result {
	res := rs.cells[c]
	if res == nil {
		res = &result{rows: -1}
		rs.cells[c] = res
		rs.archives = appendNew(rs.archives, Configuration{c.Engine, c.Design, ""})
		rs.configurations = appendNew(rs.configurations, c.Configuration)
		if !slices.ContainsFunc(rs.cases, func(k run.Case) bool { return k.Name == c.Case }) {
			rs.cases = append(rs.cases, run.Case{Name: c.Case})
		}
	}
	return res
}

// raise sets the state and its reason if the state has a higher precedence than the present one.
func (r *result) raise(s state, problem string) {
	if s > r.state {
		r.state, r.problem = s, problem
	}
}

// add adds a sample to its cell.
func (rs *results) add(s run.Sample) {
	res := rs.cell(cellKeyOf(s.Cell))
	switch s.Verdict {
	case run.Equal, run.EqualToRounding, run.Undetermined:
		res.raise(equal, "")
		if res.state == equal && (s.Phase != run.Cold || res.proof == "") { // cold starts compare only a digest
			res.rows, res.proof = s.Rows, string(s.Proof)
		}
		switch m := s.Measured(); {
		case m == nil: // nothing was timed
		case s.Phase == run.Cold:
			res.cold = append(res.cold, m)
		default:
			res.warm = append(res.warm, m)
		}
	case run.Wrong:
		if res.state < wrong {
			res.rows = s.Rows
		}
		res.raise(wrong, s.Problem)
	default: // an unknown verdict proves nothing
		if s.Phase == run.Cold { // the cold start failed, not the result that was proven warm
			res.coldProblem = s.Problem
			res.raise(untimed, "")
			return
		}
		res.raise(failed, s.Problem)
	}
}

// sortConfigurations orders the configurations by archive, then by flavour. Flavours that flavourOrder does not list
// are last, by their name.
func (rs *results) sortConfigurations() {
	archive := func(c Configuration) int { return slices.Index(rs.archives, Configuration{c.Engine, c.Design, ""}) }
	order := append(flavourOrder(), "")
	flavour := func(c Configuration) int { return (slices.Index(order, c.Flavour) + len(order)) % len(order) }
	slices.SortStableFunc(rs.configurations, func(a, b Configuration) int {
		return cmp.Or(archive(a)-archive(b), flavour(a)-flavour(b), cmp.Compare(a.Flavour, b.Flavour))
	})
}

// archive returns what the run recorded about a configuration's archive. If it recorded nothing, the archive is empty
// and not complete.
func (rs *results) archive(c Configuration) run.Archive {
	isArchive := func(a run.Archive) bool { return a.Engine == c.Engine && a.Design == c.Design }
	return *cmp.Or(first(rs.run.Archives, isArchive), &run.Archive{})
}

// everyValue is the highest degree of a proof.
const everyValue = "every value"

// overheadPlace is the place of an engine that answers from the client's own memory. Reports show it as the client
// overhead and do not rank it.
const overheadPlace = "memory"

// class returns the style of a configuration's rows. Times that are shown but not compared have that of the overhead.
func (rs *results) class(c Configuration) string {
	a := rs.archive(c)
	return classOf(a.Place == overheadPlace || a.Unranked != "", false)
}

// result returns what the run recorded about a configuration in a case. If it recorded nothing, the state is absent.
func (rs *results) result(c Configuration, name string) *result {
	return cmp.Or(rs.cells[CellKey{c, name}], &result{rows: -1})
}

// times returns a duration of each sample, in ms.
func times(samples []*run.Measured, of func(*run.Measured) time.Duration) []float64 {
	return lists.Map(samples, func(m *run.Measured) float64 { return ms(of(m)) })
}

// positive returns the median of durations in ms if any is above zero, else NaN, because zero means “not measured”.
func positive(samples []*run.Measured, of func(*run.Measured) time.Duration) Number {
	vs := times(samples, of)
	if slices.ContainsFunc(vs, func(v float64) bool { return v > 0 }) {
		return Number(measure.Median(vs))
	}
	return nan()
}

// total returns the time of a result.
func total(m *run.Measured) time.Duration { return m.Total }
