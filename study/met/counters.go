package met

import (
	"context"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/results/run"
)

// counter follows what a server counts.
type counter struct {
	folder *run.Folder
	engine string
	ask    func(ctx context.Context) (engine.Metrics, error) // nil = it fell silent
	last   *engine.Metrics
}

// counters are those of the servers of a study, each once.
func (s *runner) counters(o *opened) (out []*counter) {
	known := map[string]bool{}
	for i, e := range o.engines {
		if t := s.o.Targets[i]; e != nil && e.Metrics != nil && !known[t.URL] {
			known[t.URL] = true
			out = append(out, &counter{folder: s.folder, engine: t.Driver.Scheme, ask: e.Metrics})
		}
	}
	return out
}

// look tells the folder what servers counted since the last look. It is called
// between two answers, never while one is timed.
func look(ctx context.Context, servers []*counter) {
	for _, c := range servers {
		if c.ask == nil {
			continue
		}
		now, err := c.ask(ctx)
		if err != nil {
			c.ask = nil
			c.folder.Warn(c.engine + " tells nothing of itself: " + err.Error())
			continue
		}
		if c.last != nil {
			var counted []run.Counter
			for _, t := range now.Since(c.last) {
				counted = append(counted, run.Counter(t))
			}
			_ = c.folder.Event(run.Event{Kind: run.CountersEvent, Text: c.engine, Counters: counted}) // the folder keeps the error
		}
		c.last = &now
	}
}
