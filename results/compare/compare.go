package compare

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/run"
)

// Run is a run as it was read from its folder.
type Run struct {
	Dir string
	*run.Run
	Samples []run.Sample
	State   run.State // "" = known to be finished
}

// Read reads run folders, also those of runs in progress.
func Read(dirs ...string) (out []Run, err error) {
	for _, dir := range dirs {
		r, samples, err := run.Read(dir)
		if err != nil {
			return nil, err
		}
		state := run.Done
		if r.Finished.IsZero() {
			events, err := run.ReadEvents(dir)
			if err != nil {
				return nil, err
			}
			state = run.StateOf(events, time.Now())
		}
		out = append(out, Run{dir, r, samples, state})
	}
	return out, nil
}

// Unfinished describes why a run is not finished; "" = it is.
func (r *Run) Unfinished() string {
	name := fault.Name(filepath.Base(r.Dir))
	switch r.State {
	case run.Running:
		return name + " is still running"
	case run.Interrupted:
		return name + " was interrupted"
	}
	return ""
}

// Comparison compares runs with the first of them.
type Comparison struct {
	Base   string    `json:"base"`    // its folder
	Began  time.Time `json:"started"` // start of the latest run
	Margin float64   `json:"margin"`
	Others []Against `json:"others"`
	Tests  int       `json:"tests"` // number of tests that Holm's correction treats together
}

// Against compares a run with the base.
type Against struct {
	Run         string       `json:"run"`                  // its folder
	Unfinished  []string     `json:"unfinished,omitempty"` // describes which of the two runs is not finished
	Pending     int          `json:"pending,omitempty"`    // cells that an unfinished run lacks; not findings
	Differences []Difference `json:"differences"`          // those that make the comparison void first
	Together    []Together   `json:"together"`
	Findings    []Finding    `json:"findings"`        // the worst first
	Busy        []string     `json:"background_load"` // what made the machine noisy before one of the runs
	Loads       []Load       `json:"loads"`
}

// Together is the common change of all cells as a factor, without the client overhead. Its cause is
// the machine, or what all cells share. The rest of a cell's change is the cell's own.
type Together struct {
	Phase    run.Phase `json:"phase,omitempty"`
	Quantity string    `json:"quantity"`
	More     bool      `json:"more_is_better,omitempty"`
	Cells    int       `json:"cells"`
	Ratio    float64   `json:"ratio"`
}

// fewest is the minimum number of cells for a common change.
const fewest = 3

// Load is the load time and the size of an archive. A run has one value, so the noise of a
// difference is unknown. 0 = not measured.
type Load struct {
	Engine string           `json:"engine"`
	Design string           `json:"design"`
	Time   [2]time.Duration `json:"load_ns"` // of the base, of the other
	Bytes  [2]int64         `json:"bytes_on_disk"`
}

// Void reports whether the runs did different work or used different machines. Then their times do
// not show what changed.
func (a *Against) Void() bool { return len(a.Differences) > 0 && a.Differences[0].Void }

// OfData reports whether only the data make the comparison void.
func (a *Against) OfData() bool {
	for _, d := range a.Differences {
		if d.Void && d.What != aboutData && d.What != aboutCopies {
			return false
		}
	}
	return a.Void()
}

// Finding is the change of a cell.
type Finding struct {
	Cell     run.Cell         `json:"cell"`
	Phase    run.Phase        `json:"phase,omitempty"`
	Quantity string           `json:"quantity"` // time, throughput
	Unit     string           `json:"unit"`
	More     bool             `json:"more_is_better,omitempty"`
	Base     Side             `json:"base"`
	New      Side             `json:"new"`
	Verdict  Verdict          `json:"verdict"`
	Ratio    measure.Estimate `json:"ratio"`  // New divided by Base; null if one is missing
	Own      measure.Estimate `json:"own"`    // the same without the common change of all cells, with its 95 % interval
	P        float64          `json:"p_holm"` // of an own difference beyond the margin; 1 without a test

	steady [2][]float64
}

// Side is a run's result of a cell. Only a Right result has an estimate.
type Side struct {
	State   State            `json:"state"`
	Problem string           `json:"problem,omitempty"`
	N       int              `json:"n"`
	Median  measure.Estimate `json:"median"`
}

// State is the state of a cell in a run.
type State string

// The states.
const (
	Right   State = "right"
	NotMade State = "absent"
	Wrong   State = "wrong"
	Failed  State = "failed"
	Untimed State = "not timed" // correct, but not measured, or the measurement may not be shown
)

