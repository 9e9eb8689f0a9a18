package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/dustin/go-humanize/english"

	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/plot"
	"github.com/barograph/barograph/results/run"
)

// ownReport contains the samples of a run of a user's own questions, grouped by question and engine.
type ownReport struct {
	*run.Own
	run        *run.Run
	engines    []string              // that were timed
	cells      map[run.Cell]*repeats // warm results
	cold       map[run.Cell]*repeats
	streams    *points
	tooFewReps bool // for a significant difference in any question
}

// openOwn reports a run of the workload own.
func openOwn(dir string, r *run.Run, samples []run.Sample) *Report {
	out := ofRun(dir, r, "Which engine answers your questions fastest, and how many at once?")
	out.Data = map[string]any{"run": r, "samples": samples}
	if r.Own == nil {
		return out
	}
	o := gatherOwn(r, samples)
	out.Answers = append(out.Answers, o.verdict(samples), headline("%s", o.advice()))
	command := Fact{"Command", commandLine(r.Args)}
	out.Facts = slices.Concat([]Fact{{"Tables", o.tables()}}, machineFacts(r.Machine), skippedFacts(r), []Fact{command})
	laws := o.streams.usl()
	streams := Section{ID: "streams", Title: "Streams", Terminal: true, Table: o.hourly(), Words: o.sendingInWords()}
	if len(o.streams.cells) > 0 {
		s := o.streams.section(ownMix, laws)
		scalability := Section{
			ID: "usl", Title: "Scalability", Table: uslTable(laws), Terminal: len(laws) > 0,
			Pictures: pictured(o.streams.uslPicture(ownMix, laws)),
		}
		streams.Pictures, streams.Parts = s.Pictures, append(s.Parts, filled(scalability)...)
	}
	var texts []Section
	for _, q := range o.Questions {
		s := Section{Title: q.Name, Small: q.Title, Folded: true}
		for _, e := range slices.Sorted(maps.Keys(q.Texts)) {
			title := cmp.Or(e, "all engines without their own text")
			s.Parts = append(s.Parts, Section{Title: title, Text: q.Texts[e]})
		}
		texts = append(texts, s)
	}
	out.Sections = filled(
		Section{ID: "times", Title: "Response times", Terminal: true, Table: o.times(), Pictures: o.pictures()},
		Section{ID: "cold", Title: "Cold response times", Terminal: true, Table: o.coldTimes(), Words: say("Cold: %s.", r.ColdMethod)},
		Section{
			ID: "cost", Title: "Resources of a result", Terminal: len(o.Questions) <= maxTerminalQuestions, Table: o.costs(),
		},
		streams,
		Section{
			ID: "proof", Title: "How the results were proven", Terminal: true, Table: o.proofs(), Words: say(
				"The degree of proof is “%s”: the reference was computed by a database, so this run is not ranked with others. "+
					"%s Floating-point numbers, and quotients of more than six decimals, may differ by %g of the larger one; "+
					"sums, by %[3]g of the sum of the absolute values.", ownDegree, prose("own proof"), o.Tolerance),
		},
		Section{ID: "read", Title: "What was read", Table: o.read(), Words: o.skippedFiles()},
		Section{ID: "loads", Title: "Loads and sizes", Terminal: true, Table: o.loads()},
		Section{ID: "texts", Title: "The questions", Parts: texts})
	return out
}

// Names that package answer and the workload own also use.
const (
	ownDegree = "engines agree"
	ownMix    = "questions"
)

// maxTerminalQuestions is the number of questions up to which the terminal also shows the table of costs.
const maxTerminalQuestions = 10

// pictured returns a picture of curves; nil if it has none.
func pictured(l plot.Lines) []Drawing {
	if len(l.Curves) == 0 {
		return nil
	}
	return []Drawing{l}
}

