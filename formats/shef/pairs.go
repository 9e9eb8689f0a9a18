package shef

import (
	"math"

	"barograph/record"
)

// Paired tells the elements whose values hold two numbers (7.4.6).
func Paired(pe string) bool {
	switch pe {
	case "HQ", "MD", "MN", "MS", "MV", "NO", "ST", "TB", "TE", "TV":
		return true
	}
	return false
}

// Split parts a paired value as the manual has the poster do (7.4.6): what
// stands before the point is the depth, height or marker; the three digits after
// it are the whole part of the value, those after them its decimals; a minus
// belongs to the value. 6.065 is 65 at 6, -21.0058 is -5.8 at 21, -2.9999 is
// missing at 2. Both are record.NoValue where v is.
func Split(v float64) (at int, value float64) {
	if v == record.NoValue {
		return record.NoValue, record.NoValue
	}
	whole, frac := math.Modf(math.Abs(v))
	value = math.Round(frac*1e7) / 1e4
	switch {
	case v < 0 && value == 999.9:
		value = record.NoValue
	case v < 0 && value != 0:
		value = -value
	}
	return int(whole), value
}
