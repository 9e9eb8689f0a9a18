package export

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize/english"
	"github.com/parquet-go/parquet-go"

	"github.com/barograph/barograph/formats/parquetfile"
	"github.com/barograph/barograph/formats/shef"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/record"
)

// ReadGauges reads values that NewGauges wrote in CSV or Parquet, from a file or a pipe. It only
// needs station, time, code and value, in any order. each receives every row, or an error if the
// row is not a value. t are the tables of codes, nil = the manual's.
func ReadGauges(name string, in io.Reader, t *shef.Tables, each func(g *record.Gauge, err error) error) error {
	text := bufio.NewReader(in)
	importer := gaugeImport{file: name, tables: t, each: each}
	if magic, _ := text.Peek(4); string(magic) != "PAR1" {
		return importer.readCSV(text)
	}
	f, err := seekableFile(name, text)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // nothing was written that is needed
	return importer.readParquet(f)
}

// seekableFile returns a file from which Parquet can be read: the named file itself or, for a pipe or
// a compressed file, an unnamed copy of its text.
func seekableFile(name string, text io.Reader) (*os.File, error) {
	if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		head := make([]byte, 4)
		if n, _ := f.ReadAt(head, 0); string(head[:n]) == "PAR1" { // else it is compressed
			return f, nil
		}
		f.Close() //nolint:errcheck // nothing was written
	}
	f, err := os.CreateTemp("", "barograph-*.parquet")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if _, err := io.Copy(f, text); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// gaugeImport reads one file. line is the first line of the current row of CSV, or the number of a row of Parquet.
type gaugeImport struct {
	file   string
	line   int
	tables *shef.Tables
	each   func(g *record.Gauge, err error) error
}

func (r *gaugeImport) readParquet(f *os.File) error {
	bad := func(err error) error {
		return &fault.Error{
			File: r.file, Problem: "is not a complete Parquet file of values", Err: err,
			Cure: "write it with barograph shef decode --format parquet",
		}
	}
	rows, err := newParquetGauges(f)
	if err != nil {
		return bad(err)
	}
	defer rows.Close() //nolint:errcheck // nothing was written
	buffer := make([]Gauge, 512)
	for left := rows.NumRows(); ; {
		n, err := rows.Read(buffer)
		if left -= int64(n); left < 0 || errors.Is(err, io.EOF) && left > 0 {
			return bad(fmt.Errorf("the file is damaged: it does not contain the %s that its footer declares", english.Plural(int(rows.NumRows()), "row", "")))
		}
		for i := range buffer[:n] {
			r.line++
			if err := r.convert(&buffer[i]); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return bad(err)
		}
	}
}

// newParquetGauges opens a Parquet file of values.
func newParquetGauges(f *os.File) (_ *gaugeReader, err error) {
	defer parquetfile.Damaged(&err)
	file, err := parquetfile.Open(f)
	if err != nil {
		return nil, err
	}
	for _, required := range requiredColumns {
		if _, ok := file.Schema().Lookup(required); !ok {
			return nil, errors.New("it has no column " + required)
		}
	}
	return newGaugeReader(file), nil
}

// gaugeReader checks each row before parquet-go makes a Gauge of it: a row of a damaged file may
// lack a column, and the library then interprets the number of the neighboring column as the length
// of a text.
type gaugeReader struct {
	*parquet.GenericReader[Gauge]
	kinds  []parquet.Kind // of the columns
	buffer []parquet.Row
}

func newGaugeReader(file *parquet.File) *gaugeReader {
	r := &gaugeReader{GenericReader: parquet.NewGenericReader[Gauge](file)}
	for _, path := range r.Schema().Columns() {
		leaf, _ := r.Schema().Lookup(path...)
		r.kinds = append(r.kinds, leaf.Node.Type().Kind())
	}
	return r
}

func (r *gaugeReader) Read(into []Gauge) (n int, err error) {
	defer parquetfile.Damaged(&err)
	if len(r.buffer) < len(into) {
		r.buffer = make([]parquet.Row, len(into))
	}
	n, err = r.ReadRows(r.buffer[:len(into)])
	for i, row := range r.buffer[:n] {
		if bad := r.checkRow(row); bad != nil {
			return i, bad
		}
		if bad := r.Schema().Reconstruct(&into[i], row); bad != nil {
			return i, bad
		}
	}
	return n, err
}

// checkRow returns an error if a row does not have one value of each column, of its kind.
func (r *gaugeReader) checkRow(row parquet.Row) error {
	if len(row) != len(r.kinds) {
		return fmt.Errorf("the file is damaged: a row has %d columns, not %d", len(row), len(r.kinds))
	}
	for i, v := range row {
		if v.Column() != i || !v.IsNull() && v.Kind() != r.kinds[i] {
			return fmt.Errorf("the file is damaged: column %d of a row is of another kind", i+1)
		}
	}
	return nil
}

