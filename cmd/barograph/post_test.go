package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPost posts a small feed and files of it, and reads the report again.
func TestPost(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "run")
	stdout := must(t, "post", "--db", "sqlite:"+filepath.Join(dir, "a.db"), "--design", "array24,single,ihfs", "--method", "multi-row,prepared",
		"--test", "quiet,live,delete", "--messages", "20", "--mean", "15", "--per-day", "10", "--posters", "2", "--out", out)
	for _, want := range []string{"Number of Products: 20", "Avg Post time: 0.", "Max Post Time: 0", "quiet   insert", "maintenance off", "reference"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("%q is not in\n%s", want, stdout)
		}
	}
	page, err := os.ReadFile(filepath.Join(out, "report.html"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<svg", "83.4", "The live feed, day by day", "pecrsep", "2006"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("%q is not in the report", want)
		}
	}
	if again := must(t, "report", out); again != stdout {
		t.Error("report prints something else than post")
	}

	feed := filepath.Join(dir, "feed")
	must(t, "synth", "shef", "--messages", "20", "--mean", "15", "--out", feed)
	stdout = must(t, "post", "--db", "duckdb:"+filepath.Join(dir, "b.db"), "--design", "single", "--method", "bulk", "--now", "2006-03-09", "--out", filepath.Join(dir, "run2"), feed)
	if !strings.Contains(stdout, "Number of Products: 20") {
		t.Errorf("from files:\n%s", stdout)
	}
}

func TestPostRefuses(t *testing.T) {
	for _, args := range [][]string{
		{"post", "--db", "sqlite:x.db", "--test", "endurance"},
		{"post", "--db", "pebble:x"},
		{"post", "--db", "sqlite:x.db", "-"},
		{"synth", "shef", "--out", "x", "--mean", "0.1"},
	} {
		if status, _, stderr := barograph(t, args...); status != 2 || stderr == "" {
			t.Errorf("%v: status %d, %q", args, status, stderr)
		}
	}
}
