package met

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/measure/pace"
	"github.com/barograph/barograph/results/run"
)

// concurrency measures concurrent clients.
type concurrency struct {
	*runner
	points *run.Folder
}

// clientWarmup is the duration of the warm-up, which is not counted.
const clientWarmup = 500 * time.Millisecond

// concurrent measures how many results per second each configuration returns to concurrent
// clients. Every client queries all cases in turn and compares each result with the reference.
func (s *runner) concurrent(ctx context.Context) error {
	if len(s.options.Clients) == 0 || len(s.cells) == 0 {
		return nil
	}
	points, err := s.options.ClientsFolder()
	if err != nil {
		return err
	}
	c := &concurrency{s, points}
	configurations := c.configurations()
	step := Progress{Step: "many clients", Unit: "runs", Of: int64(len(configurations) * len(s.options.Clients) * s.options.Rounds)}
	err = c.measureAll(ctx, configurations, &step)
	if ctx.Err() == nil {
		points.Run.Finished = time.Now().UTC()
	}
	points.Run.Data, points.Run.Archives, points.Run.Machine = s.folder.Run.Data, s.folder.Run.Archives, s.folder.Run.Machine
	s.finishStep(step, fmt.Sprintf("%d numbers of clients, %s", len(s.options.Clients), run.CountOf(len(configurations), "configuration")))
	return errors.Join(err, points.Close())
}

// measureAll runs every configuration with every number of clients, in rounds in random order, so that
// drift affects all of them equally.
func (c *concurrency) measureAll(ctx context.Context, configurations [][]*cell, step *Progress) error {
	for i, round := range measure.Interleave(c.options.Seed, len(configurations)*len(c.options.Clients), c.options.Rounds) {
		configuration, n := configurations[i/len(c.options.Clients)], c.options.Clients[i%len(c.options.Clients)]
		first := configuration[0]
		point := run.Sample{Cell: run.MixCell(first.Engine, first.Value("design"), first.Value("flavour"), n, 0, ""), Rep: round + 1}
		if step.Done++; slices.ContainsFunc(c.points.Samples(), func(x run.Sample) bool { return x.Cell == point.Cell && x.Rep == point.Rep }) {
			continue // measured before the run was interrupted
		}
		stopped := c.standstills.Total()
		p, err := c.measure(ctx, configuration, n, point)
		for err == nil && c.wasStopped(stopped) {
			stopped = c.standstills.Total()
			p, err = c.measure(ctx, configuration, n, point)
		}
		if err = errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		if err := c.points.Add(p); err != nil {
			return err
		}
		c.options.Progress(*step)
	}
	return nil
}

// configurations groups the proven cells by archive and flavour. It omits the dry engine, whose
// single lock would limit concurrent clients.
func (c *concurrency) configurations() (out [][]*cell) {
	for _, x := range c.cells {
		if x.target.Driver.Place == engine.Memory {
			continue
		}
		i := slices.IndexFunc(out, func(o []*cell) bool { return o[0].configuration() == x.configuration() })
		if i < 0 {
			i, out = len(out), append(out, nil)
		}
		out[i] = append(out[i], x)
	}
	return out
}

// measure measures one configuration with n clients.
func (c *concurrency) measure(ctx context.Context, configuration []*cell, n int, out run.Sample) (run.Sample, error) {
	workers := make([]pace.Worker, n)
	for i := range workers {
		a := &client{turn: i, cells: configuration}
		for _, x := range configuration { // a Query stores the server's time of its last execution, so each client needs its own
			q, err := x.archive.Phrase(ctx, x.query.Question, flavour.Name(x.Value("flavour")))
			if err != nil {
				return out, err
			}
			a.queries = append(a.queries, q)
		}
		workers[i] = a
	}
	return c.points.RunClients(ctx, out, run.ConcurrentClients{
		Workers: workers, Place: string(configuration[0].target.Driver.Place), Prove: answer.CompareAll,
		Pace: pace.Options{Kinds: []string{"QUESTION"}, Statuses: []string{"OK"}, Warmup: clientWarmup, MaxDuration: c.options.Duration, Seed: c.options.Seed},
	})
}

// client queries the cases in turn; turn is the number of the next query.
type client struct {
	turn    int
	cells   []*cell
	queries []*archive.Query
	result  answer.Builder
}

// Do queries the next case, records its time, and then checks the result.
func (a *client) Do(ctx context.Context, r *pace.Recorder) error {
	at := a.turn % len(a.cells)
	a.turn++
	c, began := a.cells[at], r.Now()
	if err := c.archive.Ask(ctx, a.queries[at], &a.result); err != nil {
		return fmt.Errorf("%s: %w", c.Value("case"), err)
	}
	r.Done(0, 0, began)
	_, err := answer.Compare(c.want, &a.result.Answer)
	return err
}
