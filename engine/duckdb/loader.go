package duckdb

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/record"
)

// loader has the connection of a loader.
type loader struct {
	a      *openArchive
	c      *conn
	subset string
	schema string
}

// Loader opens the loader of a subset. A second one for the same subset is an error.
func (a *openArchive) Loader(ctx context.Context, subset string) (archive.Loader, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if a.db.readOnly {
		return nil, fmt.Errorf("duckdb: %w", engine.ErrReadOnly)
	}
	if err := (sqlengine.Storable{Product: "DuckDB"}).Subset(subset); err != nil {
		return nil, err
	}
	key := string(a.Design) + "/" + subset
	a.db.mu.Lock()
	busy, first := a.db.loading[key], len(a.db.loading) == 0
	a.db.loading[key] = true
	a.db.mu.Unlock()
	if busy {
		return nil, &fault.Error{Setting: "subset " + subset, Problem: "is being loaded by another loader", Cure: "DuckDB allows one loader per subset: close the other one first"}
	}
	c, err := a.db.take()
	if err == nil && first {
		if err = c.bound(ctx); err != nil {
			a.db.put(c)
		}
	}
	if err != nil {
		a.db.release(key)
		return nil, err
	}
	l := &loader{a: a, c: c, subset: subset, schema: schemaName(subset)}
	return a.NewLoader(subset, sqlengine.LoadSession{
		CheckText: sqlengine.Storable{Product: "DuckDB", ZeroBytes: true}.Check, Transaction: l.transaction,
		// No other loader commits to the subset.
		Version: func(ctx context.Context, _ sqlengine.Querier) (int64, error) { return 0, l.create(ctx) },
		StoreCatalog: func(ctx context.Context, q sqlengine.Querier, catalog []byte) error {
			table := a.OwnTable(subset, sqlengine.CatalogTable)
			if err := q.Exec(ctx, "DELETE FROM "+table); err != nil {
				return err
			}
			return q.Exec(ctx, "INSERT INTO "+table+" VALUES (?)", string(catalog))
		},
		StoreMarks: l.storeMarks,
		MakeTable: func(ctx context.Context, q sqlengine.Querier, t *record.LineType) error {
			lay := newLayout(a.Design, t)
			return q.Exec(ctx, sqlengine.CreateText(a.Dialect.Table(subset, lay.table), lay.columns, lay.typeName))
		},
		Insert: l.insert, InsertLines: l.lines, MergeDocs: l.storeDocs, HeaderOrder: compareHeaders, Replace: l.replace,
		Dump: func(ctx context.Context, t *record.LineType, where string, to *archive.Dumper) error {
			return a.dump(ctx, c, subset, []*record.LineType{t}, " AND "+where, to)
		},
		Close: func() error {
			err := c.Exec(context.Background(), "DROP TABLE IF EXISTS temp.main.barograph_stage; DROP TABLE IF EXISTS temp.main.barograph_hits")
			if a.db.release(key) {
				c.unbound()
			}
			a.db.put(c)
			return err
		},
	}), nil
}

// release ends the load of a subset. It reports whether no subset is being loaded.
func (db *database) release(key string) bool {
	db.mu.Lock()
	defer db.mu.Unlock()
	delete(db.loading, key)
	return len(db.loading) == 0
}

// loadMemory is the memory limit of DuckDB during a load. Without it DuckDB would keep all written
// data, up to 80 % of the machine's memory, without any use for them.
const loadMemory = "192MB"

// bound sets the memory limit of a load. DuckDB refuses a limit below the memory that it uses already. The rows of small
// commits stay in memory until a checkpoint; therefore bound first makes one if earlier loads have left many rows.
func (c *conn) bound(ctx context.Context) error {
	if c.db.bounded {
		const used = "SELECT 'much' FROM duckdb_memory() HAVING sum(memory_usage_bytes) > 96000000"
		if much, _ := sqlengine.QueryTexts(ctx, c, used); much != nil {
			if err := c.Exec(ctx, "CHECKPOINT"); err != nil && strings.Contains(err.Error(), "No space left") {
				return err // DuckDB refuses further statements
			}
		}
		_ = c.Exec(ctx, "SET memory_limit = '"+loadMemory+"'")
	}
	return nil
}

