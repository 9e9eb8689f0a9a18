package duckdb

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strconv"

	"barograph/design"
	"barograph/engine"
	"barograph/engine/sqlengine"
	"barograph/flavour"
	"barograph/question"
	"barograph/record"
)

// archive is a file under one design. It is safe for concurrent use: every
// call has a connection of its own.
type archive struct {
	db     *database
	design design.Name
}

// with runs f on a connection.
func (a *archive) with(ctx context.Context, f func(c *conn) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c, err := a.db.take()
	if err != nil {
		return err
	}
	defer a.db.put(c)
	return f(c)
}

// tables lists the tables of a subset; none if it does not exist.
func (a *archive) tables(ctx context.Context, c *conn, n names) ([]string, error) {
	return c.texts(ctx, "SELECT table_name FROM duckdb_tables() WHERE database_name = "+flavour.Quote(a.db.alias)+
		" AND schema_name = "+flavour.Quote(n.schema))
}

// has reports whether a subset has a table.
func (a *archive) has(ctx context.Context, c *conn, n names, table string) (bool, error) {
	tables, err := a.tables(ctx, c, n)
	return slices.Contains(tables, table), err
}

// readCatalog reads the catalog of a subset within c's transaction.
func (a *archive) readCatalog(ctx context.Context, c *conn, subset string) (*design.Catalog, error) {
	n := a.names(subset)
	if ok, err := a.has(ctx, c, n, n.catalogName()); !ok || err != nil {
		return design.NewCatalog(subset), err
	}
	text, err := c.texts(ctx, "SELECT catalog FROM "+n.catalog())
	if err != nil || len(text) == 0 {
		return design.NewCatalog(subset), err
	}
	return design.ParseCatalog([]byte(text[0]))
}

// Catalog reads the metadata of a subset.
func (a *archive) Catalog(ctx context.Context, subset string) (catalog *design.Catalog, err error) {
	err = a.with(ctx, func(c *conn) error {
		catalog, err = a.readCatalog(ctx, c, subset)
		return err
	})
	return catalog, err
}

// Marks lists the files that are loaded whole.
func (a *archive) Marks(ctx context.Context, subset string) (marks []engine.Mark, err error) {
	n := a.names(subset)
	err = a.with(ctx, func(c *conn) error {
		if ok, err := a.has(ctx, c, n, n.marksName()); !ok || err != nil {
			return err
		}
		texts, err := c.texts(ctx, "SELECT mark FROM "+n.marks()+" ORDER BY seq")
		if err != nil {
			return err
		}
		marks = make([]engine.Mark, len(texts))
		for i, s := range texts {
			if err := json.Unmarshal([]byte(s), &marks[i]); err != nil {
				return err
			}
		}
		return nil
	})
	return marks, err
}

// Subsets lists the schemas that hold this design.
func (a *archive) Subsets(ctx context.Context) (subsets []string, err error) {
	n := names{design: a.design}
	err = a.with(ctx, func(c *conn) error {
		schemas, err := c.texts(ctx, "SELECT schema_name FROM duckdb_tables() WHERE database_name = "+flavour.Quote(a.db.alias)+
			" AND table_name = "+flavour.Quote(n.catalogName()))
		for _, s := range schemas {
			subsets = append(subsets, flavour.DuckDBSubset(s))
		}
		slices.Sort(subsets)
		return err
	})
	return subsets, err
}

// Contents counts records and rows or documents.
func (a *archive) Contents(ctx context.Context, subset string) (engine.Contents, error) {
	out := engine.Contents{Records: map[string]int64{}, Object: "rows"}
	records := "count(*)"
	if a.design == design.Document {
		out.Object, records = "documents", "coalesce(sum(len(data)), 0)::BIGINT"
	}
	n := a.names(subset)
	err := a.with(ctx, func(c *conn) error {
		tables, err := a.tables(ctx, c, n)
		if err != nil {
			return err
		}
		for _, t := range record.Types() {
			table := newLayout(a.design, t).table
			if !slices.Contains(tables, table) {
				continue
			}
			r, err := c.query(ctx, "SELECT "+records+", count(*) FROM "+n.table(table))
			if err != nil {
				return err
			}
			r.next()
			first, second := r.vector(0), r.vector(1)
			if count := first.int64s(1)[0]; count > 0 {
				out.Records[t.Name] = count
				out.Objects += second.int64s(1)[0]
			}
			r.close()
		}
		return nil
	})
	return out, err
}

// Phrase puts a question into DuckDB's SQL.
func (a *archive) Phrase(ctx context.Context, q *question.Question, f flavour.Name) (*engine.Query, error) {
	if err := Driver().Express(a.design, f, q); err != nil {
		return nil, err
	}
	catalog, err := a.Catalog(ctx, q.Subset)
	if err != nil {
		return nil, err
	}
	out, err := sqlengine.Phrase(a.dialect(q.Subset), a.design, f, q, catalog)
	if err != nil {
		return nil, err
	}
	if a.design == design.Normalized && slices.ContainsFunc(q.Columns, func(c question.Column) bool { return c.Role == question.Lead }) {
		out.Text += leadNote(catalog.Facts(q).Versions)
	}
	return out, nil
}

// lacks reports whether the table that a question asks is not there.
func (a *archive) lacks(ctx context.Context, c *conn, q *question.Question) (bool, error) {
	ok, err := a.has(ctx, c, a.names(q.Subset), newLayout(a.design, q.Type).table)
	return !ok, err
}

// Size writes what is in DuckDB's log into the file and returns the size of
// both. The file holds all designs that were loaded into it.
func (a *archive) Size(ctx context.Context) (size int64, err error) {
	err = a.with(ctx, func(c *conn) error {
		if !a.db.readOnly {
			// While a loader writes, DuckDB refuses; then the log counts as it is.
			if err := c.exec(ctx, "CHECKPOINT"); err != nil && ctx.Err() != nil {
				return err
			}
		}
		if a.db.path == "" {
			size, err = c.whole(ctx, "SELECT sum(block_size * used_blocks)::BIGINT FROM pragma_database_size()")
			return err
		}
		for _, file := range []string{a.db.path, a.db.path + ".wal"} {
			info, err := os.Stat(file)
			if errors.Is(err, os.ErrNotExist) {
				continue
			}
			if err != nil {
				return err
			}
			size += info.Size()
		}
		return nil
	})
	return size, err
}

// Close does nothing: the file is closed with its engine.
func (a *archive) Close() error { return nil }

func whole(v int64) string { return strconv.FormatInt(v, 10) }
