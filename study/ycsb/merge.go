package ycsb

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/run"
)

// clientSample is one client's measurement of a cell.
type clientSample struct {
	run.Sample
	measured *run.Measured // nil if its results are not correct
	began    time.Time
}

// Merge joins the folders of mixes. Samples of several clients, each with its --shard, of the same cell and repetition
// become one sample:
//
//   - its histograms and numbers of operations are the sums;
//   - its series is aligned by the clocks of the machines;
//   - its throughput is that of the time from the first start to the last end;
//   - it is wrong if one client found a wrong result;
//   - it has a warning if the sample of a shard is missing.
//
// Samples without a shard, and samples with faults, stay as they are. Of two samples of one cell without a shard and
// faults, the second becomes a further repetition. Each client's measurement of the client overhead counts as a sample
// without a shard.
func Merge(dirs []string) (run.Run, []run.Sample, error) {
	var out run.Run
	parts := map[string][]clientSample{}
	var order []string
	var unmerged []run.Sample
	reps := map[string]int{} // the last repetition of each cell without shards
	for i, dir := range dirs {
		r, samples, err := run.Read(dir)
		if r == nil {
			return out, nil, err
		}
		if r.Workload != run.MixWorkload {
			problem := fmt.Sprintf("is a run of %q, not of %s", r.Workload, run.MixWorkload)
			return out, nil, &fault.Error{File: dir, Problem: problem, Cure: "name a folder that barograph ycsb wrote"}
		}
		if err != nil {
			return out, nil, err
		}
		if i == 0 {
			out = *r
		}
		widen(&out, r)
		for _, s := range samples {
			locateHistory(&s, dir)
			if s.Fault != nil { // its cost compares the rates of one client before and after it
				unmerged = append(unmerged, s)
				continue
			}
			all := cellOfAll(s.Cell, s.Cell.Number("target_ops_s"))
			isInMemory := func(a run.Archive) bool { return a.Engine == s.Cell.Engine && a.Place == string(engine.Memory) }
			if slices.ContainsFunc(r.Archives, isInMemory) {
				s.Cell = all // clients share no engine in memory
			}
			if s.Cell.Value("shard") == "" {
				s.Rep = max(s.Rep, reps[s.Cell.String()]+1)
				reps[s.Cell.String()] = s.Rep
				unmerged = append(unmerged, s)
				continue
			}
			p := clientSample{Sample: s, measured: s.Measured(), began: r.Started}
			if p.measured != nil {
				p.began = r.Started.Add(p.measured.Start)
			}
			key := fmt.Sprint(all, "|", s.Rep)
			if parts[key] == nil {
				order = append(order, key)
			}
			parts[key] = append(parts[key], p)
		}
	}
	samples := unmerged
	for _, key := range order {
		s, err := mergeParts(parts[key], out.Started)
		if err != nil {
			return out, nil, err
		}
		if missing := missingShards(parts[key]); len(parts[key]) > 1 && len(missing) > 0 {
			const text = "without the shards %s: operations and throughput are those of the other clients"
			s.Warnings = append(s.Warnings, fmt.Sprintf(text, strings.Join(missing, ", ")))
		}
		samples = append(samples, s)
	}
	return out, samples, nil
}

// locateHistory prepends the folder to the name of a sample's history, which is relative to that folder.
func locateHistory(s *run.Sample, dir string) {
	h := s.History
	if s.Fault != nil {
		h = s.Fault.History
	}
	if h != nil && h.File != "" {
		h.File = filepath.Join(dir, h.File)
	}
}

// missingShards lists the shards whose samples are not among the parts of a cell.
func missingShards(parts []clientSample) (missing []string) {
	found, of := map[string]bool{}, int64(0)
	for _, p := range parts {
		var s Shard
		if s.Set(p.Cell.Value("shard")) == nil {
			found[s.String()], of = true, max(of, s.Of)
		}
	}
	for i := range of {
		if name := (Shard{i, of}).String(); !found[name] {
			missing = append(missing, name)
		}
	}
	return missing
}

// widen adds the time, the warnings, the findings and the archives of another run. The machine stays that of the first.
func widen(r, o *run.Run) {
	if o.Started.Before(r.Started) {
		r.Started = o.Started
	}
	if o.Finished.IsZero() {
		r.Finished = time.Time{} // one was interrupted
	} else if !r.Finished.IsZero() && o.Finished.After(r.Finished) {
		r.Finished = o.Finished
	}
	addMissing := func(to *[]string, from []string) {
		for _, text := range from {
			if !slices.Contains(*to, text) {
				*to = append(*to, text)
			}
		}
	}
	addMissing(&r.Warnings, o.Warnings)
	addMissing(&r.Findings, o.Findings)
	for _, a := range o.Archives {
		isSame := func(b run.Archive) bool { return a.Engine == b.Engine && a.Design == b.Design }
		if !slices.ContainsFunc(r.Archives, isSame) {
			r.Archives = append(r.Archives, a)
		}
	}
}

