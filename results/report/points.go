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
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/run"
)

// points contains the throughput and the latency of a run of mixes, grouped into cells.
type points struct {
	run     *run.Run
	all     []*point     // of cells
	cells   []*pointCell // in the order of the table
	samples []run.Sample // all samples of the folder
	steps   []run.Sample // of ramps; cells does not contain them
	faults  []run.Sample // with injected faults; cells does not contain them
	mixes   []string
	engines []string // as the tables name them, in order; without the client overhead
}

// pointCell contains the repetitions of one mix on one engine with one number of threads.
type pointCell struct {
	mix, engine string // as the tables name them
	threads     int
	overhead    bool
	reps        []*point // all of them correct, unless problem is set
	problem     string
	verdict     run.Verdict

	proof       string // the weakest of its repetitions
	throughput  measure.Estimate
	hasInterval bool // the bounds of throughput are a confidence interval, not only a range
}

// point is a sample with the values of its cell. If it is not correct, its measurements are empty.
type point struct {
	run.Sample
	run.Measured
	Mix, Engine, Layout string
	Threads             int
	Target              float64
}

// pointsOf converts samples to points.
func pointsOf(samples []run.Sample) (all []*point) {
	for _, s := range samples {
		c := s.Cell
		p := &point{Sample: s, Mix: c.Value("mix"), Engine: c.Engine, Layout: c.Value("layout")}
		p.Threads, p.Target = int(c.Number("threads")), c.Number("target_ops_s")
		if level := c.Value("isolation"); level != "" {
			p.Mix += " · " + level
		}
		p.Measured = *cmp.Or(s.Measured(), &run.Measured{Mix: &run.Mix{}, Usage: &run.Usage{}})
		p.Answers = cmp.Or(p.Answers, &run.Answers{})
		all = append(all, p)
	}
	return all
}

// openPoints reports a run of the workload mix.
func openPoints(dir string, r *run.Run, samples []run.Sample) *Report {
	out := ofRun(dir, r, "Which throughput does each engine sustain, and at what latency?")
	out.Data = map[string]any{"run": r, "samples": samples}
	out.points(r, samples)
	return out
}

// OfPoints returns the report of a run that has no folder.
func OfPoints(r *run.Run, samples []run.Sample) *Report {
	out := newReport("", r.Workload, r.Started, "")
	out.Warnings = append(slices.Clone(r.Warnings), unranked(r)...)
	out.points(r, samples)
	return out
}

// points creates the sections of all points, and of those with faults.
func (r *Report) points(of *run.Run, samples []run.Sample) {
	hasFaults := func(s run.Sample) bool { return s.Fault != nil }
	isStep := func(s run.Sample) bool { return !hasFaults(s) && s.Cell.Value("ramp") != "" }
	others := lists.Filter(samples, func(s run.Sample) bool { return !hasFaults(s) && !isStep(s) })
	p := gather(of, pointsOf(others))
	p.faults, p.steps, p.samples = lists.Filter(samples, hasFaults), lists.Filter(samples, isStep), samples
	p.addTo(r)
}

// gather groups points into cells.
func gather(r *run.Run, all []*point) *points {
	p := &points{run: r, all: all}
	title := titlesOf(lists.Map(all, func(x *point) run.Sample { return x.Sample }))
	for _, x := range all {
		name, overhead := title(x.Cell), x.Place == overheadPlace
		if p.mixes = appendNew(p.mixes, x.Mix); !overhead {
			p.engines = appendNew(p.engines, name)
		}
		i := slices.IndexFunc(p.cells, func(c *pointCell) bool {
			return c.mix == x.Mix && c.engine == name && c.threads == x.Threads
		})
		if i < 0 {
			i = len(p.cells)
			p.cells = append(p.cells, &pointCell{mix: x.Mix, engine: name, threads: x.Threads, overhead: overhead})
		}
		p.cells[i].add(x)
	}
	slices.Sort(p.engines)
	slices.Sort(p.mixes) // their order in the run was random
	for _, c := range p.cells {
		c.setThroughput()
	}
	position := func(c *pointCell) int { return slices.Index(p.engines, c.engine) } // −1 for the client overhead
	slices.SortStableFunc(p.cells, func(a, b *pointCell) int {
		return cmp.Or(cmp.Compare(a.mix, b.mix), position(a)-position(b), cmp.Compare(a.threads, b.threads))
	})
	return p
}

// add adds a repetition. An incorrect one removes the numbers of all repetitions of the cell.
func (c *pointCell) add(x *point) {
	c.reps = append(c.reps, x)
	if !x.Verdict.IsCorrect() && c.problem == "" {
		c.problem, c.verdict = x.Problem, x.Verdict
	}
	if c.proof == "" || c.proof == everyValue {
		c.proof = string(x.Proof)
	}
}

