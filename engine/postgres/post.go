package postgres

import (
	"context"
	"encoding/binary"
	"io"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/barograph/barograph/engine/posts"
	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/query/flavour"
)

// postSchema contains the tables of values of SHEF messages.
const postSchema = "barograph_post"

// postTables opens tables of values of SHEF messages.
type postTables struct{ *database }

func postMethods() []posts.Method {
	return []posts.Method{posts.Row2006, posts.Row2006Message, posts.Procedure, posts.PreparedRows, posts.MultiRow, posts.Bulk}
}

func postDialect() *sqlengine.PostDialect {
	quote := func(name string) string { return pgx.Identifier{name}.Sanitize() }
	return &sqlengine.PostDialect{
		Quote: quote, Schema: quote(postSchema) + ".",
		Param:           func(i int) string { return "$" + strconv.Itoa(i) },
		Type:            postType,
		MaxParams:       65535,
		CreateTemporary: "CREATE TEMPORARY TABLE IF NOT EXISTS", TemporaryOptions: " ON COMMIT DELETE ROWS",
		CreateProcedure: func(name string, types []string, body string) []string {
			args := lists.Map(lists.Indices(len(types)), func(i int) string { return "p" + strconv.Itoa(i+1) + " " + types[i] })
			return []string{"CREATE OR REPLACE PROCEDURE " + name + "(" + strings.Join(args, ", ") +
				") LANGUAGE plpgsql AS $$ BEGIN " + body + "; END $$"}
		},
		Cast: func(column string, _ sqlengine.PostType) string { return column },
	}
}

// postType returns the type of a column. A text of one character is "char", a single byte.
// Seven of the ten columns of the archive's key are such texts, and an index compares bytes in
// a fraction of the time for texts.
func postType(t sqlengine.PostType, width int) string {
	switch t {
	case sqlengine.PostText:
		if width == 1 {
			return `"char"`
		}
		return "varchar(" + strconv.Itoa(width) + `) COLLATE "C"`
	case sqlengine.PostSmall:
		return "smallint"
	case sqlengine.PostInt:
		return "integer"
	case sqlengine.PostTime:
		return "timestamp(0)"
	case sqlengine.PostDate:
		return "date"
	}
	return "double precision"
}

// Open opens the tables of a design.
func (p postTables) Open(ctx context.Context, t posts.Tables) (*posts.Store, error) {
	d := postDialect()
	// Argument types of procedures accept no collation.
	plain := d.CreateProcedure
	d.CreateProcedure = func(name string, types []string, body string) []string {
		for i := range types {
			types[i] = strings.TrimSuffix(types[i], ` COLLATE "C"`)
		}
		return plain(name, types, body)
	}
	return sqlengine.OpenPosts(ctx, &sqlengine.PostEngine{
		Dialect: d, Methods: postMethods(), Connect: p.connect, Begin: "BEGIN", MaxRows: 128, ReadOnly: p.readOnly,
		// Two sessions that create one schema at the same time would collide.
		CreateLock: []string{
			"SELECT pg_advisory_lock(hashtextextended('barograph/post', 0))", "CREATE SCHEMA IF NOT EXISTS " + d.Quote(postSchema),
		},
		Size: p.size,
		LogPosition: func(ctx context.Context) (int64, error) {
			return sqlengine.QueryNumber(ctx, querier{p.pool}, "SELECT (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::bigint")
		},
		Maintain: func(ctx context.Context, u posts.Maintenance, tables []string) error {
			statement := map[posts.Maintenance]string{
				posts.Statistics: "ANALYZE ", posts.Vacuum: "VACUUM (ANALYZE) ", posts.VacuumFull: "VACUUM (FULL, ANALYZE) ",
			}[u]
			_, err := p.pool.Exec(ctx, statement+d.Schema+strings.Join(tables, ", "+d.Schema))
			return err
		},
	}, t)
}

// size adds up the sizes that the server reports. Dead rows are from the server's statistics,
// which may be a second old.
func (p postTables) size(ctx context.Context, tables []string) (s posts.Size, err error) {
	err = p.pool.QueryRow(ctx, `SELECT coalesce(sum(pg_table_size(relid)), 0)::bigint, coalesce(sum(pg_indexes_size(relid)), 0)::bigint,
		coalesce(sum(n_dead_tup), 0)::bigint FROM pg_stat_user_tables WHERE schemaname = $1 AND relname = ANY($2)`,
		postSchema, tables).Scan(&s.TableBytes, &s.IndexBytes, &s.DeadRows)
	return s, err
}

// postConn is a connection without pgx's conversions.
type postConn struct {
	conn   *pgx.Conn
	pg     *pgconn.PgConn
	names  int
	args   [][]byte
	memory []byte
	values []any
}

func (p postTables) connect(ctx context.Context) (*sqlengine.PostConn, error) {
	c, err := pgx.ConnectConfig(ctx, p.pool.Config().ConnConfig)
	if err != nil {
		return nil, unreachable(err)
	}
	s := &postConn{conn: c, pg: c.PgConn()}
	return &sqlengine.PostConn{
		Run: func(ctx context.Context, text string) error {
			_, err := s.pg.Exec(ctx, text).ReadAll()
			return err
		},
		Direct: s.direct, Prepare: s.prepare, Pipeline: s.pipeline, IsRetryable: isRetryable, Append: s.copyRows,
		IsDuplicateKey: isDuplicateKey,
		Copy: func(ctx context.Context, name string, t *sqlengine.PostTable, rows []sqlengine.PostRow) error {
			return s.copyRows(ctx, pgx.Identifier{name}.Sanitize(), t, rows)
		},
		Close: func() error {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), connectTimeout)
			defer cancel()
			return s.conn.Close(ctx)
		},
	}, nil
}

