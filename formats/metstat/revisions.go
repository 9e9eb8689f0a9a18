package metstat

import (
	"slices"

	"github.com/barograph/barograph/record"
)

// revised names the variable of a record that is what one forecast changed of the
// one before it. METviewer knows such variables by this prefix.
const revisionPrefix = "REV_"

// revisions are the 2D lines of MTD below one header line, as long as they may be
// those of one valid time, forecast again and again: of such a file METdbLoad adds
// to the database what each line changes of the one before it.
type revisions struct {
	lines []storedLine
	differ bool // the lines differ where those of revisions are equal
}

// revision is a line that was stored; the zero value stands for one that was not.
type storedLine struct {
	head   record.Header
	row    row
	line   uint32
	object string
}

// remember keeps the line that was stored last, if it is one of MTD's 2D.
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

// cut notes that a line was rejected: what follows is no change of what stands before.
func (v *revisions) reset() {
	if len(v.lines) > 0 {
		v.lines = append(v.lines, storedLine{})
	}
}

// ofOneTime reports whether two lines are equal where METdbLoad demands it of all
// lines of a file of revisions (constants.py, MTD_2D_REV_FIELDS).
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

// revise adds the revisions of the lines below the header line that ends here: of
// each object that three lines or more, one after the other, follow.
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

// change stores what a line changes of the one before it, as a record of its own.
// An angle has no change, as in METdbLoad; INTENSITY_nn, which METdbLoad leaves as
// it is, changes like the other intensities.
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
