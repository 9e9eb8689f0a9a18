package record

import (
	"fmt"
	"maps"
	"math"
	"slices"
)

// Batch holds records of one line type and one file, column by column.
//
// Invariant of every batch that a reader returns:
// Lines == Len() + len(Rejects). No line is in neither.
//
// A batch that a reader fills is the caller's memory: the reader reuses its
// slices at the next call. Clone keeps one.
type Batch struct {
	Type *LineType // nil only where the batch holds rejects alone
	File string    // path of the file, as given by the user

	Headers []Header // the distinct headers of the batch
	Head    []uint32 // row → index into Headers

	Lead     []int32  // forecast lead, seconds
	Valid    []int64  // fcst_valid_beg, Unix seconds, UTC
	ValidEnd []int64  // fcst_valid_end
	ObsLead  []int32  // seconds
	ObsBeg   []int64  // obs_valid_beg
	ObsEnd   []int64  // obs_valid_end
	Line     []uint32 // 1-based line number in File

	Num      [][]float64 // by Column.Slot, then by row; NaN = missing
	Text     [][]string  // by Column.Slot, then by row; "NA" = missing
	Group    []float64   // the repeating columns of all rows, one row after the other
	GroupEnd []uint32    // row i holds Group[GroupEnd[i-1]:GroupEnd[i]]; empty where Type.Group is nil

	LeftOut map[string]int // columns that lines of the batch have and Type does not, by name, blank-separated → lines; nil = none

	Rejects []Reject // lines that could not be read, each with its reason
	Lines   int      // data lines seen: stored and rejected
}

// Reject is a quarantined line.
type Reject struct {
	File   string
	Line   uint32 // 1-based
	Reason string // what is wrong, in words that name the token
	Text   string // the line itself, cut to MaxRejectText bytes
}

// MaxRejectText is the number of bytes of a rejected line that are kept.
const MaxRejectText = 4096

// PerhapsCut is the reason of a last line that reads well but lacks its line
// end: what was cut off, if anything, cannot be known.
const PerhapsCut = "perhaps cut: the file ends here without a line end (--last-line keep takes such a line for whole)"

// Reset empties b for records of type t from file, keeping its memory.
func (b *Batch) Reset(t *LineType, file string) {
	b.Type, b.File, b.Lines, b.LeftOut = t, file, 0, nil
	b.Headers, b.Head = b.Headers[:0], b.Head[:0]
	b.Lead, b.Valid, b.ValidEnd = b.Lead[:0], b.Valid[:0], b.ValidEnd[:0]
	b.ObsLead, b.ObsBeg, b.ObsEnd, b.Line = b.ObsLead[:0], b.ObsBeg[:0], b.ObsEnd[:0], b.Line[:0]
	b.Group, b.GroupEnd, b.Rejects = b.Group[:0], b.GroupEnd[:0], b.Rejects[:0]
	nums, texts := 0, 0
	if t != nil {
		nums, texts = t.nums, t.texts
	}
	b.Num = resize(b.Num, nums)
	b.Text = resize(b.Text, texts)
}

// resize gives cols n empty columns, reusing the memory of those it has.
func resize[T any](cols [][]T, n int) [][]T {
	cols = slices.Grow(cols[:0], n)[:n]
	for i := range cols {
		cols[i] = cols[i][:0]
	}
	return cols
}

// Len is the number of records.
func (b *Batch) Len() int { return len(b.Head) }

// Header returns the header of row i.
func (b *Batch) Header(i int) *Header { return &b.Headers[b.Head[i]] }

// Init is the initialisation time of row i: valid minus lead, Unix seconds.
func (b *Batch) Init(i int) int64 { return b.Valid[i] - int64(b.Lead[i]) }

// Repeats returns the repeating columns of row i; nil for a type without.
func (b *Batch) Repeats(i int) []float64 {
	if len(b.GroupEnd) == 0 {
		return nil
	}
	from := uint32(0)
	if i > 0 {
		from = b.GroupEnd[i-1]
	}
	return b.Group[from:b.GroupEnd[i]]
}

// Plain reports whether row i has the times that VSDB lines and most grid_stat
// lines have: one valid time for forecast and observation, obs_lead 0.
func (b *Batch) Plain(i int) bool {
	v := b.Valid[i]
	return b.ValidEnd[i] == v && b.ObsBeg[i] == v && b.ObsEnd[i] == v && b.ObsLead[i] == 0
}

// AddHeader appends h to the batch's headers and returns its index. It does
// not look for an equal one: interning is the caller's.
func (b *Batch) AddHeader(h Header) uint32 {
	b.Headers = append(b.Headers, h)
	return uint32(len(b.Headers) - 1)
}

// AppendTimes starts a row with plain times (see Plain). The caller then
// appends to every Num, Text and, where the type has one, GroupEnd.
func (b *Batch) AppendTimes(head uint32, lead int32, valid int64, line uint32) {
	b.Head = append(b.Head, head)
	b.Lead = append(b.Lead, lead)
	b.Valid = append(b.Valid, valid)
	b.ValidEnd = append(b.ValidEnd, valid)
	b.ObsLead = append(b.ObsLead, 0)
	b.ObsBeg = append(b.ObsBeg, valid)
	b.ObsEnd = append(b.ObsEnd, valid)
	b.Line = append(b.Line, line)
}

