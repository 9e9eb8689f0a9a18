//go:build oracle

package oracle

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/query/question"
)

// maxText is the most bytes that a text of a record may have in Oracle's
// tables: an index holds several of them, and its keys end near 6,400 bytes.
const maxText = 500

// dialect is that of Oracle Database 19c and later: tables named
// subset/table in the user's own schema, TIMESTAMP(0) columns, documents with
// their entries as JSON in a BLOB, of which JSON_TABLE makes rows.
//
// It is written for sessions whose NLS_SORT and NLS_COMP are BINARY and whose
// NLS_TIMESTAMP_FORMAT is METviewer's, YYYY-MM-DD HH24:MI:SS.
func dialect() *flavour.Dialect {
	table := func(subset, table string) string { return flavour.Ident(objectName(subset, table)) }
	return &flavour.Dialect{
		Name:        "oracle",
		NullsFirst:  " NULLS FIRST",
		EmptyIsNull: true,
		MaxList:     1000, // ORA-01795
		Mod:         func(a, b string) string { return "MOD(" + a + ", " + b + ")" },
		Table:       table,
		// Oracle has no BINARY. Whatever is joined to nothing becomes text, and
		// an expression in place of a column keeps its index from being used.
		Binary:        func(e string) string { return e + " || ''" },
		BinaryLiteral: flavour.Quote,
		DateTime:      func(v int64) string { return "TIMESTAMP " + flavour.Quote(flavour.DateTime(v)) },
		// A difference of dates is in days, as a NUMBER of 40 digits at most.
		Epoch:     func(e string) string { return "ROUND((CAST(" + e + " AS DATE) - DATE '1970-01-01') * 86400)" },
		Hour:      func(e string) string { return "EXTRACT(HOUR FROM " + e + ")" },
		DocAnd:    "\n     AND ",
		DocField:  func(f string) string { return "r." + f },
		DocEntry:  func(c string) string { return "d." + c },
		DocNumber: func(c string) string { return "TO_BINARY_DOUBLE(d." + c + ")" },
		DocTable: func(subset, t, where string, used []question.Column) string {
			return table(subset, t) + " r, JSON_TABLE(r.data FORMAT JSON, '$[*]' COLUMNS (" + entry(used) + ")) d\n   WHERE " + where
		},
		// The ids are one parameter, a JSON array, as a list of literals ends at
		// 1,000 and the statement would be parsed anew each time.
		DocKeys: func(keys []string) (string, []any) {
			text, err := json.Marshal(keys)
			if err != nil { // cannot be: strings always marshal
				return "1 = 0", nil
			}
			return "r.id IN (SELECT k.id FROM JSON_TABLE(:1 FORMAT JSON, '$[*]' COLUMNS (id VARCHAR2(4000) PATH '$')) k)", []any{text}
		},
	}
}

// entry are the members of an entry that a question needs, with their
// types; a member that is not there is NULL. A number of the line type comes as
// text, as JSON_TABLE has no BINARY_DOUBLE in 19c and NUMBER ends at 1e126.
func entry(used []question.Column) string {
	var out []string
	for _, c := range used {
		kind := "NUMBER"
		switch c.Kind {
		case question.Text:
			kind = fmt.Sprintf("VARCHAR2(%d)", maxText)
		case question.Number:
			kind = "VARCHAR2(50)"
		case question.List:
			kind = "CLOB FORMAT JSON"
		}
		if one := c.Stored() + " " + kind + " PATH '$." + c.Stored() + "'"; !slices.Contains(out, one) {
			out = append(out, one)
		}
	}
	return strings.Join(out, ", ")
}

// longestSubset is the most bytes of a name of 128 that are the subset's; the
// rest is for the name of a table or index.
const longestSubset = 78

// objectName is the name of a subset's table or index: subset/table. A name
// that is quoted holds everything but a quotation mark, which is written ^q, and
// ^ as ^^; a long one is cut and gets its digest. Most names of subsets stay as
// they are.
func objectName(subset, table string) string {
	name := strings.NewReplacer("^", "^^", `"`, "^q").Replace(subset)
	if len(name) > longestSubset {
		name = flavour.Shortened(name, subset, longestSubset)
	}
	return name + "/" + table
}
