package report

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/barograph/barograph/results/run"
)

// openKills reports the outcomes of killed nodes.
func openKills(dir string, of *run.Run, kills []run.Sample) *Report {
	r := ofRun(dir, of, "What does a node failure cost?")
	r.Name, r.Data = "node failures · "+filepath.Base(dir), map[string]any{"kills": kills}
	r.Facts = dataFacts(of, fmt.Sprintf("%s. %s.", of.Data.Source, several(of.Data.Files, "file")))
	r.Answers = append(r.Answers, headline("%s", killsInWords(kills)))
	messages := table("engine", "during", "times", "message")
	for _, k := range kills {
		for _, m := range slices.Sorted(maps.Keys(k.Kill.Messages)) {
			messages.add("", text(k.Cell.Engine), text(k.Cell.Value("during")), countCell(k.Kill.Messages[m]), text(m))
		}
	}
	r.Sections = filled(
		Section{
			ID: "load", Title: "Node failure during a load", Terminal: true, Words: say("A client loads file after file; a new client resumes a load that fails. Acknowledged records must exist without being loaded again."),
			Table: killTable(kills, run.DuringLoad, []string{"acknowledged (records)", "found afterwards (records)", "complete"}, func(k *run.Kill) []Cell {
				return []Cell{countCell(k.Acknowledged), badIf(k.Found < k.Acknowledged, countCell(k.Found)), map[bool]Cell{true: {Text: "yes", Class: "ok"}, false: bad("no")}[k.Complete]}
			}),
		},
		Section{
			ID: "questions", Title: "Node failure during queries", Terminal: true, Words: say("A client runs the cases in turn and compares every result with the reference: a call returns the correct result or fails."),
			Table: killTable(kills, run.DuringQuestions, []string{"correct results", "of these, while the node was down", "wrong results"}, func(k *run.Kill) []Cell {
				return []Cell{countCell(k.Correct), countCell(k.CorrectWhileDown), badIf(k.Wrong > 0, countCell(k.Wrong))}
			}),
		},
		Section{ID: "errors", Title: "Error messages", Terminal: true, Table: messages})
	return r
}

func badIf(wrong bool, c Cell) Cell {
	if wrong {
		c.Class = "bad"
	}
	return c
}

func killsInWords(kills []run.Sample) string {
	var lost, acknowledged int64
	wrong, broken := 0, 0
	for _, s := range kills {
		k := s.Kill
		lost += k.Acknowledged - k.Found
		acknowledged += k.Acknowledged
		wrong += k.Wrong
		if s.Problem != "" {
			broken++
		}
	}
	s := fmt.Sprintf("%d nodes were killed: of %s acknowledged records %s were lost, and %s results were wrong.", len(kills), count(acknowledged), count(lost), count(wrong))
	if broken > 0 {
		s += fmt.Sprintf(" %d of the kills lost or changed data.", broken)
	}
	return s
}

// killTable is the table of one kind of kill, with the columns of that kind.
func killTable(kills []run.Sample, during string, own []string, cells func(k *run.Kill) []Cell) *Table {
	t := table(slices.Concat([]string{"engine", "design", "node killed"}, own, []string{"errors", "recovered (s)", "longest silence (s)", "node back (s)", "proof", "problem"})...)
	t.Note = "Seconds count from the kill. Recovered: the first success after the last error; – = no error. Silence: the longest time without a success. A kill that lost or changed data has no times. " +
		"Clients connect to node 1."
	for i := range kills {
		s, k, m := &kills[i], kills[i].Kill, cmp.Or(kills[i].Measured(), &run.Measured{})
		if s.Cell.Value("during") == during {
			t.add("", slices.Concat(texts(s.Cell.Engine, s.Cell.Value("design"), fmt.Sprintf("%d of %d", k.Node, k.Nodes)), cells(k),
				[]Cell{countCell(k.Errors), lapse(m.Recovered), lapse(m.LongestGap), lapse(m.Total), text(string(s.Proof)), bad(s.Problem)})...)
		}
	}
	return t
}

// lapse prints a time in seconds; – if it is zero.
func lapse(t time.Duration) Cell {
	return when(t > 0, value(t.Seconds(), fmt.Sprintf("%.2f", t.Seconds())), none)
}
