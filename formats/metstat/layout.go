package metstat

import (
	"fmt"
	"slices"
	"strings"

	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/record"
)

// Columns of MET's common header that are not header fields of a record.
const (
	leadColumn = "FCST_LEAD"
	typeColumn = "LINE_TYPE"
	firstWord  = "VERSION" // the first word of every header line
)

// commonColumns are the columns of MET's common header since V8.1.
var commonColumns = [...]struct { //nolint:gochecknoglobals // a constant table
	name     string
	field    record.Field
	isField  bool
	optional bool // older layouts lack it
	width    int  // in the writer's lines
}{
	{name: firstWord, field: record.Version, isField: true, width: 7},
	{name: "MODEL", field: record.Model, isField: true, width: 5},
	{name: "DESC", field: record.Descr, isField: true, optional: true, width: 4},
	{name: leadColumn, width: 9},
	{name: "FCST_VALID_BEG", width: 15},
	{name: "FCST_VALID_END", width: 15},
	{name: "OBS_LEAD", width: 8},
	{name: "OBS_VALID_BEG", width: 15},
	{name: "OBS_VALID_END", width: 15},
	{name: "FCST_VAR", field: record.FcstVar, isField: true, width: 9},
	{name: "FCST_UNITS", field: record.FcstUnits, isField: true, optional: true, width: 10},
	{name: "FCST_LEV", field: record.FcstLev, isField: true, width: 8},
	{name: "OBS_VAR", field: record.ObsVar, isField: true, width: 9},
	{name: "OBS_UNITS", field: record.ObsUnits, isField: true, optional: true, width: 9},
	{name: "OBS_LEV", field: record.ObsLev, isField: true, width: 7},
	{name: "OBTYPE", field: record.ObType, isField: true, width: 6},
	{name: "VX_MASK", field: record.VxMask, isField: true, width: 7},
	{name: "INTERP_MTHD", field: record.InterpMthd, isField: true, width: 11},
	{name: "INTERP_PNTS", field: record.InterpPnts, isField: true, width: 11},
	{name: "FCST_THRESH", field: record.FcstThresh, isField: true, width: 11},
	{name: "OBS_THRESH", field: record.ObsThresh, isField: true, width: 10},
	{name: "COV_THRESH", field: record.CovThresh, isField: true, width: 10},
	{name: "ALPHA", field: record.Alpha, isField: true, width: 5},
	{name: typeColumn, width: 9},
}

// timeColumns is the number of columns from FCST_LEAD to OBS_VALID_END.
const timeColumns = 6

// layout contains the positions of the common columns of a line.
type layout struct {
	lead          int                    // token of FCST_LEAD; the other times follow it
	lineType      int                    // token of LINE_TYPE; the type's own columns follow it
	field         [record.NumFields]int8 // token of each field, -1 = absent
	isAssumed     bool                   // the file has no header line before this line
	names         []string               // columns to the right of LINE_TYPE, if the header line names them
	headerProblem string                 // why no line below this header can be read; "" = they can
	objects       *objects               // MODE, MTD and TC-Pairs only: how their lines become STAT lines
	omitted       string                 // names of the columns that are not stored

	orders []columnOrder // of the line types below a header line with names; a cache
}

// columnOrder describes how a header line names the columns of lines of one type and version.
type columnOrder struct {
	lineType *record.LineType
	version  version
	columns  int      // how many columns of the type are named; 0 = the names are those of another type or version
	repeats  int      // how many repeating columns are named: RANK_1, RANK_2
	indices  []int    // for each column in MET's order, the index of its name; nil = the names are in MET's order
	names    []string // in MET's order, those of further columns last
}

// statLayout reads the words of a header line.
func statLayout(words [][]byte) layout {
	l := layout{}
	for f := range l.field {
		l.field[f] = -1
	}
	i := 0
	for _, c := range commonColumns {
		if i >= len(words) || string(words[i]) != c.name {
			if c.optional {
				continue
			}
			if other, ok := objectLayout(words); ok {
				return other
			}
			l.headerProblem = foreignHeader(words, i, c.name)
			return l
		}
		switch {
		case c.isField:
			l.field[c.field] = int8(i)
		case c.name == leadColumn:
			l.lead = i
		case c.name == typeColumn:
			l.lineType = i
		}
		i++
	}
	l.names = append(l.names, toStrings(words[i:])...)
	return l
}

func toStrings(words [][]byte) []string {
	return lists.Map(words, func(w []byte) string { return string(w) })
}

