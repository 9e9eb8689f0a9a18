package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/plot"
	"github.com/barograph/barograph/results/run"
)

// ownReport is a run of a user's own questions, grouped.
type ownReport struct {
	*run.Own
	run     *run.Run
	engines []string              // that were timed
	cells   map[run.Cell]*repeats // warm results
	cold    map[run.Cell]*repeats
	streams *points
	few     bool // too few repetitions for a significant difference
}

// openOwned reports a run of the workload own.
func openOwned(dir string, r *run.Run, samples []run.Sample) *Report {
	out := ofRun(dir, r, "Which engine answers your questions fastest, and how many at once?")
	out.Data = map[string]any{"run": r, "samples": samples}
	if r.Own == nil {
		return out
	}
	o := gatherOwned(r, samples)
	out.Answers = append(out.Answers, o.verdict(samples), headline("%s", o.advice()))
	out.Facts = append(append([]Fact{{"Tables", o.tables()}}, machineFacts(r.Machine)...), append(skippedFacts(r), Fact{"Command", commandLine(r.Args)})...)
	laws := o.streams.usl()
	streams := Section{ID: "streams", Title: "Streams", Terminal: true, Table: o.hourly(), Words: say("%s", o.sendingInWords())}
	if len(o.streams.cells) > 0 {
		s := o.streams.section(ownMix, laws)
		streams.Pictures, streams.Parts = s.Pictures, append(s.Parts, filled(Section{ID: "usl", Title: "Scalability", Table: uslTable(laws), Terminal: len(laws) > 0, Pictures: pictured(o.streams.uslPicture(ownMix, laws))})...)
	}
	var texts []Section
	for _, q := range o.Questions {
		s := Section{Title: q.Name, Small: q.Title, Folded: true}
		for _, e := range slices.Sorted(maps.Keys(q.Texts)) {
			s.Parts = append(s.Parts, Section{Title: cmp.Or(e, "all engines without their own text"), Text: q.Texts[e]})
		}
		texts = append(texts, s)
	}
	out.Sections = filled(
		Section{ID: "times", Title: "Response times", Terminal: true, Table: o.times(), Pictures: o.pictures()},
		Section{ID: "cold", Title: "Cold response times", Terminal: true, Table: o.coldTimes(), Words: say("Cold: %s.", r.ColdMethod)},
		Section{ID: "cost", Title: "Resources of a result", Terminal: len(o.Questions) <= fewQuestions, Table: o.costs()},
		streams,
		Section{ID: "proof", Title: "How the results were proven", Terminal: true, Table: o.proofs(), Words: say(
			"The degree of proof is “%s”: the reference was computed by a database, so this run is not ranked with others. DuckDB ran the questions on the files; each other engine ran them on the tables that it loaded, and all tables were read by DuckDB's reader. "+
				"Values are compared by their types. Integers and decimals must be equal. Floating-point numbers, and quotients of more than six decimals, may differ by %g of the larger one; sums, by %[2]g of the sum of the absolute values.", ownDegree, o.Tolerance)},
		Section{ID: "read", Title: "What was read", Table: o.read(), Words: o.skippedFiles()},
		Section{ID: "loads", Title: "Loads and sizes", Terminal: true, Table: o.loads()},
		Section{ID: "texts", Title: "The questions", Parts: texts})
	return out
}

// These names are the same in package answer and in the workload.
const (
	ownDegree = "engines agree"
	ownMix    = "questions"
)

// fewQuestions is the number of questions up to which the terminal also shows the table of costs.
const fewQuestions = 10

func pictured(l plot.Lines) []Drawing {
	if len(l.Curves) == 0 {
		return nil
	}
	return []Drawing{l}
}

func gatherOwned(r *run.Run, samples []run.Sample) *ownReport {
	o := &ownReport{Own: r.Own, run: r}
	for _, a := range r.Archives[min(1, len(r.Archives)):] { // the first is DuckDB over the files
		o.engines = append(o.engines, a.Engine)
	}
	var streams, warm, cold []run.Sample
	for _, s := range samples {
		switch {
		case s.Cell.Value("query") == "":
			streams = append(streams, s)
		case s.Phase == run.Cold:
			cold = append(cold, s)
		default:
			warm = append(warm, s)
		}
	}
	cellOf := func(s *run.Sample) run.Cell { return s.Cell }
	o.cells, o.cold = repeated(warm, cellOf), repeated(cold, cellOf)
	o.streams = gather(r, pointsOf(streams))
	var all family
	for _, q := range o.Questions {
		best := o.at(q.Name, o.fastest(q.Name))
		for _, e := range o.engines {
			if c := o.at(q.Name, e); c.right() && c != best && best != nil && !isUnranked(o.run, e) {
				all.add(times(c.answers, total), times(best.answers, total), r.Seed, func(x *measure.Comparison) { c.against = x })
			}
		}
	}
	all.correct()
	o.few = slices.ContainsFunc(all.tests, func(c *measure.Comparison) bool { return !c.CanDiffer() })
	return o
}

