package mariadb

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/record"
)

// column maps a column of Barograph's records to METviewer's tables. A value that METviewer's
// column cannot store is in an invisible column of the same table, its twin. Barograph adds the
// twin when the first such value arrives.
type column struct {
	sqlengine.Column        // the part of a record; Name is the record's name of it
	met              metCol // METviewer's column; its kind is none if METviewer has no such column
	alias            string // alias of its table in a SELECT: h or ld
	offset           int    // METviewer's number is the record's minus this
}

// twin returns the name of the invisible column.
func (c *column) twin() string { return "barograph_" + c.Name }

// twinType returns the invisible column's type. A text of a record is stored as bytes, which no
// character set changes.
func (c *column) twinType() string {
	switch {
	case c.isText():
		return "LONGBLOB"
	case c.From == sqlengine.Data:
		return "DOUBLE"
	}
	return "INT" // leads
}

func (c *column) isText() bool {
	return c.From == sqlengine.Header || (c.From == sqlengine.Data && c.Data.Kind == record.Text)
}

// expr returns the expression of the column's value in a SELECT.
func (c *column) expr(twins map[string]bool) string {
	base := c.alias + "." + c.met.name
	switch lacking := twins[lacksPrefix+c.met.name]; {
	case lacking && c.met.name == "ec_value" && c.met.defaultValue == missingText: // METdataio's update scripts fill it this way
		base = "1 / ld.n_cat"
	case lacking && c.met.name == "ec_value":
		base = c.met.defaultValue
	case (lacking || c.met.kind == none) && c.isText():
		base = "'NA'"
	case lacking || c.met.kind == none:
		base = "NULL"
	case c.From == sqlengine.Header && c.met.kind == double: // alpha
		base = "IF(" + base + " = -9999, 'NA', CAST(" + base + " AS CHAR))"
	case c.usesMissing():
		base = "IF(BINARY " + base + " = '" + missingText + "', 'NA', " + base + ")"
	case c.offset != 0:
		base = "(" + base + " + " + strconv.Itoa(c.offset) + ")"
	}
	if twins[c.twin()] {
		return "COALESCE(" + c.alias + "." + c.twin() + ", " + base + ")"
	}
	return base
}

// lacksPrefix marks, among the twins of a table, a column of METviewer 5.1 that a database with an older
// schema does not have.
const lacksPrefix = "lacks "

// markLacking adds, with lacksPrefix, the columns that a table of another program lacks. twins lists all
// columns of the table.
func markLacking(table string, twins map[string]bool) {
	add := func(cols []column) {
		for _, c := range cols {
			if c.met.kind != none && !twins[c.met.name] {
				twins[lacksPrefix+c.met.name] = true
			}
		}
	}
	if table == design.HeaderTable {
		add(headerColumns())
	}
	for _, t := range record.Types() {
		if hasTable(t) && table == tableOf(t) {
			add(lineColumns(t))
		}
	}
}

// missingText is a missing text in METviewer's tables of lines. In stat_header it is NA.
const missingText = "-9999"

// usesMissing reports whether this column stores a missing text as missingText.
func (c *column) usesMissing() bool { return c.alias == "ld" && c.met.kind == varchar && c.isText() }

// headerColumns returns the columns of stat_header, without its id.
func headerColumns() []column {
	mets := parseColumns(metviewerHeader, "")
	cols := sqlengine.HeaderColumns()[1:]
	return lists.Map(lists.Indices(len(cols)), func(k int) column { return column{Column: cols[k], met: mets[k], alias: "h"} })
}

// lineColumns returns the columns of the table of a line type, without the repeating ones.
func lineColumns(t *record.LineType) []column {
	byName := map[string]metCol{}
	for _, m := range append(stdColumns(t.Name), parseColumns(metviewerLines[t.Name], t.Name)...) {
		byName[m.name] = m
	}
	var out []column
	for _, c := range sqlengine.LineColumns(t) {
		name := c.Name
		if other, ok := metviewerNames[t.Name][name]; ok && c.From == sqlengine.Data {
			name = other
		}
		if c.From != sqlengine.Repeats {
			col := column{Column: c, met: byName[name], alias: "ld"}
			if t.Name == "PCT" && name == "n_thresh" {
				col.offset = 1 // METviewer counts the rows of line_data_pct_thresh, MET the thresholds
			}
			out = append(out, col)
		}
	}
	return out
}

