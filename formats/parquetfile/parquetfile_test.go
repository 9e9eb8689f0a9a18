package parquetfile_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/barograph/barograph/formats/parquetfile"
)

type row struct {
	Station string  `parquet:"station,dict"`
	Value   float64 `parquet:"value"`
}

// TestOpen: a whole file is opened; one that says more than it has is an error.
func TestOpen(t *testing.T) {
	var b bytes.Buffer
	if err := parquet.Write(&b, []row{{"STNA1", 3.5}, {"STNA1", 3.6}}, parquet.MaxRowsPerRowGroup(1)); err != nil {
		t.Fatal(err)
	}
	whole, err := parquet.OpenFile(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	last := whole.Metadata().RowGroups[1].Columns[1].MetaData.DataPageOffset
	for _, c := range []struct {
		name string
		at   int64
		put  string
		says string
	}{
		{"whole", 0, "", ""},
		{"a footer of 4 GiB", int64(b.Len()) - 8, "\xf0\xff\xff\xff", "its footer should have 4294967280 bytes"},
		{"a list of two thousand million numbers", last, "\x19\xf7\xff\xff\xff\xff\x07", "a header of a page: "},
		{"a text of 2 GiB", last, "\x18\xff\xff\xff\xff\x07", "a header of a page: "},
		{"a page of less than nothing", last, "\x15\x00\x15\x02\x15\x03\x00", "its page has -2 bytes"},
		{"a page that lies beyond", last, "\x15\x00\x15\x02\x15\xfe\xff\xff\xff\x0f\x00", ""}, // the library's to refuse
	} {
		path := filepath.Join(t.TempDir(), "x.parquet")
		text := bytes.Clone(b.Bytes())
		copy(text[c.at:], c.put)
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		file, err := parquetfile.Open(f)
		switch {
		case c.says == "" && (err != nil || file.NumRows() != 2):
			t.Errorf("%s: %v", c.name, err)
		case c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)):
			t.Errorf("%s: %v", c.name, err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
