package plot

import (
	"image/color"

	xfont "golang.org/x/image/font"
	gplot "gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/barograph/barograph/internal/lists"
)

// Columns shows a throughput as bars, and a latency as a dark line with its own axis on the right.
// It has a group for each engine, with a bar for each number of workers. With a Step it shows one
// run over time, with a bar for each interval.
//
// Without Step, an axis whose values differ by more than a factor of 20 is logarithmic. With Step, only the right axis
// can be logarithmic, above a factor of 4. On a logarithmic axis the length of a bar has no meaning: bars are pale,
// and the thick line at the top of each is the value.
type Columns struct {
	Frame                  // YLabel is the label of the bars' axis
	RightLabel      string // label of the line's axis: "95th percentile (ms)"
	BarName         string // name of the bars in the legend: "throughput"
	LineName        string
	BarUnit         string // unit of the bars' labels: "threads"
	Groups          []Group
	Step            float64 // seconds; 0 = groups of labeled bars
	StallName       string  // name of the shading of Stalled intervals in the legend
	units, barWidth float64 // length of the axis, and width of a bar on it
	logLeft         bool
	right           rightAxis
}

// Group is an engine, which determines the color.
type Group struct {
	Name string
	Bars []Bar
}

// Bar is one number of workers, or one interval.
type Bar struct {
	Label   string
	Value           // its interval is a whisker; its Note is shown if there is no value
	Line    float64 // of the right axis
	Stalled bool    // almost no operation completed
}

const (
	logRatio        = 20  // with a larger ratio of the values, an axis is logarithmic
	groupGap        = 0.9 // between groups, in bars
	barLabelHeight  = 15  // height of the labels of bars
	groupNameHeight = 22  // height of the names of groups
)

// Draw draws the picture. It fails only for sizes in which nothing is legible.
func (g Columns) Draw() ([]byte, error) {
	left, right, notes, pal := newSpan(), newSpan(), false, &palette{}
	gap, height, least := groupGap, vg.Length(430), vg.Length(220)
	if g.barWidth = 1; g.Step > 0 {
		g.barWidth, gap, height, least = g.Step, 0, 220, 130
	}
	legend := []entry{{name: g.BarName, clr: gray(0x9A)}, {name: g.LineName, clr: rightInk(), mark: draw.CircleGlyph{}, line: 2}}
	stalled := false
	for _, group := range g.Groups {
		g.units += g.barWidth*float64(len(group.Bars)) + gap
		if h := pal.of(group.Name); g.Step > 0 {
			legend[0].clr = fade(paletteColor(h), 0.45)
		}
		for _, b := range group.Bars {
			b.extend(&left, false)
			right.add(b.Line)
			notes, stalled = notes || b.Note != "", stalled || b.Stalled
		}
	}
	if stalled {
		legend = append(legend, entry{name: g.StallName, clr: stallColor()})
	}
	s, err := g.layout(900, legend)
	if err != nil {
		return nil, err
	}
	if left.empty() && !notes {
		return s.noData()
	}
	g.logLeft = g.Step == 0 && left.ratioExceeds(logRatio)
	logRight := right.ratioExceeds(logRatio) || g.Step > 0 && right.ratioExceeds(4)
	f := s.open(height, least)
	c, p := f.body, newAxes()
	if g.Step == 0 {
		c.Min.Y += groupNameHeight + barLabelHeight
	}
	scale(&p.Y, left, g.logLeft, heightTicks(c))
	g.right = newRightAxis(right, g.RightLabel, logRight, heightTicks(c))
	c.Max.X -= g.right.room()
	if p.X.Min, p.X.Max = 0, g.units; g.Step > 0 {
		p.X.Tick.Marker = linearTicks{int((c.Max.X - c.Min.X - 60) / tickRoom)}
	} else {
		p.HideX()
		p.X.Padding, s.XLabel = 0, ""
	}
	p.Add(grid(false, true), g)
	drawAxes(c, p, s.XLabel, s.YLabel)
	return f.encode()
}

func stallColor() color.NRGBA { return color.NRGBA{0xF6, 0xC9, 0xC2, 0xFF} }

