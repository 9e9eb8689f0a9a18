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

// splitFaults separates the samples with injected faults from the others.
func splitFaults(all []run.Sample) (faults, others []run.Sample) {
	for _, s := range all {
		if s.Fault != nil {
			faults = append(faults, s)
		} else {
			others = append(others, s)
		}
	}
	return faults, others
}

// faultName is the name of a server with a fault in tables.
func faultName(s *run.Sample) string {
	return s.Cell.Engine + ", " + several(int(s.Cell.Number("nodes")), "node") + ", " + acknowledgedOf(s)
}

// nameOf is the name of a server in tables, with or without a fault.
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

// steadyHistories returns the section about histories of runs without faults; nil if there are
// none.
func steadyHistories(all []run.Sample) []Section {
	all = slices.DeleteFunc(slices.Clone(all), func(s run.Sample) bool { return s.Fault != nil || s.History == nil })
	if len(all) == 0 {
		return nil
	}
	return []Section{{
		ID: "histories", Title: "Did the store keep its guarantees?", Terminal: true, Table: promiseTable(all),
		Words: say("Separate clients read and wrote records during the run, and read each of them at the end. No fault was injected, so no violation is excused by the durability of an acknowledged write."),
	}}
}

func acknowledgedOf(s *run.Sample) string {
	return acknowledged(&run.Archive{Acknowledged: s.Cell.Value("acknowledged")})
}

// costs is the section that compares the costs of faults.
func costs(all []run.Sample) Section {
	s := Section{
		ID: "faults", Title: "What a fault costs", Terminal: true, Table: costTable(all),
		Words: say("Operations were due at a steady rate, also during the fault, and latency counts from the time at which each was due. kill is SIGKILL of every process of a node: data that the operating system has received survive it, so it does not simulate a loss of power."),
		Parts: filled(Section{Title: "Was the store correct?", Terminal: true, Table: promiseTable(all), Words: say("Separate clients read and wrote records during the load, and read all of them at the end. A write without a response counts as unknown, never as lost. A guarantee in brackets is one that the server does not give with its present settings.")}),
	}
	for i := range all {
		if m := all[i].Measured(); m != nil {
			s.Pictures = append(s.Pictures, timelines(&all[i], m)...)
		}
	}
	s.SideBySide = true
	return s
}

func costTable(all []run.Sample) *Table {
	t := table("engine", "nodes", "workload", "fault", "an acknowledged write is", "before (operations/s)", "without service (s)", "95 % again after (s)", "lost (operations)", "their outcome", "reconnects", "retries", "timed out", "correct")
	t.Note = "Seconds count from the first fault. Without service: the sum of all tenths of a second without a success. 95 % again: the first of three consecutive seconds with 95 % of the rate before the fault. Lost: operations that were due and failed or were never started; they do not count as operations. A store that was not correct has no times."
	for i := range all {
		s, f := &all[i], all[i].Fault
		before, without, back := dim(none), dim(none), dim(none)
		if m := s.Measured(); m != nil && m.FaultCost != nil {
			c := m.FaultCost
			before, without, back = numeric(c.RateBefore), value(c.TimeWithoutSuccess.Seconds(), fmt.Sprintf("%.1f", c.TimeWithoutSuccess.Seconds())), when(c.RecoveryTime >= 0, value(c.RecoveryTime.Seconds(), fmt.Sprintf("%.1f", c.RecoveryTime.Seconds())), "not again")
		}
		became := lists.Map(slices.Sorted(maps.Keys(f.Errors)), func(kind string) string { return fmt.Sprintf("%s %s", count(f.Errors[kind]), kind) })
		t.add("", text(s.Cell.Engine), countCell(int(s.Cell.Number("nodes"))), text(s.Cell.Value("mix")), text(s.Cell.Value("fault")), text(acknowledgedOf(s)), before, without, back,
			countCell(f.Lost), text(cmp.Or(strings.Join(became, ", "), none)), countCell(f.Reconnects), countCell(f.Retries), countCell(f.TimedOut), correctness(s))
	}
	return t
}

