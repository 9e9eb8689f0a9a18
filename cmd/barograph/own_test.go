package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/engine/all"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/results/run"
)

// TestScanOwn queries two engines, from the command line to the report.
func TestScanOwn(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	put := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(at(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(at("data"), 0o755); err != nil {
		t.Fatal(err)
	}
	put("data/t.csv", "a,b\n1,x\n2,y\n3,y\n")
	put("q.sql", "SELECT b, sum(a) AS s FROM t GROUP BY b ORDER BY s DESC, b LIMIT 5;\nSELECT count(*) FROM t;")
	args := []string{"scan", "own", "--tables", at("data"), "--queries", at("q.sql"), "--engine", "duckdb:" + at("d.db"), "--engine", "lite=sqlite:" + at("s.db"), "--reps", "2", "--streams", "2", "--duration", "50ms"}
	output := must(t, append(args, "--out", at("run"))...)
	for _, want := range []string{"duckdb and lite returned the same results as DuckDB on the files, for 2 questions", "engines agree", "questions an hour", "too few repetitions", "q-2", "t: 3 rows, 2 columns"} {
		if !strings.Contains(output, want) {
			t.Errorf("%q is not in\n%s", want, output)
		}
	}
	if _, err := os.Stat(at("run/report.html")); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"d.db", "s.db"} { // the tables are in FILE.barograph-own
		if _, err := os.Stat(at(name)); err == nil {
			t.Errorf("own left the empty file %s", name)
		}
	}
	must(t, "report", at("run"))
	status, output, stderr := barograph(t, append(args, "--time-limit", "1ns", "--out", at("short"))...)
	if want := "nothing was timed; to continue: the same command with --out " + at("short"); status != 0 || !strings.Contains(stderr, want) {
		t.Errorf("a run without time: status %d, %s%s", status, output, stderr)
	}
	put("q.sqlite.sql", "SELECT b, sum(a) + 1 AS s FROM t GROUP BY b ORDER BY s DESC, b LIMIT 5;")
	status, output, stderr = barograph(t, append(args, "--for", "60ms", "--queries", at("q.sqlite.sql"), "--out", at("wrong"))...)
	if r, err := run.ReadRun(at("wrong")); err != nil || r.Own.StreamDuration != 60*time.Millisecond || !strings.Contains(stderr, "--for is now --duration") {
		t.Errorf("the former name of --duration: %v, %s", err, stderr)
	}
	if status != fault.Differs || !strings.Contains(output, "The engines disagree on 1 result: lite q. ") || !strings.Contains(output, "q-2") {
		t.Errorf("status %d\n%s", status, output)
	}
	for _, c := range []struct {
		message string
		args    []string
	}{
		{"add another engine", []string{"--queries", at("q.sql"), "--engine", "duckdb"}},
		{"cannot be combined", []string{"--queries", at("q.sql"), "--set", "clicks", "--engine", "sqlite:x.db"}},
		{"did you mean clicks", []string{"--set", "cliks", "--engine", "sqlite:x.db"}},
		{"name no question", []string{"--engine", "sqlite:x.db"}},
		{"cannot store your own tables", []string{"--queries", at("q.sql"), "--engine", "pebble"}},
	} {
		status, _, stderr := barograph(t, append([]string{"scan", "own", "--tables", at("data")}, c.args...)...)
		if status != fault.Usage || !strings.Contains(stderr, c.message) {
			t.Errorf("%v: status %d, %s", c.args, status, stderr)
		}
	}
}

// TestOwnInterruptedLoad: after ^C during a load, before anything is timed, the run folder remains, and the same
// command keeps the tables that are loaded.
func TestOwnInterruptedLoad(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for name, text := range map[string]string{"data/t.csv": "a,b\n1,x\n2,y\n3,y\n", "q.sql": "SELECT count(*) AS n FROM t"} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(at(name)), 0o755), os.WriteFile(at(name), []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	args := []string{"scan", "own", "--tables", at("data"), "--queries", at("q.sql"), "--engine", "duckdb:" + at("d.db"), "--engine", "sqlite:" + at("s.db"), "--reps", "1", "--out", at("run")}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	stderr := &stopAt{text: "sqlite: loading t", times: 1, stop: stop}
	status := execute(ctx, &env{stdin: strings.NewReader(""), stdout: io.Discard, stderr: stderr, engines: all.Registry(), args: args})
	if status != fault.Interrupted || !strings.Contains(stderr.String(), "to resume: the same command with --out "+at("run")) {
		t.Errorf("status %d\n%s", status, stderr)
	}
	status, _, output := barograph(t, args...)
	if status != 0 || !strings.Contains(output, "duckdb: keeps t, 3 rows") || strings.Contains(output, "sqlite: keeps") {
		t.Errorf("status %d\n%s", status, output)
	}
}
