package report

import (
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/results/run"
)

// TestOpenLoopRanksNoEngine: with an open loop, the rate determines how many questions are answered. Therefore no
// engine has the highest throughput, and no law of scaling is fitted.
func TestOpenLoopRanksNoEngine(t *testing.T) {
	withTarget := func(target float64) *ownReport {
		var all []*point
		for _, e := range []string{"a", "b"} {
			for i := range 5 {
				for rep := range 6 {
					p := newPoint(e, "server", 1<<i, rep+1, 100*float64(int(1)<<i)/(1+0.05*float64(int(1)<<i-1))*(1+float64(rep)/100))
					p.Mix, p.Target = ownMix, target
					all = append(all, p)
				}
			}
		}
		return &ownReport{Own: &run.Own{}, run: &run.Run{}, streams: gather(&run.Run{}, all)}
	}
	closed, open := withTarget(0), withTarget(5)
	if words := closed.streamsInWords(); !strings.Contains(words, "Highest throughput of questions: ") ||
		len(closed.streams.usl()) != 2 || strings.Contains(closed.sendingInWords()[0].Text, "due") {
		t.Errorf("%q, %d laws, %q", words, len(closed.streams.usl()), closed.sendingInWords()[0].Text)
	}
	words := open.streamsInWords()
	if !strings.HasPrefix(words, " Where 5.00 questions a second are due, 99 % are answered within: a ") ||
		!strings.Contains(words, "with 16 streams") || len(open.streams.usl()) != 0 ||
		!strings.Contains(open.sendingInWords()[0].Text, "ranks no engine") {
		t.Errorf("%q, %d laws, %q", words, len(open.streams.usl()), open.sendingInWords()[0].Text)
	}
}

// TestAdviceComparesCommonQuestions: an engine that lacks a question is ranked by the others, and an engine that is
// slower than another one is never first.
func TestAdviceComparesCommonQuestions(t *testing.T) {
	o := &ownReport{
		Own: &run.Own{}, run: &run.Run{}, streams: gather(&run.Run{}, nil), cells: map[run.Cell]*repeats{},
		engines: []string{"slow", "quick", "one"},
	}
	for _, q := range []string{"a", "b", "c"} {
		o.Questions = append(o.Questions, run.OwnQuestion{Name: q})
		for e, seconds := range map[string]float64{"slow": 9, "quick": 1, "one": 0.5} {
			if e == "quick" && q == "c" || e == "one" && q != "a" {
				o.cells[run.OwnCell(e, q)] = &repeats{verdict: run.Failed, problem: "not supported"}
				continue
			}
			o.cells[run.OwnCell(e, q)] = &repeats{answers: []*run.Measured{{}}, seconds: []float64{seconds}}
		}
	}
	want := "Choose quick: in 2 of 2 questions no engine is significantly faster. " +
		"Medians relative to quick (geometric mean): slow 9.00 (2 common questions). " +
		"Not ranked, because they answer fewer than half of the questions: one (1 of 3)."
	if got := o.advice(); got != want {
		t.Errorf("%s\nnot\n%s", got, want)
	}
	if o.tooFewReps = true; !strings.HasPrefix(o.advice(), "By the medians, quick is the fastest; too few repetitions") {
		t.Error(o.advice())
	}
}

// TestFewRepetitionsOfOneQuestion: one question with too few repetitions for a significant difference does not void the
// differences of the others.
func TestFewRepetitionsOfOneQuestion(t *testing.T) {
	d := record.Digest{Hi: 1, Records: 1}
	proof, err := answer.CompareRecords(d, d)
	if err != nil {
		t.Fatal(err)
	}
	for few, reps := range map[bool]map[string]int{false: {"a": 12, "b": 2}, true: {"a": 2, "b": 2}} {
		r := &run.Run{
			Own:      &run.Own{Questions: []run.OwnQuestion{{Name: "a"}, {Name: "b"}}},
			Archives: []run.Archive{{Engine: "duckdb"}, {Engine: "quick"}, {Engine: "slow"}},
		}
		var samples []run.Sample
		for question, n := range reps {
			for engine, ms := range map[string]int{"quick": 100, "slow": 900} {
				for rep := range n {
					m := &run.Measured{Total: time.Duration(ms+rep) * time.Millisecond}
					s := run.Sample{Cell: run.OwnCell(engine, question), Phase: run.Warm, Rep: rep}
					samples = append(samples, s.Judge(m, proof, nil))
				}
			}
		}
		o := gatherOwn(r, samples)
		if words := o.advice(); o.tooFewReps != few || strings.Contains(words, "too few") != few {
			t.Errorf("%v: %s", reps, words)
		}
	}
}

