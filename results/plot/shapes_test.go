package plot

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/recorder"

	"github.com/barograph/barograph/internal/lists"
)

// recorded returns a canvas of the given size, and a function that describes what was drawn on it: each area by its lower
// left and upper right corner, each line by its points, each dot by its center, each text by its place.
func recorded(width, height vg.Length) (draw.Canvas, func() []string) {
	rec := &recorder.Canvas{}
	return draw.NewCanvas(rec, width, height), func() (out []string) {
		var at vg.Point // of texts that run upward
		for _, action := range rec.Actions {
			switch a := action.(type) {
			case *recorder.Translate:
				at = a.Point
			case *recorder.Pop:
				at = vg.Point{}
			case *recorder.FillString:
				text := strings.Trim(a.String, string([]rune{rune(atCenter), rune(atRight), rune(atTooltip)}))
				out = append(out, fmt.Sprintf("%q %s", text, coordinates(at.Add(a.Point))))
			case *recorder.Stroke:
				out = append(out, "line"+places(a.Path))
			case *recorder.Fill:
				if i := slices.IndexFunc(a.Path, func(c vg.PathComp) bool { return c.Type == vg.ArcComp }); i >= 0 {
					out = append(out, "dot "+coordinates(a.Path[i].Pos))
					continue
				}
				x, y := newSpan(), newSpan()
				for _, c := range a.Path {
					if c.Type != vg.CloseComp {
						x.add(float64(c.Pos.X))
						y.add(float64(c.Pos.Y))
					}
				}
				out = append(out, fmt.Sprintf("area %.5g,%.5g %.5g,%.5g", x.lo, y.lo, x.hi, y.hi))
			}
		}
		return out
	}
}

func coordinates(p vg.Point) string { return fmt.Sprintf("%.5g,%.5g", p.X, p.Y) }

func places(path vg.Path) (out string) {
	for _, c := range path {
		if c.Type == vg.ArcComp {
			return " around " + coordinates(c.Pos)
		}
		out += " " + coordinates(c.Pos)
	}
	return out
}

func checkShapes(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n got %s\nwant %s", what, strings.Join(got, "; "), strings.Join(want, "; "))
	}
}

// TestHolesOfCoverage: a hole is white between gray edges and at least 1.6 px wide; a run of one time is 2 px wide. A
// hole in the place of the previous one is not drawn again.
func TestHolesOfCoverage(t *testing.T) {
	hole := func(a, b float64) []string {
		return []string{
			fmt.Sprintf("area %.5g,45 %.5g,55", a, b), fmt.Sprintf("line %.5g,43.5 %.5g,43.5", a, b), fmt.Sprintf("line %.5g,56.5 %.5g,56.5", a, b),
		}
	}
	for _, c := range []struct {
		what string
		runs []Period
		want []string
	}{
		{"nothing", nil, nil},
		{"one time", []Period{{10, 10}}, []string{"area 9,45.5 11,54.5"}},
		{"a wide hole", []Period{{10, 20}, {30, 40}}, slices.Concat([]string{"area 9,45.5 41,54.5"}, hole(21, 29))},
		{"a hole of 1.6 px", []Period{{10, 20}, {23.6, 40}}, slices.Concat([]string{"area 9,45.5 41,54.5"}, hole(21, 22.6))},
		{"a narrow hole", []Period{{10, 20}, {23, 40}}, slices.Concat([]string{"area 9,45.5 41,54.5"}, hole(20.7, 22.3))},
		{"two holes in one place", []Period{{10, 20}, {20, 20}, {20, 40}}, slices.Concat([]string{"area 9,45.5 41,54.5"}, hole(19.2, 20.8))},
		{"two holes", []Period{{10, 20}, {30, 30}, {40, 50}}, slices.Concat([]string{"area 9,45.5 51,54.5"}, hole(21, 29), hole(31, 39))},
	} {
		canvas, shapes := recorded(100, 100)
		coverageDrawing{pal: &palette{}, left: 100, right: 100}.row(canvas, func(v float64) vg.Length { return vg.Length(v) }, 50, CoverageRow{Runs: c.runs})
		checkShapes(t, c.what, shapes(), c.want...)
	}
}

