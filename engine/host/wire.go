package host

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

// operation names a method of archive.Archive or engine.Engine.
type operation string

const (
	opAbout    operation = "about"
	opOpen     operation = "open"
	opMarks    operation = "marks"
	opCatalog  operation = "catalog"
	opSubsets  operation = "subsets"
	opContents operation = "contents"
	opPhrase   operation = "phrase"
	opAsk      operation = "ask"
	opExplain  operation = "explain"
	opDump     operation = "dump"
	opSize     operation = "size"
	opRanges   operation = "ranges"
	opRows     operation = "rows"
)

// request is a call. gob encodes it: the fields that an operation does not use cost nothing.
type request struct {
	Op      operation
	Design  design.Name
	Subset  string
	Flavour flavour.Name
	Query   *wireQuery
	Rows    archive.RowRange
}

// reply is a part of the result of a call. The last one has Last set, and Err if the call failed.
type reply struct {
	Last     bool
	Err      *wireError
	About    engine.About
	Marks    []archive.Mark
	Names    []string
	Ranges   []archive.RowRange
	Contents archive.Contents
	Query    *wireQuery
	Plan     archive.Plan
	Size     int64
	Catalog  []byte // the catalog's text
	Chunk    []byte // rows of an answer or a batch of records; see encoder
}

// wireQuery is an archive.Query. Before Phrase it contains only the question.
type wireQuery struct {
	Question question.Question // without its line type
	Type     string
	Query    archive.Query // without its question and its arguments
	Args     []wireArg
}

// wireArg is an argument: a text, or a list of texts.
type wireArg struct {
	Text   string
	List   []string
	IsList bool
}

func newWireQuery(q *archive.Query) (*wireQuery, error) {
	w := &wireQuery{Question: *q.Question, Query: *q}
	if w.Question.Type != nil {
		w.Type = w.Question.Type.Name
	}
	w.Question.Type, w.Question.Drawing, w.Query.Question, w.Query.Args = nil, nil, nil, nil
	for _, a := range q.Args {
		switch v := a.(type) {
		case string:
			w.Args = append(w.Args, wireArg{Text: v})
		case []string:
			w.Args = append(w.Args, wireArg{List: v, IsList: true})
		default:
			return nil, fmt.Errorf("an argument of a query is a %T", a)
		}
	}
	return w, nil
}

// query returns the archive.Query; q is its question, or nil if the message contains the question.
func (w *wireQuery) query(q *question.Question) (*archive.Query, error) {
	out := w.Query
	for _, a := range w.Args {
		if a.IsList {
			out.Args = append(out.Args, a.List)
		} else {
			out.Args = append(out.Args, a.Text)
		}
	}
	if out.Question = q; q != nil {
		return &out, nil
	}
	out.Question = &w.Question
	if w.Type == "" {
		return &out, nil
	}
	t, ok := record.TypeByName(w.Type)
	if !ok {
		return nil, fmt.Errorf("line type %s is unknown", w.Type)
	}
	out.Question.Type = t
	for _, columns := range [][]question.Column{out.Question.Columns, out.Question.Order} {
		for k := range columns {
			if columns[k].Role != question.Repeating {
				continue
			}
			c, err := question.ColumnByName(t, columns[k].Name) // it sets stride, which gob does not send
			if err != nil {
				return nil, err
			}
			columns[k] = c
		}
	}
	return &out, nil
}

// wireError is an error: its text and the properties that callers look for.
type wireError struct {
	Text     string
	Fault    *wireFault
	Code     int // of a fault.Status; 0 = the error has none
	Sentinel []int
}

// wireFault is a fault.Error; Err is the text of its cause.
type wireFault struct {
	File, Setting, Problem, Cure, Err string
	Line                              int
}

// sentinels lists the errors that callers look for. A message identifies them by their index.
func sentinels() []error {
	return []error{
		engine.ErrUnreachable, engine.ErrNoDesign, engine.ErrReadOnly, flavour.ErrCannotExpress, context.Canceled, context.DeadlineExceeded,
	}
}

