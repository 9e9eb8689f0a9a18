package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestArguments: a call that would fuzz other targets than the user meant, or none, is an error before any work.
func TestArguments(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"90m -only SHEF", `unexpected argument "90m"; give the processor time as -cpu 90m`},
		{"-only VSBD", "-only VSBD matches no target; the targets are VSDB; MET (.stat); "},
		{"-only (", "error parsing regexp"},
	} {
		// An earlier version would begin to build the targets here.
		t.Setenv("PATH", "")
		if err := run(t.Context(), strings.Fields(c.args)); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.args, err, c.want)
		}
	}
	if err := run(t.Context(), []string{"-h"}); err != nil {
		t.Errorf("-h: %v", err)
	}
}

// TestNoRepository: the error outside a repository contains git's own message.
func TestNoRepository(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("GIT_CEILING_DIRECTORIES", filepath.Dir(dir))
	t.Setenv("LC_ALL", "C")
	t.Chdir(dir)
	if _, err := commit(t.Context()); err == nil || !strings.Contains(err.Error(), "not a git repository") {
		t.Error(err)
	}
}

// TestFailedTarget: a target whose program stops five times without a failing input ends the call. The table still has the
// work of all targets.
func TestFailedTarget(t *testing.T) {
	d := driver{cpu: time.Hour, work: t.TempDir(), keep: t.TempDir(), log: io.Discard}
	bad := &target{what: "bad", pkg: ".", name: "FuzzBad"}
	if err := os.WriteFile(d.program(bad), []byte("#!/bin/sh\necho 'fuzz: elapsed: 3s, execs: 7 (2/sec)'\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	var table bytes.Buffer
	if err := d.fuzzAndReport(t.Context(), &table, []*target{bad}, "c0ffee"); err == nil || bad.died != 5 {
		t.Errorf("%d times: %v", bad.died, err)
	}
	if !strings.Contains(table.String(), "| bad: `.` FuzzBad | c0ffee | 0 | 35 | 0 |") {
		t.Errorf("table: %s", &table)
	}
}

// TestTargetsExist: each target that the command names is a function of its package.
func TestTargetsExist(t *testing.T) {
	for _, target := range targets() {
		files, err := filepath.Glob(filepath.Join("../..", target.pkg, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, name := range files {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			found = found || strings.Contains(string(text), "func "+target.name+"(")
		}
		if !found {
			t.Errorf("%s: no function %s in %s", target.what, target.name, target.pkg)
		}
	}
}

// TestMoveFile: a file that cannot be written into the other folder stays. There, a link to /dev/full, which is always
// full, has its name.
func TestMoveFile(t *testing.T) {
	name, folder := filepath.Join(t.TempDir(), "input"), t.TempDir()
	moved := filepath.Join(folder, "input")
	if err := os.WriteFile(name, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/full", moved); err != nil {
		t.Fatal(err)
	}
	if err := moveFile(name, folder); err == nil {
		t.Error("a full disk is not reported")
	}
	if err := os.Remove(moved); err != nil {
		t.Fatal(err)
	}
	if err := moveFile(name, folder); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(moved); err != nil || string(text) != "text" {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := os.Stat(name); !os.IsNotExist(err) {
		t.Errorf("the old file: %v", err)
	}
}
