package record

import (
	"slices"
	"strings"
)

// Kind tells what a column of a line type holds.
type Kind uint8

// The kinds of column.
const (
	Float Kind = iota // float64; NaN = missing
	Count             // a whole number (TOTAL, INDEX, FY_OY …), kept as float64; NaN = missing
	Text              // a word such as OBS_SID; "NA" = missing
)

// Column is one column of a line type, to the right of LINE_TYPE (MET) or of
// the '=' (VSDB).
type Column struct {
	Name string // MET's in lower case, as in METviewer's line_data tables; the few exceptions stand in linetypes.go
	Kind Kind
	Key  bool // part of a record's identity: lines that share header, times and lead differ here (MPR's obs_sid …)
	Slot int  // index into Batch.Num, or into Batch.Text for Kind Text
}

// Group describes the repeating columns of a line type: "(N)" in MET's tables,
// a count followed by groups of columns.
type Group struct {
	Count  string          // the column that holds n, e.g. "n_thresh"; it is one of Columns
	Fields []string        // the columns of one repetition, e.g. thresh_i, oy_i, on_i
	Len    func(n int) int // how many numbers follow in all for a count of n
}

// LineType is a row of the table of line types: a name and typed columns. One
// table serves VSDB and MET alike, every engine's schema and the documentation.
type LineType struct {
	Name    string // "SL1L2"
	Summary string
	Columns []Column // the fixed columns: those before the repeating group, then those after it
	Lead    int      // how many of Columns stand before the repeating group; len(Columns) without one
	Group   *Group   // nil = no repeating columns

	nums, texts int
	byName      map[string]int
}

// NumCols is the number of numeric fixed columns, i.e. len(Batch.Num).
func (t *LineType) NumCols() int { return t.nums }

// TextCols is the number of text columns, i.e. len(Batch.Text).
func (t *LineType) TextCols() int { return t.texts }

// Column finds a column by its METviewer name.
func (t *LineType) Column(name string) (*Column, bool) {
	i, ok := t.byName[name]
	if !ok {
		return nil, false
	}
	return &t.Columns[i], true
}

// Keys returns the columns that belong to a record's identity.
func (t *LineType) Keys() []Column {
	var keys []Column
	for _, c := range t.Columns {
		if c.Key {
			keys = append(keys, c)
		}
	}
	return keys
}

// index fills what is derived from Columns; every row of the table passes here.
func (t LineType) index() *LineType {
	t.byName = make(map[string]int, len(t.Columns))
	t.Columns = slices.Clone(t.Columns)
	for i := range t.Columns {
		c := &t.Columns[i]
		t.byName[c.Name] = i
		if c.Kind == Text {
			c.Slot, t.texts = t.texts, t.texts+1
		} else {
			c.Slot, t.nums = t.nums, t.nums+1
		}
	}
	if t.Group == nil {
		t.Lead = len(t.Columns)
	}
	return &t
}

// TypeByName finds a line type by its name, in any letter case.
func TypeByName(name string) (*LineType, bool) {
	i, ok := typeIndex[strings.ToUpper(name)]
	if !ok {
		return nil, false
	}
	return types[i], true
}

// Types returns the table of line types, in its documented order. The slice
// and what it points to must not be changed.
func Types() []*LineType { return types }
