package measure

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestIntervalsAreOf95Percent: 2.5 % of the draws are below each interval and 2.5 % above it. An interval of 90 % would
// fail.
func TestIntervalsAreOf95Percent(t *testing.T) {
	var xs []float64
	for i := range 1000 {
		xs = append(xs, float64(1000-i))
	}
	if lo, hi := percentiles(xs); lo != 25 || hi != 975 {
		t.Errorf("2.5 and 97.5 %% of 1 … 1000 are %v and %v", lo, hi)
	}
	for freedom, want := range map[int]float64{1: 12.7062, 2: 4.3027, 10: 2.2281, 100: 1.9840} { // from a table of Student's t
		if got := student(freedom); math.Abs(got-want) > 1e-4 {
			t.Errorf("t of %d degrees of freedom: %v, want %v", freedom, got, want)
		}
	}
	a, b := times(1, 60, 20), times(2, 60, 10)
	lo, hi := bootstrapRatio(sortedFinite(a), sortedFinite(b), 5)
	below, above, draws := 0, 0, 4000
	drawnA, drawnB := make([]float64, len(a)), make([]float64, len(b))
	for i := range draws {
		r := rand.New(rand.NewPCG(99, uint64(i))) // not the draws of the interval
		draw(r, drawnA, a)
		draw(r, drawnB, b)
		switch q := medianRatio(drawnA, drawnB); {
		case q < lo:
			below++
		case q > hi:
			above++
		}
	}
	for _, n := range []int{below, above} {
		if share := float64(n) / float64(draws); share < 0.01 || share > 0.04 {
			t.Errorf("%.1f %% of resamples are outside one end of the 95 %% interval of a ratio", 100*share)
		}
	}
}
