package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/plot"
	"github.com/barograph/barograph/results/run"
)

// fill creates the sections of a report.
func (p *points) fill(r *Report) {
	wrong, clients := 0, 1
	for _, x := range p.all {
		if !x.Verdict.IsCorrect() {
			wrong++
		}
		for _, w := range x.Warnings {
			r.Warnings = appendNew(r.Warnings, fmt.Sprintf("%s on %s, %s: %s", x.Mix, x.Engine, several(x.Threads, "thread"), w))
		}
		clients = max(clients, x.LoadMachines)
	}
	switch {
	case len(p.all) == 0 && len(p.faults) > 0:
	case len(p.all) == 0:
		r.Answers = append(r.Answers, verdict(false, "No operation was run."))
	case wrong == 0:
		r.Answers = append(r.Answers, verdict(true, p.checked()))
	default:
		r.Answers = append(r.Answers, verdict(false, fmt.Sprintf("%s of %d not correct; these have no times.", several(wrong, "run"), len(p.all))))
	}
	r.Facts = append([]Fact{{"Records", count(p.run.Data.Records) + " in the table"}}, runFacts(p.run)...)
	if clients > 1 {
		r.Facts = append(r.Facts, Fact{"Clients", fmt.Sprintf("%d machines, merged; the machine above is the first’s", clients)})
	}
	r.Facts = append(append(r.Facts, formFacts(p.run)...), Fact{"Command", commandLine(p.run.Args)})
	laws := p.usl()
	scalability := Section{ID: "usl", Title: "Scalability", Table: uslTable(laws), Terminal: len(laws) > 0}
	for _, mix := range p.mixes {
		r.Answers = append(r.Answers, headline("%s. %s", mix, p.sentence(mix)))
		r.Sections = append(r.Sections, p.section(mix, laws))
		if law := p.uslPicture(mix, laws); len(law.Curves) > 0 {
			scalability.Pictures = append(scalability.Pictures, law)
		}
	}
	r.Sections = append(r.Sections, steadyHistories(p.samples)...)
	if len(p.faults) > 0 {
		r.Answers = append(r.Answers, costInWords(p.faults)...)
		r.Sections = append(r.Sections, costs(p.faults))
	}
	r.Sections = append(r.Sections, knees(p.steps)...)
	r.Sections = append(r.Sections, transferSections(p.samples)...)
	for _, f := range p.run.Findings {
		r.Answers = append(r.Answers, headline("%s.", f))
	}
	r.Sections = append(r.Sections, filled(scalability)...)
	r.Sections = append(r.Sections, forms(p.run)...)
	r.Sections = append(r.Sections, Section{ID: "method", Title: "How it was measured", Words: append(
		say("The workloads, keys, values and distributions are those of YCSB’s core workload. Clients read only records whose insert was acknowledged. The run fails if a record is not found, a field is missing, or a scan is out of order, beyond its bounds or without a record. A failed run has no times."),
		say("Without a target each thread sends its next operation after the previous response: a stall of the engine is then one slow operation of each thread, and the time series shows it. With a target, latency counts from when an operation was due, so the percentiles include every operation that waited during a stall. The table of operations also has the service time, which counts from when a thread started the operation. Histograms keep three digits from 1 ns to 1 h; percentiles over repetitions are medians of the percentiles of each repetition. An interval with less than a tenth of the usual operations is marked as a stall.")...)})
}

