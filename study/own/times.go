package own

import (
	"context"

	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/results/run"
)

// timeWarm times the proven queries with warm caches, in random order.
func (r *runner) timeWarm(ctx context.Context) error { return r.repeat(ctx, run.Warm, r.Reps) }

// repetition identifies a repetition of a cell; rep counts from 1.
type repetition struct {
	cell  run.Cell
	phase run.Phase
	rep   int
}

// timedRepetitions returns the repetitions that the folder of a resumed run already contains.
func (r *runner) timedRepetitions() map[repetition]bool {
	out := map[repetition]bool{}
	for _, s := range r.folder.Samples() {
		if s.Rep > 0 {
			out[repetition{s.Cell, s.Phase, s.Rep}] = true
		}
	}
	return out
}

// timeOnce measures one repetition. It compares the result with the reference after the clock has stopped.
func (r *runner) timeOnce(ctx context.Context, p *participant, k, rep int, phase run.Phase) error {
	q := r.Questions[k]
	set := rep % q.ParameterSets()
	sample := run.Sample{Cell: run.OwnCell(p.name, q.Name), Phase: phase, Rep: rep + 1}
	if phase == run.Cold {
		if err := r.dropCaches(ctx, p); ctx.Err() != nil {
			return ctx.Err()
		} else if err != nil {
			return r.folder.Add(sample.Judge(nil, answer.Proof{}, err))
		}
	}
	server := p.serverMeter()
	var got *answer.Loose
	m, err := r.folder.TimeQuery(ctx, nil, &server, func() (err error) {
		got, err = r.query(ctx, p, q, set, nil)
		return err
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	proof, err := r.compare(k, set, got, err)
	return r.folder.Add(sample.Judge(m, proof, err))
}

// compare compares a result with the reference, unless the query failed.
func (r *runner) compare(k, set int, got *answer.Loose, err error) (answer.Proof, error) {
	if err != nil {
		return answer.Proof{}, err
	}
	return answer.CompareLoose(r.want[k][set], got, r.Tolerance)
}
