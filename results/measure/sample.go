package measure

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/aclements/go-moremath/stats"
	"gonum.org/v1/gonum/stat/distuv"
)

// Confidence is the confidence level of all intervals.
const Confidence = 0.95

// MedianInterval is a confidence interval of a median. If the sample is too small, Known is false,
// and Lo and Hi are NaN.
type MedianInterval struct {
	Lo, Hi   float64
	Level    float64 // requested level, such as 0.95
	Coverage float64 // actual coverage, never less than Level; 0 if not Known
	Known    bool
	N, Need  int // number of values in the sample, and the smallest number with which Known is true
}

// String prints "[1.2, 3.4] 96.9 %", or what is missing.
func (i MedianInterval) String() string {
	if !i.Known {
		return fmt.Sprintf("needs %d values for %g %%, has %d", i.Need, 100*i.Level, i.N)
	}
	return fmt.Sprintf("[%.4g, %.4g] %.1f %%", i.Lo, i.Hi, 100*i.Coverage)
}

// MedianCI returns the narrowest interval between the r-th smallest and the r-th largest value that
// covers the median with at least the requested level, for any distribution. Its coverage is 1 -
// 2·P(B ≤ r-1), with B binomial, n trials of 1/2 (David and Nagaraja 2003, section 7.1). It is
// exact for every n, and symmetric. In contrast, benchmath, which benchstat uses, takes a normal
// approximation above 30 samples, which is biased to the left.
//
// Ties can only increase the coverage. Values that are not finite are skipped.
func MedianCI(xs []float64, level float64) MedianInterval {
	sorted := sortedFinite(xs)
	n := len(sorted)
	out := MedianInterval{Lo: math.NaN(), Hi: math.NaN(), Level: level, N: n, Need: samplesFor(level)}
	r, coverage := medianOrder(n, level)
	if r > 0 {
		out.Lo, out.Hi, out.Coverage, out.Known = sorted[r-1], sorted[n-r], coverage, true
	}
	return out
}

// MedianEstimate is the median with its interval at the level Confidence. Both ends are NaN if the
// sample is too small.
func MedianEstimate(xs []float64) Estimate {
	ci := MedianCI(xs, Confidence)
	return Estimate{Value: Median(xs), Low: ci.Lo, High: ci.Hi}
}

// medianOrder returns the largest r for which the r-th smallest and r-th largest of n values cover
// the median with the level; 0 if there is none.
func medianOrder(n int, level float64) (r int, coverage float64) {
	if n < 2 || !(level < 1) {
		return 0, 0
	}
	b := distuv.Binomial{N: float64(n), P: 0.5}
	covered := func(r int) float64 { return 1 - 2*b.CDF(float64(r-1)) } // it decreases as r grows
	r = sort.Search(n/2, func(i int) bool { return covered(i+1) < level })
	if r == 0 {
		return 0, 0
	}
	return r, covered(r)
}

// samplesFor returns the number of samples for which the interval from minimum to maximum reaches a
// level: 1 - 2·2⁻ⁿ ≥ level.
func samplesFor(level float64) int {
	if !(level < 1) {
		return math.MaxInt
	}
	return max(2, int(math.Ceil(1-math.Log2(1-level))))
}

// haveIntervals reports whether each sample is large enough for an interval of its median at the level Confidence.
func haveIntervals(samples [][]float64) bool {
	return !slices.ContainsFunc(samples, func(s []float64) bool { return len(s) < samplesFor(Confidence) })
}

// Median returns the median of the finite values; NaN if there is none.
func Median(xs []float64) float64 {
	return stats.Sample{Xs: sortedFinite(xs), Sorted: true}.Quantile(0.5)
}

// sortedFinite returns the finite values, sorted, in new memory.
func sortedFinite(xs []float64) []float64 {
	out := slices.DeleteFunc(slices.Clone(xs), func(x float64) bool { return !isFinite(x) })
	slices.Sort(out)
	return out
}

func isFinite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// Mean is the mean of values and its interval at the level Confidence, by Student's t: exact for
// normal values, and a good approximation for means of many values. A single value has no interval:
// Low and High equal the value. Without values, all are NaN.
func Mean(xs []float64) Estimate {
	xs = sortedFinite(xs)
	if len(xs) == 0 {
		return Estimate{Value: math.NaN(), Low: math.NaN(), High: math.NaN()}
	}
	m := stats.Mean(xs)
	e := Estimate{Value: m, Low: m, High: m}
	if n := len(xs); n > 1 {
		half := student(n-1) * stats.StdDev(xs) / math.Sqrt(float64(n))
		e.Low, e.High = m-half, m+half
	}
	return e
}
