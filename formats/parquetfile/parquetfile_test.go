package parquetfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

type row struct {
	Station string  `parquet:"station,dict"`
	Value   float64 `parquet:"value"`
}

// openText opens a file with this content.
func openText(t *testing.T, text []byte) (*parquet.File, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.parquet")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return Open(f)
}

// written is a Parquet file with one row in each row group.
func written(t *testing.T, rows []row, options ...parquet.WriterOption) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := parquet.Write(&b, rows, append(options, parquet.MaxRowsPerRowGroup(1))...); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestShortFile: a file that is too short for a footer is an error with its size.
func TestShortFile(t *testing.T) {
	for text, want := range map[string]string{
		"":         "the file is too short: 0 bytes",
		"PAR1":     "the file is too short: 4 bytes",
		"PAR1PAR1": "the file is too short: 8 bytes, for a footer of 827474256 bytes", // PAR1 as a number
	} {
		if _, err := openText(t, []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// TestUnreadableFile: an error of the file system is returned, of a closed file and of a folder.
func TestUnreadableFile(t *testing.T) {
	for problem, isClosed := range map[string]bool{"file already closed": true, "is a directory": false} {
		f, err := os.Open(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		if isClosed {
			f.Close()
		}
		if file, err := Open(f); err == nil || file != nil || !strings.Contains(err.Error(), problem) {
			t.Errorf("%v, want %s", err, problem)
		}
		f.Close()
	}
}

// TestFileWithoutRows: the footer of a file without rows fills the file. A footer that is longer by a byte is too long.
func TestFileWithoutRows(t *testing.T) {
	text := written(t, nil)
	if n := binary.LittleEndian.Uint32(text[len(text)-8:]); int(n) != len(text)-12 {
		t.Fatalf("a footer of %d bytes in a file of %d", n, len(text))
	}
	if file, err := openText(t, text); err != nil || file.NumRows() != 0 {
		t.Errorf("%v", err)
	}
	binary.LittleEndian.PutUint32(text[len(text)-8:], uint32(len(text)-11))
	if _, err := openText(t, text); err == nil || !strings.Contains(err.Error(), "the file is too short") {
		t.Errorf("a footer that overlaps the first four bytes: %v", err)
	}
}

// TestDamagedSchema: a schema in which the root is a column is an error of Open. The library panics at its first use.
func TestDamagedSchema(t *testing.T) {
	root := format.SchemaElement{Name: "root", Type: thrift.Null[format.Type]{V: format.Int32, Valid: true}}
	footer, err := thrift.Marshal(new(thrift.CompactProtocol), &format.FileMetaData{Version: 1, Schema: []format.SchemaElement{root}})
	if err != nil {
		t.Fatal(err)
	}
	text := binary.LittleEndian.AppendUint32(append([]byte("PAR1"), footer...), uint32(len(footer)))
	if _, err := openText(t, append(text, "PAR1"...)); err == nil || !strings.HasPrefix(err.Error(), "the file is damaged: ") {
		t.Errorf("%v", err)
	}
}

// TestUnusedParts: Open reads neither the page index nor the Bloom filters, which the reader does not need. Damage to them
// has no effect.
func TestUnusedParts(t *testing.T) {
	text := written(t, []row{{"STNA1", 3.5}, {"STNA1", 3.6}}, parquet.BloomFilters(parquet.SplitBlockFilter(10, "station")))
	intact, err := parquet.OpenFile(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	column := &intact.Metadata().RowGroups[0].Columns[0]
	for part, offset := range map[string]int64{
		"column index": column.ColumnIndexOffset, "offset index": column.OffsetIndexOffset, "Bloom filter": column.MetaData.BloomFilterOffset,
	} {
		damaged := bytes.Clone(text)
		if copy(damaged[offset:], "\xff\xff\xff\xff\xff\xff\xff\xff"); offset == 0 {
			t.Fatalf("the file has no %s", part)
		}
		if file, err := openText(t, damaged); err != nil || file.NumRows() != 2 {
			t.Errorf("a damaged %s: %v", part, err)
		}
		if _, err := parquet.OpenFile(bytes.NewReader(damaged), int64(len(damaged))); err == nil {
			t.Errorf("the library does not read the %s either", part)
		}
	}
}

// TestOpen: Open accepts an intact file. A size or count in a damaged file that exceeds the file is an error of Open,
// except the size of a page's data, which the library checks when it reads the page.
//
// A page's header is in Thrift's compact form. A field begins with a byte: its high half is the distance from the
// previous field, and its low half is the type (5 integer, 8 text, 9 list). The value follows:
//   - of an integer its zigzag form (\x03 is -2),
//   - of a text its length and its bytes,
//   - of a list a byte \xf7 (f: a count follows; 7: the items are doubles), the count, and the items.
//
// A byte 0 ends the header.
func TestOpen(t *testing.T) {
	text := written(t, []row{{"STNA1", 3.5}, {"STNA1", 3.6}})
	intact, err := parquet.OpenFile(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	dictionary := intact.Metadata().RowGroups[0].Columns[0].MetaData.DictionaryPageOffset
	last := intact.Metadata().RowGroups[1].Columns[1].MetaData.DataPageOffset
	for _, c := range []struct {
		name        string
		offset      int64
		replacement string
		problem     string
	}{
		{"intact", 0, "", ""},
		{"a footer of 4 GiB", int64(len(text)) - 8, "\xf0\xff\xff\xff", "for a footer of 4294967280 bytes"},
		{"a list of 2 billion numbers", last, "\x19\xf7\xff\xff\xff\xff\x07", "a header of a page: "},
		{"a text of 2 GiB", last, "\x18\xff\xff\xff\xff\x07", "a header of a page: "},
		{"a dictionary of -2 bytes", dictionary, "\x15\x04\x15\x02\x15\x03\x00", "its page has -2 bytes"},
		{"a page of -2 bytes", last, "\x15\x00\x15\x02\x15\x03\x00", "its page has -2 bytes"},
		{"a page beyond the end", last, "\x15\x00\x15\x02\x15\xfe\xff\xff\xff\x0f\x00", ""}, // the library refuses it later
	} {
		damaged := bytes.Clone(text)
		copy(damaged[c.offset:], c.replacement)
		file, err := openText(t, damaged)
		switch {
		case c.problem == "" && (err != nil || file.NumRows() != 2):
			t.Errorf("%s: %v", c.name, err)
		case c.problem != "" && (err == nil || !strings.Contains(err.Error(), c.problem)):
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// withColumn returns a file whose footer has a changed description of the first column of the first row group.
func withColumn(t *testing.T, text []byte, change func(c *format.ColumnMetaData)) []byte {
	t.Helper()
	end := len(text) - 8
	start := end - int(binary.LittleEndian.Uint32(text[end:]))
	var footer format.FileMetaData
	if err := thrift.Unmarshal(new(thrift.CompactProtocol), text[start:end], &footer); err != nil {
		t.Fatal(err)
	}
	change(&footer.RowGroups[0].Columns[0].MetaData)
	changed, err := thrift.Marshal(new(thrift.CompactProtocol), &footer)
	if err != nil {
		t.Fatal(err)
	}
	out := append(bytes.Clone(text[:start]), changed...)
	return append(binary.LittleEndian.AppendUint32(out, uint32(len(changed))), "PAR1"...)
}

// TestOffsetOfData: the library reads rows from DataPageOffset on, which may be damaged in the footer of an otherwise
// intact file. Within the dictionary it could find a list of two billion numbers.
func TestOffsetOfData(t *testing.T) {
	const list = "\x19\xf7\xff\xff\xff\xff\x07"
	text := written(t, []row{{list, 3.5}})
	within := int64(bytes.Index(text, []byte(list)))
	for name, c := range map[string]struct {
		change  func(c *format.ColumnMetaData)
		problem string // of Open
		isRead  bool
	}{
		"intact":                       {func(*format.ColumnMetaData) {}, "", true},
		"the position of a dictionary": {func(c *format.ColumnMetaData) { c.DataPageOffset = c.DictionaryPageOffset }, "", true},
		"within the dictionary":        {func(c *format.ColumnMetaData) { c.DataPageOffset = within }, "its data begin within a page", false},
		"before the dictionary":        {func(c *format.ColumnMetaData) { c.DataPageOffset = c.DictionaryPageOffset - 1 }, "", false},
		"no position":                  {func(c *format.ColumnMetaData) { c.DataPageOffset = 0 }, "", false},
		"below 0":                      {func(c *format.ColumnMetaData) { c.DataPageOffset = -1 }, "", false},
		"after the column":             {func(c *format.ColumnMetaData) { c.DataPageOffset += 1000 }, "", false},
	} {
		file, err := openText(t, withColumn(t, text, c.change))
		if (err == nil) != (c.problem == "") || err != nil && !strings.Contains(err.Error(), c.problem) {
			t.Errorf("%s: %v, want %q", name, err, c.problem)
		}
		if err != nil {
			continue
		}
		read := func() (n int, err error) {
			defer Damaged(&err)
			return parquet.NewGenericReader[row](file).Read(make([]row, 1))
		}
		if n, err := read(); (n == 1 && errors.Is(err, io.EOF)) != c.isRead {
			t.Errorf("%s: %d rows, %v", name, n, err)
		}
	}
}
