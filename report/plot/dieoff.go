package plot

import gplot "gonum.org/v1/plot"

// DieOff shows how a statistic, such as the anomaly correlation, decays with
// the forecast lead: one curve for each model, region or level.
type DieOff struct {
	Frame
	Curves     []LeadCurve
	References []Reference // horizontal lines
	Moments    []Moment
	Linear     bool // the axis holds plain numbers, no hours
	// LogAbove makes the statistic's axis logarithmic where its largest value is
	// more than so many times the smallest; 0 = never.
	LogAbove float64
}

// LeadCurve is a statistic at forecast leads. NaN makes a gap; a lead that is
// left out does not.
type LeadCurve struct {
	Name   string
	Lead   []float64 // hours, in any order
	Value  []float64
	Lo, Hi []float64 // confidence interval, drawn as a ribbon; nil = none
	Hue    int       // 1 … Hues = that colour of the palette; 0 = by its place
}

// SVG draws the picture. It fails where the lists of a curve differ in length,
// and for sizes in which nothing can be read.
func (d DieOff) SVG() ([]byte, error) {
	var all []points
	for _, c := range d.Curves {
		all = append(all, points{c.Name, c.Lead, c.Value, c.Lo, c.Hi, c.Hue})
	}
	o := lineOptions{ticks: leadTicks{}, moments: d.Moments, logAbove: d.LogAbove}
	if d.Linear {
		o.ticks = linearTicks{8}
	}
	return d.lines(all, d.References, o)
}

type lineOptions struct {
	ticks    gplot.Ticker // of the coordinate
	moments  []Moment
	logAbove float64
}

// lines draws statistics upwards against a coordinate to the right.
func (f Frame) lines(all []points, references []Reference, o lineOptions) ([]byte, error) {
	c, at, value, err := newCurves(all, references, false)
	if err != nil {
		return nil, err
	}
	c.moments = o.moments
	if !at.empty() {
		for _, m := range o.moments {
			if isFinite(m.At) {
				at.add(m.At)
			}
		}
	}
	s, err := f.layout(900, c.legend())
	if err != nil {
		return nil, err
	}
	if value.empty() {
		return s.noData()
	}
	fig := s.open(400, 170)
	p := newPanel()
	if o.logAbove > 0 && value.spread(o.logAbove) {
		scale(&p.Y, value, true, heightTicks(fig.body))
	} else {
		value = value.padded(0.04)
		p.Y.Min, p.Y.Max, p.Y.Tick.Marker = value.lo, value.hi, linearTicks{heightTicks(fig.body)}
	}
	if at.lo == at.hi {
		at = at.padded(0.5)
	}
	p.X.Min, p.X.Max, p.X.Tick.Marker = at.lo, at.hi, o.ticks
	p.X.Padding, p.Y.Padding = 0, 4
	p.Add(grid(true, true), c)
	drawPanel(fig.body, p, s.XLabel, s.YLabel)
	return fig.encode()
}
