package plot

import (
	"image/color"
	"math"

	gplot "gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Timeline shows the throughput of one run over its time as an area, and the
// slowest response of each interval as a line with a logarithmic axis at the
// right. Intervals in which next to nothing ended are shaded: stalls.
type Timeline struct {
	Frame
	RightLabel string
	BarName    string // of the area, in the legend
	LineName   string
	StallName  string // "" = none is marked
	Step       float64
	Rate       []float64 // by interval of Step (s), from 0
	Slow       []float64
	Stalled    []bool
	Hue        int
}

type timeline struct {
	Timeline
	right *rightAxis
	log   bool
}

// SVG draws the picture. It fails only for sizes in which nothing can be read.
func (t Timeline) SVG() ([]byte, error) {
	clr := hue(hueOf(t.Hue, 0))
	legend := []entry{{name: t.BarName, clr: fade(clr, 0.45)}, {name: t.LineName, clr: rightInk(), mark: draw.CircleGlyph{}, line: true}}
	rate, slow := newSpan(), newSpan()
	rate.add(t.Rate...)
	slow.add(t.Slow...)
	for _, s := range t.Stalled {
		if s && t.StallName != "" {
			legend = append(legend, entry{name: t.StallName, clr: stallColour()})
			break
		}
	}
	s, err := t.layout(900, legend)
	if err != nil {
		return nil, err
	}
	if rate.empty() {
		return s.noData()
	}
	f := s.open(220, 130)
	d := timeline{Timeline: t, log: slow.spread(4)}
	d.right = newRightAxis(slow, t.RightLabel, d.log, heightTicks(f.body))
	p := newPanel()
	scale(&p.Y, rate, false, heightTicks(f.body))
	p.X.Min, p.X.Max = 0, float64(len(t.Rate))*t.Step
	c := f.body
	c.Max.X -= d.right.room()
	p.X.Tick.Marker = linearTicks{int((c.Max.X - c.Min.X - 60) / tickRoom)}
	p.Add(grid(false, true), d)
	drawPanel(c, p, s.XLabel, s.YLabel)
	return f.encode()
}

func stallColour() color.NRGBA { return color.NRGBA{0xF6, 0xC9, 0xC2, 0xFF} }

// Plot is gonum's: it draws on the data's canvas.
func (t timeline) Plot(c draw.Canvas, p *gplot.Plot) {
	x, y := p.Transforms(&c)
	clr := hue(hueOf(t.Hue, 0))
	var top []vg.Point
	var mids []vg.Length
	slow := make([]float64, len(t.Rate))
	for i, v := range t.Rate {
		from, to := x(float64(i)*t.Step), x(float64(i+1)*t.Step)
		if i < len(t.Stalled) && t.Stalled[i] {
			fillRect(c, stallColour(), from, c.Min.Y, to, c.Max.Y)
		}
		if !isFinite(v) {
			v = 0
		}
		top = append(top, vg.Point{X: from, Y: y(v)}, vg.Point{X: to, Y: y(v)})
		mids = append(mids, (from+to)/2)
		if slow[i] = math.NaN(); i < len(t.Slow) {
			slow[i] = t.Slow[i]
		}
	}
	area := append([]vg.Point{{X: c.Min.X, Y: c.Min.Y}}, top...)
	c.FillPolygon(fade(clr, 0.38), append(area, vg.Point{X: top[len(top)-1].X, Y: c.Min.Y}))
	c.StrokeLines(draw.LineStyle{Color: clr, Width: 1.3}, top)
	t.right.line(c, mids, slow, t.log, (c.Max.X-c.Min.X)/vg.Length(len(t.Rate)) > 16)
	t.right.draw(c)
}
