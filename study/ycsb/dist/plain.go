package dist

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"sync/atomic"
)

// Uniform draws from least … most.
type Uniform struct{ Least, Most int64 }

// Draw returns the next number.
func (u Uniform) Draw(rng *rand.Rand) int64 { return u.Least + rng.Int64N(u.Most-u.Least+1) }

// Sequential draws least … most in order, and then starts again. Goroutines that share it share one atomic position.
type Sequential struct {
	Least, Most int64
	next        atomic.Int64
}

// Draw returns the next number.
func (s *Sequential) Draw() int64 {
	return s.Least + (s.next.Add(1)-1)%(s.Most-s.Least+1)
}

// Hotspot draws the first numbers of a range, the hot ones, with a given probability, and otherwise one of the
// remaining numbers: YCSB's HotspotIntegerGenerator.
type Hotspot struct {
	least     int64
	hot, cold int64   // counts of numbers
	hotShare  float64 // probability of a hot number
}

// NewHotspot returns a distribution over least … most. dataFraction of the numbers are hot, and opFraction of the draws
// return a hot number.
func NewHotspot(least, most int64, dataFraction, opFraction float64) Hotspot {
	hot := int64(float64(most-least+1) * dataFraction)
	return Hotspot{least: least, hot: hot, cold: most - least + 1 - hot, hotShare: opFraction}
}

// Draw returns the next number. If there is no hot number, or no other one, it draws from the
// numbers that exist.
func (h Hotspot) Draw(rng *rand.Rand) int64 {
	if hot := rng.Float64() < h.hotShare; hot && h.hot > 0 || h.cold == 0 {
		return h.least + rng.Int64N(h.hot)
	}
	return h.least + h.hot + rng.Int64N(h.cold)
}

// Exponential draws how far a record is behind the last one; short distances are the most frequent: YCSB's
// ExponentialGenerator.
type Exponential struct{ gamma float64 }

// NewExponential returns a distribution whose draws are below a limit with a probability of percent / 100.
func NewExponential(percent, limit float64) Exponential {
	return Exponential{-math.Log(1-percent/100) / limit}
}

// Draw returns the next distance.
func (e Exponential) Draw(rng *rand.Rand) int64 {
	return int64(-math.Log(1-rng.Float64()) / e.gamma) // the argument is in (0, 1]: there is no logarithm of 0
}

// Buckets draws lengths by a histogram, like YCSB's HistogramGenerator but without its error: that one
// gives the first length a weight that is too high by 1, and never draws the last length.
type Buckets struct {
	size       int64
	cumulative []int64 // by bucket: its count and those of the buckets before it
}

// NewBuckets returns a distribution that draws a length of size·(i+1) in proportion to counts[i]. At least one count is
// greater than 0.
func NewBuckets(size int64, counts []int64) Buckets {
	b := Buckets{size: size}
	sum := int64(0)
	for _, c := range counts {
		sum += c
		b.cumulative = append(b.cumulative, sum)
	}
	return b
}

// Draw returns the next length.
func (b *Buckets) Draw(rng *rand.Rand) int64 {
	n := rng.Int64N(b.cumulative[len(b.cumulative)-1])
	for i, count := range b.cumulative {
		if n < count {
			return b.size * int64(i+1)
		}
	}
	return b.size * int64(len(b.cumulative))
}

// Choice draws an index by weights.
type Choice struct {
	cumulative []float64 // by index: its share and those of the indices before it
}

// NewChoice returns a choice by weights, at least one of which is greater than 0. They need not sum to 1.
func NewChoice(weights ...float64) Choice {
	var c Choice
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	share := 0.0
	for _, w := range weights {
		share += w / sum
		c.cumulative = append(c.cumulative, share)
	}
	return c
}

// Draw returns the next index, never one with weight 0.
func (c *Choice) Draw(rng *rand.Rand) int {
	u := rng.Float64()
	last := 0
	for i, share := range c.cumulative {
		if i > 0 && share == c.cumulative[i-1] || i == 0 && share == 0 {
			continue
		}
		if last = i; u < share {
			return i
		}
	}
	return last // because of rounding, the last sum may be slightly below 1
}

// ExactZipf draws by Zipf's law itself: rank k of n with probability proportional to 1/k^theta. The method is
// rejection-inversion (Hörmann and Derflinger, ACM TOMACS 6(3), 1996). A fixed permutation maps ranks to
// numbers, so that the popular numbers are not neighbors.
type ExactZipf struct {
	least, count int64
	theta        float64
	step         int64 // coprime to count

	h1, hn, s float64 // constants of the method, with the names of the paper
}

// NewExactZipf returns a distribution over least … least+count-1, with count at least 1, and theta above 0 and not 1.
func NewExactZipf(least, count int64, theta float64) ExactZipf {
	e := ExactZipf{least: least, count: count, theta: theta}
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

func (e *ExactZipf) density(x float64) float64 { return math.Pow(x, -e.theta) }

// integral is the integral of the density, up to a constant: (x^(1-theta)-1)/(1-theta). This form stays
// exact if theta is close to 1.
func (e *ExactZipf) integral(x float64) float64 {
	return math.Expm1((1-e.theta)*math.Log(x)) / (1 - e.theta)
}

func (e *ExactZipf) inverse(y float64) float64 {
	return math.Exp(math.Log1p(max(y*(1-e.theta), -1)) / (1 - e.theta))
}

// Rank draws from 1 … count.
func (e *ExactZipf) Rank(rng *rand.Rand) int64 {
	for {
		u := e.hn + rng.Float64()*(e.h1-e.hn)
		x := e.inverse(u)
		k := min(max(math.Floor(x+0.5), 1), float64(e.count))
		if k-x <= e.s || u >= e.integral(k+0.5)-e.density(k) {
			return int64(k)
		}
	}
}

// Number returns the number with a rank.
func (e *ExactZipf) Number(rank int64) int64 {
	hi, lo := bits.Mul64(uint64(rank-1), uint64(e.step)) // the product may need more than 64 bits
	return e.least + int64(bits.Rem64(hi, lo, uint64(e.count)))
}

// Draw returns the next number.
func (e *ExactZipf) Draw(rng *rand.Rand) int64 { return e.Number(e.Rank(rng)) }

// Hash is YCSB's hash of a number: the absolute value of FNV-1a with 64 bits, over the eight bytes of the number, the
// lowest byte first. YCSB calls it FNV-1.
func Hash(v int64) int64 {
	const offset, prime = 0xCBF29CE484222325, 1099511628211
	h := uint64(offset)
	for range 8 {
		h ^= uint64(v) & 0xff
		v >>= 8
		h *= prime
	}
	if s := int64(h); s < 0 {
		return -s
	}
	return int64(h)
}
