package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/barograph/barograph/internal/fault"
)

// TestReportSite: report --site writes one page over several runs, and does not change the folders of the runs.
func TestReportSite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "site")
	day, two := "../../results/advise/testdata/day", "../../results/advise/testdata/two"
	status, out, problem := barograph(t, "report", day, two, "--site", dir)
	if status != 0 || !strings.Contains(out, "2 run folders, ") || !strings.Contains(out, "site: "+filepath.Join(dir, "index.html")) {
		t.Errorf("status %d, prints %q, %s", status, out, problem)
	}
	if _, err := os.Stat(filepath.Join(dir, "index.html")); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(day, "report.html")); err == nil {
		t.Error("the folder of the run has a report")
	}
}

// TestShareAndCheck: a shared run passes the check, an edited one fails it with status 3, and quickstart has the flag.
func TestShareAndCheck(t *testing.T) {
	file, to := filepath.Join(t.TempDir(), "x.tar.gz"), t.TempDir()
	out := must(t, "report", "../../results/advise/testdata/day", "--share", file)
	if !strings.Contains(out, "shared: "+file) || !strings.Contains(out, "open a pull request") || !strings.Contains(out, "git clone ") {
		t.Errorf("prints %q", out)
	}
	if text, err := exec.CommandContext(t.Context(), "tar", "-xzf", file, "-C", to).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	runs, err := filepath.Glob(filepath.Join(to, "*-met"))
	if err != nil || len(runs) != 1 {
		t.Fatalf("%v, %v", runs, err)
	}
	if out := must(t, "report", "--check", runs[0], "../../results/advise/testdata/day"); !strings.Contains(out, "2 files compared with the digests in manifest.json") || !strings.Contains(out, "no manifest.json with digests") || strings.Count(out, "0 problems") != 2 {
		t.Errorf("prints %q", out)
	}
	name := filepath.Join(runs[0], "run.json")
	text, err := os.ReadFile(name)
	if err = errors.Join(err, os.WriteFile(name, bytes.Replace(text, []byte(`"seed": `), []byte(`"seed": 1`), 1), 0o600)); err != nil {
		t.Fatal(err)
	}
	status, out, problem := barograph(t, "report", "--check", runs[0])
	if status != 3 || !strings.Contains(out, "run.json differs from its digest") || !strings.Contains(problem, "1 problem") {
		t.Errorf("status %d, prints %q, %s", status, out, problem)
	}
	for _, args := range [][]string{{"report", "a", "b", "--share", file}, {"report", "a", "--share", file, "--site", to}, {"report", "a", "--check", "--svg", to}} {
		if status, _, _ := barograph(t, args...); status != 2 {
			t.Errorf("%v: status %d, want 2", args, status)
		}
	}
	if help := must(t, "quickstart", "--help"); !strings.Contains(help, "--share") {
		t.Error("quickstart has no --share")
	}
}

// TestShareRefusesOtherFormats: report --share writes no file whose name promises another format than .tar.gz.
func TestShareRefusesOtherFormats(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.zip")
	status, _, stderr := barograph(t, "report", "../../results/advise/testdata/day", "--share", file)
	if _, err := os.Stat(file); err == nil || status != fault.Usage || !strings.Contains(stderr, "name a file *.tar.gz or *.tgz") {
		t.Errorf("status %d, %s; file: %v", status, stderr, err)
	}
}

// TestAndShare: quickstart shares the folder of a run that finished, also if a result was wrong, and of no other.
func TestAndShare(t *testing.T) {
	for name, x := range map[string]struct {
		err    error
		exists bool
	}{"finished": {nil, true}, "wrong": {&fault.Status{Code: fault.Differs, Err: errors.New("wrong")}, true}, "failed": {errors.New("no disk"), false}} {
		dir := filepath.Join(t.TempDir(), "run")
		if err := os.CopyFS(dir, os.DirFS("../../results/advise/testdata/day")); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		err := (&env{stdout: &out}).shareAfter(true, dir, x.err)
		if _, stat := os.Stat(dir + ".tar.gz"); (stat == nil) != x.exists || !errors.Is(err, x.err) {
			t.Errorf("%s: %v, %v, prints %q", name, stat, err, out.String())
		}
	}
}
