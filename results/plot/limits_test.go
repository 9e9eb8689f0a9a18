package plot

import (
	"errors"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/barograph/barograph/internal/fault"
)

// drawn draws a picture, and checks that it is valid.
func drawn(t *testing.T, p drawer) string {
	t.Helper()
	svg, err := p.Draw()
	if err != nil {
		t.Fatal(err)
	}
	checkSVG(t, svg)
	return string(svg)
}

var pathPoint = regexp.MustCompile(`[ML](-?[\d.e+]+),(-?[\d.e+]+)`)

// extent returns the ranges of the coordinates of all paths of a picture, without the background.
func extent(svg string) (x, y span) {
	x, y = newSpan(), newSpan()
	_, svg, _ = strings.Cut(svg, "</desc>")
	_, svg, _ = strings.Cut(svg, "<path")
	_, svg, _ = strings.Cut(svg, "<path")
	for _, m := range pathPoint.FindAllStringSubmatch(svg, -1) {
		a, _ := strconv.ParseFloat(m[1], 64)
		b, _ := strconv.ParseFloat(m[2], 64)
		x.add(a)
		y.add(b)
	}
	return x, y
}

// TestNothingOutsideTheAxes: values outside the limits of the axes do not make a picture draw outside the area of the data.
func TestNothingOutsideTheAxes(t *testing.T) {
	limited := Lines{
		Coordinate: Numbers, CoordinateLimits: [2]float64{0, 1}, ValueLimits: [2]float64{0.1, 1},
		Curves: []Curve{{Name: "a", Positions: []float64{0.2, 0.5, 0.8}, Value: []float64{0.2, 0.5, 0.8}}},
	}
	far := []float64{-9, 0.5, 9}
	low, high, nine := []float64{-9, -9, -9}, []float64{9, 9, 9}, []float64{0.5, 0.5, 0.5}
	for name, q := range map[string]Curve{
		"ribbon":         {Positions: far, Value: nine, Lo: low, Hi: high},
		"single ribbon":  {Positions: []float64{0.5}, Value: []float64{0.5}, Lo: []float64{-9}, Hi: []float64{9}},
		"whiskers":       {Style: Points, Positions: far, Value: nine, Lo: low, Hi: high},
		"labels":         {Labels: []string{"x", "y", "z"}, Positions: far, Value: nine, Lo: low, Hi: high},
		"bars":           {Style: Bars, Positions: far, Value: high, Lo: low, Hi: high},
		"bars below":     {Style: Bars, Positions: far, Value: low},
		"boxes":          {Style: Boxes, Positions: far, Value: nine, Lo: low, Hi: high, WhiskerLow: low, WhiskerHigh: high, Outliers: [][]float64{high, high, high}},
		"boxes outside":  {Style: Boxes, Positions: far, Value: high, Lo: high, Hi: high, WhiskerLow: high, WhiskerHigh: high},
		"bars, no limit": {Style: Bars, Positions: []float64{0.2, 0.5, 0.8}, Value: nine},
	} {
		l := limited
		q.Name = "a"
		l.Curves = []Curve{q}
		x, y := extent(drawn(t, limited))
		l.References = []Reference{{9, "nine"}, {-9, "minus nine"}}
		l.Moments = []Moment{{-9, "early"}, {9, "late"}, {9, ""}}
		svg := drawn(t, l)
		gotX, gotY := extent(svg)
		const sample = 6 // the samples of bars in the legend are higher than those of lines
		if gotX.lo < x.lo-sample || gotX.hi > x.hi+sample || gotY.lo < y.lo-sample || gotY.hi > y.hi+sample {
			t.Errorf("%s: the picture extends over %v × %v instead of %v × %v", name, gotX, gotY, x, y)
		}
		for _, label := range []string{"nine", "early", "late"} {
			if strings.Contains(svg, ">"+label) || strings.Contains(svg, ">minus "+label) {
				t.Errorf("%s: %q is written, but its line is outside the axes", name, label)
			}
		}
	}
}

// circle is a circle of the counts.
const circle = "A1.8,1.8"

