package lines

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/barograph/barograph/record"
)

// Lines that are too long do not grow the buffer, and are reported from their first word on.
func TestLongLines(t *testing.T) {
	long := strings.Repeat(" ", firstBuffer) + strings.Repeat("x", 8*firstBuffer)
	for name, cut := range map[string]func(io.Reader) io.Reader{"whole": func(r io.Reader) io.Reader { return r }, "half": iotest.HalfReader, "data+EOF": iotest.DataErrReader} {
		r := Reader{Max: firstBuffer}
		for range 2 { // in one buffer
			r.Reset(cut(strings.NewReader("a\n" + long + "\n" + strings.Repeat(" ", 3*firstBuffer) + "\nb\n" + long)))
			var got []string
			for {
				ln, err := r.Next()
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				if n := len(ln.Text); n > 1 && n <= record.MaxRejectText && strings.Trim(string(ln.Text), "x") == "" {
					ln.Text = []byte("x…")
				}
				got = append(got, fmt.Sprintf("%d %s %t %t", r.Number, ln.Text, ln.Ended, ln.Long))
			}
			if want := "1 a true false, 2 x… true true, 3  true true, 4 b true false, 5 x… false true"; strings.Join(got, ", ") != want {
				t.Errorf("%s: %.200q\nwant %s", name, got, want)
			}
			if cap(r.buf) > 4*r.Max {
				t.Errorf("%s: a buffer of %d bytes", name, cap(r.buf))
			}
		}
	}
}
