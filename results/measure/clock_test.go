package measure

import "testing"

func TestClockNeverGoesBack(t *testing.T) {
	c := StartClock()
	last := c.Now()
	for range 10_000 {
		now := c.Now()
		if now < last {
			t.Fatalf("clock went back from %v to %v", last, now)
		}
		last = now
	}
}
