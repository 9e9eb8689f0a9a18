package vsdb

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/barograph/barograph/record"
)

// AppendLine appends one line, with its newline, in the text format that NCEP writes, and returns
// the extended slice:
//
//	V01 GFS 24 2019010100 GFS G2/NHX SAL1L2 HGT P500 =   3600.   0.269635266E+02 …
//
// typ is the VSDB type with its threshold, e.g. "SL1L2" or "FHO>.50". leadHours is padded to two
// digits. valid is Unix seconds; the format has no minutes and seconds, and AppendLine drops them.
// nums are the numbers to the right of '=', in the order of the line.
//
// The types SL1L2, SAL1L2, VL1L2, VAL1L2, GRAD, FSS and FHO begin with a total. It is printed like
// Fortran's F8.0, or I7 for FHO, whose rates are F8.5. All other numbers are E18.9, rounded to
// nearest, ties to even.
//
// NaN is written as -9999. The format has no infinite numbers: AppendLine writes one as Infinity,
// and Reader rejects the line. An empty level is written as blanks, like NCEP's. AppendLine does
// not allocate if dst has room.
func AppendLine(dst []byte, h *record.Header, leadHours int, valid int64, typ string, nums []float64) []byte {
	dst = append(dst, h[record.Version]...)
	dst = append(dst, ' ')
	dst = append(dst, h[record.Model]...)
	dst = append(dst, ' ')
	if leadHours >= 0 && leadHours < 10 {
		dst = append(dst, '0')
	}
	dst = strconv.AppendInt(dst, int64(leadHours), 10)
	dst = append(dst, ' ')
	dst = appendHour(dst, valid)
	for _, s := range [...]string{h[record.ObType], h[record.VxMask], typ, h[record.FcstVar]} {
		dst = append(dst, ' ')
		dst = append(dst, s...)
	}
	dst = append(dst, ' ')
	if level := h[record.FcstLev]; level != "" {
		dst = append(dst, level...)
	} else {
		dst = append(dst, "     "...)
	}
	dst = append(dst, " ="...)
	return append(appendNumbers(dst, typ, nums), '\n')
}

func appendNumbers(dst []byte, typ string, nums []float64) []byte {
	rates := strings.HasPrefix(typ, "FHO")
	total := rates || strings.HasPrefix(typ, "FSS")
	switch typ {
	case "SL1L2", "SAL1L2", "VL1L2", "VAL1L2", "GRAD":
		total = true
	}
	for i, v := range nums {
		switch {
		case math.IsNaN(v):
			dst = append(dst, "            -9999."...)
		case math.IsInf(v, 0):
			dst = append(dst, "          "...)
			if v < 0 {
				dst = append(dst, '-')
			}
			dst = append(dst, "Infinity"...)
		case i == 0 && total && rates:
			dst = appendFixed(dst, v, 0, 7)
		case i == 0 && total:
			dst = append(appendFixed(dst, v, 0, 7), '.')
		case rates:
			dst = appendFixed(dst, v, 5, 8)
		default:
			dst = appendE(dst, v)
		}
	}
	return dst
}

// appendFixed appends v right-aligned in width bytes with the given decimals, after at least one
// blank. It writes a number that is wider than the field completely, while Fortran writes
// asterisks.
func appendFixed(dst []byte, v float64, decimals, width int) []byte {
	var scratch [32]byte
	var s []byte
	if decimals == 0 && v == math.Trunc(v) && math.Abs(v) < 1e15 {
		s = strconv.AppendInt(scratch[:0], int64(v), 10)
	} else {
		s = strconv.AppendFloat(scratch[:0], v, 'f', decimals, 64)
	}
	for range max(width-len(s), 1) {
		dst = append(dst, ' ')
	}
	return append(dst, s...)
}

// appendHour appends YYYYMMDDHH of a Unix time, UTC.
func appendHour(dst []byte, unix int64) []byte {
	t := time.Unix(unix, 0).UTC()
	year, month, day := t.Date()
	dst = append(dst, byte('0'+year/1000%10), byte('0'+year/100%10))
	for _, n := range [...]int{year % 100, int(month), day, t.Hour()} {
		dst = append(dst, twoDigits[2*n], twoDigits[2*n+1])
	}
	return dst
}

// twoDigits contains the numbers from 00 to 99, of two digits each.
const twoDigits = "0001020304050607080910111213141516171819202122232425262728293031323334353637383940414243444546474849" +
	"5051525354555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899"

// appendE appends v as Fortran's E18.9: three blanks, or two and a minus sign, then 0.ddddddddd, E,
// sign and two digits. Exponents beyond 99 get a third digit, while Fortran would omit the E.
func appendE(dst []byte, v float64) []byte {
	dst = append(dst, ' ', ' ')
	sign := byte(' ')
	if math.Signbit(v) {
		sign, v = '-', -v
	}
	dst = append(dst, sign)
	mant, exp := uint64(0), 0
	if v != 0 {
		var ok bool
		if mant, exp, ok = nineDigits(v); !ok {
			mant, exp = slowDigits(v)
		}
	}
	var d [15]byte
	d[0], d[1] = '0', '.'
	for i := 9; i >= 3; i -= 2 {
		two := mant % 100
		mant /= 100
		d[i], d[i+1] = twoDigits[2*two], twoDigits[2*two+1]
	}
	d[2] = byte('0' + mant)
	d[11], d[12] = 'E', '+'
	if exp < 0 {
		d[12], exp = '-', -exp
	}
	if exp > 99 {
		dst = append(dst, d[:13]...)
		return strconv.AppendInt(dst, int64(exp), 10)
	}
	d[13], d[14] = twoDigits[2*exp], twoDigits[2*exp+1]
	return append(dst, d[:]...)
}

// nineDigits returns v = 0.mant·10^exp with nine digits, correctly rounded. It scales v by one
// exact power of ten, which causes one rounding error of at most 10⁹·2⁻⁵³ < 1.2·10⁻⁷. If the scaled
// number is farther than that from a half, the rounded integer is correct. Otherwise, and for
// powers beyond 10²², ok is false.
func nineDigits(v float64) (mant uint64, exp int, ok bool) {
	const near = 1.2e-7
	binary := int(math.Float64bits(v)>>52) - 1023
	exp = (binary*78913)>>18 + 1 // ⌊binary·log10 2⌋ + 1: correct or one too small
	for {
		shift := 9 - exp
		if shift < -22 || shift > 22 {
			return 0, 0, false
		}
		scaled := v
		if shift < 0 {
			scaled /= pow10[-shift]
		} else {
			scaled *= pow10[shift]
		}
		if scaled >= 1e9 {
			exp++
			continue
		}
		mant = uint64(scaled)
		fraction := scaled - float64(mant)
		if scaled < 1e8 || math.Abs(fraction-0.5) <= near {
			return 0, 0, false
		}
		if fraction > 0.5 {
			mant++
		}
		if mant == 1e9 {
			mant, exp = 1e8, exp+1
		}
		return mant, exp, true
	}
}

// slowDigits does the work of nineDigits by strconv, for every positive v.
func slowDigits(v float64) (mant uint64, exp int) {
	var scratch [24]byte
	s := strconv.AppendFloat(scratch[:0], v, 'e', 8, 64) // d.dddddddde±dd
	mant = uint64(s[0] - '0')
	for _, c := range s[2:10] {
		mant = mant*10 + uint64(c-'0')
	}
	for _, c := range s[12:] {
		exp = exp*10 + int(c-'0')
	}
	if s[11] == '-' {
		exp = -exp
	}
	return mant, exp + 1
}
