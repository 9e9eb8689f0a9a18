package flavour

import "strings"

// reservedSchemas cannot be made in DuckDB.
var reservedSchemas = [...]string{"", "information_schema", "pg_catalog"} //nolint:gochecknoglobals // a constant table

// escapedName stands before the name of a schema that DuckDB reserves.
const escapedName = "^_"

// DuckDBSchema is the schema of a subset. DuckDB does not tell A from a in
// names, so a capital is written as ^ and its small letter, and ^ as ^^. Most
// names of subsets stay as they are.
func DuckDBSchema(subset string) string {
	for _, r := range reservedSchemas {
		if subset == r {
			return escapedName + subset
		}
	}
	return escapeCase(subset)
}

func escapeCase(subset string) string {
	var b strings.Builder
	for i := range len(subset) {
		switch c := subset[i]; {
		case c >= 'A' && c <= 'Z':
			b.WriteString("^" + string(rune(c-'A'+'a')))
		case c == '^':
			b.WriteString("^^")
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// DuckDBSubset is the inverse of DuckDBSchema.
func DuckDBSubset(schema string) string {
	if rest, ok := strings.CutPrefix(schema, escapedName); ok {
		return rest
	}
	return unescapeCase(schema)
}

func unescapeCase(schema string) string {
	var b strings.Builder
	for i := 0; i < len(schema); i++ {
		c := schema[i]
		if c == '^' && i+1 < len(schema) {
			i++
			if c = schema[i]; c >= 'a' && c <= 'z' {
				c -= 'a' - 'A'
			}
		}
		b.WriteByte(c)
	}
	return b.String()
}
