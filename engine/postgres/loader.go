package postgres

import (
	"context"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/record"
)

// loader has functions of a sqlengine.LoadSession, and the state of the tables' partitions.
type loader struct {
	a          *openArchive
	subset     string
	parts      map[*record.LineType]partitioning
	partitions map[partitionKey]bool
}

func (a *openArchive) Loader(ctx context.Context, subset string) (archive.Loader, error) {
	if a.db.readOnly {
		return nil, &fault.Error{Setting: "postgres", Err: engine.ErrReadOnly, Cure: "open it for writing"}
	}
	if err := storable.Subset(subset); err != nil {
		return nil, err
	}
	if err := a.db.makeSpaces(ctx); err != nil {
		return nil, err
	}
	l := &loader{a: a, subset: subset, parts: map[*record.LineType]partitioning{}, partitions: map[partitionKey]bool{}}
	err := l.transaction(ctx, func(q sqlengine.Querier) error {
		// Two sessions that create one schema at the same time would collide.
		if err := q.Exec(ctx, "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", "barograph/"+subset); err != nil {
			return err
		}
		return execute(ctx, conn(q), a.subsetTables(subset)...)
	})
	return a.NewLoader(subset, sqlengine.LoadSession{
		CheckText: storable.Check, Transaction: l.transaction, MakeTable: l.makeTable, ExtendTable: l.addPartitions,
		Insert: insert, InsertLines: insertLines, Replace: l.replace,
		Analyze: func(ctx context.Context, table string) error { return a.Pool.Exec(ctx, "ANALYZE "+table) },
	}), err
}

var storable = sqlengine.Storable{Product: "PostgreSQL"} //nolint:gochecknoglobals // a constant

