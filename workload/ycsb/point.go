package ycsb

import (
	"slices"
	"time"

	"barograph/measure"
	"barograph/run"
)

// Answers counts how the answers turned out, and what they were held against:
// reads and scans are found under their keys, with every field, in order, and
// under dataintegrity their values are computed anew. Some records are read back
// after each run, so that one of writes alone is not the engine's word alone.
func (r *Report) Answers() run.Answers {
	a := run.Answers{
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

// Point is the report on a target as a run folder keeps it. The mix is the
// workload's name.
func (r *Report) Point(mix string, t *Target, rep int) *run.Point {
	res := r.Result
	p := &run.Point{
		Mix: mix, Engine: t.Scheme, Layout: string(t.Layout), Place: string(t.Place), Threads: r.Threads, Target: r.Config.Target / float64(max(r.Config.Shard.Of, 1)), Rep: rep, Clients: 1, Shard: r.Config.Shard.String(),
		Started: res.Began.Add(time.Duration(r.Config.Warmup) * time.Second).UTC(), Elapsed: res.Elapsed, Ending: string(res.Ending),
		Operations: r.Operations(), Unstarted: res.Unstarted, Reconnects: r.Reconnects, Outage: r.Outage, Throughput: r.Throughput(), Warnings: r.Warnings,
		Interval: res.Interval, Client: r.Client, Machine: r.Machine, Server: r.Server,
	}
	for _, x := range r.Problems {
		p.Problems = append(p.Problems, run.Counted(x))
	}
	for _, s := range res.Series {
		p.Series = append(p.Series, run.Slice{Ended: s.Ended, Failed: s.Failed, Slow: s.Slow})
	}
	r.groups(p)
	problem, failed, a := r.Err(), r.failed, r.Answers()
	if failed == nil && (a.Wrong+a.Missing+a.Failed > 0 || r.Result.Hung || r.Stood > 0) {
		failed = problem
	}
	if p.Judge(a, failed); problem != nil && p.Verdict == run.Equal {
		p.Warnings = append(slices.Clip(p.Warnings), problem.Error()) // it ended early, or does not hold the target
	}
	return p
}

func (r *Report) groups(p *run.Point) {
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
			p.Groups = append(p.Groups, run.Group{
				Operation: name, Outcome: outcome, Count: g.Count, Records: g.Records, Whole: whole,
				Service: run.Short(g.Service), Response: run.Short(g.Response), ServiceTimes: g.Service, ResponseTimes: g.Response,
			})
		}
	}
	p.Service, p.Response = run.Short(service), run.Short(r.Response())
}
