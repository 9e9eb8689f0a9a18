package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/barograph/barograph/internal/fault"
)

const sal1l2 = "V01 GFS 24 2019010100 GFS G2/NHX SAL1L2 HGT P500 =   3600.   0.269635266E+02   0.268790391E+02   0.132613515E+05   0.132623015E+05   0.760521855E+04\n"

// put writes a file into dir and returns its path.
func put(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// load reports a truncated line with its file, line number and reason, and exits with status 4.
func TestCutLines(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct{ name, text, keep, message string }{
		{"cut.vsdb", sal1l2 + strings.Replace(sal1l2, " 24 ", " 48 ", 1)[:len(sal1l2)-9], "keep", "cut.vsdb:2: perhaps truncated"},
		{"few.vsdb", sal1l2[:strings.Index(sal1l2, "0.1326")] + "\n", "", "few.vsdb:1: the line is truncated: it has 3 numbers of SAL1L2, VSDB writes 6 or 7"},
	} {
		path := put(t, dir, c.name, c.text)
		status, _, stderr := barograph(t, "load", path, "--engine", "sqlite:"+filepath.Join(dir, c.name+".db"))
		if status != fault.Incomplete || !strings.Contains(stderr, c.message) {
			t.Errorf("load %s: status %d\n%s", c.name, status, stderr)
		}
		if c.keep != "" {
			must(t, "load", path, "--last-line", c.keep, "--engine", "sqlite:"+filepath.Join(dir, c.name+".db"))
		}
	}
	if status, _, _ := barograph(t, "load", "x", "--last-line", "perhaps", "--engine", "sqlite:x"); status != fault.Usage {
		t.Errorf("--last-line perhaps: status %d", status)
	}
}

// The 15 known columns of GSI's MPR lines are stored; load names the other eight.
func TestLeftOutColumnsAreNamed(t *testing.T) {
	file := sharedData(t, "met/stat/strangers/gsi_mpr_extra_columns.stat")
	stdout := must(t, "load", file, "--engine", "sqlite:"+filepath.Join(t.TempDir(), "a.db"))
	for _, want := range []string{"30 read = 30 stored", "MPR: OBS_PRS OBS_ERR_IN OBS_ERR_ADJ OBS_ERR_FIN PREP_USE ANLY_USE SETUP_QC QC_WGHT: no design stores these columns (30 lines)"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in\n%s", want, stdout)
		}
	}
}

// load and met name each unreadable file, continue with the others and exit with status 4, also
// when they run again.
func TestBadInputs(t *testing.T) {
	dir, out := t.TempDir(), t.TempDir()
	put(t, dir, "good.vsdb", sal1l2)
	put(t, dir, "quarantined.vsdb", strings.Replace(sal1l2, " 24 ", " 48 ", 1)+strings.Replace(sal1l2, " 24 ", " 2x ", 1))
	put(t, dir, "empty.stat", "")
	put(t, dir, "plot.png", "")
	put(t, dir, "cut.vsdb.gz", "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03cut")
	put(t, dir, "gfs_\xff.vsdb", sal1l2)
	if err := errors.Join(syscall.Mkfifo(filepath.Join(dir, "pipe.vsdb"), 0o600), os.Symlink("gone", filepath.Join(dir, "link.stat")), os.Symlink(os.DevNull, filepath.Join(dir, "null.stat"))); err != nil {
		t.Fatal(err)
	}
	named := []string{"empty.stat is empty", "cut.vsdb.gz cannot be read to its end", `gfs_\xff.vsdb": the name is not UTF-8`, "pipe.vsdb is not a regular file but a pipe", "link.stat is a broken link", "null.stat is not a regular file but a device"}
	for i, want := range []string{"3 read = 2 stored + 0 duplicates + 0 conflicts + 1 quarantined", "1 of 2 lines of " + filepath.Join(dir, "quarantined.vsdb")} {
		status, stdout, stderr := barograph(t, "load", dir, "--engine", "sqlite:"+filepath.Join(out, "a.db"))
		if status != fault.Incomplete || !strings.Contains(stdout, want) || !strings.Contains(stdout, "6 failed") || !strings.Contains(stderr, "ignored 1 file in these folders because of their names (*.png), such as "+filepath.Join(dir, "plot.png")) || !strings.Contains(stderr, "1 line of these files was quarantined, 6 files could not be read") {
			t.Errorf("load %d: status %d\n%s%s", i+1, status, stdout, stderr)
		}
		for _, message := range named {
			if !strings.Contains(stdout, message) {
				t.Errorf("load %d: no %q in\n%s", i+1, message, stdout)
			}
		}
	}
	status, _, stderr := barograph(t, "met", dir, "--engine", "sqlite", "--design", "document", "--case", "test_3", "--reps", "2", "--out", filepath.Join(out, "run"))
	if status != fault.Incomplete || !strings.Contains(stderr, "1 line of these files was quarantined, 6 files could not be read") {
		t.Errorf("met: status %d\n%s", status, stderr)
	}
	for _, message := range named {
		if message = strings.TrimPrefix(message, `gfs_\xff.vsdb": `); strings.Count(stderr, message) != 1 {
			t.Errorf("met: no %q in\n%s", message, stderr)
		}
	}
}

// A load_spec loads only the files directly in its folder.
func TestLoadSpecWalksNoFolders(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "a.vsdb", sal1l2)
	if err := os.Mkdir(filepath.Join(dir, "below"), 0o700); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "below"), "b.vsdb", strings.Replace(sal1l2, " 24 ", " 48 ", 1))
	spec := put(t, dir, "load.xml", "<load_spec><folder_tmpl>"+dir+"</folder_tmpl></load_spec>")
	if stdout := must(t, "load", "--spec", spec, "--engine", "sqlite:"+filepath.Join(dir, "a.db")); !strings.Contains(stdout, "1 loaded") {
		t.Error(stdout)
	}
}
