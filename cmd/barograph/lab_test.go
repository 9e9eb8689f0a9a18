package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/barograph/barograph/engine/all"
	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/engine/launch"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/lab"
)

// TestLabStory starts a server from the command line, loads and queries an archive, and stops the
// server.
func TestLabStory(t *testing.T) {
	d, _ := all.Registry().Find("postgres")
	enginetest.Installed(t, *d)
	dir := filepath.Join(t.TempDir(), "labs")
	t.Cleanup(func() { barograph(t, "lab", "down", "--lab-dir", dir) })
	if out := must(t, "lab", "status", "postgres", "--lab-dir", dir); !strings.Contains(out, "down") {
		t.Errorf("status before up: %s", out)
	}
	must(t, "lab", "up", "postgres", "--lab-dir", dir, "--profile", "tuned")
	var rows lab.Report
	if err := json.Unmarshal([]byte(must(t, "lab", "status", "postgres", "--lab-dir", dir, "--json")), &rows); err != nil {
		t.Fatal(err)
	}
	if len(rows) != 1 || !rows[0].Running || rows[0].State.Cluster.Profile != "tuned" {
		t.Fatalf("status: %+v", rows)
	}
	url := strings.TrimSpace(must(t, "lab", "url", "postgres", "--lab-dir", dir))
	if rows[0].URL == url || rows[0].URL != fault.Redact(url) || rows[0].State.Cluster.Password != "" {
		t.Errorf("status shows a password: %+v", rows)
	}
	data := dayOfData(t)
	for _, n := range []string{"normalized", "document", "wide"} {
		must(t, "load", data, "--engine", rows[0].Name, "--design", n)
		if out := must(t, "ask", "test_3", "--engine", url, "--design", n, "--format", "csv"); !strings.Contains(out, "vx_mask") {
			t.Errorf("%s: the answer is %q", n, out)
		}
	}
	if out := must(t, "post", "--engine", "lab:postgres", "--lab-dir", dir, "--design", "single", "--method", "bulk", "--messages", "2", "--mean", "5", "--out", filepath.Join(dir, "posted")); !strings.Contains(out, "profile tuned") {
		t.Errorf("the report of post does not name the profile of its server: %s", out)
	}
	must(t, "lab", "down", "postgres", "--lab-dir", dir)
	if status, _, stderr := barograph(t, "ask", "test_3", "--engine", url); status != fault.Unreachable || !strings.Contains(stderr, "lab up") {
		t.Errorf("after down: status %d, %s", status, stderr)
	}
	if _, err := os.Stat(filepath.Join(dir, "postgres")); err == nil {
		t.Error("the folder stays")
	}
}

func TestLabMistakes(t *testing.T) {
	dir := t.TempDir()
	for _, args := range [][]string{
		{"lab", "up", "duckdb"},
		{"lab", "up", "oracle"},
		{"lab", "up", "tpcgen"},
		{"lab", "install", "tpcgem"},
		{"lab", "up", "postgres", "--nodes", "2"},
		{"lab", "up", "--port", "1"},
		{"lab", "up", "postgres", "--disk", dir},
		{"lab", "up", "valkey", "--partitions", "2"},
	} {
		if status, _, stderr := barograph(t, append(args, "--lab-dir", dir)...); status != fault.Usage {
			t.Errorf("%v: status %d, %s", args, status, stderr)
		}
	}
}

// TestLabInstallsTools: lab installs the generator of TPC-DS in the same way as servers.
func TestLabInstallsTools(t *testing.T) {
	t.Setenv(launch.EnvArtifacts, t.TempDir())
	t.Setenv("PATH", t.TempDir())
	if out := must(t, "lab", "install", "tpcgen"); !strings.Contains(out, "tpcgen") {
		t.Errorf("to be installed: %s", out)
	}
	if status, _, stderr := barograph(t, "synth", "tpcds", "--generator", "tpcgen", "--out", t.TempDir()); status != 1 || !strings.Contains(stderr, "tpcgen-cli") {
		t.Errorf("without it: status %d, %s", status, stderr)
	}
}
