package scan_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/run"
	"github.com/barograph/barograph/study/scan"
)

// proven returns the proof of a correct result.
func proven() answer.Proof {
	p, _ := answer.CompareRecords(record.Digest{Hi: 1, Records: 1}, record.Digest{Hi: 1, Records: 1})
	return p
}

// folder returns a new run folder in memory.
func folder(t *testing.T, r run.Run, of run.Scan) *run.Folder {
	t.Helper()
	return folderAt(t, "", r, of)
}

// folderAt returns a new run folder in dir; "" = in memory.
func folderAt(t *testing.T, dir string, r run.Run, of run.Scan) *run.Folder {
	t.Helper()
	r.Workload, r.Scan, r.Archives = run.ScanWorkload, &of, []run.Archive{{Engine: "x", Place: "embedded"}}
	f, err := run.Create(dir, r)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// addCold adds a cold sample with a correct result.
func addCold(t *testing.T, f *run.Folder, config int, query string, took time.Duration, read []measure.DiskLoad) {
	t.Helper()
	m := &run.Measured{Total: took, Usage: &run.Usage{Devices: read}}
	if err := f.Add(run.Sample{Cell: f.Run.ScanCell(config, query), Phase: run.Cold}.Judge(m, proven(), nil)); err != nil {
		t.Fatal(err)
	}
}

// TestModels: FitModels finds the parameters of the model by which the test made the times of a run.
func TestModels(t *testing.T) {
	const bytes, rate, drawn, work = 2e9, 100e6, 0.9, 4.0
	f := folder(t, run.Run{Seed: 1, Machine: measure.Machine{UsableCPUs: 8}}, run.Scan{})
	of := f.Run.Scan
	for i := range 8 {
		of.Disks = append(of.Disks, run.ScanDisk{Path: fmt.Sprintf("/d%d", i), Device: fmt.Sprintf("loop%d", i), Rate: rate})
	}
	for _, paths := range []int{1, 2, 4, 8} {
		for _, workers := range []int{1, 2, 4} {
			config := len(of.Configs)
			of.Configs = append(of.Configs, run.ScanConfig{Paths: paths, Partitions: 8, Workers: workers})
			seconds := max(bytes/(drawn*rate*float64(paths)), work*bytes/1e9/float64(workers))
			for rep := range 5 {
				d := time.Duration(seconds * (1 + 0.002*float64(rep-2)) * 1e9)
				addCold(t, f, config, "scan", d, slices.Repeat([]measure.DiskLoad{{Read: uint64(bytes / float64(paths))}}, paths))
			}
		}
	}
	models := scan.FitModels(&f.Run, f.Samples())
	if len(models) != 1 || models[0].Problem != "" || len(models[0].Fits) != len(of.Configs) {
		t.Fatalf("%+v", models)
	}
	if l := models[0]; math.Abs(l.DiskShare.Value-drawn) > 0.02 || math.Abs(l.Work.Value-work) > 0.1 {
		t.Errorf("drawn %v, work %v", l.DiskShare, l.Work)
	}
	of.Configs = of.Configs[:2]
	if models := scan.FitModels(&f.Run, f.Samples()[:10]); len(models) != 1 || models[0].Problem == "" {
		t.Errorf("two configurations give %+v", models)
	}
}

// TestNoModel: a run without a model has the reason.
func TestNoModel(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(r *run.Folder)
		want  string
	}{
		"plain folders": {func(r *run.Folder) { r.Run.Scan.Disks[1].Rate = 0 }, "the disk of /b was not measured; run it with --measure-disks"},
		"an overlay":    {func(r *run.Folder) { r.Run.Scan.Disks[0].Device = "" }, "/a is not on a block device"},
		"one disk":      {func(r *run.Folder) { r.Run.Scan.Disks[1].Device = "sda" }, "/a and /b are on the same disk (sda)"},
		"no paths":      {func(r *run.Folder) { r.Run.Scan.Disks = nil }, "the run named no disks"},
		"nothing read": {func(r *run.Folder) {
			for _, s := range r.Samples() {
				s.Measured().Devices = nil
			}
		}, "read nothing from the disks; run it as root"},
		"two placements": {func(*run.Folder) {}, "2 setups are too few for three parameters"},
		"wrong answers": {func(r *run.Folder) {
			wrong := run.Sample{Cell: r.Run.ScanCell(0, "scan"), Phase: run.Cold}.Judge(nil, proven(), &answer.Diff{Problem: "a cent is missing"})
			if err := r.Add(wrong); err != nil {
				t.Fatal(err)
			}
		}, "1 setup is too few for three parameters"},
	} {
		f := folder(t, run.Run{Machine: measure.Machine{UsableCPUs: 2}}, run.Scan{
			Disks:   []run.ScanDisk{{Path: "/a", Device: "sda", Rate: 1e8}, {Path: "/b", Device: "sdb", Rate: 1e8}},
			Configs: []run.ScanConfig{{Paths: 1, Partitions: 2}, {Paths: 2, Partitions: 2}},
		})
		for i := range 2 {
			addCold(t, f, i, "scan", time.Second, []measure.DiskLoad{{Read: 1e8}})
		}
		c.spoil(f)
		models := scan.FitModels(&f.Run, f.Samples())
		if len(models) != 1 || !strings.Contains(models[0].Problem, c.want) || models[0].Fits != nil {
			t.Errorf("%s: %+v", name, models)
		}
		if _, err := scan.ModelOf(&f.Run, f.Samples(), "scan"); err == nil || err.Error() != models[0].Problem {
			t.Errorf("%s: %v", name, err)
		}
	}
	f := folder(t, run.Run{}, run.Scan{Configs: make([]run.ScanConfig, 2)})
	warm := []run.Sample{{Cell: f.Run.ScanCell(0, "scan"), Phase: run.Warm}}
	if models := scan.FitModels(&f.Run, warm); models != nil {
		t.Errorf("warm answers have models: %+v", models)
	}
	if _, err := scan.ModelOf(&f.Run, warm, "scan"); err == nil || !strings.Contains(err.Error(), "no cold times") {
		t.Error(err)
	}
}
