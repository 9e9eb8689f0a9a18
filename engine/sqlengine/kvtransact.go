package sqlengine

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/kv"
	"github.com/barograph/barograph/internal/fault"
)

// Transactor is a Session with transactions of several statements.
type Transactor interface {
	Session
	// Conflict reports whether a statement failed because the engine aborted its transaction
	// in favor of another one.
	Conflict(err error) bool
	// RunTransaction runs a transaction from its first statement to its end.
	RunTransaction(f func() error) error
}

// rollbackTimeout limits a rollback, which also runs after a canceled call.
const rollbackTimeout = 10 * time.Second

// transact runs a transaction at an isolation level.
func (c *kvConn) transact(ctx context.Context, level kv.IsolationLevel, do func() error) error {
	begin, ok := c.Begin[level]
	if !ok {
		return &fault.Error{
			Setting: "isolation " + string(level), Problem: "is not offered by the engine", Err: engine.ErrNoDesign,
			Cure: fmt.Sprintf("choose one of %s", slices.Sorted(maps.Keys(c.Begin))),
		}
	}
	return c.tx.RunTransaction(func() error {
		if c.broken != nil {
			return c.broken
		}
		if err := c.execAll(ctx, begin...); err != nil {
			return c.abortedError(err)
		}
		if err := do(); err != nil {
			c.rollback(ctx)
			return c.abortedError(err)
		}
		err := c.execAll(ctx, "COMMIT")
		if err == nil {
			return nil
		}
		c.rollback(ctx)
		if c.tx.Conflict(err) {
			return c.abortedError(err)
		}
		return fmt.Errorf("%w: %w", kv.ErrUnsettled, err)
	})
}

// abortedError wraps kv.ErrConflict around the error of a transaction that the caller may run again.
func (c *kvConn) abortedError(err error) error {
	if c.tx.Conflict(err) {
		return fmt.Errorf("%w: %w", kv.ErrConflict, err)
	}
	return err
}

// rollback rolls a transaction back. If that fails, the state of the connection is unknown. The server rolls back when
// the connection closes.
func (c *kvConn) rollback(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackTimeout)
	defer cancel()
	c.broken = c.execAll(ctx, "ROLLBACK")
}

// execAll runs statements without arguments.
func (c *kvConn) execAll(ctx context.Context, texts ...string) error {
	for _, text := range texts {
		st := c.transactionStatements[text]
		if st == nil {
			var err error
			if st, err = c.s.Prepare(ctx, text); err != nil {
				return err
			}
			c.transactionStatements[text] = st
		}
		if _, err := st.Exec(ctx, nil); err != nil {
			return err
		}
	}
	return nil
}
