package ycsb

import (
	"math/rand/v2"
	"strconv"

	"github.com/barograph/barograph/workload/ycsb/dist"
)

const keyPrefix = "user"

// appendKey appends the key of a number: that of YCSB's buildKeyName.
func (c *Config) appendKey(to []byte, number int64) []byte {
	if !c.Ordered {
		number = dist.Hash(number)
	}
	var digits [20]byte
	d := strconv.AppendInt(digits[:0], number, 10)
	to = append(to, keyPrefix...)
	for range c.ZeroPadding - int64(len(d)) {
		to = append(to, '0')
	}
	return append(to, d...)
}

// appendRandom appends n bytes as YCSB's RandomByteIterator makes them: six of
// each 32 random bits.
func appendRandom(to []byte, n int64, rng *rand.Rand) []byte {
	for ; n >= 6; n -= 6 {
		b := rng.Uint32()
		to = append(to, byte(b&31)+' ', byte(b>>5&63)+' ', byte(b>>10&95)+' ', byte(b>>15&31)+' ', byte(b>>20&63)+' ', byte(b>>25&95)+' ')
	}
	if n > 0 {
		b := rng.Uint32()
		six := [6]byte{byte(b&31) + ' ', byte(b>>5&63) + ' ', byte(b>>10&95) + ' ', byte(b>>15&31) + ' ', byte(b>>20&63) + ' ', byte(b>>25&95) + ' '}
		to = append(to, six[:n]...)
	}
	return to
}

// appendDerived appends the value that YCSB's dataintegrity demands: key and
// field, then Java's hash of the text so far, again and again, cut to n bytes.
func appendDerived(to, key []byte, field string, n int64) []byte {
	begin := len(to)
	to = append(to, key...)
	to = append(to, ':')
	to = append(to, field...)
	h, hashed := int32(0), begin
	for int64(len(to)-begin) < n {
		to = append(to, ':')
		for ; hashed < len(to); hashed++ {
			h = 31*h + int32(to[hashed]) // of the whole text: it only grows
		}
		to = strconv.AppendInt(to, int64(h), 10)
	}
	return to[:begin+int(n)]
}
