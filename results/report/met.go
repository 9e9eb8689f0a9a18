package report

import (
	"encoding/csv"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/run"
)

// folder is a run of the workload met.
type folder struct {
	*results
	dir    string
	curves []*run.VerificationPlot
	plans  []run.Plan
	sum    Summary
}

func openMet(dir string, r *run.Run, samples []run.Sample) (f *folder, err error) {
	f = &folder{dir: dir}
	if f.curves, err = run.ReadVerificationPlots(dir); err != nil {
		return nil, err
	}
	if f.plans, err = run.ReadPlans(dir); err != nil {
		return nil, err
	}
	f.results = collect(r, samples, f.plans)
	f.sum = f.summarise()
	return f, nil
}

// head returns a report with the question and the facts that a reader needs to judge the answer.
func (f *folder) head(question string) *Report {
	r, d := f.run, f.run.Data
	out := ofRun(f.dir, r, question)
	isServer := func(a run.Archive) bool { return a.Place == "server" }
	if slices.ContainsFunc(r.Archives, isServer) { // an embedded engine is expected to use the client's cores
		if w := r.Client.Warning(measure.BusyShare); w != "" {
			out.Warnings = append(out.Warnings, w)
		}
	}
	repetitions := several(r.Reps, "repetition")
	if r.PlannedReps > 0 {
		repetitions = fmt.Sprintf("%d of %d planned repetitions", r.Reps, r.PlannedReps)
	}
	repetitions += fmt.Sprintf(" of each cell, after %s", several(r.Warmups, "warm-up"))
	if !r.Finished.IsZero() {
		repetitions += "; the run took " + elapsed(r.Finished.Sub(r.Started))
	}
	data := fmt.Sprintf("%s. %s, %s, %s.",
		d.Source, several(d.Files, "file"), byteSize(float64(d.Bytes)), several(int(d.Lines), "line"))
	out.Facts = append(dataFacts(r, data), Fact{"Repetitions", repetitions})
	types := table("line type", "records")
	for _, k := range slices.Sorted(maps.Keys(d.ByType)) {
		types.add("", text(k), countCell(d.ByType[k]))
	}
	out.About = append(out.About, Section{Title: "Records by line type", Folded: true, Table: types})
	return out
}

func (f *folder) report(o Advising) (*Report, error) {
	r := f.head("Which engine, design and flavour serve this data best?")
	r.Data = map[string]any{"run": f.run, "summary": f.sum}
	if scope := f.scope(); scope != "" {
		r.Answers = append([]Words{{"scope", scope}}, r.Answers...)
	}
	r.Answers = append(r.Answers, verdict(f.sum.allCorrect(), f.proofInWords(&f.sum)))
	recorded, err := recorded()
	if err != nil {
		return nil, err
	}
	tables := Section{
		ID: "tables", Title: "The original's tables, from this run", Parts: append(f.original(&f.sum), recorded),
		Words: explain("the original's tables"),
	}
	sections := []Section{
		f.proof(), f.times(), f.why(), tables, f.loads(), verification(f.curves), f.planSection(), f.method(),
	}
	r.Sections = lists.Filter(sections, func(s Section) bool { return s.Title != "" })
	if err := r.advise(o); err != nil {
		return nil, err
	}
	r.complete = f.sum.allCorrect() && f.sum.Finished
	return r, nil
}

// scope describes how many engines, configurations and cases were compared.
func (f *folder) scope() string {
	engines, configurations, overhead := map[string]bool{}, 0, ""
	for _, c := range f.configurations {
		if f.archive(c).Place == overheadPlace {
			overhead = ", and the client overhead"
			continue
		}
		engines[c.Engine] = true
		configurations++
	}
	if configurations == 0 {
		return ""
	}
	return fmt.Sprintf("%s, %s and %s%s.", several(len(engines), "engine"),
		several(configurations, "configuration"), several(len(f.cases), "case"), overhead)
}

// recorded returns the figures of 2020.
func recorded() (Section, error) {
	s := Section{
		Title: "What was recorded in 2020, on other hardware", Folded: true, Words: explain("recorded in 2020"),
	}
	f, err := files.Open("recorded2020.csv")
	if err != nil {
		return s, err
	}
	defer f.Close() //nolint:errcheck // opened for reading only
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return s, err
	}
	s.Table = table(lines[0]...)
	for _, line := range lines[1:] {
		cells := texts(line...)
		for i, c := range cells {
			switch c.Text {
			case "":
				cells[i] = dim(none)
			case wrong.String():
				cells[i].Class = "bad"
			}
		}
		s.Table.add("", cells...)
	}
	return s, nil
}

// proof returns the matrix of verdicts, which the page folds, and the cells without a correct result. Configurations with
// the same verdicts share a row of the matrix.
func (f *folder) proof() Section {
	t := &Table{Head: []Column{{Name: "configurations", Wrap: true}}}
	matrix := Section{Title: "Every result", Folded: true, Open: !f.sum.allCorrect(), Table: t}
	s := Section{ID: "proof", Title: "Proof", Words: say("%s %s", f.proofInWords(&f.sum), prose("proof"))}
	for _, c := range f.cases {
		t.Head = append(t.Head, Column{Name: c.Name, Unit: several(c.Rows, "row")})
	}
	for _, a := range f.run.Archives {
		if !a.Complete {
			alarm := "Incomplete: " + a.Engine + " · " + a.Design + ": " + a.Problem
			s.Words = append(s.Words, Words{"alarm", alarm})
		}
	}
	rows := map[string]int{}
	for _, configuration := range f.configurations {
		name, class := configuration.String(), f.class(configuration)
		cells, key := texts(name), class
		for _, c := range f.cases {
			res := f.result(configuration, c.Name)
			k := res.cell()
			if n := len(s.Parts); res.state == wrong || res.state == failed {
				difference := Section{
					ID: fmt.Sprintf("diff-%d", n+1), Class: "diff", Title: strings.ToUpper(res.state.String()),
					Small: c.Name + ", " + name, Text: res.problem, Folded: true, Open: n < 5, Terminal: n < 5,
				}
				s.Parts, k.Link = append(s.Parts, difference), "#"+difference.ID
			}
			cells, key = append(cells, k), key+"|"+k.Text+k.Link
		}
		if i, same := rows[key]; same {
			t.Rows[i].Cells[0].Text += ", " + name
			continue
		}
		rows[key] = len(t.Rows)
		t.add(class, cells...)
	}
	s.Parts = append(s.Parts, filled(matrix)...)
	if len(t.Rows) == 0 {
		s.Words = []Words{{"none", "No query was run."}}
	}
	return s
}

// cell returns an element of the matrix: the state, and the number of returned rows.
func (r *result) cell() Cell {
	rows := ""
	if r.rows >= 0 {
		rows = count(r.rows)
	}
	switch r.state {
	case equal:
		return Cell{Text: "= " + rows, Class: "ok"}
	case wrong:
		return bad("wrong " + rows)
	case failed, incomplete:
		return bad(r.state.String())
	case untimed:
		return dim("not timed")
	}
	return dim(none)
}