func newWireError(err error) *wireError {
	w := &wireError{Text: err.Error()}
	if s, ok := errors.AsType[*fault.Status](err); ok {
		w.Code = s.Code
	}
	if f, ok := errors.AsType[*fault.Error](err); ok && f.Error() == w.Text {
		w.Fault = &wireFault{File: f.File, Line: f.Line, Setting: f.Setting, Problem: f.Problem, Cure: f.Cure}
		if f.Err != nil {
			w.Fault.Err = f.Err.Error()
		}
	}
	known := sentinels()
	w.Sentinel = lists.Filter(lists.Indices(len(known)), func(i int) bool { return errors.Is(err, known[i]) })
	return w
}

func (w *wireError) error() error {
	r := &remoteError{text: w.Text}
	for i, known := range sentinels() {
		if slices.Contains(w.Sentinel, i) {
			r.sentinels = append(r.sentinels, known)
		}
	}
	var err error = r
	if f := w.Fault; f != nil {
		e := &fault.Error{File: f.File, Line: f.Line, Setting: f.Setting, Problem: f.Problem, Cure: f.Cure}
		if r.text = f.Err; f.Err != "" {
			e.Err = r
		}
		err = e
	}
	if w.Code != 0 {
		err = &fault.Status{Code: w.Code, Err: err}
	}
	return err
}

// remoteError is an error of the other process.
type remoteError struct {
	text      string
	sentinels []error
}

func (r *remoteError) Error() string   { return r.text }
func (r *remoteError) Unwrap() []error { return r.sentinels }

// number is a type that the encoder sends as its bytes in memory, little endian.
type number interface {
	~int32 | ~uint32 | ~int64 | ~float64
}

// encoder writes chunks. It writes the bytes of each distinct text only once in a stream.
type encoder struct {
	buf   []byte
	texts map[string]uint64
}

// mostTexts bounds the memory of both sides: after so many texts, both forget all of them.
const mostTexts = 1 << 16

func (e *encoder) uint(n int) { e.buf = binary.AppendUvarint(e.buf, uint64(n)) } //nolint:gosec // a length

func (e *encoder) text(s string) {
	if n, known := e.texts[s]; known {
		e.buf = binary.AppendUvarint(e.buf, n+1)
		return
	}
	if e.texts == nil || len(e.texts) == mostTexts {
		e.texts = map[string]uint64{}
	}
	e.texts[s] = uint64(len(e.texts))
	e.buf = append(e.buf, 0)
	e.uint(len(s))
	e.buf = append(e.buf, s...)
}

func (e *encoder) strings(list []string) {
	e.uint(len(list))
	for _, s := range list {
		e.text(s)
	}
}

func numbers[T number](e *encoder, list []T) {
	e.uint(len(list))
	e.buf, _ = binary.Append(e.buf, binary.LittleEndian, list) // a fixed size causes no error
}

// rows writes the rows from … to−1 of an answer.
func (e *encoder) rows(a *answer.Answer, from, to int) {
	e.uint(to - from)
	for k := range a.Columns {
		v := &a.Vectors[k]
		switch a.Columns[k].Kind {
		case question.Text:
			e.strings(v.Text[from:to])
		case question.Number:
			numbers(e, v.Num[from:to])
		case question.List:
			for i := from; i < to; i++ {
				numbers(e, v.List(i))
			}
		default:
			numbers(e, v.Seconds[from:to])
		}
	}
}

// batch writes records.
func (e *encoder) batch(b *record.Batch) {
	e.text(b.Type.Name)
	e.text(b.File)
	e.uint(len(b.Headers))
	for i := range b.Headers {
		for _, s := range b.Headers[i] {
			e.text(s)
		}
	}
	numbers(e, b.HeaderIndex)
	numbers(e, b.Lead)
	numbers(e, b.Valid)
	numbers(e, b.ValidEnd)
	numbers(e, b.ObsLead)
	numbers(e, b.ObsBeg)
	numbers(e, b.ObsEnd)
	numbers(e, b.Line)
	for _, column := range b.Num {
		numbers(e, column)
	}
	for _, column := range b.Text {
		e.strings(column)
	}
	numbers(e, b.Group)
	numbers(e, b.GroupEnd)
}

// decoder reads chunks. It trusts no length, because the other process may read a damaged file.
type decoder struct {
	buf   []byte
	texts []string
	err   error
}

