package plot

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot/vg"
)

// box is the place of a text in the picture, in px from the upper left.
type box struct {
	text           string
	x0, y0, x1, y1 float64
}

// matrix is an SVG transform: x' = a·x + c·y + e, y' = b·x + d·y + f.
type matrix struct{ a, b, c, d, e, f float64 }

func (m matrix) times(n matrix) matrix {
	return matrix{
		m.a*n.a + m.c*n.b, m.b*n.a + m.d*n.b, m.a*n.c + m.c*n.d, m.b*n.c + m.d*n.d,
		m.a*n.e + m.c*n.f + m.e, m.b*n.e + m.d*n.f + m.f,
	}
}

func (m matrix) at(x, y float64) (float64, float64) { return m.a*x + m.c*y + m.e, m.b*x + m.d*y + m.f }

var (
	step = regexp.MustCompile(`(\w+)\(([^)]*)\)`)
	size = regexp.MustCompile(`font-size:([\d.]+)px`)
)

func transform(s string) matrix {
	m := matrix{a: 1, d: 1}
	for _, t := range step.FindAllStringSubmatch(s, -1) {
		var v []float64
		for f := range strings.FieldsFuncSeq(t[2], func(r rune) bool { return r == ',' || r == ' ' }) {
			x, _ := strconv.ParseFloat(f, 64)
			v = append(v, x)
		}
		switch t[1] {
		case "translate":
			m = m.times(matrix{1, 0, 0, 1, v[0], v[1]})
		case "scale":
			m = m.times(matrix{v[0], 0, 0, v[1], 0, 0})
		case "rotate":
			sin, cos := math.Sincos(v[0] * math.Pi / 180)
			m = m.times(matrix{cos, sin, -sin, cos, 0, 0})
		default:
			panic("transform " + t[1])
		}
	}
	return m
}

// texts finds every text of a picture and the size of the picture.
func texts(t *testing.T, svg []byte) (out []box, width, height float64) {
	t.Helper()
	dec := xml.NewDecoder(bytes.NewReader(svg))
	stack := []matrix{{a: 1, d: 1}}
	var open *box
	var attr map[string]string
	var place matrix
	for {
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return out, width, height
		}
		if err != nil {
			t.Fatal(err)
		}
		switch e := tok.(type) {
		case xml.StartElement:
			attr = map[string]string{}
			for _, a := range e.Attr {
				attr[a.Name.Local] = a.Value
			}
			place = stack[len(stack)-1].times(transform(attr["transform"]))
			stack = append(stack, place)
			switch e.Name.Local {
			case "svg":
				width, _ = strconv.ParseFloat(attr["width"], 64)
				height, _ = strconv.ParseFloat(attr["height"], 64)
			case "text":
				open = &box{}
			}
		case xml.CharData:
			if open != nil {
				open.text += string(e)
			}
		case xml.EndElement:
			stack = stack[:len(stack)-1]
			if open != nil {
				open.measure(attr, place)
				if strings.TrimSpace(open.text) != "" {
					out = append(out, *open)
				}
				open = nil
			}
		}
	}
}

// measure computes the corners of the letters, as capitals without descenders.
func (b *box) measure(attr map[string]string, m matrix) {
	px, _ := strconv.ParseFloat(size.FindStringSubmatch(attr["style"])[1], 64)
	weight := xfont.WeightNormal
	if strings.Contains(attr["style"], "bold") {
		weight = xfont.WeightBold
	}
	w := newInk(vg.Length(px), weight, gray(0)).width(b.text).Points()
	x, _ := strconv.ParseFloat(attr["x"], 64)
	y, _ := strconv.ParseFloat(attr["y"], 64)
	switch attr["text-anchor"] {
	case "middle":
		x -= w / 2
	case "end":
		x -= w
	}
	ax, ay := m.at(x, y)
	bx, by := m.at(x+w, y-0.7*px)
	b.x0, b.x1, b.y0, b.y1 = min(ax, bx), max(ax, bx), min(ay, by), max(ay, by)
}

// checkLayout checks that the edge of the picture cuts no text and that no two texts overlap.
func checkLayout(t *testing.T, svg []byte) {
	t.Helper()
	all, width, height := texts(t, svg)
	for i, a := range all {
		if a.x0 < 2 || a.y0 < 2 || a.x1 > width-2 || a.y1 > height-2 {
			t.Errorf("%q at (%.0f, %.0f) to (%.0f, %.0f) is cut off by a picture of %.0f × %.0f", a.text, a.x0, a.y0, a.x1, a.y1, width, height)
		}
		for _, b := range all[i+1:] {
			if min(a.x1, b.x1)-max(a.x0, b.x0) > 0.5 && min(a.y1, b.y1)-max(a.y0, b.y0) > 0.5 {
				t.Errorf("%q and %q overlap at (%.0f, %.0f)", a.text, b.text, max(a.x0, b.x0), max(a.y0, b.y0))
			}
		}
	}
}

