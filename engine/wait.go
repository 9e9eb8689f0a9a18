package engine

import (
	"context"
	"errors"
	"time"
)

// Pause waits; it ends at once, with its error, where ctx does.
func Pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// Await tries every so often until it succeeds, or until ctx ends: then the last
// error is reported with it.
func Await(ctx context.Context, every time.Duration, try func() error) error {
	for {
		err := try()
		if err == nil {
			return nil
		}
		if ended := Pause(ctx, every); ended != nil {
			return errors.Join(ended, err)
		}
	}
}
