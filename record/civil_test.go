package record

import (
	"testing"
	"time"
)

// TestCivil compares dates with those of the standard library, each day of 5,000 years
// from 900 before the year 0 on.
func TestCivil(t *testing.T) {
	at := time.Date(-900, 1, 1, 0, 0, 0, 0, time.UTC)
	for range 1_900_000 {
		y, m, d := at.Date()
		want := at.Unix() / 86400
		if got := Days(y, int(m), d); got != want {
			t.Fatalf("%s: %d days, want %d", at, got, want)
		}
		if gy, gm, gd := Date(want); int(gy) != y || int(gm) != int(m) || int(gd) != d {
			t.Fatalf("%d days: %d-%d-%d, want %s", want, gy, gm, gd, at)
		}
		at = at.AddDate(0, 0, 1)
	}
}
