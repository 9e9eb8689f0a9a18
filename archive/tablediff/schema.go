package tablediff

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/barograph/barograph/internal/lists"
)

// schema maps a table to its columns, in their order.
type schema map[string][]string

// Tables of METviewer with a special meaning.
const (
	headerTable  = "stat_header"
	cycloneTable = "tcst_header" // of tropical cyclone lines
	fileTable    = "data_file"
	linePrefix   = "line_data_"
)

// readSchema reads the compared tables, without the columns that SELECT * does not return.
func readSchema(ctx context.Context, db *sql.DB) (schema, error) {
	rows, err := db.QueryContext(ctx, `SELECT table_name, column_name FROM information_schema.columns
WHERE table_schema = database() AND extra NOT LIKE '%INVISIBLE%'
  AND (table_name IN ('`+headerTable+`', '`+cycloneTable+`', '`+fileTable+`', 'mode_cts', 'mode_header', 'mtd_header') OR table_name LIKE 'line\_data\_%'
    OR table_name LIKE 'mode\_obj\_%' OR table_name LIKE 'mtd\_%\_obj%') ORDER BY table_name, ordinal_position`)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // rows.Err returns the error
	out := schema{}
	for rows.Next() {
		var table, column string
		if err := rows.Scan(&table, &column); err != nil {
			return nil, err
		}
		out[table] = append(out[table], strings.ToLower(column))
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	if out[headerTable] == nil || out[fileTable] == nil {
		return nil, errors.New("table " + headerTable + " or " + fileTable + " is missing; name a database with METviewer's schema")
	}
	return out, nil
}

// tables lists the tables that at least one side has, sorted.
func tables(l, r schema) []string {
	all := maps.Clone(l)
	maps.Copy(all, r)
	return slices.Sorted(maps.Keys(all))
}

// query is the statement that reads a table, sorted by key.
type query struct {
	text    string
	columns []string
	keys    int // number of key columns, which are the first of columns

	// displaced is an SQL expression for a value that METdbLoad stores in the wrong column of the row, if the
	// value itself is in another row or table, see displacedExpr; NULL = there is none. Only faults use it:
	// rows are compared without it. It is read from the first database only.
	displaced string
}

// splitRow splits the joined key and values of a cursor into columns, and replaces the marker of NULL by the text NULL.
func (p *query) splitRow(key, values string) []string {
	out := strings.Split(key, separator)
	if len(p.columns) > p.keys {
		out = append(out, strings.Split(values, separator)...)
	}
	for i := range out {
		if out[i] == null {
			out[i] = "NULL"
		}
	}
	return out
}

// planQuery writes the query of a table for the columns that both sides have, and lists the columns that only one side
// has; nil if one side lacks the table.
func planQuery(table string, l, r schema) (p *query, notes []string) {
	if l[table] == nil || r[table] == nil {
		return nil, []string{"only one database has this table"}
	}
	shared := common(l, r, table)
	for i, s := range []schema{l, r} {
		for _, c := range s[table] {
			if !slices.Contains(shared, c) {
				notes = append(notes, fmt.Sprintf("only the %s database has column %s", [...]string{"first", "second"}[i], c))
			}
		}
	}
	p = tableQuery(table, shared, l, r)
	p.displaced = displacedExpr(table, l)
	return p, notes
}

// tableQuery writes the query of a table for the columns that both sides have.
func tableQuery(table string, shared []string, l, r schema) *query {
	if table == fileTable {
		return fileQuery()
	}
	for _, header := range [...]string{"mode_header", "mtd_header"} { // a header table has its own id, too
		if slices.Contains(shared, header+"_id") {
			return objectQuery(table, shared, header, common(l, r, header))
		}
	}
	for _, header := range [...]string{headerTable, cycloneTable} {
		switch {
		case table == header:
			return headerQuery(header, shared)
		case slices.Contains(shared, header+"_id"):
			return lineQuery(table, shared, header, common(l, r, header))
		}
	}
	return repeatingQuery(table, shared)
}

// displacedExpr is the expression of query.displaced. METdbLoad stores the value five columns before a threshold of PSTD
// instead of the threshold, and the eighth member of an ensemble instead of climo_stdev.
func displacedExpr(table string, l schema) string {
	before := lists.Set(l[linePrefix+"pstd"], func(c string) string { return c })
	switch {
	case table == linePrefix+"pstd_thresh" && !slices.ContainsFunc(columnsBeforeThresholds(), func(c string) bool { return !before[c] }):
		return "IF(c.i_value > 5, (SELECT t.thresh_i FROM " + table + " t WHERE t.line_data_id = c.line_data_id AND t.i_value = c.i_value - 5)," +
			" ELT(c.i_value, d." + strings.Join(columnsBeforeThresholds(), ", d.") + "))"
	case table == linePrefix+"orank" && l[table+"_ens"] != nil:
		return "(SELECT e.ens_i FROM " + table + "_ens e WHERE e.line_data_id = d.line_data_id AND e.i_value = 8)"
	}
	return "NULL"
}

func common(l, r schema, table string) []string {
	return slices.DeleteFunc(slices.Clone(l[table]), func(c string) bool { return !slices.Contains(r[table], c) })
}

// binaryExpr is an expression that sorts by bytes, with NULL as the lowest character.
func binaryExpr(e string) string { return "IFNULL(BINARY " + e + ", CHAR(1))" }

// digitsExpr pads a number with zeros to ten digits, so that byte order is numeric order.
func digitsExpr(e string) string { return "LPAD(" + e + ", 10, '0')" }

// build returns a query that selects the key expressions, then the values, and sorts by the keys. names and valueNames
// are their column names. The text has %s for query.displaced.
func build(keys, names, values, valueNames []string, from string) *query {
	order := lists.Map(lists.Indices(len(keys)), func(i int) string { return strconv.Itoa(i + 1) })
	text := "SELECT " + strings.Join(append(slices.Clone(keys), values...), ", ") + ", %s\nFROM " + from + "\nORDER BY " + strings.Join(order, ", ")
	return &query{text: text, columns: append(slices.Clone(names), valueNames...), keys: len(keys)}
}

// headerQuery uses all texts of a header as its key.
func headerQuery(table string, columns []string) *query {
	var keys, names []string
	for _, c := range columns {
		if c != table+"_id" {
			keys, names = append(keys, binaryExpr(c)), append(names, c)
		}
	}
	return build(keys, names, nil, nil, table)
}

func fileQuery() *query {
	return build([]string{binaryExpr("path"), binaryExpr("filename")}, []string{"path", "filename"},
		[]string{"data_file_lu_id"}, []string{"data_file_lu_id"}, fileTable)
}

// lineKey identifies a line by its file and number.
func lineKey() (keys, names []string) {
	return []string{binaryExpr("f.path"), binaryExpr("f.filename"), digitsExpr("d.line_num")}, []string{"path", "filename", "line_num"}
}

// lineQuery reads the lines of a type, with the texts of their headers. A table without line
// numbers is compared by complete rows.
func lineQuery(table string, columns []string, header string, headerColumns []string) *query {
	keys, names := lineKey()
	var values, valueNames []string
	for _, c := range headerColumns {
		if c != header+"_id" {
			values, valueNames = append(values, "h."+c), append(valueNames, c)
		}
	}
	for _, c := range columns {
		switch c {
		case header + "_id", "data_file_id", "line_data_id", "line_num":
		default:
			name := c
			if slices.Contains(headerColumns, c) {
				name = "line." + c // the header has a column with the same name
			}
			values, valueNames = append(values, "d."+c), append(valueNames, name)
		}
	}
	if !slices.Contains(columns, "line_num") {
		keys, names = keys[:2], append(names[:2], valueNames...)
		for _, v := range values {
			keys = append(keys, binaryExpr(v))
		}
		values, valueNames = nil, nil
	}
	return build(keys, names, values, valueNames, table+" d LEFT JOIN "+header+" h USING ("+header+"_id) LEFT JOIN "+fileTable+" f USING (data_file_id)")
}

// objectQuery reads the headers of MODE or MTD, or the objects with the texts of their headers. Objects are
// identified by their header, their object_id and, if they have one, their time_index. It omits what depends on the order
// of loading: all row ids, and the line type, file and line of a header, which are those that were loaded first. Of
// revision_id, which every loader numbers differently, it compares only whether it is NULL. For the two row ids of a pair
// it reads the object_ids.
func objectQuery(table string, columns []string, header string, headerColumns []string) *query {
	var keys, names, values, valueNames []string
	for _, c := range headerColumns {
		switch c {
		case header + "_id", "line_type_lu_id", "data_file_id", "linenumber":
		case "revision_id":
			keys, names = append(keys, binaryExpr("(h.revision_id IS NULL)")), append(names, "revision_id IS NULL")
		default:
			keys, names = append(keys, binaryExpr("h."+c)), append(names, c)
		}
	}
	if table == header {
		return build(keys, names, nil, nil, table+" h")
	}
	for _, c := range columns {
		switch c {
		case header + "_id", "mode_obj_id":
		case "object_id", "field", "time_index":
			keys, names = append(keys, binaryExpr("d."+c)), append(names, c)
		case "mode_obj_obs_id", "mode_obj_fcst_id":
			values, valueNames = append(values, "(SELECT object_id FROM mode_obj_single s WHERE s.mode_obj_id = d."+c+")"), append(valueNames, c)
		default:
			values, valueNames = append(values, "d."+c), append(valueNames, c)
		}
	}
	return build(keys, names, values, valueNames, table+" d LEFT JOIN "+header+" h USING ("+header+"_id)")
}

// repeatingQuery reads a table line_data_<type>_<what>, which has the repeating columns of a line type: several rows
// for each row of line_data_<type>.
func repeatingQuery(table string, columns []string) *query {
	parent, _, _ := strings.Cut(strings.TrimPrefix(table, linePrefix), "_")
	keys, names := lineKey()
	var values, valueNames []string
	for _, c := range columns {
		switch c {
		case "line_data_id":
		case "i_value", "j_value":
			keys, names = append(keys, digitsExpr("c."+c)), append(names, c)
		default:
			values, valueNames = append(values, "c."+c), append(valueNames, c)
		}
	}
	return build(keys, names, values, valueNames,
		table+" c LEFT JOIN "+linePrefix+parent+" d USING (line_data_id) LEFT JOIN "+fileTable+" f USING (data_file_id)")
}
