package mariadb

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/record"
)

// baseLoader is the common part of the loaders of all designs: a connection that locks the subset.
type baseLoader struct {
	a       *openArchive
	subset  string
	conn    *sql.Conn       // nil = not open
	batches []*record.Batch // the batches of the documents that a commit stores
}

// loader collects batches for METviewer's tables and writes them at Commit.
type loader struct {
	baseLoader
	batches map[*record.LineType][]*record.Batch
	types   []*record.LineType // in the order of their first record
	w       *lineWriter

	version int64           // the archive's version to which engine, catalog and w belong; -1 = unknown
	engine  string          // storage engine of METviewer's tables; the URL's parameter decides only when they are created
	catalog *design.Catalog // the archive's catalog
	next    int64           // number of the next row
}

func (a *openArchive) Loader(ctx context.Context, subset string) (archive.Loader, error) {
	if a.db.readOnly {
		return nil, &fault.Error{Setting: a.db.redactedURL, Err: engine.ErrReadOnly, Cure: "open it for writing"}
	}
	if a.Design != design.Normalized {
		s := &baseLoader{a: a, subset: subset}
		if err := s.create(ctx); err != nil {
			return nil, callError(ctx, errors.Join(err, s.Close()))
		}
		return s.newLoader(), nil
	}
	l := &loader{baseLoader: baseLoader{a: a, subset: subset}, batches: map[*record.LineType][]*record.Batch{}, version: -1}
	l.w = &lineWriter{l: l, tables: map[*record.LineType]*lineTable{}}
	if err := l.create(ctx); err != nil {
		return nil, callError(ctx, errors.Join(err, l.Close()))
	}
	return l, nil
}

func (l *loader) Add(ctx context.Context, b *record.Batch) error {
	if b.Len() == 0 {
		return ctx.Err()
	}
	if l.batches[b.Type] == nil {
		l.types = append(l.types, b.Type)
	}
	l.batches[b.Type] = append(l.batches[b.Type], b)
	return ctx.Err()
}

func (l *baseLoader) Close() error {
	if l.conn == nil {
		return nil
	}
	c := l.conn
	l.conn = nil
	return c.Close()
}

// exec runs a statement on the loader's connection.
func (l *baseLoader) exec(ctx context.Context, query string, args ...any) error {
	_, err := l.conn.ExecContext(ctx, l.a.db.translate(query), args...)
	if l.a.db.mysql && is(err, errIndexExists, errColumnExists) { // MariaDB's IF NOT EXISTS
		err = nil
	}
	if is(err, errDatabaseDenied, errTableDenied, errColumnDenied) {
		return &fault.Error{
			Setting: l.a.db.redactedURL, Problem: "the user lacks privileges for a load", Err: err,
			Cure: "GRANT SELECT, INSERT, UPDATE, DELETE, ALTER, LOCK TABLES ON " + ident(l.a.database(l.subset)) +
				".* TO …; docs/how-to/adopt.md lists what needs which privilege",
		}
	}
	if err != nil && ctx.Err() == nil && len(query) < 500 {
		err = fmt.Errorf("%s: %w", query, err)
	}
	return err
}

// rows passes each row of a query on the loader's connection to f.
func (l *baseLoader) rows(ctx context.Context, query string, f func(row []any) error) error {
	return querier{l.conn}.Rows(ctx, query, nil, f)
}

// table returns the quoted name of a table of the subset.
func (l *baseLoader) table(name string) string { return l.a.table(l.subset, name) }

// locked runs do under the subset's lock, on the loader's connection. The server frees the lock when the connection
// ends for any reason. If the server has closed the idle connection since the last commit, locked opens another.
func (l *baseLoader) locked(ctx context.Context, do func() error) error {
	if l.conn != nil && l.conn.PingContext(ctx) != nil {
		_ = l.Close() // it is closed already
	}
	if l.conn == nil {
		var err error
		if l.conn, err = l.a.db.writes.Conn(ctx); err != nil {
			return err
		}
	}
	return l.a.locked(ctx, l.conn, l.subset, do)
}

// create creates the subset's database and tables.
func (l *baseLoader) create(ctx context.Context) error {
	return l.retryCommit(ctx, func() error { return l.locked(ctx, func() error { return l.createTables(ctx) }) })
}

