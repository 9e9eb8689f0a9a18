package postgres

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/barograph/barograph/answer"
	"github.com/barograph/barograph/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/flavour"
)

// archive is the database under one design.
type archive struct {
	*sqlengine.Archive
	db *database
}

// Open opens the archive under a design.
func (db *database) Open(_ context.Context, n design.Name) (engine.Archive, error) {
	if err := sqlengine.Offered(Driver(), n); err != nil {
		return nil, err
	}
	a := &archive{db: db}
	a.Archive = &sqlengine.Archive{
		Driver: Driver, Design: n, Dialect: dialect(), Pool: querier{db.pool}, Param: "$1",
		Subset: a.subset,
		Tables: func(subset string) (string, []any) {
			return `SELECT relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE nspname = $1 AND relkind IN ('r', 'p')`, []any{schemaName(subset)}
		},
		Name:    func(_, table string) string { return table },
		Entries: func(data string) string { return data + "::text" },
		CountDocs: func(from string) string {
			return "SELECT count(*), coalesce(sum(jsonb_array_length(data)), 0) FROM " + from
		},
		Repeats: func(src any, into []float64) ([]float64, error) {
			raw, _ := src.([]byte)
			return floats(raw, into), nil
		},
		Snapshot: a.snapshot,
	}
	a.Homes = `SELECT nspname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE relname = ` + flavour.Quote(a.OwnName(sqlengine.CatalogTable)) + ` AND relkind = 'r'`
	return a, nil
}

// subset reads whose schema one is: its name may be a subset's in another form, or cut.
func (a *archive) subset(ctx context.Context, schema string) (string, bool, error) {
	names, err := sqlengine.Texts(ctx, a.Pool, "SELECT subset FROM "+flavour.Ident(schema)+"."+a.OwnName(sqlengine.CatalogTable))
	if damaged, ok := errors.AsType[*pgconn.PgError](err); ok && strings.HasPrefix(damaged.Code, "XX") {
		return schema, true, nil // what is damaged is told when it is read
	}
	if err != nil || len(names) == 0 {
		return "", false, err
	}
	return names[0], true, nil
}

// snapshot runs f in a transaction that sees everything as of one moment.
func (a *archive) snapshot(ctx context.Context, f func(ctx context.Context, q sqlengine.Querier) error) error {
	ctx, stop := context.WithCancel(ctx) // a dump that is left is ended in the server, too
	defer stop()
	tx, err := a.db.pool.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return sqlengine.Failed(ctx, err)
	}
	defer tx.Rollback(context.WithoutCancel(ctx)) //nolint:errcheck // it only read
	return f(ctx, querier{tx})
}

// Check has the server look at each page of the subset's tables, of what they
// keep beside themselves (TOAST), and of their indexes, not all of which reading
// the records reaches, where it has amcheck and lets this user
// have it: for the time of a transaction that is taken back.
func (a *archive) Check(ctx context.Context, subset string) (problems []string, err error) {
	tx, err := a.db.pool.BeginTx(ctx, pgx.TxOptions{AccessMode: pgx.ReadWrite})
	if err != nil {
		return nil, sqlengine.Failed(ctx, err)
	}
	defer tx.Rollback(context.WithoutCancel(ctx)) //nolint:errcheck // it is its purpose
	if _, err := tx.Exec(ctx, "CREATE EXTENSION IF NOT EXISTS amcheck"); err != nil {
		return nil, ctx.Err()
	}
	const tables = `(SELECT c.oid, reltoastrelid, relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE nspname = $1 AND relkind = 'r') AS t`
	for _, text := range []string{
		`SELECT bt_index_check(indexrelid)::text FROM ` + tables + ` JOIN pg_index i ON indrelid IN (t.oid, reltoastrelid)
			JOIN pg_class x ON x.oid = indexrelid JOIN pg_am m ON m.oid = x.relam WHERE amname = 'btree'`, // '' where it is right
		`SELECT relname || ': ' || msg FROM ` + tables + `, LATERAL verify_heapam(t.oid, check_toast => true)`,
	} {
		rows, _ := tx.Query(ctx, text, schemaName(subset)) // CollectRows has its error
		said, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if e, ok := errors.AsType[*pgconn.PgError](err); ok && (e.Code == "42883" || e.Code == "42501") { // an older amcheck; not this user's
			return problems, nil
		}
		if err != nil {
			return append(problems, "a table or its index is damaged: "+err.Error()), nil
		}
		problems = append(problems, slices.DeleteFunc(said, func(s string) bool { return s == "" })...)
	}
	return problems, nil
}

