package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/barograph/barograph/internal/build"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/results/run"
)

// TestScan makes tables, explains the rule, runs an experiment and reads its report again.
func TestScan(t *testing.T) {
	dir := t.TempDir()
	data, out := filepath.Join(dir, "tpcds"), filepath.Join(dir, "run")
	if made := must(t, "synth", "tpcds", "--sf", "0.01", "--files", "2", "--out", data); !strings.Contains(made, "28810 sales, 73049 days, 180 items") {
		t.Errorf("made %s", made)
	}
	db, paths := "duckdb:"+filepath.Join(dir, "star.db"), filepath.Join(dir, "a")+","+filepath.Join(dir, "b")
	if output := must(t, "scan", "--engine", db, "--data", data, "--paths", paths, "--explain"); !strings.Contains(output, "partitions: 2, one for each path") {
		t.Errorf("explained: %s", output)
	}
	status, stdout, stderr := barograph(t, "scan", "experiment2", "--engine", db, "--data", data, "--paths", paths, "--partitions", "3", "--reps", "2", "--cold", "1", "--query", "scan,q55", "--measure-disks", "--out", out)
	if status != 0 || !strings.Contains(stderr, "measuring how fast it is read: path 2 of 2") {
		t.Fatalf("status %d, %s", status, stderr)
	}
	if text, err := os.ReadFile(filepath.Join(out, "results", "duckdb.q55.csv")); err != nil || !strings.HasPrefix(string(text), "brand_id,brand,ext_price\n") {
		t.Errorf("the kept result: %q, %v", text, err)
	}
	for _, want := range []string{"compared 1 path × 3 partitions with 2 paths × 2 partitions", "2 paths × 2 partitions", "cold", "Response times", "The bottleneck", "Configurations", "DuckDB"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("%q is not in\n%s", want, stdout)
		}
	}
	page, err := os.ReadFile(filepath.Join(out, "report.html"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<svg", "plain folders without speed limits", "SELECT SUM(ss_ext_sales_price)", "READ_PARQUET", "posix_fadvise"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("%q is not in the report", want)
		}
	}
	if again := must(t, "report", out); again != stdout {
		t.Error("report prints something else than scan")
	}
	if r, err := run.ReadRun(out); err != nil || r.Version != build.Version() || r.Started.After(r.Finished) {
		t.Errorf("the folder does not say which version measured: %v", err)
	} else if a := r.Archives[0]; a.License == "" || a.URL != db || a.Acknowledged == "" {
		t.Errorf("the folder does not describe the engine as other studies do: %+v", a)
	}
}

func TestScanRefuses(t *testing.T) {
	for _, args := range [][]string{
		{"scan", "--engine", "duckdb:x.db"},
		{"scan", "experiment3", "--engine", "duckdb:x.db", "--data", "x"},
		{"scan", "--engine", "duckdb:x.db", "--data", "x", "--query", "q1"},
		{"scan", "--engine", "duckdb:x.db", "--data", "x", "--partitions", "none"},
		{"scan", "experiment2", "--engine", "duckdb:x.db", "--data", "x", "--paths", "a"},
		{"synth", "tpcds", "--out", filepath.Join(t.TempDir(), "x"), "--generator", "dbgen"},
		{"scan", "--engine", "duckdb:x.db", "--data", "x", "--paths", "a,a"},
	} {
		if status, _, stderr := barograph(t, args...); status != 2 || stderr == "" {
			t.Errorf("%v: status %d, %q", args, status, stderr)
		}
	}
	for _, flag := range [][]string{{"--engine", "sqlite:x.db"}, {"--lab", "valkey"}} {
		status, _, stderr := barograph(t, append([]string{"scan", "--data", "x"}, flag...)...)
		if status != fault.Usage || !strings.Contains(stderr, "cannot load the star") || !strings.Contains(stderr, "clickhouse") {
			t.Errorf("%v, which has no star: status %d, %q", flag, status, stderr)
		}
	}
	if status, _, stderr := barograph(t, "scan", "--engine", "duckdb:x.db", "--data", t.TempDir()); status != 1 || !strings.Contains(stderr, "barograph synth tpcds") {
		t.Errorf("no tables: status %d, %q", status, stderr)
	}
}

// TestScanVerification loads a day, scans it, and reads the report again. The second scan finds the
// loaded archive.
func TestScanVerification(t *testing.T) {
	dir := t.TempDir()
	data, out := filepath.Join(dir, "vsdb"), filepath.Join(dir, "run")
	must(t, "synth", "vsdb", "--since", "2019-01-01", "--models", "gfs", "--stattypes", "anom", "--out", data)
	db := "duckdb:" + filepath.Join(dir, "archive.db")
	must(t, "load", data, "--engine", db, "--design", "wide")
	stdout := must(t, "scan", "verification", data, "--engine", db, "--reps", "2", "--cold", "1", "--out", out)
	for _, want := range []string{"verification", "wide", "normalized", "document", "cold", "Response times", "The bottleneck"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("%q is not in\n%s", want, stdout)
		}
	}
	if kept, _ := filepath.Glob(filepath.Join(out, "answers", "*.json")); len(kept) != 1 {
		t.Errorf("answers that are kept: %v", kept)
	}
	page, err := os.ReadFile(filepath.Join(out, "report.html"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<svg", "Mean anomaly correlation over a complete archive", "GROUP BY r.model", "of SAL1L2", "reopened"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("%q is not in the report", want)
		}
	}
	if again := must(t, "report", out); again != stdout {
		t.Error("report prints something else than scan verification")
	}
}

func TestScanVerificationRefuses(t *testing.T) {
	for want, args := range map[string][]string{
		"needs --engine":   {"scan", "verification", "x"},
		"takes at least 1": {"scan", "verification", "--engine", "duckdb:x.db"},
		"does not compute": {"scan", "verification", "x", "--engine", "pebble:x"},
		"--design wide is not offered by sqlite for means by group": {"scan", "verification", "x", "--engine", "sqlite:x", "--design", "wide"},
		"is not known": {"scan", "verification", "x", "--engine", "nothing:x"},
	} {
		if status, _, stderr := barograph(t, args...); status != 2 || !strings.Contains(stderr, want) {
			t.Errorf("%v: status %d, %q", args, status, stderr)
		}
	}
}
