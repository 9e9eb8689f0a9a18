package dist

import (
	"math"
	"math/rand/v2"
)

// Exact draws from Zipf's law itself: rank k of n with probability
// proportional to 1/k^theta, by rejection-inversion (Hörmann and Derflinger,
// ACM TOMACS 6(3), 1996). Ranks are spread over the numbers by a fixed
// permutation, so that the popular ones are not neighbours.
type Exact struct {
	least, count int64
	theta        float64
	step         int64 // coprime to count

	h1, hn, s float64
}

// NewExact draws from least … least+count-1, count at least 1.
func NewExact(least, count int64, theta float64) Exact {
	e := Exact{least: least, count: count, theta: theta}
	e.h1 = e.integral(1.5) - 1
	e.hn = e.integral(float64(count) + 0.5)
	e.s = 2 - e.inverse(e.integral(2.5)-e.density(2))
	e.step = max(int64(float64(count)*0.6180339887498949), 1)
	for gcd(e.step, count) != 1 {
		e.step++
	}
	return e
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

func (e *Exact) density(x float64) float64 { return math.Pow(x, -e.theta) }

// integral is that of the density, up to a constant: (x^(1-theta)-1)/(1-theta),
// which stays exact where theta is close to 1.
func (e *Exact) integral(x float64) float64 {
	return math.Expm1((1-e.theta)*math.Log(x)) / (1 - e.theta)
}

func (e *Exact) inverse(y float64) float64 {
	return math.Exp(math.Log1p(max(y*(1-e.theta), -1)) / (1 - e.theta))
}

// Rank draws from 1 … count.
func (e *Exact) Rank(rng *rand.Rand) int64 {
	for {
		u := e.hn + rng.Float64()*(e.h1-e.hn)
		x := e.inverse(u)
		k := min(max(math.Floor(x+0.5), 1), float64(e.count))
		if k-x <= e.s || u >= e.integral(k+0.5)-e.density(k) {
			return int64(k)
		}
	}
}

// Of is the number that a rank stands for.
func (e *Exact) Of(rank int64) int64 {
	hi, lo := mul(uint64(rank-1), uint64(e.step))
	return e.least + int64(mod(hi, lo, uint64(e.count)))
}

// Draw returns the next number.
func (e *Exact) Draw(rng *rand.Rand) int64 { return e.Of(e.Rank(rng)) }