// Plot implements gonum's interface: it draws on the canvas of the data.
func (g Columns) Plot(c draw.Canvas, p *gplot.Plot) {
	x, y := p.Transforms(&c)
	c.StrokeLine2(draw.LineStyle{Color: gray(0x88), Width: 0.8}, c.Min.X, c.Min.Y, c.Max.X, c.Min.Y)
	if g.Step > 0 {
		for _, group := range g.Groups {
			g.series(c, x, y, group, paletteColor((&palette{}).of(group.Name)))
		}
		g.right.draw(c)
		return
	}
	below := newInk(10.5, xfont.WeightNormal, gray(0x55))
	below.write(c, vg.Point{X: c.Min.X - 8, Y: c.Min.Y - 14}, atRight, below.fit(clean(g.BarUnit), 60))
	at, name, pal := groupGap/2, newInk(labelSize, xfont.WeightBold, gray(0x22)), &palette{}
	for i, group := range g.Groups {
		begin, end := at, at+float64(len(group.Bars))
		if i > 0 {
			sep := x(begin - groupGap/2)
			c.StrokeLine2(draw.LineStyle{Color: gray(0xEA), Width: 0.8}, sep, c.Min.Y-barLabelHeight-groupNameHeight+4, sep, c.Max.Y)
		}
		name.write(c, vg.Point{X: (x(begin) + x(end)) / 2, Y: c.Min.Y - barLabelHeight - 17}, atCenter, name.fit(clean(group.Name), x(end+groupGap)-x(begin)-6))
		g.group(c, x, y, begin, group, paletteColor(pal.of(group.Name)))
		at = end + groupGap
	}
	g.right.draw(c)
}

// series draws intervals as an area, with a gap where there is no value, and shades those that stalled.
func (g Columns) series(c draw.Canvas, x, y func(float64) vg.Length, group Group, clr color.NRGBA) {
	var mids []vg.Length
	var line []float64
	start := func(i int) vg.Length { return x(float64(i) * g.Step) }
	for i, b := range group.Bars {
		if b.Stalled {
			fillRect(c, stallColor(), start(i), c.Min.Y, start(i+1), c.Max.Y)
		}
		mids, line = append(mids, (start(i)+start(i+1))/2), append(line, b.Line)
	}
	for _, r := range ranges(len(group.Bars), func(i int) bool { return isDrawable(group.Bars[i].V) }) {
		top := []vg.Point{{X: start(r[0]), Y: c.Min.Y}}
		for i := r[0]; i < r[1]; i++ {
			top = append(top, vg.Point{X: start(i), Y: y(group.Bars[i].V)}, vg.Point{X: start(i + 1), Y: y(group.Bars[i].V)})
		}
		c.FillPolygon(fade(clr, 0.38), append(top, vg.Point{X: start(r[1]), Y: c.Min.Y}))
		c.StrokeLines(draw.LineStyle{Color: clr, Width: 1.3}, top[1:])
	}
	g.right.line(c, mids, line, (c.Max.X-c.Min.X)/vg.Length(len(mids)) > 16)
}

func (g Columns) group(c draw.Canvas, x, y func(float64) vg.Length, begin float64, group Group, clr color.NRGBA) {
	var xs []vg.Length
	var line []float64
	width := x(1) - x(0)
	tick, labels := newInk(10.5, xfont.WeightNormal, gray(0x55)), true
	for _, b := range group.Bars {
		labels = labels && tick.width(clean(b.Label))*slack < width
	}
	for i, b := range group.Bars {
		mid := x(begin + float64(i) + 0.5)
		xs, line = append(xs, mid), append(line, b.Line)
		if labels {
			tick.write(c, vg.Point{X: mid, Y: c.Min.Y - 14}, atCenter, clean(b.Label))
		}
		g.bar(c, y, mid, min(0.4*width, 26), b, clr)
	}
	g.right.line(c, xs, line, true)
}

