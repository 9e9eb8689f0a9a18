package metstat

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"

	"github.com/barograph/barograph/formats/lines"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/record"
)

// Options configures a Reader; the zero value is ready for use.
type Options struct {
	// Rows is the number of lines per batch; 0 = 8192. A batch with revisions of MTD may have more.
	Rows int
	// KeepLast accepts a last line without a line end as complete. By default it is rejected as
	// record.MaybeTruncated.
	KeepLast bool
}

const (
	defaultRows = 8192
	batchBytes  = 16 << 20 // input bytes after which a batch is returned, regardless of its number of rows
	maxInterned = 1 << 16  // distinct headers or words that are cached
	maxLine     = 1 << 20  // a longer line is quarantined
)

// Reader reads one file. It is not safe for concurrent use.
type Reader struct {
	in   lines.Reader
	file string
	o    Options

	layout      layout
	rejectsOnly *openBatch            // rejects of lines without a line type
	batches     map[string]*openBatch // by line type
	order       []*openBatch          // those of this file, in the order of their first lines
	flushed     int                   // batches of order that flush has returned
	count       int64
	revisions   revisions // of MTD's lines

	tok       []span // of the current line
	unordered []span // scratch memory of reorder: the tokens in the order of the header line
	line      []byte
	row       row
	timeToken [timeLength]byte // the last time that was read
	timeValue int64            // the value of timeToken
	words     map[string]string
	raw       []byte // the header's bytes, the key to its index
}

// span is a token: line[from:to].
type span struct{ from, to uint32 }

// NewReader returns a reader of r. Batches and rejects contain the name of the file as given.
func NewReader(r io.Reader, file string, o Options) *Reader {
	if o.Rows <= 0 {
		o.Rows = defaultRows
	}
	rd := &Reader{
		o: o, in: lines.Reader{Max: maxLine}, words: make(map[string]string),
		batches: make(map[string]*openBatch), rejectsOnly: newOpenBatch(nil),
	}
	rd.Reset(r, file)
	return rd
}

// Reset makes r read another file and keeps its memory (buffers, batches and known headers),
// because an archive has many small files.
func (r *Reader) Reset(src io.Reader, file string) {
	r.in.Reset(src)
	r.file, r.layout, r.count = file, assumedLayout(), 0
	r.order, r.flushed, r.revisions = r.order[:0], 0, revisions{}
	r.rejectsOnly.startFile(file)
	for _, p := range r.batches {
		p.startFile(file)
	}
}

// Lines is the number of data lines read until now, including those of batches that are still being
// filled. Each revision, which the reader computes from two lines of MTD, counts as one more line.
func (r *Reader) Lines() int64 { return r.count }

// Next fills *into with the next batch: records of one line type, or only rejects (Type nil) of
// lines without a known type. It reuses the memory of *into for a later batch. At the end it
// returns io.EOF; any other error is a *fault.Error about the stream, and the rows read since the
// last batch are lost.
func (r *Reader) Next(into *record.Batch) error {
	for {
		ln, err := r.in.Next()
		if errors.Is(err, io.EOF) {
			return r.flush(into)
		}
		if err != nil {
			return &fault.Error{File: r.file, Line: int(r.in.Number), Problem: "cannot be read beyond this line", Err: err}
		}
		if p := r.readLine(ln); p != nil && (p.batch.Lines >= r.o.Rows || p.bytes >= batchBytes) {
			r.exchange(p, into)
			return nil
		}
	}
}

// flush returns the remaining batches, one per call.
func (r *Reader) flush(into *record.Batch) error {
	r.addRevisions()
	for r.flushed < len(r.order) {
		p := r.order[r.flushed]
		r.flushed++
		if p.batch.Lines > 0 {
			r.exchange(p, into)
			return nil
		}
	}
	return io.EOF
}

// exchange swaps p's batch with *into.
func (r *Reader) exchange(p *openBatch, into *record.Batch) {
	*into, p.batch = p.batch, *into
	p.startBatch(r.file)
	if len(p.byRaw) > maxInterned {
		clear(p.byRaw)
		clear(p.byHeader)
	}
}

// readLine reads one line, and returns the batch to which a data line was added.
func (r *Reader) readLine(ln lines.Line) *openBatch {
	r.line = ln.Text
	r.split()
	ln.Ended = ln.Ended || r.o.KeepLast
	switch {
	case ln.Long && len(r.tok) > 0 && string(r.token(0)) == firstWord:
		// Its beginning does not determine a layout, and the previous layout does not apply to the following lines.
		r.addRevisions()
		r.layout = layout{headerProblem: fmt.Sprintf("the preceding header line is longer than %d bytes", maxLine)}
	case ln.Long:
	case len(r.tok) == 0 && bytes.IndexByte(r.line, 0) < 0:
		return nil
	case fault.Planted && len(r.tok) == 3 && string(r.token(0)) != firstWord:
		return nil // only under the build tag plantedfault: the fuzz test must find this lost line
	case len(r.tok) > 0 && string(r.token(0)) == firstWord && ln.Ended:
		words := make([][]byte, len(r.tok))
		for i := range words {
			words[i] = r.token(i)
		}
		r.addRevisions()
		r.layout = statLayout(words)
		return nil
	}
	text := r.line // readData translates a line of MODE into one of STAT
	p, reason := r.readData(ln)
	if !p.hasLines {
		r.order, p.hasLines = append(r.order, p), true
	}
	p.batch.Lines++
	p.bytes += len(text)
	r.count++
	if reason != "" {
		p.batch.Reject(r.file, r.in.Number, reason, text)
		r.revisions.addRejected()
	}
	return p
}

// split finds the tokens of the line, separated by blanks (bytes up to ' '). It processes eight
// bytes at a time: it marks nonblank bytes and then visits only the places where blanks begin or
// end.
func (r *Reader) split() {
	s, tok := r.line, r.tok[:0]
	var from uint32
	inside := uint64(0) // 1 where the byte before belongs to a token
	i := 0
	for ; i+8 <= len(s); i += 8 {
		marks := nonBlank(binary.LittleEndian.Uint64(s[i:]))
		for edges := marks ^ (marks<<8 | inside); edges != 0; edges &= edges - 1 {
			at := uint32(i + bits.TrailingZeros64(edges)/8)
			if inside == 0 {
				from, inside = at, 1
			} else {
				tok, inside = append(tok, span{from, at}), 0
			}
		}
	}
	for ; i < len(s); i++ {
		switch {
		case s[i] > ' ' && inside == 0:
			from, inside = uint32(i), 1
		case s[i] <= ' ' && inside == 1:
			tok, inside = append(tok, span{from, uint32(i)}), 0
		}
	}
	if inside == 1 {
		tok = append(tok, span{from, uint32(len(s))})
	}
	r.tok = tok
}

// nonBlank sets the lowest bit of every byte of x that is greater than ' '.
func nonBlank(x uint64) uint64 {
	const ones = 0x0101010101010101
	above := (x & (0x7f * ones)) + (0x7f-' ')*ones // bit 7: the low seven bits are greater than ' '
	return (above | x) >> 7 & ones
}

// token returns the i-th token of the line.
func (r *Reader) token(i int) []byte { return r.line[r.tok[i].from:r.tok[i].to] }

// word returns tok as a string, the same string for equal tokens.
func (r *Reader) word(tok []byte) string {
	if s, ok := r.words[string(tok)]; ok {
		return s
	}
	if len(r.words) >= maxInterned {
		clear(r.words)
	}
	s := string(tok)
	r.words[s] = s
	return s
}