// gatherOwn groups the samples, and compares each engine with the fastest one of each question.
func gatherOwn(r *run.Run, samples []run.Sample) *ownReport {
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
		best := o.resultOf(q.Name, o.fastest(q.Name))
		for _, e := range o.engines {
			if c := o.resultOf(q.Name, e); c.isTimed() && c != best && best != nil && !isUnranked(o.run, e) {
				all.add(times(c.answers, total), times(best.answers, total), r.Seed, func(x *measure.Comparison) {
					c.comparison = x
				})
			}
		}
	}
	all.correct()
	o.tooFewReps = len(all.tests) > 0 && !slices.ContainsFunc(all.tests, (*measure.Comparison).CanDiffer)
	return o
}

// resultOf returns an engine's results for a question; nil = it was not queried.
func (o *ownReport) resultOf(question, engine string) *repeats {
	return o.cells[run.OwnCell(engine, question)]
}

// fastest returns the ranked engine with the smallest median for a question; "" if none answers.
func (o *ownReport) fastest(question string) (best string) {
	least := math.Inf(1)
	for _, e := range o.engines {
		c := o.resultOf(question, e)
		if c.isTimed() && !isUnranked(o.run, e) && measure.Median(c.seconds) < least {
			best, least = e, measure.Median(c.seconds)
		}
	}
	return best
}

// tables describes the tables of the user.
func (o *ownReport) tables() string {
	return strings.Join(lists.Map(o.Tables, func(t run.OwnTable) string {
		size := several(len(t.Columns), "column") + ", " + byteSize(float64(t.Bytes))
		return t.Name + ": " + several(t.Rows, "row") + ", " + size
	}), "; ")
}

// verdict reports whether all engines returned the same results.
func (o *ownReport) verdict(samples []run.Sample) Words {
	var wrong, failed []string
	for i := range samples {
		s := &samples[i]
		name := s.Cell.Engine + " " + cmp.Or(s.Cell.Value("query"), s.Cell.Value("threads")+" streams")
		switch s.Verdict {
		case run.Wrong:
			wrong = appendNew(wrong, name)
		case run.Failed:
			failed = appendNew(failed, name)
		case run.Equal, run.EqualToRounding, run.Undetermined:
		}
	}
	words := ""
	if len(wrong) > 0 {
		words += fmt.Sprintf("The engines disagree on %s: %s. ", several(len(wrong), "result"), strings.Join(wrong, ", "))
	}
	if len(failed) > 0 {
		words += fmt.Sprintf("Failed queries: %s. ", strings.Join(failed, ", "))
	}
	if words != "" {
		return verdict(false, words+"Wrong and failed results have no times.")
	}
	proven, all := 0, len(o.Questions)*len(o.engines)
	for _, q := range o.Questions {
		proven += len(q.ComparedWith)
	}
	if proven < all || all == 0 {
		return headline("%d of %d results are compared so far, each with that of DuckDB on the files; none differs.", proven, all)
	}
	questions := several(len(o.Questions), "question")
	words = list(o.engines) + " returned the same results as DuckDB on the files, for " + questions + "."
	if names := o.undetermined(); len(names) > 0 {
		words += fmt.Sprintf(" More than one result is correct for %s (undetermined), and each engine returned one of them: %s.",
			several(len(names), "question"), strings.Join(names, ", "))
	}
	return verdict(true, words)
}

// undetermined lists the questions that do not determine their result.
func (o *ownReport) undetermined() []string {
	all := lists.Filter(o.Questions, func(q run.OwnQuestion) bool { return q.Undetermined != "" })
	return lists.Map(all, func(q run.OwnQuestion) string { return q.Name })
}

// isMeasured reports whether a question was timed on each engine, or failed there. An interruption or a time limit ends
// a run before all questions are.
func (o *ownReport) isMeasured(question string) bool {
	return !slices.ContainsFunc(o.engines, func(e string) bool { return o.resultOf(question, e) == nil })
}