// TestNumbersInBars: a bar has its number at its foot. If the line on the right axis passes there, the number is below the
// top; if it passes there as well, or the bar is too low, there is none.
func TestNumbersInBars(t *testing.T) {
	k := valueInk()
	b := Bar{Value: Value{V: 123}}
	w := k.width("123") * slack
	const low, middle = 100 + 7, 200
	high := 400 - w - 8
	for _, c := range []struct {
		what      string
		top, line vg.Length
		want      vg.Length // height of the foot of the number; 0 = no number
	}{
		{"no line", 400, -1, low},
		{"a line in the middle", 400, middle + 50, low},
		{"a line at the foot", 400, 110, high},
		{"a line 12 px below the number", 400, low - 12, low},
		{"a line 11 px below the number", 400, low - 11, high},
		{"a line 13 px above the number", 400, low + w + 13, low},
		{"a line 11 px above the number", 400, low + w + 11, high},
		{"a line at the top", 400, 395, low},
		{"a low bar with a line at its foot", 100 + w + 20, 110, 0},
		{"a low bar with a line in its middle", 100 + w + 20, 100 + (w+20)/2, 0},
		{"a bar with room", 100 + w + 15, -1, low},
		{"a bar without room", 100 + w + 13, -1, 0},
	} {
		canvas, shapes := recorded(100, 500)
		canvas.Min.Y = 100
		g := Columns{right: newRightAxis(span{0, 1}, "", false, 5)}
		g.right.axis.Min, g.right.axis.Max = 100, 500
		b.Line = float64(c.line)
		if g.right.log = c.line < 0; g.right.log { // the axis does not show the line
			b.Line = -1
		}
		g.print(canvas, k, 50, c.top, b)
		var want []string
		if c.want > 0 {
			want = []string{fmt.Sprintf("%q %s", "123", coordinates(vg.Point{X: 50 + k.capHeight()/2, Y: c.want}))}
		}
		checkShapes(t, c.what, shapes(), want...)
	}
}

// TestBars: a bar is wide enough for its number from 13 px. A logarithmic bar has a thick top and no whisker down to a value
// that the axis does not show. The place of a missing bar has its note.
func TestBars(t *testing.T) {
	y := func(v float64) vg.Length { return vg.Length(v) }
	capital := valueInk().capHeight() / 2
	number := fmt.Sprintf("%q %s", "100", coordinates(vg.Point{X: 50 + capital, Y: 7}))
	for _, c := range []struct {
		what string
		log  bool
		half vg.Length
		bar  Value
		want []string
	}{
		{"linear", false, 6.5, Value{V: 100}, []string{"area 43.5,0 56.5,100", number}},
		{"too narrow for a number", false, 6.4, Value{V: 100}, []string{"area 43.6,0 56.4,100"}},
		{"logarithmic", true, 10, Value{V: 100}, []string{"area 40,0 60,100", "area 40,97 60,100", number}},
		{"an interval", false, 10, Value{V: 100, Lo: 90, Hi: 110}, []string{"area 40,0 60,100", "line 55.5,90 55.5,110", "line 53,90 58,90", "line 53,110 58,110", number}},
		{"an interval on a wide bar", false, 20, Value{V: 100, Lo: 90, Hi: 110}, []string{"area 30,0 70,100", "line 61,90 61,110", "line 58,90 64,90", "line 58,110 64,110", number}},
		{"a logarithmic interval", true, 10, Value{V: 100, Lo: 90, Hi: 110}, []string{"area 40,0 60,100", "area 40,97 60,100", "line 55.5,90 55.5,110", "line 53,90 58,90", "line 53,110 58,110", number}},
		{"an interval that reaches zero", true, 10, Value{V: 100, Lo: 0, Hi: 110}, []string{"area 40,0 60,100", "area 40,97 60,100", number}},
		{"no value", false, 10, Value{V: -1e31}, nil},
		{"not on the axis", true, 10, Value{V: 0}, nil},
		{"a note", true, 10, Value{V: 0, Note: "wrong"}, []string{fmt.Sprintf("%q %s", "wrong", coordinates(vg.Point{X: 50 + capital, Y: 6}))}},
	} {
		canvas, shapes := recorded(100, 200)
		g := Columns{logLeft: c.log, right: newRightAxis(newSpan(), "", true, 5)}
		g.right.log = true
		g.bar(canvas, y, 50, c.half, Bar{Value: c.bar}, paletteColor(0))
		checkShapes(t, c.what, shapes(), c.want...)
	}
}

// TestLineOnTheRightAxis: a line has a hollow point at each value if there is room. A value that the axis does not show
// interrupts it, and a single value always has a point.
func TestLineOnTheRightAxis(t *testing.T) {
	r := newRightAxis(span{0, 1}, "", false, 5)
	r.axis.Min, r.axis.Max = 0, 100
	xs, values := []vg.Length{1, 2, 3, 4}, []float64{10, 20, 1e31, 40}
	for _, marks := range []bool{false, true} {
		canvas, shapes := recorded(100, 100)
		r.line(canvas, xs, values, marks)
		points := []string{"dot 1,10", "dot 1,10", "dot 2,20", "dot 2,20"}
		if !marks {
			points = nil
		}
		checkShapes(t, fmt.Sprint("marks ", marks), shapes(), slices.Concat([]string{"line 1,10 2,20", "line 1,10 2,20"}, points, []string{"line 4,40", "line 4,40", "dot 4,40", "dot 4,40"})...)
	}
	r.log = true
	for v, want := range map[float64]bool{1: true, 0: false, -1: false} {
		if r.shows(v) != want {
			t.Errorf("a logarithmic axis shows %g: %v", v, !want)
		}
	}
}