// Verdict is the kind of change of a cell.
type Verdict string

// The verdicts, the worst first.
const (
	Broken         Verdict = "broken" // was correct, and is not
	NotRight       Verdict = "not right"
	Slower         Verdict = "slower" // or less, if more is better
	Faster         Verdict = "faster"
	Repaired       Verdict = "repaired" // is correct, and was not
	Gone           Verdict = "absent"
	Added          Verdict = "new"
	NoTimes        Verdict = "not timed"       // in at least one run
	OtherAnswer    Verdict = "other answer"    // both are correct but differ, because the data differ: times are not comparable
	TooFew         Verdict = "?"               // too few repetitions to decide
	Same           Verdict = "~"               // no significant difference
	ClientOverhead Verdict = "client overhead" // the client overhead, which is not a database's
)

func (v Verdict) order() int {
	return slices.Index([]Verdict{Broken, Slower, Faster, NotRight, Repaired, Gone, Added, OtherAnswer, NoTimes, TooFew, Same, ClientOverhead}, v)
}

// Alike reports whether a cell has no change of its own to report.
func (v Verdict) Alike() bool {
	return v == Same || v == ClientOverhead || v == OtherAnswer || v == TooFew || v == NoTimes
}

// Marked reports whether the verdict is a change.
func (v Verdict) Marked() bool { return v == Broken || v == Slower || v == Faster || v == Repaired }

// key identifies what is compared: a quantity of a cell in a phase.
type key struct {
	cell  run.Cell
	phase run.Phase
	name  string
}

// loads compares the loads of archives that are complete in both runs.
func loads(base, other *run.Run) (out []Load) {
	for _, a := range base.Archives {
		for _, b := range other.Archives {
			if a.Engine == b.Engine && a.Design == b.Design && a.Complete && b.Complete && a.Bytes+b.Bytes > 0 {
				out = append(out, Load{a.Engine, a.Design, [2]time.Duration{a.Load, b.Load}, [2]int64{a.Bytes, b.Bytes}})
			}
		}
	}
	return out
}

// side is the summary of a run's samples of a cell.
type side struct {
	Side
	quantity
	overhead bool
	values   []float64
	reps     []int     // repetition numbers of the values
	steady   []float64 // the values without the slowdown of their rounds
	digest   string    // of the results
}

// Runs compares others with the base. All tests are corrected together; seed determines the
// intervals.
func Runs(base Run, others []Run, seed uint64) *Comparison {
	out := &Comparison{Base: base.Dir, Began: base.Started, Margin: Margin}
	var tests []*measure.Comparison
	var tested []*Finding
	before, order := gather(base)
	for _, o := range others {
		if o.Started.After(out.Began) {
			out.Began = o.Started
		}
		now, more := gather(o)
		all := slices.Clone(order)
		for _, k := range more {
			if _, known := before[k]; !known {
				all = append(all, k)
			}
		}
		findings := make([]Finding, len(all))
		for i, k := range all {
			findings[i] = finding(k, before[k], now[k])
		}
		var unfinished []string
		pending := len(findings)
		for _, x := range []struct {
			run     *Run
			missing Verdict
		}{{&base, Added}, {&o, Gone}} {
			if what := x.run.Unfinished(); what != "" {
				unfinished = append(unfinished, what)
				findings = slices.DeleteFunc(findings, func(f Finding) bool { return f.Verdict == x.missing })
			}
		}
		pending -= len(findings)
		shared := together(findings)
		for i := range findings {
			f := &findings[i]
			if f.Verdict != Same {
				continue
			}
			common := 1.0
			for _, x := range shared {
				if x.Phase == f.Phase && x.Quantity == f.Quantity {
					common = x.Ratio
				}
			}
			t := f.test(common, seed)
			tests, tested = append(tests, &t), append(tested, f)
		}
		out.Others = append(out.Others, Against{o.Dir, unfinished, pending, differences(base.Run, o.Run), shared, findings, append(base.busy(), o.busy()...), loads(base.Run, o.Run)})
	}
	measure.CorrectTogether(tests)
	out.Tests = len(tests)
	for i, f := range tested {
		f.judge(tests[i])
	}
	for _, o := range out.Others {
		slices.SortStableFunc(o.Findings, func(a, b Finding) int {
			return cmp.Or(cmp.Compare(a.Verdict.order(), b.Verdict.order()), cmp.Compare(b.Worse(), a.Worse()))
		})
	}
	return out
}

