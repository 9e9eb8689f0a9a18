package post

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/barograph/barograph/engine/posts"
	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/run"
	"github.com/barograph/barograph/river"
)

// Options of Run; the zero value is one poster that posts a product at a time
// by the algorithm of 2006.
type Options struct {
	Method  posts.Method
	Posters int // 0 = 1
	// Together is how many products are posted in one transaction; 0 = 1. A
	// batch is posted, too, when it has TogetherValues values.
	Together int
	// Change is done to every value before it is posted; nil = nothing.
	Change func(*record.Gauge)
	// Writes is the engine's method by which Service writes.
	Writes posts.Method
	// Pace is called with the number of each product before it is posted, and may wait.
	Pace func(ctx context.Context, product int64) error
}

// togetherValues bounds a batch, and so the client's memory.
const togetherValues = 30_000

// Tally is what posting a source came to.
type Tally struct {
	Products   int64
	Doubled    int64 // products that the service posted no second time
	Wall       time.Duration
	CPU        time.Duration // of this process
	Parse      *measure.Histogram
	Post       *measure.Histogram // by product; see run.PostTimes
	ParseTotal time.Duration
	PostTotal  time.Duration // of all posters
	Posted     posts.PostResult
	// Waits: Post has how long each product waited for its transaction, as of the service,
	// and not its share of PostTotal. Mean and maximum are then both of the waits.
	Waits bool
}

func (t *Tally) postTimes() run.PostTimes {
	out := times(t.Post, t.PostTotal, t.Products)
	if t.Waits && t.Products > 0 {
		out.Mean = t.Post.Mean()
	}
	return out
}

// Times puts a histogram and its total together.
func times(h *measure.Histogram, total time.Duration, products int64) run.PostTimes {
	t := run.PostTimes{Total: total, Latency: run.Summarize(h)}
	if t.Mean = 0; products > 0 {
		t.Mean = total / time.Duration(products)
	}
	t.Times, _ = h.Pack() // into memory, which does not fail
	return t
}

// Run posts a source.
func Run(ctx context.Context, s *posts.Store, src Source, o Options) (*Tally, error) {
	o.Posters, o.Together = max(o.Posters, 1), max(o.Together, 1)
	t := &Tally{Parse: measure.NewHistogram(), Post: measure.NewHistogram()}
	if o.Method == Service {
		return t, t.serve(ctx, s, src, o)
	}
	return t, t.clocked(func() error { return t.posters(ctx, s, src, o) })
}

// clocked does what is timed.
func (t *Tally) clocked(f func() error) error {
	meter, err := measure.StartClient()
	if err != nil {
		return err
	}
	clock := time.Now()
	err = f()
	t.Wall = time.Since(clock)
	load, loadErr := meter.Stop()
	if t.CPU = load.User + load.System; err == nil {
		err = loadErr
	}
	return err
}

// posters deals the products out to posters of their own stations.
func (t *Tally) posters(ctx context.Context, s *posts.Store, src Source, o Options) error {
	workers := make([]*worker, o.Posters)
	for i := range workers {
		p, err := s.Poster(ctx, o.Method)
		if err != nil {
			return errors.Join(err, closeAll(workers[:i]))
		}
		workers[i] = &worker{poster: p, post: measure.NewHistogram(), full: make(chan *river.Batch, 1), free: make(chan *river.Batch, 2)}
		workers[i].free <- &river.Batch{}
		workers[i].free <- &river.Batch{}
	}
	g, inner := errgroup.WithContext(ctx)
	for _, w := range workers {
		g.Go(func() error { return w.work(inner) })
	}
	g.Go(func() error { return t.deal(inner, src, workers, o) })
	err := errors.Join(g.Wait(), closeAll(workers))
	for _, w := range workers {
		t.PostTotal += w.total
		t.Posted.Add(w.posted)
		if merged := t.Post.Merge(w.post); err == nil {
			err = merged
		}
	}
	return err
}

func closeAll(workers []*worker) (err error) {
	for _, w := range workers {
		err = errors.Join(err, w.poster.Close())
	}
	return err
}

