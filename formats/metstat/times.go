package metstat

import (
	"time"

	"github.com/barograph/barograph/record"
)

// isMissingLead reports whether a lead is missing.
func isMissingLead(tok []byte) bool { return string(tok) == record.NA || string(tok) == "-9999" }

// parseLead reads a lead as seconds, as MET does (time_strings.cc, timestring_to_sec): six to nine digits are
// [H…]HHMMSS, one to four are hours. Five are refused: 60000 is 60,000 hours in MET, and in METdbLoad 06:00:00 whose
// leading zero was lost. A missing lead is 0, as in METdbLoad.
func parseLead(tok []byte) (int32, bool) {
	if isMissingLead(tok) {
		return 0, true
	}
	sign := int32(1)
	if len(tok) > 0 && tok[0] == '-' {
		sign, tok = -1, tok[1:]
	}
	n, ok := digits(tok)
	if !ok || len(tok) < 1 || len(tok) == 5 || len(tok) > 9 {
		return 0, false
	}
	if len(tok) <= 4 {
		n *= 10000
	}
	h, m, s := n/10000, n/100%100, n%100
	return sign * int32(h*3600+m*60+s), m < 60 && s < 60 //nolint:gosec // at most 99,999 hours
}

const timeLength = len("YYYYMMDD_HHMMSS")

// parseTime reads YYYYMMDD_HHMMSS, UTC, in a supported year, as Unix seconds.
func parseTime(tok []byte) (int64, bool) {
	if len(tok) != timeLength || tok[8] != '_' {
		return 0, false
	}
	date, isDate := digits(tok[:8])
	clock, isClock := digits(tok[9:])
	y, mo, d, h, mi, s := date/10000, date/100%100, date%100, clock/10000, clock/100%100, clock%100
	if !isDate || !isClock || y < record.FirstYear || y > record.LastYear ||
		mo < 1 || mo > 12 || d < 1 || h > 23 || mi > 59 || s > 59 {
		return 0, false
	}
	if d > 28 && d > time.Date(y, time.Month(mo)+1, 0, 0, 0, 0, 0, time.UTC).Day() {
		return 0, false
	}
	return record.Days(y, mo, d)*86400 + int64(h*3600+mi*60+s), true
}

func digits(tok []byte) (n int, ok bool) {
	for _, c := range tok {
		if c-'0' > 9 {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, true
}

// appendLead writes seconds as [-][H…]HHMMSS.
func appendLead(dst []byte, seconds int32) []byte {
	n := int(seconds) // -seconds exceeds an int32 for the smallest one
	if n < 0 {
		dst = append(dst, '-')
		n = -n
	}
	dst = appendDigits(dst, n/3600, 2)
	dst = appendDigits(dst, n/60%60, 2)
	return appendDigits(dst, n%60, 2)
}

// appendTime writes Unix seconds as YYYYMMDD_HHMMSS, for supported years.
func appendTime(dst []byte, unix int64) []byte {
	days, s := unix/86400, int(unix%86400)
	if s < 0 {
		days, s = days-1, s+86400
	}
	y, m, d := record.Date(days)
	dst = appendDigits(dst, int(y), 4)
	dst = appendDigits(dst, int(m), 2)
	dst = appendDigits(dst, int(d), 2)
	dst = append(dst, '_')
	dst = appendDigits(dst, s/3600, 2)
	dst = appendDigits(dst, s/60%60, 2)
	return appendDigits(dst, s%60, 2)
}

// appendDigits writes n with at least width digits.
func appendDigits(dst []byte, n, width int) []byte {
	if n >= 10 || width > 1 {
		dst = appendDigits(dst, n/10, width-1)
	}
	return append(dst, byte('0'+n%10))
}