// bar draws one value, and prints it inside the bar if there is room.
func (g Columns) bar(c draw.Canvas, y func(float64) vg.Length, mid, half vg.Length, b Bar, clr color.NRGBA) {
	if !onScale(b.V, g.logLeft) {
		if k := noteInk(); b.Note != "" {
			writeUp(c, k, vg.Point{X: mid, Y: c.Min.Y + 6}, atLeft, k.fit(b.note(false), c.Max.Y-c.Min.Y-8))
		}
		return
	}
	top, ink := y(b.V), valueInk()
	if g.logLeft {
		fillRect(c, fade(clr, 0.28), mid-half, c.Min.Y, mid+half, top)
		fillRect(c, clr, mid-half, top-3, mid+half, top)
	} else {
		fillRect(c, fade(clr, 0.85), mid-half, c.Min.Y, mid+half, top)
		ink.clr = color.White
		if light(clr) {
			ink.clr = gray(0x11)
		}
	}
	if b.hasInterval() && (!g.logLeft || onScale(b.Lo, true)) {
		whisker(c, gray(0x44), vg.Point{X: mid + half*0.55, Y: y(b.Lo)}, vg.Point{X: mid + half*0.55, Y: y(b.Hi)}, min(3, half/4))
	}
	if half*2 >= 13 {
		g.print(c, ink, mid, top, b)
	}
}

// print writes a value inside its bar: at the bottom or, if the line passes there, below the top.
func (g Columns) print(c draw.Canvas, k ink, mid, top vg.Length, b Bar) {
	text := number(b.V)
	w := k.width(text) * slack
	if w+14 > top-c.Min.Y {
		return
	}
	for _, foot := range []vg.Length{c.Min.Y + 7, top - w - 8} {
		if at := g.right.y(c, b.Line); !g.right.shows(b.Line) || at <= foot-12 || at >= foot+w+12 {
			writeUp(c, k, vg.Point{X: mid, Y: foot}, atLeft, text)
			return
		}
	}
}

// rightAxis is a second scale on the right of a panel, for another quantity, which is drawn in one
// dark color.
type rightAxis struct {
	axis  gplot.Axis
	label string
	log   bool
}

// newRightAxis creates a scale over values: logarithmic, or from zero.
func newRightAxis(s span, label string, log bool, ticks int) rightAxis {
	r := rightAxis{label: clean(label), log: log}
	r.axis.Scale = gplot.LinearScale{}
	scale(&r.axis, s, log, ticks)
	return r
}

func rightInk() color.NRGBA { return gray(0x26) }

func (r *rightAxis) ticks() []gplot.Tick { return r.axis.Tick.Marker.Ticks(r.axis.Min, r.axis.Max) }

// room is the width of labels and ticks.
func (r *rightAxis) room() vg.Length {
	labels := lists.Map(r.ticks(), func(t gplot.Tick) string { return t.Label })
	return newInk(tickSize, xfont.WeightNormal, rightInk()).widest(labels) + 12 + axisLabel
}

// shows reports whether the axis can show a value.
func (r *rightAxis) shows(v float64) bool { return onScale(v, r.log) }

// y is the vertical position of a value on the axis, next to the canvas of the data.
func (r *rightAxis) y(c draw.Canvas, v float64) vg.Length {
	return c.Y(r.axis.Norm(v))
}

// draw draws the axis on the right of the canvas of the data.
func (r *rightAxis) draw(c draw.Canvas) {
	k := newInk(tickSize, xfont.WeightNormal, gray(0x44))
	style := draw.LineStyle{Color: gray(0x88), Width: 0.8}
	c.StrokeLine2(style, c.Max.X, c.Min.Y, c.Max.X, c.Max.Y)
	for _, t := range r.ticks() {
		at, length := r.y(c, t.Value), vg.Length(5)
		if t.Label == "" {
			length = 2.5
		}
		c.StrokeLine2(style, c.Max.X, at, c.Max.X+length, at)
		k.write(c, vg.Point{X: c.Max.X + 8, Y: at - k.capHeight()/2}, atLeft, t.Label)
	}
	label := newInk(labelSize, xfont.WeightNormal, gray(0x22))
	writeUp(c, label, vg.Point{X: c.Max.X + r.room() - 8, Y: (c.Min.Y + c.Max.Y) / 2}, atCenter, label.fit(r.label, c.Max.Y-c.Min.Y))
}

// line draws values as a dark line with hollow points; values outside the scale interrupt it.
func (r *rightAxis) line(c draw.Canvas, xs []vg.Length, values []float64, marks bool) {
	for _, run := range ranges(len(values), func(i int) bool { return r.shows(values[i]) }) {
		pts := pointsIn(run, func(i int) vg.Point { return vg.Point{X: xs[i], Y: r.y(c, values[i])} })
		c.StrokeLines(draw.LineStyle{Color: fade(gray(0xFF), 0.85), Width: 4.5}, pts) // a halo, over bars of any color
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