// acknowledgedBy describes what an acknowledged write of a cell's engine guarantees.
func acknowledgedBy(r *run.Run, c run.Cell) string {
	for _, a := range r.Archives {
		if a.Engine == c.Engine && a.Design == c.Value("layout") {
			return acknowledged(&a)
		}
	}
	return acknowledged(&run.Archive{})
}

// correctness is the short verdict on a store.
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

// unmetGuarantees lists the promises that were broken or not decided.
func unmetGuarantees(h *run.HistoryCheck) (out []string) {
	for _, p := range h.Promises {
		words := strings.TrimSpace(p.Promise + " " + p.When)
		switch {
		case p.Kept:
			continue
		case p.Violations > 0:
			words += ": violated " + several(p.Violations, "time")
		default:
			words += ": not decided in time"
		}
		if !p.Promised {
			words = "(" + words + ")"
		}
		out = append(out, words)
	}
	return out
}

func promiseTable(all []run.Sample) *Table {
	t := table("engine", "operations", "unknown", "guarantee", "interval", "given", "outcome", "example", "history")
	for i := range all {
		h := historyOf(&all[i])
		if h == nil {
			continue
		}
		for k, p := range h.Promises {
			outcome := Cell{Text: "kept", Class: "ok"}
			switch {
			case p.Violations > 0:
				outcome = bad("violated " + several(p.Violations, "time"))
			case !p.Kept:
				outcome = bad("not decided in time")
			}
			t.add("", text(nameOf(&all[i])), countCell(h.Operations), countCell(h.Unknown), text(p.Promise), text(cmp.Or(p.When, "all of the run")), text(map[bool]string{true: "yes", false: "no"}[p.Promised]), outcome, text(p.Example), text(map[bool]string{true: h.File}[k == 0]))
		}
	}
	return t
}

// timelines draws a run with faults over time: operations that succeeded and failed, and the
// latency.
func timelines(s *run.Sample, m *run.Measured) []Drawing {
	frame := plot.Frame{Title: s.Cell.Engine + ", " + several(int(s.Cell.Number("nodes")), "node") + ", " + s.Cell.Value("mix"), Subtitle: acknowledgedOf(s), XLabel: "time since the warm-up (s)", Width: curveWidth, Height: 300}
	rate, latency := plot.Lines{Frame: frame, Coordinate: plot.Numbers}, plot.Lines{Frame: frame, Coordinate: plot.Numbers, LogAbove: 20}
	rate.YLabel, latency.YLabel = "operations/s", "latency since due (ms)"
	for _, x := range s.Fault.Moments {
		at := plot.Moment{At: x.At.Seconds(), Label: x.Command}
		rate.Moments, latency.Moments = append(rate.Moments, at), append(latency.Moments, at)
	}
	add := func(to *plot.Lines, name string, at, v float64) {
		c := to.CurveNamed(name, "")
		c.Positions, c.Value = append(c.Positions, at), append(c.Value, v)
	}
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

// costInWords is the answer: the cost of a fault on each server.
func costInWords(all []run.Sample) (out []Words) {
	by := map[string][]string{}
	for i := range all {
		s := &all[i]
		words := faultName(s) + ": no figure, because its results were not correct"
		if m := s.Measured(); m != nil && m.FaultCost != nil {
			words = fmt.Sprintf("%s: %.1f s without service, %s operations lost", faultName(s), m.FaultCost.TimeWithoutSuccess.Seconds(), count(s.Fault.Lost))
		}
		if h := s.Fault.History; h != nil && len(unmetGuarantees(h)) > 0 {
			words += ", " + strings.Join(unmetGuarantees(h), "; ")
		}
		fault := s.Cell.Value("fault")
		by[fault] = append(by[fault], words)
	}
	return append(out, lists.Map(slices.Sorted(maps.Keys(by)), func(fault string) Words {
		return headline("%s costs: %s.", fault, strings.Join(by[fault], " · "))
	})...)
}
