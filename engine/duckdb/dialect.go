package duckdb

import (
	"strings"

	"github.com/barograph/barograph/query/flavour"
)

// dialectIn is DuckDB's dialect: a schema per subset, TIMESTAMP columns, documents
// as rows with a list of structs. The name of the attached database, unless it
// is "", stands before every table. It is needed where a subset has a database's
// name, as one does that is called like its file: DuckDB finds that ambiguous.
func dialectIn(database string) *flavour.Dialect {
	table := func(subset, table string) string {
		name := flavour.Ident(schemaName(subset)) + "." + table
		if database != "" {
			name = flavour.Ident(database) + "." + name
		}
		return name
	}
	return &flavour.Dialect{
		Name:       "duckdb",
		NullsFirst: " NULLS FIRST",
		Table:      table,
		// DuckDB has no BINARY; a cast to VARCHAR compares bytewise, and like
		// METviewer's it stands between a column and every index or zone map.
		Binary:        func(e string) string { return "CAST(" + e + " AS VARCHAR)" },
		BinaryLiteral: flavour.Quote,
		DateTime:      func(v int64) string { return "TIMESTAMP " + flavour.Quote(flavour.DateTime(v)) },
		Epoch:         func(e string) string { return "epoch(" + e + ")::BIGINT" },
		Hour:          func(e string) string { return "hour(" + e + ")" },
		DocFrom: func(subset, t, where string) string {
			return "(SELECT *, unnest(data) AS d FROM " + table(subset, t) + "\n      WHERE " + where + ") AS r"
		},
		DocAnd:   "\n   WHERE ",
		DocField: func(f string) string { return f },
		DocEntry: func(c string) string { return "d." + c },
		// A list of literals becomes a mark join above a scan that has read all
		// entries already; a semi join with a list passes its bounds down to the
		// scan, and the text stays small. See docs/decisions.
		DocKeys: func(keys []string) (string, []any) {
			return "id IN (SELECT unnest($1::VARCHAR[]))", []any{keys}
		},
	}
}

// schemaName is the schema of a subset. DuckDB does not tell A from a in
// names, so a capital is written as ^ and its small letter, and ^ as ^^. Most
// names of subsets stay as they are.
func schemaName(subset string) string {
	switch subset {
	case "", "information_schema", "pg_catalog": // cannot be made
		return flavour.Escaped + subset
	}
	return flavour.EscapeCase(subset)
}

// schemaSubset is the inverse of schemaName.
func schemaSubset(schema string) string {
	if rest, ok := strings.CutPrefix(schema, flavour.Escaped); ok {
		return rest
	}
	return flavour.UnescapeCase(schema)
}
