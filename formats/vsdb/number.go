package vsdb

import (
	"encoding/binary"
	"math"
	"slices"
	"strconv"
	"strings"
)

// badNumber is the reason why a token is not a number; empty = it is one.
type badNumber string

const (
	notNumber  badNumber = "is not a number"
	overflowed badNumber = "is a Fortran field that overflowed"
	notFinite  badNumber = "is not a finite number"
	tooLarge   badNumber = "is beyond the range of a 64-bit number"
	ambiguous  badNumber = "may be two numbers or one with a three-digit exponent"
)

// missingValue is the number for "missing" in VSDB and METviewer.
const missingValue = -9999

// uint64Digits is the smallest number of digits whose value may exceed a uint64.
const uint64Digits = 20

// pow10 are the powers of ten that are exact float64 values.
var pow10 = [...]float64{ //nolint:gochecknoglobals // a constant table
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
}

// number reads the number at the start of b, which begins with a nonblank. It returns the value,
// NaN if it is missing, and the number of bytes used. Like strconv.ParseFloat, it returns the
// float64 nearest to the decimal: a mantissa below 2⁵³ and a power of ten up to 10²² need one
// rounding, hence one multiplication or division is exact (W. D. Clinger, How to Read Floating
// Point Numbers Accurately, 1990). strconv handles all others.
func number(b []byte) (v float64, n int, bad badNumber) {
	i := 0
	neg := b[0] == '-'
	if neg || b[0] == '+' {
		i = 1
	}
	if v, ok := e15(b[i:]); ok {
		if neg {
			v = -v
		}
		if v == missingValue {
			v = math.NaN()
		}
		return v, i + 15, ""
	}
	first := i
	var mant uint64
	mant, i = digits(b, i, 0)
	count := i - first
	exp := 0
	if i < len(b) && b[i] == '.' {
		point := i + 1
		mant, i = digits(b, point, mant)
		exp = point - i
		count -= exp
	}
	if count == 0 {
		return wordNumber(b)
	}
	letter := -1
	if i < len(b) && (b[i]|0x20 == 'e' || b[i]|0x20 == 'd') {
		letter = i
		e, end := exponent(b, i+1)
		if end < 0 {
			return 0, 0, notNumber
		}
		exp, i = exp+e, end
	}
	if i < len(b) && !isSeparator(b[i]) {
		if b[i] != '-' {
			return 0, 0, notNumber
		}
		if letter < 0 && shortExponent(b[i+1:]) {
			return 0, 0, ambiguous
		}
	}
	switch power := max(exp, -exp); {
	case count >= uint64Digits || mant>>53 != 0 || power >= len(pow10):
		if v, bad = slowNumber(b[first:i], letter-first); bad != "" {
			return 0, 0, bad
		}
	case exp < 0:
		v = float64(mant) / pow10[power]
	default:
		v = float64(mant) * pow10[power]
	}
	if neg {
		v = -v
	}
	if v == missingValue {
		v = math.NaN()
	}
	return v, i, ""
}

// e15 reads the form of nearly all numbers in NCEP's files, Fortran's E15.9 without its sign:
// "0.ddddddddd" "E±dd" and a blank. ok is false for every other form, and if the exact fast path is
// not applicable.
func e15(b []byte) (v float64, ok bool) {
	if len(b) < 15 || len(b) > 15 && !isSeparator(b[15]) {
		return 0, false
	}
	b = b[:15]
	w := binary.LittleEndian.Uint64(b[2:])
	last, tens, ones := b[10]-'0', b[13]-'0', b[14]-'0'
	if b[0] != '0' || b[1] != '.' || !eightDigits(w) || b[11] != 'E' || last > 9 || tens > 9 || ones > 9 {
		return 0, false
	}
	mant := float64(uint64(valueOf8(w))*10 + uint64(last))
	exp := int(tens)*10 + int(ones)
	switch {
	case b[12] == '-' && exp <= 22-9:
		return mant / pow10[exp+9], true
	case b[12] == '+' && exp < 9:
		return mant / pow10[9-exp], true
	case b[12] == '+' && exp <= 22+9:
		return mant * pow10[exp-9], true
	}
	return 0, false
}

