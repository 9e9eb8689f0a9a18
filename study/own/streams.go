package own

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/barograph/barograph/engine/tables"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/measure/pace"
	"github.com/barograph/barograph/results/run"
)

// streams asks an engine from several streams at once: each asks all questions
// that the engine answers rightly, in an order of its own, again and again.
func (r *runner) streams(ctx context.Context) error {
	if len(r.Streams) == 0 {
		return nil
	}
	ways := []func(ctx context.Context, p *party, known []int, n, round int) (run.Sample, error){r.stream}
	if r.WhileLoading {
		ways = append(ways, r.besideLoad)
	}
	for i, round := range measure.Interleave(r.Seed+1, len(r.asked())*len(r.Streams)*len(ways), max(r.Rounds, 1)) {
		way := ways[i%len(ways)]
		i /= len(ways)
		p, n := r.asked()[i/len(r.Streams)], r.Streams[i%len(r.Streams)]
		var known []int
		for k, right := range p.right {
			if right {
				known = append(known, k)
			}
		}
		if len(known) == 0 {
			continue
		}
		r.Progress(fmt.Sprintf("%s: %s for %v", p.name, run.Several(n, "stream"), r.Duration))
		s, err := way(ctx, p, known, n, round)
		if err = errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		if err := errors.Join(r.into.Add(s), r.into.Save()); err != nil {
			return err
		}
	}
	return nil
}

// warmup is how long streams ask before what they do counts: a tenth of their
// time.
func (r *runner) warmup() time.Duration { return r.Duration / 10 }

// The mixes: streams that ask alone, and beside a load.
const (
	alone  = "questions"
	beside = "questions beside a load"
)

// stream measures one number of streams.
func (r *runner) stream(ctx context.Context, p *party, known []int, n, round int) (run.Sample, error) {
	return r.streaming(ctx, p, known, run.Sample{Cell: run.MixCell(p.name, "", alone, n, r.Rate, ""), Phase: run.Warm, Rep: round + 1}, n)
}

// besideLoad measures one number of streams while the engine loads.
func (r *runner) besideLoad(ctx context.Context, p *party, known []int, n, round int) (run.Sample, error) {
	loading, stop := context.WithCancel(ctx)
	defer stop()
	var rows int64
	var failed error
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		rows, failed = r.loadAgain(loading, p)
	}()
	out, err := r.streaming(ctx, p, known, run.Sample{Cell: run.MixCell(p.name, "", beside, n, r.Rate, ""), Phase: run.Warm, Rep: round + 1}, n)
	stop()
	<-ended
	if m := out.Measured(); m != nil {
		m.Loaded = rows
	}
	if failed != nil {
		out.Warnings = append(out.Warnings, "the load beside the streams ended early: "+fault.Redact(failed.Error()))
	}
	return out, err
}

// loadedBeside is the table that is loaded while streams ask.
const loadedBeside = "barograph_beside"

// loadAgain loads a copy of the largest table, drops it, and begins anew, until
// ctx ends; it returns the rows of the copies that were stored whole.
func (r *runner) loadAgain(ctx context.Context, p *party) (rows int64, err error) {
	largest := slices.MaxFunc(r.into.Run.Own.Tables, func(a, b run.OwnTable) int { return cmp.Compare(a.Rows, b.Rows) })
	i := slices.IndexFunc(r.tables, func(t *tables.Table) bool { return t.Name == largest.Name })
	again := *r.tables[max(i, 0)] // a table that is left aside has no rows
	again.Name = loadedBeside
	drop := func(ctx context.Context) error {
		return p.own.Ask(ctx, "DROP TABLE IF EXISTS "+loadedBeside, func([]any) error { return nil })
	}
	for {
		if err = drop(ctx); err == nil {
			err = p.own.Load(ctx, &again)
		}
		if err != nil || ctx.Err() != nil {
			break
		}
		rows += largest.Rows
	}
	if ctx.Err() != nil {
		err = nil // it was to end
	}
	return rows, errors.Join(err, drop(context.WithoutCancel(ctx)))
}

// streaming lets so many streams ask.
func (r *runner) streaming(ctx context.Context, p *party, known []int, out run.Sample, n int) (run.Sample, error) {
	o := pace.Options{Statuses: []string{"OK"}, Warmup: r.warmup(), Limit: r.Duration, Rate: r.Rate, Arrivals: pace.Poisson, Seed: r.Seed + uint64(out.Rep), Grace: time.Hour} //nolint:gosec // not negative
	for _, k := range known {
		o.Kinds = append(o.Kinds, r.Questions[k].Name)
	}
	workers := make([]pace.Worker, n)
	for i := range workers {
		workers[i] = &stream{runner: r, p: p, known: known, draw: rand.New(rand.NewPCG(r.Seed, uint64(i)))} //nolint:gosec // no secret, not negative
	}
	return r.into.RunClients(ctx, out, run.ConcurrentClients{Workers: workers, Pace: o, Place: string(p.place), Server: p.watch(), Prove: answer.CompareAgreed})
}

// stream is one client. Its turns through the questions are each in a random order.
type stream struct {
	*runner
	p     *party
	known []int
	draw  *rand.Rand
	turn  []int // what is left of it
	asked int
}

// Do asks the next question; the answer is compared after its time was taken.
func (s *stream) Do(ctx context.Context, r *pace.Recorder) error {
	if len(s.turn) == 0 {
		s.turn = s.draw.Perm(len(s.known))
	}
	i := s.turn[0]
	k := s.known[i]
	s.turn, s.asked = s.turn[1:], s.asked+1
	q := s.Questions[k]
	set := s.asked % q.Values()
	began := r.Now()
	got, err := ask(ctx, s.p.own, q, s.p.scheme, set)
	if err != nil {
		return at(q, s.p.scheme, err)
	}
	r.Done(i, 0, began)
	_, err = s.compare(k, set, got, nil)
	return err
}
