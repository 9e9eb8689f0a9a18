package measure

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/barograph/barograph/internal/fault"
)

// USL is Gunther's universal scalability law (Guerrilla Capacity Planning, 2007, chapter 5): the
// throughput of n clients is
//
//	X(n) = Lambda·n / (1 + Sigma·(n-1) + Kappa·n·(n-1))
type USL struct {
	Lambda Estimate `json:"lambda"` // throughput of one client
	Sigma  Estimate `json:"sigma"`  // contention: the serial share of the work
	Kappa  Estimate `json:"kappa"`  // crosstalk: the cost of each pair of clients
	Error  float64  `json:"error"`  // root mean square of the relative errors

	clients int // how many numbers of clients it was fitted to
}

// IsValid reports whether the law describes the measurements. More than three numbers of clients
// are required, because three parameters fit any three numbers. The error must be at most a tenth.
func (u USL) IsValid() bool { return u.clients > 3 && u.Error <= 0.1 }

// uslDraws is the number of bootstrap fits.
const uslDraws = 500

// FitUSL fits the law to throughputs, one sample for each number of clients, by the least relative
// errors of their medians. No parameter is below 0. The intervals come from a bootstrap within each
// number of clients. There are none if one of them has too few throughputs for an interval of its median.
// FitUSL returns an error for fewer than three numbers of clients, or if a value is not above 0.
func FitUSL(clients []float64, throughputs [][]float64, seed uint64) (USL, error) {
	var u USL
	medians := make([]float64, len(clients))
	samples := make([][]float64, len(clients))
	for i, n := range clients {
		samples[i] = sortedFinite(throughputs[i])
		if n < 1 || len(samples[i]) == 0 || slices.Min(samples[i]) <= 0 {
			return u, &fault.Error{Setting: "USL", Problem: "a number of clients is below 1, or has no throughput or one that is not above 0", Cure: "measure each number of clients"}
		}
		medians[i] = Median(samples[i])
	}
	if u.clients = len(slices.Compact(slices.Sorted(slices.Values(clients)))); u.clients < 3 {
		return u, &fault.Error{Setting: "USL", Problem: "three parameters need three numbers of clients", Cure: "name more, such as 1,2,4,8"}
	}
	best := fitUSL(clients, medians)
	u.Lambda, u.Sigma, u.Kappa = exactEstimate(best[0]), exactEstimate(best[1]), exactEstimate(best[2])
	var sum float64
	for i, n := range clients {
		e := u.At(n)/medians[i] - 1
		sum += e * e
	}
	u.Error = math.Sqrt(sum / float64(len(clients)))
	u.bootstrap(clients, samples, seed)
	return u, nil
}

func exactEstimate(v float64) Estimate { return Estimate{Value: v, Low: v, High: v} }

// bootstrap sets the intervals of the parameters.
func (u *USL) bootstrap(clients []float64, samples [][]float64, seed uint64) {
	var all [3][]float64
	if haveIntervals(samples) {
		for _, medians := range drawMedians(rand.New(rand.NewPCG(seed, 1)), samples, uslDraws) {
			for k, v := range fitUSL(clients, medians) {
				all[k] = append(all[k], v)
			}
		}
	}
	u.Lambda.Widen(all[0])
	u.Sigma.Widen(all[1])
	u.Kappa.Widen(all[2])
}

// fitUSL returns lambda, sigma and kappa. The fit is linear, because n/X = c₀ + c₁·(n-1) + c₂·n·(n-1) with the
// coefficients 1/lambda, sigma/lambda and kappa/lambda. No parameter may be negative. Therefore fitUSL also fits the
// law without c₂, without c₁ and without both, and returns the best of the fits without a negative parameter.
func fitUSL(clients, throughput []float64) (best [3]float64) {
	least := math.Inf(1)
	for _, free := range [][]int{{0, 1, 2}, {0, 1}, {0, 2}, {0}} {
		c, err := leastSquares(clients, throughput, free)
		if err != nil || c[0] <= 0 || c[1] < 0 || c[2] < 0 {
			continue
		}
		p := [3]float64{1 / c[0], c[1] / c[0], c[2] / c[0]}
		if e := relativeError(p, clients, throughput); e < least-1e-15 {
			best, least = p, e
		}
	}
	return best
}

// leastSquares fits the coefficients whose indices are in free; the others are 0. It divides each equation by n/X, so
// the sum of squares is that of relative errors.
func leastSquares(clients, throughput []float64, free []int) (c [3]float64, err error) {
	a := mat.NewDense(len(clients), len(free), nil)
	y := mat.NewVecDense(len(clients), nil)
	for i, n := range clients {
		w := throughput[i] / n
		terms := [3]float64{1, n - 1, n * (n - 1)}
		for k, f := range free {
			a.Set(i, k, terms[f]*w)
		}
		y.SetVec(i, 1)
	}
	var x mat.VecDense
	if err := x.SolveVec(a, y); err != nil {
		return c, err
	}
	for k, f := range free {
		c[f] = x.AtVec(k)
	}
	return c, nil
}

func relativeError(p [3]float64, clients, throughput []float64) float64 {
	var sum float64
	for i, n := range clients {
		e := throughput[i]*(1+p[1]*(n-1)+p[2]*n*(n-1))/(p[0]*n) - 1
		sum += e * e
	}
	return sum
}

// At is the throughput of n clients.
func (u USL) At(n float64) float64 {
	return u.Lambda.Value * n / (1 + u.Sigma.Value*(n-1) + u.Kappa.Value*n*(n-1))
}

// Peak is the number of clients with the highest throughput, at least 1; +Inf if throughput always grows.
func (u USL) Peak() float64 {
	if u.Kappa.Value == 0 && u.Sigma.Value < 1 {
		return math.Inf(1)
	}
	return max(1, math.Sqrt((1-min(u.Sigma.Value, 1))/max(u.Kappa.Value, math.SmallestNonzeroFloat64)))
}
