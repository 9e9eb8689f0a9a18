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
	// Append appends the content of the file to dst and returns it. It may be called
	// repeatedly and from several goroutines, always with the same result.
	Append func(dst []byte) []byte
}

// Stats are the counts of the written files.
type Stats struct {
	Files int
	Lines int64 // newlines
	Bytes int64
	// Digest is the sum, modulo 2¹²⁸, of a digest of each file's path and
	// content. Different archives have different digests, and the order in
	// which files were made does not change it.
	Digest string
}

// tally computes Stats.
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

// WriteAll makes files below root with the given number of workers (at least
// one) and returns their counts. A file gets its name when it is complete. The
// workers call progress, which may be nil, with the bytes of each complete file.
// When ctx ends, WriteAll starts no further file and returns the error of ctx.
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

// place writes a file under a temporary name and then renames it. After an error it removes the temporary file, because
// the disk may be full.
func place(path string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	err := os.WriteFile(path+".part", content, 0o644)
	if err == nil {
		err = os.Rename(path+".part", path)
	}
	if err != nil {
		_ = os.Remove(path + ".part") // the error before it is the cause
	}
	return err
}
