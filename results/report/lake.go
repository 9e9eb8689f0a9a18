package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/plot"
	"github.com/barograph/barograph/results/run"
)

// lakeReport is a run over an object store, grouped by engine and layout.
type lakeReport struct {
	*run.Lake
	run            *run.Run
	configurations []*lakeConfiguration // by engine, then layout
	wrong          []lakeWrong
}

// lakeWrong is a question without a correct result, and the reason: the result is wrong or missing.
type lakeWrong struct {
	cell run.Cell
	why  string
}

// lakeConfiguration is an engine and a layout.
type lakeConfiguration struct {
	engine string
	layout *run.LakeLayout
	cases  map[string]*repeats // those that have times
}

// sumOfMedians adds the medians of a figure over all cases; ok is false if a case has no times.
func (l *lakeConfiguration) sumOfMedians(r *run.Run, of func(m *run.Measured) float64) (sum float64, ok bool) {
	for _, c := range r.Cases {
		t := l.cases[c.Name]
		if t == nil {
			return 0, false
		}
		sum += measure.Median(lists.Map(t.answers, of))
	}
	return sum, true
}

// seconds returns the sum of the median times of all cases.
func (l *lakeConfiguration) seconds(r *run.Run) (float64, bool) {
	return l.sumOfMedians(r, func(m *run.Measured) float64 { return m.Total.Seconds() })
}

// trafficOf returns the traffic of a result with the object store; zero if it was not counted.
func trafficOf(m *run.Measured) run.StoreTraffic { return *cmp.Or(m.StoreTraffic, &run.StoreTraffic{}) }

// openLake reports a run of the workload lake.
func openLake(dir string, r *run.Run, samples []run.Sample) *Report {
	out := ofRun(dir, r, "How should Parquet files on an object store be partitioned, and how large should they be?")
	out.Data = map[string]any{"run": r, "samples": samples}
	if r.Lake == nil {
		return out
	}
	l := gatherLake(r, samples)
	if len(l.wrong) > 0 {
		out.Answers = append(out.Answers, verdict(false, several(len(l.wrong), "answer")+
			" not correct and not timed; the section “What was not correct” has the reasons."))
	} else if len(samples) > 0 {
		out.Answers = append(out.Answers, verdict(true, l.allCorrect(len(samples))))
	}
	for _, e := range l.engines() {
		if words := l.advice(e); words != "" {
			out.Answers = append(out.Answers, headline("%s", words))
		}
	}
	times := several(r.Reps, "time")
	if r.Finished.IsZero() {
		times += " at most"
	}
	store := []Fact{{"Store", l.Store + "; " + l.limits()}, {"Records", count(r.Data.Records)}}
	out.Facts = slices.Concat(store, machineFacts(r.Machine), []Fact{{"Command", commandLine(r.Args)}})
	out.Sections = filled(
		Section{
			ID: "layouts", Title: "Time against file size and partitioning", Terminal: true, Pictures: l.pictures(),
			Table: l.table(), Words: say("The sum of the medians of all questions, each %s, in a new random order in each "+
				"round; %s. A proxy in front of the store counts the bytes that it sends.", times, r.ColdMethod),
		},
		Section{ID: "cases", Title: "Question by question", Table: l.byCase()},
		Section{ID: "wrong", Title: "What was not correct", Terminal: true, Table: l.wrongTable()})
	return out
}

// limits describes the limits of the object store.
func (l *lakeReport) limits() string {
	var limits []string
	if l.Rate > 0 {
		limits = append(limits, "at most "+number(l.Rate)+" MB/s for all clients together")
	}
	if l.Latency > 0 {
		limits = append(limits, "each response delayed by "+number(ms(l.Latency))+" ms")
	}
	return cmp.Or(strings.Join(limits, ", "), "no limit")
}

// allCorrect is the answer of a run without a wrong result. It counts all results or, in an interrupted run, the
// recorded ones.
func (l *lakeReport) allCorrect(answers int) string {
	which := fmt.Sprintf("Every answer of %s to %s is", list(l.engines()), several(len(l.run.Cases), "question"))
	planned := len(l.configurations) * len(l.run.Cases) * l.run.Reps
	if l.run.Finished.IsZero() && answers < planned {
		which = fmt.Sprintf("%d of %s are recorded, and each is", answers, several(planned, "timed answer"))
	}
	return which + " equal to the reference, which Barograph computed from the loaded files."
}

// gatherLake groups the samples by engine and layout, and collects the questions without a correct result.
func gatherLake(r *run.Run, samples []run.Sample) *lakeReport {
	l := &lakeReport{Lake: r.Lake, run: r}
	cells := repeated(samples, func(s *run.Sample) run.Cell { return s.Cell })
	for _, a := range r.Archives {
		for k := range r.Lake.Layouts {
			config := &lakeConfiguration{a.Engine, &r.Lake.Layouts[k], map[string]*repeats{}}
			l.configurations = append(l.configurations, config)
			for _, c := range r.Cases {
				if t := cells[run.LakeCell(a.Engine, config.layout, c.Name)]; t.isTimed() {
					config.cases[c.Name] = t
				}
			}
		}
	}
	for _, s := range samples {
		if s.Verdict != run.Equal {
			l.wrong = appendNew(l.wrong, lakeWrong{s.Cell, s.Problem})
		}
	}
	return l
}

// engines returns the engines in the order of the run.
func (l *lakeReport) engines() []string {
	return lists.Map(l.run.Archives, func(a run.Archive) string { return a.Engine })
}

// partitioning describes how the files of a layout are partitioned.
func partitioning(partition string) string {
	switch partition {
	case "none":
		return "not partitioned"
	case "day":
		return "by valid day"
	case "model", "variable":
		return "by " + partition
	}
	return partition
}

