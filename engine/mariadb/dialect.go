package mariadb

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/query/question"
)

// dialectIn returns MariaDB's dialect for databases with a name prefix: a database per subset,
// DATETIME columns, and documents as JSON, whose entries JSON_TABLE converts to rows.
//
// It needs sessions with the sql_mode NO_BACKSLASH_ESCAPES, because literals are quoted as in
// standard SQL.
func dialectIn(prefix string) *flavour.Dialect {
	database := func(subset string) string { return ident(prefix + databaseName(prefix, subset)) }
	table := func(subset, table string) string { return database(subset) + "." + ident(table) }
	return &flavour.Dialect{
		Name:  "mariadb",
		Table: table,
		// BINARY compares the bytes of a value's text, independent of its type. It prevents
		// the use of any index.
		Binary:        asBinary,
		BinaryLiteral: flavour.Quote,
		Bytewise:      asBinary,
		// METviewer's columns ignore letter case and trailing blanks in comparisons. The plain
		// condition finds rows by an index; the condition with BINARY removes rows that are only
		// similar.
		Equal: func(expr string, values []string) string {
			return isOneOf(expr, values) + " AND " + isOneOf(asBinary(expr), values)
		},
		DateTime: func(v int64) string { return flavour.Quote(flavour.DateTime(v)) },
		// UNIX_TIMESTAMP is limited to 1970 to 2038.
		Epoch:    func(e string) string { return "TIMESTAMPDIFF(SECOND, '1970-01-01 00:00:00', " + e + ")" },
		Hour:     func(e string) string { return "HOUR(" + e + ")" },
		DocAnd:   "\n     AND ",
		DocField: func(f string) string { return "r." + f },
		DocEntry: func(c string) string { return "d." + c },
		DocTable: func(subset, t, where string, used []question.Column) string {
			return table(subset, t) + " AS r, JSON_TABLE(r.data, '$[*]' COLUMNS (" + entryColumns(used) + ")) AS d\n   WHERE " + where
		},
		// A list of literals is a range of the primary key. The statement needs no second round
		// trip for preparing it.
		DocKeys: func(keys []string) (string, []any) { return "r.id IN " + flavour.List(keys, flavour.Quote), nil },
	}
}

func asBinary(expr string) string { return "BINARY " + expr }

func isOneOf(expr string, values []string) string {
	if len(values) == 1 {
		return expr + " = " + flavour.Quote(values[0])
	}
	return expr + " IN " + flavour.List(values, flavour.Quote)
}

// entryColumns returns the members of an entry that a question needs, with their types. A missing
// member is NULL.
func entryColumns(used []question.Column) string {
	var out []string
	for _, c := range used {
		kind := "DOUBLE"
		switch {
		case c.Role == question.Lead || c.Role == question.ObsLead:
			kind = "INT"
		case c.Kind == question.Time:
			kind = "BIGINT"
		case c.Kind == question.Text:
			kind = "VARCHAR(1000) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin"
		}
		if c.Kind == question.List {
			kind = "JSON"
		}
		if one := fmt.Sprintf("%s %s PATH '$.%[1]s'", c.StoredName(), kind); !slices.Contains(out, one) {
			out = append(out, one)
		}
	}
	return strings.Join(out, ", ")
}

// ident quotes an identifier.
func ident(s string) string { return "`" + strings.ReplaceAll(s, "`", "``") + "`" }

// fileNameOf is the expression of the name that the server gives to the folder of the database of its argument: it
// encodes all characters except letters of ASCII, digits and '_'.
const fileNameOf = "CONVERT(CAST(CONVERT(? USING filename) AS BINARY) USING utf8mb4)"

// reservedDatabases are the server's own databases.
//
//nolint:gochecknoglobals // a constant table
var reservedDatabases = [...]string{"mysql", "sys", "information_schema", "performance_schema"}

// recordsDatabase is the database of tables of records under keys, without its prefix. databaseName escapes a subset of
// that name, and of ownDatabase.
const recordsDatabase = "ycsb"

// databaseName returns the name of a subset's database without its prefix. Characters that a name
// cannot contain are written as ^ and their number in hexadecimal: characters beyond the basic
// plane, NUL, and a blank at the end; an empty name is escaped, too. The names of most subsets do
// not change.
func databaseName(prefix, subset string) string {
	var b strings.Builder
	if lower := strings.ToLower(subset); lower == recordsDatabase || lower == ownDatabase ||
		prefix == "" && (subset == "" || slices.Contains(reservedDatabases[:], lower)) {
		b.WriteString(flavour.EscapedPrefix)
	}
	for i, r := range subset {
		switch {
		case r == '^':
			b.WriteString("^^")
		case r > 0xffff || r == 0 || r == '�' || (r == ' ' && i == len(subset)-1):
			fmt.Fprintf(&b, "^%06x", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// databaseSubset is the inverse of databaseName.
func databaseSubset(name string) string {
	return escape.ReplaceAllStringFunc(strings.TrimPrefix(name, flavour.EscapedPrefix), func(s string) string {
		n, err := strconv.ParseInt(s[1:], 16, 32)
		if err != nil { // ^^
			return "^"
		}
		return string(rune(n))
	})
}

// escape matches a character that databaseName has escaped.
var escape = regexp.MustCompile(`\^(\^|[0-9a-f]{6})`)
