package duckdb

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"barograph/design"
	"barograph/engine"
	"barograph/engine/sqlengine"
	"barograph/fault"
	"barograph/flavour"
	"barograph/record"
)

// loader collects batches and writes them at Commit, sorted, in one transaction.
type loader struct {
	a      *archive
	c      *conn
	subset string
	names  names
	key    string // in database.loading

	pending map[*record.LineType]*pending
	order   []*pending // in order of first sight
	made    map[string]bool
	headers *sqlengine.Interner[record.Header] // normalized only; nil until the archive's were read
	files   *sqlengine.Interner[string]
	version map[string]string // by file: of its first record, which tells its type
	stored  engine.Stored     // of the commit under way
	closed  bool
}

// Loader opens the loader of a subset; a second one for the same subset is an error.
func (a *archive) Loader(ctx context.Context, subset string) (engine.Loader, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if a.db.readOnly {
		return nil, fmt.Errorf("duckdb: %w", engine.ErrReadOnly)
	}
	if !utf8.ValidString(subset) || strings.ContainsRune(subset, 0) {
		return nil, &fault.Error{Setting: "subset", Problem: "has a name that is not UTF-8 text", Cure: "name it otherwise"}
	}
	key := string(a.design) + "/" + subset
	a.db.mu.Lock()
	busy := a.db.loading[key]
	a.db.loading[key] = true
	a.db.mu.Unlock()
	if busy {
		return nil, &fault.Error{Setting: "subset " + subset, Problem: "is being loaded by another loader", Cure: "DuckDB takes one loader per subset: close the other one first"}
	}
	c, err := a.db.take()
	if err != nil {
		a.db.release(key)
		return nil, err
	}
	l := &loader{a: a, c: c, subset: subset, names: a.names(subset), key: key, version: map[string]string{}}
	l.forget()
	return l, nil
}

// release ends the loading of a subset.
func (db *database) release(key string) {
	db.mu.Lock()
	defer db.mu.Unlock()
	delete(db.loading, key)
}

// forget drops what was added since the last commit.
func (l *loader) forget() {
	l.pending, l.order = map[*record.LineType]*pending{}, nil
	clear(l.version)
}

// Add notes the records of b, which stays unchanged until Commit.
func (l *loader) Add(ctx context.Context, b *record.Batch) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if b.Len() == 0 {
		return nil
	}
	for i := range b.Headers {
		for _, s := range b.Headers[i] {
			if err := checkText(b, 0, s); err != nil {
				return err
			}
		}
	}
	p := l.pending[b.Type]
	if p == nil {
		p = newPending(b.Type)
		l.pending[b.Type] = p
		l.order = append(l.order, p)
	}
	p.add(b)
	if l.a.design == design.Normalized {
		l.version[b.File] = b.Header(0)[record.Version]
	}
	return nil
}

// Commit writes everything in one transaction. DuckDB syncs its log, or, for a
// large commit, the file itself, before COMMIT returns: what is committed
// survives the loss of power.
func (l *loader) Commit(ctx context.Context, c engine.Commit) (engine.Stored, error) {
	if l.closed {
		return engine.Stored{}, errClosed
	}
	defer l.forget()
	l.stored, l.made = engine.Stored{Replaced: map[string]int64{}}, map[string]bool{}
	if err := l.c.exec(ctx, "BEGIN TRANSACTION"); err != nil {
		return engine.Stored{}, err
	}
	stored, done, err := l.write(ctx, c)
	if err == nil {
		err = l.c.exec(ctx, "COMMIT")
	}
	if err != nil {
		l.rollback()
		return engine.Stored{}, fmt.Errorf("duckdb: commit to %s: %w", l.subset, err)
	}
	if l.headers != nil {
		l.headers.Keep()
		l.files.Keep()
	}
	copy(c.Done, done)
	return stored, nil
}

// rollback undoes the transaction, whatever became of the caller's context.
// After a COMMIT that failed there is none left, which is as good.
func (l *loader) rollback() {
	_ = l.c.exec(context.Background(), "ROLLBACK")
	l.headers, l.files = nil, nil
}

