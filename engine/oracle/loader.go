package oracle

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	goora "github.com/sijms/go-ora/v2"

	"barograph/design"
	"barograph/engine"
	"barograph/engine/sqlengine"
	"barograph/fault"
	"barograph/flavour"
	"barograph/record"
)

// loader collects records, grouped into documents, and writes them at Commit.
type loader struct {
	a        *archive
	subset   string
	groupers map[*record.LineType]*design.Grouper
	types    []*record.LineType // in the order of first sight
	made     map[*record.LineType]bool
	touched  map[*record.LineType]bool // by this loader: to be looked at by the server at its end
	w        writer

	// What the loader knows of the archive, as of commit number seen; nil
	// catalog = to be read.
	seen    int64
	catalog *design.Catalog
}

// writer lays records out under one design.
type writer interface {
	// read learns what the archive holds, in the transaction.
	read(ctx context.Context, q querier) error
	// write stores the records of a type, and counts those that are new and, by
	// file, those that replace others.
	write(ctx context.Context, q querier, t *record.LineType, stored *engine.Stored) error
	// finish writes what write has left over.
	finish(ctx context.Context, q querier) error
	// settled reports whether the transaction was committed.
	settled(committed bool)
}

func (a *archive) Loader(ctx context.Context, subset string) (engine.Loader, error) {
	if a.db.readOnly {
		return nil, &fault.Error{Setting: "oracle", Err: engine.ErrReadOnly, Cure: "open it for writing, as `barograph load` does"}
	}
	if !storable(subset) {
		return nil, &fault.Error{Setting: "subset", Problem: "has a name that Oracle cannot hold: it is no UTF-8 text, or has a zero byte", Cure: "name it otherwise"}
	}
	if err := a.db.makeAll(ctx, a.subsetObjects(subset)); err != nil {
		return nil, err
	}
	// Another loader may do the same: then one of them finds the row.
	catalog := a.own(subset, sqlengine.CatalogTable)
	_, err := a.db.pool.ExecContext(ctx, "MERGE INTO "+catalog+" c USING (SELECT 1 AS id FROM DUAL) n ON (c.id = n.id)"+
		" WHEN NOT MATCHED THEN INSERT (id, subset, version) VALUES (1, :1, 0)", subset)
	if err != nil && code(err) != keyTaken {
		return nil, failed(ctx, err)
	}
	l := &loader{a: a, subset: subset, groupers: map[*record.LineType]*design.Grouper{}, made: map[*record.LineType]bool{}, touched: map[*record.LineType]bool{}}
	if a.design == design.Normalized {
		l.w = &lineWriter{l: l}
	} else {
		l.w = &docWriter{l: l}
	}
	return l, nil
}

// keyTaken is the number of the error of a unique key.
const keyTaken = 1

// storable: a text is UTF-8 without a zero byte.
func storable(s string) bool { return utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 }

func (l *loader) Add(ctx context.Context, b *record.Batch) error {
	if err := ctx.Err(); err != nil || b.Len() == 0 {
		return err
	}
	for i := range b.Headers {
		for _, s := range b.Headers[i] {
			if err := checkText(b, 0, s); err != nil {
				return err
			}
		}
	}
	for _, col := range b.Text {
		for i, s := range col {
			if err := checkText(b, i, s); err != nil {
				return err
			}
		}
	}
	g := l.groupers[b.Type]
	if g == nil {
		g = design.NewGrouper(b.Type)
		l.groupers[b.Type] = g
		l.types = append(l.types, b.Type)
	}
	g.Add(b)
	return nil
}

// checkText reports whether a text fits a column.
func checkText(b *record.Batch, i int, s string) error {
	switch {
	case !storable(s):
		return &fault.Error{File: b.File, Line: int(b.Line[i]), Problem: "holds text that is not UTF-8, or a zero byte, which Oracle does not store", Cure: "convert the file, e.g. with iconv"}
	case len(s) > flavour.OracleText:
		return &fault.Error{File: b.File, Line: int(b.Line[i]), Problem: fmt.Sprintf("holds a text of %d bytes; Barograph's columns in Oracle take %d", len(s), flavour.OracleText), Cure: "shorten it, or use another engine"}
	}
	return nil
}

var errClosed = errors.New("oracle: the loader is closed")

// Commit makes the tables that are missing, each by a statement that commits
// at once; then it writes everything in one transaction.
func (l *loader) Commit(ctx context.Context, c engine.Commit) (engine.Stored, error) {
	if l.a == nil {
		return engine.Stored{}, errClosed
	}
	stored := engine.Stored{Replaced: map[string]int64{}}
	done := append([]engine.Mark(nil), c.Done...)
	err := l.makeTypes(ctx)
	if err == nil {
		err = l.transaction(ctx, func(q querier) error { return l.write(ctx, q, &c, done, &stored) })
	}
	l.w.settled(err == nil)
	for _, g := range l.groupers {
		g.Reset()
	}
	if err != nil {
		l.catalog = nil // it may hold what was rolled back
		if ctx.Err() != nil {
			return engine.Stored{}, ctx.Err()
		}
		return engine.Stored{}, fmt.Errorf("oracle: commit to %s: %w", l.subset, err)
	}
	copy(c.Done, done)
	return stored, nil
}

// makeTypes makes the tables of the line types.
func (l *loader) makeTypes(ctx context.Context) error {
	for _, t := range l.types {
		if l.made[t] {
			continue
		}
		if err := l.a.db.makeAll(ctx, l.a.typeObjects(l.subset, t)); err != nil {
			return err
		}
		l.made[t] = true
	}
	return nil
}

