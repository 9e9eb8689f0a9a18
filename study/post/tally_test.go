package post

import (
	"testing"
	"time"

	"github.com/barograph/barograph/results/measure"
)

// TestWaits: if products wait for their transactions, the mean is that of the waits, like the maximum. A share of the
// total would make the mean of a feed with pauses exceed its maximum.
func TestWaits(t *testing.T) {
	h := measure.NewHistogram()
	h.RecordN(40*time.Millisecond, 4)
	tally := Tally{Products: 4, Post: h, PostTotal: time.Second, Waits: true}
	if got := tally.postTimes(); got.Mean > got.Max || got.Mean < 39*time.Millisecond || got.Total != time.Second {
		t.Errorf("mean %s, maximum %s", got.Mean, got.Max)
	}
	if tally.Waits = false; tally.postTimes().Mean != 250*time.Millisecond {
		t.Errorf("mean %s, want the share of the total", tally.postTimes().Mean)
	}
}
