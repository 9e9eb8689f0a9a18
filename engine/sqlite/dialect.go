package sqlite

import (
	"encoding/json"
	"strings"

	"github.com/barograph/barograph/query/flavour"
)

// dialect is SQLite's dialect: tables named subset/table, ISO text for times,
// documents as JSONB.
func dialect() *flavour.Dialect {
	table := func(subset, table string) string { return flavour.Ident(tableName(subset, table)) }
	return &flavour.Dialect{
		Name:  "sqlite",
		Table: table,
		// SQLite has no BINARY. A cast to TEXT compares bytewise with the BINARY collation and
		// prevents the use of any index.
		Binary:          func(e string) string { return "CAST(" + e + " AS TEXT)" },
		BinaryLiteral:   flavour.Quote,
		DateTime:        func(v int64) string { return flavour.Quote(flavour.DateTime(v)) },
		MaterializeHint: " LIMIT -1", // SQLite computes a selection with a limit, even an unlimited one, only once; see docs/decisions
		Epoch:           func(e string) string { return "unixepoch(" + e + ")" },
		// jsonb_each passes an entry on as JSONB. json_each would convert it to text, which
		// every ->> would parse again.
		DocFrom: func(subset, t, where string) string {
			return table(subset, t) + " AS r, jsonb_each(r.data) AS d\n   WHERE " + where
		},
		DocAnd:   "\n     AND ",
		DocField: func(f string) string { return "r." + f },
		DocEntry: func(c string) string { return "d.value ->> '" + c + "'" },
		DocKeys:  keyArray,
	}
}

// keyArray selects ids with one parameter, a JSON array. The statement is short for any number of ids,
// and SQLite parses no literals.
func keyArray(keys []string) (string, []any) {
	text, _ := json.Marshal(keys) // texts never fail
	return "r.id IN (SELECT value FROM json_each(?))", []any{string(text)}
}

// tableName returns the name of a subset's table: subset/table. SQLite ignores letter case in names and
// reserves names that begin with sqlite_. Both are escaped as in DuckDB's schemas. The names of most
// subsets do not change.
func tableName(subset, table string) string {
	s := flavour.EscapeCase(subset)
	if strings.HasPrefix(s, "sqlite_") {
		s = flavour.EscapedPrefix + s
	}
	return s + "/" + table
}

// tableSubset is the inverse: it returns the subset of a table's name that ends with "/" and table. ok is
// false for another table.
func tableSubset(name, table string) (subset string, ok bool) {
	s, ok := strings.CutSuffix(name, "/"+table)
	if !ok {
		return "", false
	}
	return flavour.UnescapeCase(strings.TrimPrefix(s, flavour.EscapedPrefix)), true
}
