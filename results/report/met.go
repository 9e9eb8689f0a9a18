package report

import (
	"cmp"
	_ "embed" // for recorded2020.csv
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/plot"
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

// openMet reads the verification plots and the plans of a run of met, and summarizes its samples.
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
	warning := r.Client.Warning(measure.BusyShare) // an embedded engine is expected to use the client's cores
	if warning != "" && slices.ContainsFunc(r.Archives, isServer) {
		out.Warnings = append(out.Warnings, warning)
	}
	repetitions := several(r.Reps, "repetition")
	if r.PlannedReps > 0 {
		repetitions = fmt.Sprintf("%d of %d planned repetitions", r.Reps, r.PlannedReps)
	}
	repetitions += fmt.Sprintf(" of each cell, after %s", several(r.Warmups, "warm-up"))
	if !r.Finished.IsZero() {
		repetitions += "; the run took " + elapsed(r.Finished.Sub(r.Started))
	}
	data := d.Source + ". " + several(d.Files, "file") + ", " + byteSize(float64(d.Bytes)) + ", " + several(d.Lines, "line") + "."
	out.Facts = append(dataFacts(r, data), Fact{"Repetitions", repetitions})
	types := table("line type", "records")
	for _, k := range slices.Sorted(maps.Keys(d.ByType)) {
		types.add("", text(k), countCell(d.ByType[k]))
	}
	out.About = append(out.About, Section{Title: "Records by line type", Folded: true, Table: types})
	return out
}

// report returns the report of a run of met.
func (f *folder) report(o Advising) (*Report, error) {
	r := f.head("Which engine, design and flavour serve this data best?")
	r.Data = map[string]any{"run": f.run, "summary": f.sum}
	if scope := f.scope(); scope != "" {
		r.Answers = append([]Words{{"scope", scope}}, r.Answers...)
	}
	r.Answers = append(r.Answers, verdict(f.sum.allCorrect(), f.proofInWords(&f.sum)))
	tables := Section{
		ID: "tables", Title: "The original's tables, from this run", Parts: append(f.original(&f.sum), recorded2020()),
		Words: explain("the original's tables"),
	}
	sections := []Section{f.proof(), f.times(), f.why(), tables, f.loads(), verification(f.curves), f.planSection(), f.method()}
	r.Sections = lists.Filter(sections, func(s Section) bool { return s.Title != "" })
	return r, r.advise(o)
}

// scope describes how many engines, configurations and cases were compared.
func (f *folder) scope() string {
	compared := lists.Filter(f.configurations, func(c Configuration) bool { return f.archive(c).Place != overheadPlace })
	if len(compared) == 0 {
		return ""
	}
	cases := several(len(f.cases), "case")
	if len(compared) < len(f.configurations) {
		cases += ", and the client overhead"
	}
	engines := lists.Set(compared, func(c Configuration) string { return c.Engine })
	return fmt.Sprintf("%s, %s and %s.", several(len(engines), "engine"), several(len(compared), "configuration"), cases)
}

//go:embed recorded2020.csv
var table2020 string // no value contains a comma

// recorded2020 returns the figures of the original experiment.
func recorded2020() Section {
	lines := strings.Split(strings.TrimSpace(table2020), "\n")
	t := table(strings.Split(lines[0], ",")...)
	for _, line := range lines[1:] {
		cells := texts(strings.Split(line, ",")...)
		for i, c := range cells {
			if cells[i] = when(c.Text != "", c, none); c.Text == wrong.String() {
				cells[i].Class = "bad"
			}
		}
		t.add("", cells...)
	}
	const title = "What was recorded in 2020, on other hardware"
	return Section{Title: title, Folded: true, Words: explain("recorded in 2020"), Table: t}
}

