package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"barograph/design"
	"barograph/engine"
	"barograph/engine/sqlengine"
	"barograph/fault"
	"barograph/record"
)

// loader collects batches and writes them at Commit, in one transaction.
type loader struct {
	a      *archive
	subset string
	w      writer
	given  int64 // records since the last commit

	// What the loader knows of the archive, as of commit number seen; nil
	// catalog = to be read.
	seen    int64
	catalog *design.Catalog
	made    map[*record.LineType]bool
	touched map[*record.LineType]bool // by this loader: to be analysed at its end
	parts   map[*record.LineType]partitioning
	there   map[part]bool // partitions
}

// writer lays records out under one design.
type writer interface {
	// add takes the records of b, which stay unchanged until reset.
	add(b *record.Batch)
	types() []*record.LineType
	// read learns what the archive holds, in the transaction.
	read(ctx context.Context, c *pgx.Conn) error
	// write stores the records of a type and counts those that are there already.
	write(ctx context.Context, c *pgx.Conn, t *record.LineType, known *design.Catalog, stored *engine.Stored) error
	// finish writes what write has left over.
	finish(ctx context.Context, c *pgx.Conn) error
	// reset forgets the records; committed says what became of the transaction.
	reset(committed bool)
}

func (a *archive) Loader(ctx context.Context, subset string) (engine.Loader, error) {
	if a.db.readOnly {
		return nil, &fault.Error{Setting: "postgres", Err: engine.ErrReadOnly, Cure: "open it without --read-only"}
	}
	if !storable(subset) {
		return nil, &fault.Error{Setting: "subset", Problem: "has a name that PostgreSQL cannot hold: it is no UTF-8 text, or has a zero byte", Cure: "name it otherwise"}
	}
	l := &loader{a: a, subset: subset, made: map[*record.LineType]bool{}, touched: map[*record.LineType]bool{},
		parts: map[*record.LineType]partitioning{}, there: map[part]bool{}}
	if a.design == design.Document {
		l.w = newDocWriter(l)
	} else {
		l.w = newRowWriter(l)
	}
	if err := a.db.makeSpaces(ctx); err != nil {
		return nil, err
	}
	err := l.transaction(ctx, func(c *pgx.Conn) error {
		// Two sessions that make one schema at once would collide.
		if _, err := c.Exec(ctx, "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", "barograph/"+subset); err != nil {
			return err
		}
		return execute(ctx, c, a.subsetTables(subset)...)
	})
	return l, err
}

// storable: PostgreSQL's text is UTF-8 without a zero byte.
func storable(s string) bool { return utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 }

