package scan_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/answer"
	"github.com/barograph/barograph/measure"
	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/run"
	"github.com/barograph/barograph/workload/scan"
)

// proven is a proof of something.
func proven() answer.Proof {
	p, _ := answer.CompareRecords(record.Digest{Hi: 1, Records: 1}, record.Digest{Hi: 1, Records: 1})
	return p
}

// TestLaws makes a run that follows a law, and finds its parameters again.
func TestLaws(t *testing.T) {
	const bytes, rate, drawn, work = 2e9, 100e6, 0.9, 4.0
	r := &run.Scans{Seed: 1, Machine: measure.Machine{UsableCPUs: 8}}
	for i := range 8 {
		r.Disks = append(r.Disks, run.ScanDisk{Path: fmt.Sprintf("/d%d", i), Device: fmt.Sprintf("loop%d", i), Rate: rate})
	}
	for _, paths := range []int{1, 2, 4, 8} {
		for _, workers := range []int{1, 2, 4} {
			config := len(r.Configs)
			r.Configs = append(r.Configs, run.ScanConfig{Paths: paths, Partitions: 8, Workers: workers})
			seconds := max(bytes/(drawn*rate*float64(paths)), work*bytes/1e9/float64(workers))
			for rep := range 5 {
				d := time.Duration(seconds * (1 + 0.002*float64(rep-2)) * 1e9)
				p := run.ScanPoint{Config: config, Query: "scan", Phase: run.Cold}
				for range paths {
					p.Devices = append(p.Devices, measure.DiskLoad{Read: uint64(bytes / float64(paths))})
				}
				r.Add(p, d, proven(), nil)
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
}

// TestNoLaw: a run that has no law says why.
func TestNoLaw(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(r *run.Scans)
		want  string
	}{
		"plain folders":  {func(r *run.Scans) { r.Disks[1].Rate = 0 }, "the disk of /b was not measured; run it with --measure-disks"},
		"an overlay":     {func(r *run.Scans) { r.Disks[0].Device = "" }, "/a lies on no block device that the system counts"},
		"one disk":       {func(r *run.Scans) { r.Disks[1].Device = "sda" }, "/a and /b lie on one disk (sda)"},
		"no paths":       {func(r *run.Scans) { r.Disks = nil }, "where the engine keeps its data"},
		"nothing read":   {func(r *run.Scans) { r.Points[0].Devices, r.Points[1].Devices = nil, nil }, "read nothing from the disks when they were cold; run it as root"},
		"two placements": {func(*run.Scans) {}, "2 setups cannot tell three parameters"},
		"wrong answers": {func(r *run.Scans) {
			r.Add(run.ScanPoint{Query: "scan", Phase: run.Cold}, time.Second, proven(), errors.New("a cent is missing"))
		}, "1 setups cannot tell three parameters"},
	} {
		r := &run.Scans{Machine: measure.Machine{UsableCPUs: 2}, Disks: []run.ScanDisk{{Path: "/a", Device: "sda", Rate: 1e8}, {Path: "/b", Device: "sdb", Rate: 1e8}}}
		for i := range 2 {
			r.Configs = append(r.Configs, run.ScanConfig{Paths: i + 1, Partitions: 2})
			r.Add(run.ScanPoint{Config: i, Query: "scan", Phase: run.Cold, Devices: []measure.DiskLoad{{Read: 1e8}}}, time.Second, proven(), nil)
		}
		c.spoil(r)
		laws := scan.Laws(r)
		if len(laws) != 1 || !strings.Contains(laws[0].Problem, c.want) || laws[0].Fits != nil {
			t.Errorf("%s: %+v", name, laws)
		}
		if _, err := scan.ModelOf(r, "scan"); err == nil || err.Error() != laws[0].Problem {
			t.Errorf("%s: %v", name, err)
		}
	}
	warm := &run.Scans{Configs: make([]run.ScanConfig, 2), Points: []run.ScanPoint{{Query: "scan", Phase: run.Warm}}}
	if laws := scan.Laws(warm); laws != nil {
		t.Errorf("warm answers have laws: %+v", laws)
	}
	if _, err := scan.ModelOf(warm, "scan"); err == nil || !strings.Contains(err.Error(), "no cold times") {
		t.Error(err)
	}
}
