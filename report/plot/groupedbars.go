package plot

import (
	"fmt"
	"image/color"
	"math"

	xfont "golang.org/x/image/font"
	gplot "gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"barograph/fault"
)

// GroupedBars shows upright bars in groups: cases along the axis, a colour for
// each engine, design or flavour. It is legible for up to Hues series; with
// more it draws the same data as HorizontalBars, a panel for each group.
//
// With Log, a value is a point on a stem, since a bar's length means nothing
// on an axis without a zero.
type GroupedBars struct {
	Frame
	Groups []string // names of the groups, from left to right
	Series []BarSeries
	Unit   string // for the values of many series: "ms"
	Log    bool
}

// BarSeries is one colour.
type BarSeries struct {
	Name   string
	Values []Value // one for each group
	Hue    int     // 1 … Hues = that colour of the palette; 0 = by its place
}

// SVG draws the picture. It fails where a series has not one value for each
// group, and for sizes in which nothing can be read.
func (g GroupedBars) SVG() ([]byte, error) {
	for _, s := range g.Series {
		if len(s.Values) != len(g.Groups) {
			return nil, &fault.Error{Setting: s.Name, Problem: fmt.Sprintf("%d values for %d groups", len(s.Values), len(g.Groups)), Cure: "give NaN for a value that is none"}
		}
	}
	if len(g.Series) > Hues {
		return g.horizontal().SVG()
	}
	var legend []entry
	all := newSpan()
	notes := false
	for i, s := range g.Series {
		e := entry{name: s.Name, clr: hue(hueOf(s.Hue, i))}
		if g.Log {
			e.mark = draw.CircleGlyph{}
		}
		legend = append(legend, e)
		for _, v := range s.Values {
			v.into(&all, g.Log)
			notes = notes || v.Note != ""
		}
	}
	s, err := g.layout(900, legend)
	if err != nil {
		return nil, err
	}
	if all.empty() && !notes {
		return s.noData()
	}
	if all.empty() {
		all = span{1, 10}
	}
	f := s.open(400, 170)
	p := newPanel()
	scale(&p.Y, all, g.Log, heightTicks(f.body))
	if !g.Log {
		p.Y.Max += 0.04 * (p.Y.Max - p.Y.Min) // for the values printed above
	}
	p.HideX()
	p.X.Min, p.X.Max, p.X.Padding = 0, float64(len(g.Groups)), 0
	p.Add(grid(false, true), g)
	c := f.body
	c.Min.Y += groupNames
	if s.XLabel != "" {
		c.Min.Y += axisLabel
		k := newInk(labelSize, xfont.WeightNormal, grey(0x22))
		k.write(f.body, vg.Point{X: (c.Min.X + c.Max.X) / 2, Y: f.body.Min.Y + 4}, atCentre, k.fit(s.XLabel, c.Max.X-c.Min.X))
	}
	drawPanel(c, p, "", s.YLabel)
	return f.encode()
}

// groupNames is the room for the names of the groups.
const groupNames = 22

// hueOf returns the palette's index of a series or curve.
func hueOf(chosen, place int) int {
	if chosen > 0 {
		return chosen - 1
	}
	return place
}

// Plot is gonum's: it draws on the data's canvas.
func (g GroupedBars) Plot(c draw.Canvas, p *gplot.Plot) {
	x, y := p.Transforms(&c)
	step := 0.82 / float64(len(g.Series))
	width := x(step) - x(0)
	k := legendInk()
	slot := x(1) - x(0)
	c.StrokeLine2(draw.LineStyle{Color: grey(0x88), Width: 0.8}, c.Min.X, c.Min.Y, c.Max.X, c.Min.Y)
	for group, name := range g.Groups {
		k.write(c, vg.Point{X: x(float64(group) + 0.5), Y: c.Min.Y - 16}, atCentre, k.fit(clean(name), slot-6))
		if group > 0 {
			at := x(float64(group))
			c.StrokeLine2(draw.LineStyle{Color: grey(0xEE), Width: 0.7}, at, c.Min.Y, at, c.Max.Y)
		}
		for i, s := range g.Series {
			mid := x(float64(group) + 0.09 + step*(float64(i)+0.5))
			g.upright(c, y, mid, width, s.Values[group], hue(hueOf(s.Hue, i)))
		}
	}
}

func (g GroupedBars) upright(c draw.Canvas, y func(float64) vg.Length, mid, width vg.Length, v Value, clr color.NRGBA) {
	if !onScale(v.V, g.Log) {
		if v.Note != "" || isFinite(v.V) {
			k := noteInk()
			writeUp(c, k, vg.Point{X: mid, Y: c.Min.Y + 6}, atLeft, k.fit(v.note(g.Log), c.Max.Y-c.Min.Y-8))
		}
		return
	}
	from, to := c.Min.Y, y(v.V)
	half := min(width*0.44, 30)
	if g.Log {
		c.StrokeLine2(draw.LineStyle{Color: fade(clr, 0.4), Width: 1.6}, mid, from, mid, to)
	} else {
		from = y(0)
		fillRect(c, fade(clr, 0.88), mid-half, from, mid+half, to)
	}
	end := max(from, to)
	if v.hasInterval() {
		lo := c.Min.Y
		if onScale(v.Lo, g.Log) {
			lo = y(v.Lo)
		}
		ink := color.Color(grey(0x33))
		if g.Log {
			ink = clr
		}
		whisker(c, ink, vg.Point{X: mid, Y: lo}, vg.Point{X: mid, Y: y(v.Hi)}, min(3.5, half/2))
		end = max(end, y(v.Hi))
	}
	if g.Log {
		c.DrawGlyph(draw.GlyphStyle{Color: clr, Radius: 4, Shape: draw.CircleGlyph{}}, vg.Point{X: mid, Y: to})
		end = max(end, to+4)
	}
	if k := valueInk(); k.width(number(v.V)) < width {
		k.write(c, vg.Point{X: mid, Y: end + 4}, atCentre, number(v.V))
	}
}

// writeUp writes from bottom to top, with the middle of its height at pt.X.
func writeUp(c draw.Canvas, k ink, pt vg.Point, a anchor, s string) {
	c.Push()
	c.Translate(vg.Point{X: pt.X + k.capHeight()/2, Y: pt.Y})
	c.Rotate(math.Pi / 2)
	k.write(c, vg.Point{}, a, s)
	c.Pop()
}

// horizontal is the same data with a panel for each group.
func (g GroupedBars) horizontal() HorizontalBars {
	h := HorizontalBars{Frame: g.Frame, Unit: g.Unit, Log: g.Log, Columns: 1 + min(len(g.Groups)/4, 1)}
	h.XLabel, h.YLabel = g.YLabel, ""
	for i, name := range g.Groups {
		p := BarPanel{Title: name}
		for _, s := range g.Series {
			p.Bars = append(p.Bars, Bar{Label: s.Name, Value: s.Values[i]})
		}
		h.Panels = append(h.Panels, p)
	}
	return h
}
