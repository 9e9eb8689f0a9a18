package ycsb

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/run"
)

// part is one client machine's measurements of a cell.
type part struct {
	run.Sample
	measured *run.Measured // nil where it is not right
	began    time.Time
}

// Merge joins the folders of mixes. Samples of several clients, each with its
// --shard, of the same mix, engine, layout, number of workers and repetition become
// one: histograms are added count by count, operations summed, series laid over each
// other by the clocks of the machines, and the throughput is that of the time
// from the first's start to the last's end. A result that one client found wrong is
// wrong. Other samples stay as they are, those with faults too: of two runs of one
// cell the second becomes a further repetition. So does each client's own measurement
// of the client overhead, also next to engines that were measured one after the other.
func Merge(dirs []string) (run.Run, []run.Sample, error) {
	var out run.Run
	parts := map[string][]part{}
	var order []string
	var alone []run.Sample
	reps := map[string]int{} // the last repetition of each cell without shards
	for i, dir := range dirs {
		r, samples, err := run.Read(dir)
		if r == nil {
			return out, nil, err
		}
		if r.Workload != run.MixWorkload {
			return out, nil, &fault.Error{File: dir, Problem: fmt.Sprintf("is a run of %q, not of %s", r.Workload, run.MixWorkload), Cure: "name a folder that barograph ycsb wrote"}
		}
		if err != nil {
			return out, nil, err
		}
		if i == 0 {
			out = *r
		}
		widen(&out, r)
		for _, s := range samples {
			if s.Fault != nil { // it happened to one client's load
				if h := s.Fault.History; h != nil && h.File != "" {
					h.File = filepath.Join(dir, h.File)
				}
				alone = append(alone, s)
				continue
			}
			if m := s.Measured(); m != nil && m.Place == string(engine.Memory) && s.Cell.Value("shard") != "" {
				s.Cell = cellOfAll(s.Cell, s.Cell.Number("target_ops_s")) // clients share no engine in memory
			}
			if s.Cell.Value("shard") == "" {
				s.Rep = max(s.Rep, reps[s.Cell.String()]+1)
				reps[s.Cell.String()] = s.Rep
				alone = append(alone, s)
				continue
			}
			p := part{Sample: s, measured: s.Measured(), began: r.Started}
			if p.measured != nil {
				p.began = r.Started.Add(p.measured.Start)
			}
			key := fmt.Sprint(s.Cell.Engine, "|", s.Cell.Value("layout"), "|", s.Cell.Value("mix"), "|", s.Cell.Value("threads"), "|", s.Rep)
			if parts[key] == nil {
				order = append(order, key)
			}
			parts[key] = append(parts[key], p)
		}
	}
	samples := alone
	for _, key := range order {
		s, err := mergeParts(parts[key], out.Started)
		if err != nil {
			return out, nil, err
		}
		samples = append(samples, s)
	}
	return out, samples, nil
}

// widen widens a run by another's time and warnings. The machine stays that of
// the first.
func widen(r, o *run.Run) {
	if o.Started.Before(r.Started) {
		r.Started = o.Started
	}
	if o.Finished.IsZero() {
		r.Finished = time.Time{} // one was interrupted
	} else if !r.Finished.IsZero() && o.Finished.After(r.Finished) {
		r.Finished = o.Finished
	}
	for _, w := range o.Warnings {
		if !slices.Contains(r.Warnings, w) {
			r.Warnings = append(r.Warnings, w)
		}
	}
	for _, a := range o.Archives {
		if !slices.ContainsFunc(r.Archives, func(b run.Archive) bool { return a.Engine == b.Engine && a.Design == b.Design }) {
			r.Archives = append(r.Archives, a)
		}
	}
}

func mergeParts(parts []part, since time.Time) (run.Sample, error) {
	first := slices.MinFunc(parts, func(a, b part) int { return a.began.Compare(b.began) })
	out, m, target, shards := first.Sample, &run.Measured{Start: first.began.Sub(since), Mix: &run.Mix{}, Usage: &run.Usage{}}, 0.0, map[string]bool{}
	out.Answers, out.ProblemCounts, out.Warnings = &answer.Tally{}, nil, nil
	var failed error
	for _, p := range parts {
		shard := p.Cell.Value("shard")
		if shard != "" && shards[shard] {
			return out, &fault.Error{Setting: "shard " + shard, Problem: fmt.Sprintf("is there twice for %s on %s", p.Cell.Value("mix"), p.Cell.Engine), Cure: "merge each client's folder once"}
		}
		shards[shard] = true
		target += p.Cell.Number("target_ops_s")
		out.ProblemCounts, out.Warnings = append(out.ProblemCounts, p.ProblemCounts...), append(out.Warnings, p.Warnings...)
		if p.Answers != nil {
			out.Answers.Add(*p.Answers)
		}
		if p.Verdict == run.Wrong || p.Verdict != run.Equal && failed == nil {
			failed = errors.New(p.Problem)
		}
	}
	if len(parts) > 1 {
		out.Cell = cellOfAll(first.Cell, target)
	}
	proof, failed := answer.CompareAll(*out.Answers, failed)
	if failed == nil {
		var err error
		if out.Warnings, err = join(m, parts, first.began, out.Warnings); err != nil {
			return out, err
		}
	}
	return out.Judge(m, proof, failed), nil
}

