package duckdb

import (
	"fmt"
	"unsafe"

	"github.com/duckdb/duckdb-go/v2/mapping"
)

// vector is a column of a chunk as DuckDB holds it: an array of values and a
// mask in which a cleared bit means NULL. It lives as long as its chunk.
type vector struct {
	raw  mapping.Vector
	data unsafe.Pointer
	mask unsafe.Pointer // nil = no NULL
}

func readVector(raw mapping.Vector) vector {
	return vector{raw: raw, data: mapping.VectorGetData(raw), mask: mapping.VectorGetValidity(raw)}
}

func (v *vector) word(i int) *uint64 {
	return (*uint64)(unsafe.Add(v.mask, i/64*8))
}

// null reports whether value i is NULL.
func (v *vector) null(i int) bool {
	return v.mask != nil && *v.word(i)&(1<<(i%64)) == 0
}

func (v *vector) int64s(n int) []int64     { return unsafe.Slice((*int64)(v.data), n) }
func (v *vector) int32s(n int) []int32     { return unsafe.Slice((*int32)(v.data), n) }
func (v *vector) float64s(n int) []float64 { return unsafe.Slice((*float64)(v.data), n) }

// textSize is the size of DuckDB's string_t; a text of up to inlined bytes
// stands in it, after its length; of a longer one there is a pointer.
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

// span is an entry of a list vector: where its values stand in the child.
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

// refresh finds the arrays again, after the vector grew or was emptied.
func (v *vector) refresh() {
	v.data, v.mask = mapping.VectorGetData(v.raw), mapping.VectorGetValidity(v.raw)
}

// setNull makes value i NULL.
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

// repeatText writes value i as value i−1: DuckDB's copy of a long text is shared.
func (v *vector) repeatText(i int) {
	*(*[textSize]byte)(v.slot(i)) = *(*[textSize]byte)(v.slot(i - 1))
}

// sum is value i of a DECIMAL(38,2), as text; "" where it is beyond 64 bits.
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
