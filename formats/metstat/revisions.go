package metstat

import (
	"slices"

	"github.com/barograph/barograph/record"
)

// revisionPrefix begins the variable of a record that contains the change from one forecast to the
// next. METviewer identifies such variables by this prefix.
const revisionPrefix = "REV_"

// revisions are the 2D lines of MTD below one header line, as long as they can be repeated
// forecasts of one valid time. For such a file METdbLoad also stores the change of each line from
// the previous one.
type revisions struct {
	lines  []storedLine
	differ bool // the lines differ in fields that are equal in a file of revisions
}

// storedLine is a line that was stored; the zero value is a rejected one.
type storedLine struct {
	head   record.Header
	row    row
	line   uint32
	object string
}

// keepLine keeps the last stored line, if it is a 2D line of MTD.
func (r *Reader) keepLine(p *pending, head uint32) {
	if r.layout.objects == nil || p.lt.Name != "MTD_2D_OBJ" || r.past.differ {
		return
	}
	id, _ := p.lt.Column("object_id")
	now := storedLine{head: p.batch.Headers[head], row: r.row, line: r.in.Number, object: r.row.text[id.Slot]}
	if len(r.past.lines) > 0 && !r.past.lines[0].ofOneTime(&now, p.lt) {
		r.past = revisions{differ: true}
		return
	}
	now.row.num, now.row.text = slices.Clone(r.row.num), slices.Clone(r.row.text)
	r.past.lines = append(r.past.lines, now)
}

// reset records that a line was rejected: the next line is not compared with a previous one.
func (v *revisions) reset() {
	if len(v.lines) > 0 {
		v.lines = append(v.lines, storedLine{})
	}
}

// ofOneTime reports whether two lines are equal in the fields in which METdbLoad requires all lines
// of a file of revisions to be equal (constants.py, MTD_2D_REV_FIELDS).
func (v *storedLine) ofOneTime(o *storedLine, t *record.LineType) bool {
	for _, f := range [...]record.Field{record.Model, record.Descr, record.InterpPnts, record.FcstThresh, record.ObsThresh, record.FcstLev, record.ObsLev} {
		if v.head[f] != o.head[f] {
			return false
		}
	}
	rad, _ := t.Column("obs_rad")
	a, b := v.row.num[rad.Slot], o.row.num[rad.Slot]
	return v.row.valid == o.row.valid && v.row.obsBeg == o.row.obsBeg && (a == b || a != a && b != b)
}

// addRevisions adds the revisions of the lines below the header line that ends here, for each
// object with at least three consecutive lines.
func (r *Reader) addRevisions() {
	lines := r.past.lines
	r.past = revisions{lines: lines[:0]}
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
func (r *Reader) addChange(before, now *storedLine) {
	p := r.pending["MTD_2D_OBJ"]
	now.head[record.FcstVar], now.head[record.ObsVar] = r.word([]byte(revisionPrefix+now.head[record.FcstVar])), r.word([]byte(revisionPrefix+now.head[record.ObsVar]))
	r.row = now.row
	r.row.num, r.row.omitted = slices.Clone(now.row.num), ""
	for _, c := range p.lt.Columns {
		switch {
		case c.Name == "axis_ang":
			r.row.num[c.Slot] = record.Missing()
		case c.Kind == record.Float:
			r.row.num[c.Slot] -= before.row.num[c.Slot]
		}
	}
	r.store(p, p.index(p.known(now.head)), now.line)
	p.batch.Lines++
	r.count++
}
