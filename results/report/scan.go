package report

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/plot"
	"github.com/barograph/barograph/results/run"
)

// openScans reports a run of the workload scan.
func openScans(dir string, r *run.Run, samples []run.Sample) *Report {
	s := gatherScans(r, samples)
	out := ofRun(dir, r, s.heading())
	out.Name, out.Data = "scan · "+filepath.Base(dir), map[string]any{"run": r, "samples": samples}
	out.Answers = append(out.Answers, headline("%s", s.sentence()))
	facts := []Fact{{"Engine", s.product}, {"Data", s.data()}, {"Disks", s.DiskLimits}}
	out.Facts = slices.Concat(facts, machineFacts(r.Machine), []Fact{{"Command", commandLine(r.Args)}})
	for _, f := range []Fact{{"Server", s.server()}, {"Partitions", s.PartitionRule}, {"Cold", r.ColdMethod}} {
		if f.Text != "" {
			out.Facts = append(out.Facts, f)
		}
	}
	plans := Section{ID: "plans", Title: "Texts and plans"}
	for i, c := range s.Configs {
		part := Section{Title: s.names[i], Folded: true, Text: c.Problem}
		for _, p := range c.Plans {
			part.Parts = append(part.Parts, Section{Title: p.Query, Text: strings.TrimSpace(p.Text + "\n\n" + p.Plan)})
		}
		plans.Parts = append(plans.Parts, part)
	}
	out.Sections = filled(
		Section{ID: "pictures", Title: "Pictures", Pictures: s.pictures()},
		Section{
			ID: "times", Title: "Response times", Terminal: true, Table: s.times(),
			Words: append(explain("scan proof"), s.published()...),
		},
		Section{ID: "held", Title: "The bottleneck", Terminal: true, Table: s.bottlenecks()},
		Section{ID: "laws", Title: "The model of the times", Terminal: true, Table: s.models()},
		Section{ID: "given-up", Title: "Given up", Terminal: true, Table: s.failedConfigs()},
		Section{ID: "loads", Title: "Placement of the data", Parts: filled(
			Section{Title: "Configurations", Terminal: true, Table: s.loads()},
			Section{Title: "Paths", Terminal: true, Table: s.paths()},
		)},
		plans)
	return out
}

// scans contains the samples of a run, grouped by configuration, question and phase.
type scans struct {
	*run.Scan
	run     *run.Run
	product string
	names   []string // of the configurations
	cells   []*scanCell
}

// scanCell is one question with one configuration in one phase.
type scanCell struct {
	*repeats // compared with those of the first configuration
	timedQuery
	config int // index in Configs
	query  string
	mean   measure.Estimate // seconds
}

// timedQuery is a cell in a phase.
type timedQuery struct {
	cell  run.Cell
	phase run.Phase
}

// name returns the question and the phase. Only configurations with the same name are compared.
func (c *scanCell) name() string { return c.query + ", " + string(c.phase) }

// gatherScans groups the samples and compares the configurations.
func gatherScans(r *run.Run, samples []run.Sample) *scans {
	s := &scans{Scan: r.Scan, run: r, product: r.Archives[0].Product + " " + r.Archives[0].Version}
	for i := range s.Configs {
		s.names = append(s.names, s.name(&s.Configs[i]))
	}
	for k, x := range repeated(samples, func(s *run.Sample) timedQuery { return timedQuery{s.Cell, s.Phase} }) {
		c := &scanCell{repeats: x, timedQuery: k, config: r.ConfigIndex(k.cell), query: k.cell.Value("query")}
		c.mean = measure.Mean(x.seconds)
		c.mean.Low = max(c.mean.Low, 0) // no result takes less
		if len(x.seconds) < minMeanReps {
			c.mean.Low, c.mean.High = math.NaN(), math.NaN()
		}
		s.cells = append(s.cells, c)
	}
	slices.SortStableFunc(s.cells, func(a, b *scanCell) int { // warm, then cold
		return cmp.Or(cmp.Compare(a.query, b.query), cmp.Compare(b.phase, a.phase), cmp.Compare(a.config, b.config))
	})
	s.compare()
	return s
}

