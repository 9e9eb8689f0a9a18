package design

import (
	"encoding/binary"
	"errors"
	"math"
	"strconv"

	"barograph/record"
)

func appendInt(dst []byte, v int64) []byte { return strconv.AppendInt(dst, v, 10) }

// A payload is the compact binary form of the records of one document: all
// have one header and one valid time. Layout, little-endian, columns one after
// the other:
//
//	byte     1, the version of this layout
//	uvarint  number of records n
//	byte     1 = plain times, 0 = the four columns after the leads are present
//	n varint lead, seconds, each minus the one before
//	[n varint each of fcst_valid_end − valid, obs_lead, obs_valid_beg − valid, obs_valid_end − valid]
//	per numeric column: byte 0 = all missing | 1 = one float64 for all | 2 = n float64
//	per text column: n × (uvarint length, bytes)
//	with repeating columns: n × (uvarint count, float64 each)
const payloadVersion = 1

const (
	allMissing = iota
	allEqual
	each
)

var errPayload = errors.New("payload is damaged")

// AppendPayload appends the payload of rows from … to−1 of b, which share one
// header and valid time.
func AppendPayload(dst []byte, b *record.Batch, from, to int) []byte {
	dst = append(dst, payloadVersion)
	dst = binary.AppendUvarint(dst, uint64(to-from))
	plain := true
	for i := from; i < to; i++ {
		plain = plain && b.Plain(i)
	}
	if plain {
		dst = append(dst, 1)
	} else {
		dst = append(dst, 0)
	}
	var before int32
	for i := from; i < to; i++ {
		dst = binary.AppendVarint(dst, int64(b.Lead[i])-int64(before))
		before = b.Lead[i]
	}
	if !plain {
		dst = appendWindows(dst, b, from, to)
	}
	for k := range b.Num {
		dst = appendFloats(dst, b.Num[k][from:to])
	}
	for k := range b.Text {
		for _, s := range b.Text[k][from:to] {
			dst = binary.AppendUvarint(dst, uint64(len(s)))
			dst = append(dst, s...)
		}
	}
	if b.Type.Group != nil {
		for i := from; i < to; i++ {
			values := b.Repeats(i)
			dst = binary.AppendUvarint(dst, uint64(len(values)))
			for _, f := range values {
				dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(f))
			}
		}
	}
	return dst
}

func appendWindows(dst []byte, b *record.Batch, from, to int) []byte {
	for i := from; i < to; i++ {
		dst = binary.AppendVarint(dst, b.ValidEnd[i]-b.Valid[i])
		dst = binary.AppendVarint(dst, int64(b.ObsLead[i]))
		dst = binary.AppendVarint(dst, b.ObsBeg[i]-b.Valid[i])
		dst = binary.AppendVarint(dst, b.ObsEnd[i]-b.Valid[i])
	}
	return dst
}

func appendFloats(dst []byte, col []float64) []byte {
	tag := byte(allEqual)
	first := math.Float64bits(col[0])
	for _, f := range col[1:] {
		if math.Float64bits(f) != first {
			tag = each
			break
		}
	}
	if tag == allEqual && math.IsNaN(col[0]) {
		return append(dst, allMissing)
	}
	dst = append(dst, tag)
	if tag == allEqual {
		return binary.LittleEndian.AppendUint64(dst, first)
	}
	for _, f := range col {
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(f))
	}
	return dst
}

// DecodePayload appends the records of a payload to b, under header head and
// with the given valid time. The error says that the payload is damaged.
func DecodePayload(data []byte, b *record.Batch, head uint32, valid int64) error {
	d := payloadReader{data: data}
	if d.byte() != payloadVersion {
		return errPayload
	}
	n := int(d.uvarint())
	plain := d.byte() == 1
	if d.failed || n > len(data) {
		return errPayload
	}
	var lead int64
	for range n {
		lead += d.varint()
		b.AppendTimes(head, int32(lead), valid, 0)
	}
	if !plain {
		for i := b.Len() - n; i < b.Len(); i++ {
			b.ValidEnd[i] = valid + d.varint()
			b.ObsLead[i] = int32(d.varint())
			b.ObsBeg[i] = valid + d.varint()
			b.ObsEnd[i] = valid + d.varint()
		}
	}
	for k := range b.Num {
		b.Num[k] = d.floats(b.Num[k], n)
	}
	for k := range b.Text {
		for range n {
			b.Text[k] = append(b.Text[k], string(d.bytes(int(d.uvarint()))))
		}
	}
	if b.Type.Group != nil {
		for range n {
			for range d.uvarint() {
				if d.failed {
					return errPayload
				}
				b.Group = append(b.Group, d.float())
			}
			b.GroupEnd = append(b.GroupEnd, uint32(len(b.Group)))
		}
	}
	if d.failed || len(d.data) != 0 {
		return errPayload
	}
	return nil
}

// payloadReader reads forward; after a failure it returns zeros.
type payloadReader struct {
	data   []byte
	failed bool
}

func (d *payloadReader) bytes(n int) []byte {
	if n < 0 || n > len(d.data) {
		d.failed, d.data = true, nil
		return nil
	}
	out := d.data[:n]
	d.data = d.data[n:]
	return out
}

func (d *payloadReader) byte() byte {
	if b := d.bytes(1); b != nil {
		return b[0]
	}
	return 0
}

func (d *payloadReader) uvarint() uint64 {
	v, n := binary.Uvarint(d.data)
	if n <= 0 {
		d.failed, d.data = true, nil
		return 0
	}
	d.data = d.data[n:]
	return v
}

func (d *payloadReader) varint() int64 {
	v, n := binary.Varint(d.data)
	if n <= 0 {
		d.failed, d.data = true, nil
		return 0
	}
	d.data = d.data[n:]
	return v
}

func (d *payloadReader) float() float64 {
	if b := d.bytes(8); b != nil {
		return math.Float64frombits(binary.LittleEndian.Uint64(b))
	}
	return 0
}

func (d *payloadReader) floats(dst []float64, n int) []float64 {
	tag := d.byte()
	if tag == each {
		raw := d.bytes(8 * n)
		for i := 0; i+8 <= len(raw); i += 8 {
			dst = append(dst, math.Float64frombits(binary.LittleEndian.Uint64(raw[i:])))
		}
		return dst
	}
	value := record.Missing()
	if tag == allEqual {
		value = d.float()
	} else if tag != allMissing {
		d.failed = true
	}
	for range n {
		dst = append(dst, value)
	}
	return dst
}