// rounds returns the sums of all questions' times, one for each repetition. It returns nil if a question has not been
// timed in every repetition.
func (l *lakeConfiguration) rounds(r *run.Run) []float64 {
	sums := make([]float64, r.Reps)
	for _, c := range r.Cases {
		t := l.cases[c.Name]
		if t == nil || len(t.seconds) != r.Reps {
			return nil
		}
		for i, s := range t.seconds {
			sums[i] += s
		}
	}
	return sums
}

// advice names the layouts with the smallest and the largest sum, and counts those that cannot be distinguished from
// the smallest.
func (l *lakeReport) advice(engine string) string {
	var layouts []*run.LakeLayout
	var sums [][]float64
	best, worst := 0, 0
	for _, c := range l.configurations {
		rounds := c.rounds(l.run)
		if c.engine != engine || rounds == nil {
			continue
		}
		layouts, sums = append(layouts, c.layout), append(sums, rounds)
		if last := len(sums) - 1; measure.Median(rounds) < measure.Median(sums[best]) {
			best = last
		} else if measure.Median(rounds) > measure.Median(sums[worst]) {
			worst = last
		}
	}
	if len(layouts) < 2 {
		return ""
	}
	similar, tooFewReps := 0, false
	comparisons := measure.CompareWithBase(sums, best, l.run.Seed)
	for i := range comparisons {
		if c := &comparisons[i]; i != best {
			tooFewReps = tooFewReps || !c.CanDiffer() // the same for all: each has the same number of repetitions
			if !c.Significant() {
				similar++
			}
		}
	}
	describe := func(layout *run.LakeLayout) string {
		label := partitioning(layout.Partition)
		if layout.Partition != "none" {
			label = "partitioned " + label
		}
		return fmt.Sprintf("%s and of %s MB", label, number(layout.FileMB))
	}
	words := fmt.Sprintf("%s answers all questions fastest with files %s", engine, describe(layouts[best]))
	switch x := comparisons[worst]; {
	case tooFewReps:
		return words + ", by the medians; the repetitions are too few to distinguish this from chance."
	case worst != best:
		words += fmt.Sprintf("; slowest, %s times (%s) as long, with files %s",
			number(x.Ratio), strings.Replace(interval(x.Lo, x.Hi), none, "no interval", 1), describe(layouts[worst]))
	}
	if similar > 0 {
		words += fmt.Sprintf(". Of %d configurations %d cannot be distinguished from the fastest", len(layouts), similar)
	}
	return words + "."
}

// pictures draws one picture for each engine, with a curve for each partitioning.
func (l *lakeReport) pictures() (out []Drawing) {
	for _, e := range l.engines() {
		p := plot.Lines{Frame: plot.Frame{
			Title:  e + ": time of all questions against the size of files",
			XLabel: "target file size (MB)", YLabel: "sum of medians (s)",
			Caption: fmt.Sprintf("%s records on an object store (%s). Both axes are logarithmic.",
				count(l.run.Data.Records), l.limits()),
		}, Coordinate: plot.Sizes}
		for _, c := range l.configurations {
			if s, ok := c.seconds(l.run); ok && c.engine == e {
				curve := p.CurveNamed(partitioning(c.layout.Partition), "")
				curve.Add(c.layout.FileMB, plot.Value{V: s, Lo: s, Hi: s})
			}
		}
		out = append(out, pictured(p)...)
	}
	return out
}

// table has a row for each layout and engine.
func (l *lakeReport) table() *Table {
	t := table("engine", "partitioning", "target MB each", "files", "size of all", "all questions (s)", "requests", "MB sent")
	for _, c := range l.configurations {
		row := append(c.names(), countCell(c.layout.Files), size(c.layout.Bytes, ""))
		s, ok := c.seconds(l.run)
		if !ok {
			t.add("", append(row, bad(none), text(none), text(none))...)
			continue
		}
		requests, _ := c.sumOfMedians(l.run, func(m *run.Measured) float64 { return float64(trafficOf(m).Requests) })
		sent, _ := c.sumOfMedians(l.run, func(m *run.Measured) float64 { return float64(trafficOf(m).Sent) })
		t.add("", append(row, numeric(s), countCell(int64(requests)), numeric(sent/1e6))...)
	}
	return t
}

// names returns the engine, the partitioning and the target file size in MB.
func (l *lakeConfiguration) names() []Cell {
	return []Cell{text(l.engine), text(partitioning(l.layout.Partition)), numeric(l.layout.FileMB)}
}

// byCase lists the medians of each question.
func (l *lakeReport) byCase() *Table {
	questions := lists.Map(l.run.Cases, func(c run.Case) string { return c.Name + " (ms)" })
	t := table(append([]string{"engine", "partitioning", "MB each"}, questions...)...)
	for _, c := range l.configurations {
		row := c.names()
		for _, question := range l.run.Cases {
			if x := c.cases[question.Name]; x != nil {
				row = append(row, numeric(measure.Median(x.seconds)*1e3))
			} else {
				row = append(row, bad(none))
			}
		}
		t.add("", row...)
	}
	return t
}

// wrongTable lists the questions without a correct result; nil if there are none.
func (l *lakeReport) wrongTable() *Table {
	if len(l.wrong) == 0 {
		return nil
	}
	t := table("engine", "question", "partitioning", "MB each", "why")
	for _, w := range l.wrong {
		files := partitioning(w.cell.Value("partition"))
		t.add("", append(texts(w.cell.Engine, w.cell.Value("case"), files, w.cell.Value("mb")), bad(w.why))...)
	}
	return t
}
