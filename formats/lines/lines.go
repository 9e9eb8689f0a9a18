// Package lines splits the text of verification files into lines, in bounded memory.
package lines

import (
	"bytes"
	"errors"
	"io"

	"github.com/barograph/barograph/record"
)

const (
	firstBuffer = 256 << 10
	maxEmpty    = 100 // reads that may return nothing before io.ErrNoProgress
)

// Reader splits a stream into lines, with a buffer of 256 KiB, or of at most twice Max bytes if this is more.
type Reader struct {
	Max    int    // bytes; only the beginning of a longer line is kept
	Number uint32 // of the line that Next returned last, 1-based

	r          io.Reader
	buf        []byte
	start, end int // bounds of the data that was read and not yet returned
	err        error
}

// Line is one line without its line end. Text is valid until the next call.
type Line struct {
	Text  []byte
	Ended bool // the line has a line end; only the last line of a file may lack it
	// Long reports more than Max bytes. Text is then a part, from the first nonblank on, of at most
	// record.MaxRejectText bytes.
	Long bool
}

// Reset makes l read another stream, in the same buffer.
func (l *Reader) Reset(r io.Reader) { *l = Reader{Max: l.Max, r: r, buf: l.buf} }

// Next returns the next line, without a byte order mark. Its error is io.EOF at the end, or the
// stream's error.
func (l *Reader) Next() (Line, error) {
	line, err := l.next()
	if l.Number == 1 {
		line.Text = bytes.TrimPrefix(line.Text, []byte(byteOrderMark))
	}
	return line, err
}

const byteOrderMark = "\xef\xbb\xbf"

func (l *Reader) next() (Line, error) {
	searched := 0
	for {
		if i := bytes.IndexByte(l.buf[l.start+searched:l.end], '\n'); i >= 0 {
			text := l.buf[l.start : l.start+searched+i]
			l.start += len(text) + 1
			l.Number++
			if len(text) > l.Max {
				return Line{Text: beginning(text), Ended: true, Long: true}, nil
			}
			return Line{Text: text, Ended: true}, nil
		}
		searched = l.end - l.start
		if searched > l.Max {
			return l.skip()
		}
		if l.err != nil {
			return l.last()
		}
		l.fill()
	}
}

// last returns the text after the last line end.
func (l *Reader) last() (Line, error) {
	text := l.buf[l.start:l.end]
	l.start = l.end
	if !errors.Is(l.err, io.EOF) || len(text) == 0 {
		return Line{}, l.err
	}
	l.Number++
	return Line{Text: text}, nil
}

// fill reads more. It moves the data or enlarges the buffer if it is full.
func (l *Reader) fill() {
	l.end = copy(l.buf, l.buf[l.start:l.end])
	l.start = 0
	if l.end == len(l.buf) {
		grown := make([]byte, max(firstBuffer, 2*len(l.buf)))
		copy(grown, l.buf)
		l.buf = grown
	}
	l.read()
}

// read appends to the buffer. It keeps the stream's error in l.err until the bytes before it are
// used.
func (l *Reader) read() {
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

// skip skips the rest of a line that is too long and returns its beginning.
func (l *Reader) skip() (Line, error) {
	l.Number++
	for keep := 0; ; l.read() {
		part := l.buf[l.start:l.end]
		end := bytes.IndexByte(part, '\n')
		if keep == 0 {
			text := part
			if end >= 0 {
				text = part[:end]
			}
			keep = copy(l.buf, beginning(text))
		}
		if end >= 0 {
			l.start += end + 1
			return Line{Text: l.buf[:keep], Ended: true, Long: true}, nil
		}
		l.start, l.end = keep, keep
		if errors.Is(l.err, io.EOF) {
			return Line{Text: l.buf[:keep], Long: true}, nil
		} else if l.err != nil {
			return Line{}, l.err
		}
	}
}

// beginning is the kept part of a line that is too long.
func beginning(text []byte) []byte {
	text = bytes.TrimLeft(text, " \t\r")
	return text[:min(len(text), record.MaxRejectText)]
}
