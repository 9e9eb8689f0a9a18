package scan_test

import (
	"math"
	"testing"
	"time"

	"barograph/measure"
	"barograph/run"
	"barograph/workload/scan"
)

// TestLaws makes a run that follows a law, and finds its parameters again.
func TestLaws(t *testing.T) {
	const bytes, rate, drawn, work = 2e9, 100e6, 0.9, 4.0
	r := &run.Scans{Seed: 1, Machine: measure.Machine{UsableCPUs: 8}}
	for range 8 {
		r.Disks = append(r.Disks, run.ScanDisk{Device: "loop", Rate: rate})
	}
	for _, paths := range []int{1, 2, 4, 8} {
		for _, workers := range []int{1, 2, 4} {
			config := len(r.Configs)
			r.Configs = append(r.Configs, run.ScanConfig{Paths: paths, Partitions: 8, Workers: workers})
			seconds := max(bytes/(drawn*rate*float64(paths)), work*bytes/1e9/float64(workers))
			for rep := range 5 {
				d := time.Duration(seconds * (1 + 0.002*float64(rep-2)) * 1e9)
				p := run.ScanPoint{Config: config, Query: "scan", Phase: run.Cold, Verdict: run.Equal, Time: d}
				for range paths {
					p.Devices = append(p.Devices, measure.DiskLoad{Read: uint64(bytes / float64(paths))})
				}
				r.Points = append(r.Points, p)
			}
		}
	}
	laws := scan.Laws(r)
	if len(laws) != 1 || laws[0].Problem != "" || len(laws[0].Fits) != len(r.Configs) {
		t.Fatalf("%+v", laws)
	}
	if l := laws[0]; math.Abs(l.Drawn.Value-drawn) > 0.02 || math.Abs(l.Work.Value-work) > 0.1 {
		t.Errorf("drawn %v, work %v", l.Drawn, l.Work)
	}
	r.Configs, r.Points = r.Configs[:2], r.Points[:10]
	if laws := scan.Laws(r); len(laws) != 1 || laws[0].Problem == "" {
		t.Errorf("two configurations told %+v", laws)
	}
	r.Disks[0].Rate = 0
	if laws := scan.Laws(r); laws != nil {
		t.Errorf("a disk that was not measured: %+v", laws)
	}
}