// Cell is a quantity of a cell of one run. Only a Right result has an estimate.
type Cell struct {
	Engine         string            `json:"engine"`
	Axes           map[string]string `json:"axes"` // design, case, flavour …
	Phase          run.Phase         `json:"phase,omitempty"`
	Quantity       string            `json:"quantity"`
	Unit           string            `json:"unit"`
	More           bool              `json:"more_is_better,omitempty"`
	ClientOverhead bool              `json:"client_overhead,omitempty"` // of the dry engine
	Side
}

// Cells returns what a run measured, in its order.
func Cells(r Run) (out []Cell) {
	sides, order := gather(r)
	for _, k := range order {
		x, axes := sides[k], map[string]string{}
		names, values := k.cell.Axes()
		for i := range names {
			axes[names[i]] = values[i]
		}
		out = append(out, Cell{k.cell.Engine, axes, k.phase, x.name, x.unit, x.more, x.overhead, x.Side})
	}
	return out
}

// gather groups samples by what is compared, in the order of the run.
func gather(r Run) (map[key]*side, []key) {
	sides, order := map[key]*side{}, []key(nil)
	for _, s := range r.Samples {
		for _, q := range quantitiesOf(s.Cell) {
			k := key{s.Cell, s.Phase, q.name}
			x := sides[k]
			if x == nil {
				x = &side{Side: Side{State: Untimed}, quantity: q, digest: s.Digest, overhead: r.overhead(s.Cell.Engine)}
				sides[k], order = x, append(order, k)
			}
			x.add(s)
		}
	}
	for _, k := range order {
		x := sides[k]
		for _, phase := range []run.Phase{run.Warm, run.Cold} { // a wrong cold result also invalidates the warm one
			if o := sides[key{k.cell, phase, k.name}]; o != nil && (o.State == Wrong || o.State == Failed && phase == run.Warm) {
				x.State, x.Problem = o.State, o.Problem
			}
		}
		for _, a := range r.Archives {
			if a.Engine == k.cell.Engine && a.Design == k.cell.Value("design") && a.Digest != "" && !a.Complete && x.State != Wrong {
				x.State, x.Problem = Failed, cmp.Or(a.Problem, "the archive is incomplete")
			}
		}
		if x.State != Right {
			x.values = nil
		}
		x.N, x.Median = len(x.values), measure.MedianEstimate(x.values)
	}
	calm(sides)
	return sides, order
}

// busy describes what made times doubtful before the run.
func (r Run) busy() (out []string) {
	for _, w := range r.Machine.Warnings() {
		out = append(out, fault.Name(filepath.Base(r.Dir))+": "+w)
	}
	return out
}

func (r Run) overhead(engine string) bool {
	return slices.ContainsFunc(r.Archives, func(a run.Archive) bool { return a.Engine == engine && a.Place == "memory" })
}

// calm removes from the values of each cell what slowed its rounds. The workload met queries every
// cell once in each round, so a slowdown that all cells of a round share is the machine's.
func calm(sides map[key]*side) {
	type round struct {
		phase run.Phase
		rep   int
	}
	share := map[round][]float64{}
	for k, x := range sides {
		for i, v := range x.values {
			if k.cell.Workload == "met" && !x.overhead {
				at := round{k.phase, x.reps[i]}
				share[at] = append(share[at], v/x.Median.Value)
			}
		}
	}
	for k, x := range sides {
		for i, v := range x.values {
			if all := share[round{k.phase, x.reps[i]}]; len(all) >= fewest {
				v /= measure.Median(all)
			}
			x.steady = append(x.steady, v)
		}
	}
}

// together returns the common changes of cells.
func together(all []Finding) (out []Together) {
	ratios := map[Together][]float64{}
	for _, f := range all {
		if f.Verdict == Same {
			of := Together{Phase: f.Phase, Quantity: f.Quantity, More: f.More}
			ratios[of] = append(ratios[of], f.Ratio.Value)
		}
	}
	for _, f := range all {
		of := Together{Phase: f.Phase, Quantity: f.Quantity, More: f.More}
		if n := len(ratios[of]); n >= fewest {
			out = append(out, Together{of.Phase, of.Quantity, of.More, n, measure.Median(ratios[of])})
			delete(ratios, of)
		}
	}
	return out
}

// Worse is the common change of all cells as a factor; above 1 they are worse.
func (x *Together) Worse() float64 {
	if x.More {
		return 1 / x.Ratio
	}
	return x.Ratio
}

