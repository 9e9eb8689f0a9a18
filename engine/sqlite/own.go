package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/engine/tables"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/query/flavour"
)

// openOwn opens the file of a user's own tables, which is next to the archive's file.
func (d *database) openOwn(_ context.Context, keep bool) (*tables.Tables, error) {
	o := &database{path: d.path + ".barograph-own", cache: d.cache, log: d.log, sealed: true}
	for _, end := range []string{"", "-wal", "-shm"} { // files of an earlier run
		if keep {
			break
		}
		if err := os.Remove(o.path + end); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, o.unreachable("cannot be created again", err, "name another path")
		}
	}
	o.pool = sql.OpenDB(o)
	o.pool.SetMaxIdleConns(4 * idleConnections)
	return &tables.Tables{
		Load: o.loadOwn, Size: o.size, Close: o.pool.Close,
		Ask: func(ctx context.Context, text string, f func(row []any) error) error {
			return sqlengine.DatabaseSQL{DB: o.pool}.TypedRows(ctx, text, func(string) sqlengine.ResultCast { return sqlengine.AsUntyped }, f)
		},
	}, nil
}

func (d *database) loadOwn(ctx context.Context, t *tables.Table) (err error) {
	columns := sqlengine.OwnColumns(t, flavour.Ident, map[tables.Kind]string{
		tables.Bool: "INTEGER", tables.Integer: "INTEGER", tables.Float: "REAL", tables.Decimal: "NUMERIC",
		tables.Date: "TEXT", tables.Time: "TEXT", tables.Text: "TEXT",
	})
	tx, err := d.pool.BeginTx(ctx, nil)
	if err != nil {
		return engine.CallError(ctx, err)
	}
	defer func() {
		if err != nil {
			_ = tx.Rollback() // the first error is more specific
			err = engine.CallError(ctx, err)
		}
	}()
	if _, err := tx.ExecContext(ctx, "CREATE TABLE "+flavour.Ident(t.Name)+" ("+strings.Join(columns, ", ")+")"); err != nil {
		return err
	}
	text := "INSERT INTO " + flavour.Ident(t.Name) + " VALUES (?" + strings.Repeat(", ?", len(t.Columns)-1) + ")"
	insert, err := tx.PrepareContext(ctx, text) //nolint:sqlclosecheck // closed below
	if err != nil {
		return err
	}
	defer insert.Close() //nolint:errcheck // closed once
	err = t.Each(ctx, func(row []any) error {
		if err := convertNumbers(t, row); err != nil {
			return err
		}
		_, err := insert.ExecContext(ctx, row...)
		return err
	})
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "ANALYZE "+flavour.Ident(t.Name)); err != nil {
		return err
	}
	return tx.Commit()
}

// realDigits is the number of decimal digits that SQLite keeps. It has no decimals and stores
// floating-point numbers.
const realDigits = 15

// convertNumbers replaces inf and -inf by numbers, because SQLite would store the words as texts. It refuses NaN, and
// decimals with more than realDigits digits, which SQLite cannot store.
func convertNumbers(t *tables.Table, row []any) error {
	for k, c := range t.Columns {
		if text, ok := row[k].(string); ok && c.Kind == tables.Decimal && c.Digits > realDigits {
			digits := strings.Trim(strings.Replace(strings.TrimPrefix(text, "-"), ".", "", 1), "0")
			if _, err := strconv.ParseInt(text, 10, 64); err != nil && len(digits) > realDigits {
				problem := fmt.Sprintf("contains %s, but SQLite keeps only %d digits", text, realDigits)
				return &fault.Error{Setting: "column " + c.Name, Problem: problem, Cure: "declare the column as text, or omit SQLite"}
			}
		}
		if c.Kind != tables.Float {
			continue
		}
		switch row[k] {
		case "inf":
			row[k] = math.Inf(1)
		case "-inf":
			row[k] = math.Inf(-1)
		case "nan":
			return &fault.Error{
				Setting: "column " + c.Name, Problem: "contains NaN, which SQLite converts to NULL",
				Cure: "write NULL in the files, or omit SQLite",
			}
		}
	}
	return nil
}
