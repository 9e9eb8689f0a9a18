package plot

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	gplot "gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"github.com/barograph/barograph/internal/lists"
)

// written describes a text on a white ground, in the form of recorded.
func written(k ink, text string, at vg.Point) []string {
	return []string{
		fmt.Sprintf("area %.5g,%.5g %.5g,%.5g", at.X-3, at.Y-3, at.X+k.width(text)*slack, at.Y+10),
		fmt.Sprintf("%q %s", text, coordinates(at)),
	}
}

// TestLabelsOfReferences: the label of a constant is next to its line, at the end and on the side that the fewest points of
// curves pass, inside the area of the data.
func TestLabelsOfReferences(t *testing.T) {
	k := captionInk()
	w := k.width("no skill") * slack
	const left, above, below, side = 6, 5, -13, 400
	right := side - w - 4
	p := func(x, y vg.Length) vg.Point { return vg.Point{X: x, Y: y} }
	for _, c := range []struct {
		what   string
		levels bool
		at     vg.Point
		curves []vg.Point
		want   []string
	}{
		{"no curve", false, p(200, 100), nil, written(k, "no skill", p(right, 100+above))},
		{"a curve at the right, above", false, p(200, 100), []vg.Point{p(right+5, 110)}, written(k, "no skill", p(right, 100+below))},
		{"curves at the right", false, p(200, 100), []vg.Point{p(right+5, 110), p(right+5, 90)}, written(k, "no skill", p(left, 100+above))},
		{"curves at the right and at the left, above", false, p(200, 100), []vg.Point{p(right+5, 110), p(right+5, 90), p(20, 110)}, written(k, "no skill", p(left, 100+below))},
		{"curves everywhere", false, p(200, 100), []vg.Point{p(right+5, 110), p(right+5, 112), p(right+5, 90), p(20, 110), p(22, 112), p(20, 90), p(22, 90)}, written(k, "no skill", p(right, 100+below))},
		{"a line at the bottom", false, p(200, 3), nil, written(k, "no skill", p(right, 3+above))},
		{"a line at the top", false, p(200, 398), nil, written(k, "no skill", p(right, 398+below))},
		{"a line above the data", false, p(200, 401), nil, nil},
		{"just room above", false, p(200, 385), nil, written(k, "no skill", p(right, 385+above))},
		{"just no room above", false, p(200, 385.5), nil, written(k, "no skill", p(right, 385.5+below))},
		{"just room below", false, p(200, 15), []vg.Point{p(right+5, 25)}, written(k, "no skill", p(right, 15+below))},
		{"just no room below", false, p(200, 14.5), []vg.Point{p(right+5, 25)}, written(k, "no skill", p(left, 14.5+above))},
		{"over levels", true, p(200, 100), nil, written(k, "no skill", p(200+6, side-13))},
		{"over levels, a curve at the right", true, p(200, 100), []vg.Point{p(210, side-10)}, written(k, "no skill", p(200+6, 6))},
		{"over levels, curves at the right", true, p(200, 100), []vg.Point{p(210, side-10), p(210, 10)}, written(k, "no skill", p(200-w-4, side-13))},
		{"over levels, a line at the right edge", true, p(390, 100), nil, written(k, "no skill", p(390-w-4, side-13))},
		{"over levels, just room at the right", true, p(side-w-6, 100), nil, written(k, "no skill", p(side-w, side-13))},
		{"over levels, just no room at the right", true, p(side-w-5.5, 100), nil, written(k, "no skill", p(side-w-w-9.5, side-13))},
		{"over levels, just room at the left", true, p(w+6, 100), []vg.Point{p(w+15, side-10), p(w+15, 10)}, written(k, "no skill", p(2, side-13))},
		{"over levels, just no room at the left", true, p(w+5.5, 100), []vg.Point{p(w+15, side-10), p(w+15, 10)}, written(k, "no skill", p(w+11.5, side-13))},
		{"over levels, a line at the left edge", true, p(5, 100), []vg.Point{p(15, side-10)}, written(k, "no skill", p(11, 6))},
	} {
		canvas, shapes := recorded(side, side)
		d := linesDrawing{}
		if c.levels {
			d.Coordinate = Levels
		}
		d.label(canvas, Reference{Label: "no\tskill"}, c.at, c.curves)
		checkShapes(t, c.what, shapes(), c.want...)
	}
	canvas, shapes := recorded(side, side)
	(&linesDrawing{}).label(canvas, Reference{}, p(200, 100), nil)
	checkShapes(t, "no label", shapes())
}

