package plot

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
)

func identityOf(v float64) vg.Length { return vg.Length(v) }

func placeOf(at, value float64) vg.Point { return vg.Point{X: vg.Length(at), Y: vg.Length(value)} }

// TestAxisOfCounts: counts are on an axis of 26 px from 0 to the largest count, 12 px above the data, or to the right of a
// profile and of its right axis.
func TestAxisOfCounts(t *testing.T) {
	nan := math.NaN()
	k := captionInk()
	k = newInk(tickSize, k.face.Font.Weight, gray(0x44))
	q := Curve{Positions: []float64{-1, 10, 20, 30, 40, 101}, Count: []float64{3, 26, 13, nan, 2.6, 5}}
	c := &linesDrawing{at: span{0, 100}, hues: []int{0}, rightSpan: newSpan(), Lines: Lines{Curves: []Curve{q}}}
	canvas, shapes := recorded(100, 100)
	c.drawCounts(canvas, identityOf, identityOf)
	checkShapes(t, "above the data", shapes(), append([]string{
		"line 0,112 100,112", "line 0,138 100,138", "line 10,138 20,125", "dot 40,114.6",
	}, written(k, "N = 0 to 26", vg.Point{X: 5, Y: 116})...)...)

	c.Coordinate = Levels
	canvas, shapes = recorded(100, 100)
	c.drawCounts(canvas, identityOf, identityOf)
	checkShapes(t, "right of a profile", shapes(), "line 112,0 112,100", "line 138,0 138,100", "line 138,10 125,20", "dot 114.6,40",
		fmt.Sprintf("%q %s", "N = 0 to 26", coordinates(vg.Point{X: 115 + k.capHeight(), Y: 4})))

	c.rightSpan, c.right = span{0, 1}, newRightAxis(span{0, 1}, "", false, 4)
	canvas, shapes = recorded(100, 100)
	c.drawCounts(canvas, identityOf, identityOf)
	from := 112 + c.right.room()
	if got, want := shapes()[0], fmt.Sprintf("line %.5g,0 %.5g,100", from, from); got != want {
		t.Errorf("right of the right axis: %s, want %s", got, want)
	}

	edges := &linesDrawing{at: span{0, 100}, hues: []int{0}, Lines: Lines{Curves: []Curve{{Positions: []float64{0, 100}, Count: []float64{26, 13}}}}}
	canvas, shapes = recorded(100, 100)
	edges.drawCounts(canvas, identityOf, identityOf)
	if got := shapes()[2]; got != "line 0,138 100,125" {
		t.Errorf("at the ends of the axis: %s", got)
	}

	for _, counts := range [][]float64{nil, {5, 5}, {nan, 5}} {
		c.Curves = []Curve{{Positions: []float64{1, 2}, Count: counts}}
		if most := c.maxCount(); most != 0 {
			t.Errorf("%v: equal counts have an axis up to %g", counts, most)
		}
	}
	canvas, shapes = recorded(100, 100)
	c.drawCounts(canvas, identityOf, identityOf)
	checkShapes(t, "equal counts", shapes())
}

// TestIntervals: intervals are a ribbon, a line if a point has no neighbor, and whiskers of points and of curves with
// labels.
func TestIntervals(t *testing.T) {
	nan := math.NaN()
	q := Curve{Positions: []float64{10, 20, 30, 40, 50}, Value: []float64{5, 6, nan, 8, 9}, Lo: []float64{1, 2, 3, 4, nan}, Hi: []float64{11, 12, 13, 14, 15}}
	labeled, points := q, q
	labeled.Labels, points.Style = make([]string, 5), Points
	whiskers := []string{
		"line 10,1 10,11", "line 7,1 13,1", "line 7,11 13,11", "line 20,2 20,12", "line 17,2 23,2", "line 17,12 23,12", "line 40,4 40,14", "line 37,4 43,4", "line 37,14 43,14",
	}
	for _, c := range []struct {
		what string
		q    Curve
		want []string
	}{
		{"ribbon", q, []string{"area 10,1 20,12", "line 40,4 40,14"}},
		{"labels", labeled, whiskers},
		{"points", points, whiskers},
		{"no intervals", Curve{Positions: q.Positions, Value: q.Value}, nil},
	} {
		canvas, shapes := recorded(100, 100)
		c.q.ribbon(canvas, placeOf, gray(0))
		checkShapes(t, c.what, shapes(), c.want...)
	}
}

