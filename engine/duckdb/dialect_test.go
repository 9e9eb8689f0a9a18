package duckdb

import (
	"flag"
	"strings"
	"testing"

	"github.com/barograph/barograph/engine/enginetest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestDialect(t *testing.T) { enginetest.Dialect(t, Driver(), dialectIn(""), *update) }

func TestNames(t *testing.T) {
	schemas := map[string]string{}
	for _, subset := range []string{"", "a", "A", "^a", "^A", "aB", "mv_gfs_grid2obs_vsdb1", "^_", "^_pg_catalog", "pg_catalog", "PG_CATALOG", "main", "Main", "Ω\"'%::"} {
		schema := schemaName(subset)
		if got := schemaSubset(schema); got != subset {
			t.Errorf("%q: schema %q, back %q", subset, schema, got)
		}
		folded := strings.ToLower(schema)
		if other, ok := schemas[folded]; ok {
			t.Errorf("%q and %q share the schema %q", subset, other, folded)
		}
		schemas[folded] = subset
	}
	if got := schemaName("mv_gfs"); got != "mv_gfs" {
		t.Errorf("got %s", got)
	}
}
