package plot

import (
	"bytes"
	"image/color"
	"io"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"golang.org/x/image/font"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	vgfont "gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgpdf"

	"github.com/barograph/barograph/internal/fault"
)

// Format is a file format of pictures.
type Format string

// The formats. A PNG has two pixels for each px of the frame.
const (
	SVG Format = ""
	PNG Format = "png"
	PDF Format = "pdf"
)

const pngDPI = 144 // a px of the frame is 1/72 inch

// FormatOf returns the format of a file name's extension; an unknown or missing one means SVG. It returns an error for
// the extension of a picture format that package plot cannot write.
func FormatOf(file string) (Format, error) {
	ext := strings.ToLower(filepath.Ext(file))
	switch ext {
	case ".png", ".pdf":
		return Format(ext[1:]), nil
	case ".jpg", ".jpeg", ".gif", ".webp", ".ps", ".eps", ".html":
		return "", fault.Misuse(file, "has a picture format that Barograph does not write", "name a file that ends in .svg, .png or .pdf")
	}
	return SVG, nil
}

// canvasOf creates the canvas of a format, and the writer of its file.
func canvasOf(format Format, w, h vg.Length) (vg.Canvas, io.WriterTo) {
	if format == PNG {
		c := vgimg.NewWith(vgimg.UseWH(w, h), vgimg.UseDPI(pngDPI))
		return aligningCanvas{Canvas: c}, vgimg.PngCanvas{Canvas: c}
	}
	c := vgpdf.New(w, h)
	return aligningCanvas{Canvas: c, outlines: true}, c
}

// aligningCanvas writes texts at their anchors. SVG viewers do this themselves (see encode).
type aligningCanvas struct {
	vg.Canvas
	outlines bool // draw letters as paths: gonum's PDF canvas writes only the letters of ASCII correctly
}

// FillString writes a text, whose first character may be an anchor.
func (c aligningCanvas) FillString(f vgfont.Face, pt vg.Point, text string) {
	first, size := utf8.DecodeRuneInString(text)
	switch anchor(first) {
	case atTooltip:
		return
	case atCenter:
		text, pt.X = text[size:], pt.X-f.Width(text[size:])/2
	case atRight:
		text, pt.X = text[size:], pt.X-f.Width(text[size:])
	case atLeft:
	}
	if !c.outlines {
		c.Canvas.FillString(f, pt, text)
		return
	}
	if letters := outline(f, pt, text); len(letters) > 0 { // a path without a point is not valid in a PDF
		c.Fill(letters)
	}
}

// outline is the path of a text whose baseline starts at pt.
func outline(f vgfont.Face, pt vg.Point, text string) (path vg.Path) {
	var buf sfnt.Buffer
	units := fixed.Int26_6(f.Face.UnitsPerEm())
	scale := f.Font.Size / vg.Length(units)
	for _, r := range text {
		glyph, _ := f.Face.GlyphIndex(&buf, r)                   // 0, the box of a missing letter, on an error
		segments, _ := f.Face.LoadGlyph(&buf, glyph, units, nil) // none on an error
		at := func(p fixed.Point26_6) vg.Point {
			return vg.Point{X: pt.X + vg.Length(p.X)*scale, Y: pt.Y - vg.Length(p.Y)*scale}
		}
		for _, s := range segments {
			switch s.Op {
			case sfnt.SegmentOpMoveTo:
				path.Move(at(s.Args[0]))
			case sfnt.SegmentOpLineTo:
				path.Line(at(s.Args[0]))
			case sfnt.SegmentOpQuadTo:
				path.QuadTo(at(s.Args[0]), at(s.Args[1]))
			case sfnt.SegmentOpCubeTo:
				path.CubeTo(at(s.Args[0]), at(s.Args[1]), at(s.Args[2]))
			}
		}
		advance, _ := f.Face.GlyphAdvance(&buf, glyph, units, font.HintingNone) // 0 on an error
		pt.X += vg.Length(advance) * scale
	}
	return path
}

// bytes returns the file of a picture in a format other than SVG.
func (s *sheet) bytes() ([]byte, error) {
	var out bytes.Buffer
	_, err := s.file.WriteTo(&out)
	return out.Bytes(), err
}

// SetColor passes a color to gonum's PDF canvas, which expects components that are not multiplied
// by alpha.
func (c aligningCanvas) SetColor(clr color.Color) {
	if c.outlines {
		clr = unmultiplied(color.NRGBA64Model.Convert(clr).(color.NRGBA64)) //nolint:forcetypeassert // the model's own type
	}
	c.Canvas.SetColor(clr)
}

// unmultiplied is a color whose components are not multiplied by alpha.
type unmultiplied color.NRGBA64

// RGBA returns the components and alpha.
func (s unmultiplied) RGBA() (r, g, b, a uint32) {
	return uint32(s.R), uint32(s.G), uint32(s.B), uint32(s.A)
}
