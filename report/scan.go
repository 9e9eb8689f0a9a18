package report

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/barograph/barograph/measure"
	"github.com/barograph/barograph/report/plot"
	"github.com/barograph/barograph/run"
)

// openScans reads a run of the workload scan.
func openScans(dir string) (*Report, error) {
	r, samples, err := run.Read(dir)
	if err != nil {
		return nil, err
	}
	s := gatherScans(r, samples)
	out := ofRun(dir, r, s.heading())
	out.Name, out.Data = "scan · "+filepath.Base(dir), map[string]any{"run": r, "samples": samples}
	out.Answers = append(out.Answers, headline("%s", s.sentence()))
	out.Facts = slices.Concat([]Fact{{"Engine", s.product}, {"Data", s.data()}, {"Disks", s.Limited}}, machineFacts(r.Machine), []Fact{{"Command", commandLine(r.Args)}})
	for _, f := range []Fact{{"Server", s.server()}, {"Partitions", s.Rule}, {"Cold", r.ColdHow}} {
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
		Section{ID: "times", Title: "Response times", Terminal: true, Table: s.times(), Words: say("Every answer was held against a reference that no database computed; one that differs has no time.")},
		Section{ID: "held", Title: "What held it back", Terminal: true, Table: s.bottlenecks()},
		Section{ID: "laws", Title: "The law of the times", Terminal: true, Table: s.laws()},
		Section{ID: "given-up", Title: "Given up", Terminal: true, Table: s.gaveUp()},
		Section{ID: "loads", Title: "What lies where", Parts: filled(Section{Title: "Configurations", Terminal: true, Table: s.loads()}, Section{Title: "Paths", Terminal: true, Table: s.paths()})},
		plans)
	return out, nil
}

// scans is a run, gathered by configuration, question and phase.
type scans struct {
	*run.Scan
	run     *run.Run
	product string
	names   []string // of the configurations
	cells   []*scanCell
	ratio   map[*scanCell]*measure.Comparison // with the first configuration; none of that itself
}

// scanCell is the repetitions of one question under one configuration.
type scanCell struct {
	config  int
	query   string
	phase   run.Phase
	answers []*run.Measured
	problem string           // of a wrong answer
	proof   string           // of the answers
	mean    measure.Estimate // seconds
	seconds []float64
}

// name is the question and the phase: what configurations are compared in.
func (c *scanCell) name() string { return c.query + ", " + string(c.phase) }

func gatherScans(r *run.Run, samples []run.Sample) *scans {
	s := &scans{Scan: r.Scan, run: r, product: r.Archives[0].Product + " " + r.Archives[0].Version}
	for i := range s.Configs {
		s.names = append(s.names, s.name(&s.Configs[i]))
	}
	for i := range samples {
		x, config := &samples[i], r.ConfigOf(samples[i].Cell)
		query := x.Cell.At("query")
		k := slices.IndexFunc(s.cells, func(c *scanCell) bool { return c.config == config && c.query == query && c.phase == x.Phase })
		if k < 0 {
			k = len(s.cells)
			s.cells = append(s.cells, &scanCell{config: config, query: query, phase: x.Phase})
		}
		c, m := s.cells[k], x.Measured()
		if m == nil || m.Used == nil {
			c.problem = cmp.Or(x.Problem, c.problem, "another answer to this question was wrong")
			continue
		}
		c.answers, c.seconds, c.proof = append(c.answers, m), append(c.seconds, m.Total.Seconds()), string(x.Proof)
	}
	for _, c := range s.cells {
		if c.problem != "" {
			c.answers, c.seconds = nil, nil
		}
		c.mean = measure.Mean(c.seconds)
		c.mean.Low = max(c.mean.Low, 0) // no answer takes less
		if len(c.seconds) < fewest {
			c.mean.Low, c.mean.High = math.NaN(), math.NaN()
		}
	}
	slices.SortStableFunc(s.cells, func(a, b *scanCell) int { // warm, then cold
		return cmp.Or(cmp.Compare(a.query, b.query), cmp.Compare(b.phase, a.phase), cmp.Compare(a.config, b.config))
	})
	s.compare()
	return s
}

// fewest is the number of repetitions below which an interval says nothing.
const fewest = 5

// compare holds every configuration of a question and phase against the first.
func (s *scans) compare() {
	var all []*measure.Comparison
	s.ratio = map[*scanCell]*measure.Comparison{}
	for _, c := range s.cells {
		if b := s.base(c); b != nil && b != c && c.problem == "" {
			x := measure.Compare(b.seconds, c.seconds, s.run.Seed)
			all, s.ratio[c] = append(all, &x), &x
		}
	}
	measure.Correct(all)
}

// name is a configuration in a few words; workers only where they differ.
func (s *scans) name(c *run.ScanConfig) string {
	if c.Design != "" {
		return c.Design
	}
	name := several(c.Paths, "path") + " × " + several(c.Partitions, "partition")
	if c.Paths == 0 {
		name = several(c.Partitions, "partition") + " in the engine's own folder"
	}
	for i := range s.Configs {
		if o := &s.Configs[i]; o.Paths == c.Paths && o.Partitions == c.Partitions && o.Workers != c.Workers {
			return name + ", " + several(c.Workers, "worker")
		}
	}
	return name
}

// base is the configuration that the others of a question and phase are
// compared with: the first one that was proven to the same degree.
func (s *scans) base(c *scanCell) *scanCell {
	i := slices.IndexFunc(s.cells, func(b *scanCell) bool { return b.name() == c.name() && b.proof == c.proof && b.problem == "" })
	if i < 0 {
		return nil
	}
	return s.cells[i]
}

// heading is what a run asks.
func (s *scans) heading() string {
	if s.Archive != nil {
		return "Mean anomaly correlation over a whole archive"
	}
	return "How many disks, how many partitions?"
}