func (l *baseLoader) createTables(ctx context.Context) error {
	var n int
	err := l.conn.QueryRowContext(ctx, "SELECT count(*) FROM "+l.table(l.a.OwnName(sqlengine.CatalogTable))).Scan(&n)
	if err == nil && n > 0 {
		return l.checkPrivileges(ctx)
	}
	if err != nil && !absent(err) {
		return err
	}
	if err := l.a.refuseForeign(ctx, l.conn, l.subset); err != nil {
		return err
	}
	for _, s := range l.a.createSubset(l.subset) {
		if err := l.exec(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// checkPrivileges checks before a commit that the user has all privileges for it, because MyISAM cannot
// roll back.
func (l *baseLoader) checkPrivileges(ctx context.Context) error {
	tables := []string{pendingTable, goneTable, design.HeaderTable}
	if l.a.Design != design.Normalized {
		tables = nil
	}
	err := l.exec(ctx, "UPDATE "+l.table(l.a.OwnName(sqlengine.CatalogTable))+" SET version = version WHERE id = 0")
	for _, t := range tables {
		err = cmp.Or(err, l.exec(ctx, "DELETE FROM "+l.table(t)+" WHERE FALSE"))
	}
	return err
}

// refuseForeign refuses a database with tables of another program, such as METdbLoad, before
// Barograph writes anything into it.
func (a *openArchive) refuseForeign(ctx context.Context, c *sql.Conn, subset string) error {
	var tables, ownTables int
	err := c.QueryRowContext(ctx, "SELECT count(*), coalesce(sum(table_name LIKE 'barograph%catalog'), 0) "+
		"FROM information_schema.tables WHERE table_schema = ?", a.database(subset)).Scan(&tables, &ownTables)
	if err != nil || tables == 0 || ownTables > 0 {
		return err
	}
	return &fault.Error{
		Setting: "database " + a.database(subset),
		Problem: fmt.Sprintf("has %d tables that Barograph has not created; nothing was written", tables),
		Cure:    "take it over: barograph adopt URL/" + a.database(subset) + " --repair; or load into another database with another --subset",
	}
}

func (l *loader) Commit(ctx context.Context, c archive.Commit) (archive.CommitResult, error) {
	var stored archive.CommitResult
	err := l.lockedCommit(ctx, func() error { return l.commit(ctx, c, &stored) })
	clear(l.batches)
	l.types = l.types[:0]
	if err == nil {
		for i := range c.Complete {
			c.Complete[i].CountReplaced(stored)
		}
	}
	return stored, err
}

// lockedCommit runs a commit under the subset's lock. If the commit fails, it rolls it back.
func (l *loader) lockedCommit(ctx context.Context, do func() error) error {
	return l.retryCommit(ctx, func() error {
		err := l.locked(ctx, do)
		l.w.afterCommit(err == nil)
		if err != nil {
			l.version = -1
			err = callError(ctx, err)
			l.rollBack(context.WithoutCancel(ctx))
		}
		return err
	})
}

// retryCommit repeats a commit if a loader at another node of a cluster has committed since this loader
// read the catalog.
func (l *baseLoader) retryCommit(ctx context.Context, do func() error) error {
	for n := 1; ; n++ {
		err := do()
		if !l.a.db.cluster || !isCommitConflict(err) || n == maxCommitRetries {
			return err
		}
		l.a.db.log.Debug("a commit was overtaken and is repeated", "subset", l.subset, "times", n, "error", err)
		if err := engine.Pause(ctx, rand.N(time.Duration(n)*commitRetryPause)); err != nil {
			return err
		}
	}
}

// rollBack rolls back a failed commit. It closes the connection, which may be in the middle of a
// statement. The server frees the lock when it has seen the end of the connection.
func (l *baseLoader) rollBack(ctx context.Context) {
	if l.conn != nil {
		l.conn.Raw(func(any) error { return driver.ErrBadConn }) //nolint:errcheck // the error closes the connection
		l.Close()                                                //nolint:errcheck // the connection is closed already
	}
	ctx, stop := context.WithTimeout(ctx, rollbackTimeout)
	defer stop()
	if err := l.locked(ctx, func() error { return l.a.recover(ctx, l.conn, l.subset) }); err != nil {
		l.a.recovered.Delete(l.subset)
		l.a.db.log.Warn("a failed commit was not rolled back; the next open of the subset does it", "subset", l.subset, "error", err)
	}
	if err := l.Close(); err != nil {
		l.a.db.log.Debug("a connection was lost", "error", err)
	}
}

// rollbackTimeout is the time limit for rolling back a failed commit. After it, the next client that
// opens the subset rolls back.
const rollbackTimeout = 20 * time.Second

func (l *loader) commit(ctx context.Context, c archive.Commit, stored *archive.CommitResult) error {
	if err := l.a.recover(ctx, l.conn, l.subset); err != nil {
		return err
	}
	for locked := false; !locked; {
		*stored = archive.CommitResult{Replaced: map[string]int64{}}
		if err := l.refresh(ctx); err != nil {
			return err
		}
		if err := l.w.prepare(ctx, stored); err != nil {
			return err
		}
		if err := c.Check(stored, l.catalog); err != nil {
			return err
		}
		var err error
		if locked, err = l.w.lockTables(ctx); err != nil {
			return err
		}
	}
	meta := func(ctx context.Context) error { return l.writeMeta(ctx, c, *stored) }
	if !l.w.isMyISAM() {
		return runSteps(ctx, l.startTransaction, l.w.write, l.w.removeReplaced, meta, l.commitTransaction)
	}
	do := func(text string) func(context.Context) error {
		return func(ctx context.Context) error { return l.exec(ctx, text) }
	}
	return runSteps(ctx, // START TRANSACTION would free the locks
		l.w.recordPending, l.w.write, l.w.unlock, l.w.relock, do("SET autocommit = 0"), l.w.recordGone, meta, l.commitTransaction,
		do("SET autocommit = 1"), l.w.removeReplaced, l.w.unlock, l.w.clearGone)
}

// runSteps runs steps up to the first error.
func runSteps(ctx context.Context, steps ...func(context.Context) error) error {
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (l *baseLoader) startTransaction(ctx context.Context) error {
	return l.exec(ctx, "START TRANSACTION")
}
func (l *baseLoader) commitTransaction(ctx context.Context) error { return l.exec(ctx, "COMMIT") }

// refresh reads the archive's state, unless the loader knows it from its own last commit.
func (l *loader) refresh(ctx context.Context) error {
	var version, next int64
	table := l.table(l.a.OwnName(sqlengine.CatalogTable))
	if err := l.conn.QueryRowContext(ctx, "SELECT version, next_row FROM "+table).Scan(&version, &next); err != nil {
		return err
	}
	l.next = max(l.next, next)
	if version == l.version {
		return l.w.detectForeign(ctx)
	}
	var text []byte
	query := "SELECT catalog, (SELECT engine FROM information_schema.tables WHERE table_schema = ? AND table_name = '" +
		design.HeaderTable + "') FROM " + table
	if err := l.conn.QueryRowContext(ctx, query, l.a.database(l.subset)).Scan(&text, &l.engine); err != nil {
		return err
	}
	catalog, err := design.ParseCatalog(text)
	if err != nil {
		return err
	}
	if err := l.w.refresh(ctx); err != nil {
		return err
	}
	l.version, l.next, l.catalog = version, next, catalog
	return l.w.detectForeign(ctx)
}

// writeMeta writes the catalog and the marks.
func (l *loader) writeMeta(ctx context.Context, c archive.Commit, stored archive.CommitResult) error {
	done := slices.Clone(c.Complete) // the commit may be repeated
	for i := range done {
		done[i].CountReplaced(stored)
	}
	old, err := l.a.MarksOf(ctx, querier{l.conn}, l.subset, done, l.catalog)
	if err != nil {
		return err
	}
	c.UpdateCatalog(l.catalog, l.a.Design, &stored, done, old)
	l.catalog.Subset = l.subset
	text, err := l.catalog.Encode()
	if err != nil {
		return err
	}
	l.version++
	r, err := l.conn.ExecContext(ctx, "UPDATE "+l.table(l.a.OwnName(sqlengine.CatalogTable))+
		" SET catalog = ?, version = ?, next_row = ? WHERE version = ?", string(text), l.version, l.next, l.version-1)
	if err != nil {
		return err
	}
	if n, err := r.RowsAffected(); err != nil || n != 1 { // the lock works on one node only
		return errors.Join(errCommitConflict, err)
	}
	marks := l.table(l.a.OwnName(sqlengine.MarksTable))
	for _, m := range done {
		if err := l.exec(ctx, "DELETE FROM "+marks+" WHERE digest = ?", m.Digest); err != nil {
			return err
		}
		err := l.exec(ctx, "INSERT INTO "+marks+" ("+sqlengine.ColumnList("", sqlengine.MarkColumns()[1:])+") VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
			m.Path, m.Digest, m.Bytes, m.Read, m.Stored, m.Replaced, m.Quarantined, m.Times())
		if err != nil {
			return err
		}
	}
	return nil
}