// order returns how the header line names the columns of lines of type t and of the version in tok. If it does not name
// all of them, the reader identifies columns by position. This is normal: the header line may be that of another type.
func (l *layout) order(t *record.LineType, tok []byte) *columnOrder {
	v := versionOf(tok)
	if i := slices.IndexFunc(l.orders, func(o columnOrder) bool { return o.lineType == t && o.version == v }); i >= 0 {
		return &l.orders[i]
	}
	o, indices, inOrder := columnOrder{lineType: t, version: v, names: l.names}, []int{}, true
	for k, c := range t.Columns {
		i := l.indexOf(t, c.Name)
		if i < 0 || slices.Contains(indices, i) {
			break
		}
		if k == t.ColumnsBeforeGroup {
			o.repeats = i - k
		}
		indices, inOrder = append(indices, i), inOrder && i == k+o.repeats
	}
	// The header line names all columns that this version or a later one wrote.
	namesAll := badLength(t, len(indices), l.addedColumns(t), tok) == ""
	if namesAll {
		o.columns = len(indices)
		if !inOrder {
			further := func(i int) bool { return !slices.Contains(indices, i) }
			o.indices = append(indices, lists.Filter(lists.Indices(len(l.names)), further)...)
			o.names = lists.Map(o.indices, func(i int) string { return l.names[i] })
		}
	}
	l.orders = append(l.orders, o)
	return &l.orders[len(l.orders)-1]
}

// indexOf returns the index of a column's name in the header line; −1 = none. Some names in record.Types are MET's with
// a prefix or a suffix: MET's INDEX is mp_index of MPR and index_pair of TCMPR, and the CLIMO_MEAN of older versions is
// obs_climo_mean. A name in the header line that is exactly another column of the type is never a match.
func (l *layout) indexOf(t *record.LineType, column string) int {
	if i := slices.IndexFunc(l.names, func(name string) bool { return strings.EqualFold(column, name) }); i >= 0 {
		return i
	}
	return slices.IndexFunc(l.names, func(name string) bool {
		name = strings.ToLower(name)
		_, isOtherColumn := t.Column(name)
		return !isOtherColumn && (strings.HasSuffix(column, "_"+name) || strings.HasPrefix(column, name+"_"))
	})
}

// reorder moves the tokens of a line's own columns, from token first on, to MET's order. It returns the order in which
// the header line names them, or nil if the header line does not name columns.
func (r *Reader) reorder(t *record.LineType, first int) (o *columnOrder, reason string) {
	if r.layout.names == nil {
		return nil, ""
	}
	o, own := r.layout.order(t, r.token(0)), r.tok[first:]
	switch {
	case o.indices == nil: // nothing to move
	case t.Group != nil:
		const format = "the preceding header line names the columns of %s, some of which repeat, in another order than MET"
		reason = fmt.Sprintf(format, t.Name)
	case len(own) != len(o.indices):
		const format = "the preceding header line names %d columns, those of %s in another order than MET, " +
			"but the line has %d"
		reason = fmt.Sprintf(format, len(o.indices), t.Name, len(own))
	default:
		r.unordered = append(r.unordered[:0], own...)
		for k, i := range o.indices {
			own[k] = r.unordered[i]
		}
	}
	return o, reason
}

// knownColumns returns how many of a line's lineColumns columns after LINE_TYPE the reader stores; repeating of them
// repeat. Columns that the type does not have, such as those of GSI diagnostics, are not stored if the header line
// names all columns of the type and has one name for each column of the line. Otherwise the result is lineColumns.
func (o *columnOrder) knownColumns(lineColumns, repeating int) int {
	if o == nil || o.columns == 0 || lineColumns != len(o.names) {
		return lineColumns
	}
	first := min(o.lineType.ColumnsBeforeGroup, o.columns)
	// The names of repeating columns end with a digit: RANK_1, F1_O1.
	isFixed := func(name string) bool { return name[len(name)-1]-'0' > 9 }
	if o.columns > first && o.repeats != repeating || slices.ContainsFunc(o.names[first:first+repeating], isFixed) {
		return lineColumns
	}
	return o.columns + repeating
}

// assumedLayout is the layout of MET since V8.1, for a file without a header line.
func assumedLayout() layout {
	var words [][]byte
	for _, c := range commonColumns {
		words = append(words, []byte(c.name))
	}
	l := statLayout(words)
	l.isAssumed = true
	return l
}

// foreignHeader returns the problem of a header line that lacks the column want at word i.
func foreignHeader(words [][]byte, i int, want string) string {
	if i >= len(words) {
		return fmt.Sprintf("the preceding header line is truncated: it ends before column %s", want)
	}
	return fmt.Sprintf("the preceding header line is not MET's: column %d is %q, but %s is expected",
		i+1, shorten(words[i]), want)
}

// maxShown is the number of bytes of a token that a reason quotes.
const maxShown = 40

// shorten returns a token for a reason. Of a long token it returns a copy of the beginning.
func shorten(tok []byte) []byte {
	if len(tok) > maxShown {
		return append(tok[:maxShown:maxShown], "..."...)
	}
	return tok
}
