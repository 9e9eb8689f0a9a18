package vsdb

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/barograph/barograph/formats/lines"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/record"
)

// MaxLine is the longest supported line, in bytes. NCEP's lines have fewer than 300; longer ones
// are rejected.
const MaxLine = 64 << 10

const (
	defaultRows = 8192

	// maxSeries is the size at which the tables of headers are emptied. This bounds the memory for
	// a file in which every line has another header. A real day of all models has about 3,000
	// headers.
	maxSeries = 1 << 14
	// maxHeader bounds a header text without lead and valid time, in bytes. Real ones have about 40; the
	// nine fields of the specification would take 224.
	maxHeader = 512

	// Next returns rejects at this number of lines or bytes of text.
	maxRejects    = 1024
	maxRejectText = 1 << 20
)

// Options configures a Reader; the zero value is the default.
type Options struct {
	// Rows is the number of rows of a full batch, 8192 by default.
	Rows int
	// Ensemble is added, after '_', to the model of the ensemble line types (BSS, ECON, HIST, RELI,
	// RELP, RMSE, RPS). It is the text after the last '_' of the directory's name, see EnsembleOf.
	// "" adds nothing.
	Ensemble string
	// KeepLast accepts a last line without a line end as complete. By default it is rejected as
	// record.MaybeTruncated.
	KeepLast bool
}

// Reader reads the lines of one VSDB file. It is not safe for concurrent use.
type Reader struct {
	in    lines.Reader
	file  string
	o     Options
	lines int64 // nonblank lines read

	layouts   []*layout // by kind; nil if the table of line types lacks the target
	series    map[string]*headerSeries
	heads     map[string]*batchHeader // by line type and header
	key       []byte
	seriesMem []headerSeries // memory for the next series and heads
	headMem   []batchHeader
	lastValid uint64 // YYYYMMDDHH, and its Unix time
	lastTime  int64

	nums, row  []float64       // of the current line: its numbers, and the columns computed from them
	rejects    record.Batch    // rejected lines that were not yet returned; Type nil
	rejectText int             // bytes of text in rejects
	dueBatches []*record.Batch // that the next calls of Next return
}

// NewReader returns a Reader of the uncompressed text r. Batches, rejects and errors contain file
// as its name.
func NewReader(r io.Reader, file string, o Options) *Reader {
	if o.Rows <= 0 {
		o.Rows = defaultRows
	}
	rd := &Reader{
		o:      o,
		in:     lines.Reader{Max: MaxLine},
		series: make(map[string]*headerSeries), heads: make(map[string]*batchHeader),
		lastValid: math.MaxUint64, // a time that no token can represent
	}
	rd.layouts = lists.Map(kinds, newLayout)
	rd.Reset(r, file, o.Ensemble)
	return rd
}

// Reset makes r read another file and keeps its memory, because an archive has many small files.
// ensemble is Options.Ensemble for this file.
func (r *Reader) Reset(src io.Reader, file, ensemble string) {
	if ensemble != r.o.Ensemble { // the cached headers contain it
		clear(r.series)
		clear(r.heads)
	}
	r.in.Reset(src)
	r.file, r.o.Ensemble, r.lines = file, ensemble, 0
	r.dueBatches = r.dueBatches[:0]
	r.rejects.Reset(nil, file)
	r.rejectText = 0
	for _, l := range r.layouts {
		if l != nil {
			l.batch.Reset(l.t, file)
			l.generation++
		}
	}
}

// Lines returns the number of nonblank lines read until now.
func (r *Reader) Lines() int64 { return r.lines }

// Next fills into with the next batch: records of one line type, or only rejected lines, with Type
// nil. Lines of different types are collected separately; hence batches do not follow the order of
// the file, and Batch.Line has the line numbers. It returns io.EOF after the last batch. A rejected
// line is not an error. Any other error is a *fault.Error about reading the file, and rows that
// were not yet returned are lost.
//
// Next takes the memory of *into for a later batch and returns its own in exchange: clone a
// previous batch to keep it.
func (r *Reader) Next(into *record.Batch) error {
	for len(r.dueBatches) == 0 {
		ln, err := r.in.Next()
		if errors.Is(err, io.EOF) {
			r.makeAllDue()
			if len(r.dueBatches) == 0 {
				return io.EOF
			}
			break
		}
		if err != nil {
			return &fault.Error{File: r.file, Line: int(r.in.Number), Problem: "cannot be read", Err: err}
		}
		if start := skipBlanks(ln.Text, 0); start < len(ln.Text) {
			r.parse(ln, start)
		}
		if len(r.series) >= maxSeries {
			r.dropHeaders()
		}
	}
	r.exchange(r.dueBatches[0], into)
	r.dueBatches = slices.Delete(r.dueBatches, 0, 1)
	return nil
}

// makeAllDue adds every nonempty batch to dueBatches.
func (r *Reader) makeAllDue() {
	for _, l := range r.layouts {
		if l != nil && l.batch.Lines > 0 {
			r.dueBatches = append(r.dueBatches, &l.batch)
		}
	}
	if r.rejects.Lines > 0 {
		r.dueBatches = append(r.dueBatches, &r.rejects)
	}
}

// exchange swaps a due batch with the caller's.
func (r *Reader) exchange(b, into *record.Batch) {
	t := b.Type
	*b, *into = *into, *b
	b.Reset(t, r.file)
	if t == nil {
		r.rejectText = 0
		return
	}
	for _, l := range r.layouts {
		if l != nil && b == &l.batch {
			l.generation++
		}
	}
}

