package tpcds

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// shortItem is a row of a file with some columns of item.
type shortItem struct {
	Key   int32   `parquet:"i_item_sk"`
	Start *int32  `parquet:"i_rec_start_date,optional,date"`
	Text  *string `parquet:"i_item_desc,optional"`
	Price *int32  `parquet:"i_current_price,optional,decimal(2:7)"`
	Brand *int64  `parquet:"i_brand_id,optional"`
}

func written[T any](t *testing.T, rows []T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.parquet")
	if err := parquet.WriteFile(path, rows); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestReadAndDocuments(t *testing.T) {
	path := written(t, []shortItem{
		{1, new(int32(10227)), new("a \"tale\" of\tünits"), new(int32(-5)), new(int64(1 << 40))},
		{2, nil, nil, nil, nil},
		{3, new(int32(-1)), new(""), new(int32(123456)), new(int64(0))},
	})
	names := []string{"i_item_sk", "i_rec_start_date", "i_item_desc", "i_current_price", "i_brand_id"}
	want := []string{
		`{"table_name":"item","i_item_sk":1,"i_rec_start_date":"1998-01-01","i_item_desc":"a \"tale\" of\tünits","i_current_price":-0.05,"i_brand_id":1099511627776}`,
		`{"table_name":"item","i_item_sk":2}`,
		`{"table_name":"item","i_item_sk":3,"i_rec_start_date":"1969-12-31","i_item_desc":"","i_current_price":1234.56,"i_brand_id":0}`,
	}
	for rows, err := range Read(path, Item, names...) {
		if err != nil {
			t.Fatal(err)
		}
		if rows.N != len(want) {
			t.Fatalf("%d rows", rows.N)
		}
		for i := range want {
			got := string(rows.AppendDocument(nil, Item, i))
			if got != want[i]+"\n" || !json.Valid([]byte(got)) {
				t.Errorf("%s, want %s", got, want[i])
			}
		}
	}
	for rows, err := range Read(path, Item, "i_item_sk") {
		if err != nil || len(rows.Columns) != 1 {
			t.Fatal(err)
		}
		break // early
	}
	for name, c := range map[string][]string{"lacks": {"i_color"}, "is no column": {"i_price"}} {
		for _, err := range Read(path, Item, c...) {
			if err == nil {
				t.Errorf("%s: %v was read", name, c)
			}
		}
	}
}

// TestReadRefuses reads what is no such table.
func TestReadRefuses(t *testing.T) {
	text := filepath.Join(t.TempDir(), "x.parquet")
	if err := os.WriteFile(text, []byte("PAR1 no more"), 0o644); err != nil {
		t.Fatal(err)
	}
	long := filepath.Join(t.TempDir(), "long.parquet")
	if err := os.WriteFile(long, []byte("PAR1\xff\xff\xff\xffPAR1"), 0o644); err != nil { // would take 4 GiB
		t.Fatal(err)
	}
	type wrong struct {
		Price float64 `parquet:"i_current_price"`
		Brand int32   `parquet:"i_brand"`
		Start int32   `parquet:"i_rec_start_date"`
	}
	types := written(t, []wrong{{1, 2, 3}})
	for _, c := range []struct{ path, table, column, says string }{
		{text, Item, "i_item_sk", "not a Parquet file"},
		{long, Item, "i_item_sk", "4294967295"},
		{text + "x", Item, "i_item_sk", "no such file"},
		{types, "customer", "c_name", "not a table"},
		{types, Item, "i_current_price", "type"},
		{types, Item, "i_brand", "type"},
		{types, Item, "i_rec_start_date", "type"},
		{types, Item, "", "not a column of the file"},
	} {
		names := []string{c.column}
		if c.column == "" {
			names = nil
		}
		failed := false
		for _, err := range Read(c.path, c.table, names...) {
			failed = err != nil
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s of %s: %v, want … %s …", c.column, c.table, err, c.says)
			}
		}
		if !failed {
			t.Errorf("%s of %s was read", c.column, c.table)
		}
	}
}

// TestColumns counts what the specification lists.
func TestColumns(t *testing.T) {
	for table, n := range map[string]int{StoreSales: 23, DateDim: 28, Item: 22, "customer": 0} {
		seen := map[string]bool{}
		for _, c := range Columns(table) {
			if seen[c.Name] || (c.Size > 0) != (c.Kind == Char || c.Kind == Varchar) {
				t.Errorf("%s: %+v", table, c)
			}
			seen[c.Name] = true
		}
		if len(seen) != n {
			t.Errorf("%s has %d columns, not %d", table, len(seen), n)
		}
	}
}

func TestAppendCents(t *testing.T) {
	for cents, want := range map[int64]string{0: "0.00", 5: "0.05", -5: "-0.05", 123: "1.23", -9999999: "-99999.99", -1 << 63: "-92233720368547758.08"} {
		if got := string(AppendCents(nil, cents)); got != want {
			t.Errorf("%d: %s, want %s", cents, got, want)
		}
	}
}

// TestManifest: a folder is whole or refused.
func TestManifest(t *testing.T) {
	dir := t.TempDir()
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "barograph synth tpcds") {
		t.Errorf("an empty folder: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte("1234"), 0o644); err != nil {
		t.Fatal(err)
	}
	m := &Manifest{Scale: 1, Parquet: map[string][]File{Item: {{Name: "a", Bytes: 4}}}}
	if err := m.Save(dir); err != nil {
		t.Fatal(err)
	}
	if got, err := Open(dir); err != nil || got.Scale != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	for _, text := range []string{"123", ""} {
		if err := os.WriteFile(filepath.Join(dir, "a"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(dir); err == nil {
			t.Errorf("a file of %d bytes was taken", len(text))
		}
	}
	if err := os.Remove(filepath.Join(dir, "a")); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir); err == nil {
		t.Error("a file is gone, and nobody said so")
	}
	if err := os.WriteFile(filepath.Join(dir, ManifestName), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir); err == nil {
		t.Error("a broken manifest was read")
	}
}
