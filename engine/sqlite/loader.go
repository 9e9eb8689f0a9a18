package sqlite

import (
	"context"
	"database/sql/driver"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mattn/go-sqlite3"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/record"
)

// loader has the connection of a loader and its prepared statements.
type loader struct {
	*conn
	a      *openArchive
	subset string
	tables map[string]*lineTable
	times  map[int64]string // epoch → DATETIME
}

func (a *openArchive) Loader(ctx context.Context, subset string) (archive.Loader, error) {
	if a.db.readOnly {
		return nil, &fault.Error{File: a.db.path, Err: engine.ErrReadOnly, Cure: "open it for writing, as `barograph load` does"}
	}
	if !a.db.loading.TryLock() {
		return nil, &fault.Error{File: a.db.path, Problem: "is being loaded already", Cure: "SQLite has one writer: close the other loader first"}
	}
	dc, err := a.db.connect(lockStep)
	if err != nil {
		a.db.loading.Unlock()
		return nil, err
	}
	l := &loader{conn: newConn(dc), a: a, subset: subset, tables: map[string]*lineTable{}, times: map[int64]string{}}
	out := a.NewLoader(subset, sqlengine.LoadSession{
		Transaction: l.transaction,
		Version: func(ctx context.Context, q sqlengine.Querier) (int64, error) {
			return sqlengine.QueryNumber(ctx, q, "PRAGMA data_version") // other connections' commits change it
		},
		StoreCatalog: func(ctx context.Context, q sqlengine.Querier, catalog []byte) error {
			return q.Exec(ctx, "INSERT OR REPLACE INTO "+a.OwnTable(subset, sqlengine.CatalogTable)+" VALUES (1, ?)", string(catalog))
		},
		MakeTable: func(ctx context.Context, q sqlengine.Querier, t *record.LineType) error {
			return execute(ctx, q, a.typeTables(subset, t))
		},
		Insert: l.insert, InsertLines: l.lines, Upserts: true,
		RowID: "rowid", PairPrefix: "VALUES ",
		DeleteRows: func(ctx context.Context, q sqlengine.Querier, table string, ids []string) error {
			return q.Exec(ctx, "DELETE FROM "+table+" WHERE rowid IN ("+strings.Join(ids, ", ")+")")
		},
		Close: func() error {
			defer a.db.loading.Unlock()
			return l.close()
		},
	})
	err = l.transaction(ctx, func(q sqlengine.Querier) error { return execute(ctx, q, a.subsetTables(subset)) })
	if err != nil {
		out.Close() //nolint:errcheck // the first error is more specific
		return nil, err
	}
	return out, nil
}

