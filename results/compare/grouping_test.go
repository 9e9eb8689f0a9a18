package compare

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/run"
)

// correct returns a sample with a proven answer.
func correct(t *testing.T, c run.Cell, phase run.Phase, rep int, m *run.Measured) run.Sample {
	t.Helper()
	d := record.Digest{Hi: 1, Records: 1}
	p, err := answer.CompareRecords(d, d)
	if err != nil {
		t.Fatal(err)
	}
	return run.Sample{Cell: c, Phase: phase, Rep: rep}.Judge(m, p, nil)
}

// lasting is a measurement of a number of ms.
func lasting(ms int) *run.Measured { return &run.Measured{Total: time.Duration(ms) * time.Millisecond} }

// query is the cell of a question on an engine.
func query(engine, name string) run.Cell { return run.MetCell(engine, "wide", name, "sql") }

// A wrong answer, or a failed warm one, counts for the warm and the cold times. A failed cold start counts only for the
// cold ones. A cell with a wrong or failed repetition has no number.
func TestStatesOfCells(t *testing.T) {
	wrong := func(phase run.Phase) run.Sample {
		return run.Sample{Cell: query("x", "q"), Phase: phase}.Judge(nil, answer.Proof{}, &answer.Diff{Problem: "one row more"})
	}
	failed := func(phase run.Phase) run.Sample {
		return run.Sample{Cell: query("x", "q"), Phase: phase}.Judge(nil, answer.Proof{}, errors.New("no table"))
	}
	right := func(phase run.Phase) run.Sample { return correct(t, query("x", "q"), phase, 0, lasting(3)) }
	untimed := func(phase run.Phase) run.Sample { return correct(t, query("x", "q"), phase, 0, nil) }
	for name, c := range map[string]struct {
		samples    []run.Sample
		warm, cold State
	}{
		"both correct":         {[]run.Sample{right(run.Warm), right(run.Cold)}, Correct, Correct},
		"a failed cold start":  {[]run.Sample{right(run.Warm), right(run.Cold), failed(run.Cold)}, Correct, Failed},
		"a failed warm one":    {[]run.Sample{right(run.Warm), right(run.Cold), failed(run.Warm)}, Failed, Failed},
		"a wrong cold start":   {[]run.Sample{right(run.Warm), right(run.Cold), wrong(run.Cold)}, Wrong, Wrong},
		"a wrong warm one":     {[]run.Sample{wrong(run.Warm), right(run.Warm), right(run.Cold)}, Wrong, Wrong},
		"wrong, then failed":   {[]run.Sample{wrong(run.Warm), failed(run.Warm), right(run.Cold)}, Wrong, Wrong},
		"failed, then wrong":   {[]run.Sample{failed(run.Warm), wrong(run.Warm), right(run.Cold)}, Wrong, Wrong},
		"failed, then correct": {[]run.Sample{failed(run.Cold), right(run.Cold), right(run.Warm)}, Correct, Failed},
		"not timed":            {[]run.Sample{untimed(run.Warm), right(run.Cold)}, Untimed, Correct},
		"timed at last":        {[]run.Sample{untimed(run.Warm), right(run.Warm), untimed(run.Cold)}, Correct, Untimed},
	} {
		results, _ := groupSamples(Run{Run: &run.Run{}, Samples: c.samples})
		for phase, want := range map[run.Phase]State{run.Warm: c.warm, run.Cold: c.cold} {
			x := results[cellQuantity{query("x", "q"), phase, "time"}]
			problem := map[State]string{Wrong: "one row more", Failed: "no table"}[want]
			if x.State != want || !strings.Contains(x.Problem, problem) || problem == "" && x.Problem != "" {
				t.Errorf("%s, %s: %s because of %q, want %s", name, phase, x.State, x.Problem, want)
			}
			if known := x.N > 0 && x.Median.Value == 3; known != (want == Correct) {
				t.Errorf("%s, %s: %d times, median %v", name, phase, x.N, x.Median)
			}
		}
	}
}

