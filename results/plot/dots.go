package plot

import (
	"cmp"
	"image/color"
	"math"
	"slices"

	xfont "golang.org/x/image/font"
	gplot "gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Dots shows objects by two measures; smaller is better for both. Both axes are logarithmic, the area
// of a dot is a third measure, and every dot has its label next to it.
type Dots struct {
	Frame
	Dots []Dot
}

// Dot is one object. It is omitted unless X and Y are positive numbers.
type Dot struct {
	Label string
	Group string // determines the color
	Note  string // shown when a reader points at the dot
	X, Y  float64
	Size  float64 // by area
	Bold  bool    // the label is bold
}

const (
	largestDot  = 26 // radius of the largest dot, px
	smallestDot = 4
)

// Draw draws the picture. It fails only for sizes in which nothing is legible.
func (d Dots) Draw() ([]byte, error) {
	s, err := d.layout(900, nil)
	if err != nil {
		return nil, err
	}
	across, up := newSpan(), newSpan()
	d.Dots = slices.DeleteFunc(slices.Clone(d.Dots), func(q Dot) bool { return !onScale(q.X, true) || !onScale(q.Y, true) })
	for _, q := range d.Dots {
		across.add(q.X)
		up.add(q.Y)
	}
	if across.empty() {
		return s.noData()
	}
	// The largest dot is drawn first, because it must not hide a smaller one.
	slices.SortStableFunc(d.Dots, func(a, b Dot) int { return cmp.Compare(b.Size, a.Size) })
	f, p := s.open(430, 260), newAxes()
	scale(&p.X, span{across.lo / 1.3, across.hi * 1.3}, true, int((f.body.Max.X-f.body.Min.X-60)/tickRoom))
	scale(&p.Y, span{up.lo / 1.3, up.hi * 1.3}, true, heightTicks(f.body))
	p.Add(grid(true, true), d)
	drawAxes(f.body, p, s.XLabel, s.YLabel)
	return f.encode()
}

// Plot implements gonum's interface: it draws on the canvas of the data.
func (d Dots) Plot(c draw.Canvas, p *gplot.Plot) {
	x, y := p.Transforms(&c)
	k := newInk(labelSize, xfont.WeightBold, color.NRGBA{0x00, 0x6B, 0x4E, 0xFF})
	corner := "← ↓ better"
	k.write(c, vg.Point{X: c.Min.X + 10, Y: c.Min.Y + 10}, atLeft, corner)
	taken := []vg.Rectangle{{Min: c.Min, Max: vg.Point{X: c.Min.X + 14 + k.width(corner), Y: c.Min.Y + 24}}}
	radii, pal := make([]vg.Length, len(d.Dots)), &palette{}
	for i, q := range d.Dots {
		radii[i] = smallestDot
		if most := d.Dots[0].Size; q.Size > 0 && isDrawable(most) {
			radii[i] = max(smallestDot, largestDot*vg.Length(math.Sqrt(q.Size/most)))
		}
		at, r, clr := vg.Point{X: x(q.X), Y: y(q.Y)}, radii[i], paletteColor(pal.of(q.Group))
		c.DrawGlyph(draw.GlyphStyle{Color: fade(clr, 0.45), Radius: r, Shape: draw.CircleGlyph{}}, at)
		c.DrawGlyph(draw.GlyphStyle{Color: clr, Radius: r, Shape: draw.RingGlyph{}}, at)
		k.write(c, at, atTooltip, clean(q.Note))
		inner := min(r, 8) // a label may cover the rim of a large dot, not the center of any
		taken = append(taken, vg.Rectangle{Min: vg.Point{X: at.X - inner, Y: at.Y - inner}, Max: vg.Point{X: at.X + inner, Y: at.Y + inner}})
	}
	for i, q := range d.Dots {
		k := newInk(labelSize, xfont.WeightNormal, gray(0x22))
		if q.Bold {
			k = newInk(labelSize, xfont.WeightBold, gray(0x11))
		}
		taken = append(taken, k.label(c, vg.Point{X: x(q.X), Y: y(q.Y)}, radii[i], clean(q.Label), taken, true))
	}
}

// label writes a text at the free position nearest to a point, and returns its rectangle. r is the radius of the
// symbol of the point. If no position is free and must is true, it writes the text to the right of the point, over
// other elements. If must is false, it writes nothing and returns an empty rectangle.
func (k ink) label(c draw.Canvas, at vg.Point, r vg.Length, text string, taken []vg.Rectangle, must bool) vg.Rectangle {
	w, h := k.width(text)*slack, vg.Length(labelSize)
	place := func(dx, dy vg.Length) vg.Rectangle {
		corner := vg.Point{X: at.X + dx, Y: at.Y + dy - h/2}
		return vg.Rectangle{Min: corner, Max: vg.Point{X: corner.X + w, Y: corner.Y + h}}
	}
	best := place(r+5, 0)
	for _, away := range []vg.Length{0, h + 3, 2 * (h + 3), 3 * (h + 3)} {
		for _, try := range []vg.Rectangle{
			place(r+5, away), place(-r-5-w, away), place(r+5, -away), place(-r-5-w, -away), place(-w/2, r+away+h/2+3), place(-w/2, -r-away-h/2-3),
		} {
			if !overlapsAny(try, taken) && try.Min.X >= c.Min.X && try.Max.X <= c.Max.X && try.Min.Y >= c.Min.Y && try.Max.Y <= c.Max.Y {
				k.write(c, vg.Point{X: try.Min.X, Y: try.Min.Y + 2}, atLeft, text)
				return try
			}
		}
	}
	if !must {
		return vg.Rectangle{}
	}
	k.write(c, vg.Point{X: best.Min.X, Y: best.Min.Y + 2}, atLeft, text)
	return best
}

// overlapsAny reports whether a rectangle has an area in common with one of others.
func overlapsAny(r vg.Rectangle, others []vg.Rectangle) bool {
	return slices.ContainsFunc(others, func(o vg.Rectangle) bool {
		return o.Min.X < r.Max.X && r.Min.X < o.Max.X && o.Min.Y < r.Max.Y && r.Min.Y < o.Max.Y
	})
}
