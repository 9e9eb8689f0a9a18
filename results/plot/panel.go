package plot

import (
	"image/color"
	"math"

	xfont "golang.org/x/image/font"
	gplot "gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// newAxes returns axes in our style, without data: no box, outward ticks, gray instead of gonum's
// black.
func newAxes() *gplot.Plot {
	p := gplot.New()
	p.BackgroundColor = nil
	for _, a := range []*gplot.Axis{&p.X, &p.Y} {
		a.Padding = 0
		a.LineStyle = draw.LineStyle{Color: gray(0x88), Width: 0.8}
		a.Tick.LineStyle = a.LineStyle
		a.Tick.Length = 5
	}
	tick := newInk(tickSize, xfont.WeightNormal, gray(0x44))
	p.X.Tick.Label = tick.style(draw.XCenter, draw.YTop)
	p.Y.Tick.Label = tick.style(draw.XRight, draw.YCenter)
	return p
}

// heightTicks is the number of labels that fit along a vertical axis, 38 px each.
func heightTicks(c draw.Canvas) int { return max(2, int((c.Max.Y-c.Min.Y-45)/38)) }

// axisLabel is the width of the label of an axis.
const axisLabel = 21

// drawAxes draws the panel into c with labels at its axes. It does not use gonum's own labels,
// because gonum reserves room at the wrong places on a logarithmic axis.
func drawAxes(c draw.Canvas, p *gplot.Plot, xlabel, ylabel string) {
	k := newInk(labelSize, xfont.WeightNormal, gray(0x22))
	in := c
	if xlabel != "" {
		in.Min.Y += axisLabel
	}
	if ylabel != "" {
		in.Min.X += axisLabel
	}
	p.Draw(in)
	data := p.DataCanvas(in)
	k.write(c, vg.Point{X: (data.Min.X + data.Max.X) / 2, Y: c.Min.Y + 4}, atCenter, k.fit(xlabel, c.Max.X-c.Min.X))
	if ylabel != "" {
		label := k.fit(ylabel, c.Max.Y-c.Min.Y)
		half := k.width(label) / 2
		mid := min(max((data.Min.Y+data.Max.Y)/2, c.Min.Y+half), c.Max.Y-half)
		writeUp(c, k, vg.Point{X: c.Min.X + 8, Y: mid}, atCenter, label)
	}
}

// grid draws thin lines at the labeled ticks of the requested axes.
func grid(x, y bool) *plotter.Grid {
	style := draw.LineStyle{Color: gray(0xE2), Width: 0.7}
	g := &plotter.Grid{}
	if x {
		g.Vertical = style
	}
	if y {
		g.Horizontal = style
	}
	return g
}

// span is the range of finite values.
type span struct{ lo, hi float64 }

func newSpan() span { return span{math.Inf(1), math.Inf(-1)} }

func (s *span) add(vs ...float64) {
	for _, v := range vs {
		if isDrawable(v) {
			s.lo, s.hi = min(s.lo, v), max(s.hi, v)
		}
	}
}

func (s span) empty() bool { return s.lo > s.hi }

// padded widens the range by a fraction of itself on both sides. It also widens a single value.
// Values that differ only by rounding count as one.
func (s span) padded(part float64) span {
	d := (s.hi - s.lo) * part
	if d <= 1e-9*max(math.Abs(s.lo), math.Abs(s.hi)) {
		d = max(math.Abs(s.hi)*0.1, 1e-6)
	}
	return span{s.lo - d, s.hi + d}
}

// logRound widens a positive range to the next 1, 2 or 5 times a power of ten.
func (s span) logRound() span {
	hi := niceStep(s.hi * 1.02)
	p := math.Pow(10, math.Floor(math.Log10(s.lo)+1e-9))
	lo := p
	for _, m := range []float64{2, 5} {
		if m*p <= s.lo/1.02 {
			lo = m * p
		}
	}
	if lo >= s.lo/1.02 {
		lo = p / 2
	}
	return span{lo, hi}
}

// onScale reports whether a value can be drawn on the axis.
func onScale(v float64, log bool) bool { return isDrawable(v) && (!log || v >= 1/maxDrawable) }

// maxDrawable is the limit of numbers on axes. No statistic, time or size exceeds it; a larger number
// comes from a broken file and is treated as missing.
const maxDrawable = 1e30

func isDrawable(v float64) bool { return math.Abs(v) <= maxDrawable }

// Value is a number with its interval.
type Value struct {
	V      float64 // NaN = none
	Lo, Hi float64 // confidence interval; if both are equal (as in the zero value) or not finite, there is none
	// Note is printed in place of a missing value: "wrong answer".
	Note string
}

func (v Value) hasInterval() bool { return isDrawable(v.Lo) && isDrawable(v.Hi) && v.Lo < v.Hi }

func (v Value) extend(s *span, log bool) {
	if !onScale(v.V, log) {
		return
	}
	s.add(v.V)
	if v.hasInterval() {
		s.add(v.Hi)
		if onScale(v.Lo, log) {
			s.add(v.Lo)
		}
	}
}

// note is the text that is printed if the value cannot be drawn.
func (v Value) note(log bool) string {
	switch {
	case v.Note != "":
		return clean(v.Note)
	case log && isDrawable(v.V):
		return number(v.V) + ": not on a log axis"
	}
	return "–"
}

// scale sets a numeric axis: from zero for bars, or logarithmic. Without values it is from 0 to 1.
func scale(a *gplot.Axis, s span, log bool, ticks int) {
	if s.empty() {
		s, log = span{0, 1}, false
	}
	if log {
		s = s.logRound()
		a.Scale, a.Tick.Marker = logScale{}, logTicks{ticks}
	} else {
		s.lo, s.hi = min(0, s.lo), max(0, s.hi)
		if s.lo == s.hi {
			s.hi = 1
		}
		if s.lo < 0 {
			s.lo -= 0.02 * (s.hi - s.lo)
		}
		s.hi += 0.02 * (s.hi - s.lo)
		a.Tick.Marker = linearTicks{ticks}
	}
	a.Min, a.Max = s.lo, s.hi
}

// logScale is gonum's logarithmic scale, which panics for values that are not positive. Here they are outside the axis.
type logScale struct{}

// Normalize implements gonum's interface.
func (logScale) Normalize(lo, hi, v float64) float64 {
	if v <= 0 {
		return -1
	}
	return gplot.LogScale{}.Normalize(lo, hi, v)
}

// whisker draws the part of an interval inside the canvas, across or along a bar.
func whisker(c draw.Canvas, clr color.Color, a, b vg.Point, end vg.Length) {
	st := draw.LineStyle{Color: clr, Width: 1.1}
	c.StrokeLines(st, c.ClipLinesXY([]vg.Point{a, b})...)
	dx, dy := end, vg.Length(0)
	if a.Y == b.Y {
		dx, dy = 0, end
	}
	for _, p := range []vg.Point{a, b} {
		c.StrokeLines(st, c.ClipLinesXY([]vg.Point{{X: p.X - dx, Y: p.Y - dy}, {X: p.X + dx, Y: p.Y + dy}})...)
	}
}

// ratioExceeds reports whether all values are positive and the largest is more than limit times the smallest.
func (s span) ratioExceeds(limit float64) bool {
	return !s.empty() && s.lo > 0 && s.hi/s.lo > limit && !math.IsInf(s.hi/s.lo, 0)
}
