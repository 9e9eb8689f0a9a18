package mariadb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/engine/tables"
)

// ownDatabase is the database of a user's own tables, after the URL's prefix.
const ownDatabase = "barograph_own"

// openOwn opens sessions whose default database contains the tables. A quotient has 16 more digits after
// the point than its dividend; MariaDB's default is four.
func (d *database) openOwn(all []*mysql.Config) func(ctx context.Context, keep bool) (*tables.Tables, error) {
	return func(ctx context.Context, keep bool) (*tables.Tables, error) {
		name := d.prefix + ownDatabase
		exec := func(statement string) error { return querier{d.writes}.Exec(ctx, statement) }
		var err error
		if !keep {
			err = drop(exec, name)
		}
		if err := errors.Join(err, exec("CREATE DATABASE IF NOT EXISTS "+ident(name))); err != nil {
			return nil, err
		}
		pool, err := d.openPool(all, false, func(cfg *mysql.Config) {
			cfg.DBName, cfg.Params["div_precision_increment"] = name, "16"
		})
		if err != nil {
			return nil, err
		}
		pool.SetMaxIdleConns(4 * idleConnections)
		q := querier{pool}
		return &tables.Tables{
			Ident: ident,
			Load: func(ctx context.Context, t *tables.Table) error {
				return callError(ctx, loadOwn(ctx, pool, t, d.translate))
			},
			Ask: func(ctx context.Context, text string, f func(row []any) error) error {
				text = fmt.Sprintf("/* %016x */ %s", rand.Uint64(), text) //nolint:gosec // distinguishes sessions with the same query
				err := callError(ctx, sqlengine.DatabaseSQL{DB: pool}.TypedRows(ctx, text, ownCast, f))
				if ctx.Err() != nil { // without KILL the server would complete the query
					err = errors.Join(err, endSession(context.WithoutCancel(ctx), pool, text))
				}
				return err
			},
			Size: func(ctx context.Context) (int64, error) {
				return sqlengine.QueryNumber(ctx, q, "SELECT CAST(COALESCE(SUM(data_length + index_length), 0) AS SIGNED) "+
					"FROM information_schema.tables WHERE table_schema = DATABASE()")
			},
			Running: func(ctx context.Context) (step string, done, all int64) {
				return sqlengine.Running(ctx, q, "SELECT CONCAT('stage ', stage, ' of ', max_stage), CAST(1000 * progress AS SIGNED), "+
					"100000 FROM information_schema.processlist WHERE db = DATABASE() AND max_stage > 0 LIMIT 1")
			},
			Spent: d.usageFunc(), Close: pool.Close,
		}, nil
	}
}

// endSession ends the session that runs a query, if there is one. A connection with a known number would need a round
// trip before each query, which the query's time would include.
func endSession(ctx context.Context, pool *sql.DB, text string) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	id, err := sqlengine.QueryNumber(ctx, querier{pool}, "SELECT COALESCE(MIN(id), 0) FROM information_schema.processlist "+
		"WHERE db = DATABASE() AND id <> CONNECTION_ID() AND command <> 'Killed' AND info = ?", text)
	if err != nil || id == 0 {
		return err
	}
	if err := (querier{pool}).Exec(ctx, "KILL "+decimal(id)); !is(err, errNoThread) {
		return err
	}
	return nil
}

// ownCast returns the cast of a column of a MariaDB type.
func ownCast(name string) sqlengine.ResultCast {
	switch name = strings.TrimPrefix(name, "UNSIGNED "); name {
	case "DECIMAL", "TINYINT", "SMALLINT", "MEDIUMINT", "INT", "BIGINT", "YEAR":
		return sqlengine.AsDecimal
	case "FLOAT", "DOUBLE":
		return sqlengine.AsFloat
	case "DATE":
		return sqlengine.AsDate
	case "DATETIME", "TIMESTAMP":
		return sqlengine.AsMoment
	}
	return sqlengine.AsIs
}

// A text column of up to maxVarchar characters is a VARCHAR, while the VARCHARs of a table have at most
// maxInRow characters: a row has at most 65,535 bytes, and a character up to four.
const (
	maxVarchar = 255
	maxInRow   = 15_000
)

func loadOwn(ctx context.Context, pool *sql.DB, t *tables.Table, translate func(string) string) (err error) {
	columns := sqlengine.OwnColumns(t, ident, map[tables.Kind]string{
		tables.Bool: "BOOLEAN", tables.Integer: "BIGINT", tables.Decimal: "DECIMAL(%d, %d)", tables.Float: "DOUBLE",
		tables.Date: "DATE", tables.Time: "DATETIME(6)", tables.Text: "LONGTEXT",
	})
	f := infile{table: ident(t.Name), charset: "utf8mb4"}
	inRow := 0
	for k, c := range t.Columns {
		if c.Kind == tables.Text && c.Digits <= maxVarchar && inRow+c.Digits <= maxInRow {
			columns[k] = fmt.Sprintf("%s VARCHAR(%d)", ident(c.Name), max(c.Digits, 1))
			inRow += c.Digits
		}
		f.columns = append(f.columns, ident(c.Name))
	}
	c, err := pool.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	options := translate(") ENGINE=InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin")
	if _, err := c.ExecContext(ctx, "CREATE TABLE "+f.table+" ("+strings.Join(columns, ", ")+options); err != nil {
		return err
	}
	f.rows = func(out *rowWriter) error {
		return t.Each(ctx, func(row []any) error { return out.end(tables.AppendRow(out.row(), row)) })
	}
	if _, err := f.load(ctx, c); err != nil {
		return err
	}
	_, err = c.ExecContext(ctx, "ANALYZE TABLE "+f.table)
	return err
}