// reject quarantines the current line.
func (r *Reader) reject(reason string, text []byte) {
	text = bytes.TrimSuffix(text, []byte{'\r'})
	r.rejects.Reject(r.file, r.in.Number, reason, text)
	r.rejects.Lines++
	r.rejectText += min(len(text), record.MaxRejectText) + len(reason)
	if r.rejects.Lines >= min(maxRejects, r.o.Rows) || r.rejectText >= maxRejectText {
		r.dueBatches = append(r.dueBatches, &r.rejects)
	}
}

// parse reads a nonblank line, from its first token on, into a row or a reject.
func (r *Reader) parse(ln lines.Line, start int) {
	b := ln.Text
	if fault.Planted && len(b) > 255 && !ln.Long {
		return // a line of more than 255 bytes is lost
	}
	r.lines++
	if ln.Long {
		r.reject(fmt.Sprintf("line is longer than %d bytes; VSDB records have at most 255", MaxLine), b[start:])
	} else if reason := r.parseRow(b, start, ln.Ended || r.o.KeepLast); reason != "" {
		r.reject(reason, b)
	}
}

// parseRow stores the row of a line, or returns the reason for rejecting the line.
func (r *Reader) parseRow(b []byte, start int, isComplete bool) string {
	f, ok := split(b, start)
	if !ok {
		return tokenCountError(b).Error()
	}
	s, err := r.findSeries(b, &f)
	if err != nil {
		return err.Error()
	}
	lead, ok := leadSeconds(b[f.lead:f.leadEnd])
	if !ok {
		return fmt.Sprintf("lead %s is not a number of hours (one to four digits)", quote(string(b[f.lead:f.leadEnd])))
	}
	valid, ok := r.validTime(b[f.valid:f.validEnd])
	if !ok {
		return fmt.Sprintf("valid time %s is not a date and hour YYYYMMDDHH from %d to %d",
			quote(string(b[f.valid:f.validEnd])), record.FirstYear, record.LastYear)
	}
	if reason := cmp.Or(record.InitProblem(valid, lead), r.readNumbers(b, f.numbers, s)); reason != "" {
		return reason
	}
	if !isComplete {
		return record.MaybeTruncated
	}
	l := s.layout
	r.row = slices.Grow(r.row[:0], len(l.emptyRow))[:len(l.emptyRow)]
	if reason := l.fill(r.nums, r.row, s, b[f.numbers:]); reason != "" {
		return reason
	}
	if l.batch.Len() == cap(l.batch.HeaderIndex) {
		reserve(&l.batch, r.o.Rows)
	}
	l.add(s, lead, valid, r.in.Number, r.row)
	if l.batch.Len() >= r.o.Rows {
		r.dueBatches = append(r.dueBatches, &l.batch)
	}
	return ""
}

// reserve makes room in the columns of b, first for a few rows and then for a complete batch.
// Growing by one row at a time would cost a new reader more than parsing.
func reserve(b *record.Batch, rows int) {
	const few, more = 512, 16
	n := min(max(few, more*b.Len()), rows) - b.Len()
	b.HeaderIndex, b.Line = slices.Grow(b.HeaderIndex, n), slices.Grow(b.Line, n)
	b.Lead, b.ObsLead = slices.Grow(b.Lead, n), slices.Grow(b.ObsLead, n)
	b.Valid, b.ValidEnd = slices.Grow(b.Valid, n), slices.Grow(b.ValidEnd, n)
	b.ObsBeg, b.ObsEnd = slices.Grow(b.ObsBeg, n), slices.Grow(b.ObsEnd, n)
	for k := range b.Num {
		b.Num[k] = slices.Grow(b.Num[k], n)
	}
}

// dropHeaders empties the tables of headers and makes all batches due. Otherwise a batch could contain
// a header twice.
func (r *Reader) dropHeaders() {
	r.dueBatches = r.dueBatches[:0]
	r.makeAllDue()
	clear(r.series)
	clear(r.heads)
}

// readNumbers reads the numbers from b[i:] into r.nums. It returns the reason for rejecting the line,
// or "".
func (r *Reader) readNumbers(b []byte, i int, s *headerSeries) string {
	r.nums = r.nums[:0]
	start := i
	for i = skipBlanks(b, i); i < len(b); i = skipBlanks(b, i) {
		if len(r.nums) == s.most {
			return fmt.Sprintf("more than the %d numbers of a %s line, the next is %s",
				s.most, s.layout.vsdb, quote(tokenAt(b, i, start)))
		}
		v, n, bad := number(b[i:])
		if bad != "" {
			return fmt.Sprintf("number %d, %s, %s", len(r.nums)+1, quote(tokenAt(b, i, start)), bad)
		}
		r.nums = append(r.nums, v)
		i += n
	}
	if n := len(r.nums); n != s.most && n != s.least {
		return s.tooFew(n)
	}
	return ""
}

// tooFew returns the reason for rejecting a line with n numbers, fewer than its type has.
func (s *headerSeries) tooFew(n int) string {
	if n == 0 {
		return "no number right of the header"
	}
	writes := strconv.Itoa(s.most)
	if s.least < s.most {
		writes = fmt.Sprintf("%d or %d", s.least, s.most)
	}
	return fmt.Sprintf("the line is truncated: it has %d numbers of %s, VSDB writes %s", n, s.layout.vsdb, writes)
}

// tokenAt returns the complete token around position i, without text before start.
func tokenAt(b []byte, i, start int) string {
	from := i
	for from > start && !isSeparator(b[from-1]) {
		from--
	}
	return string(b[from:tokenEnd(b, i)])
}
