package sqlengine

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"strconv"
	"unsafe"

	"github.com/barograph/barograph/internal/lists"
)

// DriverSession is a session over a connection of a database/sql driver. It does not use
// database/sql itself, which would convert and copy each value.
type DriverSession struct {
	Conn         driver.Conn
	TextAsString bool // pass texts as string, not as []byte, which SQLite stores as a BLOB

	IsDuplicateKey func(err error) bool // reports whether a statement failed because a key exists already
	IsConflict     func(err error) bool // reports whether the engine aborted a transaction in favor of another one

	// WrapWrite runs a writing statement outside a transaction, and WrapTransaction runs a transaction. The engine
	// may lock or retry; nil = neither.
	WrapWrite       func(f func() error) error
	WrapTransaction func(f func() error) error

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

// DuplicateKey calls IsDuplicateKey.
func (s *DriverSession) DuplicateKey(err error) bool { return s.IsDuplicateKey(err) }

// Conflict calls IsConflict.
func (s *DriverSession) Conflict(err error) bool { return s.IsConflict(err) }

// RunTransaction runs a transaction. WrapWrite does not apply to its statements: a statement that it retried would run
// in another transaction.
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
	return errors.Join(append(lists.Map(s.stmts, driver.Stmt.Close), s.Conn.Close())...)
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

// convert converts the values of the current row to texts.
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
			// The bytes are those of the driver's string. No caller writes to them.
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

// box contains one argument as a driver expects it. Because the conversion of a text to a driver.Value allocates, box
// converts once for each length, and copies later texts of that length into the same memory. Drivers do not keep an
// argument after the call.
type box struct {
	data   []byte
	values []driver.Value // by length of the text
}

const maxBoxed = 4096 // the conversion of a longer text allocates

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
