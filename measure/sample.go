package measure

import (
	"fmt"
	"math"
	"slices"

	"github.com/aclements/go-moremath/stats"
	"gonum.org/v1/gonum/stat/distuv"
)

// Confidence is the level that Barograph asks of every interval.
const Confidence = 0.95

// MedianInterval is a confidence interval of a median. It is a value even where
// the sample is too small for one: then Known is false, Lo and Hi are NaN, and
// Need says how many samples the level takes.
type MedianInterval struct {
	Lo, Hi   float64
	Level    float64 // asked for, such as 0.95
	Coverage float64 // what the interval really has, never less than Level; 0 where not Known
	Known    bool
	N, Need  int
}

// String prints "[1.2, 3.4] 96.9 %", or what is missing.
func (i MedianInterval) String() string {
	if !i.Known {
		return fmt.Sprintf("needs %d samples for %g %%, has %d", i.Need, 100*i.Level, i.N)
	}
	return fmt.Sprintf("[%.4g, %.4g] %.1f %%", i.Lo, i.Hi, 100*i.Coverage)
}

// MedianCI returns the narrowest interval between the r-th smallest and the
// r-th largest value that covers the median with at least the level asked for,
// whatever the distribution: its coverage is 1 - 2·P(B ≤ r-1), B binomial with
// n trials of 1/2 (David and Nagaraja 2003, section 7.1). It is exact for every
// n, and symmetric; benchmath, which benchstat uses, takes a normal
// approximation above 30 samples and leans to the left.
//
// Ties make the coverage higher, never lower. Values that are not finite are
// left out.
func MedianCI(xs []float64, level float64) MedianInterval {
	return medianCI(finite(xs), level)
}

// medianCI expects sorted, finite values.
func medianCI(sorted []float64, level float64) MedianInterval {
	n := len(sorted)
	out := MedianInterval{Lo: math.NaN(), Hi: math.NaN(), Level: level, N: n, Need: samplesFor(level)}
	r, coverage := medianOrder(n, level)
	if r > 0 {
		out.Lo, out.Hi, out.Coverage, out.Known = sorted[r-1], sorted[n-r], coverage, true
	}
	return out
}

// medianOrder returns the largest r such that the r-th smallest and r-th
// largest of n values cover the median with the level; 0 where none does.
func medianOrder(n int, level float64) (r int, coverage float64) {
	if n < 2 || !(level < 1) {
		return 0, 0
	}
	b := distuv.Binomial{N: float64(n), P: 0.5}
	tail := func(r int) float64 { return b.CDF(float64(r - 1)) }
	// The tail grows with r: search the last r that still leaves enough.
	lo, hi := 0, (n+1)/2+1
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; mid <= n/2 && 1-2*tail(mid) >= level {
			lo = mid
		} else {
			hi = mid
		}
	}
	if lo == 0 {
		return 0, 0
	}
	return lo, 1 - 2*tail(lo)
}

// samplesFor returns how many samples the interval from minimum to maximum
// needs to reach a level: 1 - 2·2⁻ⁿ ≥ level.
func samplesFor(level float64) int {
	if !(level < 1) {
		return math.MaxInt
	}
	return max(2, int(math.Ceil(1-math.Log2(1-level))))
}

// Summary describes a sample without assuming a distribution.
type Summary struct {
	N        int // finite values, the ones that all else is about
	Excluded int // values that were NaN or infinite

	Min, Q1, Median, Q3, Max, Mean float64 // NaN where N is 0

	// MAD is the median absolute deviation from the median, unscaled (times
	// 1.4826 it estimates the standard deviation of normal data).
	MAD float64
	CI  MedianInterval
	// Outliers are indices into the sample as it was given.
	Outliers []int
}

