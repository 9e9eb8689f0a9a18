package record

import (
	"encoding/binary"
	"fmt"
	"iter"
	"math"
	"math/bits"
	"slices"

	"github.com/zeebo/xxh3"
)

// Key is a 128-bit digest (xxh3) of a record's identity: line type, header,
// lead, all times and the key columns of its type. Two records of one subset
// with equal Keys are one record, of which the later value stands, unless the
// subset keeps all (see Batch.Keep). With 10¹⁰ records the chance that any two
// differ and share a Key is below 10⁻¹⁸.
type Key = xxh3.Uint128

// ByKey finds what belongs to records by their Key: mostly one of each, several
// where a subset keeps all. The zero value is empty and ready.
type ByKey[T any] struct {
	first map[Key]T
	more  map[Key][]T
}

// Put adds one.
func (m *ByKey[T]) Put(k Key, v T) {
	if _, there := m.PutFirst(k, v); there {
		m.more[k] = append(m.more[k], v)
	}
}

// PutFirst adds one where there is none, and else returns the one that was put first.
func (m *ByKey[T]) PutFirst(k Key, v T) (first T, there bool) {
	if m.first == nil {
		m.first, m.more = map[Key]T{}, map[Key][]T{}
	}
	if first, there = m.first[k]; !there {
		m.first[k] = v
	}
	return first, there
}

// Replace puts one in the place of those that are there.
func (m *ByKey[T]) Replace(k Key, v T) {
	delete(m.more, k)
	m.first[k] = v
}

// First is the one that was put first.
func (m *ByKey[T]) First(k Key) (v T, ok bool) {
	v, ok = m.first[k]
	return v, ok
}

// All walks those of a key in the order in which they were put.
func (m *ByKey[T]) All(k Key) iter.Seq[T] {
	return func(yield func(T) bool) {
		if v, ok := m.first[k]; !ok || !yield(v) {
			return
		}
		for _, v := range m.more[k] {
			if !yield(v) {
				return
			}
		}
	}
}

// Empty reports whether nothing was put.
func (m *ByKey[T]) Empty() bool { return len(m.first) == 0 }

// Clear empties it, and keeps its memory.
func (m *ByKey[T]) Clear() {
	clear(m.first)
	clear(m.more)
}

// Digest is the content of an archive in 128 bits: the sum, modulo 2¹²⁸, of a
// digest of each record's identity and values. It does not depend on order, so
// digests of parts add up. −0 counts as 0 and every NaN as one.
type Digest struct {
	Hi, Lo  uint64
	Records int64
}

// String prints 32 hexadecimal digits and the number of records.
func (d Digest) String() string { return fmt.Sprintf("%016x%016x/%d", d.Hi, d.Lo, d.Records) }

// MarshalText is String.
func (d Digest) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads what String wrote.
func (d *Digest) UnmarshalText(text []byte) error {
	n, err := fmt.Sscanf(string(text), "%16x%16x/%d", &d.Hi, &d.Lo, &d.Records)
	if err != nil || n != 3 || d.String() != string(text) {
		return fmt.Errorf("%q is no digest of records", text)
	}
	return nil
}

// Add adds the records of another digest.
func (d *Digest) Add(o Digest) {
	var carry uint64
	d.Lo, carry = bits.Add64(d.Lo, o.Lo, 0)
	d.Hi, _ = bits.Add64(d.Hi, o.Hi, carry)
	d.Records += o.Records
}

// Sub takes back records that were added, e.g. one that a later value replaces.
func (d *Digest) Sub(o Digest) {
	var borrow uint64
	d.Lo, borrow = bits.Sub64(d.Lo, o.Lo, 0)
	d.Hi, _ = bits.Sub64(d.Hi, o.Hi, borrow)
	d.Records -= o.Records
}

// Hasher computes keys and digests of the rows of a batch. The zero value is
// ready; call Use before the first row of each batch.
type Hasher struct {
	b    *Batch
	head []Key // digest of each header of the batch
	buf  []byte
}

