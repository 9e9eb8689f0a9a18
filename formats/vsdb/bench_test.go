package vsdb

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"testing"

	"github.com/barograph/barograph/record"
)

// benchText is a real day where there is one, otherwise generated lines.
func benchText(tb testing.TB) (files [][]byte, total int) {
	tb.Helper()
	for _, name := range realDay(tb) {
		text, err := os.ReadFile(name)
		if err != nil {
			tb.Fatal(err)
		}
		files = append(files, text)
	}
	if files == nil {
		files = append(files, generated(20000, 1))
	}
	for _, f := range files {
		total += len(f)
	}
	return files, total
}

// BenchmarkReader reads the files with one reader for all, and with a new one
// for each: the difference is the memory and the headers that a reader keeps.
func BenchmarkReader(b *testing.B) {
	files, total := benchText(b)
	for _, fresh := range []bool{false, true} {
		b.Run(fmt.Sprintf("new=%v", fresh), func(b *testing.B) {
			b.SetBytes(int64(total))
			b.ReportAllocs()
			var batch record.Batch
			lines := int64(0)
			r := NewReader(bytes.NewReader(nil), "", Options{})
			for b.Loop() {
				for _, text := range files {
					if fresh {
						r = NewReader(bytes.NewReader(text), "bench.vsdb", Options{})
					} else {
						r.Reset(bytes.NewReader(text), "bench.vsdb", "")
					}
					drain(b, r, &batch)
					lines += r.Lines()
				}
			}
			b.ReportMetric(float64(lines)/b.Elapsed().Seconds(), "lines/s")
		})
	}
}

func drain(b *testing.B, r *Reader, batch *record.Batch) {
	for {
		err := r.Next(batch)
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppendLine(b *testing.B) {
	h := record.DefaultHeader()
	h[record.Version], h[record.Model], h[record.ObType], h[record.VxMask] = "V01", "GFS", "GFS", "G2/NHX"
	h[record.FcstVar], h[record.FcstLev] = "HGT", "P500"
	nums := []float64{3600, 26.9635266, 26.8790391, 13261.3515, -13262.3015, 1.33132874e-3}
	var line []byte
	b.ReportAllocs()
	for b.Loop() {
		line = AppendLine(line[:0], &h, 24, 1546300800, "SAL1L2", nums)
	}
	b.SetBytes(int64(len(line)))
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "lines/s")
}