// add adds a sample. A side with an incorrect result remains incorrect.
func (x *side) add(s run.Sample) {
	switch {
	case s.Verdict == run.Wrong:
		x.State, x.Problem = Wrong, s.Problem
	case !s.Verdict.IsCorrect() && x.State != Wrong:
		x.State, x.Problem = Failed, s.Problem
	case s.Measured() != nil && (x.State == Right || x.State == Untimed):
		if v := x.of(s.Measured()); v > 0 {
			x.State, x.values, x.reps = Right, append(x.values, v), append(x.reps, s.Rep)
		}
	}
}

// finding compares a cell before a test. Its verdict is Same if a test is necessary.
func finding(k key, a, b *side) Finding {
	absent := &side{Side: Side{State: NotMade, Median: measure.MedianEstimate(nil)}}
	of := cmp.Or(a, b)
	a, b = cmp.Or(a, absent), cmp.Or(b, absent)
	f := Finding{
		Cell: k.cell, Phase: k.phase, Quantity: of.name, Unit: of.unit, More: of.more, Base: a.Side, New: b.Side, Verdict: Same,
		Ratio: measure.MedianEstimate(nil), Own: measure.MedianEstimate(nil), P: 1, steady: [2][]float64{a.steady, b.steady},
	}
	if a.State == Right && b.State == Right {
		r := measure.Median(b.steady) / measure.Median(a.steady)
		f.Ratio = measure.Estimate{Value: r, Low: r, High: r}
	}
	bad := func(s State) bool { return s == Wrong || s == Failed }
	switch {
	case bad(b.State) && bad(a.State):
		f.Verdict = NotRight
	case bad(b.State):
		f.Verdict = Broken
	case b.State == NotMade:
		f.Verdict = Gone
	case a.State == NotMade:
		f.Verdict = Added
	case bad(a.State):
		f.Verdict = Repaired
	case a.State != Right || b.State != Right:
		f.Verdict = NoTimes
	case a.digest != b.digest && k.cell.Workload == "met":
		f.Verdict = OtherAnswer
	case of.overhead:
		f.Verdict = ClientOverhead
	}
	return f
}

// Margin is the relative difference of two runs of the same work without any change. Its cause is
// what caches, scheduler and memory layout determine once for a complete run, and no number of
// repetitions within the run shows it. A difference is compared with Margin, not with 0.
const Margin = 0.03

// test compares the samples, without the common change of all cells. Its p is that of a difference
// beyond the margin.
func (f *Finding) test(common float64, seed uint64) measure.Comparison {
	own := scaled(f.steady[1], 1/common)
	t := measure.Compare(own, f.steady[0], seed)
	f.Own = measure.Estimate{Value: t.Ratio, Low: t.Lo, High: t.Hi}
	t.P = beyond(own, f.steady[0], t.Ratio)
	return t
}

// beyond is the p of a difference of more than the margin. It scales one sample toward the other by
// at most the margin, but not past it.
func beyond(a, b []float64, ratio float64) float64 {
	return measure.MannWhitney(scaled(a, min(max(1/ratio, 1/(1+Margin)), 1+Margin)), b)
}

func scaled(xs []float64, by float64) []float64 {
	out := make([]float64, len(xs))
	for i, x := range xs {
		out[i] = by * x
	}
	return out
}

func (f *Finding) judge(t *measure.Comparison) {
	f.P = t.PHolm
	switch worse := f.Worse() > 1; {
	case t.Significant() && worse:
		f.Verdict = Slower
	case t.Significant():
		f.Verdict = Faster
	case !t.CanDiffer():
		f.Verdict = TooFew
	}
}

// Worse is the cell's own change as a factor; 1.1 = a tenth worse.
func (f *Finding) Worse() float64 {
	if f.More {
		return 1 / f.Own.Value
	}
	return f.Own.Value
}

// Failing returns the findings that fail a gate: broken cells, correct cells that are missing now,
// and cells that are significantly slower by more than a fraction, 0.1 for 10 %.
func (a *Against) Failing(over float64) (out []Finding) {
	for _, f := range a.Findings {
		if f.Verdict == Broken || f.Verdict == Gone && f.Base.State == Right || f.Verdict == Slower && f.Worse() > 1+over {
			out = append(out, f)
		}
	}
	return out
}

// Name describes a cell: its engine, the values of its axes and "cold", separated by " · ".
func (f *Finding) Name() string {
	_, values := f.Cell.Axes()
	name := strings.Join(append([]string{f.Cell.Engine}, values...), " · ")
	if f.Phase == run.Cold {
		name += " · cold"
	}
	return name
}
