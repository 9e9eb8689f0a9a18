package metstat

import (
	"fmt"
	"strconv"

	"github.com/barograph/barograph/formats/number"
	"github.com/barograph/barograph/record"
)

// pending is the batch of one line type that is being filled.
type pending struct {
	lt    *record.LineType // nil for lines without one
	batch record.Batch
	bytes int // bytes of input in the batch

	listed bool // the current file has lines of this type

	counter    int // Num slot of the repeating group's count
	categories int // Num slot of n_cat, -1 = none
	expected   int // Num slot of ec_value, -1 = none

	// Headers of the batch. The map by the bytes of the line is fast; the map by value is
	// needed because the same header may have different padding.
	byRaw      map[string]*knownHeader
	byHeader   map[record.Header]*knownHeader
	generation uint64 // counts the returned batches
}

// knownHeader is a known header; index is its position in the batch of that generation.
type knownHeader struct {
	header     record.Header
	generation uint64
	index      uint32
}

// vsdbOnly is the only line type of the table that MET does not write.
const vsdbOnly = "ENSCNT"

// pendingOf finds the batch for a LINE_TYPE token; nil if it is not a type of MET.
func (r *Reader) pendingOf(name []byte) *pending {
	if p, ok := r.pending[string(name)]; ok {
		return p
	}
	lt, ok := record.TypeByName(string(name))
	if !ok || lt.Name != string(name) || lt.Name == vsdbOnly {
		return nil
	}
	p := newPending(lt)
	p.renew(r.file)
	r.pending[lt.Name] = p
	return p
}

func newPending(lt *record.LineType) *pending {
	p := &pending{lt: lt, categories: -1, expected: -1, byRaw: make(map[string]*knownHeader), byHeader: make(map[record.Header]*knownHeader)}
	if lt == nil {
		return p
	}
	if c, ok := lt.Column("n_cat"); ok {
		p.categories = c.Slot
	}
	if c, ok := lt.Column("ec_value"); ok {
		p.expected = c.Slot
	}
	if lt.Group != nil {
		if c, ok := lt.Column(lt.Group.Count); ok {
			p.counter = c.Slot
		}
	}
	return p
}

// renew empties the batch.
func (p *pending) renew(file string) {
	p.batch.Reset(p.lt, file)
	p.bytes = 0
	p.generation++
}

// reset prepares p for another file.
func (p *pending) reset(file string) {
	p.renew(file)
	p.listed = false
}

// header returns the index, in p's batch, of the current line's header.
func (r *Reader) header(p *pending) (uint32, string) {
	l := &r.layout
	r.raw = append(r.raw[:0], r.line[r.tok[0].from:r.tok[l.lead-1].to]...)
	r.raw = append(r.raw, '\n', byte(l.lineType))
	r.raw = append(r.raw, r.line[r.tok[l.lead+timeColumns].from:r.tok[l.lineType-1].to]...)
	k, ok := p.byRaw[string(r.raw)]
	if !ok {
		h, reason := r.buildHeader()
		if reason != "" {
			return 0, reason
		}
		k = p.known(h)
		p.byRaw[string(r.raw)] = k
	}
	return p.index(k), ""
}

// known finds or creates the entry of a header.
func (p *pending) known(h record.Header) *knownHeader {
	k, ok := p.byHeader[h]
	if !ok {
		k = &knownHeader{header: h}
		p.byHeader[h] = k
	}
	return k
}

// index is the place of a header in the batch.
func (p *pending) index(k *knownHeader) uint32 {
	if k.generation != p.generation {
		k.generation, k.index = p.generation, p.batch.AddHeader(k.header)
	}
	return k.index
}

// buildHeader makes the header of the current line.
func (r *Reader) buildHeader() (record.Header, string) {
	h := record.DefaultHeader()
	for f, i := range r.layout.field {
		if i < 0 {
			continue
		}
		tok := r.token(int(i))
		switch record.Field(f) {
		case record.InterpPnts:
			if string(tok) == record.NA {
				continue
			}
			if _, err := strconv.ParseUint(string(tok), 10, 31); err != nil {
				return h, fmt.Sprintf("column INTERP_PNTS: %q is not a number of points", shorten(tok))
			}
		case record.Alpha:
			text, ok := alpha(tok)
			if !ok {
				return h, fmt.Sprintf("column ALPHA: %q is not a number from 0 to 1", shorten(tok))
			}
			h[f] = text
			continue
		}
		h[f] = r.word(tok)
	}
	return h, ""
}

// alpha is the canonical text of a significance level.
func alpha(tok []byte) (string, bool) {
	if string(tok) == record.NA {
		return record.NA, true
	}
	f, ok := number.Parse(tok)
	if f == missing {
		return record.NA, ok
	}
	return strconv.FormatFloat(f, 'g', -1, 64), ok && f >= 0 && f <= 1
}

// missing is METviewer's number for a missing value.
const missing = -9999
