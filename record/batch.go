package record

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/zeebo/xxh3"
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

	Keep bool // its records stand beside others of the same identity and different values

	Rejects []Reject // lines that could not be read, each with its reason
	Lines   int      // data lines seen: stored and rejected; what a reader makes of two lines (MTD's revisions) counts as one
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
	b.Type, b.File, b.Lines, b.LeftOut, b.Keep = t, file, 0, nil, false
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
	c.Headers, c.Rejects, c.LeftOut = slices.Clone(b.Headers), slices.Clone(b.Rejects), maps.Clone(b.LeftOut)
	cloneAll(&c.Head, &c.Line, &c.GroupEnd)
	cloneAll(&c.Lead, &c.ObsLead)
	cloneAll(&c.Valid, &c.ValidEnd, &c.ObsBeg, &c.ObsEnd)
	c.Group, c.Num, c.Text = slices.Clone(b.Group), slices.Clone(b.Num), slices.Clone(b.Text)
	cloneEach(c.Num)
	cloneEach(c.Text)
	return &c
}

// cloneAll copies slices into memory that is allocated once: of small files
// there are many.
func cloneAll[T any](columns ...*[]T) {
	n := 0
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
	at := make([]*[]T, len(columns))
	for i := range columns {
		at[i] = &columns[i]
	}
	cloneAll(at...)
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

// Only copies the rows of b that are wanted.
func (b *Batch) Only(wanted func(i int) bool) *Batch {
	out := &Batch{}
	out.Reset(b.Type, b.File)
	out.Keep = b.Keep
	out.Headers = append(out.Headers, b.Headers...)
	for i := range b.Len() {
		if wanted(i) {
			out.AppendRow(b, i, b.Head[i])
		}
	}
	return out
}

// Field names one header field. The names are METviewer's column names of
// stat_header, plus cov_thresh and alpha, which METviewer keeps with the data.
type Field uint8

// The header fields, in the order of MET's header columns.
const (
	Version Field = iota
	Model
	Descr
	FcstVar
	FcstUnits
	FcstLev
	ObsVar
	ObsUnits
	ObsLev
	ObType
	VxMask
	InterpMthd
	InterpPnts
	FcstThresh
	ObsThresh
	CovThresh
	Alpha
	NumFields
)

var fieldNames = [NumFields]string{ //nolint:gochecknoglobals // a constant table
	"version", "model", "descr", "fcst_var", "fcst_units", "fcst_lev", "obs_var", "obs_units", "obs_lev",
	"obtype", "vx_mask", "interp_mthd", "interp_pnts", "fcst_thresh", "obs_thresh", "cov_thresh", "alpha",
}

// String returns METviewer's name of the field, e.g. "vx_mask".
func (f Field) String() string { return fieldNames[f] }

// FieldByName finds a field by METviewer's name.
func FieldByName(name string) (Field, bool) {
	i := slices.Index(fieldNames[:], name)
	return Field(max(i, 0)), i >= 0
}

// NA is the text that MET and METviewer write for a header field without a value.
const NA = "NA"

// Header identifies a series: one value per Field, as text. It is comparable.
// Rules shared by all formats (spec of METviewer's stat_header):
// absent text is "NA", an absent interp_pnts is "0", fcst_lev and obs_lev may
// be empty (VSDB's TSOILT and WSOILT).
type Header [NumFields]string

// DefaultHeader returns a header in which every field holds the text for
// "absent": NA, and 0 for interp_pnts.
func DefaultHeader() Header {
	var h Header
	for i := range h {
		h[i] = NA
	}
	h[InterpPnts] = "0"
	return h
}

// Compare orders headers field by field, bytewise; it is a total order.
func (h *Header) Compare(o *Header) int {
	for i := range h {
		if c := strings.Compare(h[i], o[i]); c != 0 {
			return c
		}
	}
	return 0
}

// hash is a digest of all fields; a field's length is hashed with it, so that
// neighbours cannot run together.
func (h *Header) hash(scratch []byte) (xxh3.Uint128, []byte) {
	scratch = scratch[:0]
	for _, s := range h {
		scratch = append(scratch, byte(len(s)), byte(len(s)>>8))
		scratch = append(scratch, s...)
	}
	return xxh3.Hash128(scratch), scratch
}

// ID is the identifier of a station or of a message's source: up to eight
// letters, digits and underscores (SHEF manual 3.1), padded with zero bytes.
type ID [8]byte

// Len returns the number of characters.
func (id *ID) Len() int {
	n := len(id)
	for n > 0 && id[n-1] == 0 {
		n--
	}
	return n
}

// String returns the identifier without padding.
func (id ID) String() string { return string(id[:id.Len()]) }

// Parameter is a full SHEF parameter code, PEDTSEP (SHEF manual 3.3): physical
// element, duration, type, source, extremum, probability. It has no defaults
// left open: "HG" is held as HGIRZZZ.
type Parameter [7]byte

// PE returns the physical element.
func (p Parameter) PE() string { return string(p[:2]) }

// String returns all seven characters.
func (p Parameter) String() string { return string(p[:]) }

// NoTime is the creation time of a value that was sent without one.
const NoTime = math.MinInt64

// NoValue is the value of a Gauge that was reported as missing, as in SHEFOUT
// and in the databases of the National Weather Service.
const NoValue = -9999

// Gauge is one value of a SHEF message: what shefit writes as one record of
// SHEFOUT (SHEF manual, appendix H). Times are Unix seconds, UTC; units are
// English (SHEF manual, table 1).
type Gauge struct {
	Station ID
	Source  ID // of a .B message, else empty
	Code    Parameter
	// Quality is the qualifier (SHEF manual, table 10), 'Z' where none was given.
	Quality byte

	Time    int64 // of observation, or the end of the period
	Created int64 // NoTime where it was not given
	Value   float64

	// Duration in shefit's encoding: 0mmm minutes, 1hhh hours, 2ddd days, 3mmm
	// months, 4yyy years, 500n see appendix H, 7sss seconds.
	Duration    int16
	Probability float32 // 0…1; -0.5 the mean, -1 none
	Revised     bool    // the message was .AR, .BR or .ER
	// Series: 0 not of a time series, 1 its first element, 2 a later one.
	Series byte
	// Coded says that the probability was coded, so that seven characters were.
	Coded bool
	Line  uint32 // of the file, 1-based

	Comment string // retained comment, up to 80 bytes
}

// IsMissing tells a value that was reported as missing.
func (g *Gauge) IsMissing() bool { return g.Value == NoValue }

// Paired tells the elements whose values hold two numbers (SHEF manual 7.4.6).
func Paired(pe string) bool {
	switch pe {
	case "HQ", "MD", "MN", "MS", "MV", "NO", "ST", "TB", "TE", "TV":
		return true
	}
	return false
}

// MostDepth bounds the depth of a paired value: above it a float64 does not hold
// the seven decimals behind it.
const MostDepth = 1<<28 - 1

// SplitPair parts a paired value as the manual has the poster do (7.4.6): what
// stands before the point is the depth, height or marker; the three digits after
// it are the whole part of the value, those after them its decimals; a minus
// belongs to the value. 6.065 is 65 at 6, -21.0058 is -5.8 at 21, -2.9999 is
// missing at 2. Both are NoValue where v is.
func SplitPair(v float64) (at int, value float64) {
	if v == NoValue {
		return NoValue, NoValue
	}
	whole, frac := math.Modf(math.Abs(v))
	value = math.Round(frac*1e7) / 1e4
	switch {
	case v < 0 && value == 999.9:
		value = NoValue
	case v < 0 && value != 0:
		value = -value
	}
	return int(whole), value
}

// JoinPair is the inverse of SplitPair.
func JoinPair(at int, value float64) float64 {
	if at == NoValue {
		return NoValue
	}
	if value == NoValue {
		value = -999.9
	}
	v := math.Round((float64(at)+math.Abs(value)/1000)*1e7) / 1e7
	if value < 0 {
		return -v
	}
	return v
}

// Days counts the days from 1970-01-01 to a date of the Gregorian calendar. It
// counts years from March, so that the leap day is a year's last; 400 years
// have 146,097 days. Source: H. Hinnant, chrono-compatible low-level date
// algorithms.
func Days[I int | int32 | int64](year, month, day I) int64 {
	y, m := int64(year), int64(month)
	if m <= 2 {
		y--
		m += 12
	}
	era := floorDiv(y, 400)
	ofEra := y - era*400
	return era*146097 + ofEra*365 + ofEra/4 - ofEra/100 + (153*(m-3)+2)/5 + int64(day) - 1 - 719468
}

// Date is the inverse of Days.
func Date(days int64) (year, month, day int32) {
	days += 719468
	era := floorDiv(days, 146097)
	of := days - era*146097
	y := (of - of/1460 + of/36524 - of/146096) / 365
	of -= 365*y + y/4 - y/100
	m := (5*of + 2) / 153
	year, month, day = int32(y+era*400), int32(m+3), int32(of-(153*m+2)/5+1)
	if month > 12 {
		return year + 1, month - 12, day
	}
	return year, month, day
}

func floorDiv(a, b int64) int64 {
	if a < 0 {
		a -= b - 1
	}
	return a / b
}
