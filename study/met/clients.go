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

// crowd is the part of a study in which many ask at once.
type crowd struct {
	*runner
	points *run.Folder
}

// askWarmup is how long clients ask before what they do counts.
const askWarmup = 500 * time.Millisecond

// concurrent measures how many answers a second each configuration gives to concurrent clients.
// Every client asks all cases in turn, and holds each answer against the
// reference, as a reader would do something with it.
func (s *runner) concurrent(ctx context.Context) error {
	if len(s.o.Clients) == 0 || len(s.cells) == 0 {
		return nil
	}
	points, err := s.o.Points()
	if err != nil {
		return err
	}
	c := &crowd{s, points}
	ways := c.ways()
	step := Progress{Step: "many clients", Unit: "runs", Of: int64(len(ways) * len(s.o.Clients) * s.o.AskReps)}
	err = c.all(ctx, ways, &step)
	if ctx.Err() == nil {
		points.Run.Finished = time.Now().UTC()
	}
	points.Run.Data, points.Run.Archives, points.Run.Machine = s.folder.Run.Data, s.folder.Run.Archives, s.folder.Run.Machine
	s.finished(step, fmt.Sprintf("%d numbers of clients, %d ways", len(s.o.Clients), len(ways)))
	return errors.Join(err, points.Close())
}

// all runs every way with every number of clients, in rounds, so that what
// drifts meets all of them.
func (c *crowd) all(ctx context.Context, ways [][]*cell, step *Progress) error {
	for i, round := range measure.Interleave(c.o.Seed, len(ways)*len(c.o.Clients), c.o.AskReps) {
		way, n := ways[i/len(c.o.Clients)], c.o.Clients[i%len(c.o.Clients)]
		stood := c.still.Total()
		p, err := c.run(ctx, way, n, round+1)
		for err == nil && c.stoodStill(stood) {
			stood = c.still.Total()
			p, err = c.run(ctx, way, n, round+1)
		}
		if err = errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		if err := c.points.Add(p); err != nil {
			return err
		}
		step.Done++
		c.o.Progress(*step)
	}
	return nil
}

// ways groups the proven cells by archive and flavour. The floor's answers are
// recalled under one lock, and tell nothing here.
func (c *crowd) ways() (out [][]*cell) {
	for _, x := range c.cells {
		if x.target.Driver.Place == engine.Memory {
			continue
		}
		i := slices.IndexFunc(out, func(o []*cell) bool { return o[0].way() == x.way() })
		if i < 0 {
			out = append(out, nil)
			i = len(out) - 1
		}
		out[i] = append(out[i], x)
	}
	return out
}

// run asks for as long as AskFor.
func (c *crowd) run(ctx context.Context, way []*cell, n, rep int) (out run.Sample, err error) {
	first := way[0]
	out = run.Sample{Cell: run.MixCell(first.Engine, first.At("design"), first.At("flavour"), n, 0, ""), Rep: rep}
	workers := make([]pace.Worker, n)
	for i := range workers {
		a := &asking{turn: i, cells: way}
		for _, x := range way { // a query is one client's: it keeps the server's time
			q, err := x.archive.Phrase(ctx, x.query.Question, flavour.Name(x.At("flavour")))
			if err != nil {
				return out, err
			}
			a.queries = append(a.queries, q)
		}
		workers[i] = a
	}
	return c.points.RunClients(ctx, out, run.ConcurrentClients{
		Workers: workers, Place: string(first.target.Driver.Place), Prove: answer.CompareAll,
		Pace: pace.Options{Kinds: []string{"QUESTION"}, Statuses: []string{"OK"}, Warmup: askWarmup, Limit: c.o.AskFor, Seed: c.o.Seed},
	})
}

// asking is one client.
type asking struct {
	turn    int
	cells   []*cell
	queries []*archive.Query
	b       answer.Builder
}

// Do asks the next case and checks the answer after its time was taken.
func (a *asking) Do(ctx context.Context, r *pace.Recorder) error {
	at := a.turn % len(a.cells)
	a.turn++
	c, began := a.cells[at], r.Now()
	if err := c.archive.Ask(ctx, a.queries[at], &a.b); err != nil {
		return fmt.Errorf("%s: %w", c.At("case"), err)
	}
	r.Done(0, 0, began)
	_, err := answer.Compare(c.want, &a.b.Answer)
	return err
}
