package postgres

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math"

	"github.com/jackc/pgx/v5"

	"barograph/design"
	"barograph/engine/sqlengine"
	"barograph/record"
)

// Rows go to the server as PostgreSQL's binary COPY format (manual, COPY,
// "Binary Format"): a signature, then per row the number of fields and each
// field's length and bytes, big-endian, then -1. pgx's own CopyFrom takes a
// slice of interfaces per row; encoding straight from the columns of a batch
// takes neither an allocation nor a look at a type map per value.

const copySignature = "PGCOPY\n\xff\r\n\x00" + "\x00\x00\x00\x00" + "\x00\x00\x00\x00" // no flags, no extension

// copyChunk is about how many bytes are encoded before they are sent.
const copyChunk = 1 << 16

// postgresEpoch is 2000-01-01, from which timestamps count microseconds.
const postgresEpoch = 946684800

// copyReader makes a COPY stream of what next appends, a row at a time; next
// returns io.EOF when there is none left.
type copyReader struct {
	next func(dst []byte) ([]byte, error)
	buf  []byte
	at   int
	end  bool
}

func newCopyReader(next func(dst []byte) ([]byte, error)) *copyReader {
	return &copyReader{next: next, buf: append(make([]byte, 0, copyChunk+copyChunk/4), copySignature...)}
}

// Read hands on what is encoded and encodes more when that is used up.
func (r *copyReader) Read(p []byte) (int, error) {
	if r.at == len(r.buf) {
		if r.end {
			return 0, io.EOF
		}
		r.buf, r.at = r.buf[:0], 0
		for len(r.buf) < copyChunk && !r.end {
			var err error
			if r.buf, err = r.next(r.buf); errors.Is(err, io.EOF) {
				r.buf, r.end = binary.BigEndian.AppendUint16(r.buf, math.MaxUint16), true
			} else if err != nil {
				return 0, err
			}
		}
	}
	n := copy(p, r.buf[r.at:])
	r.at += n
	return n, nil
}

// copyRows sends rows to a table. The table's name is quoted already.
func copyRows(ctx context.Context, c *pgx.Conn, table string, cols []sqlengine.Column, next func(dst []byte) ([]byte, error)) error {
	_, err := c.PgConn().CopyFrom(ctx, newCopyReader(next), "COPY "+table+" ("+sqlengine.Names("", cols)+") FROM STDIN BINARY")
	return err
}

func appendNull(dst []byte) []byte { return binary.BigEndian.AppendUint32(dst, math.MaxUint32) }

func appendText[S string | []byte](dst []byte, s S) []byte {
	return append(binary.BigEndian.AppendUint32(dst, uint32(len(s))), s...)
}

func appendInt(dst []byte, v int64) []byte {
	return binary.BigEndian.AppendUint32(append(dst, 0, 0, 0, 4), uint32(int32(v)))
}

func appendBig(dst []byte, v int64) []byte {
	return binary.BigEndian.AppendUint64(append(dst, 0, 0, 0, 8), uint64(v))
}

func appendFloat(dst []byte, f float64) []byte {
	return binary.BigEndian.AppendUint64(append(dst, 0, 0, 0, 8), math.Float64bits(f))
}

func appendTime(dst []byte, epoch int64) []byte {
	return appendBig(dst, (epoch-postgresEpoch)*1e6)
}

// appendFloats appends an array of double precision; NaN is a missing value.
func appendFloats(dst []byte, values []float64) []byte {
	const float8 = 701
	if len(values) == 0 {
		dst = append(dst, 0, 0, 0, 12, 0, 0, 0, 0, 0, 0, 0, 0)
		return binary.BigEndian.AppendUint32(dst, float8)
	}
	dst = binary.BigEndian.AppendUint32(dst, uint32(20+12*len(values)))
	for _, v := range [...]uint32{1, 0, float8, uint32(len(values)), 1} { // dimensions, no nulls, type, length, lower bound
		dst = binary.BigEndian.AppendUint32(dst, v)
	}
	for _, f := range values {
		dst = appendFloat(dst, f)
	}
	return dst
}

