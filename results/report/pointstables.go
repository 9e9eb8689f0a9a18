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

// addTo adds the answers, facts and sections of a run of mixes to a report.
func (p *points) addTo(r *Report) {
	wrong, clients, all := 0, 1, pointsOf(p.samples)
	for _, x := range all {
		if !x.Verdict.IsCorrect() {
			wrong++
		}
		for _, w := range x.Warnings {
			warning := fmt.Sprintf("%s on %s, %s: %s", x.Mix, x.Engine, several(x.Threads, "thread"), w)
			r.Warnings = appendNew(r.Warnings, warning)
		}
		clients = max(clients, x.LoadMachines)
	}
	switch {
	case len(all) == 0:
		r.Answers = append(r.Answers, verdict(false, "No operation was run."))
	case wrong == 0:
		r.Answers = append(r.Answers, verdict(true, checked(all)))
	default:
		incorrect := fmt.Sprintf("%s of %d not correct; these have no times.", several(wrong, "run"), len(all))
		r.Answers = append(r.Answers, verdict(false, incorrect))
	}
	r.Facts = append([]Fact{{"Records", count(p.run.Data.Records) + " in the table"}}, runFacts(p.run)...)
	if clients > 1 {
		merged := fmt.Sprintf("%d machines, merged; the facts “Machine” and “Disk” are those of the first", clients)
		r.Facts = append(r.Facts, Fact{"Clients", merged})
	}
	r.Facts = append(append(r.Facts, ddlFacts(p.run)...), Fact{"Command", commandLine(p.run.Args)})
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
	r.Sections = append(r.Sections, rampSections(p.steps)...)
	r.Sections = append(r.Sections, transferSections(p.samples)...)
	for _, f := range p.run.Findings {
		r.Answers = append(r.Answers, headline("%s.", f))
	}
	r.Sections = append(r.Sections, filled(scalability)...)
	r.Sections = append(r.Sections, tableSections(p.run)...)
	method := append(explain("mixes"), explain("latency")...)
	r.Sections = append(r.Sections, Section{ID: "method", Title: "How it was measured", Words: method})
}

// section describes one mix.
func (p *points) section(mix string, laws []fittedLaw) Section {
	bottlenecks := Section{Title: "The bottleneck", Table: p.usage(mix), Terminal: true}
	timelines := Section{Title: "Over time", Small: "each engine at its highest throughput", SideBySide: true}
	for _, c := range p.tops(mix) {
		sigma := noLaw
		if f := first(laws, func(f fittedLaw) bool { return f.mix == mix && f.engine == c.engine }); f != nil {
			sigma = f.law.Sigma.Value
		}
		cause := say("%s, %s: %s", c.engine, several(c.threads, "thread"), bottleneck(c.typical(), sigma))
		bottlenecks.Words = append(bottlenecks.Words, cause...)
		if len(c.typical().Series) <= 2 {
			continue
		}
		if sessions := c.sessions(); len(sessions.Layers) > 0 {
			pictures := []Drawing{c.timeline(), sessions}
			timelines.Parts = append(timelines.Parts, Section{Title: c.engine, Pictures: pictures})
		} else {
			timelines.Pictures = append(timelines.Pictures, c.timeline())
		}
	}
	bottlenecks.Parts = filled(
		Section{Title: "Statements that took the servers longest", Folded: true, Table: p.statements(mix)},
		Section{Title: "Counters of the servers", Folded: true, Table: p.counters(mix)},
		Section{Title: "Percentiles of each operation", Folded: true, Table: p.operations(mix)},
	)
	operations := p.mixInWords(mix)
	return Section{
		ID: mix, Title: mix, Small: operations, Terminal: true, Words: say("%s.", operations),
		Pictures: []Drawing{p.picture(mix, operations)}, Table: p.table(mix), Parts: filled(bottlenecks, timelines),
	}
}