func execute(ctx context.Context, c *pgx.Conn, statements ...string) error {
	for _, s := range statements {
		if _, err := c.Exec(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// transaction runs f in a transaction on a separate connection.
func (l *loader) transaction(ctx context.Context, f func(q sqlengine.Querier) error) error {
	c, err := l.a.db.pool.Acquire(ctx)
	if err != nil {
		return callError(ctx, err)
	}
	defer c.Release()
	tx, err := c.Begin(ctx)
	if err != nil {
		return callError(ctx, err)
	}
	if err = f(querier{tx.Conn()}); err == nil {
		err = tx.Commit(ctx)
	}
	if err != nil {
		clear(l.partitions) // the rollback removed the new tables
		after, stop := context.WithTimeout(context.WithoutCancel(ctx), rollbackTimeout)
		defer stop()
		_ = tx.Rollback(after) // the first error is more specific; a closed connection rolls back by itself
		if c.Conn().IsClosed() {
			return engine.CallError(ctx, err, err) // the connection broke, whatever err is
		}
	}
	return callError(ctx, err)
}

// makeTable creates the table of a type, if it does not exist.
func (l *loader) makeTable(ctx context.Context, q sqlengine.Querier, t *record.LineType) error {
	name, _, _ := sqlengine.DesignTable(l.a.Design, t)
	ok, err := l.a.HasTable(ctx, q, l.subset, name)
	if err == nil && !ok {
		err = execute(ctx, conn(q), l.a.typeTables(l.subset, t)...)
	}
	if err != nil {
		return err
	}
	return l.readPartitioning(ctx, conn(q), t)
}

// replace deletes the records that lines replace. It copies the identities of lines to a
// temporary table and joins that with the archive's table.
func (l *loader) replace(
	ctx context.Context, q sqlengine.Querier, lines *sqlengine.Lines, candidates []design.Row, stored *archive.CommitResult,
) error {
	table, cols := l.a.Table(l.subset, lines.Type)
	rows, err := existingRows(ctx, q, table, lines, candidates)
	if err != nil || len(rows) == 0 {
		return err
	}
	c, stage := conn(q), sqlengine.IdentityColumns(cols)
	create := strings.Replace(sqlengine.CreateText("barograph_stage", stage, types.Of), "CREATE TABLE IF NOT EXISTS", "CREATE TEMP TABLE", 1)
	if err := execute(ctx, c, create); err != nil {
		return err
	}
	if err := copyLines(ctx, c, "pg_temp.barograph_stage", stage, lines, rows); err != nil {
		return err
	}
	// Without statistics the planner assumes an empty table.
	if err := execute(ctx, c, "ANALYZE pg_temp.barograph_stage"); err != nil {
		return err
	}
	conditions := make([]string, len(stage))
	for k, col := range stage {
		operator := " = "
		if !col.NotNull {
			operator = " IS NOT DISTINCT FROM "
		}
		conditions[k] = "ld." + col.Name + operator + "s." + col.Name
	}
	same := strings.Join(conditions, " AND ")
	resolve := l.a.Resolver(ctx, q, l.subset, lines, stored)
	if err := resolve(" WHERE EXISTS (SELECT FROM pg_temp.barograph_stage s WHERE " + same + ")"); err != nil {
		return err
	}
	texts := []string{"DELETE FROM " + table + " ld USING pg_temp.barograph_stage s WHERE " + same, "DROP TABLE pg_temp.barograph_stage"}
	if lines.Keep {
		texts = texts[1:]
	}
	return execute(ctx, c, texts...)
}

// existingRows selects, of the rows that may exist, those whose series and valid time exist. It
// queries only these pairs, with the table's index. The reason: a catalog contains a grid of
// times, but not which of them were loaded. In a load of a year, cycle by cycle, nearly every row
// may exist according to the catalog, and none does.
func existingRows(ctx context.Context, q sqlengine.Querier, table string, lines *sqlengine.Lines, rows []design.Row) ([]design.Row, error) {
	pairs := sqlengine.Series(rows)
	text, args := probe(table, lines, pairs)
	type pair struct {
		head  int32
		valid int64
	}
	existing := map[pair]bool{}
	err := q.Rows(ctx, text, args, func(row []any) error {
		n, err := sqlengine.AsInteger(row[0])
		if err == nil {
			existing[pair{pairs[n-1].Header, pairs[n-1].Valid}] = true
		}
		return err
	})
	return lists.Filter(rows, func(r design.Row) bool { return existing[pair{r.Header, r.Valid}] }), err
}

// probe returns the query for the numbers, from 1, of the pairs that exist in a table.
func probe(table string, lines *sqlengine.Lines, pairs []design.Row) (text string, args []any) {
	if lines.Design == design.Normalized {
		ids, times := make([]int64, len(pairs)), make([]time.Time, len(pairs))
		for i, r := range pairs {
			ids[i], times[i] = lines.HeaderIDs[r.Header], time.Unix(r.Valid, 0).UTC()
		}
		return "SELECT u.n FROM unnest($1::bigint[], $2::timestamp[]) WITH ORDINALITY AS u(id, valid, n)" +
			" WHERE EXISTS (SELECT FROM " + table + " t WHERE t.stat_header_id = u.id AND t.fcst_valid_beg = u.valid)", []any{ids, times}
	}
	var fields [4][]string
	epochs := make([]int64, len(pairs))
	for i, r := range pairs {
		for k, f := range [...]record.Field{record.Model, record.FcstVar, record.FcstLev, record.VxMask} {
			fields[k] = append(fields[k], lines.Headers[r.Header][f])
		}
		epochs[i] = r.Valid
	}
	return "SELECT u.n FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[]) " +
			"WITH ORDINALITY AS u(model, var, lev, mask, valid, n) WHERE EXISTS (SELECT FROM " + table + " t WHERE t.model = u.model " +
			"AND t.fcst_var = u.var AND t.fcst_lev = u.lev AND t.vx_mask = u.mask AND t.fcst_valid_epoch = u.valid)",
		[]any{fields[0], fields[1], fields[2], fields[3], epochs}
}