// advice compares each pair of engines over the questions that both answer, by the geometric mean of the ratios of
// their times. It recommends the engine for which the fewest others are faster. It does not compare an engine that
// answers fewer than half of the questions that were measured on all engines.
func (o *ownReport) advice() string {
	answered := map[string]int{} // by engine
	measured, timed := 0, 0      // questions that were measured on all engines, and those of them with a time
	for _, q := range o.Questions {
		if !o.isMeasured(q.Name) {
			continue
		}
		measured++
		if o.fastest(q.Name) != "" {
			timed++
		}
		for _, e := range o.engines {
			if o.resultOf(q.Name, e).isTimed() {
				answered[e]++
			}
		}
	}
	var ranked, omitted []string
	for _, e := range o.engines {
		if isUnranked(o.run, e) {
			continue // a warning contains the reason
		}
		if answered[e]*2 >= timed && answered[e] > 0 {
			ranked = append(ranked, e)
		} else {
			omitted = append(omitted, fmt.Sprintf("%s (%d of %d)", e, answered[e], timed))
		}
	}
	if measured == 0 {
		return "No question was timed on all engines, so none is recommended."
	}
	if len(ranked) == 0 {
		return "No engine answers half of the questions, so none is recommended."
	}
	first := slices.MinFunc(ranked, func(a, b string) int {
		byFaster := cmp.Compare(o.fasterThan(a, ranked), o.fasterThan(b, ranked))
		return cmp.Or(byFaster, cmp.Compare(o.sumOfLogs(a, ranked), o.sumOfLogs(b, ranked)))
	})
	unbeaten := 0
	for _, q := range o.Questions {
		if c := o.resultOf(q.Name, first); c.isTimed() && o.isMeasured(q.Name) && (c.comparison == nil || !c.comparison.Significant()) {
			unbeaten++
		}
	}
	words := fmt.Sprintf("Choose %s: in %d of %s no engine is significantly faster.",
		first, unbeaten, several(answered[first], "question"))
	if o.tooFewReps {
		words = fmt.Sprintf("By the medians, %s is the fastest; too few repetitions to distinguish this from chance.", first)
	}
	var others []string
	for _, e := range ranked {
		if mean, common := o.relativeTime(e, first); e != first && common > 0 {
			others = append(others, fmt.Sprintf("%s %s (%s)", e, number(mean), several(common, "common question")))
		} else if e != first {
			others = append(others, e+" has no question in common with it")
		}
	}
	if len(others) > 0 {
		words += fmt.Sprintf(" Medians relative to %s (geometric mean): %s.", first, strings.Join(others, ", "))
	}
	if len(omitted) > 0 {
		words += " Not ranked, because they answer fewer than half of the questions: " + strings.Join(omitted, ", ") + "."
	}
	return words + o.streamsInWords()
}

// relativeTime returns the time of an engine as a multiple of another's, over the questions that both answer.
func (o *ownReport) relativeTime(e, other string) (mean float64, common int) {
	for _, q := range o.Questions {
		if a, b := o.resultOf(q.Name, e), o.resultOf(q.Name, other); a.isTimed() && b.isTimed() {
			mean += math.Log(measure.Median(a.seconds) / measure.Median(b.seconds))
			common++
		}
	}
	return math.Exp(mean / float64(max(common, 1))), common
}

// fasterThan counts the engines that take less time than e over common questions.
func (o *ownReport) fasterThan(e string, all []string) int {
	return len(lists.Filter(all, func(other string) bool {
		mean, common := o.relativeTime(e, other)
		return common > 0 && mean > 1
	}))
}

// sumOfLogs returns the sum of the logarithms of an engine's times relative to all others.
func (o *ownReport) sumOfLogs(e string, all []string) (sum float64) {
	for _, other := range all {
		mean, _ := o.relativeTime(e, other)
		sum += math.Log(mean)
	}
	return sum
}

