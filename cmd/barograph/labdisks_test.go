package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/engine/all"
	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/lab"
)

// TestLabDisksStory creates disks, uses them for a server, and removes both.
func TestLabDisksStory(t *testing.T) {
	plainRunOnly(t)
	dir := filepath.Join(t.TempDir(), "labs")
	t.Cleanup(func() { barograph(t, "lab", "down", "--lab-dir", dir) })
	status, out, stderr := barograph(t, "lab", "disks", "--lab-dir", dir, "--count", "2", "--size", "96", "--profile", "custom", "--read-mbps", "150", "--json")
	if status != 0 {
		if slices.Contains(strings.Split(os.Getenv("BAROGRAPH_REQUIRE"), ","), "disks") {
			t.Fatal(stderr)
		}
		t.Skip("NOT TESTED: throttled disks:", stderr)
	}
	var set lab.DiskSet
	if err := json.Unmarshal([]byte(out), &set); err != nil || len(set.Disks) != 2 || !set.Disks[1].Mounted || set.Together <= 0 {
		t.Fatalf("%v: %s", err, out)
	}
	if out := must(t, "lab", "status", "--lab-dir", dir); !strings.Contains(out, set.Disks[1].Path) || !strings.Contains(out, "150 MB/s") {
		t.Errorf("status: %s", out)
	}
	t.Run("of a scan", func(t *testing.T) {
		d, _ := all.Registry().Find("postgres")
		enginetest.Installed(t, *d)
		data := starOf(t)
		r, _, _ := scanned(t, 0, "experiment2", "--partitions", "1", "--lab", "postgres", "--profile", "tuned", "--memory", "2048", "--disks", "--lab-dir", dir, "--data", data, "--reps", "1", "--query", "scan")
		if of := r.Scan; len(of.Configs) != 2 || len(of.Disks) != 2 || of.Disks[1].Path != set.Disks[1].Path || of.Disks[1].Limit != 150e6 || of.DiskLimits != "all paths are on throttled disks of the lab" {
			t.Errorf("%+v, %s", of.Disks, of.DiskLimits)
		}
		if r, _, _ = scanned(t, 0, "--engine", "duckdb:"+filepath.Join(t.TempDir(), "star.db"), "--disks=1", "--lab-dir", dir, "--data", data, "--reps", "1", "--query", "scan"); len(r.Scan.Disks) != 1 {
			t.Errorf("%+v", r.Scan.Disks)
		}
	})
	t.Run("of a server", func(t *testing.T) {
		d, _ := all.Registry().Find("asterixdb")
		enginetest.Installed(t, *d)
		must(t, "lab", "up", "asterixdb", "--lab-dir", dir, "--disks")
		var rows lab.Report
		if err := json.Unmarshal([]byte(must(t, "lab", "status", "asterixdb", "--lab-dir", dir, "--json")), &rows); err != nil {
			t.Fatal(err)
		}
		if folders := rows[0].State.Cluster.Disks; len(folders) != 2 || filepath.Dir(folders[1]) != set.Disks[1].Path {
			t.Errorf("the server's disks are %v", folders)
		}
		if status, _, stderr := barograph(t, "lab", "down", "disks", "--lab-dir", dir); status != fault.Failed || !strings.Contains(stderr, "lab down asterixdb") {
			t.Errorf("disks that a server has: status %d, %s", status, stderr)
		}
	})
	must(t, "lab", "down", "--lab-dir", dir)
	if out := must(t, "lab", "status", "--lab-dir", dir); strings.Contains(out, "MB/s") {
		t.Errorf("after down: %s", out)
	}
}

func TestLabDisksMistakes(t *testing.T) {
	dir := t.TempDir()
	for _, args := range [][]string{
		{"lab", "disks", "--profile", "tape"},
		{"lab", "disks", "--count", "0"},
		{"lab", "disks", "--profile", "custom"},
		{"lab", "disks", "six"},
		{"lab", "up", "postgres", "--disks"},
		{"lab", "up", "postgres", "--disks", "--disk", dir},
		{"lab", "down", "disk1"},
	} {
		if status, _, stderr := barograph(t, append(args, "--lab-dir", dir)...); status != fault.Usage {
			t.Errorf("%v: status %d, %s", args, status, stderr)
		}
	}
}