// The cells of an archive that does not contain all the data have failed. An archive whose records were not counted is
// not checked.
func TestCellsOfIncompleteArchives(t *testing.T) {
	for name, c := range map[string]struct {
		archive run.Archive
		want    State
		problem string
	}{
		"incomplete":      {run.Archive{Engine: "x", Design: "wide", Digest: "d"}, Failed, "the archive is incomplete"},
		"with its reason": {run.Archive{Engine: "x", Design: "wide", Digest: "d", Problem: "1 record of 2"}, Failed, "1 record of 2"},
		"complete":        {run.Archive{Engine: "x", Design: "wide", Digest: "d", Complete: true}, Correct, ""},
		"not counted":     {run.Archive{Engine: "x", Design: "wide"}, Correct, ""},
		"another design":  {run.Archive{Engine: "x", Design: "document", Digest: "d"}, Correct, ""},
		"another engine":  {run.Archive{Engine: "y", Design: "wide", Digest: "d"}, Correct, ""},
	} {
		r := Run{Run: &run.Run{Archives: []run.Archive{c.archive}}, Samples: []run.Sample{correct(t, query("x", "q"), run.Warm, 0, lasting(3))}}
		if x := Cells(r)[0]; x.State != c.want || x.Problem != c.problem {
			t.Errorf("%s: %s, %q", name, x.State, x.Problem)
		}
		r.Samples = []run.Sample{run.Sample{Cell: query("x", "q")}.Judge(nil, answer.Proof{}, &answer.Diff{Problem: "one row more"})}
		if x := Cells(r)[0]; x.State != Wrong {
			t.Errorf("%s: a wrong answer is %s", name, x.State)
		}
	}
}

