package shef

import (
	"bytes"
	"errors"
	"io"
	"time"

	"barograph/fault"
)

const (
	// A product is cut at the first message after this many bytes.
	partBytes = 32 << 10
	// A message is cut, at a line, after this many bytes: what follows is not
	// understood, and counted as such. The longest real one has some 30 kB.
	messageBytes = 4 << 20
)

// Splitter parts a stream of text into products, at SOH … ETX, at ZCZC … NNNN,
// and at a line with a sequence number before a WMO heading. Large products are
// cut into parts between messages, so that memory stays bounded.
type Splitter struct {
	src  io.Reader
	file string
	now  time.Time

	buf      []byte
	from, to int // unread text
	err      error

	scan    int  // where the next line to look at begins
	content bool // the product has a line that is not of the envelope's beginning
	ended   bool // its last line has been seen
	line    int  // lines handed over
	product Product
}

// NewSplitter returns a Splitter of the plain text r. file names it in products
// and errors; now is Options.Now.
func NewSplitter(r io.Reader, file string, now time.Time) *Splitter {
	if now.IsZero() {
		now = time.Now()
	}
	return &Splitter{src: r, file: file, now: now.UTC(), buf: make([]byte, 2*partBytes), product: Product{File: file}}
}

// Next fills p with the next product or part; its Text is valid until the next
// call. It returns io.EOF after the last, or a *fault.Error about reading.
func (s *Splitter) Next(p *Product) error {
	for {
		n, last := s.cut()
		if n > 0 {
			s.hand(p, n, last)
			return nil
		}
		if s.err != nil {
			if s.from < s.to { // the last line has no end
				s.hand(p, s.to-s.from, true)
				return nil
			}
			if errors.Is(s.err, io.EOF) {
				return io.EOF
			}
			return &fault.Error{File: s.file, Line: s.line + 1, Problem: "reading stopped", Err: s.err}
		}
		s.fill()
	}
}

// hand gives the first n bytes away.
func (s *Splitter) hand(p *Product, n int, last bool) {
	q := &s.product
	q.Part++
	q.Text = s.buf[s.from : s.from+n]
	q.Line = s.line + 1
	if q.Part == 1 {
		q.Number++
		q.envelope(s.now)
	}
	*p = *q
	s.line += bytes.Count(q.Text, []byte{'\n'})
	s.from += n
	s.scan = s.from
	if last {
		q.Part = 0
		s.content, s.ended = false, false
	}
}

// cut looks at the lines that are there for the end of the product or part. It
// returns its length, 0 where more must be read.
func (s *Splitter) cut() (n int, last bool) {
	for s.scan < s.to {
		nl := bytes.IndexByte(s.buf[s.scan:s.to], '\n')
		if nl < 0 {
			break
		}
		line := s.buf[s.scan : s.scan+nl]
		size := s.scan - s.from
		if s.ended {
			return size, true
		}
		switch begins, known := s.begins(line, s.scan+nl+1); {
		case !known:
			return 0, false
		case begins && s.content:
			return size, true
		case size >= partBytes && isStart(line):
			return size, false
		case size >= messageBytes:
			return size, false
		}
		s.look(line)
		s.scan += nl + 1
	}
	if s.ended && s.scan == s.to && s.from < s.to {
		return s.to - s.from, true
	}
	return 0, false
}

// begins tells whether a line is the first of a product. known is false where
// the line after it is needed and not there yet.
func (s *Splitter) begins(line []byte, next int) (begins, known bool) {
	if len(line) == 0 {
		return false, true
	}
	switch c := line[0]; {
	case c == 1:
		return true, true
	case c == 'Z':
		return bytes.HasPrefix(line, []byte("ZCZC ")), true
	case digit(c) && isSequence(trim(line)):
		nl := bytes.IndexByte(s.buf[next:s.to], '\n')
		if nl < 0 {
			return false, s.err != nil
		}
		return isHeading(trim(s.buf[next : next+nl])), true
	}
	return false, true
}

// look notes what a line says about the product.
func (s *Splitter) look(line []byte) {
	if bytes.IndexByte(line, 3) >= 0 {
		s.content, s.ended = true, true
		return
	}
	if len(line) > 0 && line[0] == 'N' && string(trim(line)) == "NNNN" {
		s.content, s.ended = true, true
		return
	}
	if !s.content {
		t := trim(line)
		s.content = len(t) > 0 && !isSequence(t)
	}
}

// isStart tells the first line of a message from all others.
func isStart(line []byte) bool {
	return len(line) > 3 && line[0] == '.' && isFormat(line[1]) && line[2]|0x20 != 'n' &&
		!digit(line[2]) && !digit(line[3])
}

// fill reads more text behind what is there.
func (s *Splitter) fill() {
	if s.from > 0 {
		copy(s.buf, s.buf[s.from:s.to])
		s.to -= s.from
		s.scan -= s.from
		s.from = 0
	}
	if s.to == len(s.buf) {
		if len(s.buf) < 2*messageBytes {
			s.buf = append(s.buf, make([]byte, len(s.buf))...)
		} else { // one line without end: it is cut
			s.buf[s.to-1] = '\n'
			return
		}
	}
	n, err := s.src.Read(s.buf[s.to:])
	s.to += n
	s.err = err
}