func TestLayoutOfPictures(t *testing.T) {
	all := pictures()
	maps.Copy(all, drawings())
	for name, p := range all {
		t.Run(name, func(t *testing.T) {
			svg, err := p.Draw()
			if err != nil {
				t.Fatal(err)
			}
			checkLayout(t, svg)
		})
	}
}

// The layout must be correct in small and large pictures, with long names, and for any range of an
// axis.
func TestLayoutInAnySize(t *testing.T) {
	for _, w := range []int{480, 1400} {
		for _, h := range []int{0, 300} {
			f := Frame{Title: strings.Repeat("long title ", 20), Subtitle: strings.Repeat("words ", 60), XLabel: "x (unit)", YLabel: "y (unit)", Width: w, Height: h}
			d, b, v, s, p := pictures()["dieoff_many"].(Lines), hbars(true), validTime(400, 24e9*3600, false), strip(), profile()
			d.Frame, b.Frame, v.Frame, s.Frame, p.Frame = f, f, f, f, f
			b.Panels[0].Rows[0].Label = strings.Repeat("a very long name ", 10)
			tp, tl := sweepPicture(true), timelinePicture()
			tp.Frame, tl.Frame = f, f
			tp.Groups[0].Name = strings.Repeat("a very long name ", 10)
			for _, p := range []drawer{d, b, v, s, p, tp, tl} {
				t.Run(fmt.Sprintf("%T/%d×%d", p, w, h), func(t *testing.T) {
					svg, err := p.Draw()
					if err != nil {
						t.Fatal(err)
					}
					checkLayout(t, svg)
				})
			}
		}
	}
}

// TestLayoutForOneUlp: values that differ only in their last bit give an axis with few ticks. An earlier version
// computed ticks until the memory was full.
func TestLayoutForOneUlp(t *testing.T) {
	svg, err := Lines{Curves: []Curve{{Name: "c", Positions: []float64{0, 12}, Value: []float64{0.0025, math.Nextafter(0.0025, 1)}}}}.Draw()
	if err != nil {
		t.Fatal(err)
	}
	checkSVG(t, svg)
	checkLayout(t, svg)
}

func TestLayoutForAnyRange(t *testing.T) {
	for lo := -6; lo <= 9; lo += 5 {
		for hi := lo; hi <= 9; hi += 2 {
			for _, log := range []bool{false, true} {
				h := Rows{Log: log, Unit: "ms", Panels: []Panel{{Rows: []Row{{Label: "a", Value: Value{V: 1.7 * math.Pow10(lo)}}, {Label: "b", Value: Value{V: 3.3 * math.Pow10(hi)}}}}}}
				d := Lines{Curves: []Curve{{Name: "c", Positions: []float64{0, math.Pow10(max(hi, 0))}, Value: []float64{-math.Pow10(lo), math.Pow10(hi)}}}}
				v := Lines{Coordinate: Times, Curves: []Curve{{Name: "c", Positions: []float64{1.5e9, 1.5e9 + math.Pow10(max(hi, 0))}, Value: []float64{-math.Pow10(lo), math.Pow10(hi)}}}}
				tp := Columns{Groups: []Group{{Name: "a", Bars: []Bar{{"1", Value{V: 1.7 * math.Pow10(lo)}, 1.7 * math.Pow10(hi), false}, {"2", Value{V: 3.3 * math.Pow10(hi)}, 3.3 * math.Pow10(lo), false}}}}}
				tl := Columns{Step: 1, Groups: []Group{{Bars: []Bar{{Value: Value{V: math.Pow10(lo)}, Line: math.Pow10(hi)}, {Value: Value{V: math.Pow10(hi)}, Line: math.Pow10(lo)}}}}}
				for _, p := range []drawer{h, d, v, tp, tl} {
					svg, err := p.Draw()
					if err != nil {
						t.Fatalf("%T 1e%d 1e%d: %v", p, lo, hi, err)
					}
					checkSVG(t, svg)
					checkLayout(t, svg)
					if t.Failed() {
						t.Fatalf("%T from 1e%d to 1e%d, log %v", p, lo, hi, log)
					}
				}
			}
		}
	}
}
