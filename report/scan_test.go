package report

import (
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/measure"
	"github.com/barograph/barograph/run"
)

// madeScans is a run in which one disk holds an answer back, then cores, then
// memory, and one answer is wrong.
func madeScans(t *testing.T) *run.Scans {
	r := &run.Scans{
		Started: time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC), Experiment: "sweep", Engine: "duckdb", Place: "embedded", Product: "DuckDB", Version: "1.5.5", Seed: 1,
		Machine: measure.Machine{CPU: "Example CPU", UsableCPUs: 4, Threads: 4, Memory: 16e9}, Scale: 1, Generator: "dsdgen", Rows: map[string]int64{"store_sales": 2880404},
		Limited: "limited", Cold: "dropped",
		Disks: []run.ScanDisk{{Path: "/d1", Device: "loop1", Rate: 100e6, How: "read"}, {Path: "/d2", Device: "loop2", Rate: 100e6, How: "read"}},
		Configs: []run.ScanConfig{
			{Paths: 1, Partitions: 4, Workers: 4, Load: 2 * time.Second, Loads: 2, Bytes: []int64{100e6}, Plans: []run.ScanPlan{{Query: "scan", Text: "SELECT <all>", Plan: "SCAN"}}},
			{Paths: 2, Partitions: 4, Workers: 4, Load: time.Second, Loads: 1, Bytes: []int64{50e6, 50e6}},
		},
	}
	add := func(config int, query string, phase run.Phase, seconds, cores, diskMB, left float64) {
		for rep := range 8 {
			s := seconds * (1 + float64(rep)/100)
			p := run.ScanPoint{Config: config, Query: query, Phase: phase, Rep: rep + 1, Rows: 1, Client: time.Duration(s * cores * 1e9), Free: uint64(left), Machine: measure.MachineLoad{Cores: 4, Busy: cores / 4}}
			for k := range config + 1 {
				p.Devices = append(p.Devices, measure.DiskLoad{Device: r.Disks[k].Device, Read: uint64(diskMB * 1e6 * s / float64(config+1)), Reads: 10, Busy: time.Duration(s * 0.5e9)})
			}
			r.Add(p, time.Duration(s*1e9), proof(t, 1), nil)
		}
	}
	add(0, "scan", run.Cold, 1, 0.5, 98, 8e9)
	add(1, "scan", run.Cold, 0.5, 1, 196, 8e9)
	add(0, "scan", run.Warm, 0.1, 3.9, 0, 8e9)
	add(1, "scan", run.Warm, 0.1, 2, 0, 0.1e9)
	add(0, "q3", run.Warm, 0.2, 1, 0, 8e9)
	r.Laws = []run.ScanLaw{
		{
			Query: "scan", Phase: run.Cold, Drawn: measure.Estimate{Value: 0.98, Low: 0.9, High: 1}, Work: measure.Estimate{Value: 2, Low: 1, High: 3}, Error: 0.01,
			Fits: []run.ScanFit{{Config: 0, Measured: 1, Predicted: 1.1, Residual: -0.09, Bound: "disks"}},
		},
		{Query: "q3", Phase: run.Cold, Problem: "2 setups cannot tell three parameters"},
	}
	r.Add(run.ScanPoint{Config: 1, Query: "q3", Phase: run.Warm}, time.Second, proof(t, 1), errors.New("a cent is missing"))
	return r
}

// unanswered is a run without its answers.
func unanswered(t *testing.T, r *run.Scans) *run.Scans {
	t.Helper()
	text, err := json.Marshal(r)
	out := &run.Scans{}
	if err = errors.Join(err, json.Unmarshal(text, out)); err != nil {
		t.Fatal(err)
	}
	out.Points, out.Laws = nil, nil
	return out
}

// TestScanReportGaveUp: what was given up is told in the sentence, a table and
// with the end of its server's log on the page, also where nothing was timed.
func TestScanReportGaveUp(t *testing.T) {
	for _, nothing := range []bool{false, true} {
		dir, made := t.TempDir(), madeScans(t)
		made.Server, made.Lab = &run.Server{Nodes: 3, Profile: "tuned", Memory: 8e9}, "a throwaway server for each load"
		made.Configs = append(made.Configs, run.ScanConfig{Paths: 2, Partitions: 16, Problem: "load: no memory\nthe end of the log:\nOutOfMemoryError", Open: 3 * time.Second, Opens: 2, Restart: 5 * time.Second, Restarts: 2})
		if nothing {
			made = unanswered(t, made)
		}
		if err := made.Save(dir); err != nil {
			t.Fatal(err)
		}
		page, text := html(t, dir), terminal(t, dir)
		for _, want := range []string{"Given up", "2 paths × 16 partitions", "load: no memory", "1 configuration of 3 ended with an error", "2.50", "1.50"} {
			if !strings.Contains(text, want) {
				t.Errorf("%q is not in\n%s", want, text)
			}
		}
		for _, want := range []string{"OutOfMemoryError", "3 nodes, profile tuned", "a throwaway server for each load", "load: no memory"} {
			if !strings.Contains(page, want) {
				t.Errorf("%q is not in the page", want)
			}
		}
	}
}

