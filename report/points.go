package report

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"barograph/measure"
	"barograph/report/plot"
	"barograph/run"
)

// points is a folder of points, gathered: a page for throughput and latency.
type points struct {
	dir     string
	run     *run.Run
	all     []*point
	cells   []*pointCell // in the order of the table
	mixes   []string
	engines []string // names of groups, in order; the floor is not among them
}

// pointCell is the repetitions of one mix on one engine with one number of threads.
type pointCell struct {
	mix, engine string // as the tables name it
	threads     int
	floor       bool
	reps        []*point // all of them right, unless problem is set
	problem     string
	verdict     run.Verdict

	throughput measure.Estimate
	known      bool        // the estimate is an interval, no mere range
	response   run.Latency // medians over the repetitions
}

// point is a sample as the tables need it; what is not right has nothing measured.
type point struct {
	run.Sample
	run.Measured
	Mix, Engine, Layout string
	Threads             int
	Target              float64
}

func pointsOf(samples []run.Sample) []*point {
	all := make([]*point, len(samples))
	for i, s := range samples {
		c := s.Cell
		p := &point{Sample: s, Mix: c.At("mix"), Engine: c.Engine, Layout: c.At("layout"), Threads: int(c.Number("threads")), Target: c.Number("target_ops_s")}
		if p.Measured = (run.Measured{Mix: &run.Mix{}, Used: &run.Used{}}); s.Measured() != nil {
			p.Measured = *s.Measured()
		}
		if p.Answers == nil {
			p.Answers = &run.Answers{}
		}
		all[i] = p
	}
	return all
}

func openPoints(dir string) (*points, error) {
	r, samples, err := run.Read(dir)
	if err != nil {
		return nil, err
	}
	p := gather(pointsOf(samples))
	p.dir, p.run = dir, r
	return p, nil
}

// gather makes cells of points.
func gather(all []*point) *points {
	p := &points{all: all}
	layouts := map[string]map[string]bool{}
	for _, x := range all {
		if layouts[x.Engine] == nil {
			layouts[x.Engine] = map[string]bool{}
		}
		layouts[x.Engine][x.Layout] = true
	}
	for _, x := range all {
		name := x.Engine
		if len(layouts[x.Engine]) > 1 {
			name += " · " + x.Layout
		}
		floor := x.Place == "memory"
		if !slices.Contains(p.mixes, x.Mix) {
			p.mixes = append(p.mixes, x.Mix)
		}
		if !floor && !slices.Contains(p.engines, name) {
			p.engines = append(p.engines, name)
		}
		i := slices.IndexFunc(p.cells, func(c *pointCell) bool { return c.mix == x.Mix && c.engine == name && c.threads == x.Threads })
		if i < 0 {
			i = len(p.cells)
			p.cells = append(p.cells, &pointCell{mix: x.Mix, engine: name, threads: x.Threads, floor: floor})
		}
		p.cells[i].add(x)
	}
	slices.Sort(p.engines)
	slices.Sort(p.mixes) // they were run in random order
	for _, c := range p.cells {
		c.settle()
	}
	slices.SortStableFunc(p.cells, func(a, b *pointCell) int {
		first := func(c *pointCell) int {
			if c.floor {
				return 0
			}
			return 1
		}
		return cmp.Or(cmp.Compare(slices.Index(p.mixes, a.mix), slices.Index(p.mixes, b.mix)), cmp.Compare(first(a), first(b)), cmp.Compare(a.engine, b.engine), cmp.Compare(a.threads, b.threads))
	})
	return p
}

// add adds a repetition; one that is not right takes the numbers of all.
func (c *pointCell) add(x *point) {
	c.reps = append(c.reps, x)
	if x.Verdict != run.Equal && c.problem == "" {
		c.problem, c.verdict = x.Problem, x.Verdict
	}
}

func (c *pointCell) right() bool { return c.problem == "" }

func (c *pointCell) settle() {
	if !c.right() {
		return
	}
	over := func(f func(x *point) float64) []float64 {
		var out []float64
		for _, x := range c.reps {
			out = append(out, f(x))
		}
		return out
	}
	rate := over(func(x *point) float64 { return x.Throughput })
	c.throughput = measure.Estimate{Value: measure.Median(rate), Low: slices.Min(rate), High: slices.Max(rate)}
	if m := measure.MedianCI(rate, measure.Confidence); m.Known {
		c.throughput.Low, c.throughput.High, c.known = m.Lo, m.Hi, true
	}
	for _, t := range []struct {
		to   *time.Duration
		from func(l *run.Latency) time.Duration
	}{
		{&c.response.Mean, func(l *run.Latency) time.Duration { return l.Mean }}, {&c.response.P50, func(l *run.Latency) time.Duration { return l.P50 }},
		{&c.response.P90, func(l *run.Latency) time.Duration { return l.P90 }}, {&c.response.P95, func(l *run.Latency) time.Duration { return l.P95 }},
		{&c.response.P99, func(l *run.Latency) time.Duration { return l.P99 }}, {&c.response.P999, func(l *run.Latency) time.Duration { return l.P999 }},
		{&c.response.Max, func(l *run.Latency) time.Duration { return l.Max }},
	} {
		*t.to = time.Duration(measure.Median(over(func(x *point) float64 { return float64(t.from(&x.Response)) })))
	}
}

