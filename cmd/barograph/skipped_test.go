package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/all"
	"github.com/barograph/barograph/engine/tables"
	"github.com/barograph/barograph/internal/fault"
)

// withoutLibraries returns the registry of a machine that lacks the library of one embedded engine.
// It contains the fast embedded engines only.
func withoutLibraries() (out engine.Registry) {
	for _, d := range all.Registry() {
		switch d.Scheme {
		case "clickhouse":
			d.Library = &engine.Library{Find: func() error { return errors.New("libchdb.so is not there") }}
			d.Open = func(context.Context, *url.URL, engine.Options) (*engine.Engine, error) {
				return nil, errors.New("opened without its library")
			}
		case "duckdb", "sqlite":
			continue
		}
		out = append(out, d)
	}
	return out
}

// barographWith runs a command line with these engines and returns its status and output.
func barographWith(t *testing.T, engines engine.Registry, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	status = execute(t.Context(), &env{args: args, stdin: strings.NewReader(""), stdout: &out, stderr: &errs, engines: engines})
	return status, out.String(), errs.String()
}

func TestSkippedEngines(t *testing.T) {
	data, out := dayOfData(t), filepath.Join(t.TempDir(), "run")
	const line = "clickhouse: skipped, its library is not installed; barograph lab install clickhouse\n"
	status, stdout, stderr := barographWith(t, withoutLibraries(), "met", data, "--case", "test_3", "--reps", "1", "--out", out)
	if status != 0 || strings.Count(stderr, line) != 1 || strings.Contains(stderr, "ERROR") {
		t.Errorf("status %d, want 0 and one line %q:\n%s", status, line, stderr)
	}
	page, err := os.ReadFile(filepath.Join(out, "report.html"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Not included", "clickhouse: its library is not installed (barograph lab install clickhouse)"} {
		if !bytes.Contains(page, []byte(want)) {
			t.Errorf("the report lacks %q; the terminal has:\n%s", want, stdout)
		}
	}
	status, _, stderr = barographWith(t, withoutLibraries(), "met", data, "--engine", "pebble", "--engine", "clickhouse", "--out", out+"2")
	if status != fault.Unreachable || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, "barograph lab install clickhouse") {
		t.Errorf("a named engine: status %d, want %d and one line before any file is read:\n%s", status, fault.Unreachable, stderr)
	}
}

// Without --engine, scan own uses the installed embedded engines, with files in the run folder.
func TestOwnSkipsWhatIsNotInstalled(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "run")
	put(t, dir, "t.csv", "a\n1\n2\n")
	query := put(t, t.TempDir(), "q.sql", "SELECT sum(a) AS s FROM t;")
	engines := slices.DeleteFunc(all.Registry(), func(d engine.Driver) bool { return d.Scheme == "clickhouse" })
	engines = append(engines, engine.Driver{
		Scheme: "absent", Offers: []any{tables.Offer{tables.OwnTables}}, Place: engine.Embedded,
		Library: &engine.Library{Find: func() error { return errors.New("not there") }},
	})
	args := []string{"scan", "own", "--tables", dir, "--queries", query, "--reps", "1", "--out", out}
	status, _, stderr := barographWith(t, engines, append(args, "--engine", "absent:x", "--engine", "sqlite:"+filepath.Join(dir, "s.db"))...)
	if status != fault.Unreachable || strings.Contains(stderr, "table t") {
		t.Errorf("a named engine that is not installed: status %d: %s", status, stderr)
	}
	status, stdout, stderr := barographWith(t, engines, args...)
	const line = "absent: skipped, its library is not installed; barograph lab install absent\n"
	if status != 0 || strings.Count(stderr, line) != 1 || !strings.Contains(stdout, "Not included: absent") {
		t.Errorf("status %d\n%s%s", status, stderr, stdout)
	}
	for _, scheme := range []string{"duckdb", "sqlite"} {
		if _, err := os.Stat(filepath.Join(out, "tables-"+scheme+".db.barograph-own")); err != nil {
			t.Error(err)
		}
	}
}

// With --json, an error is JSON as well: one line on stderr, as restic writes it.
func TestErrorsAsJSON(t *testing.T) {
	check := func(status, want int, text string) {
		t.Helper()
		var message struct {
			Type    string `json:"message_type"`
			Code    int    `json:"code"`
			Message string `json:"message"`
		}
		err := json.Unmarshal([]byte(text), &message)
		if err != nil || status != want || message.Code != status || message.Type != "exit_error" || message.Message == "" {
			t.Errorf("status %d, want %d; %v: %q", status, want, err, text)
		}
	}
	status, _, stderr := barograph(t, "met", "nope", "--json")
	check(status, fault.Failed, stderr)
	stopped, stop := context.WithCancel(t.Context())
	stop()
	var errs bytes.Buffer
	args := []string{"met", dayOfData(t), "--engine", "pebble", "--json", "--out", filepath.Join(t.TempDir(), "x")}
	status = execute(stopped, &env{args: args, stdout: io.Discard, stderr: &errs, engines: all.Registry()})
	check(status, fault.Interrupted, errs.String())
}

// A load that stores nothing creates no archive.
func TestLoadOfNothingLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	notes := put(t, dir, "run.json", "{}")
	for _, scheme := range []string{"duckdb", "sqlite", "pebble"} {
		path := filepath.Join(dir, scheme)
		if status, _, stderr := barograph(t, "load", notes, "--engine", scheme+":"+path); status != fault.Incomplete {
			t.Errorf("%s: status %d: %s", scheme, status, stderr)
		}
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s is left behind", path)
		}
	}
	url := "sqlite:" + filepath.Join(dir, "kept.db")
	must(t, "load", dayOfData(t), "--engine", url)
	barograph(t, "load", notes, "--engine", url)
	if out := must(t, "show", url); !strings.Contains(out, "SAL1L2") {
		t.Errorf("an archive that was there lost its records:\n%s", out)
	}
}

// A cause that many cells share is reported in one line. On a terminal no log line interrupts the
// progress bar.
func TestOneLineForEachCause(t *testing.T) {
	data, dir := dayOfData(t), t.TempDir()
	blocked := put(t, dir, "blocked", "not a folder")
	url := "pebble:" + filepath.Join(blocked, "db")
	args := []string{"met", data, "--engine", url, "--case", "test_3", "--case", "test_1", "--reps", "1", "--out"}
	status, _, stderr := barograph(t, append(args, filepath.Join(dir, "run"))...)
	if status == 0 || strings.Count(stderr, "level=ERROR") != 1 || !strings.Contains(stderr, "cells without a correct result") {
		t.Errorf("status %d; want one line for the cause:\n%s", status, stderr)
	}
	if status, drawn := onTerminal(t.Context(), t, append(args, filepath.Join(dir, "run2"))...); status == 0 || strings.Contains(drawn, "level=") {
		t.Errorf("status %d; want no log line on a terminal:\n%s", status, drawn)
	}
}
