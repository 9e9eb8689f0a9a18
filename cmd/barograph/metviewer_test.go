package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/barograph/barograph/archive/load"
)

// loadSpec writes a load_spec for a day of data and returns its path.
func loadSpec(t *testing.T, data, connection, fields string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "load.xml")
	text := fmt.Sprintf("<load_spec>\n%s\n<force_dup_file>true</force_dup_file>\n<folder_tmpl>%s/{cycle}/{model}</folder_tmpl>\n<load_val>%s</load_val></load_spec>", connection, data, fields)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const (
	specConnection = `<connection><management_system>mysql</management_system><host>127.0.0.1:1</host><database>mv_day</database><user>me</user><password>s3cret</password></connection>`
	specFields     = `<field name="cycle"><val>00Z</val><val>06Z</val><val>12Z</val><val>18Z</val><val>21Z</val></field><field name="model"><val>gfs</val></field>`
)

// foldersOf returns the folder of a synthetic day that contains the cycles.
func foldersOf(t *testing.T) string {
	t.Helper()
	data := dayOfData(t)
	var dir string
	err := filepath.Walk(data, func(path string, info os.FileInfo, err error) error {
		if err == nil && info.IsDir() && info.Name() == "00Z" {
			dir = filepath.Dir(path)
		}
		return err
	})
	if err != nil || dir == "" {
		t.Fatalf("no cycle below %s: %v", data, err)
	}
	return dir
}

// TestMetviewerStory loads a load_spec, queries a plot_spec and draws it.
func TestMetviewerStory(t *testing.T) {
	data, dir := foldersOf(t), t.TempDir()
	spec := loadSpec(t, data, specConnection, specFields)
	url := "sqlite:" + filepath.Join(dir, "archive.db")
	status, out, stderr := barograph(t, "load", "--spec", spec, "--engine", url, "--json")
	var sum load.Result
	if err := json.Unmarshal([]byte(out), &sum); err != nil || status != 0 {
		t.Fatalf("status %d, %v\n%s", status, err, stderr)
	}
	if sum.Subset != "mv_day" || sum.Files != 4 || sum.Read != 4*8745 {
		t.Errorf("%+v", sum)
	}
	for _, want := range []string{"line 3: force_dup_file: not needed", "1 of 5 folders contain no VSDB or MET file", "21Z"} {
		if !strings.Contains(stderr, want) {
			t.Errorf("stderr lacks %q:\n%s", want, stderr)
		}
	}
	if strings.Contains(out+stderr, "s3cret") {
		t.Error("the password is printed")
	}

	plot, svg := filepath.Join("testdata", "plot.xml"), filepath.Join(dir, "out.svg")
	status, out, stderr = barograph(t, "ask", plot, "--engine", url, "--plot", svg)
	if status != 0 {
		t.Fatalf("status %d\n%s", status, stderr)
	}
	for _, part := range []string{"plot-HGT_SAL1L2", "plot-HGT_SAL1L2-2", "plot-HGT_SAL1L2-3"} {
		text, err := os.ReadFile(filepath.Join(dir, "out-"+part+".svg"))
		if err != nil || !strings.Contains(string(text), "<svg") {
			t.Errorf("%s was not drawn: %v\n%s", part, err, stderr)
		}
	}
	for _, want := range []string{"G2/NHX", "G2/NHX+G2/SHX", " … "} {
		if !strings.Contains(out, want) {
			t.Errorf("the statistics lack %q:\n%s", want, out)
		}
	}
	again := must(t, "ask", plot, "--engine", url, "--plot", svg, "--seed", "99")
	if again != out {
		t.Error("another --seed changed intervals whose seed is in the plot")
	}
	if status, _, stderr := barograph(t, "ask", plot+"#plot-HGT_SAL1L2-2", "--engine", url, "--subset", "other"); status != 4 || !strings.Contains(stderr, "no record matches in subset other") {
		t.Errorf("status %d, --subset does not win:\n%s", status, stderr)
	}
}

// TestStatisticOfNothing: a plot without records is reported with status 4.
func TestStatisticOfNothing(t *testing.T) {
	url := "sqlite:" + filepath.Join(t.TempDir(), "archive.db")
	must(t, "load", dayOfData(t), "--engine", url)
	svg := filepath.Join(t.TempDir(), "out.svg")
	status, _, stderr := barograph(t, "ask", filepath.Join("testdata", "plot.xml"), "--engine", url, "--plot", svg, "--where", "model=NONE")
	if status != 4 || !strings.Contains(stderr, "3 of 3 questions, line type SAL1L2: no record matches") {
		t.Errorf("status %d\n%s", status, stderr)
	}
}

// TestMetAsksPlots proves and times the questions of a plot.
func TestMetAsksPlots(t *testing.T) {
	data, out := foldersOf(t), filepath.Join(t.TempDir(), "run")
	must(t, "met", data, "--engine", "pebble", "--engine", "sqlite", "--case", filepath.Join("testdata", "plot.xml"), "--reps", "1", "--warmups", "0", "--out", out)
	for _, part := range []string{"plot-HGT_SAL1L2", "plot-HGT_SAL1L2-2", "plot-HGT_SAL1L2-3"} {
		if _, err := os.Stat(filepath.Join(out, "plots", part+".json")); err != nil {
			t.Error(err)
		}
	}
}

// TestLoadSpecUsage: an invalid load_spec is a usage error that names the problem.
func TestLoadSpecUsage(t *testing.T) {
	data := t.TempDir()
	field := `<field name="model"><val>gfs</val></field>`
	for name, c := range map[string]struct {
		spec    string
		args    []string
		message string
	}{
		"Couchbase":      {loadSpec(t, data, strings.Replace(specConnection, "mysql", "cb", 1), specFields), nil, "a load_spec cannot have Couchbase as its target; name the target with --engine"},
		"unknown system": {loadSpec(t, data, strings.Replace(specConnection, "mysql", "db2", 1), specFields), nil, "db2"},
		"no connection":  {loadSpec(t, data, "", specFields), nil, "connection"},
		"no values":      {loadSpec(t, data, specConnection, field), nil, "{cycle}"},
		"files, too":     {loadSpec(t, data, specConnection, specFields), []string{"more.vsdb"}, "leave out more.vsdb"},
		"no such file":   {"absent.xml", nil, "absent.xml"},
	} {
		status, out, stderr := barograph(t, append([]string{"load", "--spec", c.spec}, c.args...)...)
		if status != 2 || !strings.Contains(stderr, c.message) || strings.Contains(out+stderr, "s3cret") {
			t.Errorf("%s: status %d\n%s", name, status, stderr)
		}
	}
	status, _, stderr := barograph(t, "load", "--spec", loadSpec(t, data, specConnection, specFields), "--engine", "sqlite:"+filepath.Join(data, "a.db"))
	if status != 1 || !strings.Contains(stderr, "none of its 5 folders") {
		t.Errorf("status %d\n%s", status, stderr)
	}
}