// at returns an engine's results for a question; nil = it was not queried.
func (o *ownReport) at(question, engine string) *repeats {
	return o.cells[run.OwnCell(engine, question)]
}

// fastest returns the ranked engine with the smallest median for a question; "" if none answers.
func (o *ownReport) fastest(question string) (best string) {
	for _, e := range o.engines {
		if c := o.at(question, e); c.right() && !isUnranked(o.run, e) && (best == "" || measure.Median(c.seconds) < measure.Median(o.at(question, best).seconds)) {
			best = e
		}
	}
	return best
}

func (o *ownReport) tables() string {
	return strings.Join(lists.Map(o.Tables, func(t run.OwnTable) string {
		return fmt.Sprintf("%s: %s rows, %s, %s", t.Name, count(t.Rows), several(len(t.Columns), "column"), byteSize(float64(t.Bytes)))
	}), "; ")
}

// verdict reports whether all engines returned the same results.
func (o *ownReport) verdict(samples []run.Sample) Words {
	var wrong, failed []string
	for i := range samples {
		s := &samples[i]
		at := s.Cell.Engine + " " + cmp.Or(s.Cell.Value("query"), s.Cell.Value("threads")+" streams")
		switch s.Verdict {
		case run.Wrong:
			wrong = appendNew(wrong, at)
		case run.Failed:
			failed = appendNew(failed, at)
		case run.Equal, run.EqualToRounding, run.Undetermined:
		}
	}
	words := ""
	if len(wrong) > 0 {
		words += fmt.Sprintf("%s on which the engines disagree: %s. ", several(len(wrong), "result"), strings.Join(wrong, ", "))
	}
	if len(failed) > 0 {
		words += fmt.Sprintf("%s missing: %s. ", several(len(failed), "result"), strings.Join(failed, ", "))
	}
	if words != "" {
		return verdict(false, words+"They have no times.")
	}
	words = fmt.Sprintf("%s returned the same results as DuckDB on the files, for %s.", list(o.engines), several(len(o.Questions), "question"))
	if n := o.undetermined(); len(n) > 0 {
		words += fmt.Sprintf(" More than one result is correct for %s (undetermined), and each engine returned one of them: %s.", several(len(n), "question"), strings.Join(n, ", "))
	}
	return verdict(true, words)
}

// undetermined lists the questions that do not determine their result.
func (o *ownReport) undetermined() (names []string) {
	for _, q := range o.Questions {
		if q.Undetermined != "" {
			names = append(names, q.Name)
		}
	}
	return names
}

// advice compares each pair of engines over the questions that both answer, by the geometric mean
// of the ratios of their times. The first engine is the one to which the fewest others are faster.
// An engine that answers fewer than half of the questions is not compared.
func (o *ownReport) advice() string {
	answered := map[string]int{}
	most := 0
	for _, q := range o.Questions {
		if o.fastest(q.Name) != "" {
			most++
		}
		for _, e := range o.engines {
			if o.at(q.Name, e).right() {
				answered[e]++
			}
		}
	}
	var weighed, left []string
	for _, e := range o.engines {
		if isUnranked(o.run, e) {
			continue // a warning contains the reason
		}
		if answered[e]*2 >= most && answered[e] > 0 {
			weighed = append(weighed, e)
		} else {
			left = append(left, fmt.Sprintf("%s (%d of %d)", e, answered[e], most))
		}
	}
	if len(weighed) == 0 {
		return "No engine answers half of the questions, so none is recommended."
	}
	first := slices.MinFunc(weighed, func(a, b string) int { // the fewest faster engines, then the smallest sum
		return cmp.Or(cmp.Compare(o.faster(a, weighed), o.faster(b, weighed)), cmp.Compare(o.sum(a, weighed), o.sum(b, weighed)))
	})
	lead := 0
	for _, q := range o.Questions {
		if c := o.at(q.Name, first); c.right() && (c.against == nil || !c.against.Significant()) {
			lead++
		}
	}
	words := fmt.Sprintf("Choose %s: in %d of %s no engine is significantly faster.", first, lead, several(answered[first], "question"))
	if o.few {
		words = fmt.Sprintf("By the medians, %s is the fastest; too few repetitions to distinguish this from chance.", first)
	}
	var rest []string
	for _, e := range weighed {
		if mean, common := o.against(e, first); e != first && common > 0 {
			rest = append(rest, fmt.Sprintf("%s %s (%s)", e, number(mean), several(common, "common question")))
		} else if e != first {
			rest = append(rest, e+" has no question in common with it")
		}
	}
	if len(rest) > 0 {
		words += fmt.Sprintf(" Medians relative to %s (geometric mean): %s.", first, strings.Join(rest, ", "))
	}
	if len(left) > 0 {
		words += " Not ranked, because they answer fewer than half of the questions: " + strings.Join(left, ", ") + "."
	}
	return words + o.most()
}

