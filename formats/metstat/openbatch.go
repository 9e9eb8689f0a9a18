package metstat

import (
	"fmt"
	"strconv"

	"github.com/barograph/barograph/formats/number"
	"github.com/barograph/barograph/record"
)

// openBatch is the batch of one line type that is being filled.
type openBatch struct {
	lt    *record.LineType // nil for lines without one
	batch record.Batch
	bytes int // bytes of input in the batch

	hasLines bool // the current file has lines of this type

	// Slots in Num. 0 = the type does not have the column, because slot 0 is that of the total.
	repetitionsSlot int // the number of repetitions of the group
	nCatSlot        int // n_cat
	ecValueSlot     int // ec_value

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

// openBatchOf finds the batch for a LINE_TYPE token; nil if it is not a type of MET.
func (r *Reader) openBatchOf(name []byte) *openBatch {
	if p, ok := r.batches[string(name)]; ok {
		return p
	}
	lt, ok := record.TypeByName(string(name))
	if !ok || lt.Name != string(name) || lt.Name == vsdbOnly {
		return nil
	}
	p := newOpenBatch(lt)
	p.startBatch(r.file)
	r.batches[lt.Name] = p
	return p
}

func newOpenBatch(lt *record.LineType) *openBatch {
	p := &openBatch{lt: lt, byRaw: map[string]*knownHeader{}, byHeader: map[record.Header]*knownHeader{}}
	if lt == nil {
		return p
	}
	if c, ok := lt.Column("n_cat"); ok {
		p.nCatSlot = c.Slot
	}
	if c, ok := lt.Column("ec_value"); ok {
		p.ecValueSlot = c.Slot
	}
	if lt.Group != nil {
		c, _ := lt.Column(lt.Group.Count)
		p.repetitionsSlot = c.Slot
	}
	return p
}

// startBatch empties p for another batch.
func (p *openBatch) startBatch(file string) {
	p.batch.Reset(p.lt, file)
	p.bytes = 0
	p.generation++
}

// startFile empties p for another file.
func (p *openBatch) startFile(file string) {
	p.startBatch(file)
	p.hasLines = false
}

// readHeader returns the index, in p's batch, of the current line's header.
func (r *Reader) readHeader(p *openBatch) (uint32, string) {
	l := &r.layout
	r.raw = append(r.raw[:0], r.line[r.tok[0].from:r.tok[l.lead-1].to]...)
	// The key includes the layout, because equal words may belong to different columns: one header line may
	// lack FCST_UNITS, and another one OBS_UNITS.
	r.raw = append(r.raw, '\n', byte(l.lineType), byte(l.field[record.FcstUnits]))
	r.raw = append(r.raw, r.line[r.tok[l.lead+timeColumns].from:r.tok[l.lineType-1].to]...)
	k, ok := p.byRaw[string(r.raw)]
	if !ok {
		h, reason := r.buildHeader()
		if reason != "" {
			return 0, reason
		}
		k = p.findHeader(h)
		p.byRaw[string(r.raw)] = k
	}
	return p.headerIndex(k), ""
}

// findHeader finds the entry of a header, or creates it.
func (p *openBatch) findHeader(h record.Header) *knownHeader {
	k, ok := p.byHeader[h]
	if !ok {
		k = &knownHeader{header: h}
		p.byHeader[h] = k
	}
	return k
}

// headerIndex returns the position of a header in the batch, and adds the header to a new batch.
func (p *openBatch) headerIndex(k *knownHeader) uint32 {
	if k.generation != p.generation {
		k.generation, k.index = p.generation, p.batch.AddHeader(k.header)
	}
	return k.index
}

// buildHeader returns the header of the current line.
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
				continue // h has the default, 0
			}
			if _, err := strconv.ParseUint(string(tok), 10, 31); err != nil {
				name := r.layout.nameInFile(int(i), "INTERP_PNTS")
				return h, fmt.Sprintf("column %s: %q is not a number of points", name, shorten(tok))
			}
		case record.Alpha:
			text, ok := canonicalAlpha(tok)
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

// canonicalAlpha is the canonical text of a significance level.
func canonicalAlpha(tok []byte) (string, bool) {
	if string(tok) == record.NA {
		return record.NA, true
	}
	f, ok := number.Parse(tok)
	if f == missingNumber {
		return record.NA, ok
	}
	return strconv.FormatFloat(f, 'g', -1, 64), ok && f >= 0 && f <= 1
}

// missingNumber is METviewer's number for a missing value.
const missingNumber = -9999
