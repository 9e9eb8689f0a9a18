package duckdb

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/duckdb/duckdb-go/v2/mapping"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/posts"
	"github.com/barograph/barograph/engine/sqlengine"
)

// postTables opens tables of values of SHEF messages. Only one transaction writes at a time: if two changed one row at
// the same time, DuckDB would refuse the second.
type postTables struct{ *database }

func postMethods() []posts.Method {
	return []posts.Method{posts.Row2006, posts.Row2006Message, posts.PreparedRows, posts.MultiRow, posts.Bulk}
}

func postDialect() *sqlengine.PostDialect {
	return &sqlengine.PostDialect{
		Quote:           func(name string) string { return `"` + name + `"` },
		Param:           func(i int) string { return "$" + strconv.Itoa(i) },
		Type:            postType,
		MaxParams:       65535,
		CreateTemporary: "CREATE TEMPORARY TABLE", EmptyTemporary: "TRUNCATE",
		Cast: func(column string, t sqlengine.PostType) string {
			if t == sqlengine.PostFloat {
				return column
			}
			return "CAST(" + column + " AS VARCHAR)"
		},
	}
}

func postType(t sqlengine.PostType, _ int) string {
	switch t {
	case sqlengine.PostText:
		return "VARCHAR"
	case sqlengine.PostSmall, sqlengine.PostInt:
		return "INTEGER"
	case sqlengine.PostTime:
		return "TIMESTAMP"
	case sqlengine.PostDate:
		return "DATE"
	}
	return "DOUBLE"
}

// Open opens the tables of a design.
func (p postTables) Open(ctx context.Context, t posts.Tables) (*posts.Store, error) {
	if err := p.seal(ctx); err != nil {
		return nil, err
	}
	return sqlengine.OpenPosts(ctx, &sqlengine.PostEngine{
		Dialect: postDialect(), Methods: postMethods(), Connect: p.connect, Begin: "BEGIN TRANSACTION", MaxRows: 64,
		ReadOnly: p.readOnly, WriteLock: &p.writing, Size: p.size, Maintain: p.tend,
	}, t)
}

func (p postTables) size(context.Context, []string) (posts.Size, error) {
	out := posts.Size{IndexBytes: -1, DeadRows: -1}
	if p.path == "" {
		out.TableBytes = -1
		return out, nil
	}
	var err error
	out.TableBytes, err = engine.Bytes(p.path, p.path+".wal")
	return out, err
}

func (p postTables) tend(ctx context.Context, u posts.Maintenance, _ []string) error {
	text := "ANALYZE"
	if u != posts.Statistics {
		text = "CHECKPOINT"
	}
	return pool{p.database}.Exec(ctx, text)
}

// postConn is the connection of a poster.
type postConn struct {
	*conn
	prepared []*postStatement
}

func (p postTables) connect(context.Context) (*sqlengine.PostConn, error) {
	c := &conn{db: p.database}
	if mapping.Connect(p.handle, &c.raw) == mapping.StateError {
		return nil, errClosed
	}
	s := &postConn{conn: c}
	return &sqlengine.PostConn{
		Run:    func(ctx context.Context, text string) error { return c.Exec(ctx, text) },
		Direct: s.direct,
		Prepare: func(ctx context.Context, text string) (sqlengine.PostStatement, error) {
			st, err := s.prepare(ctx, text)
			if err == nil {
				s.prepared = append(s.prepared, st)
			}
			return st, err
		},
		Copy:        s.copyRows,
		IsRetryable: conflict,
		Close: func() error {
			for _, st := range s.prepared {
				st.close()
			}
			mapping.Disconnect(&c.raw) // this drops its temporary tables
			return nil
		},
	}, nil
}

// postStatement is a prepared statement. DuckDB plans a statement again if an argument has another type
// than its parameter; NULL without a type also does. Therefore each argument is converted to the type
// of its parameter.
type postStatement struct {
	c     *postConn
	raw   mapping.PreparedStatement
	types []mapping.Type  // types of the parameters
	nulls []mapping.Value // NULL of the type of each parameter; nil = not created yet
}

func (c *postConn) prepare(ctx context.Context, text string) (*postStatement, error) {
	raw, err := c.conn.prepare(ctx, text)
	if err != nil {
		return nil, err
	}
	st := &postStatement{c: c, raw: raw}
	n := int(mapping.NParams(st.raw))
	st.types, st.nulls = make([]mapping.Type, n), make([]mapping.Value, n)
	for i := range n {
		st.types[i] = mapping.ParamType(st.raw, mapping.IdxT(i+1))
	}
	return st, nil
}

func (st *postStatement) close() {
	for i := range st.nulls {
		mapping.DestroyValue(&st.nulls[i])
	}
	mapping.DestroyPrepare(&st.raw)
}

