package duckdb

import (
	"context"
	"errors"
	"math"
	"unicode/utf8"

	"github.com/duckdb/duckdb-go/v2/mapping"

	"barograph/design"
	"barograph/engine/sqlengine"
	"barograph/fault"
	"barograph/record"
)

const microseconds = 1_000_000 // of DuckDB's TIMESTAMP in a second

// chunkWriter fills chunks and appends them to a table within the transaction
// that is open on its connection.
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

func (w *chunkWriter) failure() error {
	data := mapping.AppenderErrorData(w.appender)
	defer mapping.DestroyErrorData(&data)
	return errors.New(mapping.ErrorDataMessage(data))
}

func (w *chunkWriter) reset() {
	mapping.DataChunkReset(w.chunk)
	for k := range w.columns {
		w.columns[k] = readVector(mapping.DataChunkGetVector(w.chunk, mapping.IdxT(k)))
	}
}

// send appends the chunk, of which n rows are filled, and empties it.
func (w *chunkWriter) send(n int) error {
	mapping.DataChunkSetSize(w.chunk, mapping.IdxT(n))
	if mapping.AppendDataChunk(w.appender, w.chunk) == mapping.StateError {
		return w.failure()
	}
	w.reset()
	return nil
}

// flush brings what was appended into the table.
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

// close frees the writer; what was not flushed is dropped.
func (w *chunkWriter) close() {
	mapping.AppenderClear(w.appender)
	mapping.AppenderDestroy(&w.appender)
	mapping.DestroyDataChunk(&w.chunk)
	for k := range w.types {
		mapping.DestroyLogicalType(&w.types[k])
	}
}

// appendRows appends rows of p, one per record.
func (w *chunkWriter) appendRows(ctx context.Context, n design.Name, columns []sqlengine.Column, p *pending, rows []row) error {
	for from := 0; from < len(rows); from += w.capacity {
		if err := ctx.Err(); err != nil {
			return err
		}
		part := rows[from:min(from+w.capacity, len(rows))]
		for k := range columns {
			if err := w.fill(&w.columns[k], n, &columns[k], p, part); err != nil {
				return err
			}
		}
		if err := w.send(len(part)); err != nil {
			return err
		}
	}
	return w.flush(ctx)
}

// fill writes one column of a chunk.
func (w *chunkWriter) fill(v *vector, n design.Name, c *sqlengine.Column, p *pending, rows []row) error {
	switch c.From {
	case sqlengine.HeaderID:
		out := v.int64s(len(rows))
		for i := range rows {
			out[i] = p.ids[rows[i].head]
		}
	case sqlengine.FileID:
		out := v.int64s(len(rows))
		for i := range rows {
			out[i] = p.files[rows[i].batch]
		}
	case sqlengine.LineNum:
		out := v.int64s(len(rows))
		for i, r := range rows {
			out[i] = int64(p.batches[r.batch].Line[r.row])
		}
	case sqlengine.Header:
		fillHeader(v, c.Field, p, rows)
	case sqlengine.Lead, sqlengine.ObsLead:
		fillLead(v.int32s(len(rows)), n, c.From, p, rows)
	case sqlengine.Data:
		if c.Type == sqlengine.Text {
			return fillTexts(v, c.Data.Slot, p, rows)
		}
		fillNumbers(v, n, c.Data.Slot, p, rows)
	case sqlengine.Repeats:
		fillRepeats(v, n, p, rows)
	default:
		fillTimes(v.int64s(len(rows)), c.From, p, rows)
	}
	return nil
}

// fillHeader writes a text per row; rows of one header stand together and
// share DuckDB's copy of it.
func fillHeader(v *vector, f record.Field, p *pending, rows []row) {
	for i := range rows {
		if i > 0 && rows[i].head == rows[i-1].head {
			v.repeatText(i)
			continue
		}
		v.setText(i, p.heads[rows[i].head][f])
	}
}

func fillTexts(v *vector, slot int, p *pending, rows []row) error {
	for i, r := range rows {
		b := p.batches[r.batch]
		s := b.Text[slot][r.row]
		if err := checkText(b, int(r.row), s); err != nil {
			return err
		}
		if i > 0 && len(s) > inlined && string(v.text(i-1)) == s {
			v.repeatText(i)
			continue
		}
		v.setText(i, s)
	}
	return nil
}

// checkText refuses what a VARCHAR cannot hold.
func checkText(b *record.Batch, i int, s string) error {
	if utf8.ValidString(s) {
		return nil
	}
	return &fault.Error{File: b.File, Line: int(b.Line[i]), Problem: "holds text that is not UTF-8, which DuckDB does not store", Cure: "convert the file, e.g. with iconv"}
}

func fillNumbers(v *vector, n design.Name, slot int, p *pending, rows []row) {
	out := v.float64s(len(rows))
	for i, r := range rows {
		f := p.batches[r.batch].Num[slot][r.row]
		if math.IsNaN(f) {
			if n != design.Normalized {
				v.setNull(i)
			}
			f = design.MissingNumber
		}
		out[i] = f
	}
}

func fillLead(out []int32, n design.Name, from sqlengine.Source, p *pending, rows []row) {
	for i, r := range rows {
		b := p.batches[r.batch]
		switch {
		case from == sqlengine.Lead && n == design.Normalized:
			out[i] = int32(design.LeadCode(p.heads[r.head][record.Version], r.lead))
		case from == sqlengine.Lead:
			out[i] = r.lead
		case n == design.Normalized:
			out[i] = int32(design.LeadHMS(b.ObsLead[r.row]))
		default:
			out[i] = b.ObsLead[r.row]
		}
	}
}

func fillTimes(out []int64, from sqlengine.Source, p *pending, rows []row) {
	for i, r := range rows {
		b := p.batches[r.batch]
		t := r.valid
		switch from {
		case sqlengine.ValidEpoch:
			out[i] = t
			continue
		case sqlengine.InitBeg:
			t -= int64(r.lead)
		case sqlengine.ValidEnd:
			t = b.ValidEnd[r.row]
		case sqlengine.ObsBeg:
			t = b.ObsBeg[r.row]
		case sqlengine.ObsEnd:
			t = b.ObsEnd[r.row]
		}
		out[i] = t * microseconds
	}
}

// fillRepeats writes the list of a row's repeating columns.
func fillRepeats(v *vector, n design.Name, p *pending, rows []row) {
	total := 0
	for _, r := range rows {
		total += len(p.batches[r.batch].Repeats(int(r.row)))
	}
	mapping.ListVectorReserve(v.raw, mapping.IdxT(total))
	child := readVector(mapping.ListVectorGetChild(v.raw))
	spans, values, at := v.spans(len(rows)), child.float64s(total), 0
	for i, r := range rows {
		list := p.batches[r.batch].Repeats(int(r.row))
		spans[i] = span{uint64(at), uint64(len(list))}
		for _, f := range list {
			if math.IsNaN(f) {
				if n != design.Normalized {
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
