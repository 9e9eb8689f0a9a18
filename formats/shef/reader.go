package shef

import (
	"errors"
	"io"
)

// Reader reads the products of one file, one after the other.
type Reader struct {
	split *Splitter
	dec   *Decoder
	p     Product
}

// NewReader returns a Reader of the plain text r; file names it in results and
// errors.
func NewReader(r io.Reader, file string, o Options) *Reader {
	return &Reader{split: NewSplitter(r, file, o.Now), dec: NewDecoder(o)}
}

// Next decodes the next product, or the next part of a large one, into out. It
// returns io.EOF after the last. Problems of the text are in out and no error.
func (r *Reader) Next(out *Result) error {
	if err := r.split.Next(&r.p); err != nil {
		return err
	}
	r.dec.Decode(&r.p, out)
	return nil
}

// ReadAll decodes all products of a file; each is called for one at a time.
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
