package compare

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/internal/lists"
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
	Base    string          `json:"base"`    // its folder
	Started time.Time       `json:"started"` // start of the latest run
	Margin  float64         `json:"margin"`
	Others  []RunComparison `json:"others"`
	Tests   int             `json:"tests"` // number of tests that Holm's correction treats together
}

// RunComparison compares a run with the base.
type RunComparison struct {
	Run             string         `json:"run"`                  // its folder
	Unfinished      []string       `json:"unfinished,omitempty"` // describes which of the two runs is not finished
	Pending         int            `json:"pending,omitempty"`    // cells that an unfinished run lacks; not findings
	Differences     []Difference   `json:"differences"`          // those with NotComparable first
	CommonChanges   []CommonChange `json:"together"`
	Findings        []Finding      `json:"findings"`        // the worst first
	MachineWarnings []string       `json:"background_load"` // what made times doubtful before one of the runs
	Loads           []Load         `json:"loads"`
}

// CommonChange is the factor by which a quantity changed in all cells together. Cells that measure the client overhead
// do not count. Its cause is the machine, or what all cells share. The rest of a cell's change is the cell's own.
type CommonChange struct {
	Phase        run.Phase `json:"phase,omitempty"`
	Quantity     string    `json:"quantity"`
	MoreIsBetter bool      `json:"more_is_better,omitempty"`
	Cells        int       `json:"cells"`
	Ratio        float64   `json:"ratio"` // median over the cells of the new value divided by the base's
}

// minCells is the minimum number of cells for a common change.
const minCells = 3

// Load is the load time and the size of an archive. A run has one value, so the noise of a
// difference is unknown. 0 = not measured.
type Load struct {
	Engine string           `json:"engine"`
	Design string           `json:"design"`
	Time   [2]time.Duration `json:"load_ns"` // of the base, of the other
	Bytes  [2]int64         `json:"bytes_on_disk"`
}

// NotComparable reports whether the runs did different work or used different machines. Then their times do not show
// what changed.
func (a *RunComparison) NotComparable() bool {
	return len(a.Differences) > 0 && a.Differences[0].NotComparable
}

// OnlyDataDiffer reports whether the data are the only reason why the runs are not comparable.
func (a *RunComparison) OnlyDataDiffer() bool {
	return a.NotComparable() && !slices.ContainsFunc(a.Differences, func(d Difference) bool {
		return d.NotComparable && d.Fact != aboutData && d.Fact != aboutCopies
	})
}

// Finding is the change of a cell.
type Finding struct {
	Cell         run.Cell         `json:"cell"`
	Phase        run.Phase        `json:"phase,omitempty"`
	Quantity     string           `json:"quantity"` // time, throughput
	Unit         string           `json:"unit"`
	MoreIsBetter bool             `json:"more_is_better,omitempty"`
	Base         CellResult       `json:"base"`
	New          CellResult       `json:"new"`
	Verdict      Verdict          `json:"verdict"`
	Ratio        measure.Estimate `json:"ratio"` // New divided by Base, without slowdowns of rounds; null if one is absent
	// the same without the common change of all cells, with its 95 % interval
	OwnRatio measure.Estimate `json:"own"`
	P        float64          `json:"p_holm"` // of an own difference beyond the margin; 1 without a test

	adjusted [2][]float64 // cellData.adjusted of Base and New
}

// CellResult is a run's result of a cell. Only a Correct result has a median.
type CellResult struct {
	State   State            `json:"state"`
	Problem string           `json:"problem,omitempty"`
	N       int              `json:"n"`
	Median  measure.Estimate `json:"median"`
}

// State is the state of a cell in a run.
type State string

// The states.
const (
	Correct State = "right"
	Absent  State = "absent"
	Wrong   State = "wrong"
	Failed  State = "failed"
	Untimed State = "not timed" // correct, but not measured, or the measurement may not be shown
)

// Verdict is the kind of change of a cell.
type Verdict string

// The verdicts. Method order sorts them for reports.
const (
	Broken         Verdict = "broken" // was correct, and is not
	StillIncorrect Verdict = "not right"
	Slower         Verdict = "slower" // or less, if more is better
	Faster         Verdict = "faster"
	Repaired       Verdict = "repaired" // is correct, and was not
	Missing        Verdict = "absent"
	Added          Verdict = "new"
	NoTimes        Verdict = "not timed" // in at least one run
	// both are correct but differ, because the data differ: times are not comparable
	DifferentAnswer Verdict = "other answer"
	TooFew          Verdict = "?"               // too few repetitions to decide
	Same            Verdict = "~"               // no significant difference
	ClientOverhead  Verdict = "client overhead" // the cell measures the client, not a database
)