// TestLabelsOfMoments: the label of a moment is at the top, right of its line. If the previous label ends after the line,
// the label is in the next row.
func TestLabelsOfMoments(t *testing.T) {
	k := captionInk()
	const side = 400
	c := linesDrawing{at: span{0, 400}}
	c.Moments = []Moment{{0, "first"}, {10, "second"}, {20, "third"}, {200, "fourth"}, {400, "fifth"}, {-1, "before"}, {401, "after"}, {300, ""}, {390, "a long label"}}
	p := gplot.New()
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, side, 0, 1
	canvas, shapes := recorded(side, side)
	labels := c.drawMoments(canvas, p)
	for i, want := range []struct {
		text string
		x    vg.Length
		row  vg.Length
	}{{"first", 5, 0}, {"second", 15, 1}, {"third", 25, 2}, {"fourth", 205, 0}, {"…", 405, 0}, {"…", 395, 1}} {
		if got := labels[i]; got.text != want.text || got.at != (vg.Point{X: want.x, Y: side - 12 - 14*want.row}) {
			t.Errorf("label %d: %+v, want %+v", i, got, want)
		}
	}
	var lines []string
	for _, x := range []int{0, 10, 20, 200, 400} {
		lines = append(lines, fmt.Sprintf("line %d,0 %d,400", x, x))
	}
	checkShapes(t, "lines", shapes(), append(lines, "line 300,0 300,14", "line 390,0 390,400")...)
	// A label begins in the same row where the previous one ends.
	next := float64(k.width("first")*slack) + 12
	for x, row := range map[float64]vg.Length{next + 0.01: 0, next - 0.01: 1} {
		c.Moments = []Moment{{0, "first"}, {x, "next"}}
		if labels := c.drawMoments(canvas, p); labels[1].at.Y != side-12-14*row {
			t.Errorf("the label at %g is at the height %g", x, labels[1].at.Y)
		}
	}
}