// minMeanReps is the minimum number of repetitions for a useful interval of a mean.
const minMeanReps = 5

// compare compares every configuration of a question and phase with the first.
func (s *scans) compare() {
	var all family
	for _, c := range s.cells {
		if b := s.base(c); b != nil && b != c && c.problem == "" {
			all.add(b.seconds, c.seconds, s.run.Seed, func(x *measure.Comparison) { c.comparison = x })
		}
	}
	all.correct()
}

// name describes a configuration in a few words; it names workers only if they differ.
func (s *scans) name(c *run.ScanConfig) string {
	if c.Design != "" {
		return c.Design
	}
	name := several(c.Paths, "path") + " × " + several(c.Partitions, "partition")
	if c.Paths == 0 {
		name = several(c.Partitions, "partition") + " in the engine's folder"
	}
	for i := range s.Configs {
		if o := &s.Configs[i]; o.Paths == c.Paths && o.Partitions == c.Partitions && o.Workers != c.Workers {
			return name + ", " + several(c.Workers, "worker")
		}
	}
	return name
}

// base returns the configuration with which the others of a question and phase are compared: the first one with the
// same degree of proof.
func (s *scans) base(c *scanCell) *scanCell {
	isBase := func(b *scanCell) bool { return b.name() == c.name() && b.proof == c.proof && b.problem == "" }
	return *cmp.Or(first(s.cells, isBase), new(*scanCell))
}

// heading returns the question of the run.
func (s *scans) heading() string {
	if s.Archive != nil {
		return "Mean anomaly correlation over a complete archive"
	}
	return "How many disks, how many partitions?"
}

// data describes the queried data.
func (s *scans) data() string {
	if a := s.Archive; a != nil {
		return fmt.Sprintf("verification archive, %s, %s: %s, of which %d are of %s, in %s",
			several(a.Files, "file"), byteSize(float64(a.Bytes)), several(a.Lines, "line"),
			a.Records, a.LineType, several(a.Groups, "group"))
	}
	return fmt.Sprintf("TPC-DS at scale factor %g, %s; %s sales", s.Scale, s.Generator, count(s.Rows["store_sales"]))
}

// times returns the original's table, the mean response time by configuration, with intervals, which the original
// lacks.
func (s *scans) times() *Table {
	t := table("question", "phase", "configuration", "n", "mean (s)", "95 % (s)", "median (s)", "times as fast",
		"95 % of that", "beyond chance", "proof")
	t.Note = prose("scan times")
	for _, c := range s.cells {
		cells := append(texts(c.query, string(c.phase), s.names[c.config]), countCell(len(c.seconds)))
		if c.problem != "" {
			t.add("", append(cells, Cell{Text: "wrong", Sub: c.problem, Class: "bad"})...)
			continue
		}
		speed := []Cell{dim("1"), dim(none), dim("")}
		if x := c.comparison; x != nil {
			speed = []Cell{numeric(x.Ratio), span(x.Lo, x.Hi), text(x.Mark())}
		}
		times := []Cell{numeric(c.mean.Value), span(c.mean.Low, c.mean.High), numeric(measure.Median(c.seconds))}
		t.add("", slices.Concat(cells, times, speed, texts(c.proof))...)
	}
	return t
}

// publishedCores is the number of cores of the machines of the published experiments.
const publishedCores = 8

