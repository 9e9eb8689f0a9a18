package measure

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/internal/lists"
)

// Estimate is a number with a 95 % interval. Both ends are NaN if the measurements give none.
type Estimate struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// estimateJSON is an estimate with null for unknown values.
type estimateJSON struct {
	Value *float64 `json:"value"`
	Low   *float64 `json:"low"`
	High  *float64 `json:"high"`
}

// MarshalJSON writes values that are not finite as null, because JSON has no such numbers.
func (e Estimate) MarshalJSON() ([]byte, error) {
	known := func(v *float64) *float64 {
		if !isFinite(*v) {
			return nil
		}
		return v
	}
	return json.Marshal(estimateJSON{known(&e.Value), known(&e.Low), known(&e.High)})
}

// UnmarshalJSON reads null as NaN.
func (e *Estimate) UnmarshalJSON(text []byte) error {
	*e = Estimate{math.NaN(), math.NaN(), math.NaN()}
	var in estimateJSON
	err := json.Unmarshal(text, &in)
	for to, from := range map[*float64]*float64{&e.Value: in.Value, &e.Low: in.Low, &e.High: in.High} {
		if from != nil {
			*to = *from
		}
	}
	return err
}

// Growth is the growth of time with size: time = Factor · size^Exponent, a straight line in a
// diagram with logarithmic axes.
type Growth struct {
	Exponent Estimate `json:"exponent"` // 0 = independent of size, 1 = proportional
	Factor   float64  `json:"factor"`   // the time at size 1, in the unit of the times
	// standard deviation of the medians' logarithms from the line; 0 with two sizes
	Scatter float64 `json:"scatter"`
	Sizes   int     `json:"sizes"`

	x, y  []float64    // logarithms of sizes and medians
	lines [][2]float64 // intercept and slope of the line through each resample
}

// growthDraws is the number of bootstrap lines.
const growthDraws = 1000

// FitGrowth fits a power law to the medians of times, one sample for each size, by least squares of
// the logarithms.
//
// Two effects make the exponent uncertain: the noise of the repetitions, which a bootstrap within
// each size estimates, and deviations from the law, which the scatter about the line estimates
// (Student's t, from three sizes on). The reported interval contains both intervals. With two sizes only the bootstrap
// is left, and a bootstrap of few repetitions is too narrow. Therefore two sizes give no interval if one of them has
// too few repetitions for an interval of its median.
// FitGrowth returns an error for fewer than two sizes, and for sizes or times that are not above 0.
func FitGrowth(sizes []float64, times [][]float64, seed uint64) (Growth, error) {
	g := Growth{}
	var samples [][]float64
	for i, n := range sizes {
		sample := sortedFinite(times[i])
		if n <= 0 || len(sample) == 0 || slices.Min(sample) <= 0 {
			return g, &fault.Error{
				Setting: "growth", Problem: "a size or a time is not above 0, or a size has no times",
				Cure: "measure each size, with a clock that resolves it",
			}
		}
		samples = append(samples, sample)
		g.x = append(g.x, math.Log(n))
		g.y = append(g.y, math.Log(Median(sample)))
	}
	if len(g.x) < 2 || slices.Min(g.x) == slices.Max(g.x) {
		return g, &fault.Error{Setting: "growth", Problem: "needs at least two sizes", Cure: "name more, such as --subsets 1,2,4"}
	}
	a, b := stat.LinearRegression(g.x, g.y, nil, false)
	g.Factor, g.Sizes = math.Exp(a), len(g.x)
	g.Exponent = exactEstimate(b)
	g.drawLines(samples, seed)
	g.Exponent.Widen(lists.Map(g.lines, func(line [2]float64) float64 { return line[1] }))
	if len(g.x) > 2 {
		g.Scatter = scatter(g.x, g.y, a, b)
		half := student(len(g.x)-2) * g.Scatter / math.Sqrt(spread(g.x))
		g.Exponent.widenTo(b-half, b+half)
	}
	return g, nil
}

// drawLines fits lines to resampled samples. It draws none for two sizes with too few repetitions: without lines, Widen
// makes the interval unknown.
func (g *Growth) drawLines(samples [][]float64, seed uint64) {
	if g.Sizes == 2 && !haveIntervals(samples) {
		return
	}
	for _, medians := range drawMedians(rand.New(rand.NewPCG(seed, 0)), samples, growthDraws) {
		a, b := stat.LinearRegression(g.x, lists.Map(medians, math.Log), nil, false)
		g.lines = append(g.lines, [2]float64{a, b})
	}
}

// At is the time that the law predicts for a size. If the law holds there, the median of a new
// measurement is in the interval with a probability of 95 %. With two sizes the interval is that of the line, without
// the noise of a new measurement.
func (g Growth) At(size float64) Estimate {
	x, mean := math.Log(size), stat.Mean(g.x, nil)
	center := math.Log(g.Factor) + g.Exponent.Value*x
	e := exactEstimate(center)
	e.Widen(lists.Map(g.lines, func(line [2]float64) float64 { return line[0] + line[1]*x }))
	if g.Sizes > 2 {
		half := student(g.Sizes-2) * g.Scatter * math.Sqrt(1+1/float64(g.Sizes)+(x-mean)*(x-mean)/spread(g.x))
		e.widenTo(center-half, center+half)
	}
	return Estimate{Value: math.Exp(e.Value), Low: math.Exp(e.Low), High: math.Exp(e.High)}
}

// Widen extends the interval, where necessary, to the 2.5th and 97.5th percentiles of the draws of a bootstrap; it never
// narrows it. Without draws, both ends become NaN. It sorts draws.
func (e *Estimate) Widen(draws []float64) { e.widenTo(percentiles(draws)) }

func (e *Estimate) widenTo(low, high float64) {
	e.Low, e.High = min(e.Low, low), max(e.High, high)
}

// percentiles returns the 2.5th and the 97.5th percentile; NaN without values.
func percentiles(xs []float64) (low, high float64) {
	if len(xs) == 0 {
		return math.NaN(), math.NaN()
	}
	slices.Sort(xs)
	return stat.Quantile(0.025, stat.Empirical, xs, nil), stat.Quantile(0.975, stat.Empirical, xs, nil)
}

// scatter is the standard deviation from a line, with n - 2 degrees of freedom.
func scatter(x, y []float64, a, b float64) float64 {
	var sum float64
	for i := range x {
		d := y[i] - a - b*x[i]
		sum += d * d
	}
	return math.Sqrt(sum / float64(len(x)-2))
}

// spread is the sum of squared distances from the mean.
func spread(x []float64) float64 {
	mean, sum := stat.Mean(x, nil), 0.0
	for _, v := range x {
		sum += (v - mean) * (v - mean)
	}
	return sum
}

// student is the 97.5th percentile of Student's t.
func student(freedom int) float64 {
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(freedom)}.Quantile(0.975)
}