func execute(ctx context.Context, q sqlengine.Querier, statements []string) error {
	for _, s := range statements {
		if err := q.Exec(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// insert stores rows one by one. A document replaces the document with the same id.
func (l *loader) insert(ctx context.Context, _ sqlengine.Querier, table string, cols []sqlengine.Column, next sqlengine.Next) error {
	text := sqlengine.InsertText(table, cols, 1)
	if cols[0].From == sqlengine.DocID {
		text = strings.TrimSuffix(text, "?)") + "jsonb(?)) ON CONFLICT (id) DO UPDATE SET data = excluded.data" // data is the last column
	}
	s, err := l.prepare(text)
	if err != nil {
		return err
	}
	to := &binder{l: l, args: s.args}
	for ctx.Err() == nil {
		if ok, err := next(to); err != nil || !ok {
			return err
		}
		if err := s.run(); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// chunks are the numbers of rows that one statement inserts. Rows of one series and time differ in few
// columns; the other columns are bound once per chunk. Inserting a million values takes half the CPU time
// of one statement per row.
var chunks = [...]int{16, 4, 1} //nolint:gochecknoglobals // a constant table

// lineTable has the statements of one line table.
type lineTable struct {
	shared  []sqlengine.Column // columns that are mostly equal in rows of one series and time
	varying []sqlengine.Column
	inserts [len(chunks)]*stmt // parameters: the shared columns, then the varying columns of each row
}

func (l *loader) lineTable(table string, cols []sqlengine.Column) (*lineTable, error) {
	if lt := l.tables[table]; lt != nil {
		return lt, nil
	}
	lt := &lineTable{}
	for _, c := range cols {
		if isShared(c.From) {
			lt.shared = append(lt.shared, c)
		} else {
			lt.varying = append(lt.varying, c)
		}
	}
	for k, rows := range chunks {
		var err error
		if lt.inserts[k], err = l.prepare(lt.insert(table, rows)); err != nil {
			return nil, err
		}
	}
	l.tables[table] = lt
	return lt, nil
}

// isShared reports whether the rows of a series and time mostly have the same value in a column.
func isShared(from sqlengine.Source) bool {
	return slices.Contains([]sqlengine.Source{
		sqlengine.HeaderID, sqlengine.FileID, sqlengine.Header, sqlengine.ValidBeg, sqlengine.ValidEnd,
		sqlengine.ObsLead, sqlengine.ObsBeg, sqlengine.ObsEnd,
	}, from)
}

// insert returns the statement that inserts a chunk.
func (lt *lineTable) insert(table string, rows int) string {
	var b strings.Builder
	b.WriteString("INSERT INTO " + table + " (" + sqlengine.ColumnList("", lt.shared) + ", " + sqlengine.ColumnList("", lt.varying) + ") VALUES ")
	next := len(lt.shared) + 1
	for r := range rows {
		if r > 0 {
			b.WriteString(", ")
		}
		for k := range lt.shared {
			fmt.Fprintf(&b, "%c?%d", "(,"[min(k, 1)], k+1) // ( before the first, a comma before the others
		}
		for range lt.varying {
			fmt.Fprintf(&b, ",?%d", next)
			next++
		}
		b.WriteByte(')')
	}
	return b.String()
}

// lines stores records in chunks.
func (l *loader) lines(ctx context.Context, _ sqlengine.Querier, table string, cols []sqlengine.Column, lines *sqlengine.Lines) error {
	lt, err := l.lineTable(table, cols)
	if err != nil {
		return err
	}
	for rows := lines.Rows; len(rows) > 0; {
		if err := ctx.Err(); err != nil {
			return err
		}
		same, k := alike(lines, rows[:min(len(rows), chunks[0])]), 0
		for chunks[k] > same { // until chunk k has only equal rows
			k++
		}
		s := lt.inserts[k]
		to := &binder{l: l, args: s.args}
		lines.Put(to, lt.shared, rows[0])
		to.args = to.args[len(lt.shared):]
		for _, r := range rows[:chunks[k]] {
			lines.Put(to, lt.varying, r)
			to.args = to.args[len(lt.varying):]
		}
		if err := s.run(); err != nil {
			return err
		}
		rows = rows[chunks[k]:]
	}
	return nil
}

// alike returns the number of rows at the beginning that are equal in the shared columns.
func alike(lines *sqlengine.Lines, rows []design.Row) int {
	first := rows[0]
	a, i := lines.Batches[first.Batch], first.Row
	for n, r := range rows[1:] {
		b, j := lines.Batches[r.Batch], r.Row
		if r.Header != first.Header || r.Valid != first.Valid || lines.FileIDs[r.Batch] != lines.FileIDs[first.Batch] ||
			b.ValidEnd[j] != a.ValidEnd[i] || b.ObsLead[j] != a.ObsLead[i] || b.ObsBeg[j] != a.ObsBeg[i] || b.ObsEnd[j] != a.ObsEnd[i] {
			return n + 1
		}
	}
	return len(rows)
}

// binder binds values to the arguments of a statement.
type binder struct {
	l    *loader
	args []driver.NamedValue
}

func (b *binder) Null(k int)              { b.args[k].Value = nil }
func (b *binder) Text(k int, s string)    { b.args[k].Value = s }
func (b *binder) Integer(k int, v int64)  { b.args[k].Value = v }
func (b *binder) Number(k int, f float64) { b.args[k].Value = f }
func (b *binder) List(k int, values []float64) {
	b.args[k].Value = string(design.AppendRepeats(nil, values))
}
func (b *binder) JSON(k int, entries []byte) { b.args[k].Value = string(entries) }

// Time binds a time as text. Most rows share it.
func (b *binder) Time(k int, epoch int64) {
	s, ok := b.l.times[epoch]
	if !ok {
		s = string(sqlengine.AppendDateTime(nil, epoch))
		b.l.times[epoch] = s
	}
	b.args[k].Value = s
}

// conn is the connection of a loader. It does not use database/sql: a load binds millions of values, and
// database/sql would convert each of them once more.
type conn struct {
	c     *sqlite3.SQLiteConn
	stmts map[string]*stmt
}

func newConn(c *sqlite3.SQLiteConn) *conn { return &conn{c: c, stmts: map[string]*stmt{}} }

// stmt is a prepared statement with its arguments, which stay from one run to the next.
type stmt struct {
	s    *sqlite3.SQLiteStmt
	args []driver.NamedValue
	text string
}

// prepare returns the prepared statement of a text. It prepares each text once per connection.
func (c *conn) prepare(text string) (*stmt, error) {
	if s := c.stmts[text]; s != nil {
		return s, nil
	}
	ds, err := c.c.Prepare(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", text, err)
	}
	s := &stmt{s: ds.(*sqlite3.SQLiteStmt), text: text}
	s.args = make([]driver.NamedValue, s.s.NumInput())
	for i := range s.args {
		s.args[i].Ordinal = i + 1
	}
	c.stmts[text] = s
	return s, nil
}

// run executes the statement with its arguments. The context has no Done: otherwise the driver would start
// a goroutine per row.
func (s *stmt) run() error {
	if _, err := s.s.ExecContext(context.Background(), s.args); err != nil {
		return fmt.Errorf("%s: %w", s.text, err)
	}
	return nil
}

// Exec runs a statement. Like Rows it ignores ctx, see run; a load checks ctx between its rows.
func (c *conn) Exec(_ context.Context, text string, args ...any) error {
	if _, err := c.c.Exec(text, values(args)); err != nil {
		return fmt.Errorf("%.500s: %w", text, err)
	}
	return nil
}

// Rows passes each row of a reply to f.
func (c *conn) Rows(_ context.Context, text string, args []any, f func(row []any) error) error {
	rows, err := c.c.Query(text, values(args))
	if err != nil {
		return fmt.Errorf("%.500s: %w", text, err)
	}
	from := make([]driver.Value, len(rows.Columns()))
	row := make([]any, len(from))
	return sqlengine.ForEachDriverRow(rows, from, func() error {
		for k, v := range from {
			row[k] = v
		}
		return f(row)
	})
}

func values(args []any) []driver.Value { return lists.Map(args, func(v any) driver.Value { return v }) }

// lockStep is how long SQLite waits for a lock before begin checks whether the caller has canceled. SQLite
// itself cannot be interrupted while it waits.
const lockStep = 50 * time.Millisecond

// begin waits for the file's write lock, which another process may have.
func (c *conn) begin(ctx context.Context) error {
	for began := time.Now(); ; {
		err := c.Exec(ctx, "BEGIN IMMEDIATE")
		if err == nil {
			return nil
		}
		if !isBusy(err) {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if time.Since(began) > busySeconds*time.Second {
			problem := fmt.Sprintf("another process has written to the archive for %d seconds", busySeconds)
			return &fault.Error{Problem: problem, Err: err, Cure: "end that process, or wait for it"}
		}
	}
}

// transaction runs f in a transaction that has the file's write lock.
func (c *conn) transaction(ctx context.Context, f func(q sqlengine.Querier) error) error {
	if err := c.begin(ctx); err != nil {
		return err
	}
	err := f(c)
	if err == nil {
		err = c.Exec(ctx, "COMMIT")
	}
	if err != nil {
		// After some errors SQLite has rolled back by itself. Then this fails, which is harmless.
		_ = c.Exec(ctx, "ROLLBACK")
	}
	return err
}

func (c *conn) close() error {
	for _, s := range c.stmts {
		s.s.Close() //nolint:errcheck // the connection's Close reports the error
	}
	return c.c.Close()
}