// published compares the two configurations of the published second experiment: one path with the automatic number of
// partitions, and a partition on each of all paths. It names what this machine cannot show of the experiment.
func (s *scans) published() []Words {
	last := len(s.Configs) - 1
	if s.Experiment != "experiment2" || last < 1 {
		return nil
	}
	if s.Configs[0].Paths != 1 || s.Configs[0].Partitions < 2 || s.Configs[last].Paths < 2 { // of an earlier version
		return nil
	}
	var parts []string
	for _, c := range s.cells {
		if x := c.comparison; x != nil && c.config == last && s.base(c).config == 0 {
			within := "too few repetitions for an interval"
			if !math.IsNaN(x.Lo) {
				within = interval(x.Lo, x.Hi)
			}
			parts = append(parts, fmt.Sprintf("%s: %s times as fast (%s)", c.name(), number(x.Ratio), within))
		}
	}
	if len(parts) == 0 {
		return nil
	}
	words := fmt.Sprintf("The published experiment 2 compared %s with %s. Here, %s. "+
		"The article reports more than 7 times for its scan on six hard disks.",
		s.names[0], s.names[last], strings.Join(parts, "; "))
	if slices.ContainsFunc(s.Disks, func(d run.ScanDisk) bool { return d.Limit > 0 }) {
		words += " " + prose("throttled disks")
	}
	if n := s.run.Machine.UsableCPUs; n > 0 && n < publishedCores {
		words += fmt.Sprintf(" With %s instead of %d, fewer partitions are read at the same time, and results that the cores "+
			"limit do not become faster.", several(n, "core"), publishedCores)
	}
	return say("%s", words)
}

// paths lists the locations of the disks, and their measured rates.
func (s *scans) paths() *Table {
	t := table("path", "device", "file system", "measured read rate", "limit", "how")
	rate := func(v float64) Cell { return when(v > 0, size(v, "/s"), none) }
	for _, d := range s.Disks {
		names := texts(d.Path, cmp.Or(d.Device, "not counted"), d.Type)
		t.add("", append(names, rate(d.Rate), rate(d.Limit), text(d.RateMethod))...)
	}
	return t
}

// sentence names the fastest configuration of each question, with the ratio of the table and its interval. It omits a
// ratio without an interval and a ratio that chance may explain.
func (s *scans) sentence() string {
	best := map[string]*scanCell{}
	var order []string
	problems := ""
	for _, c := range s.cells {
		k := c.name()
		if c.problem != "" {
			problems = " Results were WRONG: they have no times."
			continue
		}
		order = appendNew(order, k)
		if best[k] == nil || measure.Median(c.seconds) < measure.Median(best[k].seconds) {
			best[k] = c
		}
	}
	parts := lists.Map(order, func(k string) string { return k + ": " + s.fastest(best[k]) })
	problems += s.failedConfigsInWords()
	if len(parts) == 0 {
		return s.product + ": nothing was timed." + problems
	}
	return fmt.Sprintf("%s: %s.%s", s.product, strings.Join(parts, "; "), problems)
}

// fastest describes how many times as fast the cell with the smallest median is.
func (s *scans) fastest(c *scanCell) string {
	b, x := s.base(c), c.comparison
	name, base := s.names[c.config], s.names[b.config]
	isCompared := func(o *scanCell) bool { return o != c && s.base(o) == c && o.problem == "" }
	switch {
	case b == c && !slices.ContainsFunc(s.cells, isCompared):
		return "one configuration, " + name
	case b == c:
		return "nothing is faster than " + name
	case x.Significant() && x.Lo > 1:
		return fmt.Sprintf("%s times as fast (%s) with %s as with %s", number(x.Ratio), interval(x.Lo, x.Hi), name, base)
	case x.Significant(): // the interval of the ratio is not known or contains 1
		return fmt.Sprintf("%s is faster than %s; %d repetitions are too few to determine by how much",
			name, base, len(c.seconds))
	case !x.CanDiffer():
		return "too few repetitions to distinguish it from " + base
	}
	return name + " is not significantly faster than " + base
}

