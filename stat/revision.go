package stat

import (
	"fmt"
	"math"
	"slices"

	"github.com/dustin/go-humanize/english"
)

// Revisions are the results of METviewer's tests of revis_stat: are the changes from forecast to forecast random?
// Values that cannot be computed are NaN.
type Revisions struct {
	N int // number of revisions
	// RunsProbability is the probability that chance produces at most as many runs above and below the median (Wald
	// and Wolfowitz 1940).
	RunsProbability float64
	Correlation     float64 // of each revision with the next one of the same valid time
}

// RevisionsOf tests the revisions of each valid time, in their order. The runs are METcalcpy's
// (wald_wolfowitz_runs_test.py, left.sided) and continue over valid times; the correlation is R's acf with na.pass.
// METplotpy also prints a p value of the correlation, which is a constant divided by √n. String prints the bounds of
// the correlation instead.
func RevisionsOf(times [][]float64) Revisions {
	known := slices.DeleteFunc(slices.Concat(times...), math.IsNaN)
	r := Revisions{N: len(known), RunsProbability: math.NaN(), Correlation: math.NaN()}
	mean, sd := meanAndDeviation(known)
	if sd == 0 {
		return r
	}
	var product, pairs float64
	for _, values := range times {
		for i := 1; i < len(values); i++ {
			if p := (values[i-1] - mean) * (values[i] - mean); !math.IsNaN(p) {
				product, pairs = product+p, pairs+1
			}
		}
	}
	if n := float64(len(known)); pairs > 0 {
		r.Correlation = product / (pairs + 1) / (sd * sd * (n - 1) / n)
	}
	r.RunsProbability = fewRuns(known)
	return r
}

// fewRuns is the probability, by the normal distribution, that chance produces at most as many runs of values above and
// below the median. It skips values that equal the median.
func fewRuns(values []float64) float64 {
	middle, _ := median(slices.Clone(values))
	values = slices.DeleteFunc(values, func(v float64) bool { return v == middle })
	above, runs := 0.0, 0.0
	for i, v := range values {
		if v > middle {
			above++
		}
		if i == 0 || (v > middle) != (values[i-1] > middle) {
			runs++
		}
	}
	n := float64(len(values))
	both := 2 * above * (n - above)
	variance := both * (both - n) / (n * n * (n - 1))
	if !(variance > 0) {
		return math.NaN()
	}
	return math.Erfc((1+both/n-runs)/math.Sqrt(2*variance)) / 2
}

// String describes the results of both tests.
func (r Revisions) String() string {
	text := english.Plural(r.N, "revision", "")
	if !math.IsNaN(r.RunsProbability) {
		text += fmt.Sprintf(", runs test p = %.3f", r.RunsProbability)
	}
	if !math.IsNaN(r.Correlation) {
		text += fmt.Sprintf(", autocorrelation %.2f (by chance within ±%.2f)", r.Correlation, 1.96/math.Sqrt(float64(r.N)))
	}
	return text
}
