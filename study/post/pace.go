package post

import (
	"context"
	"time"

	"github.com/barograph/barograph/engine"
)

// Pace spaces the products of a live feed evenly. The zero value has no pauses.
type Pace struct {
	PerDay  int     // products per day of the feed
	SpeedUp float64 // days of the feed per day; 0 = no pauses
}

// hasPauses reports whether products are posted at their times.
func (p Pace) hasPauses() bool { return p.SpeedUp > 0 }

// wait waits until a product is due. began is the time of product 0. If the product was due before, wait returns its
// delay at once.
func (p Pace) wait(ctx context.Context, began time.Time, product int64) (delay time.Duration, err error) {
	if !p.hasPauses() {
		return 0, nil
	}
	gap := float64(24*time.Hour) / float64(p.PerDay) / p.SpeedUp
	due := began.Add(time.Duration(float64(product) * gap))
	if wait := time.Until(due); wait > 0 {
		return 0, engine.Pause(ctx, wait)
	}
	return time.Since(due), nil
}

// isLate reports whether a delay is longer than a minute of the feed.
func (p Pace) isLate(delay time.Duration) bool {
	return float64(delay)*p.SpeedUp > float64(time.Minute)
}
