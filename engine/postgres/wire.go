package postgres

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/query/question"
)

// Rows are sent in PostgreSQL's binary COPY format (manual, COPY, "Binary Format"): a signature,
// then for each row the number of fields and each field's length and bytes, big-endian, then -1.
// pgx's own CopyFrom needs a slice of interfaces per row. This code encodes the columns of a
// batch directly, without an allocation or a look-up of a type for each value.

const copySignature = "PGCOPY\n\xff\r\n\x00" + "\x00\x00\x00\x00" + "\x00\x00\x00\x00" // no flags, no extension

// copyChunk is the approximate number of bytes that are encoded before they are sent.
const copyChunk = 1 << 16

// postgresEpoch is 2000-01-01. PostgreSQL counts timestamps in microseconds from it.
const postgresEpoch = 946684800

// copyReader is the COPY stream of the rows that next appends, one at a time. next returns
// io.EOF after the last row.
type copyReader struct {
	next   func(dst []byte) ([]byte, error)
	buf    []byte
	offset int
	end    bool
}

func newCopyReader(next func(dst []byte) ([]byte, error)) *copyReader {
	return &copyReader{next: next, buf: append(make([]byte, 0, copyChunk+copyChunk/4), copySignature...)}
}

// Read returns the encoded bytes, and encodes more when all are used.
func (r *copyReader) Read(p []byte) (int, error) {
	if r.offset == len(r.buf) {
		if r.end {
			return 0, io.EOF
		}
		r.buf, r.offset = r.buf[:0], 0
		for len(r.buf) < copyChunk && !r.end {
			var err error
			if r.buf, err = r.next(r.buf); errors.Is(err, io.EOF) {
				r.buf, r.end = binary.BigEndian.AppendUint16(r.buf, math.MaxUint16), true
			} else if err != nil {
				return 0, err
			}
		}
	}
	n := copy(p, r.buf[r.offset:])
	r.offset += n
	return n, nil
}

// gate lets reads through until it is shut. shut waits for the read in flight.
type gate struct {
	mu   sync.Mutex
	r    io.Reader
	shut bool
}

func (g *gate) Read(p []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shut {
		return 0, io.ErrClosedPipe
	}
	return g.r.Read(p)
}

// copyFrom sends the rows of next with a COPY. It never calls next after it has returned. pgx
// reads in a separate goroutine, which survives a broken connection.
func copyFrom(ctx context.Context, c *pgconn.PgConn, statement string, next func(dst []byte) ([]byte, error)) (int64, error) {
	g := &gate{r: newCopyReader(next)}
	tag, err := c.CopyFrom(ctx, g, statement)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut = true
	return tag.RowsAffected(), err
}

