package post

import (
	"testing"
	"time"

	"github.com/barograph/barograph/results/measure"
)

// TestWaits: where products wait for each other the mean is of the waits, as the maximum is;
// a feed with pauses would else have a mean above its maximum.
func TestWaits(t *testing.T) {
	h := measure.NewHistogram()
	h.RecordN(40*time.Millisecond, 4)
	one := Tally{Products: 4, Post: h, PostTotal: time.Second, Waits: true}
	if got := one.postTimes(); got.Mean > got.Max || got.Mean < 39*time.Millisecond || got.Total != time.Second {
		t.Errorf("mean %s, maximum %s", got.Mean, got.Max)
	}
	if one.Waits = false; one.postTimes().Mean != 250*time.Millisecond {
		t.Errorf("mean %s, want the share of the total", one.postTimes().Mean)
	}
}