// streamsInWords describes the results of concurrent streams. If questions arrive at a fixed rate, all engines that
// keep up reach the same throughput, so it describes the latency.
func (o *ownReport) streamsInWords() string {
	var results []string
	if rate := o.rate(); rate > 0 {
		most := map[string]*pointCell{} // the cell with the most streams of each engine
		for _, c := range o.streams.cells {
			if c.isCorrect() && c.mix == ownMix && (most[c.engine] == nil || c.threads > most[c.engine].threads) {
				most[c.engine] = c
			}
		}
		for _, e := range slices.Sorted(maps.Keys(most)) {
			p99 := number(ms(most[e].typical().Response.P99))
			results = append(results, fmt.Sprintf("%s %s ms with %s", e, p99, several(most[e].threads, "stream")))
		}
		if len(results) == 0 {
			return ""
		}
		return fmt.Sprintf(" Where %s questions a second are due, 99 %% are answered within: %s.",
			number(rate), strings.Join(results, ", "))
	}
	tops := o.streams.tops(ownMix)
	slices.SortStableFunc(tops, byThroughput)
	for _, c := range tops {
		hourly := count(int64(c.throughput.Value * 3600))
		results = append(results, fmt.Sprintf("%s %s an hour with %s", c.engine, hourly, several(c.threads, "stream")))
	}
	if len(results) == 0 {
		return ""
	}
	return " Highest throughput of questions: " + strings.Join(results, ", ") + "."
}

// rate returns the arrival rate of questions over all streams, per second; 0 = each stream waits for its previous
// result. All cells of a run have the same rate.
func (o *ownReport) rate() float64 {
	if len(o.streams.all) == 0 {
		return 0
	}
	return o.streams.all[0].Target
}

// sendingInWords describes how the streams sent their questions.
func (o *ownReport) sendingInWords() []Words {
	if rate := o.rate(); rate > 0 {
		return say("%s Questions came at random times, %s a second for all streams together, whether the previous ones were "+
			"answered or not: times count from when a question was due. The number of questions an hour follows from this "+
			"rate and ranks no engine.", prose("own streams"), number(rate))
	}
	return explain("own streams")
}

// timeColumns returns the columns of times by engine.
func (o *ownReport) timeColumns() []string {
	return lists.Map(o.engines, func(e string) string { return e + " (ms)" })
}

