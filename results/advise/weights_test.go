package advise

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/run"
)

func TestWeightsThatAreRefused(t *testing.T) {
	for text, ok := range map[string]bool{
		"ask=0": true, "ask=1000000": true, "load=2, size=3": true,
		"ask=-1": false, "ask=1000001": false, "ask=NaN": false, "ask=": false, "ask": false, "cost=1": false,
	} {
		if err := Defaults().Set(text); (err == nil) != ok {
			t.Errorf("%s: %v", text, err)
		}
	}
	if got := Defaults().String(); got != "ask=5,load=2,size=1,growth=2,recover=1" {
		t.Error(got)
	}
}

// A weight counts only for measured criteria. Two kinds of load get half each, and a weight of 0
// does not count. A kill of an archive of another design does not count for this one.
func TestWeightsThatCount(t *testing.T) {
	archives := map[string][3]float64{"one": {0.1, 10, 1e6}, "other": {0.1, 10, 1e6}}
	s := made(t, 1, archives)
	a := s.Advise(Weights{"ask": 5, "load": 2, "size": 0, "growth": 2, "recover": 1})
	want := map[Criterion]float64{QueryTime: 5, FullLoad: 1, IncrementalLoad: 1, Growth: 2}
	if len(a.Counted) != len(want) {
		t.Errorf("counted %v, want %v", a.Counted, want)
	}
	for by, v := range want {
		if a.Counted[by] != v {
			t.Errorf("%s counts %v, want %v", by, a.Counted[by], v)
		}
	}
	lost := func(design string, kill *run.Kill) run.Sample {
		return run.Sample{Cell: run.NewCell("faults", "one", "during", "load", "design", design), Kill: kill, Problem: "lost"}
	}
	for _, c := range []struct {
		sample   run.Sample
		weight   float64
		excluded bool
	}{
		{lost("wide", &run.Kill{}), 1, true},
		{lost("wide", &run.Kill{}), 0, false},
		{lost("document", &run.Kill{}), 1, false},
		{lost("wide", nil), 1, false},
	} {
		s.NodeFailures = []run.Sample{c.sample}
		for _, x := range s.Advise(Weights{"ask": 1, "recover": c.weight}).Choices {
			if excluded := x.Excluded != ""; excluded != (c.excluded && x.Engine == "one") {
				t.Errorf("%+v with weight %v: %s is excluded: %q", c.sample, c.weight, x.Engine, x.Excluded)
			}
		}
	}
	d := record.Digest{Hi: 1, Records: 1}
	p, _ := answer.CompareRecords(d, d)
	s.NodeFailures = nil
	for _, silence := range []time.Duration{30 * time.Second, 2 * time.Second, 4 * time.Second} {
		kill := run.Sample{Cell: run.NewCell("faults", "one", "during", "load", "design", "wide"), Kill: &run.Kill{}}
		s.NodeFailures = append(s.NodeFailures, kill.Judge(&run.Measured{LongestGap: silence}, p, nil))
	}
	for _, x := range s.Advise(Weights{"ask": 1, "recover": 1}).Choices {
		if got, ok := x.Figures[NodeFailure]; ok != (x.Engine == "one") || ok && got.Value != 4 {
			t.Errorf("%s: %v, want the median of 30, 2 and 4 s", x.Engine, got)
		}
	}
	// The score is the weighted geometric mean of the ratios: √(2¹ · 4¹) for equal weights.
	s = made(t, 0, map[string][3]float64{"best": {0.1, 10, 1e6}, "worse": {0.1, 20, 4e6}})
	a = s.Advise(Weights{"load": 1, "size": 1})
	if got := a.Choices[1].Score.Value; math.Abs(got-math.Sqrt(8)) > 1e-9 {
		t.Errorf("score %v, want %v", got, math.Sqrt(8))
	}
}

// The interval of a score combines the intervals of the criteria, each with its weight. In base-2 logarithms, with the
// weights 3 and 1: the second choice takes 2¹ times the best time, its interval is 1 lower and 2 higher, and that of its
// size is 1 lower and 1 higher.
func TestIntervalOfAScore(t *testing.T) {
	exact := func(v float64) measure.Estimate { return measure.Estimate{Value: v, Low: v, High: v} }
	a := &Advice{Counted: map[Criterion]float64{QueryTime: 3, Disk: 1}, Choices: []Choice{
		{Figures: map[Criterion]measure.Estimate{QueryTime: exact(1), Disk: exact(4)}},
		{Figures: map[Criterion]measure.Estimate{QueryTime: {Value: 2, Low: 1, High: 8}, Disk: {Value: 4, Low: 2, High: 8}}},
	}}
	a.score()
	if got := a.Choices[0].Score; got != exact(1) {
		t.Errorf("the best in all has the score %+v", got)
	}
	got := a.Choices[1].Score
	for what, c := range map[string][2]float64{
		"value": {got.Value, 3. / 4},
		"low":   {got.Low, 3./4 - math.Hypot(3*1, 1)/4},
		"high":  {got.High, 3./4 + math.Hypot(3*2, 1)/4},
	} {
		if math.Abs(math.Log2(c[0])-c[1]) > 1e-12 {
			t.Errorf("%s: 2^%v, want 2^%v", what, math.Log2(c[0]), c[1])
		}
	}
}

// Only factors of a weight from a tenth to ten are reported, and no decrease by the factor 1. The second choice is
// smaller by one unit of the logarithm and slower by ask units: ask times the weight of the size, or the weight of the
// queries divided by ask, makes the scores equal.
func TestChangesWithinBounds(t *testing.T) {
	for _, c := range []struct {
		ask  float64
		want map[string]float64
	}{
		{2, map[string]float64{"ask": 0.5, "size": 2}},
		{8, map[string]float64{"ask": 0.125, "size": 8}},
		{10, map[string]float64{"size": 10}}, // rounding puts the other factor below 0.1
		{16, nil},
	} {
		a := &Advice{Counted: map[Criterion]float64{QueryTime: 1, Disk: 1}, Tied: 1, Choices: []Choice{
			{logRatios: map[Criterion]float64{QueryTime: 0, Disk: 1}},
			{logRatios: map[Criterion]float64{QueryTime: c.ask, Disk: 0}},
		}}
		for _, name := range weightNames() {
			var got []Change
			if f, ok := c.want[name]; ok {
				got = []Change{{name, f, 1}}
			}
			if changes := a.weightChanges(name); !slices.Equal(changes, got) {
				t.Errorf("slower by %v, weight %s: %v, want %v", c.ask, name, changes, got)
			}
		}
	}
	equal := &Advice{Counted: map[Criterion]float64{QueryTime: 1, Disk: 1}, Tied: 1, Choices: []Choice{
		{logRatios: map[Criterion]float64{QueryTime: 0, Disk: 1}}, {logRatios: map[Criterion]float64{QueryTime: 1, Disk: 0}},
	}}
	if changes := equal.weightChanges("ask"); changes != nil {
		t.Errorf("equal scores: %v", changes)
	}
}

// An archive that is not ranked, and one in the client's memory, are no choice.
func TestUnrankedIsNoChoice(t *testing.T) {
	s := made(t, 0, map[string][3]float64{"memory": {0.01, 1, 1e5}, "ranked": {0.1, 10, 1e6}, "unranked": {0.01, 1, 1e5}})
	s.Sizes[0].Archives[0].Place, s.Sizes[0].Archives[2].Unranked = "memory", "another program loaded it"
	if a := s.Advise(Defaults()); len(a.Choices) != 1 || a.Choices[0].Engine != "ranked" {
		t.Errorf("choices %+v", a.Choices)
	}
}
