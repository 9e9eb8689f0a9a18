package report

import (
	"bytes"
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
}