// AppendRow copies row i of src, which has the same Type, under header head of b.
func (b *Batch) AppendRow(src *Batch, i int, head uint32) {
	b.Head = append(b.Head, head)
	b.Lead = append(b.Lead, src.Lead[i])
	b.Valid = append(b.Valid, src.Valid[i])
	b.ValidEnd = append(b.ValidEnd, src.ValidEnd[i])
	b.ObsLead = append(b.ObsLead, src.ObsLead[i])
	b.ObsBeg = append(b.ObsBeg, src.ObsBeg[i])
	b.ObsEnd = append(b.ObsEnd, src.ObsEnd[i])
	b.Line = append(b.Line, src.Line[i])
	for k := range b.Num {
		b.Num[k] = append(b.Num[k], src.Num[k][i])
	}
	for k := range b.Text {
		b.Text[k] = append(b.Text[k], src.Text[k][i])
	}
	if b.Type.Group != nil {
		b.Group = append(b.Group, src.Repeats(i)...)
		b.GroupEnd = append(b.GroupEnd, uint32(len(b.Group)))
	}
}

// Reject quarantines a line; the text is copied and cut.
func (b *Batch) Reject(file string, line uint32, reason string, text []byte) {
	if len(text) > MaxRejectText {
		text = text[:MaxRejectText]
	}
	b.Rejects = append(b.Rejects, Reject{File: file, Line: line, Reason: reason, Text: string(text)})
}

// Clone returns a deep copy.
func (b *Batch) Clone() *Batch {
	c := *b
	c.Headers, c.Head = slices.Clone(b.Headers), slices.Clone(b.Head)
	c.Lead, c.Valid, c.ValidEnd = slices.Clone(b.Lead), slices.Clone(b.Valid), slices.Clone(b.ValidEnd)
	c.ObsLead, c.ObsBeg, c.ObsEnd = slices.Clone(b.ObsLead), slices.Clone(b.ObsBeg), slices.Clone(b.ObsEnd)
	c.Line, c.Rejects, c.LeftOut = slices.Clone(b.Line), slices.Clone(b.Rejects), maps.Clone(b.LeftOut)
	c.Group, c.GroupEnd = slices.Clone(b.Group), slices.Clone(b.GroupEnd)
	c.Num = make([][]float64, len(b.Num))
	for k := range b.Num {
		c.Num[k] = slices.Clone(b.Num[k])
	}
	c.Text = make([][]string, len(b.Text))
	for k := range b.Text {
		c.Text[k] = slices.Clone(b.Text[k])
	}
	return &c
}

// Missing is the value of a numeric column that a line does not have.
func Missing() float64 { return math.NaN() }

// ReplaceRow overwrites row at with row i of src, which has the same identity.
func (b *Batch) ReplaceRow(at int, src *Batch, i int) {
	b.Line[at] = src.Line[i]
	for k := range b.Num {
		b.Num[k][at] = src.Num[k][i]
	}
	for k := range b.Text {
		b.Text[k][at] = src.Text[k][i]
	}
	if b.Type.Group == nil {
		return
	}
	old, now := len(b.Repeats(at)), src.Repeats(i)
	from := int(b.GroupEnd[at]) - old
	b.Group = slices.Replace(b.Group, from, from+old, now...)
	for r := at; r < len(b.GroupEnd); r++ {
		b.GroupEnd[r] = uint32(int(b.GroupEnd[r]) + len(now) - old)
	}
}

// Same reports whether row i of b and row j of o, which have one identity, have
// the same values as Digest knows them: −0 is 0, and every NaN is one.
func (b *Batch) Same(i int, o *Batch, j int) bool {
	for k := range b.Num {
		if canonical(b.Num[k][i]) != canonical(o.Num[k][j]) {
			return false
		}
	}
	for k := range b.Text {
		if b.Text[k][i] != o.Text[k][j] {
			return false
		}
	}
	return slices.EqualFunc(b.Repeats(i), o.Repeats(j), func(x, y float64) bool { return canonical(x) == canonical(y) })
}

// Difference names the first value in which row i of b and row j of o, of one
// type, differ, and both: "fbar 290.1, not 290.3".
func (b *Batch) Difference(i int, o *Batch, j int) string {
	for k := range b.Type.Columns {
		c := &b.Type.Columns[k]
		if c.Kind == Text {
			if x, y := b.Text[c.Slot][i], o.Text[c.Slot][j]; x != y {
				return fmt.Sprintf("%s %s, not %s", c.Name, x, y)
			}
		} else if x, y := b.Num[c.Slot][i], o.Num[c.Slot][j]; canonical(x) != canonical(y) {
			return fmt.Sprintf("%s %v, not %v", c.Name, x, y)
		}
	}
	return "the repeating columns differ"
}

// Without copies b, leaving out some rows.
func (b *Batch) Without(rows map[int]bool) *Batch {
	out := &Batch{}
	out.Reset(b.Type, b.File)
	for _, h := range b.Headers {
		out.AddHeader(h)
	}
	for i := range b.Len() {
		if !rows[i] {
			out.AppendRow(b, i, b.Head[i])
		}
	}
	return out
}
