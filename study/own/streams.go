package own

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/barograph/barograph/engine/tables"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/measure/pace"
	"github.com/barograph/barograph/results/run"
)

// streams measures concurrent streams. Each stream repeats all proven queries of an engine in its
// own random order.
func (r *runner) streams(ctx context.Context) error {
	if len(r.Streams) == 0 {
		return nil
	}
	measurements := []func(ctx context.Context, p *participant, known []int, n, round int) (run.Sample, error){r.stream}
	if r.WhileLoading {
		measurements = append(measurements, r.streamWhileLoading)
	}
	timed := r.timed()
	for i, round := range measure.Interleave(r.Seed+1, len(r.measured())*len(r.Streams)*len(measurements), max(r.Rounds, 1)) {
		measureStreams, mix := measurements[i%len(measurements)], []string{plainMix, loadingMix}[i%len(measurements)]
		i /= len(measurements)
		p, n := r.measured()[i/len(r.Streams)], r.Streams[i%len(r.Streams)]
		var known []int
		for k, right := range p.proven {
			if right {
				known = append(known, k)
			}
		}
		if len(known) == 0 {
			continue
		}
		if timed[repetition{run.MixCell(p.name, "", mix, n, r.Rate, ""), run.Warm, round + 1}] {
			continue
		}
		if r.overdue("round " + strconv.Itoa(round+1) + " of the streams") {
			return nil
		}
		r.Progress(fmt.Sprintf("%s: %s for %v", p.name, run.CountOf(n, "stream"), r.Duration))
		s, err := measureStreams(ctx, p, known, n, round)
		if err = errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		if err := errors.Join(r.folder.Add(s), r.folder.Save()); err != nil {
			return err
		}
	}
	return nil
}

// warmup is the duration of the warm-up, which is not counted: a tenth of the measurement.
func (r *runner) warmup() time.Duration { return r.Duration / 10 }

// The names of the mixes in cells: streams without other work, and streams during a load.
const (
	plainMix   = "questions"
	loadingMix = "questions beside a load"
)

// stream measures one number of streams.
func (r *runner) stream(ctx context.Context, p *participant, known []int, n, round int) (run.Sample, error) {
	return r.streaming(ctx, p, known, run.Sample{Cell: run.MixCell(p.name, "", plainMix, n, r.Rate, ""), Phase: run.Warm, Rep: round + 1}, n)
}

// streamWhileLoading measures one number of streams while the engine loads.
func (r *runner) streamWhileLoading(ctx context.Context, p *participant, known []int, n, round int) (run.Sample, error) {
	loading, stop := context.WithCancel(ctx)
	defer stop()
	var rows int64
	var failed error
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		rows, failed = r.loadAgain(loading, p)
	}()
	out, err := r.streaming(ctx, p, known, run.Sample{Cell: run.MixCell(p.name, "", loadingMix, n, r.Rate, ""), Phase: run.Warm, Rep: round + 1}, n)
	stop()
	<-ended
	if m := out.Measured(); m != nil {
		m.ConcurrentRows = rows
	}
	if failed != nil {
		out.Warnings = append(out.Warnings, "the load during the streams ended early: "+fault.Redact(failed.Error()))
	}
	return out, err
}

// copyTable is the name of the table that is loaded during the streams.
const copyTable = "barograph_beside"

// loadAgain repeatedly loads a copy of the largest table and drops it, until ctx ends. It returns the
// rows of the complete copies.
func (r *runner) loadAgain(ctx context.Context, p *participant) (rows int64, err error) {
	if p.own == nil {
		return 0, p.gone()
	}
	largest := slices.MaxFunc(r.folder.Run.Own.Tables, func(a, b run.OwnTable) int { return cmp.Compare(a.Rows, b.Rows) })
	i := slices.IndexFunc(r.tables, func(t *tables.Table) bool { return t.Name == largest.Name })
	again := *r.tables[max(i, 0)] // a skipped table has no rows, so it is not the largest
	again.Name = copyTable
	drop := func(ctx context.Context) error {
		return p.own.Ask(ctx, "DROP TABLE IF EXISTS "+copyTable, func([]any) error { return nil })
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
		err = nil // the caller ended the load
	}
	return rows, errors.Join(err, drop(context.WithoutCancel(ctx)))
}

// streaming runs n streams.
func (r *runner) streaming(ctx context.Context, p *participant, known []int, out run.Sample, n int) (run.Sample, error) {
	o := pace.Options{Statuses: []string{"OK"}, Warmup: r.warmup(), MaxDuration: r.Duration, Rate: r.Rate, Arrivals: pace.Poisson, Seed: r.Seed + uint64(out.Rep), Grace: time.Hour} //nolint:gosec // not negative
	for _, k := range known {
		o.Kinds = append(o.Kinds, r.Questions[k].Name)
	}
	workers := make([]pace.Worker, n)
	for i := range workers {
		workers[i] = &stream{runner: r, p: p, known: known, draw: rand.New(rand.NewPCG(r.Seed, uint64(i)))} //nolint:gosec // no secret, not negative
	}
	return r.folder.RunClients(ctx, out, run.ConcurrentClients{Workers: workers, Pace: o, Place: string(p.place), Server: p.watch(), Prove: answer.CompareAgreed})
}

// stream is one client. Each of its passes over the queries has a new random order.
type stream struct {
	*runner
	p       *participant
	known   []int
	draw    *rand.Rand
	order   []int // the rest of the present pass
	queries int
}

// Do runs the next query, records its time, and then compares the result.
func (s *stream) Do(ctx context.Context, r *pace.Recorder) error {
	if len(s.order) == 0 {
		s.order = s.draw.Perm(len(s.known))
	}
	i := s.order[0]
	k := s.known[i]
	s.order, s.queries = s.order[1:], s.queries+1
	q := s.Questions[k]
	set := s.queries % q.ParameterSets()
	began := r.Now()
	got, err := s.ask(ctx, s.p, q, set, nil)
	if err != nil {
		return err
	}
	r.Done(i, 0, began)
	_, err = s.compare(k, set, got, nil)
	return err
}
