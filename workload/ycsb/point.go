package ycsb

import (
	"slices"
	"time"

	"github.com/barograph/barograph/answer"
	"github.com/barograph/barograph/measure"
	"github.com/barograph/barograph/run"
)

// Answers counts how the answers turned out, and what they were held against:
// reads and scans are found under their keys, with every field, in order, and
// under dataintegrity their values are computed anew. Some records are read back
// after each run, so that one of writes alone is not the engine's word alone.
func (r *Report) Answers() answer.Tally {
	a := answer.Tally{
		Succeeded: r.Succeeded(), Wrong: r.all(statusWrong) + r.back.Wrong, Failed: r.all(statusError) + r.all(statusExists),
		Found: r.tally(statusOK, opRead, opScan, opReadPath) + r.back.Found, Values: r.tally(statusOK, kindVerify),
		Written: r.tally(statusOK, opInsert, opUpdate, opDelete, opUpdatePath),
	}
	if r.Config.Integrity {
		a.Values += r.back.Found
	}
	if n := r.all(statusNotFound) + r.back.Missing; n > r.Config.MaxMisses {
		a.Missing = n
	}
	return a
}

// timed reports whether the times may be shown: answers were checked, and none
// is wrong or missing, and the process ran. Operations that failed with an error have none anyway.
func (r *Report) timed() bool {
	a := r.Answers()
	return a.Wrong == 0 && a.Missing == 0 && a.Found > 0 && r.Stood == 0
}

// Sample is the report on a target as a run folder keeps it, of a run that began
// at a moment. The mix is the workload's name.
func (r *Report) Sample(mix string, t *Target, rep int, since time.Time) (run.Sample, error) {
	res, a := r.Result, r.Answers()
	told := a
	s := run.Sample{Cell: t.cell(r.Config, mix, r.Threads, r.faults), Rep: rep, Answers: &told, Warnings: r.Warnings, Fault: r.Fault}
	for _, x := range r.Problems {
		s.Problems = append(s.Problems, run.Counted(x))
	}
	m := &run.Measured{Total: res.Elapsed, Used: &run.Used{Client: r.Client, Machine: r.Machine, Server: r.Server}}
	m.Start = max(0, res.Began.Add(time.Duration(r.Config.Warmup)*time.Second).Sub(since))
	m.Mix = &run.Mix{
		Place: string(t.Place), Clients: 1, Ending: string(res.Ending), Operations: r.Operations(), Unstarted: res.Unstarted, Reconnects: r.Reconnects, Outage: r.Outage,
		Throughput: r.Throughput(), Interval: res.Interval, Cost: r.cost,
	}
	for i, x := range res.Series {
		m.Series = append(m.Series, run.Slice{Ended: x.Ended, Failed: x.Failed, Slow: x.Slow})
		if i < len(r.quantiles) {
			q := r.quantiles[i]
			m.Series[i].P50, m.Series[i].P95, m.Series[i].P99 = q.p50, q.p95, q.p99
		}
	}
	if err := r.groups(m.Mix); err != nil {
		return s, err
	}
	problem, failed := r.Err(), r.failed
	if r.Fault != nil {
		a.Failed = 0 // what failed while a server was down is what is measured, and no answer
		if broken := r.brokenPromises(); broken != "" {
			failed, a.Wrong = problem, a.Wrong+1
		}
	}
	if failed == nil && (a.Wrong+a.Missing+a.Failed > 0 || r.Result.Hung || r.Stood > 0) {
		failed = problem
	}
	proof, failed := answer.CompareAll(a, failed)
	if s = s.Judge(m, proof, failed); problem != nil && s.Verdict == run.Equal {
		s.Warnings = append(slices.Clip(s.Warnings), problem.Error()) // it ended early, or does not hold the target
	}
	return s, nil
}

func (r *Report) groups(m *run.Mix) error {
	service := measure.NewHistogram()
	for kind, name := range kinds() {
		for status, outcome := range statuses() {
			g := r.Result.Groups[kind][status]
			if g == nil {
				continue
			}
			whole := status == statusOK && r.isWhole(kind)
			if whole {
				_ = service.Merge(g.Service) // both have one range
			}
			out := run.Group{Operation: name, Outcome: outcome, Count: g.Count, Records: g.Records, Whole: whole}
			if err := out.Times(g.Service, g.Response); err != nil {
				return err
			}
			m.Groups = append(m.Groups, out)
		}
	}
	m.Service, m.Response = run.Short(service), run.Short(r.Response())
	return nil
}
