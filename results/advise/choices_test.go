package advise

import (
	"io/fs"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/run"
)

// writeRun writes a finished run folder and returns its path.
func writeRun(t *testing.T, dir, workload string, samples ...run.Sample) string {
	t.Helper()
	f, err := run.Create(dir, run.Run{Workload: workload, Finished: time.Unix(1, 0)})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range samples {
		if err := f.Add(s); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// A folder of a run is a study of one size. A folder with several sizes has them in ascending order.
func TestReadSizes(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"x4", "x1", "x16"} {
		writeRun(t, filepath.Join(dir, name), "met")
	}
	two := t.TempDir()
	for _, name := range []string{"x8", "x2"} {
		writeRun(t, filepath.Join(two, name), "met")
	}
	for _, c := range []struct {
		dir    string
		copies []int
	}{{dir, []int{1, 4, 16}}, {filepath.Join(dir, "x4"), []int{1}}, {two, []int{2, 8}}} {
		s, err := Read(c.dir)
		if err != nil {
			t.Fatal(err)
		}
		var copies []int
		for _, z := range s.Sizes {
			if copies = append(copies, z.Copies); z.Workload != "met" {
				t.Errorf("workload %q", z.Workload)
			}
		}
		if !slices.Equal(copies, c.copies) {
			t.Errorf("%s: sizes %v, want %v", c.dir, copies, c.copies)
		}
	}
}

// Node failures are read from folders of barograph faults, each sample with its folder. Other folders are refused.
func TestReadNodeFailures(t *testing.T) {
	base := t.TempDir()
	failed := run.Sample{Cell: run.NewCell("faults", "x", "during", "load"), Verdict: run.Failed}
	study := writeRun(t, filepath.Join(base, "met"), "met")
	one := writeRun(t, filepath.Join(base, "one"), "faults", failed)
	two := writeRun(t, filepath.Join(base, "two"), "faults", failed, failed)
	s, err := Read(study, one, two)
	if err != nil || len(s.NodeFailures) != 3 || !slices.Equal(s.FaultFolders, []string{one, two, two}) {
		t.Errorf("%+v, %v", s, err)
	}
	missing := filepath.Join(base, "missing")
	for _, dirs := range [][]string{{missing}, {study, missing}} {
		if _, err := Read(dirs[0], dirs[1:]...); err == nil || !strings.Contains(err.Error(), missing) {
			t.Errorf("%v: %v", dirs, err)
		}
	}
	_, err = Read(study, study)
	if want := "is a run of met, not of faults"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
}

// An archive is excluded with a reason if its data are incomplete, if no query was run on it, or if no flavour answered
// every case correctly. Of the correct flavours, the fastest counts; of equal ones, the first.
func TestReasonsOfExclusion(t *testing.T) {
	wrong := &cell{problem: "often is wrong", times: []float64{1}}
	for name, c := range map[string]struct {
		change           func(z *Size)
		excluded, chosen string
	}{
		"one flavour": {func(*Size) {}, "", "sql"},
		"incomplete":  {func(z *Size) { z.Archives[0].Complete = false }, "its data are incomplete", ""},
		"no query":    {func(z *Size) { clear(z.cells) }, "no query was run on it", ""},
		"all wrong": {
			func(z *Size) { z.set("often", "sql", wrong) },
			"no flavour gave the correct result in every case: often is wrong", "",
		},
		"another flavour is wrong": {func(z *Size) { z.set("often", "a", wrong); z.set("often", "z", wrong) }, "", "sql"},
		"one case is missing": {
			func(z *Size) {
				delete(z.cells, run.MetCell("x", "wide", "seldom", "sql"))
				z.set("seldom", "a", timed(1))
			},
			"no flavour gave the correct result in every case: seldom cannot be expressed", "",
		},
		"a slower flavour": {func(z *Size) { z.set("often", "z", timed(9)); z.set("seldom", "z", timed(9)) }, "", "sql"},
		"a faster flavour": {func(z *Size) { z.set("often", "z", timed(0.001)); z.set("seldom", "z", timed(0.001)) }, "", "z"},
		"equally fast flavours": {func(z *Size) {
			for _, name := range []string{"often", "seldom"} {
				z.set(name, "zql", z.cells[run.MetCell("x", "wide", name, "sql")])
			}
		}, "", "sql"},
	} {
		s := made(t, 0, map[string][3]float64{"x": {0.1, 10, 1e6}})
		c.change(&s.Sizes[0])
		got := s.Advise(Defaults()).Choices[0]
		if got.Excluded != c.excluded || got.Flavour != c.chosen {
			t.Errorf("%s: flavour %q, excluded because %q", name, got.Flavour, got.Excluded)
		}
		if known := len(got.Figures) > 0; known != (c.excluded == "") {
			t.Errorf("%s: figures %v", name, got.Figures)
		}
	}
}

// set sets a cell of the engine x.
func (z *Size) set(name, flavour string, c *cell) {
	z.cells[run.MetCell("x", "wide", name, flavour)] = c
}

// timed returns a proven cell with times in seconds.
func timed(times ...float64) *cell { return &cell{times: times, proof: answer.EveryValue} }

// A configuration that lacks a proven time of a case has no time of the mix. A case counts only if its result has rows
// and if a database was timed in it.
func TestCasesOfTheMix(t *testing.T) {
	z := func(cases ...run.Case) *Size {
		return &Size{cells: map[run.Cell]*cell{}, Run: &run.Run{
			Cases:    cases,
			Archives: []run.Archive{{Engine: "x", Place: "embedded"}, {Engine: "dry", Place: "memory"}},
		}}
	}
	a, b := run.Case{Name: "a", Rows: 1}, run.Case{Name: "b", Rows: 1}
	for name, c := range map[string]struct {
		cases  []run.Case
		b      *cell // of the engine x in case b
		reason string
		value  float64
	}{
		"both":        {[]run.Case{a, b}, timed(3), "", 2},
		"no rows":     {[]run.Case{a, {Name: "b"}}, timed(3), "", 1},
		"wrong":       {[]run.Case{a, b}, &cell{problem: "b is wrong", times: []float64{3}}, "b is wrong", 0},
		"only cold":   {[]run.Case{a, b}, &cell{proof: answer.EveryValue}, "", 1},
		"by a digest": {[]run.Case{a, b}, &cell{times: []float64{3}, proof: answer.DigestOnly}, "b: the comparison with the reference covered only digest, not every value", 0},
		"no case":     {nil, timed(3), "no case was timed", 0},
	} {
		z := z(c.cases...)
		z.set("a", "f", timed(1))
		z.set("b", "f", c.b)
		z.cells[run.MetCell("dry", "memory", "b", "f")] = timed(1)
		e, _, reason := z.mixTime("x", "wide", "f")
		if reason != c.reason || reason == "" && e.Value != c.value {
			t.Errorf("%s: %v, %q", name, e, reason)
		}
	}
	z1 := z(a, b)
	z1.set("a", "f", timed(1))
	z1.set("b", "f", &cell{proof: answer.EveryValue})
	z1.cells[run.MetCell("y", "wide", "b", "f")] = timed(1)
	if _, _, reason := z1.mixTime("x", "wide", "f"); reason != "b was not timed" {
		t.Errorf("%q", reason)
	}
}

// The time of the mix is the weighted mean of the medians; a case without a weight counts once. The interval of the
// median of 6 or 7 values is from the least to the largest. The deviations of the cases add as squares.
func TestTimeOfTheMix(t *testing.T) {
	z := &Size{cells: map[run.Cell]*cell{}, Run: &run.Run{
		Cases: []run.Case{{Name: "often", Rows: 1, Weight: 3}, {Name: "seldom", Rows: 1}},
	}}
	z.set("often", "f", timed(1, 8, 2, 6, 4, 3, 5))                         // median 4, from 1 to 8
	z.set("seldom", "f", timed(10, 11, 12, 13, 14, 20))                     // median 12.5, from 10 to 20
	z.set("unrelated", "f", timed(1000))                                    // no case of the run
	want := []float64{13. / 4, 35. / 4, 18. / 4, 31. / 4, 26. / 4, 29. / 4} // (3 · often + seldom) ÷ 4
	e, reps, reason := z.mixTime("x", "wide", "f")
	if reason != "" || !slices.Equal(reps, want) {
		t.Errorf("%v, %q; want %v", reps, reason, want)
	}
	for what, c := range map[string][2]float64{
		"value": {e.Value, (3*4 + 12.5) / 4},
		"low":   {e.Low, (3*4 + 12.5 - math.Hypot(3*3, 2.5)) / 4},
		"high":  {e.High, (3*4 + 12.5 + math.Hypot(3*4, 7.5)) / 4},
	} {
		if math.Abs(c[0]-c[1]) > 1e-12 {
			t.Errorf("%s %v, want %v", what, c[0], c[1])
		}
	}
}

// The flavours of an archive are those of its engine and design.
func TestFlavoursOfAnArchive(t *testing.T) {
	z := &Size{cells: map[run.Cell]*cell{}}
	for _, name := range []string{"a", "b"} {
		for flavour, archive := range map[string][2]string{"sql": {"x", "wide"}, "keys": {"x", "wide"}, "range": {"x", "document"}, "list": {"y", "wide"}} {
			z.cells[run.MetCell(archive[0], archive[1], name, flavour)] = timed(1)
		}
	}
	if got := z.flavours(run.Archive{Engine: "x", Design: "wide"}); !slices.Equal(got, []string{"keys", "sql"}) {
		t.Errorf("%q", got)
	}
}

// Both loads count half of the weight, also of a small one.
func TestHalvesOfTheLoad(t *testing.T) {
	s := made(t, 1, map[string][3]float64{"one": {0.1, 10, 1e6}, "other": {0.1, 10, 1e6}})
	a := s.Advise(Weights{"ask": 1, "load": 0.5})
	if a.Counted[FullLoad] != 0.25 || a.Counted[IncrementalLoad] != 0.25 {
		t.Errorf("%v", a.Counted)
	}
}

// A growth is not known if the mix has no time at a size, or if its interval is too wide.
func TestUnknownGrowth(t *testing.T) {
	for name, change := range map[string]func(s *Study){
		"a size is wrong": func(s *Study) {
			s.Sizes[2].cells[run.MetCell("grows", "wide", "often", "sql")].problem = "often is wrong"
		},
		"noise": func(s *Study) {
			for _, z := range s.Sizes {
				for _, c := range z.cells {
					for i := range c.times {
						c.times[i] *= math.Pow(1000, float64(i%2))
					}
				}
			}
		},
	} {
		s := made(t, 0.5, map[string][3]float64{"grows": {0.1, 10, 1e6}})
		if e, known := s.growth("grows", "wide", "sql"); !known || math.Abs(e.Value-2) > 1e-6 {
			t.Errorf("√4 is %v, %v", e, known)
		}
		if change(s); len(s.Sizes) != 4 {
			t.Fatal("four sizes are needed")
		}
		if e, known := s.growth("grows", "wide", "sql"); known {
			t.Errorf("%s: %v", name, e)
		}
	}
}

// The next load is that of the same engine and design, at the largest size, if it is complete there.
func TestNextLoadOfTheSameArchive(t *testing.T) {
	load := func(engine, design string, seconds int, complete bool) run.Archive {
		return run.Archive{Engine: engine, Design: design, Complete: complete, Load: time.Duration(seconds) * time.Second}
	}
	for name, c := range map[string]struct {
		archives []run.Archive
		want     float64
	}{
		"the same":   {[]run.Archive{load("y", "wide", 70, true), load("x", "document", 80, true), load("x", "wide", 6, true), load("y", "x", 90, true)}, 3},
		"incomplete": {[]run.Archive{load("x", "wide", 6, false), load("y", "wide", 70, true)}, 0},
	} {
		s := made(t, 1, map[string][3]float64{"x": {0.1, 10, 1e6}})
		s.Sizes = s.Sizes[:2] // 1 and 2 copies
		s.Sizes[1].Copies, s.Sizes[1].Archives = 3, c.archives
		if got := s.Advise(Defaults()).Choices[0].Figures[IncrementalLoad].Value; got != c.want {
			t.Errorf("%s: %v s, want %v", name, got, c.want)
		}
	}
}

func TestServerCount(t *testing.T) {
	nodes := func(n int) *run.Server { return &run.Server{Nodes: n} }
	for _, c := range []struct {
		place  string
		server *run.Server
		want   int
	}{{"embedded", nil, 0}, {"embedded", nodes(3), 0}, {"server", nil, 1}, {"server", nodes(0), 1}, {"server", nodes(1), 1}, {"server", nodes(3), 3}} {
		if got := (&Choice{Archive: run.Archive{Place: c.place, Server: c.server}}).ServerCount(); got != c.want {
			t.Errorf("%s, %+v: %d, want %d", c.place, c.server, got, c.want)
		}
	}
}

// ranked returns advice whose eligible choices have exact scores, in this order, and whose excluded ones have reasons.
func ranked(ratios []float64, excluded ...string) *Advice {
	a := &Advice{Counted: map[Criterion]float64{Disk: 1}, BestWithMoreData: -1}
	for _, v := range ratios {
		a.Choices = append(a.Choices, Choice{Figures: map[Criterion]measure.Estimate{Disk: {Value: v, Low: v, High: v}}})
	}
	for _, reason := range excluded {
		a.Choices = append(a.Choices, Choice{Excluded: reason})
	}
	a.score()
	a.order()
	return a
}

// Scores without uncertainty tie only if they are equal. Excluded choices follow in their own order.
func TestOrderOfChoices(t *testing.T) {
	for name, c := range map[string]struct {
		a              *Advice
		eligible, tied int
		ratios         []float64
		excluded       []string
	}{
		"one":       {ranked([]float64{5}), 1, 1, []float64{1}, nil},
		"none":      {ranked(nil, "no query", "x"), 0, 0, nil, []string{"no query", "x"}},
		"different": {ranked([]float64{4, 2, 8}, "no query", "x"), 3, 1, []float64{1, 2, 4}, []string{"no query", "x"}},
		"two equal": {ranked([]float64{3, 6, 3}), 3, 2, []float64{1, 1, 2}, nil},
		"all equal": {ranked([]float64{3, 3}), 2, 2, []float64{1, 1}, nil},
	} {
		var ratios []float64
		var excluded []string
		for _, x := range c.a.Choices {
			if x.Excluded != "" {
				excluded = append(excluded, x.Excluded)
			} else {
				ratios = append(ratios, x.Score.Value)
			}
		}
		if n := len(c.a.Eligible()); n != c.eligible || c.a.Tied != c.tied || !slices.Equal(ratios, c.ratios) || !slices.Equal(excluded, c.excluded) {
			t.Errorf("%s: %d eligible, %d tied, %v, %q", name, n, c.a.Tied, ratios, excluded)
		}
	}
}

// With more data, each choice's time of a query grows by its own factor. Of equally good choices, the first is the best.
func TestBestWithMoreData(t *testing.T) {
	for _, c := range []struct {
		growths []float64 // 0 = not known
		want    int
	}{
		{[]float64{4, 4}, 0}, // 1·4 < 2·4
		{[]float64{4, 3}, 0}, // 1·4 < 2·3
		{[]float64{4, 2}, 0}, // equal
		{[]float64{4, 1}, 1}, // 1·4 > 2·1
		{[]float64{4, 0}, -1},
	} {
		a := &Advice{Counted: map[Criterion]float64{QueryTime: 3}, BestWithMoreData: -1}
		for i, g := range c.growths {
			v := float64(1 + i)
			figures := map[Criterion]measure.Estimate{QueryTime: {Value: v, Low: v, High: v}}
			if g > 0 {
				figures[Growth] = measure.Estimate{Value: g, Low: g, High: g}
			}
			a.Choices = append(a.Choices, Choice{Figures: figures})
		}
		a.score()
		if a.order(); a.BestWithMoreData != c.want {
			t.Errorf("growth %v: choice %d, want %d", c.growths, a.BestWithMoreData, c.want)
		}
	}
}

// Of several choices that the same factor makes the best, the change names the one with the better score.
func TestChangeToTheBetterChoice(t *testing.T) {
	logs := func(ask, size float64) map[Criterion]float64 {
		return map[Criterion]float64{QueryTime: ask, Disk: size}
	}
	a := &Advice{Counted: logs(1, 1), Tied: 1, Choices: []Choice{{logRatios: logs(0, 1)}, {logRatios: logs(2, 0)}, {logRatios: logs(2, 0)}, {logRatios: logs(8, 0)}}}
	for _, weight := range []float64{1, 0.25, 8} { // only the ratio of the weights counts
		a.Counted = logs(weight, weight)
		for name, want := range map[string]Change{"ask": {"ask", 0.5, 1}, "size": {"size", 2, 1}} {
			if got := a.weightChanges(name); !slices.Equal(got, []Change{want}) {
				t.Errorf("%v, want %v", got, want)
			}
		}
	}
}

// An error of a weight names what is wrong, and how to write it.
func TestWordsOfWeights(t *testing.T) {
	if got := Defaults().Type(); got != "weights" {
		t.Error(got)
	}
	w := Defaults()
	if err := w.Set(" size=0.25 ,ask=1e2"); err != nil || !reflect.DeepEqual(w, Weights{"ask": 100, "load": 2, "size": 0.25, "growth": 2, "recover": 1}) {
		t.Errorf("%v, %v", w, err)
	}
	for text, want := range map[string]string{
		"ask=x":  `"ask=x" is not a weight from 0 to 1000000; write for example ask=2`,
		"cost=1": fault.Unknown("weight", "cost", []string{"ask", "load", "size", "growth", "recover"}).Error(),
	} {
		if err := w.Set(text); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if _, err := Read(filepath.Join(t.TempDir(), "none")); err == nil || !strings.Contains(err.Error(), fs.ErrNotExist.Error()) {
		t.Errorf("a folder that does not exist: %v", err)
	}
}
