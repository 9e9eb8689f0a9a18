package enginetest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/archive/load"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/formats"
	"github.com/barograph/barograph/study/synth"
)

// BenchmarkSmallFiles loads two synthesized days, 717,648 records, from 60 files and again from some 65,000
// files of 11 lines. It reports the CPU time of the process for both, from the name of the folder to the
// last check, and their ratio.
func BenchmarkSmallFiles(b *testing.B, d engine.Driver, url func(b *testing.B) string, n design.Name) {
	large, small := filepath.Join(b.TempDir(), "large"), filepath.Join(b.TempDir(), "small")
	written := time.Date(2019, time.January, 1, 0, 0, 0, 0, time.UTC)
	files, err := synth.VSDB{From: written, To: written.AddDate(0, 0, 1)}.Files()
	if err == nil {
		_, err = synth.WriteAll(b.Context(), large, files, 2, nil)
	}
	if err != nil {
		b.Fatal(err)
	}
	for i, f := range files {
		splitLines(b, f.Append(nil), filepath.Join(small, fmt.Sprintf("%02d", i)), 11)
	}
	for b.Loop() {
		var cpu [2]time.Duration
		var records [2]int64
		for i, folder := range []string{large, small} {
			cpu[i], records[i] = loadFolder(b, d, url(b), n, folder)
		}
		if records[0] != records[1] || records[0] == 0 {
			b.Fatal(records)
		}
		b.ReportMetric(cpu[0].Seconds(), "CPU-s/large")
		b.ReportMetric(cpu[1].Seconds(), "CPU-s/small")
		b.ReportMetric(float64(cpu[1])/float64(cpu[0]), "small/large")
	}
}

// splitLines writes a text as files with a number of lines each.
func splitLines(b *testing.B, text []byte, folder string, lines int) {
	if err := os.MkdirAll(folder, 0o750); err != nil {
		b.Fatal(err)
	}
	for n := 0; len(text) > 0; n++ {
		end := 0
		for range lines {
			if i := bytes.IndexByte(text[end:], '\n'); i >= 0 {
				end += i + 1
			}
		}
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("%05d.vsdb", n)), text[:end], 0o600); err != nil {
			b.Fatal(err)
		}
		text = text[end:]
	}
}

// loadFolder loads a folder into a new archive.
func loadFolder(b *testing.B, d engine.Driver, url string, n design.Name, folder string) (cpu time.Duration, records int64) {
	a, err := openFor(b, d, url, n)
	if err != nil {
		b.Fatal(err)
	}
	before := processCPU(b)
	files, err := formats.Expand([]string{folder})
	if err != nil {
		b.Fatal(err)
	}
	sum, err := load.Run(b.Context(), a, "a", files, load.Options{})
	if err != nil {
		b.Fatal(err)
	}
	return processCPU(b) - before, sum.Stored
}
