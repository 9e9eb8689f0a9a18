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

// TestShortFile: a file that is too short for a footer is an error with its size.
func TestShortFile(t *testing.T) {
	for text, want := range map[string]string{
		"":         "the file is too short: 0 bytes",
		"PAR1":     "the file is too short: 4 bytes",
		"PAR1PAR1": "the file is too short: 8 bytes",
	} {
		path := filepath.Join(t.TempDir(), "x.parquet")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parquetfile.Open(f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestOpen: Open accepts an intact file. A size or count in a damaged file that exceeds the file is an error of Open,
// except the size of a page's data, which the library checks when it reads the page. A page's header is in Thrift's compact
// form: the high half of a byte is the distance from the previous field, the low half its type (5 integer, 8 text, 9 list).
// Then comes the value: an integer in zigzag form (\x03 is -2), the length of a text, or of a list a byte \xf with the type
// of its items (7 double) and their count. A byte 0 ends the header.
func TestOpen(t *testing.T) {
	var b bytes.Buffer
	if err := parquet.Write(&b, []row{{"STNA1", 3.5}, {"STNA1", 3.6}}, parquet.MaxRowsPerRowGroup(1)); err != nil {
		t.Fatal(err)
	}
	intact, err := parquet.OpenFile(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	last := intact.Metadata().RowGroups[1].Columns[1].MetaData.DataPageOffset
	for _, c := range []struct {
		name        string
		offset      int64
		replacement string
		problem     string
	}{
		{"intact", 0, "", ""},
		{"a footer of 4 GiB", int64(b.Len()) - 8, "\xf0\xff\xff\xff", "for a footer of 4294967280 bytes"},
		{"a list of 2 billion numbers", last, "\x19\xf7\xff\xff\xff\xff\x07", "a header of a page: "},
		{"a text of 2 GiB", last, "\x18\xff\xff\xff\xff\x07", "a header of a page: "},
		{"a page of -2 bytes", last, "\x15\x00\x15\x02\x15\x03\x00", "its page has -2 bytes"},
		{"a page beyond the end", last, "\x15\x00\x15\x02\x15\xfe\xff\xff\xff\x0f\x00", ""}, // the library refuses it later
	} {
		path := filepath.Join(t.TempDir(), "x.parquet")
		text := bytes.Clone(b.Bytes())
		copy(text[c.offset:], c.replacement)
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		file, err := parquetfile.Open(f)
		switch {
		case c.problem == "" && (err != nil || file.NumRows() != 2):
			t.Errorf("%s: %v", c.name, err)
		case c.problem != "" && (err == nil || !strings.Contains(err.Error(), c.problem)):
			t.Errorf("%s: %v", c.name, err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