// against returns the time of an engine as a multiple of another's, over the questions that both
// answer.
func (o *ownReport) against(e, other string) (mean float64, common int) {
	for _, q := range o.Questions {
		if a, b := o.at(q.Name, e), o.at(q.Name, other); a.right() && b.right() {
			mean += math.Log(measure.Median(a.seconds) / measure.Median(b.seconds))
			common++
		}
	}
	return math.Exp(mean / float64(max(common, 1))), common
}

// faster counts the engines that take less time over common questions.
func (o *ownReport) faster(e string, all []string) (n int) {
	for _, other := range all {
		if mean, common := o.against(e, other); common > 0 && mean > 1 {
			n++
		}
	}
	return n
}

// sum compares an engine with all others: the sum of the logarithms of the ratios.
func (o *ownReport) sum(e string, all []string) (sum float64) {
	for _, other := range all {
		mean, _ := o.against(e, other)
		sum += math.Log(mean)
	}
	return sum
}

// most describes the results of concurrent streams. If questions arrive at a fixed rate, all
// engines that keep up reach the same throughput, so it describes the latency.
func (o *ownReport) most() string {
	var tops []string
	if rate := o.rate(); rate > 0 {
		most := map[string]*pointCell{} // the cell with the most streams of each engine
		for _, c := range o.streams.cells {
			if c.right() && c.mix == ownMix && (most[c.engine] == nil || c.threads > most[c.engine].threads) {
				most[c.engine] = c
			}
		}
		for _, e := range slices.Sorted(maps.Keys(most)) {
			c := most[e]
			tops = append(tops, fmt.Sprintf("%s %s ms with %s", c.engine, number(c.middle().Response.P99.Seconds()*1e3), several(c.threads, "stream")))
		}
		if len(tops) == 0 {
			return ""
		}
		return fmt.Sprintf(" Where %s questions a second are due, 99 %% are answered within: %s.", number(rate), strings.Join(tops, ", "))
	}
	for _, c := range slices.SortedStableFunc(slices.Values(o.streams.tops(ownMix)), func(a, b *pointCell) int { return cmp.Compare(b.throughput.Value, a.throughput.Value) }) {
		tops = append(tops, fmt.Sprintf("%s %s an hour with %s", c.engine, count(int64(c.throughput.Value*3600)), several(c.threads, "stream")))
	}
	if len(tops) == 0 {
		return ""
	}
	return " Most questions: " + strings.Join(tops, ", ") + "."
}

// rate is the arrival rate of questions over all streams, per second; 0 = each stream waits for its
// previous result.
func (o *ownReport) rate() float64 {
	for _, c := range o.streams.cells {
		for _, p := range c.reps {
			return p.Target
		}
	}
	return 0
}

// sendingInWords describes how the streams sent their questions.
func (o *ownReport) sendingInWords() string {
	words := "Each stream repeats all questions in its own order. Barograph compares every result with DuckDB's on the files after its time was taken."
	if rate := o.rate(); rate > 0 {
		words += fmt.Sprintf(" Questions came at random times, %s a second for all streams together, whether the previous ones were answered or not: times count from when a question was due. The number of questions an hour follows from this rate and ranks no engine.", number(rate))
	}
	return words
}

// timeColumns are the columns of times by engine.
func (o *ownReport) timeColumns() []string {
	return lists.Map(o.engines, func(e string) string { return e + " (ms)" })
}