// TestWhiskers: an interval has a line and two ends across it. Only the part inside the canvas is drawn.
func TestWhiskers(t *testing.T) {
	for _, c := range []struct {
		what string
		a, b vg.Point
		want []string
	}{
		{"upright", vg.Point{X: 50, Y: 20}, vg.Point{X: 50, Y: 80}, []string{"line 50,20 50,80", "line 47,20 53,20", "line 47,80 53,80"}},
		{"level", vg.Point{X: 20, Y: 50}, vg.Point{X: 80, Y: 50}, []string{"line 20,50 80,50", "line 20,47 20,53", "line 80,47 80,53"}},
		{"cut", vg.Point{X: 50, Y: -20}, vg.Point{X: 50, Y: 120}, []string{"line 50,0 50,100"}},
		{"at the edge", vg.Point{X: 99, Y: 20}, vg.Point{X: 99, Y: 80}, []string{"line 99,20 99,80", "line 96,20 100,20", "line 96,80 100,80"}},
	} {
		canvas, shapes := recorded(100, 100)
		whisker(canvas, gray(0), c.a, c.b, 3)
		checkShapes(t, c.what, shapes(), c.want...)
	}
}

// TestOverlaps: rectangles that only touch do not overlap. A point on the edge of a rectangle is not in it.
func TestOverlaps(t *testing.T) {
	rect := func(x0, y0, x1, y1 vg.Length) vg.Rectangle {
		return vg.Rectangle{Min: vg.Point{X: x0, Y: y0}, Max: vg.Point{X: x1, Y: y1}}
	}
	r := rect(10, 10, 20, 20)
	for _, c := range []struct {
		other vg.Rectangle
		want  bool
	}{
		{rect(12, 12, 15, 15), true},
		{rect(0, 0, 11, 11), true},
		{rect(19, 19, 30, 30), true},
		{rect(0, 12, 10, 15), false},
		{rect(20, 12, 30, 15), false},
		{rect(12, 0, 15, 10), false},
		{rect(12, 20, 15, 30), false},
		{rect(0, 0, 5, 30), false},
		{rect(0, 25, 30, 30), false},
	} {
		if overlapsAny(r, []vg.Rectangle{c.other}) != c.want || overlapsAny(c.other, []vg.Rectangle{{}, r}) != c.want {
			t.Errorf("%v and %v overlap: %v", r, c.other, !c.want)
		}
	}
	points := lists.Map([][2]vg.Length{{15, 15}, {11, 19}, {10, 15}, {20, 15}, {15, 10}, {15, 20}, {0, 15}, {30, 15}, {15, 0}, {15, 30}},
		func(p [2]vg.Length) vg.Point { return vg.Point{X: p[0], Y: p[1]} })
	if n := within(points, r); n != 2 {
		t.Errorf("%d points are in the rectangle, want 2", n)
	}
}

// TestCircles: outliers in the same half pixel are drawn once, and none is drawn outside the canvas.
func TestCircles(t *testing.T) {
	canvas, shapes := recorded(100, 100)
	circles(canvas, gray(0), []float64{10, 10.1, 10.6, -1, 101, 100, 10}, func(v float64) vg.Point { return vg.Point{X: 50, Y: vg.Length(v)} })
	checkShapes(t, "outliers", shapes(), "line around 50,10", "line around 50,10.6", "line around 50,100")
}

// TestSideBySide: the distance of bars is the smallest distance of two coordinates of curves with bars or boxes.
func TestSideBySide(t *testing.T) {
	for _, c := range []struct {
		curves []Curve
		n      int
		gap    float64
	}{
		{nil, 0, 1},
		{[]Curve{{Positions: []float64{1, 2}}, {Style: Points, Positions: []float64{1, 2}}}, 0, 1},
		{[]Curve{{Style: Bars, Positions: []float64{5}}}, 1, 1},
		{[]Curve{{Style: Bars, Positions: []float64{0, 24, 30}}, {Positions: []float64{1}}}, 1, 6},
		{[]Curve{{Style: Bars, Positions: []float64{24, 0}}, {Style: Boxes, Positions: []float64{24, 21}}}, 2, 3},
	} {
		d := linesDrawing{Lines: Lines{Curves: c.curves}}
		if d.countSideBySide(); d.sideBySide != c.n || d.gap != c.gap {
			t.Errorf("%+v: %d curves, distance %g", c.curves, d.sideBySide, d.gap)
		}
	}
}
