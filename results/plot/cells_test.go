package plot

import (
	"fmt"
	"math"
	"strings"
	"testing"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// TestCellsOfAPicture: a cell has its mark, or its number on the color of the cell, where no isoline crosses it.
func TestCellsOfAPicture(t *testing.T) {
	k := valueInk()
	half, y := k.width("1.50")/2+2, 50-k.capHeight()/2
	number := fmt.Sprintf("%q %s", "1.50", coordinates(vg.Point{X: 40, Y: y}))
	ground := fmt.Sprintf("area %.5g,%.5g %.5g,%.5g", 40-half, y-2, 40+half, 50+k.capHeight()/2+2)
	w := math.Sqrt2 * 0.9
	for _, c := range []struct {
		what  string
		cells Cells
		width vg.Length
		value float64
		marks []Mark
		want  []string
	}{
		{"a number", Cells{}, 40, 1.5, nil, []string{number}},
		{"no number", Cells{}, 40, math.NaN(), nil, nil},
		{"no room for numbers", Cells{numbersHidden: true}, 40, 1.5, nil, nil},
		{"a number over isolines", Cells{Lines: true}, 40, 1.5, nil, []string{ground, number}},
		{"no difference", Cells{}, 40, 1.5, []Mark{TooFew, Same}, []string{"dot 40,50"}},
		{"worse", Cells{numbersHidden: true}, 40, 1.5, []Mark{TooFew, WorseAt99}, []string{fmt.Sprintf("area %.5g,44 %.5g,53", 40-6*w, 40+6*w)}},
		{"worse, in a narrow cell", Cells{}, 10, 1.5, []Mark{TooFew, WorseAt99}, []string{fmt.Sprintf("area %.5g,46 %.5g,52", 40-4*w, 40+4*w)}},
		{"no value", Cells{}, 40, math.NaN(), []Mark{TooFew, WorseAt99}, nil},
	} {
		canvas, shapes := recorded(100, 100)
		c.cells.cell(canvas, gray(0), vg.Point{X: 40, Y: 50}, c.width, c.value, c.marks, 1)
		checkShapes(t, c.what, shapes(), c.want...)
	}
	var names []string
	for _, m := range []Mark{TooFew, Same, BetterAt95, WorseAt95, BetterAt99, WorseAt99} {
		shape, clr := m.glyph()
		names = append(names, fmt.Sprintf("%T%v %02x%02x%02x", shape, shape, clr.R, clr.G, clr.B))
	}
	if got := strings.Join(names, ", "); got != "draw.CrossGlyph{} a0a0a0, draw.CircleGlyph{} c8c8c8, draw.TriangleGlyph{} 0072b2, plot.downTriangle{false} d55e00, draw.PyramidGlyph{} 0072b2, plot.downTriangle{true} d55e00" {
		t.Error(got)
	}
	for value, want := range map[uint8]bool{0: false, 139: false, 141: true, 255: true} {
		if light(gray(value)) != want {
			t.Errorf("the gray %d is light: %v", value, !want)
		}
	}
	m := &Cells{}
	for _, c := range []struct {
		row  CellRow
		v    float64
		want string
	}{{CellRow{}, math.NaN(), "f5f5f5"}, {CellRow{Marks: []Mark{Same}}, 1, "f5f5f5"}, {CellRow{}, 2, "fee838"}} {
		if got := m.background(span{1, 2}, c.row, c.v); fmt.Sprintf("%02x%02x%02x", got.R, got.G, got.B) != c.want {
			t.Errorf("%+v, %g: %v", c.row, c.v, got)
		}
	}
}

// TestNamesOfColumns: as many column names are written as have room, 8 px apart.
func TestNamesOfColumns(t *testing.T) {
	k := newInk(tickSize, xfont.WeightNormal, gray(0x44))
	room := k.widest([]string{"abc"}) + 8
	for _, c := range []struct {
		width vg.Length
		want  []int
	}{{room, []int{0, 1, 2, 3, 4}}, {room - 0.1, []int{0, 2, 4}}, {room / 2, []int{0, 2, 4}}, {room/2 - 0.1, []int{0, 3}}, {room / 5, []int{0}}, {1000, []int{0, 1, 2, 3, 4}}} {
		canvas, shapes := recorded(5*c.width+50, 100)
		in := draw.Crop(canvas, 50, 0, 42, 0)
		m := &Cells{Columns: []string{"abc", "a", "b", "abc", "c"}}
		m.columns(canvas, in, c.width)
		var want []string
		for _, j := range c.want {
			want = append(want, fmt.Sprintf("%q %s", m.Columns[j], coordinates(vg.Point{X: 50 + c.width*(vg.Length(j)+0.5), Y: 28})))
		}
		checkShapes(t, fmt.Sprintf("%v px of %v", c.width, room), shapes(), want...)
	}
	canvas, shapes := recorded(450, 100)
	(&Cells{Frame: Frame{XLabel: "lead\t(h)"}}).columns(canvas, draw.Crop(canvas, 50, 0, 42, 0), 80)
	checkShapes(t, "the label of the axis", shapes(), `"lead (h)" 250,4`)
}

// TestLabelsOfAxes: the label of an axis is in the middle of the data, but inside the panel.
func TestLabelsOfAxes(t *testing.T) {
	k := newInk(labelSize, xfont.WeightNormal, gray(0x22))
	long := ""
	for k.width(long+"i") <= 100 {
		long += "i"
	}
	for _, label := range []string{"y", long, long + "iii"} {
		canvas, shapes := recorded(350, 150)
		canvas.Min = vg.Point{X: 50, Y: 50}
		p := axesTo(1, 1)
		drawAxes(canvas, p, "x", label)
		in := canvas
		in.Min.X, in.Min.Y = 50+axisLabel, 50+axisLabel
		data := p.DataCanvas(in)
		if data.Min.X < 50+2*axisLabel || data.Min.Y < 50+axisLabel+5 {
			t.Fatalf("the data are in %v", data.Rectangle)
		}
		label = k.fit(label, 100)
		mid := (data.Min.Y + data.Max.Y) / 2
		if label != "y" {
			mid = 150 - k.width(label)/2
		}
		all := shapes()
		checkShapes(t, label, all[len(all)-2:], fmt.Sprintf("%q %s", "x", coordinates(vg.Point{X: (data.Min.X + data.Max.X) / 2, Y: 54})),
			fmt.Sprintf("%q %s", label, coordinates(vg.Point{X: 58 + k.capHeight()/2, Y: mid})))
	}
	canvas, shapes := recorded(300, 100)
	p := axesTo(1, 1)
	drawAxes(canvas, p, "", "")
	if data := p.DataCanvas(canvas); data.Min.Y > 30 || data.Min.X > 30 || strings.Contains(strings.Join(shapes(), ";"), `"x"`) {
		t.Errorf("without labels the data are in %v", data.Rectangle)
	}
}

// TestRadiiOfDots: the area of a dot is proportional to its size, its radius is 4 to 26 px. The largest is drawn first.
func TestRadiiOfDots(t *testing.T) {
	for _, c := range []struct {
		sizes []float64
		want  string // radii in the order of drawing
	}{
		{[]float64{25, 100, 1}, "26 13 4"},
		{[]float64{0, 0}, "4 4"},
		{[]float64{-1, 4}, "26 4"},
		{[]float64{math.NaN(), 4}, "26 4"},
		{[]float64{math.Inf(1), 4}, "4 4"},
	} {
		var d Dots
		for i, size := range c.sizes {
			d.Dots = append(d.Dots, Dot{X: float64(i + 1), Y: 1, Size: size, Group: "a"})
		}
		svg := drawn(t, d)
		var radii []string
		for part := range strings.SplitSeq(svg, "<path") {
			if _, arc, ok := strings.Cut(part, "A"); ok && strings.Contains(part, "fill-opacity:0.45098") {
				radius, _, _ := strings.Cut(arc, ",")
				radii = append(radii, radius)
			}
		}
		if got := strings.Join(radii, " "); got != c.want {
			t.Errorf("%v: radii %s, want %s", c.sizes, got, c.want)
		}
	}
}
