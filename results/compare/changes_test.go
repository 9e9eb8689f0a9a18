package compare

import (
	"slices"
	"testing"
	"time"

	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/run"
)

// A change that a reader should see is a change of the cell itself.
func TestUnremarkableVerdicts(t *testing.T) {
	for v, want := range map[Verdict]bool{
		Broken: false, StillIncorrect: false, Slower: false, Faster: false, Repaired: false, Missing: false, Added: false,
		NoTimes: true, DifferentAnswer: true, TooFew: true, Same: true, ClientOverhead: true,
	} {
		if v.IsUnremarkable() != want {
			t.Errorf("%s: %v", v, !want)
		}
	}
}

// Each workload compares its own quantities: a mix with a given rate has no throughput of its own.
func TestQuantities(t *testing.T) {
	mix := func(target float64) run.Cell { return run.MixCell("x", "rows", "A", 1, target, "") }
	m := &run.Measured{
		Total: 3 * time.Millisecond, LongestGap: 9 * time.Millisecond,
		Mix: &run.Mix{Throughput: 100, Response: run.Latency{Percentiles: measure.Percentiles{P99: 7 * time.Millisecond}}},
	}
	for name, c := range map[string]struct {
		cell   run.Cell
		names  []string
		values []float64
	}{
		"a query":           {run.MetCell("x", "wide", "q", "sql"), []string{"time (ms)"}, []float64{3}},
		"a closed loop":     {mix(0), []string{"throughput (ops/s)", "99th percentile (ms)"}, []float64{100, 7}},
		"an open loop":      {mix(0.5), []string{"99th percentile (ms)"}, []float64{7}},
		"a posting":         {run.NewCell(run.PostWorkload, "x"), []string{"rate (values/s)"}, []float64{0}},
		"during a failure":  {run.NewCell("met", "x", "during", "kill"), []string{"longest silence (ms)"}, []float64{9}},
		"during no failure": {run.NewCell("met", "x", "during", ""), []string{"time (ms)"}, []float64{3}},
	} {
		var names []string
		var values []float64
		for _, q := range quantitiesOf(c.cell) {
			names, values = append(names, q.name+" ("+q.unit+")"), append(values, q.value(m))
			if q.moreIsBetter != (q.name == "throughput" || q.name == "rate") {
				t.Errorf("%s: more is better: %v", q.name, q.moreIsBetter)
			}
		}
		if !slices.Equal(names, c.names) || !slices.Equal(values, c.values) {
			t.Errorf("%s: %q, %v", name, names, values)
		}
	}
	for _, q := range quantitiesOf(mix(0)) {
		if v := q.value(&run.Measured{}); v != 0 {
			t.Errorf("a sample without a mix: %s %g", q.name, v)
		}
	}
	posted := &run.Measured{Posting: &run.Posting{Values: 10, Post: run.PostTimes{Total: 2 * time.Second}}}
	if v := quantitiesOf(run.NewCell(run.PostWorkload, "x"))[0].value(posted); v != 5 {
		t.Errorf("10 values in 2 s: %g", v)
	}
}

// A factor above 1 is worse, also for a quantity of which more is better.
func TestWorseFactor(t *testing.T) {
	for _, more := range []bool{false, true} {
		want := 4.
		if more {
			want = 0.25
		}
		f := Finding{MoreIsBetter: more, OwnRatio: measure.Estimate{Value: 4}}
		x := CommonChange{MoreIsBetter: more, Ratio: 4}
		if f.WorseFactor() != want || x.WorseFactor() != want {
			t.Errorf("more is better %v: %g, %g", more, f.WorseFactor(), x.WorseFactor())
		}
	}
}

func TestUnfinished(t *testing.T) {
	for state, want := range map[run.State]string{run.Done: "", "": "", run.Running: "r1 is still running", run.Interrupted: "r1 was interrupted"} {
		if got := (&Run{Dir: "a/r1", State: state}).Unfinished(); got != want {
			t.Errorf("%s: %q", state, got)
		}
	}
}

// Loads are compared of archives that are complete in both runs and have a size.
func TestLoads(t *testing.T) {
	archive := func(engine, design string, complete bool, bytes int64) run.Archive {
		return run.Archive{Engine: engine, Design: design, Complete: complete, Bytes: bytes, Load: time.Duration(bytes)}
	}
	base := &run.Run{Archives: []run.Archive{archive("x", "wide", true, 5), archive("x", "document", false, 5), archive("y", "wide", true, 0), archive("z", "wide", true, 8)}}
	other := &run.Run{Archives: []run.Archive{archive("x", "document", true, 6), archive("x", "wide", true, 7), archive("y", "wide", true, 0), archive("z", "wide", false, 9)}}
	want := []Load{{Engine: "x", Design: "wide", Time: [2]time.Duration{5, 7}, Bytes: [2]int64{5, 7}}}
	if got := loads(base, other); !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
}

func TestNamesOfFindings(t *testing.T) {
	for phase, want := range map[run.Phase]string{run.Warm: "x · q · wide · sql", run.Cold: "x · q · wide · sql · cold"} {
		if got := (&Finding{Cell: run.MetCell("x", "wide", "q", "sql"), Phase: phase}).Name(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
