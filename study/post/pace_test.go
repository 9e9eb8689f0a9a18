package post

import (
	"context"
	"errors"
	"testing"
	"time"
)

// TestPace: a product is late if its delay is more than a minute of the feed. Products that are not due yet wait.
func TestPace(t *testing.T) {
	p := Pace{PerDay: 24, SpeedUp: 60} // a product a minute; a minute of the feed is a second
	if p.isLate(time.Second) || !p.isLate(time.Second+1) {
		t.Error("a minute of the feed is not a second")
	}
	began := time.Now()
	if delay, err := p.wait(t.Context(), began.Add(-5*time.Minute), 3); err != nil || !p.isLate(delay) {
		t.Errorf("product 3 after five minutes: delay %s, %v", delay, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.wait(ctx, began, 1000); !errors.Is(err, context.Canceled) {
		t.Errorf("product 1000 is due in many hours: %v", err)
	}
	noPauses := Pace{PerDay: 24}
	if delay, err := noPauses.wait(ctx, began, 1000); delay != 0 || err != nil || noPauses.isLate(time.Hour) {
		t.Errorf("without pauses: delay %s, %v", delay, err)
	}
}
