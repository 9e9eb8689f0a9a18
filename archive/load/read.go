package load

import (
	"cmp"
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
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/record"

	"github.com/zeebo/xxh3"
	"golang.org/x/sync/errgroup"
)

// recordReader is the interface that Read needs of an open file.
type recordReader interface {
	Next(into *record.Batch) error
	BytesRead() int64 // of the file, so far
	Close() error
}

// File is one input file during Read.
type File struct {
	Path   string
	Digest string // digest of its bytes
	Bytes  int64
	Time   time.Time // modification time; zero if a later change could have the same time, see archive.Mark.Modified
	Err    error     // why reading ended early; nil if it did not
	Offset int64     // approximate end of the current batch, of Bytes

	batches chan parsedBatch
	skip    bool
}

// parsedBatch is a batch with its end offset in the file.
type parsedBatch struct {
	*record.Batch
	offset int64
}

// ReadOptions configures Read; the zero value is the default.
type ReadOptions struct {
	Workers int                               // files parsed at the same time; 0 = one per CPU
	Skip    func(digest string) (bool, error) // called before a file is parsed; true = do not read its records
	// Known returns the mark of a loaded file. If the file is Unchanged, its bytes are not read. nil =
	// read all files.
	Known    func(path string) (archive.Mark, bool)
	KeepLast bool // accept a last line without a line end as complete instead of quarantining it
	// filled by the first reading, used by the others; callbacks must not change the batches
	ParseCache *ParseCache
	Origin     *Origin // read instead of files; nil = read files

	open func(path string) (recordReader, error) // nil = package formats
}

// These limits bound the memory to maxWaitingBytes and workers × batchesPerFile batches: no file is
// started while more than maxWaitingBytes wait. Otherwise, a load of many files would parse all of
// them while the archive commits.
const (
	batchesPerFile  = 4       // parsed batches that may wait per file
	maxWaitingBytes = 8 << 20 // bytes
)