// unbound restores the memory limit of queries. RESET only makes the setting DuckDB's default; SET makes it the limit, up
// to the rounding of the setting's text.
func (c *conn) unbound() {
	if c.db.bounded {
		_ = c.Exec(context.Background(), "RESET memory_limit")
		limit, _ := sqlengine.QueryTexts(context.Background(), c, "SELECT current_setting('memory_limit')")
		_ = c.Exec(context.Background(), "SET memory_limit = "+flavour.Quote(strings.Join(limit, ""))+"; RESET memory_limit")
	}
}

// transaction runs f in a transaction. DuckDB syncs its log, or for a large commit the file itself,
// before COMMIT returns: committed data survive a power failure. After a failed COMMIT no
// transaction is open, which is equivalent to a rollback.
func (l *loader) transaction(ctx context.Context, f func(q sqlengine.Querier) error) error {
	if err := l.c.Exec(ctx, "BEGIN TRANSACTION"); err != nil {
		return err
	}
	err := f(l.c)
	if err == nil {
		err = l.c.Exec(ctx, "COMMIT")
	}
	if err != nil {
		_ = l.c.Exec(context.Background(), "ROLLBACK")
	}
	return err
}

// create creates the schema and Barograph's own tables, if they do not exist.
func (l *loader) create(ctx context.Context) error {
	text := "CREATE SCHEMA IF NOT EXISTS " + strings.TrimSuffix(l.a.Dialect.Table(l.subset, ""), ".") +
		"; CREATE TABLE IF NOT EXISTS " + l.a.OwnTable(l.subset, sqlengine.CatalogTable) + " (catalog VARCHAR NOT NULL)" +
		"; CREATE TABLE IF NOT EXISTS " + l.a.OwnTable(l.subset, sqlengine.MarksTable) + " (seq BIGINT NOT NULL, digest VARCHAR NOT NULL, mark VARCHAR NOT NULL)"
	if l.a.Design == design.Normalized {
		text += "; " + sqlengine.CreateText(l.a.Dialect.Table(l.subset, design.HeaderTable), unkeyed(sqlengine.HeaderColumns()), types.Of) +
			"; " + sqlengine.CreateText(l.a.Dialect.Table(l.subset, sqlengine.FileTable), unkeyed(sqlengine.FileColumns()), types.Of)
	}
	return l.c.Exec(ctx, text)
}

// insert appends rows.
func (l *loader) insert(ctx context.Context, _ sqlengine.Querier, table string, cols []sqlengine.Column, next sqlengine.Next) error {
	return l.appendTo(table, func(w *chunkWriter) error { return w.rows(ctx, cols, next) })
}

// lines appends records.
func (l *loader) lines(ctx context.Context, _ sqlengine.Querier, table string, cols []sqlengine.Column, p *sqlengine.Lines) error {
	return l.appendTo(table, func(w *chunkWriter) error { return w.appendRows(ctx, cols, p, p.Rows) })
}

// appendTo appends to a table of the subset. table is its name in a statement.
func (l *loader) appendTo(table string, f func(w *chunkWriter) error) error {
	return l.c.appendTo(l.c.db.alias, l.schema, strings.TrimPrefix(table, l.a.Dialect.Table(l.subset, "")), f)
}

