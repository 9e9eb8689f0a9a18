package report

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/run"
)

// emptyScan returns the folder of a run with two configurations and no results.
func emptyScan(t *testing.T) *run.Folder {
	t.Helper()
	f, err := run.Create(t.TempDir(), run.Run{
		Workload: run.ScanWorkload, Started: time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC), Seed: 1, ColdMethod: "dropped",
		Machine:  measure.Machine{CPU: "Example CPU", UsableCPUs: 4, Threads: 4, Memory: 16e9},
		Archives: []run.Archive{{Engine: "duckdb", Place: "embedded", Product: "DuckDB", Version: "1.5.5"}},
		Scan: &run.Scan{
			Experiment: "sweep", Scale: 1, Generator: "dsdgen", Rows: map[string]int64{"store_sales": 2880404}, DiskLimits: "limited",
			Disks: []run.ScanDisk{
				{Path: "/d1", Device: "loop1", Rate: 100e6, RateMethod: "read"},
				{Path: "/d2", Device: "loop2", Rate: 100e6, RateMethod: "read"},
			},
			Configs: []run.ScanConfig{
				{
					Paths: 1, Partitions: 4, Workers: 4, Load: 2 * time.Second, Loads: 2, Bytes: []int64{100e6},
					Plans: []run.ScanPlan{{Query: "scan", Text: "SELECT <all>", Plan: "SCAN"}},
				},
				{Paths: 2, Partitions: 4, Workers: 4, Load: time.Second, Loads: 1, Bytes: []int64{50e6, 50e6}},
			},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// addScan adds a result, and fails the test if the folder does not accept it.
func addScan(t *testing.T, f *run.Folder, config int, query string, s run.Sample, m run.Measured, err error) {
	t.Helper()
	s.Cell = f.Run.ScanCell(config, query)
	if err := f.Add(s.Judge(&m, proof(t, 1), err)); err != nil {
		t.Fatal(err)
	}
}

// finish sets the end time of a run and closes its folder.
func finish(t *testing.T, f *run.Folder) (dir string) {
	t.Helper()
	f.Run.Finished = f.Run.Started.Add(time.Hour)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return f.Dir
}

// scanFolder returns a run whose results are limited by a disk, by cores, or by memory. One result is wrong.
func scanFolder(t *testing.T) *run.Folder {
	t.Helper()
	f := emptyScan(t)
	add := func(config int, query string, phase run.Phase, seconds, cores, diskMB, left float64) {
		for rep := range 8 {
			s := seconds * (1 + float64(rep)/100)
			u := &run.Usage{AvailableMemory: uint64(left), Machine: measure.MachineLoad{Cores: 4, Busy: cores / 4}}
			for k := range config + 1 {
				u.Devices = append(u.Devices, measure.DiskLoad{
					Device: f.Run.Scan.Disks[k].Device, Read: uint64(diskMB * 1e6 * s / float64(config+1)), Reads: 10,
					Busy: time.Duration(s * 0.5e9),
				})
			}
			addScan(t, f, config, query, run.Sample{Phase: phase, Rep: rep + 1},
				run.Measured{Total: time.Duration(s * 1e9), CPU: time.Duration(s * cores * 1e9), Usage: u}, nil)
		}
	}
	add(0, "scan", run.Cold, 1, 0.5, 98, 8e9)
	add(1, "scan", run.Cold, 0.5, 1, 196, 8e9)
	add(0, "scan", run.Warm, 0.1, 3.9, 0, 8e9)
	add(1, "scan", run.Warm, 0.1, 2, 0, 0.1e9)
	add(0, "q3", run.Warm, 0.2, 1, 0, 8e9)
	f.Run.Scan.Models = []run.ScanModel{
		{
			Query: "scan", Phase: run.Cold, DiskShare: measure.Estimate{
				Value: 0.98, Low: 0.9, High: 1,
			}, Work: measure.Estimate{Value: 2, Low: 1, High: 3}, RelativeError: 0.01,
			Fits: []run.ScanFit{{Config: 0, Measured: 1, Predicted: 1.1, Residual: -0.09, Bound: "disks"}},
		},
		{Query: "q3", Phase: run.Cold, Problem: "2 setups cannot determine three parameters"},
	}
	addScan(t, f, 1, "q3", run.Sample{Phase: run.Warm}, run.Measured{}, &answer.Diff{Problem: "a cent is missing"})
	return f
}

// TestScanFailedConfigurations: the headline and a table report the configurations that ended with an error. The page
// also has the end of the server's log. The same is true if nothing was timed.
func TestScanFailedConfigurations(t *testing.T) {
	for _, nothing := range []bool{false, true} {
		made := emptyScan(t)
		if !nothing {
			made = scanFolder(t)
		}
		of := made.Run.Scan
		made.Run.Archives[0].Server, of.ServerStarts = &run.Server{Nodes: 3, Profile: "tuned", Memory: 8e9}, "a temporary server for each load"
		of.Configs = append(of.Configs, run.ScanConfig{
			Paths: 2, Partitions: 16, Problem: "load: no memory\nthe end of the log:\nOutOfMemoryError", Open: 3 * time.Second,
			Opens: 2, Restart: 5 * time.Second, Restarts: 2,
		})
		dir := finish(t, made)
		page, text := html(t, dir), terminal(t, dir)
		for _, want := range []string{
			"Given up", "2 paths × 16 partitions", "load: no memory", "1 configuration of 3 ended with an error", "2.50", "1.50",
		} {
			if !strings.Contains(text, want) {
				t.Errorf("%q is not in\n%s", want, text)
			}
		}
		for _, want := range []string{"OutOfMemoryError", "3 nodes, profile tuned", "a temporary server for each load", "load: no memory"} {
			if !strings.Contains(page, want) {
				t.Errorf("%q is not in the page", want)
			}
		}
	}
}

func TestScanReport(t *testing.T) {
	dir := finish(t, scanFolder(t))
	page, text := html(t, dir), joinLines(terminal(t, dir))
	for _, want := range []string{
		"disk reads: 98.0 MB/s of the measured 100 MB/s", "disk reads: 196 MB/s of the measured 200 MB/s",
		"CPU: 3.90 of 4 cores", "memory: 100 MB was free", "a cent is missing",
		"1 path × 4 partitions", "2.00 times as fast (1.93 – 2.07) with 2 paths", "WRONG",
		"share of the disks 0.980 (0.900 – 1.00)", "none: 2 setups cannot determine", "barograph scan forecast",
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
		t.Error("a picture is missing, or the page refers to an external resource")
	}
}

// TestScanDamagedFolder: a damaged folder is an error.
func TestScanDamagedFolder(t *testing.T) {
	made := scanFolder(t)
	made.Run.Scan.Models[0].Fits[0].Config = 7
	dir := finish(t, made)
	if _, err := Write(dir, Advising{}); err == nil {
		t.Error("a model of no configuration was accepted")
	}
	if err := os.WriteFile(filepath.Join(dir, "run.json"), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Write(dir, Advising{}); err == nil {
		t.Error("half a file was accepted")
	}
}

// TestScanHeadline: the headline has the ratio of the table, with its interval. It has neither if the difference may be
// chance or there are few repetitions.
func TestScanHeadline(t *testing.T) {
	for name, c := range map[string]struct {
		reps                  int
		second                float64 // seconds of the second configuration; the first takes 4
		noise                 float64
		details, absent       string
		throttled, aboveDisks bool
	}{
		"clear":     {reps: 8, second: 1, noise: 0.02, details: "times as fast ("},
		"by chance": {reps: 8, second: 3.9, noise: 0.5, details: "beyond chance", absent: "times as fast ("},
		"few":       {reps: 4, second: 1, noise: 0.02, details: "4 repetitions are too few to determine by how much", absent: "times as fast ("},
		"too fast":  {reps: 8, second: 1, noise: 0.02, details: "not the disks: ", throttled: true, aboveDisks: true},
	} {
		f := emptyScan(t)
		if disks := f.Run.Scan.Disks; c.throttled {
			disks[0].Limit, disks[1].Limit = 100e6, 100e6
		}
		rate := 1e6
		if c.aboveDisks {
			rate = 400e6
		}
		g := rand.New(rand.NewPCG(1, 2))
		for range c.reps {
			for config, seconds := range []float64{4, c.second} {
				s := seconds * (1 + c.noise*g.Float64())
				addScan(t, f, config, "scan", run.Sample{Phase: run.Cold}, run.Measured{
					Total: time.Duration(s * 1e9),
					Usage: &run.Usage{AvailableMemory: 8e9, Devices: []measure.DiskLoad{{Read: uint64(rate * s), Busy: 1}}},
				}, nil)
			}
		}
		dir := finish(t, f)
		if text := joinLines(terminal(t, dir)); !strings.Contains(text, c.details) || c.absent != "" && strings.Contains(text, c.absent) {
			t.Errorf("%s: %q is not there, or %q is, in\n%s", name, c.details, c.absent, text)
		}
		s := gatherScans(&f.Run, f.Samples())
		for _, cell := range s.cells {
			if x := cell.comparison; x != nil && x.Significant() && x.Lo > 1 &&
				!strings.Contains(s.sentence(), number(x.Ratio)+" times as fast ("+interval(x.Lo, x.Hi)+")") {
				t.Errorf("%s: the headline differs from the table: %s", name, s.sentence())
			}
			if known := !math.IsNaN(cell.mean.Low); known != (c.reps >= minMeanReps) {
				t.Errorf("%s: %d repetitions have the interval %v", name, c.reps, cell.mean)
			}
		}
		for _, row := range s.bottlenecks().Rows {
			if shown := row.Cells[5].Text != none; shown == c.throttled {
				t.Errorf("%s: the busiest device is %q", name, row.Cells[5].Text)
			}
		}
	}
}

// TestScanSignificantWithoutARatio: a difference can be significant although the interval of the ratio contains 1. The
// sentence then agrees with the table, which marks it. Without a significant difference, the sentence is about the
// configuration with the smallest median only.
func TestScanSignificantWithoutARatio(t *testing.T) {
	for p, want := range map[float64]string{
		0.01: "two is faster than one; 3 repetitions are too few to determine by how much",
		0.5:  "two is not significantly faster than one",
	} {
		one := &scanCell{repeats: &repeats{seconds: []float64{2, 2, 2}}, query: "q"}
		two := &scanCell{repeats: &repeats{seconds: []float64{1, 1, 1}}, query: "q", config: 1}
		two.comparison = &measure.Comparison{Ratio: 2, Lo: 0.9, Hi: 2.1, P: p, PHolm: p, LeastP: 0.001}
		s := &scans{Scan: &run.Scan{}, product: "DuckDB", names: []string{"one", "two"}, cells: []*scanCell{one, two}}
		if got := s.sentence(); got != "DuckDB: q, : "+want+"." {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}

// TestPublishedExperiment: the report compares experiment 2 as it was published, and names what the machine cannot show
// of it. A folder of an earlier version, whose first configuration has one partition, has no such sentence.
func TestPublishedExperiment(t *testing.T) {
	for _, c := range []struct {
		of         string
		partitions int
		limit      float64
		details    []string
		absent     string
	}{
		{
			"experiment2", 8, 0,
			[]string{
				"compared 1 path × 8 partitions with 2 paths × 2 partitions. Here, scan, cold: 4.00 times as fast (",
				"With 4 cores instead of 8",
			},
			"no head",
		},
		{"experiment2", 8, 20e6, []string{"4.00 times as fast (", "A throttled disk has no head"}, "too few repetitions for"},
		{"experiment2", 1, 20e6, nil, "published experiment"},
		{"sweep", 8, 20e6, nil, "published experiment"},
	} {
		f := emptyScan(t)
		of := f.Run.Scan
		of.Experiment, of.Configs[0].Partitions, of.Configs[1].Partitions = c.of, c.partitions, 2
		of.Disks[0].Limit, of.Disks[1].Limit = c.limit, c.limit
		for config, seconds := range []float64{4, 1} {
			for rep := range 8 {
				s := seconds * (1 + float64(rep)/1000)
				addScan(t, f, config, "scan", run.Sample{Phase: run.Cold, Rep: rep + 1}, run.Measured{Total: time.Duration(s * 1e9)}, nil)
			}
		}
		text := joinLines(terminal(t, finish(t, f)))
		for _, want := range c.details {
			if !strings.Contains(text, want) {
				t.Errorf("%+v: %q is not in\n%s", c, want, text)
			}
		}
		if strings.Contains(text, c.absent) {
			t.Errorf("%+v: %q is in\n%s", c, c.absent, text)
		}
	}
}

// TestScanRemoteServer: the bottleneck of a remote server follows from its own counters only.
func TestScanRemoteServer(t *testing.T) {
	s := &scans{run: &run.Run{Archives: []run.Archive{{Place: "server"}}}, Scan: &run.Scan{Configs: []run.ScanConfig{{Paths: 1, Workers: 2}}}}
	for _, c := range []struct {
		use     scanUsage
		details string
	}{
		{scanUsage{coresKnown: true, serverCounted: true, cores: 1.95}, "CPU: 1.95 cores of 2 workers, by the server’s own counters"},
		{
			scanUsage{coresKnown: true, serverCounted: true, cores: 0.5, read: 3e6},
			"not the CPU: by the server’s own counters it used 0.500 cores and read 3.00 MB/s from files; it waited for files or its network",
		},
		{
			scanUsage{serverCounted: true, read: 3e6},
			"the server reports 3.00 MB/s read from files, not from its buffers, and does not report its CPU",
		},
		{scanUsage{}, "neither disks nor cores were full"},
	} {
		c.use.remote = true
		if sentence := s.bottleneck(&scanCell{repeats: &repeats{}}, c.use); sentence != c.details {
			t.Errorf("%+v: %s", c.use, sentence)
		}
	}
	cell := &scanCell{repeats: &repeats{answers: []*run.Measured{{
		Total: time.Second,
		Usage: &run.Usage{Server: &run.ServerLoad{Reported: &run.ReportedLoad{CPU: 1500 * time.Millisecond, Read: 2e6}}},
	}}}}
	if u := s.usage(cell); !u.remote || !u.serverCounted || !u.coresKnown || u.cores < 1.49 || u.cores > 1.51 || u.read != 2e6 {
		t.Errorf("%+v", u)
	}
}

// TestScanUnknownUsage: a cell whose usage was not recorded has no figures, and memory of which the size is not known
// is not the bottleneck.
func TestScanUnknownUsage(t *testing.T) {
	for _, c := range []struct {
		usage              *run.Usage
		memory, bottleneck string
	}{
		{nil, none, "usage not recorded"},
		{&run.Usage{}, "not known", "neither disks nor cores were full"},
		{&run.Usage{AvailableMemory: 8e9}, "8.00 GB", "neither disks nor cores were full"},
	} {
		f := emptyScan(t)
		addScan(t, f, 0, "scan", run.Sample{Phase: run.Warm}, run.Measured{Total: time.Second, Usage: c.usage}, nil)
		row := gatherScans(&f.Run, f.Samples()).bottlenecks().Rows[0].Cells
		if row[8].Text != c.memory || row[9].Text != c.bottleneck {
			t.Errorf("%+v: memory %q, bottleneck %q", c.usage, row[8].Text, row[9].Text)
		}
	}
}