// TestPlacesOfBars: the bars and boxes of several curves share 84 % of the smallest distance of their coordinates; a bar
// has at most 44 px, and 50 px are between two.
func TestPlacesOfBars(t *testing.T) {
	for _, c := range []struct {
		distance float64
		n        int
		half     vg.Length
		shifts   []vg.Length
	}{
		{10, 1, 8.4 * 0.46, []vg.Length{0}},
		{10, 2, 4.2 * 0.46, []vg.Length{-2.1, 2.1}},
		{100, 2, 42 * 0.46, []vg.Length{-21, 21}},
		{1000, 2, 22, []vg.Length{-25, 25}},
		{300, 3, 22, []vg.Length{-50, 0, 50}},
	} {
		d := &linesDrawing{at: span{0, 2000}}
		var want []string
		for k := range c.n {
			d.Curves = append(d.Curves, Curve{Name: "a", Style: Bars, Positions: []float64{1000, 1000 + c.distance}, Value: []float64{50, math.NaN()}})
			d.hues = append(d.hues, k)
			mid := 1000 + c.shifts[k]
			want = append(want, fmt.Sprintf("area %.5g,0 %.5g,50", mid-c.half, mid+c.half), fmt.Sprintf("%q %s", "a, 1000: 50.00", coordinates(vg.Point{X: mid, Y: 50})))
		}
		d.countSideBySide()
		canvas, shapes := recorded(3000, 100)
		d.drawSideBySide(canvas, func(*Curve) func(at, value float64) vg.Point { return placeOf })
		checkShapes(t, fmt.Sprintf("%d curves %g px apart", c.n, c.distance), shapes(), want...)
	}
	// A box has whiskers, outliers, its quartiles and its median; a value outside the axis is not drawn.
	d := &linesDrawing{at: span{0, 1000}, hues: []int{0}, sideBySide: 1, gap: 1000}
	d.Curves = []Curve{{
		Name: "a", Style: Boxes, Positions: []float64{-1, 500, 1001}, Value: []float64{1, 50, 1}, Lo: []float64{0, 40, 0}, Hi: []float64{2, 60, 2},
		WhiskerLow: []float64{0, 30, 0}, WhiskerHigh: []float64{3, 70, 3}, Outliers: [][]float64{{1}, {90}, {1}},
	}}
	canvas, shapes := recorded(1000, 100)
	d.drawSideBySide(canvas, func(*Curve) func(at, value float64) vg.Point { return placeOf })
	checkShapes(t, "a box", shapes(), "line 500,30 500,70", "line 489,30 511,30", "line 489,70 511,70", "line around 500,90",
		"area 478,40 522,60", "area 478,40 522,60", "line 478,50 522,50", `"a, 500: 50.00 (40.00 to 60.00)" 500,50`)
	d.Curves = []Curve{{Name: "a", Style: Bars, Positions: []float64{0, 1000}, Value: []float64{50, 60}}} // at the ends of the axis
	canvas, shapes = recorded(1000, 100)
	d.drawSideBySide(canvas, func(*Curve) func(at, value float64) vg.Point { return placeOf })
	checkShapes(t, "bars at the ends", shapes(), "area 0,0 22,50", `"a, 0: 50.00" 0,50`, "area 978,0 1000,60", `"a, 1000: 60.00" 1000,60`)
	// A bar has a whisker of at most 3 px on each side; its tooltip is inside the data.
	d.Curves = []Curve{{Name: "a", Style: Bars, Positions: []float64{500}, Value: []float64{150}, Lo: []float64{90}, Hi: []float64{160}}}
	canvas, shapes = recorded(1000, 100)
	d.drawSideBySide(canvas, func(*Curve) func(at, value float64) vg.Point { return placeOf })
	checkShapes(t, "a bar beyond the data", shapes(), "area 478,0 522,100", "line 500,90 500,100", "line 497,90 503,90", `"a, 500: 150.0 (90.00 to 160.0)" 500,100`)
}

// TestTooltips: a tooltip has the name of the curve, the position, the value with four digits, its interval and its records.
func TestTooltips(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		coordinate Coordinate
		q          Curve
		want       string
	}{
		{Leads, Curve{Name: "G\tFS", Positions: []float64{24}, Value: []float64{12345.6}}, "G FS, 24: 12,350"},
		{Numbers, Curve{SameColorAs: "GFS", Positions: []float64{1.5}, Value: []float64{-1}}, "GFS, 1.5: −1.000"},
		{Times, Curve{Name: "a", Positions: []float64{1546300800}, Value: []float64{1}}, "a, 1 Jan 2019 00:00Z: 1.000"},
		{Leads, Curve{Name: "a", Positions: []float64{24}, Value: []float64{2}, Lo: []float64{1}, Hi: []float64{3}, Count: []float64{31}}, "a, 24: 2.000 (1.000 to 3.000), N = 31"},
		{Leads, Curve{Name: "a", Positions: []float64{24}, Value: []float64{2}, Lo: []float64{nan}, Hi: []float64{3}, Count: []float64{nan}}, "a, 24: 2.000"},
	} {
		canvas, shapes := recorded(100, 100)
		(&linesDrawing{Lines: Lines{Coordinate: c.coordinate}}).addTooltip(canvas, vg.Point{X: 5, Y: 6}, &c.q, 0)
		checkShapes(t, c.want, shapes(), fmt.Sprintf("%q 5,6", c.want))
	}
}

