package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/results/plot"
	"github.com/barograph/barograph/results/run"
)

// faultName names, in tables, a server into which faults were injected: engine, nodes and what an acknowledged write
// guarantees.
func faultName(s *run.Sample) string {
	return s.Cell.Engine + ", " + several(int(s.Cell.Number("nodes")), "node") + ", " + acknowledgedOf(s)
}

// nameOf names, in tables, the server of a sample with or without injected faults.
func nameOf(s *run.Sample) string {
	if s.Fault == nil {
		return s.Cell.Engine
	}
	return faultName(s)
}

// historyOf returns the history that was recorded during a run, or nil.
func historyOf(s *run.Sample) *run.HistoryCheck {
	if s.Fault != nil {
		return s.Fault.History
	}
	return s.History
}

// steadyHistories returns the section about histories of runs without faults; nil if there are none.
func steadyHistories(all []run.Sample) []Section {
	all = lists.Filter(all, func(s run.Sample) bool { return s.Fault == nil && s.History != nil })
	return filled(Section{
		ID: "histories", Title: "Did the store keep its guarantees?", Terminal: true, Table: guaranteeTable(all),
		Words: explain("histories"),
	})
}

// acknowledgedOf describes what an acknowledged write of a sample's engine guarantees.
func acknowledgedOf(s *run.Sample) string {
	return acknowledged(&run.Archive{Acknowledged: s.Cell.Value("acknowledged")})
}

// costs returns the section that compares the costs of faults.
func costs(all []run.Sample) Section {
	guarantees := Section{
		Title: "Was the store correct?", Terminal: true, Table: guaranteeTable(all), Words: explain("guarantees under faults"),
	}
	s := Section{
		ID: "faults", Title: "What a fault costs", Terminal: true, Table: costTable(all),
		Words: explain("fault costs"), Parts: filled(guarantees),
	}
	for i := range all {
		if m := all[i].Measured(); m != nil {
			s.Pictures = append(s.Pictures, timelines(&all[i], m)...)
		}
	}
	s.SideBySide = true
	return s
}

// costTable compares the rate before a fault, the time without service and the lost operations of each sample.
func costTable(all []run.Sample) *Table {
	t := table("engine", "nodes", "workload", "fault", "an acknowledged write is", "before (operations/s)",
		"without service (s)", "95 % again after (s)", "lost (operations)", "outcome of the lost", "reconnects", "retries",
		"timed out", "correct")
	t.Note = prose("fault cost table")
	tenths := func(d time.Duration) Cell { return value(d.Seconds(), fmt.Sprintf("%.1f", d.Seconds())) }
	for i := range all {
		s, f := &all[i], all[i].Fault
		costs := []Cell{dim(none), dim(none), dim(none)}
		if m := s.Measured(); m != nil && m.FaultCost != nil {
			c := m.FaultCost
			recovery := when(c.RecoveryTime >= 0, tenths(c.RecoveryTime), "not again")
			costs = []Cell{numeric(c.RateBefore), tenths(c.TimeWithoutSuccess), recovery}
		}
		outcomes := lists.Map(slices.Sorted(maps.Keys(f.Errors)), func(kind string) string {
			return count(f.Errors[kind]) + " " + kind
		})
		server := []Cell{text(s.Cell.Engine), countCell(int(s.Cell.Number("nodes")))}
		conditions := texts(s.Cell.Value("mix"), s.Cell.Value("fault"), acknowledgedOf(s))
		t.add("", slices.Concat(server, conditions, costs, []Cell{
			countCell(f.Lost), text(cmp.Or(strings.Join(outcomes, ", "), none)), countCell(f.Reconnects),
			countCell(f.Retries), countCell(f.TimedOut), correctness(s),
		})...)
	}
	return t
}

// acknowledgedBy describes what an acknowledged write of a cell's engine guarantees.
func acknowledgedBy(r *run.Run, c run.Cell) string {
	isOfCell := func(a run.Archive) bool { return a.Engine == c.Engine && a.Design == c.Value("layout") }
	return acknowledged(cmp.Or(first(r.Archives, isOfCell), &run.Archive{}))
}

// correctness reports in one cell whether a store kept its guarantees.
func correctness(s *run.Sample) Cell {
	h := s.Fault.History
	switch {
	case s.Verdict != run.Equal && (h == nil || len(unmetGuarantees(h)) == 0):
		return bad(s.Problem)
	case h == nil:
		return dim("no history")
	case h.Problem != "":
		return bad("not known: " + h.Problem)
	case len(unmetGuarantees(h)) > 0:
		return bad("NOT: " + strings.Join(unmetGuarantees(h), "; "))
	}
	return Cell{Text: "yes", Class: "ok"}
}

