package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// TestDetectsAndSurvives plants every fault of a small module. Its test detects the faults that it
// can see, and the command fails for the others.
func TestDetectsAndSurvives(t *testing.T) {
	writeModule(t)
	var out bytes.Buffer
	err := try(t.Context(), 10, 1, "", false, &out) // only > → >= survives this test
	if err == nil || !strings.Contains(out.String(), "3 faults of seed 1: 2 detected, 1 not; 0 of the draw do not compile") {
		t.Errorf("%v\n%s", err, out.String())
	}
	if !strings.Contains(out.String(), "sum/sum.go\tPositive\tif v > 0 {\t> → >=\t\n") {
		t.Errorf("no line for survivors.txt: %s", out.String())
	}
}

// writeModule writes a small module into a temporary folder, which becomes the working directory.
func writeModule(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"go.mod":     "module example.org/small\n\ngo 1.26.0\n",
		"sum/sum.go": "package sum\n\nfunc Positive(all []int) (n int) {\n\tfor _, v := range all {\n\t\tif v > 0 {\n\t\t\tn += v\n\t\t}\n\t}\n\treturn n\n}\n",
		"sum/sum_test.go": "package sum\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestPositive(t *testing.T) {\n\tif Positive([]int{1, -2}) != 1 {\n\t\tt.Error()\n\t}\n" +
			// A server that a test starts as another user must be able to search the temporary folder.
			"\tif f, err := os.Stat(os.TempDir()); err != nil || f.Mode()&1 == 0 {\n\t\tt.Fatal(f.Mode(), err)\n\t}\n}\n",
		"sum/other.go":   "//go:build plan9 && !plan9\n\npackage sum\n\nvar Two = 2\n", // not built: no test can detect a fault here
		"river/river.go": "package river\n\nvar One = 1\n",                             // outside the core: the command plants no fault here
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestNoFaults: the error names a wrong -only, or the wrong folder.
func TestNoFaults(t *testing.T) {
	writeModule(t)
	for _, only := range []string{"sums/", "river/", "sum/other.go"} {
		if _, err := candidates(only); err == nil || !strings.Contains(err.Error(), strconv.Quote(only)) {
			t.Errorf("%s: %v", only, err)
		}
	}
	t.Chdir(t.TempDir())
	if _, err := candidates(""); err == nil || !strings.HasPrefix(err.Error(), "no file of the core is here") {
		t.Error(err)
	}
}

// TestFields: the fields of a line of survivors.txt have no tab and no line break, also if the statement that is left
// out has several lines.
func TestFields(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.go")
	text := "package a\n\nfunc f() {\n\tg(func() {\n\t\th(`a\tb`)\n\t})\n}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	all, err := mutants(file)
	if err != nil || len(all) != 2 {
		t.Fatalf("%+v, %v", all, err)
	}
	for i, want := range []mutant{
		{source: "g(func() {", change: "g(func() { … is left out"},
		{source: "h(`a b`)", change: "h(`a b`) is left out"},
	} {
		if m := all[i]; m.source != want.source || m.change != want.change {
			t.Errorf("%q, %q", m.source, m.change)
		}
	}
}

// TestSurvivorsExist: every examined survivor is a possible fault of the present source; otherwise the command would
// not recognize it.
func TestSurvivorsExist(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	for line := range strings.Lines(reasons) {
		f := strings.Split(line, "\t")
		if len(f) != 5 {
			t.Errorf("want five fields: %q", line)
			continue
		}
		all, err := mutants(f[0])
		if err != nil || !slices.ContainsFunc(all, func(m mutant) bool {
			return m.function == f[1] && m.source == f[2] && m.change == f[3]
		}) {
			t.Errorf("%s: function %s has no line %q with %q (%v): update survivors.txt", f[0], f[1], f[2], f[3], err)
		}
	}
}

// TestEndProcesses: a server that a killed test left does not survive.
func TestEndProcesses(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("NOT TESTED: processes are found on Linux only")
	}
	work := t.TempDir()
	server := exec.CommandContext(t.Context(), "sh", "-c", "sleep 60; :", work+"/node1")
	other := exec.CommandContext(t.Context(), "sleep", "60")
	if err := errors.Join(server.Start(), other.Start()); err != nil {
		t.Fatal(err)
	}
	endProcesses(work)
	if err := server.Wait(); err == nil {
		t.Error("the server ended by itself")
	}
	if err := other.Process.Signal(syscall.Signal(0)); err != nil {
		t.Errorf("another process: %v", err)
	}
	_ = other.Process.Kill()
	_ = other.Wait() // killed
}
