package lab

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"github.com/barograph/barograph/internal/fault"
)

// How disks are measured.
const (
	speedFile    = ".barograph-speed" // on each disk, while it is measured
	speedBytes   = 128 << 20          // at most so large; it is gone over again where a disk is faster
	speedReaders = 16                 // of random blocks
	rampShare    = 5                  // the first fifth is not counted: the kernel lets a burst through
)

// measure measures each disk while the others rest, then all at once.
func (s *DiskSet) measure(ctx context.Context, each time.Duration) error {
	for i := range s.Disks {
		d := &s.Disks[i]
		var err error
		if d.Measured, err = d.speed(ctx, min(speedBytes, s.Size/4/sequentialBlock*sequentialBlock), each); err != nil {
			return &fault.Error{File: d.Path, Problem: "cannot be measured", Err: err, Cure: "see the error above"}
		}
		if err := s.save(); err != nil {
			return err
		}
	}
	rates := make([]float64, len(s.Disks))
	g, ctx := errgroup.WithContext(ctx)
	for i := range s.Disks {
		g.Go(func() error {
			var err error
			rates[i], err = s.Disks[i].read(ctx, each)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	s.Together = 0
	for i, r := range rates {
		s.Together += r
		if err := os.Remove(s.Disks[i].speedFile()); err != nil {
			return err
		}
	}
	return nil
}

func (d *Disk) speedFile() string { return filepath.Join(d.Path, speedFile) }

// speed writes a file past every cache, then reads it in order and at random.
func (d *Disk) speed(ctx context.Context, size int64, each time.Duration) (out DiskSpeed, err error) {
	if out.WriteMBps, err = d.write(ctx, size, each); err != nil {
		return out, err
	}
	if out.ReadMBps, err = d.read(ctx, each); err != nil {
		return out, err
	}
	out.RandomReads, err = d.random(ctx, each)
	return out, err
}

// block is memory as direct reads and writes want it: aligned to a page.
func block(size int) ([]byte, func(), error) {
	b, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return nil, nil, err
	}
	return b, func() { _ = unix.Munmap(b) }, nil // the process's own memory
}

func (d *Disk) write(ctx context.Context, size int64, each time.Duration) (mbps float64, err error) {
	f, err := os.OpenFile(d.speedFile(), os.O_CREATE|os.O_TRUNC|os.O_RDWR|unix.O_DIRECT, 0o600)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	b, done, err := block(sequentialBlock)
	if err != nil {
		return 0, err
	}
	defer done()
	r := rand.New(rand.NewPCG(1, 0)) // bytes that no disk can compress
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	t := newTally(each)
	for at := int64(0); t.goes(ctx); at = (at + sequentialBlock) % size {
		n, err := f.WriteAt(b, at)
		if err != nil {
			return 0, err
		}
		t.add(n)
	}
	return t.perSecond() / 1e6, ctx.Err()
}

func (d *Disk) read(ctx context.Context, each time.Duration) (mbps float64, err error) {
	f, size, err := d.open()
	if err != nil {
		return 0, err
	}
	defer f.Close() //nolint:errcheck // nothing was written
	b, done, err := block(sequentialBlock)
	if err != nil {
		return 0, err
	}
	defer done()
	t := newTally(each)
	for at := int64(0); t.goes(ctx); at = (at + sequentialBlock) % size {
		n, err := f.ReadAt(b, at)
		if err != nil {
			return 0, err
		}
		t.add(n)
	}
	return t.perSecond() / 1e6, ctx.Err()
}

// random counts reads of small blocks, several at a time.
func (d *Disk) random(ctx context.Context, each time.Duration) (perSecond float64, err error) {
	f, size, err := d.open()
	if err != nil {
		return 0, err
	}
	defer f.Close() //nolint:errcheck // nothing was written
	rates := make([]float64, speedReaders)
	g, ctx := errgroup.WithContext(ctx)
	for k := range rates {
		g.Go(func() error {
			b, done, err := block(randomBlock)
			if err != nil {
				return err
			}
			defer done()
			r := rand.New(rand.NewPCG(2, uint64(k)))
			t := newTally(each)
			for t.goes(ctx) {
				if _, err := f.ReadAt(b, r.Int64N(size/randomBlock)*randomBlock); err != nil {
					return err
				}
				t.add(1)
			}
			rates[k] = t.perSecond()
			return ctx.Err()
		})
	}
	err = g.Wait()
	for _, r := range rates {
		perSecond += r
	}
	return perSecond, err
}

// open opens the file that was written, for direct reads; its size is a
// multiple of the blocks.
func (d *Disk) open() (*os.File, int64, error) {
	f, err := os.OpenFile(d.speedFile(), os.O_RDONLY|unix.O_DIRECT, 0)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err == nil && info.Size() < sequentialBlock {
		err = fmt.Errorf("%s: only %d bytes could be written", f.Name(), info.Size())
	}
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, info.Size(), nil
}

// tally counts the operations between the end of the ramp and the end.
type tally struct {
	ramp, end   time.Time
	first, last time.Time // of the counted operations
	n           int
}

func newTally(each time.Duration) *tally {
	now := time.Now()
	return &tally{ramp: now.Add(each / rampShare), end: now.Add(each)}
}

// goes reports whether to go on: until the end of the time, and until
// something was counted.
func (t *tally) goes(ctx context.Context) bool {
	return ctx.Err() == nil && (t.n == 0 || time.Now().Before(t.end))
}

func (t *tally) add(n int) {
	now := time.Now()
	switch {
	case t.first.IsZero():
		if now.After(t.ramp) {
			t.first = now // counting starts when this operation ends
		}
	default:
		t.n += n
		t.last = now
	}
}

func (t *tally) perSecond() float64 {
	if t.n == 0 {
		return 0
	}
	return float64(t.n) / t.last.Sub(t.first).Seconds()
}
