package measure

import (
	"math"
	"math/rand/v2"
	"testing"
)

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Max(1, math.Abs(b)) }

// The ranks r of the interval (r-th smallest to r-th largest) and its coverage
// for 95 %, from the binomial distribution in SciPy 1.17.1; n = 6 … 25 agree
// with the tables of Conover, Practical Nonparametric Statistics.
func TestMedianOrder(t *testing.T) {
	for _, c := range []struct {
		n, r     int
		coverage float64
	}{
		{0, 0, 0},
		{1, 0, 0},
		{5, 0, 0},
		{6, 1, 0.9687500000},
		{7, 1, 0.9843750000},
		{8, 1, 0.9921875000},
		{9, 2, 0.9609375000},
		{10, 2, 0.9785156250},
		{11, 2, 0.9882812500},
		{12, 3, 0.9614257812},
		{13, 3, 0.9775390625},
		{14, 3, 0.9870605469},
		{15, 4, 0.9648437500},
		{16, 4, 0.9787292480},
		{17, 5, 0.9509582520},
		{18, 5, 0.9691162109},
		{19, 5, 0.9807891846},
		{20, 6, 0.9586105347},
		{21, 6, 0.9733963013},
		{22, 6, 0.9830994606},
		{23, 7, 0.9653103352},
		{24, 7, 0.9773441553},
		{25, 8, 0.9567147493},
		{26, 8, 0.9710407257},
		{27, 8, 0.9808427095},
		{28, 9, 0.9643018618},
		{29, 9, 0.9758804552},
		{30, 10, 0.9572260547},
		{31, 10, 0.9705506265},
		{50, 18, 0.9671608624},
		{51, 19, 0.9511261077},
		{100, 40, 0.9647997998},
		{1000, 469, 0.9537088026},
		{10001, 4902, 0.9522907612},
	} {
		r, coverage := medianOrder(c.n, 0.95)
		if r != c.r || math.Abs(coverage-c.coverage) > 1e-9 {
			t.Errorf("n = %d: rank %d coverage %.10f, want %d %.10f", c.n, r, coverage, c.r, c.coverage)
		}
	}
}

func TestMedianCITooFew(t *testing.T) {
	for _, c := range []struct {
		n, need int
		level   float64
	}{{0, 6, 0.95}, {5, 6, 0.95}, {7, 8, 0.99}, {10, 11, 0.999}, {100, math.MaxInt, 1}} {
		i := MedianCI(make([]float64, c.n), c.level)
		if i.Known || i.Need != c.need || i.N != c.n || !math.IsNaN(i.Lo) || !math.IsNaN(i.Hi) {
			t.Errorf("n = %d, level %g: %+v", c.n, c.level, i)
		}
	}
	if got := MedianCI([]float64{1, 2, 3}, 0.95).String(); got != "needs 6 values for 95 %, has 3" {
		t.Error(got)
	}
	if got := MedianCI([]float64{3, 1, 2, 6, 5, 4}, 0.95).String(); got != "[1, 6] 96.9 %" {
		t.Error(got)
	}
}

// Need is the least n that gives an interval, at any level.
func TestSamplesForIsTheLeast(t *testing.T) {
	for _, level := range []float64{0, 0.5, 0.8, 0.9, 0.95, 0.99, 0.999, 0.999999} {
		n := samplesFor(level)
		if r, _ := medianOrder(n, level); r == 0 {
			t.Errorf("level %g: %d samples are not enough", level, n)
		}
		if r, _ := medianOrder(n-1, level); r != 0 {
			t.Errorf("level %g: %d samples are enough already", level, n-1)
		}
	}
}

// TestMedianCICovers: for 4,000 samples of a skewed distribution, the share of the intervals that contain the true
// median is the reported coverage. The standard error is 0.3 %.
func TestMedianCICovers(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{6, 10, 17, 40} {
		hits, reported := 0, 0.0
		for range 4000 {
			xs := make([]float64, n)
			for i := range xs {
				xs[i] = math.Exp(r.NormFloat64()) // median 1
			}
			ci := MedianCI(xs, 0.95)
			reported = ci.Coverage
			if ci.Lo <= 1 && 1 <= ci.Hi {
				hits++
			}
		}
		if got := float64(hits) / 4000; math.Abs(got-reported) > 0.012 {
			t.Errorf("n = %d: covered %.4f, reported %.4f", n, got, reported)
		}
	}
}
