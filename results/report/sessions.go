package report

import (
	"cmp"
	"slices"
	"time"

	"github.com/barograph/barograph/results/plot"
	"github.com/barograph/barograph/results/run"
)

// maxWaits is the number of waits that the picture of sessions distinguishes; the others share one layer.
const maxWaits = 7

// sessions draws the server's active sessions by wait event over the time of the typical repetition. It has no layers
// if the run did not sample them.
func (c *pointCell) sessions() plot.Layers {
	x := c.typical()
	g := plot.Layers{
		Frame: plot.Frame{
			Title:    c.engine + ": active sessions",
			Subtitle: "sampled once a second, by wait event under the server's own names",
			XLabel:   "time since the warm-up (s)", YLabel: "sessions",
			Width: curveWidth, Height: 260,
		},
		Step: x.Interval.Seconds(),
	}
	if x.Server == nil || len(x.Server.SessionSamples) == 0 || x.Interval <= 0 {
		return g
	}
	names := waitsOf(x.Server.SessionSamples)
	layer := map[string]int{} // index in g.Layers, by event
	for i, w := range names {
		if i < maxWaits {
			layer[w.Event] = len(g.Layers)
			g.Layers = append(g.Layers, plot.Layer{Name: w.Event, Value: make([]float64, len(rates(x)))})
		} else if layer[w.Event] = maxWaits; i == maxWaits {
			g.Layers = append(g.Layers, plot.Layer{Name: "other waits", Value: make([]float64, len(rates(x)))})
		}
	}
	for k := range rates(x) {
		for _, w := range nearest(x.Server.SessionSamples, time.Duration(k)*x.Interval+x.Interval/2, x.Interval) {
			g.Layers[layer[w.Event]].Value[k] += w.Sessions
		}
	}
	return g
}

// waitsOf lists the waits of all samples: CPU first, then by frequency.
func waitsOf(samples []run.SessionSample) (names []run.SessionWait) {
	for _, sample := range samples {
		for _, w := range sample.Sessions {
			i := slices.IndexFunc(names, func(o run.SessionWait) bool { return o.Event == w.Event })
			if i < 0 {
				names = append(names, w)
			} else {
				names[i].Sessions += w.Sessions
			}
		}
	}
	rank := map[string]int{"cpu": -1}
	slices.SortStableFunc(names, func(a, b run.SessionWait) int {
		return cmp.Or(rank[a.Kind]-rank[b.Kind], cmp.Compare(b.Sessions, a.Sessions), cmp.Compare(a.Event, b.Event))
	})
	return names
}

// nearest returns the sessions of the sample nearest to a moment, or none if that is more than two
// intervals away.
func nearest(samples []run.SessionSample, moment, interval time.Duration) (sessions []run.SessionWait) {
	least := 2 * interval
	for _, sample := range samples {
		if distance := (sample.At - moment).Abs(); distance <= least {
			least, sessions = distance, sample.Sessions
		}
	}
	return sessions
}

// maxStatement is the number of characters of a statement that the table shows.
const maxStatement = 160

// statements lists the statements with the longest total time, at the highest throughput of each engine.
func (p *points) statements(mix string) *Table {
	t := table("engine", "threads", "statement", "calls", "time (ms)", "mean (ms)", "rows")
	for _, c := range p.tops(mix) {
		x := c.typical()
		if x.Server == nil {
			continue
		}
		for _, s := range x.Server.Statements {
			shown := []rune(s.Text)
			if len(shown) > maxStatement {
				shown = append(shown[:maxStatement:maxStatement], '…')
			}
			total := ms(s.Time)
			t.add("", text(c.engine), countCell(c.threads), text(string(shown)), countCell(s.Calls), numeric(total),
				numeric(total/float64(max(s.Calls, 1))), countCell(s.Rows))
		}
	}
	t.Note = prose("statements")
	return t
}
