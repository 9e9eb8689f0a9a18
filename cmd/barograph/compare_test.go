package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/results/run"
)

// TestCompare compares a run with itself, and with one in which a cell takes twice as long.
func TestCompare(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a", "b"} {
		f, err := run.Create(filepath.Join(dir, name), run.Run{Workload: "met", Started: time.Unix(1_700_000_000, 0), Archives: []run.Archive{{Engine: "sqlite", Design: "wide", Complete: true}}})
		if err != nil {
			t.Fatal(err)
		}
		d := record.Digest{Hi: 1, Records: 1}
		p, _ := answer.CompareRecords(d, d)
		for rep := range 12 {
			took := time.Duration(100+rep) * time.Millisecond
			if name == "b" {
				took *= 2
			}
			if err := f.Add(run.Sample{Cell: run.MetCell("sqlite", "wide", "test_3", "sql"), Phase: run.Warm, Rep: rep}.Judge(&run.Measured{Total: took}, p, nil)); err != nil {
				t.Fatal(err)
			}
		}
		f.Run.Finished = f.Run.Started.Add(time.Hour)
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	a, b, page := filepath.Join(dir, "a"), filepath.Join(dir, "b"), filepath.Join(dir, "change.html")
	if out := must(t, "compare", a, a, "--fail-over", "0%"); !strings.Contains(out, "1 without a significant difference") {
		t.Errorf("a run against itself:\n%s", out)
	}
	status, out, stderr := barograph(t, "compare", a, b, "--fail-over", "10%", "--html", page)
	if status != 4 || !strings.Contains(out, "slower") || !strings.Contains(stderr, "worse by more than 10%") {
		t.Errorf("status %d\n%s%s", status, out, stderr)
	}
	if text, err := os.ReadFile(page); err != nil || !strings.Contains(string(text), "<svg") {
		t.Errorf("the page: %v", err)
	}
	if out := must(t, "compare", b, a, "--fail-over", "10%", "--json"); !strings.Contains(out, `"verdict": "faster"`) {
		t.Error(out)
	}
	lines := regexp.MustCompile(`(?m)^Benchmark\S+ 1 \d\S* ns/op$`).FindAllString(must(t, "compare", a, b, "--benchstat"), -1)
	if len(lines) != 24 {
		t.Errorf("--benchstat prints %q", lines)
	}
	for _, args := range [][]string{{a}, {a, b, "--fail-over", "10"}, {a, dir}} {
		if status, _, stderr := barograph(t, append([]string{"compare"}, args...)...); status == 0 {
			t.Errorf("compare %v: %s", args, stderr)
		}
	}
}

// TestCompareUnfinished: cells that one of the runs has not measured yet are neither absent nor
// new.
func TestCompareUnfinished(t *testing.T) {
	dir := t.TempDir()
	add := func(name string, cases ...string) *run.Folder {
		f, err := run.Create(filepath.Join(dir, name), run.Run{Workload: "met", Started: time.Now(), Archives: []run.Archive{{Engine: "sqlite", Design: "wide", Complete: true}}})
		if err != nil {
			t.Fatal(err)
		}
		d := record.Digest{Hi: 1, Records: 1}
		p, _ := answer.CompareRecords(d, d)
		for _, c := range cases {
			if err := f.Add(run.Sample{Cell: run.MetCell("sqlite", "wide", c, "sql"), Phase: run.Warm}.Judge(&run.Measured{Total: time.Second}, p, nil)); err != nil {
				t.Fatal(err)
			}
		}
		return f
	}
	done := add("done", "one", "two", "three")
	done.Run.Finished = time.Now()
	if err := done.Close(); err != nil {
		t.Fatal(err)
	}
	runs := add("runs", "one")
	defer runs.Close() // it is still running
	broken := add("broken", "two")
	if err := broken.Close(); err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, c := range []struct {
		args    []string
		message string
	}{
		{[]string{at("done"), at("runs")}, "NOT FINISHED: runs is still running. The comparison omits 2 cells"},
		{[]string{at("runs"), at("done")}, "NOT FINISHED: runs is still running. The comparison omits 2 cells"},
		{[]string{at("done"), at("broken")}, "NOT FINISHED: broken was interrupted. The comparison omits 2 cells"},
	} {
		status, out, stderr := barograph(t, append([]string{"compare"}, c.args...)...)
		if status != 4 || !strings.Contains(out, c.message) || strings.Contains(out, " absent") || strings.Contains(out, " new") || !strings.Contains(stderr, "2 cells are not compared") {
			t.Errorf("%q: status %d\n%s%s", c.args, status, out, stderr)
		}
	}
}
