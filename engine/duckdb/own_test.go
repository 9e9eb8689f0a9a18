package duckdb_test

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
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

// TestFilesNamedLikePatterns: DuckDB reads exactly the files that are named, also if their paths look like patterns.
func TestFilesNamedLikePatterns(t *testing.T) {
	dir, ctx := t.TempDir(), t.Context()
	own := ownTables(t, ":memory:")
	made := func(folder string, rows int) string {
		t.Helper()
		file := filepath.Join(dir, folder, "x.parquet")
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprintf("COPY (SELECT i AS n FROM range(%d) r(i)) TO %s (FORMAT parquet)", rows, flavour.Quote(file))
		if err := own.Ask(ctx, text, func([]any) error { return nil }); err != nil {
			t.Fatal(err)
		}
		return file
	}
	for _, name := range []string{"ax", "b1", "c1", "[x"} { // the patterns match them
		made(name, 5)
	}
	for i, name := range []string{"a*", "b?", "c[1]", "**", "[*", "d{1,2}", `e\`} {
		file := made(name, 3)
		table := &tables.Table{Name: fmt.Sprint("t", i), Root: dir, Files: []string{file}, Parquet: file}
		rows, err := own.Describe(ctx, table)
		if err != nil || rows[file] != 3 {
			t.Errorf("%s: %v, %v", name, rows, err)
			continue
		}
		n := 0
		if err := table.Each(ctx, func([]any) error { n++; return nil }); err != nil || n != 3 {
			t.Errorf("%s: %d rows, %v", name, n, err)
		}
		if err := own.Ask(ctx, "DROP VIEW "+table.Name, func([]any) error { return nil }); err != nil {
			t.Fatal(err)
		}
		if err := own.Load(ctx, table); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		var loaded any
		if err := own.Ask(ctx, "SELECT count(*) FROM "+table.Name, func(row []any) error { loaded = row[0]; return nil }); err != nil || fmt.Sprint(loaded) != "3" {
			t.Errorf("%s: %v rows are loaded, %v", name, loaded, err)
		}
	}
}

// TestOwnFileThatTheDriverMisreads: the driver takes the file's name as a part of a URL. It would lose the settings
// after a #, for example that the file is read-only.
func TestOwnFileThatTheDriverMisreads(t *testing.T) {
	for name, works := range map[string]bool{"plain.db": true, "a b.db": true, "a%2Fb.db": true, "50%.db": false, "a#1.db": false} {
		u := &url.URL{Scheme: "duckdb", Opaque: url.PathEscape(filepath.Join(t.TempDir(), name))}
		e, err := duckdb.Driver().Open(t.Context(), u, engine.Options{})
		if err != nil {
			t.Fatal(err)
		}
		own, err := tables.DatabasesOf(e).Own(t.Context(), false)
		if (err == nil) != works || err != nil && !strings.Contains(err.Error(), "has a character such as % or #") {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil {
			err = own.Close()
		}
		if works && err != nil {
			t.Error(err)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestDecimalsThatNoTypeContains: the error names the types of both files, not a type that nobody wrote.
func TestDecimalsThatNoTypeContains(t *testing.T) {
	own, dir := ownTables(t, ":memory:"), t.TempDir()
	table := &tables.Table{Name: "t", Root: dir}
	for i, kind := range []string{"DECIMAL(38, 0)", "DECIMAL(10, 5)"} {
		table.Files = append(table.Files, filepath.Join(dir, fmt.Sprint(i, ".parquet")))
		text := "COPY (SELECT 1::" + kind + " AS n) TO " + flavour.Quote(table.Files[i]) + " (FORMAT parquet)"
		if err := own.Ask(t.Context(), text, func([]any) error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	want := "is a decimal(10, 5), and a decimal(38, 0) in " + table.Files[0]
	if _, err := own.Describe(t.Context(), table); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
}
