package plot_test

import (
	"bytes"
	"image"
	_ "image/png"
	"strings"
	"testing"

	"github.com/barograph/barograph/results/plot"
)

// Every format draws the same picture. A PNG has two pixels for each px, with ink where the SVG has
// it. A PDF has a page of the same size.
func TestFormats(t *testing.T) {
	picture := plot.Lines{
		Frame:      plot.Frame{Title: "RMSE by lead − °C · σ", XLabel: "forecast lead (h)", YLabel: "RMSE", Width: 640, Height: 360},
		Coordinate: plot.Leads,
		Curves:     []plot.Curve{{Name: "GFS", Positions: []float64{0, 24, 48}, Value: []float64{-1, 2, 4}}},
	}
	picture.Format = plot.PNG
	file, err := picture.Draw()
	if err != nil {
		t.Fatal(err)
	}
	img, _, err := image.Decode(bytes.NewReader(file))
	if err != nil || img.Bounds().Dx() != 1280 || img.Bounds().Dy() != 720 {
		t.Fatalf("%v, %v", img.Bounds(), err)
	}
	dark := 0
	for y := range 90 { // the title
		for x := range 1280 {
			if r, _, _, _ := img.At(x, y).RGBA(); r < 0x8000 {
				dark++
			}
		}
	}
	if dark < 500 || dark > 20000 {
		t.Errorf("the title has %d dark pixels", dark)
	}
	picture.Format = plot.PDF
	if file, err = picture.Draw(); err != nil || !bytes.HasPrefix(file, []byte("%PDF-1.")) || !bytes.Contains(file, []byte("/MediaBox [0 0 640.00 360.00]")) || len(file) < 5000 {
		t.Errorf("%d bytes, %v\n%.300s", len(file), err, file)
	}
}

func TestFormatOf(t *testing.T) {
	for file, want := range map[string]plot.Format{"a.svg": plot.SVG, "x": plot.SVG, "b.PNG": plot.PNG, "c.d/e.pdf": plot.PDF} {
		if got, err := plot.FormatOf(file); got != want || err != nil {
			t.Errorf("%s: %q, %v", file, got, err)
		}
	}
	if _, err := plot.FormatOf("a.jpg"); err == nil || !strings.Contains(err.Error(), ".png or .pdf") {
		t.Error(err)
	}
}
