package plot

import (
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
)

var pictureSize = regexp.MustCompile(`width="([\d.]+)" height="([\d.]+)"`)

// TestSizesOfPictures: the width and the height of each kind of picture without a size, and its least height. Without
// texts a frame has 40 px of height, and 24 px more for a row of its legend.
func TestSizesOfPictures(t *testing.T) {
	const around, legend, counts = 40, 24, 42
	curve := []Curve{{Name: "a", Positions: []float64{1, 2}, Value: []float64{1, 2}}}
	counted := []Curve{{Name: "a", Positions: []float64{1, 2}, Value: []float64{1, 2}, Count: []float64{1, 2}}}
	group := []Group{{Name: "a", Bars: []Bar{{Value: Value{V: 1}}}}}
	rows := []Row{{Label: "a", Group: "a", Value: Value{V: 1}}, {Label: "b", Group: "a", Value: Value{V: 1}}}
	points := []Row{{Label: "a", Value: Value{V: 1}, Repetitions: []float64{1}}}
	for _, c := range []struct {
		what          string
		draw          func(f Frame) drawer
		width         int
		height, least float64
	}{
		{"lines", func(f Frame) drawer { return Lines{Frame: f, Curves: curve} }, 900, around + legend + 400, around + legend + 170},
		{"lines with counts", func(f Frame) drawer { return Lines{Frame: f, Curves: counted} }, 900, around + legend + 400 + counts, around + legend + 170 + counts},
		{"a profile", func(f Frame) drawer { return Lines{Frame: f, Curves: curve, Coordinate: Levels} }, 720, around + legend + 540, around + legend + 170},
		{"a profile with counts", func(f Frame) drawer { return Lines{Frame: f, Curves: counted, Coordinate: Levels} }, 720, around + legend + 540, around + legend + 170},
		{"a square", func(f Frame) drawer { return Lines{Frame: f, Curves: curve, Square: true} }, 900, around + legend + 860, around + legend + 170},
		{"no data", func(f Frame) drawer { return Lines{Frame: f} }, 900, around + 140, around + 60},
		{"columns", func(f Frame) drawer { return Columns{Frame: f, Groups: group} }, 900, around + legend + 430, around + legend + 220},
		{"a timeline", func(f Frame) drawer { return Columns{Frame: f, Groups: group, Step: 1} }, 900, around + legend + 220, around + legend + 130},
		{"layers", func(f Frame) drawer {
			return Layers{Frame: f, Layers: []Layer{{Name: "a", Value: []float64{1}}}, Step: 1}
		}, 900, around + legend + 180, around + legend + 110},
		{"dots", func(f Frame) drawer { return Dots{Frame: f, Dots: []Dot{{X: 1, Y: 1}}} }, 900, around + 430, around + 260},
		{"cells", func(f Frame) drawer {
			return Cells{Frame: f, Columns: []string{"a"}, Rows: []CellRow{{Values: []float64{1}}, {Values: []float64{1}}}}
		}, 900, around + legend + 2*22 + 2*21 + 4, around + legend + 2*22 + 2*21 + 4},
		{"coverage", func(f Frame) drawer {
			return Coverage{Frame: f, Panels: []CoveragePanel{{Rows: []CoverageRow{{Runs: []Period{{0, 9}}}, {}}}, {}}}
		}, 900, around + 22 + 21 + 2*(24+8) + 2*17, around + 22 + 21 + 2*(24+8) + 2*17},
		{"rows", func(f Frame) drawer { return Rows{Frame: f, Panels: []Panel{{Rows: rows}, {Title: "b", Rows: rows}}} }, 900, around + 2*(2*18+22+12) + 24, around + 2*(2*18+22+12) + 24},
		{"rows with a label", func(f Frame) drawer {
			f.XLabel = "ms"
			return Rows{Frame: f, Panels: []Panel{{Rows: rows}, {Rows: rows}}}
		}, 900, around + 2*(2*18+22+12) + 21, around + 2*(2*18+22+12) + 21},
		{"points", func(f Frame) drawer { return Rows{Frame: f, Panels: []Panel{{Rows: points}}} }, 900, around + 21 + 22 + 12, around + 21 + 22 + 12},
		{"panels side by side", func(f Frame) drawer {
			return Rows{Frame: f, SideBySide: true, Panels: []Panel{{Rows: rows}, {Rows: rows, XLabel: "ms", Title: "b"}}}
		}, 900, around + 2*21 + 22 + 21 + 24 + 6, around + 2*21 + 22 + 21 + 24 + 6},
	} {
		for _, f := range []Frame{{}, {Height: 1}, {Width: 640, Height: 2000}} {
			want := fmt.Sprintf("%d × %g", c.width, c.height)
			if f.Height == 1 {
				want = fmt.Sprintf("%d × %g", c.width, c.least)
			} else if f.Height > 1 {
				want = "640 × 2000"
			}
			m := pictureSize.FindStringSubmatch(drawn(t, c.draw(f)))
			if got := m[1] + " × " + m[2]; got != want {
				t.Errorf("%s: %s, want %s", c.what, got, want)
			}
		}
	}
}

