//go:build unix

package tpcds_test

import (
	"os"
	"syscall"
	"testing"
	"time"

	format "github.com/barograph/barograph/formats/tpcds"
	"github.com/barograph/barograph/study/synth/tpcds"
)

// BenchmarkGenerators makes scale factor 1 with both generators in turn, as
// Parquet and as documents. MB are those of the kit's own text files with the
// same rows. CPU-s are the processor seconds of this process and its children;
// other work on the machine affects them less than the time.
func BenchmarkGenerators(b *testing.B) {
	programs := map[string]string{"duckdb": "", "tpcgen": program(b)}
	for _, c := range []struct {
		name      string
		documents bool
	}{{"written=parquet", false}, {"written=parquet+documents", true}} {
		b.Run(c.name, func(b *testing.B) {
			took, processor, size := map[string]time.Duration{}, map[string]time.Duration{}, map[string]int64{}
			turn := 0
			for b.Loop() {
				for i := range 2 {
					name := [2]string{"duckdb", "tpcgen"}[(turn+i)%2]
					dir := b.TempDir()
					began, cpu := time.Now(), processorTime(b)
					m, err := tpcds.Generate(b.Context(), dir, tpcds.Options{Scale: 1, Documents: c.documents, Program: programs[name]})
					took[name], processor[name] = took[name]+time.Since(began), processor[name]+cpu()
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
				b.ReportMetric(float64(n)*float64(turn)/1e6/processor[name].Seconds(), name+"-MB/CPU-s")
			}
			b.ReportMetric(0, "ns/op") // of both generators together, so it is not informative
			b.ReportMetric(took["duckdb"].Seconds()/took["tpcgen"].Seconds(), "duckdb-time/tpcgen-time")
		})
	}
}

// processorTime starts to count the processor time of this process and of the children that
// it has waited for. The returned function returns the time since then.
func processorTime(t testing.TB) func() time.Duration {
	t.Helper()
	now := func() (sum time.Duration) {
		for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
			var u syscall.Rusage
			if err := syscall.Getrusage(who, &u); err != nil {
				t.Fatal(err)
			}
			sum += time.Duration(u.Utime.Nano() + u.Stime.Nano())
		}
		return sum
	}
	began := now()
	return func() time.Duration { return now() - began }
}

// text returns the size, in bytes, of the kit's text files with these rows.
func text(t testing.TB, dir string, m *format.Manifest) (n int64) {
	t.Helper()
	for table := range m.Parquet {
		lines(t, dir, m, table, func(line []byte) { n += int64(len(line)) })
	}
	return n
}
