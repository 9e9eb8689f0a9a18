package own

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/barograph/barograph/answer"
	"github.com/barograph/barograph/measure"
	"github.com/barograph/barograph/measure/pace"
	"github.com/barograph/barograph/run"
)

// streams asks an engine from several streams at once: each asks all questions
// that the engine answers rightly, in an order of its own, again and again.
func (r *runner) streams(ctx context.Context) error {
	if len(r.Streams) == 0 {
		return nil
	}
	for i, round := range measure.Interleave(r.Seed+1, len(r.asked())*len(r.Streams), max(r.Rounds, 1)) {
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
		r.Progress(fmt.Sprintf("%s: %s for %v", p.name, run.Several(n, "stream"), r.For))
		s, err := r.stream(ctx, p, known, n, round)
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
func (r *runner) warmup() time.Duration { return r.For / 10 }

// stream measures one number of streams.
func (r *runner) stream(ctx context.Context, p *party, known []int, n, round int) (out run.Sample, err error) {
	out = run.Sample{Cell: run.MixCell(p.name, "", "questions", n, r.Rate, ""), Phase: run.Warm, Rep: round + 1}
	o := pace.Options{Statuses: []string{"OK"}, Warmup: r.warmup(), Limit: r.For, Rate: r.Rate, Arrivals: pace.Poisson, Seed: r.Seed + uint64(round), Grace: time.Hour} //nolint:gosec // not negative
	for _, k := range known {
		o.Kinds = append(o.Kinds, r.Questions[k].Name)
	}
	workers := make([]pace.Worker, n)
	for i := range workers {
		workers[i] = &stream{runner: r, p: p, known: known, draw: rand.New(rand.NewPCG(r.Seed, uint64(i)))} //nolint:gosec // no secret, not negative
	}
	return r.into.Ask(ctx, out, run.Asking{Workers: workers, Pace: o, Place: string(p.place), PIDs: p.pids, Proves: answer.CompareAgreed})
}

// stream is one asker. Its turns through the questions are each in a random order.
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
