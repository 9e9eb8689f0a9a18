package plot

import (
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	gplot "gonum.org/v1/plot"
)

// Layers stacks counts over time, an area for each name: for example the sessions of a server by
// wait event. The first is at the bottom.
type Layers struct {
	Frame
	Layers []Layer
	Step   float64 // seconds between two values
}

// Layer is one name; all layers have the same number of values. Its position determines its color.
type Layer struct {
	Name  string
	Value []float64 // no value is less than 0; NaN = a gap in all layers
}

// Draw draws the picture. It fails only for sizes in which nothing is legible.
func (g Layers) Draw() ([]byte, error) {
	var legend []entry
	n, top := 0, newSpan()
	for i, l := range g.Layers {
		legend = append(legend, entry{name: l.Name, clr: fade(paletteColor(i), layerOpacity)})
		n = max(n, len(l.Value))
	}
	for k := range n {
		top.add(g.sum(len(g.Layers), k))
	}
	s, err := g.layout(900, legend)
	if err != nil {
		return nil, err
	}
	if top.empty() {
		return s.noData()
	}
	f := s.open(180, 110)
	c, p := f.body, newAxes()
	scale(&p.Y, top, false, heightTicks(c))
	p.X.Min, p.X.Max = 0, g.Step*float64(n)
	p.X.Tick.Marker = linearTicks{int((c.Max.X - c.Min.X - 60) / tickRoom)}
	p.Add(grid(false, true), g)
	drawAxes(c, p, s.XLabel, s.YLabel)
	return f.encode()
}

const layerOpacity = 0.75

// sum is the sum of the k-th values of the first layers; not finite if one of these is not.
func (g Layers) sum(layers, k int) (sum float64) {
	for _, l := range g.Layers[:layers] {
		if k < len(l.Value) {
			sum += l.Value[k]
		}
	}
	return sum
}

// Plot implements gonum's interface: it draws on the canvas of the data.
func (g Layers) Plot(c draw.Canvas, p *gplot.Plot) {
	x, y := p.Transforms(&c)
	for i, l := range g.Layers {
		for _, r := range ranges(len(l.Value), func(k int) bool { return isDrawable(g.sum(len(g.Layers), k)) }) {
			var above, below []vg.Point
			for k := r[0]; k < r[1]; k++ {
				from, to, low, high := x(float64(k)*g.Step), x(float64(k+1)*g.Step), y(g.sum(i, k)), y(g.sum(i+1, k))
				above = append(above, vg.Point{X: from, Y: high}, vg.Point{X: to, Y: high})
				below = append(below, vg.Point{X: from, Y: low}, vg.Point{X: to, Y: low})
			}
			slices.Reverse(below)
			c.FillPolygon(fade(paletteColor(i), layerOpacity), append(above, below...))
		}
	}
	c.StrokeLine2(draw.LineStyle{Color: gray(0x88), Width: 0.8}, c.Min.X, c.Min.Y, c.Max.X, c.Min.Y)
}