// requiredColumns are the columns that a table of values must have.
var requiredColumns = []string{"station", "time", "code", "value"} //nolint:gochecknoglobals // a constant table

func (r *gaugeImport) readCSV(text io.Reader) error {
	rows := csv.NewReader(text)
	head, err := rows.Read()
	if errors.Is(err, io.EOF) {
		return nil // the caller reports that the file is empty
	}
	for _, required := range requiredColumns {
		if !slices.Contains(head, required) {
			return &fault.Error{
				File: r.file, Line: 1, Problem: "names no column " + required, Err: err,
				Cure: "begin with the line station,time,code,value, as barograph shef decode --format csv does",
			}
		}
	}
	r.line = 1
	for {
		cells, err := rows.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		line := lineOf(rows, err)
		if line == 0 { // the next row would have the same error
			return &fault.Error{File: r.file, Line: r.line + 1, Problem: "cannot be read", Err: err, Cure: "check the file"}
		}
		r.line = line
		var row Gauge
		for i := 0; i < len(cells) && err == nil; i++ {
			if cells[i] != "" {
				err = row.set(head[i], cells[i])
			}
		}
		if err == nil {
			err = r.convert(&row)
		} else {
			err = r.each(nil, &fault.Error{File: r.file, Line: r.line, Problem: "is not a value", Err: err, Cure: "repair the line"})
		}
		if err != nil {
			return err
		}
	}
}

// lineOf returns the first line of the row that rows has read with the error err; 0 = rows could not read its file.
func lineOf(rows *csv.Reader, err error) int {
	if bad, ok := errors.AsType[*csv.ParseError](err); ok {
		return bad.StartLine
	} else if err != nil {
		return 0
	}
	line, _ := rows.FieldPos(0)
	return line
}

// timeKind describes a valid time in errors.
const timeKind = "time such as 2026-11-10T06:00:00Z"

// set reads a cell of CSV.
func (g *Gauge) set(column, text string) error {
	var err error
	kind := ""
	switch column {
	case "station":
		g.Station = text
	case "time":
		kind = timeKind
		g.Time, err = time.Parse(time.RFC3339, text)
	case "code":
		g.Code = text
	case "value":
		kind, g.Value = "finite number", new(float64)
		*g.Value, err = strconv.ParseFloat(text, 64)
	case "quality":
		g.Quality = text
	case "duration":
		kind = "whole number from −32768 to 32767"
		var n int64
		n, err = strconv.ParseInt(text, 10, 16)
		g.Duration = int32(n)
	case "created":
		kind, g.Created = timeKind, new(time.Time)
		*g.Created, err = time.Parse(time.RFC3339, text)
	case "revised":
		kind = "truth value (true or false)"
		g.Revised, err = strconv.ParseBool(text)
	case "source":
		g.Source = text
	case "comment":
		g.Comment = text
	}
	if err != nil {
		return fmt.Errorf("%s %.80q is not a %s", column, text, kind)
	}
	return nil
}

// convert passes the value of a row to each.
func (r *gaugeImport) convert(row *Gauge) error {
	g := record.Gauge{
		Time: row.Time.Unix(), Created: record.NoTime, Value: record.NoValue, Revised: row.Revised,
		Comment: strings.TrimSpace(row.Comment), Line: uint32(r.line),
	}
	err := r.tables.Resolve(row.Code, &g)
	if g.Code[2] == 'V' {
		if g.Duration = int16(row.Duration); int32(g.Duration) != row.Duration {
			err = errors.Join(err, fmt.Errorf("duration %d is out of range", row.Duration))
		}
	}
	if row.Value != nil {
		v := *row.Value
		var ok bool
		if g.Value, ok = shef.Representable(v); math.IsNaN(v) || math.IsInf(v, 0) {
			err = errors.Join(err, fmt.Errorf("value %v is not a finite number; a missing value is an empty cell of CSV or null in Parquet", v))
		} else if !ok {
			err = errors.Join(err, fmt.Errorf("value %v has more digits than SHEF can express (10 on either side of the point)", v))
		}
	}
	if row.Quality == "" {
		row.Quality = "Z"
	}
	if row.Created != nil {
		g.Created = row.Created.Unix()
	}
	if row.Station == "" || len(row.Station) > len(g.Station) || len(row.Source) > len(g.Source) || len(row.Quality) != 1 ||
		row.Time.IsZero() || row.Time.Nanosecond() != 0 {
		err = errors.Join(err, fmt.Errorf("station %q, time %q, source %q or quality %q is missing, too long or not in whole seconds",
			row.Station, row.Time.Format(time.RFC3339Nano), row.Source, row.Quality))
	} else {
		copy(g.Station[:], row.Station)
		copy(g.Source[:], row.Source)
		g.Quality = row.Quality[0]
	}
	if err != nil {
		return r.each(nil, &fault.Error{File: r.file, Line: r.line, Problem: "is not a value", Err: err, Cure: "repair the row"})
	}
	return r.each(&g, nil)
}
