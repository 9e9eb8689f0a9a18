package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/run"
	"github.com/barograph/barograph/study/scan"
)

var update = flag.Bool("update", false, "rewrite golden files")

// madeSweep is a sweep over eight disks of 100 MB/s with 4 cores. Cold answers follow a model with
// noise: they read everything at the disks' full rate, need 8 s of one core per GB, and half a
// second to start. q3 has too few configurations.
func madeSweep(t *testing.T) *run.Folder { return madeSweepOf(t, run.Cold) }

// madeSweepOf is madeSweep with answers of a phase.
func madeSweepOf(t *testing.T, phase run.Phase) *run.Folder {
	t.Helper()
	of := &run.Scan{Experiment: "sweep"}
	f, err := run.Create(t.TempDir(), run.Run{
		Workload: run.ScanWorkload, Seed: 1, Machine: measure.Machine{UsableCPUs: 4, Memory: 16e9}, Scan: of,
		Archives: []run.Archive{{Engine: "duckdb", Product: "DuckDB", Version: "1.5.5"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	noise := rand.New(rand.NewPCG(1, 2))
	proof, _ := answer.CompareRecords(record.Digest{Hi: 1}, record.Digest{Hi: 1})
	for i := range 8 {
		of.Disks = append(of.Disks, run.ScanDisk{Path: fmt.Sprintf("/d%d", i+1), Device: fmt.Sprintf("loop%d", i), Rate: 100e6})
	}
	for paths := 1; paths <= 8; paths++ {
		for _, partitions := range []int{1, 2, 4, 8, 16} {
			if partitions < paths {
				continue
			}
			config := len(of.Configs)
			of.Configs = append(of.Configs, run.ScanConfig{Paths: paths, Partitions: partitions, Workers: partitions})
			most := (partitions + paths - 1) / paths // partitions on the first disk
			seconds := 0.5 + max(20*float64(most)/float64(partitions), 16/float64(min(partitions, 4)))
			for rep := range 5 {
				u := &run.Usage{}
				for disk := range paths {
					parts := (partitions + paths - 1 - disk) / paths
					u.Devices = append(u.Devices, measure.DiskLoad{Read: uint64(2e9 * parts / partitions)})
				}
				d := time.Duration(seconds * (1 + 0.02*noise.NormFloat64()) * 1e9)
				add := func(query string, phase run.Phase) error {
					return f.Add(run.Sample{Cell: f.Run.ScanCell(config, query), Phase: phase, Rep: rep + 1}.Judge(&run.Measured{Total: d, Usage: u}, proof, nil))
				}
				err := add("scan", phase)
				if config < 2 {
					err = errors.Join(err, add("q3", phase), add("q55", run.Warm))
				}
				if err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	return f
}

func saved(t *testing.T, f *run.Folder) string {
	t.Helper()
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return f.Dir
}

func TestScanForecast(t *testing.T) {
	dir := saved(t, madeSweep(t))
	var out strings.Builder
	for _, args := range []string{
		"--query scan --disks 6 --read-mbps 100",
		"--disks 12 --read-mbps 200 --cores 32 --bytes 1.2TB",
		"--query scan --read-mbps 100,50 --scale-data 10 --partitions auto",
		"--query scan --disks 2 --read-mbps 100 --partitions 2",
		"--query scan --disks 2 --read-mbps 10 --partitions 8",
	} {
		fmt.Fprintf(&out, "$ barograph scan forecast RUN %s\n%s\n", args, strings.ReplaceAll(must(t, append([]string{"scan", "forecast", dir}, strings.Fields(args)...)...), dir, "RUN"))
	}
	golden(t, "scanforecast.txt", out.String())
	table := filepath.Join(t.TempDir(), "heldout.csv")
	output := must(t, "scan", "forecast", dir, "--query", "scan", "--disks", "6", "--read-mbps", "100", "--held-out", table)
	if text, err := os.ReadFile(table); err != nil || strings.Count(string(text), "\n") != 1+5*23 || !strings.Contains(output, "forecast by the model of the others. ") || !strings.Contains(output, " of 115 times") {
		t.Errorf("%v: %d lines; %s", err, strings.Count(string(text), "\n"), output)
	}

	var forecasts scan.Forecasts
	if err := json.Unmarshal([]byte(must(t, "scan", "forecast", dir, "--disks", "6", "--read-mbps", "100", "--bytes", "1TiB", "--json")), &forecasts); err != nil {
		t.Fatal(err)
	}
	if len(forecasts.Questions) != 2 || forecasts.Questions[0].Query != "q3" || !strings.Contains(forecasts.Questions[0].Problem, "2 setups") {
		t.Fatalf("%+v", forecasts)
	}
	q := forecasts.Questions[1]
	if want := 0.5 + 8*float64(1<<40)/1e9/4; q.Requested.Forecast.Seconds.Low > want || q.Requested.Forecast.Seconds.High < want || q.Enough < 5 || q.Enough > 6 || q.Requested.Setup.Partitions != 6 {
		t.Errorf("%+v, %+v", q, *q.Requested)
	}
}

// golden compares a text with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil || string(want) != got {
		t.Errorf("%s: %v; run with -update where this is right:\n%s", name, err, got)
	}
}

func TestScanForecastMeasures(t *testing.T) {
	dir := saved(t, madeSweep(t))
	a, b := t.TempDir(), t.TempDir()
	output := must(t, "scan", "forecast", dir, "--query", "scan", "--paths", a+","+b, "--measure-disks")
	for _, want := range []string{a + ": 64 MiB read in order", b + ": ", "scan, 2 disks of "} {
		if !strings.Contains(output, want) {
			t.Errorf("%q is not in\n%s", want, output)
		}
	}
}

func TestScanForecastRefuses(t *testing.T) {
	intact := saved(t, madeSweep(t))
	plain := madeSweep(t)
	for i := range plain.Run.Scan.Disks {
		plain.Run.Scan.Disks[i].Rate = 0
	}
	rate := []string{"--read-mbps", "100"}
	for _, c := range []struct {
		dir    string
		args   []string
		status int
		want   string
	}{
		{intact, []string{"--read-mbps", "100", "--query", "q1"}, 2, "choose one of scan, q3, q55"},
		{intact, []string{"--read-mbps", "100", "--query", "q3"}, 1, "2 setups are too few for three parameters"},
		{intact, []string{"--read-mbps", "100", "--query", "q55"}, 1, "no cold times of this query"},
		{intact, []string{"--read-mbps", "100", "--query", "q3,scan"}, 1, "2 setups are too few for three parameters"},
		{saved(t, madeSweepOf(t, run.Warm)), rate, 1, "--cold 5"},
		{saved(t, plain), rate, 1, "was not measured"},
		{t.TempDir(), rate, 1, "is not a run folder"},
		{intact, nil, 2, "--measure-disks"},
		{intact, []string{"--disks", "3"}, 2, "--read-mbps"},
		{intact, []string{"--disks", "3", "--read-mbps", "1,2"}, 2, "2 rates for 3 disks"},
		{intact, []string{"--disks", "-1", "--read-mbps", "1"}, 2, "0 or greater"},
		{intact, []string{"--read-mbps", "0"}, 2, "must be greater than 0"},
		{intact, []string{"--read-mbps", "1", "--bytes", "much"}, 2, "not an amount of data"},
		{intact, []string{"--read-mbps", "1", "--bytes", "1e30TB"}, 2, "not an amount of data"},
		{intact, []string{"--read-mbps", "1", "--scale-data", "0"}, 2, "must be greater than 0"},
		{intact, []string{"--read-mbps", "1", "--bytes", "1TB", "--scale-data", "2"}, 2, "bytes"},
		{intact, []string{"--read-mbps", "1", "--partitions", "some"}, 2, "cores, auto or 8"},
		{intact, []string{"--read-mbps", "1", "--partitions", "0"}, 2, "not a number of partitions"},
		{intact, []string{"--paths", t.TempDir()}, 2, "add --measure-disks"},
		{intact, []string{"--paths", filepath.Join(intact, "none"), "--measure-disks"}, 1, "cannot be measured"},
		{intact, []string{"--measure-disks"}, 2, "needs --paths"},
		{intact, []string{"--paths", intact, "--disks", "3"}, 2, "disks"},
	} {
		status, _, stderr := barograph(t, append([]string{"scan", "forecast", c.dir}, c.args...)...)
		if status != c.status || !strings.Contains(stderr, c.want) {
			t.Errorf("%v: status %d, want %d; %s", c.args, status, c.status, stderr)
		}
	}
	if _, _, stderr := barograph(t, append([]string{"scan", "forecast", "nosuch"}, rate...)...); strings.Count(stderr, "name a") != 1 {
		t.Errorf("a problem is reported once: %s", stderr)
	}
	if status, _, _ := barograph(t, "scan", "forecast"); status != 2 {
		t.Errorf("no run: status %d", status)
	}
}