// pictures draws mean response times by configuration, as in the original. For a sweep it also draws curves over the
// number of paths.
func (s *scans) pictures() (out []Drawing) {
	bars := plot.Rows{Frame: plot.Frame{
		Title: s.product + ": mean response time by configuration", XLabel: "seconds",
		Caption: "Whiskers: 95 % intervals of the mean.", Width: pageWidth,
	}, Unit: "s", OwnScales: true}
	curves := map[string]*plot.Lines{}
	var order []string
	for _, c := range s.cells {
		if len(c.seconds) == 0 {
			continue
		}
		name, mean, config := c.name(), valueOf(c.mean), &s.Configs[c.config]
		bars.AddRow(name, plot.Row{Label: s.names[c.config], Group: s.run.Archives[0].Engine, Value: mean})
		if curves[name] == nil {
			order = append(order, name)
			title := "Response time by the number of disks: " + name
			frame := plot.Frame{Title: title, XLabel: "paths", YLabel: "seconds"}
			curves[name] = &plot.Lines{Frame: frame, Coordinate: plot.Sizes}
		}
		curves[name].CurveNamed(several(config.Partitions, "partition"), "").Add(float64(config.Paths), mean)
	}
	if len(bars.Panels) > 0 {
		out = append(out, bars)
	}
	if s.Experiment == "sweep" {
		out = append(out, lists.Map(order, func(name string) Drawing { return curves[name] })...)
	}
	return out
}

// scanUsage is the resource usage of results, on average over the repetitions that recorded it.
type scanUsage struct {
	reps  int     // repetitions that recorded their usage; without one, all figures are unknown
	read  float64 // bytes per second, of all devices of the paths
	bytes float64 // bytes per result, of all devices of the paths

	throttled     bool    // requests wait in front of the device, which counts as idle during that time
	counted       bool    // the system counts at least one of the devices
	serverCounted bool    // read and bytes are the server's own counts, because no device was counted
	remote        bool    // the server is on another machine; only its own counters report its usage
	busy          float64 // share of the time in which the busiest device had a request in flight
	cores         float64 // used by client and server
	coresKnown    bool    // cores covers all participants: an embedded engine, or a server with known CPU time
	machine       float64 // share of all cores that any process used
	waiting       float64 // share of all cores' time that was idle for a disk
	memory        float64 // minimum of the bytes of memory available after a result; infinite if not known
}

// usage returns the average resource usage of the results of a cell.
func (s *scans) usage(c *scanCell) scanUsage {
	u := scanUsage{memory: math.Inf(1)}
	disks := s.Disks[:min(s.Configs[c.config].Paths, len(s.Disks))]
	u.throttled = slices.ContainsFunc(disks, func(d run.ScanDisk) bool { return d.Limit > 0 })
	measured := lists.Filter(c.answers, func(m *run.Measured) bool { return m.Usage != nil })
	u.reps = len(measured)
	n := float64(u.reps)
	a := &s.run.Archives[0]
	for _, p := range measured {
		t := p.Total.Seconds()
		most := 0.0
		for _, d := range p.Devices {
			u.counted = true
			u.read += float64(d.Read) / t / n
			u.bytes += float64(d.Read) / n
			most = max(most, min(d.Busy.Seconds()/t, 1))
		}
		u.busy += most / n
		if s := p.Server; s != nil {
			u.remote = !s.Local
			if len(p.Devices) == 0 && s.Reported != nil && s.Reported.Read >= 0 {
				u.serverCounted = true
				u.read += float64(s.Reported.Read) / t / n
				u.bytes += float64(s.Reported.Read) / n
			}
		}
		cpu, known := a.CPU(p)
		u.coresKnown = known
		u.cores += cpu.Seconds() / t / n
		u.machine += p.Machine.Busy / n
		u.waiting += p.Machine.Disk / n
		if p.AvailableMemory > 0 { // 0 = not known
			u.memory = min(u.memory, float64(p.AvailableMemory))
		}
	}
	return u
}

// The shares beyond which a resource counts as the bottleneck of a result.
const (
	busyDisk      = 0.8
	busyCores     = measure.BusyShare
	waitingDisk   = 0.3  // of the time of all cores
	minFreeMemory = 0.05 // below it memory is the bottleneck
	aboveDisks    = 1.1  // of the measured rate: beyond it the disks are not the bottleneck
)

