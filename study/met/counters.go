package met

import (
	"context"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/results/run"
)

// counter reads the counters of a server.
type counter struct {
	folder *run.Folder
	engine string
	read   func(ctx context.Context) (engine.Metrics, error) // nil after an error
	last   *engine.Metrics
}

// counters returns a counter for each server of the study.
func (s *runner) counters() (out []*counter) {
	known := map[string]bool{}
	for i, o := range s.opened {
		e := o.engine
		if t := s.options.Targets[i]; e != nil && e.Metrics != nil && !known[t.URL] {
			known[t.URL] = true
			out = append(out, &counter{folder: s.folder, engine: t.Driver.Scheme, read: e.Metrics})
		}
	}
	return out
}

// readCounters writes the change of the counters since the previous reading into the run folder. It is called
// between two repetitions, never during a timed one.
func readCounters(ctx context.Context, servers []*counter) {
	for _, c := range servers {
		if c.read == nil {
			continue
		}
		now, err := c.read(ctx)
		if err != nil {
			c.read = nil
			c.folder.Warn(c.engine + " reports no counters: " + err.Error())
			continue
		}
		if c.last != nil {
			counted := lists.Map(now.Since(c.last), func(t engine.Total) run.Counter { return run.Counter(t) })
			_ = c.folder.AddEvent(run.Event{Kind: run.CountersEvent, Text: c.engine, Counters: counted}) // the folder keeps the error
		}
		c.last = &now
	}
}
