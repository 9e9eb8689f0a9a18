package sqlengine

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unsafe"
)

// DriverSession is a session over a connection of a database/sql driver. It does not use
// database/sql itself, which would convert and copy each value.
type DriverSession struct {
	Conn           driver.Conn
	TextAsString   bool                       // pass texts as string, not []byte, which SQLite stores as a BLOB
	IsDuplicateKey func(err error) bool       // reports whether a key exists already
	WrapWrite      func(f func() error) error // runs a writing statement outside a transaction; nil = directly

	IsConflict      func(err error) bool       // reports whether the engine aborted a transaction in favor of another one
	WrapTransaction func(f func() error) error // runs a transaction of several statements; nil = directly

	inTransaction bool // a transaction of several statements is in progress
	stmts         []driver.Stmt
}

// Prepare prepares a statement.
func (s *DriverSession) Prepare(ctx context.Context, text string) (Statement, error) {
	p, ok := s.Conn.(driver.ConnPrepareContext)
	if !ok {
		return nil, fmt.Errorf("%T does not prepare statements", s.Conn)
	}
	st, err := p.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	s.stmts = append(s.stmts, st)
	q, canQuery := st.(driver.StmtQueryContext)
	e, canExec := st.(driver.StmtExecContext)
	if !canQuery || !canExec {
		return nil, fmt.Errorf("%T accepts no context", st)
	}
	return &driverStatement{s: s, query: q, exec: e}, nil
}

// DuplicateKey forwards to IsTaken.
func (s *DriverSession) DuplicateKey(err error) bool { return s.IsDuplicateKey(err) }

// Conflict forwards to IsConflict.
func (s *DriverSession) Conflict(err error) bool { return s.IsConflict(err) }

// RunTransaction runs a transaction. Around does not run its statements: a retried statement would
// run in another transaction.
func (s *DriverSession) RunTransaction(f func() error) error {
	s.inTransaction = true
	defer func() { s.inTransaction = false }()
	if s.WrapTransaction == nil {
		return f()
	}
	return s.WrapTransaction(f)
}

// Close closes the statements and the connection.
func (s *DriverSession) Close() error {
	var errs []error
	for _, st := range s.stmts {
		errs = append(errs, st.Close())
	}
	return errors.Join(append(errs, s.Conn.Close())...)
}

type driverStatement struct {
	s      *DriverSession
	query  driver.StmtQueryContext
	exec   driver.StmtExecContext
	args   []driver.NamedValue
	boxes  []box
	values []driver.Value
	texts  [][]byte
}

// bind copies the arguments into boxes.
func (st *driverStatement) bind(args [][]byte, limit int) {
	n := len(args)
	if limit != NoLimit {
		n++
	}
	for len(st.args) < n {
		st.args = append(st.args, driver.NamedValue{Ordinal: len(st.args) + 1})
	}
	for len(st.boxes) < len(args) {
		st.boxes = append(st.boxes, box{})
	}
	st.args = st.args[:n]
	for i, a := range args {
		st.args[i].Value = st.boxes[i].value(a, st.s.TextAsString)
	}
	if limit != NoLimit {
		st.args[n-1].Value = int64(limit)
	}
}

// Exec runs the statement.
func (st *driverStatement) Exec(ctx context.Context, args [][]byte) (n int64, err error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	st.bind(args, NoLimit)
	if st.s.WrapWrite == nil || st.s.inTransaction {
		return st.run(ctx)
	}
	err = st.s.WrapWrite(func() error {
		n, err = st.run(ctx)
		return err
	})
	return n, err
}

func (st *driverStatement) run(ctx context.Context) (int64, error) {
	r, err := st.exec.ExecContext(ctx, st.args)
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

// Query runs the statement and passes each row to each.
func (st *driverStatement) Query(ctx context.Context, args [][]byte, limit int, each func(values [][]byte) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	st.bind(args, limit)
	rows, err := st.query.QueryContext(ctx, st.args)
	if err != nil {
		return err
	}
	if st.values == nil {
		n := len(rows.Columns())
		st.values, st.texts = make([]driver.Value, n), make([][]byte, n)
	}
	return ForEachDriverRow(rows, st.values, func() error {
		if err := st.convert(); err != nil {
			return err
		}
		return each(st.texts)
	})
}

// ForEachDriverRow calls f for each of a driver's rows, with its values in row. It closes the rows.
func ForEachDriverRow(rows driver.Rows, row []driver.Value, f func() error) error {
	var err error
	for err == nil {
		if err = rows.Next(row); err == nil {
			err = f()
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return errors.Join(err, rows.Close())
}

// convert converts the values of a row to texts.
func (st *driverStatement) convert() error {
	for i, v := range st.values {
		switch v := v.(type) {
		case nil:
			st.texts[i] = nil
		case []byte:
			if st.texts[i] = v; v == nil {
				st.texts[i] = []byte{}
			}
		case string:
			// Nobody writes to these bytes.
			if st.texts[i] = []byte{}; v != "" {
				st.texts[i] = unsafe.Slice(unsafe.StringData(v), len(v))
			}
		case int64:
			st.texts[i] = strconv.AppendInt(nil, v, 10)
		default:
			return fmt.Errorf("column %d is a %T, not a text", i+1, v)
		}
	}
	return nil
}

// box contains one argument as a driver expects it. The conversion of a text to a
// driver.Value allocates. box therefore converts once for each length and copies later texts
// into the same memory. Drivers do not keep an argument after the call.
type box struct {
	data   []byte
	values []driver.Value // by length of the text
}

const maxBoxed = 4096 // longer texts are converted each time

func (b *box) value(text []byte, asString bool) driver.Value {
	switch {
	case text == nil:
		return nil
	case len(text) == 0 && asString:
		return ""
	case len(text) >= maxBoxed && asString:
		return string(text)
	case len(text) >= maxBoxed || len(text) == 0:
		return text
	}
	if len(text) > len(b.data) {
		b.data = make([]byte, min(2*len(text), maxBoxed))
		b.values = make([]driver.Value, len(b.data)+1)
	}
	copy(b.data, text)
	if b.values[len(text)] == nil {
		if asString {
			b.values[len(text)] = unsafe.String(&b.data[0], len(text))
		} else {
			b.values[len(text)] = b.data[:len(text):len(text)]
		}
	}
	return b.values[len(text)]
}

// NewDriverPostConn returns a PostConn over a connection of a database/sql driver.
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
			var errs []error
			for _, st := range d.statements {
				errs = append(errs, st.Close())
			}
			return errors.Join(append(errs, c.Close())...)
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
