package measure

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/barograph/barograph/internal/fault"
)

// Estimate is a number with a 95 % interval.
type Estimate struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// estimateJSON is an estimate of which what is not known is null.
type estimateJSON struct {
	Value *float64 `json:"value"`
	Low   *float64 `json:"low"`
	High  *float64 `json:"high"`
}

// MarshalJSON writes what is not finite, which JSON lacks, as null.
func (e Estimate) MarshalJSON() ([]byte, error) {
	known := func(v *float64) *float64 {
		if !isFinite(*v) {
			return nil
		}
		return v
	}
	return json.Marshal(estimateJSON{known(&e.Value), known(&e.Low), known(&e.High)})
}

// UnmarshalJSON reads it; null is NaN.
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

// Growth is how time grows with size: time = Factor · size^Exponent, a straight
// line where both are drawn as logarithms.
type Growth struct {
	Exponent Estimate `json:"exponent"` // 0 = size does not matter, 1 = proportional
	Factor   float64  `json:"factor"`   // the time at size 1, in the unit of the times
	Scatter  float64  `json:"scatter"`  // standard deviation of the medians' logarithms about the line; 0 with two sizes
	Sizes    int      `json:"sizes"`

	x, y   []float64    // logarithms of sizes and medians
	redraw [][2]float64 // intercept and slope of lines through redrawn samples
}

// growthDraws is the number of bootstrap lines.
const growthDraws = 1000

// FitGrowth fits a power law to the medians of times, one sample for each
// size, by least squares of the logarithms.
//
// Two things make the exponent uncertain: the noise of the repetitions, seen by
// a bootstrap within each size, and that the law may not hold, seen by the
// scatter about the line (Student's t, from three sizes on). The interval is
// the wider of the two. The error tells where sizes are fewer than two, not
// above 0, or without a time above 0.
func FitGrowth(sizes []float64, times [][]float64, seed uint64) (Growth, error) {
	g := Growth{}
	var samples [][]float64
	for i, n := range sizes {
		sample := finite(times[i])
		if n <= 0 || len(sample) == 0 || slices.Min(sample) <= 0 {
			return g, &fault.Error{Setting: "growth", Problem: "a size or a time is not above 0, or a size has no times", Cure: "measure each size, with a clock that resolves it"}
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
	g.Exponent = Estimate{Value: b, Low: b, High: b}
	g.redrawn(samples, seed)
	slopes := make([]float64, len(g.redraw))
	for i, line := range g.redraw {
		slopes[i] = line[1]
	}
	g.Exponent.Hold(slopes)
	if len(g.x) > 2 {
		g.Scatter = scatter(g.x, g.y, a, b)
		half := student(len(g.x)-2) * g.Scatter / math.Sqrt(spread(g.x))
		g.Exponent.widen(b-half, b+half)
	}
	return g, nil
}

// redrawn fits lines to samples that are drawn anew from the samples.
func (g *Growth) redrawn(samples [][]float64, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 0))
	y := make([]float64, len(samples))
	for range growthDraws {
		drawMedians(r, y, samples)
		for i := range y {
			y[i] = math.Log(y[i])
		}
		a, b := stat.LinearRegression(g.x, y, nil, false)
		g.redraw = append(g.redraw, [2]float64{a, b})
	}
}

// At is the time that the law gives for a size, with the interval in which the
// median of a new measurement lies with 95 % probability, if the law holds there.
func (g Growth) At(size float64) Estimate {
	x, mean := math.Log(size), stat.Mean(g.x, nil)
	center := math.Log(g.Factor) + g.Exponent.Value*x
	e := Estimate{Value: center, Low: center, High: center}
	ends := make([]float64, len(g.redraw))
	for i, line := range g.redraw {
		ends[i] = line[0] + line[1]*x
	}
	e.Hold(ends)
	if g.Sizes > 2 {
		half := student(g.Sizes-2) * g.Scatter * math.Sqrt(1+1/float64(g.Sizes)+(x-mean)*(x-mean)/spread(g.x))
		e.widen(center-half, center+half)
	}
	return Estimate{Value: math.Exp(e.Value), Low: math.Exp(e.Low), High: math.Exp(e.High)}
}

// Hold widens the interval so that 95 % of a bootstrap's draws, which it sorts, lie
// in it.
func (e *Estimate) Hold(draws []float64) { e.widen(percentiles(draws)) }

func (e *Estimate) widen(low, high float64) {
	e.Low, e.High = min(e.Low, low), max(e.High, high)
}

// percentiles are the 2.5th and the 97.5th.
func percentiles(xs []float64) (low, high float64) {
	slices.Sort(xs)
	return stat.Quantile(0.025, stat.Empirical, xs, nil), stat.Quantile(0.975, stat.Empirical, xs, nil)
}

// scatter is the standard deviation about a line, with n - 2 degrees of freedom.
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
