package tpcds

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"strconv"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/barograph/barograph/fault"
)

// Rows are the rows of a row group, column by column. They are valid until the
// next step.
type Rows struct {
	N       int
	Columns []Vector
}

// Vector is a column of Rows.
type Vector struct {
	Column
	Null  []bool
	Whole []int64  // of numbers and dates; 0 where the value is NULL
	Text  [][]byte // of texts
}

// Append appends value i as text: decimals as 12.30, dates as 1998-01-31. Of
// NULL nothing is appended.
func (v *Vector) Append(to []byte, i int) []byte {
	if v.Null[i] {
		return to
	}
	switch v.Kind {
	case Char, Varchar:
		return append(to, v.Text[i]...)
	case Date:
		return time.Unix(v.Whole[i]*86400, 0).UTC().AppendFormat(to, time.DateOnly)
	case Decimal:
		return AppendCents(to, v.Whole[i])
	}
	return strconv.AppendInt(to, v.Whole[i], 10)
}

// AppendCents appends hundredths as a decimal.
func AppendCents(to []byte, cents int64) []byte {
	u := uint64(cents)
	if cents < 0 {
		to, u = append(to, '-'), -u
	}
	to = strconv.AppendUint(to, u/100, 10)
	return append(to, '.', byte('0'+u%100/10), byte('0'+u%10))
}

// Read reads columns of a table, all where none is named, from a Parquet file,
// a row group at a time. A column that the file lacks, or that is of another
// type, is an error that names it.
func Read(path, table string, names ...string) iter.Seq2[*Rows, error] {
	return func(yield func(*Rows, error) bool) {
		if err := read(path, table, names, yield); err != nil && !errors.Is(err, errEnough) {
			yield(nil, err)
		}
	}
}

// errEnough ends a reading that nobody wants any longer.
var errEnough = errors.New("enough")

func read(path, table string, names []string, yield func(*Rows, error) bool) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // nothing was written
	info, err := f.Stat()
	if err != nil {
		return err
	}
	file, err := open(f, info.Size())
	if err != nil {
		return &fault.Error{File: path, Problem: "is no Parquet file", Err: err, Cure: "make the tables with barograph synth tpcds"}
	}
	rows, at, err := wanted(file, path, table, names)
	if err != nil {
		return err
	}
	values := make([]parquet.Value, 4096)
	for _, group := range file.RowGroups() {
		if err := rows.fill(group, at, values); err != nil {
			return &fault.Error{File: path, Err: err}
		}
		if !yield(rows, nil) {
			return errEnough
		}
	}
	return nil
}

// fill reads a row group; at are the places of the columns in the file.
func (r *Rows) fill(group parquet.RowGroup, at []int, values []parquet.Value) (err error) {
	defer damaged(&err)
	r.N = int(group.NumRows())
	chunks := group.ColumnChunks()
	for k := range r.Columns {
		c := &r.Columns[k]
		if err := c.read(chunks[at[k]], values); err != nil {
			return fmt.Errorf("%s: %w", c.Name, err)
		}
		if got := len(c.Null); got != r.N && !fault.Planted { // planted: nobody counts
			return fmt.Errorf("%s: %d values in a group of %d rows", c.Name, got, r.N)
		}
	}
	return nil
}

// open opens a Parquet file whose footer, of which the library takes as many
// bytes of memory as the file says, lies in the file.
func open(f *os.File, size int64) (file *parquet.File, err error) {
	defer damaged(&err)
	var tail [8]byte // the footer's length, and "PAR1"
	if _, err := f.ReadAt(tail[:], max(size-8, 0)); err != nil {
		return nil, err
	}
	if n := int64(binary.LittleEndian.Uint32(tail[:])); n > size-12 {
		return nil, fmt.Errorf("its footer should have %d bytes and the file has %d", n, size)
	}
	if file, err = parquet.OpenFile(f, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true)); err == nil {
		file.Schema().Lookup() // the library reads a schema when it is first asked, and stumbles over a damaged one
	}
	return file, err
}

// damaged makes an error of what the library stumbles over.
func damaged(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("the file is damaged: %v", p)
	}
}

// wanted finds the columns in the file.
func wanted(file *parquet.File, path, table string, names []string) (*Rows, []int, error) {
	all := Columns(table)
	if all == nil {
		return nil, nil, &fault.Error{Setting: table, Problem: "is no table of the star"}
	}
	if len(names) == 0 {
		for _, c := range all {
			names = append(names, c.Name)
		}
	}
	rows := &Rows{}
	var at []int
	for _, name := range names {
		leaf, ok := file.Schema().Lookup(name)
		if !ok {
			return nil, nil, &fault.Error{File: path, Setting: name, Problem: "is no column of the file", Cure: "make the tables with barograph synth tpcds"}
		}
		found := false
		for _, c := range all {
			if c.Name == name {
				rows.Columns, found = append(rows.Columns, Vector{Column: c}), true
			}
		}
		if !found {
			return nil, nil, &fault.Error{Setting: name, Problem: "is no column of " + table}
		}
		if t := leaf.Node.Type(); !rows.Columns[len(rows.Columns)-1].takes(t) {
			return nil, nil, &fault.Error{File: path, Setting: name, Problem: "is of type " + t.String(), Cure: "make the tables with barograph synth tpcds"}
		}
		at = append(at, leaf.ColumnIndex)
	}
	return rows, at, nil
}

// takes reports whether a column of the file can be read as the specification's.
func (c *Column) takes(t parquet.Type) bool {
	var logical format.LogicalTypeValue
	if l := t.LogicalType(); l != nil {
		logical = l.Value
	}
	switch kind := t.Kind(); c.Kind {
	case Char, Varchar:
		return kind == parquet.ByteArray
	case Decimal:
		d, ok := logical.(*format.DecimalType)
		return (kind == parquet.Int32 || kind == parquet.Int64) && ok && d.Scale == 2
	case Date:
		_, ok := logical.(*format.DateType)
		return kind == parquet.Int32 && ok
	default:
		return kind == parquet.Int32 || kind == parquet.Int64
	}
}

// read reads a column of a row group.
func (v *Vector) read(chunk parquet.ColumnChunk, values []parquet.Value) (err error) {
	defer damaged(&err)
	v.Null, v.Whole, v.Text = v.Null[:0], v.Whole[:0], v.Text[:0]
	pages := chunk.Pages()
	defer pages.Close() //nolint:errcheck // nothing was written
	for {
		page, err := pages.ReadPage()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		from := page.Values()
		for {
			n, err := from.ReadValues(values)
			for i := range values[:n] {
				v.add(&values[i])
			}
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return err
			}
		}
		parquet.Release(page)
	}
}

func (v *Vector) add(x *parquet.Value) {
	v.Null = append(v.Null, x.IsNull())
	switch {
	case v.Kind == Char || v.Kind == Varchar:
		v.Text = append(v.Text, append([]byte(nil), x.ByteArray()...)) // the page's memory is used again
	case x.IsNull():
		v.Whole = append(v.Whole, 0)
	case x.Kind() == parquet.Int32:
		v.Whole = append(v.Whole, int64(x.Int32()))
	default:
		v.Whole = append(v.Whole, x.Int64())
	}
}
