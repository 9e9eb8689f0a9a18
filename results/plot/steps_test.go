package plot

import (
	"math"
	"slices"
	"strings"
	"testing"

	gplot "gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"github.com/barograph/barograph/internal/lists"
)

// axesTo returns axes from zero to x and y.
func axesTo(x, y float64) *gplot.Plot {
	p := newAxes()
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, x, 0, y
	return p
}

// TestLayersOverTime: each layer is on those below it, each value covers its step of 10 s, and a value that is missing in
// one layer is a gap in all.
func TestLayersOverTime(t *testing.T) {
	canvas, shapes := recorded(100, 100)
	g := Layers{Step: 10, Layers: []Layer{{Value: []float64{1, 2, 1, 3}}, {Value: []float64{2, 0, math.NaN(), 4}}, {Value: []float64{5}}}}
	g.Plot(canvas, axesTo(40, 10))
	checkShapes(t, "layers", shapes(),
		"area 0,0 50,20", "area 75,0 100,30", "area 0,10 50,30", "area 75,30 100,70", "area 0,30 25,80", "line 0,0 100,0")
	for k, want := range []float64{8, 2, math.NaN(), 7} {
		if got := g.sum(3, k); got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Errorf("the sum of values %d is %g, want %g", k, got, want)
		}
	}
	if got := g.sum(1, 0); got != 1 {
		t.Errorf("the first layer is %g", got)
	}
}

// TestColumnsOverTime: each value covers its step of 10 s, an interval that stalled is shaded, and the line passes
// through the middles of the intervals, with points if an interval has more than 16 px.
func TestColumnsOverTime(t *testing.T) {
	for width, marks := range map[vg.Length]bool{100: true, 64: false} {
		canvas, shapes := recorded(width, 100)
		g := Columns{Step: 10, right: newRightAxis(span{0, 1}, "", false, 5)}
		g.right.axis.Min, g.right.axis.Max = 0, 100
		g.Groups = []Group{{Name: "a", Bars: []Bar{{Value: Value{V: 1}, Line: 10}, {Value: Value{V: 2}, Line: 20, Stalled: true}, {Value: Value{V: math.NaN()}, Line: 1e31}, {Value: Value{V: 3}, Line: 40}}}}
		g.Plot(canvas, axesTo(40, 10))
		if width == 64 {
			checkShapes(t, "narrow", lineShapes(shapes())[:6], "line 0,0 64,0", "line 0,10 16,10 16,20 32,20", "line 48,30 64,30", "line 8,10 24,20", "line 8,10 24,20", "line 56,40")
			if n := strings.Count(strings.Join(shapes(), ";"), "dot "); n != 2 || marks {
				t.Errorf("%d points, want those of a single value", n)
			}
			continue
		}
		checkShapes(t, "wide", shapes()[:16], "line 0,0 100,0", "area 25,0 50,100", "area 0,0 50,20", "line 0,10 25,10 25,20 50,20",
			"area 75,0 100,30", "line 75,30 100,30", "line 12.5,10 37.5,20", "line 12.5,10 37.5,20", "dot 12.5,10", "dot 12.5,10", "dot 37.5,20", "dot 37.5,20",
			"line 87.5,40", "line 87.5,40", "dot 87.5,40", "dot 87.5,40")
	}
}

func lineShapes(shapes []string) []string {
	return slices.DeleteFunc(shapes, func(s string) bool { return !strings.HasPrefix(s, "line ") })
}