// digits reads decimal digits from b[i:] into mant, eight at a time if possible, and returns the
// new mantissa (modulo 2⁶⁴) and position.
func digits(b []byte, i int, mant uint64) (uint64, int) {
	for i+8 <= len(b) {
		w := binary.LittleEndian.Uint64(b[i:])
		if !eightDigits(w) {
			break
		}
		mant, i = mant*1e8+uint64(valueOf8(w)), i+8
	}
	for i < len(b) {
		d := b[i] - '0'
		if d > 9 {
			break
		}
		mant, i = mant*10+uint64(d), i+1
	}
	return mant, i
}

// eightDigits reports whether the eight bytes of w are all ASCII digits.
func eightDigits(w uint64) bool {
	const high = 0xF0F0F0F0F0F0F0F0
	return w&high|((w+0x0606060606060606)&high)>>4 == 0x3333333333333333
}

// valueOf8 is the value of eight digits, the first in the lowest byte. It joins pairs, then fours,
// then eights by one multiplication each.
func valueOf8(w uint64) uint32 {
	const pairs = 0x000000FF000000FF
	w -= 0x3030303030303030
	w = w*10 + w>>8
	return uint32(((w&pairs)*(100+1000000<<32) + (w>>16&pairs)*(1+10000<<32)) >> 32)
}

// exponent reads the sign and digits after an exponent letter; end < 0 if there are none. It clamps
// large exponents: mantissas have far fewer digits than the clamp, hence the result is 0 or too
// large either way.
func exponent(b []byte, i int) (e, end int) {
	const clamp = 1e6
	neg := false
	if i < len(b) && (b[i] == '-' || b[i] == '+') {
		neg = b[i] == '-'
		i++
	}
	from := i
	for ; i < len(b) && b[i]-'0' <= 9; i++ {
		e = min(e*10+int(b[i]-'0'), clamp)
	}
	if i == from {
		return 0, -1
	}
	if neg {
		e = -e
	}
	return e, i
}

// shortExponent reports whether b begins with exactly three digits without a point: Fortran's form
// of an exponent beyond 99.
func shortExponent(b []byte) bool {
	n := 0
	for n < len(b) && b[n]-'0' <= 9 {
		n++
	}
	return n == 3 && (n == len(b) || b[n] != '.')
}

// slowNumber converts numbers that the exact fast path cannot. letter is the position of the
// exponent letter, negative without one. strconv does not accept Fortran's D.
func slowNumber(b []byte, letter int) (float64, badNumber) {
	var scratch [64]byte
	if letter >= 0 && b[letter]|0x20 == 'd' {
		b = append(scratch[:0], b...)
		b[letter] = 'E'
	}
	v, err := strconv.ParseFloat(string(b), 64)
	if err != nil {
		return 0, tooLarge
	}
	return v, ""
}

// wordNumber reads a token that does not begin like a number: NA, or an error.
func wordNumber(b []byte) (float64, int, badNumber) {
	tok := b[:tokenEnd(b, 0)]
	switch {
	case string(tok) == "NA":
		return math.NaN(), 2, ""
	case tok[0] == '*':
		return 0, 0, overflowed
	case notFiniteWord(tok):
		return 0, 0, notFinite
	}
	return 0, 0, notNumber
}

// notFiniteWord reports whether tok is a spelling of NaN or infinity.
func notFiniteWord(tok []byte) bool {
	if tok[0] == '+' || tok[0] == '-' {
		tok = tok[1:]
	}
	return slices.Contains([]string{"nan", "inf", "infinity"}, strings.ToLower(string(tok)))
}

// isSeparator reports whether c separates fields.
func isSeparator(c byte) bool { return c <= ' ' && (c == ' ' || c == '\t' || c == '\r') }

// skipBlanks returns the position of the first nonblank from i on.
func skipBlanks(b []byte, i int) int {
	for i < len(b) && isSeparator(b[i]) {
		i++
	}
	return i
}

// tokenEnd returns the position of the first blank from i on.
func tokenEnd(b []byte, i int) int {
	for i < len(b) && !isSeparator(b[i]) {
		i++
	}
	return i
}