// tableOf returns the name of the table of a line type.
func tableOf(t *record.LineType) string {
	if !hasTable(t) {
		return "barograph_" + design.LineTable(t)
	}
	return design.LineTable(t)
}

// ownHeader contains the headers of types for which METviewer has no line table: METviewer lists all
// headers of stat_header, and METdbLoad writes none there for these types.
const ownHeader = "barograph_" + design.HeaderTable

// headerTable returns the name of the table with the headers of a line type. Archives that were created
// before ownHeader existed have all headers in stat_header, and loads add to that table.
func headerTable(t *record.LineType, twins map[string]map[string]bool) string {
	if hasTable(t) || twins[ownHeader] == nil {
		return design.HeaderTable
	}
	return ownHeader
}

// idColumn returns the column that numbers the rows of a line type's table.
func idColumn(t *record.LineType) string {
	if hasLineID(t) {
		return idOfLines
	}
	return rowColumn
}

// idOfLines is METviewer's column that numbers the records of types with repeating columns.
const idOfLines = "line_data_id"

// ownColumn returns the column of a line type's table that is NULL in rows of another program.
func ownColumn(t *record.LineType) string {
	if hasLineID(t) {
		return repeatsColumn
	}
	return rowColumn
}

// ownID returns the expression of idColumn; -1 = another program has loaded the row.
func ownID(t *record.LineType) string {
	return "IF(ld." + ownColumn(t) + " IS NULL, -1, ld." + idColumn(t) + ")"
}

// null is NULL in the text of LOAD DATA.
const null = `\N`

// number appends a number as METviewer's column stores it, or the nearest number that it can
// store. exact reports whether the number is unchanged.
func (c *column) number(dst []byte, f float64) (_ []byte, exact bool) {
	missing := math.IsNaN(f)
	switch c.met.kind {
	case unsigned:
		return appendInteger(dst, f, 0, math.MaxUint32, null)
	case signed:
		return appendInteger(dst, f, math.MinInt32, math.MaxInt32, "-9999")
	case boolean: // only in METviewer's tables of objects, where it is never missing
		return appendInteger(dst, f, 0, 1, "0")
	case none:
		return dst, missing
	}
	if missing {
		return append(dst, "-9999"...), true
	}
	n := len(dst)
	dst = strconv.AppendFloat(dst, f, 'g', -1, 64)
	if c.met.kind == varchar && len(dst)-n > c.met.width {
		dst = dst[:n+c.met.width]
		return dst, false
	}
	return dst, true
}

func appendInteger(dst []byte, f, low, high float64, missing string) ([]byte, bool) {
	if math.IsNaN(f) {
		return append(dst, missing...), true
	}
	near := min(max(math.Round(f), low), high)
	return strconv.AppendInt(dst, int64(near), 10), near == f
}

// text appends a text as METviewer's column stores it, or the nearest text that it can store.
func (c *column) text(dst []byte, s string) (_ []byte, exact bool) {
	switch c.met.kind {
	case varchar:
		if c.usesMissing() && s == record.NA {
			return append(dst, missingText...), true
		}
		dst, exact = appendLatin(dst, s, c.met.width)
		return dst, exact && (!c.usesMissing() || s != missingText)
	case unsigned: // interp_pnts
		n, err := strconv.ParseUint(s, 10, 32)
		if err != nil {
			return append(dst, null...), false
		}
		dst = strconv.AppendUint(dst, n, 10)
		return dst, s == strconv.FormatUint(n, 10)
	case double: // alpha
		f, err := strconv.ParseFloat(s, 64)
		if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
			return append(dst, "-9999"...), s == record.NA
		}
		dst = strconv.AppendFloat(dst, f, 'g', -1, 64)
		plain := f > 1e-4 && f < 1e6 && len(s) < 10
		return dst, plain && s == strconv.FormatFloat(f, 'f', -1, 64)
	}
	return dst, s == record.NA
}

// appendLatin appends a text in latin1, shortened to width characters. It replaces characters
// outside latin1 by question marks. Only ASCII counts as exact.
func appendLatin(dst []byte, s string, width int) ([]byte, bool) {
	exact := len(s) <= width
	n := 0
	for _, r := range s {
		if n == width {
			break
		}
		n++
		switch {
		case r < 0x80:
			dst = appendByte(dst, byte(r))
			continue
		case r >= 0xa0 && r <= 0xff:
			dst = append(dst, byte(r))
		default:
			dst = append(dst, '?')
		}
		exact = false
	}
	return dst, exact
}

