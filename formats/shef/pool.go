package shef

import (
	"context"
	"errors"
	"io"
	"runtime"

	"golang.org/x/sync/errgroup"
)

// File is one input of DecodeFiles: plain text and its name.
type File struct {
	Name string
	Text io.Reader
}

// PoolOptions configures DecodeFiles; the zero value is the default.
type PoolOptions struct {
	Options
	// Workers is the number of decoders, one per CPU by default.
	Workers int
}

// job is a product to be decoded by a worker.
type job struct {
	product Product
	text    []byte
	result  Result
	ready   chan struct{}
}

// DecodeFiles decodes the products of many files with several decoders. next returns the files, one
// after the other, and io.EOF after the last; a file is used until the following call of next. each
// receives every result, in the order of the files and their products, from one goroutine; a result
// is valid during the call. Memory is bounded by the number of workers, whatever the sizes of the
// files. The first error of next, of reading, of each or of ctx ends the work.
func DecodeFiles(ctx context.Context, next func() (File, error), o PoolOptions, each func(*Result) error) error {
	workers := o.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	ring := 2*workers + 1
	free := make(chan *job, ring)
	for range ring {
		free <- &job{ready: make(chan struct{}, 1)}
	}
	todo, order := make(chan *job, ring), make(chan *job, ring)
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		defer close(order)
		defer close(todo)
		return readFiles(ctx, next, o.Options, free, func(j *job) {
			todo <- j // each channel has room for all jobs of the ring
			order <- j
		})
	})
	for range workers {
		g.Go(func() error {
			d := NewDecoder(o.Options)
			for j := range todo {
				d.Decode(&j.product, &j.result)
				j.ready <- struct{}{}
			}
			return nil
		})
	}
	g.Go(func() error {
		for j := range order {
			<-j.ready
			if err := each(&j.result); err != nil {
				return err
			}
			free <- j
		}
		return nil
	})
	return g.Wait()
}

// readFiles splits the files into jobs.
func readFiles(ctx context.Context, next func() (File, error), o Options, free <-chan *job, send func(*job)) error {
	var j *job // taken and not yet sent
	for {
		f, err := next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		s := NewSplitter(f.Text, f.Name, o.Now)
		for {
			if j == nil {
				select {
				case j = <-free:
				case <-ctx.Done():
					return context.Cause(ctx)
				}
			}
			if err := s.Next(&j.product); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				return err
			}
			j.text = append(j.text[:0], j.product.Text...)
			j.product.Text = j.text
			send(j)
			j = nil
		}
	}
}

// Reader reads the products of one file, one after the other.
type Reader struct {
	split *Splitter
	dec   *Decoder
	p     Product
}

// NewReader returns a Reader of the uncompressed text r; results and errors contain file as its
// name.
func NewReader(r io.Reader, file string, o Options) *Reader {
	return &Reader{split: NewSplitter(r, file, o.Now), dec: NewDecoder(o)}
}

// Next decodes the next product, or the next part of a large one, into out. It returns io.EOF after
// the last. Problems of the text are in out and are not errors.
func (r *Reader) Next(out *Result) error {
	if err := r.split.Next(&r.p); err != nil {
		return err
	}
	r.dec.Decode(&r.p, out)
	return nil
}

// Text is the text that Next decoded last, valid until the next call of Next.
func (r *Reader) Text() []byte { return r.p.Text }

// ReadAll decodes all products of a file, and calls each for one at a time.
func ReadAll(src io.Reader, file string, o Options, each func(*Result) error) error {
	r := NewReader(src, file, o)
	var out Result
	for {
		if err := r.Next(&out); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		if err := each(&out); err != nil {
			return err
		}
	}
}