// Read parses files in parallel and passes their batches to callbacks in one goroutine, sorted by
// path: each for every batch, then end once per file. The callback owns the batch: callbacks of
// this package return its memory with release, others leave it to the garbage collector. Read calls
// end with Err set for a file that it cannot read. An error from each or end stops everything.
func Read(ctx context.Context, paths []string, o ReadOptions, each func(*File, *record.Batch) error, end func(*File) error) error {
	g, ctx := errgroup.WithContext(ctx)
	if o.Origin != nil {
		paths = []string{o.Origin.Name}
		o.open = func(string) (recordReader, error) { return o.Origin.open(ctx), nil }
	}
	o.Workers = cmp.Or(max(o.Workers, 0), runtime.GOMAXPROCS(0))
	files := lists.Map(slices.Sorted(slices.Values(paths)), func(p string) *File {
		return &File{Path: p, batches: make(chan parsedBatch, batchesPerFile)}
	})
	next := make(chan *File)
	waiting := newWaitingMemory()
	g.Go(func() error {
		defer close(next)
		for _, f := range files {
			if err := waiting.waitBelow(ctx, maxWaitingBytes); err != nil {
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
			w := worker{ReadOptions: &o, waiting: waiting}
			w.files.KeepLast = o.KeepLast
			for f := range next {
				if err := w.parse(ctx, f); err != nil {
					return err // f.batches stays open: closing it would report to deliver that the file is complete
				}
				close(f.batches)
			}
			return nil
		})
	}
	g.Go(func() error { return deliver(ctx, files, waiting, each, end) })
	return g.Wait()
}

// worker parses one file after the other, and reuses the memory of their readers.
type worker struct {
	*ReadOptions
	files   formats.Opener
	hash    *xxh3.Hasher
	buffer  []byte // for hash
	waiting *waitingMemory
}

// deliver passes the parsed batches to the callbacks, file by file.
func deliver(ctx context.Context, files []*File, waiting *waitingMemory, each func(*File, *record.Batch) error, end func(*File) error) error {
	for _, f := range files {
		for open := true; open; {
			select {
			case b, ok := <-f.batches:
				if !ok {
					open = false
					break
				}
				waiting.add(-footprint(b.Batch))
				f.Offset = b.offset
				if err := each(f, b.Batch); err != nil {
					return err
				}
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		f.Offset = f.Bytes
		if err := end(f); err != nil {
			return err
		}
	}
	return nil
}

// waitingMemory counts the memory of parsed batches that wait for delivery.
type waitingMemory struct {
	mu        sync.Mutex
	bytes     int
	decreased chan struct{} // receives a token after bytes decreased
}

func newWaitingMemory() *waitingMemory { return &waitingMemory{decreased: make(chan struct{}, 1)} }

func (g *waitingMemory) add(n int) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.bytes += n
	if n < 0 {
		select {
		case g.decreased <- struct{}{}:
		default:
		}
	}
	return g.bytes
}

// waitBelow blocks until at most limit bytes wait. Only one goroutine may call it.
func (g *waitingMemory) waitBelow(ctx context.Context, limit int) error {
	for g.add(0) > limit {
		select {
		case <-g.decreased:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// pool recycles the memory of batches between files and readings.
var pool = sync.Pool{New: func() any { return new(record.Batch) }} //nolint:gochecknoglobals // memory only

// release recycles the memory of a batch.
func release(b *record.Batch) { pool.Put(b) }

// parse reads one file and sends its batches. It stores an error of that file in f.Err.
func (w *worker) parse(ctx context.Context, f *File) error {
	kept, batches := w.ParseCache.file(f.Path)
	var openFile *formats.File
	if kept != nil {
		f.Digest, f.Bytes, f.Time, f.Err = kept.Digest, kept.Bytes, kept.Time, kept.Err
	} else if openFile = w.identify(f); f.Err != nil {
		w.ParseCache.end(f)
		return nil
	}
	if openFile != nil {
		defer openFile.Close() //nolint:errcheck // nothing was written
	}
	if f.Bytes > 0 && w.Skip != nil { // archives of earlier versions list empty files as loaded
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
	var src recordReader
	if src, f.Err = w.start(f, openFile); f.Err != nil {
		w.ParseCache.end(f)
		return nil
	}
	defer src.Close() //nolint:errcheck // nothing was written
	return w.read(ctx, f, src)
}

// start opens the records of a file.
func (w *worker) start(f *File, openFile *formats.File) (recordReader, error) {
	switch {
	case w.open != nil:
		return w.open(f.Path)
	case openFile == nil: // identify did not need to open it
		return w.files.Open(f.Path)
	}
	return openFile, openFile.Start()
}

// read sends the batches of a file.
func (w *worker) read(ctx context.Context, f *File, src recordReader) error {
	for {
		b, _ := pool.Get().(*record.Batch)
		err := src.Next(b)
		if err != nil {
			release(b)
			if !errors.Is(err, io.EOF) {
				switch inner, ok := errors.AsType[*fault.Error](err); {
				case !ok:
					f.Err = w.readError(f, 0, err)
				case inner.Err == nil: // its text is complete: it names the problem itself
					f.Err = err
				default:
					f.Err = w.readError(f, inner.Line, inner.Err)
				}
			}
			w.ParseCache.end(f)
			return nil
		}
		b = compact(b)
		w.ParseCache.add(f, b)
		if err := f.send(ctx, b, src.BytesRead(), w.waiting); err != nil {
			return err
		}
	}
}

// readError is the error of a file, or of a copied archive, that could not be read to its end.
func (w *worker) readError(f *File, line int, err error) error {
	if w.Origin != nil {
		cure := "run `barograph verify " + w.Origin.Name + " --subset " + w.Origin.Subset +
			"` to see what is damaged; restore a copy, or load the files again"
		return &fault.Error{Setting: w.Origin.Name, Problem: "cannot be read to its end", Err: err, Cure: cure}
	}
	return &fault.Error{File: f.Path, Line: line, Problem: "cannot be read to its end", Err: err, Cure: "check the file or fetch it again; it was not marked as loaded"}
}

// identify finds the digest and the size of the input. It returns the open file if it had to read
// it.
func (w *worker) identify(f *File) *formats.File {
	if w.Origin != nil {
		f.Digest, f.Bytes = w.Origin.digest(), w.Origin.Bytes()
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
	if time.Since(file.Modified) > archive.TimestampGranularity {
		f.Time = file.Modified
	}
	if f.Digest, f.Bytes, f.Err = w.digest(file); f.Err != nil {
		file.Close() //nolint:errcheck // nothing was written
		return nil
	}
	return file
}

// send passes a batch to deliver.
func (f *File) send(ctx context.Context, b *record.Batch, at int64, waiting *waitingMemory) error {
	waiting.add(footprint(b))
	select {
	case f.batches <- parsedBatch{b, at}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// compact replaces a batch that is mostly empty by a smaller copy. Otherwise thousands of small
// files would each use the memory of a full batch.
func compact(b *record.Batch) *record.Batch {
	if b.Len()*4 > 3*cap(b.HeaderIndex) {
		return b
	}
	small := b.Clone()
	release(b)
	return small
}

const copyBytes = 64 << 10

// digest computes the digest of a file's bytes.
func (w *worker) digest(file *formats.File) (digest string, size int64, err error) {
	if w.hash == nil {
		w.hash, w.buffer = xxh3.New(), make([]byte, copyBytes)
	}
	w.hash.Reset()
	if size, err = file.Hash(w.hash, w.buffer); err != nil {
		return "", 0, &fault.Error{File: file.Path, Problem: "cannot be read", Err: err, Cure: "check the disk; the file was not marked as loaded"}
	}
	sum := w.hash.Sum128().Bytes()
	return hex.EncodeToString(sum[:]), size, nil
}