func (v Verdict) order() int {
	return slices.Index([]Verdict{
		Broken, Slower, Faster, StillIncorrect, Repaired, Missing, Added, DifferentAnswer, NoTimes, TooFew, Same,
		ClientOverhead,
	}, v)
}

// IsUnremarkable reports whether a cell has no change of its own to report.
func (v Verdict) IsUnremarkable() bool {
	return v == Same || v == ClientOverhead || v == DifferentAnswer || v == TooFew || v == NoTimes
}

// cellQuantity identifies what is compared: a quantity of a cell in a phase.
type cellQuantity struct {
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

// cellData is one quantity of a cell in one phase: the summary of a run's samples.
type cellData struct {
	CellResult
	quantity
	isOverhead bool
	values     []float64
	reps       []int     // repetition numbers of the values
	adjusted   []float64 // the values without the slowdown of their rounds
	digest     string    // of the results
}

// Runs compares others with the base. All tests are corrected together; seed determines the
// intervals.
func Runs(base Run, others []Run, seed uint64) *Comparison {
	out := &Comparison{Base: base.Dir, Started: base.Started, Margin: Margin}
	var tests []*measure.Comparison
	var tested []*Finding
	before, order := groupSamples(base)
	for _, o := range others {
		if o.Started.After(out.Started) {
			out.Started = o.Started
		}
		now, more := groupSamples(o)
		all := append(slices.Clone(order), lists.Filter(more, func(k cellQuantity) bool { return before[k] == nil })...)
		findings := lists.Map(all, func(k cellQuantity) Finding { return newFinding(k, before[k], now[k]) })
		var unfinished []string
		pending := len(findings)
		for _, x := range []struct {
			run     *Run
			missing Verdict
		}{{&base, Added}, {&o, Missing}} {
			if what := x.run.Unfinished(); what != "" {
				unfinished = append(unfinished, what)
				findings = slices.DeleteFunc(findings, func(f Finding) bool { return f.Verdict == x.missing })
			}
		}
		pending -= len(findings)
		shared := commonChanges(findings)
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
		out.Others = append(out.Others, RunComparison{
			o.Dir, unfinished, pending, differences(base.Run, o.Run), shared, findings,
			append(base.machineWarnings(), o.machineWarnings()...), loads(base.Run, o.Run),
		})
	}
	measure.CorrectTogether(tests)
	out.Tests = len(tests)
	for i, f := range tested {
		f.judge(tests[i])
	}
	for _, o := range out.Others {
		slices.SortStableFunc(o.Findings, func(a, b Finding) int {
			return cmp.Or(cmp.Compare(a.Verdict.order(), b.Verdict.order()), cmp.Compare(b.WorseFactor(), a.WorseFactor()))
		})
	}
	return out
}

// Cell is a quantity of a cell of one run, as the command prints it. Only a Correct result has a median.
type Cell struct {
	Engine         string            `json:"engine"`
	Axes           map[string]string `json:"axes"` // design, case, flavour …
	Phase          run.Phase         `json:"phase,omitempty"`
	Quantity       string            `json:"quantity"`
	Unit           string            `json:"unit"`
	MoreIsBetter   bool              `json:"more_is_better,omitempty"`
	ClientOverhead bool              `json:"client_overhead,omitempty"` // of the dry engine
	CellResult
}

// Cells returns what a run measured, in its order.
func Cells(r Run) (out []Cell) {
	results, order := groupSamples(r)
	for _, k := range order {
		x, axes := results[k], map[string]string{}
		names, values := k.cell.Axes()
		for i := range names {
			axes[names[i]] = values[i]
		}
		out = append(out, Cell{k.cell.Engine, axes, k.phase, x.name, x.unit, x.moreIsBetter, x.isOverhead, x.CellResult})
	}
	return out
}

// groupSamples groups the samples of a run by what is compared. It also returns the keys in the order of the run.
func groupSamples(r Run) (map[cellQuantity]*cellData, []cellQuantity) {
	results, order := map[cellQuantity]*cellData{}, []cellQuantity(nil)
	for _, s := range r.Samples {
		for _, q := range quantitiesOf(s.Cell) {
			k := cellQuantity{s.Cell, s.Phase, q.name}
			x := results[k]
			if x == nil {
				x = &cellData{CellResult: CellResult{State: Untimed}, quantity: q, digest: s.Digest}
				x.isOverhead = r.isClientOverhead(s.Cell.Engine)
				results[k], order = x, append(order, k)
			}
			x.add(s)
		}
	}
	for _, k := range order {
		x := results[k]
		// A wrong result, or a failed warm one, counts for both phases. A failed cold start counts only for cold starts.
		for _, phase := range []run.Phase{run.Warm, run.Cold} {
			o := results[cellQuantity{k.cell, phase, k.name}]
			if o != nil && (o.State == Wrong || o.State == Failed && phase == run.Warm) {
				x.State, x.Problem = o.State, o.Problem
			}
		}
		for _, a := range r.Archives {
			isOfCell := a.Engine == k.cell.Engine && a.Design == k.cell.Value("design")
			if isOfCell && a.Digest != "" && !a.Complete && x.State != Wrong {
				x.State, x.Problem = Failed, cmp.Or(a.Problem, "the archive is incomplete")
			}
		}
		if x.State != Correct {
			x.values = nil
		}
		x.N, x.Median = len(x.values), measure.MedianEstimate(x.values)
	}
	removeRoundSlowdowns(results)
	return results, order
}

// machineWarnings describes what made times doubtful before the run.
func (r Run) machineWarnings() []string {
	return lists.Map(r.Machine.Warnings(), func(w string) string { return fault.Name(filepath.Base(r.Dir)) + ": " + w })
}

// isClientOverhead reports whether an engine stores nothing: its times are those of the client.
func (r Run) isClientOverhead(engine string) bool {
	return slices.ContainsFunc(r.Archives, func(a run.Archive) bool { return a.Engine == engine && a.Place == "memory" })
}

// removeRoundSlowdowns sets the adjusted values of each cell. The workload met queries every cell once in each round,
// so a slowdown that the cells of a round share is the machine's. It is the median over the cells of value ÷ own
// median.
func removeRoundSlowdowns(results map[cellQuantity]*cellData) {
	type round struct {
		phase run.Phase
		rep   int
	}
	slowdowns := map[round][]float64{}
	for k, x := range results {
		for i, v := range x.values {
			if k.cell.Workload == "met" && !x.isOverhead {
				r := round{k.phase, x.reps[i]}
				slowdowns[r] = append(slowdowns[r], v/x.Median.Value)
			}
		}
	}
	for k, x := range results {
		for i, v := range x.values {
			if all := slowdowns[round{k.phase, x.reps[i]}]; len(all) >= minCells {
				v /= measure.Median(all)
			}
			x.adjusted = append(x.adjusted, v)
		}
	}
}

// commonChanges returns the common change of each quantity and phase that at least minCells cells have.
func commonChanges(all []Finding) (out []CommonChange) {
	ratios := map[CommonChange][]float64{}
	for _, f := range all {
		if f.Verdict == Same {
			of := CommonChange{Phase: f.Phase, Quantity: f.Quantity, MoreIsBetter: f.MoreIsBetter}
			ratios[of] = append(ratios[of], f.Ratio.Value)
		}
	}
	for _, f := range all {
		of := CommonChange{Phase: f.Phase, Quantity: f.Quantity, MoreIsBetter: f.MoreIsBetter}
		if n := len(ratios[of]); n >= minCells {
			out = append(out, CommonChange{of.Phase, of.Quantity, of.MoreIsBetter, n, measure.Median(ratios[of])})
			delete(ratios, of)
		}
	}
	return out
}

// WorseFactor is the common change as a factor that is above 1 if the cells are worse.
func (x *CommonChange) WorseFactor() float64 {
	if x.MoreIsBetter {
		return 1 / x.Ratio
	}
	return x.Ratio
}

// add adds a sample. A cell with an incorrect result remains incorrect.
func (x *cellData) add(s run.Sample) {
	switch {
	case s.Verdict == run.Wrong:
		x.State, x.Problem = Wrong, s.Problem
	case !s.Verdict.IsCorrect() && x.State != Wrong:
		x.State, x.Problem = Failed, s.Problem
	case s.Measured() != nil && (x.State == Correct || x.State == Untimed):
		if v := x.value(s.Measured()); v > 0 {
			x.State, x.values, x.reps = Correct, append(x.values, v), append(x.reps, s.Rep)
		}
	}
}

// newFinding compares a cell of the base with that of another run; nil = the run does not have it. The verdict is Same
// if a test must decide.
func newFinding(k cellQuantity, base, other *cellData) Finding {
	absent := &cellData{CellResult: CellResult{State: Absent, Median: measure.MedianEstimate(nil)}}
	known := cmp.Or(base, other)
	a, b := cmp.Or(base, absent), cmp.Or(other, absent)
	f := Finding{
		Cell: k.cell, Phase: k.phase, Quantity: known.name, Unit: known.unit, MoreIsBetter: known.moreIsBetter,
		Base: a.CellResult, New: b.CellResult, Verdict: Same, Ratio: measure.MedianEstimate(nil),
		OwnRatio: measure.MedianEstimate(nil), P: 1, adjusted: [2][]float64{a.adjusted, b.adjusted},
	}
	if a.State == Correct && b.State == Correct {
		r := measure.Median(b.adjusted) / measure.Median(a.adjusted)
		f.Ratio = measure.Estimate{Value: r, Low: r, High: r}
	}
	bad := func(s State) bool { return s == Wrong || s == Failed }
	switch {
	case bad(b.State) && bad(a.State):
		f.Verdict = StillIncorrect
	case bad(b.State):
		f.Verdict = Broken
	case b.State == Absent:
		f.Verdict = Missing
	case a.State == Absent:
		f.Verdict = Added
	case bad(a.State):
		f.Verdict = Repaired
	case a.State != Correct || b.State != Correct:
		f.Verdict = NoTimes
	case a.digest != b.digest && k.cell.Workload == "met":
		f.Verdict = DifferentAnswer
	case known.isOverhead:
		f.Verdict = ClientOverhead
	}
	return f
}

// Margin is the relative difference of two runs of the same work without any change. Its cause is
// what caches, scheduler and memory layout determine once for a complete run, and no number of
// repetitions within the run shows it. A difference is compared with Margin, not with 0.
const Margin = 0.03

// test compares the values without the common change of all cells, and sets OwnRatio. Its p-value is that of a
// difference beyond the margin.
func (f *Finding) test(common float64, seed uint64) measure.Comparison {
	own := scaled(f.adjusted[1], 1/common)
	t := measure.Compare(own, f.adjusted[0], seed)
	f.OwnRatio = measure.Estimate{Value: t.Ratio, Low: t.Lo, High: t.Hi}
	t.P = pBeyondMargin(own, f.adjusted[0], t.Ratio)
	return t
}

// pBeyondMargin is the p-value of a difference of more than the margin. It scales one sample toward the other by at
// most the margin, but not past it.
func pBeyondMargin(a, b []float64, ratio float64) float64 {
	return measure.MannWhitney(scaled(a, min(max(1/ratio, 1/(1+Margin)), 1+Margin)), b)
}

func scaled(xs []float64, by float64) []float64 {
	return lists.Map(xs, func(x float64) float64 { return by * x })
}

// judge sets the verdict by the test after the correction.
func (f *Finding) judge(t *measure.Comparison) {
	f.P = t.PHolm
	switch worse := f.WorseFactor() > 1; {
	case t.Significant() && worse:
		f.Verdict = Slower
	case t.Significant():
		f.Verdict = Faster
	case !t.CanDiffer():
		f.Verdict = TooFew
	}
}

// WorseFactor is the cell's own change as a factor; 1.1 = a tenth worse.
func (f *Finding) WorseFactor() float64 {
	if f.MoreIsBetter {
		return 1 / f.OwnRatio.Value
	}
	return f.OwnRatio.Value
}

// Failing returns the findings that fail a gate: broken cells, correct cells that are missing now,
// and cells that are significantly slower by more than a fraction, 0.1 for 10 %.
func (a *RunComparison) Failing(over float64) (out []Finding) {
	for _, f := range a.Findings {
		isLost := f.Verdict == Broken || f.Verdict == Missing && f.Base.State == Correct
		if isLost || f.Verdict == Slower && f.WorseFactor() > 1+over {
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
