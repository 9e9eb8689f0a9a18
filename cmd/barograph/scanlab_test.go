package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/barograph/barograph/engine/all"
	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/results/run"
)

// star is the folder of starOf; TestMain removes it.
var star string

// starOf returns the folder of tables of scale factor 0.01, at night also as documents. Tests only
// read it.
func starOf(t *testing.T) string {
	t.Helper()
	if star == "" {
		dir, err := os.MkdirTemp("", "barograph-star-") //nolint:usetesting // other tests use it
		if err == nil {
			err = os.Chmod(dir, 0o755) //nolint:gosec // servers read it
		}
		if err != nil {
			t.Fatal(err)
		}
		args := []string{"synth", "tpcds", "--sf", "0.01", "--files", "2", "--out", filepath.Join(dir, "tpcds")}
		if enginetest.Nightly() { // AsterixDB loads documents, and its scan tests only run at night
			args = append(args, "--documents")
		}
		must(t, args...)
		star = dir
	}
	return filepath.Join(star, "tpcds")
}

// labFolder returns a folder for labs that any account can search. The test fails if files are left
// in it or on the paths.
func labFolder(t *testing.T, paths []string) string {
	t.Helper()
	dir := enginetest.Disks(t, 1)[0]
	t.Cleanup(func() {
		for _, d := range append(paths, dir) {
			if in, err := os.ReadDir(d); err != nil || len(in) > 0 {
				t.Errorf("%v is left in %s, %v", in, d, err)
			}
		}
	})
	return dir
}

// scanned runs a scan that starts its own servers, and reads its run folder.
func scanned(t *testing.T, want int, args ...string) (r *run.Run, samples []run.Sample, output string) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "run")
	status, stdout, stderr := barograph(t, append(append([]string{"scan"}, args...), "--out", out)...)
	if status != want {
		t.Fatalf("status %d, not %d\n%s\n%s", status, want, stdout, stderr)
	}
	r, samples, err := run.Read(out)
	if err != nil {
		t.Fatal(err)
	}
	return r, samples, stdout
}

// TestScanLab uses one server for the complete run. The scan restarts it before cold answers.
func TestScanLab(t *testing.T) {
	for _, scheme := range []string{"postgres", "mariadb", "trino"} {
		t.Run(scheme, func(t *testing.T) {
			quickServer(t, scheme)
			d, _ := all.Registry().Find(scheme)
			enginetest.Installed(t, *d)
			paths := enginetest.Disks(t, 2)
			r, samples, output := scanned(t, 0, "experiment2", "--partitions", "1", "--lab", scheme, "--profile", "tuned", "--memory", "2048", "--lab-dir", labFolder(t, paths), "--data", starOf(t), "--paths", strings.Join(paths, ","), "--reps", "1", "--cold", "1", "--query", "scan,q3")
			a := r.Archives[0]
			if a.Server == nil || a.Server.Profile != "tuned" || a.Server.Memory != 2<<30 || len(a.Server.Settings) == 0 || a.Version == "" || len(a.Settings) == 0 {
				t.Errorf("the server is %+v, %s, %v", a.Server, a.Version, a.Settings)
			}
			restarts := 2 // one for each of two questions
			if scheme == "trino" {
				restarts = 0
			}
			for i, c := range r.Scan.Configs {
				if len(c.Bytes) != i+1 || c.Restarts != restarts {
					t.Errorf("%+v", c)
				}
				t.Logf("its server was there after %v; %d restarts took %v", c.Open, c.Restarts, c.Restart)
			}
			for _, s := range samples {
				if m := s.Measured(); m == nil || m.Server == nil || m.Server.Used.Processes == 0 {
					t.Errorf("%+v", s)
				}
			}
			if len(samples) != 2*2*2 || strings.HasPrefix(r.ColdMethod, "the server was restarted") != (restarts > 0) || !strings.Contains(output, "2 paths × 2 partitions") {
				t.Errorf("%d points; cold: %s\n%s", len(samples), r.ColdMethod, output)
			}
		})
	}
}

// TestScanLabEach uses a server for each placement. The scan gives up a server that cannot start,
// because its folder exists already.
func TestScanLabEach(t *testing.T) {
	enginetest.AtNight(t, "one server for all placements is tested by day, by TestScanLab; four of AsterixDB take two minutes")
	d, _ := all.Registry().Find("asterixdb")
	enginetest.Installed(t, *d)
	paths, data := enginetest.Disks(t, 3), starOf(t)
	inTheWay := filepath.Join(paths[2], "barograph-asterixdb")
	if err := os.Mkdir(inTheWay, 0o700); err != nil {
		t.Fatal(err)
	}
	r, samples, output := scanned(t, fault.Incomplete, "experiment2", "--partitions", "1", "--lab", "asterixdb", "--profile", "tuned", "--memory", "4096", "--setting", "storage.buffercache.size=48MB", "--lab-dir", labFolder(t, paths[:2]),
		"--data", data, "--paths", strings.Join(paths, ","), "--reps", "1", "--cold", "1", "--query", "scan")
	a := r.Archives[0]
	if len(samples) != 2*2 || a.Server == nil || a.Server.Profile != "tuned" || a.Server.Settings["storage.buffercache.size"] != "48MB" || a.Version == "" || !strings.HasPrefix(r.ColdMethod, "the server was restarted") {
		t.Errorf("%+v", r)
	}
	for _, s := range samples {
		if m := s.Measured(); m == nil || m.Server == nil || m.Server.Used.Processes == 0 {
			t.Errorf("%+v", s)
		}
	}
	for i, c := range r.Scan.Configs[:2] {
		if len(c.Bytes) != i+1 || c.Opens != 1 || c.Restarts != 1 || c.Problem != "" {
			t.Errorf("%+v", c)
		}
		t.Logf("its server was there after %v; %d restarts took %v", c.Open, c.Restarts, c.Restart)
	}
	if !strings.Contains(r.Scan.Configs[2].Problem, "exists already") || !strings.Contains(output, "Given up") {
		t.Errorf("%+v\n%s", r.Scan.Configs, output)
	}
	if _, err := os.Stat(inTheWay); err != nil {
		t.Error("a folder that was there before is gone:", err)
	}
}

