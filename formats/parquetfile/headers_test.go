package parquetfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/parquet-go/parquet-go/format"
)

// pageHeader is the header of a page of n bytes in the form that TestOpen describes. If further is above 0, the header
// also has an unknown text field of that many bytes.
func pageHeader(n, further int) string {
	size := byte(2 * n)
	header := "\x15\x00\x15" + string(size) + "\x15" + string(size)
	if further > 0 {
		header += "\xf8" + string(binary.AppendUvarint(nil, uint64(further))) + strings.Repeat("x", further)
	}
	return header + "\x00"
}

// TestPageHeaders: the headers of a column's pages are read from its first page on, which may be a dictionary, up to the
// end of the column or of the file. The data must begin at one of them.
func TestPageHeaders(t *testing.T) {
	pages := pageHeader(2, 0) + "ab" + pageHeader(0, 0) + pageHeader(3, 0) + "abc" // 9, 7 and 10 bytes from byte 4 on
	const damaged = "\x15\x00\x15\x02\x15\x03\x00"                                 // a page of -2 bytes
	for name, c := range map[string]struct {
		text                   string
		data, dictionary, size int64
		problem                string
	}{
		"three pages":                      {"PAR1" + pages, 4, 0, 26, ""},
		"a fourth page is damaged":         {"PAR1" + pages + damaged, 4, 0, 33, "its page has -2 bytes"},
		"damage after the column":          {"PAR1" + pages + damaged, 4, 0, 26, ""},
		"the first page is damaged":        {"PAR1" + damaged + pages, 4, 0, 33, "its page has -2 bytes"},
		"a dictionary is damaged":          {"PAR1" + damaged + pages, 11, 4, 33, "its page has -2 bytes"},
		"data before a dictionary":         {"PAR1" + damaged + pages, 4, 11, 26, ""}, // the library refuses to seek there
		"data from the second page on":     {"PAR1" + pages, 13, 4, 26, ""},
		"data from the end on":             {"PAR1" + pages, 30, 4, 26, ""},
		"data within a dictionary":         {"PAR1" + pages, 5, 4, 26, "its data begin within a page"},
		"data within a later page":         {"PAR1" + pages, 29, 4, 26, "its data begin within a page"},
		"a header beyond the column":       {"PAR1" + pages, 4, 0, 20, "EOF"},
		"a column that exceeds the file":   {"PAR1" + pages, 4, 0, 1 << 40, ""},
		"a column after the file":          {"PAR1" + pages, 1000, 0, 26, ""},
		"a column at the end of the file":  {"PAR1" + pages, 30, 0, 26, ""},
		"a column without a byte":          {damaged, 0, 0, 0, ""},
		"a position below 0":               {"PAR1" + pages, -1, 0, 26, "its position or its size is below 0"},
		"a position of a dictionary below": {"PAR1" + pages, 4, -1, 26, "its position or its size is below 0"},
		"a size below 0":                   {"PAR1" + pages, 4, 0, -1, "its position or its size is below 0"},
	} {
		column := format.ColumnMetaData{DataPageOffset: c.data, DictionaryPageOffset: c.dictionary, TotalCompressedSize: c.size}
		err := checkPageHeaders(strings.NewReader(c.text), int64(len(c.text)), &column)
		if (err == nil) != (c.problem == "") || err != nil && !strings.Contains(err.Error(), c.problem) {
			t.Errorf("%s: %v, want %q", name, err, c.problem)
		}
	}
}

// recorder records how many bytes are read at a time.
type recorder struct {
	io.ReaderAt
	sizes []int
}

func (r *recorder) ReadAt(p []byte, at int64) (int, error) {
	r.sizes = append(r.sizes, len(p))
	return r.ReaderAt.ReadAt(p, at)
}

// TestReadsOfAHeader: a header costs one read of at most 1 KiB; a longer one costs reads of eight times as many bytes each.
// No read goes beyond the column.
func TestReadsOfAHeader(t *testing.T) {
	for name, c := range map[string]struct {
		header string
		column int // bytes
		reads  []int
		fails  bool
	}{
		"a short column":          {pageHeader(2, 0), 100, []int{100}, false},
		"a column of 1 KiB":       {pageHeader(2, 0), 1024, []int{1024}, false},
		"a long column":           {pageHeader(2, 0), 100_000, []int{1024}, false},
		"a header of 2,000 bytes": {pageHeader(2, 2000), 100_000, []int{1024, 8192}, false},
		"one of 9,000 bytes":      {pageHeader(2, 9000), 100_000, []int{1024, 8192, 65536}, false},
		"in a shorter column":     {pageHeader(2, 9000), 20_000, []int{1024, 8192, 20_000}, false},
		"longer than its column":  {pageHeader(2, 2000), 1500, []int{1024, 1500}, true},
		"longer than 1 KiB":       {pageHeader(2, 2000), 1024, []int{1024}, true},
		"without an end":          {"\x15", 1, []int{1}, true},
	} {
		text := append([]byte(c.header), bytes.Repeat([]byte{0x15}, 100_000)...)
		r := recorder{ReaderAt: bytes.NewReader(text)}
		page, n, err := readPageHeader(io.NewSectionReader(&r, 0, int64(c.column)))
		if (err != nil) != c.fails || !slices.Equal(r.sizes, c.reads) {
			t.Errorf("%s: reads of %d bytes, %v; want %d", name, r.sizes, err, c.reads)
		}
		if !c.fails && (n != len(c.header) || page.CompressedPageSize != 2) {
			t.Errorf("%s: a header of %d bytes for a page of %d", name, n, page.CompressedPageSize)
		}
	}
	broken := errors.New("broken")
	if _, n, err := readPageHeader(io.NewSectionReader(failing{iotest.ErrReader(broken)}, 0, 100)); !errors.Is(err, broken) || n != 0 {
		t.Errorf("%d bytes, %v; want %v", n, err, broken)
	}
}

// failing reads from a stream, whatever the position is.
type failing struct{ io.Reader }

func (f failing) ReadAt(p []byte, _ int64) (int, error) { return f.Read(p) }
