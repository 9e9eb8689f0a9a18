package plot

import (
	"cmp"
	"fmt"
	"image/color"
	"io"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/barograph/barograph/internal/fault"
)

// Frame is what surrounds the data of every picture. Texts may be any string; they are wrapped to
// the width and escaped.
type Frame struct {
	Title    string // one line: the content of the picture
	Subtitle string // data, machine, conditions
	Caption  string // at the bottom: how it was measured, how to read it
	XLabel   string // with its unit: "forecast lead (h)"
	YLabel   string
	// Width and Height are in px; 0 is the default of the kind of picture. Pictures
	// with a row for each value (Rows, Cells, Coverage) are at least as high as their rows.
	Width, Height int
	Format        Format // "" = SVG
}

const margin = 20

// entry is one name in a legend.
type entry struct {
	name string
	clr  color.Color
	dash []vg.Length
	mark draw.GlyphDrawer // nil = a filled square, or none on a line
	line vg.Length        // width of the line; 0 = none
}

const (
	legendRow = 18
	legendGap = 20
)

// sampleWidth is the width of the color sample.
func (e entry) sampleWidth() vg.Length {
	if e.line > 0 {
		return 25
	}
	return 17
}

func (e entry) width(k ink) vg.Length { return e.sampleWidth() + k.width(e.name)*slack + legendGap }

func (e entry) draw(c draw.Canvas, k ink, x, baseline vg.Length) {
	mid := baseline + k.capHeight()/2
	switch {
	case e.line > 0:
		c.StrokeLine2(draw.LineStyle{Color: e.clr, Width: e.line, Dashes: e.dash}, x, mid, x+20, mid)
		if e.mark != nil {
			c.DrawGlyph(draw.GlyphStyle{Color: e.clr, Radius: 3.2, Shape: e.mark}, vg.Point{X: x + 10, Y: mid})
		}
	case e.mark != nil:
		c.DrawGlyph(draw.GlyphStyle{Color: e.clr, Radius: 4, Shape: e.mark}, vg.Point{X: x + 5.5, Y: mid})
	default:
		fillRect(c, e.clr, x, mid-5.5, x+11, mid+5.5)
	}
	k.write(c, vg.Point{X: x + e.sampleWidth(), Y: baseline}, atLeft, e.name)
}

// sheet is a frame that is laid out for a width: the texts above and below the data.
type sheet struct {
	Frame
	width                    vg.Length
	title, subtitle, caption []string
	legend                   [][]entry
	top, bottom              vg.Length // heights of the areas above and below the data

	svg  *vgsvg.Canvas // of a picture being drawn as SVG
	file io.WriterTo   // of a picture being drawn in another format
	body draw.Canvas   // the area of the data
}

// layout wraps the frame's texts and the legend. It fails for sizes in which nothing is legible.
func (f Frame) layout(width int, legend []entry) (*sheet, error) {
	width = cmp.Or(f.Width, width)
	if width < 300 || width > 10000 || f.Height < 0 || f.Height > 100000 {
		return nil, &fault.Error{Setting: "plot size", Problem: fmt.Sprintf("%d × %d px", width, f.Height), Cure: "use a width of 300 … 10000 px, and 0 for a height that fits"}
	}
	f.Title, f.Subtitle, f.Caption = clean(f.Title), clean(f.Subtitle), clean(f.Caption)
	f.XLabel, f.YLabel = clean(f.XLabel), clean(f.YLabel)
	s := &sheet{Frame: f, width: vg.Length(width)}
	room := (s.width - 2*margin) * 0.96                        // because other fonts are wider
	text := (s.width - 2*margin) / 1.15                        // DejaVu Sans, a substitute for ours, is the widest
	s.title = titleInk().wrap(f.Title, (s.width-2*margin)/1.3) // its bold letters are even wider
	s.subtitle = subtitleInk().wrap(f.Subtitle, text)
	s.caption = captionInk().wrap(f.Caption, text)
	s.wrapLegend(legend, room)
	s.top = 16 + 23*vg.Length(len(s.title)) + 17*vg.Length(len(s.subtitle)) + 10
	if len(s.legend) > 0 {
		s.top += legendRow*vg.Length(len(s.legend)) + 6
	}
	s.bottom = 14
	if len(s.caption) > 0 {
		s.bottom += 8 + 14*vg.Length(len(s.caption))
	}
	return s, nil
}

func (s *sheet) wrapLegend(legend []entry, room vg.Length) {
	k := legendInk()
	used := room + 1
	for _, e := range legend {
		e.name = k.fit(clean(e.name), (room-e.sampleWidth()-legendGap)/slack)
		w := e.width(k)
		if used+w > room {
			s.legend = append(s.legend, nil)
			used = 0
		}
		last := len(s.legend) - 1
		s.legend[last] = append(s.legend[last], e)
		used += w
	}
}

// open starts the picture. body is the height of the data if the frame has no height; least is the
// minimum height of the data.
func (s *sheet) open(body, least vg.Length) *sheet {
	height := max(cmp.Or(vg.Length(s.Height), s.top+body+s.bottom), s.top+least+s.bottom)
	var canvas vg.Canvas
	if s.Format == SVG {
		s.svg = vgsvg.New(s.width, height)
		canvas = s.svg
	} else {
		canvas, s.file = canvasOf(s.Format, s.width, height)
	}
	all := draw.NewCanvas(canvas, s.width, height)
	fillRect(all, color.White, 0, 0, s.width, height)
	s.drawAround(all, height)
	s.body = draw.Crop(all, margin, -margin, s.bottom, -s.top)
	return s
}

func (s *sheet) drawAround(c draw.Canvas, height vg.Length) {
	y := titleInk().lines(c, height-16, 23, 6, s.title)
	y = subtitleInk().lines(c, y, 17, 4, s.subtitle) - 6
	for _, row := range s.legend {
		y -= legendRow
		x := vg.Length(margin)
		for _, e := range row {
			e.draw(c, legendInk(), x, y+4)
			x += e.width(legendInk())
		}
	}
	captionInk().lines(c, s.bottom-8, 14, 4, s.caption)
}

// lines writes lines of text below y, each with the given height, and returns the y below the last one. baseline is
// the distance from the bottom of a line to its baseline.
func (k ink) lines(c draw.Canvas, y, height, baseline vg.Length, lines []string) vg.Length {
	for _, line := range lines {
		y -= height
		k.write(c, vg.Point{X: margin, Y: y + baseline}, atLeft, line)
	}
	return y
}

// noData is an empty picture: the frame, and the words "no data".
func (s *sheet) noData() ([]byte, error) {
	c := s.open(140, 60).body
	fillRect(c, gray(0xF5), c.Min.X, c.Min.Y, c.Max.X, c.Max.Y)
	subtitleInk().write(c, vg.Point{X: (c.Min.X + c.Max.X) / 2, Y: (c.Min.Y+c.Max.Y)/2 - 4}, atCenter, "no data")
	return s.encode()
}

func fillRect(c draw.Canvas, clr color.Color, x0, y0, x1, y1 vg.Length) {
	c.FillPolygon(clr, []vg.Point{{X: x0, Y: y0}, {X: x1, Y: y0}, {X: x1, Y: y1}, {X: x0, Y: y1}})
}