func (l *loader) write(ctx context.Context, c engine.Commit) (engine.Stored, []engine.Mark, error) {
	var none engine.Stored
	if err := l.create(ctx); err != nil {
		return none, nil, err
	}
	stored, err := l.a.readCatalog(ctx, l.c, l.subset)
	if err != nil {
		return none, nil, err
	}
	for _, p := range l.order {
		if err := l.store(ctx, p, stored); err != nil {
			return none, nil, fmt.Errorf("%s: %w", p.t.Name, err)
		}
	}
	if err := c.Check(&l.stored); err != nil {
		return none, nil, err
	}
	if err := l.storeHeaders(ctx); err != nil {
		return none, nil, err
	}
	if l.a.design != design.Document {
		l.stored.Objects = l.stored.New
	}
	c.Describe(stored, &l.stored)
	if err := l.storeCatalog(ctx, stored); err != nil {
		return none, nil, err
	}
	out := l.stored
	done := append([]engine.Mark(nil), c.Done...)
	for i := range done {
		done[i].Settle(out)
	}
	return out, done, l.storeMarks(ctx, done)
}

// create makes the schema and the tables of the commit that are not there yet.
func (l *loader) create(ctx context.Context) error {
	var text strings.Builder
	text.WriteString("CREATE SCHEMA IF NOT EXISTS " + strings.TrimSuffix(l.names.prefix, ".") +
		"; CREATE TABLE IF NOT EXISTS " + l.names.catalog() + " (catalog VARCHAR NOT NULL)" +
		"; CREATE TABLE IF NOT EXISTS " + l.names.marks() + " (seq BIGINT NOT NULL, digest VARCHAR NOT NULL, mark VARCHAR NOT NULL)")
	plain := layout{design: l.a.design}
	if l.a.design == design.Normalized {
		text.WriteString("; " + sqlengine.Create(l.names.table(design.HeaderTable), unkeyed(sqlengine.HeaderColumns()), plain.typeName) +
			"; " + sqlengine.Create(l.names.table(sqlengine.FileTable), unkeyed(sqlengine.FileColumns()), plain.typeName))
	}
	for _, p := range l.order {
		lay := newLayout(l.a.design, p.t)
		text.WriteString("; " + sqlengine.Create(l.names.table(lay.table), lay.columns, lay.typeName))
	}
	return l.c.exec(ctx, text.String())
}

// unkeyed drops the primary key: the loader itself numbers the rows.
func unkeyed(cols []sqlengine.Column) []sqlengine.Column {
	for i := range cols {
		cols[i].Primary, cols[i].NotNull = false, cols[i].NotNull || cols[i].Primary
	}
	return cols
}

// store writes the records of one line type.
func (l *loader) store(ctx context.Context, p *pending, stored *design.Catalog) error {
	p.order()
	if l.a.design == design.Document {
		return l.storeDocs(ctx, p, stored)
	}
	if err := l.number(ctx, p); err != nil {
		return err
	}
	lay := newLayout(l.a.design, p.t)
	if err := l.replace(ctx, &lay, p, newHeld(stored, p, true).rows(p)); err != nil {
		return err
	}
	w, err := newWriter(l.c, l.c.db.alias, l.names.schema, lay.table)
	if err != nil {
		return err
	}
	defer w.close()
	l.stored.New += int64(len(p.rows))
	return w.appendRows(ctx, lay.design, lay.columns, p, p.rows)
}

