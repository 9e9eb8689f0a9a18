package asterixdb

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// scanner cuts a reply into the members of its object and the rows of its
// results, without holding more than one of them. It looks at brackets and
// strings alone: what a value holds is for others to parse.
type scanner struct {
	r   *bufio.Reader
	buf []byte
}

func newScanner(r io.Reader) *scanner { return &scanner{r: bufio.NewReaderSize(r, 1<<16)} }

// errReply says that a reply is not what the service sends.
var errReply = errors.New("the reply is no JSON object")

// next is the next byte that is no blank.
func (s *scanner) next() (byte, error) {
	for {
		c, err := s.r.ReadByte()
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return 0, err
		}
		if c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			return c, nil
		}
	}
}

// object walks the members of an object; member must take the value.
func (s *scanner) object(member func(name string) error) error {
	if c, err := s.next(); err != nil || c != '{' {
		return errors.Join(errReply, err)
	}
	for {
		c, err := s.next()
		switch {
		case err != nil:
			return err
		case c == '}':
			return nil
		case c == ',':
			continue
		case c != '"':
			return fmt.Errorf("%w: %q where a name should be", errReply, c)
		}
		s.buf = s.buf[:0]
		if err := s.text(); err != nil {
			return err
		}
		name := string(s.buf[:len(s.buf)-1])
		if c, err := s.next(); err != nil || c != ':' {
			return errors.Join(errReply, err)
		}
		if err := member(name); err != nil {
			return err
		}
	}
}

// array walks the elements of an array, each valid until the next step.
func (s *scanner) array(element func(text []byte) error) error {
	if c, err := s.next(); err != nil || c != '[' {
		return errors.Join(errReply, err)
	}
	for {
		c, err := s.next()
		switch {
		case err != nil:
			return err
		case c == ']':
			return nil
		case c == ',':
			continue
		}
		text, err := s.from(c)
		if err != nil {
			return err
		}
		if err := element(text); err != nil {
			return err
		}
	}
}

// value is the next value, valid until the next step.
func (s *scanner) value() ([]byte, error) {
	c, err := s.next()
	if err != nil {
		return nil, err
	}
	return s.from(c)
}

// from reads a value whose first byte was read.
func (s *scanner) from(c byte) ([]byte, error) {
	s.buf = append(s.buf[:0], c)
	switch c {
	case '"':
		err := s.text()
		return s.buf, err
	case '{', '[':
	default:
		return s.scalar()
	}
	for depth := 1; depth > 0; {
		c, err := s.r.ReadByte()
		if err != nil {
			return nil, io.ErrUnexpectedEOF
		}
		s.buf = append(s.buf, c)
		switch c {
		case '"':
			if err := s.text(); err != nil {
				return nil, err
			}
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
	}
	return s.buf, nil
}

// scalar reads a number, true, false or null to its end.
func (s *scanner) scalar() ([]byte, error) {
	for {
		c, err := s.r.ReadByte()
		if err != nil {
			return nil, io.ErrUnexpectedEOF
		}
		switch c {
		case ',', ']', '}', ' ', '\n', '\t', '\r':
			return s.buf, s.r.UnreadByte()
		}
		s.buf = append(s.buf, c)
	}
}

// text appends a string to its closing quote.
func (s *scanner) text() error {
	for {
		part, err := s.r.ReadSlice('"')
		s.buf = append(s.buf, part...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil:
			return io.ErrUnexpectedEOF
		}
		n := 0
		for k := len(s.buf) - 2; k >= 0 && s.buf[k] == '\\'; k-- {
			n++
		}
		if n%2 == 0 {
			return nil
		}
	}
}
