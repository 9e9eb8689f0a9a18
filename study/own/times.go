package own

import (
	"context"
	"fmt"
	"time"

	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/run"
)

// times times the proven queries in random order.
func (r *runner) times(ctx context.Context) error {
	type one struct {
		p *participant
		k int
	}
	var all []one
	for _, p := range r.measured() {
		for k := range r.Questions {
			if p.proven[k] {
				all = append(all, one{p, k})
			}
		}
	}
	if len(all) == 0 {
		return nil
	}
	timed, todo := r.timed(), 0
	cell := func(x one) run.Cell { return run.OwnCell(x.p.name, r.Questions[x.k].Name) }
	for _, x := range all {
		for rep := range r.Reps {
			if !timed[repetition{cell(x), rep + 1}] {
				todo++
			}
		}
	}
	r.Progress(fmt.Sprintf("timing %d queries of all engines, %d repetitions each", len(all), r.Reps))
	done, began := 0, time.Now()
	for i, rep := range measure.Interleave(r.Seed, len(all), r.Reps) {
		x := all[i]
		if timed[repetition{cell(x), rep + 1}] {
			continue
		}
		if r.overdue(fmt.Sprintf("repetition %d of %d", rep+1, r.Reps)) {
			return nil
		}
		if err := r.time(ctx, x.p, x.k, rep); err != nil {
			return err
		}
		done++
		r.progress("timing", done, todo, began)
	}
	return nil
}

// repetition is one of a cell, from 1.
type repetition struct {
	cell run.Cell
	rep  int
}

// timed are the repetitions that a resumed run has already.
func (r *runner) timed() map[repetition]bool {
	out := map[repetition]bool{}
	for _, s := range r.folder.Samples() {
		if s.Rep > 0 {
			out[repetition{s.Cell, s.Rep}] = true
		}
	}
	return out
}

// time measures one repetition. It compares the result after the clock has stopped.
func (r *runner) time(ctx context.Context, p *participant, k, rep int) error {
	q := r.Questions[k]
	set := rep % q.Values()
	server := p.watch()
	var got *answer.Loose
	m, err := r.folder.Observe(ctx, nil, &server, func() (err error) {
		got, err = r.ask(ctx, p, q, set, nil)
		return err
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	proof, err := r.compare(k, set, got, err)
	return r.folder.Add(run.Sample{Cell: run.OwnCell(p.name, q.Name), Phase: run.Warm, Rep: rep + 1}.Judge(m, proof, err))
}

// compare compares a result with the reference, unless the query failed.
func (r *runner) compare(k, set int, got *answer.Loose, err error) (answer.Proof, error) {
	if err != nil {
		return answer.Proof{}, err
	}
	return answer.CompareLoose(r.want[k][set], got, r.Tolerance)
}