// Size counts the tables of this design in all subsets, with their indexes.
func (a *archive) Size(ctx context.Context) (int64, error) {
	schemas, err := sqlengine.Texts(ctx, a.Pool, a.Homes)
	if err != nil {
		return 0, err
	}
	tables := []string{a.OwnName(sqlengine.CatalogTable), a.OwnName(sqlengine.MarksTable)}
	prefix := map[design.Name]string{design.Normalized: "line_data_", design.Document: "doc_", design.Wide: "wide_"}[a.Design]
	if a.Design == design.Normalized {
		tables = append(tables, design.HeaderTable, sqlengine.FileTable)
	}
	return sqlengine.Number(ctx, a.Pool, `SELECT sum(pg_total_relation_size(c.oid))::bigint
		FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE nspname = ANY($1) AND relkind IN ('r', 'p') AND (relname = ANY($2) OR starts_with(relname, $3))`, schemas, tables, prefix)
}

// Ask decodes replies from the wire, see decodeRow.
func (a *archive) Ask(ctx context.Context, q *engine.Query, into *answer.Builder) error {
	d := sqlengine.NewDecoder(a.Design, q, into)
	if ok, err := a.Exists(ctx, q.Question); err != nil || !ok {
		return err
	}
	args := q.Args
	if a.db.simple {
		args = append([]any{pgx.QueryExecModeSimpleProtocol}, args...)
	}
	return each(ctx, a.db.pool, q.Text, args, func(rows pgx.Rows) error { return decodeRow(d, q.Question.Columns, rows) })
}

// sender is what a pool, a connection and a transaction have in common.
type sender interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
}

// each calls f at each row of a reply.
func each(ctx context.Context, over sender, text string, args []any, f func(rows pgx.Rows) error) error {
	rows, err := over.Query(ctx, text, args...)
	if err != nil {
		return sqlengine.Failed(ctx, err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := f(rows); err != nil {
			return err
		}
	}
	return sqlengine.Failed(ctx, rows.Err())
}

// querier is a Querier over pgx.
type querier struct{ over sender }

// conn is the connection of a transaction.
func conn(q sqlengine.Querier) *pgx.Conn { return q.(querier).over.(*pgx.Conn) }

// Exec carries out a statement.
func (q querier) Exec(ctx context.Context, text string, args ...any) error {
	_, err := q.over.Exec(ctx, text, args...)
	return sqlengine.Failed(ctx, err)
}

// Rows gives each row to f.
func (q querier) Rows(ctx context.Context, text string, args []any, f func(row []any) error) error {
	var row []any
	return each(ctx, q.over, text, args, func(rows pgx.Rows) error {
		row = row[:0]
		fields := rows.FieldDescriptions()
		for k, raw := range rows.RawValues() {
			row = append(row, cell(raw, &fields[k]))
		}
		return f(row)
	})
}

// cell is a value as sqlengine takes it: of a type that is not known here, its bytes.
func cell(raw []byte, f *pgconn.FieldDescription) any {
	switch {
	case raw == nil:
		return nil
	case f.Format != pgtype.BinaryFormatCode:
		return raw
	case f.DataTypeOID == pgtype.Float8OID:
		return float(raw)
	}
	if v, ok := moment(raw, f.DataTypeOID); ok {
		return v
	}
	return raw
}