// picture draws throughput as bars, with the 95th percentile as a line.
func (p *points) picture(mix, operations string) Drawing {
	t := plot.Columns{
		Frame: plot.Frame{
			Title: mix + ": throughput, and the latency that it costs", Subtitle: operations + " · " + p.scope(),
			Width: pageWidth, YLabel: "operations per second", Caption: prose("throughput picture"),
		},
		RightLabel: "95th percentile of latency (ms)", LineName: "95th percentile of latency (right axis)",
		BarName: "operations per second (left axis)", BarUnit: "threads",
	}
	for _, e := range p.engines {
		g := plot.Group{Name: e}
		for _, c := range p.of(mix, e) {
			b := plot.Bar{Label: fmt.Sprint(c.threads), Line: math.NaN(), Value: plot.Value{V: math.NaN(), Note: c.note()}}
			if c.isCorrect() {
				b.Line, b.Value = c.p95(), valueOf(c.throughput)
			}
			g.Bars = append(g.Bars, b)
		}
		if len(g.Bars) > 0 {
			t.Groups = append(t.Groups, g)
		}
	}
	return t
}

// note returns the reason why a cell has no times.
func (c *pointCell) note() string {
	return map[run.Verdict]string{run.Wrong: "wrong answers", run.Failed: "failed"}[c.verdict]
}

// scope describes the number of records and the machine.
func (p *points) scope() string {
	m := p.run.Machine
	return fmt.Sprintf("%s · %s, %d usable", several(p.run.Data.Records, "record"), several(m.Threads, "hardware thread"), m.UsableCPUs)
}

// stallShare is the share of the usual throughput below which an interval counts as a stall.
const stallShare = 0.1

// timeline draws the typical repetition of the cell over time.
func (c *pointCell) timeline() Drawing {
	x := c.typical()
	g := plot.Group{Name: c.engine}
	for k, rate := range rates(x) {
		isStall := x.fillsIntervals() && rate < stallShare*c.throughput.Value
		g.Bars = append(g.Bars, plot.Bar{Value: plot.Value{V: rate}, Line: ms(x.Series[k].Slowest), Stalled: isStall})
	}
	return plot.Columns{
		Frame: plot.Frame{
			Title: c.engine + ", " + several(c.threads, "thread"), Width: curveWidth, Height: 280,
			XLabel: "time since the warm-up (s)", YLabel: "operations/s",
		},
		BarName: "operations/s (left)", LineName: "slowest response (right)", StallName: "stall",
		RightLabel: "slowest response (ms)", Step: x.Interval.Seconds(), Groups: []plot.Group{g},
	}
}

// table lists throughput and percentiles of every point of a mix.
func (p *points) table(mix string) *Table {
	columns := []string{"engine", "threads", "an acknowledged write is", "operations/s"}
	columns = append(columns, lists.Map(percentiles()[1:], percentile.column)...)
	t := table(append(columns, "client CPU (µs/op)", "server CPU (µs/op)", "checked (answers)", "proof")...)
	tops := p.tops(mix)
	for _, c := range p.cells {
		if c.mix == mix {
			names := []Cell{text(c.engine), countCell(c.threads), p.guarantee(c)}
			t.add(classOf(c.overhead, slices.Contains(tops, c)), append(names, c.numbers()...)...)
		}
	}
	t.Note = prose("points")
	return t
}

// guarantee describes what an acknowledged write guarantees and, below it, the observed effect of a fault.
func (p *points) guarantee(c *pointCell) Cell {
	cell := c.reps[0].Cell
	out := text(acknowledgedBy(p.run, cell))
	for i := range p.faults {
		s := &p.faults[i]
		isSameServer := s.Cell.Engine == cell.Engine && s.Cell.Value("layout") == cell.Value("layout") &&
			acknowledgedOf(s) == out.Text
		if h := s.Fault.History; isSameServer && h != nil && len(unmetGuarantees(h)) > 0 {
			out.Sub, out.Class = s.Cell.Value("fault")+": "+strings.Join(unmetGuarantees(h), "; "), "bad"
		}
	}
	return out
}