// bottleneck names what limited the results of a cell, from the counters.
func (s *scans) bottleneck(c *scanCell, u scanUsage) string {
	config := &s.Configs[c.config]
	cores := float64(s.run.Machine.UsableCPUs)
	if config.Workers > 0 && s.run.Archives[0].Place == "embedded" {
		cores = min(cores, float64(config.Workers))
	}
	measured := 0.0
	for i := range min(config.Paths, len(s.Disks)) {
		measured += s.Disks[i].Rate
	}
	switch {
	case s.run.Machine.Memory > 0 && u.memory < minFreeMemory*float64(s.run.Machine.Memory):
		return fmt.Sprintf("memory: %s was free", byteSize(u.memory))
	case u.counted && measured > 0 && u.read > aboveDisks*measured:
		return fmt.Sprintf("not the disks: %s/s were read where %s/s were measured, above the limit or from a cache",
			byteSize(u.read), byteSize(measured))
	case u.counted && measured > 0 && u.read > busyDisk*measured:
		return fmt.Sprintf("disk reads: %s/s of the measured %s/s", byteSize(u.read), byteSize(measured))
	case u.remote && u.coresKnown && config.Workers > 0 && u.cores > busyCores*float64(config.Workers):
		return fmt.Sprintf("CPU: %s cores of %s, by the server’s own counters",
			number(u.cores), several(config.Workers, "worker"))
	case u.remote && u.coresKnown && u.serverCounted:
		return fmt.Sprintf("not the CPU: by the server’s own counters it used %s cores and read %s/s from files; "+
			"it waited for files or its network", number(u.cores), byteSize(u.read))
	case u.remote && u.serverCounted:
		return fmt.Sprintf("the server reports %s/s read from files, not from its buffers, and does not report its CPU",
			byteSize(u.read))
	case !u.remote && u.coresKnown && cores > 0 && u.cores > busyCores*cores:
		return fmt.Sprintf("CPU: %s of %g cores that it may use", number(u.cores), cores)
	case u.counted && !u.throttled && u.busy > busyDisk && u.read > 0:
		return fmt.Sprintf("disk reads: a device was busy %.0f %% of the time", 100*u.busy)
	case u.machine > busyCores:
		others := max(u.machine*float64(s.run.Machine.Threads)-u.cores, 0)
		return fmt.Sprintf("CPU of the machine: %.0f %% busy, %s cores by other processes", 100*u.machine, number(others))
	case u.waiting > waitingDisk:
		return fmt.Sprintf("disk: cores waited for a disk for %.0f %% of their time", 100*u.waiting)
	}
	return "neither disks nor cores were full"
}

// bottlenecks names what limited each result.
func (s *scans) bottlenecks() *Table {
	t := table("question", "phase", "configuration", "read (an answer)", "read (a second)", "busiest device (%)",
		"cores used", "machine busy (%)", "memory left", "bottleneck")
	t.Note = prose("scan bottlenecks")
	for _, c := range s.cells {
		if len(c.answers) == 0 {
			continue
		}
		names, u := texts(c.query, string(c.phase), s.names[c.config]), s.usage(c)
		if u.reps == 0 {
			t.add("", append(append(names, slices.Repeat([]Cell{dim(none)}, 6)...), dim("usage not recorded"))...)
			continue
		}
		isCounted := u.counted || u.serverCounted
		t.add("", append(names, when(isCounted, size(u.bytes, ""), "not counted"), when(isCounted, size(u.read, ""), "not counted"),
			when(u.counted && !u.throttled, numeric(100*u.busy), none), when(u.coresKnown, numeric(u.cores), "not reported"),
			numeric(100*u.machine), when(!math.IsInf(u.memory, 1), size(u.memory, ""), "not known"), text(s.bottleneck(c, u)))...)
	}
	return t
}

