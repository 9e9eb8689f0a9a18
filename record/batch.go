package record

import (
	"fmt"
	"maps"
	"math"
	"slices"
)

// Batch contains records of one line type and one file, column by column.
//
// Every batch that a reader returns satisfies Lines == Len() + len(Rejects). Each line is in
// exactly one of them.
//
// A reader reuses the slices of a batch at the next call. Use Clone to keep a batch.
type Batch struct {
	Type *LineType // nil only if the batch contains nothing but rejects
	File string    // path of the file, as given by the user

	Headers     []Header // the distinct headers of the batch
	HeaderIndex []uint32 // row → index into Headers

	Lead     []int32  // forecast lead, seconds
	Valid    []int64  // fcst_valid_beg, Unix seconds, UTC
	ValidEnd []int64  // fcst_valid_end
	ObsLead  []int32  // seconds
	ObsBeg   []int64  // obs_valid_beg
	ObsEnd   []int64  // obs_valid_end
	Line     []uint32 // 1-based line number in File

	Num      [][]float64 // by Column.Slot, then by row; NaN = missing
	Text     [][]string  // by Column.Slot, then by row; "NA" = missing
	Group    []float64   // values of the repeating columns, one row after the other
	GroupEnd []uint32    // row i has the values Group[GroupEnd[i-1]:GroupEnd[i]]; empty if Type.Group is nil

	// OmittedColumns counts the lines with columns that Type does not have. Its keys are the names of these columns,
	// blank-separated; nil = none.
	OmittedColumns map[string]int

	// KeepConflicts: the archive also keeps its existing records that have the identity of a record of the
	// batch but differ in their values.
	KeepConflicts bool

	Rejects []Reject // lines that could not be read, each with its reason
	// Lines is the number of data lines, both records and rejects. Two lines from which a reader makes one record (MTD's
	// revisions) count as one.
	Lines int
}

// Reject is a line that goes to the quarantine, because it could not be read.
type Reject struct {
	File   string
	Line   uint32 // 1-based
	Reason string // with the wrong token
	Text   string // the line, shortened to MaxRejectText bytes
}

// MaxRejectText is the number of bytes of a rejected line that are stored.
const MaxRejectText = 4096

// MaybeTruncated is the reason for rejecting a last line that parses but has no line end: part of
// it may be missing.
const MaybeTruncated = "perhaps truncated: the file ends here without a line end (--last-line keep accepts such a line)"

// Reset empties b for records of type t from file. It keeps the memory of b.
func (b *Batch) Reset(t *LineType, file string) {
	b.Type, b.File, b.Lines, b.OmittedColumns, b.KeepConflicts = t, file, 0, nil, false
	b.Headers, b.HeaderIndex = b.Headers[:0], b.HeaderIndex[:0]
	b.Lead, b.Valid, b.ValidEnd = b.Lead[:0], b.Valid[:0], b.ValidEnd[:0]
	b.ObsLead, b.ObsBeg, b.ObsEnd, b.Line = b.ObsLead[:0], b.ObsBeg[:0], b.ObsEnd[:0], b.Line[:0]
	b.Group, b.GroupEnd, b.Rejects = b.Group[:0], b.GroupEnd[:0], b.Rejects[:0]
	nums, texts := 0, 0
	if t != nil {
		nums, texts = t.numericCount, t.textCount
	}
	b.Num = resize(b.Num, nums)
	b.Text = resize(b.Text, texts)
}

// resize sets cols to n empty columns and reuses their memory.
func resize[T any](cols [][]T, n int) [][]T {
	cols = slices.Grow(cols[:0], n)[:n]
	for i := range cols {
		cols[i] = cols[i][:0]
	}
	return cols
}

// Len is the number of records.
func (b *Batch) Len() int { return len(b.HeaderIndex) }

// Header returns the header of row i.
func (b *Batch) Header(i int) *Header { return &b.Headers[b.HeaderIndex[i]] }

// Init is the initialization time of row i: valid minus lead, Unix seconds.
func (b *Batch) Init(i int) int64 { return b.Valid[i] - int64(b.Lead[i]) }

// Repeats returns the values of the repeating columns of row i; nil if the type has none.
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

// HasPlainTimes reports whether row i has plain times, as VSDB lines and most grid_stat lines do: one valid
// time for forecast and observation, and obs_lead 0.
func (b *Batch) HasPlainTimes(i int) bool {
	v := b.Valid[i]
	return b.ValidEnd[i] == v && b.ObsBeg[i] == v && b.ObsEnd[i] == v && b.ObsLead[i] == 0
}

// AddHeader appends h to the batch's headers and returns its index. The caller must avoid duplicate
// headers.
func (b *Batch) AddHeader(h Header) uint32 {
	b.Headers = append(b.Headers, h)
	return uint32(len(b.Headers) - 1)
}

