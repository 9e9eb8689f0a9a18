package river

import (
	"context"
	"errors"
	"slices"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/record"
)

// Archive posts into the tables of Barograph's post workload, by the engine's
// fastest method. Stations and their parameters are admitted as they come.
type Archive struct {
	// Open opens the tables: at the begin, and where a connection was lost.
	Open   func(ctx context.Context) (*engine.PostStore, error)
	Method engine.PostMethod
	Shut   func() error // closes what is opened from; nil = nothing is closed

	store  *engine.PostStore
	poster engine.Poster
	known  map[engine.Series]bool
}

// Close closes the tables, and what they were opened from.
func (a *Archive) Close() error {
	err := a.drop()
	if a.Shut != nil {
		err = errors.Join(err, a.Shut())
	}
	return err
}

func (a *Archive) drop() (err error) {
	if a.poster != nil {
		err = a.poster.Close()
	}
	if a.store != nil {
		err = errors.Join(err, a.store.Close())
	}
	a.poster, a.store, a.known = nil, nil, nil
	return err
}

// Again says no to what a database says of values; all else is of the connection,
// the server and its disk, as posters retry conflicts themselves.
func (a *Archive) Again(err error) bool {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return waits(e)
	}
	e, ok := errors.AsType[*mysql.MySQLError](err)
	return !ok || !slices.Contains([]string{"22", "23"}, string(e.SQLState[:2]))
}

// Reload opens the tables anew, with a new connection.
func (a *Archive) Reload(ctx context.Context) (err error) {
	_ = a.drop() // of a connection that may be gone
	if a.store, err = a.Open(ctx); err != nil {
		return err
	}
	a.known = map[engine.Series]bool{}
	a.poster, err = a.store.Poster(ctx, a.Method)
	return err
}

// Post posts products.
func (a *Archive) Post(ctx context.Context, products []*Product) ([]Tally, error) {
	tallies, err := a.post(ctx, products)
	if err != nil {
		_ = a.drop() // the first error says more
	}
	return tallies, err
}

func (a *Archive) post(ctx context.Context, products []*Product) ([]Tally, error) {
	if a.poster == nil {
		if err := a.Reload(ctx); err != nil {
			return nil, err
		}
	}
	messages := make([]engine.PostMessage, len(products))
	for i, p := range products {
		messages[i] = engine.PostMessage{Product: p.ID, Issued: p.Issued.Unix(), Values: p.Values}
	}
	if err := a.admit(ctx, messages); err != nil {
		return nil, err
	}
	posted, err := a.poster.Post(ctx, messages)
	if err != nil {
		return nil, err
	}
	tallies := make([]Tally, len(products))
	switch {
	case posted.Unknown+posted.Filtered == 0:
		for i, p := range products {
			tallies[i][Posted] = int64(len(p.Values))
		}
	case len(products) == 1:
		tallies[0][Posted], tallies[0][Unknown], tallies[0][Filtered] = posted.Values, posted.Unknown, posted.Filtered
	default: // whose they are is told only of one; posting it again changes nothing
		for i, p := range products {
			one, err := a.post(ctx, []*Product{p})
			if err != nil {
				return nil, err
			}
			tallies[i] = one[0]
		}
	}
	return tallies, nil
}

// admit fills location and ingest filter with what is not known yet.
func (a *Archive) admit(ctx context.Context, messages []engine.PostMessage) error {
	var stations []record.ID
	var all []engine.Series
	for i := range messages {
		for k := range messages[i].Values {
			g := &messages[i].Values[k]
			s := engine.Series{Station: g.Station, Code: g.Code, Duration: g.Duration}
			if !a.known[s] {
				a.known[s] = true
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
	return a.poster.Reread(ctx, stations)
}
