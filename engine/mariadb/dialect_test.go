package mariadb

import (
	"flag"
	"testing"

	"github.com/barograph/barograph/engine/enginetest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestDialect(t *testing.T) { enginetest.Dialect(t, Driver(), dialectIn(""), *update) }

func TestNames(t *testing.T) {
	for _, prefix := range []string{"", "mv_"} {
		for _, subset := range []string{"", "a", "A", "mv_gfs", "mysql", "MySQL", "sys", "ycsb", "YCSB", "^_a", "^", "a^00001", "é🌀", "a ", " a", "a/b.c", "Ω`\"'%", "--"} {
			name := databaseName(prefix, subset)
			if got := databaseSubset(name); got != subset {
				t.Errorf("%q: database %q, back %q", subset, name, got)
			}
		}
	}
	for _, name := range []string{"a^12", "a^", "^zzzzzz"} { // databases of other programs
		if got := databaseSubset(name); got != name {
			t.Errorf("database %q: subset %q", name, got)
		}
	}
	if got := databaseName("x_", recordsDatabase); got == recordsDatabase {
		t.Errorf("a subset and the tables of records share the database %s", got)
	}
	if got := dialectIn("x_").Table("gfs", "stat_header"); got != "`x_gfs`.`stat_header`" {
		t.Errorf("got %s", got)
	}
}
