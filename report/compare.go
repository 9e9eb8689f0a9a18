package report

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"

	"github.com/barograph/barograph/compare"
	"github.com/barograph/barograph/measure"
	"github.com/barograph/barograph/report/plot"
)

// OfComparison is the report of runs beside the first of them.
func OfComparison(c *compare.Comparison) *Report {
	out := newReport("", filepath.Base(c.Base), c.Began, "What changed between the runs?")
	out.Data = map[string]any{"comparison": c}
	for i := range c.Others {
		a := &c.Others[i]
		name := filepath.Base(a.Run)
		void := table("what", "was", "is")
		other := table("what", "was", "is")
		for _, d := range a.Differences {
			t := other
			if d.Void {
				t = void
			}
			t.add("", texts(d.What, cmp.Or(d.Base, none), cmp.Or(d.New, none))...)
		}
		if a.Void() {
			out.Answers = append(out.Answers, Words{"alarm", fmt.Sprintf("VOID: %s is not the same work on the same machine (see what differs): what follows tells no database's speed.", name)})
		}
		out.Answers = append(out.Answers, verdict(tally(a, compare.Broken) == 0, changes(name, a)))
		s := Section{ID: fmt.Sprintf("run-%d", i+1), Title: name, Small: "against " + filepath.Base(c.Base)}
		s.Parts = filled(
			Section{Title: "What makes the comparison void", Table: void, Terminal: true},
			Section{Title: "Every cell", Table: findings(a, c), Terminal: true, Pictures: ratios(a)},
			Section{Title: "Loads and sizes", Table: loadChanges(a), Terminal: true},
			Section{Title: "What else differs", Table: other, Terminal: true},
		)
		out.Sections = append(out.Sections, s)
	}
	return out
}

// tally counts the findings of a verdict.
func tally(a *compare.Against, v compare.Verdict) (n int) {
	for i := range a.Findings {
		if a.Findings[i].Verdict == v {
			n++
		}
	}
	return n
}

// changes is what became of the cells, in words.
func changes(name string, a *compare.Against) string {
	var parts []string
	for _, v := range []struct {
		compare.Verdict
		words string
	}{
		{compare.Broken, "broken"},
		{compare.Slower, "slower"},
		{compare.Faster, "faster"},
		{compare.NotRight, "right in neither run"},
		{compare.Mended, "mended"},
		{compare.Gone, "absent"},
		{compare.Added, "new"},
		{compare.OtherAnswer, "right with another answer"},
		{compare.NoTimes, "not timed"},
		{compare.TooFew, "of too few repetitions to tell"},
		{compare.Same, "the same within the noise"},
	} {
		if n := tally(a, v.Verdict); n > 0 {
			parts = append(parts, count(n)+" "+v.words)
		}
	}
	return fmt.Sprintf("%s, of %s: %s.", name, several(len(a.Findings), "cell"), list(parts))
}

// findings are all cells, those that changed first.
func findings(a *compare.Against, c *compare.Comparison) *Table {
	t := table("cell", "what", "was", "is", "ratio (×)", "p", "verdict")
	t.Note = fmt.Sprintf("Medians with their 95 %% intervals. A cell is faster or slower where its repetitions differ by more than %.0f %% and the noise: two-sided Mann–Whitney rank tests, %s corrected together (Holm). "+
		"By %.0f %% two runs of the same differ though nothing changed. “~”: no such difference; “?”: too few repetitions to show one.", 100*c.Margin, several(c.Tests, "test"), 100*c.Margin)
	for i := range a.Findings {
		f := &a.Findings[i]
		mark := Cell{Text: string(f.Verdict), Class: map[compare.Verdict]string{compare.Broken: "bad", compare.NotRight: "bad", compare.Slower: "bad", compare.Faster: "ok", compare.Mended: "ok"}[f.Verdict]}
		if !f.Verdict.Marked() {
			mark.Class = "dim"
		}
		p := dim(none)
		if !math.IsNaN(f.Ratio.Value) {
			p = value(f.P, probability(f.P))
		}
		t.add("", text(f.Name()), text(f.Quantity+" ("+f.Unit+")"), sideCell(f.Base), sideCell(f.New), estimate(f.Ratio), p, mark)
	}
	return t
}

// sideCell is a median, or why there is none.
func sideCell(s compare.Side) Cell {
	if s.State == compare.Right {
		return estimate(s.Median)
	}
	return bad(string(s.State))
}

// ratios draws how many times each cell is what it was.
func ratios(a *compare.Against) []Drawing {
	p := plot.Rows{Frame: plot.Frame{Subtitle: "New divided by old, with its 95 % interval; 1 = unchanged", XLabel: "ratio (logarithmic)", Width: pageWidth}, Unit: "×", Log: true}
	for i := range a.Findings {
		if f := &a.Findings[i]; !math.IsNaN(f.Ratio.Value) {
			p.Panel("", plot.Row{Label: f.Name(), Group: f.Cell.Engine, Value: plot.Value{V: f.Ratio.Value, Lo: f.Ratio.Low, Hi: f.Ratio.High}})
		}
	}
	if len(p.Panels) == 0 {
		return nil
	}
	return []Drawing{p}
}

func loadChanges(a *compare.Against) *Table {
	t := table("engine", "design", "load, was (s)", "is (s)", "ratio (×)", "on disk, was (MB)", "is (MB)", "ratio (×)")
	t.Note = "One load each: what of a difference is noise cannot be told."
	for _, l := range a.Loads {
		t.add("", append(append(texts(l.Engine, l.Design), pair(l.Time[0].Seconds(), l.Time[1].Seconds())...), pair(float64(l.Bytes[0])/1e6, float64(l.Bytes[1])/1e6)...)...)
	}
	return t
}

// pair is two numbers and their ratio; 0 = not measured.
func pair(was, is float64) []Cell {
	return []Cell{when(was > 0, numeric(was), none), when(is > 0, numeric(is), none), when(was > 0 && is > 0, estimate(measure.Estimate{Value: is / was}), none)}
}