// isRetryable reports a deadlock, a conflict, or a key that another session has just inserted.
func isRetryable(err error) bool { return hasCode(err, "40P01", "40001", "23505") }

func isDuplicateKey(err error) bool { return hasCode(err, "23505") }

// texts writes arguments in the server's text format, into memory that is reused.
func (c *postConn) texts(args []any) [][]byte {
	c.args, c.memory = c.args[:0], c.memory[:0]
	for _, a := range args {
		from := len(c.memory)
		switch a := a.(type) {
		case nil:
			c.args = append(c.args, nil)
			continue
		case string:
			c.memory = append(c.memory, a...)
		case int64:
			c.memory = strconv.AppendInt(c.memory, a, 10)
		case float64:
			c.memory = strconv.AppendFloat(c.memory, a, 'g', -1, 64)
		}
		// If the memory moves, earlier arguments keep pointing to the old memory.
		c.args = append(c.args, c.memory[from:len(c.memory):len(c.memory)])
	}
	return c.args
}

func (c *postConn) direct(ctx context.Context, text string, args []any, each func(values []any) error) (int64, error) {
	rows := c.pg.ExecParams(ctx, text, c.texts(args), nil, nil, nil)
	var stop error
	for rows.NextRow() {
		if stop != nil || each == nil {
			continue
		}
		c.values = c.values[:0]
		for _, v := range rows.Values() {
			if v == nil {
				c.values = append(c.values, nil)
			} else {
				c.values = append(c.values, v)
			}
		}
		stop = each(c.values)
	}
	tag, err := rows.Close()
	if stop != nil {
		return 0, stop
	}
	return tag.RowsAffected(), err
}

// postStatement is a prepared statement.
type postStatement struct {
	c           *postConn
	description *pgconn.StatementDescription
}

func (c *postConn) prepare(ctx context.Context, text string) (sqlengine.PostStatement, error) {
	c.names++
	d, err := c.pg.Prepare(ctx, "post"+strconv.Itoa(c.names), text, nil)
	if err != nil {
		return nil, err
	}
	return &postStatement{c, d}, nil
}

// Exec runs the statement.
func (st *postStatement) Exec(ctx context.Context, args []any) error {
	_, err := st.c.pg.ExecStatement(ctx, st.description, st.c.texts(args), nil, nil).Close()
	return err
}

// inFlight is the number of statements that are sent before their replies are read.
const inFlight = 256

// pipeline sends statements without waiting for each reply.
func (c *postConn) pipeline(ctx context.Context, f func(send func(st sqlengine.PostStatement, args []any) error) error) error {
	p := c.pg.StartPipeline(ctx)
	sent := 0
	drain := func() error {
		if sent == 0 {
			return nil
		}
		sent = 0
		if err := p.Sync(); err != nil {
			return err
		}
		for {
			r, err := p.GetResults()
			if err != nil {
				return err
			}
			switch r := r.(type) {
			case *pgconn.PipelineSync:
				return nil
			case *pgconn.ResultReader:
				if _, err := r.Close(); err != nil {
					return err
				}
			}
		}
	}
	err := f(func(st sqlengine.PostStatement, args []any) error {
		s := st.(*postStatement)
		p.SendQueryPrepared(s.description.Name, c.texts(args), nil, nil)
		if sent++; sent < inFlight {
			return nil
		}
		return drain()
	})
	if err == nil {
		err = drain()
	}
	if closed := p.Close(); err == nil {
		err = closed
	}
	return err
}

// copyRows sends rows as a binary COPY into a table, by its quoted name.
func (c *postConn) copyRows(ctx context.Context, table string, t *sqlengine.PostTable, rows []sqlengine.PostRow) error {
	next := func(dst []byte) ([]byte, error) {
		if len(rows) == 0 {
			return dst, io.EOF
		}
		dst = binary.BigEndian.AppendUint16(dst, uint16(len(t.Columns)))
		for i := range t.Columns {
			dst = appendCell(dst, &t.Columns[i], rows[0].Cell(&t.Columns[i]))
		}
		rows = rows[1:]
		return dst, nil
	}
	columns := flavour.Join(t.Columns, ", ", func(c sqlengine.PostColumn) string { return pgx.Identifier{c.Name}.Sanitize() })
	_, err := copyFrom(ctx, c.pg, "COPY "+table+" ("+columns+") FROM STDIN BINARY", next)
	return err
}

// postgresDay is 2000-01-01 in days since 1970. PostgreSQL counts dates from it.
const postgresDay = postgresEpoch / 86400

func appendCell(dst []byte, c *sqlengine.PostColumn, v sqlengine.PostCell) []byte {
	switch {
	case v.Null:
		return appendNull(dst)
	case c.Type == sqlengine.PostText:
		return appendText(dst, v.Text)
	case c.Type == sqlengine.PostSmall:
		return binary.BigEndian.AppendUint16(append(dst, 0, 0, 0, 2), uint16(int16(v.Int)))
	case c.Type == sqlengine.PostInt:
		return appendInt(dst, v.Int)
	case c.Type == sqlengine.PostTime:
		return appendTime(dst, v.Int)
	case c.Type == sqlengine.PostDate:
		return appendInt(dst, v.Int-postgresDay)
	}
	return appendFloat(dst, v.Float)
}
