package postgres

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/record"
)

// dialect is PostgreSQL's dialect: a schema per subset, timestamp columns, documents with
// their entries as JSONB.
func dialect() *flavour.Dialect {
	table := func(subset, table string) string { return flavour.Ident(schemaName(subset)) + "." + table }
	from := func(subset, t, entries, where string) string {
		return table(subset, t) + " AS r, jsonb_to_recordset(" + entries + ") AS d(" + entry(t) + ")\n   WHERE " + where
	}
	return &flavour.Dialect{
		Name:       "postgres",
		NullsFirst: " NULLS FIRST",
		Table:      table,
		// PostgreSQL has no BINARY. Its planner drops a cast of a text column to text, and an
		// index would then serve a condition for which METviewer's own SQL cannot use one. Bytes
		// compare as bytes. Like BINARY, a cast to bytes prevents the use of any index.
		Binary:        func(e string) string { return "convert_to(CAST(" + e + " AS text), 'UTF8')" },
		BinaryLiteral: byteLiteral,
		DateTime:      func(v int64) string { return "TIMESTAMP " + flavour.Quote(flavour.DateTime(v)) },
		Real:          func(e string) string { return "CAST(" + e + " AS double precision)" },
		Epoch:         func(e string) string { return "extract(epoch FROM " + e + ")::bigint" },
		DocFrom:       func(subset, t, where string) string { return from(subset, t, "r.data", where) },
		DocFromLeads: func(subset, t, where string, leads []int32) string {
			if len(leads) > fewLeads {
				return ""
			}
			filter := flavour.Join(leads, " || ", func(lead int32) string { return "@.fcst_lead == " + strconv.Itoa(int(lead)) })
			return from(subset, t, "jsonb_path_query_array(r.data, '$[*] ? ("+filter+")')", where)
		},
		DocAnd:   "\n     AND ",
		DocField: func(f string) string { return "r." + f },
		DocEntry: func(c string) string { return "d." + flavour.Ident(c) },
		DocKeys:  func(keys []string) (string, []any) { return "r.id = ANY($1)", []any{keys} },
	}
}

// fewLeads is the greatest number of leads for which a path expression is faster than
// unnesting all entries. A path compares each entry with each lead: one lead of 53 takes a
// quarter of the time, four take two thirds.
const fewLeads = 4

// byteLiteral writes a text as bytes. That form doubles backslashes. A server whose encoding is not UTF-8 would convert
// letters outside ASCII, so texts with such letters are hexadecimal.
func byteLiteral(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return fmt.Sprintf(`'\x%x'::bytea`, s)
	}
	return flavour.Quote(strings.ReplaceAll(s, `\`, `\\`)) + "::bytea"
}

// entry lists the members of the entries of a table of documents, with their types. The
// column list unnests an entry in one pass and gives a number its type without a
// separate cast.
func entry(table string) string {
	cols := []string{"fcst_lead integer", "fcst_valid_end bigint", "obs_lead integer", "obs_valid_beg bigint", "obs_valid_end bigint"}
	for _, t := range record.Types() {
		if design.DocTable(t) != table {
			continue
		}
		for _, c := range t.Columns {
			kind := "double precision"
			if c.Kind == record.Text {
				kind = `text COLLATE "C"`
			}
			cols = append(cols, flavour.Ident(c.Name)+" "+kind)
		}
		if t.Group != nil {
			cols = append(cols, "repeats double precision[]")
		}
	}
	return strings.Join(cols, ", ")
}

// longestName is the greatest length of a name in PostgreSQL, in bytes.
const longestName = 63

// schemaName returns the schema of a subset. It is the subset's name, or for names that PostgreSQL reserves or cannot
// store, and for ownSchema, the name after flavour.EscapedPrefix. A long name is shortened and gets its digest.
func schemaName(subset string) string {
	switch {
	case len(subset) > longestName-len(flavour.EscapedPrefix):
		return flavour.ShortenName(subset, subset, longestName)
	case subset == "", subset == ownSchema, subset == "information_schema", strings.HasPrefix(subset, "pg_"), strings.HasPrefix(subset, "^"):
		return flavour.EscapedPrefix + subset
	}
	return subset
}
