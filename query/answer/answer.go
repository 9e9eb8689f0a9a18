package answer

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/barograph/barograph/query/question"
)

// Vector holds one column of an answer; the slice that fits the column's Kind
// is used, the others are nil.
type Vector struct {
	Text  []string  // question.Text
	Whole []int64   // question.Time (Unix seconds) and question.Span (seconds)
	Num   []float64 // question.Number; NaN = missing; of question.List those of all rows
	End   []int     // question.List: row i holds Num[End[i-1]:End[i]]
}

// List is the value of row i of a question.List.
func (v *Vector) List(i int) []float64 {
	from := 0
	if i > 0 {
		from = v.End[i-1]
	}
	return v.Num[from:v.End[i]]
}

// Answer is the answer to a question: Rows rows in canonical types, column by column.
type Answer struct {
	Columns []question.Column
	Vectors []Vector // by column
	Rows    int

	Ties [][2]int // of the reference: rows from … to−1 are records of one identity, which come in any order
}

// Digest is a 128-bit digest (xxh3) of an answer's columns, rows and their order.
type Digest = xxh3.Uint128

// FormatDigest writes a digest as 32 hexadecimal digits.
func FormatDigest(d Digest) string { return fmt.Sprintf("%016x%016x", d.Hi, d.Lo) }

// ParseDigest is the inverse of FormatDigest; false for anything else.
func ParseDigest(text string) (d Digest, ok bool) {
	if len(text) != 32 {
		return d, false
	}
	hi, err1 := strconv.ParseUint(text[:16], 16, 64)
	lo, err2 := strconv.ParseUint(text[16:], 16, 64)
	return Digest{Hi: hi, Lo: lo}, err1 == nil && err2 == nil
}

// Digest computes the digest over the canonical encoding: per column its name,
// then each value. −0 counts as 0, every NaN as one.
func (a *Answer) Digest() Digest {
	h := xxh3.New()
	var buf []byte
	for k, c := range a.Columns {
		buf = append(buf[:0], c.Name...)
		buf = append(buf, 0)
		v := &a.Vectors[k]
		for _, s := range v.Text {
			buf = binary.LittleEndian.AppendUint32(buf, uint32(len(s)))
			buf = append(buf, s...)
		}
		for _, w := range v.Whole {
			buf = binary.LittleEndian.AppendUint64(buf, uint64(w))
		}
		for _, n := range v.End {
			buf = binary.LittleEndian.AppendUint64(buf, uint64(n))
		}
		for _, f := range v.Num {
			buf = binary.LittleEndian.AppendUint64(buf, bitsOf(f))
		}
		h.Write(buf) //nolint:errcheck // a hash never fails
	}
	return h.Sum128()
}

func bitsOf(f float64) uint64 {
	switch {
	case f == 0:
		return 0
	case math.IsNaN(f):
		return math.Float64bits(math.NaN())
	}
	return math.Float64bits(f)
}

// Bytes is the size of the values in memory: 8 bytes a number or time, the
// length of each text. It measures how much an answer moves, equally for all
// engines.
func (a *Answer) Bytes() int64 {
	var n int64
	for i := range a.Vectors {
		v := &a.Vectors[i]
		n += int64(8 * (len(v.Whole) + len(v.Num)))
		for _, s := range v.Text {
			n += int64(len(s))
		}
	}
	return n
}

// Builder collects an answer as an engine decodes it, and notes when the first
// row was there. It may be used again after Reset; its memory is kept.
//
// An engine appends either row by row (Text, Whole, Num, then Row) or column
// by column (Vector, then Grow).
type Builder struct {
	Answer
	First time.Time // when the first row was decoded; zero before
}

// Reset empties the builder for an answer with these columns.
func (b *Builder) Reset(columns []question.Column) {
	b.Columns, b.Rows, b.Ties, b.First = columns, 0, nil, time.Time{}
	if cap(b.Vectors) < len(columns) {
		b.Vectors = append(b.Vectors[:cap(b.Vectors)], make([]Vector, len(columns)-cap(b.Vectors))...)
	}
	b.Vectors = b.Vectors[:len(columns)]
	for i := range b.Vectors {
		v := &b.Vectors[i]
		v.Text, v.Whole, v.Num, v.End = v.Text[:0], v.Whole[:0], v.Num[:0], v.End[:0]
	}
}

// Text appends to column k of the row under way.
func (b *Builder) Text(k int, s string) { b.Vectors[k].Text = append(b.Vectors[k].Text, s) }

// Whole appends a time or span, in seconds, to column k of the row under way.
func (b *Builder) Whole(k int, n int64) { b.Vectors[k].Whole = append(b.Vectors[k].Whole, n) }

// Num appends to column k of the row under way; NaN = missing.
func (b *Builder) Num(k int, f float64) { b.Vectors[k].Num = append(b.Vectors[k].Num, f) }

// List appends to column k of the row under way its part of all repeating
// columns of the record, see record.Batch.Repeats.
func (b *Builder) List(k int, repeats []float64) {
	v := &b.Vectors[k]
	v.Num = b.Columns[k].AppendList(v.Num, repeats)
	v.End = append(v.End, len(v.Num))
}

// Copy appends row i of an answer to the same columns.
func (b *Builder) Copy(from *Answer, i int) {
	for k := range from.Columns {
		v := &from.Vectors[k]
		switch from.Columns[k].Kind {
		case question.Text:
			b.Text(k, v.Text[i])
		case question.Number:
			b.Num(k, v.Num[i])
		case question.List:
			to := &b.Vectors[k]
			to.Num = append(to.Num, v.List(i)...)
			to.End = append(to.End, len(to.Num))
		default:
			b.Whole(k, v.Whole[i])
		}
	}
	b.Row()
}

// Row ends the row under way.
func (b *Builder) Row() { b.Grow(1) }

// Vector is column k, for an engine that decodes whole columns.
func (b *Builder) Vector(k int) *Vector { return &b.Vectors[k] }

// Grow ends n rows that were appended column by column.
func (b *Builder) Grow(n int) {
	if b.Rows == 0 && n > 0 {
		b.First = time.Now()
	}
	b.Rows += n
}

// Take returns the answer and leaves the builder empty, so that the answer may
// be kept.
func (b *Builder) Take() *Answer {
	a := b.Answer
	b.Answer = Answer{}
	return &a
}
