package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"barograph/measure"
	"barograph/report/plot"
	"barograph/run"
)

// head is the top of the page.
func (p *points) head() head {
	r := p.run
	f := folder{results: &results{run: r}}
	h := head{ID: r.ID, When: r.Started.UTC().Format("2 January 2006, 15:04 UTC"), Interrupted: r.Ended.IsZero(), Warnings: slices.Clone(r.Warnings), Engines: f.engineTable()}
	for i := range h.Engines.Head {
		if h.Engines.Head[i].Name == "design" {
			h.Engines.Head[i].Name = "layout"
		}
	}
	wrong, seen := 0, map[string]bool{}
	for _, x := range p.all {
		if x.Verdict != run.Equal {
			wrong++
		}
		for _, w := range x.Warnings {
			if !seen[x.Engine+w] {
				seen[x.Engine+w] = true
				h.Warnings = append(h.Warnings, fmt.Sprintf("%s on %s, %s: %s", x.Mix, x.Engine, several(x.Threads, "thread"), w))
			}
		}
	}
	switch h.Right = wrong == 0 && len(p.all) > 0; {
	case len(p.all) == 0:
		h.Proof = "Nothing was run."
	case h.Right:
		h.Proof = p.checked()
	default:
		h.Proof = fmt.Sprintf("%s of %d not right; these have no times.", several(wrong, "run"), len(p.all))
	}
	h.Facts = p.facts(&f)
	return h
}

// checked says what was checked of what, the floor left out: it is no engine.
func (p *points) checked() string {
	var a run.Answers
	for _, x := range p.all {
		if x.Place != "memory" || len(p.engines) == 0 {
			a.Add(*x.Answers)
		}
	}
	if a.Found == 0 {
		return "This folder does not say what was checked of its answers." // an older one
	}
	words := fmt.Sprintf("%s reads and scans were held against the keys and fields that must be there: all are right. ", count(a.Found))
	switch {
	case a.Values >= a.Found:
		words += "So is each of their values."
	case a.Values > 0:
		words += fmt.Sprintf("The values of %s of them were compared, and are right.", count(a.Values))
	default:
		words += "No value was compared (--verify does that)."
	}
	if a.Written > 0 {
		words += fmt.Sprintf(" %s writes were acknowledged: of each run up to 66 records were read back, all of them are there.", count(a.Written))
	}
	return words
}

func (p *points) facts(f *folder) []fact {
	r, m := p.run, p.run.Machine
	clients := 1
	for _, x := range p.all {
		clients = max(clients, x.Clients)
	}
	out := []fact{
		{"Records", count(r.Data.Records) + " in the table"},
		{"Machine", fmt.Sprintf("%s · %s, %d usable by the client · %s memory · %s · %s%s", m.CPU, several(m.Threads, "thread"), m.UsableCPUs, byteSize(float64(m.Memory)), m.OS, m.Kernel, virtual(m))},
		{"Disk", fmt.Sprintf("%s · load average before the run %.2f", m.Disk.Type, m.Load[0])},
		{"Barograph", fmt.Sprintf("%s · %s %s", r.Version, m.Go, m.Arch)},
	}
	if s := f.servers(); s != "" {
		out = append(out, fact{"Servers", s})
	}
	if clients > 1 {
		out = append(out, fact{"Clients", fmt.Sprintf("%d machines, merged; the machine above is the first’s", clients)})
	}
	return append(out, fact{"Command", strings.Join(append([]string{"barograph"}, r.Args...), " ")})
}

// rates are operations per second by interval. The last interval is left out
// where it is not whole.
func rates(x *point) []float64 {
	if x.Interval <= 0 {
		return nil
	}
	n := min(len(x.Series), max(1, int(x.Total/x.Interval)))
	out := make([]float64, n)
	for i := range out {
		out[i] = float64(x.Series[i].Ended) / x.Interval.Seconds()
	}
	return out
}