// TestGroupsOfColumns: a bar has 0.4 of its place on each side, and at most 26 px. Groups are 0.9 bars apart, with a line
// between them. Labels of bars are written if all fit.
func TestGroupsOfColumns(t *testing.T) {
	groups := []Group{{Name: "a", Bars: []Bar{{Label: "1", Value: Value{V: 1}, Line: 1e31}, {Label: "2", Value: Value{V: 2}, Line: 1e31}}}, {Name: "b", Bars: []Bar{{Label: "1", Value: Value{V: 3}, Line: 1e31}}}}
	for _, c := range []struct {
		width vg.Length // of 4.8 bars
		areas string
		texts int // labels of bars
	}{
		// places begin at 0.45, 1.45 and 3.35 bars
		{480, "area 69,0 121,100 area 169,0 221,200 area 359,0 411,300", 3}, // 52 px wide
		{240, "area 27.5,0 67.5,100 area 77.5,0 117.5,200 area 172.5,0 212.5,300", 3},
		{24, "area 2.75,0 6.75,100 area 7.75,0 11.75,200 area 17.25,0 21.25,300", 0},
	} {
		canvas, shapes := recorded(c.width, 1000)
		g := Columns{Groups: groups, right: newRightAxis(newSpan(), "", false, 2)}
		g.Plot(canvas, axesTo(4.8, 10))
		all := shapes()
		areas := slices.DeleteFunc(slices.Clone(all), func(s string) bool { return !strings.HasPrefix(s, "area ") })
		if got := strings.Join(areas, " "); got != c.areas {
			t.Errorf("%v px: %s, want %s", c.width, got, c.areas)
		}
		n := 0
		for _, s := range all {
			if strings.HasPrefix(s, `"1"`) || strings.HasPrefix(s, `"2"`) {
				n++
			}
		}
		if n != c.texts {
			t.Errorf("%v px: %d labels of bars", c.width, n)
		}
		if c.width == 480 && !slices.Contains(all, "line 290,-33 290,1000") {
			t.Errorf("no line at 290 px between the groups: %q", all)
		}
	}
}

// TestNotesAreData: a picture with notes in place of all values has its notes, and no words "no data".
func TestNotesAreData(t *testing.T) {
	nan := math.NaN()
	for _, note := range []string{"", "wrong answer"} {
		missing := Value{V: nan, Note: note}
		for name, p := range map[string]drawer{
			"columns":  Columns{Groups: []Group{{Name: "a", Bars: []Bar{{Value: missing, Line: nan}, {Value: missing, Line: nan}}}}},
			"one note": Columns{Groups: []Group{{Name: "a", Bars: []Bar{{Value: Value{V: nan}, Line: nan}, {Value: missing, Line: nan}, {Value: Value{V: nan}, Line: nan}}}}},
			"rows":     Rows{Panels: []Panel{{Rows: []Row{{Value: Value{V: nan}}, {Value: missing}, {Value: Value{V: nan}}}}}},
		} {
			svg := drawn(t, p)
			if empty := strings.Contains(svg, ">no data<"); empty != (note == "") || !empty && !strings.Contains(svg, ">wrong answer<") {
				t.Errorf("%s with the note %q: no data %v", name, note, empty)
			}
		}
	}
	// Only an interval that stalled has the name of its shading in the legend.
	for _, stalled := range []bool{false, true} {
		svg := drawn(t, Columns{StallName: "stall", Step: 1, Groups: []Group{{Bars: []Bar{{Value: Value{V: 1}}, {Value: Value{V: 1}, Stalled: stalled}, {Value: Value{V: 1}}}}}})
		if strings.Contains(svg, ">stall<") != stalled {
			t.Errorf("the legend has the stall: %v", !stalled)
		}
	}
	// The legend has the names in the order of their colors; one name needs none.
	for text, want := range map[string]string{"": "", "duckdb": "", "duckdb,": "", "sqlite,duckdb": "duckdb sqlite", "sqlite,,duckdb,sqlite": "duckdb sqlite"} {
		p := &palette{}
		for name := range strings.SplitSeq(text, ",") {
			p.of(name)
		}
		if got := strings.Join(lists.Map(p.legend(false), func(e entry) string { return e.name }), " "); got != want {
			t.Errorf("%q: the legend has %q, want %q", text, got, want)
		}
	}
}
