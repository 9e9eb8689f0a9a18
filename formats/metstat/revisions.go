package metstat

import (
	"math"
	"slices"

	"github.com/barograph/barograph/record"
)

// revisionPrefix begins the variable of a record that contains the change from one forecast to the
// next. METviewer identifies such variables by this prefix.
const revisionPrefix = "REV_"

// revisions collects the 2D lines of MTD below one header line. If all of them are forecasts of one
// valid time, METdbLoad also stores the change of each line from the previous one.
type revisions struct {
	lines  []storedLine
	differ bool // the lines are not forecasts of one valid time; then no line is kept
}

// storedLine is a copy of a stored line. The zero value marks the place of a rejected line.
type storedLine struct {
	head   record.Header
	row    row
	line   uint32 // its number in the file; 0 = rejected
	object string
}

// keepLine keeps the line that was just stored, if it is a 2D line of MTD.
func (r *Reader) keepLine(p *openBatch, head uint32) {
	if r.layout.objects == nil || p.lt.Name != "MTD_2D_OBJ" || r.revisions.differ {
		return
	}
	id, _ := p.lt.Column("object_id")
	current := storedLine{head: p.batch.Headers[head], row: r.row, line: r.in.Number, object: r.row.text[id.Slot]}
	if len(r.revisions.lines) > 0 && !current.isRevisionOf(&r.revisions.lines[0], p.lt) {
		r.revisions = revisions{differ: true}
		return
	}
	current.row.num, current.row.text = slices.Clone(r.row.num), slices.Clone(r.row.text)
	r.revisions.lines = append(r.revisions.lines, current)
}

// addRejected marks the place of a rejected line: the line after it has no previous one.
func (v *revisions) addRejected() {
	if len(v.lines) > 0 {
		v.lines = append(v.lines, storedLine{})
	}
}

// isRevisionOf reports whether two lines are forecasts of one valid time. METdbLoad requires that all
// lines of a file of revisions are equal in these fields (constants.py, MTD_2D_REV_FIELDS).
func (v *storedLine) isRevisionOf(o *storedLine, t *record.LineType) bool {
	for _, f := range [...]record.Field{
		record.Model, record.Descr, record.InterpPnts, record.FcstThresh, record.ObsThresh, record.FcstLev, record.ObsLev,
	} {
		if v.head[f] != o.head[f] {
			return false
		}
	}
	rad, _ := t.Column("obs_rad")
	a, b := v.row.num[rad.Slot], o.row.num[rad.Slot]
	return v.row.valid == o.row.valid && v.row.obsBeg == o.row.obsBeg && (a == b || math.IsNaN(a) && math.IsNaN(b))
}

// addRevisions adds the revisions of the lines since the last header line, for each object with at least
// three consecutive lines.
func (r *Reader) addRevisions() {
	lines := r.revisions.lines
	r.revisions = revisions{lines: lines[:0]}
	for first := 0; first < len(lines); {
		end := first + 1
		for end < len(lines) && lines[end].line > 0 && lines[end].object == lines[first].object {
			end++
		}
		for i := first + 1; i < end && end-first > 2; i++ {
			r.addChange(&lines[i-1], &lines[i])
		}
		first = end
	}
}

// addChange stores the change of a line from the previous one as a separate record. As in
// METdbLoad, an angle has no change; INTENSITY_nn, which METdbLoad does not subtract, is treated
// like the other intensities.
func (r *Reader) addChange(previous, current *storedLine) {
	p := r.batches["MTD_2D_OBJ"]
	for _, f := range [...]record.Field{record.FcstVar, record.ObsVar} {
		current.head[f] = r.word([]byte(revisionPrefix + current.head[f]))
	}
	r.row = current.row
	r.row.num, r.row.omitted = slices.Clone(current.row.num), ""
	for _, c := range p.lt.Columns {
		switch {
		case c.Name == "axis_ang":
			r.row.num[c.Slot] = record.Missing()
		case c.Kind == record.Float:
			r.row.num[c.Slot] -= previous.row.num[c.Slot]
		}
	}
	r.store(p, p.headerIndex(p.findHeader(current.head)), current.line)
	p.batch.Lines++
	r.count++
}
