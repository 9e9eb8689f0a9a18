package post

import (
	"context"
	"crypto/md5" //nolint:gosec // no secret: two copies of a product are alike
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/barograph/barograph/engine/posts"
	"github.com/barograph/barograph/formats/shef"
	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/run"
	"github.com/barograph/barograph/river"
)

// Options of Run. The zero value is one poster that posts one product at a time by the algorithm of 2006.
type Options struct {
	Method  posts.Method
	Posters int // 0 = 1
	// Together is the number of products per transaction; 0 = 1. A transaction with maxBatchValues values has fewer.
	Together int
	// Change changes every value before it is posted; nil = no change.
	Change func(*record.Gauge)
	// Writes is the method of the engine that Service uses.
	Writes posts.Method
	// Pace has the times at which the products are due.
	Pace Pace
}

// maxBatchValues limits the values of a batch, and thereby the memory of the client.
const maxBatchValues = 30_000

// Tally has the counts and times of posting a source.
type Tally struct {
	Products   int64
	Doubled    int64 // duplicate products, which the service does not post again
	Late       int64 // see run.Posting
	Wall       time.Duration
	CPU        time.Duration // of this process
	Parse      *measure.Histogram
	Post       *measure.Histogram // by product; see run.PostTimes
	ParseTotal time.Duration
	PostTotal  time.Duration // sum over all posters
	Posted     posts.PostResult
	// Waits is true for the service, whose products overlap. Post then has the time until each product was committed, and
	// the mean is that of these times. Otherwise the mean is PostTotal divided by the number of products.
	Waits bool
}

// postTimes returns the times of posting.
func (t *Tally) postTimes() run.PostTimes {
	out := times(t.Post, t.PostTotal, t.Products)
	if t.Waits && t.Products > 0 {
		out.Mean = t.Post.Mean()
	}
	return out
}

// times combines a histogram with its total.
func times(h *measure.Histogram, total time.Duration, products int64) run.PostTimes {
	t := run.PostTimes{Total: total, Latency: run.Summarize(h)}
	if t.Mean = 0; products > 0 {
		t.Mean = total / time.Duration(products)
	}
	t.Times, _ = h.Pack() // packing into memory cannot fail
	return t
}

// Run posts a source.
func Run(ctx context.Context, s *posts.Store, src Source, o Options) (*Tally, error) {
	o.Posters, o.Together = max(o.Posters, 1), max(o.Together, 1)
	t := &Tally{Parse: measure.NewHistogram(), Post: measure.NewHistogram()}
	if o.Method == Service {
		return t, t.serve(ctx, s, src, o)
	}
	return t, t.measure(func() error { return t.runPosters(ctx, s, src, o) })
}