// cellOfAll is a cell without its shard.
func cellOfAll(c run.Cell, target float64) run.Cell {
	return run.MixCell(c.Engine, c.Value("layout"), c.Value("mix"), int(c.Number("threads")), target, "", further(c)...)
}

// further are the axes of a cell that not every mix has: of a ramp, an isolation, several nodes.
func further(c run.Cell) (all []any) {
	names, values := c.Axes()
	for i, name := range names {
		if !slices.Contains([]string{"layout", "mix", "threads", "target_ops_s", "shard"}, name) {
			all = append(all, name, values[i])
		}
	}
	return all
}

// join adds what all clients measured, all of them right.
func join(m *run.Measured, parts []part, began time.Time, warnings []string) ([]string, error) {
	shortest := parts[0].measured.Total
	for _, p := range parts {
		if p.measured.Interval != parts[0].measured.Interval {
			return nil, &fault.Error{Setting: "interval of the series", Problem: "differs between the folders", Cure: "run every client with the same options"}
		}
		shortest = min(shortest, p.measured.Total)
		m.Total = max(m.Total, p.began.Add(p.measured.Total).Sub(began))
		absorb(m.Mix, p.measured.Mix, p.began.Sub(began))
		absorbUsed(m.Usage, p.measured.Usage)
	}
	if float64(shortest) < 0.95*float64(m.Total) {
		warnings = append(warnings, fmt.Sprintf("the clients did not run at the same time: %s from first to last, and one ran for %s; start them together", m.Total.Round(time.Millisecond), shortest.Round(time.Millisecond)))
	}
	succeeded := int64(0)
	for _, p := range parts {
		succeeded += p.Answers.Succeeded
	}
	if m.Total > 0 {
		m.Throughput = float64(succeeded) / m.Total.Seconds()
	}
	return warnings, sum(m.Mix, parts)
}

// absorb adds a client's part, without its times.
func absorb(x, o *run.Mix, after time.Duration) {
	x.Place, x.Ending, x.Interval = o.Place, cmp.Or(x.Ending, o.Ending), o.Interval
	x.LoadMachines += max(o.LoadMachines, 1)
	x.Operations += o.Operations
	x.Reconnects += o.Reconnects
	x.Outage = max(x.Outage, o.Outage)
	x.Unstarted += o.Unstarted
	if x.Interval <= 0 {
		return
	}
	at := int(after.Round(x.Interval) / x.Interval)
	for i, s := range o.Series {
		for len(x.Series) <= at+i {
			x.Series = append(x.Series, run.SeriesInterval{})
		}
		to := &x.Series[at+i]
		to.Completed, to.Failed, to.Slowest = to.Completed+s.Completed, to.Failed+s.Failed, max(to.Slowest, s.Slowest)
	}
}

// absorbUsed adds what a client used.
func absorbUsed(u, o *run.Usage) {
	c, d := &u.Client, &o.Client
	c.User, c.System, c.Wall = c.User+d.User, c.System+d.System, max(c.Wall, d.Wall)
	c.Cores, c.PeakRSS, c.GCs = c.Cores+d.Cores, c.PeakRSS+d.PeakRSS, c.GCs+d.GCs
	c.GCPause, c.GCPauseMax = c.GCPause+d.GCPause, max(c.GCPauseMax, d.GCPauseMax)
	if u.Machine.Cores == 0 {
		u.Machine = o.Machine
	}
	if u.Server == nil || o.Server != nil && o.Server.Local && !u.Server.Local {
		u.Server = o.Server // one server: what one client saw of it is all of it
	}
}

// sum adds the histograms of all groups, and makes their short figures.
func sum(x *run.Mix, parts []part) error {
	type times struct{ service, response *measure.Histogram }
	var sums []times
	all := times{measure.NewHistogram(), measure.NewHistogram()}
	for _, p := range parts {
		for _, g := range p.measured.Groups {
			i := slices.IndexFunc(x.Groups, func(o run.Group) bool { return o.Operation == g.Operation && o.Outcome == g.Outcome })
			if i < 0 {
				i = len(x.Groups)
				x.Groups, sums = append(x.Groups, run.Group{Operation: g.Operation, Outcome: g.Outcome, InTotal: g.InTotal}), append(sums, times{measure.NewHistogram(), measure.NewHistogram()})
			}
			service, err := g.ServiceTimes.Histogram()
			response, failed := g.ResponseTimes.Histogram()
			if err = errors.Join(err, failed); err != nil {
				return &fault.Error{Setting: "histogram of " + g.Operation, Err: err, Cure: "run the client again: the folder of an older version lacks some of its times"}
			}
			to := &x.Groups[i]
			to.Count, to.Records = to.Count+g.Count, to.Records+g.Records
			err = errors.Join(sums[i].service.Merge(service), sums[i].response.Merge(response))
			if g.InTotal {
				err = errors.Join(err, all.service.Merge(service), all.response.Merge(response))
			}
			if err != nil {
				return err
			}
		}
	}
	for i := range x.Groups {
		if err := x.Groups[i].SetTimes(sums[i].service, sums[i].response); err != nil {
			return err
		}
	}
	x.Service, x.Response = run.Summarize(all.service), run.Summarize(all.response)
	return nil
}