// table is throughput and percentiles of every point of a mix.
func (p *points) table(mix string) table {
	t := table{Wide: true, Head: []column{{Name: "engine", Text: true}, {Name: "threads"}, {Name: "operations/s"}}}
	for _, name := range []string{"p50", "p90", "p95", "p99", "p99.9", "max"} {
		t.Head = append(t.Head, column{Name: name, Unit: "ms"})
	}
	t.Head = append(t.Head, column{Name: "client CPU", Unit: "µs/op"}, column{Name: "server CPU", Unit: "µs/op"}, column{Name: "checked", Unit: "answers"}, column{Name: "by", Text: true})
	tops := map[*pointCell]bool{}
	for _, e := range p.engines {
		tops[best(p.of(mix, e))] = true
	}
	for _, c := range p.cells {
		if c.mix != mix {
			continue
		}
		r := row{Cells: []cell{text(c.engine), value(float64(c.threads), fmt.Sprint(c.threads))}}
		switch {
		case c.floor:
			r.Class = "floor"
		case tops[c]:
			r.Class = "best"
		}
		r.Cells = append(r.Cells, c.numbers()...)
		t.Rows = append(t.Rows, r)
	}
	t.Note = "Latency is that of all operations, from when they were due. The client's CPU holds that of an engine that works inside it. Bold: the highest throughput of an engine. " +
		"dry is no database but the client's own floor: what the client would take for the same work if the engine took no time."
	return t
}

