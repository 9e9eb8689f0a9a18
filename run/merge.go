package run

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"barograph/fault"
	"barograph/measure"
)

// MergePoints joins the folders of points that several client machines wrote.
// Points of the same mix, engine, layout, number of workers and repetition
// become one: histograms are added count by count, operations summed, series
// laid over each other by the clocks of the machines, and the throughput is that
// of the time from the first's start to the last's end. What one of them found
// wrong is wrong. Other points are kept as they are.
func MergePoints(dirs []string) (Run, []*Point, error) {
	var out Run
	var points []*Point
	parts := map[string][]*Point{}
	var order []string
	for i, dir := range dirs {
		r, ps, err := ReadPoints(dir, true)
		if err != nil {
			return out, nil, err
		}
		if i == 0 {
			out = *r
		}
		out.mergeRun(r)
		for _, p := range ps {
			key := fmt.Sprint(p.Mix, "|", p.Engine, "|", p.Layout, "|", p.Threads, "|", p.Rep)
			if parts[key] == nil {
				order = append(order, key)
			}
			parts[key] = append(parts[key], p)
		}
	}
	for _, key := range order {
		p, err := mergePoint(parts[key])
		if err != nil {
			return out, nil, err
		}
		points = append(points, p)
	}
	return out, points, nil
}

// mergeRun widens a run by another's time and warnings. The machine stays that
// of the first.
func (r *Run) mergeRun(o *Run) {
	if o.Started.Before(r.Started) {
		r.Started = o.Started
	}
	if o.Ended.IsZero() {
		r.Ended = time.Time{} // one was interrupted
	} else if !r.Ended.IsZero() && o.Ended.After(r.Ended) {
		r.Ended = o.Ended
	}
	for _, w := range o.Warnings {
		if !slices.Contains(r.Warnings, w) {
			r.Warnings = append(r.Warnings, w)
		}
	}
	for _, a := range o.Archives {
		if !slices.ContainsFunc(r.Archives, func(b Archive) bool { return a.Engine == b.Engine && a.Design == b.Design }) {
			r.Archives = append(r.Archives, a)
		}
	}
}

func mergePoint(parts []*Point) (*Point, error) {
	if len(parts) == 1 {
		return parts[0], nil
	}
	shards := map[string]bool{}
	for _, p := range parts {
		if p.Shard != "" && shards[p.Shard] {
			return nil, &fault.Error{Setting: "shard " + p.Shard, Problem: fmt.Sprintf("is there twice for %s on %s", p.Mix, p.Engine), Cure: "merge each client's folder once"}
		}
		if p.Interval != parts[0].Interval {
			return nil, &fault.Error{Setting: "interval of the series", Problem: "differs between the folders", Cure: "run every client with the same options"}
		}
		shards[p.Shard] = true
	}
	first := slices.MinFunc(parts, func(a, b *Point) int { return a.Started.Compare(b.Started) })
	out := *first
	out.Groups, out.Series, out.Problems, out.Warnings, out.Shard, out.Clients = nil, nil, nil, nil, "", 0
	out.Target, out.Operations, out.Unstarted, out.Reconnects, out.Outage, out.Answers, out.Client = 0, 0, 0, 0, 0, Answers{}, measure.ClientLoad{}
	end := first.Started
	var failed []error
	for _, p := range parts {
		if e := p.Started.Add(p.Elapsed); e.After(end) {
			end = e
		}
		failed = append(failed, out.absorb(p))
	}
	out.Elapsed = end.Sub(first.Started)
	if out.sum(); out.Verdict != Equal {
		out.timeless()
	}
	if shortest := slices.MinFunc(parts, func(a, b *Point) int { return cmp.Compare(a.Elapsed, b.Elapsed) }).Elapsed; float64(shortest) < 0.95*float64(out.Elapsed) {
		out.Warnings = append(out.Warnings, fmt.Sprintf("the clients did not run at the same time: %s from first to last, and one ran for %s; start them together", out.Elapsed.Round(time.Millisecond), shortest.Round(time.Millisecond)))
	}
	return &out, errors.Join(failed...)
}

// absorb adds a client's part.
func (x *Point) absorb(p *Point) error {
	x.Clients += max(p.Clients, 1)
	x.Target += p.Target
	x.Operations += p.Operations
	x.Reconnects += p.Reconnects
	x.Outage = max(x.Outage, p.Outage)
	x.Answers.Add(p.Answers)
	x.Unstarted += p.Unstarted
	x.Client.User += p.Client.User
	x.Client.System += p.Client.System
	x.Client.Wall = max(x.Client.Wall, p.Client.Wall)
	x.Client.Cores += p.Client.Cores
	x.Client.PeakRSS += p.Client.PeakRSS
	x.Client.GCs += p.Client.GCs
	x.Client.GCPause += p.Client.GCPause
	x.Client.GCPauseMax = max(x.Client.GCPauseMax, p.Client.GCPauseMax)
	if x.Server == nil || p.Server != nil && p.Server.Local && !x.Server.Local {
		x.Server = p.Server // one server: what one client saw of it is all of it
	}
	if p.Verdict == Wrong || p.Verdict == Failed && x.Verdict != Wrong {
		x.Verdict, x.Problem = p.Verdict, p.Problem
	}
	x.Warnings = append(x.Warnings, p.Warnings...)
	x.Problems = append(x.Problems, p.Problems...)
	if x.Interval > 0 {
		at := int(p.Started.Sub(x.Started).Round(x.Interval) / x.Interval)
		for i, s := range p.Series {
			for len(x.Series) <= at+i {
				x.Series = append(x.Series, Slice{})
			}
			to := &x.Series[at+i]
			to.Ended, to.Failed, to.Slow = to.Ended+s.Ended, to.Failed+s.Failed, max(to.Slow, s.Slow)
		}
	}
	var failed []error
	for _, g := range p.Groups {
		failed = append(failed, x.absorbGroup(g))
	}
	return errors.Join(failed...)
}

func (x *Point) absorbGroup(g Group) error {
	i := slices.IndexFunc(x.Groups, func(o Group) bool { return o.Operation == g.Operation && o.Outcome == g.Outcome })
	if i < 0 {
		if g.ServiceTimes != nil {
			g.ServiceTimes, g.ResponseTimes = g.ServiceTimes.Clone(), g.ResponseTimes.Clone()
		}
		x.Groups = append(x.Groups, g)
		return nil
	}
	to := &x.Groups[i]
	to.Count, to.Records = to.Count+g.Count, to.Records+g.Records
	if to.ServiceTimes == nil || g.ServiceTimes == nil {
		to.ServiceTimes, to.ResponseTimes = nil, nil // one of them is not right: no times
		return nil
	}
	return errors.Join(to.ServiceTimes.Merge(g.ServiceTimes), to.ResponseTimes.Merge(g.ResponseTimes))
}

// sum makes the short figures of the merged histograms.
func (x *Point) sum() {
	service, response := measure.NewHistogram(), measure.NewHistogram()
	for i := range x.Groups {
		g := &x.Groups[i]
		if g.ServiceTimes == nil {
			continue
		}
		g.Service, g.Response = Short(g.ServiceTimes), Short(g.ResponseTimes)
		if g.Whole {
			_ = service.Merge(g.ServiceTimes) // all have one range
			_ = response.Merge(g.ResponseTimes)
		}
	}
	x.Service, x.Response = Short(service), Short(response)
	if x.Elapsed > 0 {
		x.Throughput = float64(x.Answers.Succeeded) / x.Elapsed.Seconds()
	}
}
