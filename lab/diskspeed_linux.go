package lab

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"github.com/barograph/barograph/internal/fault"
)

const (
	speedFile    = ".barograph-speed" // the file on each disk that measurements write and read
	speedBytes   = 128 << 20          // its largest size; a faster disk writes and reads it several times
	speedReaders = 16                 // concurrent readers of random blocks
	rampShare    = 5                  // the first fifth of a measurement does not count, because the kernel allows a burst
)

// measure measures each disk while the others are idle, and then reads all disks at once. It leaves no file on them.
func (s *DiskSet) measure(ctx context.Context, each time.Duration) (err error) {
	defer func() { err = errors.Join(err, s.removeSpeedFiles()) }()
	for i := range s.Disks {
		d := &s.Disks[i]
		if d.Measured, err = d.measure(ctx, min(speedBytes, s.Size/4/sequentialBlock*sequentialBlock), each); err != nil {
			return &fault.Error{
				File: d.Path, Problem: "cannot be measured", Err: err,
				Cure: "make room on it, and check the disk that contains " + s.Dir,
			}
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
			rates[i], err = s.Disks[i].measureReads(ctx, each)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	s.Together = 0
	for _, r := range rates {
		s.Together += r
	}
	return nil
}

func (s *DiskSet) removeSpeedFiles() (err error) {
	for i := range s.Disks {
		if e := os.Remove(s.Disks[i].speedFile()); !errors.Is(e, fs.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	return err
}

func (d *Disk) speedFile() string { return filepath.Join(d.Path, speedFile) }

// measure writes a file without any cache, and then reads it in sequence and at random.
func (d *Disk) measure(ctx context.Context, size int64, each time.Duration) (out DiskSpeed, err error) {
	if out.WriteMBps, err = d.measureWrites(ctx, size, each); err != nil {
		return out, err
	}
	if out.ReadMBps, err = d.measureReads(ctx, each); err != nil {
		return out, err
	}
	out.RandomReads, err = d.measureRandomReads(ctx, each)
	return out, err
}

// alignedBlock returns memory for direct reads and writes, which must be aligned to a page, and a function that frees
// it.
func alignedBlock(size int) ([]byte, func(), error) {
	b, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return nil, nil, err
	}
	return b, func() { _ = unix.Munmap(b) }, nil // the process's own memory
}

// measureWrites writes the file in sequence, again and again.
func (d *Disk) measureWrites(ctx context.Context, size int64, each time.Duration) (mbps float64, err error) {
	f, err := os.OpenFile(d.speedFile(), os.O_CREATE|os.O_TRUNC|os.O_RDWR|unix.O_DIRECT, 0o600)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	b, free, err := alignedBlock(sequentialBlock)
	if err != nil {
		return 0, err
	}
	defer free()
	r := rand.New(rand.NewPCG(1, 0)) // bytes that no disk can compress
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	t := newTally(each)
	for offset := int64(0); t.continues(ctx); offset = (offset + sequentialBlock) % size {
		n, err := f.WriteAt(b, offset)
		if err != nil {
			return 0, err
		}
		t.add(n)
	}
	return t.perSecond() / 1e6, ctx.Err()
}

// measureReads reads the file in sequence, again and again.
func (d *Disk) measureReads(ctx context.Context, each time.Duration) (mbps float64, err error) {
	f, size, err := d.openSpeedFile()
	if err != nil {
		return 0, err
	}
	defer f.Close() //nolint:errcheck // nothing was written
	b, free, err := alignedBlock(sequentialBlock)
	if err != nil {
		return 0, err
	}
	defer free()
	t := newTally(each)
	for offset := int64(0); t.continues(ctx); offset = (offset + sequentialBlock) % size {
		n, err := f.ReadAt(b, offset)
		if err != nil {
			return 0, err
		}
		t.add(n)
	}
	return t.perSecond() / 1e6, ctx.Err()
}

// measureRandomReads reads small blocks of the file at random, with several readers.
func (d *Disk) measureRandomReads(ctx context.Context, each time.Duration) (perSecond float64, err error) {
	f, size, err := d.openSpeedFile()
	if err != nil {
		return 0, err
	}
	defer f.Close() //nolint:errcheck // nothing was written
	rates := make([]float64, speedReaders)
	g, ctx := errgroup.WithContext(ctx)
	for k := range rates {
		g.Go(func() error {
			b, free, err := alignedBlock(randomBlock)
			if err != nil {
				return err
			}
			defer free()
			r := rand.New(rand.NewPCG(2, uint64(k)))
			t := newTally(each)
			for t.continues(ctx) {
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

// openSpeedFile opens the file for direct reads. Its size is a multiple of the sizes of blocks.
func (d *Disk) openSpeedFile() (*os.File, int64, error) {
	f, err := os.OpenFile(d.speedFile(), os.O_RDONLY|unix.O_DIRECT, 0)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err == nil && info.Size() < sequentialBlock {
		err = fmt.Errorf("%s: the measurement wrote only %d bytes", f.Name(), info.Size())
	}
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, info.Size(), nil
}

// tally counts the operations of a measurement, or their bytes. It omits those of the ramp, the first part of the
// measurement.
type tally struct {
	rampEnd, end time.Time
	first, last  time.Time // when counting started, and the end of the last counted operation
	n            int
}

func newTally(each time.Duration) *tally {
	now := time.Now()
	return &tally{rampEnd: now.Add(each / rampShare), end: now.Add(each)}
}

// continues reports whether the measurement continues: to its end, and until an operation was counted.
func (t *tally) continues(ctx context.Context) bool {
	return ctx.Err() == nil && (t.n == 0 || time.Now().Before(t.end))
}

func (t *tally) add(n int) {
	now := time.Now()
	switch {
	case t.first.IsZero():
		if now.After(t.rampEnd) {
			t.first = now // counting starts after this operation
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
