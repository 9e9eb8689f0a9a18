package report

import (
	"math"
	"strings"
	"testing"
	"time"
)

// Brief shows the choice, the proof and the warnings of a complete run with a choice; of any other run it shows all.
func TestBrief(t *testing.T) {
	made := func() *Report {
		return &Report{
			Answers:  []Words{{"answer", "Use the first."}, {"answer right", "All results are correct."}, {"because", "It is faster."}},
			Warnings: []string{"the machine was busy"},
			Sections: []Section{
				{ID: "choice", Title: "Choice", Terminal: true, Table: &Table{Head: []Column{{Name: "engine"}, {Name: "time", Unit: "ms", Number: true}}, Rows: []Row{{Cells: []Cell{{Text: "sqlite"}, {Text: "12"}}}}}},
				{ID: "times", Title: "Times of all", Terminal: true, Words: []Words{{"", "Everything else."}}},
			},
		}
	}
	brief := "Use the first.\n  engine  time (ms)\n  sqlite         12\nAll results are correct.\nwarning: the machine was busy\n"
	for name, c := range map[string]struct {
		change  func(r *Report)
		isBrief bool
	}{
		"a choice":       {func(*Report) {}, true},
		"not finished":   {func(r *Report) { r.Answers = append(r.Answers, Words{"alarm", "RUNNING"}) }, false},
		"a wrong result": {func(r *Report) { r.Answers[1] = verdict(false, "1 cell is WRONG") }, false},
		"no choice":      {func(r *Report) { r.Sections = r.Sections[1:] }, false},
		"no sections":    {func(r *Report) { r.Sections = nil }, false},
	} {
		r := made()
		c.change(r)
		var b, all strings.Builder
		if err := r.Brief(&b); err != nil {
			t.Fatal(err)
		}
		if err := r.Print(&all); err != nil {
			t.Fatal(err)
		}
		if got := b.String(); c.isBrief && got != brief || !c.isBrief && got != all.String() {
			t.Errorf("%s:\n%s", name, got)
		}
	}
}

func TestNumbersInWords(t *testing.T) {
	for p, want := range map[float64]string{0: "<0.001", 0.0009: "<0.001", 0.001: "0.001", 0.0123: "0.012", 0.5: "0.5", 0.995: "0.99", 0.996: "1", 1: "1"} {
		if got := probability(p); got != want {
			t.Errorf("probability %g: %q, want %q", p, got, want)
		}
	}
	if got := probability(math.NaN()); got != none {
		t.Errorf("no probability: %q", got)
	}
	for d, want := range map[time.Duration]string{
		850 * time.Millisecond: "850 ms", time.Second: "1.00 s", 12300 * time.Millisecond: "12.3 s", 2*time.Minute - time.Second: "119 s", 2 * time.Minute: "2 min 0 s",
		4*time.Minute + 5*time.Second: "4 min 5 s", 119*time.Minute + 59*time.Second: "119 min 59 s", 2 * time.Hour: "2 h 0 min", 3*time.Hour + 59*time.Minute + 59*time.Second: "3 h 59 min", 61 * time.Hour: "61 h 0 min",
	} {
		if got := elapsed(d); got != want {
			t.Errorf("%s: %q, want %q", d, got, want)
		}
	}
	for v, want := range map[float64]string{0: "+0.0 %", 0.12: "+12 %", -0.034: "−3.4 %", 0.0995: "+10 %", 0.099: "+9.9 %", -1: "−100 %", math.Inf(1): none} {
		if got := percent(v); got != want {
			t.Errorf("%g: %q, want %q", v, got, want)
		}
	}
	if got := interval(1, math.NaN()); got != none {
		t.Error(got)
	}
	if got := interval(1, 2); got != number(1)+" – "+number(2) {
		t.Error(got)
	}
}