// replace deletes the records that rows of p replace. rows lists those that may exist.
func (l *loader) replace(ctx context.Context, _ sqlengine.Querier, p *sqlengine.Lines, rows []design.Row, stored *archive.CommitResult) error {
	lay := newLayout(p.Design, p.Type)
	columns := sqlengine.IdentityColumns(lay.columns)
	create := strings.Replace(sqlengine.CreateText("barograph_stage", columns, lay.typeName), "CREATE TABLE IF NOT EXISTS", "CREATE OR REPLACE TEMP TABLE", 1)
	if err := l.c.Exec(ctx, create); err != nil {
		return err
	}
	if err := l.stage(func(w *chunkWriter) error { return w.appendRows(ctx, columns, p, rows) }); err != nil {
		return err
	}
	first, last := bounds(rows)
	condition := "t.fcst_valid_beg BETWEEN " + l.a.Dialect.DateTime(first) + " AND " + l.a.Dialect.DateTime(last)
	on := flavour.Join(columns, " AND ", func(c sqlengine.Column) string { return "t." + c.Name + " IS NOT DISTINCT FROM s." + c.Name })
	table := l.a.Dialect.Table(l.subset, lay.table)
	err := l.c.Exec(ctx, "CREATE OR REPLACE TEMP TABLE barograph_hits AS SELECT t.rowid AS hit FROM "+table+
		" t JOIN temp.main.barograph_stage s ON "+on+" WHERE "+condition)
	if err != nil {
		return err
	}
	hits := table + " t WHERE " + condition + " AND t.rowid IN (SELECT hit FROM temp.main.barograph_hits)"
	if err := l.resolveExisting(ctx, &lay, p, hits, stored); err != nil || p.Keep {
		return err
	}
	return l.c.Exec(ctx, "DELETE FROM "+hits)
}

// stage appends to the stage, a temporary table of the records or documents that may exist.
func (l *loader) stage(f func(w *chunkWriter) error) error {
	return l.c.appendTo("temp", "main", "barograph_stage", f)
}

// resolveExisting compares the records of p with the existing records, the hits.
func (l *loader) resolveExisting(ctx context.Context, lay *layout, p *sqlengine.Lines, hits string, stored *archive.CommitResult) error {
	r, err := l.c.query(ctx, "SELECT "+sqlengine.ColumnList("t.", lay.columns)+" FROM "+hits)
	if err != nil {
		return err
	}
	defer r.close()
	d := dumper{layout: lay, heads: map[int64]record.Header{}, texts: make([]interner, len(lay.columns))}
	for i, id := range p.HeaderIDs {
		d.heads[id] = p.Headers[i]
	}
	return stored.Resolver(p.Batches)(archive.Dump(func(to *archive.Dumper) error { return d.page(r, to) }))
}

// bounds returns the first and the last valid time of at least one row.
func bounds(rows []design.Row) (first, last int64) {
	byTime := func(a, b design.Row) int { return cmp.Compare(a.Valid, b.Valid) }
	return slices.MinFunc(rows, byTime).Valid, slices.MaxFunc(rows, byTime).Valid
}

// storeMarks writes marks. The mark of a file that is loaded again replaces the old one.
func (l *loader) storeMarks(ctx context.Context, _ sqlengine.Querier, done []archive.Mark) error {
	table := l.a.OwnTable(l.subset, sqlengine.MarksTable)
	seq, err := sqlengine.QueryNumber(ctx, l.c, "SELECT max(seq) FROM "+table)
	if err != nil {
		return err
	}
	for some := range slices.Chunk(done, digestsDeleted) {
		if err := l.c.Exec(ctx, "DELETE FROM "+table+" WHERE digest IN ("+sqlengine.Digests(some)+")"); err != nil {
			return err
		}
	}
	i := 0
	cols := []sqlengine.Column{{Name: "seq", Type: sqlengine.BigInt}, {Name: "digest"}, {Name: "mark"}}
	return l.insert(ctx, nil, table, cols, func(to sqlengine.Sink) (bool, error) {
		if i == len(done) {
			return false, nil
		}
		text, err := json.Marshal(done[i])
		to.Integer(0, seq+1+int64(i))
		to.Text(1, done[i].Digest)
		to.Text(2, string(text))
		i++
		return true, err
	})
}