// stopAt interrupts a command when it has written text the given number of times.
type stopAt struct {
	bytes.Buffer
	text  string
	times int
	stop  func()
}

func (s *stopAt) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte(s.text)) {
		if s.times--; s.times == 0 {
			s.stop()
		}
	}
	return s.Buffer.Write(p)
}

// TestScanLabInterrupted: after ^C the measurements remain, and the server is stopped.
func TestScanLabInterrupted(t *testing.T) {
	d, _ := all.Registry().Find("postgres")
	enginetest.Installed(t, *d)
	paths, out := enginetest.Disks(t, 2), filepath.Join(t.TempDir(), "run")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	stderr := &stopAt{text: "round 1", times: 2, stop: stop}
	status := execute(ctx, &env{stdin: strings.NewReader(""), stdout: io.Discard, stderr: stderr, engines: all.Registry(), args: []string{
		"scan", "experiment2", "--partitions", "1", "--lab", "postgres", "--profile", "tuned", "--memory", "2048", "--lab-dir", labFolder(t, paths), "--data", starOf(t), "--paths", strings.Join(paths, ","), "--reps", "2", "--query", "scan", "--out", out,
	}})
	r, samples, err := run.Read(out)
	if status != fault.Interrupted || err != nil || len(samples) != 2 || r.Scan.Configs[0].Problem+r.Scan.Configs[1].Problem != "" {
		t.Errorf("status %d, %v, %+v\n%s", status, err, r, stderr)
	}
}

// TestScanLabRefuses tests command lines for which scan starts no server.
func TestScanLabRefuses(t *testing.T) {
	dir := t.TempDir()
	for _, tc := range []struct {
		message string
		args    []string
	}{
		{"needs --engine or --lab", []string{}},
		{"takes --engine or --lab, not both", []string{"--lab", "postgres", "--engine", "duckdb:x.db"}},
		{"takes --disks or --paths, not both", []string{"--lab", "postgres", "--paths", "a", "--disks"}},
		{"no server to start", []string{"--lab", "duckdb"}},
		{"is not offered", []string{"--lab", "postgres", "--nodes", "3"}},
		{"is not known", []string{"--lab", "postgres", "--profile", "fast"}},
		{"is not a setting", []string{"--lab", "postgres", "--setting", "shared_buffers"}},
		{"needs paths", []string{"--lab", "asterixdb"}},
		{"applies only to servers that --lab starts", []string{"--engine", "duckdb:x.db", "--nodes", "3"}},
		{"applies only to servers that --lab starts", []string{"--engine", "duckdb:x.db", "--cold-restart=false"}},
		{"barograph lab disks --count 6 --profile hdd", []string{"--lab", "asterixdb", "--disks"}},
		{"barograph lab disks --count 8 --profile hdd", []string{"--engine", "duckdb:x.db", "--disks=8"}},
		{"write --disks=8", []string{"--engine", "duckdb:x.db", "--disks", "8"}},
		{"is not a number of disks", []string{"--engine", "duckdb:x.db", "--disks=none"}},
		{"the page cache of 192.0.2.1, because it is another machine", []string{"--engine", "postgres://192.0.2.1/x", "--paths", dir, "--cold", "1"}},
		{"the page cache of 192.0.2.1, because it is another machine", []string{"--engine", "postgres://127.0.0.1:1,192.0.2.1:2/x", "--paths", dir, "--cold", "1"}},
	} {
		args := append([]string{"scan", "--data", dir, "--lab-dir", dir}, tc.args...)
		if status, _, stderr := barograph(t, args...); status != fault.Usage || !strings.Contains(stderr, tc.message) {
			t.Errorf("%v: status %d, %s", tc.args, status, stderr)
		}
	}
	output := must(t, "scan", "experiment1", "--lab", "asterixdb", "--nodes", "3", "--data", dir, "--paths", filepath.Join(dir, "a"), "--explain")
	if strings.Contains(output, "2 partitions") || !strings.Contains(output, "4 partitions") {
		t.Errorf("three nodes: %s", output)
	}
}
