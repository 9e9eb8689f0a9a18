package report

import (
	"cmp"
	"slices"

	"github.com/barograph/barograph/results/plot"
	"github.com/barograph/barograph/results/run"
)

// rampSections returns the section about rates that were raised until an engine could not sustain them, with a picture
// for each mix. It sorts the steps.
func rampSections(steps []run.Sample) []Section {
	slices.SortStableFunc(steps, func(a, b run.Sample) int {
		return cmp.Or(
			cmp.Compare(a.Cell.Value("mix"), b.Cell.Value("mix")), cmp.Compare(a.Cell.Engine, b.Cell.Engine),
			cmp.Compare(a.Cell.Value("layout"), b.Cell.Value("layout")),
			cmp.Compare(a.Cell.Number("target_ops_s"), b.Cell.Number("target_ops_s")))
	})
	t := table("mix", "engine", "threads", "due (operations/s)", "done (operations/s)", "p99 (ms)",
		"never started (operations)")
	t.Note = "Latency counts from when an operation was due. Never started: due, but not started before the end of the run."
	s := Section{
		ID: "knee", Title: "Sustained rate", Terminal: true, Table: t, Words: explain("sustained rate"),
	}
	title := titlesOf(steps)
	var pictures []plot.Columns
	for i := range steps {
		x, m := steps[i].Cell, steps[i].Measured()
		name := title(x)
		row := texts(x.Value("mix"), name, x.Value("threads"))
		rate := x.Number("target_ops_s")
		if m == nil {
			t.add("", append(row, numeric(rate), bad(steps[i].Problem))...)
			continue
		}
		t.add("", append(row, numeric(rate), numeric(m.Throughput), numeric(ms(m.Response.P99)), countCell(m.Unstarted))...)
		heading := x.Value("mix") + ": operations done and due"
		if n := len(pictures); n == 0 || pictures[n-1].Title != heading {
			pictures = append(pictures, plot.Columns{
				Frame: plot.Frame{
					Title: heading, YLabel: "operations done per second", Width: pageWidth, Caption: prose("rates picture"),
				},
				BarName: "operations done per second (left axis)", BarUnit: "operations due per second",
				LineName: "99th percentile of latency (right axis)", RightLabel: "99th percentile of latency (ms)",
			})
		}
		p := &pictures[len(pictures)-1]
		if n := len(p.Groups); n == 0 || p.Groups[n-1].Name != name {
			p.Groups = append(p.Groups, plot.Group{Name: name})
		}
		g := &p.Groups[len(p.Groups)-1]
		g.Bars = append(g.Bars, plot.Bar{Label: number(rate), Value: plot.Value{V: m.Throughput}, Line: ms(m.Response.P99)})
	}
	for _, p := range pictures {
		s.Pictures = append(s.Pictures, p)
	}
	return filled(s)
}
