package pebble

import (
	"errors"
	"syscall"

	"github.com/cockroachdb/pebble/v2"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/docengine"
)

// diskFull is closed when the disk has no space left. Pebble cannot go on then:
// it panics, or tries for ever. So whatever writes is stopped where it is, as a
// kill would do, after which the archive is whole; who waits for it gets an
// error, and the archive can be read until it is closed.
type diskFull chan struct{}

// stop is called by what found the disk full, alone, and holds it for good.
func (f diskFull) stop() {
	close(f)
	select {}
}

// guarded does work that may write; it is left behind where the disk is full.
func guarded[T any](s *store, work func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		v, err := work()
		done <- result{v, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-s.full:
		var none T
		return none, syscall.ENOSPC
	}
}

// write is guarded for work without a result.
func (s *store) write(work func() error) error {
	_, err := guarded(s, func() (struct{}, error) { return struct{}{}, work() })
	return err
}

// explain says where and what to do, where the disk is full or a file damaged.
func (s *store) explain(err error) error {
	switch info := pebble.ExtractDataCorruptionInfo(err); {
	case errors.Is(err, syscall.ENOSPC):
		return engine.DiskFull(s.dir, err)
	case info != nil:
		return engine.Damaged(info.Path, info.Details)
	case pebble.IsCorruptionError(err) || errors.Is(err, docengine.ErrDamaged):
		return engine.Damaged(s.dir, err)
	}
	return err
}
