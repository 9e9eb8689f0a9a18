package postgres

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/engine/tables"
	"github.com/barograph/barograph/query/flavour"
)

// ownSchema contains a user's own tables.
const ownSchema = "barograph_own"

// openOwn opens sessions whose search path contains the tables' schema.
func (db *database) openOwn(ctx context.Context, keep bool) (*tables.Tables, error) {
	config := db.pool.Config()
	config.ConnConfig.RuntimeParams["search_path"] = ownSchema + ", public"
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, callError(ctx, err)
	}
	q := querier{pool}
	if !keep {
		err = q.Exec(ctx, "DROP SCHEMA IF EXISTS "+ownSchema+" CASCADE")
	}
	if err := errors.Join(err, q.Exec(ctx, "CREATE SCHEMA IF NOT EXISTS "+ownSchema)); err != nil {
		pool.Close()
		return nil, err
	}
	return &tables.Tables{
		Load: func(ctx context.Context, t *tables.Table) error { return callError(ctx, loadOwn(ctx, pool, t)) },
		Ask: func(ctx context.Context, text string, f func(row []any) error) error { // as texts, which every type has
			var row []any
			return each(ctx, q.over, text, []any{pgx.QueryResultFormats{pgx.TextFormatCode}}, func(rows pgx.Rows) error {
				row = row[:0]
				fields := rows.FieldDescriptions()
				for k, raw := range rows.RawValues() {
					row = append(row, ownCast(fields[k].DataTypeOID).Convert(cell(raw, &fields[k])))
				}
				return f(row)
			})
		},
		Size: func(ctx context.Context) (int64, error) {
			return sqlengine.QueryNumber(ctx, q, "SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_class c "+
				"JOIN pg_namespace n ON n.oid = relnamespace WHERE nspname = '"+ownSchema+"' AND relkind = 'r'")
		},
		Running: func(ctx context.Context) (step string, done, all int64) {
			return sqlengine.Running(ctx, q, runningStep)
		},
		Spent: func(ctx context.Context) (engine.ServerUsage, error) { return usage(ctx, pool) },
		Close: func() error { pool.Close(); return nil },
	}, nil
}

// runningStep is the step of a statement that reports its progress, with how much of it is done.
const runningStep = `SELECT step, done, total FROM (
	SELECT 'vacuum, ' || phase, heap_blks_scanned, heap_blks_total, datname FROM pg_stat_progress_vacuum
	UNION ALL SELECT 'analyze, ' || phase, sample_blks_scanned, sample_blks_total, datname FROM pg_stat_progress_analyze
	UNION ALL SELECT phase, heap_blks_scanned, heap_blks_total, datname FROM pg_stat_progress_cluster
	UNION ALL SELECT phase, CASE WHEN tuples_total > 0 THEN tuples_done ELSE blocks_done END,
		CASE WHEN tuples_total > 0 THEN tuples_total ELSE blocks_total END, datname FROM pg_stat_progress_create_index
) AS progress (step, done, total, datname) WHERE datname = current_database() LIMIT 1`

// ownCast returns the cast of a column of a PostgreSQL type.
func ownCast(oid uint32) sqlengine.ResultCast {
	switch oid {
	case pgtype.NumericOID, pgtype.Int2OID, pgtype.Int4OID, pgtype.Int8OID:
		return sqlengine.AsDecimal
	case pgtype.Float4OID, pgtype.Float8OID:
		return sqlengine.AsFloat
	case pgtype.DateOID:
		return sqlengine.AsDate
	case pgtype.TimestampOID, pgtype.TimestamptzOID:
		return sqlengine.AsMoment
	}
	return sqlengine.AsIs
}

func loadOwn(ctx context.Context, pool *pgxpool.Pool, t *tables.Table) error {
	columns := sqlengine.OwnColumns(t, flavour.Ident, map[tables.Kind]string{
		tables.Bool: "boolean", tables.Integer: "bigint", tables.Decimal: "numeric(%d, %d)", tables.Float: "double precision",
		tables.Date: "date", tables.Time: "timestamp", tables.Text: `text COLLATE "C"`,
	})
	table := ownSchema + "." + flavour.Ident(t.Name)
	c, err := pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer c.Release()
	err = execute(ctx, c.Conn(), "CREATE TABLE "+table+" ("+strings.Join(columns, ", ")+")")
	if err != nil {
		return err
	}
	from, to := io.Pipe()
	go func() {
		var buf []byte
		err := t.Each(ctx, func(row []any) error {
			buf = append(tables.AppendRow(buf, row), '\n')
			if len(buf) < copyChunk {
				return nil
			}
			_, err := to.Write(buf)
			buf = buf[:0]
			return err
		})
		if err == nil {
			_, err = to.Write(buf)
		}
		to.CloseWithError(err)
	}()
	_, err = c.Conn().PgConn().CopyFrom(ctx, from, "COPY "+table+" FROM STDIN")
	err = errors.Join(err, from.Close())
	if err == nil {
		_, err = c.Exec(ctx, "VACUUM (FREEZE, ANALYZE) "+table)
	}
	return err
}
