package kv

import (
	"context"
	"hash/maphash"
)

// stripes is the number of locks of a Stripes.
const stripes = 256

// Stripes are locks by key, for engines that look at a record before they write
// it. Other processes are not kept out by them.
type Stripes struct {
	seed  maphash.Seed
	locks [stripes]chan struct{}
}

// NewStripes returns locks that nobody holds.
func NewStripes() *Stripes {
	s := &Stripes{seed: maphash.MakeSeed()}
	for i := range s.locks {
		s.locks[i] = make(chan struct{}, 1)
	}
	return s
}

// Lock waits until nobody else holds the lock of a key, or for the end of ctx,
// whose error it then returns. Two keys may have the same lock: nobody must ask
// for one while holding another.
func (s *Stripes) Lock(ctx context.Context, key []byte) (unlock func(), err error) {
	l := s.locks[maphash.Bytes(s.seed, key)%stripes]
	select {
	case l <- struct{}{}:
		return func() { <-l }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
