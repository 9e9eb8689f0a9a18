package shef

import (
	"bytes"
	"errors"
	"io"
	"time"

	"github.com/barograph/barograph/internal/fault"
)

const (
	// partBytes is the size after which the Splitter cuts a product, at the next message.
	partBytes = 32 << 10
	// messageBytes is the size after which the Splitter cuts a message, at a line. The decoder
	// cannot interpret the remainder and counts it as lost. The longest real message has about 30
	// kB. A line that is longer than messageBytes is not decoded (Product.ContinuesLine).
	messageBytes = 4 << 20
)

// Splitter splits a stream of text into products, at SOH … ETX, at ZCZC … NNNN, and at a line with
// a sequence number before a WMO heading. It cuts large products into parts between messages. This
// bounds the memory.
type Splitter struct {
	src  io.Reader
	file string
	now  time.Time

	buf      []byte // buf[from:to] is unread text; endLines has not examined buf[to:read] yet
	from, to int
	read     int
	err      error

	scan    int  // beginning of the next line to examine
	content bool // the product has a line that does not belong to the beginning of its envelope
	ended   bool // the last line of the product was found
	torn    bool // the previous part ended within a line
	framed  bool // the text contains an SOH or an ETX
	soh     bool // the product began with SOH
	quiet   bool // the last read returned no bytes and no error: the stream is silent for now
	parts   int  // of the previous product
	line    int  // number of lines returned
	product Product
}

// NewSplitter returns a Splitter of the plain text r. Products and errors name file; now is
// Options.Now. Next returns a product as soon as its end was read. If no frame marks the end and a
// read of r returns neither text nor an error, as a silent pipe may, the text read so far is a
// product.
func NewSplitter(r io.Reader, file string, now time.Time) *Splitter {
	s := &Splitter{}
	s.Reset(r, file, now)
	return s
}

// Reset starts to read another text and reuses the memory.
func (s *Splitter) Reset(r io.Reader, file string, now time.Time) {
	if now.IsZero() {
		now = time.Now()
	}
	if s.buf == nil {
		s.buf = make([]byte, 2*partBytes)
	}
	*s = Splitter{src: r, file: file, now: now.UTC(), buf: s.buf, product: Product{File: file}}
}

// Next fills p with the next product or part; its Text is valid until the next call. It returns
// io.EOF after the last one, or a *fault.Error if reading failed. After any error of the reader
// except io.EOF itself, Next omits a last line without a line end, because half a number is a wrong
// number. It treats an error that wraps io.EOF as the end of the text.
func (s *Splitter) Next(p *Product) error {
	for {
		n, last := s.cut()
		if n > 0 {
			s.take(p, n, last)
			return nil
		}
		switch {
		case s.err != nil && s.from < s.to:
			s.take(p, s.to-s.from, true)
			return nil
		case errors.Is(s.err, io.EOF):
			return io.EOF
		case s.err != nil:
			return &fault.Error{File: s.file, Line: s.line + 1, Problem: "reading stopped", Err: s.err}
		}
		s.readMore()
	}
}

// take moves the first n bytes into p, as the next product or part.
func (s *Splitter) take(p *Product, n int, last bool) {
	q := &s.product
	if last && !s.content && q.Part == 0 { // blanks after the last product belong to it
		q.Part = s.parts
	}
	q.Part++
	q.Text = s.buf[s.from : s.from+n]
	ends := last || q.Text[n-1] == '\n'
	q.Line, q.ContinuesLine, q.Last = s.line+1, s.torn || !ends, last
	s.torn = !ends
	if q.Part == 1 {
		s.soh = bytes.IndexByte(q.Text[:n-len(bytes.TrimLeft(q.Text, fill))], 1) >= 0
		q.Number++
		q.envelope(s.now)
	}
	q.Cut = last && s.soh && s.from+n == s.read && q.Text[n-1] > ' ' // its ETX would be last
	*p = *q
	s.line += bytes.Count(q.Text, []byte{'\n'})
	s.from += n
	s.scan = s.from
	if last {
		s.parts, q.Part = q.Part, 0
		s.content, s.ended = false, false
	}
}

// cut searches the available lines for the end of the product or part. It returns its length, or 0
// if more text must be read.
func (s *Splitter) cut() (n int, last bool) {
	for s.scan < s.to {
		size := s.scan - s.from
		if s.ended {
			return size, true
		}
		line, next := s.buf[s.scan:s.to], s.to
		if nl := bytes.IndexByte(line, '\n'); nl >= 0 {
			line, next = line[:nl], s.scan+nl+1
		} else if s.err == nil && len(line) < messageBytes && bytes.IndexByte(line, 3) < 0 {
			break
		}
		if len(line) >= messageBytes { // first the text before the line, then messageBytes of the line
			if size == 0 {
				size = messageBytes
			}
			return size, false
		}
		switch begins, known := s.begins(line, next); {
		case !known:
			return 0, false
		case begins && s.content:
			return size, true
		case size >= partBytes && isStart(line):
			return size, false
		case size >= messageBytes:
			return size, false
		}
		if n := s.look(line); n > 0 {
			return size + n, true
		}
		s.scan = next
	}
	if (s.ended || s.quiet && s.content && !s.framed && !s.inBody()) && s.scan == s.to && s.from < s.to {
		return s.to - s.from, true
	}
	return 0, false
}

