package ycsb

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/barograph/barograph/workload/ycsb/dist"
)

// existing knows, in the order of keys, records that a scan must return: all of
// the part that was loaded, or, of very many, those with the greatest keys. 16 bytes each.
type existing struct {
	from   uint64 // ordinal of the least key that it would know
	sorted []place
}

// place is a record in the order of keys.
type place struct {
	ordinal uint64
	number  int64
}

const (
	mostPlaces   = 1 << 20
	mostIndexed  = 1 << 27 // records that are looked through, a few seconds' work
	sampledToCut = 1 << 16
)

// powers of ten that fit.
func power10(n int) uint64 {
	p := uint64(1)
	for range n {
		p *= 10
	}
	return p
}

// ordinal maps the digits of a key to a number of the same order as the bytes
// of keys: value is what they say, length how many there are.
func (c *Config) ordinal(value uint64, length int) uint64 {
	switch {
	case c.ZeroPadding >= 19:
		return value // all have one length
	case !c.Ordered:
		return value * power10(19-length) // as after the point; hashes are not each other's beginnings
	}
	// A shorter key stands before those that it begins: digits count from 1.
	digits, n := [18]uint64{}, value
	for i := length - 1; i >= 0; i-- {
		digits[i] = n%10 + 1
		n /= 10
	}
	out := uint64(0)
	for _, d := range digits {
		out = out*11 + d
	}
	return out
}

// ordinalOf is the ordinal of a key's number.
func (c *Config) ordinalOf(number int64) uint64 {
	if !c.Ordered {
		number = dist.Hash(number)
	}
	length := 1
	for n := number; n >= 10; n /= 10 {
		length++
	}
	return c.ordinal(uint64(number), max(length, int(c.ZeroPadding)))
}

// ordinalKey is the ordinal of a key; false for one that is none of the workload's.
func (c *Config) ordinalKey(key []byte) (uint64, bool) {
	if len(key) <= len(keyPrefix) || string(key[:len(keyPrefix)]) != keyPrefix {
		return 0, false
	}
	digits := key[len(keyPrefix):]
	if c.ZeroPadding < 19 && (len(digits) > 19 || c.Ordered && len(digits) > 18) {
		return 0, false
	}
	v := uint64(0)
	for _, d := range digits {
		hi, lo := bits.Mul64(v, 10)
		if d < '0' || d > '9' || hi > 0 || lo+uint64(d-'0') < lo {
			return 0, false
		}
		v = lo + uint64(d-'0')
	}
	return c.ordinal(v, len(digits)), true
}

// newExisting knows the records of a workload; nil where there are too many.
func newExisting(c *Config) *existing {
	if c.InsertCount > mostIndexed {
		return nil
	}
	e := &existing{}
	if c.InsertCount > mostPlaces {
		sample := make([]uint64, 0, sampledToCut)
		for i := range int64(sampledToCut) {
			sample = append(sample, c.ordinalOf(c.InsertStart+i*(c.InsertCount/sampledToCut)))
		}
		slices.Sort(sample)
		share := float64(mostPlaces) / float64(c.InsertCount) * 0.9 // a sample is off by a little
		e.from = sample[len(sample)-1-int(share*float64(len(sample)-1))]
	}
	for n := c.InsertStart; n < c.InsertStart+c.InsertCount; n++ {
		if o := c.ordinalOf(n); o >= e.from {
			e.sorted = append(e.sorted, place{o, n})
		}
	}
	slices.SortFunc(e.sorted, func(a, b place) int { return cmp.Compare(a.ordinal, b.ordinal) })
	return e
}

// after is the first place at or after an ordinal.
func (e *existing) after(ordinal uint64) int {
	at, _ := slices.BinarySearchFunc(e.sorted, ordinal, func(p place, o uint64) int { return cmp.Compare(p.ordinal, o) })
	return at
}
