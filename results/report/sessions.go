package report

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/barograph/barograph/results/plot"
	"github.com/barograph/barograph/results/run"
)

// mostWaits is how many waits the picture of sessions distinguishes; the rest is one layer.
const mostWaits = 7

// sessions draws the server's active sessions by wait event over the time of the middle run. It has no layers if the run
// did not sample them.
func (c *pointCell) sessions() plot.Layers {
	x := c.middle()
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
	layer := map[string]int{}
	for i, w := range names {
		if i < mostWaits {
			layer[w.Event] = len(g.Layers)
			g.Layers = append(g.Layers, plot.Layer{Name: w.Event, Value: make([]float64, len(rates(x)))})
		} else if layer[w.Event] = mostWaits; i == mostWaits {
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
func waitsOf(over []run.SessionSample) (names []run.SessionWait) {
	for _, sample := range over {
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
func nearest(over []run.SessionSample, at, interval time.Duration) (found []run.SessionWait) {
	away := 2 * interval
	for _, sample := range over {
		if d := time.Duration(math.Abs(float64(sample.At - at))); d <= away {
			found, away = sample.Sessions, d
		}
	}
	return found
}

// shownStatement is how many characters of a statement the table shows.
const shownStatement = 160

// statements lists the statements with the longest total time, at the highest throughput of each engine.
func (p *points) statements(mix string) *Table {
	t := table("engine", "threads", "statement", "calls", "time (ms)", "mean (ms)", "rows")
	for _, c := range p.tops(mix) {
		x := c.middle()
		if x.Server == nil {
			continue
		}
		for _, s := range x.Server.Statements {
			shown := []rune(s.Text)
			if len(shown) > shownStatement {
				shown = append(shown[:shownStatement:shownStatement], '…')
			}
			total := ms(s.Time)
			t.add("", text(c.engine), countCell(c.threads), text(string(shown)), countCell(s.Calls), numeric(total),
				numeric(total/float64(max(s.Calls, 1))), countCell(s.Rows))
		}
	}
	t.Note = "The server counted them during the run, without its warm-up: PostgreSQL in pg_stat_statements, MariaDB in the " +
		"performance schema. Statements that read the server's statistics are omitted. Time is the total of all calls, " +
		"measured by the server."
	return t
}