// bind converts argument i to the type of its parameter.
func (st *postStatement) bind(i int, a any) mapping.State {
	at := mapping.IdxT(i + 1)
	switch a := a.(type) {
	case nil:
		if st.types[i] == mapping.TypeInvalid {
			return mapping.BindNull(st.raw, at)
		}
		return mapping.BindValue(st.raw, at, st.null(i))
	case int64:
		if st.types[i] == mapping.TypeInteger && a == int64(int32(a)) {
			return mapping.BindInt32(st.raw, at, int32(a))
		}
		return mapping.BindInt64(st.raw, at, a)
	case float64:
		return mapping.BindDouble(st.raw, at, a)
	case string:
		switch st.types[i] {
		case mapping.TypeTimestamp:
			if t, err := time.Parse(time.DateTime, a); err == nil {
				return mapping.BindTimestamp(st.raw, at, mapping.NewTimestamp(t.UnixMicro()))
			}
		case mapping.TypeDate:
			if t, err := time.Parse(time.DateOnly, a); err == nil {
				return mapping.BindDate(st.raw, at, mapping.NewDate(int32(t.Unix()/(24*60*60))))
			}
		}
		return mapping.BindVarcharLength(st.raw, at, a, mapping.IdxT(len(a)))
	}
	return mapping.StateError
}

// null creates a NULL of a parameter's type. The library has no function for it; the element of a list
// takes the list's type.
func (st *postStatement) null(i int) mapping.Value {
	if st.nulls[i].Ptr == nil {
		typ, none := mapping.ParamLogicalType(st.raw, mapping.IdxT(i+1)), mapping.CreateNullValue()
		list := mapping.CreateListValue(typ, []mapping.Value{none})
		st.nulls[i] = mapping.GetListChild(list, 0)
		mapping.DestroyValue(&list)
		mapping.DestroyValue(&none)
		mapping.DestroyLogicalType(&typ)
	}
	return st.nulls[i]
}

// run binds the arguments and runs the statement. If err is nil, the caller must destroy the reply.
func (st *postStatement) run(ctx context.Context, args []any, reply *mapping.Result) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	for i, a := range args {
		if i >= len(st.types) || st.bind(i, a) == mapping.StateError {
			return fmt.Errorf("DuckDB does not accept argument %d", i+1)
		}
	}
	return st.c.execute(ctx, st.raw, reply)
}

// Exec runs the statement.
func (st *postStatement) Exec(ctx context.Context, args []any) error {
	var reply mapping.Result
	if err := st.run(ctx, args, &reply); err != nil {
		return err
	}
	mapping.DestroyResult(&reply)
	return nil
}

func (c *postConn) direct(ctx context.Context, text string, args []any, each func(values []any) error) (int64, error) {
	st, err := c.prepare(ctx, text)
	if err != nil {
		return 0, err
	}
	defer st.close()
	r := result{}
	if err := st.run(ctx, args, &r.raw); err != nil {
		return 0, err
	}
	defer r.close()
	if each == nil {
		return int64(mapping.RowsChanged(&r.raw)), nil
	}
	for k := range uint64(mapping.ColumnCount(&r.raw)) {
		r.types = append(r.types, mapping.ColumnType(&r.raw, mapping.IdxT(k)))
	}
	return 0, r.each(each)
}

// copyRows appends rows with DuckDB's appender.
func (c *postConn) copyRows(ctx context.Context, name string, t *sqlengine.PostTable, rows []sqlengine.PostRow) error {
	w, err := newWriter(c.conn, "temp", "main", name)
	if err != nil {
		return err
	}
	defer w.close()
	for from := 0; from < len(rows); from += w.capacity {
		if err := ctx.Err(); err != nil {
			return err
		}
		part := rows[from:min(from+w.capacity, len(rows))]
		for k := range t.Columns {
			fillPosts(&w.columns[k], &t.Columns[k], part)
		}
		if err := w.send(len(part)); err != nil {
			return err
		}
	}
	return w.flush(ctx)
}

// fillPosts writes one column of a chunk.
func fillPosts(v *vector, c *sqlengine.PostColumn, rows []sqlengine.PostRow) {
	for i := range rows {
		cell := rows[i].Cell(c)
		switch {
		case cell.Null:
			v.setNull(i)
		case c.Type == sqlengine.PostText:
			v.setText(i, string(cell.Text))
		case c.Type == sqlengine.PostFloat:
			v.float64s(len(rows))[i] = cell.Float
		case c.Type == sqlengine.PostTime:
			v.int64s(len(rows))[i] = cell.Int * microseconds
		default:
			v.int32s(len(rows))[i] = int32(cell.Int)
		}
	}
}