// deal decodes and hands batches to the workers.
func (t *Tally) deal(ctx context.Context, src Source, workers []*worker, o Options) error {
	defer func() {
		for _, w := range workers {
			close(w.full)
		}
	}()
	hold := make([]*river.Batch, len(workers))
	flush := func(i int) error {
		b := hold[i]
		hold[i] = nil
		select {
		case workers[i].full <- b:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	for m, err := range src.Products() {
		if err != nil {
			return err
		}
		if len(m.Values) == 0 {
			continue // takes no time; the survey counts it
		}
		if o.Pace != nil {
			if err := o.Pace(ctx, t.Products); err != nil {
				return err
			}
		}
		t.Products++
		t.ParseTotal += m.Parse
		t.Parse.Record(m.Parse)
		for i, w := range workers {
			if hold[i] == nil {
				select {
				case hold[i] = <-w.free:
				case <-ctx.Done():
					return ctx.Err()
				}
			}
			hold[i].Add(&m.Message, i, len(workers), o.Change)
			if hold[i].Full(o.Together, togetherValues) {
				if err := flush(i); err != nil {
					return err
				}
			}
		}
	}
	for i := range hold {
		if hold[i] != nil {
			if err := flush(i); err != nil {
				return err
			}
		}
	}
	return nil
}

// worker posts what it is dealt.
type worker struct {
	poster     posts.Poster
	full, free chan *river.Batch
	post       *measure.Histogram
	total      time.Duration
	posted     posts.PostResult
}

func (w *worker) work(ctx context.Context) error {
	for b := range w.full {
		if given := b.Given(); len(given) > 0 {
			began := time.Now()
			n, err := w.poster.Post(ctx, given)
			if err != nil {
				return err
			}
			took := time.Since(began)
			w.total += took
			w.post.RecordN(took, int64(len(given)))
			w.posted.Add(n)
		}
		b.Reset()
		w.free <- b
	}
	return ctx.Err()
}

// referenceValues is how many values a reference looks at together: it bounds
// the client's memory to some 450 MB, as measured on 13.3 million values.
const referenceValues = 2_000_000

// References say what tables must hold, from the products alone. Those of a
// backlog do not fit into memory: they are computed for so many stations as do,
// then for others, and the digests of the parts added. What was computed once
// serves every method, and all designs that keep the same.
type References struct {
	source   Source
	contents *Contents
	most     int64 // values that are looked at together
	known    map[string]record.Digest
}

// NewReferences surveys a source.
func NewReferences(ctx context.Context, s Source) (*References, error) {
	c, err := Survey(ctx, s)
	if err != nil {
		return nil, err
	}
	return &References{source: s, contents: c, most: referenceValues, known: map[string]record.Digest{}}, nil
}

// Read is what decoding the source came to.
func (r *References) Read() run.DecodeCounts { return r.contents.Read }

// state is how tables came to be as they are: the source was posted with these
// numbers added, one after the other, then what was observed before a moment was
// deleted.
type state struct {
	added   []float64
	deleted int64
}

// never is a moment before any observation.
const never = -farFuture

// digest is that of tables of a design in a state.
func (r *References) digest(ctx context.Context, d posts.Design, p posts.Policy, s state) (record.Digest, error) {
	if d.Slots() > 0 && s.deleted == never && !p.UsesOrigin() {
		d = posts.Single // the same values
	}
	if p == posts.Overwrite && len(s.added) > 0 {
		s.added = s.added[len(s.added)-1:] // it has every key
	}
	key := fmt.Sprint(d, p, s)
	if have, ok := r.known[key]; ok {
		return have, nil
	}
	var sum record.Digest
	parts := int(r.contents.Read.Values/r.most) + 1
	for part := range parts {
		one := &posts.Reference{
			Policy: p, Design: d, Only: func(station record.ID) bool { return river.Owner(station, parts) == part },
			Without: func(v *posts.Value) bool { return s.gone(d, v.Time) },
		}
		for _, by := range s.added {
			change := shift(by)
			for m, err := range r.source.Products() {
				if err = errors.Join(err, ctx.Err()); err != nil {
					return sum, err
				}
				for i := range m.Values {
					change(&m.Values[i])
				}
				one.Post([]posts.Message{m.Message})
			}
		}
		sum.Add(one.Digest().Values)
	}
	r.known[key] = sum
	return sum, nil
}

// gone reports whether what was observed at a moment was deleted. A row of an
// array is a day, which ends with 00:00 of the next; what is not on its grid is
// in rows of its own.
func (s *state) gone(d posts.Design, at int64) bool {
	if slots := int64(d.Slots()); slots > 0 && at%(86400/slots) == 0 {
		return at <= s.deleted
	}
	return at < s.deleted
}