// transaction runs f in a transaction. Its rollback does not depend on ctx; a
// session that is lost rolls back by itself.
func (l *loader) transaction(ctx context.Context, f func(q querier) error) error {
	tx, err := l.a.db.pool.BeginTx(context.WithoutCancel(ctx), nil)
	if err != nil {
		return err
	}
	if err := f(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// write is the body of a commit's transaction.
func (l *loader) write(ctx context.Context, q querier, c *engine.Commit, done []engine.Mark, stored *engine.Stored) error {
	if err := l.refresh(ctx, q); err != nil {
		return err
	}
	for _, t := range l.types {
		if err := l.w.write(ctx, q, t, stored); err != nil {
			return fmt.Errorf("%s: %w", t.Name, err)
		}
		l.touched[t] = true
	}
	if err := c.Check(stored); err != nil {
		return err
	}
	if err := l.w.finish(ctx, q); err != nil {
		return err
	}
	if err := l.storeMarks(ctx, q, done, *stored); err != nil {
		return err
	}
	return l.storeCatalog(ctx, q, c.Catalog)
}

// refresh locks the catalog, where another loader of the subset waits, and
// reads what this one must know of the archive, unless it knows it from its own
// last commit.
func (l *loader) refresh(ctx context.Context, q querier) error {
	var version int64
	if err := q.QueryRowContext(ctx, "SELECT version FROM "+l.a.own(l.subset, sqlengine.CatalogTable)+" WHERE id = 1 FOR UPDATE").Scan(&version); err != nil {
		return err
	}
	if l.catalog != nil && version == l.seen {
		return nil
	}
	var err error
	if l.catalog, err = l.a.readCatalog(ctx, q, l.subset); err != nil {
		return err
	}
	l.seen = version
	return l.w.read(ctx, q)
}

func (l *loader) storeCatalog(ctx context.Context, q querier, fresh *design.Catalog) error {
	if fresh != nil {
		l.catalog.Merge(fresh)
		l.catalog.Subset = l.subset
	}
	text, err := l.catalog.Encode()
	if err != nil {
		return err
	}
	l.seen++
	_, err = q.ExecContext(ctx, "UPDATE "+l.a.own(l.subset, sqlengine.CatalogTable)+" SET version = TO_NUMBER(:1), catalog = :2 WHERE id = 1",
		fmt.Sprint(l.seen), goora.Blob{Data: text, Valid: true})
	return err
}

// storeMarks writes marks; that of a file that is loaded again replaces the old one.
func (l *loader) storeMarks(ctx context.Context, q querier, done []engine.Mark, stored engine.Stored) error {
	table := l.a.own(l.subset, sqlengine.MarksTable)
	cols := sqlengine.MarkColumns()[1:]
	params := make([]string, len(cols))
	for k, c := range cols {
		params[k] = placeholder(c, k+1)
	}
	text := "INSERT INTO " + table + " (seq, " + sqlengine.Names("", cols) + ") SELECT (SELECT NVL(MAX(seq), 0) + 1 FROM " + table + "), " + strings.Join(params, ", ") + " FROM DUAL"
	for i := range done {
		m := &done[i]
		m.Settle(stored)
		if len(m.Path) > idBytes {
			return &fault.Error{File: m.Path, Problem: "has a path that is too long for Oracle", Cure: "name it by a shorter path"}
		}
		if _, err := q.ExecContext(ctx, "DELETE FROM "+table+" WHERE digest = :1", m.Digest); err != nil {
			return err
		}
		if _, err := q.ExecContext(ctx, text, m.Path, m.Digest, fmt.Sprint(m.Bytes), fmt.Sprint(m.Read), fmt.Sprint(m.Stored), fmt.Sprint(m.Replaced),
			fmt.Sprint(m.Quarantined), m.Loaded.Format(time.RFC3339Nano)); err != nil {
			return err
		}
	}
	return nil
}

// Close drops what was not committed, and has the server look at the tables
// that grew: until it knows them it plans for what it guesses.
func (l *loader) Close() error {
	if l.a == nil {
		return nil
	}
	a := l.a
	l.a = nil
	var err error
	for _, t := range l.types {
		if name, _, _ := sqlengine.Table(a.design, t); l.touched[t] {
			err = errors.Join(err, a.analyze(l.subset, name))
		}
	}
	if a.design == design.Normalized && len(l.touched) > 0 {
		err = errors.Join(err, a.analyze(l.subset, design.HeaderTable))
	}
	return err
}

// analyzeTime is how long the server may look at a table.
const analyzeTime = time.Minute

func (a *archive) analyze(subset, table string) error {
	ctx, stop := context.WithTimeout(context.Background(), analyzeTime)
	defer stop()
	_, err := a.db.pool.ExecContext(ctx, "BEGIN DBMS_STATS.GATHER_TABLE_STATS(ownname => USER, tabname => :1); END;", a.dialect.Table(subset, table))
	return err
}

// table is the quoted name of the table of a line type, and its columns.
func (l *loader) table(t *record.LineType) (string, []sqlengine.Column) {
	name, cols, _ := sqlengine.Table(l.a.design, t)
	return l.a.dialect.Table(l.subset, name), cols
}

// each hands every row of a query to f, and closes it.
func each(ctx context.Context, q querier, query string, args, into []any, f func() error) error {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // Err below says what went wrong
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		if err := f(); err != nil {
			return err
		}
	}
	return rows.Err()
}
