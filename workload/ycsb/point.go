package ycsb

import (
	"cmp"
	"slices"
	"time"

	"barograph/engine"
	"barograph/fault"
	"barograph/measure"
	"barograph/measure/pace"
	"barograph/run"
)

// Right reports whether every answer was right: nothing wrong, nothing missing
// beyond maxmisses, no operation that failed.
func (r *Report) Right() bool {
	return r.all(statusWrong) == 0 && r.all(statusError) == 0 && r.all(statusNotFound) <= r.Config.MaxMisses && r.all(statusExists) == 0
}

// Point is the report as a run folder keeps it. The mix is the workload's name.
func (r *Report) Point(mix, scheme string, place engine.Place, layout engine.Layout, rep int) *run.Point {
	res := r.Result
	p := &run.Point{
		Mix: mix, Engine: scheme, Layout: string(layout), Place: string(place), Threads: r.Threads, Target: r.Config.Target / float64(max(r.Config.Shard.Of, 1)), Rep: rep, Clients: 1, Shard: r.Config.Shard.String(),
		Verdict: run.Equal, Started: res.Began.Add(time.Duration(r.Config.Warmup) * time.Second).UTC(), Elapsed: res.Elapsed, Ending: string(res.Ending),
		Operations: r.Operations(), Checked: r.checked(), Unstarted: res.Unstarted, Throughput: r.Throughput(), Warnings: r.Warnings,
		Interval: res.Interval, Client: r.Client, Machine: r.Machine, Server: r.Server,
	}
	for _, x := range r.Problems {
		p.Problems = append(p.Problems, run.Counted(x))
	}
	switch {
	case r.all(statusWrong) > 0:
		p.Verdict = run.Wrong
	case !r.Right() || res.Ending == pace.Failed || res.Hung:
		p.Verdict = run.Failed
	}
	switch err := r.Err(); {
	case err != nil && p.Verdict == run.Equal:
		p.Warnings = append(slices.Clip(p.Warnings), err.Error())
	case err != nil:
		p.Problem = fault.Redact(err.Error())
	case p.Verdict != run.Equal:
		p.Problem = "the run ended early: " + string(res.Ending)
	}
	for _, s := range res.Series {
		p.Series = append(p.Series, run.Slice{Ended: s.Ended, Failed: s.Failed, Slow: s.Slow})
	}
	r.groups(p)
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

// checked counts the answers that were held against what must be there: reads
// for being found whole, scans for their order, bounds and records, values
// under dataintegrity.
func (r *Report) checked() int64 {
	n := int64(0)
	for status := range statuses() {
		n += r.tally(status, opRead, opUpdate, opInsert, opScan, opDelete, opReadPath, opUpdatePath, kindVerify)
	}
	return n
}

// Summary is one run of a sweep, in short.
type Summary struct {
	Threads    int
	Throughput float64       // operations per second
	P95        time.Duration // response
}

// Knee is the number of threads beyond which more of them bring little: the
// fewest whose throughput is at least 90 % of the highest that was measured.
func Knee(all []Summary) Summary {
	if len(all) == 0 {
		return Summary{}
	}
	best := slices.MaxFunc(all, func(a, b Summary) int { return cmp.Compare(a.Throughput, b.Throughput) })
	knee := best
	for _, s := range all {
		if s.Throughput >= 0.9*best.Throughput && s.Threads < knee.Threads {
			knee = s
		}
	}
	return knee
}
