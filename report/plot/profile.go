package plot

import (
	gplot "gonum.org/v1/plot"
)

// Profile shows a statistic against pressure: the statistic to the right,
// pressure upwards on a logarithmic axis from the ground to the top, as in a
// sounding.
type Profile struct {
	Frame
	Curves     []LevelCurve
	References []Reference // vertical lines, such as 0 for a bias
}

// LevelCurve is a statistic at pressure levels. NaN makes a gap; a level that
// is left out does not.
type LevelCurve struct {
	Name   string
	Level  []float64 // hPa, above 0, in any order
	Value  []float64
	Lo, Hi []float64 // confidence interval, drawn as a ribbon; nil = none
	Hue    int       // 1 … Hues = that colour of the palette; 0 = by its place
}

// SVG draws the picture. It fails where the lists of a curve differ in length,
// and for sizes in which nothing can be read.
func (p Profile) SVG() ([]byte, error) {
	var all []points
	for _, c := range p.Curves {
		all = append(all, points{c.Name, c.Level, c.Value, c.Lo, c.Hi, c.Hue})
	}
	c, at, value, err := newCurves(all, p.References, true)
	if err != nil {
		return nil, err
	}
	c.upright = true
	s, err := p.layout(720, c.legend())
	if err != nil {
		return nil, err
	}
	if value.empty() {
		return s.noData()
	}
	fig := s.open(540, 170)
	axes := newPanel()
	value = value.padded(0.05)
	if at.lo == at.hi {
		at.lo, at.hi = at.lo/1.5, at.hi*1.5
	}
	axes.X.Min, axes.X.Max, axes.Y.Min, axes.Y.Max = value.lo, value.hi, at.lo, at.hi
	axes.Y.Scale = gplot.InvertedScale{Normalizer: gplot.LogScale{}}
	axes.X.Tick.Marker, axes.Y.Tick.Marker = linearTicks{int((fig.body.Max.X - fig.body.Min.X) / 75)}, levelTicks{float64(fig.body.Max.Y-fig.body.Min.Y) - 45}
	axes.X.Padding = 6
	axes.Add(grid(true, true), c)
	drawPanel(fig.body, axes, s.XLabel, s.YLabel)
	return fig.encode()
}