// AppendTimes starts a row with plain times, see HasPlainTimes. header is an index into b.Headers. The caller then
// appends to every Num, every Text and, if the type has a group, to GroupEnd.
func (b *Batch) AppendTimes(header uint32, lead int32, valid int64, line uint32) {
	b.HeaderIndex = append(b.HeaderIndex, header)
	b.Lead = append(b.Lead, lead)
	b.Valid = append(b.Valid, valid)
	b.ValidEnd = append(b.ValidEnd, valid)
	b.ObsLead = append(b.ObsLead, 0)
	b.ObsBeg = append(b.ObsBeg, valid)
	b.ObsEnd = append(b.ObsEnd, valid)
	b.Line = append(b.Line, line)
}

// AppendRow appends row i of src, which must have the same Type. header is the index of its header in b.Headers.
func (b *Batch) AppendRow(src *Batch, i int, header uint32) {
	b.HeaderIndex = append(b.HeaderIndex, header)
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

// Reject quarantines a line. It copies and shortens the text.
func (b *Batch) Reject(file string, line uint32, reason string, text []byte) {
	text = text[:min(len(text), MaxRejectText)]
	b.Rejects = append(b.Rejects, Reject{File: file, Line: line, Reason: reason, Text: string(text)})
}

// Clone returns a deep copy.
func (b *Batch) Clone() *Batch {
	c := *b
	c.Headers, c.Rejects, c.OmittedColumns = slices.Clone(b.Headers), slices.Clone(b.Rejects), maps.Clone(b.OmittedColumns)
	cloneAll(&c.HeaderIndex, &c.Line, &c.GroupEnd)
	cloneAll(&c.Lead, &c.ObsLead)
	cloneAll(&c.Valid, &c.ValidEnd, &c.ObsBeg, &c.ObsEnd)
	c.Group, c.Num, c.Text = slices.Clone(b.Group), slices.Clone(b.Num), slices.Clone(b.Text)
	cloneEach(c.Num)
	cloneEach(c.Text)
	return &c
}

// cloneAll copies several slices into one allocation, because there are many small files.
func cloneAll[T any](columns ...*[]T) {
	var n int
	for _, c := range columns {
		n += len(*c)
	}
	all := make([]T, 0, n)
	for _, c := range columns {
		if *c != nil {
			from := len(all)
			all = append(all, *c...)
			*c = all[from:len(all):len(all)]
		}
	}
}

func cloneEach[T any](columns [][]T) {
	pointers := make([]*[]T, len(columns))
	for i := range columns {
		pointers[i] = &columns[i]
	}
	cloneAll(pointers...)
}

// Missing is the value of a numeric column that a line does not have.
func Missing() float64 { return math.NaN() }

// ReplaceRow replaces the values of row i by those of row srcRow of src, which must have the same identity.
func (b *Batch) ReplaceRow(i int, src *Batch, srcRow int) {
	b.Line[i] = src.Line[srcRow]
	for k := range b.Num {
		b.Num[k][i] = src.Num[k][srcRow]
	}
	for k := range b.Text {
		b.Text[k][i] = src.Text[k][srcRow]
	}
	if b.Type.Group == nil {
		return
	}
	oldLen, values := len(b.Repeats(i)), src.Repeats(srcRow)
	from := int(b.GroupEnd[i]) - oldLen
	b.Group = slices.Replace(b.Group, from, from+oldLen, values...)
	for r := i; r < len(b.GroupEnd); r++ {
		b.GroupEnd[r] = uint32(int(b.GroupEnd[r]) + len(values) - oldLen)
	}
}

// EqualValues reports whether row i of b and row j of o, which must have the same identity, have
// equal values. As in Digest, −0 equals 0, and NaN equals NaN.
func (b *Batch) EqualValues(i int, o *Batch, j int) bool {
	for k := range b.Num {
		if canonicalBits(b.Num[k][i]) != canonicalBits(o.Num[k][j]) {
			return false
		}
	}
	for k := range b.Text {
		if b.Text[k][i] != o.Text[k][j] {
			return false
		}
	}
	equal := func(x, y float64) bool { return canonicalBits(x) == canonicalBits(y) }
	return slices.EqualFunc(b.Repeats(i), o.Repeats(j), equal)
}

// Difference names the first column in which row i of b and row j of o, of one type, differ, with
// both values: "fbar 290.1, not 290.3".
func (b *Batch) Difference(i int, o *Batch, j int) string {
	for k := range b.Type.Columns {
		c := &b.Type.Columns[k]
		if c.Kind == Text {
			if x, y := b.Text[c.Slot][i], o.Text[c.Slot][j]; x != y {
				return fmt.Sprintf("%s %s, not %s", c.Name, x, y)
			}
		} else if x, y := b.Num[c.Slot][i], o.Num[c.Slot][j]; canonicalBits(x) != canonicalBits(y) {
			return fmt.Sprintf("%s %v, not %v", c.Name, x, y)
		}
	}
	return "the repeating columns differ"
}

// Filter returns a copy of the rows of b for which wanted returns true, without the rejects.
func (b *Batch) Filter(wanted func(i int) bool) *Batch {
	out := &Batch{}
	out.Reset(b.Type, b.File)
	out.KeepConflicts = b.KeepConflicts
	out.Headers = append(out.Headers, b.Headers...)
	for i := range b.Len() {
		if wanted(i) {
			out.AppendRow(b, i, b.HeaderIndex[i])
		}
	}
	return out
}
