package engine

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// tryFor is how long one try to reach a lost server may take.
const tryFor = 10 * time.Second

// Reopen returns a connection that answers, after a call of c failed: c itself
// where only the call did, else another, and c is closed. A connection answers
// if it reads key, whether or not there is such a record; so it is the same for
// engines whose connections are their driver's. pause is called before each try
// and waits; where it returns false Reopen gives up, with c and the last error.
func (r *Records) Reopen(ctx context.Context, c *Conn, key []byte, pause func() bool) (*Conn, error) {
	err := c.answers(ctx, key)
	for err != nil {
		if !pause() {
			return c, err
		}
		var other *Conn
		if other, err = r.again(ctx, key); err == nil {
			_ = c.Close() // it is broken
			return other, nil
		}
	}
	return c, nil
}

func (c *Conn) answers(ctx context.Context, key []byte) error {
	ctx, cancel := context.WithTimeout(ctx, tryFor)
	defer cancel()
	var row Row
	err := c.Read(ctx, key, nil, &row)
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}

func (r *Records) again(ctx context.Context, key []byte) (*Conn, error) {
	short, cancel := context.WithTimeout(ctx, tryFor)
	defer cancel()
	c, err := r.Connect(short)
	if err != nil {
		return nil, err
	}
	if err := c.answers(ctx, key); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// BackOff is how long to wait after so many failures in a row, at least one:
// 1 ms, twice as long each time, up to 1 s; times 0.5 … 1.5, so that workers
// who failed together do not all come back together.
func BackOff(failures int, rng *rand.Rand) time.Duration {
	wait := min(time.Second, time.Millisecond<<min(failures-1, 10))
	return time.Duration(float64(wait) * (0.5 + rng.Float64()))
}
