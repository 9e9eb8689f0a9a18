package duckdb

import (
	"context"
	"fmt"
	"math"
	"unsafe"

	"github.com/duckdb/duckdb-go/v2/mapping"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/record"
)

const microseconds = 1_000_000 // DuckDB's TIMESTAMP counts microseconds

// chunkWriter fills chunks and appends them to a table within the open transaction of its
// connection.
type chunkWriter struct {
	c        *conn
	appender mapping.Appender
	chunk    mapping.DataChunk
	types    []mapping.LogicalType
	columns  []vector
	capacity int
}

// newWriter opens a table for appending.
func newWriter(c *conn, catalog, schema, table string) (*chunkWriter, error) {
	w := &chunkWriter{c: c, capacity: int(mapping.VectorSize())}
	if mapping.AppenderCreateExt(c.raw, catalog, schema, table, &w.appender) == mapping.StateError {
		defer mapping.AppenderDestroy(&w.appender)
		return nil, w.failure()
	}
	for k := range uint64(mapping.AppenderColumnCount(w.appender)) {
		w.types = append(w.types, mapping.AppenderColumnType(w.appender, mapping.IdxT(k)))
	}
	w.chunk = mapping.CreateDataChunk(w.types)
	w.columns = make([]vector, len(w.types))
	w.reset()
	return w, nil
}

// appendTo passes a writer for a table to f, and closes it.
func (c *conn) appendTo(catalog, schema, table string, f func(w *chunkWriter) error) error {
	w, err := newWriter(c, catalog, schema, table)
	if err != nil {
		return err
	}
	defer w.close()
	return f(w)
}

func (w *chunkWriter) failure() error {
	data := mapping.AppenderErrorData(w.appender)
	defer mapping.DestroyErrorData(&data)
	return newError(mapping.ErrorDataErrorType(data), mapping.ErrorDataMessage(data))
}

func (w *chunkWriter) reset() {
	mapping.DataChunkReset(w.chunk)
	for k := range w.columns {
		w.columns[k] = readVector(mapping.DataChunkGetVector(w.chunk, mapping.IdxT(k)))
	}
}

// send appends the chunk with its n filled rows, and empties it.
func (w *chunkWriter) send(n int) error {
	mapping.DataChunkSetSize(w.chunk, mapping.IdxT(n))
	if mapping.AppendDataChunk(w.appender, w.chunk) == mapping.StateError {
		return w.failure()
	}
	w.reset()
	return nil
}

// flush writes the appended rows to the table.
func (w *chunkWriter) flush(ctx context.Context) error {
	defer w.c.watch(ctx)()
	if mapping.AppenderFlush(w.appender) == mapping.StateError {
		if err := ctx.Err(); err != nil {
			return err
		}
		return w.failure()
	}
	return nil
}

// close frees the writer and drops rows that were not flushed.
func (w *chunkWriter) close() {
	mapping.AppenderClear(w.appender)
	mapping.AppenderDestroy(&w.appender)
	mapping.DestroyDataChunk(&w.chunk)
	for k := range w.types {
		mapping.DestroyLogicalType(&w.types[k])
	}
}

// appendRows appends the rows of p, one per record.
func (w *chunkWriter) appendRows(ctx context.Context, columns []sqlengine.Column, p *sqlengine.Lines, rows []design.Row) error {
	for from := 0; from < len(rows); from += w.capacity {
		if err := ctx.Err(); err != nil {
			return err
		}
		part := rows[from:min(from+w.capacity, len(rows))]
		for k := range columns {
			fill(&w.columns[k], &columns[k], p, part)
		}
		if err := w.send(len(part)); err != nil {
			return err
		}
	}
	return w.flush(ctx)
}

// fill writes one column of a chunk.
func fill(v *vector, c *sqlengine.Column, p *sqlengine.Lines, rows []design.Row) {
	switch c.From {
	case sqlengine.HeaderID:
		out := v.int64s(len(rows))
		for i := range rows {
			out[i] = p.HeaderIDs[rows[i].Header]
		}
	case sqlengine.FileID:
		out := v.int64s(len(rows))
		for i := range rows {
			out[i] = p.FileIDs[rows[i].Batch]
		}
	case sqlengine.LineNum:
		out := v.int64s(len(rows))
		for i, r := range rows {
			out[i] = int64(p.Batches[r.Batch].Line[r.Row])
		}
	case sqlengine.Header:
		fillHeader(v, c.Field, p, rows)
	case sqlengine.Lead:
		out := v.int32s(len(rows))
		for i, r := range rows {
			out[i] = int32(p.Lead(r))
		}
	case sqlengine.ObsLead:
		out := v.int32s(len(rows))
		for i, r := range rows {
			out[i] = int32(p.ObsLead(r))
		}
	case sqlengine.Data:
		if c.Type == sqlengine.Text {
			fillTexts(v, c.Data.Slot, p, rows)
		} else {
			fillNumbers(v, c.Data.Slot, p, rows)
		}
	case sqlengine.Repeats:
		fillRepeats(v, p, rows)
	default:
		fillTimes(v.int64s(len(rows)), c.From, p, rows)
	}
}