// middle is the repetition whose throughput is the median's neighbour: the one
// that stands for the cell where only one can.
func (c *pointCell) middle() *point {
	return slices.MinFunc(c.reps, func(a, b *point) int {
		return cmp.Compare(math.Abs(a.Throughput-c.throughput.Value), math.Abs(b.Throughput-c.throughput.Value))
	})
}

// of are the cells of a mix and an engine, by their number of threads.
func (p *points) of(mix, engine string) (out []*pointCell) {
	for _, c := range p.cells {
		if c.mix == mix && c.engine == engine {
			out = append(out, c)
		}
	}
	return out
}

// best is the right cell with the highest throughput; nil where none is right.
func best(cells []*pointCell) (out *pointCell) {
	for _, c := range cells {
		if c.right() && (out == nil || c.throughput.Value > out.throughput.Value) {
			out = c
		}
	}
	return out
}

// pointsPage is what the template shows.
type pointsPage struct {
	page
	Mixes    []mixView
	USL      table
	Laws     [][]byte // a picture for each mix
	Findings []string
}

// mixView is one workload.
type mixView struct {
	Name, Title string
	Sentence    string
	Picture     []byte
	Table       table
	Held        table // what held it back
	Operations  table
	Timelines   [][]byte
	Counters    table
}

func writePoints(dir string) (string, error) {
	p, err := openPoints(dir)
	if err != nil {
		return "", err
	}
	page, err := p.page()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	if err := render(&b, "points.html", page); err != nil {
		return "", err
	}
	path := filepath.Join(dir, FileName)
	if err := os.WriteFile(path+".new", []byte(b.String()), 0o644); err != nil {
		return "", err
	}
	return path, os.Rename(path+".new", path)
}

func (p *points) page() (*pointsPage, error) {
	out := &pointsPage{page: page{Title: "Barograph · " + p.run.ID, Head: p.head()}, Findings: p.run.Findings}
	if err := out.assets(); err != nil {
		return nil, err
	}
	laws := p.usl()
	out.USL = uslTable(laws)
	for _, mix := range p.mixes {
		law, err := p.uslPicture(mix, laws)
		if err != nil {
			return nil, err
		}
		if law != nil {
			out.Laws = append(out.Laws, law)
		}
		v := mixView{Name: mix, Title: p.mixInWords(mix), Sentence: p.sentence(mix), Table: p.table(mix), Held: p.bottlenecks(mix), Operations: p.operations(mix), Counters: p.counters(mix)}
		if v.Picture, err = p.picture(mix, v.Title); err != nil {
			return nil, err
		}
		if v.Timelines, err = p.timelines(mix); err != nil {
			return nil, err
		}
		out.Mixes = append(out.Mixes, v)
	}
	return out, nil
}

// mixInWords is the mix as it was run: "50 % reads, 50 % updates".
func (p *points) mixInWords(mix string) string {
	count, all := map[string]int64{}, int64(0)
	var order []string
	for _, x := range p.all {
		if x.Mix != mix || x.Place == "memory" {
			continue
		}
		for _, g := range x.Groups {
			if !g.Whole {
				continue
			}
			if count[g.Operation] == 0 {
				order = append(order, g.Operation)
			}
			count[g.Operation] += g.Count
			all += g.Count
		}
	}
	if all == 0 {
		return ""
	}
	if count["READ-MODIFY-WRITE"] > 0 { // the reads of these are counted as reads
		count["READ"] -= count["READ-MODIFY-WRITE"]
		all -= count["READ-MODIFY-WRITE"]
	}
	var words []string
	for _, op := range order {
		if count[op] > 0 {
			words = append(words, fmt.Sprintf("%.0f %% %ss", 100*float64(count[op])/float64(all), strings.ToLower(op)))
		}
	}
	return strings.Join(words, ", ")
}

