package plot

import (
	"image/color"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	xfont "golang.org/x/image/font"
	gplot "gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Sizes of text in px, for a picture 900 px wide.
const (
	titleSize   = 18
	textSize    = 13
	labelSize   = 12.5
	tickSize    = 11.5
	captionSize = 11
)

// slack is the factor by which a text may be wider than measured, because a viewer may lack the font.
const slack = 1.06

func sans(size vg.Length, weight xfont.Weight) font.Font {
	return font.Font{Typeface: "Liberation", Variant: "Sans", Weight: weight, Size: size}
}

// ink is a font, a size and a color of text.
type ink struct {
	face font.Face
	clr  color.Color
}

func newInk(size vg.Length, weight xfont.Weight, clr color.Color) ink {
	f := sans(size, weight)
	return ink{gplot.DefaultTextHandler.Cache().Lookup(f, size), clr}
}

func titleInk() ink    { return newInk(titleSize, xfont.WeightBold, gray(0x11)) }
func subtitleInk() ink { return newInk(textSize, xfont.WeightNormal, gray(0x55)) }
func legendInk() ink   { return newInk(12, xfont.WeightNormal, gray(0x22)) }
func panelInk() ink    { return newInk(textSize, xfont.WeightBold, gray(0x22)) }
func valueInk() ink    { return newInk(10.5, xfont.WeightNormal, gray(0x33)) }
func captionInk() ink  { return newInk(captionSize, xfont.WeightNormal, gray(0x66)) }

// noteInk is for text in place of a value, such as "wrong answer".
func noteInk() ink { return newInk(10.5, xfont.WeightBold, color.NRGBA{0xB0, 0x3A, 0x00, 0xFF}) }

func (k ink) width(s string) vg.Length { return k.face.Width(s) }

// anchor is which part of a text (left end, center, right end) is placed at the given point.
type anchor rune

// The anchors. SVG aligns text itself, with the font that the viewer uses; gonum would align it
// with the widths of its own font. gonum's SVG writer has no anchors, so the text starts with one
// of these private-use characters, which encode removes.
const (
	atLeft    anchor = 0
	atCenter  anchor = 0xE001
	atRight   anchor = 0xE002
	atTooltip anchor = 0xE003 // a tooltip: hidden text that a symbol shows when a reader points at it
)

// write puts the text's baseline at pt.
func (k ink) write(c draw.Canvas, pt vg.Point, a anchor, s string) {
	if s == "" {
		return
	}
	c.SetColor(k.clr)
	if a != atLeft {
		s = string(rune(a)) + s
	}
	c.FillString(k.face, pt, s)
}

// writeOver writes on a translucent white background, over other elements.
func (k ink) writeOver(c draw.Canvas, pt vg.Point, s string) {
	fillRect(c, fade(gray(0xFF), 0.75), pt.X-3, pt.Y-3, pt.X+k.width(s)*slack, pt.Y+10)
	k.write(c, pt, atLeft, s)
}

// capHeight is the height of capital letters and digits, for centering.
func (k ink) capHeight() vg.Length { return 0.716 * k.face.Font.Size }

// fit shortens s to a width, with an ellipsis at the end.
func (k ink) fit(s string, width vg.Length) string {
	if k.width(s) <= width {
		return s
	}
	for r := []rune(s); len(r) > 0; {
		r = r[:len(r)-1]
		if short := strings.TrimRight(string(r), " ") + "…"; k.width(short) <= width {
			return short
		}
	}
	return "…"
}

// wrap breaks s between words into lines no wider than width. It shortens a word that is wider.
func (k ink) wrap(s string, width vg.Length) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(s) {
		next := strings.TrimPrefix(line+" "+word, " ")
		if k.width(next) <= width {
			line = next
			continue
		}
		if line != "" {
			lines = append(lines, line)
		}
		line = k.fit(word, width)
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// style is the same font for gonum's axes.
func (k ink) style(x text.XAlignment, y text.YAlignment) text.Style {
	return text.Style{Color: k.clr, Font: k.face.Font, XAlign: x, YAlign: y, Handler: gplot.DefaultTextHandler}
}

// clean makes any text valid for XML and for one line: control characters become spaces, and bytes
// that are not UTF-8 become the replacement character. The SVG writer escapes & < ".
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == utf8.RuneError, r == 0xFFFE, r == 0xFFFF, r == rune(atCenter), r == rune(atRight), r == rune(atTooltip):
			return 0xFFFD
		case unicode.IsControl(r):
			return ' '
		}
		return r
	}, s)
}

// number prints three significant digits with thousands separators, and millions and billions with
// M and G: 0.0123, 4.56, 12,300, 1.50M.
func number(v float64) string {
	switch a := math.Abs(v); {
	case !isDrawable(v):
		return "–"
	case a >= 0.9995e9:
		return Digits(v/1e9, 3) + "G"
	case a >= 0.9995e6:
		return Digits(v/1e6, 3) + "M"
	case a < 1e-4 && a > 0:
		return minus(strconv.FormatFloat(v, 'g', 3, 64))
	}
	return Digits(v, 3)
}

// Digits rounds to n significant digits, and prints all digits before the point with thousands
// separators: 0.0123, 4.56, 12,300.
func Digits(v float64, n int) string {
	if v == 0 {
		return "0"
	}
	r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', n, 64), 64)
	if err != nil {
		r = v
	}
	decimals := max(0, n-1-int(math.Floor(math.Log10(math.Abs(r)))))
	return decimal(r, decimals)
}

// decimal prints a number with a fixed count of decimals and thousands separators.
func decimal(v float64, decimals int) string {
	s := strconv.FormatFloat(math.Abs(v), 'f', decimals, 64)
	integer, rest, _ := strings.Cut(s, ".")
	for i := len(integer) - 3; i > 0; i -= 3 {
		integer = integer[:i] + "," + integer[i:]
	}
	if rest != "" {
		integer += "." + rest
	}
	if v < 0 && strings.Trim(s, "0.") != "" {
		return "−" + integer
	}
	return integer
}

// plain prints coordinates without thousands separators: 1000 hPa, not 1,000.
func plain(v float64, decimals int) string {
	if v == 0 {
		v = 0 // not -0
	}
	return minus(strconv.FormatFloat(v, 'f', decimals, 64))
}

func minus(s string) string { return strings.ReplaceAll(s, "-", "−") }

// writeUp writes text that runs upward, centered on pt.X.
func writeUp(c draw.Canvas, k ink, pt vg.Point, a anchor, s string) {
	c.Push()
	c.Translate(vg.Point{X: pt.X + k.capHeight()/2, Y: pt.Y})
	c.Rotate(math.Pi / 2)
	k.write(c, vg.Point{}, a, s)
	c.Pop()
}
