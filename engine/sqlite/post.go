package sqlite

import (
	"context"
	"strings"
	"time"

	"github.com/barograph/barograph/engine/posts"
	"github.com/barograph/barograph/engine/sqlengine"
)

// postTables opens tables of values of SHEF messages. SQLite allows one writing transaction at a time. Posters wait for
// WriteLock, and the next one starts as soon as it is free. If they waited in SQLite, SQLite would let them sleep and
// retry.
type postTables struct{ *database }

func postMethods() []posts.Method {
	return []posts.Method{posts.Row2006, posts.Row2006Message, posts.PreparedRows, posts.MultiRow}
}

func postDialect() *sqlengine.PostDialect {
	return &sqlengine.PostDialect{
		Quote: func(name string) string { return `"` + name + `"` },
		Param: func(int) string { return "?" },
		Type: func(t sqlengine.PostType, _ int) string {
			switch t {
			case sqlengine.PostSmall, sqlengine.PostInt:
				return "INTEGER"
			case sqlengine.PostFloat:
				return "REAL"
			}
			return "TEXT" // also times: their texts compare correctly
		},
		TableOptions: " WITHOUT ROWID", // stores the rows in key order
		MaxParams:    32766,
		Cast:         func(column string, _ sqlengine.PostType) string { return column },
	}
}

// Open opens the tables of a design.
func (p postTables) Open(ctx context.Context, t posts.Tables) (*posts.Store, error) {
	return sqlengine.OpenPosts(ctx, &sqlengine.PostEngine{
		Dialect: postDialect(), Methods: postMethods(), Connect: p.connect, Begin: "BEGIN IMMEDIATE",
		MaxRows: 64, ReadOnly: p.readOnly, WriteLock: &p.writing,
		Size: func(ctx context.Context, _ []string) (posts.Size, error) {
			n, err := p.size(ctx)
			return posts.Size{TableBytes: n, IndexBytes: -1, DeadRows: -1}, err
		},
		Maintain: func(ctx context.Context, u posts.Maintenance, _ []string) error {
			text := "ANALYZE" // also for a plain vacuum: SQLite reuses free pages by itself
			if u == posts.VacuumFull {
				text = "VACUUM"
			}
			_, err := p.pool.ExecContext(ctx, text)
			return err
		},
	}, t)
}

func (p postTables) connect(context.Context) (*sqlengine.PostConn, error) {
	c, err := p.database.connect(busySeconds * time.Second)
	if err != nil {
		return nil, err
	}
	post, err := sqlengine.NewDriverPostConn(c, isBusy)
	if err != nil {
		return nil, err
	}
	return withoutWatchers(post), nil
}

// withoutWatchers hides cancelable contexts from the driver, which would start a goroutine for each
// statement. Statements of posting are short. Methods that read everything check ctx between two statements.
func withoutWatchers(c *sqlengine.PostConn) *sqlengine.PostConn {
	run, direct, prepare := c.Run, c.Direct, c.Prepare
	quick := func(ctx context.Context) (context.Context, error) { return context.WithoutCancel(ctx), ctx.Err() }
	c.Run = func(ctx context.Context, text string) error {
		plain, err := quick(ctx)
		if err != nil && !strings.HasPrefix(text, "ROLLBACK") {
			return err
		}
		return run(plain, text)
	}
	c.Direct = func(ctx context.Context, text string, args []any, each func([]any) error) (int64, error) {
		plain, err := quick(ctx)
		if err != nil {
			return 0, err
		}
		return direct(plain, text, args, each)
	}
	c.Prepare = func(ctx context.Context, text string) (sqlengine.PostStatement, error) {
		st, err := prepare(context.WithoutCancel(ctx), text)
		return postStatement{st}, err
	}
	return c
}

type postStatement struct{ sqlengine.PostStatement }

// Exec runs the statement, unless ctx is done.
func (s postStatement) Exec(ctx context.Context, args []any) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return s.PostStatement.Exec(context.WithoutCancel(ctx), args)
}
