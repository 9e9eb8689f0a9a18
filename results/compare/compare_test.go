package compare

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/run"
)

// noisy returns times of about ms with the noise of a quiet machine: 4 % between repetitions, and 1
// % between runs.
func noisy(g *rand.Rand, ms float64, n int) []float64 {
	out, ofRun := make([]float64, n), 1+0.01*g.NormFloat64()
	for i := range out {
		out[i] = ms * ofRun * math.Exp(0.04*math.Abs(g.NormFloat64()))
	}
	return out
}

// TestAgainstItself compares 100 pairs of equal runs. At least 95 pairs mark no cell. With 30
// repetitions, one cell of eight that takes 10 % longer is found.
func TestAgainstItself(t *testing.T) {
	marked, found := 0, 0
	for pair := range 100 {
		g := rand.New(rand.NewPCG(15, uint64(pair)))
		var same, slow []float64
		for cell := range 8 {
			a, b := noisy(g, 3, 30), noisy(g, 3, 30)
			p := pBeyondMargin(b, a, measure.Median(b)/measure.Median(a))
			if same, slow = append(same, p), append(slow, p); cell == 7 {
				for i := range b {
					b[i] *= 1.1
				}
				slow[cell] = pBeyondMargin(b, a, measure.Median(b)/measure.Median(a))
			}
		}
		if least(measure.Holm(same)) < measure.Alpha {
			marked++
		}
		if measure.Holm(slow)[7] < measure.Alpha {
			found++
		}
	}
	if marked > 5 || found < 95 {
		t.Errorf("of 100 pairs of the same %d are marked; of 100 planted slow cells %d are found", marked, found)
	}
}

func least(ps []float64) float64 {
	low := math.Inf(1)
	for _, p := range ps {
		low = min(low, p)
	}
	return low
}

// cells maps the names of cells to ms, or to the reason why they have no time.
type cells map[string]any

// made returns a run of these cells, in memory.
func made(t *testing.T, seed uint64, of cells) Run {
	t.Helper()
	f, err := run.Create("", run.Run{Workload: "met", Data: run.Data{Digest: "d"}, Archives: []run.Archive{{Engine: "sqlite", Design: "wide", Complete: true, Digest: "d"}}})
	if err != nil {
		t.Fatal(err)
	}
	g := rand.New(rand.NewPCG(seed, 0))
	for name, what := range of {
		for rep := range 8 {
			records := record.Digest{Hi: 1, Records: 1}
			s, m, problem := run.Sample{Cell: run.MetCell("sqlite", "wide", name, "sql"), Phase: run.Warm, Rep: rep}, &run.Measured{}, error(nil)
			switch x := what.(type) {
			case error:
				problem = x
			case int:
				m.Total = time.Duration(noisy(g, float64(x), 1)[0] * 1e6)
			case string: // answers of other data
				m.Total, records.Hi = time.Millisecond, 2
			}
			p, err := answer.CompareRecords(records, records)
			if err != nil {
				t.Fatal(err)
			}
			if rep < 5 && problem != nil { // fast repetitions before the wrong ones
				m.Total, problem = time.Microsecond, nil
			}
			if err := f.Add(s.Judge(m, p, problem)); err != nil {
				t.Fatal(err)
			}
		}
	}
	return Run{Dir: "run", Run: &f.Run, Samples: f.Samples()}
}

func TestVerdicts(t *testing.T) {
	wrong, failed := error(&answer.Diff{Problem: "one row more"}), errors.New("no such table")
	a := made(t, 1, cells{"same": 3, "slower": 3, "faster": 3, "broken": 3, "fails": 3, "repaired": wrong, "neither": wrong, "gone": 3, "other": 1})
	b := made(t, 2, cells{"same": 3, "slower": 5, "faster": 2, "broken": wrong, "fails": failed, "repaired": 3, "neither": failed, "added": 3, "other": "x"})
	c := Runs(a, []Run{b}, 1)
	want := map[string]Verdict{"same": Same, "slower": Slower, "faster": Faster, "broken": Broken, "fails": Broken, "repaired": Repaired, "neither": StillIncorrect, "gone": Missing, "added": Added, "other": DifferentAnswer}
	for _, f := range c.Others[0].Findings {
		if name := f.Cell.Value("case"); f.Verdict != want[name] {
			t.Errorf("%s is %q, want %q", name, f.Verdict, want[name])
		}
		delete(want, f.Cell.Value("case"))
		for _, s := range []CellResult{f.Base, f.New} {
			if s.State != Correct && (s.N > 0 || !math.IsNaN(s.Median.Value)) {
				t.Errorf("%s is %s, and has a number: %+v", f.Name(), s.State, s)
			}
		}
	}
	if len(want) > 0 || c.Tests != 3 {
		t.Errorf("%v are not among the findings; %d tests", want, c.Tests)
	}
	if first := c.Others[0].Findings[0].Verdict; first != Broken {
		t.Errorf("the first finding is %s", first)
	}
	if n := len(c.Others[0].Failing(0.1)); n != 4 { // two broken, one missing, one slower
		t.Errorf("%d findings fail a gate of 10 %%", n)
	}
}

