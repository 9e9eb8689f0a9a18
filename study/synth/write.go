package synth

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/zeebo/xxh3"
	"golang.org/x/sync/errgroup"

	"github.com/barograph/barograph/record"
)

// FileSpec is a file to be made.
type FileSpec struct {
	Path string // from the root of the archive, with slashes
	// Append appends the whole content to dst and returns it. It may be called
	// more than once and from several goroutines, always with the same result.
	Append func(dst []byte) []byte
}

// Stats is what was written.
type Stats struct {
	Files int
	Lines int64 // newlines
	Bytes int64
	// Digest is the sum, modulo 2¹²⁸, of a digest of each file's path and
	// content: it tells archives apart and does not depend on the order in
	// which files were made.
	Digest string
}

// tally is Stats while it grows.
type tally struct {
	sync.Mutex
	stats Stats
	sum   record.Digest
}

func (t *tally) add(path string, content []byte) {
	h := xxh3.New()
	_, _ = h.WriteString(path) // a hash never fails
	_, _ = h.Write([]byte{0})
	_, _ = h.Write(content)
	sum := h.Sum128()
	lines := int64(bytes.Count(content, []byte{'\n'}))
	t.Lock()
	defer t.Unlock()
	t.sum.Add(record.Digest{Hi: sum.Hi, Lo: sum.Lo})
	t.stats.Files++
	t.stats.Lines += lines
	t.stats.Bytes += int64(len(content))
}

func (t *tally) result() Stats {
	t.Lock()
	defer t.Unlock()
	s := t.stats
	s.Digest = fmt.Sprintf("%016x%016x", t.sum.Hi, t.sum.Lo)
	return s
}

// WriteAll makes files under root with the given number of workers (at least
// one) and returns what it wrote. Each file appears under its name only once it
// is complete. progress, which may be nil, is called from the workers with the
// bytes of each file as it is finished. When ctx ends no further file is started,
// and the error is that of ctx.
func WriteAll(ctx context.Context, root string, files []FileSpec, workers int, progress func(bytes int64)) (Stats, error) {
	var t tally
	var started atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	for range max(workers, 1) {
		g.Go(func() error {
			var buf []byte
			for i := started.Add(1) - 1; i < int64(len(files)); i = started.Add(1) - 1 {
				if err := ctx.Err(); err != nil {
					return err
				}
				f := &files[i]
				buf = f.Append(buf[:0])
				if err := place(filepath.Join(root, filepath.FromSlash(f.Path)), buf); err != nil {
					return fmt.Errorf("synth: %w", err)
				}
				t.add(f.Path, buf)
				if progress != nil {
					progress(int64(len(buf)))
				}
			}
			return nil
		})
	}
	err := g.Wait()
	return t.result(), err
}

// place writes a file under a temporary name and then renames it.
func place(path string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(path+".part", content, 0o644); err != nil {
		return err
	}
	return os.Rename(path+".part", path)
}
