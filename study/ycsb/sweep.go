package ycsb

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/run"
)

// Mix is a workload by its name.
type Mix struct {
	Name       string
	Config     *Config
	Properties Properties // of Config, for agents; nil if the sweep has no agents
}

// Sweep runs mixes on engines, with numbers of threads, again and again.
type Sweep struct {
	Mixes   []Mix
	Targets []*Target
	Threads []int64
	Reps    int
	Seed    uint64  // of the order
	Agents  *Agents // that run each point together; nil = this process does

	Find  bool          // search for the number of threads; see Saturate
	Bound time.Duration // with Find: limit of the 95th percentile; 0 = none
	Most  int64         // with Find: maximum number of threads
	Ramp  Ramp          // search for the rate, with the largest of Threads

	Add   func(s run.Sample) error // receives each sample
	Found func(text string)        // receives findings: results of searches, and mixes without client overhead

	noOverhead map[string]bool // mixes that the dry engine does not support; each is reported once
}

// Run runs all points in rounds, each in a new random order, so that drift affects all mixes, engines and
// numbers of threads equally. If an engine fails, Run continues with the others. It returns the first error.
func (s *Sweep) Run(ctx context.Context) (first error) {
	width := len(s.Mixes) * len(s.Targets)
	search := s.Find || s.Ramp.First > 0
	if !search {
		width *= len(s.Threads)
	}
	reps := max(s.Reps, 1)
	s.noOverhead = map[string]bool{}
	if search {
		reps = 1 // each number of threads, or rate, is repeated by its search
	}
	for i, round := range measure.Interleave(s.Seed, width, reps) {
		m, t := s.Mixes[i%len(s.Mixes)], s.Targets[i/len(s.Mixes)%len(s.Targets)]
		var err error
		switch {
		case s.Ramp.First > 0:
			err = s.ramp(ctx, t, m)
		case s.Find:
			err = s.saturate(ctx, t, m)
		default:
			_, err = s.runPoint(ctx, t, m, s.Threads[i/len(s.Mixes)/len(s.Targets)], round+1)
		}
		if first == nil {
			first = err
		}
		if ctx.Err() != nil {
			return first
		}
	}
	return first
}

// saturate searches for the number of threads above which throughput does not rise.
func (s *Sweep) saturate(ctx context.Context, t *Target, m Mix) (failed error) {
	repeated := func(n int64) (Summary, bool) {
		var all []run.Sample
		for rep := range max(s.Reps, 1) {
			p, err := s.runPoint(ctx, t, m, n, rep+1)
			if failed = errors.Join(err, ctx.Err()); failed != nil || p.Measured() == nil {
				return Summary{}, false
			}
			all = append(all, p)
		}
		return summarize(all), true
	}
	if t.Place == engine.Memory {
		repeated(1) // the client overhead does not saturate
		return failed
	}
	if result := Saturate(s.Bound, s.Most, repeated); failed == nil && len(result.Runs) > 0 {
		s.Found(fmt.Sprintf("%s on %s: %s", m.Name, t.title(), result))
	}
	return failed
}

// runPoint runs one point. If the engine has failed before, which was reported then, it returns an empty sample.
func (s *Sweep) runPoint(ctx context.Context, t *Target, m Mix, threads int64, rep int) (run.Sample, error) {
	if ctx.Err() != nil || t.failed != nil {
		return run.Sample{}, ctx.Err()
	}
	with := *m.Config
	with.Threads = threads
	var p run.Sample
	var err error
	if s.Agents == nil {
		p, _, err = t.Measure(ctx, &with, t.Options(), m.Name, rep)
	} else {
		p, err = s.byAgents(ctx, t, m, &with, rep)
	}
	if t.Place == engine.Memory && errors.Is(err, ErrCannot) { // it is none of the engines that the sweep compares
		if !s.noOverhead[m.Name] {
			s.noOverhead[m.Name] = true
			const unmeasured = "%s: the client overhead is not measured, " +
				"because the table of the %s engine does not support this mix"
			s.Found(fmt.Sprintf(unmeasured, m.Name, t.title()))
		}
		return run.Sample{}, nil
	}
	if err != nil {
		err = fmt.Errorf("%s on %s with %s: %w", m.Name, t.title(), run.CountOf(threads, "thread"), err)
		if p.Verdict != run.Equal && !errors.Is(err, ErrCannot) {
			t.failed = err
		}
	}
	return p, errors.Join(err, s.Add(p))
}

// byAgents runs one point by all agents.
func (s *Sweep) byAgents(ctx context.Context, t *Target, m Mix, with *Config, rep int) (run.Sample, error) {
	all := maps.Clone(m.Properties)
	for name, n := range map[string]int64{
		"threadcount": with.Threads, "operationcount": with.Operations, "maxexecutiontime": with.Seconds,
	} {
		all[name] = strconv.FormatInt(n, 10)
	}
	all["target"] = strconv.FormatFloat(with.Target, 'g', -1, 64)
	if len(with.Rates) == 0 {
		delete(all, "rate")
	}
	p, err := s.Agents.Run(ctx, Task{Engine: t.rawURL, Form: t.Form, Mix: m.Name, Properties: all, Ramp: with.Ramp},
		t.Folder.Run.Started)
	if p.Cell.Engine == "" {
		p = run.Sample{Cell: t.cell(with, m.Name, int(with.Threads), nil)}.Judge(nil, answer.Proof{}, err)
	}
	p.Rep = rep
	return p, err
}

