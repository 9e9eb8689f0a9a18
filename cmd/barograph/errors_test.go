package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestErrors provokes errors as a new user does, and compares Barograph's output with
// testdata/errors.txt, which an editor has reviewed. Every error has one line that names the
// remedy, no chain of Go errors, and no repeated text.
func TestErrors(t *testing.T) {
	golden, err := filepath.Abs(filepath.Join("testdata", "errors.txt"))
	if err != nil {
		t.Fatal(err)
	}
	commands, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("BAROGRAPH_LAB", t.TempDir())
	t.Chdir(t.TempDir())
	const line = "V01 GFS 24 2019010100 GFS G2/NHX SAL1L2 HGT P500 =   3600.   0.269635266E+02   0.268790391E+02   0.132613515E+05   0.132623015E+05   0.133132874E+05\n"
	for name, text := range map[string]string{
		"good.vsdb": line, "cut.vsdb": line + line[:90], "bad.vsdb": strings.Replace(line, " 24 ", " 2x ", 1), "empty.vsdb": "", "notes.txt": "hello\n",
		"conflict.vsdb": strings.Replace(line, "0.2696", "0.2697", 1), "q.yaml": "name: x\nline_type: SAL1L3\n", "broken.yaml": "name: [x\n", "plot.xml": "<plot_spec><plot>",
		"river.shef": ".A LKCL1 20261120 Z DH12/HG 3.5x\n", "q.sql": "DELETE FROM t;\n", "damaged.db": "SQLite format 3\x00" + strings.Repeat("x", 2000), "workload": "recordcount=ten\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll("folder", 0o700); err != nil {
		t.Fatal(err)
	}
	must(t, "load", "good.vsdb", "--engine", "sqlite:a.db", "--design", "document")
	must(t, "load", "good.vsdb", "--engine", "sqlite:two.db", "--design", "document")
	must(t, "load", "good.vsdb", "--engine", "sqlite:two.db", "--design", "normalized")
	must(t, "load", "good.vsdb", "--engine", "sqlite:archive.db", "--design", "document")
	if err := os.WriteFile("archive.db.loading", []byte(`{"pid":7,"host":"node2","since":"2026-11-20T00:00:00Z","doing":"barograph load x"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	port, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer port.Close()
	closed, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone := closed.Addr().String()
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	changing := strings.NewReplacer(port.Addr().String(), "127.0.0.1:PORT", gone, "127.0.0.1:GONE")
	var out strings.Builder
	chain := regexp.MustCompile(`\b(open|stat|read|lstat|mkdir|dial tcp|listen tcp) \S+: |: [^ ]+: [^ ]+: `)
	took := regexp.MustCompile(`(?m)^.* +\d+\.\d\d s  .*\n|^.*\b\d+\.\d ms\b.*\n`)
	for command := range strings.Lines(string(commands)) {
		command, is := strings.CutPrefix(strings.TrimSpace(command), "$ ")
		if !is {
			continue
		}
		status, _, stderr := barograph(t, strings.Fields(strings.NewReplacer("127.0.0.1:PORT", port.Addr().String(), "127.0.0.1:GONE", gone).Replace(command))...)
		stderr = took.ReplaceAllString(strings.TrimSpace(changing.Replace(stderr)), "")
		lines := strings.Split(stderr, "\n")
		last := lines[len(lines)-1]
		if text, is := strings.CutPrefix(last, "barograph: "); status == 0 || !is || chain.MatchString(text) {
			t.Errorf("%s: status %d: %q", command, status, last)
		}
		if n := len(lines); n > 2 {
			t.Errorf("%s: the error has %d lines", command, n)
		}
		fmt.Fprintf(&out, "$ %s\n%s\n[%d]\n\n", command, stderr, status)
	}
	if *update {
		if err := os.WriteFile(golden, []byte(out.String()), 0o644); err != nil { //nolint:gosec // it is part of the sources
			t.Fatal(err)
		}
	} else if out.String() != string(commands) {
		t.Errorf("errors differ from testdata/errors.txt; run with -update and read them:\n%s", out.String())
	}
}