// inBody reports whether the available text ends in a .B message without .END.
func (s *Splitter) inBody() bool {
	text := s.buf[s.from:s.scan]
	text = text[bytes.LastIndex(text, []byte("\n."))+1:]
	return isDot(text) && text[1]|0x20 == 'b'
}

// begins reports whether a line is the first of a product. known is false if the decision needs the
// next line, which was not read yet.
func (s *Splitter) begins(line []byte, next int) (begins, known bool) {
	if len(line) == 0 || line[0] >= ' ' && line[0] < 0x7f && line[0] != 'Z' && !digit(line[0]) {
		return false, true
	}
	text := trim(line)
	switch {
	case bytes.IndexByte(line[:len(line)-len(bytes.TrimLeft(line, fill))], 1) >= 0:
		return true, true
	case len(text) == 0:
	case text[0] == 'Z':
		return bytes.HasPrefix(text, []byte("ZCZC ")), true
	case digit(text[0]) && isSequence(text):
		nl := bytes.IndexByte(s.buf[next:s.to], '\n')
		if nl < 0 {
			return false, s.err != nil
		}
		return IsHeading(trim(s.buf[next : next+nl])), true
	}
	return false, true
}

// look examines a line for the state of the product. If the product ends within the line, after an
// ETX or before an SOH, it returns the number of bytes that belong to the product; otherwise 0.
func (s *Splitter) look(line []byte) int {
	if s.framed && (bytes.IndexByte(line, 1) >= 0 || bytes.IndexByte(line, 3) >= 0) {
		return s.frame(line)
	}
	if len(line) > 0 && line[0] == 'N' && string(trim(line)) == "NNNN" {
		s.content, s.ended = true, true
	} else {
		s.startsMessage(line)
	}
	return 0
}

// startsMessage records whether a line is more than the beginning of an envelope.
func (s *Splitter) startsMessage(line []byte) {
	if !s.content {
		t := trim(line)
		s.content = len(t) > 0 && !isSequence(t)
	}
}

// fill contains the characters that may precede or follow the characters of a frame.
const fill = "\x00\x01 \t\r"

// frame does the work of look for a line with an SOH or an ETX. The text after an ETX, including
// its line end, belongs to the next product, hence the Splitter does not wait for it.
func (s *Splitter) frame(line []byte) int {
	from := len(line) - len(bytes.TrimLeft(line, fill))
	etx, soh := bytes.IndexByte(line, 3), bytes.LastIndexByte(line[from:], 1)+from
	switch {
	case etx >= 0:
		s.content = true
		return etx + 1
	case soh > from && len(bytes.Trim(line[soh+1:], "\x00\x03 \t\r")) == 0: // the SOH frames the following lines
		return soh
	}
	s.startsMessage(line)
	return 0
}

// isStart reports whether a line is the first of a message.
func isStart(line []byte) bool {
	return len(line) > 3 && line[0] == '.' && isFormat(line[1]) && line[2]|0x20 != 'n' &&
		!digit(line[2]) && !digit(line[3])
}

// readMore reads more text and appends it to the buffer.
func (s *Splitter) readMore() {
	if s.from > 0 {
		copy(s.buf, s.buf[s.from:s.read])
		s.to -= s.from
		s.read -= s.from
		s.scan -= s.from
		s.from = 0
	}
	if s.read == len(s.buf) {
		s.buf = append(s.buf, make([]byte, len(s.buf))...)
	}
	n, err := s.src.Read(s.buf[s.read:])
	given := s.buf[s.read : s.read+n]
	s.framed = s.framed || bytes.IndexByte(given, 1) >= 0 || bytes.IndexByte(given, 3) >= 0
	s.read += n
	s.err, s.quiet = err, n == 0 && err == nil
	if err != nil && err != io.EOF { // an error that wraps io.EOF means a truncated text: its last line is incomplete
		s.read = bytes.LastIndexByte(s.buf[:s.read], '\n') + 1
		s.to = min(s.to, s.read)
	}
	s.endLines()
}

// endLines replaces each carriage return by a line feed, unless a line feed follows it directly or
// after one more carriage return, as in CR CR LF.
func (s *Splitter) endLines() {
	for s.to < s.read {
		cr := bytes.IndexByte(s.buf[s.to:s.read], '\r')
		if cr < 0 {
			s.to = s.read
			return
		}
		s.to += cr
		if s.to+1 < s.read && s.buf[s.to+1] == '\n' { // the most frequent case
			s.to += 2
			continue
		}
		next := s.buf[s.to+1 : min(s.to+3, s.read)]
		switch known := len(next); {
		case known > 1 && next[0] == '\r' && next[1] == '\n':
		case known < 2 && s.err == nil && (known == 0 || next[0] == '\r'):
			return
		default:
			s.buf[s.to] = '\n'
		}
		s.to++
	}
}