// isCorrect reports whether all repetitions are correct.
func (c *pointCell) isCorrect() bool { return c.problem == "" }

// setThroughput computes the throughput: the median with its interval or, for fewer than six repetitions, their range.
func (c *pointCell) setThroughput() {
	if !c.isCorrect() {
		return
	}
	rates := c.values(throughput)
	c.throughput = measure.MedianEstimate(rates)
	if c.hasInterval = !math.IsNaN(c.throughput.Low); !c.hasInterval {
		c.throughput.Low, c.throughput.High = slices.Min(rates), slices.Max(rates)
	}
}

// throughput returns the operations per second of a point.
func throughput(x *point) float64 { return x.Throughput }

// values returns a figure of each repetition.
func (c *pointCell) values(of func(x *point) float64) []float64 { return lists.Map(c.reps, of) }

// percentile is a percentile of the latency, or its mean.
type percentile struct {
	name string
	of   func(l *run.Latency) time.Duration
}

// column returns the head of a column.
func (q percentile) column() string { return q.name + " (ms)" }

// percentiles returns the figures of a latency in the order of the tables.
func percentiles() []percentile {
	return []percentile{
		{"mean", func(l *run.Latency) time.Duration { return l.Mean }},
		{"p50", func(l *run.Latency) time.Duration { return l.P50 }},
		{"p90", func(l *run.Latency) time.Duration { return l.P90 }},
		{"p95", func(l *run.Latency) time.Duration { return l.P95 }},
		{"p99", func(l *run.Latency) time.Duration { return l.P99 }},
		{"p99.9", func(l *run.Latency) time.Duration { return l.P999 }},
		{"max", func(l *run.Latency) time.Duration { return l.Max }},
	}
}

// p95 returns the median over the repetitions of the 95th percentile, in ms.
func (c *pointCell) p95() float64 {
	return measure.Median(c.values(func(x *point) float64 { return ms(x.Response.P95) }))
}

// typical returns the repetition whose throughput is nearest to the median. It represents the cell where only one
// repetition can be shown.
func (c *pointCell) typical() *point {
	distance := func(x *point) float64 { return math.Abs(x.Throughput - c.throughput.Value) }
	return slices.MinFunc(c.reps, func(a, b *point) int { return cmp.Compare(distance(a), distance(b)) })
}

// of returns the cells of a mix and an engine, by their number of threads.
func (p *points) of(mix, engine string) []*pointCell {
	return lists.Filter(p.cells, func(c *pointCell) bool { return c.mix == mix && c.engine == engine })
}

// tops returns the correct cell of a mix with the highest throughput of each engine.
func (p *points) tops(mix string) (out []*pointCell) {
	for _, e := range p.engines {
		if cells := lists.Filter(p.of(mix, e), (*pointCell).isCorrect); len(cells) > 0 {
			out = append(out, slices.MinFunc(cells, byThroughput))
		}
	}
	return out
}

// byThroughput orders cells by their throughput, the highest first.
func byThroughput(a, b *pointCell) int { return cmp.Compare(b.throughput.Value, a.throughput.Value) }

// withoutOverhead omits the client overhead, unless there are no other points.
func withoutOverhead(all []*point) []*point {
	isOfEngine := func(x *point) bool { return x.Place != overheadPlace }
	if !slices.ContainsFunc(all, isOfEngine) {
		return all
	}
	return lists.Filter(all, isOfEngine)
}

// mixInWords describes the operations that were run: "50 % reads, 50 % updates".
func (p *points) mixInWords(mix string) string {
	byOperation, all := map[string]int64{}, int64(0)
	var order []string
	for _, x := range withoutOverhead(lists.Filter(p.all, func(x *point) bool { return x.Mix == mix })) {
		for _, g := range x.Groups {
			if g.InTotal {
				order = appendNew(order, g.Operation)
				byOperation[g.Operation] += g.Count
				all += g.Count
			}
		}
	}
	n := byOperation["READ-MODIFY-WRITE"]
	for _, part := range []string{"READ", "UPDATE"} { // the clients also record both parts of a READ-MODIFY-WRITE
		if slices.Contains(order, part) {
			byOperation[part] -= n
			all -= n
		}
	}
	var words []string
	for _, op := range order {
		if byOperation[op] > 0 {
			percentage := 100 * float64(byOperation[op]) / float64(all)
			words = append(words, fmt.Sprintf("%.0f %% %ss", percentage, strings.ToLower(op)))
		}
	}
	return strings.Join(words, ", ")
}

