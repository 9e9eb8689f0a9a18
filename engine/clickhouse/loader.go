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

// Loader opens the loader of a subset. A second loader of the same subset is an error.
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
	subsetValues := quote(string(a.Design)) + ", " + quote(subset)
	if err := a.db.lockSubset(subsetValues, subset); err != nil {
		return nil, err
	}
	if err := a.makeTables(ctx, subsetValues, subset); err != nil {
		a.db.unlockSubset(subsetValues)
		return nil, err
	}
	return a.NewLoader(subset, sqlengine.LoadSession{
		CheckText: storable.Check,
		Transaction: func(ctx context.Context, f func(q sqlengine.Querier) error) error {
			return a.db.transaction(ctx, subsetValues, f)
		},
		// No other loader commits to the subset.
		Version: func(context.Context, sqlengine.Querier) (int64, error) { return 0, nil },
		StoreCatalog: func(ctx context.Context, q sqlengine.Querier, catalog []byte) error {
			table := a.OwnTable(subset, sqlengine.CatalogTable)
			return insertRows(ctx, q, table, sqlengine.CatalogColumns(), !withRows, catalogRow(catalog))
		},
		MakeTable: func(ctx context.Context, q sqlengine.Querier, t *record.LineType) error {
			table, cols := a.Table(subset, t)
			return q.Exec(ctx, typeTable(a.Design, table, cols, t))
		},
		Insert: func(ctx context.Context, q sqlengine.Querier, table string, cols []sqlengine.Column, next sqlengine.Next) error {
			return insertRows(ctx, q, table, cols, withRows, next)
		},
		Replace: func(ctx context.Context, q sqlengine.Querier, lines *sqlengine.Lines, candidates []design.Row, stored *archive.CommitResult) error {
			return a.replace(ctx, q, subset, lines, candidates, stored)
		},
		Close: func() error { a.db.unlockSubset(subsetValues); return nil },
	}), nil
}

// lockSubset returns an error if the subset has a loader. subsetValues are design and subset, see commit.
func (d *database) lockSubset(subsetValues, subset string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.loading[subsetValues] {
		cure := "ClickHouse allows one loader per subset: close the other one first"
		return &fault.Error{Setting: "subset " + subset, Problem: "is being loaded by another loader", Cure: cure}
	}
	d.loading[subsetValues] = true
	return nil
}

// unlockSubset allows another loader.
func (d *database) unlockSubset(subsetValues string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.loading, subsetValues)
}

// makeTables creates the tables of a subset that do not depend on a line type, and the subset's row in commitsTable, by
// which Subsets finds it.
func (a *openArchive) makeTables(ctx context.Context, subsetValues, subset string) error {
	texts := []string{
		tableText(a.OwnTable(subset, sqlengine.CatalogTable), sqlengine.CatalogColumns(), nil, "id"),
		tableText(a.OwnTable(subset, sqlengine.MarksTable), sqlengine.MarkColumns(), nil, "seq"),
	}
	if a.Design == design.Normalized {
		texts = append(texts,
			tableText(a.Dialect.Table(subset, design.HeaderTable), sqlengine.HeaderColumns(), nil,
				"(fcst_var, fcst_lev, vx_mask, model, stat_header_id)"),
			tableText(a.Dialect.Table(subset, sqlengine.FileTable), sqlengine.FileColumns(), nil, "data_file_id"))
	}
	n, err := sqlengine.QueryNumber(ctx, a.db, "SELECT count() FROM "+commitsTable+" WHERE (design, subset) = ("+subsetValues+")")
	if err == nil && n == 0 {
		texts = append(texts, "INSERT INTO "+commitsTable+" VALUES ("+subsetValues+", 0, [])")
	}
	for _, text := range texts {
		if err == nil {
			err = a.db.Exec(ctx, text)
		}
	}
	return err
}

// insertRows inserts rows into a table's copy.
func insertRows(ctx context.Context, q sqlengine.Querier, table string, cols []sqlengine.Column, cloneRows bool, next sqlengine.Next) error {
	c, ok := q.(*commit)
	if !ok {
		return fmt.Errorf("clickhouse: %s: rows can be stored only in a commit", table)
	}
	name, err := c.copyTable(ctx, table, cloneRows)
	if err != nil {
		return err
	}
	return c.db.insert(ctx, name, cols, next)
}

// catalogRow returns the only row of the catalog's table.
func catalogRow(catalog []byte) sqlengine.Next {
	isLeft := true
	return func(to sqlengine.Sink) (bool, error) {
		if !isLeft {
			return false, nil
		}
		isLeft = false
		to.Integer(0, 1)
		to.Text(1, string(catalog))
		return true, nil
	}
}

// replace is the Replace of a LoadSession. It puts the identities of the candidates into a table in memory, and
// compares the stored rows with that table.
func (a *openArchive) replace(ctx context.Context, q sqlengine.Querier, subset string, lines *sqlengine.Lines, candidates []design.Row, stored *archive.CommitResult) error {
	table, cols := a.Table(subset, lines.Type)
	keys := sqlengine.IdentityColumns(cols)
	keyTable := strings.TrimSuffix(table, `"`) + copySuffix + `keys"`
	drop := func() error { return a.db.Exec(context.WithoutCancel(ctx), "DROP TABLE IF EXISTS "+keyTable) }
	if err := drop(); err != nil {
		return err
	}
	create := "CREATE TABLE " + keyTable + " ENGINE = Memory AS SELECT " + sqlengine.ColumnList("", keys) +
		" FROM " + table + " LIMIT 0"
	if err := a.db.Exec(ctx, create); err != nil {
		return err
	}
	i := 0
	err := a.db.insert(ctx, keyTable, keys, func(to sqlengine.Sink) (bool, error) {
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
	isCandidate := " IN (SELECT " + comparableList("", keys) + " FROM " + keyTable + ")"
	resolve := a.Resolver(ctx, q, subset, lines, stored)
	if err = resolve(" WHERE (" + comparableList("ld.", keys) + ")" + isCandidate); err == nil && !lines.Keep {
		err = q.Exec(ctx, "DELETE FROM "+table+" WHERE ("+comparableList("", keys)+")"+isCandidate)
	}
	return errors.Join(err, drop())
}