func TestScanReport(t *testing.T) {
	dir := t.TempDir()
	made := madeScans(t)
	if err := made.Save(dir); err != nil {
		t.Fatal(err)
	}
	page, text := html(t, dir), flat(terminal(t, dir))
	for _, want := range []string{
		"disk reads: 98.0 MB/s of the 100 MB/s", "disk reads: 196 MB/s of the 200 MB/s", "CPU: 3.90 of 4 cores", "memory: 100 MB was left", "a cent is missing",
		"1 path × 4 partitions", "2.00 times as fast (1.93 – 2.07) with 2 paths", "WRONG",
		"share drawn 0.980 (0.900 – 1.00)", "none: 2 setups cannot tell", "barograph scan forecast",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	for _, want := range []string{"SELECT &lt;all&gt;", "a cent is missing", "Response time by the number of disks", "***"} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is not in the page", want)
		}
	}
	if strings.Contains(page, "<script src") || strings.Count(page, "<svg") < 3 {
		t.Error("the pictures are not all there, or the page refers to something outside it")
	}
}

// TestScanFolderRefuses reads what was spoilt.
func TestScanFolderRefuses(t *testing.T) {
	dir := t.TempDir()
	made := madeScans(t)
	made.Laws[0].Fits[0].Config = 7
	if err := made.Save(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := Write(dir); err == nil {
		t.Error("a law of no configuration was taken")
	}
	if err := os.WriteFile(filepath.Join(dir, "run.json"), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Write(dir); err == nil {
		t.Error("half a file was taken")
	}
}

// TestScanHeadline: the number of the headline is the table's, with its
// interval; what chance may have made, or few repetitions, has neither.
func TestScanHeadline(t *testing.T) {
	for name, c := range map[string]struct {
		reps           int
		second         float64 // seconds of the second configuration, the first takes 4
		noise          float64
		says, saysNot  string
		throttled, odd bool
	}{
		"clear":     {reps: 8, second: 1, noise: 0.02, says: "times as fast ("},
		"by chance": {reps: 8, second: 3.9, noise: 0.5, says: "beyond chance", saysNot: "times as fast ("},
		"few":       {reps: 4, second: 1, noise: 0.02, says: "4 repetitions do not tell by how much", saysNot: "times as fast ("},
		"too fast":  {reps: 8, second: 1, noise: 0.02, says: "not the disks: ", throttled: true, odd: true},
	} {
		r := unanswered(t, madeScans(t))
		if c.throttled {
			r.Disks[0].Limit, r.Disks[1].Limit = 100e6, 100e6
		}
		rate := 1e6
		if c.odd {
			rate = 400e6
		}
		g := rand.New(rand.NewPCG(1, 2))
		for range c.reps {
			for config, seconds := range []float64{4, c.second} {
				s := seconds * (1 + c.noise*g.Float64())
				r.Add(run.ScanPoint{Config: config, Query: "scan", Phase: run.Cold, Free: 8e9, Devices: []measure.DiskLoad{{Read: uint64(rate * s), Busy: 1}}}, time.Duration(s*1e9), proof(t, 1), nil)
			}
		}
		dir := t.TempDir()
		if err := r.Save(dir); err != nil {
			t.Fatal(err)
		}
		if text := flat(terminal(t, dir)); !strings.Contains(text, c.says) || c.saysNot != "" && strings.Contains(text, c.saysNot) {
			t.Errorf("%s: %q is not there, or %q is, in\n%s", name, c.says, c.saysNot, text)
		}
		s := gatherScans(r)
		for _, cell := range s.cells {
			if x := s.ratio[cell]; x != nil && x.Significant() && x.Lo > 1 && !strings.Contains(s.sentence(), number(x.Ratio)+" times as fast ("+interval(x.Lo, x.Hi)+")") {
				t.Errorf("%s: the headline is not the table's: %s", name, s.sentence())
			}
			if known := !math.IsNaN(cell.mean.Low); known != (c.reps >= fewest) {
				t.Errorf("%s: %d repetitions have the interval %v", name, c.reps, cell.mean)
			}
		}
		for _, row := range s.bottlenecks().Rows {
			if told := row.Cells[5].Text != none; told == c.throttled {
				t.Errorf("%s: the busiest device is %q", name, row.Cells[5].Text)
			}
		}
	}
}
