package ycsb

import (
	"encoding/binary"
	"math/bits"
)

// Without dataintegrity, each value that Barograph writes begins with a stamp: a mark, the version of the
// write, and a tag that follows from key, field, length and version. The rest of the value is YCSB's
// random text, with the tag as seed. A reader can therefore check whether the value belongs to its key
// and field, and is complete, and can compute the value again, byte by byte.
//
// A stamp has at most 16 characters, and fewer in a short value. A value of fewer than minStamped
// bytes has none. YCSB's random values do not begin with the mark, and those of dataintegrity begin
// with the key. Therefore another program wrote a longer value without the mark.
const (
	stampMark    = '~' // greater than every first character that YCSB draws
	minStamped   = 8   // bytes
	stampChars   = 16
	versionChars = 7 // of 6 bits, each from '0' on
	versionBits  = 6 * versionChars
)

// stampShape returns the numbers of characters of version and tag in a value of n bytes.
func stampShape(n int) (version, tag int) {
	version = min(versionChars, (n-1)/2)
	return version, min(stampChars-1-versionChars, n-1-version)
}

const (
	zeros  = 0x3030303030303030 // eight characters '0'
	sixes  = 0x003f003f003f003f
	twelve = 0x00000fff00000fff
	half   = 0xffffff
)

// spread converts 48 bits to eight characters of 6 bits, the lowest bits in the first character.
func spread(x uint64) uint64 {
	x = x&half | x&(half<<24)<<8
	x = x&twelve | x&(twelve<<12)<<4
	return (x&sixes | x&(sixes<<6)<<2) + zeros
}

// gather is the inverse of spread. Of other characters it returns any number.
func gather(x uint64) uint64 {
	x -= zeros
	x = x&sixes | x>>2&(sixes<<6)
	x = x&twelve | x>>4&(twelve<<12)
	return x&half | x>>8&(half<<24)
}

// stamp returns the 16 characters of a stamp, 8 in each number: the mark and the version, the tag.
func stamp(version, tag uint64) (head, tail uint64) {
	return spread(version<<6) + stampMark - '0', spread(tag)
}

// fold multiplies two numbers and folds the product.
func fold(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}

const (
	prime1 = 0xa0761d6478bd642f
	prime2 = 0xe7037ed1a0b428db
)

// keyID is the hash of a key in stamps and in the ledger; it is never 0. It must not change, because the
// stamps in existing tables depend on it.
func keyID(key []byte) uint64 {
	h := uint64(len(key)) * prime1
	for ; len(key) >= 8; key = key[8:] {
		h = fold(h^binary.LittleEndian.Uint64(key), prime2)
	}
	last := uint64(0)
	for _, c := range key {
		last = last<<8 | uint64(c)
	}
	if h = fold(h^last, prime1); h == 0 {
		h = 1
	}
	return h
}

// tagOf returns the tag of a value, which is also the seed of its text.
func tagOf(id uint64, field, n int, version uint64) uint64 {
	return fold(id^version, prime2^(uint64(field)<<32|uint64(n))) //nolint:gosec // not negative
}

// appendValue appends the value, of n bytes, of a version of a field.
func appendValue(to []byte, id uint64, field, n int, version uint64) []byte {
	begin := len(to)
	seed := tagOf(id, field, n, version)
	if n < minStamped {
		return appendText(to, n, seed)
	}
	chars, tags := stampShape(n)
	version &= 1<<(6*chars) - 1
	seed = tagOf(id, field, n, version)
	head, tail := stamp(version, seed)
	to = binary.LittleEndian.AppendUint64(to, head)[:begin+1+chars]
	to = binary.LittleEndian.AppendUint64(to, tail)[:begin+1+chars+tags]
	return appendText(to, n-(len(to)-begin), seed)
}

// appendText appends n bytes in the distribution of YCSB's RandomByteIterator, from a seed.
func appendText(to []byte, n int, seed uint64) []byte {
	// the bits of each character that YCSB draws; the pattern has 6 characters, so 3 words of 8 repeat it
	masks := [3]uint64{0x3f1f5f3f1f5f3f1f, 0x1f5f3f1f5f3f1f5f, 0x5f3f1f5f3f1f5f3f}
	end := len(to) + n
	for part := 0; len(to) < end; part++ {
		seed += 0x9e3779b97f4a7c15
		to = binary.LittleEndian.AppendUint64(to, fold(seed, prime1)&masks[part%3]+0x2020202020202020)
	}
	return to[:end]
}

// Kinds of values by their stamps.
const (
	stampValid   = iota
	stampAbsent  // the value is too short, or another program wrote it
	stampInvalid // the value belongs to another key or field, is cut, or was changed
)

// readStamp reads the version of a value. mask has the bits of the version that a value of this length
// contains.
func readStamp(id uint64, field int, value []byte) (version, mask uint64, kind int) {
	n := len(value)
	if n < minStamped || value[0] != stampMark {
		return 0, 0, stampAbsent
	}
	got, valid := value, false
	chars, tags := stampShape(n)
	mask = 1<<(6*chars) - 1
	if n < stampChars { // extended to all characters
		var padded [stampChars]byte
		binary.LittleEndian.PutUint64(padded[:], zeros)
		copy(padded[:], value[:1+chars])
		copy(padded[8:], value[1+chars:1+chars+tags])
		got = padded[:]
	}
	head, tail := binary.LittleEndian.Uint64(got), binary.LittleEndian.Uint64(got[8:])
	version = gather(head-stampMark+'0') >> 6
	wantHead, wantTail := stamp(version, tagOf(id, field, n, version))
	if tags == stampChars-1-versionChars {
		valid = tail == wantTail
	} else {
		valid = (tail^wantTail)<<(64-8*tags) == 0
	}
	if !valid || head != wantHead {
		return 0, 0, stampInvalid
	}
	return version, mask, stampValid
}