// numbers returns the cells after a point's name. For an incorrect point it returns only the reason.
func (c *pointCell) numbers() []Cell {
	if !c.isCorrect() {
		reason := bad(c.note())
		reason.Sub = c.problem
		return []Cell{reason}
	}
	out := []Cell{estimate(c.throughput)}
	for _, q := range percentiles()[1:] {
		out = append(out, numeric(measure.Median(c.values(func(x *point) float64 { return ms(q.of(&x.Response)) }))))
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

// usage lists the resources that each engine used at its highest throughput.
func (p *points) usage(mix string) *Table {
	t := table("engine", "threads", "client (cores)", "server (cores)", "machine (% busy)", "server memory", "read (per s)")
	for _, c := range p.tops(mix) {
		x := c.typical()
		u := usageOf(x)
		server := when(u.serverKnown, value(u.server, cores(u.server)), none)
		cells := []Cell{text(c.engine), countCell(c.threads), value(u.client, cores(u.client)), server}
		cells = append(cells, value(u.busy, share(u.busy)))
		if u.serverKnown {
			s := x.Server.Used
			cells = append(cells, size(int64(s.PeakRSS), ""), size(float64(s.Read)/x.Client.Wall.Seconds(), ""))
		}
		t.add("", cells...)
	}
	t.Note = prose("usage")
	return t
}

// operations lists the percentiles of each operation at the highest throughput.
func (p *points) operations(mix string) *Table {
	shown := slices.DeleteFunc(percentiles(), func(q percentile) bool { return q.name == "p90" })
	columns := append([]string{"engine", "threads", "operation", "outcome", "count"}, lists.Map(shown, percentile.column)...)
	t := table(append(columns, "service p95 (ms)")...)
	for _, c := range p.tops(mix) {
		for _, g := range c.typical().Groups {
			if g.Operation == "VERIFY" && g.Outcome == "OK" {
				continue // it has no time of its own
			}
			names := texts(strings.ToLower(g.Operation), strings.ToLower(g.Outcome))
			cells := slices.Concat([]Cell{text(c.engine), countCell(c.threads)}, names, []Cell{countCell(g.Count)})
			cells = append(cells, lists.Map(shown, func(q percentile) Cell { return millis(q.of(&g.Response)) })...)
			t.add("", append(cells, millis(g.Service.P95))...)
		}
	}
	return t
}

// counters lists what the servers report about themselves, per operation.
func (p *points) counters(mix string) *Table {
	t := table("engine", "threads", "count", "in the run", "per operation")
	add := func(c *pointCell, name, unit string, values ...Cell) {
		if unit != "" {
			name += " (" + unit + ")"
		}
		t.add("", append([]Cell{text(c.engine), countCell(c.threads), text(name)}, values...)...)
	}
	for _, c := range p.tops(mix) {
		x := c.typical()
		if x.Server == nil {
			continue
		}
		for _, w := range x.Server.Waits {
			add(c, "sessions: "+w.Event, strings.TrimPrefix(w.Kind, "cpu"), numeric(w.Sessions))
		}
		for _, k := range x.Server.Counters {
			add(c, k.Name, k.Unit, numeric(k.Value), numeric(k.Value/float64(max(x.Operations, 1))))
		}
	}
	t.Note = prose("counters")
	return t
}

// uslTable lists the parameters of the laws.
func uslTable(all []fittedLaw) *Table {
	t := table("workload", "engine", "λ (operations/s of one thread)", "σ (contention)", "κ (crosstalk)", "peak (threads)",
		"highest (operations/s)", "error (%)")
	for _, f := range all {
		parameters := lists.Map([]measure.Estimate{f.law.Lambda, f.law.Sigma, f.law.Kappa}, estimate)
		peak := f.law.Peak()
		hasPeak := !math.IsInf(peak, 1)
		t.add("", slices.Concat(texts(f.mix, f.engine), parameters, []Cell{
			when(hasPeak, numeric(peak), "none: it only grows"), when(hasPeak, numeric(f.law.At(peak)), none),
			value(f.law.Error, strconv.FormatFloat(100*f.law.Error, 'f', 1, 64)),
		})...)
	}
	t.Note = prose("scalability")
	return t
}

// uslPicture draws the throughputs of a mix and the laws that were fitted to them.
func (p *points) uslPicture(mix string, all []fittedLaw) plot.Lines {
	g := plot.Lines{Frame: plot.Frame{
		Title: mix + ": how throughput grows with threads", Subtitle: p.scope(), Width: pageWidth,
		XLabel: "threads", YLabel: "operations per second", Caption: prose("scalability picture"),
	}, Coordinate: plot.Sizes}
	for _, f := range all {
		if f.mix != mix {
			continue
		}
		measured := plot.Curve{Name: f.engine, Group: f.engine}
		law := plot.Curve{Name: f.engine + ", law", Group: f.engine}
		for _, c := range f.cells {
			threads := float64(c.threads)
			measured.Positions, measured.Value = append(measured.Positions, threads), append(measured.Value, c.throughput.Value)
			law.Positions, law.Value = append(law.Positions, threads), append(law.Value, f.law.At(threads))
		}
		g.Curves = append(g.Curves, measured, law)
	}
	return g
}
