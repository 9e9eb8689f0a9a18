package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/mattn/go-sqlite3"

	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/fault"
)

// conn is the connection of a loader. It goes past database/sql: a load binds
// millions of values, and there each would be converted once more.
type conn struct {
	c     *sqlite3.SQLiteConn
	stmts map[string]*stmt
}

func newConn(c *sqlite3.SQLiteConn) *conn { return &conn{c: c, stmts: map[string]*stmt{}} }

// stmt is a prepared statement and its arguments, which stay from one run to
// the next.
type stmt struct {
	s    *sqlite3.SQLiteStmt
	args []driver.NamedValue
	text string
}

// prepare returns the statement of that text, prepared once per connection.
func (c *conn) prepare(text string) (*stmt, error) {
	if s := c.stmts[text]; s != nil {
		return s, nil
	}
	ds, err := c.c.Prepare(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", text, err)
	}
	s := &stmt{s: ds.(*sqlite3.SQLiteStmt), text: text}
	s.args = make([]driver.NamedValue, s.s.NumInput())
	for i := range s.args {
		s.args[i].Ordinal = i + 1
	}
	c.stmts[text] = s
	return s, nil
}

// run executes the statement with the arguments that were set. The context
// has no Done: with one, the driver starts a goroutine per row.
func (s *stmt) run() error {
	if _, err := s.s.ExecContext(context.Background(), s.args); err != nil {
		return fmt.Errorf("%s: %w", s.text, err)
	}
	return nil
}

// Exec carries out a statement. Like Rows it does not look at ctx, see run; a
// load does, between its rows.
func (c *conn) Exec(_ context.Context, text string, args ...any) error {
	if _, err := c.c.Exec(text, values(args)); err != nil {
		return fmt.Errorf("%.500s: %w", text, err)
	}
	return nil
}

// Rows gives each row of a reply to f.
func (c *conn) Rows(_ context.Context, text string, args []any, f func(row []any) error) error {
	rows, err := c.c.Query(text, values(args))
	if err != nil {
		return fmt.Errorf("%.500s: %w", text, err)
	}
	from := make([]driver.Value, len(rows.Columns()))
	row := make([]any, len(from))
	for {
		if err = rows.Next(from); err != nil {
			break
		}
		for k, v := range from {
			row[k] = v
		}
		if err = f(row); err != nil {
			break
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return errors.Join(err, rows.Close())
}

func values(args []any) []driver.Value {
	out := make([]driver.Value, len(args))
	for i, v := range args {
		out[i] = v
	}
	return out
}

// lockStep is how long SQLite waits for a lock before begin looks whether
// somebody gave up; SQLite itself does not let go of waiting.
const lockStep = 50 * time.Millisecond

// begin waits for the file's write lock, which another process may have.
func (c *conn) begin(ctx context.Context) error {
	for began := time.Now(); ; {
		err := c.Exec(ctx, "BEGIN IMMEDIATE")
		if err == nil {
			return nil
		}
		if busy, ok := errors.AsType[sqlite3.Error](err); !ok || busy.Code != sqlite3.ErrBusy {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if time.Since(began) > busySeconds*time.Second {
			return &fault.Error{Problem: fmt.Sprintf("another process has written to the archive for %d seconds", busySeconds), Err: err, Cure: "end it, or wait for it"}
		}
	}
}

// transaction runs f in a transaction that holds the file's write lock.
func (c *conn) transaction(ctx context.Context, f func(q sqlengine.Querier) error) error {
	if err := c.begin(ctx); err != nil {
		return err
	}
	err := f(c)
	if err == nil {
		err = c.Exec(ctx, "COMMIT")
	}
	if err != nil {
		// After some errors SQLite has rolled back by itself; then this fails, and all is well.
		_ = c.Exec(ctx, "ROLLBACK")
	}
	return err
}

func (c *conn) close() error {
	for _, s := range c.stmts {
		s.s.Close() //nolint:errcheck // the connection's Close tells
	}
	return c.c.Close()
}
