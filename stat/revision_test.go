package stat

import (
	"math"
	"testing"
)

// TestRevisions: revisions of three valid times; the expected numbers are METcalcpy's
// formulas (runs_test left.sided, acf with a gap after each time), computed
// independently.
func TestRevisions(t *testing.T) {
	times := [][]float64{{1, 2, -1, -2}, {-3, 4, 5}, {6, -1, 0.5}}
	r := RevisionsOf(times)
	if r.N != 10 || math.Abs(r.RunsProbability-0.08985624743949992) > 1e-12 || math.Abs(r.Correlation - -0.0753867896459387) > 1e-12 {
		t.Errorf("%+v", r)
	}
	if text := r.String(); text != "10 revisions, runs test p = 0.090, autocorrelation -0.08 (by chance within ±0.62)" {
		t.Error(text)
	}
	gap := RevisionsOf([][]float64{{1, 2, -1, -2, math.NaN(), -3, 4, 5}, {}, {6, -1, 0.5}}) // a missing value separates, like a new valid time
	if gap != r {
		t.Errorf("%+v, want %+v", gap, r)
	}
	for _, none := range [][][]float64{nil, {{1}}, {{2, 2, 2}}} {
		if r := RevisionsOf(none); !math.IsNaN(r.RunsProbability) || !math.IsNaN(r.Correlation) {
			t.Errorf("%v: %+v", none, r)
		}
	}
}