// floats decodes what appendFloats wrote.
func floats(raw []byte, into []float64) []float64 {
	for at := 20; at+12 <= len(raw); at += 12 {
		into = append(into, float(raw[at+4:]))
	}
	return into
}

func float(raw []byte) float64 { return math.Float64frombits(binary.BigEndian.Uint64(raw)) }

// encoder appends the rows of a table of records.
type encoder struct {
	n     design.Name
	p     *pending
	steps []step
}

// step encodes one column, or a run of the header's fields, which are encoded
// once per header.
type step struct {
	column sqlengine.Column
	fields [][]byte // by header; nil = the column alone
}

func newEncoder(n design.Name, p *pending, cols []sqlengine.Column) *encoder {
	e := &encoder{n: n, p: p}
	for k := 0; k < len(cols); k++ {
		s := step{column: cols[k]}
		if cols[k].From == sqlengine.Header {
			run := k
			for run < len(cols) && cols[run].From == sqlengine.Header {
				run++
			}
			s.fields = make([][]byte, len(p.heads))
			for h := range p.heads {
				for _, c := range cols[k:run] {
					s.fields[h] = appendText(s.fields[h], p.heads[h][c.Field])
				}
			}
			k = run - 1
		}
		e.steps = append(e.steps, s)
	}
	return e
}

// appendRow appends a row of as many fields.
func (e *encoder) appendRow(dst []byte, fields int, r row) []byte {
	b, i := e.p.batches[r.batch], int(r.row)
	dst = binary.BigEndian.AppendUint16(dst, uint16(fields))
	for k := range e.steps {
		s := &e.steps[k]
		switch s.column.From {
		case sqlengine.Header:
			dst = append(dst, s.fields[r.head]...)
		case sqlengine.HeaderID:
			dst = appendBig(dst, e.p.ids[r.head])
		case sqlengine.FileID:
			dst = appendBig(dst, e.p.files[r.batch])
		case sqlengine.LineNum:
			dst = appendBig(dst, int64(b.Line[i]))
		case sqlengine.Lead:
			lead := int64(r.lead)
			if e.n == design.Normalized {
				lead = design.LeadCode(e.p.heads[r.head][record.Version], r.lead)
			}
			dst = appendInt(dst, lead)
		case sqlengine.ValidBeg:
			dst = appendTime(dst, r.valid)
		case sqlengine.ValidEpoch:
			dst = appendBig(dst, r.valid)
		case sqlengine.ValidEnd:
			dst = appendTime(dst, b.ValidEnd[i])
		case sqlengine.InitBeg:
			dst = appendTime(dst, b.Init(i))
		case sqlengine.ObsLead:
			lead := int64(b.ObsLead[i])
			if e.n == design.Normalized {
				lead = design.LeadHMS(b.ObsLead[i])
			}
			dst = appendInt(dst, lead)
		case sqlengine.ObsBeg:
			dst = appendTime(dst, b.ObsBeg[i])
		case sqlengine.ObsEnd:
			dst = appendTime(dst, b.ObsEnd[i])
		case sqlengine.Repeats:
			dst = appendFloats(dst, b.Repeats(i))
		case sqlengine.Data:
			dst = e.appendDatum(dst, &s.column.Data, b, i)
		}
	}
	return dst
}

func (e *encoder) appendDatum(dst []byte, c *record.Column, b *record.Batch, i int) []byte {
	if c.Kind == record.Text {
		return appendText(dst, b.Text[c.Slot][i])
	}
	f := b.Num[c.Slot][i]
	switch {
	case !math.IsNaN(f):
	case e.n == design.Normalized:
		f = design.MissingNumber
	default:
		return appendNull(dst)
	}
	return appendFloat(dst, f)
}

// send copies rows of p to a table.
func send(ctx context.Context, c *pgx.Conn, n design.Name, table string, cols []sqlengine.Column, p *pending, rows []row) error {
	e := newEncoder(n, p, cols)
	at := 0
	return copyRows(ctx, c, table, cols, func(dst []byte) ([]byte, error) {
		if at == len(rows) {
			return dst, io.EOF
		}
		at++
		return e.appendRow(dst, len(cols), rows[at-1]), nil
	})
}
