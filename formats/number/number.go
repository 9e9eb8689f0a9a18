// Package number reads and writes the decimal numbers of verification files, exactly and without
// allocating.
//
// Parse returns the same bits as strconv.ParseFloat for the decimal forms that Fortran and C
// programs write: "12", "10512.", ".5", "-0.0", "0.27E+02", "1e-5". It does not accept words
// ("NaN", "inf"), hexadecimal numbers and underscores, which strconv also accepts.
package number

import (
	"math"
	"strconv"
	"unsafe"
)

// exact powers of ten: every one of them is a float64 without rounding.
var pow10 = [...]float64{ //nolint:gochecknoglobals // a constant table
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10,
	1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
}

// uint64Digits is the smallest number of digits whose value may exceed a uint64.
const uint64Digits = 20

// Parse reads all of tok as a decimal number. It returns 0 and false if tok is not a number or if the
// number exceeds the range of a float64. A number too small for a float64 is 0, as in strconv.
//
// The fast path is Clinger's: a mantissa below 2⁵³ and a power of ten up to 10²² are exact, hence
// one multiplication or division rounds correctly. strconv handles all other numbers.
func Parse(tok []byte) (float64, bool) {
	if len(tok) == 0 {
		return 0, false
	}
	if len(tok) <= shortToken {
		if f, ok := parseShort(tok); ok {
			return f, true
		}
	}
	d, ok := scan(tok)
	if !ok {
		return 0, false
	}
	if power := max(d.exp, -d.exp); d.digits < uint64Digits && d.mantissa>>53 == 0 && power < len(pow10) {
		f := float64(d.mantissa)
		if d.exp < 0 {
			f /= pow10[power]
		} else {
			f *= pow10[power]
		}
		if d.negative {
			f = -f
		}
		return f, true
	}
	// The string does not outlive the call, and tok is not written to meanwhile.
	f, err := strconv.ParseFloat(unsafe.String(&tok[0], len(tok)), 64)
	if err != nil {
		return 0, false
	}
	return f, true
}

// shortToken is the length up to which the digits of a token with a point are below 2⁵³.
const shortToken = 16

// parseShort reads [-]digits[.digits], the form of nearly all numbers in MET's files, from a token that is not empty.
// Up to 15 digits and a point are exact, and 16 digits without a point are rounded once. It rejects all other forms.
func parseShort(tok []byte) (f float64, ok bool) {
	negative := tok[0] == '-'
	if negative {
		tok = tok[1:]
	}
	mantissa, point := uint64(0), -1
	for i, c := range tok {
		if d := c - '0'; d <= 9 {
			mantissa = mantissa*10 + uint64(d)
		} else if c == '.' && point < 0 {
			point = i
		} else {
			return f, false
		}
	}
	f = float64(mantissa)
	digits := len(tok)
	if point >= 0 {
		digits--
		f /= pow10[digits-point]
	}
	if negative {
		f = -f
	}
	return f, digits != 0
}

// decimal is a scanned number: mantissa × 10^exp. The mantissa is valid only if digits < uint64Digits.
type decimal struct {
	mantissa uint64
	exp      int
	digits   int // of the mantissa
	negative bool
}

// maxExp bounds the exponent while it is read. Larger exponents are out of range.
const maxExp = 1e5

// scan checks the form [sign] digits [. digits] [e [sign] digits], with at
// least one digit in the mantissa, and collects its parts. tok is not empty.
func scan(tok []byte) (d decimal, ok bool) {
	i := 0
	if tok[0] == '-' || tok[0] == '+' {
		d.negative = tok[0] == '-'
		i = 1
	}
	start := i
	for ; i < len(tok) && tok[i]-'0' <= 9; i++ {
		d.mantissa = d.mantissa*10 + uint64(tok[i]-'0')
	}
	d.digits = i - start
	if i < len(tok) && tok[i] == '.' {
		i++
		dot := i
		for ; i < len(tok) && tok[i]-'0' <= 9; i++ {
			d.mantissa = d.mantissa*10 + uint64(tok[i]-'0')
		}
		d.exp = dot - i
		d.digits -= d.exp
	}
	if i == len(tok) || d.digits == 0 {
		return d, d.digits != 0
	}
	e, ok := exponent(tok[i:])
	d.exp += e
	return d, ok
}

// exponent reads "E+02" and the like.
func exponent(tok []byte) (e int, ok bool) {
	if len(tok) < 2 || tok[0] != 'e' && tok[0] != 'E' {
		return e, false
	}
	tok = tok[1:]
	negative := tok[0] == '-'
	if negative || tok[0] == '+' {
		tok = tok[1:]
	}
	for _, c := range tok {
		if c-'0' > 9 {
			return e, false
		}
		e = min(e*10+int(c-'0'), maxExp)
	}
	if negative {
		e = -e
	}
	return e, len(tok) != 0
}

// Append writes f in the shortest form from which Parse returns f: integers without a point, other
// numbers as 0.00187 or 1.87e-07. NaN, a missing value, is "NA". An infinity is "+Inf" or "-Inf",
// which Parse does not read.
func Append(dst []byte, f float64) []byte {
	if f != f {
		return append(dst, "NA"...)
	}
	if r := math.RoundToEven(f * 1e5); math.Abs(r) < 1e15 && r != 0 && r/1e5 == f {
		return appendScaled(dst, int64(r))
	}
	if f == 0 && !math.Signbit(f) {
		return append(dst, '0')
	}
	format := byte('e')
	if a := math.Abs(f); a >= 1e-5 && a < 1e21 || a == 0 {
		format = 'f'
	}
	return strconv.AppendFloat(dst, f, format, -1, 64)
}

// appendScaled writes n × 10⁻⁵, the precision of MET's files, without trailing
// zeros. With fewer than 16 digits the text is exact, see Append.
func appendScaled(dst []byte, n int64) []byte {
	if n < 0 {
		dst = append(dst, '-')
		n = -n
	}
	dst = strconv.AppendInt(dst, n/100000, 10)
	frac := n % 100000
	if frac == 0 {
		return dst
	}
	digits := [...]byte{'.', byte('0' + frac/10000), byte('0' + frac/1000%10), byte('0' + frac/100%10), byte('0' + frac/10%10), byte('0' + frac%10)}
	n = int64(len(digits))
	for digits[n-1] == '0' {
		n--
	}
	return append(dst, digits[:n]...)
}
