package load

import (
	"context"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/formats"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/record"

	"github.com/zeebo/xxh3"
	"golang.org/x/sync/errgroup"
)

// source is what Read needs of an open file.
type source interface {
	Next(into *record.Batch) error
	BytesRead() int64 // of the file, so far
	Close() error
}

// File is one input file on its way through Read.
type File struct {
	Path   string
	Digest string // of its bytes
	Bytes  int64
	Time   time.Time // of its last change, before its bytes were read
	Err    error     // why reading ended early; nil at its regular end
	Offset int64     // of Bytes: those up to the batch that each is given, about

	batches chan parsedBatch
	skip    bool
}

// parsedBatch is a batch, and where in its file it ends.
type parsedBatch struct {
	*record.Batch
	at int64
}

// Reading says how Read works; the zero value is the default.
type Reading struct {
	Workers  int                                    // files parsed at once; 0 = one per CPU
	Skip     func(digest string) (bool, error)      // asked before a file is parsed; its records are then not read
	Known    func(path string) (archive.Mark, bool) // of files that were loaded: where one is Unchanged its bytes are not read; nil = they are
	KeepLast bool                                   // a last line without a line end is whole, not quarantined
	Parsed   *Parsed                                // kept by the first reading, used by the others; each must then keep its hands off what it was given
	From     *Origin                                // read in place of files; nil = files are read

	opener func() func(path string) (source, error) // nil = package formats; one call per worker
}

// Memory is bounded by ahead bytes and workers × depth batches: no file is started
// while more than ahead bytes wait to be taken. Without this a load of many
// files would be parsed whole while the archive commits.
const (
	depth = 4       // parsed batches that may wait per file
	ahead = 8 << 20 // bytes
)

