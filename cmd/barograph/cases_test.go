package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/results/run"
	"github.com/barograph/barograph/study/met"
)

var caseName = regexp.MustCompile(`(?m)^name: (\S+)$`)

// casesOf derives cases, and returns their file and their names.
func casesOf(t *testing.T, data ...string) (file string, names []string) {
	t.Helper()
	status, text, stderr := barograph(t, append([]string{"cases"}, data...)...)
	if status != 0 && (status != fault.Incomplete || !strings.Contains(stderr, "quarantined")) { // real files have damaged lines
		t.Fatalf("status %d\n%s", status, stderr)
	}
	file = filepath.Join(t.TempDir(), "cases.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, m := range caseName.FindAllStringSubmatch(text, -1) {
		names = append(names, m[1])
	}
	return file, names
}

// studied runs met with cases of files on one engine and returns the cases of the run folder. Each
// must have rows.
func studied(t *testing.T, data string, more ...string) []run.Case {
	t.Helper()
	out := filepath.Join(t.TempDir(), "run")
	status, _, stderr := barograph(t, append([]string{"met", data, "--engine", "pebble", "--reps", "1", "--warmups", "0", "--client-overhead=false", "--out", out}, more...)...)
	if status != 0 && status != 4 { // status 4: lines were quarantined
		t.Fatalf("met %s: status %d\n%s", data, status, stderr)
	}
	r, samples, err := run.Read(out)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range r.Cases {
		if c.Rows == 0 || c.Title == "" || c.Weight != 1 {
			t.Errorf("%s: %+v", data, c)
		}
	}
	for _, s := range samples {
		if s.Verdict != run.Equal {
			t.Errorf("%s: %v is %s", data, s.Cell, s.Verdict)
		}
	}
	return r.Cases
}

// TestCasesOfAnotherYear: NOAA's cases do not cover the month. cases derives the questions from the
// files or from the archive, with the same result, and they can be asked again.
func TestCasesOfAnotherYear(t *testing.T) {
	plainRunOnly(t)
	dir := t.TempDir()
	data, url := filepath.Join(dir, "data"), "sqlite:"+filepath.Join(dir, "archive.db")
	must(t, "synth", "vsdb", "--since", "2024-02-28", "--until", "2024-02-29", "--models", "gfs", "--stattypes", "anom", "--out", data)
	file, names := casesOf(t, data)
	for _, want := range []string{
		"dieoff_sal1l2_hgt", "one_sal1l2_hgt", "all_sal1l2_hgt", "levels_sal1l2_hgt", "profile_sal1l2_hgt", "large_sal1l2", "dieoff_val1l2_wind",
		"series_sal1l2_hgt", "series_val1l2_wind",
	} {
		if !strings.Contains(strings.Join(names, " ")+" ", want+" ") {
			t.Errorf("no %s in %v", want, names)
		}
	}
	derived := studied(t, data, "--flavour", "epoch-range")
	if len(derived) != met.DerivedCases {
		t.Errorf("met asked %d cases", len(derived))
	}
	for i, c := range derived {
		if c.Name != names[i] {
			t.Errorf("case %d is %s, of cases %s", i, c.Name, names[i])
		}
	}
	if one := studied(t, data, "--case", "dieoff_sal1l2_hgt", "--flavour", "epoch-range"); len(one) != 1 || one[0].Name != "dieoff_sal1l2_hgt" {
		t.Errorf("a derived case by its name: %+v", one)
	}
	must(t, "load", data, "--engine", url)
	for _, of := range [][]string{{data}, {"--from", url}} {
		args := append([]string{"met", "--engine", "pebble", "--case", "dieof_sal1l2_hgt", "--out", filepath.Join(dir, "none")}, of...)
		if status, _, message := barograph(t, args...); status != fault.Usage || !strings.Contains(message, "did you mean dieoff_sal1l2_hgt?") {
			t.Errorf("%v: status %d: %s", of, status, message)
		}
	}
	if _, of := casesOf(t, url); strings.Join(of, " ") != strings.Join(names, " ") {
		t.Errorf("of the archive %v\nof the files %v", of, names)
	}
	rows := must(t, "ask", file+"#series_sal1l2_hgt", "--engine", url, "--stat", "ANOM_CORR")
	if !strings.Contains(rows, "fcst_valid_beg") || strings.Count(rows, "\n") != 1+2*4 {
		t.Error(rows)
	}
	day := filepath.Join(dir, "day.log")
	asked := "SELECT ld.total FROM stat_header h, line_data_sal1l2 ld WHERE BINARY h.model IN ('%s') AND BINARY h.fcst_lev IN ('P500') AND ld.stat_header_id = h.stat_header_id;\n"
	if err := os.WriteFile(day, []byte(strings.Repeat(fmt.Sprintf(asked, "GFS"), 3)+fmt.Sprintf(asked, "NAM")), 0o600); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "mix")
	must(t, "met", data, "--mix", day, "--engine", "pebble", "--reps", "1", "--out", out)
	if r, _, err := run.Read(out); err != nil || len(r.Cases) != 1 || r.Cases[0].Weight != 3 || !strings.Contains(strings.Join(r.Warnings, " "), "1 of 2 questions have no rows") {
		t.Errorf("%+v, %v", r, err)
	}
	if err := os.WriteFile(day, []byte(fmt.Sprintf(asked, "NAM")), 0o600); err != nil {
		t.Fatal(err)
	}
	if status, _, stderr := barograph(t, "met", data, "--mix", day, "--engine", "pebble", "--reps", "1", "--out", out+"2"); status != 4 || !strings.Contains(stderr, "none of 1 question has rows") {
		t.Errorf("status %d: %s", status, stderr)
	}
	if status, _, stderr := barograph(t, "met", data, "--case", "noaa", "--engine", "pebble", "--reps", "1", "--out", filepath.Join(dir, "noaa")); status != 4 || !strings.Contains(stderr, "none of 7 questions has rows") {
		t.Errorf("status %d: %s", status, stderr)
	}
}