// TestCounts: a count between two gaps is a circle. A count outside the axis is not drawn.
func TestCounts(t *testing.T) {
	for _, coordinate := range []Coordinate{Leads, Levels} {
		one := strings.Count(drawn(t, counts(coordinate)), circle) / 2
		without := counts(coordinate)
		without.Curves[0].Count = slices.Clone(without.Curves[0].Count)
		without.Curves[0].Count[5] = math.NaN()
		if none := strings.Count(drawn(t, without), circle); one == 0 || none != one {
			t.Errorf("coordinate %d: %d and %d arcs for two counts and for one", coordinate, 2*one, none)
		}
		limited := counts(coordinate)
		limited.CoordinateLimits = [2]float64{50, 110}
		if got := strings.Count(drawn(t, limited), circle); coordinate == Leads && got != one {
			t.Errorf("%d arcs for one count on the axis", got)
		}
	}
}

// TestBoxesWithoutQuartiles: a box without quartiles is the line of its median, and a missing whisker is not drawn. A list
// of lower values needs the list of upper values.
func TestBoxesWithoutQuartiles(t *testing.T) {
	nan := math.NaN()
	at, v := []float64{1, 2}, []float64{3, 4}
	drawn(t, Lines{Curves: []Curve{{Style: Boxes, Positions: at, Value: v}}})
	drawn(t, Lines{Curves: []Curve{{Style: Boxes, Positions: at, Value: v, Lo: []float64{2, nan}, Hi: []float64{nan, 5}, WhiskerLow: []float64{nan, 1}, WhiskerHigh: []float64{5, nan}}}})
	for name, q := range map[string]Curve{
		"upper bounds":   {Style: Boxes, Lo: v},
		"lower bounds":   {Hi: v},
		"upper whiskers": {Style: Boxes, WhiskerLow: v},
		"lower whiskers": {Style: Boxes, WhiskerHigh: v},
	} {
		q.Positions, q.Value = at, v
		if _, err := (Lines{Curves: []Curve{q}}).Draw(); err == nil || !strings.Contains(err.Error(), "0 "+name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestEqualBounds: a value with equal bounds has no interval.
func TestEqualBounds(t *testing.T) {
	var l Lines
	for at, v := range []Value{{V: 5}, {V: 6, Lo: 6, Hi: 6}, {V: 7, Lo: math.NaN(), Hi: 9}} {
		l.CurveNamed("a", "").Add(float64(at), v)
	}
	for i := range 3 {
		if q := l.Curves[0]; !math.IsNaN(q.Lo[i]) || !math.IsNaN(q.Hi[i]) {
			t.Errorf("value %d has the interval %g to %g", i, q.Lo[i], q.Hi[i])
		}
	}
	if svg := drawn(t, l); strings.Contains(svg, " to ") {
		t.Error("a tooltip shows an interval")
	}
}

// TestLogarithmicAxes: what a logarithmic axis cannot show is omitted. Bars and boxes over such a coordinate are an error.
func TestLogarithmicAxes(t *testing.T) {
	at, v := []float64{0, -1, 1, 2}, []float64{1, 2, 3, 4}
	curve := Curve{Name: "a", Positions: at, Value: v, Count: []float64{1, 2, 3, 4}, Labels: []string{"p", "q", "r", "s"}}
	for _, coordinate := range []Coordinate{Levels, Sizes} {
		svg := drawn(t, Lines{
			Coordinate: coordinate, Curves: []Curve{curve}, References: []Reference{{0, "zero"}, {-1, "minus"}}, Moments: []Moment{{0, "m"}, {-1, "n"}},
			Guides: []Guide{{At: at, Value: []float64{0, -1, 1, 2}}}, CoordinateLimits: [2]float64{-1, 2},
		})
		if strings.Contains(svg, ">p<") || strings.Contains(svg, ">q<") || !strings.Contains(svg, ">s<") {
			t.Errorf("coordinate %d: the labels are not those of the points on the axis", coordinate)
		}
		for _, style := range []Style{Bars, Boxes} {
			var f *fault.Error
			if _, err := (Lines{Coordinate: coordinate, Curves: []Curve{{Name: "a", Style: style, Positions: v, Value: v}}}).Draw(); !errors.As(err, &f) || f.Setting != "a" {
				t.Errorf("coordinate %d, style %d: %v", coordinate, style, err)
			}
		}
	}
	drawn(t, Lines{LogAbove: 2, Curves: []Curve{{Style: Boxes, Positions: v, Value: []float64{1, 10, 100, 1000}, Lo: v, Hi: v}}})
}

// TestDataIsDrawn: values on the right axis only, and sums of 0, are data.
func TestDataIsDrawn(t *testing.T) {
	for name, p := range map[string]drawer{
		"right axis":      Lines{Curves: []Curve{{Right: true, Positions: []float64{1, 2}, Value: []float64{3, 4}}}, References: []Reference{{1, "one"}}},
		"right axis, log": Lines{Coordinate: Sizes, Curves: []Curve{{Right: true, Positions: []float64{1, 2}, Value: []float64{3, 4}}}},
		"layers of 0":     Layers{Step: 1, Layers: []Layer{{Name: "a", Value: []float64{0, 0}}, {Name: "b", Value: []float64{0, 0}}}},
	} {
		if strings.Contains(drawn(t, p), "no data") {
			t.Errorf("%s: the picture has no data", name)
		}
	}
	if !strings.Contains(drawn(t, Layers{Step: 1, Layers: []Layer{{Name: "a", Value: []float64{math.NaN()}}}}), "no data") {
		t.Error("a layer without a number is drawn")
	}
}

// TestGapsOfAreas: an interval without a value is a gap, which divides an area into two.
func TestGapsOfAreas(t *testing.T) {
	nan := math.NaN()
	bars := []Bar{{Value: Value{V: 1}}, {Value: Value{V: nan}}, {Value: Value{V: math.Inf(1)}}, {Value: Value{V: 2}}}
	if n := strings.Count(drawn(t, Columns{Step: 1, Groups: []Group{{Bars: bars}, {}}}), "stroke-width:1.3"); n != 2 {
		t.Errorf("%d areas of a timeline", n)
	}
	layers := Layers{Step: 1, Layers: []Layer{{Name: "a", Value: []float64{1, 2, nan, 3}}, {Name: "b", Value: []float64{1, 2, 3, 3}}}}
	const samples = 2 // in the legend
	if n := strings.Count(drawn(t, layers), "fill-opacity:0.74902") - samples; n != 4 {
		t.Errorf("%d areas of two layers", n)
	}
}

// TestLegendOfEqualValues: a number is in the legend once.
func TestLegendOfEqualValues(t *testing.T) {
	if n := strings.Count(drawn(t, narrowCells()), ">12.2<"); n != 1 {
		t.Errorf("12.2 is in the legend %d times", n)
	}
}

// TestRowsSideBySide: the names of the first panel are those of the values in all panels.
func TestRowsSideBySide(t *testing.T) {
	p := func(a, b float64) Panel {
		return Panel{Rows: []Row{{Label: "first", Value: Value{V: a}}, {Label: "second", Value: Value{V: b}}}}
	}
	all, _, _ := texts(t, []byte(drawn(t, Rows{SideBySide: true, Sorted: true, Panels: []Panel{p(2, 1), p(33, 44)}})))
	heights := map[string]float64{}
	for _, x := range all {
		heights[x.text] = x.y1
	}
	for value, name := range map[string]string{"2.00": "first", "33.0": "first", "1.00": "second", "44.0": "second"} {
		if d := heights[value] - heights[name]; math.Abs(d) > 2 {
			t.Errorf("%s is %g px below %s", value, d, name)
		}
	}
	if heights["second"] >= heights["first"] {
		t.Error("the rows are not sorted")
	}
}

// TestBarsAndPoints: if a panel has bars, its axis starts at zero. "median" is written once if any row has repetitions.
func TestBarsAndPoints(t *testing.T) {
	bar, points := Row{Label: "a", Value: Value{V: 100}}, Row{Label: "b", Value: Value{V: 110}, Repetitions: []float64{100, 110, 120}}
	for _, rows := range [][]Row{{bar, points}, {points, bar}, {points}} {
		svg := drawn(t, Rows{Panels: []Panel{{Rows: rows}}})
		if n := strings.Count(svg, ">median<"); n != 1 {
			t.Errorf("median is written %d times", n)
		}
		if hasZero := strings.Contains(svg, ">0<"); hasZero != (len(rows) == 2) {
			t.Errorf("%d rows: the axis has zero: %v", len(rows), hasZero)
		}
	}
}