// TestGuides: the label of a guide is at the end of its line, or farther from the end where no curve and no other label is.
func TestGuides(t *testing.T) {
	k := captionInk()
	w := k.width("CSI 0.2") * slack
	g := Guide{At: []float64{0, 100, 200}, Value: []float64{0, 100, 200}, Label: "CSI 0.2"}
	place := func(at, value float64) vg.Point { return vg.Point{X: vg.Length(at), Y: vg.Length(value)} }
	p := func(x, y vg.Length) vg.Point { return vg.Point{X: x, Y: y} }
	box := func(at vg.Point) vg.Rectangle {
		return vg.Rectangle{Min: p(at.X-4, at.Y-4), Max: p(at.X+w+4, at.Y+12)}
	}
	for _, c := range []struct {
		what   string
		taken  []vg.Rectangle
		curves []vg.Point
		want   vg.Point
	}{
		{"nothing else", nil, nil, p(203, 203)},
		{"a curve above", nil, []vg.Point{p(204, 210)}, p(208, 188)},
		{"a label above", []vg.Rectangle{{Min: p(204, 207), Max: p(210, 220)}}, nil, p(208, 188)},
		{"curves at the right", nil, []vg.Point{p(204, 210), p(230, 190)}, p(200-w-8, 204)},
		{"curves at the end", nil, []vg.Point{p(204, 210), p(230, 190), p(180, 210)}, p(178, 178)},
		{"curves everywhere", nil, crowd(p(-50, -50), p(290, 290), p(204, 210)), p(203, 203)},
	} {
		canvas, shapes := recorded(300, 300)
		line := g.draw(canvas, place)
		taken := slices.Clone(c.taken)
		g.label(canvas, line, &taken, c.curves)
		checkShapes(t, c.what, shapes(), append([]string{"line 0,0 100,100 200,200"}, written(k, "CSI 0.2", c.want)...)...)
		if last := taken[len(taken)-1]; len(taken) != len(c.taken)+1 || last != box(c.want) {
			t.Errorf("%s: %v is taken", c.what, taken)
		}
	}
	// A guide of two points has its label at the end as well, and at the beginning if curves are everywhere else.
	for _, c := range []struct {
		curves []vg.Point
		want   vg.Point
	}{{nil, p(203, 203)}, {slices.DeleteFunc(crowd(p(0, 0), p(300, 300), p(0, 0)), func(q vg.Point) bool { return q.X < w+10 && q.Y < 16 }), p(3, 3)}} {
		canvas, shapes := recorded(300, 300)
		two := Guide{At: []float64{0, 200}, Value: []float64{0, 200}, Label: "CSI 0.2"}
		two.label(canvas, two.draw(canvas, place), new([]vg.Rectangle), c.curves)
		checkShapes(t, "two points", shapes(), append([]string{"line 0,0 200,200"}, written(k, "CSI 0.2", c.want)...)...)
	}
	// The label is inside the area of the data, and there is none of a guide outside it or if every place is taken.
	for _, c := range []struct {
		what   string
		factor float64
		shift  vg.Length
		taken  []vg.Rectangle
		want   []string
	}{
		{"a guide that leaves the data", 2, 0, nil, append([]string{"line 0,0 200,200 300,300"}, written(k, "CSI 0.2", p(300-w-3, 288))...)},
		{"a guide outside", -2, -1, nil, nil},
		{"no room", 1, 0, []vg.Rectangle{{Min: p(-1, -1), Max: p(301, 301)}}, []string{"line 0,0 100,100 200,200"}},
	} {
		canvas, shapes := recorded(300, 300)
		line := g.draw(canvas, func(at, value float64) vg.Point { return place(c.factor*at, c.factor*value).Add(p(c.shift, 0)) })
		g.label(canvas, line, &c.taken, nil)
		checkShapes(t, c.what, shapes(), c.want...)
	}
}

// crowd returns two points in every box of 4 px between two corners, but only one in the box of quiet.
func crowd(lower, upper, quiet vg.Point) (out []vg.Point) {
	for x := lower.X; x < upper.X; x += 4 {
		for y := lower.Y; y < upper.Y; y += 4 {
			out = append(out, vg.Point{X: x, Y: y})
			if x < quiet.X-8 || y < quiet.Y-8 {
				out = append(out, vg.Point{X: x, Y: y})
			}
		}
	}
	return out
}