// TestAdviceOfAnIncompleteRun: a question that the run has not timed on all engines yet counts for none of them.
func TestAdviceOfAnIncompleteRun(t *testing.T) {
	timed := func(seconds float64) *repeats {
		return &repeats{answers: []*run.Measured{{}}, seconds: []float64{seconds}}
	}
	o := &ownReport{
		Own: &run.Own{Questions: []run.OwnQuestion{{Name: "a"}, {Name: "b"}, {Name: "c"}}}, run: &run.Run{},
		streams: gather(&run.Run{}, nil), engines: []string{"slow", "quick"},
		cells: map[run.Cell]*repeats{run.OwnCell("slow", "a"): timed(9), run.OwnCell("slow", "b"): timed(9)},
	}
	if got, want := o.advice(), "No question was timed on all engines, so none is recommended."; got != want {
		t.Errorf("%s\nnot\n%s", got, want)
	}
	o.cells[run.OwnCell("quick", "c")] = timed(1)
	o.cells[run.OwnCell("quick", "b")] = timed(1)
	want := "Choose quick: in 1 of 1 question no engine is significantly faster. " +
		"Medians relative to quick (geometric mean): slow 9.00 (1 common question)."
	if got := o.advice(); got != want {
		t.Errorf("%s\nnot\n%s", got, want)
	}
}

// TestResultsThatAreNotComparedYet: a run has all questions before it loads the first table. Until each engine has proven
// each of them, the report counts the proven results, and claims nothing about the others.
func TestResultsThatAreNotComparedYet(t *testing.T) {
	o := &ownReport{Own: &run.Own{}, run: &run.Run{}, engines: []string{"a", "b"}}
	expect := func(class, want string) {
		t.Helper()
		if got := o.verdict(nil); got.Class != class || !strings.HasPrefix(got.Text, want) {
			t.Errorf("%+v\nwant %s: %s", got, class, want)
		}
	}
	expect("answer", "0 of 0 results are compared so far")
	o.Questions = []run.OwnQuestion{{Name: "p", ComparedWith: map[string]string{}}, {Name: "q", ComparedWith: map[string]string{}}}
	expect("answer", "0 of 4 results are compared so far")
	for _, q := range o.Questions {
		q.ComparedWith["a"] = run.OverFiles
	}
	expect("answer", "2 of 4 results are compared so far, each with that of DuckDB on the files; none differs.")
	for _, q := range o.Questions {
		q.ComparedWith["b"] = run.Unconfirmed
	}
	expect("answer right", "a and b returned the same results as DuckDB on the files, for 2 questions.")
}

// TestProofsOfEachEngine: the note about rounding is next to the engine that it describes.
func TestProofsOfEachEngine(t *testing.T) {
	rounded := &repeats{answers: []*run.Measured{{}}, reservation: run.EqualToRounding, largestDifference: 1e-12}
	o := &ownReport{Own: &run.Own{Questions: []run.OwnQuestion{{
		Name: "q", OrderRule: "in order", ComparedWith: map[string]string{"a": run.OverFiles},
	}}}, engines: []string{"a", "b"}, cells: map[run.Cell]*repeats{run.OwnCell("b", "q"): rounded}}
	if got := o.proofs().Rows[0].Cells[2].Text; got != "a" {
		t.Error(got)
	}
	o.Questions[0].ComparedWith["b"] = "a"
	want := "a, b (also with a) (equal to rounding, largest relative difference 1.0e-12)"
	if got := o.proofs().Rows[0].Cells[2].Text; got != want {
		t.Error(got)
	}
}
