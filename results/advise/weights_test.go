package advise

import (
	"math"
	"testing"
	"time"

	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/record"
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
		sample run.Sample
		weight float64
		struck bool
	}{
		{lost("wide", &run.Kill{}), 1, true},
		{lost("wide", &run.Kill{}), 0, false},
		{lost("document", &run.Kill{}), 1, false},
		{lost("wide", nil), 1, false},
	} {
		s.NodeFailures = []run.Sample{c.sample}
		for _, x := range s.Advise(Weights{"ask": 1, "recover": c.weight}).Choices {
			if struck := x.Excluded != ""; struck != (c.struck && x.Engine == "one") {
				t.Errorf("%+v with weight %v: %s is struck: %q", c.sample, c.weight, x.Engine, x.Excluded)
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
