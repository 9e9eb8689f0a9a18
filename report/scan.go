package report

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"barograph/measure"
	"barograph/report/plot"
	"barograph/run"
)

// scanPage is what the template shows.
type scanPage struct {
	page
	Run      *run.Scans
	Heading  string
	Facts    []fact
	Sentence string
	Times    table
	Held     table
	Loads    table
	Disks    table
	Laws     table
	GaveUp   table
	Pictures []postPicture
	Plans    []scanPlans
}

// scanPlans are the texts and plans of a configuration.
type scanPlans struct {
	Name    string
	Problem string // why it was given up
	Plans   []run.ScanPlan
}

// ScanFolder reports whether dir holds a run of the workload scan.
func ScanFolder(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, run.ScanFile))
	return err == nil
}

// WriteScans writes report.html of a run of the workload scan and returns its path.
func WriteScans(dir string) (string, error) {
	r, err := run.ReadScans(dir)
	if err != nil {
		return "", err
	}
	s := gatherScans(r)
	p := &scanPage{page: page{Title: "Barograph · scan · " + filepath.Base(dir)}, Run: r, Sentence: s.sentence()}
	if err := p.assets(); err != nil {
		return "", err
	}
	p.Heading, p.Facts = s.heading(), s.facts()
	p.Times, p.Held, p.Loads, p.Disks, p.Laws, p.GaveUp = s.times(), s.bottlenecks(), s.loads(), s.paths(), s.laws(), s.gaveUp()
	if p.Pictures, err = s.pictures(); err != nil {
		return "", err
	}
	for i := range r.Configs {
		p.Plans = append(p.Plans, scanPlans{s.names[i], r.Configs[i].Problem, r.Configs[i].Plans})
	}
	var b strings.Builder
	if err := render(&b, "scan.html", p); err != nil {
		return "", err
	}
	path := filepath.Join(dir, FileName)
	if err := os.WriteFile(path+".new", []byte(b.String()), 0o644); err != nil {
		return "", err
	}
	return path, os.Rename(path+".new", path)
}

// ScanText prints the tables for a terminal.
func ScanText(w io.Writer, r *run.Scans) error {
	s := gatherScans(r)
	for _, t := range []table{s.times(), s.bottlenecks(), s.laws(), s.gaveUp(), s.loads(), s.paths()} {
		if len(t.Rows) == 0 {
			continue
		}
		if err := t.write(w); err != nil {
			return err
		}
		fmt.Fprintln(w)
	}
	for _, x := range append([]string{r.Limited, s.coldText()}, r.Warnings...) {
		if x != "" {
			fmt.Fprintln(w, x)
		}
	}
	fmt.Fprintln(w, s.sentence())
	return nil
}

// scans is a run, gathered by configuration, question and phase.
type scans struct {
	*run.Scans
	names []string // of the configurations
	cells []*scanCell
	ratio map[*scanCell]*measure.Comparison // with the first configuration; none of that itself
}

// scanCell is the repetitions of one question under one configuration.
type scanCell struct {
	config  int
	query   string
	phase   run.Phase
	points  []*run.ScanPoint
	problem string           // of a wrong answer
	mean    measure.Estimate // seconds
	seconds []float64
}

