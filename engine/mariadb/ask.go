package mariadb

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/barograph/barograph/answer"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/sqlengine"
)

// Ask sends a query as the URL's parameters say.
func (a *archive) Ask(ctx context.Context, q *engine.Query, into *answer.Builder) error {
	err := a.ask(ctx, q, sqlengine.NewDecoder(a.Design, q, into))
	if absent(err) {
		return nil
	}
	return sqlengine.Failed(ctx, err)
}

func (a *archive) ask(ctx context.Context, q *engine.Query, d *sqlengine.Decoder) error {
	if a.db.profile {
		return a.askProfiled(ctx, q, d)
	}
	if !a.db.prepare {
		return a.Pool.Rows(ctx, q.Text, q.Args, d.Values)
	}
	s, done, err := a.statements.get(ctx, a.db.pool, q.Text)
	if err != nil {
		return err
	}
	defer done()
	return run(ctx, s, q, d)
}

// run executes a statement that is prepared.
func run(ctx context.Context, s *sql.Stmt, q *engine.Query, d *sqlengine.Decoder) error {
	rows, err := s.QueryContext(ctx, q.Args...) //nolint:rowserrcheck // Each looks at it
	if err != nil {
		return err
	}
	return sqlengine.Each(ctx, rows, d.Values)
}

// askProfiled also asks how long the server was busy with the question, over
// the same connection.
func (a *archive) askProfiled(ctx context.Context, q *engine.Query, d *sqlengine.Decoder) error {
	c, err := a.db.pool.Conn(ctx)
	if err != nil {
		return err
	}
	defer c.Close() //nolint:errcheck // it goes back to the pool
	if a.db.prepare {
		s, err := c.PrepareContext(ctx, q.Text)
		if err != nil {
			return err
		}
		defer s.Close() //nolint:errcheck // nothing is lost with it
		if err := run(ctx, s, q, d); err != nil {
			return err
		}
	} else {
		if err := (sqlengine.Standard{Over: c}).Rows(ctx, q.Text, q.Args, d.Values); err != nil {
			return err
		}
	}
	q.Server, err = serverTime(ctx, c)
	return err
}

// serverTime is how long the connection's last statement took the server, from
// its arrival to the last row on its way.
func serverTime(ctx context.Context, c *sql.Conn) (time.Duration, error) {
	var id int64
	var seconds float64
	var text []byte
	if err := c.QueryRowContext(ctx, "SHOW PROFILES").Scan(&id, &seconds, &text); err != nil {
		return 0, fmt.Errorf("the server's time: %w", err)
	}
	return time.Duration(math.Round(seconds * 1e9)), nil
}

// statements are those that were prepared over a pool, by text.
type statements struct {
	mu  sync.Mutex
	all map[string]*sql.Stmt
}

// statementsKept bounds what the server must keep.
const statementsKept = 500

// get prepares a statement, once if there are not too many; done must be called
// when its rows are read.
func (s *statements) get(ctx context.Context, pool *sql.DB, text string) (_ *sql.Stmt, done func(), err error) {
	s.mu.Lock()
	known, full := s.all[text], len(s.all) >= statementsKept
	s.mu.Unlock()
	if known != nil {
		return known, func() {}, nil
	}
	one, err := pool.PrepareContext(ctx, text)
	if err != nil {
		return nil, nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if full || s.all[text] != nil { // another asker was faster
		return one, func() { _ = one.Close() }, nil // nothing is lost with it
	}
	if s.all == nil {
		s.all = map[string]*sql.Stmt{}
	}
	s.all[text] = one
	return one, func() {}, nil
}

func (s *statements) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.all {
		_ = one.Close() // its connection may be gone
	}
	clear(s.all)
	return nil
}
