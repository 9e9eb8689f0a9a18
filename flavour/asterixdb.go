package flavour

import (
	"encoding/json"
	"strings"

	"barograph/design"
	"barograph/record"
)

// AsterixDBIn is the dialect of Apache AsterixDB, SQL++, for documents in the
// datasets of a dataverse. All
// subsets share them; with open types all line types do, too. Rows come as
// arrays, as an object would repeat the names of its members in each of them.
//
// IN with a list becomes a join above the unnested entries; a filter below
// them is what array_contains is for, where a list has few values.
func AsterixDBIn(dataverse string, closed bool) *Dialect {
	table := func(t string) string {
		return AsterixDBIdent(dataverse) + "." + AsterixDBIdent(AsterixDBDataset(t, closed))
	}
	return &Dialect{
		Name:     "asterixdb",
		Literal:  AsterixDBQuote,
		List:     [2]string{"[", "]"},
		Select:   func(columns []string) string { return "SELECT VALUE [" + strings.Join(columns, ", ") + "]" },
		Equal:    asterixOneOf,
		DocEqual: asterixOneOf,
		DateTime: whole, // times are kept in Unix seconds
		Epoch:    same,
		Real:     same, // of JSON's numbers one is as good as the other

		Table: func(subset, t string) string {
			where := "x.subset = " + AsterixDBQuote(subset)
			if t != design.HeaderTable {
				if closed {
					return table(t)
				}
				where = "x.line_type = " + AsterixDBQuote(lineTypeOf(t, design.LineTable))
			}
			return "(SELECT VALUE x FROM " + table(t) + " AS x WHERE " + where + ")"
		},
		HeaderField: func(f record.Field) string {
			if inHeader(f) {
				return "h." + AsterixDBIdent(f.String())
			}
			return "ld." + AsterixDBIdent(f.String())
		},
		LineColumn: func(name string) string { return "ld." + AsterixDBIdent(name) },
		// The hint makes the search of an index for every header of what is a scan
		// of all rows without it. It works on a member whose type is declared, as
		// that of id is; stat_header_id is the same.
		Join: "h.id /*+ indexnl */ = ld.stat_header_id",

		DocFrom: func(_, t, where string) string {
			return table(t) + " AS r UNNEST r.data AS d\n   WHERE " + where
		},
		DocWhere: func(subset, t string) []string {
			out := []string{"r.subset = " + AsterixDBQuote(subset)}
			if !closed {
				out = append(out, "r.line_type = "+AsterixDBQuote(lineTypeOf(t, design.DocTable)))
			}
			return out
		},
		DocAnd:   "\n     AND ",
		DocField: func(f string) string { return "r." + AsterixDBIdent(f) },
		DocEntry: func(c string) string { return "d." + AsterixDBIdent(c) },
		// A list of ids is a search of the primary index, one entry each.
		DocKeys: func(keys []string) (string, []any) { return "r.id IN $" + AsterixDBKeys, []any{keys} },
	}
}

// AsterixDBKeys is the name of the statement parameter that holds the derived ids.
const AsterixDBKeys = "keys"

// AsterixDBCodepoints is what a text is sorted by where it may have letters
// beyond U+FFFF: AsterixDB compares texts by the halves that UTF-16 has of them.
func AsterixDBCodepoints(expr string) string { return "string_to_codepoint(" + expr + ")" }

func asterixOneOf(expr string, values []string) string {
	if len(values) == 1 {
		return expr + " = " + AsterixDBQuote(values[0])
	}
	quoted := make([]string, len(values))
	for i, v := range values {
		quoted[i] = AsterixDBQuote(v)
	}
	return "array_contains([" + strings.Join(quoted, ", ") + "], " + expr + ")"
}

// AsterixDBDataset is the dataset that stands for a table of the designs: with
// closed types one per line type, otherwise one for all of them.
func AsterixDBDataset(table string, closed bool) string {
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

// AsterixDBQuote writes a text literal: SQL++ takes those of JSON.
func AsterixDBQuote(s string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil { // cannot be: strings always marshal
		return `""`
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// AsterixDBIdent quotes an identifier.
func AsterixDBIdent(s string) string { return "`" + strings.ReplaceAll(s, "`", "\\`") + "`" }
