package record

// Days counts the days from 1970-01-01 to a date of the Gregorian calendar. It
// counts years from March, so that the leap day is a year's last; 400 years
// have 146,097 days. Source: H. Hinnant, chrono-compatible low-level date
// algorithms.
func Days[I int | int32 | int64](year, month, day I) int64 {
	y, m := int64(year), int64(month)
	if m <= 2 {
		y--
		m += 12
	}
	era := floorDiv(y, 400)
	ofEra := y - era*400
	return era*146097 + ofEra*365 + ofEra/4 - ofEra/100 + (153*(m-3)+2)/5 + int64(day) - 1 - 719468
}

// Date is the inverse of Days.
func Date(days int64) (year, month, day int32) {
	days += 719468
	era := floorDiv(days, 146097)
	of := days - era*146097
	y := (of - of/1460 + of/36524 - of/146096) / 365
	of -= 365*y + y/4 - y/100
	m := (5*of + 2) / 153
	year, month, day = int32(y+era*400), int32(m+3), int32(of-(153*m+2)/5+1)
	if month > 12 {
		return year + 1, month - 12, day
	}
	return year, month, day
}

func floorDiv(a, b int64) int64 {
	if a < 0 {
		a -= b - 1
	}
	return a / b
}
