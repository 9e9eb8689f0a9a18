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

// Stdin is the path of standard input.
const Stdin = "-"

// Texts are text files whose names do not identify a format, such as SHEF's. It reports files that
// cannot be read and continues with the others.
type Texts struct {
	Paths  []string    // files, with folders replaced by their files
	Report func(error) // called once for each file that cannot be read to its end

	ctx    context.Context //nolint:containedctx // io.Reader has none
	stdin  io.Reader
	named  []string
	unread map[string]bool
}

// IsIgnored reports whether a file of a folder, by its path below the folder, is hidden, incomplete
// (.tmp, .part) or already processed (done/, failed/).
func IsIgnored(path string) bool {
	for part := range strings.SplitSeq(path, string(filepath.Separator)) {
		if strings.HasPrefix(part, ".") || part == "done" || part == "failed" {
			return true
		}
	}
	return strings.HasSuffix(path, ".tmp") || strings.HasSuffix(path, ".part")
}

// NewTexts finds the files of the arguments: files, folders (all files in them except those that
// IsIgnored), Stdin.
func NewTexts(ctx context.Context, args []string, stdin io.Reader, report func(error)) (*Texts, error) {
	t := &Texts{ctx: ctx, stdin: stdin, named: args, Report: report, unread: map[string]bool{}}
	for _, arg := range args {
		info, err := os.Stat(arg)
		switch {
		case arg == Stdin || err == nil && !info.IsDir():
			t.Paths = append(t.Paths, arg)
		case err == nil:
			ignored := func(path string) bool { below, err := filepath.Rel(arg, path); return err == nil && IsIgnored(below) }
			x := expansion{files: slices.DeleteFunc(filesBelow(arg, isNotFolder), ignored)}
			t.Paths = append(t.Paths, x.sortedUnique()...)
		default:
			return nil, &fault.Error{File: arg, Problem: "cannot be read", Err: cause(err), Cure: "name files or folders, or - for standard input"}
		}
	}
	return t, nil
}

// Incomplete returns an error if files could not be read; nil = all were read.
func (t *Texts) Incomplete() error {
	if len(t.unread) == 0 {
		return nil
	}
	return &fault.Status{Code: fault.Incomplete, Err: fmt.Errorf("%d files could not be read, are empty, or end early", len(t.unread))}
}

// All opens one file after the other. Each is valid until the next.
func (t *Texts) All() iter.Seq2[string, io.Reader] {
	return func(yield func(string, io.Reader) bool) {
		for _, path := range t.Paths {
			r, err := t.open(path)
			if err != nil {
				t.reportOnce(path, err)
				continue
			}
			more := yield(path, &textReader{texts: t, path: path, r: r})
			r.Close() //nolint:errcheck // nothing was written
			if !more {
				return
			}
		}
	}
}

func (t *Texts) reportOnce(path string, err error) {
	if !t.unread[path] {
		t.unread[path] = true
		t.Report(err)
	}
}

// open opens a file and decompresses gzip. It reads a pipe only if the pipe itself was named.
func (t *Texts) open(path string) (r io.ReadCloser, err error) {
	switch {
	case path == Stdin:
		r = io.NopCloser(&cancellableReader{ctx: t.ctx, r: t.stdin})
	case slices.Contains(t.named, path):
		r, err = os.Open(path)
	default:
		r, err = OpenFile(path)
	}
	if err != nil {
		return nil, err
	}
	return decompress(path, r)
}

// OpenText opens a regular file and decompresses gzip.
func OpenText(path string) (io.ReadCloser, error) {
	f, err := OpenFile(path)
	if err != nil {
		return nil, err
	}
	return decompress(path, f)
}

// decompress decompresses gzip, which it detects by its first bytes.
func decompress(path string, r io.ReadCloser) (io.ReadCloser, error) {
	b := bufio.NewReader(r) // larger reads bypass its buffer
	head, _ := b.Peek(2)    // the next read returns its error again
	if !bytes.Equal(head, []byte{0x1f, 0x8b}) {
		return plainReader{b, r}, nil
	}
	z, err := gzip.NewReader(b)
	if err != nil {
		r.Close() //nolint:errcheck // nothing was written
		return nil, &fault.Error{File: path, Problem: "is damaged gzip", Err: err}
	}
	return plainReader{z, r}, nil
}

// plainReader reads uncompressed text and closes the file below it.
type plainReader struct {
	io.Reader
	io.Closer
}

// textReader reads one file of Texts. If the file cannot be read to its end, textReader reports the
// problem to Texts and returns an error that wraps io.EOF, because the last line may be incomplete.
type textReader struct {
	texts   *Texts
	path    string
	r       io.Reader
	hasText bool // true after the first bytes, and always for standard input, which may be empty
}

func (x *textReader) Read(p []byte) (int, error) {
	n, err := x.r.Read(p)
	if x.hasText = x.hasText || n > 0 || x.path == Stdin; errors.Is(err, io.EOF) && !x.hasText {
		x.texts.reportOnce(x.path, &fault.Error{File: x.path, Problem: "is empty", Cure: "fetch the file again"})
	}
	if err != nil && !errors.Is(err, io.EOF) && x.texts.ctx.Err() == nil {
		x.texts.reportOnce(x.path, &fault.Error{File: x.path, Problem: "cannot be read to its end", Err: err, Cure: "check or fetch the file again"})
		err = fmt.Errorf("the text ends early: %w", io.EOF)
	}
	return n, err
}

// silentAfter is how long a stream may be silent before a read of it returns no bytes.
const silentAfter = 2 * time.Second

// cancellableReader reads a stream that may block forever, until its context ends: a signal can
// thus stop a decoder that waits for its pipe. A read returns no bytes, once, if the stream was
// silent for a while after some data.
type cancellableReader struct {
	ctx      context.Context //nolint:containedctx // io.Reader has none
	r        io.Reader
	done     chan result // result of the read in flight; nil = there is none
	unread   result
	isActive bool
}

type result struct {
	text []byte
	err  error
}

// Read reads in a separate goroutine. If the context ends, it abandons that goroutine with its
// buffer.
func (h *cancellableReader) Read(p []byte) (int, error) {
	if len(h.unread.text) == 0 && h.unread.err == nil {
		if h.done == nil {
			h.done = make(chan result, 1)
			go func(done chan<- result, text []byte) {
				n, err := h.r.Read(text)
				done <- result{text[:n], err}
			}(h.done, make([]byte, len(p)))
		}
		var quiet <-chan time.Time
		if h.isActive {
			quiet = time.After(silentAfter)
		}
		select {
		case h.unread = <-h.done:
			h.done, h.isActive = nil, true
		case <-quiet:
			h.isActive = false
			return 0, nil
		case <-h.ctx.Done():
			return 0, context.Cause(h.ctx)
		}
	}
	n := copy(p, h.unread.text)
	if h.unread.text = h.unread.text[n:]; len(h.unread.text) > 0 {
		return n, nil
	}
	return n, h.unread.err
}