// measure runs f and measures its wall time and processor time.
func (t *Tally) measure(f func() error) error {
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

// runPosters distributes the values to posters, each of which has its own stations.
func (t *Tally) runPosters(ctx context.Context, s *posts.Store, src Source, o Options) error {
	workers := make([]*worker, o.Posters)
	for i := range workers {
		p, err := s.Poster(ctx, o.Method)
		if err != nil {
			return errors.Join(err, closeAll(workers[:i]))
		}
		workers[i] = &worker{
			poster: p, post: measure.NewHistogram(),
			full: make(chan *river.Batch, 1), free: make(chan *river.Batch, 2),
		}
		workers[i].free <- &river.Batch{}
		workers[i].free <- &river.Batch{}
	}
	g, groupCtx := errgroup.WithContext(ctx)
	for _, w := range workers {
		g.Go(func() error { return w.work(groupCtx) })
	}
	g.Go(func() error { return t.distribute(groupCtx, src, workers, o) })
	err := errors.Join(g.Wait(), closeAll(workers))
	for _, w := range workers {
		t.PostTotal += w.total
		t.Posted.Add(w.posted)
		if mergeErr := t.Post.Merge(w.post); err == nil {
			err = mergeErr
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

// distribute decodes products and sends batches to the workers.
func (t *Tally) distribute(ctx context.Context, src Source, workers []*worker, o Options) error {
	defer func() {
		for _, w := range workers {
			close(w.full)
		}
	}()
	batches, began := make([]*river.Batch, len(workers)), time.Now()
	flush := func(i int) error {
		b := batches[i]
		batches[i] = nil
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
			continue // only Survey counts a product without values
		}
		delay, err := o.Pace.wait(ctx, began, t.Products)
		if err != nil {
			return err
		}
		if o.Pace.isLate(delay) {
			t.Late++
		}
		t.Products++
		t.ParseTotal += m.Parse
		t.Parse.Record(m.Parse)
		for i, w := range workers {
			if batches[i] == nil {
				select {
				case batches[i] = <-w.free:
				case <-ctx.Done():
					return ctx.Err()
				}
			}
			batches[i].Add(&m.Message, i, len(workers), o.Change)
			if batches[i].Full(o.Together, maxBatchValues) {
				if err := flush(i); err != nil {
					return err
				}
			}
		}
	}
	for i := range batches {
		if batches[i] != nil {
			if err := flush(i); err != nil {
				return err
			}
		}
	}
	return nil
}

// worker posts the batches that it receives.
type worker struct {
	poster     posts.Poster
	full, free chan *river.Batch // batches to post, and empty batches for distribute
	post       *measure.Histogram
	total      time.Duration
	posted     posts.PostResult
}

// work posts batches until distribute closes full.
func (w *worker) work(ctx context.Context) error {
	for b := range w.full {
		if messages := b.Messages(); len(messages) > 0 {
			began := time.Now()
			result, err := w.poster.Post(ctx, messages)
			if err != nil {
				return err
			}
			elapsed := time.Since(began)
			w.total += elapsed
			w.post.RecordN(elapsed, int64(len(messages)))
			w.posted.Add(result)
		}
		b.Reset()
		w.free <- b
	}
	return ctx.Err()
}

// referenceValues is the number of values in memory while a reference is computed. It limits
// the client's memory to about 450 MB, as measured with 13.3 million values.
const referenceValues = 2_000_000

// References computes the expected contents of tables from the products. The contents of a backlog do not fit into
// memory, so References computes them for one group of stations after the other and adds the digests. It keeps each
// digest for all methods, and for all designs that store the same values.
type References struct {
	source      Source
	contents    *Contents
	groupValues int64 // values of a group of stations
	digests     map[string]record.Digest
	// repeats maps each product whose text is that of an earlier product to the last such earlier one; nil = findRepeats
	// was not called yet.
	repeats map[int]int
}

// NewReferences decodes a source once, and returns references without digests.
func NewReferences(ctx context.Context, s Source) (*References, error) {
	c, err := Survey(ctx, s)
	if err != nil {
		return nil, err
	}
	r := &References{source: s, contents: c, groupValues: referenceValues, digests: map[string]record.Digest{}}
	return r, nil
}

// Read returns the counts of decoding the source.
func (r *References) Read() run.DecodeCounts { return r.contents.Read }

// state is the history of tables. The source was posted len(added) times; post i added added[i] to each of its values.
// Afterward the observations before the time deletedBefore were deleted.
type state struct {
	added         []float64
	deletedBefore int64 // never = nothing was deleted
	// spoolProducts is the number of products in each spool of the service, which omits a product if its spool has an
	// earlier one with the same text; 0 = every product was posted.
	spoolProducts int
}

// never is a time before all observations.
const never = -farFuture

// digest returns the digest of the expected tables of a design in a state.
func (r *References) digest(ctx context.Context, d posts.Design, p posts.Policy, s state) (record.Digest, error) {
	if d.Slots() > 0 && s.deletedBefore == never && !p.UsesOrigin() {
		d = posts.Single // it stores the same values
	}
	if p == posts.Overwrite && len(s.added) > 0 {
		s.added = s.added[len(s.added)-1:] // the last post overwrites every key
	}
	key := fmt.Sprint(d, p, s)
	if digest, ok := r.digests[key]; ok {
		return digest, nil
	}
	var sum record.Digest
	if s.spoolProducts > 0 {
		if err := r.findRepeats(ctx); err != nil {
			return sum, err
		}
	}
	groups := int(r.contents.Read.Values/r.groupValues) + 1
	for group := range groups {
		reference := &posts.Reference{
			Policy: p, Design: d,
			Only:    func(station record.ID) bool { return river.PosterOf(station, groups) == group },
			Without: func(v *posts.Value) bool { return s.isDeleted(d, v.Time) },
		}
		for _, by := range s.added {
			change, next := shift(by), 0
			for m, err := range r.source.Products() {
				if err = errors.Join(err, ctx.Err()); err != nil {
					return sum, err
				}
				product := next
				if next++; r.isOmitted(product, s.spoolProducts) {
					continue
				}
				for i := range m.Values {
					change(&m.Values[i])
				}
				reference.Post([]posts.Message{m.Message})
			}
		}
		sum.Add(reference.Digest().Values)
	}
	r.digests[key] = sum
	return sum, nil
}

// findRepeats finds the products whose text is that of an earlier one, as the service compares texts.
func (r *References) findRepeats(ctx context.Context) error {
	if r.repeats != nil {
		return nil
	}
	repeats, last := map[int]int{}, map[[md5.Size]byte]int{}
	in := river.Input{Options: shef.Options{Now: r.source.Moment()}}
	product := 0
	for m, err := range r.source.Products() {
		if err = errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		sum, err := in.TextSum(m.Text)
		if err != nil {
			return err
		}
		if earlier, ok := last[sum]; ok {
			repeats[product] = earlier
		}
		last[sum] = product
		product++
	}
	r.repeats = repeats
	return nil
}

// isOmitted reports whether a product of the source is not posted in a state with these spoolProducts.
func (r *References) isOmitted(product, spoolProducts int) bool {
	if spoolProducts == 0 {
		return false
	}
	earlier, ok := r.repeats[product]
	return ok && earlier/spoolProducts == product/spoolProducts
}

// isDeleted reports whether the observation of a time was deleted. A row of an array is a day, which
// includes 00:00 of the next day. Values between the times of an array have rows of their own.
func (s *state) isDeleted(d posts.Design, at int64) bool {
	if slots := int64(d.Slots()); slots > 0 && at%(86400/slots) == 0 {
		return at <= s.deletedBefore
	}
	return at < s.deletedBefore
}
