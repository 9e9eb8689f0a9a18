package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/results/report"
)

// TestGrowth: every number of days is proven, the largest is projected before it is measured, and the
// files of the days are removed.
func TestGrowth(t *testing.T) {
	plainRunOnly(t)
	data, out := dayOfData(t), filepath.Join(t.TempDir(), "g")
	lessData(t, data)
	stdout := must(t, "growth", data, "--engine", "pebble", "--engine", "sqlite", "--design", "keyvalue,normalized", "--case", "test_3,test_5", "--days", "3,1,2", "--predict", "5", "--reps", "2", "--out", out)
	for _, want := range []string{"Questions about all days", "of 2 sizes on disk are in their interval", "report.html"} {
		if !strings.Contains(strings.Join(strings.Fields(stdout), " "), want) {
			t.Errorf("growth prints no %q:\n%s", want, stdout)
		}
	}
	if strings.Contains(stdout, "without a correct result") || strings.Count(stdout, "equal the reference") != 4+1 { // of each size, and of all
		t.Errorf("not every size is proven:\n%s", stdout)
	}
	text, err := os.ReadFile(filepath.Join(out, "growth.json"))
	if err != nil {
		t.Fatal(err)
	}
	var d report.Days
	if err := json.Unmarshal(text, &d); err != nil || len(d.Sizes) != 4 || d.Predict != 5 || len(d.AllDays) == 0 || len(d.Projections) == 0 {
		t.Errorf("%v: the description is\n%s", err, text)
	}
	for _, p := range d.Projections {
		if p.Measured != 0 { // the report adds it; the file was written before
			t.Errorf("%+v was measured when it was stored", p)
		}
	}
	if _, err := os.Stat(filepath.Join(out, "series")); !os.IsNotExist(err) {
		t.Errorf("the files of the days remain: %v", err)
	}
	kept := filepath.Join(t.TempDir(), "series", "kept") // growth must not remove what it did not make
	if err := os.MkdirAll(kept, 0o700); err != nil {
		t.Fatal(err)
	}
	folder := filepath.Dir(filepath.Dir(kept))
	status, _, stderr := barograph(t, "growth", data, "--engine", "pebble", "--case", "test_3", "--days", "1,2", "--reps", "2", "--out", folder)
	if _, err := os.Stat(kept); err != nil || status != fault.Usage || !strings.Contains(stderr, "already contains series") {
		t.Errorf("a folder with a series: %d, %v\n%s", status, err, stderr)
	}
	if again := must(t, "report", out); !strings.Contains(again, "Projected and measured") {
		t.Errorf("report prints\n%s", again)
	}
	for _, c := range []struct {
		want string
		args []string
	}{
		{"needs at least 3 smaller sizes", []string{"--days", "1,4", "--predict", "8"}},
		{"is not above 16", []string{"--days", "1,4,16", "--predict", "16"}},
		{"names one size", []string{"--days", "4"}},
	} {
		if status, _, stderr := barograph(t, append([]string{"growth", data, "--engine", "pebble"}, c.args...)...); status != fault.Usage || !strings.Contains(stderr, c.want) {
			t.Errorf("%v: %d, %s", c.args, status, stderr)
		}
	}
}

// lessData keeps the lines of one variable and level.
func lessData(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var some []byte
		for line := range bytes.Lines(text) {
			if bytes.Contains(line, []byte(" HGT P500 ")) {
				some = append(some, line...)
			}
		}
		return os.WriteFile(path, some, 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
}