// fillHeader writes a text per row. Rows of one header are adjacent and share DuckDB's copy of
// the text.
func fillHeader(v *vector, f record.Field, p *sqlengine.Lines, rows []design.Row) {
	for i := range rows {
		if i > 0 && rows[i].Header == rows[i-1].Header {
			v.repeatText(i)
			continue
		}
		v.setText(i, p.Headers[rows[i].Header][f])
	}
}

func fillTexts(v *vector, slot int, p *sqlengine.Lines, rows []design.Row) {
	for i, r := range rows {
		s := p.Batches[r.Batch].Text[slot][r.Row]
		if i > 0 && len(s) > inlined && string(v.text(i-1)) == s {
			v.repeatText(i)
			continue
		}
		v.setText(i, s)
	}
}

func fillNumbers(v *vector, slot int, p *sqlengine.Lines, rows []design.Row) {
	out := v.float64s(len(rows))
	for i, r := range rows {
		f := p.Batches[r.Batch].Num[slot][r.Row]
		if math.IsNaN(f) {
			if p.Design != design.Normalized {
				v.setNull(i)
			}
			f = design.MissingNumber
		}
		out[i] = f
	}
}

func fillTimes(out []int64, from sqlengine.Source, p *sqlengine.Lines, rows []design.Row) {
	for i, r := range rows {
		b := p.Batches[r.Batch]
		t := r.Valid
		switch from {
		case sqlengine.ValidEpoch:
			out[i] = t
			continue
		case sqlengine.InitBeg:
			t -= int64(r.Lead)
		case sqlengine.ValidEnd:
			t = b.ValidEnd[r.Row]
		case sqlengine.ObsBeg:
			t = b.ObsBeg[r.Row]
		case sqlengine.ObsEnd:
			t = b.ObsEnd[r.Row]
		}
		out[i] = t * microseconds
	}
}

// fillRepeats writes the lists of the rows' repeating columns.
func fillRepeats(v *vector, p *sqlengine.Lines, rows []design.Row) {
	total := 0
	for _, r := range rows {
		total += len(p.Batches[r.Batch].Repeats(int(r.Row)))
	}
	mapping.ListVectorReserve(v.raw, mapping.IdxT(total))
	child := readVector(mapping.ListVectorGetChild(v.raw))
	spans, values, at := v.spans(len(rows)), child.float64s(total), 0
	for i, r := range rows {
		list := p.Batches[r.Batch].Repeats(int(r.Row))
		spans[i] = span{uint64(at), uint64(len(list))}
		for _, f := range list {
			if math.IsNaN(f) {
				if p.Design != design.Normalized {
					child.setNull(at)
				}
				f = design.MissingNumber
			}
			values[at] = f
			at++
		}
	}
	mapping.ListVectorSetSize(v.raw, mapping.IdxT(total))
}

// appendRow is a Sink that fills a row of a chunk. Lists and documents are written by column, not
// by appendRow.
type appendRow struct {
	sqlengine.Sink
	w    *chunkWriter
	cols []sqlengine.Column
	i    int
}

func (a *appendRow) Null(k int)           { a.w.columns[k].setNull(a.i) }
func (a *appendRow) Text(k int, s string) { a.w.columns[k].setText(a.i, s) }
func (a *appendRow) Time(k int, v int64)  { a.w.columns[k].int64s(a.i + 1)[a.i] = v * microseconds }
func (a *appendRow) Integer(k int, v int64) {
	if a.cols[k].Type == sqlengine.Integer {
		a.w.columns[k].int32s(a.i + 1)[a.i] = int32(v)
	} else {
		a.w.columns[k].int64s(a.i + 1)[a.i] = v
	}
}

