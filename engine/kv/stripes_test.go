package kv_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/barograph/barograph/engine/kv"
)

// Only one goroutine at a time has the lock of a key. One that waits for it stops when its context is done.
func TestStripes(t *testing.T) {
	s := kv.NewStripes()
	n := 0
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 100 {
				unlock, err := s.Lock(t.Context(), []byte("key"))
				if err != nil {
					t.Error(err)
					return
				}
				n++
				unlock()
			}
		})
	}
	all.Wait()
	if n != 800 {
		t.Errorf("%d of 800", n)
	}
	unlock, err := s.Lock(t.Context(), []byte("key"))
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := s.Lock(ctx, []byte("key")); !errors.Is(err, context.Canceled) {
		t.Errorf("a lock that is held, after the end: %v", err)
	}
}