// data is what was asked.
func (s *scans) data() string {
	if a := s.Archive; a != nil {
		return fmt.Sprintf("verification archive, %s, %s: %s, of which %d are of %s, in %s", several(a.Files, "file"), byteSize(float64(a.Bytes)), several(int(a.Lines), "line"), a.Records, a.LineType, several(a.Groups, "group"))
	}
	return fmt.Sprintf("TPC-DS at scale factor %g, %s; %s sales", s.Scale, s.Generator, count(s.Rows["store_sales"]))
}

// times is the original's table: the mean response time by configuration, with
// the intervals that it lacked.
func (s *scans) times() *Table {
	t := table("question", "phase", "configuration", "n", "mean (s)", "95 % (s)", "median (s)", "times as fast", "95 % of that", "beyond chance", "proof")
	t.Note = "Mean: with the interval of Student's t, from five repetitions on. Times as fast: the median of the first configuration over this one's, with a bootstrap interval; " +
		"***, **, *: the difference is beyond chance at 0.001, 0.01, 0.05 (rank test, Holm's correction); ~: it is not; ?: too few repetitions to tell."
	for _, c := range s.cells {
		cells := append(texts(c.query, string(c.phase), s.names[c.config]), whole(len(c.seconds)))
		if c.problem != "" {
			t.add("", append(cells, Cell{Text: "wrong", Sub: c.problem, Class: "bad"})...)
			continue
		}
		fast := []Cell{dim("1"), dim(none), dim("")}
		if x := s.ratio[c]; x != nil {
			fast = []Cell{numeric(x.Ratio), span(x.Lo, x.Hi), text(x.Mark())}
		}
		t.add("", slices.Concat(cells, []Cell{numeric(c.mean.Value), span(c.mean.Low, c.mean.High), numeric(measure.Median(c.seconds))}, fast, texts(c.proof))...)
	}
	return t
}

// paths are where the disks lie, and what they can do.
func (s *scans) paths() *Table {
	t := table("path", "device", "file system", "measured read rate", "limit", "how")
	rate := func(v float64) Cell { return when(v > 0, size(v, "/s"), none) }
	for _, d := range s.Disks {
		t.add("", text(d.Path), text(cmp.Or(d.Device, "not counted")), text(d.Type), rate(d.Rate), rate(d.Limit), text(d.How))
	}
	return t
}

// sentence says for each question which configuration is the fastest, with the
// number of the table and its interval; a number that has none, or that chance
// may have made, is not said.
func (s *scans) sentence() string {
	best := map[string]*scanCell{}
	var order []string
	wrong := ""
	for _, c := range s.cells {
		k := c.name()
		if c.problem != "" {
			wrong = " Answers were WRONG: they have no times."
			continue
		}
		order = once(order, k)
		if best[k] == nil || measure.Median(c.seconds) < measure.Median(best[k].seconds) {
			best[k] = c
		}
	}
	var parts []string
	for _, k := range order {
		parts = append(parts, k+": "+s.fastest(best[k]))
	}
	wrong += s.givenUp()
	if len(parts) == 0 {
		return s.product + ": nothing was timed." + wrong
	}
	return fmt.Sprintf("%s: %s.%s", s.product, strings.Join(parts, "; "), wrong)
}

// fastest says how many times as fast the cell with the least median is.
func (s *scans) fastest(c *scanCell) string {
	b, x := s.base(c), s.ratio[c]
	switch {
	case b == c && !slices.ContainsFunc(s.cells, func(o *scanCell) bool { return o != c && s.base(o) == c && o.problem == "" }):
		return "one configuration, " + s.names[c.config]
	case b == c:
		return "nothing is faster than " + s.names[c.config]
	case x.Significant() && x.Lo > 1:
		return fmt.Sprintf("%s times as fast (%s) with %s as with %s", number(x.Ratio), interval(x.Lo, x.Hi), s.names[c.config], s.names[b.config])
	case x.Significant() && math.IsNaN(x.Lo):
		return fmt.Sprintf("%s is faster than %s, %d repetitions do not tell by how much", s.names[c.config], s.names[b.config], len(c.seconds))
	case !x.Enough():
		return "too few repetitions to tell a difference from " + s.names[b.config]
	}
	return "nothing is faster than " + s.names[b.config] + " beyond chance"
}

// pictures are mean response times by configuration, as in the original, and
// of a sweep the curves over the number of paths.
func (s *scans) pictures() (out []Drawing) {
	bars := plot.Rows{Frame: plot.Frame{Title: s.product + ": mean response time by configuration", XLabel: "seconds", Caption: "Whiskers: 95 % intervals of the mean.", Width: pageWidth}, Unit: "s", OwnScales: true}
	curves := map[string]*plot.Lines{}
	var order []string
	for _, c := range s.cells {
		if len(c.seconds) == 0 {
			continue
		}
		name, mean, config := c.name(), plot.Value{V: c.mean.Value, Lo: c.mean.Low, Hi: c.mean.High}, &s.Configs[c.config]
		bars.Panel(name, plot.Row{Label: s.names[c.config], Group: s.run.Archives[0].Engine, Value: mean})
		if order = once(order, name); curves[name] == nil {
			curves[name] = &plot.Lines{Frame: plot.Frame{Title: "Response time by the number of disks: " + name, XLabel: "paths", YLabel: "seconds"}, By: plot.Sizes}
		}
		curves[name].Curve(several(config.Partitions, "partition"), "").Add(float64(config.Paths), mean)
	}
	if len(bars.Panels) > 0 {
		out = append(out, bars)
	}
	if s.Experiment == "sweep" {
		for _, name := range order {
			out = append(out, curves[name])
		}
	}
	return out
}
