package report

import (
	"cmp"
	"fmt"

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

// lakeWrong is a question with a wrong result, and the reason.
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

// sumOfMedians adds the medians of a figure over all cases; ok = all of them have times.
func (w *lakeConfiguration) sumOfMedians(r *run.Run, of func(m *run.Measured) float64) (sum float64, ok bool) {
	for _, c := range r.Cases {
		t := w.cases[c.Name]
		if t == nil {
			return 0, false
		}
		sum += measure.Median(lists.Map(t.answers, of))
	}
	return sum, true
}

func (w *lakeConfiguration) seconds(r *run.Run) (float64, bool) {
	return w.sumOfMedians(r, func(m *run.Measured) float64 { return m.Total.Seconds() })
}

func stored(m *run.Measured) run.StoreTraffic { return *cmp.Or(m.StoreTraffic, &run.StoreTraffic{}) }

// openLake reports a run of the workload lake.
func openLake(dir string, r *run.Run, samples []run.Sample) *Report {
	out := ofRun(dir, r, "How should Parquet files on an object store be partitioned, and how large should they be?")
	out.Data = map[string]any{"run": r, "samples": samples}
	if r.Lake == nil {
		return out
	}
	l := gatherLake(r, samples)
	if len(l.wrong) > 0 {
		out.Answers = append(out.Answers, verdict(false, fmt.Sprintf("%s not correct and not timed; the section “What was not correct” has the reasons.", several(len(l.wrong), "answer"))))
	} else if len(samples) > 0 {
		out.Answers = append(out.Answers, verdict(true, l.right(len(samples))))
	}
	for _, e := range l.engines() {
		if words := l.advice(e); words != "" {
			out.Answers = append(out.Answers, headline("%s", words))
		}
	}
	gate, times := "no limit", several(r.Reps, "time")
	if r.Finished.IsZero() {
		times += " at most"
	}
	if l.Rate > 0 || l.Latency > 0 {
		gate = fmt.Sprintf("at most %s MB/s for all clients together, each response delayed by %s ms", number(l.Rate), number(ms(l.Latency)))
	}
	out.Facts = append(append([]Fact{{"Store", l.Store + "; " + gate}, {"Records", count(r.Data.Records)}}, machineFacts(r.Machine)...), Fact{"Command", commandLine(r.Args)})
	out.Sections = filled(
		Section{ID: "layouts", Title: "Time against file size and partitioning", Terminal: true, Pictures: l.pictures(), Table: l.table(), Words: say(
			"The sum of the medians of all questions, each %s, in a new random order in each round; %s. A proxy in front of the store counts the bytes that it sends.", times, r.ColdMethod)},
		Section{ID: "cases", Title: "Question by question", Table: l.byCase()},
		Section{ID: "wrong", Title: "What was not correct", Terminal: true, Table: l.whatWasWrong()})
	return out
}

// right is the sentence of a run without a wrong result. It counts all results or, in an
// interrupted run, the recorded ones.
func (l *lakeReport) right(answers int) string {
	which := fmt.Sprintf("Every answer of %s to %s is", list(l.engines()), several(len(l.run.Cases), "question"))
	if planned := len(l.configurations) * len(l.run.Cases) * l.run.Reps; l.run.Finished.IsZero() && answers < planned {
		which = fmt.Sprintf("%d of %s are recorded, and each is", answers, several(planned, "timed answer"))
	}
	return which + " equal to the reference, which Barograph computed from the loaded files."
}

func gatherLake(r *run.Run, samples []run.Sample) *lakeReport {
	l := &lakeReport{Lake: r.Lake, run: r}
	cells := repeated(samples, func(s *run.Sample) run.Cell { return s.Cell })
	for _, a := range r.Archives {
		for k := range r.Lake.Layouts {
			w := &lakeConfiguration{a.Engine, &r.Lake.Layouts[k], map[string]*repeats{}}
			l.configurations = append(l.configurations, w)
			for _, c := range r.Cases {
				if t := cells[run.LakeCell(w.engine, w.layout, c.Name)]; t.right() {
					w.cases[c.Name] = t
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

func (l *lakeReport) engines() (all []string) {
	for i := range l.run.Archives {
		all = append(all, l.run.Archives[i].Engine)
	}
	return all
}

// partition describes a layout's partitioning.
func partition(name string) string {
	return cmp.Or(map[string]string{"none": "not partitioned", "day": "by valid day", "model": "by model", "variable": "by variable"}[name], name)
}

// rounds returns the sums of all questions' times, one for each repetition; nil if one question has
// no times or another number of them.
func (w *lakeConfiguration) rounds(r *run.Run) []float64 {
	sums := make([]float64, r.Reps)
	for _, c := range r.Cases {
		t := w.cases[c.Name]
		if t == nil || len(t.seconds) != r.Reps {
			return nil
		}
		for i, s := range t.seconds {
			sums[i] += s
		}
	}
	return sums
}

// advice names the layout with the smallest sum, those that cannot be distinguished from it, and
// the one with the largest.
func (l *lakeReport) advice(engine string) string {
	var configurations []*run.LakeLayout
	var sums [][]float64
	best, worst := 0, 0
	for _, w := range l.configurations {
		rounds := w.rounds(l.run)
		if w.engine != engine || rounds == nil {
			continue
		}
		configurations, sums = append(configurations, w.layout), append(sums, rounds)
		if last := len(sums) - 1; measure.Median(rounds) < measure.Median(sums[best]) {
			best = last
		} else if measure.Median(rounds) > measure.Median(sums[worst]) {
			worst = last
		}
	}
	if len(configurations) < 2 {
		return ""
	}
	alike, few := 0, false
	against := measure.CompareWithBase(sums, best, l.run.Seed)
	for i := range against {
		if c := &against[i]; i != best {
			few = few || !c.CanDiffer()
			if !c.Significant() {
				alike++
			}
		}
	}
	named := func(w *run.LakeLayout) string {
		label := partition(w.Partition)
		if w.Partition != "none" {
			label = "partitioned " + label
		}
		return fmt.Sprintf("%s and of %s MB", label, number(w.FileMB))
	}
	words := fmt.Sprintf("%s answers all questions fastest with files %s", engine, named(configurations[best]))
	switch x := against[worst]; {
	case few:
		return words + ", by the medians; the repetitions are too few to distinguish this from chance."
	case worst != best:
		words += fmt.Sprintf("; slowest, %s times (%s – %s) as long, with files %s", number(x.Ratio), number(x.Lo), number(x.Hi), named(configurations[worst]))
	}
	if alike > 0 {
		words += fmt.Sprintf(". Of %d configurations %d cannot be distinguished from the fastest", len(configurations), alike)
	}
	return words + "."
}

// pictures draws one picture for each engine, with a curve for each partitioning.
func (l *lakeReport) pictures() (out []Drawing) {
	for _, e := range l.engines() {
		p := plot.Lines{Frame: plot.Frame{
			Title: e + ": time of all questions against the size of files", XLabel: "target file size (MB)", YLabel: "sum of medians (s)",
			Caption: fmt.Sprintf("%s records on an object store that sends %s MB/s; each request waits %s ms. Both axes are logarithmic.", count(l.run.Data.Records), number(l.Rate), number(ms(l.Latency))),
		}, Coordinate: plot.Sizes}
		for _, w := range l.configurations {
			if s, ok := w.seconds(l.run); ok && w.engine == e {
				p.CurveNamed(partition(w.layout.Partition), "").Add(w.layout.FileMB, plot.Value{V: s, Lo: s, Hi: s})
			}
		}
		out = append(out, pictured(p)...)
	}
	return out
}

// table has a row for each layout and engine.
func (l *lakeReport) table() *Table {
	t := table("engine", "files", "target MB each", "files", "size of all", "all questions (s)", "requests", "MB sent")
	for _, w := range l.configurations {
		row := []Cell{text(w.engine), text(partition(w.layout.Partition)), numeric(w.layout.FileMB), countCell(w.layout.Files), size(w.layout.Bytes, "")}
		s, ok := w.seconds(l.run)
		if !ok {
			t.add("", append(row, bad(none), text(none), text(none))...)
			continue
		}
		requests, _ := w.sumOfMedians(l.run, func(m *run.Measured) float64 { return float64(stored(m).Requests) })
		sent, _ := w.sumOfMedians(l.run, func(m *run.Measured) float64 { return float64(stored(m).Sent) })
		t.add("", append(row, numeric(s), countCell(int64(requests)), numeric(sent/1e6))...)
	}
	return t
}

// byCase lists the medians of each question.
func (l *lakeReport) byCase() *Table {
	t := table(append([]string{"engine", "files", "MB each"}, lists.Map(l.run.Cases, func(c run.Case) string { return c.Name + " (ms)" })...)...)
	for _, w := range l.configurations {
		row := []Cell{text(w.engine), text(partition(w.layout.Partition)), numeric(w.layout.FileMB)}
		for _, c := range l.run.Cases {
			if x := w.cases[c.Name]; x != nil {
				row = append(row, numeric(measure.Median(x.seconds)*1e3))
			} else {
				row = append(row, bad(none))
			}
		}
		t.add("", row...)
	}
	return t
}

// whatWasWrong lists the wrong results; nil if all are correct.
func (l *lakeReport) whatWasWrong() *Table {
	if len(l.wrong) == 0 {
		return nil
	}
	t := table("engine", "question", "files", "MB each", "why")
	for _, w := range l.wrong {
		t.add("", text(w.cell.Engine), text(w.cell.Value("case")), text(partition(w.cell.Value("partition"))), text(w.cell.Value("mb")), bad(w.why))
	}
	return t
}
