package report

import (
	"encoding/csv"
	"fmt"
	"maps"
	"slices"

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

// head is the top of the page: the question, and what a reader needs to judge the answer.
func (f *folder) head(question string) *Report {
	r, d := f.run, f.run.Data
	out := ofRun(f.dir, r, question)
	if slices.ContainsFunc(r.Archives, func(a run.Archive) bool { return a.Place == "server" }) { // an embedded engine is expected to use the client's cores
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
	data := fmt.Sprintf("%s. %s, %s, %s.", d.Source, several(d.Files, "file"), byteSize(float64(d.Bytes)), several(int(d.Lines), "line"))
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
	r.Answers = append(r.Answers, verdict(f.sum.right(), f.proofInWords(&f.sum)))
	recorded, err := recorded()
	if err != nil {
		return nil, err
	}
	tables := Section{
		ID: "tables", Title: "The original's tables, from this run", Parts: append(f.original(&f.sum), recorded),
		Words: say("NOAA's experiment of 2020 (CouchbasePerformanceTest) reported seven tables. Table 1 is in the section “Times”. The others follow, over all engines and designs of this run."),
	}
	r.Sections = append(r.Sections, f.proof(), f.times(), f.why(), tables, f.loads(), verification(f.curves), f.planSection(), f.method())
	r.Sections = slices.DeleteFunc(r.Sections, func(s Section) bool { return s.Title == "" })
	if err := r.advise(o); err != nil {
		return nil, err
	}
	r.complete = f.sum.right() && f.sum.Finished
	return r, nil
}

// scope describes how many engines, configurations and cases were compared.
func (f *folder) scope() string {
	engines, configurations, overhead := map[string]bool{}, 0, ""
	for _, w := range f.configurations {
		if f.archive(w).Place == overheadPlace {
			overhead = ", and the client overhead"
			continue
		}
		engines[w.Engine] = true
		configurations++
	}
	if configurations == 0 {
		return ""
	}
	return fmt.Sprintf("%s, %s and %s%s.", several(len(engines), "engine"), several(configurations, "configuration"), several(len(f.cases), "case"), overhead)
}

// recorded returns the figures of 2020.
func recorded() (Section, error) {
	s := Section{
		Title: "What was recorded in 2020, on other hardware", Folded: true,
		Words: say("Milliseconds that the experiment recorded on 25 August 2020: MariaDB 5.5.65 on 8 cores with 32 GB, Couchbase 6.6.0 on one node and on three, with thirteen years of data. One run of each, SQL timed by its client to 10 ms, Couchbase by its server. In tests 6 and 9 the Couchbase answers lacked two leads (27,636 rows instead of 28,718), so their times are omitted. These are not measurements of this run; do not compare them with its times."),
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

// proof is the matrix of verdicts, which is folded on the page, and the list of cells without a
// correct result. Configurations with the same verdicts share a row.
func (f *folder) proof() Section {
	matrix := Section{Title: "Every result", Folded: true, Open: !f.sum.right(), Table: &Table{Head: []Column{{Name: "configurations", Wrap: true}}}}
	t := matrix.Table
	s := Section{ID: "proof", Title: "Proof", Words: say("%s Barograph computes the reference from the input files, without a database, and compares every value and the order of the rows. In the table, “=” and a number of rows mean equal; “—” means that the engine cannot express the question in this flavour.", f.proofInWords(&f.sum))}
	for _, c := range f.cases {
		t.Head = append(t.Head, Column{Name: c.Name, Unit: several(c.Rows, "row")})
	}
	for _, a := range f.run.Archives {
		if !a.Complete {
			s.Words = append(s.Words, Words{"alarm", "Incomplete: " + a.Engine + " · " + a.Design + ": " + a.Problem})
		}
	}
	rows := map[string]int{}
	for _, w := range f.configurations {
		cells, key := texts(w.String()), f.class(w)
		for _, c := range f.cases {
			res := f.at(w, c.Name)
			k := res.cell()
			if n := len(s.Parts); res.state == wrong || res.state == failed {
				d := Section{ID: fmt.Sprintf("diff-%d", n+1), Class: "diff", Title: upper(res.state), Small: c.Name + ", " + w.String(), Text: res.problem, Folded: true, Open: n < 5, Terminal: n < 5}
				s.Parts, k.Link = append(s.Parts, d), "#"+d.ID
			}
			cells, key = append(cells, k), key+"|"+k.Text+k.Link
		}
		if i, same := rows[key]; same {
			t.Rows[i].Cells[0].Text += ", " + w.String()
			continue
		}
		rows[key] = len(t.Rows)
		t.add(f.class(w), cells...)
	}
	s.Parts = append(s.Parts, filled(matrix)...)
	if len(t.Rows) == 0 {
		s.Words = []Words{{"none", "No query was run."}}
	}
	return s
}

// cell is an element of the matrix: a state, and the number of rows returned.
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