// copyRows sends rows to a table by its quoted name.
func copyRows(ctx context.Context, c *pgx.Conn, table string, cols []sqlengine.Column, next func(dst []byte) ([]byte, error)) error {
	_, err := copyFrom(ctx, c.PgConn(), "COPY "+table+" ("+sqlengine.ColumnList("", cols)+") FROM STDIN BINARY", next)
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

func appendTime(dst []byte, epoch int64) []byte { return appendBig(dst, (epoch-postgresEpoch)*1e6) }

// appendFloats appends an array of double precision; NaN is a missing value.
func appendFloats(dst []byte, values []float64) []byte {
	const float8 = 701
	if len(values) == 0 {
		dst = append(dst, 0, 0, 0, 12, 0, 0, 0, 0, 0, 0, 0, 0)
		return binary.BigEndian.AppendUint32(dst, float8)
	}
	dst = binary.BigEndian.AppendUint32(dst, uint32(20+12*len(values)))
	// dimensions, no nulls, type, length, lower bound
	for _, v := range [...]uint32{1, 0, float8, uint32(len(values)), 1} {
		dst = binary.BigEndian.AppendUint32(dst, v)
	}
	for _, f := range values {
		dst = appendFloat(dst, f)
	}
	return dst
}

// floats decodes an array as appendFloats encodes it.
func floats(raw []byte, into []float64) []float64 {
	for at := 20; at+4 <= len(raw); at += 4 {
		if n := int32(binary.BigEndian.Uint32(raw[at:])); n == 8 && at+12 <= len(raw) {
			into = append(into, float(raw[at+4:]))
			at += 8
		} else { // NULL, from a document's null
			into = append(into, math.NaN())
		}
	}
	return into
}

func float(raw []byte) float64 { return math.Float64frombits(binary.BigEndian.Uint64(raw)) }

// copyRow is a Sink that appends the values of a row.
type copyRow struct {
	dst  []byte
	cols []sqlengine.Column
}

func (c *copyRow) Null(int)                     { c.dst = appendNull(c.dst) }
func (c *copyRow) Text(_ int, s string)         { c.dst = appendText(c.dst, s) }
func (c *copyRow) Number(_ int, f float64)      { c.dst = appendFloat(c.dst, f) }
func (c *copyRow) Time(_ int, epoch int64)      { c.dst = appendTime(c.dst, epoch) }
func (c *copyRow) List(_ int, values []float64) { c.dst = appendFloats(c.dst, values) }

func (c *copyRow) Integer(k int, v int64) {
	if c.cols[k].Type == sqlengine.Integer {
		c.dst = appendInt(c.dst, v)
	} else {
		c.dst = appendBig(c.dst, v)
	}
}

func (c *copyRow) JSON(_ int, entries []byte) {
	const jsonbVersion = 1
	c.dst = append(binary.BigEndian.AppendUint32(c.dst, uint32(len(entries)+1)), jsonbVersion)
	c.dst = append(c.dst, entries...)
}

// insert sends rows to a table.
func insert(ctx context.Context, q sqlengine.Querier, table string, cols []sqlengine.Column, next sqlengine.Next) error {
	to := &copyRow{cols: cols}
	return copyRows(ctx, conn(q), table, cols, func(dst []byte) ([]byte, error) {
		to.dst = binary.BigEndian.AppendUint16(dst, uint16(len(cols)))
		ok, err := next(to)
		if err == nil && !ok {
			return dst, io.EOF
		}
		return to.dst, err
	})
}

// insertLines sends records to a table.
func insertLines(ctx context.Context, q sqlengine.Querier, table string, cols []sqlengine.Column, l *sqlengine.Lines) error {
	return copyLines(ctx, conn(q), table, cols, l, l.Rows)
}

// columnRun is a sequence of columns that are all header fields or all others. Header fields are encoded
// once per header.
type columnRun struct {
	cols   []sqlengine.Column
	fields [][]byte // encoded header fields, by header; nil = other columns
}

func columnRuns(l *sqlengine.Lines, cols []sqlengine.Column) []columnRun {
	var out []columnRun
	for from := 0; from < len(cols); {
		header, to := cols[from].From == sqlengine.Header, from+1
		for to < len(cols) && (cols[to].From == sqlengine.Header) == header {
			to++
		}
		s := columnRun{cols: cols[from:to]}
		if header {
			s.fields = make([][]byte, len(l.Headers))
			for h := range l.Headers {
				for _, c := range s.cols {
					s.fields[h] = appendText(s.fields[h], l.Headers[h][c.Field])
				}
			}
		}
		out, from = append(out, s), to
	}
	return out
}

// copyLines copies records to a table.
func copyLines(ctx context.Context, c *pgx.Conn, table string, cols []sqlengine.Column, l *sqlengine.Lines, rows []design.Row) error {
	runs, to := columnRuns(l, cols), &copyRow{}
	return copyRows(ctx, c, table, cols, func(dst []byte) ([]byte, error) {
		if len(rows) == 0 {
			return dst, io.EOF
		}
		to.dst = binary.BigEndian.AppendUint16(dst, uint16(len(cols)))
		for k := range runs {
			if s := &runs[k]; s.fields != nil {
				to.dst = append(to.dst, s.fields[rows[0].Header]...)
			} else {
				to.cols = s.cols
				l.Put(to, s.cols, rows[0])
			}
		}
		rows = rows[1:]
		return to.dst, nil
	})
}

// Replies are decoded from the binary wire format, column by column, without an interface value
// for each cell.

// integer decodes an integer; ok is false for another type.
func integer(raw []byte, oid uint32) (v int64, ok bool) {
	switch {
	case oid == pgtype.Int8OID && len(raw) == 8:
		return int64(binary.BigEndian.Uint64(raw)), true
	case oid == pgtype.Int4OID && len(raw) == 4:
		return int64(int32(binary.BigEndian.Uint32(raw))), true
	}
	return 0, false
}

// moment decodes a time to Unix seconds.
func moment(raw []byte, oid uint32) (v int64, ok bool) {
	if oid != pgtype.TimestampOID || len(raw) != 8 {
		return integer(raw, oid)
	}
	us := int64(binary.BigEndian.Uint64(raw))
	s := us / 1e6
	if us%1e6 < 0 {
		s--
	}
	return s + postgresEpoch, true
}

// number decodes a number; ok is false for NULL and for another type.
func number(raw []byte, oid uint32) (f float64, ok bool) {
	if oid == pgtype.Float8OID && len(raw) == 8 {
		return float(raw), true
	}
	v, ok := integer(raw, oid)
	return float64(v), ok
}

func decodeRow(d *sqlengine.ResultDecoder, cols []question.Column, rows pgx.Rows) error {
	fields, raw := rows.FieldDescriptions(), rows.RawValues()
	for k := range cols {
		if !decodeCell(d, k, &cols[k], &fields[k], raw[k]) {
			return fmt.Errorf("column %s has type %d in format %d: %.80q", cols[k].Name, fields[k].DataTypeOID, fields[k].Format, raw[k])
		}
	}
	d.EndRow()
	return nil
}

func decodeCell(d *sqlengine.ResultDecoder, k int, c *question.Column, f *pgconn.FieldDescription, raw []byte) bool {
	if c.Kind == question.Text {
		d.AddText(k, raw)
		return f.DataTypeOID == pgtype.TextOID
	}
	if f.Format != pgtype.BinaryFormatCode {
		return decodeText(d, k, c, f, raw)
	}
	var ok bool
	var v int64
	switch c.Kind {
	case question.Number:
		if raw == nil {
			return d.AddValue(k, nil) == nil
		}
		var x float64
		x, ok = number(raw, f.DataTypeOID)
		d.AddNumber(k, x)
	case question.List:
		d.AddList(k, floats(raw, nil))
		return f.DataTypeOID == pgtype.Float8ArrayOID
	case question.Time:
		v, ok = moment(raw, f.DataTypeOID)
		d.AddTime(k, v)
	default:
		v, ok = integer(raw, f.DataTypeOID)
		d.AddLead(k, v)
	}
	return ok
}

// decodeText decodes a value in text format. The simple protocol sends all values in it.
func decodeText(d *sqlengine.ResultDecoder, k int, c *question.Column, f *pgconn.FieldDescription, raw []byte) bool {
	if raw == nil {
		return (c.Kind == question.Number || c.Kind == question.List) && d.AddValue(k, nil) == nil
	}
	text := string(raw)
	if c.Kind == question.List { // {1,NULL,2} is [1,null,2] of JSON
		return d.AddValue(k, strings.NewReplacer("{", "[", "}", "]", "NULL", "null", "NaN", "null").Replace(text)) == nil
	}
	switch {
	case c.Kind == question.Number:
		x, err := strconv.ParseFloat(text, 64)
		d.AddNumber(k, x)
		return err == nil
	case f.DataTypeOID == pgtype.TimestampOID:
		t, err := time.Parse(time.DateTime, text) // datestyle is ISO
		d.AddTime(k, t.Unix())
		return err == nil && c.Kind == question.Time
	}
	v, err := strconv.ParseInt(text, 10, 64)
	if c.Kind == question.Time {
		d.AddTime(k, v)
	} else {
		d.AddLead(k, v)
	}
	return err == nil
}
