package record

import (
	"slices"
	"strings"

	"github.com/barograph/barograph/internal/lists"
)

// Kind is the type of a column.
type Kind uint8

// The kinds of column.
const (
	Float Kind = iota // float64; NaN = missing
	Count             // an integer (TOTAL, INDEX, FY_OY …), stored as float64; NaN = missing
	Text              // a word such as OBS_SID; "NA" = missing
)

// Column is one column of a line type, to the right of LINE_TYPE (MET) or of the '=' (VSDB).
type Column struct {
	// Name is MET's in lower case, as in METviewer's line_data tables. The comment before func columns lists the
	// exceptions.
	Name string
	Kind Kind
	// InIdentity: lines with the same header, times and lead are different records if they differ here (MPR's obs_sid …).
	InIdentity bool
	Slot       int   // index into Batch.Num, or into Batch.Text for Kind Text
	Rule       *Rule // allowed values in files; nil for Kind Text
}

// Group describes the repeating columns of a line type: "(N)" in MET's tables,
// a count followed by groups of columns.
type Group struct {
	Count  string          // the column that contains n, e.g. "n_thresh"; it is one of Columns
	Fields []string        // the columns of one repetition, e.g. thresh_i, oy_i, on_i
	Times  string          // how many times Fields repeat, in words
	Len    func(n int) int // total number of repeating values for a count of n
	Rules  []*Rule         // rules of Fields
}

// LineType is a row of the table of line types: a name and typed columns. All parsers, every engine's schema and the
// documentation share the table.
type LineType struct {
	Name               string // "SL1L2"
	Summary            string
	Columns            []Column // the fixed columns: those before the repeating group, then those after it
	ColumnsBeforeGroup int      // number of Columns before the repeating group; len(Columns) without a group
	Group              *Group   // nil = no repeating columns

	numericCount, textCount int
	byName                  map[string]*Column
}

// NumCols is the number of fixed numeric columns, i.e. len(Batch.Num).
func (t *LineType) NumCols() int { return t.numericCount }

// TextCols is the number of text columns, i.e. len(Batch.Text).
func (t *LineType) TextCols() int { return t.textCount }

// Column finds a column by its METviewer name.
func (t *LineType) Column(name string) (*Column, bool) {
	c, ok := t.byName[name]
	return c, ok
}

// IdentityColumns returns the columns that belong to a record's identity.
func (t *LineType) IdentityColumns() []Column {
	return lists.Filter(t.Columns, func(c Column) bool { return c.InIdentity })
}

// withDerivedFields fills the fields that are derived from Columns: slots, rules and indexes.
func (t LineType) withDerivedFields() *LineType {
	t.byName = make(map[string]*Column, len(t.Columns))
	t.Columns = slices.Clone(t.Columns)
	for i := range t.Columns {
		c := &t.Columns[i]
		t.byName[c.Name] = c
		if c.Kind == Text {
			c.Slot, t.textCount = t.textCount, t.textCount+1
		} else {
			c.Slot, t.numericCount = t.numericCount, t.numericCount+1
			c.Rule = ruleOf(t.Name, c.Name, c.Kind)
		}
	}
	if t.Group == nil {
		t.ColumnsBeforeGroup = len(t.Columns)
		return &t
	}
	for _, f := range t.Group.Fields {
		t.Group.Rules = append(t.Group.Rules, ruleOf(t.Name, f, Float))
	}
	return &t
}

// TypeByName finds a line type by its name, in any letter case.
func TypeByName(name string) (*LineType, bool) {
	t, ok := typesByName[strings.ToUpper(name)]
	return t, ok
}

// Types returns the table of line types, in the order of the documentation. The caller must not change the
// slice or what it points to.
func Types() []*LineType { return types }

// The table of line types follows MET's met_header_columns_V12.0.txt: every line type of MET 12, plus
// METviewer's ENSCNT, which occurs only in VSDB files. Older versions of MET write fewer of these columns:
// since V8.1, MET has added columns only at the end of a line.
//
// A column's name is MET's in lower case, as in METviewer's line_data tables. INDEX and RANK are reserved in
// SQL; METviewer's names mp_index, orank_index and obs_rank replace them (and, accordingly, gen_index).
// METviewer also has other names for dt_corr (kt_corr), iqr (eiqr), n_pnt (n_pts), time_xll (tile_xll),
// v_vld (n_vld), and mpr_fcst and mpr_obs (MPR's fcst and obs).
//
// A record's identity is its header, lead and times, and the columns that distinguish the lines that MET writes
// for one header and time. These are the columns over which the write_…_row functions of MET's stat_columns.cc,
// grid_stat.cc and tc_gen.cc loop. A column that a MET run writes once (bin_size, beta_value, ec_value) does not
// belong to the identity: two of its values are a conflict, which should be reported and not counted twice.
// METdbLoad does not identify lines and stores all. The identity of pairs includes their location in addition to
// index and station, because tools other than MET do not number pairs (GSI's pairs all have index 0 and, on
// ships, station MASKSTID).
//
// Counts that may be fractional are Float: the cells of contingency tables (VSDB's FHO lines contain N times a
// rate, and MET may weight grid points) and DX, DY.

// columns parses a compact list of column names. A trailing '#' marks a Count, '$' a Text, and a
// leading '*' a column of the record's identity. x~ stands for x and the limits of its bootstrap
// interval, x_bcl and x_bcu. x± also adds those of its normal interval, x_ncl and x_ncu, before
// them.
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
		name, c.InIdentity = strings.CutPrefix(name, "*")
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

func newLineType(name, summary, columnList string) LineType {
	return LineType{Name: name, Summary: summary, Columns: columns(columnList)}
}

// withGroup adds a group that follows all columns.
func (t LineType) withGroup(g *Group) LineType { return t.withGroupAfter(len(t.Columns), g) }

// withGroupAfter adds a group that follows n of the columns.
func (t LineType) withGroupAfter(n int, g *Group) LineType {
	t.Group, t.ColumnsBeforeGroup = g, n
	return t
}

// repeatedGroup repeats all fields n times.
func repeatedGroup(count string, fields ...string) *Group {
	return &Group{Count: count, Fields: fields, Times: count + " times", Len: func(n int) int { return len(fields) * max(n, 0) }}
}

// binnedGroup has thresholds as its first field: n thresholds bound n-1 bins, each with all fields, and only the last
// threshold follows.
func binnedGroup(count string, fields ...string) *Group {
	return &Group{Count: count, Fields: fields, Times: count + " - 1 times, then once more the first one", Len: func(n int) int {
		if n < 1 {
			return 0
		}
		return len(fields)*(n-1) + 1
	}}
}

// squareGroup is a table of n forecast by n observed categories.
func squareGroup(count, field string) *Group {
	return &Group{Count: count, Fields: []string{field}, Times: count + " * " + count + " times", Len: func(n int) int { return n * n }}
}

// types is the table, in the order of the documentation.
var types = lists.Map(slices.Concat(pairTypes, probTypes, objectTypes), LineType.withDerivedFields) //nolint:gochecknoglobals // a constant table

var typesByName = func() map[string]*LineType { //nolint:gochecknoglobals // derived from the table
	m := make(map[string]*LineType, len(types))
	for _, t := range types {
		m[t.Name] = t
	}
	return m
}()
