package measure

import (
	"math"
	"math/rand/v2"
	"testing"
)

// What is called a 95 % interval is one: of an interval of 90 % the ends, and
// what lies beyond them, are others.
func TestIntervalsAreOf95Percent(t *testing.T) {
	var xs []float64
	for i := range 1000 {
		xs = append(xs, float64(1000-i))
	}
	if lo, hi := percentiles(xs); lo != 25 || hi != 975 {
		t.Errorf("2.5 and 97.5 %% of 1 … 1000 are %v and %v", lo, hi)
	}
	for freedom, want := range map[int]float64{1: 12.7062, 2: 4.3027, 10: 2.2281, 100: 1.9840} { // any table of Student's t
		if got := student(freedom); math.Abs(got-want) > 1e-4 {
			t.Errorf("t of %d degrees of freedom: %v, want %v", freedom, got, want)
		}
	}
	a, b := times(1, 60, 20), times(2, 60, 10)
	lo, hi := bootstrapRatio(sortedFinite(a), sortedFinite(b), 5)
	below, above, draws := 0, 0, 4000
	into, onto := make([]float64, len(a)), make([]float64, len(b))
	for i := range draws {
		r := rand.New(rand.NewPCG(99, uint64(i))) // others than those of the interval
		draw(r, into, a)
		draw(r, onto, b)
		switch q := medianRatio(into, onto); {
		case q < lo:
			below++
		case q > hi:
			above++
		}
	}
	for _, n := range []int{below, above} {
		if share := float64(n) / float64(draws); share < 0.01 || share > 0.04 {
			t.Errorf("%.1f %% of resamples lie beyond an end of the 95 %% interval of a ratio", 100*share)
		}
	}
}