// times lists the medians of each question by engine.
func (o *ownReport) times() *Table {
	t := table(append([]string{"question", "rows"}, o.timeColumns()...)...)
	t.Note = prose("own times")
	for _, q := range o.Questions {
		row := []Cell{text(q.Name), countCell(q.Rows)}
		best := o.fastest(q.Name)
		for _, e := range o.engines {
			c := o.resultOf(q.Name, e)
			if !c.isTimed() {
				problem := none
				if c != nil {
					problem = string(c.verdict)
				}
				row = append(row, bad(problem))
				continue
			}
			time := estimate(c.median())
			switch {
			case e == best:
				time.Class = "first"
			case c.comparison == nil:
				time.Class = "off" // it is not ranked
			default:
				time.Text += " " + c.comparison.Mark()
			}
			if c.reservation == run.Undetermined {
				time.Text += " " + string(c.reservation)
			}
			row = append(row, time)
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
			case c.isTimed():
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

// costs lists the CPU time and the bytes read of each question. They show whether an engine computed or waited: one
// that used all cores of the machine waited for nothing.
func (o *ownReport) costs() *Table {
	t := table("question", "engine", "CPU (ms)", "cores", "read from files", "reported by")
	t.Note = prose("own costs")
	for _, q := range o.Questions {
		for i, e := range o.engines {
			c := o.resultOf(q.Name, e)
			if !c.isTimed() {
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
			const missing = "not reported"
			cpu := []Cell{when(reported, numeric(spent/n), missing), when(reported, numeric(spent/took), missing)}
			t.add("", slices.Concat(texts(q.Name, e), cpu, []Cell{when(counted, size(read/n, ""), missing), text(by)})...)
		}
	}
	return t
}

// pictures draws the medians of each question by engine.
func (o *ownReport) pictures() []Drawing {
	bars := plot.Rows{Frame: plot.Frame{
		Title: "Median response time by question", XLabel: "ms", Width: pageWidth,
		Caption: "Whiskers: 95 % intervals of the median. A wrong result has no bar.",
	}, Unit: "ms", OwnScales: true}
	for _, q := range o.Questions {
		for _, e := range o.engines {
			if c := o.resultOf(q.Name, e); c.isTimed() {
				bars.AddRow(q.Name, plot.Row{Label: e, Group: e, Value: valueOf(c.median())})
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
	t := table("engine", "streams", "other work", "questions an hour", "each stream", "p50 (ms)", "p95 (ms)", "p99 (ms)",
		"runs", "due and never started", "rows loaded meanwhile")
	cells := slices.Clone(o.streams.cells)
	slices.SortStableFunc(cells, func(a, b *pointCell) int {
		return cmp.Or(strings.Compare(a.engine, b.engine), cmp.Compare(a.threads, b.threads), strings.Compare(a.mix, b.mix))
	})
	for _, c := range cells {
		otherWork := "a load"
		if c.mix == ownMix {
			otherWork = none
		}
		names := []Cell{text(c.engine), countCell(c.threads), text(otherWork)}
		if !c.isCorrect() {
			t.add("", append(names, bad(string(c.verdict)+": "+c.problem))...)
			continue
		}
		unstarted, loaded := int64(0), int64(0)
		for _, p := range c.reps {
			unstarted += p.Unstarted
			loaded += p.ConcurrentRows
		}
		hourly := c.throughput.Value * 3600
		each, response := hourly/float64(c.threads), c.typical().Response
		t.add("", append(names, value(hourly, count(int64(hourly))), value(each, count(int64(each))),
			millis(response.P50), millis(response.P95), millis(response.P99),
			countCell(len(c.reps)), countCell(unstarted), when(c.mix != ownMix, countCell(int(loaded)), none))...)
	}
	return t
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
			compared += "; " + english.Plural(q.Loose, "row ties at the limit and is", "rows tie at the limit and are") + " not ordered any further"
		}
		var agreeing, problems []string
		for _, e := range o.engines {
			c, description := o.resultOf(q.Name, e), e
			with := q.ComparedWith[e]
			switch with {
			case "", run.OverFiles:
			case run.Unconfirmed:
				description += " (with DuckDB on the files; no other engine confirms it)"
			default:
				description += " (also with " + with + ")"
			}
			if c.isTimed() && c.reservation == run.EqualToRounding {
				description += fmt.Sprintf(" (equal to rounding, largest relative difference %.1e)", c.largestDifference)
			}
			if with != "" {
				agreeing = append(agreeing, description)
			}
			if c != nil && c.problem != "" {
				problems = append(problems, e+": "+c.problem)
			}
		}
		problem := text(none)
		if len(problems) > 0 {
			problem = bad(strings.Join(problems, "\n"))
		}
		t.add("", text(q.Name), text(compared), text(strings.Join(agreeing, ", ")), problem)
	}
	return t
}

// read accounts for every file of every table.
func (o *ownReport) read() *Table {
	t := table("table", "file", "rows", "lines", "SHA-256", "columns")
	t.Note = "Lines are those of CSV files. After typing, Barograph compared each of their values with its own text."
	for _, x := range o.Tables {
		columns := strings.Join(append(slices.Clone(x.Columns), x.Notes...), "\n") // only in the first row of a table
		if x.Problem != "" {
			files := strings.Join(x.Files, "\n")
			t.add("", text(x.Name), text(files), bad("skipped"), text(none), text(none), bad(x.Problem))
			continue
		}
		for _, f := range x.Sources {
			lines := when(f.Lines > 0, countCell(int(f.Lines)), none)
			t.add("", text(x.Name), text(f.File), countCell(int(f.Rows)), lines, text(cmp.Or(f.SHA256, none)), text(columns))
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
	files := lists.Map(o.SkippedFiles, func(f run.SkippedFile) string { return f.File + " (" + f.Reason + ")" })
	return say("Not read: %s.", strings.Join(files, "; "))
}

// loads lists the costs of loading the tables.
func (o *ownReport) loads() *Table {
	t := table("engine", "product", "load (s)", "size")
	for _, a := range o.run.Archives[min(1, len(o.run.Archives)):] { // the first is DuckDB over the files
		names := texts(a.Engine, strings.TrimSpace(a.Product+" "+a.Version))
		load := when(a.Complete, numeric(a.Load.Seconds()), none)
		t.add("", append(names, load, when(a.Bytes > 0, size(a.Bytes, ""), none))...)
	}
	return t
}
