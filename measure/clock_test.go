package measure

import (
	"testing"
	"time"
)

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
	if got := c.Wall(time.Second).Sub(c.Started()); got != time.Second {
		t.Errorf("Wall(1s) is %v after the start", got)
	}
}

func TestClockGrain(t *testing.T) {
	if g := StartClock().Grain(1_000_000); g <= 0 {
		t.Errorf("grain %v: the clock never moved in a million readings", g)
	}
}
