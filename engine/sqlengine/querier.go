package sqlengine

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

// Querier sends statements: over a pool, over a connection or in a transaction.
type Querier interface {
	// Exec carries out a statement that returns no rows.
	Exec(ctx context.Context, text string, args ...any) error

	// Rows gives each row of a reply to f, as values that AsText, AsWhole and
	// their like take. They are valid until f returns.
	Rows(ctx context.Context, text string, args []any, f func(row []any) error) error
}

// Standard is a Querier over database/sql.
type Standard struct {
	Over interface { // *sql.DB, *sql.Conn or *sql.Tx
		QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
		ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	}
}

// Exec carries out a statement.
func (s Standard) Exec(ctx context.Context, text string, args ...any) error {
	_, err := s.Over.ExecContext(ctx, text, args...)
	return Failed(ctx, err)
}

// Rows gives each row to f.
func (s Standard) Rows(ctx context.Context, text string, args []any, f func(row []any) error) error {
	rows, err := s.Over.QueryContext(ctx, text, args...)
	if err != nil {
		return Failed(ctx, err)
	}
	return Each(ctx, rows, f)
}

// Each gives each of rows to f, see Querier.Rows, and closes them.
func Each(ctx context.Context, rows *sql.Rows, f func(row []any) error) error {
	defer rows.Close() //nolint:errcheck // Err below says what went wrong
	names, err := rows.Columns()
	if err != nil {
		return err
	}
	row, cells := make([]any, len(names)), make([]any, len(names))
	for k := range cells {
		cells[k] = slot{row, k}
	}
	for rows.Next() {
		if err := rows.Scan(cells...); err != nil {
			return Failed(ctx, err)
		}
		if err := f(row); err != nil {
			return err
		}
	}
	return Failed(ctx, rows.Err())
}

// slot takes a driver's value as it is, without a conversion or a copy.
type slot struct {
	row []any
	k   int
}

func (s slot) Scan(src any) error {
	s.row[s.k] = src
	return nil
}

// Failed returns the context's error where that is why a statement failed.
func Failed(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if end, ok := ctx.Deadline(); ok && !time.Now().Before(end) { // the driver's clock was a little faster
		return context.DeadlineExceeded
	}
	return err
}

// Scan converts the first values of a row to *string, *int64, *int or *float64.
func Scan(row []any, into ...any) (err error) {
	for k, to := range into {
		switch to := to.(type) {
		case *string:
			*to, err = AsText(row[k], *to)
		case *int64:
			*to, err = AsWhole(row[k])
		case *int:
			var n int64
			n, err = AsWhole(row[k])
			*to = int(n)
		case *float64:
			*to, err = AsNumber(row[k])
		default:
			err = fmt.Errorf("a row is scanned into %T", to)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Texts returns the first column of a query.
func Texts(ctx context.Context, q Querier, text string, args ...any) (out []string, err error) {
	err = q.Rows(ctx, text, args, func(row []any) error {
		s, err := AsText(row[0], "")
		out = append(out, s)
		return err
	})
	return out, err
}

// Number returns the one value of a query; 0 where there is none, or NULL.
func Number(ctx context.Context, q Querier, text string, args ...any) (n int64, err error) {
	err = q.Rows(ctx, text, args, func(row []any) (err error) {
		if row[0] != nil {
			n, err = AsWhole(row[0])
		}
		return err
	})
	return n, err
}
