package kv

import (
	"encoding/binary"
	"errors"
	"slices"
)

// Fields chooses fields by index, ascending; nil = all.
type Fields []int

// KeyRow is a record and its key.
type KeyRow struct {
	Key []byte
	Row *Row
}

// Row contains values of fields, one after the other in memory that it owns and reuses. The
// zero Row is empty.
type Row struct {
	fields []int
	ends   []int // of each value, in data
	data   []byte
}

// Reset empties the row and keeps its memory.
func (r *Row) Reset() { r.fields, r.ends, r.data = r.fields[:0], r.ends[:0], r.data[:0] }

// Len is the number of fields.
func (r *Row) Len() int { return len(r.fields) }

// Size is the number of bytes of all values.
func (r *Row) Size() int { return len(r.data) }

// Add appends a copy of a field's value.
func (r *Row) Add(field int, value []byte) {
	r.data = append(r.data, value...)
	r.End(field)
}

// AddString appends a copy of a field's value.
func (r *Row) AddString(field int, value string) {
	r.data = append(r.data, value...)
	r.End(field)
}

// AddRow appends a copy of every field of another row.
func (r *Row) AddRow(o *Row) {
	begin := len(r.data)
	r.data = append(r.data, o.data...)
	r.fields = append(r.fields, o.fields...)
	for _, end := range o.ends {
		r.ends = append(r.ends, begin+end)
	}
}

// Data returns the buffer to which the caller appends the next value, piece by piece. The
// caller passes the result to SetData and then calls End. This saves a copy.
func (r *Row) Data() []byte { return r.data }

// SetData takes the buffer that Data returned, with the appended bytes.
func (r *Row) SetData(data []byte) { r.data = data }

// End makes the bytes since the last value the value of a field.
func (r *Row) End(field int) {
	r.fields = append(r.fields, field)
	r.ends = append(r.ends, len(r.data))
}

// At returns the i-th field and its value, which is valid until the row changes. An empty value is not nil, because
// engines store nil as NULL.
func (r *Row) At(i int) (field int, value []byte) {
	begin := 0
	if i > 0 {
		begin = r.ends[i-1]
	}
	if value = r.data[begin:r.ends[i]:r.ends[i]]; value == nil {
		value = []byte{}
	}
	return r.fields[i], value
}

// Value returns the value of a field.
func (r *Row) Value(field int) (value []byte, ok bool) {
	// Most rows contain all fields in their order.
	if field < len(r.fields) && r.fields[field] == field {
		_, value = r.At(field)
		return value, true
	}
	for i, f := range r.fields {
		if f == field {
			_, value = r.At(i)
			return value, true
		}
	}
	return nil, false
}

// Fields returns the fields of the row. The result is valid until the row changes.
func (r *Row) Fields() Fields { return r.fields }

// Equal reports whether two rows have the same fields and values in the same order.
func (r *Row) Equal(o *Row) bool {
	return slices.Equal(r.fields, o.fields) && slices.Equal(r.ends, o.ends) && string(r.data) == string(o.data)
}

// ErrPacked is the error of bytes that AppendPacked did not write.
var ErrPacked = errors.New("the record's bytes are not as they were written")

// AppendPacked appends the row in the format of layout Pairs. For each of the fields 0 …
// fields−1 it writes the length of the value plus 1, as a uvarint, and the value; 0 = no
// value. It takes a field that the row lacks from old, which may be nil.
func (r *Row) AppendPacked(to []byte, fields int, old *Row) []byte {
	for i := range fields {
		v, ok := r.Value(i)
		if !ok && old != nil {
			v, ok = old.Value(i)
		}
		if !ok {
			to = append(to, 0)
			continue
		}
		to = binary.AppendUvarint(to, uint64(len(v))+1)
		to = append(to, v...)
	}
	return to
}

// ParsePacked appends the chosen fields of a row in AppendPacked's format.
func (r *Row) ParsePacked(from []byte, fields int, f Fields) error {
	want := 0
	for i := range fields {
		n, size := binary.Uvarint(from)
		if size <= 0 || n > uint64(len(from)-size)+1 {
			return ErrPacked
		}
		from = from[size:]
		if n == 0 {
			continue
		}
		v := from[:n-1]
		from = from[n-1:]
		if f == nil {
			r.Add(i, v)
			continue
		}
		for want < len(f) && f[want] < i {
			want++
		}
		if want == len(f) {
			return nil
		}
		if f[want] == i {
			r.Add(i, v)
		}
	}
	return nil
}
