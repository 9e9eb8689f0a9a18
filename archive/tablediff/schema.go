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
  AND (table_name IN ('`+headerTable+`', '`+cycloneTable+`', '`+fileTable+`') OR table_name LIKE 'line\_data\_%') ORDER BY table_name, ordinal_position`)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // Err below says what went wrong
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
		return nil, errors.New("it has no tables " + headerTable + " and " + fileTable + ": not a database of METviewer's schema")
	}
	return out, nil
}

// tables lists the tables of both sides, sorted.
func tables(l, r schema) []string {
	both := maps.Clone(l)
	maps.Copy(both, r)
	return slices.Sorted(maps.Keys(both))
}

// query reads a table in the order of its keys, which are its first columns.
type query struct {
	text    string
	columns []string
	keys    int
}

// splitRow splits a joined row of a cursor, for people.
func (p *query) splitRow(key, rest string) []string {
	out := strings.Split(key, separator)
	if len(p.columns) > p.keys {
		out = append(out, strings.Split(rest, separator)...)
	}
	for i := range out {
		if out[i] == null || out[i] == "\x01" { // the latter as binary has it
			out[i] = "NULL"
		}
	}
	return out
}

// planQuery writes the query of a table for the columns that both sides have, and describes the
// other columns; nil if one side lacks the table.
func planQuery(table string, l, r schema) (*query, string) {
	if l[table] == nil || r[table] == nil {
		return nil, "one database alone has this table"
	}
	both := common(l, r, table)
	note := ""
	for side, s := range map[string]schema{"left": l, "right": r} {
		for _, c := range s[table] {
			if !slices.Contains(both, c) {
				note += fmt.Sprintf("%s is %s only; ", c, side)
			}
		}
	}
	note = strings.TrimSuffix(note, "; ")
	if table == fileTable {
		return fileQuery(), note
	}
	for _, header := range [...]string{headerTable, cycloneTable} {
		switch {
		case table == header:
			return headerQuery(header, both), note
		case slices.Contains(both, header+"_id"):
			return lineQuery(table, both, header, common(l, r, header)), note
		}
	}
	return repeatingQuery(table, both), note
}

func common(l, r schema, table string) []string {
	return slices.DeleteFunc(slices.Clone(l[table]), func(c string) bool { return !slices.Contains(r[table], c) })
}

// binaryExpr is an expression that sorts by bytes, with NULL as the lowest character.
func binaryExpr(e string) string { return "IFNULL(BINARY " + e + ", CHAR(1))" }

// digitsExpr is an expression that sorts a number by its digits.
func digitsExpr(e string) string { return "LPAD(" + e + ", 10, '0')" }

// build writes the query: keys with their names, then plain columns.
func build(keys, names, values, valueNames []string, from string) *query {
	order := make([]string, len(keys))
	for i := range order {
		order[i] = strconv.Itoa(i + 1)
	}
	text := "SELECT " + strings.Join(append(slices.Clone(keys), values...), ", ") + "\nFROM " + from + "\nORDER BY " + strings.Join(order, ", ")
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
func lineQuery(table string, columns []string, headerTable string, header []string) *query {
	keys, names := lineKey()
	var values, valueNames []string
	for _, c := range header {
		if c != headerTable+"_id" {
			values, valueNames = append(values, "h."+c), append(valueNames, c)
		}
	}
	for _, c := range columns {
		switch c {
		case headerTable + "_id", "data_file_id", "line_data_id", "line_num":
		default:
			name := c
			if slices.Contains(header, c) {
				name = "line." + c // of the line, as the header has such a name, too
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
	return build(keys, names, values, valueNames, table+" d LEFT JOIN "+headerTable+" h USING ("+headerTable+"_id) LEFT JOIN "+fileTable+" f USING (data_file_id)")
}

// repeatingQuery reads the repeating columns of a type, line_data_<type>_<what>.
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