// TestCasesOfUnevenTimes: an archive's cases use a flavour that can list times without a regular
// step.
func TestCasesOfUnevenTimes(t *testing.T) {
	dir := t.TempDir()
	var text strings.Builder
	for _, valid := range []string{"2019010100", "2019010106", "2019010300", "2019010512"} {
		fmt.Fprintf(&text, "V01 GFS 24 %s GFS G2/NHX SAL1L2 HGT P500 =   3600.   0.269635266E+02   0.268790391E+02   0.132613515E+05   0.132623015E+05   0.133132874E+05\n", valid)
	}
	data, url := filepath.Join(dir, "uneven.vsdb"), "sqlite:"+filepath.Join(dir, "archive.db")
	if err := os.WriteFile(data, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	must(t, "load", data, "--engine", url)
	file, of := casesOf(t, url)
	uneven := file + "#large_sal1l2"
	must(t, "ask", uneven, "--engine", url)
	if status, _, message := barograph(t, "ask", uneven, "--engine", url, "--flavour", "epoch-range"); status != 2 || !strings.Contains(message, "--flavour epoch-range cannot express large_sal1l2; use ") {
		t.Errorf("status %d: %s", status, message)
	}
	if _, names := casesOf(t, data); !slices.Equal(of, names) || !slices.Contains(of, "series_sal1l2_hgt") {
		t.Errorf("of the archive %v\nof the files %v", of, names)
	}
}

// TestCasesOfRealFiles: for all MET and VSDB files, each line type has cases, and no answer is
// empty.
func TestCasesOfRealFiles(t *testing.T) {
	for _, name := range []string{"stat/ensemble", "stat/point_stat_prob", "stat/misc", "stat/met_regression", "stat/met_v12_newcols", "stat/strangers", "vsdb/metdataio"} {
		data := sharedData(t, filepath.Join("met", name))
		file, names := casesOf(t, data)
		if cases := studied(t, data, "--case", file, "--flavour", "epoch-range"); len(cases) != len(names) || len(names) == 0 {
			t.Errorf("%s: %d of %d cases", name, len(cases), len(names))
		}
	}
}
