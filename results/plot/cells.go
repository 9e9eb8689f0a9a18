package plot

import (
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Cells shows a value for each row and column: a contour plot with colored fields, or a scorecard
// that shows which model is better, and at which confidence.
type Cells struct {
	Frame
	Columns       []string
	Rows          []CellRow
	numbersHidden bool // some number does not fit into its cell, so none is printed
	Lines         bool // draw lines of equal values over the cells
	Diverging     bool // diverging colors, safe for color blindness: zero is white, above is blue, below is vermilion
}

// CellRow is a row, its values and marks by column.
type CellRow struct {
	Label  string
	Values []float64 // NaN = none
	Marks  []Mark    // nil = the values are printed
}

// Mark is the result of a cell of a scorecard.
type Mark int

// The marks.
const (
	TooFew     Mark = iota // too few cases
	Same                   // no difference at 95 %
	BetterAt95             // better at 95 % confidence: an empty triangle that points up
	WorseAt95              // worse at 95 % confidence: an empty triangle that points down
	BetterAt99             // better at 99 % confidence: a filled triangle that points up
	WorseAt99              // worse at 99 % confidence: a filled triangle that points down
)

const cellHeight = 22

// Draw draws the picture. It fails only for sizes in which nothing is legible.
func (m Cells) Draw() ([]byte, error) {
	values, names, marks := newSpan(), []string(nil), false
	for _, r := range m.Rows {
		values.add(r.Values...)
		names, marks = append(names, clean(r.Label)), marks || r.Marks != nil
	}
	var legend []entry
	switch {
	case values.empty():
	case marks:
		for _, k := range []struct {
			mark Mark
			name string
		}{{BetterAt99, "better, 99 %"}, {BetterAt95, "better, 95 %"}, {Same, "no difference at 95 %"}, {WorseAt95, "worse, 95 %"}, {WorseAt99, "worse, 99 %"}, {TooFew, "too few cases"}} {
			shape, clr := k.mark.glyph()
			legend = append(legend, entry{name: k.name, clr: clr, mark: shape})
		}
	default:
		for _, part := range []float64{0, 0.25, 0.5, 0.75, 1} {
			v := values.lo + part*(values.hi-values.lo)
			legend = append(legend, entry{name: number(v), clr: m.valueColor(values, v)})
		}
	}
	s, err := m.layout(900, slices.CompactFunc(legend, func(a, b entry) bool { return a.name == b.name }))
	if err != nil {
		return nil, err
	}
	if values.empty() {
		return s.noData()
	}
	height := cellHeight*vg.Length(len(m.Rows)) + 2*axisLabel + 4
	f := s.open(height, height)
	c, k := f.body, legendInk()
	left := min(k.widest(names)+12, (c.Max.X-c.Min.X)*0.4)
	in := draw.Crop(c, left, 0, 2*axisLabel, 0)
	width := (in.Max.X - in.Min.X) / vg.Length(len(m.Columns))
	for _, r := range m.Rows {
		for _, v := range r.Values {
			m.numbersHidden = m.numbersHidden || valueInk().width(number(v))+4 > width
		}
	}
	for i, r := range m.Rows {
		top := in.Max.Y - cellHeight*vg.Length(i)
		k.write(c, vg.Point{X: in.Min.X - 8, Y: top - cellHeight/2 - k.capHeight()/2}, atRight, k.fit(names[i], left-12))
		for j, v := range r.Values {
			fillRect(in, m.background(values, r, v), in.Min.X+width*vg.Length(j)+0.5, top-cellHeight+0.5, in.Min.X+width*vg.Length(j+1)-0.5, top-0.5)
		}
	}
	at := func(i, j int) vg.Point {
		return vg.Point{X: in.Min.X + width*(vg.Length(j)+0.5), Y: in.Max.Y - cellHeight*(vg.Length(i)+0.5)}
	}
	if m.Lines {
		m.isolines(in, values, at)
	}
	for i, r := range m.Rows {
		for j, v := range r.Values {
			m.cell(in, m.background(values, r, v), at(i, j), width, v, r.Marks, j)
		}
	}
	m.columns(c, in, width)
	return f.encode()
}

// columns writes as many column names as fit, and the name of the axis.
func (m *Cells) columns(c, in draw.Canvas, width vg.Length) {
	k := newInk(tickSize, 0, gray(0x44))
	every := int(math.Ceil(float64((k.widest(m.Columns) + 8) / width)))
	for j := 0; j < len(m.Columns); j += max(every, 1) {
		k.write(c, vg.Point{X: in.Min.X + width*(vg.Length(j)+0.5), Y: in.Min.Y - 14}, atCenter, clean(m.Columns[j]))
	}
	label := newInk(labelSize, 0, gray(0x22))
	label.write(c, vg.Point{X: (in.Min.X + in.Max.X) / 2, Y: c.Min.Y + 4}, atCenter, label.fit(clean(m.XLabel), in.Max.X-in.Min.X))
}

// background is the color of a cell.
func (m *Cells) background(all span, r CellRow, v float64) color.NRGBA {
	if isDrawable(v) && r.Marks == nil {
		return m.valueColor(all, v)
	}
	return color.NRGBA{0xF5, 0xF5, 0xF5, 0xFF}
}

// cell draws a value: its mark, or its number if there is room. No line crosses the number.
func (m *Cells) cell(c draw.Canvas, ground color.NRGBA, mid vg.Point, width vg.Length, v float64, marks []Mark, j int) {
	switch k := valueInk(); {
	case !isDrawable(v):
	case marks != nil:
		shape, clr := marks[j].glyph()
		c.DrawGlyph(draw.GlyphStyle{Color: clr, Radius: min(6, width*0.4), Shape: shape}, mid)
	case !m.numbersHidden:
		if light(ground) {
			k.clr = gray(0x11)
		} else {
			k.clr = color.White
		}
		if m.Lines {
			half := k.width(number(v))/2 + 2
			fillRect(c, ground, mid.X-half, mid.Y-k.capHeight()/2-2, mid.X+half, mid.Y+k.capHeight()/2+2)
		}
		k.write(c, vg.Point{X: mid.X, Y: mid.Y - k.capHeight()/2}, atCenter, number(v))
	}
}

// light reports whether a background needs dark letters.
func light(c color.NRGBA) bool { return 0.299*float64(c.R)+0.587*float64(c.G)+0.114*float64(c.B) > 140 }

// valueColor is the color of a value: from cividis, whose lightness increases for every reader (Nuñez, Anderton,
// Renslow 2018), or, if Diverging is set, from white at zero to one of two colors.
func (m *Cells) valueColor(all span, v float64) color.NRGBA {
	if m.Diverging {
		end := paletteColor(0)
		if v < 0 {
			end = paletteColor(1)
		}
		return mix(color.NRGBA{0xFF, 0xFF, 0xFF, 0xFF}, end, math.Abs(v)/max(math.Abs(all.lo), math.Abs(all.hi), 1e-300)*0.85)
	}
	stops := []color.NRGBA{{0x00, 0x22, 0x4E, 0xFF}, {0x35, 0x45, 0x6C, 0xFF}, {0x66, 0x69, 0x70, 0xFF}, {0x94, 0x8E, 0x77, 0xFF}, {0xC8, 0xB8, 0x66, 0xFF}, {0xFE, 0xE8, 0x38, 0xFF}}
	at := 0.5
	if all.hi > all.lo {
		at = (v - all.lo) / (all.hi - all.lo)
	}
	i := min(int(at*5), 4)
	return mix(stops[i], stops[i+1], at*5-float64(i))
}

// glyph returns the symbol and the color of a mark.
func (k Mark) glyph() (draw.GlyphDrawer, color.NRGBA) {
	switch k {
	case BetterAt95:
		return draw.TriangleGlyph{}, paletteColor(0)
	case BetterAt99:
		return draw.PyramidGlyph{}, paletteColor(0)
	case WorseAt95:
		return downTriangle{}, paletteColor(1)
	case WorseAt99:
		return downTriangle{full: true}, paletteColor(1)
	case Same:
		return draw.CircleGlyph{}, gray(0xC8)
	}
	return draw.CrossGlyph{}, gray(0xA0)
}

// downTriangle is a triangle that points down.
type downTriangle struct{ full bool }

// DrawGlyph implements gonum's interface.
func (d downTriangle) DrawGlyph(c *draw.Canvas, sty draw.GlyphStyle, pt vg.Point) {
	w, h := sty.Radius*math.Sqrt2*0.9, sty.Radius
	tri := []vg.Point{{X: pt.X - w, Y: pt.Y + h/2}, {X: pt.X + w, Y: pt.Y + h/2}, {X: pt.X, Y: pt.Y - h}}
	if d.full {
		c.FillPolygon(sty.Color, tri)
		return
	}
	c.StrokeLines(draw.LineStyle{Color: sty.Color, Width: 1}, append(tri, tri[0]))
}
