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

// maxText is the greatest length, in bytes, of a text of a record in Oracle's tables: an index contains
// several texts, and its keys are limited to about 6,400 bytes.
const maxText = 500

// dialect is the dialect of Oracle Database 19c and later: tables named subset/table in the user's own
// schema, TIMESTAMP(0) columns, documents with their entries as JSON in a BLOB, which JSON_TABLE converts
// to rows.
//
// It needs sessions with NLS_SORT and NLS_COMP = BINARY, and METviewer's NLS_TIMESTAMP_FORMAT, YYYY-MM-DD HH24:MI:SS.
func dialect() *flavour.Dialect {
	table := func(subset, table string) string { return flavour.Ident(objectName(subset, table)) }
	return &flavour.Dialect{
		Name:        "oracle",
		NullsFirst:  " NULLS FIRST",
		EmptyIsNull: true,
		MaxList:     1000, // ORA-01795
		Mod:         func(a, b string) string { return "MOD(" + a + ", " + b + ")" },
		Table:       table,
		// Oracle has no BINARY. METviewer's BINARY converts to text, and keeps MySQL from using the column's index. The
		// concatenation with an empty text does both, so this flavour remains as slow as METviewer's query.
		Binary:        func(e string) string { return e + " || ''" },
		BinaryLiteral: flavour.Quote,
		DateTime:      func(v int64) string { return "TIMESTAMP " + flavour.Quote(flavour.DateTime(v)) },
		// A difference of dates is in days, as a NUMBER of at most 40 digits.
		Epoch:     func(e string) string { return "ROUND((CAST(" + e + " AS DATE) - DATE '1970-01-01') * 86400)" },
		Hour:      func(e string) string { return "EXTRACT(HOUR FROM " + e + ")" },
		DocAnd:    "\n     AND ",
		DocField:  func(f string) string { return "r." + f },
		DocEntry:  func(c string) string { return "d." + c },
		DocNumber: func(c string) string { return "TO_BINARY_DOUBLE(d." + c + ")" },
		DocTable: func(subset, t, where string, used []question.Column) string {
			return table(subset, t) + " r, JSON_TABLE(r.data FORMAT JSON, '$[*]' COLUMNS (" + entry(used) + ")) d\n   WHERE " + where
		},
		// The ids are one parameter, a JSON array, because a list of literals is limited to 1,000 and each
		// statement would be parsed again.
		DocKeys: func(keys []string) (string, []any) {
			text, err := json.Marshal(keys)
			if err != nil { // cannot happen: strings always marshal
				return "1 = 0", nil
			}
			return "r.id IN (SELECT k.id FROM JSON_TABLE(:1 FORMAT JSON, '$[*]' COLUMNS (id VARCHAR2(4000) PATH '$')) k)", []any{text}
		},
	}
}

// entry returns the members of an entry that a question needs, with their types. A missing member is NULL.
// A number of the line type is returned as text, because JSON_TABLE has no BINARY_DOUBLE in 19c and NUMBER
// is limited to 1e126.
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
		if one := c.StoredName() + " " + kind + " PATH '$." + c.StoredName() + "'"; !slices.Contains(out, one) {
			out = append(out, one)
		}
	}
	return strings.Join(out, ", ")
}

// longestSubset is the greatest number of bytes of the subset in a name of 128 bytes; the rest is for the
// name of a table or index.
const longestSubset = 78

// objectName returns the name of a subset's table or index: subset/table. A quoted name may contain
// everything but a quotation mark, which is written ^q, and ^ as ^^. A long name is shortened and gets its
// digest. The names of most subsets do not change.
func objectName(subset, table string) string {
	name := strings.NewReplacer("^", "^^", `"`, "^q").Replace(subset)
	if len(name) > longestSubset {
		name = flavour.ShortenName(name, subset, longestSubset)
	}
	return name + "/" + table
}