// proof returns the matrix of verdicts, which the page folds, and the cells without a correct result. Configurations
// with the same verdicts share a row of the matrix.
func (f *folder) proof() Section {
	t := &Table{Head: []Column{{Name: "configurations", Wrap: true}}}
	matrix := Section{Title: "Every result", Folded: true, Open: !f.sum.allCorrect(), Table: t}
	s := Section{ID: "proof", Title: "Proof", Words: say("%s %s", f.proofInWords(&f.sum), prose("proof"))}
	for _, c := range f.cases {
		t.Head = append(t.Head, Column{Name: c.Name, Unit: several(c.Rows, "row")})
	}
	for _, a := range f.run.Archives {
		if !a.Complete {
			s.Words = append(s.Words, Words{"alarm", "Incomplete: " + a.Engine + " · " + a.Design + ": " + a.Problem})
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

// loads shows the cost of loading and the sizes of the archives. For an archive that does not contain exactly the data
// it shows neither.
func (f *folder) loads() Section {
	t := table("engine", "design", "load (s)", "rate (records/s)", "text rate (MB/s)", "commits", "on disk (MB)",
		"per record (bytes)", "of the text (×)", "objects", "kind", "digest")
	t.Note = prose("load table")
	d := f.run.Data
	files := several(d.Files, "file") + " · " + byteSize(float64(d.Bytes)) + " of text"
	copies := float64(max(d.Copies, 1))
	loaded := copies - f.earlierCopies()
	if copies > 1 {
		files += " · " + count(d.Copies) + " copies of them in each archive"
	}
	picture := plot.Rows{
		Frame: plot.Frame{Width: pageWidth, Subtitle: several(d.Records, "record") + " · " + files}, SideBySide: true,
		Panels: []plot.Panel{
			{Title: "load rate", XLabel: "thousand records/s"},
			{Title: "size on disk", XLabel: "MB"},
			{Title: "size per record", XLabel: "bytes"},
		},
	}
	drawn := false
	for _, a := range f.run.Archives {
		archive, cost := Configuration{a.Engine, a.Design, ""}, costOf(a)
		copiesPerSecond, bytesOfCopy := loaded/cost.seconds, cost.disk*1e6/copies
		rate, perRecord := float64(d.Records)*copiesPerSecond, bytesOfCopy/float64(d.Records)
		load := []Cell{numeric(cost.seconds), numeric(rate), numeric(float64(d.Bytes) / 1e6 * copiesPerSecond)}
		load = append(load, when(cost.seconds > 0, countCell(a.Commits), none))
		size := []Cell{numeric(cost.disk), numeric(perRecord), numeric(bytesOfCopy / float64(d.Bytes)), countCell(a.Objects)}
		size = append(size, text(a.ObjectKind), Cell{Text: "complete", Class: "ok"})
		if !a.Complete {
			size = append(slices.Repeat([]Cell{dim(none)}, len(size)-1), bad("differs: incomplete"))
		}
		t.add(f.class(archive), slices.Concat(texts(a.Engine, a.Design), load, size)...)
		t.setAnchor(anchor("archive", CellKey{archive, ""}))
		if a.Place == overheadPlace {
			continue
		}
		for i, v := range []float64{rate / 1e3, cost.disk, perRecord} {
			note := "loaded before"
			switch {
			case !a.Complete:
				note = "incomplete"
			case i > 0:
				note = "not known"
			}
			drawn = drawn || !math.IsNaN(v)
			row := plot.Row{Label: archive.String(), Group: a.Engine, Value: plot.Value{V: v, Note: note}}
			picture.Panels[i].Rows = append(picture.Panels[i].Rows, row)
		}
	}
	s := Section{ID: "loads", Title: "Loads and sizes", Terminal: true, Table: t}
	if drawn {
		s.Pictures = []Drawing{picture}
	} else if len(t.Rows) == 0 {
		s.Words, s.Terminal = []Words{{"none", "Nothing was loaded."}}, false
	}
	return s
}

// earlierCopies returns how many of the copies in the archives the studies of smaller sizes loaded before this one.
func (f *folder) earlierCopies() (n float64) {
	for size := range run.SizeFolders(filepath.Join(f.dir, "..")) {
		if size < f.run.Data.Copies {
			n = max(n, float64(size))
		}
	}
	return n
}

// archiveCost is the load time of an archive in seconds and its size on disk in MB; NaN = not measured.
type archiveCost struct{ seconds, disk float64 }

// costOf returns the cost of an archive. An incomplete archive has none.
func costOf(a run.Archive) archiveCost {
	if !a.Complete {
		return archiveCost{math.NaN(), math.NaN()}
	}
	return archiveCost{cmp.Or(a.Load.Seconds(), math.NaN()), cmp.Or(float64(a.Bytes)/1e6, math.NaN())}
}

// method describes how the run measured, and how to repeat it.
func (f *folder) method() Section {
	s := Section{ID: "method", Title: "How it was measured", Facts: glossary()}
	s.Notes = []string{"Cold starts were not measured in this run."}
	if f.run.ColdMethod != "" {
		s.Notes = []string{"Cold starts here: " + f.run.ColdMethod + "."}
	}
	load := Section{Title: "The client's own load", Words: []Words{{"none", "Not recorded."}}}
	if c := f.run.Client; c.Wall > 0 {
		load.Words = say("For an embedded engine this includes the engine, which runs inside the client.")
		cores := fmt.Sprintf("%.0f %% of %s", 100*c.Share(), several(c.Cores, "core"))
		pauses := elapsed(c.GCPause) + " in pauses, the longest " + elapsed(c.GCPauseMax)
		load.Facts = []Fact{
			{"CPU", elapsed(c.User) + " user and " + elapsed(c.System) + " system in " + elapsed(c.Wall) + ": " + cores},
			{"Memory", "peak resident " + byteSize(float64(c.PeakRSS))},
			{"Garbage collector", several(c.GCs, "cycle") + ", " + pauses},
		}
	}
	repetition := Section{Title: "To repeat it", Text: commandLine(f.run.Args)}
	repetition.Notes = []string{fmt.Sprintf(prose("run folder"), f.run.Seed)}
	link := func(file string) Cell { return Cell{Text: file, Link: file} }
	repetition.Prose = [][]Cell{sentence("All repetitions: ", link("samples.csv"), ", ", link("samples.parquet"), ".")}
	s.Parts = []Section{load, repetition}
	return s
}

// glossaryKey matches the key of a term in prose.txt.
var glossaryKey = regexp.MustCompile(`(?m)^\[glossary: (.+)\]$`)

// glossary defines the terms of a report on a study of met.
func glossary() []Fact {
	var out []Fact
	for _, m := range glossaryKey.FindAllStringSubmatch(proseFile, -1) {
		out = append(out, Fact{m[1], prose("glossary: " + m[1])})
	}
	return out
}
