package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"barograph/engine/all"
	"barograph/engine/enginetest"
	"barograph/fault"
	"barograph/run"
)

// starOf makes tables of scale factor 0.01, with documents.
func starOf(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "tpcds")
	must(t, "synth", "tpcds", "--sf", "0.01", "--files", "2", "--documents", "--out", dir)
	return dir
}

// labFolder is a folder of labs below one that any account can search. Nothing
// may be left in it, or on the paths.
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

// scanned runs a scan on servers of its own and reads its run folder.
func scanned(t *testing.T, want int, args ...string) (r *run.Scans, said string) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "run")
	status, stdout, stderr := barograph(t, append(append([]string{"scan"}, args...), "--query", "scan,q3", "--out", out)...)
	if status != want {
		t.Fatalf("status %d, not %d\n%s\n%s", status, want, stdout, stderr)
	}
	r, err := run.ReadScans(out)
	if err != nil {
		t.Fatal(err)
	}
	return r, stdout
}

// TestScanLab has one server for the whole run, which is started again before
// cold answers.
func TestScanLab(t *testing.T) {
	for _, scheme := range []string{"postgres", "mariadb", "trino"} {
		t.Run(scheme, func(t *testing.T) {
			d, _ := all.Registry().Find(scheme)
			enginetest.Installed(t, *d)
			paths := enginetest.Disks(t, 2)
			r, said := scanned(t, 0, "experiment2", "--lab", scheme, "--memory", "2048", "--lab-dir", labFolder(t, paths), "--data", starOf(t), "--paths", strings.Join(paths, ","), "--reps", "1", "--cold", "1")
			if r.Server == nil || r.Server.Profile != "tuned" || r.Server.Memory != 2<<30 || len(r.Server.Settings) == 0 || r.Version == "" || len(r.Settings) == 0 {
				t.Errorf("the server is %+v, %s, %v", r.Server, r.Version, r.Settings)
			}
			restarts := 2 // of two questions
			if scheme == "trino" {
				restarts = 0
			}
			for i, c := range r.Configs {
				if len(c.Bytes) != i+1 || c.Restarts != restarts {
					t.Errorf("%+v", c)
				}
				t.Logf("its server was there after %v; %d restarts took %v", c.Open, c.Restarts, c.Restart)
			}
			for _, p := range r.Points {
				if p.Verdict != run.Equal || p.Server == nil || p.Server.Processes == 0 {
					t.Errorf("%+v", p)
				}
			}
			if len(r.Points) != 2*2*2 || strings.HasPrefix(r.Cold, "the server was stopped") != (restarts > 0) || !strings.Contains(said, "2 paths × 2 partitions") {
				t.Errorf("%d points; cold: %s\n%s", len(r.Points), r.Cold, said)
			}
		})
	}
}

// TestScanLabEach has a server for each placement. One that cannot start, as a
// folder is in its way, is given up.
func TestScanLabEach(t *testing.T) {
	d, _ := all.Registry().Find("asterixdb")
	enginetest.Installed(t, *d)
	paths, data := enginetest.Disks(t, 2), starOf(t)
	common := []string{"--lab", "asterixdb", "--memory", "8192", "--lab-dir", labFolder(t, nil), "--data", data, "--paths", strings.Join(paths, ","), "--reps", "1"}
	r, _ := scanned(t, 0, append([]string{"sweep", "--partitions", "2", "--cold", "1"}, common...)...)
	if len(r.Configs) != 2 || len(r.Points) != 2*2*2 || r.Server == nil || r.Server.Profile != "tuned" || r.Version == "" || !strings.HasPrefix(r.Cold, "the server was stopped") {
		t.Errorf("%+v", r)
	}
	for i, c := range r.Configs {
		if len(c.Bytes) != i+1 || c.Opens != 1 || c.Restarts != 2 {
			t.Errorf("%+v", c)
		}
		t.Logf("its server was there after %v; %d restarts took %v", c.Open, c.Restarts, c.Restart)
	}
	if err := os.Mkdir(filepath.Join(paths[1], "barograph-asterixdb"), 0o700); err != nil {
		t.Fatal(err)
	}
	r, said := scanned(t, fault.Incomplete, append([]string{"experiment2"}, common...)...)
	if len(r.Points) != 2 || r.Configs[0].Problem != "" || !strings.Contains(r.Configs[1].Problem, "is there already") || !strings.Contains(said, "Given up") {
		t.Errorf("%+v\n%s", r.Configs, said)
	}
}

// TestScanLabRefuses asks for what no server is started for.
func TestScanLabRefuses(t *testing.T) {
	dir := t.TempDir()
	for _, tc := range []struct {
		says string
		args []string
	}{
		{"at least one of the flags", []string{}},
		{"say two things", []string{"--lab", "postgres", "--db", "duckdb:x.db"}},
		{"say two things", []string{"--lab", "postgres", "--paths", "a", "--disks"}},
		{"no server to start", []string{"--lab", "duckdb"}},
		{"is not offered", []string{"--lab", "postgres", "--nodes", "3"}},
		{"is not known", []string{"--lab", "postgres", "--profile", "fast"}},
		{"needs paths", []string{"--lab", "asterixdb"}},
		{"tells of servers that --lab starts", []string{"--db", "duckdb:x.db", "--nodes", "3"}},
		{"tells of servers that --lab starts", []string{"--db", "duckdb:x.db", "--cold-restart=false"}},
		{"barograph lab disks --count 6 --profile hdd", []string{"--lab", "asterixdb", "--disks"}},
		{"barograph lab disks --count 8 --profile hdd", []string{"--db", "duckdb:x.db", "--disks=8"}},
		{"write --disks=8", []string{"--db", "duckdb:x.db", "--disks", "8"}},
		{"is no number of disks", []string{"--db", "duckdb:x.db", "--disks=none"}},
	} {
		args := append([]string{"scan", "--data", dir, "--lab-dir", dir}, tc.args...)
		if status, _, stderr := barograph(t, args...); status != fault.Usage || !strings.Contains(stderr, tc.says) {
			t.Errorf("%v: status %d, %s", tc.args, status, stderr)
		}
	}
	said := must(t, "scan", "experiment1", "--lab", "asterixdb", "--nodes", "3", "--data", dir, "--paths", filepath.Join(dir, "a"), "--explain")
	if strings.Contains(said, "2 partitions") || !strings.Contains(said, "4 partitions") {
		t.Errorf("three nodes: %s", said)
	}
}
