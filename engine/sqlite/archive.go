package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"barograph/answer"
	"barograph/design"
	"barograph/engine"
	"barograph/engine/sqlengine"
	"barograph/flavour"
	"barograph/question"
	"barograph/record"
)

// archive is the file under one design.
type archive struct {
	db      *database
	design  design.Name
	dialect *flavour.Dialect
	known   sync.Map // names of tables that were seen; none is ever dropped
}

// Open opens the archive under a design.
func (d *database) Open(_ context.Context, n design.Name) (engine.Archive, error) {
	if _, ok := Driver().Offers[n]; !ok {
		return nil, fmt.Errorf("sqlite: %s: %w", n, engine.ErrNoDesign)
	}
	return engine.Explained(&archive{db: d, design: n, dialect: flavour.SQLite()}, d.explain), nil
}

func (a *archive) Close() error { return nil }

func (a *archive) Size(ctx context.Context) (int64, error) { return a.db.size(ctx) }

func (a *archive) Subsets(ctx context.Context) ([]string, error) {
	all, err := tables(ctx, a.db.pool)
	if err != nil {
		return nil, err
	}
	subsets := []string{}
	for name := range all {
		if s, ok := flavour.SQLiteSubset(name, a.ownName(sqlengine.CatalogTable)); ok {
			subsets = append(subsets, s)
		}
	}
	slices.Sort(subsets)
	return subsets, nil
}

// has reports whether a subset has a table.
func (a *archive) has(ctx context.Context, q querier, subset, table string) (bool, error) {
	found, err := texts(ctx, q, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name = ?", flavour.SQLiteName(subset, table))
	return len(found) > 0, err
}

func (a *archive) Catalog(ctx context.Context, subset string) (*design.Catalog, error) {
	ok, err := a.has(ctx, a.db.pool, subset, a.ownName(sqlengine.CatalogTable))
	if err != nil || !ok {
		return design.NewCatalog(subset), err
	}
	var text []byte
	err = a.db.pool.QueryRowContext(ctx, "SELECT catalog FROM "+a.own(subset, sqlengine.CatalogTable)).Scan(&text)
	if errors.Is(err, sql.ErrNoRows) {
		return design.NewCatalog(subset), nil
	}
	if err != nil {
		return nil, err
	}
	return design.ParseCatalog(text)
}

func (a *archive) Marks(ctx context.Context, subset string) ([]engine.Mark, error) {
	ok, err := a.has(ctx, a.db.pool, subset, a.ownName(sqlengine.MarksTable))
	if err != nil || !ok {
		return nil, err
	}
	rows, err := a.db.pool.QueryContext(ctx, "SELECT "+sqlengine.Names("", sqlengine.MarkColumns()[1:])+
		" FROM "+a.own(subset, sqlengine.MarksTable)+" ORDER BY seq")
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // Err below says what went wrong
	var marks []engine.Mark
	for rows.Next() {
		var m engine.Mark
		var loaded string
		if err := rows.Scan(&m.Path, &m.Digest, &m.Bytes, &m.Read, &m.Stored, &m.Replaced, &m.Quarantined, &loaded); err != nil {
			return nil, err
		}
		if m.Loaded, err = time.Parse(time.RFC3339Nano, loaded); err != nil {
			return nil, err
		}
		marks = append(marks, m)
	}
	return marks, rows.Err()
}

// stored lists the line types that a subset has a table for.
func (a *archive) stored(ctx context.Context, subset string) ([]*record.LineType, error) {
	all, err := tables(ctx, a.db.pool)
	if err != nil || !all[flavour.SQLiteName(subset, a.ownName(sqlengine.CatalogTable))] {
		return nil, err
	}
	var types []*record.LineType
	for _, t := range record.Types() {
		if name, _, _ := sqlengine.Table(a.design, t); all[flavour.SQLiteName(subset, name)] {
			types = append(types, t)
		}
	}
	return types, nil
}

func (a *archive) Contents(ctx context.Context, subset string) (engine.Contents, error) {
	c := engine.Contents{Records: map[string]int64{}, Object: "rows"}
	what := "count(*), count(*)"
	if a.design == design.Document {
		c.Object, what = "documents", "count(*), coalesce(sum(json_array_length(data)), 0)"
	}
	types, err := a.stored(ctx, subset)
	if err != nil {
		return c, err
	}
	for _, t := range types {
		name, _, _ := sqlengine.Table(a.design, t)
		var objects, records int64
		err := a.db.pool.QueryRowContext(ctx, "SELECT "+what+" FROM "+a.dialect.Table(subset, name)).Scan(&objects, &records)
		if err != nil {
			return c, err
		}
		c.Objects += objects
		if records > 0 {
			c.Records[t.Name] = records
		}
	}
	return c, nil
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
// not there would be an error of SQLite's.
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
		return failed(ctx, err)
	}
	rows, err := a.db.pool.QueryContext(ctx, q.Text, q.Args...) //nolint:rowserrcheck // Decoder.Rows checks
	if err != nil {
		return failed(ctx, err)
	}
	return failed(ctx, d.Rows(ctx, rows))
}

// failed returns the context's error where that is why a statement failed.
func failed(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}
