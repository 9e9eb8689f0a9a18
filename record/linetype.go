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
	Key  bool  // part of a record's identity: lines that share header, times and lead differ here (MPR's obs_sid …)
	Slot int   // index into Batch.Num, or into Batch.Text for Kind Text
	Rule *Rule // what a file may give it; nil for Kind Text
}

// Group describes the repeating columns of a line type: "(N)" in MET's tables,
// a count followed by groups of columns.
type Group struct {
	Count  string          // the column that holds n, e.g. "n_thresh"; it is one of Columns
	Fields []string        // the columns of one repetition, e.g. thresh_i, oy_i, on_i
	Len    func(n int) int // how many numbers follow in all for a count of n
	Rules  []*Rule         // of Fields
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
			c.Rule = ruleOf(t.Name, c.Name, c.Kind)
		}
	}
	if t.Group == nil {
		t.Lead = len(t.Columns)
		return &t
	}
	for _, f := range t.Group.Fields {
		t.Group.Rules = append(t.Group.Rules, ruleOf(t.Name, f, Float))
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

// The table of line types follows MET's met_header_columns_V12.0.txt: every
// line type of MET 12, plus METviewer's ENSCNT, which only VSDB files
// feed. Older versions of MET write the same columns, fewer of them: since
// V8.1 columns have been added at the end of a line only.
//
// A column's name is MET's in lower case, as in METviewer's line_data tables.
// INDEX and RANK are words of SQL; there METviewer's mp_index, orank_index and
// obs_rank stand (and gen_index beside them). METviewer spells a few others
// its own way: dt_corr for kt_corr, iqr for eiqr, n_pnt for n_pts, time_xll
// for tile_xll, v_vld for n_vld, mpr_fcst and mpr_obs for MPR's fcst and obs.
//
// A record's identity is its header, lead, times and those columns in which the
// lines that MET writes of one header and time differ: the places of the write_…_row
// functions of MET's stat_columns.cc, grid_stat.cc and tc_gen.cc that loop. What
// a run writes once is none (bin_size, beta_value, ec_value): two values of
// it are a contradiction, which is better reported than counted twice. METdbLoad
// has no identity of lines and stores all. Pairs have their place besides index
// and station: other tools than MET number nothing (GSI's pairs all have index
// 0 and, on ships, station MASKSTID).
//
// Counts that may be fractional are Float: the cells of contingency tables
// (VSDB's FHO lines give N times a rate, MET may weight grid points) and DX, DY.

// columns parses a compact list of column names: a trailing '#' marks a Count,
// '$' a Text, a leading '*' a column of the record's identity; behind x~ follow the
// limits of its bootstrap interval, x_bcl and x_bcu, behind x± before these those of
// its normal one, x_ncl and x_ncu.
func columns(list string) []Column {
	var cols []Column
	for name := range strings.FieldsSeq(list) {
		if x, ok := strings.CutSuffix(name, "±"); ok {
			cols = append(cols, columns(x+" "+x+"_ncl "+x+"_ncu "+x+"_bcl "+x+"_bcu")...)
			continue
		}
		if x, ok := strings.CutSuffix(name, "~"); ok {
			cols = append(cols, columns(x+" "+x+"_bcl "+x+"_bcu")...)
			continue
		}
		var c Column
		name, c.Key = strings.CutPrefix(name, "*")
		switch name[len(name)-1] {
		case '#':
			c.Kind, name = Count, name[:len(name)-1]
		case '$':
			c.Kind, name = Text, name[:len(name)-1]
		}
		c.Name = name
		cols = append(cols, c)
	}
	return cols
}

// times is the Len of a group of k fields that is there n times.
func times(k int) func(n int) int {
	return func(n int) int { return k * max(n, 0) }
}

// bins is the Len of a group of k fields that starts with a threshold: n
// thresholds bound n-1 bins, each with all fields, and the last threshold
// stands alone at the end (PCT, PJC, PRC).
func bins(k int) func(n int) int {
	return func(n int) int {
		if n < 1 {
			return 0
		}
		return k*(n-1) + 1
	}
}

// square is the Len of MCTC's group: a table of n forecast by n observed categories.
func square(n int) int { return n * n }

// types is the table; its order is that of the documentation.
var types = slices.Concat(pairTypes, probTypes, objectTypes) //nolint:gochecknoglobals // a constant table

var typeIndex = func() map[string]int { //nolint:gochecknoglobals // derived from the table
	m := make(map[string]int, len(types))
	for i, t := range types {
		m[t.Name] = i
	}
	return m
}()
