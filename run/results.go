package run

import (
	"encoding/csv"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/parquet-go/parquet-go"

	"barograph/fault"
)

// sampleColumns are the columns of results.csv and results.parquet; times are
// in nanoseconds, sizes in bytes.
var sampleColumns = []string{ //nolint:gochecknoglobals // a constant table
	"engine", "design", "case", "flavour", "phase", "rep", "verdict", "problem",
	"start_ns", "first_row_ns", "total_ns", "server_ns", "client_cpu_ns", "derive_ns", "rows", "bytes", "keys", "digest",
}

// fields are the values of a sample, in the order of sampleColumns.
func (s *Sample) fields() []string {
	n := func(v int64) string { return strconv.FormatInt(v, 10) }
	return []string{
		s.Engine, s.Design, s.Case, s.Flavour, string(s.Phase), strconv.Itoa(s.Rep), string(s.Verdict), s.Problem,
		n(int64(s.Start)), n(int64(s.First)), n(int64(s.Total)), n(int64(s.Server)), n(int64(s.Client)), n(int64(s.Derive)),
		strconv.Itoa(s.Rows), n(s.Bytes), strconv.Itoa(s.Keys), s.Digest,
	}
}

func (s *Sample) parse(row []string) error {
	var err error
	n := func(i int) int64 {
		v, e := strconv.ParseInt(row[i], 10, 64)
		err = errors.Join(err, e)
		return v
	}
	*s = Sample{
		Cell:  Cell{Engine: row[0], Design: row[1], Case: row[2], Flavour: row[3]},
		Phase: Phase(row[4]), Rep: int(n(5)), Verdict: Verdict(row[6]), Problem: row[7],
		Start: time.Duration(n(8)), First: time.Duration(n(9)), Total: time.Duration(n(10)), Server: time.Duration(n(11)), Client: time.Duration(n(12)), Derive: time.Duration(n(13)),
		Rows: int(n(14)), Bytes: n(15), Keys: int(n(16)), Digest: row[17],
	}
	return err
}

// Read reads run.json and results.csv of a run folder.
func Read(dir string) (*Run, []Sample, error) {
	r, err := ReadRun(dir)
	if err != nil {
		return nil, nil, err
	}
	f, err := os.Open(filepath.Join(dir, "results.csv"))
	if err != nil {
		return nil, nil, &fault.Error{File: dir, Problem: "has no results", Err: err}
	}
	defer f.Close() //nolint:errcheck // nothing was written
	in := csv.NewReader(f)
	in.FieldsPerRecord = len(sampleColumns)
	var samples []Sample
	for line := 1; ; line++ {
		row, err := in.Read()
		if errors.Is(err, io.EOF) {
			return r, samples, nil
		}
		if err != nil {
			return nil, nil, &fault.Error{File: f.Name(), Line: line, Err: err}
		}
		if line == 1 {
			continue
		}
		var s Sample
		if err := s.parse(row); err != nil {
			return nil, nil, &fault.Error{File: f.Name(), Line: line, Err: err}
		}
		samples = append(samples, s)
	}
}

// parquetRow is a sample as results.parquet holds it: the columns of results.csv.
type parquetRow struct {
	Engine  string `parquet:"engine,dict"`
	Design  string `parquet:"design,dict"`
	Case    string `parquet:"case,dict"`
	Flavour string `parquet:"flavour,dict"`
	Phase   string `parquet:"phase,dict"`
	Rep     int64  `parquet:"rep"`
	Verdict string `parquet:"verdict,dict"`
	Problem string `parquet:"problem"`
	Start   int64  `parquet:"start_ns"`
	First   int64  `parquet:"first_row_ns"`
	Total   int64  `parquet:"total_ns"`
	Server  int64  `parquet:"server_ns"`
	Client  int64  `parquet:"client_cpu_ns"`
	Derive  int64  `parquet:"derive_ns"`
	Rows    int64  `parquet:"rows"`
	Bytes   int64  `parquet:"bytes"`
	Keys    int64  `parquet:"keys"`
	Digest  string `parquet:"digest,dict"`
}

func writeParquet(path string, samples []Sample) error {
	rows := make([]parquetRow, len(samples))
	for i, s := range samples {
		rows[i] = parquetRow{
			s.Engine, s.Design, s.Case, s.Flavour, string(s.Phase), int64(s.Rep), string(s.Verdict), s.Problem,
			int64(s.Start), int64(s.First), int64(s.Total), int64(s.Server), int64(s.Client), int64(s.Derive), int64(s.Rows), s.Bytes, int64(s.Keys), s.Digest,
		}
	}
	return parquet.WriteFile(path, rows)
}
