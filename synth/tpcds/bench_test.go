package tpcds_test

import (
	"os"
	"testing"
	"time"

	format "barograph/formats/tpcds"
	"barograph/synth/tpcds"
)

// BenchmarkGenerators has both generators make scale factor 1 in turns, as
// Parquet and as documents. MB are those of the kit's own text files with the
// same rows.
func BenchmarkGenerators(b *testing.B) {
	programs := map[string]string{"duckdb": "", "tpcgen": program(b)}
	for _, c := range []struct {
		name      string
		documents bool
	}{{"written=parquet", false}, {"written=parquet+documents", true}} {
		b.Run(c.name, func(b *testing.B) {
			took, size := map[string]time.Duration{}, map[string]int64{}
			turn := 0
			for b.Loop() {
				for i := range 2 {
					name := [2]string{"duckdb", "tpcgen"}[(turn+i)%2]
					dir := b.TempDir()
					began := time.Now()
					m, err := tpcds.Generate(b.Context(), dir, tpcds.Options{Scale: 1, Documents: c.documents, Program: programs[name]})
					took[name] += time.Since(began)
					if err != nil {
						b.Fatal(err)
					}
					if size[name] == 0 {
						size[name] = text(b, dir, m)
					}
					if err := os.RemoveAll(dir); err != nil { // one with documents takes more than a GB
						b.Fatal(err)
					}
				}
				turn++
			}
			for name, n := range size {
				b.ReportMetric(float64(n)*float64(turn)/1e6/took[name].Seconds(), name+"-MB/s")
			}
			b.ReportMetric(0, "ns/op") // of a turn of both: says nothing
			b.ReportMetric(took["duckdb"].Seconds()/took["tpcgen"].Seconds(), "times-as-fast")
		})
	}
}

// text is the size of the kit's files with these rows: a bar after each value,
// a line for each row.
func text(t testing.TB, dir string, m *format.Manifest) (n int64) {
	t.Helper()
	var value []byte
	for table, files := range m.Parquet {
		paths, err := format.Paths(dir, files)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			for rows, err := range format.Read(path, table) {
				if err != nil {
					t.Fatal(err)
				}
				for i := range rows.N {
					for k := range rows.Columns {
						value = rows.Columns[k].Append(value[:0], i)
						n += int64(len(value)) + 1
					}
					n++
				}
			}
		}
	}
	return n
}
