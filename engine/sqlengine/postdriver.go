package sqlengine

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"

	"github.com/barograph/barograph/internal/lists"
)

// NewDriverPostConn returns a connection for posting over a connection of a database/sql driver.
func NewDriverPostConn(c driver.Conn, isRetryable func(err error) bool) (*PostConn, error) {
	d := &driverPost{conn: c}
	var canExec, canQuery, canPrepare bool
	d.exec, canExec = c.(driver.ExecerContext)
	d.query, canQuery = c.(driver.QueryerContext)
	d.prepare, canPrepare = c.(driver.ConnPrepareContext)
	if !canExec || !canQuery || !canPrepare {
		return nil, fmt.Errorf("%T does not accept statements with a context", c)
	}
	return &PostConn{
		Run: func(ctx context.Context, text string) error {
			_, err := d.exec.ExecContext(ctx, text, nil)
			return err
		},
		Direct: d.direct,
		Prepare: func(ctx context.Context, text string) (PostStatement, error) {
			st, err := d.prepare.PrepareContext(ctx, text)
			if err != nil {
				return nil, err
			}
			d.statements = append(d.statements, st)
			e, ok := st.(driver.StmtExecContext)
			if !ok {
				return nil, fmt.Errorf("%T accepts no context", st)
			}
			return &driverPostStatement{d, e}, nil
		},
		IsRetryable: isRetryable,
		Close: func() error {
			return errors.Join(append(lists.Map(d.statements, driver.Stmt.Close), c.Close())...)
		},
	}, nil
}

type driverPost struct {
	conn       driver.Conn
	exec       driver.ExecerContext
	query      driver.QueryerContext
	prepare    driver.ConnPrepareContext
	statements []driver.Stmt
	args       []driver.NamedValue
	values     []driver.Value
	boxed      []any
}

func (d *driverPost) namedValues(args []any) []driver.NamedValue {
	d.args = d.args[:0]
	for i, a := range args {
		d.args = append(d.args, driver.NamedValue{Ordinal: i + 1, Value: a})
	}
	return d.args
}

func (d *driverPost) direct(ctx context.Context, text string, args []any, each func(values []any) error) (int64, error) {
	if each == nil {
		r, err := d.exec.ExecContext(ctx, text, d.namedValues(args))
		if err != nil {
			return 0, err
		}
		return r.RowsAffected()
	}
	rows, err := d.query.QueryContext(ctx, text, d.namedValues(args))
	if err != nil {
		return 0, err
	}
	n := len(rows.Columns())
	if cap(d.values) < n {
		d.values, d.boxed = make([]driver.Value, n), make([]any, n)
	}
	values, boxed := d.values[:n], d.boxed[:n]
	return 0, ForEachDriverRow(rows, values, func() error {
		for i, v := range values {
			boxed[i] = v
		}
		return each(boxed)
	})
}

type driverPostStatement struct {
	d  *driverPost
	st driver.StmtExecContext
}

// Exec runs the statement.
func (s *driverPostStatement) Exec(ctx context.Context, args []any) error {
	_, err := s.st.ExecContext(ctx, s.d.namedValues(args))
	return err
}
