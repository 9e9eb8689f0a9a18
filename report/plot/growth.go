package plot

import (
	"math"
	"strconv"

	gplot "gonum.org/v1/plot"
)

// Growth shows how times grow with size, both as logarithms: a power law is a
// straight line, and its exponent the slope.
type Growth struct {
	Frame
	Curves []GrowthCurve
}

// GrowthCurve is a time at sizes. Values that are not above 0 make gaps.
type GrowthCurve struct {
	Name   string
	Size   []float64 // in any order
	Value  []float64
	Lo, Hi []float64 // interval, drawn as a ribbon; nil = none
	Hue    int       // 1 … Hues = that colour of the palette, beyond that its darker, dashed twins; 0 = by its place
}

// SVG draws the picture. It fails where the lists of a curve differ in length,
// and for widths in which nothing can be read.
func (g Growth) SVG() ([]byte, error) {
	var all []points
	for _, c := range g.Curves {
		all = append(all, points{c.Name, c.Size, above(c.Value), above(c.Lo), above(c.Hi), c.Hue})
	}
	c, at, value, err := newCurves(all, nil, true)
	if err != nil {
		return nil, err
	}
	s, err := g.layout(900, c.legend())
	if err != nil {
		return nil, err
	}
	if value.empty() {
		return s.noData()
	}
	fig := s.open(400, 220)
	p := newPanel()
	if at.lo == at.hi {
		at.lo, at.hi = at.lo/1.5, at.hi*1.5
	}
	value = value.logRound()
	p.X.Scale, p.Y.Scale = gplot.LogScale{}, gplot.LogScale{}
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = at.lo, at.hi, value.lo, value.hi
	p.X.Tick.Marker, p.Y.Tick.Marker = sizeTicks(g.Curves), logTicks{heightTicks(fig.body)}
	p.X.Padding, p.Y.Padding = 4, 4
	p.Add(grid(true, true), c)
	drawPanel(fig.body, p, s.XLabel, s.YLabel)
	return fig.encode()
}

// above makes gaps of what has no logarithm.
func above(vs []float64) []float64 {
	if vs == nil {
		return nil
	}
	out := make([]float64, len(vs))
	for i, v := range vs {
		if out[i] = v; !(v > 0) {
			out[i] = math.NaN()
		}
	}
	return out
}

// sizeTicks are the sizes that were measured.
func sizeTicks(curves []GrowthCurve) gplot.ConstantTicks {
	seen := map[float64]bool{}
	var out gplot.ConstantTicks
	for _, c := range curves {
		for _, s := range c.Size {
			if isFinite(s) && s > 0 && !seen[s] {
				seen[s] = true
				out = append(out, gplot.Tick{Value: s, Label: strconv.FormatFloat(s, 'g', -1, 64)})
			}
		}
	}
	return out
}
