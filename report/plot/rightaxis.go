package plot

import (
	"image/color"
	"math"

	xfont "golang.org/x/image/font"
	gplot "gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// rightAxis is a second scale at the right of a panel, for a quantity of its
// own: a latency beside a throughput. What it measures is drawn in one dark
// ink, whatever its colour's meaning at the left.
type rightAxis struct {
	axis  gplot.Axis
	label string
}

// newRightAxis makes a scale over values: logarithmic, or from zero.
func newRightAxis(s span, label string, log bool, ticks int) *rightAxis {
	r := &rightAxis{label: clean(label)}
	r.axis.Scale = gplot.LinearScale{}
	if s.empty() {
		s, log = span{0, 1}, false
	}
	scale(&r.axis, s, log, ticks)
	return r
}

func rightInk() color.NRGBA { return grey(0x26) }

// room is the width that labels and ticks take.
func (r *rightAxis) room() vg.Length {
	k := newInk(tickSize, xfont.WeightNormal, rightInk())
	widest := vg.Length(0)
	for _, t := range r.axis.Tick.Marker.Ticks(r.axis.Min, r.axis.Max) {
		widest = max(widest, k.width(t.Label))
	}
	return widest*1.06 + 12 + axisLabel
}

// y is the place of a value beside the data's canvas.
func (r *rightAxis) y(c draw.Canvas, v float64) vg.Length {
	return c.Min.Y + vg.Length(r.axis.Norm(v))*(c.Max.Y-c.Min.Y)
}

// draw draws the axis at the right of the data's canvas.
func (r *rightAxis) draw(c draw.Canvas) {
	k := newInk(tickSize, xfont.WeightNormal, grey(0x44))
	style := draw.LineStyle{Color: grey(0x88), Width: 0.8}
	c.StrokeLine2(style, c.Max.X, c.Min.Y, c.Max.X, c.Max.Y)
	for _, t := range r.axis.Tick.Marker.Ticks(r.axis.Min, r.axis.Max) {
		at, length := r.y(c, t.Value), vg.Length(5)
		if t.Label == "" {
			length = 2.5
		}
		c.StrokeLine2(style, c.Max.X, at, c.Max.X+length, at)
		k.write(c, vg.Point{X: c.Max.X + 8, Y: at - k.capHeight()/2}, atLeft, t.Label)
	}
	label := newInk(labelSize, xfont.WeightNormal, grey(0x22))
	text := label.fit(r.label, c.Max.Y-c.Min.Y)
	writeUp(c, label, vg.Point{X: c.Max.X + r.room() - 8, Y: (c.Min.Y + c.Max.Y) / 2}, atCentre, text)
}

// line draws values as a dark line with hollow points; those that are not on
// the scale break it.
func (r *rightAxis) line(c draw.Canvas, xs []vg.Length, values []float64, log, marks bool) {
	for _, run := range runs(len(values), func(i int) bool { return onScale(values[i], log) }) {
		var pts []vg.Point
		for i := run[0]; i < run[1]; i++ {
			pts = append(pts, vg.Point{X: xs[i], Y: r.y(c, values[i])})
		}
		c.StrokeLines(draw.LineStyle{Color: fade(grey(0xFF), 0.85), Width: 4.5}, pts) // a halo, over bars of any colour
		c.StrokeLines(draw.LineStyle{Color: rightInk(), Width: 1.7}, pts)
		if !marks && len(pts) > 1 {
			continue
		}
		for _, p := range pts {
			c.DrawGlyph(draw.GlyphStyle{Color: rightInk(), Radius: 4.1, Shape: draw.CircleGlyph{}}, p)
			c.DrawGlyph(draw.GlyphStyle{Color: color.White, Radius: 2.3, Shape: draw.CircleGlyph{}}, p)
		}
	}
}

// spread reports whether positive values differ by more than so many times.
func (s span) spread(times float64) bool {
	return !s.empty() && s.lo > 0 && s.hi/s.lo > times && !math.IsInf(s.hi/s.lo, 0)
}
