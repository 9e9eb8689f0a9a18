package curve

import (
	"math"
	"testing"
)

// TestPressure: only P and a number is a pressure; a height, a layer and a bare number have none.
func TestPressure(t *testing.T) {
	for level, want := range map[string]float64{
		"P500": 500, "P0.4": 0.4, "500": math.NaN(), "Z500": math.NaN(), "P": math.NaN(), "P850-500": math.NaN(), "SFC": math.NaN(), "": math.NaN(),
	} {
		if got := pressure(level); got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Errorf("%q: %v hPa, want %v", level, got, want)
		}
	}
}
