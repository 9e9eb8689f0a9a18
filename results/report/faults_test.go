package report

import (
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/results/run"
)

// killsFolder returns the folder of a run with one good and one bad kill of each kind.
func killsFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir() + "/r"
	folder, err := run.Create(dir, run.Run{
		ID: "r", Workload: "faults", Started: time.Unix(1_700_000_000, 0), Finished: time.Unix(1_700_000_100, 0),
		Data: run.Data{Source: "data", Files: 3}, Archives: []run.Archive{{
			Engine: "valkey", Design: "keyvalue", URL: "valkey://x", Place: "server", Complete: true,
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	bad := &answer.Diff{Problem: "rows are missing"}
	for i, k := range []struct {
		during string
		kill   run.Kill
		times  run.Measured
		err    error
	}{
		{
			run.DuringLoad,
			run.Kill{Nodes: 3, Node: 2, Acknowledged: 1000, Found: 1000, Complete: true},
			run.Measured{Total: 5 * time.Second, LongestGap: time.Second},
			nil,
		},
		{
			run.DuringLoad,
			run.Kill{Nodes: 3, Node: 1, Acknowledged: 1000, Found: 10, Errors: 2, Messages: map[string]int{"CLUSTERDOWN": 2}},
			run.Measured{Total: 8 * time.Second},
			&answer.Diff{Problem: "3 files <lost>"},
		},
		{run.DuringQuestions, run.Kill{Nodes: 3, Node: 3, Correct: 50, CorrectWhileDown: 20}, run.Measured{Recovered: 7 * time.Second}, nil},
		{run.DuringQuestions, run.Kill{Nodes: 3, Node: 3, Correct: 50, Wrong: 4}, run.Measured{}, bad},
	} {
		design := "keyvalue"
		if i == 3 { // its own design, because it removes all times of its cell
			design = "document"
		}
		s := run.Sample{Cell: run.NewCell("faults", "valkey", "design", design, "during", k.during), Rep: i, Kill: &k.kill}
		if err := folder.Add(s.Judge(&k.times, proof(t, 1), k.err)); err != nil {
			t.Fatal(err)
		}
	}
	if err := folder.Add(run.Sample{Cell: run.NewCell("faults", "valkey", "during", run.DuringLoad), Problem: "of a damaged folder", Verdict: run.Wrong}); err != nil {
		t.Fatal(err)
	}
	if err := folder.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestKilledNodes: page and terminal count lost records and wrong results. A kill with a problem leaves no times for its
// cell.
func TestKilledNodes(t *testing.T) {
	dir := killsFolder(t)
	page, lines := html(t, dir), terminal(t, dir)
	sentence := "In 4 node failures 990 of 2,000 acknowledged records were lost. Wrong results: 4. Node failures that lost or changed data: 2."
	for _, text := range []string{page, joinLines(lines)} {
		for _, want := range []string{sentence, "CLUSTERDOWN", "rows are missing", "7.00"} {
			if !strings.Contains(text, want) {
				t.Errorf("%q is missing in\n%.2000s", want, text)
			}
		}
	}
	if strings.Contains(page, "8.00") || strings.Contains(page, "5.00") || strings.Contains(page, "<lost>") ||
		strings.Contains(page, "repetitions of each cell") {
		t.Error("text of a cluster is not escaped, or facts of timed questions are shown")
	}
}

// TestCosts: the table lists servers with faults next to each other. It names a store that lost
// acknowledged writes next to its speed. If the store had promised to keep them, it has no times of
// the fault.
func TestCosts(t *testing.T) {
	faulty := func(engine string, promised bool, broken int) *point {
		x := newPoint(engine, "server", 4, 1, 100)
		x.Cell = run.MixCell(engine, "columns", "workloada", 4, 100, "", "nodes", 3, "acknowledged", "flushed", "fault", "kill:node2@4s")
		x.Fault = &run.Fault{
			Moments: []run.InjectedFault{{
				Command: "kill node2", At: 4 * time.Second,
			}}, Errors: map[string]int64{"connection lost": 7}, Lost: 7, Reconnects: 4,
			History: &run.HistoryCheck{
				Clients: 8, Operations: 2345, Unknown: 6,
				Promises: []run.PromiseResult{{
					Promise: "no acknowledged write lost", Promised: promised, Kept: broken == 0, Violations: broken,
					Example: "client 3 read k",
				}},
			},
		}
		x.FaultCost = &run.FaultCost{RateBefore: 100, TimeWithoutSuccess: 3200 * time.Millisecond, RecoveryTime: 4 * time.Second}
		if promised && broken > 0 {
			x.Problem = "a promise is broken"
		}
		return x
	}
	steady := newPoint("quiet", "server", 4, 1, 100)
	steady.History = &run.HistoryCheck{
		Clients: 8, Operations: 77,
		Promises: []run.PromiseResult{{Promise: "read your writes", When: run.BeforeFault, Promised: true, Kept: true}},
	}
	dir := pointsFolderOf(t, []run.Archive{{Engine: "lossy", Design: "columns", Acknowledged: "flushed", Complete: true}},
		faulty("good", true, 0), faulty("lossy", false, 9), faulty("faulty", true, 9), steady,
		newPoint("lossy", "server", 4, 1, 100))
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := r.Print(&b); err != nil {
		t.Fatal(err)
	}
	got := strings.Join(strings.Fields(b.String()), " ")
	for _, want := range []string{
		"kill:node2@4s costs: good, 3 nodes, flushed: 3.2 s without service, 7 operations lost · " +
			"lossy, 3 nodes, flushed: 3.2 s without service, 7 operations lost, (no acknowledged write lost: violated 9 times) · " +
			"faulty, 3 nodes, flushed: no figure",
		"7 connection lost 4 0 0 yes", "NOT: (no acknowledged write lost: violated 9 times)", "faulty 3 workloada kill:node2@4s flushed — — — 7",
		"lossy 4 flushed kill:node2@4s: (no acknowledged write lost: violated 9 times) 100", "2,345",
		"Did the store keep its guarantees?", "quiet 77 0 read your writes before the first fault yes kept",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, b.String())
		}
	}
	if _, err := r.Write(); err != nil {
		t.Error(err)
	}
}

// TestOneNodeFailure: the sentence is correct English for one node failure and one wrong result.
func TestOneNodeFailure(t *testing.T) {
	kills := []run.Sample{{Kill: &run.Kill{Acknowledged: 1000, Found: 999, Wrong: 1}, Problem: "a record is missing", Verdict: run.Wrong}}
	want := "In 1 node failure 1 of 1,000 acknowledged records were lost. Wrong results: 1. " +
		"Node failures that lost or changed data: 1."
	if got := killsInWords(kills); got != verdict(false, want) {
		t.Error(got)
	}
}

// TestUnknownEffectOfANodeFailure: if the archive cannot be read after a kill, nobody knows what was lost. Such a kill is
// not counted as one that lost data. Only kills without a problem are marked as correct.
func TestUnknownEffectOfANodeFailure(t *testing.T) {
	kills := []run.Sample{
		{Kill: &run.Kill{Acknowledged: 1000, Found: 1000}, Verdict: run.Equal},
		{Kill: &run.Kill{}, Problem: "the archive cannot be read after the kill: it is down", Verdict: run.Failed},
	}
	for n, want := range []Words{
		verdict(false, "In 0 node failures 0 of 0 acknowledged records were lost. Wrong results: 0."),
		verdict(true, "In 1 node failure 0 of 1,000 acknowledged records were lost. Wrong results: 0."),
		verdict(false, "In 2 node failures 0 of 1,000 acknowledged records were lost. Wrong results: 0. "+
			"Node failures whose effect on the data is not known: 1."),
	} {
		if got := killsInWords(kills[:n]); got != want {
			t.Errorf("%+v\nwant %+v", got, want)
		}
	}
}
