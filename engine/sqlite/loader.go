package sqlite

import (
	"context"
	"time"

	"barograph/design"
	"barograph/engine"
	"barograph/engine/sqlengine"
	"barograph/fault"
	"barograph/record"
)

// loader collects records and writes them at Commit, grouped into documents:
// so the normalized design, too, looks up once per series and valid time what
// it replaces, and writes its rows in the order of its index.
type loader struct {
	a        *archive
	subset   string
	c        *conn
	groupers map[*record.LineType]*design.Grouper
	types    []*record.LineType // in the order of first sight
	w        writer
	seen     int64           // the file's data_version when catalog and w were read
	catalog  *design.Catalog // of the archive; nil = to be read
	made     map[*record.LineType]bool
}

// writer lays documents out under one design.
type writer interface {
	// load reads what the archive holds already, in the transaction.
	load() error
	// put writes a document. overlap says that the archive may hold records of
	// its series and valid time.
	put(doc *design.Doc, overlap bool, stored *engine.Stored) error
	// finish writes what put has left over.
	finish() error
	// settled reports whether the transaction was committed.
	settled(committed bool)
}

func (a *archive) Loader(ctx context.Context, subset string) (engine.Loader, error) {
	if a.db.readOnly {
		return nil, &fault.Error{File: a.db.path, Err: engine.ErrReadOnly, Cure: "open it for writing, as `barograph load` does"}
	}
	if !a.db.take() {
		return nil, &fault.Error{File: a.db.path, Problem: "is being loaded already", Cure: "SQLite has one writer: close the other loader first"}
	}
	l := &loader{a: a, subset: subset, groupers: map[*record.LineType]*design.Grouper{}, made: map[*record.LineType]bool{}}
	if err := l.open(ctx); err != nil {
		l.Close() //nolint:errcheck // the first error says more
		return nil, err
	}
	return l, nil
}

// take claims the place of the one loader.
func (d *database) take() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.loading {
		return false
	}
	d.loading = true
	return true
}

func (d *database) release() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.loading = false
}

// open connects and makes the subset.
func (l *loader) open(ctx context.Context) error {
	dc, err := l.a.db.connect(lockStep)
	if err != nil {
		return err
	}
	l.c = newConn(dc)
	if l.a.design == design.Normalized {
		l.w = newRowWriter(l)
	} else {
		l.w = newDocWriter(l)
	}
	return l.c.transaction(ctx, func() error {
		for _, s := range l.a.subsetTables(l.subset) {
			if err := l.c.exec(s); err != nil {
				return err
			}
		}
		return nil
	})
}

func (l *loader) Add(ctx context.Context, b *record.Batch) error {
	if b.Len() == 0 {
		return ctx.Err()
	}
	g := l.groupers[b.Type]
	if g == nil {
		g = design.NewGrouper(b.Type)
		l.groupers[b.Type] = g
		l.types = append(l.types, b.Type)
	}
	g.Add(b)
	return ctx.Err()
}

func (l *loader) Commit(ctx context.Context, c engine.Commit) (engine.Stored, error) {
	stored := engine.Stored{Replaced: map[string]int64{}}
	err := l.c.transaction(ctx, func() error { return l.write(ctx, c, &stored) })
	l.w.settled(err == nil)
	if err != nil {
		l.catalog = nil // it may hold what was rolled back
		clear(l.made)
	}
	for _, g := range l.groupers {
		g.Reset()
	}
	return stored, failed(ctx, err)
}

// write is the body of a commit's transaction.
func (l *loader) write(ctx context.Context, c engine.Commit, stored *engine.Stored) error {
	if err := l.refresh(); err != nil {
		return err
	}
	for _, t := range l.types {
		if err := l.makeType(t); err != nil {
			return err
		}
		for doc := range l.groupers[t].Docs() {
			if err := ctx.Err(); err != nil {
				return err
			}
			stored.New += int64(doc.Rows.Len())
			if err := l.w.put(doc, l.catalog.Holding(t, doc.Header()).MayHold(doc.Valid()), stored); err != nil {
				return err
			}
		}
	}
	if err := c.Check(stored); err != nil {
		return err
	}
	if err := l.w.finish(); err != nil {
		return err
	}
	return l.writeMeta(c, *stored)
}

// refresh reads what the loader must know of the archive, unless it knows it
// from its own last commit.
func (l *loader) refresh() error {
	version, err := l.c.number("PRAGMA data_version")
	if err != nil {
		return err
	}
	if l.catalog != nil && version == l.seen {
		return nil
	}
	l.catalog, l.seen = design.NewCatalog(l.subset), version
	clear(l.made)
	text, err := l.c.text("SELECT catalog FROM " + l.a.own(l.subset, sqlengine.CatalogTable))
	if err != nil {
		return err
	}
	if text != "" {
		if l.catalog, err = design.ParseCatalog([]byte(text)); err != nil {
			return err
		}
	}
	return l.w.load()
}

func (l *loader) makeType(t *record.LineType) error {
	if l.made[t] {
		return nil
	}
	for _, s := range l.a.typeTables(l.subset, t) {
		if err := l.c.exec(s); err != nil {
			return err
		}
	}
	l.made[t] = true
	return nil
}

// writeMeta writes the catalog and the marks.
func (l *loader) writeMeta(c engine.Commit, stored engine.Stored) error {
	if c.Catalog != nil {
		l.catalog.Merge(c.Catalog)
		l.catalog.Subset = l.subset
	}
	text, err := l.catalog.Encode()
	if err != nil {
		return err
	}
	if err := l.c.exec("INSERT OR REPLACE INTO "+l.a.own(l.subset, sqlengine.CatalogTable)+" VALUES (1, ?)", string(text)); err != nil {
		return err
	}
	marks := l.a.own(l.subset, sqlengine.MarksTable)
	for i := range c.Done {
		m := &c.Done[i]
		m.Settle(stored)
		if err := l.c.exec("DELETE FROM "+marks+" WHERE digest = ?", m.Digest); err != nil {
			return err
		}
		err := l.c.exec("INSERT INTO "+marks+" ("+sqlengine.Names("", sqlengine.MarkColumns()[1:])+") VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
			m.Path, m.Digest, m.Bytes, m.Read, m.Stored, m.Replaced, m.Quarantined, m.Loaded.Format(time.RFC3339Nano))
		if err != nil {
			return err
		}
	}
	return nil
}

func (l *loader) Close() error {
	if l.a == nil {
		return nil
	}
	var err error
	if l.c != nil {
		err = l.c.close()
	}
	l.a.db.release()
	l.a = nil
	return err
}

// tableName is the quoted name of the table of a line type.
func (l *loader) tableName(t *record.LineType) (string, []sqlengine.Column) {
	name, cols, _ := sqlengine.Table(l.a.design, t)
	return l.a.dialect.Table(l.subset, name), cols
}