// models lists the model's predictions of cold results, and their errors.
func (s *scans) models() *Table {
	t := table("question", "configuration", "measured (s)", "model (s)", "off by (%)", "decided by", "the model")
	t.Note = prose("scan models")
	hasModel := false
	for _, l := range s.Models {
		if l.Problem != "" {
			row := append([]Cell{text(l.Query)}, slices.Repeat([]Cell{dim(none)}, 5)...)
			t.add("", append(row, text("none: "+l.Problem))...)
			continue
		}
		hasModel = true
		model := modelInWords(&l) // only in the first row of a question
		for _, f := range l.Fits {
			t.add("", text(l.Query), text(s.names[f.Config]), numeric(f.Measured), numeric(f.Predicted),
				numeric(100*f.Residual), text(f.Bound), text(model))
			model = ""
		}
	}
	if hasModel {
		t.Note += " " + prose("scan forecast")
	}
	return t
}

// modelInWords describes the parameters of a model.
func modelInWords(l *run.ScanModel) string {
	printed := func(e measure.Estimate) string { return number(e.Value) + " (" + interval(e.Low, e.High) + ")" }
	start := "start " + printed(l.Start) + " s"
	if !l.StartKnown {
		start = "start too short to determine"
	}
	work := "work " + printed(l.Work) + " s a core and GB"
	if l.WorkMeasured {
		work += ", as counted"
	}
	errors := number(100 * l.RelativeError)
	return fmt.Sprintf("share of the disks %s, %s, %s; errors %s %%", printed(l.DiskShare), work, start, errors)
}

// loads describes the loads, and how many bytes are on each path.
func (s *scans) loads() *Table {
	columns := []string{"configuration", "workers", "loads", "mean load (s)"}
	if s.ServerStarts != "" {
		columns = append(columns, "server ready after (s)", "restarts", "mean restart (s)")
	}
	sizeColumn, note := "facts", ""
	if s.Archive != nil {
		sizeColumn, note = "archive", prose("scan archive sizes")
	}
	t := table(append(columns, sizeColumn, "on each path")...)
	t.Note = note
	for i, c := range s.Configs {
		total := int64(0)
		var sizes []string
		for _, n := range c.Bytes {
			total += n
			sizes = append(sizes, byteSize(float64(n)))
		}
		mean := func(total time.Duration, n int) Cell { return numeric(total.Seconds() / float64(n)) }
		workers := when(c.Workers > 0, countCell(c.Workers), none)
		cells := []Cell{text(s.names[i]), workers, countCell(c.Loads), mean(c.Load, c.Loads)}
		if s.ServerStarts != "" {
			cells = append(cells, mean(c.Open, c.Opens), countCell(c.Restarts), mean(c.Restart, c.Restarts))
		}
		t.add("", append(cells, when(total > 0, size(total, ""), none), text(strings.Join(sizes, ", ")))...)
	}
	return t
}

// failedConfigs lists the configurations that ended with an error, with its first line. The page shows the complete
// error with the plans of the configuration.
func (s *scans) failedConfigs() *Table {
	t := table("configuration", "answers before", "why")
	t.Note = "An error ended these configurations; measurements before it count."
	for i, c := range s.Configs {
		if c.Problem == "" {
			continue
		}
		n := 0
		for _, cell := range s.cells {
			if cell.config == i {
				n += len(cell.answers)
			}
		}
		firstLine, _, _ := strings.Cut(c.Problem, "\n")
		t.add("", text(s.names[i]), countCell(n), bad(firstLine))
	}
	return t
}

// failedConfigsInWords counts the configurations that ended with an error, for the end of a sentence.
func (s *scans) failedConfigsInWords() string {
	n := len(s.failedConfigs().Rows)
	if n == 0 {
		return ""
	}
	return " " + several(n, "configuration") + " of " + count(len(s.Configs)) + " ended with an error: see the section “Given up”."
}

// server describes the server and who started it; "" if there is none.
func (s *scans) server() string {
	server := s.run.Archives[0].Server
	if server == nil {
		return ""
	}
	words := serverInWords(server) + "; its settings are for " + byteSize(float64(server.Memory)) + " of memory a node"
	if s.ServerStarts != "" {
		words += "; " + s.ServerStarts
	}
	return words
}