// TestLimitsOfSizes: a picture has 300 to 10,000 px of width, and at most 100,000 px of height.
func TestLimitsOfSizes(t *testing.T) {
	for _, c := range []struct {
		f  Frame
		ok bool
	}{
		{Frame{Width: 299}, false},
		{Frame{Width: 300}, true},
		{Frame{Width: 10000}, true},
		{Frame{Width: 10001}, false},
		{Frame{Height: -1}, false},
		{Frame{Height: 0}, true},
		{Frame{Height: 100000}, true},
		{Frame{Height: 100001}, false},
	} {
		s, err := c.f.layout(900, nil)
		if (err == nil) != c.ok || c.ok && c.f.Width > 0 && s.width != vg.Length(c.f.Width) {
			t.Errorf("%+v: %v", c.f, err)
		}
		if !c.ok && !strings.Contains(err.Error(), fmt.Sprintf("%d px", c.f.Height)) {
			t.Errorf("%+v: %v", c.f, err)
		}
	}
}

// TestRowsOfTheLegend: a row of the legend has as many names as fit. A name that is wider than a row is shortened.
func TestRowsOfTheLegend(t *testing.T) {
	k := legendInk()
	wide := k.width("name")*slack + legendGap
	if a, b := (entry{name: "name"}).width(k), (entry{name: "name", line: 2}).width(k); a != wide+17 || b != wide+25 {
		t.Errorf("entries have %v and %v px, want %v and %v", a, b, wide+17, wide+25)
	}
	one := entry{name: "name"}
	for _, c := range []struct {
		names int
		room  vg.Length
		want  string
	}{
		{0, 100, "[]"},
		{1, 100, "[1]"},
		{3, 2*one.width(k) + 0.1, "[2 1]"},
		{4, 2*one.width(k) + 0.1, "[2 2]"},
		{3, 2*one.width(k) - 0.1, "[1 1 1]"},
		{5, 3*one.width(k) + 0.1, "[3 2]"},
	} {
		s := &sheet{}
		var legend []entry
		for range c.names {
			legend = append(legend, one)
		}
		s.wrapLegend(legend, c.room)
		var rows []int
		for _, row := range s.legend {
			rows = append(rows, len(row))
		}
		if got := fmt.Sprint(rows); got != c.want {
			t.Errorf("%d names in %v px: %s, want %s", c.names, c.room, got, c.want)
		}
	}
	s := &sheet{}
	s.wrapLegend([]entry{{name: strings.Repeat("long\tname ", 50)}}, 200)
	if got := s.legend[0][0]; !strings.HasPrefix(got.name, "long name l") || !strings.HasSuffix(got.name, "…") || got.width(k) > 200 || got.width(k) < 185 {
		t.Errorf("%q has %v of 200 px", got.name, got.width(k))
	}
}

