package formats

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/barograph/barograph/internal/fault"

	"github.com/klauspost/compress/gzip"
)

// Stdin is the path that stands for standard input.
const Stdin = "-"

// Texts are files of text whose names tell nothing, such as SHEF's. What cannot
// be read is reported, and the rest goes on.
type Texts struct {
	Paths  []string    // folders made into their files
	Report func(error) // of a file that cannot be read, or not to its end: once of each

	ctx    context.Context //nolint:containedctx // io.Reader has none
	stdin  io.Reader
	named  []string
	unread map[string]bool
}

// LeftAlone reports whether a file of a folder, by its path below it, is hidden,
// half written (.tmp, .part), or was dealt with (done/, failed/).
func LeftAlone(path string) bool {
	for part := range strings.SplitSeq(path, string(filepath.Separator)) {
		if strings.HasPrefix(part, ".") || part == "done" || part == "failed" {
			return true
		}
	}
	return strings.HasSuffix(path, ".tmp") || strings.HasSuffix(path, ".part")
}

// NewTexts finds the files that arguments name: files, folders (all files in
// them but those LeftAlone), Stdin.
func NewTexts(ctx context.Context, args []string, stdin io.Reader, report func(error)) (*Texts, error) {
	t := &Texts{ctx: ctx, stdin: stdin, named: args, Report: report, unread: map[string]bool{}}
	for _, arg := range args {
		info, err := os.Stat(arg)
		switch {
		case arg == Stdin || err == nil && !info.IsDir():
			t.Paths = append(t.Paths, arg)
		case err == nil:
			x := expansion{files: slices.DeleteFunc(below(arg, noFolder), func(path string) bool { return LeftAlone(strings.TrimPrefix(path, filepath.Clean(arg))) })}
			t.Paths = append(t.Paths, x.once()...)
		default:
			return nil, &fault.Error{File: arg, Problem: "cannot be read", Err: cause(err), Cure: "name files or folders, or - for standard input"}
		}
	}
	return t, nil
}

// Incomplete is the error of files that were not read; nil = there are none.
func (t *Texts) Incomplete() error {
	if len(t.unread) == 0 {
		return nil
	}
	return &fault.Status{Code: fault.Incomplete, Err: fmt.Errorf("%d files could not be read, are empty, or end early", len(t.unread))}
}

// All opens one file after the other; each is valid until the next.
func (t *Texts) All() iter.Seq2[string, io.Reader] {
	return func(yield func(string, io.Reader) bool) {
		for _, path := range t.Paths {
			r, err := t.open(path)
			if err != nil {
				t.tell(path, err)
				continue
			}
			more := yield(path, &text{of: t, path: path, r: r})
			r.Close() //nolint:errcheck // nothing was written
			if !more {
				return
			}
		}
	}
}

func (t *Texts) tell(path string, err error) {
	if !t.unread[path] {
		t.unread[path] = true
		t.Report(err)
	}
}

// open opens a file and undoes gzip. A pipe is read where it is named itself.
func (t *Texts) open(path string) (r io.ReadCloser, err error) {
	switch {
	case path == Stdin:
		r = io.NopCloser(&heeding{ctx: t.ctx, r: t.stdin})
	case slices.Contains(t.named, path):
		r, err = os.Open(path)
	default:
		r, err = OpenFile(path)
	}
	if err != nil {
		return nil, err
	}
	b := bufio.NewReader(r) // what is read in larger pieces goes by it
	head, _ := b.Peek(2)    // an error comes again
	if !bytes.Equal(head, []byte{0x1f, 0x8b}) {
		return plain{b, r}, nil
	}
	z, err := gzip.NewReader(b)
	if err != nil {
		r.Close() //nolint:errcheck // nothing was written
		return nil, &fault.Error{File: path, Problem: "is damaged gzip", Err: err}
	}
	return plain{z, r}, nil
}

// plain is what is read, and what is closed.
type plain struct {
	io.Reader
	io.Closer
}

// text ends where it cannot be read on, with an error that wraps io.EOF: its last line
// may be incomplete. The problem itself is reported by Texts.
type text struct {
	of   *Texts
	path string
	r    io.Reader
	said bool // it is not empty; of a stream nothing need come
}

func (x *text) Read(p []byte) (int, error) {
	n, err := x.r.Read(p)
	if x.said = x.said || n > 0 || x.path == Stdin; errors.Is(err, io.EOF) && !x.said {
		x.of.tell(x.path, &fault.Error{File: x.path, Problem: "is empty: there is nothing to read", Cure: "fetch the file again"})
	}
	if err != nil && !errors.Is(err, io.EOF) && x.of.ctx.Err() == nil {
		x.of.tell(x.path, &fault.Error{File: x.path, Problem: "cannot be read to its end", Err: err, Cure: "check or fetch the file again"})
		err = fmt.Errorf("the text ends early: %w", io.EOF)
	}
	return n, err
}

// silence is how long a stream may say nothing until a read of it is empty.
const silence = 2 * time.Second

// heeding reads a stream that may never say anything again, until its context
// ends: a signal ends a decoder that waits for its pipe. A read is empty, once,
// where the stream has said something and then nothing for a while.
type heeding struct {
	ctx  context.Context //nolint:containedctx // io.Reader has none
	r    io.Reader
	done chan result // of the read under way; nil = there is none
	rest result
	said bool
}

type result struct {
	text []byte
	err  error
}

// Read reads in a goroutine of its own, which is left behind, with the text
// that it reads into, where the context ends.
func (h *heeding) Read(p []byte) (int, error) {
	if len(h.rest.text) == 0 && h.rest.err == nil {
		if h.done == nil {
			h.done = make(chan result, 1)
			go func(done chan<- result, text []byte) {
				n, err := h.r.Read(text)
				done <- result{text[:n], err}
			}(h.done, make([]byte, len(p)))
		}
		var quiet <-chan time.Time
		if h.said {
			quiet = time.After(silence)
		}
		select {
		case h.rest = <-h.done:
			h.done, h.said = nil, true
		case <-quiet:
			h.said = false
			return 0, nil
		case <-h.ctx.Done():
			return 0, context.Cause(h.ctx)
		}
	}
	n := copy(p, h.rest.text)
	if h.rest.text = h.rest.text[n:]; len(h.rest.text) > 0 {
		return n, nil
	}
	return n, h.rest.err
}
