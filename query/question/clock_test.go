package question

import "testing"

// TestHourOf: hours of the day are not negative before 1970.
func TestHourOf(t *testing.T) {
	for at, want := range map[int64]int{
		0: 0, 3599: 0, 3600: 1, 86399: 23, 86400: 0, 1546326000: 7, -1: 23, -3600: 23, -3601: 22, -86400: 0, -86401: 23, -62135596800: 0,
	} {
		if got := HourOf(at); got != want {
			t.Errorf("%d: %d, not %d", at, got, want)
		}
	}
}
