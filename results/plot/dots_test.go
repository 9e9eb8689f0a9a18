package plot

import (
	"math"
	"testing"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Each label takes the first free position: right of the dot, left, above and below it, and then the same positions farther
// away from it. Without a free position, a label is omitted, or it is right of the dot if it must be written.
func TestPositionsOfLabels(t *testing.T) {
	const side, radius, h = 1000, 10, vg.Length(labelSize)
	k := newInk(labelSize, xfont.WeightNormal, gray(0x22))
	w := k.width("a") * slack
	type offset struct{ x, y vg.Length } // from the dot to the lower left corner of the label
	const left, gap = -radius - 5, h + 3
	want := []offset{
		{radius + 5, -h / 2},
		{left - w, -h / 2},
		{-w / 2, radius + 3},
		{-w / 2, -radius - 3 - h},
	}
	for n := 1; n <= 3; n++ {
		away := gap * vg.Length(n)
		want = append(want,
			offset{radius + 5, away - h/2}, offset{left - w, away - h/2},
			offset{radius + 5, -away - h/2}, offset{left - w, -away - h/2},
			offset{-w / 2, radius + 3 + away}, offset{-w / 2, -radius - 3 - h - away})
	}
	canvas, at := draw.New(vgsvg.New(side, side)), vg.Point{X: side / 2, Y: side / 2}
	var taken []vg.Rectangle
	near := func(a, b vg.Length) bool { return math.Abs(float64(a-b)) < 1e-9 }
	is := func(r vg.Rectangle, o offset) bool {
		return near(r.Min.X, at.X+o.x) && near(r.Min.Y, at.Y+o.y) && near(r.Max.X, at.X+o.x+w) && near(r.Max.Y, at.Y+o.y+h)
	}
	for i, o := range want {
		got := k.label(canvas, at, radius, "a", taken, false)
		if !is(got, o) {
			t.Errorf("label %d is at %v, want %v from the dot", i, got, o)
		}
		taken = append(taken, got)
	}
	if got := k.label(canvas, at, radius, "a", taken, false); got != (vg.Rectangle{}) {
		t.Errorf("a label that may be omitted is at %v", got)
	}
	if got := k.label(canvas, at, radius, "a", taken, true); !is(got, want[0]) {
		t.Errorf("a label that must be written is at %v", got)
	}
	// A label may touch the edge of the canvas.
	for _, c := range []struct {
		x, y vg.Length
		want offset
	}{{500, side - h/2, want[0]}, {500, h / 2, want[0]}, {500, side - h/2 + 0.1, want[3]}, {500, h/2 - 0.1, want[2]}} {
		at = vg.Point{X: c.x, Y: c.y}
		if got := k.label(canvas, at, radius, "a", nil, false); !is(got, c.want) {
			t.Errorf("next to %v the label is at %v", at, got)
		}
	}
	at.Y = side / 2
	// At the right edge of the canvas only the left side has room.
	at.X = side - 2
	if got := k.label(canvas, at, radius, "a", nil, false); !is(got, want[1]) {
		t.Errorf("at the right edge the label is at %v", got)
	}
}