// section describes one mix.
func (p *points) section(mix string, laws []fittedLaw) Section {
	bottlenecks := Section{Title: "The bottleneck", Table: p.used(mix), Terminal: true}
	over := Section{Title: "Over time", Small: "each engine at its highest throughput", SideBySide: true}
	sigma := map[string]float64{}
	for _, f := range laws {
		if f.mix == mix {
			sigma[f.engine] = f.law.Sigma.Value
		}
	}
	for _, c := range p.tops(mix) {
		s, hasLaw := sigma[c.engine]
		if !hasLaw {
			s = notFitted
		}
		bottlenecks.Words = append(bottlenecks.Words, Words{"", fmt.Sprintf("%s, %s: %s", c.engine, several(c.threads, "thread"), bottleneck(c.middle(), s))})
		if len(c.middle().Series) <= 2 {
			continue
		}
		if sessions := c.sessions(); len(sessions.Layers) > 0 {
			over.Parts = append(over.Parts, Section{Title: c.engine, Pictures: []Drawing{c.timeline(), sessions}})
		} else {
			over.Pictures = append(over.Pictures, c.timeline())
		}
	}
	bottlenecks.Parts = filled(
		Section{Title: "Statements that took the servers longest", Folded: true, Table: p.statements(mix)},
		Section{Title: "Counters of the servers", Folded: true, Table: p.counters(mix)},
		Section{Title: "Percentiles of each operation", Folded: true, Table: p.operations(mix)},
	)
	title := p.mixInWords(mix)
	return Section{ID: mix, Title: mix, Small: title, Terminal: true, Words: say("%s.", title), Pictures: []Drawing{p.picture(mix, title)}, Table: p.table(mix), Parts: filled(bottlenecks, over)}
}

// picture draws throughput as bars, with the 95th percentile as a line.
func (p *points) picture(mix, title string) Drawing {
	t := plot.Columns{
		Frame: plot.Frame{
			Title: mix + ": throughput, and the latency that it costs", Subtitle: title + " · " + p.scope(), Width: pageWidth, YLabel: "operations per second",
			Caption: "One bar for each number of threads. Latency is that of all operations, from when they were due. Whiskers: the 95 % interval of the median, or the range if there are fewer than six repetitions. A run that is not correct has no bar.",
		},
		RightLabel: "95th percentile of latency (ms)", BarName: "operations per second (left axis)", LineName: "95th percentile of latency (right axis)", BarUnit: "threads",
	}
	for _, e := range p.engines {
		g := plot.Group{Name: e}
		for _, c := range p.of(mix, e) {
			b := plot.Bar{Label: fmt.Sprint(c.threads), Line: math.NaN(), Value: plot.Value{V: math.NaN(), Note: c.note()}}
			if c.right() {
				b.Line, b.Value = c.p95(), plot.Value{V: c.throughput.Value, Lo: c.throughput.Low, Hi: c.throughput.High}
			}
			g.Bars = append(g.Bars, b)
		}
		if len(g.Bars) > 0 {
			t.Groups = append(t.Groups, g)
		}
	}
	return t
}

func (c *pointCell) note() string {
	return map[run.Verdict]string{run.Wrong: "wrong answers", run.Failed: "failed"}[c.verdict]
}

// scope describes the number of records and the machine.
func (p *points) scope() string {
	m := p.run.Machine
	return fmt.Sprintf("%s records · %s, %d usable", count(p.run.Data.Records), several(m.Threads, "hardware thread"), m.UsableCPUs)
}

// stalled is the fraction of the usual throughput below which an interval counts as a stall.
const stalled = 0.1

// timeline draws the middle run over time.
func (c *pointCell) timeline() Drawing {
	x := c.middle()
	g := plot.Group{Name: c.engine}
	for k, rate := range rates(x) {
		g.Bars = append(g.Bars, plot.Bar{Value: plot.Value{V: rate}, Line: ms(x.Series[k].Slowest), Stalled: rate < stalled*c.throughput.Value})
	}
	return plot.Columns{
		Frame:   plot.Frame{Title: fmt.Sprintf("%s, %s", c.engine, several(c.threads, "thread")), XLabel: "time since the warm-up (s)", YLabel: "operations/s", Width: curveWidth, Height: 280},
		BarName: "operations/s (left)", LineName: "slowest response (right)", StallName: "stall", RightLabel: "slowest response (ms)", Step: x.Interval.Seconds(), Groups: []plot.Group{g},
	}
}

