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

// measureStreams measures concurrent streams. Each stream repeats all proven queries of an engine in its
// own random order.
func (r *runner) measureStreams(ctx context.Context) error {
	if len(r.Streams) == 0 {
		return nil
	}
	// proven are the indices of the questions whose results on the engine are proven.
	type measurement func(ctx context.Context, p *participant, proven []int, n, round int) (run.Sample, error)
	measurements := []measurement{r.streamAlone}
	if r.WhileLoading {
		measurements = append(measurements, r.streamWhileLoading)
	}
	timed := r.timedRepetitions()
	all := len(r.measured()) * len(r.Streams) * len(measurements)
	for i, round := range measure.Interleave(r.Seed+1, all, max(r.Rounds, 1)) {
		measureRound, mix := measurements[i%len(measurements)], []string{plainMix, loadingMix}[i%len(measurements)]
		i /= len(measurements)
		p, n := r.measured()[i/len(r.Streams)], r.Streams[i%len(r.Streams)]
		var proven []int
		for k, isProven := range p.proven {
			if isProven {
				proven = append(proven, k)
			}
		}
		if len(proven) == 0 {
			continue
		}
		if timed[repetition{run.MixCell(p.name, "", mix, n, r.Rate, ""), run.Warm, round + 1}] {
			continue
		}
		if r.overdue("round " + strconv.Itoa(round+1) + " of the streams") {
			return nil
		}
		r.Progress(fmt.Sprintf("%s: %s for %v", p.name, run.CountOf(n, "stream"), r.Duration))
		s, err := measureRound(ctx, p, proven, n, round)
		if err = errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		if err := errors.Join(r.folder.Add(s), r.folder.Save()); err != nil {
			return err
		}
	}
	return nil
}

// warmup is the duration of the warm-up, whose queries are not counted: a tenth of the measurement.
func (r *runner) warmup() time.Duration { return r.Duration / 10 }

// The names of the mixes in cells: streams without other work, and streams during a load.
const (
	plainMix   = "questions"
	loadingMix = "questions beside a load"
)

// streamSample returns the sample of a round of n streams, without its measurement.
func (r *runner) streamSample(p *participant, mix string, n, round int) run.Sample {
	return run.Sample{Cell: run.MixCell(p.name, "", mix, n, r.Rate, ""), Phase: run.Warm, Rep: round + 1}
}

// streamAlone runs n streams without a load.
func (r *runner) streamAlone(ctx context.Context, p *participant, proven []int, n, round int) (run.Sample, error) {
	return r.runStreams(ctx, p, proven, r.streamSample(p, plainMix, n, round), n)
}

// streamWhileLoading runs n streams while the engine loads.
func (r *runner) streamWhileLoading(
	ctx context.Context, p *participant, proven []int, n, round int,
) (run.Sample, error) {
	loading, stop := context.WithCancel(ctx)
	defer stop()
	var rows int64
	var failed error
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		rows, failed = r.loadCopies(loading, p)
	}()
	out, err := r.runStreams(ctx, p, proven, r.streamSample(p, loadingMix, n, round), n)
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

// loadCopies repeatedly loads a copy of the largest table and drops it, until ctx ends. It returns the number of rows
// of all complete copies.
func (r *runner) loadCopies(ctx context.Context, p *participant) (rows int64, err error) {
	if p.own == nil {
		return 0, p.reopenError()
	}
	// It takes the table from r.tables, because the list in the run folder also has skipped tables.
	largest := slices.MaxFunc(r.tables, func(a, b *tables.Table) int { return cmp.Compare(a.Rows, b.Rows) })
	tableCopy := *largest
	tableCopy.Name = copyTable
	drop := func(ctx context.Context) error {
		return p.own.Ask(ctx, "DROP TABLE IF EXISTS "+copyTable, func([]any) error { return nil })
	}
	for {
		if err = drop(ctx); err == nil {
			err = p.own.Load(ctx, &tableCopy)
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

// runStreams runs n streams and stores their measurement in out.
func (r *runner) runStreams(
	ctx context.Context, p *participant, proven []int, out run.Sample, n int,
) (run.Sample, error) {
	o := pace.Options{
		Statuses:    []string{"OK"},
		Warmup:      r.warmup(),
		MaxDuration: r.Duration,
		Rate:        r.Rate,
		Arrivals:    pace.Poisson,
		Seed:        r.Seed + uint64(out.Rep), //nolint:gosec // not negative
		Grace:       time.Hour,
	}
	for _, k := range proven {
		o.Kinds = append(o.Kinds, r.Questions[k].Name)
	}
	workers := make([]pace.Worker, n)
	for i := range workers {
		random := rand.New(rand.NewPCG(r.Seed, uint64(i))) //nolint:gosec // no secret, not negative
		workers[i] = &streamClient{runner: r, p: p, proven: proven, random: random}
	}
	return r.folder.RunClients(ctx, out, run.ConcurrentClients{
		Workers: workers, Pace: o, Place: string(p.place), Server: p.serverMeter(), Prove: answer.CompareAgreed,
	})
}

// streamClient is the client of one stream. Each of its passes over the queries has a new random order.
type streamClient struct {
	*runner
	p       *participant
	proven  []int // indices of the questions that it repeats
	random  *rand.Rand
	order   []int // the rest of the present pass, as indices of proven
	queries int   // number of queries that it has sent
}

// Do runs the next query, records its time, and then compares the result.
func (s *streamClient) Do(ctx context.Context, r *pace.Recorder) error {
	if len(s.order) == 0 {
		s.order = s.random.Perm(len(s.proven))
	}
	i := s.order[0]
	k := s.proven[i]
	s.order, s.queries = s.order[1:], s.queries+1
	q := s.Questions[k]
	set := s.queries % q.ParameterSets()
	began := r.Now()
	got, err := s.query(ctx, s.p, q, set, nil)
	if err != nil {
		return err
	}
	r.Done(i, 0, began)
	_, err = s.compare(k, set, got, nil)
	return err
}
