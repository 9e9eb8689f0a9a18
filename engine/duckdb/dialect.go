package duckdb

import (
	"strings"

	"github.com/barograph/barograph/query/flavour"
)

// dialectIn returns DuckDB's dialect: a schema per subset, TIMESTAMP columns, documents as rows with a list of structs.
// The name of every table starts with database, the name of the attached database, unless it is "". A subset needs it
// if it has the name of a database, for example that of its own file: DuckDB finds such a name ambiguous.
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
		// DuckDB has no BINARY. A cast to VARCHAR compares bytewise. Like METviewer's cast, it
		// prevents the use of any index or zone map.
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
		// DuckDB plans a list of literals as a mark join above a scan that has read all entries
		// already. It passes the bounds of a semi join with a list down to the scan, and the
		// text stays small. See docs/decisions.
		DocKeys: func(keys []string) (string, []any) {
			return "id IN (SELECT unnest($1::VARCHAR[]))", []any{keys}
		},
	}
}

// schemaName returns the schema of a subset. DuckDB ignores letter case in names. Therefore a
// capital is written as ^ and its small letter, and ^ as ^^. The names of most subsets do not
// change.
func schemaName(subset string) string {
	switch subset {
	case "", "information_schema", "pg_catalog": // DuckDB cannot create these
		return flavour.EscapedPrefix + subset
	}
	return flavour.EscapeCase(subset)
}

// schemaSubset is the inverse of schemaName.
func schemaSubset(schema string) string {
	if rest, ok := strings.CutPrefix(schema, flavour.EscapedPrefix); ok {
		return rest
	}
	return flavour.UnescapeCase(schema)
}
