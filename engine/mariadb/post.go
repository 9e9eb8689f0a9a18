package mariadb

import (
	"context"
	"strconv"
	"strings"

	"github.com/go-sql-driver/mysql"

	"github.com/barograph/barograph/engine/posts"
	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/query/flavour"
)

// postDatabase is the database of tables of values of SHEF messages, after the URL's prefix.
const postDatabase = "post"

// postTables opens tables of values of SHEF messages. configs contains the configurations of the nodes. Like
// kvTables, postTables uses only one node of a cluster.
type postTables struct {
	*database
	configs []*mysql.Config
}

func postMethods() []posts.Method {
	return []posts.Method{posts.Row2006, posts.Row2006Message, posts.Procedure, posts.PreparedRows, posts.MultiRow, posts.Bulk}
}

func (p postTables) schema() string { return ident(p.prefix+postDatabase) + "." }

func (p postTables) dialect() *sqlengine.PostDialect {
	return &sqlengine.PostDialect{
		Quote:  ident,
		Schema: p.schema(), TemporarySchema: p.schema(),
		Param:        func(int) string { return "?" },
		Type:         postType,
		TableOptions: " ENGINE=InnoDB", DuplicateKey: true, MaxParams: 65535,
		CreateTemporary: "CREATE TEMPORARY TABLE", TemporaryOptions: " ENGINE=MyISAM", EmptyTemporary: "TRUNCATE TABLE",
		CreateProcedure: func(name string, types []string, body string) []string {
			args := lists.Map(lists.Indices(len(types)), func(i int) string { return "IN p" + strconv.Itoa(i+1) + " " + types[i] })
			return []string{"CREATE OR REPLACE PROCEDURE " + name + "(" + strings.Join(args, ", ") + ") " + body}
		},
		Cast: func(column string, _ sqlengine.PostType) string { return column },
	}
}

func postType(t sqlengine.PostType, width int) string {
	switch t {
	case sqlengine.PostText:
		return "varchar(" + strconv.Itoa(width) + ") CHARACTER SET ascii COLLATE ascii_nopad_bin"
	case sqlengine.PostSmall:
		return "smallint"
	case sqlengine.PostInt:
		return "int"
	case sqlengine.PostTime:
		return "datetime"
	case sqlengine.PostDate:
		return "date"
	}
	return "double"
}

// Open opens the tables of a design.
func (p postTables) Open(ctx context.Context, t posts.Tables) (*posts.Store, error) {
	if err := p.requireMariaDB("post"); err != nil {
		return nil, err
	}
	store, err := sqlengine.OpenPosts(ctx, &sqlengine.PostEngine{
		Dialect: p.dialect(), Methods: postMethods(), Connect: p.connect, Begin: "START TRANSACTION", MaxRows: 128, ReadOnly: p.readOnly,
		CreateLock: []string{"CREATE DATABASE IF NOT EXISTS " + ident(p.prefix+postDatabase)},
		Size: func(ctx context.Context, tables []string) (posts.Size, error) {
			out := posts.Size{IndexBytes: -1, DeadRows: -1} // InnoDB stores rows in their primary key
			const files = "SELECT COALESCE(SUM(FILE_SIZE), 0) FROM information_schema.INNODB_SYS_TABLESPACES " +
				"WHERE SUBSTRING_INDEX(NAME, '/', 1) = " + fileNameOf + " AND SUBSTRING_INDEX(NAME, '/', -1) IN "
			err := p.writes.QueryRowContext(ctx, files+flavour.List(tables, flavour.Quote), p.prefix+postDatabase).Scan(&out.TableBytes)
			return out, callError(ctx, err)
		},
		LogPosition: func(ctx context.Context) (n int64, err error) {
			var name string
			err = p.writes.QueryRowContext(ctx, "SHOW GLOBAL STATUS LIKE 'Innodb_lsn_current'").Scan(&name, &n)
			return n, callError(ctx, err)
		},
		Maintain: func(ctx context.Context, u posts.Maintenance, tables []string) error {
			statement := "ANALYZE TABLE " // InnoDB removes dead rows by itself
			if u == posts.VacuumFull {
				statement = "OPTIMIZE TABLE "
			}
			for _, t := range tables {
				if err := (querier{p.writes}).Exec(ctx, statement+p.schema()+ident(t)); err != nil {
					return err
				}
			}
			return nil
		},
	}, t)
	return store, callError(ctx, err)
}

// These are the server's errors after which a transaction may be retried.
const (
	errLockWait = 1205
	errChanged  = 1020
)

func (p postTables) connect(ctx context.Context) (*sqlengine.PostConn, error) {
	c, err := p.dial(ctx, p.configs, func(cfg *mysql.Config) {
		cfg.Params["tx_isolation"] = "'READ-COMMITTED'" // without locks on the gaps between keys
	})
	if err != nil {
		return nil, err
	}
	isRetryable := func(err error) bool { return is(err, errDuplicate, errDeadlock, errLockWait, errChanged) }
	post, err := sqlengine.NewDriverPostConn(c, isRetryable)
	if err != nil {
		return nil, err
	}
	post.Copy = func(ctx context.Context, name string, t *sqlengine.PostTable, rows []sqlengine.PostRow) error {
		return p.copyRows(ctx, post, name, t, rows)
	}
	return post, nil
}

// copyRows loads rows with LOAD DATA.
func (p postTables) copyRows(ctx context.Context, c *sqlengine.PostConn, name string, t *sqlengine.PostTable, rows []sqlengine.PostRow) error {
	f := infile{table: p.schema() + ident(name), charset: "binary"}
	for i := range t.Columns {
		f.columns = append(f.columns, ident(t.Columns[i].Name))
	}
	f.rows = func(out *rowWriter) error {
		for r := range rows {
			dst := out.row()
			for i := range t.Columns {
				if i > 0 {
					dst = append(dst, '\t')
				}
				dst = appendPostCell(dst, &t.Columns[i], rows[r].Cell(&t.Columns[i]))
			}
			if err := out.end(dst); err != nil {
				return err
			}
		}
		return nil
	}
	_, err := f.run(ctx, c.Direct)
	return err
}

// appendPostCell writes a field of LOAD DATA's text.
func appendPostCell(dst []byte, c *sqlengine.PostColumn, v sqlengine.PostCell) []byte {
	switch {
	case v.Null:
		return append(dst, null...)
	case c.Type == sqlengine.PostText:
		return appendText(dst, v.Text)
	case c.Type == sqlengine.PostFloat:
		return strconv.AppendFloat(dst, v.Float, 'g', -1, 64)
	case c.Type == sqlengine.PostTime:
		return sqlengine.AppendMoment(dst, v.Int)
	case c.Type == sqlengine.PostDate:
		return sqlengine.AppendDate(dst, v.Int)
	}
	return strconv.AppendInt(dst, v.Int, 10)
}
