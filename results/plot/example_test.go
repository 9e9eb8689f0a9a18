package plot_test

import (
	"bytes"
	"fmt"
	"math"

	"github.com/barograph/barograph/results/plot"
)

func ExampleLines() {
	svg, err := plot.Lines{
		Frame: plot.Frame{
			Title: "500 hPa height, G2/NHX", Subtitle: "GFS, January 2019, 00Z",
			XLabel: "forecast lead (h)", YLabel: "anomaly correlation",
		},
		Curves:     []plot.Curve{{Name: "GFS", Positions: []float64{0, 24, 48, 72}, Value: []float64{1, 0.99, math.NaN(), 0.95}}},
		References: []plot.Reference{{Value: 0.6, Label: "useful skill: 0.6"}},
	}.Draw()
	fmt.Println(bytes.HasPrefix(svg, []byte("<svg ")), err)
	// Output: true <nil>
}
