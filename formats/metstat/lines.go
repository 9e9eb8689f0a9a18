package metstat

import (
	"bytes"
	"errors"
	"io"

	"github.com/barograph/barograph/record"
)

const (
	firstBuffer = 128 << 10
	maxLine     = 1 << 20 // a longer line is quarantined
	maxEmpty    = 100     // reads that may return nothing before io.ErrNoProgress
)

// lines cuts a stream into lines, in a buffer that never exceeds maxLine by
// more than a factor of two.
type lines struct {
	r          io.Reader
	buf        []byte
	start, end int // what is read and not yet handed out
	err        error
	number     uint32 // of the line that next returned last, 1-based
}

// line is one line without its line end. Text is valid until the next call.
type line struct {
	text  []byte
	ended bool // the line had a line end: only a file's last one may lack it
	long  bool // more than maxLine bytes: text is its beginning
}

// next returns the next line; its error is io.EOF at the end, or the stream's.
func (l *lines) next() (line, error) {
	searched := 0
	for {
		if i := bytes.IndexByte(l.buf[l.start+searched:l.end], '\n'); i >= 0 {
			text := l.buf[l.start : l.start+searched+i]
			l.start += len(text) + 1
			l.number++
			return line{text: text, ended: true, long: len(text) > maxLine}, nil
		}
		searched = l.end - l.start
		if searched > maxLine {
			return l.skip()
		}
		if l.err != nil {
			return l.last()
		}
		l.fill()
	}
}

// last returns what stands after the last line end.
func (l *lines) last() (line, error) {
	text := l.buf[l.start:l.end]
	l.start = l.end
	if !errors.Is(l.err, io.EOF) || len(text) == 0 {
		return line{}, l.err
	}
	l.number++
	return line{text: text}, nil
}

// fill reads more, moving or enlarging the buffer where it is full.
func (l *lines) fill() {
	if l.start > 0 {
		l.end = copy(l.buf, l.buf[l.start:l.end])
		l.start = 0
	}
	if l.end == len(l.buf) {
		grown := make([]byte, max(firstBuffer, 2*len(l.buf)))
		copy(grown, l.buf)
		l.buf = grown
	}
	l.read()
}

// read appends to the buffer; the stream's error waits in l.err until the
// bytes before it are used.
func (l *lines) read() {
	for range maxEmpty {
		n, err := l.r.Read(l.buf[l.end:])
		l.end += n
		if err != nil {
			l.err = err
		}
		if n > 0 || err != nil {
			return
		}
	}
	l.err = io.ErrNoProgress
}

// skip drops the rest of a line that is too long and returns its beginning.
func (l *lines) skip() (line, error) {
	keep := copy(l.buf, l.buf[l.start:l.start+record.MaxRejectText])
	l.number++
	for {
		l.start, l.end = keep, keep
		if l.err != nil {
			if !errors.Is(l.err, io.EOF) {
				return line{}, l.err
			}
			return line{text: l.buf[:keep], long: true}, nil
		}
		l.read()
		if i := bytes.IndexByte(l.buf[keep:l.end], '\n'); i >= 0 {
			l.start = keep + i + 1
			return line{text: l.buf[:keep], ended: true, long: true}, nil
		}
	}
}
