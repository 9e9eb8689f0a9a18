package plot

import (
	"image/color"

	gplot "gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// rows is a panel with a name on each row and something numeric beside it:
// the base of horizontal bars and of strips.
type rows struct {
	title string
	// overData puts the title above the data instead of above the names.
	overData bool
	names    []string // "" for panels that share the names of the one on their left
	height   vg.Length
	left     vg.Length // room for names
	right    vg.Length // room for values printed behind the data
	xlabel   string
	plot     *gplot.Plot
	draw     func(c draw.Canvas, x func(float64) vg.Length, row int, y vg.Length)
}

const (
	panelTitle = 24
	tickRoom   = 55 // between labels of ticks
	axisRoom   = 22
)

// nameRoom returns how wide the names are, at most part of the width.
func nameRoom(width vg.Length, part float64, names ...string) vg.Length {
	widest := vg.Length(0)
	for _, n := range names {
		widest = max(widest, legendInk().width(clean(n)))
	}
	return min(widest*1.06+12, width*vg.Length(part))
}

// size is the height of the panel.
func (r *rows) size() vg.Length {
	h := r.height*vg.Length(len(r.names)) + axisRoom
	if r.title != "" {
		h += panelTitle
	}
	if r.xlabel != "" {
		h += axisLabel
	}
	return h
}

// drawIn draws the panel at the top of c.
func (r *rows) drawIn(c draw.Canvas) {
	top := c.Max.Y
	if r.title != "" {
		k := panelInk()
		at := c.Min.X
		if r.overData {
			at += r.left
		}
		k.write(c, vg.Point{X: at, Y: top - 15}, atLeft, k.fit(clean(r.title), c.Max.X-at))
		top -= panelTitle
	}
	r.plot.HideY()
	r.plot.Y.Padding, r.plot.Y.Min, r.plot.Y.Max = 0, 0, float64(len(r.names))
	r.plot.Add(grid(true, false), r)
	room := r.size() - (c.Max.Y - top)
	box := vg.Rectangle{Min: vg.Point{X: c.Min.X + r.left, Y: top - room}, Max: vg.Point{X: c.Max.X - r.right, Y: top}}
	drawPanel(draw.Canvas{Canvas: c.Canvas, Rectangle: box}, r.plot, clean(r.xlabel), "")
}

// Plot is gonum's: it draws on the data's canvas.
func (r *rows) Plot(c draw.Canvas, p *gplot.Plot) {
	x, y := p.Transforms(&c)
	k := legendInk()
	for i, name := range r.names {
		mid := y(float64(len(r.names)-i) - 0.5)
		if name != "" {
			k.write(c, vg.Point{X: c.Min.X - 8, Y: mid - k.capHeight()/2}, atRight, k.fit(clean(name), r.left-12))
		}
		r.draw(c, x, i, mid)
	}
	c.StrokeLine2(draw.LineStyle{Color: grey(0x88), Width: 0.8}, c.Min.X, c.Min.Y, c.Min.X, c.Max.Y)
}

// bar draws a value as a bar from the axis; on a log axis, which has no zero to
// start a bar from, as a point on a thin stem. The value is printed behind it.
func bar(c draw.Canvas, x func(float64) vg.Length, y, height vg.Length, v Value, log bool, unit string, clr color.NRGBA) {
	if !onScale(v.V, log) {
		k := noteInk()
		k.write(c, vg.Point{X: c.Min.X + 6, Y: y - k.capHeight()/2}, atLeft, k.fit(v.note(log), c.Max.X-c.Min.X-8))
		return
	}
	from, to := c.Min.X, x(v.V)
	if log {
		c.StrokeLine2(draw.LineStyle{Color: fade(clr, 0.45), Width: 1.4}, from, y, to, y)
	} else {
		from = x(0)
		fillRect(c, fade(clr, 0.88), from, y-height/2, to, y+height/2)
	}
	end := max(from, to)
	if v.hasInterval() {
		lo := c.Min.X
		if onScale(v.Lo, log) {
			lo = x(v.Lo)
		}
		ink := color.Color(grey(0x33))
		if log {
			ink = clr
		}
		whisker(c, ink, vg.Point{X: lo, Y: y}, vg.Point{X: x(v.Hi), Y: y}, min(3.5, height/3))
		end = max(end, x(v.Hi))
	}
	if log {
		c.DrawGlyph(draw.GlyphStyle{Color: clr, Radius: 3.8, Shape: draw.CircleGlyph{}}, vg.Point{X: to, Y: y})
		end = max(end, to+4)
	}
	k := valueInk()
	k.write(c, vg.Point{X: end + 6, Y: y - k.capHeight()/2}, atLeft, withUnit(v.V, unit))
}

func withUnit(v float64, unit string) string {
	if unit == "" {
		return number(v)
	}
	return number(v) + " " + clean(unit)
}

// valueRoom is the width that printed values need behind the data.
func valueRoom(unit string, vs ...float64) vg.Length {
	widest := vg.Length(0)
	for _, v := range vs {
		widest = max(widest, valueInk().width(withUnit(v, unit)))
	}
	return widest*1.05 + 10
}

// groupLegend lists the colours in use, if there is more than one.
func groupLegend(p *palette, used map[string]bool, m draw.GlyphDrawer) []entry {
	var out []entry
	for i, name := range p.names {
		if used[name] && name != "" {
			out = append(out, entry{name: name, clr: hue(i), mark: m})
		}
	}
	if len(out) < 2 {
		return nil
	}
	return out
}