// times lists the medians of each question by engine.
func (o *ownReport) times() *Table {
	t := table(append([]string{"question", "rows"}, o.timeColumns()...)...)
	t.Note = "Medians, with 95 % intervals for six repetitions or more. ***, **, *: significantly slower than the fastest engine of the question, p below 0.001, 0.01, 0.05 (rank test, Holm's correction); ~: not significantly slower; ?: too few repetitions."
	for _, q := range o.Questions {
		row := []Cell{text(q.Name), countCell(q.Rows)}
		best := o.fastest(q.Name)
		for _, e := range o.engines {
			c := o.at(q.Name, e)
			if !c.right() {
				word := none
				if c != nil {
					word = string(c.verdict)
				}
				row = append(row, bad(word))
				continue
			}
			x := estimate(c.median())
			switch {
			case e == best:
				x.Class = "first"
			case c.against == nil:
				x.Class = "off" // it is not ranked
			default:
				x.Text += " " + c.against.Mark()
			}
			if c.soft == run.Undetermined {
				x.Text += " " + string(c.soft)
			}
			row = append(row, x)
		}
		t.add("", row...)
	}
	return t
}

// coldTimes lists the medians of cold results.
func (o *ownReport) coldTimes() *Table {
	t := table(append([]string{"question"}, o.timeColumns()...)...)
	t.Note = "Medians, with 95 % intervals for six repetitions or more. The advice is that of the warm results."
	if len(o.cold) == 0 {
		return t
	}
	for _, q := range o.Questions {
		row := []Cell{text(q.Name)}
		for _, e := range o.engines {
			switch c := o.cold[run.OwnCell(e, q.Name)]; {
			case c.right():
				row = append(row, estimate(c.median()))
			case c != nil:
				row = append(row, bad(string(c.verdict)))
			default:
				row = append(row, dim(none))
			}
		}
		t.add("", row...)
	}
	return t
}

// costs lists the CPU time and the bytes read of each question. They show what an engine waited
// for: nothing, if as many cores worked as the machine has.
func (o *ownReport) costs() *Table {
	t := table("question", "engine", "CPU (ms)", "cores", "read from files", "reported by")
	t.Note = "Means over the repetitions. CPU: of all processes, including Barograph; cores: CPU time divided by the time of the queries. An engine that used few cores and read from disk waited for its disks. " +
		"Read: not from the engine’s own buffers; a server’s own counters include reads from the system’s cache."
	for _, q := range o.Questions {
		for i, e := range o.engines {
			c := o.at(q.Name, e)
			if !c.right() {
				continue
			}
			var spent, took, read float64
			reported, counted, by := false, false, "the system"
			for _, m := range c.answers {
				cpu, ok := o.run.Archives[i+1].CPU(m)
				reported = ok
				spent, took = spent+ms(cpu), took+ms(m.Total)
				if m.Usage == nil || m.Server == nil {
					continue
				}
				if s := m.Server; s.Local {
					counted, by = true, "the operating system, for its processes"
					read += float64(s.Used.Read)
				} else if s.Reported != nil {
					counted, by = s.Reported.Read >= 0, "the server’s own counters"
					read += float64(max(s.Reported.Read, 0))
				}
			}
			n := float64(len(c.answers))
			t.add("", text(q.Name), text(e), when(reported, numeric(spent/n), "not reported"), when(reported, numeric(spent/took), "not reported"), when(counted, size(read/n, ""), "not reported"), text(by))
		}
	}
	return t
}

func (o *ownReport) pictures() []Drawing {
	bars := plot.Rows{Frame: plot.Frame{Title: "Median response time by question", XLabel: "ms", Caption: "Whiskers: 95 % intervals of the median. A wrong result has no bar.", Width: pageWidth}, Unit: "ms", OwnScales: true}
	for _, q := range o.Questions {
		for _, e := range o.engines {
			if c := o.at(q.Name, e); c.right() {
				x := c.median()
				bars.AddRow(q.Name, plot.Row{Label: e, Group: e, Value: plot.Value{V: x.Value, Lo: x.Low, Hi: x.High}})
			}
		}
	}
	if len(bars.Panels) == 0 {
		return nil
	}
	return []Drawing{bars}
}