// Summary has the measurements of a sweep with one number of threads.
type Summary struct {
	Threads    int
	Throughput float64       // operations per second; the median of Runs
	P95        time.Duration // of the response times; the median of Runs
	Runs       int
	Range      measure.MedianInterval // of the throughput
}

// summarize summarizes the runs with one number of threads.
func summarize(all []run.Sample) Summary {
	var rate, p95 []float64
	for _, s := range all {
		rate, p95 = append(rate, s.Measured().Throughput), append(p95, float64(s.Measured().Response.P95))
	}
	return Summary{
		Threads: int(all[0].Cell.Number("threads")), Throughput: measure.Median(rate),
		P95:  time.Duration(measure.Median(p95)),
		Runs: len(all), Range: measure.MedianCI(rate, measure.Confidence),
	}
}

// evidence describes the throughput with its interval, or the number of runs if they are too few for an
// interval: then it shows no throughput.
func (s Summary) evidence() string {
	if !s.Range.Known {
		const few = "by %s of each number of threads, too few for an interval (--reps %d gives one)"
		return fmt.Sprintf(few, run.CountOf(s.Runs, "run"), s.Range.Need)
	}
	return fmt.Sprintf("with %.0f operations/s (95 %% interval %.0f – %.0f)", s.Throughput, s.Range.Lo, s.Range.Hi)
}

// Knee is the smallest number of threads whose throughput is at least 90 % of the highest measured one.
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

// Saturation is the result of a search for saturation.
type Saturation struct {
	Runs        []Summary
	Bound       time.Duration // of the 95th percentile; 0 = none was given
	WithinBound Summary       // the largest number of threads within the bound; zero if one thread exceeds it
	Knee        Summary       // see Knee
	Ended       string        // why the search ended
}

// The reasons why a search for saturation ends.
const (
	runFailed     = "a run failed"
	boundExceeded = "the bound was exceeded"
	notFaster     = "more threads were not faster"
	mostReached   = "the largest number of threads was reached"
)

// worthwhile is the factor by which doubling the threads must raise the throughput.
const worthwhile = 1.1

// Saturate doubles the threads from 1 until the bound is exceeded, until doubling them adds less
// than a tenth twice in a row, or up to most. If a bound is given and exceeded, it then halves the
// interval between the last number within the bound and the first beyond it, until it is at most a tenth of the former.
// measure runs with a number of threads; false ends the search.
func Saturate(bound time.Duration, most int64, measure func(threads int64) (Summary, bool)) Saturation {
	s := Saturation{Bound: bound}
	exceeded, idle := int64(0), 0
	for n := int64(1); ; n = min(2*n, most) {
		x, ok := measure(n)
		if !ok {
			s.Ended = runFailed
			break
		}
		s.Runs = append(s.Runs, x)
		if bound > 0 && x.P95 > bound {
			exceeded, s.Ended = n, boundExceeded
			break
		}
		s.WithinBound = x
		if k := len(s.Runs); k > 1 && x.Throughput < worthwhile*s.Runs[k-2].Throughput {
			idle++
		} else {
			idle = 0
		}
		if idle == 2 {
			s.Ended = notFaster
			break
		}
		if n >= most {
			s.Ended = mostReached
			break
		}
	}
	for low, high := int64(s.WithinBound.Threads), exceeded; low > 0 && high-low > max(1, low/10); {
		n := (low + high) / 2
		x, ok := measure(n)
		if !ok {
			break
		}
		s.Runs = append(s.Runs, x)
		if x.P95 > bound {
			high = n
		} else {
			low, s.WithinBound = n, x
		}
	}
	s.Knee = Knee(s.Runs)
	return s
}

// String describes the result in one sentence.
func (s Saturation) String() string {
	if len(s.Runs) == 0 {
		return "nothing was measured"
	}
	most := slices.MaxFunc(s.Runs, func(a, b Summary) int { return cmp.Compare(a.Threads, b.Threads) })
	knee := run.CountOf(s.Knee.Threads, "thread")
	text := fmt.Sprintf("saturates at %s, %s: more threads add less than a tenth", knee, s.Knee.evidence())
	if s.Knee.Threads == most.Threads { // nothing shows what more threads would add
		text = fmt.Sprintf("does not saturate up to %s, the most that were measured, %s", knee, s.Knee.evidence())
	}
	switch {
	case s.Bound == 0:
		return text
	case s.WithinBound.Threads == 0:
		return fmt.Sprintf("exceeds the bound of %s with a single thread", s.Bound)
	case s.Ended == boundExceeded:
		within := run.CountOf(s.WithinBound.Threads, "thread")
		return fmt.Sprintf("has a 95th percentile of at most %s up to %s, %s", s.Bound, within, s.WithinBound.evidence())
	}
	return text + fmt.Sprintf("; the bound of %s was never exceeded", s.Bound)
}
