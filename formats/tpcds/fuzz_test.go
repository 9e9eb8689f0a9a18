package tpcds

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// FuzzRead: whatever a file holds, reading it ends, in rows whose columns are
// all as long and which another reading finds again, or in an error.
func FuzzRead(f *testing.F) {
	rows := []shortItem{{1, new(int32(10227)), new("a tale"), new(int32(-5)), new(int64(1 << 40))}, {2, nil, nil, nil, nil}, {3, new(int32(-1)), new(""), new(int32(123456)), new(int64(0))}}
	for _, n := range []int{0, 1, 3} {
		for _, codec := range []parquet.WriterOption{parquet.Compression(&parquet.Uncompressed), parquet.Compression(&parquet.Snappy)} {
			var b bytes.Buffer
			if err := parquet.Write(&b, rows[:n], codec); err != nil {
				f.Fatal(err)
			}
			f.Add(b.Bytes())
		}
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, file []byte) {
		path := filepath.Join(dir, "x.parquet")
		if err := os.WriteFile(path, file, 0o644); err != nil {
			t.Fatal(err)
		}
		names := []string{"i_item_sk", "i_rec_start_date", "i_item_desc", "i_current_price", "i_brand_id"}
		lines, err := documents(t, path, names)
		for _, name := range names {
			alone, e := documents(t, path, []string{name})
			if err == nil && (e != nil || len(alone) != len(lines)) {
				t.Errorf("%s has %d rows alone and %d among others, %v", name, len(alone), len(lines), e)
			}
		}
		if again, e := documents(t, path, names); (e == nil) != (err == nil) || !slices.Equal(again, lines) {
			t.Errorf("two readings differ: %d and %d rows, %v, %v", len(lines), len(again), err, e)
		}
	})
}

// documents reads a file's rows as documents.
func documents(t *testing.T, path string, names []string) (lines []string, err error) {
	for rows, err := range Read(path, Item, names...) {
		if err != nil {
			return lines, err
		}
		for k := range rows.Columns {
			if n := len(rows.Columns[k].Null); n != rows.N {
				t.Errorf("%s has %d values in %d rows", rows.Columns[k].Name, n, rows.N)
			}
		}
		for i := range rows.N {
			lines = append(lines, string(rows.AppendDocument(nil, Item, i)))
		}
	}
	return lines, nil
}
