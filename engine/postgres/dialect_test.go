package postgres

import (
	"flag"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/barograph/barograph/engine/enginetest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestDialect(t *testing.T) { enginetest.Dialect(t, Driver(), dialect(), *update) }

func TestNames(t *testing.T) {
	long := strings.Repeat("é", 40)
	schemas := map[string]string{}
	for _, subset := range []string{"", "a", "A", "pg_x", "PG_x", "^_pg_x", "^", "^_", "public", "information_schema", "^_information_schema", "a.b", `a"b`, long, long + "x", "x" + long, strings.Repeat("m", 61), strings.Repeat("m", 62), strings.Repeat("m", 64)} {
		schema := schemaName(subset)
		if schema == "" || len(schema) > 63 || !utf8.ValidString(schema) || strings.HasPrefix(schema, "pg_") || schema == "information_schema" {
			t.Errorf("%q: PostgreSQL takes no schema %q", subset, schema)
		}
		if other, ok := schemas[schema]; ok {
			t.Errorf("%q and %q share the schema %q", subset, other, schema)
		}
		schemas[schema] = subset
	}
	if got := schemaName("mv_gfs"); got != "mv_gfs" {
		t.Errorf("got %s", got)
	}
}