// appendByte appends a byte of a text for LOAD DATA.
func appendByte(dst []byte, c byte) []byte {
	switch c {
	case '\t':
		return append(dst, '\\', 't')
	case '\n':
		return append(dst, '\\', 'n')
	case '\\':
		return append(dst, '\\', '\\')
	case 0:
		return append(dst, '\\', '0')
	}
	return append(dst, c)
}

// appendText appends a text for LOAD DATA.
func appendText[S string | []byte](dst []byte, s S) []byte {
	for i := range len(s) {
		dst = appendByte(dst, s[i])
	}
	return dst
}

// constantExpr returns the expression of a column that the loader need not send, because the server can
// compute it; "" = the loader must send it. Such a column is
//
//   - a time that is the valid time of every record,
//   - an observation lead that is always 0,
//   - a number that is missing in all records; missing is its stored form,
//   - a header field that is the same in all records.
//
// Such columns are half of the text of a VSDB record, and parsing text is the server's greatest
// cost.
func constantExpr(c *sqlengine.Column, batches []*record.Batch, missing string) string {
	if len(batches) == 0 {
		return ""
	}
	ifAll := func(isSo func(b *record.Batch) bool, value string) string {
		if slices.ContainsFunc(batches, func(b *record.Batch) bool { return !isSo(b) }) {
			return ""
		}
		return value
	}
	switch c.From {
	case sqlengine.ValidEnd:
		return ifAll(func(b *record.Batch) bool { return slices.Equal(b.ValidEnd, b.Valid) }, "fcst_valid_beg")
	case sqlengine.ObsBeg:
		return ifAll(func(b *record.Batch) bool { return slices.Equal(b.ObsBeg, b.Valid) }, "fcst_valid_beg")
	case sqlengine.ObsEnd:
		return ifAll(func(b *record.Batch) bool { return slices.Equal(b.ObsEnd, b.Valid) }, "fcst_valid_beg")
	case sqlengine.ObsLead:
		return ifAll(func(b *record.Batch) bool {
			return !slices.ContainsFunc(b.ObsLead, func(v int32) bool { return v != 0 })
		}, "0")
	case sqlengine.Header:
		return constantField(c.Field, batches)
	case sqlengine.Data:
		if c.Data.Kind == record.Text {
			return ""
		}
		return ifAll(func(b *record.Batch) bool {
			return !slices.ContainsFunc(b.Num[c.Data.Slot], func(f float64) bool { return f == f })
		}, missing)
	}
	return ""
}

// constantField is constantExpr for a header field. The loader sends a field that a literal cannot express.
func constantField(f record.Field, batches []*record.Batch) string {
	first := true
	var value string
	for _, b := range batches {
		for i := range b.Headers {
			if first {
				value, first = b.Headers[i][f], false
			}
			if b.Headers[i][f] != value {
				return ""
			}
		}
	}
	if first || !utf8.ValidString(value) || strings.ContainsRune(value, 0) {
		return ""
	}
	return flavour.Quote(value)
}

// splitConstants splits the columns of a table into those that the loader sends, with their names, and
// assignments of constantExpr.
func splitConstants(cols []sqlengine.Column, batches []*record.Batch) (sent []sqlengine.Column, names, set []string) {
	for k := range cols {
		c := &cols[k]
		if value := constantExpr(c, batches, "NULL"); value != "" {
			set = append(set, c.Name+" = "+value)
			continue
		}
		sent, names = append(sent, *c), append(names, c.Name)
	}
	return sent, names, set
}

// timeCache caches the texts of recent times.
type timeCache struct{ known map[int64]string }

// maxCachedTimes is the greatest size of the cache.
const maxCachedTimes = 1 << 16

// text returns a time in the shortest form that the server parses.
func (t *timeCache) text(epoch int64) string {
	s, ok := t.known[epoch]
	if ok {
		return s
	}
	if len(t.known) == maxCachedTimes || t.known == nil {
		t.known = map[int64]string{}
	}
	moment := time.Unix(epoch, 0).UTC()
	s = moment.Format("20060102150405")
	if y := moment.Year(); y < 1000 || y > 9999 {
		s = moment.Format(time.DateTime)
	}
	t.known[epoch] = s
	return s
}

// moment returns a time as a literal.
func moment(epoch int64) string { return "'" + time.Unix(epoch, 0).UTC().Format(time.DateTime) + "'" }
