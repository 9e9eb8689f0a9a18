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

// columnOrder is the order in which a header line names the columns of a line type.
type columnOrder struct {
	lineType *record.LineType
	from     []int // see layout.order
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

// order returns, for each column of type t, its place among the names of the header line. It returns
// nil if the columns are in MET's order, or if the header line does not name all of them. The place
// of a value then identifies its column, as in lines of another type that were appended without
// their header line.
func (l *layout) order(t *record.LineType) (from []int) {
	if i := slices.IndexFunc(l.orders, func(o columnOrder) bool { return o.lineType == t }); i >= 0 {
		return l.orders[i].from
	}
	for _, c := range t.Columns {
		i := slices.IndexFunc(l.names, func(name string) bool { return strings.EqualFold(c.Name, name) })
		if i < 0 || slices.Contains(from, i) || t.Group != nil {
			from = nil
			break
		}
		from = append(from, i)
	}
	if slices.IsSorted(from) {
		from = nil
	}
	l.orders = append(l.orders, columnOrder{t, from})
	return from
}

// reorder moves the tokens of a line's own columns, from token first on, to MET's order.
func (r *Reader) reorder(t *record.LineType, first int) string {
	if r.layout.names == nil {
		return ""
	}
	from, own := r.layout.order(t), r.tok[first:]
	if from == nil {
		return ""
	}
	if len(own) != len(from) {
		return fmt.Sprintf("the preceding header line names the %d columns of %s in another order than MET, but the line has %d",
			len(from), t.Name, len(own))
	}
	r.named = append(r.named[:0], own...)
	for k, i := range from {
		own[k] = r.named[i]
	}
	return ""
}

// knownColumns returns how many of all columns of a line belong to type t, with n repeating ones.
// This is less than all only if the header line names all columns and further ones follow, as in
// the files of GSI diagnostics.
func (l *layout) knownColumns(t *record.LineType, all, n int, version []byte) int {
	if all-n <= len(t.Columns) || all != len(l.names) {
		return all
	}
	for i, name := range l.names[t.ColumnsBeforeGroup : t.ColumnsBeforeGroup+n] {
		field := strings.TrimSuffix(t.Group.Fields[i%len(t.Group.Fields)], "i") // RANK_1 is a rank_i
		if !strings.HasPrefix(strings.ToLower(name), field) {
			return all
		}
	}
	names := slices.Concat(l.names[:t.ColumnsBeforeGroup], l.names[t.ColumnsBeforeGroup+n:])
	k := 0
	for k < len(t.Columns) && isNamed(t.Columns[k].Name, names[k]) {
		k++
	}
	if badLength(t, k, version) != "" {
		return all
	}
	return k + n
}

// isNamed reports whether MET's name of a column corresponds to the table's. Some of the table's
// names have a prefix or a suffix: INDEX is mp_index and index_pair, CLIMO_MEAN was obs_climo_mean.
func isNamed(column, name string) bool {
	name = strings.ToLower(name)
	return column == name || strings.HasSuffix(column, "_"+name) || strings.HasPrefix(column, name+"_")
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
	return fmt.Sprintf("the preceding header line is not MET's: column %d is %q, but %s is expected", i+1, shorten(words[i]), want)
}

// maxShown is the number of bytes of a token that a reason quotes.
const maxShown = 40

// shorten cuts a long token for a reason, and copies it.
func shorten(tok []byte) []byte {
	if len(tok) > maxShown {
		return append(tok[:maxShown:maxShown], "..."...)
	}
	return tok
}