// The cells of a run are in the order of its samples, with the names of their axes, and the client overhead is marked.
func TestCells(t *testing.T) {
	mix := run.NewCell(run.MixWorkload, "x", "mix", "A")
	r := Run{Run: &run.Run{Archives: []run.Archive{{Engine: "dry", Place: "memory"}, {Engine: "x", Place: "embedded"}}}, Samples: []run.Sample{
		correct(t, query("x", "q"), run.Warm, 0, lasting(3)), correct(t, query("dry", "q"), run.Cold, 0, lasting(1)),
		correct(t, mix, run.Warm, 0, &run.Measured{Mix: &run.Mix{Throughput: 200}}),
		correct(t, query("x", "q"), run.Warm, 1, lasting(5)),
	}}
	var got []string
	for _, c := range Cells(r) {
		got = append(got, fmt.Sprintf("%s %v %s %s (%s) more %v overhead %v: %s %d × %v", c.Engine, c.Axes,
			c.Phase, c.Quantity, c.Unit, c.MoreIsBetter, c.ClientOverhead, c.State, c.N, c.Median.Value))
	}
	want := []string{
		"x map[case:q design:wide flavour:sql] warm time (ms) more false overhead false: right 2 × 4",
		"dry map[case:q design:wide flavour:sql] cold time (ms) more false overhead true: right 1 × 1",
		"x map[mix:A] warm throughput (ops/s) more true overhead false: right 1 × 200",
		"x map[mix:A] warm 99th percentile (ms) more false overhead false: not timed 0 × NaN",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// A slowdown that the cells of a round share is removed from the times: in the first round each cell takes half of its
// median, in the second 1½ times. At least three cells of databases are needed.
func TestSlowdownOfARound(t *testing.T) {
	for name, c := range map[string]struct {
		workload  string
		cells     int
		overhead  int // of the cells
		isRemoved bool
	}{
		"three cells":               {"met", 3, 0, true},
		"four cells":                {"met", 4, 0, true},
		"two cells":                 {"met", 2, 0, false},
		"two and the overhead":      {"met", 3, 1, false},
		"three and the overhead":    {"met", 4, 1, true},
		"a workload without rounds": {"own", 3, 0, false},
	} {
		results := map[cellQuantity]*cellData{}
		for i := range c.cells {
			of := float64(i + 1)
			results[cellQuantity{run.NewCell(c.workload, "x", "case", i), run.Warm, "time"}] = &cellData{
				values: []float64{1 * of, 3 * of}, reps: []int{0, 1}, isOverhead: i < c.overhead,
				CellResult: CellResult{State: Correct, Median: measure.Estimate{Value: 2 * of}},
			}
		}
		other := cellQuantity{run.NewCell(c.workload, "x", "case", "cold"), run.Cold, "time"}
		results[other] = &cellData{values: []float64{1, 3}, reps: []int{0, 1}, CellResult: CellResult{Median: measure.Estimate{Value: 2}}}
		removeRoundSlowdowns(results)
		for k, x := range results {
			want := x.values
			if c.isRemoved && k != other {
				want = []float64{x.Median.Value, x.Median.Value}
			}
			if !slices.Equal(x.adjusted, want) {
				t.Errorf("%s: %v of %v", name, x.adjusted, x.values)
			}
		}
	}
}

// A common change is the median of the ratios of at least three cells that a test decides, for each quantity and phase.
func TestCommonChanges(t *testing.T) {
	var all []Finding
	add := func(quantity string, phase run.Phase, v Verdict, ratios ...float64) {
		for _, r := range ratios {
			all = append(all, Finding{Quantity: quantity, Phase: phase, MoreIsBetter: quantity == "rate", Verdict: v, Ratio: measure.Estimate{Value: r}})
		}
	}
	add("time", run.Warm, Broken, 50, 50)
	add("rate", "", Same, 3, 1, 2)
	add("time", run.Warm, Same, 4, 5, 6, 9)
	add("time", run.Cold, Same, 7, 8)
	add("time", run.Warm, ClientOverhead, 90)
	want := []CommonChange{
		{Phase: run.Warm, Quantity: "time", Cells: 4, Ratio: 5.5},
		{Quantity: "rate", MoreIsBetter: true, Cells: 3, Ratio: 2},
	}
	if got := commonChanges(all); !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// series returns n samples of a cell with the same time.
func series(t *testing.T, c run.Cell, phase run.Phase, n, ms int) (out []run.Sample) {
	t.Helper()
	for rep := range n {
		out = append(out, correct(t, c, phase, rep, lasting(ms)))
	}
	return out
}

// Each cell is tested without the common change of its phase, and Holm's correction treats all tests of a comparison
// together: here, the slowest of six cells is slower in all of 8 × 8 pairs of times.
func TestChangesOfCells(t *testing.T) {
	var before, after []run.Sample
	for i, name := range []string{"a", "b", "c"} {
		slower := 1
		if i == 2 {
			slower = 3
		}
		before = slices.Concat(before, series(t, query("x", name), run.Warm, 8, 5), series(t, query("x", name), run.Cold, 8, 7))
		after = slices.Concat(after, series(t, query("x", name), run.Warm, 8, 10*slower), series(t, query("x", name), run.Cold, 8, 7))
	}
	c := Runs(Run{Dir: "a/one", Run: &run.Run{}, Samples: before}, []Run{{Dir: "a/two", Run: &run.Run{}, Samples: after}}, 1)
	o := c.Others[0]
	if c.Base != "a/one" || o.Run != "a/two" || c.Tests != 6 || len(o.CommonChanges) != 2 || o.Pending != 0 || o.Unfinished != nil {
		t.Errorf("%+v", c)
	}
	p := 6 * 2. / 12870 // (16 choose 8) is 12870, and both directions count
	for i, f := range o.Findings {
		want, ratio, verdict, atP := 1., 1., Same, 1.
		if f.Phase == run.Warm {
			ratio = 2
		}
		if i == 0 {
			want, ratio, verdict, atP = 3, 6, Slower, p
		}
		if f.OwnRatio.Value != want || f.Ratio.Value != ratio || f.Verdict != verdict || math.Abs(f.P-atP) > 1e-12 {
			t.Errorf("%s: %s by %v of %v, p %v", f.Name(), f.Verdict, f.OwnRatio.Value, f.Ratio.Value, f.P)
		}
	}
}

// The findings that are not worth a test have their reasons. The worst are first.
func TestOrderOfFindings(t *testing.T) {
	var before, after []run.Sample
	for i, name := range []string{"a", "b", "c", "d", "e", "f"} {
		before = append(before, series(t, query("x", name), run.Warm, 30, 100)...)
		after = append(after, series(t, query("x", name), run.Warm, 30, []int{100, 200, 100, 50, 300, 100}[i])...)
	}
	before = append(before, series(t, query("dry", "a"), run.Warm, 30, 1)...)
	after = append(after, series(t, query("dry", "a"), run.Warm, 30, 9)...)
	r := &run.Run{Archives: []run.Archive{{Engine: "dry", Place: "memory"}}}
	var got []string
	for _, f := range Runs(Run{Run: r, Samples: before}, []Run{{Run: r, Samples: after}}, 1).Others[0].Findings {
		got = append(got, f.Cell.Value("case")+" "+string(f.Verdict))
	}
	if want := []string{"e slower", "b slower", "d faster", "a ~", "c ~", "f ~", "a client overhead"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// The verdict of a cell follows from its states in both runs.
func TestVerdictOfStates(t *testing.T) {
	states := []State{Correct, Absent, Wrong, Failed, Untimed}
	for base, want := range map[State][]Verdict{ // in the order of states
		Correct: {Same, Missing, Broken, Broken, NoTimes},
		Absent:  {Added, "", Broken, Broken, Added},
		Wrong:   {Repaired, Missing, StillIncorrect, StillIncorrect, Repaired},
		Failed:  {Repaired, Missing, StillIncorrect, StillIncorrect, Repaired},
		Untimed: {NoTimes, Missing, Broken, Broken, NoTimes},
	} {
		for i, other := range states {
			data := func(s State) *cellData {
				if s == Absent {
					return nil
				}
				return &cellData{CellResult: CellResult{State: s}, quantity: quantity{name: "time", unit: "ms"}, adjusted: []float64{4}}
			}
			if want[i] == "" {
				continue
			}
			f := newFinding(cellQuantity{cell: query("x", "q")}, data(base), data(other))
			if f.Verdict != want[i] || f.Base.State != base || f.New.State != other || f.Quantity != "time" || f.Unit != "ms" || f.P != 1 {
				t.Errorf("%s, then %s: %+v", base, other, f)
			}
			if known := !math.IsNaN(f.Ratio.Value); known != (base == Correct && other == Correct) {
				t.Errorf("%s, then %s: ratio %v", base, other, f.Ratio)
			}
		}
	}
	for name, c := range map[string]struct {
		workload   string
		isOverhead bool
		want       Verdict
	}{
		"other answers":                    {"met", false, DifferentAnswer},
		"other answers of the client":      {"met", true, DifferentAnswer},
		"own tables may change":            {"own", false, Same},
		"the client's time for own tables": {"own", true, ClientOverhead},
	} {
		side := func(digest string) *cellData {
			return &cellData{CellResult: CellResult{State: Correct}, digest: digest, isOverhead: c.isOverhead}
		}
		if f := newFinding(cellQuantity{cell: run.NewCell(c.workload, "x")}, side("1"), side("2")); f.Verdict != c.want {
			t.Errorf("%s: %s", name, f.Verdict)
		}
	}
}

// A difference of at most the margin is none. A larger one is that of all pairs of 8 × 8 values.
func TestDifferenceBeyondTheMargin(t *testing.T) {
	var b []float64
	for i := range 8 {
		b = append(b, 1000+float64(i)/4)
	}
	for factor, isBeyond := range map[float64]bool{0.9: true, 0.95: true, 0.98: false, 1: false, 1.02: false, 1.05: true, 1.1: true} {
		p := pBeyondMargin(scaled(b, factor), b, factor)
		if least := 2. / 12870; isBeyond != (math.Abs(p-least) < 1e-12) || !isBeyond && p < 0.5 {
			t.Errorf("times %v: p %v", factor, p)
		}
	}
}

// A significant change is for the worse or for the better, and samples that cannot differ are too few.
func TestJudgedVerdicts(t *testing.T) {
	for _, c := range []struct {
		test         measure.Comparison
		ratio        float64
		moreIsBetter bool
		want         Verdict
	}{
		{measure.Comparison{PHolm: 0.01}, 2, false, Slower},
		{measure.Comparison{PHolm: 0.01}, 0.5, false, Faster},
		{measure.Comparison{PHolm: 0.01}, 2, true, Faster},
		{measure.Comparison{PHolm: 0.01}, 0.5, true, Slower},
		{measure.Comparison{PHolm: 0.05}, 2, false, Same},
		{measure.Comparison{PHolm: 0.4, LeastP: 0.02, ComparedTogether: 2}, 2, false, Same},
		{measure.Comparison{PHolm: 0.4, LeastP: 0.02, ComparedTogether: 3}, 2, false, TooFew},
	} {
		f := Finding{Verdict: Same, MoreIsBetter: c.moreIsBetter, OwnRatio: measure.Estimate{Value: c.ratio}}
		if f.judge(&c.test); f.Verdict != c.want || f.P != c.test.PHolm {
			t.Errorf("%+v: %s, p %v", c, f.Verdict, f.P)
		}
	}
}

// A gate fails for broken cells, for correct cells that are missing, and for cells that are slower by more than its
// fraction. A change that is not significant does not count.
func TestGate(t *testing.T) {
	at := func(v Verdict, base State, worse float64) Finding {
		return Finding{Verdict: v, Base: CellResult{State: base}, OwnRatio: measure.Estimate{Value: worse}}
	}
	for _, c := range []struct {
		f     Finding
		fails bool
	}{
		{at(Broken, Correct, math.NaN()), true},
		{at(Missing, Correct, math.NaN()), true},
		{at(Missing, Wrong, math.NaN()), false},
		{at(Slower, Correct, 1.75), true},
		{at(Slower, Correct, 1.5), false}, // exactly the fraction
		{at(Slower, Correct, 1.25), false},
		{at(Same, Correct, 1.75), false},
		{at(TooFew, Correct, 1.75), false},
		{at(Faster, Correct, 0.5), false},
		{at(StillIncorrect, Wrong, math.NaN()), false},
		{at(Added, Absent, math.NaN()), false},
	} {
		if got := (&RunComparison{Findings: []Finding{c.f}}).Failing(0.5); (len(got) == 1) != c.fails {
			t.Errorf("%s %v: %v", c.f.Verdict, c.f.OwnRatio.Value, got)
		}
	}
}

// A cell that an unfinished run lacks is pending, not new or absent.
func TestPendingCells(t *testing.T) {
	all := slices.Concat(series(t, query("x", "a"), run.Warm, 2, 5), series(t, query("x", "b"), run.Warm, 2, 5))
	first := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		base, other       Run
		unfinished        []string
		pending, findings int
		added, missing    int
	}{
		"the new run is running":       {Run{Samples: all}, Run{Samples: all[:2], State: run.Running}, []string{"new is still running"}, 1, 1, 0, 0},
		"the baseline is running":      {Run{Samples: all[:2], State: run.Running}, Run{Samples: all}, []string{"old is still running"}, 1, 1, 0, 0},
		"the longer run is unfinished": {Run{Samples: all, State: run.Interrupted}, Run{Samples: all[:2]}, []string{"old was interrupted"}, 0, 2, 0, 1},
		"both are unfinished": {
			Run{Samples: all[:2], State: run.Interrupted},
			Run{Samples: all[2:], State: run.Running},
			[]string{"old was interrupted", "new is still running"},
			2, 0, 0, 0,
		},
		"both are finished": {Run{Samples: all[:2]}, Run{Samples: all[2:]}, nil, 0, 2, 1, 1},
	} {
		c.base.Dir, c.other.Dir = "runs/old", "runs/new"
		c.base.Run, c.other.Run = &run.Run{Started: first}, &run.Run{Started: first.Add(time.Hour)}
		earlier := Run{Dir: "x", Run: &run.Run{Started: first.Add(time.Minute)}}
		out := Runs(c.base, []Run{c.other, earlier}, 1)
		o := out.Others[0]
		count := func(v Verdict) (n int) {
			for _, f := range o.Findings {
				if f.Verdict == v {
					n++
				}
			}
			return n
		}
		if !slices.Equal(o.Unfinished, c.unfinished) || o.Pending != c.pending || len(o.Findings) != c.findings || count(Added) != c.added || count(Missing) != c.missing {
			t.Errorf("%s: %q, %d pending, %+v", name, o.Unfinished, o.Pending, o.Findings)
		}
		if !out.Started.Equal(first.Add(time.Hour)) {
			t.Errorf("%s: the latest run started at %s", name, out.Started)
		}
	}
}

// The warnings of both runs about their machines are kept, each with the name of its run.
func TestWarningsOfMachines(t *testing.T) {
	busy := func(dir string, load float64) Run {
		return Run{Dir: dir, Run: &run.Run{Machine: measure.Machine{UsableCPUs: 4, Load: [3]float64{load}}}}
	}
	got := Runs(busy("runs/old", 3), []Run{busy("runs/new", 4), busy("runs/idle", 1)}, 1)
	for i, want := range [][]string{{"old: the machine was busy", "new: the machine was busy"}, {"old: the machine was busy"}} {
		all := got.Others[i].MachineWarnings
		if len(all) != len(want) {
			t.Fatalf("%q", all)
		}
		for k := range all {
			if !strings.HasPrefix(all[k], want[k]) {
				t.Errorf("%q", all[k])
			}
		}
	}
}

// Finished runs, runs in progress and interrupted runs can be read. What is not a run folder is an error.
func TestReadRuns(t *testing.T) {
	base := t.TempDir()
	write := func(name string, finished time.Time) (string, *run.Folder) {
		dir := filepath.Join(base, name)
		f, err := run.Create(dir, run.Run{Workload: name, Finished: finished})
		if err != nil {
			t.Fatal(err)
		}
		return dir, f
	}
	done, f := write("done", time.Unix(1, 0))
	if err := errors.Join(f.Add(correct(t, query("x", "q"), run.Warm, 0, lasting(3))), f.Close()); err != nil {
		t.Fatal(err)
	}
	running, inProgress := write("running", time.Time{})
	defer inProgress.Close()
	stopped, f := write("stopped", time.Time{})
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	all, err := Read(done, running, stopped)
	if err != nil || len(all) != 3 {
		t.Fatal(all, err)
	}
	for i, want := range []struct {
		dir     string
		state   run.State
		samples int
	}{{done, run.Done, 1}, {running, run.Running, 0}, {stopped, run.Interrupted, 0}} {
		r := all[i]
		if r.Dir != want.dir || r.Workload != filepath.Base(want.dir) || r.State != want.state || len(r.Samples) != want.samples {
			t.Errorf("%+v, want %+v", r, want)
		}
	}
	if _, err := Read(done, base); err == nil {
		t.Error("a folder without a run was read")
	}
	if err := os.WriteFile(filepath.Join(stopped, "events.jsonl"), []byte("no event\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(stopped); err == nil {
		t.Error("damaged events were read")
	}
}

// Benchstat has the unit of each quantity, and names are escaped.
func TestUnitsOfBenchstat(t *testing.T) {
	mix := run.NewCell(run.MixWorkload, "a/b", "mix", "A B")
	m := &run.Measured{Mix: &run.Mix{Throughput: 250, Response: run.Latency{Percentiles: measure.Percentiles{P99: 7 * time.Millisecond}}}}
	r := Run{Dir: "runs/r", Run: &run.Run{Version: "v1", Machine: measure.Machine{CPU: "Example"}}, Samples: []run.Sample{
		correct(t, mix, "", 0, m), correct(t, run.MetCell("x", "wide", "q", "sql"), run.Cold, 0, lasting(3)),
	}}
	var b strings.Builder
	if err := Benchstat(&b, []Run{r, {Dir: "s", Run: &run.Run{}}}); err != nil {
		t.Fatal(err)
	}
	want := `run: r
barograph: v1
cpu: Example
BenchmarkCell/workload=ycsb/engine=a%2Fb/mix=A%20B/phase=warm 1 250 ops/s
BenchmarkCell/workload=ycsb/engine=a%2Fb/mix=A%20B/phase=warm 1 7e+06 p99-ns/op
BenchmarkCell/workload=met/engine=x/case=q/design=wide/flavour=sql/phase=cold 1 3e+06 ns/op

run: s
barograph: 
cpu: 

`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}