// table lists throughput and percentiles of every point of a mix.
func (p *points) table(mix string) *Table {
	columns := append([]string{"engine", "threads", "an acknowledged write is", "operations/s"}, lists.Map(percentiles()[1:], percentile.column)...)
	t := table(append(columns, "client CPU (µs/op)", "server CPU (µs/op)", "checked (answers)", "proof")...)
	tops := p.tops(mix)
	for _, c := range p.cells {
		if c.mix == mix {
			t.add(classOf(c.overhead, slices.Contains(tops, c)), append([]Cell{text(c.engine), countCell(c.threads), p.guarantee(c)}, c.numbers()...)...)
		}
	}
	t.Note = "Latency is that of all operations, from when they were due. The client's CPU includes that of an embedded engine. Bold: the highest throughput of an engine. " +
		"dry is not a database but the client overhead: the time of the same work if the engine took none."
	return t
}

// guarantee describes what an acknowledged write guarantees and, below it, the observed effect of a
// fault.
func (p *points) guarantee(c *pointCell) Cell {
	of := c.reps[0].Cell
	out := text(acknowledgedBy(p.run, of))
	for i := range p.faults {
		s := &p.faults[i]
		if h := s.Fault.History; s.Cell.Engine == of.Engine && s.Cell.Value("layout") == of.Value("layout") && acknowledgedOf(s) == out.Text && h != nil && len(unmetGuarantees(h)) > 0 {
			out.Sub, out.Class = s.Cell.Value("fault")+": "+strings.Join(unmetGuarantees(h), "; "), "bad"
		}
	}
	return out
}

// numbers returns the cells after a point's name. For an incorrect point it returns only the
// reason.
func (c *pointCell) numbers() []Cell {
	if !c.right() {
		why := bad(c.note())
		why.Sub = c.problem
		return []Cell{why}
	}
	out := []Cell{estimate(c.throughput)}
	for _, q := range percentiles()[1:] {
		out = append(out, numeric(measure.Median(c.over(func(x *point) float64 { return ms(q.of(&x.Response)) }))))
	}
	client, server, a := []float64{}, []float64{}, run.Answers{}
	for _, x := range c.reps {
		n := float64(max(x.Operations, 1))
		client = append(client, float64((x.Client.User+x.Client.System).Microseconds())/n)
		if x.Server != nil && x.Server.Local {
			server = append(server, float64(x.Server.Used.CPU.Microseconds())/n)
		}
		a.Add(*x.Answers)
	}
	return append(out, numeric(measure.Median(client)), numeric(measure.Median(server)), countCell(a.Found), text(c.proof))
}

// used lists what each engine used at its highest throughput.
func (p *points) used(mix string) *Table {
	t := table("engine", "threads", "client (cores)", "server (cores)", "machine (% busy)", "server memory", "read (per s)", "written (per s)")
	for _, c := range p.tops(mix) {
		x := c.middle()
		u := usedBy(x)
		cells := []Cell{text(c.engine), countCell(c.threads), value(u.client, cores(u.client)), when(u.known, value(u.server, cores(u.server)), none), value(u.busy, share(u.busy))}
		if u.known {
			s, wall := x.Server.Used, x.Client.Wall.Seconds()
			cells = append(cells, size(int64(s.PeakRSS), ""), size(float64(s.Read)/wall, ""), size(float64(s.Written)/wall, ""))
		}
		t.add("", cells...)
	}
	t.Note = "Each engine at its highest throughput. The sentence is derived from these figures and from the wait events of sessions, sampled once a second. Shared memory is counted once; reads and writes are those that reached the disk."
	return t
}