func execute(ctx context.Context, c *pgx.Conn, statements ...string) error {
	for _, s := range statements {
		if _, err := c.Exec(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// transaction runs f in a transaction on a connection of its own.
func (l *loader) transaction(ctx context.Context, f func(c *pgx.Conn) error) error {
	c, err := l.a.db.pool.Acquire(ctx)
	if err != nil {
		return failed(ctx, err)
	}
	defer c.Release()
	tx, err := c.Begin(ctx)
	if err != nil {
		return failed(ctx, err)
	}
	if err = f(tx.Conn()); err == nil {
		err = tx.Commit(ctx)
	}
	if err != nil {
		after, stop := context.WithTimeout(context.WithoutCancel(ctx), rollbackTime)
		defer stop()
		_ = tx.Rollback(after) // the first error says more; a closed connection rolls back by itself
	}
	return failed(ctx, err)
}

// Add notes the records of b, which stays unchanged until Commit.
func (l *loader) Add(ctx context.Context, b *record.Batch) error {
	if err := ctx.Err(); err != nil || b.Len() == 0 {
		return err
	}
	for i := range b.Headers {
		for _, s := range b.Headers[i] {
			if !storable(s) {
				return unstorable(b, 0)
			}
		}
	}
	for _, col := range b.Text {
		for i, s := range col {
			if !storable(s) {
				return unstorable(b, i)
			}
		}
	}
	l.w.add(b)
	l.given += int64(b.Len())
	return nil
}

func unstorable(b *record.Batch, i int) error {
	return &fault.Error{File: b.File, Line: int(b.Line[i]), Problem: "holds text that is not UTF-8, or a zero byte, which PostgreSQL does not store", Cure: "convert the file, e.g. with iconv"}
}

var errClosed = errors.New("postgres: the loader is closed")

// Commit writes everything in one transaction, which begins by locking the
// subset's catalog: another loader of the same subset waits there.
func (l *loader) Commit(ctx context.Context, c engine.Commit) (engine.Stored, error) {
	if l.a == nil {
		return engine.Stored{}, errClosed
	}
	stored := engine.Stored{New: l.given, Replaced: map[string]int64{}}
	done := append([]engine.Mark(nil), c.Done...)
	err := l.transaction(ctx, func(conn *pgx.Conn) error { return l.write(ctx, conn, &c, done, &stored) })
	l.w.reset(err == nil)
	l.given = 0
	if err != nil {
		l.catalog = nil // it may hold what was rolled back
		clear(l.made)
		clear(l.there)
		clear(l.touched) // whoever goes on will have them analysed
		if ctx.Err() != nil {
			return engine.Stored{}, ctx.Err()
		}
		return engine.Stored{}, fmt.Errorf("postgres: commit to %s: %w", l.subset, err)
	}
	copy(c.Done, done)
	return stored, nil
}

func (l *loader) write(ctx context.Context, c *pgx.Conn, commit *engine.Commit, done []engine.Mark, stored *engine.Stored) error {
	if err := l.refresh(ctx, c); err != nil {
		return err
	}
	for _, t := range l.w.types() {
		if !l.made[t] {
			if err := l.makeTable(ctx, c, t); err != nil {
				return err
			}
			l.made[t] = true
		}
		if err := l.extend(ctx, c, t, commit.Catalog); err != nil {
			return err
		}
		if err := l.w.write(ctx, c, t, l.catalog, stored); err != nil {
			return fmt.Errorf("%s: %w", t.Name, err)
		}
		l.touched[t] = true
	}
	if err := commit.Check(stored); err != nil {
		return err
	}
	if err := l.w.finish(ctx, c); err != nil {
		return err
	}
	for i := range done {
		done[i].Settle(*stored)
	}
	if err := l.storeMarks(ctx, c, done); err != nil {
		return err
	}
	return l.storeCatalog(ctx, c, commit, stored)
}

// makeTable makes the table of a type, if it is not there.
func (l *loader) makeTable(ctx context.Context, c *pgx.Conn, t *record.LineType) error {
	name, _, _ := sqlengine.Table(l.a.design, t)
	ok, err := l.a.has(ctx, c, l.subset, name)
	if err == nil && !ok {
		err = execute(ctx, c, l.a.typeTables(l.subset, t)...)
	}
	if err != nil {
		return err
	}
	return l.divide(ctx, c, t)
}

// refresh locks the catalog and reads what the loader must know of the
// archive, unless it knows it from its own last commit.
func (l *loader) refresh(ctx context.Context, c *pgx.Conn) error {
	table := l.a.own(l.subset, sqlengine.CatalogTable)
	var version int64
	if err := c.QueryRow(ctx, "SELECT version FROM "+table+" WHERE id = 1 FOR UPDATE").Scan(&version); err != nil {
		return err
	}
	if l.catalog != nil && version == l.seen {
		return nil
	}
	var err error
	if l.catalog, err = l.a.readCatalog(ctx, c, l.subset); err != nil {
		return err
	}
	l.seen = version
	clear(l.made)
	return l.w.read(ctx, c)
}

func (l *loader) storeCatalog(ctx context.Context, c *pgx.Conn, commit *engine.Commit, stored *engine.Stored) error {
	if l.a.design != design.Document {
		stored.Objects = stored.New
	}
	commit.Describe(l.catalog, stored)
	l.catalog.Subset = l.subset
	text, err := l.catalog.Encode()
	if err != nil {
		return err
	}
	return c.QueryRow(ctx, "UPDATE "+l.a.own(l.subset, sqlengine.CatalogTable)+" SET version = version + 1, catalog = $1 WHERE id = 1 RETURNING version",
		string(text)).Scan(&l.seen)
}

// storeMarks writes marks; that of a file that is loaded again replaces the old one.
func (l *loader) storeMarks(ctx context.Context, c *pgx.Conn, done []engine.Mark) error {
	if len(done) == 0 {
		return nil
	}
	n := len(done)
	path, digest, loaded := make([]string, n), make([]string, n), make([]string, n)
	bytes, read, stored, replaced, quarantined := make([]int64, n), make([]int64, n), make([]int64, n), make([]int64, n), make([]int64, n)
	for i, m := range done {
		path[i], digest[i], loaded[i] = m.Path, m.Digest, m.Loaded.Format(time.RFC3339Nano)
		bytes[i], read[i], stored[i], replaced[i], quarantined[i] = m.Bytes, m.Read, m.Stored, m.Replaced, m.Quarantined
	}
	table := l.a.own(l.subset, sqlengine.MarksTable)
	if _, err := c.Exec(ctx, "DELETE FROM "+table+" WHERE digest = ANY($1)", digest); err != nil {
		return err
	}
	cols := sqlengine.Names("", sqlengine.MarkColumns()[1:])
	_, err := c.Exec(ctx, "INSERT INTO "+table+" (seq, "+cols+") SELECT (SELECT coalesce(max(seq), 0) FROM "+table+") + n, "+cols+
		" FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::text[]) WITH ORDINALITY AS u("+cols+", n)",
		path, digest, bytes, read, stored, replaced, quarantined, loaded)
	return err
}

// Close drops what was not committed, and has the server look at the tables
// that grew: until it knows them it plans for empty ones.
func (l *loader) Close() error {
	if l.a == nil {
		return nil
	}
	a := l.a
	l.a = nil
	var err error
	for t := range l.touched {
		name, _, _ := sqlengine.Table(a.design, t)
		if e := a.analyze(l.subset, name); e != nil {
			err = errors.Join(err, e)
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
	_, err := a.db.pool.Exec(ctx, "ANALYZE "+a.dialect.Table(subset, table))
	return err
}