// TestRoomForLabels: the width from which an axis has labels at smaller steps, a label for 55 or 58 px.
func TestRoomForLabels(t *testing.T) {
	hours := []float64{0, 9 * 3600}
	ten := Layers{Step: 1, Layers: []Layer{{Value: []float64{100, 100, 100, 100, 100, 100, 100, 100, 100, 100}}}}
	line := Columns{Step: 1, Groups: []Group{{}}}
	for range 10 {
		line.Groups[0].Bars = append(line.Groups[0].Bars, Bar{Value: Value{V: 100}, Line: 100})
	}
	axis := newRightAxis(span{100, 100}, "", false, 2)
	room := axis.room()
	for _, c := range []struct {
		what  string
		width int
		label string
		draw  func(f Frame) drawer
	}{
		{"dots", 40 + 60 + 10*55, "2", func(f Frame) drawer { return Dots{Frame: f, Dots: []Dot{{X: 0.7, Y: 70}, {X: 300, Y: 70}}} }},
		{"layers", 40 + 60 + 5*55, "2", func(f Frame) drawer { ten.Frame = f; return ten }},
		{"a timeline", 40 + 60 + 5*55 + int(math.Ceil(float64(room))), "2", func(f Frame) drawer { line.Frame = f; return line }},
		{"times", 40 + 60 + 10*58, "01Z", func(f Frame) drawer {
			return Lines{Frame: f, Coordinate: Times, Curves: []Curve{{Positions: hours, Value: []float64{1, 2}}}}
		}},
		{"coverage", 40 + 12 + 10 + 10*58, "01Z", func(f Frame) drawer {
			return Coverage{Frame: f, Panels: []CoveragePanel{{Rows: []CoverageRow{{Runs: []Period{{hours[0], hours[1]}}}}}}}
		}},
		{"values of a profile", 40 + 5*75, "2", func(f Frame) drawer {
			return Lines{Frame: f, Coordinate: Levels, ValueLimits: [2]float64{0, 10}, Curves: []Curve{{Positions: []float64{300, 400}, Value: []float64{1, 9}}}}
		}},
	} {
		for d, want := range map[int]bool{0: true, -1: false} {
			svg := drawn(t, c.draw(Frame{Width: c.width + d, Height: 200}))
			if strings.Contains(svg, ">"+c.label+"<") != want && strings.Contains(svg, ">"+c.label+"\n") != want {
				t.Errorf("%s of %d px: the axis has the label %s: %v", c.what, c.width+d, c.label, !want)
			}
		}
	}
}

// TestLogarithmicColumns: an axis is logarithmic if its values differ by more than a factor of 20. Over time the left
// axis never is, and the right one is above a factor of 4. A linear axis has zero.
func TestLogarithmicColumns(t *testing.T) {
	for _, c := range []struct {
		step        float64
		left, right float64 // the larger of two values; the smaller is 1
		zeros       int     // of both axes and, over time, of the time
	}{
		{0, 20, 20, 2},
		{0, 21, 20, 1},
		{0, 20, 21, 1},
		{0, 21, 21, 0},
		{1, 21, 4, 3},
		{1, 21, 4.1, 2},
		{1, 1, 21, 2},
	} {
		svg := drawn(t, Columns{Step: c.step, Groups: []Group{{Bars: []Bar{{Value: Value{V: 1}, Line: 1}, {Value: Value{V: c.left}, Line: c.right}}}}})
		if n := strings.Count(svg, ">0<"); n != c.zeros {
			t.Errorf("%+v: %d zeros", c, n)
		}
	}
	// A power of ten on the axis of values shows that it is logarithmic.
	for _, c := range []struct {
		logAbove, most float64
		want           bool
	}{{0, 1e6, false}, {100, 100, false}, {100, 101, true}} {
		svg := drawn(t, Lines{Frame: Frame{YLabel: "time (ms)"}, LogAbove: c.logAbove, Curves: []Curve{{Positions: []float64{1, 2}, Value: []float64{1, c.most}}}})
		if strings.Contains(svg, ">time (ms, log)<") != c.want {
			t.Errorf("%+v: logarithmic %v", c, !c.want)
		}
	}
}

// TestZeroOfPoints: an axis of repetitions has zero unless the smallest value is more than half of the largest.
func TestZeroOfPoints(t *testing.T) {
	for _, c := range []struct {
		log  bool
		reps []float64
		want bool
	}{{false, []float64{50, 100}, true}, {false, []float64{51, 100}, false}, {true, []float64{51, 100}, false}, {false, []float64{-100, -51}, true}} {
		svg := drawn(t, Rows{Log: c.log, Panels: []Panel{{Rows: []Row{{Value: Value{V: c.reps[0]}, Repetitions: c.reps}}}}})
		if strings.Contains(svg, ">0<") != c.want {
			t.Errorf("%v: zero %v", c.reps, !c.want)
		}
	}
	// Limits of values are those of the axis; bars begin at zero without limits.
	bars := []Curve{{Style: Bars, Positions: []float64{1, 2}, Value: []float64{100, 200}}}
	for _, c := range []struct {
		limits [2]float64
		want   bool
	}{{[2]float64{}, true}, {[2]float64{100, 200}, false}, {[2]float64{200, 100}, true}, {[2]float64{-50, 50}, true}} {
		svg := drawn(t, Lines{Coordinate: Numbers, CoordinateLimits: [2]float64{1, 2}, ValueLimits: c.limits, Curves: bars})
		if strings.Contains(svg, ">0<") != c.want {
			t.Errorf("limits %v: zero %v", c.limits, !c.want)
		}
	}
}
