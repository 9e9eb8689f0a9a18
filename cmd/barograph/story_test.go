package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/barograph/barograph/engine/enginetest"
)

// TestStory runs docs/story.sh on small synthetic data in the folders of the real data. If enginetest.EnvSoak is not
// set, it runs only the MET part.
func TestStory(t *testing.T) {
	plainRunOnly(t)
	for _, tool := range []string{"xz", "tar"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("NOT TESTED: %v", err)
		}
	}
	dir := t.TempDir()
	data := filepath.Join(dir, "data")
	must(t, "synth", "met", "--since", "2024-10-31", "--leads", "12,24", "--out", filepath.Join(dir, "G2G_v12", "20241031-00z"))
	must(t, "synth", "vsdb", "--since", "2019-01-01", "--models", "gfs", "--stattypes", "anom,pres", "--out", filepath.Join(dir, "vsdb_data"))
	for _, more := range []string{"06Z", "12Z", "18Z"} {
		for _, kind := range []string{"anom", "pres"} {
			if err := os.RemoveAll(filepath.Join(dir, "vsdb_data", "vsdb_data", kind, more)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for folder, archive := range map[string]string{"G2G_v12": "met/stat/g2g_met12.tar.xz", "vsdb_data": "met/vsdb/vxingest_vsdb.tar.xz"} {
		if err := os.MkdirAll(filepath.Join(data, filepath.Dir(archive)), 0o755); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.CommandContext(t.Context(), "tar", "-cJf", filepath.Join(data, archive), "-C", dir, folder).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	formats, each := "met", 1
	if enginetest.Nightly() {
		formats, each = "met vsdb", 2
	}
	c := exec.CommandContext(t.Context(), "../../docs/story.sh", data, filepath.Join(dir, "story"))
	c.Env = append(os.Environ(), envMain+"=1", "BAROGRAPH="+os.Args[0], "FORMATS="+formats, "ENGINES=--engine sqlite --engine pebble", "MET=--reps 2 --warmups 0 --flavour keys-native,keys,sql")
	text, err := c.CombinedOutput()
	out := string(text)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for message, n := range map[string]int{
		" results equal the reference": 5, " is intact: ": 2, "plot written to ": 3, "(in the archive already), 0 failed": 2,
		"VOID: second used other data": 1, "$ barograph ask 'first/cases.yaml#": 1,
		"IS NOT INTACT": 0, "no record of subset": 0, "warning: other": 0, "has none": 0,
	} {
		if got := strings.Count(out, message); got != n*each {
			t.Errorf("%q occurs %d times, not %d", message, got, n*each)
		}
	}
	if t.Failed() {
		t.Log(out)
	}
}