func gatherScans(r *run.Scans) *scans {
	s := &scans{Scans: r}
	for i := range r.Configs {
		s.names = append(s.names, s.name(&r.Configs[i]))
	}
	for i := range r.Points {
		p := &r.Points[i]
		k := slices.IndexFunc(s.cells, func(c *scanCell) bool { return c.config == p.Config && c.query == p.Query && c.phase == p.Phase })
		if k < 0 {
			k = len(s.cells)
			s.cells = append(s.cells, &scanCell{config: p.Config, query: p.Query, phase: p.Phase})
		}
		c := s.cells[k]
		if p.Verdict != run.Equal || p.Time.Duration() <= 0 {
			c.problem = cmp.Or(p.Problem, c.problem, "another answer to this question was wrong")
			continue
		}
		c.points, c.seconds = append(c.points, p), append(c.seconds, p.Time.Seconds())
	}
	for _, c := range s.cells {
		if c.problem != "" {
			c.points, c.seconds = nil, nil
		}
		c.mean = measure.Mean(c.seconds)
		c.mean.Low = max(c.mean.Low, 0) // no answer takes less
		if len(c.seconds) < fewest {
			c.mean.Low, c.mean.High = math.NaN(), math.NaN()
		}
	}
	order := []string{}
	for i := range r.Points {
		if !slices.Contains(order, r.Points[i].Query) {
			order = append(order, r.Points[i].Query)
		}
	}
	slices.Sort(order)
	slices.SortStableFunc(s.cells, func(a, b *scanCell) int {
		if a.query != b.query {
			return slices.Index(order, a.query) - slices.Index(order, b.query)
		}
		if a.phase != b.phase {
			return strings.Compare(string(b.phase), string(a.phase)) // warm, then cold
		}
		return a.config - b.config
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
			x := measure.Compare(b.seconds, c.seconds, s.Seed)
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
// compared with: the first one.
func (s *scans) base(c *scanCell) *scanCell {
	for _, b := range s.cells {
		if b.query == c.query && b.phase == c.phase && b.problem == "" {
			return b
		}
	}
	return nil
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

func (s *scans) facts() []fact {
	out := []fact{
		{"Engine", s.Product + " " + s.Version}, {"Data", s.data()},
		{"Disks", s.Limited},
		{"Machine", fmt.Sprintf("%s · %s usable · %s memory", s.Machine.CPU, several(s.Machine.UsableCPUs, "thread"), byteSize(float64(s.Machine.Memory)))},
		{"Command", "barograph " + strings.Join(s.Args, " ")},
	}
	if s.Server != nil {
		out = append(out, fact{"Server", s.server()})
	}
	if s.Rule != "" {
		out = append(out, fact{"Partitions", s.Rule})
	}
	if s.Cold != "" {
		out = append(out, fact{"Cold", s.Cold})
	}
	return out
}

// coldText says what was done before cold answers; "" where there are none.
func (s *scans) coldText() string {
	if s.Cold == "" {
		return ""
	}
	return "cold: " + s.Cold
}

// times is the original's table: the mean response time by configuration, with
// the intervals that it lacked.
func (s *scans) times() table {
	t := table{Title: "Response times", Wide: true, Head: []column{
		{Name: "question", Text: true}, {Name: "phase", Text: true}, {Name: "configuration", Text: true}, {Name: "n"}, {Name: "mean", Unit: "s"}, {Name: "95 %", Unit: "s"},
		{Name: "median", Unit: "s"}, {Name: "times as fast"}, {Name: "95 % of that"}, {Name: "beyond chance"},
	}, Note: "Mean: with the interval of Student's t, from five repetitions on. Times as fast: the median of the first configuration over this one's, with a bootstrap interval; " +
		"***, **, *: the difference is beyond chance at 0.001, 0.01, 0.05 (rank test, Holm's correction); ~: it is not; ?: too few repetitions to tell."}
	for _, c := range s.cells {
		cells := []cell{text(c.query), text(string(c.phase)), text(s.names[c.config]), text(count(len(c.seconds)))}
		if c.problem != "" {
			t.Rows = append(t.Rows, row{Cells: append(cells, cell{Text: "wrong", Sub: c.problem, Class: "bad"}, dim(none), dim(none), dim(none), dim(none), dim(""))})
			continue
		}
		cells = append(cells, value(c.mean.Value, number(c.mean.Value)), text(interval(c.mean.Low, c.mean.High)), value(measure.Median(c.seconds), number(measure.Median(c.seconds))))
		if x := s.ratio[c]; x != nil {
			cells = append(cells, value(x.Ratio, number(x.Ratio)), text(interval(x.Lo, x.Hi)), text(x.Mark()))
		} else {
			cells = append(cells, dim("1"), dim(none), dim(""))
		}
		t.Rows = append(t.Rows, row{Cells: cells})
	}
	return t
}

// paths are where the disks lie, and what they can do.
func (s *scans) paths() table {
	t := table{Title: "Paths", Head: []column{{Name: "path", Text: true}, {Name: "device", Text: true}, {Name: "file system", Text: true}, {Name: "measured read rate"}, {Name: "limit"}, {Name: "how", Text: true, Wrap: true}}}
	rate := func(v float64) cell {
		if v <= 0 {
			return dim(none)
		}
		return value(v, byteSize(v)+"/s")
	}
	for _, d := range s.Disks {
		device := text(d.Device)
		if d.Device == "" {
			device = dim("not counted")
		}
		t.Rows = append(t.Rows, row{Cells: []cell{text(d.Path), device, text(d.Type), rate(d.Rate), rate(d.Limit), text(d.How)}})
	}
	return t
}

// sentence says for each question which configuration is the fastest, with the
// number of the table and its interval; a number that has none, or that chance
// may have made, is not said.
func (s *scans) sentence() string {
	type key struct {
		query string
		phase run.Phase
	}
	best := map[key]*scanCell{}
	var order []key
	wrong := ""
	for _, c := range s.cells {
		k := key{c.query, c.phase}
		if c.problem != "" {
			wrong = " Answers were WRONG: they have no times."
			continue
		}
		if best[k] == nil {
			order = append(order, k)
		}
		if best[k] == nil || measure.Median(c.seconds) < measure.Median(best[k].seconds) {
			best[k] = c
		}
	}
	var parts []string
	for _, k := range order {
		parts = append(parts, fmt.Sprintf("%s, %s: %s", k.query, k.phase, s.fastest(best[k])))
	}
	wrong += s.givenUp()
	if len(parts) == 0 {
		return s.Product + " " + s.Version + ": nothing was timed." + wrong
	}
	return fmt.Sprintf("%s %s: %s.%s", s.Product, s.Version, strings.Join(parts, "; "), wrong)
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
func (s *scans) pictures() (out []postPicture, err error) {
	bars := plot.HorizontalBars{Unit: "s", Unsorted: true, OwnScales: true}
	bars.Title, bars.XLabel = s.Product+" "+s.Version+": mean response time by configuration", "seconds"
	bars.Caption = "Whiskers: 95 % intervals of the mean."
	curves := map[string]*plot.Growth{}
	var order []string
	for _, c := range s.cells {
		if len(c.seconds) == 0 {
			continue
		}
		name := c.query + ", " + string(c.phase)
		k := slices.IndexFunc(bars.Panels, func(p plot.BarPanel) bool { return p.Title == name })
		if k < 0 {
			k = len(bars.Panels)
			bars.Panels = append(bars.Panels, plot.BarPanel{Title: name})
		}
		bars.Panels[k].Bars = append(bars.Panels[k].Bars, plot.Bar{Label: s.names[c.config], Group: "mean", Value: plot.Value{V: c.mean.Value, Lo: c.mean.Low, Hi: c.mean.High}})
		if curves[name] == nil {
			g := &plot.Growth{}
			g.Title, g.XLabel, g.YLabel = "Response time by the number of disks: "+name, "paths", "seconds"
			curves[name], order = g, append(order, name)
		}
		addCurve(curves[name], &s.Configs[c.config], c.mean)
	}
	if len(bars.Panels) == 0 {
		return nil, nil
	}
	svg, err := bars.SVG()
	if err != nil {
		return nil, err
	}
	out = append(out, postPicture{"Mean response time by configuration", svg})
	if s.Experiment != "sweep" {
		return out, nil
	}
	for _, name := range order {
		svg, err := curves[name].SVG()
		if err != nil {
			return nil, err
		}
		out = append(out, postPicture{"By the number of disks: " + name, svg})
	}
	return out, nil
}

// addCurve adds a mean to the curve of its number of partitions.
func addCurve(g *plot.Growth, c *run.ScanConfig, mean measure.Estimate) {
	name := several(c.Partitions, "partition")
	k := slices.IndexFunc(g.Curves, func(x plot.GrowthCurve) bool { return x.Name == name })
	if k < 0 {
		k = len(g.Curves)
		g.Curves = append(g.Curves, plot.GrowthCurve{Name: name})
	}
	x := &g.Curves[k]
	x.Size, x.Value = append(x.Size, float64(c.Paths)), append(x.Value, mean.Value)
	x.Lo, x.Hi = append(x.Lo, mean.Low), append(x.Hi, mean.High)
}