// TestLabelsOfPoints: a label is next to its point, where no earlier label is; a point without a value or outside the
// data has none.
func TestLabelsOfPoints(t *testing.T) {
	k := captionInk()
	w := k.width("p") * slack
	c := &linesDrawing{hues: []int{0}, Lines: Lines{Curves: []Curve{{Positions: []float64{50, 50, 120, 60, 70}, Value: []float64{50, 50, 50, math.NaN(), 70}, Labels: []string{"p", "p", "q", "r", ""}}}}}
	canvas, shapes := recorded(100, 100)
	c.labelPoints(canvas, func(*Curve) func(at, value float64) vg.Point { return placeOf }, nil)
	y := 50 - vg.Length(labelSize)/2 + 2
	checkShapes(t, "labels", shapes(), fmt.Sprintf("%q %s", "p", coordinates(vg.Point{X: 57, Y: y})), fmt.Sprintf("%q %s", "p", coordinates(vg.Point{X: 43 - w, Y: y})))
}

// TestBarsOfRows: a bar begins at zero, and its number is after its end, its whisker or its point on a logarithmic axis.
func TestBarsOfRows(t *testing.T) {
	for _, c := range []struct {
		what string
		log  bool
		v    Value
		end  vg.Length
		want []string
	}{
		{"linear", false, Value{V: 40}, 40, []string{"area 0,44 40,56"}},
		{"negative", false, Value{V: -40}, 0, []string{"area -40,44 0,56"}},
		{"interval", false, Value{V: 40, Lo: 30, Hi: 60}, 60, []string{"area 0,44 40,56", "line 30,50 60,50", "line 30,46.5 30,53.5", "line 60,46.5 60,53.5"}},
		{"logarithmic", true, Value{V: 40}, 44, []string{"line 0,50 40,50", "dot 40,50"}},
		{"logarithmic interval", true, Value{V: 40, Lo: 30, Hi: 60}, 60, []string{"line 0,50 40,50", "line 30,50 60,50", "line 30,46.5 30,53.5", "line 60,46.5 60,53.5", "dot 40,50"}},
		{"logarithmic, a short interval", true, Value{V: 40, Lo: 39, Hi: 41}, 44, []string{"line 0,50 40,50", "line 39,50 41,50", "line 39,46.5 39,53.5", "line 41,46.5 41,53.5", "dot 40,50"}},
	} {
		canvas, shapes := recorded(100, 100)
		q := &panelDrawing{Rows: &Rows{Log: c.log}}
		if end := q.bar(canvas, identityOf, 50, c.v, gray(0)); end != c.end {
			t.Errorf("%s: the bar ends at %v", c.what, end)
		}
		checkShapes(t, c.what, shapes(), c.want...)
	}
}

// TestRepetitions: each repetition is a point within 5.5 px of the row, the same for the same seed, and the median is a
// tick. Only the first row with repetitions has the word median.
func TestRepetitions(t *testing.T) {
	draw := func(seed uint64, i int, log bool) []string {
		canvas, shapes := recorded(100, 100)
		q := &panelDrawing{Rows: &Rows{Seed: seed, Log: log}, rowHeight: 20}
		q.Panel.Rows = []Row{{Value: Value{V: 1}}, {Value: Value{V: math.NaN()}, Repetitions: []float64{1}}, {Value: Value{V: 30}, Repetitions: []float64{20, 0, 40}}, {Value: Value{V: 5}, Repetitions: []float64{5}}}
		q.points(canvas, identityOf, i, 50, gray(0))
		return shapes()
	}
	got := draw(1, 2, true)
	if len(got) != 5 || got[0] != "line 0,60 100,60" || got[1] != `"median" 106,103` || got[4] != "line 30,42 30,58" {
		t.Errorf("%q", got)
	}
	for i, x := range map[int]string{2: "dot 20,", 3: "dot 40,"} {
		var y float64
		if _, err := fmt.Sscanf(strings.TrimPrefix(got[i], x), "%g", &y); err != nil || !strings.HasPrefix(got[i], x) || math.Abs(y-50) > 5.5 {
			t.Errorf("%q", got[i])
		}
	}
	if again := draw(1, 2, true); fmt.Sprint(again) != fmt.Sprint(got) {
		t.Errorf("%q, then %q", got, again)
	}
	if other := draw(2, 2, true); fmt.Sprint(other) == fmt.Sprint(got) {
		t.Error("another seed has the same points")
	}
	if linear := draw(1, 2, false); len(linear) != 6 {
		t.Errorf("a linear axis omits 0: %q", linear)
	}
	if last := draw(1, 3, true); len(last) != 3 || strings.Contains(last[1], "median") {
		t.Errorf("%q", last)
	}
}