// TestLooks: R's lengths of dashes are multiples of the line's width; a color may have an alpha; symbols have their sizes.
func TestLooks(t *testing.T) {
	for _, c := range []struct {
		look  map[string]string
		right bool
		want  []vg.Length
	}{
		{nil, false, nil},
		{nil, true, []vg.Length{6, 3}},
		{map[string]string{"lty": "9"}, true, []vg.Length{6, 3}},
		{map[string]string{"lty": "0"}, true, nil},
		{map[string]string{"lty": "1"}, true, nil},
		{map[string]string{"lty": "2", "lwd": "2"}, true, []vg.Length{8, 8}},
		{map[string]string{"lty": "3", "lwd": "2"}, false, []vg.Length{2, 6}},
		{map[string]string{"lty": "4", "lwd": "1"}, false, []vg.Length{1, 3, 4, 3}},
		{map[string]string{"lty": "5"}, false, []vg.Length{7 * 1.9, 3 * 1.9}},
		{map[string]string{"lty": "6", "lwd": "3"}, false, []vg.Length{6, 6, 18, 6}},
	} {
		q := Curve{Look: c.look, Right: c.right}
		if got := q.dash(0); !slices.EqualFunc(got, c.want, func(a, b vg.Length) bool { return isNear(float64(a), float64(b)) }) {
			t.Errorf("%v, right %v: %v, want %v", c.look, c.right, got, c.want)
		}
	}
	dashes := lists.Map([]int{0, Hues - 1, Hues, 2 * Hues, 3 * Hues, 4 * Hues, 5*Hues + 1}, func(h int) string { return fmt.Sprint((&Curve{}).dash(h)) })
	if got := strings.Join(dashes, " "); got != "[] [] [7 3] [2 2.5] [8 3 2 3] [] [7 3]" {
		t.Error(got)
	}
	for text, want := range map[string]string{"": "0072b2ff", "#102030": "102030ff", "#10203040": "10203040", "blue": "0072b2ff"} {
		q := Curve{Look: map[string]string{"colors": text}}
		if c := q.color(0); fmt.Sprintf("%02x%02x%02x%02x", c.R, c.G, c.B, c.A) != want {
			t.Errorf("%q is %v, want %s", text, c, want)
		}
	}
	var symbols []string
	for _, pch := range []string{"", "1", "15", "17", "19", "20"} {
		q := Curve{Look: map[string]string{"pch": pch}}
		shape, size := q.glyph(1)
		symbols = append(symbols, fmt.Sprintf("%s %.3g", strings.TrimSuffix(strings.TrimPrefix(fmt.Sprintf("%T", shape), "draw."), "Glyph"), float64(size)))
	}
	if got := strings.Join(symbols, ", "); got != "Box 1, Ring 1, Box 1, Pyramid 1, Circle 1, Circle 0.667" {
		t.Error(got)
	}
	for h, want := range map[int]string{0: "draw.CircleGlyph", 5: "draw.TriangleGlyph", 6: "draw.CircleGlyph", 7: "draw.BoxGlyph"} {
		if got := fmt.Sprintf("%T", mark(h)); got != want {
			t.Errorf("symbol %d is %s", h, got)
		}
	}
	for _, c := range []struct {
		q    Curve
		want bool
	}{{Curve{}, true}, {Curve{Style: Points}, false}, {Curve{Style: Bars}, false}, {Curve{Look: map[string]string{"lty": "0"}}, false}, {Curve{Look: map[string]string{"type": "p"}}, false}, {Curve{Look: map[string]string{"type": "l"}}, true}} {
		if c.q.joined() != c.want {
			t.Errorf("%+v is joined: %v", c.q, !c.want)
		}
	}
	if a, b := (&Curve{}).width(2), (&Curve{Look: map[string]string{"lwd": "3"}}).width(2); a != 2 || b != 3 {
		t.Errorf("widths %v and %v", a, b)
	}
}

// TestSymbols: a joined curve has symbols if its points have 11 px or more; other curves and curves with labels always have.
func TestSymbols(t *testing.T) {
	for _, c := range []struct {
		what          string
		q             Curve
		width, height vg.Length
		want          bool
	}{
		{"11 px", Curve{Positions: make([]float64, 10)}, 110, 50, true},
		{"less", Curve{Positions: make([]float64, 10)}, 109, 50, false},
		{"a high picture", Curve{Positions: make([]float64, 10)}, 50, 110, true},
		{"no point", Curve{}, 110, 50, false},
		{"points", Curve{Style: Points, Positions: make([]float64, 10)}, 10, 10, true},
		{"labels", Curve{Labels: make([]string, 10), Positions: make([]float64, 10)}, 10, 10, true},
		{"not joined", Curve{Look: map[string]string{"lty": "0"}, Positions: make([]float64, 10)}, 10, 10, true},
	} {
		canvas, _ := recorded(c.width, c.height)
		if c.q.hasRoomForSymbols(canvas) != c.want {
			t.Errorf("%s: %v", c.what, !c.want)
		}
	}
	place := func(at, value float64) vg.Point { return vg.Point{X: vg.Length(at), Y: vg.Length(value)} }
	for _, c := range []struct {
		what string
		q    Curve
		want []string
		n    int // points for placing labels, 32 for each value inside
	}{
		{"a gap", Curve{Positions: []float64{10, 20, 30, 40}, Value: []float64{1, 2, math.NaN(), 4}}, []string{"line 10,1 20,2", "dot 10,1", "dot 20,2", "dot 40,4"}, 96},
		{"a line only", Curve{Look: map[string]string{"type": "l"}, Positions: []float64{10, 20, 30, 40}, Value: []float64{1, 2, math.NaN(), 4}}, []string{"line 10,1 20,2", "dot 40,4"}, 96},
		{"points only", Curve{Style: Points, Positions: []float64{10, 20}, Value: []float64{1, 2}}, []string{"dot 10,1", "dot 20,2"}, 64},
		{"beyond the edge", Curve{Positions: []float64{10, 20, 120}, Value: []float64{1, 2, 12}}, []string{"line 10,1 20,2 100,10", "dot 10,1", "dot 20,2"}, 64},
	} {
		canvas, shapes := recorded(100, 100)
		if n := len(c.q.line(canvas, place, 0)); n != c.n {
			t.Errorf("%s: %d points for labels", c.what, n)
		}
		checkShapes(t, c.what, slices.DeleteFunc(shapes(), func(s string) bool { return strings.HasPrefix(s, "line ") && !strings.Contains(s[5:], " ") }), c.want...)
	}
}