var errChunk = errors.New("a message of the process that reads the archive is malformed")

func (d *decoder) fail() { d.err, d.buf = errChunk, nil }

func (d *decoder) uint() int {
	n, size := binary.Uvarint(d.buf)
	if size <= 0 || n > 1<<31 {
		d.fail()
		return 0
	}
	d.buf = d.buf[size:]
	return int(n)
}

func (d *decoder) text() string {
	n := d.uint()
	if n > len(d.texts) {
		d.fail()
	}
	if d.err != nil {
		return ""
	}
	if n > 0 {
		return d.texts[n-1]
	}
	if n = d.uint(); n > len(d.buf) {
		d.fail()
		return ""
	}
	if len(d.texts) == mostTexts {
		d.texts = d.texts[:0]
	}
	s := string(d.buf[:n])
	d.buf, d.texts = d.buf[n:], append(d.texts, s)
	return s
}

// strings appends a list to out; want is how many there must be, −1 = any.
func (d *decoder) strings(out []string, want int) []string {
	n := d.uint()
	if n > len(d.buf) || want >= 0 && n != want {
		d.fail()
		return out
	}
	for range n {
		out = append(out, d.text())
	}
	return out
}

// fixed appends a list that numbers has written to out; want is how many items it must have, −1 = any.
func fixed[T number](d *decoder, out []T, want int) []T {
	n := d.uint()
	size := n * binary.Size(T(0))
	if size > len(d.buf) || want >= 0 && n != want {
		d.fail()
		return out
	}
	at := len(out)
	out = slices.Grow(out, n)[:at+n]
	if _, err := binary.Decode(d.buf[:size], binary.LittleEndian, out[at:]); err != nil {
		d.fail()
		return out[:at]
	}
	d.buf = d.buf[size:]
	return out
}

// rows appends rows to an answer.
func (d *decoder) rows(chunk []byte, into *answer.Builder) error {
	d.buf = chunk
	n := d.uint()
	for k := range into.Columns {
		v := into.Vector(k)
		switch into.Columns[k].Kind {
		case question.Text:
			v.Text = d.strings(v.Text, n)
		case question.Number:
			v.Num = fixed(d, v.Num, n)
		case question.List:
			for i := 0; i < n && d.err == nil; i++ {
				v.Num = fixed(d, v.Num, -1)
				v.End = append(v.End, len(v.Num))
			}
		default:
			v.Seconds = fixed(d, v.Seconds, n)
		}
	}
	if d.err == nil {
		into.Grow(n)
	}
	return d.err
}

// batch reads records into b.
func (d *decoder) batch(chunk []byte, b *record.Batch) error {
	d.buf = chunk
	t, ok := record.TypeByName(d.text())
	if !ok {
		d.fail()
		return d.err
	}
	b.Reset(t, d.text())
	for heads := d.uint(); heads > 0 && d.err == nil; heads-- {
		var h record.Header
		for f := range h {
			h[f] = d.text()
		}
		b.AddHeader(h)
	}
	b.HeaderIndex = fixed(d, b.HeaderIndex, -1)
	n := len(b.HeaderIndex)
	b.Lead, b.Valid, b.ValidEnd = fixed(d, b.Lead, n), fixed(d, b.Valid, n), fixed(d, b.ValidEnd, n)
	b.ObsLead, b.ObsBeg, b.ObsEnd, b.Line = fixed(d, b.ObsLead, n), fixed(d, b.ObsBeg, n), fixed(d, b.ObsEnd, n), fixed(d, b.Line, n)
	for k := range b.Num {
		b.Num[k] = fixed(d, b.Num[k], n)
	}
	for k := range b.Text {
		b.Text[k] = d.strings(b.Text[k], n)
	}
	b.Group, b.GroupEnd = fixed(d, b.Group, -1), fixed(d, b.GroupEnd, -1)
	for _, head := range b.HeaderIndex {
		if int(head) >= len(b.Headers) {
			d.fail()
		}
	}
	last := uint32(0)
	for _, end := range b.GroupEnd {
		if end < last || int(end) > len(b.Group) {
			d.fail()
		}
		last = end
	}
	if len(b.GroupEnd) != 0 && len(b.GroupEnd) != n {
		d.fail()
	}
	return d.err
}