// digestsDeleted is the number of files whose marks one statement deletes.
const digestsDeleted = 1000

// sortFields are the header fields by which an archive is sorted first.
var sortFields = [...]record.Field{record.FcstVar, record.FcstLev, record.VxMask, record.Model} //nolint:gochecknoglobals // a constant table

// compareHeaders sorts headers in the order in which questions select them. Rows of one series are
// adjacent in the archive. DuckDB can then skip other blocks by their statistics, and columns need less
// space.
func compareHeaders(a, b *record.Header) int {
	for _, f := range sortFields {
		if c := cmp.Compare(a[f], b[f]); c != 0 {
			return c
		}
	}
	return a.Compare(b)
}

// layout describes a line type's table in a design.
type layout struct {
	design  design.Name
	t       *record.LineType
	table   string
	columns []sqlengine.Column
}

func newLayout(n design.Name, t *record.LineType) layout {
	table, columns, _ := sqlengine.DesignTable(n, t)
	return layout{design: n, t: t, table: table, columns: unkeyed(columns)}
}

// unkeyed drops the primary key. The table has no index, see
// docs/decisions/0004-duckdb-documents.md, and the loader itself numbers the rows.
func unkeyed(cols []sqlengine.Column) []sqlengine.Column {
	for i := range cols {
		cols[i].Primary, cols[i].NotNull = false, cols[i].NotNull || cols[i].Primary
	}
	return cols
}

// entryTimes are the members of a document's entry before the type's own members. For the usual times
// all but fcst_lead are NULL.
var entryTimes = [...]string{"fcst_lead", "fcst_valid_end", "obs_lead", "obs_valid_beg", "obs_valid_end"} //nolint:gochecknoglobals // a constant table

// types are DuckDB's types of columns, except of documents' entries. Counts are doubles, as in records:
// DuckDB packs doubles without fractions as tightly as integers, and nothing is lost.
var types = sqlengine.TypeNames{ //nolint:gochecknoglobals // a constant table
	sqlengine.Text: "VARCHAR", sqlengine.Integer: "INTEGER", sqlengine.BigInt: "BIGINT", sqlengine.Timestamp: "TIMESTAMP",
	sqlengine.Count: "DOUBLE", sqlengine.Double: "DOUBLE", sqlengine.Doubles: "DOUBLE[]",
}

// typeName returns DuckDB's type of a column of a line type's table.
func (l *layout) typeName(c sqlengine.Column) string {
	if c.Type == sqlengine.Entries {
		return l.entryType() + "[]"
	}
	return types.Of(c)
}

// entryType returns the type of an entry of a document.
func (l *layout) entryType() string {
	members := lists.Map(entryTimes[:], func(name string) string {
		return name + map[bool]string{true: " INTEGER", false: " BIGINT"}[strings.HasSuffix(name, "lead")]
	})
	for _, c := range l.t.Columns {
		kind := map[bool]string{true: " VARCHAR", false: " DOUBLE"}[c.Kind == record.Text]
		members = append(members, flavour.Ident(c.Name)+kind)
	}
	if l.t.Group != nil {
		members = append(members, "repeats DOUBLE[]")
	}
	return "STRUCT(" + strings.Join(members, ", ") + ")"
}

// ambiguous reports whether a schema's name is also the name of a database.
func (a *openArchive) ambiguous(schema string) bool {
	return slices.ContainsFunc([]string{a.db.alias, "temp", "system", "memory"}, func(taken string) bool { return strings.EqualFold(schema, taken) })
}

// dialect returns the dialect for queries of a subset. If DuckDB could confuse the schema's name with a
// database's, the file's own name is before it.
func (a *openArchive) dialect(subset string) *flavour.Dialect {
	if a.ambiguous(schemaName(subset)) {
		return dialectIn(a.db.alias)
	}
	return dialectIn("")
}