// replace deletes from the archive the records that rows of p replace. rows are
// those that may be there.
func (l *loader) replace(ctx context.Context, lay *layout, p *pending, rows []row) error {
	if len(rows) == 0 {
		return nil
	}
	columns := lay.identity()
	create := strings.Replace(sqlengine.Create("barograph_stage", columns, lay.typeName), "CREATE TABLE IF NOT EXISTS", "CREATE OR REPLACE TEMP TABLE", 1)
	if err := l.c.exec(ctx, create); err != nil {
		return err
	}
	if err := l.stage(ctx, lay, columns, p, rows); err != nil {
		return err
	}
	first, last := bounds(rows)
	dialect := flavour.DuckDB()
	within := "t.fcst_valid_beg BETWEEN " + dialect.DateTime(first) + " AND " + dialect.DateTime(last)
	on := make([]string, 0, len(columns))
	for _, c := range columns {
		on = append(on, "t."+c.Name+" IS NOT DISTINCT FROM s."+c.Name)
	}
	table := l.names.table(lay.table)
	err := l.c.exec(ctx, "CREATE OR REPLACE TEMP TABLE barograph_hits AS SELECT t.rowid AS hit FROM "+table+
		" t JOIN temp.main.barograph_stage s ON "+strings.Join(on, " AND ")+" WHERE "+within)
	if err != nil {
		return err
	}
	hits := table + " t WHERE " + within + " AND t.rowid IN (SELECT hit FROM temp.main.barograph_hits)"
	if err := l.meet(ctx, lay, p, hits); err != nil {
		return err
	}
	return l.c.exec(ctx, "DELETE FROM "+hits)
}

// stage writes the identities of rows into the stage.
func (l *loader) stage(ctx context.Context, lay *layout, columns []sqlengine.Column, p *pending, rows []row) error {
	w, err := newWriter(l.c, "temp", "main", "barograph_stage")
	if err != nil {
		return err
	}
	defer w.close()
	return w.appendRows(ctx, lay.design, columns, p, rows)
}

// meet compares the records of p with those that are there, the hits.
func (l *loader) meet(ctx context.Context, lay *layout, p *pending, hits string) error {
	r, err := l.c.query(ctx, "SELECT "+sqlengine.Names("t.", lay.columns)+" FROM "+hits)
	if err != nil {
		return err
	}
	defer r.close()
	d := dumper{layout: lay, heads: map[int64]record.Header{}, texts: make([]interner, len(lay.columns))}
	for i, id := range p.ids {
		d.heads[id] = p.heads[i]
	}
	var in engine.Index
	for have, err := range engine.Dump(func(to *engine.Dumper) error { return d.page(r, to) }) {
		if err != nil {
			return err
		}
		if in == nil {
			in = engine.IndexOf(p.batches)
		}
		if err := l.stored.MeetAll(have, in); err != nil {
			return err
		}
	}
	return nil
}

func bounds(rows []row) (first, last int64) {
	first, last = math.MaxInt64, math.MinInt64
	for _, r := range rows {
		first, last = min(first, r.valid), max(last, r.valid)
	}
	return first, last
}

// storeCatalog writes the archive's catalog.
func (l *loader) storeCatalog(ctx context.Context, stored *design.Catalog) error {
	text, err := stored.Encode()
	if err != nil {
		return err
	}
	if err := l.c.exec(ctx, "DELETE FROM "+l.names.catalog()); err != nil {
		return err
	}
	return l.c.exec(ctx, "INSERT INTO "+l.names.catalog()+" VALUES (?)", string(text))
}

// storeMarks writes marks; that of a file that is loaded again replaces the old one.
func (l *loader) storeMarks(ctx context.Context, done []engine.Mark) error {
	if len(done) == 0 {
		return nil
	}
	digests, rows := make([]string, len(done)), make([]string, len(done))
	seq, err := l.c.whole(ctx, "SELECT coalesce(max(seq), 0)::BIGINT FROM "+l.names.marks())
	if err != nil {
		return err
	}
	for i, m := range done {
		text, err := json.Marshal(m)
		if err != nil {
			return err
		}
		digests[i] = flavour.Quote(m.Digest)
		rows[i] = "(" + whole(seq+1+int64(i)) + ", " + digests[i] + ", " + flavour.Quote(string(text)) + ")"
	}
	return l.c.exec(ctx, "DELETE FROM "+l.names.marks()+" WHERE digest IN ("+strings.Join(digests, ", ")+
		"); INSERT INTO "+l.names.marks()+" VALUES "+strings.Join(rows, ", "))
}

