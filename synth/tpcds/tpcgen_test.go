package tpcds_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"barograph/engine/enginetest"
	format "barograph/formats/tpcds"
	"barograph/lab"
	"barograph/synth/tpcds"
)

// program is tpcgen-cli, or the test is skipped.
func program(t testing.TB) string {
	t.Helper()
	enginetest.Needs(t, lab.TPCGen())
	path, err := lab.TPCGenProgram()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// TestKit counts what the kit's rows at scale factor 1 are known to be, and holds
// one file against seven, and the days against those of DuckDB's port.
func TestKit(t *testing.T) {
	if testing.Short() {
		t.Skip("NOT TESTED in short mode: the kit's least scale factor has 2,880,404 sales")
	}
	path := program(t)
	one, first := generate(t, tpcds.Options{Scale: 1, Files: 1, Program: path})
	many, second := generate(t, tpcds.Options{Scale: 1, Files: 7, Workers: 3, Program: path})
	a, b := digests(t, one, first), digests(t, many, second)
	for table, rows := range map[string]int64{format.StoreSales: 2_880_404, format.DateDim: 73_049, format.Item: 18_000} {
		if a[table].Rows != rows || first.Rows[table] != rows || a[table] != b[table] {
			t.Errorf("%s: %s in one file, %s in many; %d rows, not %d", table, a[table], b[table], first.Rows[table], rows)
		}
	}
	small, port := generate(t, tpcds.Options{Scale: 0.01})
	if days := digests(t, small, port)[format.DateDim]; days != a[format.DateDim] {
		t.Errorf("the kit's days are %s, those of DuckDB's port %s", a[format.DateDim], days)
	}
	if n := len(second.Parquet[format.StoreSales]); n != 7 || first.Generator != "tpcgen-cli 4.0.0" {
		t.Errorf("%d files by %q", n, first.Generator)
	}
}

// TestKitRefuses: scale factors that the kit does not have, and a program that
// fails, leave no folder that counts as whole.
func TestKitRefuses(t *testing.T) {
	failing := filepath.Join(t.TempDir(), "tpcgen-cli")
	if err := os.WriteFile(failing, []byte("#!/bin/sh\n[ \"$1\" = --version ] && echo x || { echo no room >&2; exit 1; }\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for scale, says := range map[float64]string{0.01: "whole ones", 1.5: "whole ones", 1e6: "whole ones", 1: "no room"} {
		dir := t.TempDir()
		if _, err := tpcds.Generate(t.Context(), dir, tpcds.Options{Scale: scale, Program: failing}); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("scale factor %g: %v, want … %s …", scale, err, says)
		}
		if _, err := format.Open(dir); err == nil {
			t.Errorf("scale factor %g: what failed counts as whole", scale)
		}
	}
}
