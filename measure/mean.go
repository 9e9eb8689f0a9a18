package measure

import (
	"math"

	"github.com/aclements/go-moremath/stats"
)

// Mean is the mean of values and its interval at the level Confidence, by
// Student's t: exact for normal values, and fair for means of many. One value
// has no interval: Low and High are the value. NaN where there is none.
func Mean(xs []float64) Estimate {
	xs = finite(xs)
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
