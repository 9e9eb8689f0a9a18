package dist

import (
	"math"
	"math/rand/v2"
)

// Theta is YCSB's Zipfian constant.
const Theta = 0.99

// Zeta is the sum of 1/i^theta for i = 1 … n. theta is between 0 and 1, as in all distributions of this file.
// (ExactZipf in plain.go also accepts a larger theta; it does not use Zeta.) After 1000 terms Zeta uses the
// Euler-Maclaurin formula, so its time does not grow with n. The relative error is below 1e-14.
func Zeta(n int64, theta float64) float64 {
	const direct = 1000
	sum := 0.0
	for i := int64(1); i <= min(n, direct); i++ {
		sum += math.Pow(float64(i), -theta)
	}
	if n <= direct {
		return sum
	}
	a, b := float64(direct), float64(n)
	f := func(x float64) float64 { return math.Pow(x, -theta) }
	// The difference b^(1-theta) - a^(1-theta), in a form that stays exact if theta is close to 1.
	integral := math.Pow(a, 1-theta) * math.Expm1((1-theta)*math.Log(b/a)) / (1 - theta)
	slope := func(x float64) float64 { return -theta * f(x) / x }
	third := func(x float64) float64 { return -theta * (theta + 1) * (theta + 2) * f(x) / (x * x * x) }
	return sum + integral + (f(b)-f(a))/2 + (slope(b)-slope(a))/12 - (third(b)-third(a))/720
}

// Zipf draws small numbers often, as YCSB's ZipfianGenerator does, by the algorithm of Gray et al.,
// "Quickly generating billion-record synthetic databases", SIGMOD 1994. The probabilities of Base and
// Base+1 are exact, those of the other numbers approximate.
type Zipf struct {
	Base  int64 // the number that is drawn most often
	first int64 // number of items in NewZipf
	items int64 // present number of items, see Resize

	theta, zeta2, alpha, zetan, eta float64
	second                          float64 // 1 + 1/2^theta
}

// NewZipf returns a distribution over base … base+items-1.
func NewZipf(base, items int64, theta float64) Zipf {
	return newZipf(base, items, theta, Zeta(items, theta))
}

func newZipf(base, items int64, theta, zetan float64) Zipf {
	z := Zipf{
		Base: base, first: items, theta: theta, zeta2: Zeta(2, theta), alpha: 1 / (1 - theta),
		second: 1 + math.Pow(0.5, theta),
	}
	z.set(items, zetan)
	return z
}

// set changes the number of items. In YCSB, too, eta depends on the number of items that the constructor got (z.first),
// not on the present one.
func (z *Zipf) set(items int64, zetan float64) {
	z.items, z.zetan = items, zetan
	z.eta = (1 - math.Pow(2/float64(z.first), 1-z.theta)) / (1 - z.zeta2/zetan)
}

// Resize changes the number of items.
func (z *Zipf) Resize(items int64) {
	switch {
	case items == z.items:
	case items > z.items && items-z.items < 1000: // the usual case: a few keys were inserted
		zetan := z.zetan
		for i := z.items + 1; i <= items; i++ {
			zetan += math.Pow(float64(i), -z.theta)
		}
		z.set(items, zetan)
	default:
		z.set(items, Zeta(items, z.theta))
	}
}

// Draw returns the next number.
func (z *Zipf) Draw(rng *rand.Rand) int64 { return z.at(rng.Float64()) }

func (z *Zipf) at(u float64) int64 {
	uz := u * z.zetan
	switch {
	case uz < 1:
		return z.Base
	case uz < z.second:
		return z.Base + 1
	}
	n := int64(float64(z.items) * math.Exp(z.alpha*math.Log(z.eta*u-z.eta+1)))
	return z.Base + min(n, z.items-1) // for the largest u, n may be rounded to z.items
}

// Scrambled draws some numbers often, which are scattered over the range: YCSB's request distribution
// "zipfian". It draws from 10,000,000,001 items by Zipf's law, and hashes the item to a number of the range.
// Therefore it is flatter than Zipf's law (YCSB#1495).
type Scrambled struct {
	least, count int64
	inner        Zipf
}

// The constants of YCSB's ScrambledZipfianGenerator.
const (
	scrambledItems = 10_000_000_001
	scrambledZeta  = 26.46902820178302
)

// NewScrambled returns a distribution over least … most.
func NewScrambled(least, most int64, theta float64) Scrambled {
	zeta := scrambledZeta
	if theta != Theta {
		zeta = Zeta(scrambledItems, theta)
	}
	return Scrambled{least, most - least + 1, newZipf(0, scrambledItems, theta, zeta)}
}

// Draw returns the next number.
func (s *Scrambled) Draw(rng *rand.Rand) int64 { return s.least + Hash(s.inner.Draw(rng))%s.count }

// Latest draws the last numbers often: YCSB's SkewedLatestGenerator. Like YCSB's, it is skewed after the range has
// grown, because eta still depends on the number of items in NewLatest (see set):
//   - If the range has grown by the factor g, the numbers 2 … 2g-1 behind the last one are never drawn.
//   - If NewLatest got a last of at most 2, eta is not above 0. Draw then returns 1, the oldest number, most often.
type Latest struct{ zipf Zipf }

// NewLatest returns a distribution for draws from a range that ends with last, and that may grow later.
func NewLatest(last int64, theta float64) Latest { return Latest{NewZipf(0, max(last, 1), theta)} }

// Draw returns the next number, from 1 … last. Like YCSB, it never draws 0, unless last is 0: the only number.
func (l *Latest) Draw(rng *rand.Rand, last int64) int64 {
	if last < 1 {
		return last
	}
	l.zipf.Resize(last)
	return last - min(l.zipf.Draw(rng), last-1)
}
