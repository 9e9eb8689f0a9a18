package record

import (
	"cmp"
	"fmt"
	"time"
)

// The range of all times of a record: valid and initialization times, of the forecast and of the
// observation. Every engine stores times in this range exactly. The narrowest type, timestamps in
// nanoseconds, covers 1677-09-21 to 2262-04-11.
const (
	FirstYear = 1678
	LastYear  = 2261
)

// InitProblem returns the reason why a record cannot be stored although its valid time is in range: its
// initialization time (valid time minus lead) is out of range. It returns "" if that time is in range, too.
func InitProblem(valid int64, lead int32) string {
	return outOfYears("the initialization time (valid time minus lead)", valid-int64(lead))
}

// TimesProblem returns the reason why record i cannot be stored: the first of its times that is out of
// range. It returns "" if all of them are in range.
func (b *Batch) TimesProblem(i int) string {
	return cmp.Or(
		outOfYears("the valid time", b.Valid[i]), outOfYears("the end of the valid time", b.ValidEnd[i]),
		InitProblem(b.Valid[i], b.Lead[i]), outOfYears("the time of the observation", b.ObsBeg[i]),
		outOfYears("the end of the time of the observation", b.ObsEnd[i]),
	)
}

// outOfYears returns the reason why a time cannot be stored; "" if it can.
func outOfYears(what string, t int64) string {
	const first, last = -9214560000, 9214646399 // 1678-01-01 00:00:00 and 2261-12-31 23:59:59
	if t >= first && t <= last {
		return ""
	}
	text := time.Unix(t, 0).UTC().Format(time.DateTime)
	return fmt.Sprintf("%s is %s, outside the years %d to %d", what, text, FirstYear, LastYear)
}

// Days counts the days from 1970-01-01 to a date of the Gregorian calendar. It counts years from
// March, which makes the leap day the last day of a year; 400 years have 146,097 days. Source: H.
// Hinnant, chrono-compatible low-level date algorithms.
func Days[I int | int32 | int64](year, month, day I) int64 {
	y, m := int64(year), int64(month)
	if m <= 2 {
		y--
		m += 12
	}
	era := floorDiv(y, 400)
	yearOfEra := y - era*400
	dayOfYear := (153*(m-3)+2)/5 + int64(day) - 1
	return era*146097 + yearOfEra*365 + yearOfEra/4 - yearOfEra/100 + dayOfYear - 719468
}

// Date is the inverse of Days.
func Date(days int64) (year, month, day int32) {
	days += 719468
	era := floorDiv(days, 146097)
	day0 := days - era*146097 // day of the era, then of the year
	y := (day0 - day0/1460 + day0/36524 - day0/146096) / 365
	day0 -= 365*y + y/4 - y/100
	m := (5*day0 + 2) / 153
	year, month, day = int32(y+era*400), int32(m+3), int32(day0-(153*m+2)/5+1)
	if month > 12 {
		return year + 1, month - 12, day
	}
	return year, month, day
}

// floorDiv rounds down, also below 0; b must be above 0.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