// Use points the hasher at b, whose headers must not change while it is used.
func (h *Hasher) Use(b *Batch) {
	h.b, h.head = b, h.head[:0]
	for i := range b.Headers {
		var k Key
		k, h.buf = b.Headers[i].hash(h.buf)
		h.head = append(h.head, k)
	}
}

// UseRow is Use for row i alone: cheap where a batch has many headers.
func (h *Hasher) UseRow(b *Batch, i int) {
	h.b = b
	h.head = slices.Grow(h.head[:0], len(b.Headers))[:len(b.Headers)]
	h.head[b.Head[i]], h.buf = b.Headers[b.Head[i]].hash(h.buf)
}

// identity appends the canonical encoding of row i's identity to h.buf.
func (h *Hasher) identity(i int) {
	b := h.b
	h.buf = append(h.buf[:0], b.Type.Name...)
	k := h.head[b.Head[i]]
	for _, v := range [...]uint64{
		k.Hi, k.Lo, uint64(b.Lead[i]), uint64(b.Valid[i]), uint64(b.ValidEnd[i]),
		uint64(b.ObsLead[i]), uint64(b.ObsBeg[i]), uint64(b.ObsEnd[i]),
	} {
		h.buf = binary.LittleEndian.AppendUint64(h.buf, v)
	}
	for _, c := range b.Type.Columns {
		if c.Key {
			h.column(c, i)
		}
	}
}

func (h *Hasher) column(c Column, i int) {
	if c.Kind == Text {
		s := h.b.Text[c.Slot][i]
		h.buf = binary.LittleEndian.AppendUint32(h.buf, uint32(len(s)))
		h.buf = append(h.buf, s...)
		return
	}
	h.buf = binary.LittleEndian.AppendUint64(h.buf, canonical(h.b.Num[c.Slot][i]))
}

// canonical maps a float to bits such that what compares equal has equal bits.
func canonical(f float64) uint64 {
	if f == 0 {
		return 0
	}
	if math.IsNaN(f) {
		return math.Float64bits(math.NaN())
	}
	return math.Float64bits(f)
}

// Key returns the identity of row i.
func (h *Hasher) Key(i int) Key {
	h.identity(i)
	return xxh3.Hash128(h.buf)
}

// Digest returns the digest of row i alone: its identity and its values.
func (h *Hasher) Digest(i int) Digest {
	h.identity(i)
	return h.values(i)
}

// Record is the Key of row i, or, in a subset that keeps all, one of its
// identity and its values: there a record is another one with different values.
func (h *Hasher) Record(i int, keeps bool) Key {
	if !keeps {
		return h.Key(i)
	}
	d := h.Digest(i)
	return Key{Hi: d.Hi, Lo: d.Lo}
}

// Both returns Key and Digest of row i, in less time than the two.
func (h *Hasher) Both(i int) (Key, Digest) {
	h.identity(i)
	k := xxh3.Hash128(h.buf)
	return k, h.values(i)
}

// Head returns the digest of the header of row i.
func (h *Hasher) Head(i int) Key { return h.head[h.b.Head[i]] }

// values appends row i's values to its identity.
func (h *Hasher) values(i int) Digest {
	for _, c := range h.b.Type.Columns {
		if !c.Key {
			h.column(c, i)
		}
	}
	for _, f := range h.b.Repeats(i) {
		h.buf = binary.LittleEndian.AppendUint64(h.buf, canonical(f))
	}
	k := xxh3.Hash128(h.buf)
	return Digest{Hi: k.Hi, Lo: k.Lo, Records: 1}
}

// Sum returns the digest of all rows of b.
func (h *Hasher) Sum(b *Batch) Digest {
	h.Use(b)
	var d Digest
	for i := range b.Len() {
		d.Add(h.Digest(i))
	}
	return d
}
