package sqlengine

import (
	"context"
	"database/sql/driver"
	"testing"
)

// fakeConn is a driver's connection whose statements change one row.
type fakeConn struct{ driver.Conn }

func (fakeConn) PrepareContext(context.Context, string) (driver.Stmt, error) { return fakeStmt{}, nil }

type fakeStmt struct{ driver.Stmt }

func (fakeStmt) QueryContext(context.Context, []driver.NamedValue) (driver.Rows, error) {
	return nil, nil
}

func (fakeStmt) ExecContext(context.Context, []driver.NamedValue) (driver.Result, error) {
	return driver.RowsAffected(1), nil
}

// TestWrapWrite: WrapWrite runs a statement only outside a transaction, because it may run the statement again.
func TestWrapWrite(t *testing.T) {
	calls := 0
	s := &DriverSession{Conn: fakeConn{}, WrapWrite: func(f func() error) error {
		calls++
		return f()
	}}
	exec := func() error {
		st, err := s.Prepare(t.Context(), "UPDATE")
		if err != nil {
			t.Fatal(err)
		}
		n, err := st.Exec(t.Context(), [][]byte{[]byte("v")})
		if n != 1 {
			t.Errorf("%d rows changed, want 1", n)
		}
		return err
	}
	if err := exec(); err != nil || calls != 1 {
		t.Errorf("outside a transaction: %v, %d calls of WrapWrite; want 1", err, calls)
	}
	if err := s.RunTransaction(exec); err != nil || calls != 1 {
		t.Errorf("in a transaction: %v, %d calls of WrapWrite; want still 1", err, calls)
	}
	if err := exec(); err != nil || calls != 2 {
		t.Errorf("after a transaction: %v, %d calls of WrapWrite; want 2", err, calls)
	}
	s.WrapWrite = nil
	if err := exec(); err != nil || calls != 2 {
		t.Errorf("without WrapWrite: %v, %d calls; want 2", err, calls)
	}
}