// hourly lists the throughput and the latency of the streams.
func (o *ownReport) hourly() *Table {
	t := table("engine", "streams", "other work", "questions an hour", "each stream", "p50 (ms)", "p95 (ms)", "p99 (ms)", "runs", "due and never started", "rows loaded meanwhile")
	for _, c := range slices.SortedStableFunc(slices.Values(o.streams.cells), func(a, b *pointCell) int {
		return cmp.Or(strings.Compare(a.engine, b.engine), cmp.Compare(a.threads, b.threads), strings.Compare(a.mix, b.mix))
	}) {
		if !c.right() {
			t.add("", text(c.engine), countCell(c.threads), text(besides(c)), bad(string(c.verdict)+": "+c.problem))
			continue
		}
		x, late, loaded := c.middle(), int64(0), int64(0)
		for _, p := range c.reps {
			late += p.Unstarted
			loaded += p.ConcurrentRows
		}
		hour := c.throughput.Value * 3600
		t.add("", text(c.engine), countCell(c.threads), text(besides(c)), value(hour, count(int64(hour))), value(hour/float64(c.threads), count(int64(hour/float64(c.threads)))),
			millis(x.Response.P50), millis(x.Response.P95), millis(x.Response.P99), countCell(len(c.reps)), countCell(late), when(c.mix != ownMix, countCell(int(loaded)), none))
	}
	return t
}

// besides describes the other work of an engine during the questions.
func besides(c *pointCell) string {
	if c.mix == ownMix {
		return none
	}
	return "a load"
}

// proofs describes the reference with which each result was compared.
func (o *ownReport) proofs() *Table {
	t := table("question", "compared", "engines that agree", "not")
	for _, q := range o.Questions {
		compared := q.OrderRule
		if q.ParameterSets > 1 {
			compared += fmt.Sprintf("; with %d sets of values", q.ParameterSets)
		}
		if q.Undetermined != "" {
			compared += "; undetermined: " + q.Undetermined + ". It is determined with: " + q.Fix
		}
		if q.Loose > 0 {
			compared += fmt.Sprintf("; %d rows tie at the limit and are not ordered any further", q.Loose)
		}
		var agreed, not []string
		for _, e := range o.engines {
			if with := q.ComparedWith[e]; with == run.Unconfirmed {
				agreed = append(agreed, e+" (with DuckDB on the files; no other engine confirms it)")
			} else if with != "" && with != run.OverFiles {
				agreed = append(agreed, e+" (with "+with+", too)")
			} else if with != "" {
				agreed = append(agreed, e)
			}
			c := o.at(q.Name, e)
			if c.right() && c.soft == run.EqualToRounding && len(agreed) > 0 {
				agreed[len(agreed)-1] += fmt.Sprintf(" (equal to rounding, largest relative difference %.1e)", c.largest)
			}
			if c != nil && c.problem != "" {
				not = append(not, e+": "+c.problem)
			}
		}
		refused := text(none)
		if len(not) > 0 {
			refused = bad(strings.Join(not, "\n"))
		}
		t.add("", text(q.Name), text(compared), text(strings.Join(agreed, ", ")), refused)
	}
	return t
}

// read accounts for every file of every table.
func (o *ownReport) read() *Table {
	t := table("table", "file", "rows", "lines", "SHA-256", "columns")
	t.Note = "Lines are those of CSV files. After typing, Barograph compared each of their values with its own text."
	for _, x := range o.Tables {
		columns := strings.Join(append(slices.Clone(x.Columns), x.Notes...), "\n")
		if x.Problem != "" {
			t.add("", text(x.Name), text(strings.Join(x.Files, "\n")), bad("skipped"), text(none), text(none), bad(x.Problem))
			continue
		}
		for _, f := range x.Sources {
			t.add("", text(x.Name), text(f.File), countCell(int(f.Rows)), when(f.Lines > 0, countCell(int(f.Lines)), none), text(cmp.Or(f.SHA256, none)), text(columns))
			columns = ""
		}
	}
	return t
}

// skippedFiles names the files that belong to no table.
func (o *ownReport) skippedFiles() []Words {
	if len(o.SkippedFiles) == 0 {
		return nil
	}
	return say("Not read: %s.", strings.Join(lists.Map(o.SkippedFiles, func(f run.SkippedFile) string { return f.File + " (" + f.Reason + ")" }), "; "))
}

// loads lists the costs of loading the tables.
func (o *ownReport) loads() *Table {
	t := table("engine", "product", "load (s)", "size")
	for i := range o.run.Archives {
		if a := &o.run.Archives[i]; i > 0 {
			t.add("", text(a.Engine), text(strings.TrimSpace(a.Product+" "+a.Version)), when(a.Complete, numeric(a.Load.Seconds()), none), when(a.Bytes > 0, size(a.Bytes, ""), none))
		}
	}
	return t
}
