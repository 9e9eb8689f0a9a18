package question

import (
	"slices"
	"strconv"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/stat"
)

// Kind is the canonical type of a column of an answer.
type Kind uint8

// The canonical types. Engines convert their values to these types, and answers are compared in
// them.
const (
	Text     Kind = iota // string
	Time                 // int64, Unix seconds, UTC
	Duration             // int64, seconds (forecast lead, observation lead)
	Number               // float64; NaN = missing
	List                 // []float64, one for each repetition in the record; NaN = missing
)

// Role is the place in a record that stores a column's value.
type Role uint8

// The roles. ValidBeg to ObsEnd are times and spans.
const (
	HeaderField Role = iota // Column.Field is the field
	Data                    // a column of the line type; Column.Slot is its index
	ValidBeg
	InitBeg
	Lead
	ValidEnd
	ObsLead
	ObsBeg
	ObsEnd
	Repeating      // a repeating column of the line type; Column.Slot is its index in Group.Fields
	GroupStatistic // only in a question with Mean: a count or mean over the records of a row
)

// Column is one column of an answer or of an order, under METviewer's name.
type Column struct {
	Name   string
	Role   Role
	Kind   Kind
	Field  record.Field // HeaderField only
	Slot   int          // Data: index in Batch.Num (Number) or Batch.Text (Text); Repeating: index in Group.Fields
	stride int          // Repeating only: how many columns repeat together
}

// Repeats names the list in which an engine stores all repeating columns of a record.
const Repeats = stat.Repeats

// StoredName is the name under which an engine stores c. All repeating columns of a record are
// stored in one list.
func (c *Column) StoredName() string {
	if c.Role == Repeating {
		return Repeats
	}
	return c.Name
}

// AppendList appends the values of a Repeating column. repeats are the values of all repeating
// columns of the record.
func (c *Column) AppendList(dst, repeats []float64) []float64 {
	for i := c.Slot; i < len(repeats); i += c.stride {
		dst = append(dst, repeats[i])
	}
	return dst
}

var timeColumns = [...]Column{ //nolint:gochecknoglobals // a constant table, in the order of the roles
	{Name: "fcst_valid_beg", Role: ValidBeg, Kind: Time},
	{Name: "fcst_init_beg", Role: InitBeg, Kind: Time},
	{Name: "fcst_lead", Role: Lead, Kind: Duration},
	{Name: "fcst_valid_end", Role: ValidEnd, Kind: Time},
	{Name: "obs_lead", Role: ObsLead, Kind: Duration},
	{Name: "obs_valid_beg", Role: ObsBeg, Kind: Time},
	{Name: "obs_valid_end", Role: ObsEnd, Kind: Time},
}

// ColumnByName finds a header field, a time or a data column of t. If t is nil, it finds only fields and times.
func ColumnByName(t *record.LineType, name string) (Column, error) {
	if f, ok := record.FieldByName(name); ok {
		return Column{Name: name, Role: HeaderField, Kind: Text, Field: f}, nil
	}
	for _, c := range timeColumns {
		if c.Name == name {
			return c, nil
		}
	}
	if t != nil {
		if c, ok := t.Column(name); ok {
			kind := Number
			if c.Kind == record.Text {
				kind = Text
			}
			return Column{Name: name, Role: Data, Kind: kind, Slot: c.Slot}, nil
		}
		if t.Group != nil {
			if k := slices.Index(t.Group.Fields, name); k >= 0 {
				return Column{Name: name, Role: Repeating, Kind: List, Slot: k, stride: len(t.Group.Fields)}, nil
			}
		}
		problem := "is no header field, no time and no column of " + t.Name
		return Column{}, &fault.Error{Setting: strconv.Quote(name), Problem: problem, Cure: "see `barograph list linetypes`"}
	}
	return Column{}, &fault.Error{Setting: strconv.Quote(name), Problem: "is no header field and no time"}
}

// Columns is ColumnByName for several names.
func Columns(t *record.LineType, names ...string) ([]Column, error) {
	cols := make([]Column, len(names))
	for i, n := range names {
		c, err := ColumnByName(t, n)
		if err != nil {
			return nil, err
		}
		cols[i] = c
	}
	return cols, nil
}

// Value reads the column from row i of b. Kind decides which of the three results is set: text,
// seconds or number. Use AppendList for a List.
func (c *Column) Value(b *record.Batch, i int) (text string, seconds int64, number float64) {
	switch {
	case c.Role == HeaderField:
		return b.Header(i)[c.Field], 0, 0
	case c.Role != Data:
		return "", c.Role.Seconds(b, i), 0
	case c.Kind == Text:
		return b.Text[c.Slot][i], 0, 0
	default:
		return "", 0, b.Num[c.Slot][i]
	}
}

// Seconds is the time or span of row i of b. It is small enough to be inlined, because it is called for each row.
func (r Role) Seconds(b *record.Batch, i int) int64 {
	switch r {
	case ValidBeg:
		return b.Valid[i]
	case InitBeg:
		return b.Init(i)
	case Lead:
		return int64(b.Lead[i])
	case ValidEnd:
		return b.ValidEnd[i]
	case ObsLead:
		return int64(b.ObsLead[i])
	case ObsBeg:
		return b.ObsBeg[i]
	default:
		return b.ObsEnd[i]
	}
}
