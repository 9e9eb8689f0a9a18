package sqlite

import (
	"flag"
	"testing"

	"github.com/barograph/barograph/engine/enginetest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestDialect(t *testing.T) { enginetest.Dialect(t, Driver(), dialect(), *update) }

func TestNames(t *testing.T) {
	for _, subset := range []string{"", "a", "A", "mv_gfs_grid2obs_vsdb1", "sqlite_x", "SQLITE_x", "^_a", "^", "^_sqlite_x", "a/b", "Ω\"'%", "information_schema"} {
		name := tableName(subset, "stat_header")
		if got, ok := tableSubset(name, "stat_header"); !ok || got != subset {
			t.Errorf("%q: table %q, back %q, %v", subset, name, got, ok)
		}
	}
	if got := tableName("mv_gfs", "stat_header"); got != "mv_gfs/stat_header" {
		t.Errorf("got %s", got)
	}
}
