package report

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/results/advise"
	"github.com/barograph/barograph/results/run"
)

// TestLinksToNodeFailures: the outage of a choice links to the page of the run that measured it, also if one of several
// folders has an absolute path and another one a relative path.
func TestLinksToNodeFailures(t *testing.T) {
	parent := t.TempDir()
	t.Chdir(parent)
	r, cells := makeRun()
	if err := os.Rename(writeRun(t, r, cells, reps), "study"); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]run.Cell{
		"first":  run.NewCell("faults", "duckdb", "design", "wide", "during", run.DuringLoad),
		"second": run.NewCell("faults", "duckdb", "design", "document", "during", run.DuringQuestions),
	} {
		f, err := run.Create(name, run.Run{ID: name, Workload: "faults"})
		if err != nil {
			t.Fatal(err)
		}
		kill := run.Sample{Cell: c, Kill: &run.Kill{}}.Judge(&run.Measured{LongestGap: time.Second}, proof(t, 1), nil)
		if err := f.Add(kill); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	report, err := OpenAdvising("study", Advising{With: []string{filepath.Join(parent, "first"), "second"}})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, s := range report.Sections {
		if s.ID != "advice" {
			continue
		}
		for _, row := range s.Table.Rows {
			for _, c := range row.Cells {
				if strings.Contains(c.Link, "../") {
					got[row.Cells[1].Text] = c.Link
				}
			}
		}
	}
	if len(got) != 2 || got["wide"] != "../first/report.html#load" || got["document"] != "../second/report.html#questions" {
		t.Errorf("%v", got)
	}
}

// TestCommandsNameTheEngine: the command that starts a server names its engine, not the name that the user gave the
// archive. The file of a URL does not name the engine.
func TestCommandsNameTheEngine(t *testing.T) {
	for url, want := range map[string]string{
		"postgres://127.0.0.1:5432": "barograph lab up postgres --nodes 3 ", "@labs/postgres/url": "barograph lab up pg3 --nodes 3 ",
	} {
		c := advise.Choice{Engine: "pg3", Archive: run.Archive{Engine: "pg3", URL: url, Server: &run.Server{Nodes: 3}}}
		a := adviser{Advice: &advise.Advice{Choices: []advise.Choice{c}}, study: &advise.Study{Sizes: []advise.Size{{Run: &run.Run{}}}}}
		if got := a.commands(); !strings.Contains(got, want) {
			t.Errorf("%s: %s", url, got)
		}
	}
}
