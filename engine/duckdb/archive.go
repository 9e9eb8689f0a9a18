package duckdb

import (
	"context"
	"errors"
	"os"
	"slices"
	"strconv"

	"github.com/barograph/barograph/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/flavour"
	"github.com/barograph/barograph/question"
)

// archive is a file under one design. It is safe for concurrent use: every
// call has a connection of its own.
type archive struct {
	*sqlengine.Archive
	db *database
}

// newArchive opens the archive of a design.
func newArchive(db *database, n design.Name) *archive {
	a := &archive{db: db}
	within := " FROM duckdb_tables() WHERE database_name = " + flavour.Quote(db.alias)
	dialect := *dialectIn("")
	dialect.Table = func(subset, table string) string { return a.dialect(subset).Table(subset, table) }
	a.Archive = &sqlengine.Archive{
		Driver: Driver, Design: n, Dialect: &dialect, Pool: pool{db}, MarkText: true,
		Subset: func(_ context.Context, schema string) (string, bool, error) {
			return schemaSubset(schema), true, nil
		},
		// Of all subsets at once: an archive may have many, and the list takes as long as a catalog.
		Tables: func(string) (string, []any) {
			return "SELECT schema_name || '/' || table_name" + within, nil
		},
		Name:  func(subset, table string) string { return schemaName(subset) + "/" + table },
		Owned: func(table string) string { return table + "_" + string(n) },
		CountDocs: func(from string) string {
			return "SELECT count(*), coalesce(sum(len(data)), 0)::BIGINT FROM " + from
		},
	}
	a.Homes = "SELECT schema_name" + within + " AND table_name = " + flavour.Quote(a.OwnName(sqlengine.CatalogTable))
	return a
}

// pool is a Querier that has a connection for each statement.
type pool struct{ db *database }

// Exec carries out a statement.
func (p pool) Exec(ctx context.Context, text string, args ...any) error {
	return p.db.with(ctx, func(c *conn) error { return c.Exec(ctx, text, args...) })
}

// Rows gives each row to f.
func (p pool) Rows(ctx context.Context, text string, args []any, f func(row []any) error) error {
	return p.db.with(ctx, func(c *conn) error { return c.Rows(ctx, text, args, f) })
}

// with runs f on a connection.
func (db *database) with(ctx context.Context, f func(c *conn) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c, err := db.take()
	if err != nil {
		return err
	}
	defer db.put(c)
	return f(c)
}

// Phrase puts a question into DuckDB's SQL.
func (a *archive) Phrase(ctx context.Context, q *question.Question, f flavour.Name) (*engine.Query, error) {
	out, err := a.PhraseIn(ctx, a.dialect(q.Subset), q, f)
	if err != nil || a.Design != design.Normalized ||
		!slices.ContainsFunc(q.Columns, func(c question.Column) bool { return c.Role == question.Lead }) {
		return out, err
	}
	catalog, err := a.Catalog(ctx, q.Subset)
	if err == nil {
		out.Text += leadNote(catalog.Facts(q).Versions)
	}
	return out, err
}

// Size writes what is in DuckDB's log into the file and returns the size of
// both. The file holds all designs that were loaded into it.
func (a *archive) Size(ctx context.Context) (size int64, err error) {
	if !a.db.readOnly {
		// While a loader writes, DuckDB refuses; then the log counts as it is.
		if err := a.Pool.Exec(ctx, "CHECKPOINT"); err != nil && ctx.Err() != nil {
			return 0, err
		}
	}
	if a.db.path == "" {
		return sqlengine.Number(ctx, a.Pool, "SELECT sum(block_size * used_blocks)::BIGINT FROM pragma_database_size()")
	}
	for _, file := range []string{a.db.path, a.db.path + ".wal"} {
		info, err := os.Stat(file)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return 0, err
		}
		size += info.Size()
	}
	return size, nil
}

func whole(v int64) string { return strconv.FormatInt(v, 10) }
