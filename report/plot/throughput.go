package plot

import (
	"image/color"

	xfont "golang.org/x/image/font"
	gplot "gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Throughput shows a throughput as bars, and a latency as a line with an axis
// of its own at the right: a group for each engine, in it a bar for each number
// of workers.
//
// An axis whose values differ by more than twenty times is logarithmic. There
// a bar's length means nothing: bars are pale, and the value is the thick line
// that ends them.
type Throughput struct {
	Frame             // YLabel: of the throughput
	RightLabel string // of the latency: "95th percentile (ms)"
	BarName    string // of the bars, in the legend: "throughput"
	LineName   string
	Below      string // what the labels of the bars count: "threads"
	Groups     []ThroughputGroup
}

// ThroughputGroup is an engine.
type ThroughputGroup struct {
	Name string
	Hue  int // 1 … Hues = that colour of the palette; 0 = by its place
	Bars []ThroughputBar
}

// ThroughputBar is one number of workers.
type ThroughputBar struct {
	Label      string
	Throughput Value // its interval is a whisker, its Note stands where there is none
	Latency    float64
}

// logFrom is how many times values may differ on an axis that has a zero.
const logFrom = 20

// throughput is the picture being drawn.
type throughput struct {
	Throughput
	logLeft, logRight bool
	right             *rightAxis
	units             float64 // width of the axis, in bars
}

// groupGap is the room between groups, in bars.
const groupGap = 0.9

// SVG draws the picture. It fails only for sizes in which nothing can be read.
func (g Throughput) SVG() ([]byte, error) {
	t := throughput{Throughput: g}
	left, right := newSpan(), newSpan()
	notes := false
	for _, group := range g.Groups {
		t.units += float64(len(group.Bars)) + groupGap
		for _, b := range group.Bars {
			b.Throughput.into(&left, false)
			right.add(b.Latency)
			notes = notes || b.Throughput.Note != ""
		}
	}
	s, err := g.layout(900, []entry{{name: g.BarName, clr: grey(0x9A)}, {name: g.LineName, clr: rightInk(), mark: draw.CircleGlyph{}, line: true}})
	if err != nil {
		return nil, err
	}
	if left.empty() && !notes {
		return s.noData()
	}
	if left.empty() {
		left = span{0, 1}
	}
	t.logLeft, t.logRight = left.spread(logFrom), right.spread(logFrom)
	f := s.open(430, 220)
	c := f.body
	c.Min.Y += groupNames + barNames
	p := newPanel()
	scale(&p.Y, left, t.logLeft, heightTicks(c))
	if !t.logLeft {
		p.Y.Max += 0.04 * (p.Y.Max - p.Y.Min)
	}
	t.right = newRightAxis(right, g.RightLabel, t.logRight, heightTicks(c))
	if !t.logRight {
		t.right.axis.Max *= 1.04
	}
	p.HideX()
	p.X.Min, p.X.Max, p.X.Padding = 0, t.units, 0
	p.Add(grid(false, true), t)
	c.Max.X -= t.right.room()
	drawPanel(c, p, "", s.YLabel)
	return f.encode()
}

// barNames is the room for the labels of bars.
const barNames = 15

// Plot is gonum's: it draws on the data's canvas.
func (t throughput) Plot(c draw.Canvas, p *gplot.Plot) {
	x, y := p.Transforms(&c)
	c.StrokeLine2(draw.LineStyle{Color: grey(0x88), Width: 0.8}, c.Min.X, c.Min.Y, c.Max.X, c.Min.Y)
	below := newInk(10.5, xfont.WeightNormal, grey(0x55))
	below.write(c, vg.Point{X: c.Min.X - 8, Y: c.Min.Y - 14}, atRight, below.fit(clean(t.Below), 60))
	at := groupGap / 2
	name := newInk(labelSize, xfont.WeightBold, grey(0x22))
	for i, g := range t.Groups {
		begin, end := at, at+float64(len(g.Bars))
		if i > 0 {
			sep := x(begin - groupGap/2)
			c.StrokeLine2(draw.LineStyle{Color: grey(0xEA), Width: 0.8}, sep, c.Min.Y-barNames-groupNames+4, sep, c.Max.Y)
		}
		name.write(c, vg.Point{X: (x(begin) + x(end)) / 2, Y: c.Min.Y - barNames - 17}, atCentre, name.fit(clean(g.Name), x(end+groupGap)-x(begin)-6))
		t.group(c, x, y, begin, g, hue(hueOf(g.Hue, i)))
		at = end + groupGap
	}
	t.right.draw(c)
}

func (t throughput) group(c draw.Canvas, x, y func(float64) vg.Length, begin float64, g ThroughputGroup, clr color.NRGBA) {
	var xs []vg.Length
	var latency []float64
	width := x(1) - x(0)
	half := min(0.4*width, 26)
	tick := newInk(10.5, xfont.WeightNormal, grey(0x55))
	labels := true
	for _, b := range g.Bars {
		labels = labels && tick.width(clean(b.Label))*1.06 < width
	}
	for i, b := range g.Bars {
		mid := x(begin + float64(i) + 0.5)
		xs, latency = append(xs, mid), append(latency, b.Latency)
		if labels {
			tick.write(c, vg.Point{X: mid, Y: c.Min.Y - 14}, atCentre, clean(b.Label))
		}
		t.bar(c, y, mid, half, b, clr)
	}
	t.right.line(c, xs, latency, t.logRight, true)
}

// bar draws one value, and prints it inside the bar where there is room.
func (t throughput) bar(c draw.Canvas, y func(float64) vg.Length, mid, half vg.Length, b ThroughputBar, clr color.NRGBA) {
	v := b.Throughput
	if !onScale(v.V, t.logLeft) {
		if v.Note != "" {
			k := noteInk()
			writeUp(c, k, vg.Point{X: mid, Y: c.Min.Y + 6}, atLeft, k.fit(v.note(false), c.Max.Y-c.Min.Y-8))
		}
		return
	}
	top, ink := y(v.V), valueInk()
	if t.logLeft {
		fillRect(c, fade(clr, 0.28), mid-half, c.Min.Y, mid+half, top)
		fillRect(c, clr, mid-half, top-3, mid+half, top)
	} else {
		fillRect(c, fade(clr, 0.85), mid-half, c.Min.Y, mid+half, top)
		ink.clr = color.White
		if light(clr) {
			ink.clr = grey(0x11)
		}
	}
	if v.hasInterval() && (!t.logLeft || onScale(v.Lo, true)) {
		whisker(c, grey(0x44), vg.Point{X: mid + half*0.55, Y: y(v.Lo)}, vg.Point{X: mid + half*0.55, Y: y(v.Hi)}, min(3, half/4))
	}
	if half*2 >= 13 {
		t.print(c, ink, mid, top, b)
	}
}

// print writes a value inside its bar, at the foot or, where the line passes
// there, below the top.
func (t throughput) print(c draw.Canvas, k ink, mid, top vg.Length, b ThroughputBar) {
	text := number(b.Throughput.V)
	w := k.width(text) * 1.06
	if w+14 > top-c.Min.Y {
		return
	}
	for _, foot := range []vg.Length{c.Min.Y + 7, top - w - 8} {
		if onScale(b.Latency, t.logRight) {
			if at := t.right.y(c, b.Latency); at > foot-12 && at < foot+w+12 {
				continue
			}
		}
		writeUp(c, k, vg.Point{X: mid, Y: foot}, atLeft, text)
		return
	}
}

// light colours need dark letters.
func light(c color.NRGBA) bool {
	return 0.299*float64(c.R)+0.587*float64(c.G)+0.114*float64(c.B) > 140
}

// groupNames is the room for the names of the groups.
const groupNames = 22
