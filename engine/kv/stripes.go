package kv

import (
	"context"
	"hash/maphash"
)

// stripes is the number of locks of a Stripes.
const stripes = 256

// Stripes are locks by key for engines that read a record before they write it. They do not
// lock out other processes.
type Stripes struct {
	seed  maphash.Seed
	locks [stripes]chan struct{}
}

// NewStripes returns unlocked locks.
func NewStripes() *Stripes {
	s := &Stripes{seed: maphash.MakeSeed()}
	for i := range s.locks {
		s.locks[i] = make(chan struct{}, 1)
	}
	return s
}

// Lock waits for the lock of a key. If ctx is done before, Lock returns the error of ctx.
// Two keys may have the same lock: a caller must unlock one before it locks another.
func (s *Stripes) Lock(ctx context.Context, key []byte) (unlock func(), err error) {
	l := s.locks[maphash.Bytes(s.seed, key)%stripes]
	select {
	case l <- struct{}{}:
		return func() { <-l }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
