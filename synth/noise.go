package synth

import (
	"math"
	"math/rand/v2"
)

// mix is the finaliser of SplitMix64: a bijection that spreads its bits.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// fold adds a word to a key (FNV-1a over its bytes, then mixed).
func fold(key uint64, word string) uint64 {
	h := uint64(14695981039346656037) ^ key
	for i := range len(word) {
		h = (h ^ uint64(word[i])) * 1099511628211
	}
	return mix(h)
}

// wave is a smooth random function of t with values in [-1, 1], its knots one
// unit of t apart: what synoptic weather does to a daily mean. It is made from
// key and t alone.
func wave(key uint64, t float64) float64 {
	i := math.Floor(t)
	x := t - i
	a, b := unit(mix(key^mix(uint64(int64(i))))), unit(mix(key^mix(uint64(int64(i)+1))))
	return a + (b-a)*x*x*(3-2*x)
}

// unit maps 64 random bits to [-1, 1).
func unit(bits uint64) float64 { return float64(int64(bits)) * (1.0 / (1 << 63)) }

// gauss is nearly normal with mean 0 and variance 1, and never beyond ±3.5: the
// sum of the four 16-bit fields of one draw. Its bounds keep every record sane.
func gauss(source *rand.PCG) float64 {
	u := source.Uint64()
	sum := (u & 0xffff) + (u >> 16 & 0xffff) + (u >> 32 & 0xffff) + u>>48
	return (float64(sum) - 2*65535) * (1.0 / 37837.2) // σ of the sum is 65536·√(4/12)
}
