package plot

import (
	"bytes"
	"image/color"
	"math"
	"testing"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/recorder"
	"gonum.org/v1/plot/vg/vgimg"
)

// TestOutlinesOfLetters: the outlines of letters, which a PDF has, cover the pixels that the font's own rasterizer draws.
func TestOutlinesOfLetters(t *testing.T) {
	const width, height = 300, 40
	for _, k := range []ink{titleInk(), subtitleInk()} {
		for _, text := range []string{"Sphinx of black quartz", "0.123 °C − σ"} {
			pixels := func(outlines bool, a anchor) [][]float64 {
				img := vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(pngDPI))
				c := aligningCanvas{Canvas: img, outlines: outlines}
				c.SetColor(color.Black)
				s := text
				if a != atLeft {
					s = string(rune(a)) + s
				}
				c.FillString(k.face, vg.Point{X: map[anchor]vg.Length{atLeft: 10, atCenter: 150, atRight: 290}[a], Y: 12}, s)
				var rows [][]float64
				for y := range img.Image().Bounds().Dy() {
					var row []float64
					for x := range img.Image().Bounds().Dx() {
						_, _, _, alpha := img.Image().At(x, y).RGBA()
						r, _, _, _ := img.Image().At(x, y).RGBA()
						row = append(row, float64(alpha-r)/0xFFFF)
					}
					rows = append(rows, row)
				}
				return rows
			}
			for _, a := range []anchor{atLeft, atCenter, atRight} {
				want, got := pixels(false, a), pixels(true, a)
				dark, different := 0.0, 0.0
				for y, row := range want {
					for x, v := range row {
						dark += v
						different += math.Abs(v - got[y][x])
					}
				}
				if dark < 100 || different > 0.1*dark {
					t.Errorf("%q, anchor %U: %.0f of %.0f dark pixels differ", text, rune(a), different, dark)
				}
			}
		}
	}
}

// TestAnchoredTexts: a canvas without anchors draws a text at its anchor, and no tooltip.
func TestAnchoredTexts(t *testing.T) {
	k := subtitleInk()
	for _, c := range []struct {
		a    anchor
		want vg.Length // from the point to the beginning of the text
	}{{atLeft, 0}, {atCenter, -k.width("abc") / 2}, {atRight, -k.width("abc")}} {
		rec := &recorder.Canvas{}
		text := "abc"
		if c.a != atLeft {
			text = string(rune(c.a)) + text
		}
		aligningCanvas{Canvas: rec}.FillString(k.face, vg.Point{X: 50, Y: 7}, text)
		if s, ok := rec.Actions[0].(*recorder.FillString); !ok || s.String != "abc" || s.Point != (vg.Point{X: 50 + c.want, Y: 7}) {
			t.Errorf("anchor %U: %+v", rune(c.a), rec.Actions[0])
		}
	}
	rec := &recorder.Canvas{}
	for _, outlines := range []bool{false, true} {
		aligningCanvas{Canvas: rec, outlines: outlines}.FillString(k.face, vg.Point{}, string(rune(atTooltip))+"abc")
	}
	aligningCanvas{Canvas: rec, outlines: true}.FillString(k.face, vg.Point{}, " ")
	if len(rec.Actions) != 0 {
		t.Errorf("%v", rec.Actions)
	}
}

// TestColorsOfPDF: gonum's PDF canvas expects colors whose components are not multiplied by alpha; other canvases expect
// them multiplied.
func TestColorsOfPDF(t *testing.T) {
	for _, c := range []struct {
		outlines bool
		want     [4]uint32
	}{{true, [4]uint32{0xFFFF, 0x8080, 0, 0x8080}}, {false, [4]uint32{0x8080, 0x4080, 0, 0x8080}}} {
		rec := &recorder.Canvas{}
		aligningCanvas{Canvas: rec, outlines: c.outlines}.SetColor(color.NRGBA{0xFF, 0x80, 0, 0x80})
		r, g, b, a := rec.Actions[0].(*recorder.SetColor).Color.RGBA()
		got := [4]uint32{r, g, b, a}
		for i := range got {
			if d := int(got[i]) - int(c.want[i]); d < -0x100 || d > 0x100 {
				t.Errorf("outlines %v: %x, want %x", c.outlines, got, c.want)
			}
		}
	}
}

// TestPictureFiles: a picture of each format has the signature of its format.
func TestPictureFiles(t *testing.T) {
	for format, want := range map[Format]string{SVG: "<svg ", PNG: "\x89PNG", PDF: "%PDF-"} {
		file, err := Lines{Frame: Frame{Format: format}, Curves: []Curve{{Positions: []float64{1, 2}, Value: []float64{1, 2}}}}.Draw()
		if err != nil || !bytes.HasPrefix(file, []byte(want)) {
			t.Errorf("%q: %.20q, %v", format, file, err)
		}
	}
}
