package report

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/results/compare"
)

// TestComparison compares the text of a comparison with a reviewed golden. The second of the two runs has a slow cell,
// a wrong cell, a missing cell, and another version of an engine.
func TestComparison(t *testing.T) {
	r, before := makeRun()
	first := writeRun(t, r, before, reps)
	after := cellPlans()
	for i := range after {
		switch c := &after[i]; c.String() + " " + c.Case {
		case "duckdb · wide · epoch-range test_1":
			c.ms *= 1.5
		case "duckdb · document · keys test_2":
			c.wrongAt = 3
		}
	}
	r, _ = makeRun()
	r.Archives[1].Version, r.Archives[1].Load, r.Started = "1.1", 5*time.Second, r.Started.AddDate(0, 0, 1)
	second := writeRun(t, r, after[:len(after)-1], reps)
	runs, err := compare.Read(first, second)
	if err != nil {
		t.Fatal(err)
	}
	runs[0].Dir, runs[1].Dir = "runs/first", "runs/second"
	page := OfComparison(compare.Runs(runs[0], runs[1:], 1))
	text, err := page.Page()
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := page.Print(&b); err != nil {
		t.Fatal(err)
	}
	golden(t, "compare.txt", pageText(string(text))+"\n=== terminal ===\n"+b.String())
}

// TestComparisonOfThreeRuns: the name of a run precedes its tables on the terminal.
func TestComparisonOfThreeRuns(t *testing.T) {
	r, cells := makeRun()
	dirs := []string{writeRun(t, r, cells, reps), writeRun(t, r, cells, reps), writeRun(t, r, cells, reps)}
	runs, err := compare.Read(dirs...)
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range []string{"first", "second", "third"} {
		runs[i].Dir = name
	}
	var b strings.Builder
	if err := OfComparison(compare.Runs(runs[0], runs[1:], 1)).Print(&b); err != nil {
		t.Fatal(err)
	}
	_, tables, _ := strings.Cut(b.String(), "\nsecond baseline first\n")
	second, third, ok := strings.Cut(tables, "\nthird baseline first\n")
	if !ok || strings.Count(second, "Loads and sizes") != 1 || strings.Count(third, "Loads and sizes") != 1 {
		t.Error(b.String())
	}
}

// TestIncorrectInBothRuns: a cell that is correct in neither run is marked as a problem, although nothing changed.
func TestIncorrectInBothRuns(t *testing.T) {
	a := &compare.RunComparison{Findings: []compare.Finding{
		{Verdict: compare.StillIncorrect}, {Verdict: compare.Faster}, {Verdict: compare.Same},
	}}
	for i, row := range findings(a, &compare.Comparison{}).Rows {
		if got, want := row.Cells[7].Class, []string{"bad", "ok", "dim"}[i]; got != want {
			t.Errorf("%s has the class %q, want %q", row.Cells[7].Text, got, want)
		}
	}
	if got := changes("new", a); !strings.Contains(got, " 1 "+string(compare.StillIncorrect)+" in either run") {
		t.Errorf("the sentence has another word than the table: %s", got)
	}
}