// sentence is the answer for one mix. Only what has an interval has a number, and
// a place, in it; engines whose intervals overlap share a place.
func (p *points) sentence(mix string) string {
	var tops []*pointCell
	for _, e := range p.engines {
		if c := best(p.of(mix, e)); c != nil {
			tops = append(tops, c)
		}
	}
	if len(tops) == 0 {
		return "No engine answered rightly, so none has a time."
	}
	if i := slices.IndexFunc(tops, func(c *pointCell) bool { return !c.known }); i >= 0 {
		need := measure.MedianCI(nil, measure.Confidence).Need
		return fmt.Sprintf("%s of a point: no interval, which takes %d; so nothing is ranked here.", several(len(tops[i].reps), "run"), need)
	}
	slices.SortFunc(tops, func(a, b *pointCell) int { return cmp.Compare(b.throughput.Value, a.throughput.Value) })
	var words strings.Builder
	for i, c := range tops {
		switch {
		case i == 0:
		case c.throughput.High < tops[i-1].throughput.Low:
			words.WriteString("; then ")
		default:
			words.WriteString("; not told apart from it ")
		}
		fmt.Fprintf(&words, "%s %s/s (%s) with %s", c.engine, number(c.throughput.Value), interval(c.throughput.Low, c.throughput.High), several(c.threads, "thread"))
	}
	return "Highest throughput: " + words.String() + ". In brackets the 95 % interval of the median."
}

// picture is throughput as bars with the 95th percentile as a line.
func (p *points) picture(mix, title string) ([]byte, error) {
	t := plot.Throughput{
		Frame: plot.Frame{Title: mix + ": throughput, and the latency that it costs", Subtitle: title + " · " + p.scope(), Width: pageWidth, YLabel: "operations per second",
			Caption: "A bar for each number of threads. Latency is that of all operations, from when they were due. Whiskers: the 95 % interval of the median, or the range where repetitions are fewer than six. What is not right has no bar."},
		RightLabel: "95th percentile of latency (ms)", BarName: "operations per second (left axis)", LineName: "95th percentile of latency (right axis)", Below: "threads",
	}
	for i, e := range p.engines {
		g := plot.ThroughputGroup{Name: e, Hue: i%plot.Hues + 1}
		for _, c := range p.of(mix, e) {
			b := plot.ThroughputBar{Label: fmt.Sprint(c.threads), Latency: math.NaN(), Throughput: plot.Value{V: math.NaN(), Note: noteOf(c)}}
			if c.right() {
				b.Latency, b.Throughput = ms(c.response.P95), plot.Value{V: c.throughput.Value, Lo: c.throughput.Low, Hi: c.throughput.High}
			}
			g.Bars = append(g.Bars, b)
		}
		if len(g.Bars) > 0 {
			t.Groups = append(t.Groups, g)
		}
	}
	return t.SVG()
}

func noteOf(c *pointCell) string {
	switch c.verdict {
	case run.Wrong:
		return "wrong answers"
	case run.Failed:
		return "failed"
	}
	return ""
}

// pageWidth is the width of the page's text, in px, with the picture's margins.
const pageWidth = 1096

// scope says what was asked of: records, and machine.
func (p *points) scope() string {
	m := p.run.Machine
	return fmt.Sprintf("%s records · %s, %d usable", count(p.run.Data.Records), several(m.Threads, "hardware thread"), m.UsableCPUs)
}

// timelines are the runs with the highest throughput, over their time.
func (p *points) timelines(mix string) (out [][]byte, err error) {
	for i, e := range p.engines {
		c := best(p.of(mix, e))
		if c == nil {
			continue
		}
		x := c.middle()
		if len(x.Series) < 3 {
			continue
		}
		t := plot.Timeline{
			Frame:   plot.Frame{Title: fmt.Sprintf("%s, %s", e, several(c.threads, "thread")), XLabel: "time since the warm-up (s)", YLabel: "operations/s", Width: 558, Height: 280},
			BarName: "operations/s (left)", LineName: "slowest response (right)", StallName: "stall", RightLabel: "slowest response (ms)", Step: x.Interval.Seconds(), Hue: i%plot.Hues + 1,
		}
		rate := rates(x)
		for k, s := range x.Series[:len(rate)] {
			t.Rate, t.Slow, t.Stalled = append(t.Rate, rate[k]), append(t.Slow, ms(s.Slow)), append(t.Stalled, rate[k] < stalled*c.throughput.Value)
		}
		svg, err := t.SVG()
		if err != nil {
			return nil, err
		}
		out = append(out, svg)
	}
	return out, nil
}

// stalled is the share of the usual throughput below which an interval stalls.
const stalled = 0.1
