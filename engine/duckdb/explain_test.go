package duckdb

import (
	"errors"
	"strings"
	"testing"

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