// numbers are the cells behind a point's name; of one that is not right there are none.
func (c *pointCell) numbers() []cell {
	if !c.right() {
		out := []cell{{Text: noteOf(c), Sub: shortened(c.problem), Class: "bad"}}
		for range 10 {
			out = append(out, dim(none))
		}
		return out
	}
	rate := value(c.throughput.Value, number(c.throughput.Value))
	if len(c.reps) > 1 && c.throughput.Low < c.throughput.High {
		rate.Sub = interval(c.throughput.Low, c.throughput.High)
	}
	out := []cell{rate}
	for _, d := range []time.Duration{c.response.P50, c.response.P90, c.response.P95, c.response.P99, c.response.P999, c.response.Max} {
		out = append(out, value(ms(d), number(ms(d))))
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
	out = append(out, value(measure.Median(client), number(measure.Median(client))))
	if len(server) > 0 {
		out = append(out, value(measure.Median(server), number(measure.Median(server))))
	} else {
		out = append(out, dim(none))
	}
	return append(out, value(float64(a.Found), count(a.Found)), text(degree(a)))
}

// degree is how far answers were checked.
func degree(a run.Answers) string {
	switch {
	case a.Found > 0 && a.Values >= a.Found:
		return "values"
	case a.Values > 0:
		return "some values"
	}
	return "keys"
}

func shortened(s string) string {
	if r := []rune(s); len(r) > 90 {
		return string(r[:90]) + "…"
	}
	return s
}

// bottlenecks names what limited each engine where its throughput was highest.
func (p *points) bottlenecks(mix string) table {
	t := table{Head: []column{{Name: "engine", Text: true}, {Name: "threads"}, {Name: "bottleneck", Text: true, Wrap: true}, {Name: "client", Unit: "cores"}, {Name: "server", Unit: "cores"},
		{Name: "machine", Unit: "% busy"}, {Name: "server memory"}, {Name: "read", Unit: "per s"}, {Name: "written", Unit: "per s"}}}
	for _, e := range p.engines {
		c := best(p.of(mix, e))
		if c == nil {
			continue
		}
		x := c.middle()
		u := usedBy(x)
		r := row{Cells: []cell{text(e), value(float64(c.threads), fmt.Sprint(c.threads)), text(bottleneck(x)), value(u.client, cores(u.client)), dim(none), value(u.busy, share(u.busy)), dim(none), dim(none), dim(none)}}
		if u.known {
			s, wall := x.Server.Used, x.Client.Wall.Seconds()
			r.Cells[4], r.Cells[6] = value(u.server, cores(u.server)), value(float64(s.PeakRSS), byteSize(float64(s.PeakRSS)))
			r.Cells[7], r.Cells[8] = value(float64(s.Read), byteSize(float64(s.Read)/wall)), value(float64(s.Written), byteSize(float64(s.Written)/wall))
		}
		t.Rows = append(t.Rows, r)
	}
	t.Note = "Each engine at its highest throughput. The sentence is made of the figures beside it and of what sessions were found waiting for, looked at once a second. Memory that processes share is counted once; reads and writes are those that reached the disk."
	return t
}

// operations are the percentiles of each operation, where throughput was highest.
func (p *points) operations(mix string) table {
	t := table{Wide: true, Head: []column{{Name: "engine", Text: true}, {Name: "threads"}, {Name: "operation", Text: true}, {Name: "outcome", Text: true}, {Name: "count"}}}
	for _, name := range []string{"mean", "p50", "p95", "p99", "p99.9", "max"} {
		t.Head = append(t.Head, column{Name: name, Unit: "ms"})
	}
	t.Head = append(t.Head, column{Name: "service p95", Unit: "ms"})
	for _, e := range p.engines {
		c := best(p.of(mix, e))
		if c == nil {
			continue
		}
		for _, g := range c.middle().Groups {
			if g.Operation == "VERIFY" && g.Outcome == "OK" {
				continue // it has no time of its own
			}
			r := row{Cells: []cell{text(e), value(float64(c.threads), fmt.Sprint(c.threads)), text(strings.ToLower(g.Operation)), text(strings.ToLower(g.Outcome)), value(float64(g.Count), count(g.Count))}}
			for _, d := range []time.Duration{g.Response.Mean, g.Response.P50, g.Response.P95, g.Response.P99, g.Response.P999, g.Response.Max, g.Service.P95} {
				r.Cells = append(r.Cells, value(ms(d), number(ms(d))))
			}
			t.Rows = append(t.Rows, r)
		}
	}
	return t
}

// counters are what the servers told of themselves, by operation.
func (p *points) counters(mix string) table {
	t := table{Head: []column{{Name: "engine", Text: true}, {Name: "threads"}, {Name: "count", Text: true}, {Name: "in the run"}, {Name: "per operation"}}}
	for _, e := range p.engines {
		c := best(p.of(mix, e))
		if c == nil || c.middle().Server == nil {
			continue
		}
		x := c.middle()
		head := []cell{text(e), value(float64(c.threads), fmt.Sprint(c.threads))}
		for _, w := range x.Server.Waits {
			name := w.What
			if w.Kind != "cpu" {
				name += " (" + w.Kind + ")"
			}
			t.Rows = append(t.Rows, row{Cells: append(slices.Clone(head), text("sessions: "+name), value(w.Sessions, number(w.Sessions)), dim(none))})
		}
		for _, k := range x.Server.Counters {
			name := k.Name
			if k.Unit != "" {
				name += " (" + k.Unit + ")"
			}
			per := k.Value / float64(max(x.Operations, 1))
			t.Rows = append(t.Rows, row{Cells: append(slices.Clone(head), text(name), value(k.Value, number(k.Value)), value(per, number(per)))})
		}
	}
	t.Note = "Sessions: how many were found at work so, on average. The other lines are what counts of the server grew by, in its own words."
	return t
}

// fitted is the universal scalability law of a mix on an engine.
type fitted struct {
	mix, engine string
	cells       []*pointCell // that are right
	law         measure.USL
}

// lawReps are the fewest repetitions over which the law's parameters have an interval.
const lawReps = 3

// usl fits the law to numbers of threads that were right and repeated. One that
// does not hold is not told: its parameters mean nothing.
func (p *points) usl() (out []fitted) {
	for _, mix := range p.mixes {
		for _, e := range p.engines {
			f := fitted{mix: mix, engine: e}
			var n []float64
			var x [][]float64
			for _, c := range p.of(mix, e) {
				if !c.right() {
					continue
				}
				var reps []float64
				for _, r := range c.reps {
					reps = append(reps, r.Throughput)
				}
				f.cells, n, x = append(f.cells, c), append(n, float64(c.threads)), append(x, reps)
			}
			if slices.ContainsFunc(f.cells, func(c *pointCell) bool { return len(c.reps) < lawReps }) {
				continue
			}
			var err error
			if f.law, err = measure.FitUSL(n, x, p.run.Seed); err == nil && f.law.Holds() {
				out = append(out, f)
			}
		}
	}
	return out
}

// uslTable is the parameters of the laws.
func uslTable(all []fitted) table {
	t := table{Head: []column{{Name: "workload", Text: true}, {Name: "engine", Text: true}, {Name: "λ", Unit: "operations/s of one thread"}, {Name: "σ", Unit: "contention"}, {Name: "κ", Unit: "crosstalk"},
		{Name: "peak", Unit: "threads"}, {Name: "highest", Unit: "operations/s"}, {Name: "error", Unit: "%"}}}
	for _, f := range all {
		t.Rows = append(t.Rows, uslRow(f.mix, f.engine, f.law))
	}
	t.Note = "Throughput of n threads = λ·n / (1 + σ·(n−1) + κ·n·(n−1)) (Gunther). σ is the share of the work that is done one at a time, κ what each pair of threads costs. " +
		"Below each parameter its 95 % interval, a bootstrap over the repetitions; error: root mean square of what the law is off by. " +
		"Engines of which the law is off by more than a tenth, or that were run with fewer than four numbers of threads or three times each, are left out."
	return t
}

// uslPicture is the throughputs of a mix and the laws that were fitted to them.
func (p *points) uslPicture(mix string, all []fitted) ([]byte, error) {
	g := plot.Growth{Frame: plot.Frame{Title: mix + ": how throughput grows with threads", Subtitle: p.scope(), Width: pageWidth, XLabel: "threads", YLabel: "operations per second",
		Caption: "Points: medians, whose intervals stand in the tables; dashed: the universal scalability law that fits them. Both axes are logarithms: twice the throughput for twice the threads is a slope of one."}}
	for _, f := range all {
		if f.mix != mix {
			continue
		}
		at := slices.Index(p.engines, f.engine) % plot.Hues
		measured, law := plot.GrowthCurve{Name: f.engine, Hue: at + 1}, plot.GrowthCurve{Name: f.engine + ", law", Hue: at + 1 + plot.Hues}
		for _, c := range f.cells {
			n := float64(c.threads)
			measured.Size, measured.Value = append(measured.Size, n), append(measured.Value, c.throughput.Value)
			law.Size, law.Value = append(law.Size, n), append(law.Value, f.law.At(n))
		}
		g.Curves = append(g.Curves, measured, law)
	}
	if len(g.Curves) == 0 {
		return nil, nil
	}
	return g.SVG()
}

func uslRow(mix, engine string, u measure.USL) row {
	with := func(e measure.Estimate) cell {
		c := value(e.Value, number(e.Value))
		if e.Low < e.High {
			c.Sub = interval(e.Low, e.High)
		}
		return c
	}
	peak, top := text("it only grows"), dim(none)
	if at := u.Peak(); !math.IsInf(at, 1) {
		peak, top = value(at, number(at)), value(u.At(max(at, 1)), number(u.At(max(at, 1))))
	}
	return row{Cells: []cell{text(mix), text(engine), with(u.Lambda), with(u.Sigma), with(u.Kappa), peak, top, value(u.Error, strconv.FormatFloat(100*u.Error, 'f', 1, 64))}}
}

// PointsText prints the tables of points for a terminal.
func PointsText(w io.Writer, samples []run.Sample) error {
	p := gather(pointsOf(samples))
	p.run = &run.Run{}
	return p.text(w)
}

func (p *points) text(w io.Writer) error {
	for _, mix := range p.mixes {
		t := p.table(mix)
		t.Title, t.Note = mix+": "+p.mixInWords(mix), "dry is no database but the client's own floor."
		if err := t.write(w); err != nil {
			return err
		}
		for _, e := range p.engines {
			if c := best(p.of(mix, e)); c != nil {
				if _, err := io.WriteString(w, wrap(printable(fmt.Sprintf("%s, %s: %s", e, several(c.threads, "thread"), bottleneck(c.middle()))), 140)+"\n"); err != nil {
					return err
				}
			}
		}
	}
	if usl := uslTable(p.usl()); len(usl.Rows) > 0 {
		usl.Title, usl.Note = "Universal scalability law", ""
		return usl.write(w)
	}
	return nil
}
