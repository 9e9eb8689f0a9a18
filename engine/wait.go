package engine

import (
	"context"
	"errors"
	"time"
)

// Pause waits for d. If ctx is done before, it returns the error of ctx at once.
func Pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// Await calls try at intervals until it succeeds. If ctx is done before, Await returns the error of ctx joined with the
// last error of try.
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
