package answer

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/barograph/barograph/query/question"
)

// Vector is one column of an answer. Only the slice that fits the column's Kind is used; the others
// are nil.
type Vector struct {
	Text    []string // question.Text
	Seconds []int64  // question.Time (Unix seconds) and question.Duration (seconds)
	// question.Number: NaN = missing. question.List: the numbers of all rows, one row after the other
	Num []float64
	End []int // question.List: row i has the numbers Num[End[i-1]:End[i]]
}

// List is the value of row i of a question.List.
func (v *Vector) List(i int) []float64 {
	from := 0
	if i > 0 {
		from = v.End[i-1]
	}
	return v.Num[from:v.End[i]]
}

// Answer is the result of a question, stored column by column, in canonical types.
type Answer struct {
	Columns []question.Column
	Vectors []Vector // by column
	Rows    int

	// Only in a reference: rows [from, to) have the same identity and different values. They occur only in a subset
	// that keeps conflicts (record.Batch.KeepConflicts). An engine may return them in any order.
	Ties [][2]int
}

// Digest is a 128-bit digest (xxh3) of an answer's columns, rows and their order.
type Digest = xxh3.Uint128

// FormatDigest writes a digest as 32 hexadecimal digits.
func FormatDigest(d Digest) string { return fmt.Sprintf("%016x%016x", d.Hi, d.Lo) }

// ParseDigest is the inverse of FormatDigest; false for anything but 32 hexadecimal digits.
func ParseDigest(text string) (d Digest, ok bool) {
	if len(text) != 32 {
		return d, false
	}
	hi, err1 := strconv.ParseUint(text[:16], 16, 64)
	lo, err2 := strconv.ParseUint(text[16:], 16, 64)
	return Digest{Hi: hi, Lo: lo}, err1 == nil && err2 == nil
}

// Digest computes the digest over the canonical encoding: each column's name, followed by its
// values. The digest treats −0 as 0, and treats all NaN alike.
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
		for _, w := range v.Seconds {
			buf = binary.LittleEndian.AppendUint64(buf, uint64(w))
		}
		for _, n := range v.End {
			buf = binary.LittleEndian.AppendUint64(buf, uint64(n))
		}
		for _, f := range v.Num {
			buf = binary.LittleEndian.AppendUint64(buf, canonicalBits(f))
		}
		h.Write(buf) //nolint:errcheck // a hash never fails
	}
	return h.Sum128()
}

func canonicalBits(f float64) uint64 {
	switch {
	case f == 0:
		return 0
	case math.IsNaN(f):
		return math.Float64bits(math.NaN())
	}
	return math.Float64bits(f)
}

// Bytes is the size of the values in memory: 8 bytes for each number or time, and the length of
// each text. Because it does not depend on an engine's encoding, it measures the volume of an
// answer equally for all engines.
func (a *Answer) Bytes() int64 {
	var n int64
	for i := range a.Vectors {
		v := &a.Vectors[i]
		n += int64(8 * (len(v.Seconds) + len(v.Num)))
		for _, s := range v.Text {
			n += int64(len(s))
		}
	}
	return n
}

// Builder collects an answer while an engine decodes it, and records when the engine decoded the
// first row. Reset makes it ready for the next answer and keeps its memory.
//
// An engine appends either row by row (Text, Seconds, Num, then Row) or column by column (Vector,
// then Grow).
type Builder struct {
	Answer
	FirstRow time.Time // when the engine decoded the first row; zero before that
}

// Reset empties the builder for an answer with these columns.
func (b *Builder) Reset(columns []question.Column) {
	b.Columns, b.Rows, b.Ties, b.FirstRow = columns, 0, nil, time.Time{}
	b.Vectors = slices.Grow(b.Vectors[:0], len(columns))[:len(columns)]
	for i := range b.Vectors {
		v := &b.Vectors[i]
		v.Text, v.Seconds, v.Num, v.End = v.Text[:0], v.Seconds[:0], v.Num[:0], v.End[:0]
	}
}

// Text appends to column k of the current row.
func (b *Builder) Text(k int, s string) { b.Vectors[k].Text = append(b.Vectors[k].Text, s) }

// Seconds appends a time or a duration to column k of the current row.
func (b *Builder) Seconds(k int, n int64) { b.Vectors[k].Seconds = append(b.Vectors[k].Seconds, n) }

// Num appends to column k of the current row; NaN = missing.
func (b *Builder) Num(k int, f float64) { b.Vectors[k].Num = append(b.Vectors[k].Num, f) }

// List appends a list to column k of the current row. repeats are the values of all repeating columns of the record
// (record.Batch.Repeats); List selects those of column k.
func (b *Builder) List(k int, repeats []float64) {
	v := &b.Vectors[k]
	v.Num = b.Columns[k].AppendList(v.Num, repeats)
	v.End = append(v.End, len(v.Num))
}

// Copy appends row i of an answer that has the same columns.
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
			b.Seconds(k, v.Seconds[i])
		}
	}
	b.Row()
}

// Row completes the current row.
func (b *Builder) Row() { b.Grow(1) }

// Vector is column k, for an engine that decodes column by column.
func (b *Builder) Vector(k int) *Vector { return &b.Vectors[k] }

// Grow completes n rows that the engine appended column by column.
func (b *Builder) Grow(n int) {
	if b.Rows == 0 && n > 0 {
		b.FirstRow = time.Now()
	}
	b.Rows += n
}

// Take returns the answer and empties the builder, which no longer shares memory with the answer.
func (b *Builder) Take() *Answer {
	a := b.Answer
	b.Answer = Answer{}
	return &a
}
