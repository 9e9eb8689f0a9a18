package report

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/barograph/barograph/results/advise"
	"github.com/barograph/barograph/results/run"
)

// openKills reports a run of the workload faults: the outcomes of killed nodes.
func openKills(dir string, of *run.Run, kills []run.Sample) *Report {
	kills = slices.DeleteFunc(slices.Clone(kills), func(s run.Sample) bool { return s.Kill == nil }) // of a damaged folder
	r := ofRun(dir, of, "What does a node failure cost?")
	r.Name, r.Data = "node failures · "+filepath.Base(dir), map[string]any{"kills": kills}
	r.Facts = dataFacts(of, fmt.Sprintf("%s. %s.", of.Data.Source, several(of.Data.Files, "file")))
	r.Answers = append(r.Answers, killsInWords(kills))
	messages := table("engine", "during", "times", "message")
	for _, k := range kills {
		for _, m := range slices.Sorted(maps.Keys(k.Kill.Messages)) {
			messages.add("", text(k.Cell.Engine), text(k.Cell.Value("during")), countCell(k.Kill.Messages[m]), text(m))
		}
	}
	loadColumns := []string{"acknowledged (records)", "found afterwards (records)", "complete"}
	loadCells := func(k *run.Kill) []Cell {
		complete := Cell{Text: "yes", Class: "ok"}
		if !k.Complete {
			complete = bad("no")
		}
		return []Cell{countCell(k.Acknowledged), badIf(k.Found < k.Acknowledged, countCell(k.Found)), complete}
	}
	queryColumns := []string{"correct results", "of these, while the node was down", "wrong results"}
	queryCells := func(k *run.Kill) []Cell {
		return []Cell{countCell(k.Correct), countCell(k.CorrectWhileDown), badIf(k.Wrong > 0, countCell(k.Wrong))}
	}
	r.Sections = filled(
		Section{
			ID: "load", Title: "Node failure during a load", Terminal: true, Words: explain("node failures during loads"),
			Table: killTable(kills, run.DuringLoad, loadColumns, loadCells),
		},
		Section{
			ID: "questions", Title: "Node failure during queries", Terminal: true, Words: explain("node failures during queries"),
			Table: killTable(kills, run.DuringQuestions, queryColumns, queryCells),
		},
		Section{ID: "errors", Title: "Error messages", Terminal: true, Table: messages})
	return r
}

// nodeFailure returns the link to the first node failure of a choice that has one; "" if its page has no relative path.
func (a *adviser) nodeFailure(c *advise.Choice) string {
	isOfChoice := func(s run.Sample) bool { return s.Cell.Engine == c.Engine && s.Cell.Value("design") == c.Design }
	i := slices.IndexFunc(a.study.NodeFailures, isOfChoice)
	from, err := filepath.Abs(a.dir)
	to, err2 := filepath.Abs(filepath.Join(a.study.FaultFolders[i], FileName))
	path, err3 := filepath.Rel(from, to)
	if errors.Join(err, err2, err3) != nil {
		return ""
	}
	return filepath.ToSlash(path) + "#" + a.study.NodeFailures[i].Cell.Value("during")
}

// badIf marks a cell if its value is wrong.
func badIf(wrong bool, c Cell) Cell {
	if wrong {
		c.Class = "bad"
	}
	return c
}

// killsInWords is the answer whether data survived the node failures. It counts these, the lost records and the wrong
// results.
func killsInWords(kills []run.Sample) Words {
	var lost, acknowledged int64
	wrong, failures := 0, map[run.Verdict]int{}
	for _, s := range kills {
		k := s.Kill
		lost += k.Acknowledged - k.Found
		acknowledged += k.Acknowledged
		wrong += k.Wrong
		failures[s.Verdict]++
	}
	s := fmt.Sprintf("In %s %s of %s acknowledged records were lost. Wrong results: %s.",
		several(len(kills), "node failure"), count(lost), count(acknowledged), count(wrong))
	if n := failures[run.Wrong]; n > 0 {
		s += fmt.Sprintf(" Node failures that lost or changed data: %d.", n)
	}
	if n := failures[run.Failed]; n > 0 {
		s += fmt.Sprintf(" Node failures whose effect on the data is not known: %d.", n)
	}
	return verdict(len(kills) > 0 && failures[run.Equal] == len(kills), s)
}

// killTable lists the kills during loads or during queries. columns and cells are those of that kind.
func killTable(kills []run.Sample, during string, columns []string, cells func(k *run.Kill) []Cell) *Table {
	times := []string{"errors", "recovered (s)", "longest silence (s)", "node back (s)", "proof", "problem"}
	t := table(slices.Concat([]string{"engine", "design", "node killed"}, columns, times)...)
	t.Note = prose("node failure table")
	for i := range kills {
		s, k, m := &kills[i], kills[i].Kill, cmp.Or(kills[i].Measured(), &run.Measured{})
		if s.Cell.Value("during") == during {
			node := texts(s.Cell.Engine, s.Cell.Value("design"), fmt.Sprintf("%d of %d", k.Node, k.Nodes))
			t.add("", slices.Concat(node, cells(k), []Cell{
				countCell(k.Errors), secondsCell(m.Recovered), secondsCell(m.LongestGap), secondsCell(m.Total),
				text(string(s.Proof)), bad(s.Problem),
			})...)
		}
	}
	return t
}

// secondsCell prints a time in seconds; a dash if it is zero.
func secondsCell(t time.Duration) Cell {
	return when(t > 0, value(t.Seconds(), fmt.Sprintf("%.2f", t.Seconds())), none)
}