// mergeParts merges the samples of several clients of one cell. The time of the result counts from since.
func mergeParts(parts []clientSample, since time.Time) (run.Sample, error) {
	first := slices.MinFunc(parts, func(a, b clientSample) int { return a.began.Compare(b.began) })
	m := &run.Measured{Start: first.began.Sub(since), Mix: &run.Mix{}, Usage: &run.Usage{}}
	out, target, shards := first.Sample, 0.0, map[string]bool{}
	out.Answers, out.ProblemCounts, out.Warnings = &answer.Tally{}, nil, nil
	var failed error
	for _, p := range parts {
		shard := p.Cell.Value("shard")
		if shard != "" && shards[shard] {
			problem := fmt.Sprintf("is given twice for %s on %s", p.Cell.Value("mix"), p.Cell.Engine)
			return out, &fault.Error{Setting: "shard " + shard, Problem: problem, Cure: "merge each client's folder once"}
		}
		shards[shard] = true
		target += p.Cell.Number("target_ops_s")
		out.ProblemCounts = append(out.ProblemCounts, p.ProblemCounts...)
		out.Warnings = append(out.Warnings, p.Warnings...)
		if p.Answers != nil {
			out.Answers.Add(*p.Answers)
		}
		if violations(p.History) > violations(out.History) {
			out.History = p.History
		}
		switch {
		case p.Verdict == run.Wrong: // also if the wrong result is in a history, which is not among the answers
			failed = &answer.Diff{Problem: p.Problem}
		case p.Verdict != run.Equal && failed == nil:
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

// violations counts the violations of promises in a history, which may be nil.
func violations(h *run.HistoryCheck) (n int) {
	if h == nil {
		return -1
	}
	for _, p := range h.Promises {
		if p.Promised {
			n += p.Violations
		}
	}
	return n
}

// cellOfAll returns a cell without its shard, and with the target of all shards.
func cellOfAll(c run.Cell, target float64) run.Cell {
	return run.MixCell(c.Engine, c.Value("layout"), c.Value("mix"), int(c.Number("threads")), target, "", moreAxes(c)...)
}

// moreAxes returns the names and values of the axes that not every mix has, such as isolation.
func moreAxes(c run.Cell) (all []any) {
	names, values := c.Axes()
	for i, name := range names {
		if !slices.Contains([]string{"layout", "mix", "threads", "target_ops_s", "shard"}, name) {
			all = append(all, name, values[i])
		}
	}
	return all
}

// join adds the measurements of all clients, whose results are all correct, to m. It returns the warnings with those of
// its own.
func join(m *run.Measured, parts []clientSample, began time.Time, warnings []string) ([]string, error) {
	shortest := parts[0].measured.Total
	for _, p := range parts {
		if p.measured.Interval != parts[0].measured.Interval {
			return nil, &fault.Error{
				Setting: "interval of the series", Problem: "differs between the folders",
				Cure: "run every client with the same options",
			}
		}
		shortest = min(shortest, p.measured.Total)
		m.Total = max(m.Total, p.began.Add(p.measured.Total).Sub(began))
		addMix(m.Mix, p.measured.Mix, p.began.Sub(began))
		addUsage(m.Usage, p.measured.Usage)
	}
	if float64(shortest) < 0.95*float64(m.Total) {
		const text = "the clients did not run at the same time: %s from the first start to the last end, and one client " +
			"ran for %s; start them together"
		warnings = append(warnings,
			fmt.Sprintf(text, m.Total.Round(time.Millisecond), shortest.Round(time.Millisecond)))
	}
	succeeded := int64(0)
	for _, p := range parts {
		succeeded += p.Answers.Succeeded
	}
	if m.Total > 0 {
		m.Throughput = float64(succeeded) / m.Total.Seconds()
	}
	return warnings, addGroups(m.Mix, parts)
}

// addMix adds a client's measurement o to x. after is the time from the start of the first client to that of o. addMix
// does not add the groups.
func addMix(x, o *run.Mix, after time.Duration) {
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

// addUsage adds a client's usage o to u.
func addUsage(u, o *run.Usage) {
	c, d := &u.Client, &o.Client
	c.User, c.System, c.Wall = c.User+d.User, c.System+d.System, max(c.Wall, d.Wall)
	c.Cores, c.PeakRSS, c.GCs = c.Cores+d.Cores, c.PeakRSS+d.PeakRSS, c.GCs+d.GCs
	c.GCPause, c.GCPauseMax = c.GCPause+d.GCPause, max(c.GCPauseMax, d.GCPauseMax)
	if u.Machine.Cores == 0 {
		u.Machine = o.Machine
	}
	if u.Server == nil || o.Server != nil && o.Server.Local && !u.Server.Local {
		u.Server = o.Server // all clients observe the same server
	}
}

// addGroups adds the histograms of all groups, and summarizes them.
func addGroups(x *run.Mix, parts []clientSample) error {
	type times struct{ service, response *measure.Histogram }
	var sums []times
	all := times{measure.NewHistogram(), measure.NewHistogram()}
	for _, p := range parts {
		for _, g := range p.measured.Groups {
			isSame := func(o run.Group) bool { return o.Operation == g.Operation && o.Outcome == g.Outcome }
			i := slices.IndexFunc(x.Groups, isSame)
			if i < 0 {
				i = len(x.Groups)
				x.Groups = append(x.Groups, run.Group{Operation: g.Operation, Outcome: g.Outcome, InTotal: g.InTotal})
				sums = append(sums, times{measure.NewHistogram(), measure.NewHistogram()})
			}
			service, err := g.ServiceTimes.Histogram()
			response, failed := g.ResponseTimes.Histogram()
			if err = errors.Join(err, failed); err != nil {
				return &fault.Error{
					Setting: "histogram of " + g.Operation, Err: err,
					Cure: "run the client again: the folder of an older version lacks some of its times",
				}
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