// Summarize describes xs, in any order and unchanged. Quartiles are of type 8
// of Hyndman and Fan (1996), which is median-unbiased whatever the distribution.
func Summarize(xs []float64) Summary {
	sorted := finite(xs)
	s := stats.Sample{Xs: sorted, Sorted: true}
	out := Summary{N: len(sorted), Excluded: len(xs) - len(sorted), CI: medianCI(sorted, Confidence), Outliers: Outliers(xs)}
	out.Min, out.Q1, out.Median = s.Quantile(0), s.Quantile(0.25), s.Quantile(0.5)
	out.Q3, out.Max, out.Mean = s.Quantile(0.75), s.Quantile(1), s.Mean()
	out.MAD = mad(sorted, out.Median)
	return out
}

// Median returns the median of the finite values; NaN where there is none.
func Median(xs []float64) float64 {
	return stats.Sample{Xs: finite(xs), Sorted: true}.Quantile(0.5)
}

// OutlierScore is the modified z-score beyond which a value is an outlier: ten
// standard deviations of normal data, hyperfine's threshold.
const OutlierScore = 10 * 1.4826

// ModifiedZ returns (x - median) / MAD of each value, hyperfine's form of the
// score of Iglewicz and Hoaglin (How to Detect and Handle Outliers, 1993). As
// there, a MAD of 0 counts as the smallest step of a float64, so that in a
// sample of equal values anything else stands out. NaN for what is not finite.
func ModifiedZ(xs []float64) []float64 {
	sorted := finite(xs)
	median := stats.Sample{Xs: sorted, Sorted: true}.Quantile(0.5)
	spread := mad(sorted, median)
	if !(spread > 0) {
		spread = 0x1p-52
	}
	out := make([]float64, len(xs))
	for i, x := range xs {
		out[i] = math.NaN()
		if isFinite(x) {
			out[i] = (x - median) / spread
		}
	}
	return out
}

// Outliers returns the indices of values whose modified z-score is beyond
// OutlierScore. They are reported, never removed.
func Outliers(xs []float64) []int {
	var out []int
	for i, z := range ModifiedZ(xs) {
		if math.Abs(z) > OutlierScore {
			out = append(out, i)
		}
	}
	return out
}

// EffectiveN estimates how many independent samples a time series is worth, by
// batch means: n·s²/(b·s²_b), where s² is the variance of the values and s²_b
// that of the means of batches of b = ⌊√n⌋ neighbours (Flegal and Jones, Batch
// means and spectral variance estimators in MCMC, Ann. Stat. 38, 2010; the
// ratio as in Vats, Flegal and Jones, Biometrika 106, 2019). Values that do not
// fill a last batch are left out of the batches.
//
// The order of xs is the order of time. The result lies between 1 and n; a
// sample with fewer than 16 finite values, or of equal ones, gives false.
func EffectiveN(xs []float64) (float64, bool) {
	series := slices.DeleteFunc(slices.Clone(xs), func(x float64) bool { return !isFinite(x) })
	n := len(series)
	if n < 16 {
		return 0, false
	}
	variance := stats.Variance(series)
	if !(variance > 0) {
		return 0, false
	}
	b := int(math.Sqrt(float64(n)))
	var means []float64
	for batch := range slices.Chunk(series, b) {
		if len(batch) == b {
			means = append(means, stats.Mean(batch))
		}
	}
	between := float64(b) * stats.Variance(means)
	if !(between > 0) {
		return float64(n), true
	}
	return min(max(float64(n)*variance/between, 1), float64(n)), true
}

// mad expects the median of the sorted values.
func mad(sorted []float64, median float64) float64 {
	dev := make([]float64, len(sorted))
	for i, x := range sorted {
		dev[i] = math.Abs(x - median)
	}
	slices.Sort(dev)
	return stats.Sample{Xs: dev, Sorted: true}.Quantile(0.5)
}

// finite returns the finite values, sorted, in new memory.
func finite(xs []float64) []float64 {
	out := make([]float64, 0, len(xs))
	for _, x := range xs {
		if isFinite(x) {
			out = append(out, x)
		}
	}
	slices.Sort(out)
	return out
}

func isFinite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