// Read parses files in parallel and hands their batches over, sorted by path, in one goroutine: each for every batch, then end once per file. A
// batch is each's to keep until it calls release with it. A file that cannot
// be read has its Err set when end is called, and the rest goes on; an error
// of each or end stops everything.
func Read(ctx context.Context, paths []string, o Reading, each func(*File, *record.Batch) error, end func(*File) error) error {
	if o.From != nil {
		paths = []string{o.From.Name}
	}
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	files := make([]*File, len(paths))
	for i, p := range slices.Sorted(slices.Values(paths)) {
		files[i] = &File{Path: p, batches: make(chan parsedBatch, depth)}
	}
	g, ctx := errgroup.WithContext(ctx)
	if o.From != nil {
		o.opener = func() func(string) (source, error) {
			return func(string) (source, error) { return o.From.open(ctx), nil }
		}
	}
	next := make(chan *File)
	waiting := newGauge()
	g.Go(func() error {
		defer close(next)
		for _, f := range files {
			if err := waiting.below(ctx, ahead); err != nil {
				return err
			}
			select {
			case next <- f:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	for range min(o.Workers, max(len(files), 1)) {
		g.Go(func() error {
			w := worker{Reading: &o, waiting: waiting}
			if o.opener != nil {
				w.open = o.opener()
			}
			w.files.KeepLast = o.KeepLast
			for f := range next {
				err := w.parse(ctx, f)
				close(f.batches)
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	g.Go(func() error { return deliver(ctx, files, waiting, each, end) })
	return g.Wait()
}

// worker parses one file after the other, and keeps the memory of their readers.
type worker struct {
	*Reading
	open    func(path string) (source, error) // see Reading.opener
	files   formats.Opener
	hash    *xxh3.Hasher
	buffer  []byte // for hash
	waiting *gauge
}

// deliver hands over what the parsers made, file by file.
func deliver(ctx context.Context, files []*File, waiting *gauge, each func(*File, *record.Batch) error, end func(*File) error) error {
	for _, f := range files {
		for open := true; open; {
			select {
			case b, ok := <-f.batches:
				if !ok {
					open = false
					break
				}
				waiting.add(-footprint(b.Batch))
				f.Offset = b.at
				if err := each(f, b.Batch); err != nil {
					return err
				}
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		f.Offset = f.Bytes
		if err := end(f); err != nil {
			return err
		}
	}
	return nil
}

// gauge counts the memory of batches that are parsed and not taken.
type gauge struct {
	mu    sync.Mutex
	bytes int
	fewer chan struct{} // holds a token after bytes went down
}

func newGauge() *gauge { return &gauge{fewer: make(chan struct{}, 1)} }

func (g *gauge) add(n int) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.bytes += n
	if n < 0 {
		select {
		case g.fewer <- struct{}{}:
		default:
		}
	}
	return g.bytes
}

// below waits until at most limit bytes wait; one goroutine may call it.
func (g *gauge) below(ctx context.Context, limit int) error {
	for g.add(0) > limit {
		select {
		case <-g.fewer:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// pool recycles the memory of batches between files and readings.
var pool = sync.Pool{New: func() any { return new(record.Batch) }} //nolint:gochecknoglobals // memory only

// release gives the memory of a batch back.
func release(b *record.Batch) { pool.Put(b) }

// parse reads one file and sends its batches. An error that concerns the file
// alone is kept in f.Err.
func (w *worker) parse(ctx context.Context, f *File) error {
	kept, batches := w.Parsed.file(f.Path)
	var startedFile *formats.File
	if kept != nil {
		f.Digest, f.Bytes, f.Time, f.Err = kept.Digest, kept.Bytes, kept.Time, kept.Err
	} else if startedFile = w.identify(f); f.Err != nil {
		w.Parsed.end(f)
		return nil
	}
	if startedFile != nil {
		defer startedFile.Close() //nolint:errcheck // nothing was written
	}
	if f.Bytes > 0 && w.Skip != nil { // archives of old hold empty files as loaded
		var err error
		if f.skip, err = w.Skip(f.Digest); f.skip || err != nil {
			return err
		}
	}
	for i, b := range batches {
		if err := f.send(ctx, b, f.Bytes*int64(i+1)/int64(len(batches)), w.waiting); err != nil {
			return err
		}
	}
	if kept != nil {
		return nil
	}
	var src source
	if src, f.Err = w.start(f, startedFile); f.Err != nil {
		w.Parsed.end(f)
		return nil
	}
	defer src.Close() //nolint:errcheck // nothing was written
	return w.read(ctx, f, src)
}

// start begins to read the records of a file.
func (w *worker) start(f *File, startedFile *formats.File) (source, error) {
	switch {
	case w.open != nil:
		return w.open(f.Path)
	case startedFile == nil: // it has not changed, and is to be read again
		return w.files.Open(f.Path)
	}
	return startedFile, startedFile.Start()
}

// read sends the batches of a file.
func (w *worker) read(ctx context.Context, f *File, src source) error {
	for {
		b, _ := pool.Get().(*record.Batch)
		err := src.Next(b)
		if err != nil {
			release(b)
			if !errors.Is(err, io.EOF) {
				switch inner, ok := errors.AsType[*fault.Error](err); {
				case !ok:
					f.Err = w.broken(f, 0, err)
				case inner.Err == nil: // a large file of blanks
					f.Err = err
				default:
					f.Err = w.broken(f, inner.Line, inner.Err)
				}
			}
			w.Parsed.end(f)
			return nil
		}
		b = compact(b)
		w.Parsed.add(f, b)
		if err := f.send(ctx, b, src.BytesRead(), w.waiting); err != nil {
			return err
		}
	}
}

// broken is the error of a file, or of an archive that is copied, which ends early.
func (w *worker) broken(f *File, line int, err error) error {
	if w.From != nil {
		return &fault.Error{Setting: w.From.Name, Problem: "cannot be read to its end", Err: err, Cure: "barograph verify tells what is damaged; bring back a copy, or load the files again"}
	}
	return &fault.Error{File: f.Path, Line: line, Problem: "cannot be read to its end", Err: err, Cure: "check or fetch the file again; it is not marked as loaded"}
}

// identify finds the digest and the size of what is read. The file is open then,
// if it had to be read for that.
func (w *worker) identify(f *File) *formats.File {
	if w.From != nil {
		f.Digest, f.Bytes = w.From.digest(), w.From.Bytes()
		return nil
	}
	if w.Known != nil {
		if m, ok := w.Known(f.Path); ok {
			if info, err := os.Stat(f.Path); err == nil && m.Unchanged(info.Size(), info.ModTime()) {
				f.Digest, f.Bytes, f.Time = m.Digest, info.Size(), info.ModTime()
				return nil
			}
		}
	}
	file, err := w.files.Begin(f.Path)
	if err != nil {
		f.Err = err
		return nil
	}
	f.Time = file.Modified
	if f.Digest, f.Bytes, f.Err = w.digest(file); f.Err != nil {
		file.Close() //nolint:errcheck // nothing was written
		return nil
	}
	return file
}

// send hands a batch to deliver.
func (f *File) send(ctx context.Context, b *record.Batch, at int64, waiting *gauge) error {
	waiting.add(footprint(b))
	select {
	case f.batches <- parsedBatch{b, at}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// compact replaces a batch that is not nearly full by a copy of its size, so
// that thousands of small files do not each hold the memory of a full batch.
func compact(b *record.Batch) *record.Batch {
	if b.Len()*4 > 3*cap(b.Head) {
		return b
	}
	small := b.Clone()
	release(b)
	return small
}

const copyBytes = 64 << 10

// digest is that of a file's bytes.
func (w *worker) digest(file *formats.File) (digest string, size int64, err error) {
	if w.hash == nil {
		w.hash, w.buffer = xxh3.New(), make([]byte, copyBytes)
	}
	w.hash.Reset()
	if size, err = file.Hash(w.hash, w.buffer); err != nil {
		return "", 0, &fault.Error{File: file.Path, Problem: "cannot be read", Err: err, Cure: "check the disk; the file is not marked as loaded"}
	}
	sum := w.hash.Sum128().Bytes()
	return hex.EncodeToString(sum[:]), size, nil
}