// operations lists the percentiles of each operation at the highest throughput.
func (p *points) operations(mix string) *Table {
	shown := slices.DeleteFunc(percentiles(), func(q percentile) bool { return q.name == "p90" })
	columns := append([]string{"engine", "threads", "operation", "outcome", "count"}, lists.Map(shown, percentile.column)...)
	t := table(append(columns, "service p95 (ms)")...)
	for _, c := range p.tops(mix) {
		for _, g := range c.middle().Groups {
			if g.Operation == "VERIFY" && g.Outcome == "OK" {
				continue // it has no time of its own
			}
			cells := []Cell{text(c.engine), countCell(c.threads), text(strings.ToLower(g.Operation)), text(strings.ToLower(g.Outcome)), countCell(g.Count)}
			cells = append(cells, lists.Map(shown, func(q percentile) Cell { return millis(q.of(&g.Response)) })...)
			t.add("", append(cells, millis(g.Service.P95))...)
		}
	}
	return t
}

// counters lists what the servers report about themselves, per operation.
func (p *points) counters(mix string) *Table {
	t := table("engine", "threads", "count", "in the run", "per operation")
	kind := func(name, unit string) Cell {
		if unit != "" {
			name += " (" + unit + ")"
		}
		return text(name)
	}
	for _, c := range p.tops(mix) {
		x := c.middle()
		if x.Server == nil {
			continue
		}
		for _, w := range x.Server.Waits {
			t.add("", text(c.engine), countCell(c.threads), kind("sessions: "+w.Event, strings.TrimPrefix(w.Kind, "cpu")), numeric(w.Sessions))
		}
		for _, k := range x.Server.Counters {
			t.add("", text(c.engine), countCell(c.threads), kind(k.Name, k.Unit), numeric(k.Value), numeric(k.Value/float64(max(x.Operations, 1))))
		}
	}
	t.Note = "Sessions: the average number that was active in this state. The other lines are the increases of the server's own counters, under their own names."
	return t
}

// uslTable lists the parameters of the laws.
func uslTable(all []fittedLaw) *Table {
	t := table("workload", "engine", "λ (operations/s of one thread)", "σ (contention)", "κ (crosstalk)", "peak (threads)", "highest (operations/s)", "error (%)")
	for _, f := range all {
		at := f.law.Peak()
		t.add("", text(f.mix), text(f.engine), estimate(f.law.Lambda), estimate(f.law.Sigma), estimate(f.law.Kappa), when(!math.IsInf(at, 1), numeric(at), "none: it only grows"), when(!math.IsInf(at, 1), numeric(f.law.At(max(at, 1))), none), value(f.law.Error, strconv.FormatFloat(100*f.law.Error, 'f', 1, 64)))
	}
	t.Note = "Throughput of n threads = λ·n / (1 + σ·(n−1) + κ·n·(n−1)) (Gunther). σ is the serial share of the work, κ the cost of coherence between each pair of threads. " +
		"Below each parameter is its 95 % interval (bootstrap over the repetitions); error: root mean square of the relative residuals. " +
		"Engines are omitted if the error exceeds a tenth, or if they were run with fewer than four numbers of threads or fewer than three times each."
	return t
}

// uslPicture draws the throughputs of a mix and the laws that were fitted to them.
func (p *points) uslPicture(mix string, all []fittedLaw) plot.Lines {
	g := plot.Lines{Frame: plot.Frame{
		Title: mix + ": how throughput grows with threads", Subtitle: p.scope(), Width: pageWidth, XLabel: "threads", YLabel: "operations per second",
		Caption: "Points: medians (the tables have their intervals); dashed: the universal scalability law that fits them. Both axes are logarithmic: twice the throughput for twice the threads is a slope of one.",
	}, Coordinate: plot.Sizes}
	for _, f := range all {
		if f.mix != mix {
			continue
		}
		measured, law := plot.Curve{Name: f.engine, Group: f.engine}, plot.Curve{Name: f.engine + ", law", Group: f.engine}
		for _, c := range f.cells {
			measured.Positions, measured.Value = append(measured.Positions, float64(c.threads)), append(measured.Value, c.throughput.Value)
			law.Positions, law.Value = append(law.Positions, float64(c.threads)), append(law.Value, f.law.At(float64(c.threads)))
		}
		g.Curves = append(g.Curves, measured, law)
	}
	return g
}