// TestDifferences: differences with which the runs are not comparable come first.
func TestDifferences(t *testing.T) {
	a, b := made(t, 1, nil), made(t, 1, nil)
	if got := differences(a.Run, b.Run); len(got) > 0 {
		t.Errorf("runs of the same differ in %v", got)
	}
	b.Version, b.Machine.CPU, b.Data.Digest = "v2", "another", "e"
	b.Archives = []run.Archive{{Engine: "sqlite", Design: "wide", Version: "3.50", Settings: map[string]string{"cache": "1"}, Digest: "e"}}
	var got []string
	for _, d := range differences(a.Run, b.Run) {
		got = append(got, map[bool]string{true: "VOID "}[d.NotComparable]+d.Fact)
	}
	if text := strings.Join(got, "; "); text != "VOID data; VOID processor; barograph; sqlite wide: version; sqlite wide: cache" {
		t.Error(text)
	}
	if x := (RunComparison{Differences: differences(a.Run, b.Run)}); x.OnlyDataDiffer() {
		t.Error("another processor is no difference of data")
	}
	b.Machine.CPU = a.Machine.CPU
	if x := (RunComparison{Differences: differences(a.Run, b.Run)}); !x.OnlyDataDiffer() { // each archive has more records
		t.Errorf("the data alone differ, and it is said: %v", x.Differences)
	}
	b.Archives[0].Digest = "d"
	if x := (RunComparison{Differences: differences(a.Run, b.Run)}); x.OnlyDataDiffer() {
		t.Error("an archive that lacks some of the data is no difference of data alone")
	}
	b = made(t, 1, nil)
	a.Archives = []run.Archive{{Engine: "postgres", Server: &run.Server{Nodes: 3}}}
	b.Archives = []run.Archive{{Engine: "postgres", Server: &run.Server{Nodes: 3, Isolation: &run.Isolation{CPUs: 2}}}}
	if d := differences(a.Run, b.Run); len(d) != 1 || d[0].Fact != "postgres: isolation" || !d[0].NotComparable {
		t.Errorf("isolated nodes are compared with nodes that share the machine: %+v", d)
	}
}

func TestBenchstat(t *testing.T) {
	a := made(t, 1, cells{"one": 3, "bad": errors.New("no")})
	a.Dir = "runs/first"
	var b strings.Builder
	if err := Benchstat(&b, []Run{a}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	if lines[0] != "run: first" || len(lines) != 3+8 || !strings.HasPrefix(lines[3], "BenchmarkCell/workload=met/engine=sqlite/case=one/design=wide/flavour=sql/phase=warm 1 ") || !strings.HasSuffix(lines[3], " ns/op") {
		t.Errorf("%q", lines)
	}
}

// TestMachine: a change that all cells share is reported once, and not for single cells.
func TestMachine(t *testing.T) {
	a := made(t, 1, cells{"one": 2, "two": 3, "three": 4, "four": 5})
	b := made(t, 2, cells{"one": 4, "two": 6, "three": 8, "four": 20})
	c := Runs(a, []Run{b}, 1).Others[0]
	if len(c.CommonChanges) != 1 || c.CommonChanges[0].Cells != 4 || math.Abs(c.CommonChanges[0].Ratio-2) > 0.2 {
		t.Errorf("together %+v", c.CommonChanges)
	}
	for _, f := range c.Findings {
		want := map[bool]Verdict{true: Slower, false: Same}[f.Cell.Value("case") == "four"]
		if f.Verdict != want {
			t.Errorf("%s is %s, %.2f of its own", f.Name(), f.Verdict, f.OwnRatio.Value)
		}
	}
}
