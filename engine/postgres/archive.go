package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"barograph/answer"
	"barograph/design"
	"barograph/engine"
	"barograph/engine/sqlengine"
	"barograph/flavour"
	"barograph/question"
)

// archive is the database under one design.
type archive struct {
	db      *database
	design  design.Name
	dialect *flavour.Dialect
	known   sync.Map // names of tables that were seen; none is ever dropped
}

// Open opens the archive under a design.
func (db *database) Open(_ context.Context, n design.Name) (engine.Archive, error) {
	if _, ok := Driver().Offers[n]; !ok {
		return nil, fmt.Errorf("postgres: %s: %w", n, engine.ErrNoDesign)
	}
	return &archive{db: db, design: n, dialect: flavour.Postgres()}, nil
}

func (a *archive) Close() error { return nil }

// schemas lists the schemas that hold a subset of this design.
func (a *archive) schemas(ctx context.Context) ([]string, error) {
	rows, err := a.db.pool.Query(ctx, `SELECT nspname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE relname = $1 AND relkind = 'r'`, a.ownName(sqlengine.CatalogTable))
	if err != nil {
		return nil, failed(ctx, err)
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	return names, failed(ctx, err)
}

func (a *archive) Subsets(ctx context.Context) ([]string, error) {
	schemas, err := a.schemas(ctx)
	if err != nil {
		return nil, err
	}
	subsets := make([]string, len(schemas))
	for i, s := range schemas { // a schema's name may be a subset's in another form, or cut
		err := a.db.pool.QueryRow(ctx, "SELECT subset FROM "+flavour.Ident(s)+"."+a.ownName(sqlengine.CatalogTable)).Scan(&subsets[i])
		if err != nil {
			return nil, failed(ctx, err)
		}
	}
	slices.Sort(subsets)
	return subsets, nil
}

func (a *archive) Catalog(ctx context.Context, subset string) (*design.Catalog, error) {
	ok, err := a.has(ctx, a.db.pool, subset, a.ownName(sqlengine.CatalogTable))
	if err != nil || !ok {
		return design.NewCatalog(subset), err
	}
	c, err := a.readCatalog(ctx, a.db.pool, subset)
	return c, failed(ctx, err)
}

func (a *archive) readCatalog(ctx context.Context, q querier, subset string) (*design.Catalog, error) {
	var text []byte
	err := q.QueryRow(ctx, "SELECT catalog FROM "+a.own(subset, sqlengine.CatalogTable)+" WHERE id = 1").Scan(&text)
	switch {
	case errors.Is(err, pgx.ErrNoRows) || err == nil && text == nil:
		return design.NewCatalog(subset), nil
	case err != nil:
		return nil, err
	}
	return design.ParseCatalog(text)
}

func (a *archive) Marks(ctx context.Context, subset string) ([]engine.Mark, error) {
	ok, err := a.has(ctx, a.db.pool, subset, a.ownName(sqlengine.MarksTable))
	if err != nil || !ok {
		return nil, err
	}
	rows, err := a.db.pool.Query(ctx, "SELECT "+sqlengine.Names("", sqlengine.MarkColumns()[1:])+
		" FROM "+a.own(subset, sqlengine.MarksTable)+" ORDER BY seq")
	if err != nil {
		return nil, failed(ctx, err)
	}
	marks, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (engine.Mark, error) {
		var m engine.Mark
		var loaded string
		err := row.Scan(&m.Path, &m.Digest, &m.Bytes, &m.Read, &m.Stored, &m.Replaced, &m.Quarantined, &loaded)
		if err != nil {
			return m, err
		}
		m.Loaded, err = time.Parse(time.RFC3339Nano, loaded)
		return m, err
	})
	return marks, failed(ctx, err)
}

func (a *archive) Contents(ctx context.Context, subset string) (engine.Contents, error) {
	c := engine.Contents{Records: map[string]int64{}, Object: "rows"}
	what := "count(*), count(*)"
	if a.design == design.Document {
		c.Object, what = "documents", "count(*), coalesce(sum(jsonb_array_length(data)), 0)"
	}
	types, err := a.stored(ctx, a.db.pool, subset)
	if err != nil {
		return c, err
	}
	for _, t := range types {
		name, _, _ := sqlengine.Table(a.design, t)
		var objects, records int64
		err := a.db.pool.QueryRow(ctx, "SELECT "+what+" FROM "+a.dialect.Table(subset, name)).Scan(&objects, &records)
		if err != nil {
			return c, failed(ctx, err)
		}
		c.Objects += objects
		if records > 0 {
			c.Records[t.Name] = records
		}
	}
	return c, nil
}

// Size counts the tables of this design in all subsets, with their indexes.
func (a *archive) Size(ctx context.Context) (int64, error) {
	schemas, err := a.schemas(ctx)
	if err != nil {
		return 0, err
	}
	tables := []string{a.ownName(sqlengine.CatalogTable), a.ownName(sqlengine.MarksTable)}
	prefix := map[design.Name]string{design.Normalized: "line_data_", design.Document: "doc_", design.Wide: "wide_"}[a.design]
	if a.design == design.Normalized {
		tables = append(tables, design.HeaderTable, sqlengine.FileTable)
	}
	var size int64
	err = a.db.pool.QueryRow(ctx, `SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint
		FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE nspname = ANY($1) AND relkind IN ('r', 'p') AND (relname = ANY($2) OR starts_with(relname, $3))`, schemas, tables, prefix).Scan(&size)
	return size, failed(ctx, err)
}

func (a *archive) Phrase(ctx context.Context, q *question.Question, f flavour.Name) (*engine.Query, error) {
	if err := Driver().Express(a.design, f, q); err != nil {
		return nil, err
	}
	catalog, err := a.Catalog(ctx, q.Subset)
	if err != nil {
		return nil, err
	}
	return sqlengine.Phrase(a.dialect, a.design, f, q, catalog)
}

// exists reports whether there is anything to ask: a question of a table that is
// not there would be an error of the server's.
func (a *archive) exists(ctx context.Context, q *question.Question) (bool, error) {
	name, _, _ := sqlengine.Table(a.design, q.Type)
	if _, ok := a.known.Load(q.Subset + "/" + name); ok {
		return true, nil
	}
	ok, err := a.has(ctx, a.db.pool, q.Subset, name)
	if ok {
		a.known.Store(q.Subset+"/"+name, true)
	}
	return ok, err
}

func (a *archive) Ask(ctx context.Context, q *engine.Query, into *answer.Builder) error {
	d := sqlengine.NewDecoder(a.design, q, into)
	if ok, err := a.exists(ctx, q.Question); err != nil || !ok {
		return err
	}
	args := q.Args
	if a.db.simple {
		args = append([]any{pgx.QueryExecModeSimpleProtocol}, args...)
	}
	rows, err := a.db.pool.Query(ctx, q.Text, args...)
	if err != nil {
		return failed(ctx, err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := decodeRow(d, q.Question.Columns, rows); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return rows.Err()
}
