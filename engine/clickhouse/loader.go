package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/record"
)

// Loader opens the loader of a subset. A second one for the same subset is an error.
func (a *openArchive) Loader(ctx context.Context, subset string) (archive.Loader, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if a.db.readOnly {
		return nil, &fault.Error{Setting: "clickhouse", Err: engine.ErrReadOnly, Cure: "open it for writing, as `barograph load` does"}
	}
	if err := storable.Subset(subset); err != nil {
		return nil, err
	}
	of := quote(string(a.Design)) + ", " + quote(subset)
	if err := a.db.lockSubset(of, subset); err != nil {
		return nil, err
	}
	if err := a.makeTables(ctx, of, subset); err != nil {
		a.db.unlockSubset(of)
		return nil, err
	}
	return a.NewLoader(subset, sqlengine.LoadSession{
		CheckText: storable.Check,
		Transaction: func(ctx context.Context, f func(q sqlengine.Querier) error) error {
			return a.db.transaction(ctx, of, f)
		},
		// No other loader commits to the subset.
		Version: func(context.Context, sqlengine.Querier) (int64, error) { return 0, nil },
		StoreCatalog: func(ctx context.Context, q sqlengine.Querier, catalog []byte) error {
			return insertRows(ctx, q, a.OwnTable(subset, sqlengine.CatalogTable), sqlengine.CatalogColumns(), false, catalogRow(catalog))
		},
		MakeTable: func(ctx context.Context, q sqlengine.Querier, t *record.LineType) error {
			table, cols := a.Table(subset, t)
			return q.Exec(ctx, typeTable(a.Design, table, cols, t))
		},
		Insert: func(ctx context.Context, q sqlengine.Querier, table string, cols []sqlengine.Column, next sqlengine.Next) error {
			return insertRows(ctx, q, table, cols, true, next)
		},
		Replace: func(ctx context.Context, q sqlengine.Querier, lines *sqlengine.Lines, candidates []design.Row, stored *archive.CommitResult) error {
			return a.replace(ctx, q, subset, lines, candidates, stored)
		},
		Close: func() error { a.db.unlockSubset(of); return nil },
	}), nil
}

// lockSubset allows one loader per subset.
func (d *database) lockSubset(of, subset string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.loading[of] {
		return &fault.Error{Setting: "subset " + subset, Problem: "is being loaded by another loader", Cure: "ClickHouse allows one loader per subset: close the other one first"}
	}
	d.loading[of] = true
	return nil
}

func (d *database) unlockSubset(of string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.loading, of)
}

// makeTables creates the tables of a subset that all types need. Then the subset is listed.
func (a *openArchive) makeTables(ctx context.Context, of, subset string) error {
	texts := []string{
		tableText(a.OwnTable(subset, sqlengine.CatalogTable), sqlengine.CatalogColumns(), nil, "id"),
		tableText(a.OwnTable(subset, sqlengine.MarksTable), sqlengine.MarkColumns(), nil, "seq"),
	}
	if a.Design == design.Normalized {
		texts = append(texts,
			tableText(a.Dialect.Table(subset, design.HeaderTable), sqlengine.HeaderColumns(), nil, "(fcst_var, fcst_lev, vx_mask, model, stat_header_id)"),
			tableText(a.Dialect.Table(subset, sqlengine.FileTable), sqlengine.FileColumns(), nil, "data_file_id"))
	}
	n, err := sqlengine.QueryNumber(ctx, a.db, "SELECT count() FROM "+commitsTable+" WHERE (design, subset) = ("+of+")")
	if err == nil && n == 0 {
		texts = append(texts, "INSERT INTO "+commitsTable+" VALUES ("+of+", 0, [])")
	}
	for _, text := range texts {
		if err == nil {
			err = a.db.Exec(ctx, text)
		}
	}
	return err
}

// insertRows inserts rows into a table's copy; withRows = the copy also has the existing rows.
func insertRows(ctx context.Context, q sqlengine.Querier, table string, cols []sqlengine.Column, withRows bool, next sqlengine.Next) error {
	c, ok := q.(*commit)
	if !ok {
		return fmt.Errorf("clickhouse: %s: rows can only be stored in a commit", table)
	}
	name, err := c.copyTable(ctx, table, withRows)
	if err != nil {
		return err
	}
	return c.db.insert(ctx, name, cols, next)
}

// catalogRow returns the only row of the catalog.
func catalogRow(catalog []byte) sqlengine.Next {
	there := true
	return func(to sqlengine.Sink) (bool, error) {
		if !there {
			return false, nil
		}
		there = false
		to.Integer(0, 1)
		to.Text(1, string(catalog))
		return true, nil
	}
}

// replace deletes the records that lines replace. It puts their identities into a table in memory.
func (a *openArchive) replace(ctx context.Context, q sqlengine.Querier, subset string, lines *sqlengine.Lines, candidates []design.Row, stored *archive.CommitResult) error {
	table, cols := a.Table(subset, lines.Type)
	keys := identity(cols)
	stage := strings.TrimSuffix(table, `"`) + copySuffix + `keys"`
	drop := func() error { return a.db.Exec(context.WithoutCancel(ctx), "DROP TABLE IF EXISTS "+stage) }
	if err := drop(); err != nil {
		return err
	}
	if err := a.db.Exec(ctx, "CREATE TABLE "+stage+" ENGINE = Memory AS SELECT "+sqlengine.ColumnList("", keys)+" FROM "+table+" LIMIT 0"); err != nil {
		return err
	}
	i := 0
	err := a.db.insert(ctx, stage, keys, func(to sqlengine.Sink) (bool, error) {
		if i == len(candidates) {
			return false, nil
		}
		lines.Put(to, keys, candidates[i])
		i++
		return true, nil
	})
	if err != nil {
		return errors.Join(err, drop())
	}
	in := " IN (SELECT " + comparableList("", keys) + " FROM " + stage + ")"
	if err = a.Resolver(ctx, q, subset, lines, stored)(" WHERE (" + comparableList("ld.", keys) + ")" + in); err == nil && !lines.Keep {
		err = q.Exec(ctx, "DELETE FROM "+table+" WHERE ("+comparableList("", keys)+")"+in)
	}
	return errors.Join(err, drop())
}
