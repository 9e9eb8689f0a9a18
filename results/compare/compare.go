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
	State   run.State // "" = it is known to be done
}

// Read reads folders, also of runs that are under way.
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

// Unfinished says of a run that it has not finished; "" = it has.
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

// Comparison is runs beside the first of them.
type Comparison struct {
	Base   string    `json:"base"`  // its folder
	Began  time.Time `json:"began"` // the last of the runs
	Margin float64   `json:"margin"`
	Others []Against `json:"others"`
	Tests  int       `json:"tests"` // that Holm's correction takes together
}

// Against is a run beside the base.
type Against struct {
	Run         string       `json:"run"`                  // its folder
	Unfinished  []string     `json:"unfinished,omitempty"` // says which of the two runs has not finished
	Pending     int          `json:"pending,omitempty"`    // cells that such a run lacks, and the other has; they are no findings
	Differences []Difference `json:"differences"`          // those that make the comparison void first
	Together    []Together   `json:"together"`
	Findings    []Finding    `json:"findings"` // what is worst first
	Busy        []string     `json:"busy"`     // what made the machine noisy before one of the runs
	Loads       []Load       `json:"loads"`
}

// Together is how many times as much all cells are of what they were, floors left
// out: the machine, or what all of them go through. What a cell is beside that is
// its own.
type Together struct {
	Phase    run.Phase `json:"phase,omitempty"`
	Quantity string    `json:"quantity"`
	More     bool      `json:"more_is_better,omitempty"`
	Cells    int       `json:"cells"`
	Ratio    float64   `json:"ratio"`
}

// fewest is how many cells a common change needs.
const fewest = 3

// Load is what it cost to load an archive, and what it weighs: one value a run,
// so that nobody can tell what of a difference is noise. 0 = not measured.
type Load struct {
	Engine string           `json:"engine"`
	Design string           `json:"design"`
	Time   [2]time.Duration `json:"load_ns"` // of the base, of the other
	Bytes  [2]int64         `json:"bytes_on_disk"`
}

// Void reports whether the runs are not of the same work on the same machine, so
// that their times say nothing of what changed.
func (a *Against) Void() bool { return len(a.Differences) > 0 && a.Differences[0].Void }

// OfData reports whether it is the data alone that make the comparison void.
func (a *Against) OfData() bool {
	for _, d := range a.Differences {
		if d.Void && d.What != aboutData && d.What != aboutCopies {
			return false
		}
	}
	return a.Void()
}

// Finding is what became of a cell.
type Finding struct {
	Cell     run.Cell         `json:"cell"`
	Phase    run.Phase        `json:"phase,omitempty"`
	Quantity string           `json:"quantity"` // time, throughput
	Unit     string           `json:"unit"`
	More     bool             `json:"more_is_better,omitempty"`
	Base     Side             `json:"base"`
	New      Side             `json:"new"`
	Verdict  Verdict          `json:"verdict"`
	Ratio    measure.Estimate `json:"ratio"`  // New divided by Base; null where there is none
	Own      measure.Estimate `json:"own"`    // likewise, without what all cells have in common, with its 95 % interval
	P        float64          `json:"p_holm"` // that of an own difference beyond the margin; 1 where there is no test

	steady [2][]float64
}

// Side is what a run has of a cell. Only what is Right has an estimate.
type Side struct {
	State   State            `json:"state"`
	Problem string           `json:"problem,omitempty"`
	N       int              `json:"n"`
	Median  measure.Estimate `json:"median"`
}

// State is how a run stands to a cell.
type State string

// The states.
const (
	Right   State = "right"
	NotMade State = "absent"
	Wrong   State = "wrong"
	Failed  State = "failed"
	Untimed State = "not timed" // right, and nothing of it was measured, or may be shown
)

// Verdict is what became of a cell.
type Verdict string

// The verdicts, the worst first.
const (
	Broken      Verdict = "broken" // was right, and is not
	NotRight    Verdict = "not right"
	Slower      Verdict = "slower" // or less, of what had better be more
	Faster      Verdict = "faster"
	Repaired    Verdict = "repaired" // is right, and was not
	Gone        Verdict = "absent"
	Added       Verdict = "new"
	NoTimes     Verdict = "not timed"    // on one side
	OtherAnswer Verdict = "other answer" // right both times, of other data: times are of other work
	TooFew      Verdict = "?"            // repetitions to tell
	Same        Verdict = "~"            // no difference beyond the noise
	Floor       Verdict = "floor"        // the client's own cost, which is no database's
)

func (v Verdict) order() int {
	return slices.Index([]Verdict{Broken, Slower, Faster, NotRight, Repaired, Gone, Added, OtherAnswer, NoTimes, TooFew, Same, Floor}, v)
}

// Alike reports whether a cell has nothing of its own to tell.
func (v Verdict) Alike() bool {
	return v == Same || v == Floor || v == OtherAnswer || v == TooFew || v == NoTimes
}

// Marked reports whether the verdict says that something changed.
func (v Verdict) Marked() bool { return v == Broken || v == Slower || v == Faster || v == Repaired }

// key is what is compared: a quantity of a cell in a phase.
type key struct {
	cell  run.Cell
	phase run.Phase
	name  string
}

// loads are those of archives that both runs have, whole.
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

