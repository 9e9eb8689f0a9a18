package duckdb_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/duckdb"
	"github.com/barograph/barograph/engine/tables"
	"github.com/barograph/barograph/query/flavour"
)

// ownTables opens a user's own tables, which are closed at the end of the test.
func ownTables(t *testing.T, path string) *tables.Tables {
	t.Helper()
	e, err := engine.Registry{duckdb.Driver()}.Open(t.Context(), "duckdb:"+path, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	own, err := tables.DatabasesOf(e).Own(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(own.Close(), e.Close()); err != nil {
			t.Error(err)
		}
	})
	return own
}

// TestEach: every row arrives once and in order. Each reads a slice of the rows at a time: after the file is removed,
// the rest of the first slice arrives and no more.
func TestEach(t *testing.T) {
	dir, ctx := t.TempDir(), t.Context()
	own := ownTables(t, ":memory:")
	newTable := func(name, column string, rows int) *tables.Table {
		t.Helper()
		table := &tables.Table{Name: name, Root: dir, Files: []string{filepath.Join(dir, name+".parquet")}}
		table.Parquet = table.Files[0]
		text := fmt.Sprintf("COPY (SELECT i, 'x' AS %s FROM range(%d) r(i)) TO %s (FORMAT parquet)", column, rows, flavour.Quote(table.Parquet))
		if err := own.Ask(ctx, text, func([]any) error { return nil }); err != nil {
			t.Fatal(err)
		}
		if _, err := own.Describe(ctx, table); err != nil {
			t.Fatal(err)
		}
		return table
	}
	each := func(table *tables.Table, before func()) (n int, err error) {
		err = table.Each(ctx, func(row []any) error {
			if row[0] != strconv.Itoa(n) {
				return fmt.Errorf("row %d begins with %v", n, row[0])
			}
			if n++; n == 1 {
				before()
			}
			return nil
		})
		return n, err
	}
	for k, rows := range []int{0, 1, duckdb.SliceRows, duckdb.SliceRows + 1, 2 * duckdb.SliceRows} {
		if n, err := each(newTable(fmt.Sprintf("t%d", k), "c", rows), func() {}); err != nil || n != rows {
			t.Errorf("%d of %d rows: %v", n, rows, err)
		}
	}
	rows := duckdb.SliceRows + 1
	if n, err := each(newTable("of_the_name", "file_row_number", rows), func() {}); err != nil || n != rows { // DuckDB's name for the number of a row
		t.Errorf("%d of %d rows: %v", n, rows, err)
	}
	table := newTable("removed", "c", rows)
	n, err := each(table, func() {
		if err := os.Remove(table.Parquet); err != nil {
			t.Error(err)
		}
	})
	if err == nil || n != duckdb.SliceRows {
		t.Errorf("a file that is removed after the first row: %d rows, %v", n, err)
	}
}