// rows appends rows.
func (w *chunkWriter) rows(ctx context.Context, cols []sqlengine.Column, next sqlengine.Next) error {
	to := &appendRow{w: w, cols: cols}
	for {
		ok, err := next(to)
		if err != nil {
			return err
		}
		if ok {
			to.i++
		}
		if to.i == w.capacity || !ok {
			if err := w.send(to.i); err != nil {
				return err
			}
			to.i = 0
		}
		if !ok {
			return w.flush(ctx)
		}
	}
}

// vector is a column of a chunk in DuckDB's memory: an array of values, and a mask in which a
// cleared bit means NULL. It is valid as long as its chunk.
type vector struct {
	raw  mapping.Vector
	data unsafe.Pointer
	mask unsafe.Pointer // nil = no NULL
}

func readVector(raw mapping.Vector) vector {
	return vector{raw: raw, data: mapping.VectorGetData(raw), mask: mapping.VectorGetValidity(raw)}
}

func (v *vector) word(i int) *uint64 { return (*uint64)(unsafe.Add(v.mask, i/64*8)) }

// null reports whether value i is NULL.
func (v *vector) null(i int) bool { return v.mask != nil && *v.word(i)&(1<<(i%64)) == 0 }

func (v *vector) int64s(n int) []int64     { return unsafe.Slice((*int64)(v.data), n) }
func (v *vector) int32s(n int) []int32     { return unsafe.Slice((*int32)(v.data), n) }
func (v *vector) float64s(n int) []float64 { return unsafe.Slice((*float64)(v.data), n) }

// textSize is the size of DuckDB's string_t. It contains the length, and a text of up to inlined
// bytes or a pointer to a longer text.
const (
	textSize  = 16
	inlined   = 12
	textStart = 4
	textPtr   = 8
)

func (v *vector) slot(i int) unsafe.Pointer { return unsafe.Add(v.data, i*textSize) }

// text returns value i; the bytes are DuckDB's.
func (v *vector) text(i int) []byte {
	p := v.slot(i)
	n := *(*uint32)(p)
	if n <= inlined {
		return unsafe.Slice((*byte)(unsafe.Add(p, textStart)), n)
	}
	return unsafe.Slice(*(**byte)(unsafe.Add(p, textPtr)), n)
}

// span is an entry of a list vector: the position of its values in the child.
type span struct{ offset, length uint64 }

func (v *vector) spans(n int) []span { return unsafe.Slice((*span)(v.data), n) }

// list returns the child of a list vector and its number of values.
func (v *vector) list() (vector, int) {
	return readVector(mapping.ListVectorGetChild(v.raw)), int(mapping.ListVectorGetSize(v.raw))
}

// member returns child k of a struct vector.
func (v *vector) member(k int) vector {
	return readVector(mapping.StructVectorGetChild(v.raw, mapping.IdxT(k)))
}

// refresh reads the addresses of the arrays again after the vector grew or was emptied.
func (v *vector) refresh() {
	v.data, v.mask = mapping.VectorGetData(v.raw), mapping.VectorGetValidity(v.raw)
}

// setNull sets value i to NULL.
func (v *vector) setNull(i int) {
	if v.mask == nil {
		mapping.VectorEnsureValidityWritable(v.raw)
		v.mask = mapping.VectorGetValidity(v.raw)
	}
	*v.word(i) &^= 1 << (i % 64)
}

// setText writes value i.
func (v *vector) setText(i int, s string) {
	if len(s) > inlined {
		mapping.VectorAssignStringElement(v.raw, mapping.IdxT(i), s)
		return
	}
	to := (*[textSize]byte)(v.slot(i))
	*to = [textSize]byte{}
	*(*uint32)(unsafe.Pointer(to)) = uint32(len(s))
	copy(to[textStart:], s)
}

// repeatText sets value i to value i−1; they share DuckDB's copy of a long text.
func (v *vector) repeatText(i int) {
	*(*[textSize]byte)(v.slot(i)) = *(*[textSize]byte)(v.slot(i - 1))
}

// sum returns value i of a DECIMAL(38,2) as text; "" if it exceeds 64 bits.
func (v *vector) sum(i int) string {
	x := (*struct {
		lower uint64
		upper int64
	})(unsafe.Add(v.data, i*16))
	n, sign := int64(x.lower), ""
	if x.upper != n>>63 {
		return ""
	}
	if n < 0 {
		n, sign = -n, "-"
	}
	return fmt.Sprintf("%s%d.%02d", sign, n/100, n%100)
}
