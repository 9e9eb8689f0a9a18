package post

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"github.com/barograph/barograph/engine/posts"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/results/run"
	"github.com/barograph/barograph/river"
)

// Service posts as the service of a river center does (barograph shef serve): each product is a file in a spool. Every
// engine has this method, which uses the engine's fastest method of posting.
const Service posts.Method = "service"

// settle is the time after which an unchanged file of a spool is complete: the default of barograph shef serve.
const settle = 200 * time.Millisecond

// unnoticed is the longest time from the arrival of a file until a service that waits reads it: the service reads its
// spool at intervals of settle.
const unnoticed = 2 * settle

// strictPoster ends the run at the first error of the database, as the other methods do. Without it the service would
// repeat the transaction until the database accepts it.
type strictPoster struct {
	*river.Archive
	end context.CancelCauseFunc
}

// Post posts products.
func (p *strictPoster) Post(ctx context.Context, products []*river.Product) ([]river.Tally, error) {
	tallies, err := p.Archive.Post(ctx, products)
	if err != nil && p.IsTemporary(err) {
		p.end(err)
	}
	return tallies, err
}

// serve posts a source by the service. Without pauses all products are in the spool before the clock starts, and the
// time of a product is the time of its transaction. With pauses it is the time from the arrival of its file to the
// commit of its rows.
func (t *Tally) serve(ctx context.Context, store *posts.Store, src Source, o Options) (err error) {
	dir, err := os.MkdirTemp("", "barograph-spool")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	spool, err := river.OpenSpool(dir, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, spool.Close()) }()
	shared := *store
	shared.Close = func() error { return nil } // the caller closes the store
	archive := &river.Archive{
		Method: o.Writes, Posters: o.Posters, Change: o.Change,
		Open: func(context.Context) (*posts.Store, error) { return &shared, nil },
	}
	archive.Measured = func(posted posts.PostResult, products int64, elapsed time.Duration) {
		if t.Posted.Add(posted); !o.Pace.hasPauses() { // with pauses, Landed records the times
			t.Post.RecordN(elapsed, products)
		}
	}
	defer func() { err = errors.Join(err, archive.Close()) }()
	runCtx, end := context.WithCancelCause(ctx)
	defer end(nil)
	ended := make(chan struct{})
	s := &river.Service{
		Spool: spool, Poster: &strictPoster{archive, end}, Log: slog.New(slog.DiscardHandler),
		Metrics: river.NewMetrics(prometheus.NewRegistry()), Ended: ended,
	}
	s.Input.Now, t.Waits = src.Moment(), true
	s.Landed = func(p *river.Product, latency time.Duration) {
		if len(p.Values) > 0 {
			t.Products++
		}
		t.ParseTotal += p.Parse
		t.Parse.Record(p.Parse)
		if o.Pace.hasPauses() {
			t.Post.Record(latency)
			if o.Pace.isLate(latency - unnoticed) {
				t.Late++
			}
		}
	}
	var spooled int64
	if !o.Pace.hasPauses() {
		if spooled, err = fill(ctx, dir, src, o.Pace); err != nil {
			return err
		}
		close(ended)
		err = t.measure(func() error { return s.Run(runCtx) })
	} else {
		spool.Settle = settle
		err = t.measure(func() error {
			g, groupCtx := errgroup.WithContext(runCtx)
			g.Go(func() error { return s.Run(groupCtx) })
			g.Go(func() (err error) {
				defer close(ended)
				spooled, err = fill(groupCtx, dir, src, o.Pace)
				return err
			})
			return g.Wait()
		})
	}
	t.PostTotal, t.Doubled = t.Wall, spooled-t.Products
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case runCtx.Err() != nil:
		return context.Cause(runCtx)
	}
	return errors.Join(err, failedProducts(dir))
}

// fill writes the products that have values into a spool, and returns their number. As in a feed, each file appears
// when it is complete.
func fill(ctx context.Context, dir string, src Source, pace Pace) (n int64, err error) {
	began := time.Now()
	for m, err := range src.Products() {
		if err = errors.Join(err, ctx.Err()); err != nil {
			return n, err
		}
		if len(m.Values) == 0 {
			continue
		}
		if _, err := pace.wait(ctx, began, n); err != nil {
			return n, err
		}
		path := filepath.Join(dir, fmt.Sprintf("%09d", n))
		if err := os.WriteFile(path+".tmp", m.Text, 0o600); err != nil {
			return n, err
		}
		if err := os.Rename(path+".tmp", path); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// failedProducts returns an error with the first reason if the service moved files to failed/.
func failedProducts(dir string) error {
	reasons := lists.Files(dir, "failed/*.why")
	if len(reasons) == 0 {
		return nil
	}
	why, err := os.ReadFile(reasons[0])
	return errors.Join(err, fmt.Errorf("the service could not post %s; the first: %s", run.CountOf(len(reasons), "product"), why))
}
