// Package parquetfile opens Parquet files of other programs. Every byte of such a file may be wrong.
//
// Open checks what parquet-go v0.32.0 does not: the length of the footer, for which the library allocates
// memory, and the header of every page. A header of seven bytes can contain a list of two billion numbers,
// which the library skips one by one, far beyond the end of the file. The library itself checks the data of a page.
package parquetfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// Open opens a Parquet file. f must stay open while it is read.
func Open(f *os.File) (file *parquet.File, err error) {
	defer Damaged(&err)
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	size := info.Size()
	var tail [8]byte // the footer's length, and "PAR1"
	if _, err := f.ReadAt(tail[:], max(size-int64(len(tail)), 0)); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if n := int64(binary.LittleEndian.Uint32(tail[:])); n > size-12 { // "PAR1" at the start, and the tail
		return nil, fmt.Errorf("the file is too short: %d bytes, for a footer of %d bytes", size, n)
	}
	if file, err = parquet.OpenFile(f, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true)); err != nil {
		return nil, err
	}
	file.Schema().Lookup() // the library reads a schema at the first Lookup, and panics if the schema is damaged
	for _, group := range file.Metadata().RowGroups {
		for i := range group.Columns {
			if err := checkPageHeaders(f, size, &group.Columns[i].MetaData); err != nil {
				return nil, fmt.Errorf("the file is damaged: a header of a page: %w", err)
			}
		}
	}
	return file, nil
}

// Damaged sets *err if the library panics, which means that the file is damaged. Functions that read a file defer it.
func Damaged(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("the file is damaged: %v", p)
	}
}

// checkPageHeaders reads the headers of a column's pages in a row group, from the dictionary on if there is one, up to
// the end of the column. A count that exceeds the column therefore is an error. The library reads rows from
// DataPageOffset on, at which a page must begin. Outside the column the library finds no page.
func checkPageHeaders(f io.ReaderAt, size int64, c *format.ColumnMetaData) error {
	position := c.DataPageOffset
	if c.DictionaryPageOffset != 0 {
		position = c.DictionaryPageOffset
	}
	if position < 0 || c.TotalCompressedSize < 0 {
		return errors.New("its position or its size is below 0")
	}
	for end := position + min(c.TotalCompressedSize, max(size-position, 0)); position < end; {
		page, n, err := readPageHeader(io.NewSectionReader(f, position, end-position))
		if err != nil {
			return err
		}
		if page.CompressedPageSize < 0 {
			return fmt.Errorf("its page has %d bytes", page.CompressedPageSize)
		}
		next := position + int64(n) + int64(page.CompressedPageSize)
		if position < c.DataPageOffset && c.DataPageOffset < min(next, end) {
			return errors.New("its data begin within a page")
		}
		position = next
	}
	return nil
}

// firstReadBytes is enough for nearly every header of a page.
const firstReadBytes = 1 << 10

// readPageHeader reads the header at the beginning of f, and returns its size in bytes. If the first bytes are not
// enough, it reads eight times as many, up to all of f.
func readPageHeader(f *io.SectionReader) (page format.PageHeader, n int, err error) {
	var compact thrift.CompactProtocol
	for size := int64(firstReadBytes); ; size *= 8 {
		text := make([]byte, min(size, f.Size()))
		if _, err := f.ReadAt(text, 0); err != nil && !errors.Is(err, io.EOF) {
			return page, 0, err
		}
		page = format.PageHeader{}
		r := compact.NewReaderFromBytes(text)
		if err = thrift.NewDecoder(r).Decode(&page); err == nil || size >= f.Size() {
			return page, r.BytesRead(), err
		}
	}
}
