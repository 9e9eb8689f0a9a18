package asterixdb

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/record"
)

// dialectIn is the dialect of Apache AsterixDB, SQL++, for documents in the
// datasets of a dataverse. All
// subsets share them; with open types all line types do, too. Rows come as
// arrays, as an object would repeat the names of its members in each of them.
//
// IN with a list becomes a join above the unnested entries; a filter below
// them is what array_contains is for, where a list has few values.
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
		DateTime: func(v int64) string { return strconv.FormatInt(v, 10) }, // times are kept in Unix seconds
		Epoch:    func(e string) string { return e },
		Real:     func(e string) string { return e }, // of JSON's numbers one is as good as the other

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
			if f < record.CovThresh { // that and the rest stand in the line tables
				return "h." + ident(f.String())
			}
			return "ld." + ident(f.String())
		},
		LineColumn: func(name string) string { return "ld." + ident(name) },
		// The hint makes the search of an index for every header of what is a scan
		// of all rows without it. It works on a member whose type is declared, as
		// that of id is; stat_header_id is the same.
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
		// A list of ids is a search of the primary index, one entry each.
		DocKeys: func(keys []string) (string, []any) { return "r.id IN $" + keysParameter, []any{keys} },
	}
}

// keysParameter is the name of the statement parameter that holds the derived ids.
const keysParameter = "keys"

// codepoints is what a text is sorted by where it may have letters
// beyond U+FFFF: AsterixDB compares texts by the halves that UTF-16 has of them.
func codepoints(expr string) string { return "string_to_codepoint(" + expr + ")" }

func oneOf(expr string, values []string) string {
	if len(values) == 1 {
		return expr + " = " + quote(values[0])
	}
	return "array_contains([" + flavour.Join(values, ", ", quote) + "], " + expr + ")"
}

// datasetOf is the dataset that stands for a table of the designs: with
// closed types one per line type, otherwise one for all of them.
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

// quote writes a text literal: SQL++ takes those of JSON.
func quote(s string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil { // cannot be: strings always marshal
		return `""`
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// ident quotes an identifier.
func ident(s string) string { return "`" + strings.ReplaceAll(s, "`", "\\`") + "`" }
