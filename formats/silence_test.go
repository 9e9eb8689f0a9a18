package formats

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"
)

// TestSilence: if a pipe is silent for a while after some data, one read returns no bytes. The reader
// loses no byte that comes later.
func TestSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		h := &cancellableReader{ctx: t.Context(), r: r}
		go func() {
			time.Sleep(time.Hour) // silence before the first byte does not count
			io.WriteString(w, "abc")
			time.Sleep(time.Hour)
			io.WriteString(w, "d")
			w.Close()
		}()
		var got []string
		p := make([]byte, 8)
		for {
			n, err := h.Read(p)
			got = append(got, string(p[:n]))
			p = p[:2]
			if errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
		}
		if len(got) < 3 || got[0] != "abc" || got[1] != "" || got[2] != "d" {
			t.Errorf("%q", got)
		}
	})
}

// TestBytesWithTheirError: a stream that ends its silence with its last bytes and its end loses none of them, also if
// the buffer has room for fewer.
func TestBytesWithTheirError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		started := false
		h := &cancellableReader{ctx: t.Context(), r: readerFunc(func(p []byte) (int, error) {
			if !started {
				started = true
				return copy(p, "a"), nil
			}
			time.Sleep(time.Hour)
			return copy(p, "bcd"), io.EOF
		})}
		got, p := "", make([]byte, 8)
		for {
			n, err := h.Read(p)
			got += string(p[:n])
			if err != nil {
				break
			}
			if n == 0 {
				p = p[:1]
			}
		}
		if got != "abcd" {
			t.Errorf("%q", got)
		}
	})
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// TestCanceledRead: a read that waits when its context ends returns no bytes and the cause.
func TestCanceledRead(t *testing.T) {
	cause := errors.New("the signal")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	r, w := io.Pipe()
	defer w.Close()
	if n, err := (&cancellableReader{ctx: ctx, r: r}).Read(make([]byte, 8)); n != 0 || !errors.Is(err, cause) {
		t.Errorf("%d bytes, %v; want 0 and %v", n, err, cause)
	}
}

// TestReadSmall: a file that has become shorter or longer than its size is read to its end, if the buffer has room.
func TestReadSmall(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(path, []byte("12345678"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		buffer, size int
		want         string
	}{{9, 8, "12345678"}, {100, 8, "12345678"}, {100, 20, "12345678"}, {100, 5, "12345678"}, {8, 9, ""}, {4, 9, ""}} {
		if got := readSmall(path, make([]byte, c.buffer), c.size); string(got) != c.want || (got == nil) != (c.want == "") {
			t.Errorf("a buffer of %d bytes and a size of %d: %q, want %q", c.buffer, c.size, got, c.want)
		}
	}
	if got := readSmall(path+"y", make([]byte, 8), 8); got != nil {
		t.Errorf("a missing file: %q", got)
	}
}

func TestLeftAlone(t *testing.T) {
	for path, want := range map[string]bool{
		"/a": false, "/b/RR1": false, "/.a": true, "/b/.c/d": true, "/a.tmp": true, "/a.part": true, "/done/20261110/a": true, "/failed/a": true, "/adone": false,
	} {
		if got := IsIgnored(path); got != want {
			t.Errorf("%s: %t", path, got)
		}
	}
}
