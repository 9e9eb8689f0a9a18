package duckdb

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/duckdb/duckdb-go/v2/mapping"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/kv"
	"github.com/barograph/barograph/engine/sqlengine"
)

// kvTables opens tables of records under keys. Only one statement writes at a time: if two changed one row at the same
// time, DuckDB would refuse the second.
type kvTables struct{ *database }

func (k kvTables) dialect() *sqlengine.KVDialect {
	return &sqlengine.KVDialect{
		Quote:   func(name string) string { return `"` + name + `"` },
		Param:   func(i int) string { return "$" + strconv.Itoa(i) },
		KeyType: "VARCHAR", TextType: "VARCHAR", DocType: "JSON", // VARCHAR compares bytewise
		LimitClause: func(param string) string { return "LIMIT " + param },
		FieldText:   func(doc, name string) string { return "(" + doc + " ->> '$." + name + "')" },
		Merge:       func(doc, param string) string { return "json_merge_patch(" + doc + ", " + param + ")" },
		AtPath:      func(doc, path string) string { return "json_extract_string(" + doc + ", " + path + ")" },
		MaxParams:   65535,
		// Snapshots: transactions that write different records do not see each other.
		Begin: map[kv.IsolationLevel][]string{kv.RepeatableRead: {"BEGIN TRANSACTION"}},
	}
}

// Table opens or creates a table.
func (k kvTables) Table(ctx context.Context, t kv.Table) (*kv.Records, error) {
	if t.Make && k.readOnly {
		return nil, engine.ErrReadOnly
	}
	if err := k.seal(ctx); err != nil {
		return nil, err
	}
	return sqlengine.OpenKV(ctx, k.dialect(), t, k.session)
}

// session is a connection with its statements.
type session struct {
	*conn
	prepared []*statement
}

func (k kvTables) session(context.Context) (sqlengine.Session, error) {
	c, err := k.take()
	if err != nil {
		return nil, err
	}
	return &session{conn: c}, nil
}

// Prepare prepares a statement.
func (s *session) Prepare(ctx context.Context, text string) (sqlengine.Statement, error) {
	raw, err := s.prepare(ctx, text)
	if err != nil {
		return nil, err
	}
	st := &statement{session: s, raw: raw}
	s.prepared = append(s.prepared, st)
	return st, nil
}

// prepare parses and plans a statement.
func (c *conn) prepare(ctx context.Context, text string) (raw mapping.PreparedStatement, err error) {
	if mapping.Prepare(c.raw, text, &raw) == mapping.StateError {
		err = fmt.Errorf("%.60s…: %w", text, failure(ctx, mapping.ErrorTypeInvalid, mapping.PrepareError(raw)))
		mapping.DestroyPrepare(&raw)
	}
	return raw, err
}

// execute runs a statement with bound arguments. If err is nil, the caller must destroy the reply.
func (c *conn) execute(ctx context.Context, raw mapping.PreparedStatement, reply *mapping.Result) error {
	if ctx.Done() != nil {
		defer c.watch(ctx)()
	}
	if mapping.ExecutePrepared(raw, reply) == mapping.StateError {
		err := failure(ctx, mapping.ResultErrorType(reply), mapping.ResultError(reply))
		mapping.DestroyResult(reply)
		return err
	}
	return nil
}

// DuplicateKey reports whether an error is a violated primary key. DuckDB has no error type for it: a commit
// with an existing key fails like any other commit.
func (s *session) DuplicateKey(err error) bool {
	e, ok := errors.AsType[*refused](err)
	return ok && (e.kind == mapping.ErrorTypeConstraint && strings.Contains(e.text, "violates primary key constraint") ||
		(e.kind == mapping.ErrorTypeConstraint || e.kind == mapping.ErrorTypeTransaction) &&
			strings.Contains(e.text, "PRIMARY KEY or UNIQUE constraint violation"))
}

// Conflict reports whether another transaction has changed a row that this one would change.
func (s *session) Conflict(err error) bool { return conflict(err) }

// RunTransaction runs a transaction.
func (s *session) RunTransaction(f func() error) error { return f() }

func (s *session) Close() error {
	for _, st := range s.prepared {
		mapping.DestroyPrepare(&st.raw)
	}
	s.db.put(s.conn)
	return nil
}

type statement struct {
	*session
	raw    mapping.PreparedStatement
	values [][]byte
}

// run binds the arguments and runs the statement. If err is nil, the caller must destroy the reply.
func (st *statement) run(ctx context.Context, args [][]byte, limit int, reply *mapping.Result) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	for i, a := range args {
		at := mapping.IdxT(i + 1)
		bind := func() mapping.State { return mapping.BindVarcharLength(st.raw, at, string(a), mapping.IdxT(len(a))) }
		if a == nil {
			bind = func() mapping.State { return mapping.BindNull(st.raw, at) }
		}
		if bind() == mapping.StateError {
			return fmt.Errorf("DuckDB does not accept argument %d", i+1)
		}
	}
	if limit != sqlengine.NoLimit && mapping.BindInt64(st.raw, mapping.IdxT(len(args)+1), int64(limit)) == mapping.StateError {
		return fmt.Errorf("DuckDB does not accept the number %d", limit)
	}
	return st.execute(ctx, st.raw, reply)
}

// Exec runs a writing statement.
func (st *statement) Exec(ctx context.Context, args [][]byte) (int64, error) {
	st.db.writing.Lock()
	defer st.db.writing.Unlock()
	var reply mapping.Result
	if err := st.run(ctx, args, sqlengine.NoLimit, &reply); err != nil {
		return 0, err
	}
	defer mapping.DestroyResult(&reply)
	return int64(mapping.RowsChanged(&reply)), nil
}

// Query runs a reading statement.
func (st *statement) Query(ctx context.Context, args [][]byte, limit int, each func(values [][]byte) error) error {
	r := result{}
	if err := st.run(ctx, args, limit, &r.raw); err != nil {
		return err
	}
	defer r.close()
	n := int(mapping.ColumnCount(&r.raw))
	for len(st.values) < n {
		st.values = append(st.values, nil)
	}
	for r.next() {
		for i := range r.rows {
			for k := range n {
				v := r.vector(k)
				switch {
				case v.null(i):
					st.values[k] = nil
				case mapping.ColumnType(&r.raw, mapping.IdxT(k)) == mapping.TypeBigInt:
					st.values[k] = strconv.AppendInt(nil, v.int64s(r.rows)[i], 10)
				default:
					st.values[k] = v.text(i)
				}
			}
			if err := each(st.values[:n]); err != nil {
				return err
			}
		}
	}
	return nil
}

// conflict reports whether another transaction has changed what this one would change. A failed commit
// has the same error type; therefore the beginning of the message decides.
func conflict(err error) bool {
	e, ok := errors.AsType[*refused](err)
	return ok && e.kind == mapping.ErrorTypeTransaction && conflicts.MatchString(e.text)
}

var conflicts = regexp.MustCompile(`^TransactionContext Error: (Failed to commit: )?` +
	`(Conflict on (update|tuple deletion)|Catalog write-write conflict)`)
