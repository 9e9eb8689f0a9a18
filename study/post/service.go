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
	"github.com/barograph/barograph/river"
)

// Service posts as the service of a river center does (barograph shef serve): each product is a file in a spool. Every
// engine has this method, which uses the engine's fastest method of posting.
const Service posts.Method = "service"

// settle is the time after which an unchanged file of a spool is complete: the default of barograph shef serve.
const settle = 200 * time.Millisecond

// serve posts a source by the service. Without a pace all products are in the spool before the clock starts, and the
// time of a product is the time of its transaction. With a pace it is the time from the arrival of its file to the
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
		if t.Posted.Add(posted); o.Pace == nil { // with a pace, Landed records the times
			t.Post.RecordN(elapsed, products)
		}
	}
	defer func() { err = errors.Join(err, archive.Close()) }()
	ended := make(chan struct{})
	s := &river.Service{
		Spool: spool, Poster: archive, Log: slog.New(slog.DiscardHandler),
		Metrics: river.NewMetrics(prometheus.NewRegistry()), Ended: ended,
	}
	s.Input.Now, t.Waits = src.Moment(), true
	s.Landed = func(p *river.Product, latency time.Duration) {
		if len(p.Values) > 0 {
			t.Products++
		}
		t.ParseTotal += p.Parse
		t.Parse.Record(p.Parse)
		if o.Pace != nil {
			t.Post.Record(latency)
		}
	}
	var spooled int64
	if o.Pace == nil {
		if spooled, err = fill(ctx, dir, src, nil); err != nil {
			return err
		}
		close(ended)
		err = t.measure(func() error { return s.Run(ctx) })
	} else {
		spool.Settle = settle
		err = t.measure(func() error {
			g, groupCtx := errgroup.WithContext(ctx)
			g.Go(func() error { return s.Run(groupCtx) })
			g.Go(func() (err error) {
				defer close(ended)
				spooled, err = fill(groupCtx, dir, src, o.Pace)
				return err
			})
			return g.Wait()
		})
	}
	if t.PostTotal = t.Wall; err == nil {
		err = errors.Join(ctx.Err(), failedProducts(dir))
	}
	t.Doubled = spooled - t.Products
	return err
}

// fill writes the products that have values into a spool, and returns their number. As in a feed, each file appears
// when it is complete.
func fill(
	ctx context.Context, dir string, src Source, pace func(ctx context.Context, product int64) error,
) (n int64, err error) {
	for m, err := range src.Products() {
		if err = errors.Join(err, ctx.Err()); err != nil {
			return n, err
		}
		if len(m.Values) == 0 {
			continue
		}
		if pace != nil {
			if err := pace(ctx, n); err != nil {
				return n, err
			}
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
	return errors.Join(err, fmt.Errorf("the service could not post %d products; the first: %s", len(reasons), why))
}