// side is what a run's samples came to.
type side struct {
	Side
	quantity
	floor  bool
	values []float64
	reps   []int     // of the values
	steady []float64 // the values without what slowed their rounds
	digest string    // of the answers
}

// Runs holds others against the base. All tests are corrected together; the seed
// is that of the intervals.
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

// Cell is a quantity of a cell of one run. Only what is Right has an estimate.
type Cell struct {
	Engine   string            `json:"engine"`
	Axes     map[string]string `json:"axes"` // design, case, flavour …
	Phase    run.Phase         `json:"phase,omitempty"`
	Quantity string            `json:"quantity"`
	Unit     string            `json:"unit"`
	More     bool              `json:"more_is_better,omitempty"`
	Floor    bool              `json:"floor,omitempty"` // the client's own cost
	Side
}

// Cells are what a run measured, in its order.
func Cells(r Run) (out []Cell) {
	sides, order := gather(r)
	for _, k := range order {
		x, axes := sides[k], map[string]string{}
		names, values := k.cell.Axes()
		for i := range names {
			axes[names[i]] = values[i]
		}
		out = append(out, Cell{k.cell.Engine, axes, k.phase, x.name, x.unit, x.more, x.floor, x.Side})
	}
	return out
}

// gather sorts samples by what is compared, in the order of the run.
func gather(r Run) (map[key]*side, []key) {
	sides, order := map[key]*side{}, []key(nil)
	for _, s := range r.Samples {
		for _, q := range quantitiesOf(s.Cell) {
			k := key{s.Cell, s.Phase, q.name}
			x := sides[k]
			if x == nil {
				x = &side{Side: Side{State: Untimed}, quantity: q, digest: s.Digest, floor: r.floor(s.Cell.Engine)}
				sides[k], order = x, append(order, k)
			}
			x.add(s)
		}
	}
	for _, k := range order {
		x := sides[k]
		for _, phase := range []run.Phase{run.Warm, run.Cold} { // what is wrong cold is not fast warm
			if o := sides[key{k.cell, phase, k.name}]; o != nil && (o.State == Wrong || o.State == Failed && phase == run.Warm) {
				x.State, x.Problem = o.State, o.Problem
			}
		}
		for _, a := range r.Archives {
			if a.Engine == k.cell.Engine && a.Design == k.cell.At("design") && a.Digest != "" && !a.Complete && x.State != Wrong {
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

// busy is what made times doubtful before the run.
func (r Run) busy() (out []string) {
	for _, w := range r.Machine.Warnings() {
		out = append(out, fault.Name(filepath.Base(r.Dir))+": "+w)
	}
	return out
}

func (r Run) floor(engine string) bool {
	return slices.ContainsFunc(r.Archives, func(a run.Archive) bool { return a.Engine == engine && a.Place == "memory" })
}

// calm takes out of the values of each cell what slowed its rounds: a study asks
// every cell once in each, so that what all cells of a round share is the machine's.
func calm(sides map[key]*side) {
	type round struct {
		phase run.Phase
		rep   int
	}
	share := map[round][]float64{}
	for k, x := range sides {
		for i, v := range x.values {
			if k.cell.Workload == "met" && !x.floor {
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

// together are the ratios that cells have in common.
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

// Worse is how many times worse all cells are.
func (x *Together) Worse() float64 {
	if x.More {
		return 1 / x.Ratio
	}
	return x.Ratio
}

// add adds a sample. What is not right stays so.
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

// finding is what is known of a cell before a test: Same where there is one to make.
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
	case of.floor:
		f.Verdict = Floor
	}
	return f
}

// Margin is by how much two runs of the same differ though nothing changed: what
// the caches, the scheduler and the layout of memory settle once for a whole
// run, which no number of repetitions within it shows. A difference is
// held against it, and not against 0.
const Margin = 0.03

// test is whether the samples differ by more than the margin beside what all
// cells have in common.
func (f *Finding) test(common float64, seed uint64) measure.Comparison {
	own := scaled(f.steady[1], 1/common)
	t := measure.Compare(own, f.steady[0], seed)
	f.Own = measure.Estimate{Value: t.Ratio, Low: t.Lo, High: t.Hi}
	t.P = beyond(own, f.steady[0], t.Ratio)
	return t
}

// beyond is the p of a difference of more than the margin: one sample is moved
// towards the other by it, and not beyond.
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

// Worse is how many times worse the cell itself is: 1.1 = it takes a tenth longer.
func (f *Finding) Worse() float64 {
	if f.More {
		return 1 / f.Own.Value
	}
	return f.Own.Value
}

// Failing are the findings by which a gate fails: what broke, and what is worse
// beyond the noise by more than a share, 0.1 for 10 %.
func (a *Against) Failing(over float64) (out []Finding) {
	for _, f := range a.Findings {
		if f.Verdict == Broken || f.Verdict == Gone && f.Base.State == Right || f.Verdict == Slower && f.Worse() > 1+over {
			out = append(out, f)
		}
	}
	return out
}

// Name is a cell in words: "sqlite wide epoch-range test_1, cold".
func (f *Finding) Name() string {
	_, values := f.Cell.Axes()
	name := strings.Join(append([]string{f.Cell.Engine}, values...), " · ")
	if f.Phase == run.Cold {
		name += " · cold"
	}
	return name
}
