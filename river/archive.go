package river

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"
	"golang.org/x/sync/errgroup"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/posts"
	"github.com/barograph/barograph/record"
)

// Archive is a Poster whose database has Barograph's own tables, in a design of engine/posts. It adds stations and
// series that the tables do not contain yet.
type Archive struct {
	// Open opens the tables: at the start, and again after a connection was lost.
	Open   func(ctx context.Context) (*posts.Store, error)
	Method posts.Method
	// Posters is the number of connections; 0 = one. Archive divides a large batch among them by station, because a
	// server uses one processor for a connection. Each connection posts its share in a transaction of its own. After a
	// crash between these transactions, posting the batch again only adds what is missing.
	Posters int
	Change  func(*record.Gauge) // changes a copy of each value before Archive posts it; nil = no change
	// Measured is called after each batch with its result and the number of its products with values; nil = it is not
	// called.
	Measured func(posted posts.PostResult, products int64, took time.Duration)
	Shut     func() error // closes the engine of Open; nil = nothing to close

	store    *posts.Store
	posters  []posts.Poster
	batches  []Batch // the shares of the posters, by index; reused
	admitted map[posts.Series]bool
	messages []posts.Message
}

// Posters returns a useful number of connections for Archive.Posters.
func Posters(d *engine.Driver) int {
	if d.Place == engine.Embedded {
		return 1 // it has one writer
	}
	return min(2, runtime.NumCPU())
}

// minValuesToDivide is the number of values from which a batch is divided among the connections.
const minValuesToDivide = 5000

// Close closes the tables and their engine.
func (a *Archive) Close() error {
	err := a.disconnect()
	if a.Shut != nil {
		err = errors.Join(err, a.Shut())
	}
	return err
}

// disconnect closes the tables. The next Post opens them again.
func (a *Archive) disconnect() (err error) {
	for _, p := range a.posters {
		err = errors.Join(err, p.Close())
	}
	if a.store != nil {
		err = errors.Join(err, a.store.Close())
	}
	a.posters, a.store, a.admitted = nil, nil, nil
	return err
}

// IsTemporary returns false for a database's errors about values. All other errors concern the
// connection, the server or its disk, because posters retry conflicts themselves.
func (a *Archive) IsTemporary(err error) bool {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return isTemporary(e)
	}
	e, ok := errors.AsType[*mysql.MySQLError](err)
	return !ok || !slices.Contains([]string{"22", "23"}, string(e.SQLState[:2]))
}

// Reload opens the tables anew, with a new connection.
func (a *Archive) Reload(ctx context.Context) (err error) {
	_ = a.disconnect() // the connection may be lost already
	if a.store, err = a.Open(ctx); err != nil {
		return err
	}
	a.admitted, a.batches = map[posts.Series]bool{}, make([]Batch, max(a.Posters, 1))
	for range a.batches {
		p, err := a.store.Poster(ctx, a.Method)
		if err != nil {
			return err
		}
		a.posters = append(a.posters, p)
	}
	return nil
}

// Post posts products.
func (a *Archive) Post(ctx context.Context, products []*Product) ([]Tally, error) {
	tallies, err := a.post(ctx, products)
	if err != nil {
		_ = a.disconnect() // the first error is the cause
	}
	return tallies, err
}

func (a *Archive) post(ctx context.Context, products []*Product) ([]Tally, error) {
	if a.posters == nil {
		if err := a.Reload(ctx); err != nil {
			return nil, err
		}
	}
	a.messages = a.messages[:0]
	for _, p := range products {
		a.messages = append(a.messages, posts.Message{Product: p.ID, Issued: p.Issued.Unix(), Values: p.Values})
	}
	if err := a.admit(ctx, a.messages); err != nil {
		return nil, err
	}
	began := time.Now()
	posted, withValues, err := a.postMessages(ctx, a.messages)
	if err != nil {
		return nil, err
	}
	if a.Measured != nil {
		a.Measured(posted, withValues, time.Since(began))
	}
	tallies := make([]Tally, len(products))
	switch {
	case posted.Unknown+posted.Filtered == 0:
		for i, p := range products {
			tallies[i][Posted] = int64(len(p.Values))
		}
	case len(products) == 1:
		tallies[0][Posted], tallies[0][Unknown], tallies[0][Filtered] = posted.Values, posted.Unknown, posted.Filtered
	default: // The result counts all products together. Posting each product again only counts its values: it is not measured.
		defer func(measured func(posts.PostResult, int64, time.Duration)) { a.Measured = measured }(a.Measured)
		a.Measured = nil
		for i, p := range products {
			tally, err := a.post(ctx, []*Product{p})
			if err != nil {
				return nil, err
			}
			tallies[i] = tally[0]
		}
	}
	return tallies, nil
}

// postMessages posts messages. It divides them among all connections if they have many values. withValues is the number
// of messages that have values.
func (a *Archive) postMessages(
	ctx context.Context, messages []posts.Message,
) (posted posts.PostResult, withValues int64, err error) {
	values := 0
	for i := range messages {
		if n := len(messages[i].Values); n > 0 {
			withValues, values = withValues+1, values+n
		}
	}
	n := len(a.posters)
	if values < minValuesToDivide {
		n = 1
	}
	if values == 0 || n == 1 && a.Change == nil {
		posted, err = a.posters[0].Post(ctx, messages)
		return posted, withValues, err
	}
	g, groupCtx := errgroup.WithContext(ctx)
	results := make([]posts.PostResult, n)
	for k := range n {
		batch := &a.batches[k]
		batch.Reset()
		for i := range messages {
			batch.Add(&messages[i], k, n, a.Change)
		}
		g.Go(func() (err error) {
			results[k], err = a.posters[k].Post(groupCtx, batch.Messages())
			return err
		})
	}
	err = g.Wait()
	for _, r := range results {
		posted.Add(r)
	}
	return posted, withValues, err
}

// admit adds unknown stations and series to the tables of locations and ingest filters.
func (a *Archive) admit(ctx context.Context, messages []posts.Message) error {
	var stations []record.ID
	var all []posts.Series
	for i := range messages {
		for k := range messages[i].Values {
			g := &messages[i].Values[k]
			s := posts.Series{Station: g.Station, Code: g.Code, Duration: g.Duration}
			if !a.admitted[s] {
				a.admitted[s] = true
				all = append(all, s)
				stations = append(stations, g.Station)
			}
		}
	}
	if len(all) == 0 {
		return nil
	}
	slices.SortFunc(stations, func(x, y record.ID) int { return slices.Compare(x[:], y[:]) })
	stations = slices.Compact(stations)
	if err := a.store.Admit(ctx, stations, all); err != nil {
		return err
	}
	g, groupCtx := errgroup.WithContext(ctx)
	for _, p := range a.posters {
		g.Go(func() error { return p.Reread(groupCtx, stations) })
	}
	return g.Wait()
}
