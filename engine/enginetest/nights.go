package enginetest

import (
	"errors"
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/record"
)

// BenchmarkNights loads nightly loads of 24 files into one archive, each with 42,048 records of the same 73
// series. It reports the CPU time of the process per nightly load, over the last quarter before 24, 96 and
// 384 loads. That includes the engine's background work but not a server's. For an engine whose loads do
// not slow down with the archive, the three figures are equal.
func BenchmarkNights(b *testing.B, d engine.Driver, url func(b *testing.B) string, n design.Name) {
	for b.Loop() {
		a, err := openFor(b, d, url(b), n)
		if err != nil {
			b.Fatal(err)
		}
		var cpu time.Duration
		var wall time.Time
		files := Generate(3, 24, night()...)
		for i := 1; i <= 384; i++ {
			for _, end := range []int{24, 96, 384} {
				if i == end-end/4+1 {
					cpu, wall = processCPU(b), time.Now()
				}
			}
			storeNight(b, a, i, files)
			for _, end := range []int{24, 96, 384} {
				if i == end {
					used := (processCPU(b) - cpu).Milliseconds()
					b.ReportMetric(float64(used)/float64(end/4), fmt.Sprintf("CPU-ms/night-%d", end))
					b.ReportMetric(float64(time.Since(wall).Milliseconds())/float64(end/4), fmt.Sprintf("ms/night-%d", end))
				}
			}
		}
	}
}

// night is one nightly load: a forecast of four days, 24 leads.
func night() []Series {
	var all []Series
	for i := range 73 {
		var lead []int32
		for h := int32(0); h < 96; h += 4 {
			lead = append(lead, h*hour)
		}
		all = append(all, Series{
			Type: lineType("SL1L2"), Header: vsdb("GFS", "ANL", fmt.Sprintf("G2/R%02d", i%10), "TMP", fmt.Sprintf("P%d", 1000-10*(i/10))),
			Valid: every(newYear2019, hour, 24), Lead: lead,
		})
	}
	return all
}

// storeNight loads the files of a nightly load as the loader does, which first looks for their marks.
func storeNight(b *testing.B, a archive.Archive, night int, files []File) {
	for i := range files {
		files[i].Path = fmt.Sprintf("night/%d/file_%03d.stat", night, i)
		for _, batch := range files[i].Batches {
			batch.File = files[i].Path
			if night > 1 {
				shift(batch, day)
			}
		}
	}
	var wanted []archive.Mark
	for i := range files {
		wanted = append(wanted, files[i].Mark())
	}
	marks, err := archive.MarksOf(b.Context(), a, "a", wanted)
	if errors.Is(err, errors.ErrUnsupported) {
		marks, err = a.Marks(b.Context(), "a")
	}
	if loaded := archive.SameFiles(marks, wanted); err != nil || len(loaded) != 0 {
		b.Fatalf("%d files are already loaded, %v", len(loaded), err)
	}
	if _, err := store(b.Context(), a, "a", files, len(files)); err != nil {
		b.Fatal(err)
	}
}

func shift(b *record.Batch, by int64) {
	for _, times := range [][]int64{b.Valid, b.ValidEnd, b.ObsBeg, b.ObsEnd} {
		for i := range times {
			times[i] += by
		}
	}
}

func processCPU(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
