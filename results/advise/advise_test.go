package advise

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/results/run"
)

// recomputation computes advice anew from samples.csv and the loads of run.json, without functions of the
// program.
type recomputation struct {
	times    map[string][]float64 // seconds, by engine/design/flavour/case
	flavours map[string][]string  // flavours of engine/design
	cases    []string
	archives map[string]struct{ load, bytes float64 }
}

func recompute(t *testing.T, dir string) recomputation {
	t.Helper()
	a := recomputation{map[string][]float64{}, map[string][]string{}, nil, map[string]struct{ load, bytes float64 }{}}
	file, err := os.Open(filepath.Join(dir, "samples.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	at := func(line []string, name string) string { return line[slices.Index(lines[0], name)] }
	for _, l := range lines[1:] {
		archive := at(l, "engine") + "/" + at(l, "design")
		if !slices.Contains(a.flavours[archive], at(l, "flavour")) {
			a.flavours[archive] = append(a.flavours[archive], at(l, "flavour"))
		}
		if !slices.Contains(a.cases, at(l, "case")) {
			a.cases = append(a.cases, at(l, "case"))
		}
		ns, _ := strconv.ParseFloat(at(l, "total_ns"), 64)
		key := archive + "/" + at(l, "flavour") + "/" + at(l, "case")
		a.times[key] = append(a.times[key], ns/1e9)
	}
	var r struct {
		Archives []struct {
			Engine, Design string
			Load           float64 `json:"load_ns"`
			Bytes          float64 `json:"bytes_on_disk"`
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "run.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	for _, x := range r.Archives {
		a.archives[x.Engine+"/"+x.Design] = struct{ load, bytes float64 }{x.Load / 1e9, x.Bytes}
	}
	return a
}

func middle(xs []float64) float64 {
	s := slices.Sorted(slices.Values(xs))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

// question returns the mean of the cases' medians, and the median of each repetition's mean.
func (a recomputation) question(archive, flavour string) (mid, ofReps float64) {
	var rounds []float64
	for _, c := range a.cases {
		xs := a.times[archive+"/"+flavour+"/"+c]
		if len(xs) == 0 {
			return math.Inf(1), math.Inf(1)
		}
		mid += middle(xs) / float64(len(a.cases))
		if rounds == nil {
			rounds = make([]float64, len(xs))
		}
		for i := range rounds {
			rounds[i] += xs[i] / float64(len(a.cases))
		}
	}
	return mid, middle(rounds)
}

// TestVerdicts recomputes the advice on real studies, each with three weightings: a real day,
// cycles of MET, the preset of the original experiment, copies up to sixteen, and two servers.
func TestVerdicts(t *testing.T) {
	for _, study := range []string{"day", "cycles", "seed", "copies", "two"} {
		for _, weigh := range []string{"ask=5,load=2,size=1,growth=2,recover=1", "ask=1,load=0,size=0,growth=0", "ask=1,load=3,size=6,growth=1"} {
			t.Run(study+" "+weigh, func(t *testing.T) {
				dir := filepath.Join("testdata", study)
				s, err := Read(dir)
				if err != nil {
					t.Fatal(err)
				}
				w := Defaults()
				if err := w.Set(weigh); err != nil {
					t.Fatal(err)
				}
				a := s.Advise(w)
				if w["size"] == 6 {
					out, _ := json.Marshal(a) // if advice has no JSON, out is empty
					if len(out) == 0 {
						t.Error("advice has no JSON")
					}
				}
				sizes, dirs := []float64{1}, []string{dir}
				if study == "copies" {
					sizes, dirs = []float64{1, 4, 16}, []string{dir + "/x1", dir + "/x4", dir + "/x16"}
				}
				check(t, a, sizes, dirs)
			})
		}
	}
}

func check(t *testing.T, a *Advice, sizes []float64, dirs []string) {
	t.Helper()
	var all []recomputation
	for _, dir := range dirs {
		all = append(all, recompute(t, dir))
	}
	base, last := all[0], all[len(all)-1]
	figures, flavours := map[string]map[Criterion]float64{}, map[string]string{}
	for archive, names := range base.flavours {
		if archive == "dry/memory" {
			continue
		}
		f := map[Criterion]float64{QueryTime: math.Inf(1), FullLoad: base.archives[archive].load, Disk: base.archives[archive].bytes}
		for _, flavour := range names {
			if mid, _ := base.question(archive, flavour); mid < f[QueryTime] {
				f[QueryTime], flavours[archive] = mid, flavour
			}
		}
		if n := len(all); n > 1 {
			f[IncrementalLoad] = last.archives[archive].load * sizes[0] / (sizes[n-1] - sizes[n-2])
			var x, y, xx, xy float64 // least squares of logarithms
			for i := range all {
				_, ofReps := all[i].question(archive, flavours[archive])
				lx, ly := math.Log(sizes[i]), math.Log(ofReps)
				x, y, xx, xy = x+lx, y+ly, xx+lx*lx, xy+lx*ly
			}
			f[Growth] = math.Pow(4, (float64(n)*xy-x*y)/(float64(n)*xx-x*x))
		}
		figures[archive] = f
	}
	score := func(archive string) float64 {
		logs, sum := 0.0, 0.0
		for by, w := range a.Counted {
			best := math.Inf(1)
			for _, f := range figures {
				best = min(best, f[by])
			}
			logs, sum = logs+w*math.Log(figures[archive][by]/best), sum+w
		}
		return math.Exp(logs / sum)
	}
	if len(a.Choices) != len(figures) || len(a.Choices) < 2 {
		t.Fatalf("%d choices of %d archives", len(a.Choices), len(figures))
	}
	least, at := math.Inf(1), 0
	for i, c := range a.Choices {
		archive := c.Engine + "/" + c.Design
		if c.Excluded != "" || c.Flavour != flavours[archive] {
			t.Errorf("%s by %s: %s; %s is faster", archive, c.Flavour, c.Excluded, flavours[archive])
		}
		for by := range a.Counted {
			if e, known := c.Figures[by]; known && math.Abs(e.Value/figures[archive][by]-1) > 1e-9 {
				t.Errorf("%s: %s is %g, recomputed %g", archive, by, e.Value, figures[archive][by])
			} else if !known && by != Growth {
				t.Errorf("%s: no %s", archive, by)
			}
		}
		s := score(archive)
		if a.Counted[Growth] == 0 && math.Abs(c.Score.Value/s-1) > 1e-9 {
			t.Errorf("%s: the score is %g, recomputed %g", archive, c.Score.Value, s)
		}
		if c.Score.Value < least {
			least, at = c.Score.Value, i
		}
		if i >= a.Tied && i+1 < len(a.Choices) && c.Score.Value > a.Choices[i+1].Score.Value {
			t.Errorf("%s stands before what is better", archive)
		}
	}
	if at >= a.Tied {
		t.Errorf("%s %s is best by its score, and not advised", a.Choices[at].Engine, a.Choices[at].Design)
	}
}

// made returns a study with two cases. archives maps the name of an engine to three numbers: the seconds of the case
// “often” (the case “seldom” takes ten times as long), the seconds of a load, and the bytes on disk. The repetitions
// have noise. With growth 0 the study has one size. Otherwise it has four, and the times of the engine “grows” follow
// the power law with the exponent growth. Only the engine “server” is not embedded.
func made(t *testing.T, growth float64, archives map[string][3]float64) *Study {
	t.Helper()
	s := &Study{}
	for _, copies := range []int{1, 2, 4, 8} {
		f, err := run.Create("", run.Run{Workload: "met", Cases: []run.Case{{Name: "often", Rows: 1, Weight: 9}, {Name: "seldom", Rows: 1}}})
		if err != nil {
			t.Fatal(err)
		}
		d := record.Digest{Hi: 1, Records: 1}
		p, err := answer.CompareRecords(d, d)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range slices.Sorted(maps.Keys(archives)) {
			x := archives[name]
			f.Run.Archives = append(f.Run.Archives, run.Archive{Engine: name, Design: "wide", Place: map[bool]string{true: "server", false: "embedded"}[name == "server"], Complete: true, Load: time.Duration(x[1] * 1e9), Bytes: int64(x[2])})
			for rep := range 12 {
				for c, times := range map[string]float64{"often": 1, "seldom": 10} {
					law := 1.0
					if name == "grows" {
						law = math.Pow(float64(copies), growth)
					}
					took := x[0] * times * law * (1 + 0.002*float64(rep%4))
					sample := run.Sample{Cell: run.MetCell(name, "wide", c, "sql"), Phase: run.Warm, Rep: rep}.Judge(&run.Measured{Total: time.Duration(took * 1e9)}, p, nil)
					sample.Proof = answer.EveryValue
					if err := f.Add(sample); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		s.Sizes = append(s.Sizes, sizeOf(copies, &f.Run, f.Samples()))
		if growth == 0 {
			break
		}
	}
	return s
}

// TestGrowthWithoutInterval: the growth over two sizes counts only if its repetitions give an interval.
func TestGrowthWithoutInterval(t *testing.T) {
	s := made(t, 0.5, map[string][3]float64{"grows": {0.1, 10, 1e6}, "stays": {0.1, 10, 1e6}})
	s.Sizes = s.Sizes[:2]
	if e, known := s.growth("grows", "wide", "sql"); !known || math.Abs(e.Value-2) > 1e-6 || !(e.Low < e.High) {
		t.Errorf("%+v, %v", e, known)
	}
	for _, z := range s.Sizes {
		for _, c := range z.cells {
			c.times = c.times[:3]
		}
	}
	if e, known := s.growth("grows", "wide", "sql"); known {
		t.Errorf("with three repetitions: %+v", e)
	}
}

func TestAdvice(t *testing.T) {
	w := func(text string) Weights {
		w := Defaults()
		if err := w.Set(text); err != nil {
			t.Fatal(err)
		}
		return w
	}
	t.Run("weights decide, and what would change that is reported", func(t *testing.T) {
		s := made(t, 0, map[string][3]float64{"asks": {0.1, 40, 1e6}, "loads": {0.2, 10, 1e6}})
		a := s.Advise(w("ask=5,load=2"))
		if a.Choices[0].Engine != "asks" || a.Tied != 1 || a.BestWithMoreData != -1 {
			t.Errorf("%+v", a)
		}
		// 5·ln 2 against 2·ln 4: from 2.5 on, the archive with the fast load wins.
		if len(a.Changes) != 2 || a.Changes[1].Weight != "load" || math.Abs(a.Changes[1].Factor-1.25) > 0.01 || a.Changes[0].Weight != "ask" || math.Abs(a.Changes[0].Factor-0.8) > 0.01 {
			t.Errorf("changes %+v", a.Changes)
		}
		if b := s.Advise(w("ask=5,load=2.6")); b.Choices[0].Engine != "loads" {
			t.Errorf("%+v", b.Choices[0])
		}
		if q := a.Choices[0].Figures[QueryTime].Value; math.Abs(q/(0.19*1.003)-1) > 0.01 { // (9·0.1 + 1·1) ÷ 10
			t.Errorf("a question of the mix takes %g s", q)
		}
	})
	t.Run("four times the data", func(t *testing.T) {
		a := made(t, 1, map[string][3]float64{"grows": {0.1, 10, 1e6}, "flat": {0.15, 10, 1e6}}).Advise(w("ask=5,growth=0"))
		if a.Choices[0].Engine != "grows" || a.BestWithMoreData != 1 || a.Choices[1].Engine != "flat" {
			t.Errorf("%+v", a)
		}
		if b := made(t, 1, map[string][3]float64{"grows": {0.1, 10, 1e6}, "flat": {0.15, 10, 1e6}}).Advise(w("ask=5,growth=2")); b.Choices[0].Engine != "flat" {
			t.Errorf("%+v", b.Choices[0])
		}
	})
	t.Run("the next load is as large as the first", func(t *testing.T) {
		// 4 copies load in 10 s at first, and then 8 more in 10 s: another 4 in 5 s.
		s := made(t, 1, map[string][3]float64{"one": {0.1, 10, 1e6}, "other": {0.15, 10, 1e6}})
		s.Sizes = s.Sizes[2:]
		s.Sizes[1].Copies = 12
		c := s.Advise(Defaults()).Choices[0]
		if full, next := c.Figures[FullLoad].Value, c.Figures[IncrementalLoad].Value; full != 10 || next != 5 {
			t.Errorf("4 copies load in %g s, and 4 more into the largest archive in %g s, not in 5", full, next)
		}
	})
	t.Run("what cannot be distinguished, and needs less", func(t *testing.T) {
		a := made(t, 0, map[string][3]float64{"server": {0.1, 10, 1e6}, "zembedded": {0.1001, 10, 1e6}}).Advise(Defaults())
		if a.Tied != 2 || a.Choices[0].Engine != "zembedded" {
			t.Errorf("%+v", a)
		}
	})
	t.Run("too few repetitions: the medians' order, and no claim", func(t *testing.T) {
		s := made(t, 0, map[string][3]float64{"server": {0.1, 10, 1e6}, "zembedded": {0.2, 10, 1e6}})
		for _, c := range s.Sizes[0].cells {
			c.times = c.times[:5]
		}
		if a := s.Advise(Defaults()); a.HasIntervals() || a.Choices[0].Engine != "server" {
			t.Errorf("%+v", a)
		}
	})
	t.Run("a killed node", func(t *testing.T) {
		s := made(t, 0, map[string][3]float64{"one": {0.1, 10, 1e6}, "other": {0.11, 10, 1e6}})
		d := record.Digest{Hi: 1, Records: 1}
		p, _ := answer.CompareRecords(d, d)
		kill := func(engine string, silence time.Duration, problem error) {
			s.NodeFailures = append(s.NodeFailures, run.Sample{Cell: run.NewCell("faults", engine, "during", "load", "design", "wide"), Kill: &run.Kill{}}.Judge(&run.Measured{LongestGap: silence}, p, problem))
		}
		kill("one", 30*time.Second, nil)
		kill("other", 2*time.Second, nil)
		if a := s.Advise(Defaults()); a.Choices[0].Engine != "other" || a.Counted[NodeFailure] != 1 {
			t.Errorf("%+v", a)
		}
		if a := s.Advise(w("recover=0")); a.Choices[0].Engine != "one" {
			t.Errorf("%+v", a)
		}
		kill("other", 0, fmt.Errorf("3 acknowledged records are lost"))
		if a := s.Advise(Defaults()); a.Choices[0].Engine != "one" || a.Choices[1].Excluded != "it failed in a node failure: 3 acknowledged records are lost" {
			t.Errorf("%+v", a)
		}
	})
	for _, text := range []string{"speed=1", "ask", "ask=x", "ask=-1"} {
		if err := Defaults().Set(text); err == nil {
			t.Errorf("weights %q are taken", text)
		}
	}
}

// The load of one configuration was not measured, because its archive existed before the run. It
// does not get the worst score for loads; instead, the load has no weight for any configuration.
func TestUnmeasuredLoadHasNoWeight(t *testing.T) {
	s := made(t, 0, map[string][3]float64{"existed": {0.1, 0, 1e6}, "quick": {0.11, 1, 1e6}, "slow": {0.12, 900, 1e6}})
	a := s.Advise(Defaults())
	if a.Choices[0].Engine != "existed" || a.Counted[FullLoad] != 0 || !slices.Equal(a.Missing, []Criterion{FullLoad}) {
		t.Errorf("the choice is %s, counted %v, missing %v", a.Choices[0].Engine, a.Counted, a.Missing)
	}
	if w := a.Unmeasured(FullLoad); len(w) != 1 || w[0].Engine != "existed" {
		t.Errorf("without a load: %+v", w)
	}
}

// TestReasonOfAFailure: a configuration is excluded with the error of its first failure, which later failures follow from,
// or because a result is wrong.
func TestReasonOfAFailure(t *testing.T) {
	sample := func(v run.Verdict, problem string) run.Sample {
		return run.Sample{Cell: run.MetCell("postgres", "normalized", "test_1", "keys"), Verdict: v, Problem: problem}
	}
	ended, refused := sample(run.Failed, "the server ended the connection"), sample(run.Failed, "connection refused")
	for _, c := range []struct {
		samples []run.Sample
		want    string
	}{
		{[]run.Sample{sample(run.Equal, ""), ended, refused}, "test_1 failed: the server ended the connection"},
		{[]run.Sample{ended, sample(run.Wrong, "row 3 differs")}, "test_1 is wrong"},
		{[]run.Sample{sample(run.Wrong, "row 3 differs"), refused}, "test_1 is wrong"},
	} {
		z := sizeOf(1, &run.Run{Cases: []run.Case{{Name: "test_1", Rows: 1}}}, append(c.samples, run.Sample{}))
		if got := z.cells[c.samples[0].Cell].problem; got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
