package lines

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/barograph/barograph/record"
)

// texts returns every text of up to n characters of an alphabet.
func texts(alphabet string, n int) []string {
	all := []string{""}
	for first := 0; n > 0; n-- {
		last := len(all)
		for _, text := range all[first:last] {
			for _, c := range alphabet {
				all = append(all, text+string(c))
			}
		}
		first = last
	}
	return all
}

// TestEveryText compares the lines of every short text with those of strings.SplitAfter. Of a line that is too long, the
// reader returns the text from the first nonblank on, or a part of it if the stream arrives in single bytes.
func TestEveryText(t *testing.T) {
	for limit := 1; limit <= 3; limit++ {
		all, single := Reader{Max: limit}, Reader{Max: limit}
		for _, text := range texts("a\t \n", 6) {
			all.Reset(strings.NewReader(text))
			single.Reset(iotest.OneByteReader(strings.NewReader(text)))
			n := uint32(0)
			for want := range strings.SplitAfterSeq(text, "\n") {
				if want == "" {
					break // there is no line after the last line end
				}
				n++
				want, ended := strings.CutSuffix(want, "\n")
				long := len(want) > limit
				if long {
					want = strings.TrimLeft(want, "\t ")
				}
				ln, err := all.Next()
				if err != nil || string(ln.Text) != want || ln.Ended != ended || ln.Long != long || all.Number != n {
					t.Fatalf("%q, at most %d bytes: line %d is %q, %+v, %v; want %q", text, limit, all.Number, ln.Text, ln, err, want)
				}
				ln, err = single.Next()
				part := string(ln.Text)
				if err != nil || ln.Ended != ended || ln.Long != long || single.Number != n ||
					part != want && (!long || part == "" || !strings.HasPrefix(want, part)) {
					t.Fatalf("%q in single bytes, at most %d: line %d is %q, %+v, %v; want %q", text, limit, single.Number, part, ln, err, want)
				}
			}
			for _, r := range []*Reader{&all, &single, &all} {
				if ln, err := r.Next(); !errors.Is(err, io.EOF) || ln.Text != nil || r.Number != n {
					t.Fatalf("%q: after the last of %d lines: line %d, %q, %v", text, n, r.Number, ln.Text, err)
				}
			}
		}
	}
}

// TestKeptBeginning: of a line that is too long, the reader keeps record.MaxRejectText bytes, whatever precedes it.
func TestKeptBeginning(t *testing.T) {
	r := Reader{Max: 10}
	for _, n := range []int{11, record.MaxRejectText - 1, record.MaxRejectText, record.MaxRejectText + 1} {
		text := strings.Repeat("x", n)
		r.Reset(strings.NewReader("a\n\r \t" + text + "\nb\n"))
		var got []string
		for ln, err := r.Next(); err == nil; ln, err = r.Next() {
			got = append(got, string(ln.Text))
		}
		if want := []string{"a", text[:min(n, record.MaxRejectText)], "b"}; !slices.Equal(got, want) {
			t.Errorf("%d bytes: %.100q", n, got)
		}
	}
}

// TestByteOrderMark: only the first line loses a byte order mark, and only one.
func TestByteOrderMark(t *testing.T) {
	const mark = "\xef\xbb\xbf"
	for text, want := range map[string][]string{
		mark + "a\n" + mark + "b\n": {"a", mark + "b"},
		mark + mark + "a":           {mark + "a"},
		mark:                        {""},
		"\n" + mark + "a\n":         {"", mark + "a"},
	} {
		r := Reader{Max: 20}
		for range 2 { // also in a reader that is used again
			r.Reset(strings.NewReader(text))
			var got []string
			for ln, err := r.Next(); err == nil; ln, err = r.Next() {
				got = append(got, string(ln.Text))
			}
			if !slices.Equal(got, want) {
				t.Errorf("%q: %q, want %q", text, got, want)
			}
		}
	}
}

// TestBrokenStream: the lines before an error of the stream are returned, then the error at every call. The text of a
// line that the error cuts is not returned, because it is not the end of the file.
func TestBrokenStream(t *testing.T) {
	broken := errors.New("broken")
	for text, want := range map[string]string{
		"":                    "",
		"a\nb\n":              "a b ",
		"a\nb":                "a ",
		"a\nlonger than 5":    "a ",
		"a\nlonger than 5\nb": "a longer than 5 ",
	} {
		r := Reader{Max: 5}
		for name, src := range map[string]io.Reader{"at once": strings.NewReader(text), "in single bytes": iotest.OneByteReader(strings.NewReader(text))} {
			r.Reset(io.MultiReader(src, iotest.ErrReader(broken)))
			got := ""
			ln, err := r.Next()
			for ; err == nil; ln, err = r.Next() {
				got += string(ln.Text) + " "
			}
			if !errors.Is(err, broken) || ln.Text != nil || name == "at once" && got != want || strings.Count(got, "a ") != strings.Count(want, "a ") {
				t.Errorf("%q %s: %q, then %q, %v; want %q", text, name, got, ln.Text, err, want)
			}
			if ln, err := r.Next(); !errors.Is(err, broken) || ln.Text != nil {
				t.Errorf("%q: after the error: %q, %v", text, ln.Text, err)
			}
		}
	}
}

// hesitant returns no bytes so many times before each byte of its text.
type hesitant struct {
	text         string
	pause, reads int
}

func (h *hesitant) Read(p []byte) (int, error) {
	if h.reads++; h.reads > 1000 {
		return 0, fmt.Errorf("%d reads", h.reads)
	}
	if h.reads%(h.pause+1) != 0 {
		return 0, nil
	}
	if h.text == "" {
		return 0, io.EOF
	}
	n := copy(p[:1], h.text)
	h.text = h.text[n:]
	return n, nil
}

// TestHesitantStream: like bufio.Reader, the reader accepts 99 reads without a byte, and gives up after 100.
func TestHesitantStream(t *testing.T) {
	for _, pause := range []int{99, 100} {
		want, text := io.EOF, "ab c "
		if pause == 100 {
			want, text = io.ErrNoProgress, ""
		}
		src := &hesitant{text: "ab\nc", pause: pause}
		r := Reader{Max: 5}
		r.Reset(src)
		got := ""
		ln, err := r.Next()
		for ; err == nil; ln, err = r.Next() {
			got += string(ln.Text) + " "
		}
		if !errors.Is(err, want) || got != text || pause == 100 && src.reads != 100 {
			t.Errorf("%d reads without a byte: %q, %v after %d reads; want %q, %v", pause, got, err, src.reads, text, want)
		}
	}
}

// TestBuffer: the buffer has 256 KiB, or at most twice as many bytes as the longest accepted line.
func TestBuffer(t *testing.T) {
	for limit, most := range map[int]int{10: 256 << 10, 200 << 10: 256 << 10, 600 << 10: 1200 << 10} {
		r := Reader{Max: limit}
		r.Reset(strings.NewReader("a\n" + strings.Repeat("x", limit) + "\n" + strings.Repeat("y", 3<<20) + "\n"))
		for ln, err := r.Next(); !errors.Is(err, io.EOF); ln, err = r.Next() {
			if err != nil || ln.Long != (r.Number == 3) {
				t.Fatalf("at most %d bytes: line %d of %d bytes, long: %t, %v", limit, r.Number, len(ln.Text), ln.Long, err)
			}
		}
		if n := cap(r.buf); n > most || n < 256<<10 {
			t.Errorf("at most %d bytes in a line: a buffer of %d bytes", limit, n)
		}
	}
}