// unmetGuarantees lists the guarantees that were violated or not decided. Those that the server does not give are in
// brackets.
func unmetGuarantees(h *run.HistoryCheck) (out []string) {
	for _, p := range h.Promises {
		guarantee := strings.TrimSpace(p.Promise + " " + p.When)
		switch {
		case p.Kept:
			continue
		case p.Violations > 0:
			guarantee += ": violated " + several(p.Violations, "time")
		default:
			guarantee += ": not decided in time"
		}
		if !p.Promised {
			guarantee = "(" + guarantee + ")"
		}
		out = append(out, guarantee)
	}
	return out
}

// guaranteeTable lists every guarantee that was checked in the histories of samples.
func guaranteeTable(all []run.Sample) *Table {
	t := table("engine", "operations", "unknown", "guarantee", "interval", "given", "outcome", "example", "history")
	for i := range all {
		h := historyOf(&all[i])
		if h == nil {
			continue
		}
		file := h.File // only in the first row of the history
		for _, p := range h.Promises {
			outcome := Cell{Text: "kept", Class: "ok"}
			switch {
			case p.Violations > 0:
				outcome = bad("violated " + several(p.Violations, "time"))
			case !p.Kept:
				outcome = bad("not decided in time")
			}
			given := "no"
			if p.Promised {
				given = "yes"
			}
			t.add("", text(nameOf(&all[i])), countCell(h.Operations), countCell(h.Unknown), text(p.Promise),
				text(cmp.Or(p.When, "all of the run")), text(given), outcome, text(p.Example), text(file))
			file = ""
		}
	}
	return t
}

// timelines draws a run with faults over time: operations that succeeded and failed, and the latency.
func timelines(s *run.Sample, m *run.Measured) []Drawing {
	frame := plot.Frame{
		Title:    s.Cell.Engine + ", " + several(int(s.Cell.Number("nodes")), "node") + ", " + s.Cell.Value("mix"),
		Subtitle: acknowledgedOf(s), XLabel: "time since the warm-up (s)", Width: curveWidth, Height: 300,
	}
	rate := plot.Lines{Frame: frame, Coordinate: plot.Numbers}
	latency := plot.Lines{Frame: frame, Coordinate: plot.Numbers, LogAbove: 20}
	rate.YLabel, latency.YLabel = "operations/s", "latency since due (ms)"
	for _, x := range s.Fault.Moments {
		at := plot.Moment{At: x.At.Seconds(), Label: x.Command}
		rate.Moments, latency.Moments = append(rate.Moments, at), append(latency.Moments, at)
	}
	add := func(to *plot.Lines, name string, at, v float64) {
		c := to.CurveNamed(name, "")
		c.Positions, c.Value = append(c.Positions, at), append(c.Value, v)
	}
	// The last interval is omitted if it is incomplete, unless it is the only one.
	for i, x := range m.Series[:min(len(m.Series), max(1, int(m.Total/m.Interval)))] {
		at := (float64(i) + 0.5) * m.Interval.Seconds()
		add(&rate, "succeeded", at, float64(x.Completed-x.Failed)/m.Interval.Seconds())
		add(&rate, "failed", at, float64(x.Failed)/m.Interval.Seconds())
		for k, q := range []time.Duration{x.P50, x.P95, x.P99} {
			v := ms(q)
			if q == 0 { // nothing succeeded
				v = math.NaN()
			}
			add(&latency, []string{"p50", "p95", "p99"}[k], at, v)
		}
	}
	return []Drawing{rate, latency}
}

// costInWords answers what each fault costs on each server.
func costInWords(all []run.Sample) []Words {
	costs := map[string][]string{} // by fault
	for i := range all {
		s := &all[i]
		cost := faultName(s) + ": no figure, because its results were not correct"
		if m := s.Measured(); m != nil && m.FaultCost != nil {
			cost = fmt.Sprintf("%s: %.1f s without service, %s operations lost",
				faultName(s), m.FaultCost.TimeWithoutSuccess.Seconds(), count(s.Fault.Lost))
		}
		if h := s.Fault.History; h != nil && len(unmetGuarantees(h)) > 0 {
			cost += ", " + strings.Join(unmetGuarantees(h), "; ")
		}
		fault := s.Cell.Value("fault")
		costs[fault] = append(costs[fault], cost)
	}
	return lists.Map(slices.Sorted(maps.Keys(costs)), func(fault string) Words {
		return headline("%s costs: %s.", fault, strings.Join(costs[fault], " · "))
	})
}
