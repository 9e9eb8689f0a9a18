package plot

import (
	"math/rand/v2"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Strip shows every repetition of every cell as a point, with a tick at the
// median, which is printed. Points are moved up or down a little so that equal
// ones can be seen; the seed fixes how.
type Strip struct {
	Frame
	Cells  []StripCell
	Groups []string // order of the colours, as in HorizontalBars
	Unit   string
	Log    bool
	Seed   uint64
}

// StripCell is a row of repetitions.
type StripCell struct {
	Label  string
	Group  string
	Values []float64 // not finite ones, and on a log axis ones not above 0, are left out
}

// SVG draws the picture. It fails only for sizes in which nothing can be read.
func (p Strip) SVG() ([]byte, error) {
	pal, used := newPalette(p.Groups), map[string]bool{}
	all := newSpan()
	var names []string
	var medians []float64
	shown := make([][]float64, len(p.Cells))
	for i, cell := range p.Cells {
		pal.index(cell.Group)
		used[cell.Group] = true
		names = append(names, cell.Label)
		for _, v := range cell.Values {
			if onScale(v, p.Log) {
				shown[i] = append(shown[i], v)
				all.add(v)
			}
		}
		medians = append(medians, middle(shown[i]))
	}
	s, err := p.layout(900, groupLegend(pal, used, draw.CircleGlyph{}))
	if err != nil {
		return nil, err
	}
	if all.empty() {
		return s.noData()
	}
	axes := newPanel()
	r := &rows{names: names, height: 22, plot: axes, xlabel: s.XLabel}
	width := s.width - 2*margin
	r.left, r.right = nameRoom(width, 0.45, names...), valueRoom(p.Unit, medians...)
	ticks := int((width - r.left - r.right) / tickRoom)
	scale(&axes.X, all, p.Log, ticks)
	if !p.Log && all.lo > 0.5*all.hi {
		// Points, unlike bars, need no zero.
		wide := all.padded(0.05)
		axes.X.Min, axes.X.Max = wide.lo, wide.hi
	}
	r.draw = func(c draw.Canvas, x func(float64) vg.Length, i int, y vg.Length) {
		c.StrokeLine2(draw.LineStyle{Color: grey(0xEE), Width: 0.6}, c.Min.X, y-11, c.Max.X, y-11)
		if i == 0 {
			captionInk().write(c, vg.Point{X: c.Max.X + 6, Y: c.Max.Y + 3}, atLeft, "median")
		}
		p.cell(c, x, i, y, shown[i], medians[i], pal)
	}
	f := s.open(r.size()+6, r.size()+6)
	r.drawIn(f.body)
	return f.encode()
}

func (p Strip) cell(c draw.Canvas, x func(float64) vg.Length, i int, y vg.Length, values []float64, median float64, pal *palette) {
	k := valueInk()
	if len(values) == 0 {
		k := noteInk()
		k.write(c, vg.Point{X: c.Min.X + 6, Y: y - k.capHeight()/2}, atLeft, "no values")
		return
	}
	r := rand.New(rand.NewPCG(p.Seed, uint64(i)))
	style := draw.GlyphStyle{Color: fade(hue(pal.index(p.Cells[i].Group)), 0.6), Radius: 2.6, Shape: draw.CircleGlyph{}}
	for _, v := range values {
		c.DrawGlyph(style, vg.Point{X: x(v), Y: y + vg.Length(r.Float64()-0.5)*11})
	}
	c.StrokeLine2(draw.LineStyle{Color: grey(0x11), Width: 2}, x(median), y-8, x(median), y+8)
	k.write(c, vg.Point{X: c.Max.X + 6, Y: y - k.capHeight()/2}, atLeft, withUnit(median, p.Unit))
}

// middle is the median, of finite values; 0 for none.
func middle(vs []float64) float64 {
	if len(vs) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(vs))
	return s[(len(s)-1)/2]/2 + s[len(s)/2]/2
}
