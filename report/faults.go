package report

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"barograph/run"
)

// FaultsFolder reports whether dir holds what became of killed nodes.
func FaultsFolder(dir string) bool {
	r, err := run.ReadRun(dir)
	return err == nil && r.Workload == "faults"
}

// faultsPage is what the template shows.
type faultsPage struct {
	page

	Sentence         string
	Loads, Questions table
	Errors           table
}

// WriteFaults writes report.html of a folder of killed nodes and returns its path.
func WriteFaults(dir string) (string, error) {
	f, err := open(dir)
	if err != nil {
		return "", err
	}
	kills := f.kills
	p := &faultsPage{page: page{Title: "Barograph · killed nodes · " + filepath.Base(dir), Head: f.head()}}
	p.Head.Facts = slices.DeleteFunc(p.Head.Facts, func(x fact) bool { return x.Name == "Data" || x.Name == "Repetitions" }) // of timed questions
	p.Head.Facts = slices.Insert(p.Head.Facts, 0, fact{"Data", fmt.Sprintf("%s. %s.", f.run.Data.Source, several(f.run.Data.Files, "file"))})
	if err := p.assets(); err != nil {
		return "", err
	}
	p.Sentence, p.Loads, p.Questions, p.Errors = killsInWords(kills), killedLoads(kills), killedQuestions(kills), killErrors(kills)
	var b strings.Builder
	if err := render(&b, "faults.html", p); err != nil {
		return "", err
	}
	path := filepath.Join(dir, FileName)
	if err := os.WriteFile(path+".new", []byte(b.String()), 0o644); err != nil {
		return "", err
	}
	return path, os.Rename(path+".new", path)
}

// FaultsText prints the tables of killed nodes.
func FaultsText(w io.Writer, dir string) error {
	_, kills, err := run.Read(dir)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%s\n\n", killsInWords(kills))
	for _, t := range []table{killedLoads(kills), killedQuestions(kills), killErrors(kills)} {
		if len(t.Rows) == 0 {
			continue
		}
		if err := t.write(w); err != nil {
			return err
		}
		fmt.Fprintln(w)
	}
	return nil
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
	s := fmt.Sprintf("%d nodes were killed: of %s acknowledged records %s were lost, and %s answers were wrong.", len(kills), count(acknowledged), count(lost), count(wrong))
	if broken > 0 {
		s += fmt.Sprintf(" %d of the kills ended badly.", broken)
	}
	return s
}

// killed makes the rows of one kind of kill.
func killed(kills []run.Sample, during string, cells func(k *run.Kill) []cell) []row {
	var rows []row
	for i := range kills {
		s, k, m := &kills[i], kills[i].Kill, kills[i].Measured()
		if s.Cell.At("during") != during {
			continue
		}
		if m == nil {
			m = &run.Measured{}
		}
		r := row{Cells: []cell{text(s.Cell.Engine), text(s.Cell.At("design")), text(fmt.Sprintf("%d of %d", k.Node, k.Nodes))}}
		r.Cells = append(r.Cells, cells(k)...)
		r.Cells = append(r.Cells, value(float64(k.Errors), count(k.Errors)), lapse(m.Recovered), lapse(m.Silence), lapse(m.Total))
		problem := text(s.Problem)
		if s.Problem != "" {
			problem.Class = "bad"
		}
		rows = append(rows, row{Cells: append(r.Cells, text(string(s.Proof)), problem)})
	}
	return rows
}

func killedHead(own ...column) []column {
	head := append([]column{{Name: "engine", Text: true}, {Name: "design", Text: true}, {Name: "node killed", Text: true}}, own...)
	return append(head, column{Name: "errors"}, column{Name: "recovered", Unit: "s"}, column{Name: "longest silence", Unit: "s"},
		column{Name: "node back", Unit: "s"}, column{Name: "proof", Text: true}, column{Name: "what was wrong", Text: true, Wrap: true})
}

const killedNote = "Seconds count from the kill. Recovered: the first success after the last error, – = there was no error. Silence: the longest time without a success. What lost or changed anything has no times. " +
	"Node 1 is the one whose address clients were given."

func killedLoads(kills []run.Sample) table {
	return table{Title: "A node is killed during a load", Wide: true, Note: killedNote,
		Head: killedHead(column{Name: "acknowledged", Unit: "records"}, column{Name: "found after", Unit: "records"}, column{Name: "ends whole", Text: true}),
		Rows: killed(kills, run.DuringLoad, func(k *run.Kill) []cell {
			found, whole := value(float64(k.Found), count(k.Found)), cell{Text: "yes", Class: "ok"}
			if k.Found < k.Acknowledged {
				found.Class = "bad"
			}
			if !k.Whole {
				whole = cell{Text: "no", Class: "bad"}
			}
			return []cell{value(float64(k.Acknowledged), count(k.Acknowledged)), found, whole}
		})}
}

func killedQuestions(kills []run.Sample) table {
	return table{Title: "A node is killed during questions", Wide: true, Note: killedNote,
		Head: killedHead(column{Name: "right answers"}, column{Name: "of these, while it was down"}, column{Name: "wrong answers"}),
		Rows: killed(kills, run.DuringQuestions, func(k *run.Kill) []cell {
			wrong := value(float64(k.Wrong), count(k.Wrong))
			if k.Wrong > 0 {
				wrong.Class = "bad"
			}
			return []cell{value(float64(k.Right), count(k.Right)), value(float64(k.Amid), count(k.Amid)), wrong}
		})}
}

func killErrors(kills []run.Sample) table {
	t := table{Title: "What the errors said", Head: []column{{Name: "engine", Text: true}, {Name: "during", Text: true}, {Name: "times"}, {Name: "message", Text: true, Wrap: true}}}
	for i := range kills {
		s, k := &kills[i], kills[i].Kill
		for _, m := range slices.Sorted(maps.Keys(k.Messages)) {
			t.Rows = append(t.Rows, row{Cells: []cell{text(s.Cell.Engine), text(s.Cell.At("during")), value(float64(k.Messages[m]), count(k.Messages[m])), text(m)}})
		}
	}
	return t
}

// lapse is a time in seconds; – where nothing took any.
func lapse(t time.Duration) cell {
	if t == 0 {
		return dim(none)
	}
	return value(t.Seconds(), fmt.Sprintf("%.2f", t.Seconds()))
}