// number gives the headers and files of p their ids; normalized only.
func (l *loader) number(ctx context.Context, p *pending) error {
	if l.a.design != design.Normalized {
		return nil
	}
	if l.headers == nil {
		if err := l.readIDs(ctx); err != nil {
			return err
		}
	}
	p.ids, p.files = make([]int64, len(p.heads)), make([]int64, len(p.batches))
	for i, h := range p.heads {
		p.ids[i], _ = l.headers.ID(sqlengine.HeaderKey(h))
	}
	for i, b := range p.batches {
		p.files[i], _ = l.files.ID(b.File)
	}
	return nil
}

// readIDs reads the headers and files that the archive has numbered.
func (l *loader) readIDs(ctx context.Context) error {
	l.headers, l.files = sqlengine.NewInterner[record.Header](), sqlengine.NewInterner[string]()
	heads, err := readHeaders(ctx, l.c, l.names)
	if err != nil {
		return err
	}
	for id, h := range heads {
		l.headers.Have(h, id)
	}
	files, err := l.c.query(ctx, "SELECT data_file_id, path, filename FROM "+l.names.table(sqlengine.FileTable))
	if err != nil {
		return err
	}
	defer files.close()
	for files.next() {
		id, path, name := files.vector(0), files.vector(1), files.vector(2)
		for i := range files.rows {
			l.files.Have(joinPath(string(path.text(i)), string(name.text(i))), id.int64s(files.rows)[i])
		}
	}
	return nil
}

// storeHeaders writes the headers and files that have new ids; normalized only.
func (l *loader) storeHeaders(ctx context.Context) error {
	if l.headers == nil {
		return nil
	}
	fresh, first := l.headers.Fresh()
	if len(fresh) > 0 {
		w, err := newWriter(l.c, l.c.db.alias, l.names.schema, design.HeaderTable)
		if err != nil {
			return err
		}
		defer w.close()
		p := &pending{heads: fresh, ids: make([]int64, len(fresh)), rows: make([]row, len(fresh))}
		for i := range fresh {
			p.ids[i], p.rows[i].head = first+int64(i), int32(i)
		}
		if err := w.appendRows(ctx, l.a.design, sqlengine.HeaderColumns(), p, p.rows); err != nil {
			return err
		}
	}
	files, first := l.files.Fresh()
	if len(files) == 0 {
		return nil
	}
	rows := make([]string, len(files))
	loaded := flavour.DuckDB().DateTime(time.Now().Unix())
	for i, f := range files {
		path, name := splitPath(f)
		rows[i] = "(" + whole(first+int64(i)) + ", " + fileType(l.version[f]) + ", " + flavour.Quote(name) + ", " + flavour.Quote(path) + ", " + loaded + ", NULL)"
	}
	return l.c.exec(ctx, "INSERT INTO "+l.names.table(sqlengine.FileTable)+" VALUES "+strings.Join(rows, ", "))
}

// fileType is METviewer's data_file_lu_id: 6 = VSDB, 7 = stat.
func fileType(version string) string {
	if design.InHours(version) {
		return "6"
	}
	return "7"
}

// splitPath cuts a path as METviewer keeps it; joinPath is the inverse.
func splitPath(file string) (path, name string) {
	switch i := strings.LastIndexByte(file, '/'); i {
	case -1:
		return "", file
	case 0:
		return "/", file[1:]
	default:
		return file[:i], file[i+1:]
	}
}

func joinPath(path, name string) string {
	switch path {
	case "":
		return name
	case "/":
		return "/" + name
	}
	return path + "/" + name
}

// Close drops what was not committed.
func (l *loader) Close() error {
	if l.closed {
		return nil
	}
	l.closed = true
	l.forget()
	err := l.c.exec(context.Background(), "DROP TABLE IF EXISTS temp.main.barograph_stage; DROP TABLE IF EXISTS temp.main.barograph_hits")
	l.a.db.put(l.c)
	l.a.db.release(l.key)
	return err
}
