package report

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/results/compare"
	"github.com/barograph/barograph/results/plot"
)

// OfComparison returns the report that compares runs with the first of them.
func OfComparison(c *compare.Comparison) *Report {
	out := newReport("", filepath.Base(c.Base), c.Started, "What changed between the runs?")
	out.Data = map[string]any{"comparison": c}
	for i := range c.Others {
		a := &c.Others[i]
		name := filepath.Base(a.Run)
		voiding, harmless := table("what", "was", "is"), table("what", "was", "is")
		for _, d := range a.Differences {
			t := harmless
			if d.NotComparable {
				t = voiding
			}
			t.add("", texts(d.Fact, cmp.Or(d.Base, none), cmp.Or(d.New, none))...)
		}
		for _, state := range a.Unfinished {
			alarm := "NOT FINISHED: " + state + "."
			if a.Pending > 0 {
				alarm += " The comparison omits " + several(a.Pending, "cell") + " that it has not measured."
			}
			out.Answers = append(out.Answers, Words{"alarm", alarm})
		}
		if a.NotComparable() {
			out.Answers = append(out.Answers, Words{"alarm", voidInWords(name, a)})
		}
		for _, w := range a.MachineWarnings {
			out.Warnings = appendNew(out.Warnings, w)
		}
		out.Answers = append(out.Answers, verdict(tally(a, compare.Broken) == 0, changes(name, a)))
		s := Section{ID: fmt.Sprintf("run-%d", i+1), Title: name, Small: "baseline " + filepath.Base(c.Base), Terminal: true}
		s.Parts = filled(
			Section{Title: "What makes the comparison void", Table: voiding, Terminal: true},
			Section{Title: "Every cell", Table: findings(a, c), Terminal: true, Pictures: ratios(a)},
			Section{Title: "Loads and sizes", Table: loadChanges(a), Terminal: true},
			Section{Title: "What else differs", Table: harmless, Terminal: true},
		)
		out.Sections = append(out.Sections, s)
	}
	return out
}

// voidInWords explains why a comparison is void.
func voidInWords(name string, a *compare.RunComparison) string {
	if a.OnlyDataDiffer() {
		return "VOID: " + name + " " + prose("void: other data")
	}
	return "VOID: " + name + " " + prose("void: other work")
}

// tally counts the findings with a verdict.
func tally(a *compare.RunComparison, v compare.Verdict) int {
	return len(lists.Filter(a.Findings, func(f compare.Finding) bool { return f.Verdict == v }))
}

// changes describes what changed in the cells.
func changes(name string, a *compare.RunComparison) string {
	if len(a.Findings) == 0 {
		return name + " and the baseline have no common cell."
	}
	var parts []string
	for _, v := range []struct {
		compare.Verdict
		words string
	}{
		{compare.Broken, "broken"},
		{compare.Slower, "slower"},
		{compare.Faster, "faster"},
		{compare.StillIncorrect, "not right in either run"},
		{compare.Repaired, "repaired"},
		{compare.Missing, "absent"},
		{compare.Added, "new"},
		{compare.DifferentAnswer, "correct with another result"},
		{compare.NoTimes, "not timed"},
		{compare.TooFew, "with too few repetitions to compare"},
		{compare.Same, "without a significant difference"},
		{compare.ClientOverhead, "of client overhead"},
	} {
		if n := tally(a, v.Verdict); n > 0 {
			parts = append(parts, count(n)+" "+v.words)
		}
	}
	var words strings.Builder
	fmt.Fprintf(&words, "%s, of %s: %s.", name, several(len(a.Findings), "cell"), list(parts))
	for _, x := range a.CommonChanges {
		if math.Abs(math.Log(x.Ratio)) > math.Log(1+compare.Margin) {
			quantity := strings.TrimSpace(string(x.Phase) + " " + x.Quantity)
			fmt.Fprintf(&words, " "+prose("common change"), quantity, x.Cells, number(x.Ratio))
		}
	}
	return words.String()
}

// maxChangedCells is the maximum number of changed cells on a terminal.
const maxChangedCells = 30

// findings lists all cells, those that changed first.
func findings(a *compare.RunComparison, c *compare.Comparison) *Table {
	t := table("cell", "what", "was", "is", "ratio (×)", "own ratio (×)", "p", "verdict")
	t.Note = fmt.Sprintf(prose("compared cells"), 100*c.Margin, several(c.Tests, "test"))
	for i := range a.Findings {
		f := &a.Findings[i]
		mark := dim(string(f.Verdict))
		switch f.Verdict {
		case compare.Broken, compare.StillIncorrect, compare.Slower:
			mark.Class = "bad"
		case compare.Faster, compare.Repaired:
			mark.Class = "ok"
		}
		p := when(!math.IsNaN(f.OwnRatio.Value), value(f.P, probability(f.P)), none)
		t.add("", text(f.Name()), text(f.Quantity+" ("+f.Unit+")"), sideCell(f.Base), sideCell(f.New),
			estimate(f.Ratio), estimate(f.OwnRatio), p, mark)
		t.Rows[i].Quiet = f.Verdict.IsUnremarkable() || i >= maxChangedCells
	}
	return t
}

// sideCell returns a median, or the reason why it is missing.
func sideCell(s compare.CellResult) Cell {
	if s.State == compare.Correct {
		return estimate(s.Median)
	}
	return bad(string(s.State))
}

// ratios draws the change of each cell as a factor.
func ratios(a *compare.RunComparison) []Drawing {
	p := plot.Rows{Frame: plot.Frame{
		Subtitle: "New divided by old, without the common change of all cells, with its 95 % interval; 1 = unchanged",
		XLabel:   "ratio (logarithmic)", Width: pageWidth,
	}, Unit: "×", Log: true}
	for _, f := range a.Findings {
		if v := valueOf(f.OwnRatio); !math.IsNaN(v.V) {
			p.AddRow("", plot.Row{Label: f.Name(), Group: f.Cell.Engine, Value: v})
		}
	}
	if len(p.Panels) == 0 {
		return nil
	}
	return []Drawing{p}
}

// loadChanges compares the loads and the sizes of the archives.
func loadChanges(a *compare.RunComparison) *Table {
	t := table("engine", "design", "load, was (s)", "is (s)", "ratio (×)", "on disk, was (MB)", "is (MB)", "ratio (×)")
	t.Note = "Each is one load, so noise cannot be distinguished from a change."
	for _, l := range a.Loads {
		load, size := change(l.Time[0].Seconds(), l.Time[1].Seconds()), change(float64(l.Bytes[0])/1e6, float64(l.Bytes[1])/1e6)
		t.add("", slices.Concat(texts(l.Engine, l.Design), load, size)...)
	}
	return t
}

// change returns two numbers and their ratio; 0 = not measured.
func change(was, is float64) []Cell {
	ratio := when(is > 0, numeric(is/was), none) // a dash, too, if was is 0: numeric prints no infinity
	return []Cell{when(was > 0, numeric(was), none), when(is > 0, numeric(is), none), ratio}
}
