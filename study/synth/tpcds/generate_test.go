package tpcds_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	format "github.com/barograph/barograph/formats/tpcds"
	"github.com/barograph/barograph/study/synth/tpcds"
)

func generate(t *testing.T, o tpcds.Options) (string, *format.Manifest) {
	t.Helper()
	dir := t.TempDir()
	if _, err := tpcds.Generate(t.Context(), dir, o); err != nil {
		t.Fatal(err)
	}
	m, err := format.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return dir, m
}

func digests(t *testing.T, dir string, m *format.Manifest) map[string]digest {
	t.Helper()
	out := map[string]digest{}
	for table, files := range m.Parquet {
		paths, err := format.Paths(dir, files)
		if err != nil {
			t.Fatal(err)
		}
		if out[table], err = digestFiles(table, paths...); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// TestGenerate counts the rows of scale factor 0.01, and compares the digests of one
// file and of several files, and the documents with the rows.
func TestGenerate(t *testing.T) {
	one, first := generate(t, tpcds.Options{Scale: 0.01, Documents: true})
	many, second := generate(t, tpcds.Options{Scale: 0.01, Files: 7, Workers: 3})
	if len(first.Parquet[format.StoreSales]) != 1 || len(second.Parquet[format.StoreSales]) != 7 {
		t.Errorf("%d files, then %d", len(first.Parquet[format.StoreSales]), len(second.Parquet[format.StoreSales]))
	}
	a, b := digests(t, one, first), digests(t, many, second)
	for table, rows := range map[string]int64{format.StoreSales: 28810, format.DateDim: 73049, format.Item: 180} {
		if a[table].Rows != rows || first.Rows[table] != rows || a[table] != b[table] {
			t.Errorf("%s: %v in one file, %v in many; %d rows, not %d", table, a[table], b[table], first.Rows[table], rows)
		}
	}
	paths, err := format.Paths(one, first.Parquet[format.StoreSales])
	if err != nil {
		t.Fatal(err)
	}
	sum, sold := int64(0), 0
	for rows, err := range format.Read(paths[0], format.StoreSales, "ss_ext_sales_price") {
		if err != nil {
			t.Fatal(err)
		}
		for i, null := range rows.Columns[0].Null {
			if !null {
				sold++
				sum += rows.Columns[0].Int[i]
			}
		}
	}
	if sum != 5270027714 || sold != 27564 {
		t.Errorf("%d sold for %d", sold, sum)
	}
	documents(t, one, first)
	left, err := filepath.Glob(filepath.Join(one, ".*"))
	if err != nil || len(left) > 0 {
		t.Errorf("not removed: %v, %v", left, err)
	}
}

// documents counts the documents of each table and sums their prices.
func documents(t *testing.T, dir string, m *format.Manifest) {
	t.Helper()
	count, sold := map[string]int64{}, 0.0
	for _, f := range m.Documents {
		text, err := os.ReadFile(filepath.Join(dir, f.Name))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			var row map[string]any
			if err := json.Unmarshal([]byte(line), &row); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			table, ok := row[format.TableName].(string)
			if !ok {
				t.Fatalf("no table: %s", line)
			}
			for name, v := range row {
				if v == nil {
					t.Fatalf("%s is null: %s", name, line)
				}
			}
			count[table]++
			if price, ok := row["ss_ext_sales_price"].(float64); ok {
				sold += price
			}
		}
	}
	for table, rows := range m.Rows {
		if count[table] != rows {
			t.Errorf("%d documents of %s, not %d", count[table], table, rows)
		}
	}
	if sold < 52700277.13 || sold > 52700277.15 {
		t.Errorf("the sum of the prices in the documents is %v", sold)
	}
}

// TestGenerateAgain: Generate removes the files of an earlier generation, also of a killed one, and no other file.
func TestGenerateAgain(t *testing.T) {
	dir := t.TempDir()
	other := filepath.Join(dir, "documents", "thesis.tex")
	killed := filepath.Join(dir, ".dsdgen-1", "all.db")
	earlier := filepath.Join(dir, "parquet", "store_sales-0007.parquet")
	for _, name := range []string{other, killed, earlier} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, nil, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	_, err := tpcds.Generate(t.Context(), dir, tpcds.Options{Scale: 0.01})
	if err == nil || !strings.Contains(err.Error(), other) {
		t.Errorf("a folder with another file: %v", err)
	}
	for _, name := range []string{other, earlier} {
		if _, err := os.Stat(name); err != nil {
			t.Error(err)
		}
	}
	if err := os.Remove(other); err != nil {
		t.Fatal(err)
	}
	if _, err := tpcds.Generate(t.Context(), dir, tpcds.Options{Scale: 0.01}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{killed, earlier} {
		if _, err := os.Stat(name); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is still there: %v", name, err)
		}
	}
}

func TestGenerateRefuses(t *testing.T) {
	for _, o := range []tpcds.Options{
		{}, {Scale: -1}, {Scale: 0.001}, {Scale: 1e6}, {Scale: 0.01, Files: -1}, {Scale: 0.01, Files: 1 << 20},
	} {
		if _, err := tpcds.Generate(t.Context(), t.TempDir(), o); err == nil {
			t.Errorf("%+v is accepted", o)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	dir := t.TempDir()
	if _, err := tpcds.Generate(ctx, dir, tpcds.Options{Scale: 0.01}); !errors.Is(err, context.Canceled) {
		t.Errorf("a canceled context: %v", err)
	}
	if _, err := format.Open(dir); err == nil {
		t.Error("a canceled generation has a manifest")
	}
}
