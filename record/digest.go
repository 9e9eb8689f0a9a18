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

// Key is a 128-bit digest (xxh3) of a record's identity: line type, header, lead, all times and the
// identity columns of its type. Two records of one subset with equal Keys are the same record. A subset
// has one of them, unless it keeps conflicts (see Batch.KeepConflicts); load's --on-conflict chooses it.
// With 10¹⁰ records, the chance that two different ones share a Key is below 10⁻¹⁸.
type Key = xxh3.Uint128

// Multimap maps Keys to one or, if a subset keeps conflicts, several values. The zero value is ready for use.
type Multimap[T any] struct {
	first map[Key]T
	more  map[Key][]T
}

// Put adds a value.
func (m *Multimap[T]) Put(k Key, v T) {
	if _, present := m.PutIfAbsent(k, v); present {
		m.more[k] = append(m.more[k], v)
	}
}

// PutIfAbsent adds a value if the key has none. Otherwise it returns the key's first value.
func (m *Multimap[T]) PutIfAbsent(k Key, v T) (first T, present bool) {
	if m.first == nil {
		m.first, m.more = map[Key]T{}, map[Key][]T{}
	}
	if first, present = m.first[k]; !present {
		m.first[k] = v
	}
	return first, present
}

// Replace replaces all values of a key by one.
func (m *Multimap[T]) Replace(k Key, v T) {
	delete(m.more, k)
	m.first[k] = v
}

// First returns the first value of a key.
func (m *Multimap[T]) First(k Key) (v T, ok bool) {
	v, ok = m.first[k]
	return v, ok
}

// All iterates over the values of a key in the order of insertion.
func (m *Multimap[T]) All(k Key) iter.Seq[T] {
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

// Empty reports whether the map has no values.
func (m *Multimap[T]) Empty() bool { return len(m.first) == 0 }

// Clear removes all values and keeps the memory.
func (m *Multimap[T]) Clear() {
	clear(m.first)
	clear(m.more)
}

// Digest represents the content of an archive in 128 bits: the sum, modulo 2¹²⁸, of a digest of
// each record's identity and values. It does not depend on order, and digests of parts can be
// added. −0 counts as 0, and all NaN are equal.
type Digest struct {
	Hi, Lo  uint64
	Records int64
}

// String prints 32 hexadecimal digits and the number of records.
func (d Digest) String() string { return fmt.Sprintf("%016x%016x/%d", d.Hi, d.Lo, d.Records) }

// MarshalText returns the text of String.
func (d Digest) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads text that String wrote.
func (d *Digest) UnmarshalText(text []byte) error {
	n, err := fmt.Sscanf(string(text), "%16x%16x/%d", &d.Hi, &d.Lo, &d.Records)
	if err != nil || n != 3 || d.String() != string(text) {
		return fmt.Errorf("%q is not a digest of records", text)
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

// Sub subtracts records that were added before, for example one that a later value replaces.
func (d *Digest) Sub(o Digest) {
	var borrow uint64
	d.Lo, borrow = bits.Sub64(d.Lo, o.Lo, 0)
	d.Hi, _ = bits.Sub64(d.Hi, o.Hi, borrow)
	d.Records -= o.Records
}

// Hasher computes keys and digests of the rows of a batch. The zero value is ready for use; call
// SetBatch before the first row of each batch.
type Hasher struct {
	batch      *Batch
	headerKeys []Key // digest of each header of the batch
	buf        []byte
}

// SetBatch sets the batch. Its headers must not change while the hasher uses it.
func (h *Hasher) SetBatch(b *Batch) {
	h.batch, h.headerKeys = b, h.headerKeys[:0]
	for i := range b.Headers {
		var k Key
		k, h.buf = b.Headers[i].hash(h.buf)
		h.headerKeys = append(h.headerKeys, k)
	}
}

// SetRow is SetBatch for row i only. It hashes one header instead of all.
func (h *Hasher) SetRow(b *Batch, i int) {
	h.batch = b
	h.headerKeys = slices.Grow(h.headerKeys[:0], len(b.Headers))[:len(b.Headers)]
	h.headerKeys[b.HeaderIndex[i]], h.buf = b.Headers[b.HeaderIndex[i]].hash(h.buf)
}

// appendIdentity appends the canonical encoding of row i's identity to h.buf.
func (h *Hasher) appendIdentity(i int) {
	b := h.batch
	h.buf = append(h.buf[:0], b.Type.Name...)
	k := h.headerKeys[b.HeaderIndex[i]]
	for _, v := range [...]uint64{
		k.Hi, k.Lo, uint64(b.Lead[i]), uint64(b.Valid[i]), uint64(b.ValidEnd[i]),
		uint64(b.ObsLead[i]), uint64(b.ObsBeg[i]), uint64(b.ObsEnd[i]),
	} {
		h.buf = binary.LittleEndian.AppendUint64(h.buf, v)
	}
	for _, c := range b.Type.Columns {
		if c.InIdentity {
			h.appendColumn(c, i)
		}
	}
}

func (h *Hasher) appendColumn(c Column, i int) {
	if c.Kind == Text {
		s := h.batch.Text[c.Slot][i]
		h.buf = binary.LittleEndian.AppendUint32(h.buf, uint32(len(s)))
		h.buf = append(h.buf, s...)
		return
	}
	h.buf = binary.LittleEndian.AppendUint64(h.buf, canonicalBits(h.batch.Num[c.Slot][i]))
}

// canonicalBits maps floats that count as equal to the same bits.
func canonicalBits(f float64) uint64 {
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
	h.appendIdentity(i)
	return xxh3.Hash128(h.buf)
}

// Digest returns the digest of row i: its identity and its values.
func (h *Hasher) Digest(i int) Digest {
	h.appendIdentity(i)
	return h.digestValues(i)
}

// RecordKey is the Key of row i or, in a subset that keeps conflicts, a key of its identity and values. In such a
// subset, records of one identity with different values are different records.
func (h *Hasher) RecordKey(i int, keepsConflicts bool) Key {
	if !keepsConflicts {
		return h.Key(i)
	}
	d := h.Digest(i)
	return Key{Hi: d.Hi, Lo: d.Lo}
}

// KeyAndDigest returns Key and Digest of row i, faster than two separate calls.
func (h *Hasher) KeyAndDigest(i int) (Key, Digest) {
	h.appendIdentity(i)
	k := xxh3.Hash128(h.buf)
	return k, h.digestValues(i)
}

// HeaderKey returns the digest of the header of row i.
func (h *Hasher) HeaderKey(i int) Key { return h.headerKeys[h.batch.HeaderIndex[i]] }

// digestValues appends the values of row i to its identity, which h.buf contains, and returns the digest of both.
func (h *Hasher) digestValues(i int) Digest {
	for _, c := range h.batch.Type.Columns {
		if !c.InIdentity {
			h.appendColumn(c, i)
		}
	}
	for _, f := range h.batch.Repeats(i) {
		h.buf = binary.LittleEndian.AppendUint64(h.buf, canonicalBits(f))
	}
	k := xxh3.Hash128(h.buf)
	return Digest{Hi: k.Hi, Lo: k.Lo, Records: 1}
}

// DigestOf returns the digest of all rows of b.
func (h *Hasher) DigestOf(b *Batch) Digest {
	h.SetBatch(b)
	var d Digest
	for i := range b.Len() {
		d.Add(h.Digest(i))
	}
	return d
}
