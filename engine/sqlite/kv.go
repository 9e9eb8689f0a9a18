package sqlite

import (
	"context"
	"errors"
	"time"

	"github.com/mattn/go-sqlite3"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/kv"
	"github.com/barograph/barograph/engine/sqlengine"
)

// kvTables opens tables of records under keys. Only one statement writes at a time. Writers wait for the mutex writing,
// and the next one starts as soon as it is free. If they waited in SQLite, SQLite would let them sleep and retry.
type kvTables struct{ *database }

func (k kvTables) dialect() *sqlengine.KVDialect {
	return &sqlengine.KVDialect{
		Quote:   func(name string) string { return "`" + name + "`" }, // SQLite treats an unknown name in "" as a text
		Param:   func(int) string { return "?" },
		KeyType: "TEXT", TextType: "TEXT", DocType: "TEXT", // TEXT compares bytewise
		LimitClause: func(param string) string { return "LIMIT " + param },
		FieldText:   func(doc, name string) string { return doc + " ->> '$." + name + "'" },
		Merge:       func(doc, param string) string { return "json_patch(" + doc + ", " + param + ")" },
		AtPath:      func(doc, path string) string { return doc + " ->> " + path },
		SetPath:     func(doc, path, value string) string { return "json_set(" + doc + ", " + path + ", " + value + ")" },
		MaxParams:   32766,
		// IMMEDIATE takes the write lock at once. If two transactions read first and wrote later, one of them would fail.
		Begin: map[kv.IsolationLevel][]string{kv.Serializable: {"BEGIN IMMEDIATE"}},
		Variants: map[kv.Layout]sqlengine.KVVariant{kv.Clustered: {
			TableOptions: " WITHOUT ROWID",
			CheckQuery: "SELECT CASE WHEN sql LIKE '%) WITHOUT ROWID' THEN '1' ELSE '0' END" +
				" FROM sqlite_master WHERE type = 'table' AND lower(name) = lower(?)",
		}},
	}
}

// Table opens or creates a table.
func (k kvTables) Table(ctx context.Context, t kv.Table) (*kv.Records, error) {
	if t.Make && k.readOnly {
		return nil, engine.ErrReadOnly
	}
	return sqlengine.OpenKV(ctx, k.dialect(), t, k.session)
}

func (k kvTables) session(context.Context) (sqlengine.Session, error) {
	c, err := k.connect(busySeconds * time.Second)
	if err != nil {
		return nil, err
	}
	serialized := func(f func() error) error {
		k.writing.Lock()
		defer k.writing.Unlock()
		return f()
	}
	return &session{sqlengine.DriverSession{
		Conn: c, TextAsString: true, WrapWrite: serialized, WrapTransaction: serialized,
		IsConflict: isBusy,
		IsDuplicateKey: func(err error) bool {
			e, ok := errors.AsType[sqlite3.Error](err)
			return ok && e.ExtendedCode == sqlite3.ErrConstraintPrimaryKey
		},
	}}, nil
}

// isBusy reports whether a statement failed because another process or connection is writing.
func isBusy(err error) bool {
	e, ok := errors.AsType[sqlite3.Error](err)
	return ok && (e.Code == sqlite3.ErrBusy || e.Code == sqlite3.ErrLocked)
}

// session hides cancelable contexts from the driver, which would start a goroutine for each statement. Statements on
// records under keys are short.
type session struct{ sqlengine.DriverSession }

// Prepare prepares a statement.
func (s *session) Prepare(ctx context.Context, text string) (sqlengine.Statement, error) {
	st, err := s.DriverSession.Prepare(context.WithoutCancel(ctx), text)
	return statement{st}, err
}

type statement struct{ sqlengine.Statement }

// Exec runs the statement, unless ctx is done.
func (s statement) Exec(ctx context.Context, args [][]byte) (int64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	return s.Statement.Exec(context.Background(), args)
}

// Query runs the statement, unless ctx is done.
func (s statement) Query(ctx context.Context, args [][]byte, limit int, each func(values [][]byte) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return s.Statement.Query(context.Background(), args, limit, each)
}
