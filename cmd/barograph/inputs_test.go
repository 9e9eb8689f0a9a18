package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"barograph/fault"
)

const sal1l2 = "V01 GFS 24 2019010100 GFS G2/NHX SAL1L2 HGT P500 =   3600.   0.269635266E+02   0.268790391E+02   0.132613515E+05   0.132623015E+05   0.760521855E+04\n"

// put writes a file of the test.
func put(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// What a file lacks is said, with status 4, by load and by met.
func TestCutLines(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct{ name, text, keep, says string }{
		{"cut.vsdb", sal1l2 + strings.Replace(sal1l2, " 24 ", " 48 ", 1)[:len(sal1l2)-9], "keep", "cut.vsdb:2: perhaps cut"},
		{"few.vsdb", sal1l2[:strings.Index(sal1l2, "0.1326")] + "\n", "", "few.vsdb:1: the line is cut: it has 3 numbers of SAL1L2, VSDB writes 6 or 7"},
	} {
		path := put(t, dir, c.name, c.text)
		status, _, stderr := barograph(t, "load", path, "--to", "sqlite:"+filepath.Join(dir, c.name+".db"))
		if status != fault.Incomplete || !strings.Contains(stderr, c.says) {
			t.Errorf("load %s: status %d\n%s", c.name, status, stderr)
		}
		if c.keep != "" {
			must(t, "load", path, "--last-line", c.keep, "--to", "sqlite:"+filepath.Join(dir, c.name+".db"))
		}
	}
	if status, _, _ := barograph(t, "load", "x", "--last-line", "perhaps", "--to", "sqlite:x"); status != fault.Usage {
		t.Errorf("--last-line perhaps: status %d", status)
	}
}

// GSI's 15 known columns of MPR are kept, the other eight are said.
func TestLeftOutColumnsAreSaid(t *testing.T) {
	file := sharedData(t, "met/stat/strangers/gsi_mpr_extra_columns.stat")
	stdout := must(t, "load", file, "--to", "sqlite:"+filepath.Join(t.TempDir(), "a.db"))
	for _, want := range []string{"30 read = 30 stored", "of 30 lines of MPR: OBS_PRS OBS_ERR_IN OBS_ERR_ADJ OBS_ERR_FIN PREP_USE ANLY_USE SETUP_QC QC_WGHT"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in\n%s", want, stdout)
		}
	}
}