// TestPointsAlongACurve: the points for placing labels are 1/32 of the distance of two values apart.
func TestPointsAlongACurve(t *testing.T) {
	canvas, _ := recorded(100, 100)
	q := Curve{Positions: []float64{0, 64}, Value: []float64{0, 32}}
	along := q.line(canvas, func(at, value float64) vg.Point { return vg.Point{X: vg.Length(at), Y: vg.Length(value)} }, 0)
	for i, got := range along {
		step := vg.Length(min(i, 32))
		if want := (vg.Point{X: 2 * step, Y: step}); got != want {
			t.Errorf("point %d is at %v, want %v", i, got, want)
		}
	}
	if len(along) != 64 {
		t.Errorf("%d points", len(along))
	}
}

// TestNamedTicks: a label that would overlap the previous one is omitted, but not its tick. Over levels all labels stay.
func TestNamedTicks(t *testing.T) {
	c := linesDrawing{Lines: Lines{Ticks: map[float64]string{0: "ab", 10: "cd", 19.9: "ef", 20: "gh", 60: "ij"}}}
	// A letter has 7 px, and 6 px are between two labels: ab at 0 has room until 13 px, and gh at 20 px begins there.
	for scale, want := range map[float64]string{1: "ab| | |gh|ij", 2: "ab|cd| |gh|ij", 0.1: "ab| | | | "} {
		got := strings.Join(lists.Map(c.named(scale), func(t gplot.Tick) string {
			return strings.TrimSuffix(t.Label+" ", " ") + map[bool]string{true: " "}[t.Label == ""]
		}), "|")
		if got != want {
			t.Errorf("%g px: %q, want %q", scale, got, want)
		}
	}
	c.Coordinate = Levels
	if got := labels(c.named(0.1)); got != "ab cd ef gh ij" {
		t.Errorf("%q", got)
	}
	sizes := linesDrawing{Lines: Lines{Curves: []Curve{{Positions: []float64{1, 2, 0, -1}}, {Positions: []float64{2, 1e6, 0.5}}}}}
	if got := labels(sizes.sizes()); got != "1 2 1e+06 0.5" {
		t.Errorf("%q", got)
	}
}