// sentence returns the answer for one mix. It never ranks engines with different degrees of proof together.
func (p *points) sentence(mix string) string {
	tops := map[string][]*pointCell{} // by degree of proof
	var unranked, sentences []string
	for _, c := range p.tops(mix) {
		if isUnranked(p.run, c.reps[0].Cell.Engine) {
			unranked = append(unranked, c.engine)
			continue
		}
		tops[c.proof] = append(tops[c.proof], c)
	}
	for _, proof := range slices.Sorted(maps.Keys(tops)) {
		if sentences = append(sentences, rankInWords(tops[proof])); len(tops) > 1 {
			sentences = append(sentences, "These are proven by "+proof+".")
		}
	}
	switch {
	case len(unranked) > 0 && len(tops) == 0:
		sentences = []string{"No engine that is ranked gave correct results."}
	case len(tops) == 0 && !slices.ContainsFunc(p.cells, func(c *pointCell) bool { return c.mix == mix && !c.overhead }):
		return "Only the client overhead was measured."
	case len(tops) == 0:
		return "No engine gave correct results, so none has a time."
	}
	if len(unranked) > 0 {
		sentences = append(sentences, "Not ranked: "+list(unranked)+".")
	}
	return strings.Join(sentences, " ")
}

// rankInWords orders engines whose results have the same degree of proof. It gives a number and a rank only to engines
// with an interval. Engines whose intervals overlap share a rank.
func rankInWords(tops []*pointCell) string {
	if i := slices.IndexFunc(tops, func(c *pointCell) bool { return !c.hasInterval }); i >= 0 {
		need := measure.MedianCI(nil, measure.Confidence).Need
		return fmt.Sprintf("With %s of each point there is no interval, which needs %d, so nothing is ranked.",
			several(len(tops[i].reps), "run"), need)
	}
	slices.SortStableFunc(tops, byThroughput)
	var words strings.Builder
	for i, c := range tops {
		switch {
		case i == 0:
		case c.throughput.High < tops[i-1].throughput.Low:
			words.WriteString("; then ")
		default:
			words.WriteString("; not distinguished from it ")
		}
		fmt.Fprintf(&words, "%s %s/s (%s) with %s", c.engine, number(c.throughput.Value),
			interval(c.throughput.Low, c.throughput.High), several(c.threads, "thread"))
	}
	return "Highest throughput: " + words.String() + ". In brackets the 95 % interval of the median."
}

// checked describes which results were compared, and with what.
func checked(all []*point) string {
	var a run.Answers
	for _, x := range withoutOverhead(all) {
		a.Add(*x.Answers)
	}
	return Checked(a)
}

// rates returns the operations per second of each interval. It omits an incomplete last interval.
func rates(x *point) []float64 {
	if x.Interval <= 0 {
		return nil
	}
	n := min(len(x.Series), max(1, int(x.Total/x.Interval)))
	return lists.Map(x.Series[:n], func(b run.SeriesInterval) float64 {
		return float64(b.Completed) / x.Interval.Seconds()
	})
}

// fillsIntervals reports whether each interval should have completed operations. If operations are rare, or take longer
// than an interval, intervals without one are normal.
func (x *point) fillsIntervals() bool {
	return x.Operations >= int64(len(x.Series)) && x.Service.P99 <= x.Interval
}

// fittedLaw is the universal scalability law of a mix on an engine.
type fittedLaw struct {
	mix, engine string
	cells       []*pointCell // those that are correct
	law         measure.USL
}

// minLawReps is the minimum number of repetitions for a law: the median of fewer values does not exclude an outlier. The
// law's parameters have intervals from six repetitions on.
const minLawReps = 3

// usl fits the law to the numbers of threads with correct results. It omits a law with too few repetitions and a law
// that is not valid, because the parameters would mean nothing.
func (p *points) usl() (out []fittedLaw) {
	for _, mix := range p.mixes {
		for _, e := range p.engines {
			f := fittedLaw{mix: mix, engine: e}
			var threads []float64
			var rates [][]float64
			tooFewReps := false
			for _, c := range p.of(mix, e) {
				if c.isCorrect() && c.reps[0].Target == 0 { // with a target the throughput is the requested rate
					f.cells, threads = append(f.cells, c), append(threads, float64(c.threads))
					rates = append(rates, c.values(throughput))
					tooFewReps = tooFewReps || len(c.reps) < minLawReps
				}
			}
			var err error
			if f.law, err = measure.FitUSL(threads, rates, p.run.Seed); err == nil && !tooFewReps && f.law.IsValid() {
				out = append(out, f)
			}
		}
	}
	return out
}
