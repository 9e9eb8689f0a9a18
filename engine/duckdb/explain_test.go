package duckdb

import (
	"errors"
	"strings"
	"testing"

	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/internal/fault"
)

// TestOutOfMemory: the error of DuckDB's memory limit is one line and has a cure of Barograph, not of DuckDB's shell.
func TestOutOfMemory(t *testing.T) {
	text := "Out of Memory Error: could not allocate block of size 256.0 KiB (182.9 MiB/183.1 MiB used)\n\n" +
		"Possible solutions:\n* Reducing the number of threads (SET threads=X)"
	err := (&database{path: "a.db"}).explain(errors.New(text))
	if f, ok := errors.AsType[*fault.Error](err); !ok || !strings.Contains(f.Cure, "memory_limit") || strings.ContainsAny(err.Error(), "\n*") {
		t.Errorf("%v", err)
	}
}

// TestUnbound: after a load DuckDB may use as much memory as before it, up to the rounding of a text. The setting by itself
// does not show that: RESET changes it and not the limit.
func TestUnbound(t *testing.T) {
	db, err := openDatabase("", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.close()
	db.bounded = true
	c, err := db.take()
	if err != nil {
		t.Fatal(err)
	}
	defer db.put(c)
	text := func(query string) string {
		t.Helper()
		found, err := sqlengine.QueryTexts(t.Context(), c, query)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(found, "")
	}
	const limit, setting = "SELECT memory_limit FROM pragma_database_size() LIMIT 1", "SELECT current_setting('memory_limit')"
	before, unit := text(setting), strings.Fields(text(limit))[1]
	for range 3 {
		if err := c.bound(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := text(limit); got != "183.1 MiB" {
			t.Errorf("in a load the limit is %s", got)
		}
		c.unbound()
		if got := text(limit); got == "183.1 MiB" || strings.Fields(got)[1] != unit || text(setting) != before {
			t.Errorf("after a load the limit is %s, the setting %s; it was %s", got, text(setting), before)
		}
	}
}
