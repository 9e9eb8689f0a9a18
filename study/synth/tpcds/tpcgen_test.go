package tpcds_test

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/barograph/barograph/engine/enginetest"
	format "github.com/barograph/barograph/formats/tpcds"
	"github.com/barograph/barograph/lab"
	"github.com/barograph/barograph/study/synth/tpcds"
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

// TestKit counts the rows of scale factor 1. It compares one file with seven files
// and with the kit's own text, and the days with those of DuckDB's port.
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
			t.Errorf("%s: %v in one file, %v in many; %d rows, not %d", table, a[table], b[table], first.Rows[table], rows)
		}
	}
	kitText(t, path, many, second)
	small, port := generate(t, tpcds.Options{Scale: 0.01})
	if days := digests(t, small, port)[format.DateDim]; days != a[format.DateDim] {
		t.Errorf("the kit's days are %v, those of DuckDB's port %v", a[format.DateDim], days)
	}
	if n := len(second.Parquet[format.StoreSales]); n != 7 || first.Generator != "tpcgen-cli 4.0.0" {
		t.Errorf("%d files by %q", n, first.Generator)
	}
}

// kitText compares rows with the kit's own text files, byte for byte: columns,
// their order, decimals, NULL.
func kitText(t *testing.T, program, dir string, m *format.Manifest) {
	t.Helper()
	out := t.TempDir()
	cmd := exec.CommandContext(t.Context(), program,
		"tpcds", "dat", "--tables", "store_sales,date_dim,item", "--output-dir="+out, "--quiet")
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	for table := range m.Parquet {
		f, err := os.Open(filepath.Join(out, table+".dat"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		row, wrong, from := 0, 0, bufio.NewReaderSize(f, 1<<20)
		lines(t, dir, m, table, func(line []byte) {
			row++
			if want, err := from.ReadSlice('\n'); err != nil || !bytes.Equal(line, want) {
				if wrong++; wrong < 4 {
					t.Errorf("%s, row %d is %q, in the kit's text %q, %v", table, row, line, want, err)
				}
			}
		})
		if _, err := from.ReadByte(); !errors.Is(err, io.EOF) || row == 0 {
			t.Errorf("%s: the kit's text does not end with row %d: %v", table, row, err)
		}
	}
}

// lines passes each row of a table to a function, as a line of the kit's text
// files: a bar follows each value. The line is valid until the next call.
func lines(t testing.TB, dir string, m *format.Manifest, table string, use func(line []byte)) {
	t.Helper()
	paths, err := format.Paths(dir, m.Parquet[table])
	if err != nil {
		t.Fatal(err)
	}
	var line []byte
	for _, path := range paths {
		for rows, err := range format.Read(path, table) {
			if err != nil {
				t.Fatal(err)
			}
			for i := range rows.N {
				line = line[:0]
				for k := range rows.Columns {
					line = append(rows.Columns[k].Append(line, i), '|')
				}
				line = append(line, '\n')
				use(line)
			}
		}
	}
}

// TestKitRefuses: Generate refuses scale factors that the kit does not have, and
// reports what a failing program reports. Neither leaves a manifest.
func TestKitRefuses(t *testing.T) {
	failing := filepath.Join(t.TempDir(), "tpcgen-cli")
	if err := os.WriteFile(failing, []byte("#!/bin/sh\n[ \"$1\" = --version ] && echo x || { echo no room >&2; exit 1; }\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	silent := filepath.Join(t.TempDir(), "tpcgen-cli")
	if err := os.WriteFile(silent, []byte("#!/bin/sh\n[ \"$1\" = --version ] && echo x || exit 3\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		program string
		scale   float64
		want    string
	}{
		{failing, 0.01, "is not an integer"},
		{failing, 1.5, "is not an integer"},
		{failing, 1e6, "is not an integer"},
		{failing, 1, "exit status 1: no room; "},
		{failing, 2000, "no room"}, // 4 files for each unit would be more than Generate writes
		{silent, 1, "exit status 3; "},
	} {
		dir := t.TempDir()
		_, err := tpcds.Generate(t.Context(), dir, tpcds.Options{Scale: c.scale, Program: c.program})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("scale factor %g: %v, want … %s …", c.scale, err, c.want)
		}
		if _, err := format.Open(dir); err == nil {
			t.Errorf("scale factor %g: a failed generation has a manifest", c.scale)
		}
	}
}
