package design

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/barograph/barograph/record"
)

func appendInt(dst []byte, v int64) []byte { return strconv.AppendInt(dst, v, 10) }

// A payload is the compact binary form of the records of one document: all
// have one header and one valid time. Layout, little-endian, columns one after
// the other:
//
//	byte     1, the version of this layout
//	uvarint  number of records n
//	byte     1 = plain times, 0 = the four columns after the leads are present
//	n varint lead, seconds, each minus the previous one
//	[n varint each of fcst_valid_end − valid, obs_lead, obs_valid_beg − valid, obs_valid_end − valid]
//	per numeric column: byte 0 = all missing | 1 = one float64 for all | 2 = n float64
//	per text column: n × (uvarint length, bytes)
//	with repeating columns: n × (uvarint count, float64 each)
const payloadVersion = 1

const (
	allMissing = iota
	allEqual
	eachValue
)

var errPayload = errors.New("payload is damaged")

// AppendPayload appends the payload of rows [from, to) of b, which must share one header and valid
// time.
func AppendPayload(dst []byte, b *record.Batch, from, to int) []byte {
	dst = append(dst, payloadVersion)
	dst = binary.AppendUvarint(dst, uint64(to-from))
	plain := true
	for i := from; i < to; i++ {
		plain = plain && b.HasPlainTimes(i)
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
			tag = eachValue
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

// DecodePayload appends the records of a payload to b, with header number head and the given valid
// time. An error means that the payload is damaged; b then contains parts of it.
func DecodePayload(data []byte, b *record.Batch, head uint32, valid int64) error {
	var d PayloadDecoder
	return d.Decode(data, b, head, valid, nil)
}

// PayloadDecoder decodes payloads one after the other. The zero value is ready for use.
type PayloadDecoder struct {
	r        payloadReader
	records  int    // number of records in the current payload
	wanted   []bool // by record: whether its lead is wanted
	wantsAll bool   // every record is wanted
}

// Decode is DecodePayload for the records of the given leads, which must be sorted. No leads means
// all.
func (p *PayloadDecoder) Decode(data []byte, b *record.Batch, head uint32, valid int64, leads []int32) error {
	p.r = payloadReader{data: data}
	if p.r.byte() != payloadVersion {
		return errPayload
	}
	records, plain := p.r.uvarint(), p.r.byte() == 1
	if p.r.failed || records > uint64(len(data)) {
		return errPayload
	}
	p.records = int(records)
	before := b.Len()
	if p.leads(b, leads); len(b.Lead) == before && !p.r.failed {
		return nil // no lead is wanted
	}
	p.times(b, head, valid, plain)
	for k := range b.Num {
		b.Num[k] = p.floats(b.Num[k])
	}
	for k := range b.Text {
		for i := range p.records {
			if s := p.r.bytes(int(p.r.uvarint())); p.wantsAll || p.wanted[i] {
				b.Text[k] = append(b.Text[k], string(s))
			}
		}
	}
	if b.Type.Group != nil {
		p.repeats(b)
	}
	if p.r.failed || len(p.r.data) != 0 {
		return errPayload
	}
	return nil
}

// leads appends the wanted leads and records which they are.
func (p *PayloadDecoder) leads(b *record.Batch, want []int32) {
	b.Lead = slices.Grow(b.Lead, p.records)
	p.wanted = slices.Grow(p.wanted[:0], p.records)[:p.records]
	p.wantsAll = true
	var lead int64
	for i := range p.records {
		lead += p.r.varint()
		p.wanted[i] = true
		if len(want) > 0 {
			_, p.wanted[i] = slices.BinarySearch(want, int32(lead))
		}
		if p.wanted[i] {
			b.Lead = append(b.Lead, int32(lead))
		} else {
			p.wantsAll = false
		}
	}
}

// times appends header and times of the wanted records.
func (p *PayloadDecoder) times(b *record.Batch, head uint32, valid int64, plain bool) {
	at := len(b.HeaderIndex)
	kept := len(b.Lead) - at
	b.HeaderIndex, b.Line = repeat(b.HeaderIndex, head, kept), repeat(b.Line, 0, kept)
	b.Valid, b.ValidEnd = repeat(b.Valid, valid, kept), repeat(b.ValidEnd, valid, kept)
	b.ObsLead, b.ObsBeg, b.ObsEnd = repeat(b.ObsLead, 0, kept), repeat(b.ObsBeg, valid, kept), repeat(b.ObsEnd, valid, kept)
	if plain {
		return
	}
	for i := range p.records {
		end, lead, obsBeg, obsEnd := p.r.varint(), p.r.varint(), p.r.varint(), p.r.varint()
		if p.wantsAll || p.wanted[i] {
			b.ValidEnd[at], b.ObsLead[at] = valid+end, int32(lead)
			b.ObsBeg[at], b.ObsEnd[at] = valid+obsBeg, valid+obsEnd
			at++
		}
	}
}

// repeat appends v n times.
func repeat[T any](dst []T, v T, n int) []T {
	at := len(dst)
	dst = slices.Grow(dst, n)[:at+n]
	for i := at; i < len(dst); i++ {
		dst[i] = v
	}
	return dst
}

// floats appends one numeric column.
func (p *PayloadDecoder) floats(dst []float64) []float64 {
	tag := p.r.byte()
	if tag != eachValue {
		value := record.Missing()
		if tag == allEqual {
			value = p.r.float()
		} else if tag != allMissing {
			p.r.failed = true
		}
		kept := 0
		for _, k := range p.wanted {
			if k {
				kept++
			}
		}
		return repeat(dst, value, kept)
	}
	raw := p.r.bytes(8 * p.records)
	if raw == nil {
		return dst
	}
	dst = slices.Grow(dst, p.records)
	for i := 0; i+8 <= len(raw); i += 8 {
		if p.wantsAll || p.wanted[i/8] {
			dst = append(dst, math.Float64frombits(binary.LittleEndian.Uint64(raw[i:])))
		}
	}
	return dst
}

// repeats appends the repeating columns.
func (p *PayloadDecoder) repeats(b *record.Batch) {
	for i := range p.records {
		n := p.r.uvarint()
		if n > uint64(len(p.r.data)/8) {
			p.r.failed = true
			return
		}
		for range n {
			if f := p.r.float(); p.wantsAll || p.wanted[i] {
				b.Group = append(b.Group, f)
			}
		}
		if p.wantsAll || p.wanted[i] {
			b.GroupEnd = append(b.GroupEnd, uint32(len(b.Group)))
		}
	}
}

// payloadReader reads forward. After a failure it returns zeros.
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
	d.skip(n)
	return v
}

func (d *payloadReader) varint() int64 {
	v, n := binary.Varint(d.data)
	d.skip(n)
	return v
}

// skip moves past n bytes. n is 0 or less if no number could be read.
func (d *payloadReader) skip(n int) {
	if n <= 0 {
		d.failed, d.data = true, nil
		return
	}
	d.data = d.data[n:]
}

func (d *payloadReader) float() float64 {
	if b := d.bytes(8); b != nil {
		return math.Float64frombits(binary.LittleEndian.Uint64(b))
	}
	return 0
}

// MissingNumber is the value that METviewer's tables contain for a missing number.
const MissingNumber = -9999

// HeaderTable is METviewer's table of headers.
const HeaderTable = "stat_header"

// LineTable is METviewer's table of a line type, e.g. line_data_sal1l2.
func LineTable(t *record.LineType) string { return "line_data_" + strings.ToLower(t.Name) }

// WideTable is the wide design's table of a line type.
func WideTable(t *record.LineType) string { return "wide_" + strings.ToLower(t.Name) }

// DocTable is the document design's table of a line type.
func DocTable(t *record.LineType) string { return "doc_" + strings.ToLower(t.Name) }

// LeadsInHours reports whether METviewer stores the leads of records of that version in hours. It
// does for VSDB files, whose version is V01. It stores leads of MET files as [H]HHMMSS.
func LeadsInHours(version string) bool { return version == "V01" }

// LeadCode is a lead in METviewer's INT column fcst_lead: hours for VSDB, [H]HHMMSS for MET (108 h
// = 1080000).
func LeadCode(version string, seconds int32) int64 {
	if LeadsInHours(version) {
		return int64(seconds) / 3600
	}
	return LeadHMS(seconds)
}

// LeadHMS writes seconds as [H]HHMMSS.
func LeadHMS(seconds int32) int64 {
	s := int64(seconds) // division rounds toward zero: all parts have the sign of the lead
	return s/3600*10000 + s/60%60*100 + s%60
}

// LeadSeconds is the inverse of LeadCode.
func LeadSeconds(version string, code int64) int64 {
	if LeadsInHours(version) {
		return code * 3600
	}
	return code/10000*3600 + code/100%100*60 + code%100
}