// TestAxisOfTheCoordinate: one position gives an axis around it; limits replace the range if they are a range that the axis
// can show.
func TestAxisOfTheCoordinate(t *testing.T) {
	for _, c := range []struct {
		coordinate Coordinate
		at         span
		limits     [2]float64
		want       span
	}{
		{Leads, span{0, 240}, [2]float64{}, span{0, 240}},
		{Leads, span{24, 24}, [2]float64{}, span{21.6, 26.4}},
		{Levels, span{300, 300}, [2]float64{}, span{200, 450}},
		{Sizes, span{3, 3}, [2]float64{}, span{2, 4.5}},
		{Times, span{100, 100}, [2]float64{}, span{90, 110}},
		{Numbers, span{0, 240}, [2]float64{-1, 5}, span{-1, 5}},
		{Numbers, span{0, 240}, [2]float64{5, 5}, span{0, 240}},
		{Numbers, span{0, 240}, [2]float64{5, 1}, span{0, 240}},
		{Levels, span{100, 500}, [2]float64{0, 1000}, span{100, 500}},
		{Levels, span{100, 500}, [2]float64{10, 1000}, span{10, 1000}},
	} {
		d := linesDrawing{Lines: Lines{Coordinate: c.coordinate, CoordinateLimits: c.limits}}
		a := gplot.New().X
		d.scale(&a, c.at, 600, 300)
		if !isNear(a.Min, c.want.lo) || !isNear(a.Max, c.want.hi) || d.at != (span{a.Min, a.Max}) {
			t.Errorf("coordinate %d from %v, limits %v: %g to %g, want %v", c.coordinate, c.at, c.limits, a.Min, a.Max, c.want)
		}
	}
	var d linesDrawing
	a := gplot.New().X
	for coordinate, want := range map[Coordinate]gplot.Ticker{Leads: leadTicks{}, Numbers: linearTicks{8}, Times: timeTicks{10}, Levels: levelTicks{255}} {
		d.Coordinate = coordinate
		if d.scale(&a, span{1, 2}, 60+10*58, 300); a.Tick.Marker != want {
			t.Errorf("coordinate %d: %#v", coordinate, a.Tick.Marker)
		}
	}
}

// TestLogarithmicLabels: the label of a logarithmic axis says so.
func TestLogarithmicLabels(t *testing.T) {
	for label, want := range map[string]string{"time (ms)": "time (ms, log)", "rate": "rate (log)", "": "(log)"} {
		if got := logarithmic(label); got != want {
			t.Errorf("%q: %q, want %q", label, got, want)
		}
	}
}

// TestCurveLists: the lists of a curve are sorted by the coordinate, without the values that have none. A curve with labels
// keeps its order.
func TestCurveLists(t *testing.T) {
	nan := math.NaN()
	q := Curve{Positions: []float64{3, nan, 1, 3}, Value: []float64{30, 99, 10, 31}, Outliers: [][]float64{{1}, {2}, {3}, nil}, Count: []float64{5, 6, 7, 8}}
	if err := q.sort(); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(q.Positions, q.Value, q.Outliers, q.Count, q.outliers(0), q.Lo == nil); got != "[1 3 3] [10 30 31] [[3] [1] []] [7 5 8] [3] true" {
		t.Error(got)
	}
	q = Curve{Positions: []float64{3, nan, 1}, Value: []float64{30, 99, 10}, Labels: []string{"a", "b", "c"}}
	if err := q.sort(); err != nil || fmt.Sprint(q.Positions, q.Value, q.Labels, q.outliers(0) == nil) != "[3 1] [30 10] [a c] true" {
		t.Error(q, err)
	}
	one, two := []float64{1}, []float64{1, 2}
	for want, q := range map[string]Curve{
		"has 2 values for 1 coordinates":                         {Positions: one, Value: two},
		"has 0 values for 1 coordinates":                         {Positions: one},
		"has 2 lower bounds for 1 coordinates":                   {Positions: one, Value: one, Lo: two, Hi: one},
		"has 0 upper bounds for 1 coordinates":                   {Positions: one, Value: one, Lo: one},
		"has 0 lower bounds for 1 coordinates":                   {Positions: one, Value: one, Hi: one},
		"has 0 lower whiskers for 1 coordinates":                 {Positions: one, Value: one, WhiskerHigh: one},
		"has 0 upper whiskers for 1 coordinates":                 {Positions: one, Value: one, WhiskerLow: one},
		"has 2 upper whiskers for 1 coordinates":                 {Positions: one, Value: one, WhiskerLow: one, WhiskerHigh: two},
		"has 2 counts for 1 coordinates":                         {Positions: one, Value: one, Count: two},
		"has 2 lists of outliers and 0 labels for 1 coordinates": {Positions: one, Value: one, Outliers: make([][]float64, 2)},
		"has 0 lists of outliers and 2 labels for 1 coordinates": {Positions: one, Value: one, Labels: make([]string, 2)},
		"has 1 lists of outliers and 3 labels for 1 coordinates": {Positions: one, Value: one, Outliers: make([][]float64, 1), Labels: make([]string, 3)},
	} {
		if err := q.sort(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
}
