package record

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/zeebo/xxh3"
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
	Group    []float64   // the repeating columns of all rows, one row after the other
	GroupEnd []uint32    // row i has the values Group[GroupEnd[i-1]:GroupEnd[i]]; empty if Type.Group is nil

	// columns of the lines that Type does not have, by name, blank-separated → lines; nil = none
	OmittedColumns map[string]int

	// the archive stores these records in addition to others of the same identity with different
	// values
	KeepConflicts bool

	Rejects []Reject // lines that could not be read, each with its reason
	// Lines is the number of data lines, stored and rejected. What a reader makes of two lines (MTD's
	// revisions) counts as one.
	Lines int
}

// Reject is a quarantined line.
type Reject struct {
	File   string
	Line   uint32 // 1-based
	Reason string // the reason, with the wrong token
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

// AppendTimes starts a row with plain times (see Plain). The caller then appends to every Num,
// every Text and, if the type has a group, to GroupEnd.
func (b *Batch) AppendTimes(head uint32, lead int32, valid int64, line uint32) {
	b.HeaderIndex = append(b.HeaderIndex, head)
	b.Lead = append(b.Lead, lead)
	b.Valid = append(b.Valid, valid)
	b.ValidEnd = append(b.ValidEnd, valid)
	b.ObsLead = append(b.ObsLead, 0)
	b.ObsBeg = append(b.ObsBeg, valid)
	b.ObsEnd = append(b.ObsEnd, valid)
	b.Line = append(b.Line, line)
}

// AppendRow copies row i of src, which must have the same Type, with header number head of b.
func (b *Batch) AppendRow(src *Batch, i int, head uint32) {
	b.HeaderIndex = append(b.HeaderIndex, head)
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
	if len(text) > MaxRejectText {
		text = text[:MaxRejectText]
	}
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

// ReplaceRow overwrites row at with row i of src, which must have the same identity.
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
	return slices.EqualFunc(b.Repeats(i), o.Repeats(j), func(x, y float64) bool { return canonicalBits(x) == canonicalBits(y) })
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

// Filter copies the wanted rows of b.
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

// Field is one header field. The names are METviewer's column names of stat_header, plus cov_thresh
// and alpha, which METviewer stores with the data.
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

// Header identifies a series: one value per Field, as text. It is comparable. All formats share
// these rules (of METviewer's stat_header): absent text is "NA", an absent interp_pnts is "0", and
// fcst_lev and obs_lev may be empty (VSDB's TSOILT and WSOILT).
type Header [NumFields]string

// DefaultHeader returns a header with the text for "absent" in every field: NA, and 0 for
// interp_pnts.
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

// hash is a digest of all fields. It includes the length of each field, which keeps neighboring
// fields apart.
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

// Parameter is a complete SHEF parameter code, PEDTSEP (SHEF manual 3.3): physical element,
// duration, type, source, extremum, probability. Defaults are filled in: "HG" becomes HGIRZZZ.
type Parameter [7]byte

// PE returns the physical element.
func (p Parameter) PE() string { return string(p[:2]) }

// String returns all seven characters.
func (p Parameter) String() string { return string(p[:]) }

// NoTime is the creation time of a value that was sent without one.
const NoTime = math.MinInt64

// NoValue is the value of a Gauge that was reported as missing, as in SHEFOUT and in the databases
// of the National Weather Service.
const NoValue = -9999

// Gauge is one value of a SHEF message, which shefit writes as one record of SHEFOUT (SHEF manual,
// appendix H). Times are Unix seconds, UTC; units are English (SHEF manual, table 1).
type Gauge struct {
	Station ID
	Source  ID // of a .B message, else empty
	Code    Parameter
	// Quality is the qualifier (SHEF manual, table 10), 'Z' if none was given.
	Quality byte

	Time    int64 // of observation, or the end of the period
	Created int64 // NoTime if it was not given
	Value   float64

	// Duration in shefit's encoding: 0mmm minutes, 1hhh hours, 2ddd days, 3mmm
	// months, 4yyy years, 500n see appendix H, 7sss seconds.
	Duration    int16
	Probability float32 // 0…1; -0.5 the mean, -1 none
	Revised     bool    // the message was .AR, .BR or .ER
	// Series: 0 not of a time series, 1 its first element, 2 a later one.
	Series byte
	// HasProbability reports that the message contained the probability, i.e. all seven characters of the code.
	HasProbability bool
	Line           uint32 // of the file, 1-based

	Comment string // retained comment, up to 80 bytes
}

// IsMissing reports whether the value was reported as missing.
func (g *Gauge) IsMissing() bool { return g.Value == NoValue }

// HasPairedValues reports whether the values of an element contain two numbers (SHEF manual 7.4.6).
func HasPairedValues(pe string) bool {
	switch pe {
	case "HQ", "MD", "MN", "MS", "MV", "NO", "ST", "TB", "TE", "TV":
		return true
	}
	return false
}

// MaxPairDepth is the largest depth of a paired value for which a float64 has room for the seven
// decimals after it.
const MaxPairDepth = 1<<28 - 1

// SplitPair splits a paired value as the manual instructs posters to do (7.4.6): the digits before
// the point are the depth, height or marker; the three digits after it are the integer part of the
// value, the digits after those its decimals; a minus belongs to the value. 6.065 is 65 at 6,
// -21.0058 is -5.8 at 21, -2.9999 is missing at 2. If v is NoValue, both results are.
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

// Days counts the days from 1970-01-01 to a date of the Gregorian calendar. It counts years from
// March, which makes the leap day the last day of a year; 400 years have 146,097 days. Source: H.
// Hinnant, chrono-compatible low-level date algorithms.
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
