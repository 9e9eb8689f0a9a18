package asterixdb

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/record"
)

// dialectIn returns the dialect of Apache AsterixDB, SQL++, for documents in the datasets of a dataverse.
// All subsets share the datasets; with open types all line types do, too. Rows are arrays, because an
// object would repeat the names of its members in each row.
//
// AsterixDB plans IN with a list as a join above the unnested entries. array_contains makes it a filter
// below them, which is better for short lists.
func dialectIn(dataverse string, closed bool) *flavour.Dialect {
	table := func(t string) string {
		return ident(dataverse) + "." + ident(datasetOf(t, closed))
	}
	return &flavour.Dialect{
		Name:     "asterixdb",
		Literal:  quote,
		List:     [2]string{"[", "]"},
		Select:   func(columns []string) string { return "SELECT VALUE [" + strings.Join(columns, ", ") + "]" },
		Equal:    oneOf,
		DocEqual: oneOf,
		DateTime: func(v int64) string { return strconv.FormatInt(v, 10) }, // times are stored in Unix seconds
		Epoch:    func(e string) string { return e },
		Real:     func(e string) string { return e }, // JSON has only one type of number

		Table: func(subset, t string) string {
			where := "x.subset = " + quote(subset)
			if t != design.HeaderTable {
				if closed {
					return table(t)
				}
				where = "x.line_type = " + quote(lineTypeOf(t, design.LineTable))
			}
			return "(SELECT VALUE x FROM " + table(t) + " AS x WHERE " + where + ")"
		},
		HeaderField: func(f record.Field) string {
			if f < record.CovThresh { // CovThresh and the following fields are in the line tables
				return "h." + ident(f.String())
			}
			return "ld." + ident(f.String())
		},
		LineColumn: func(name string) string { return "ld." + ident(name) },
		// With the hint AsterixDB searches an index for every header; without it, it scans all rows. The
		// hint needs a member with a declared type, such as id; stat_header_id has the same value.
		Join: "h.id /*+ indexnl */ = ld.stat_header_id",

		DocFrom: func(_, t, where string) string {
			return table(t) + " AS r UNNEST r.data AS d\n   WHERE " + where
		},
		DocWhere: func(subset, t string) []string {
			out := []string{"r.subset = " + quote(subset)}
			if !closed {
				out = append(out, "r.line_type = "+quote(lineTypeOf(t, design.DocTable)))
			}
			return out
		},
		DocAnd:   "\n     AND ",
		DocField: func(f string) string { return "r." + ident(f) },
		DocEntry: func(c string) string { return "d." + ident(c) },
		// A list of ids is a search of the primary index, one for each entry.
		DocKeys: func(keys []string) (string, []any) { return "r.id IN $" + keysParameter, []any{keys} },
	}
}

// keysParameter is the name of the statement parameter with the derived ids.
const keysParameter = "keys"

// codepoints is the sort key of a text that may have letters beyond U+FFFF, because AsterixDB compares
// texts by their UTF-16 code units.
func codepoints(expr string) string { return "string_to_codepoint(" + expr + ")" }

func oneOf(expr string, values []string) string {
	if len(values) == 1 {
		return expr + " = " + quote(values[0])
	}
	return "array_contains([" + flavour.Join(values, ", ", quote) + "], " + expr + ")"
}

// datasetOf returns the dataset of a table of the designs: with closed types one per line type, otherwise
// one for all line types.
func datasetOf(table string, closed bool) string {
	switch {
	case closed || table == design.HeaderTable:
		return table
	case strings.HasPrefix(table, "doc_"):
		return "documents"
	}
	return "line_data"
}

// lineTypeOf is the inverse of design.DocTable and design.LineTable.
func lineTypeOf(table string, name func(*record.LineType) string) string {
	for _, t := range record.Types() {
		if name(t) == table {
			return t.Name
		}
	}
	return table
}

// quote writes a text literal: SQL++ accepts JSON's.
func quote(s string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil { // cannot happen: strings always marshal
		return `""`
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// ident quotes an identifier.
func ident(s string) string { return "`" + strings.ReplaceAll(s, "`", "\\`") + "`" }
