package plot

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/plot/vg"
)

// The isoline of 1 between four corners: the value is 1 where it crosses an edge. At a saddle the
// mean of the corners decides its direction. Nothing is drawn next to a missing value.
func TestCrossings(t *testing.T) {
	corners := [4]vg.Point{{X: 0, Y: 0}, {X: 4, Y: 0}, {X: 4, Y: 4}, {X: 0, Y: 4}}
	for want, values := range map[string][4]float64{
		"[]":                            {0, 0.5, 0.2, 0.9},
		"[[{2 0} {2 4}]]":               {0, 2, 2, 0},
		"[[{1 0} {0 1}]]":               {2, -2, -2, -2},
		"[[{0 0} {0 4}]]":               {1, 2, 2, 1}, // a value of the level is not above it
		"[[{3 0} {4 1}] [{1 4} {0 3}]]": {4, 0, 4, 0},
		"[[{0 1} {1 0}] [{4 3} {3 4}]]": {2, -2, 2, -2},
	} {
		if got := fmt.Sprint(crossings(corners, values, 1)); got != want {
			t.Errorf("%v: %s, want %s", values, got, want)
		}
	}
	if crossings(corners, [4]float64{0, 2, math.NaN(), 0}, 1) != nil {
		t.Error("a line beside a missing value")
	}
}
