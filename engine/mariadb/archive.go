package mariadb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"barograph/design"
	"barograph/engine"
	"barograph/engine/sqlengine"
	"barograph/flavour"
	"barograph/question"
	"barograph/record"
)

// archive is the server under one design.
type archive struct {
	db      *database
	design  design.Name
	dialect *flavour.Dialect
	seen    sync.Map // subsets in which nothing is left of a load that died

	statements statements
}

// Open opens the archive under a design.
func (d *database) Open(_ context.Context, n design.Name) (engine.Archive, error) {
	if _, ok := Driver().Offers[n]; !ok {
		return nil, fmt.Errorf("mariadb: %s: %w", n, engine.ErrNoDesign)
	}
	return &archive{db: d, design: n, dialect: dialectIn(d.prefix)}, nil
}

func (a *archive) Close() error { return a.statements.close() }

// database is the name of a subset's database: the URL's path and the subset.
func (a *archive) database(subset string) string {
	return a.db.prefix + databaseName(a.db.prefix, subset)
}

// table is the quoted name of a table of a subset.
func (a *archive) table(subset, table string) string { return a.dialect.Table(subset, table) }

// Size is what the server says of its tables; InnoDB's part of it is an estimate.
func (a *archive) Size(ctx context.Context) (int64, error) {
	names, err := a.Subsets(ctx)
	if err != nil || len(names) == 0 {
		return 0, err
	}
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = flavour.Quote(a.database(n))
	}
	var n sql.NullInt64
	err = a.db.pool.QueryRowContext(ctx, "SELECT CAST(SUM(data_length + index_length) AS SIGNED) FROM information_schema.tables WHERE table_schema IN ("+
		strings.Join(quoted, ", ")+")").Scan(&n)
	return n.Int64, failed(ctx, err)
}

func (a *archive) Subsets(ctx context.Context) ([]string, error) {
	rows, err := a.db.pool.QueryContext(ctx, "SELECT table_schema FROM information_schema.tables WHERE table_name = ?", a.ownName(sqlengine.CatalogTable))
	if err != nil {
		return nil, failed(ctx, err)
	}
	defer rows.Close() //nolint:errcheck // Err below says what went wrong
	subsets := []string{}
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		if rest, ok := strings.CutPrefix(name, a.db.prefix); ok {
			subsets = append(subsets, databaseSubset(rest))
		}
	}
	slices.Sort(subsets)
	return subsets, failed(ctx, rows.Err())
}

func (a *archive) Catalog(ctx context.Context, subset string) (*design.Catalog, error) {
	if err := a.ready(ctx, subset); err != nil {
		return nil, err
	}
	var text []byte
	err := a.db.pool.QueryRowContext(ctx, "SELECT catalog FROM "+a.table(subset, a.ownName(sqlengine.CatalogTable))).Scan(&text)
	if errors.Is(err, sql.ErrNoRows) || absent(err) {
		return design.NewCatalog(subset), nil
	}
	if err != nil {
		return nil, failed(ctx, err)
	}
	return design.ParseCatalog(text)
}

func (a *archive) Marks(ctx context.Context, subset string) ([]engine.Mark, error) {
	if err := a.ready(ctx, subset); err != nil {
		return nil, err
	}
	rows, err := a.db.pool.QueryContext(ctx, "SELECT "+sqlengine.Names("", sqlengine.MarkColumns()[1:])+
		" FROM "+a.table(subset, a.ownName(sqlengine.MarksTable))+" ORDER BY seq")
	if absent(err) {
		return nil, nil
	}
	if err != nil {
		return nil, failed(ctx, err)
	}
	defer rows.Close() //nolint:errcheck // Err below says what went wrong
	var marks []engine.Mark
	for rows.Next() {
		var m engine.Mark
		var loaded string
		if err := rows.Scan(&m.Path, &m.Digest, &m.Bytes, &m.Read, &m.Stored, &m.Replaced, &m.Quarantined, &loaded); err != nil {
			return nil, err
		}
		if m.Loaded, err = time.Parse(time.RFC3339Nano, loaded); err != nil {
			return nil, err
		}
		marks = append(marks, m)
	}
	return marks, failed(ctx, rows.Err())
}

// stored lists the line types that a subset has a table for.
func (a *archive) stored(ctx context.Context, subset string) ([]*record.LineType, error) {
	if err := a.ready(ctx, subset); err != nil {
		return nil, err
	}
	rows, err := a.db.pool.QueryContext(ctx, "SELECT table_name FROM information_schema.tables WHERE table_schema = ?", a.database(subset))
	if err != nil {
		return nil, failed(ctx, err)
	}
	defer rows.Close() //nolint:errcheck // Err below says what went wrong
	all := map[string]bool{}
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		all[name] = true
	}
	if err := rows.Err(); err != nil || !all[a.ownName(sqlengine.CatalogTable)] {
		return nil, failed(ctx, err)
	}
	var types []*record.LineType
	for _, t := range record.Types() {
		if all[a.typeName(t)] {
			types = append(types, t)
		}
	}
	return types, nil
}

// typeName is the name of the table of a line type.
func (a *archive) typeName(t *record.LineType) string {
	if a.design == design.Normalized {
		return tableOf(t)
	}
	name, _, _ := sqlengine.Table(a.design, t)
	return name
}

func (a *archive) Contents(ctx context.Context, subset string) (engine.Contents, error) {
	c := engine.Contents{Records: map[string]int64{}, Object: "rows", Database: a.database(subset)}
	what := "count(*), count(*)"
	if a.design == design.Document {
		c.Object, what = "documents", "count(*), CAST(coalesce(sum(json_length(data)), 0) AS SIGNED)"
	}
	types, err := a.stored(ctx, subset)
	if err != nil || len(types) == 0 {
		return c, err
	}
	parts := make([]string, len(types))
	for i, t := range types {
		parts[i] = "SELECT '" + t.Name + "', " + what + " FROM " + a.table(subset, a.typeName(t))
	}
	rows, err := a.db.pool.QueryContext(ctx, strings.Join(parts, " UNION ALL "))
	if err != nil {
		return c, failed(ctx, err)
	}
	defer rows.Close() //nolint:errcheck // Err below says what went wrong
	for rows.Next() {
		var name string
		var objects, records int64
		if err := rows.Scan(&name, &objects, &records); err != nil {
			return c, err
		}
		c.Objects += objects
		if records > 0 {
			c.Records[name] = records
		}
	}
	return c, failed(ctx, rows.Err())
}

func (a *archive) Phrase(ctx context.Context, q *question.Question, f flavour.Name) (*engine.Query, error) {
	if err := Driver().Express(a.design, f, q); err != nil {
		return nil, err
	}
	if f == flavour.CachedSQL && a.db.cache != "" {
		return nil, fmt.Errorf("mariadb, %s: the server keeps no answers, %s (the lab's profile tuned has a query cache): %w", f, a.db.cache, flavour.ErrCannotExpress)
	}
	catalog, err := a.Catalog(ctx, q.Subset)
	if err != nil {
		return nil, err
	}
	dialect, err := a.dialectFor(ctx, q)
	if err != nil {
		return nil, err
	}
	query, err := sqlengine.Phrase(dialect, a.design, f, q, catalog)
	if err == nil && f == flavour.CachedSQL {
		query.Text = "SELECT SQL_CACHE" + strings.TrimPrefix(query.Text, "SELECT")
	}
	return query, err
}

// dialectFor is the dialect for a question of METviewer's tables: its columns
// as they are, or, where they could not hold a value, with their twins.
func (a *archive) dialectFor(ctx context.Context, q *question.Question) (*flavour.Dialect, error) {
	if a.design != design.Normalized {
		return a.dialect, nil
	}
	twins, err := a.twins(ctx, a.db.pool, q.Subset)
	if err != nil {
		return nil, failed(ctx, err)
	}
	d := *a.dialect
	d.Table = func(subset, table string) string {
		if table == design.LineTable(q.Type) {
			table = tableOf(q.Type)
		}
		return a.table(subset, table)
	}
	exprs := map[string]string{}
	for _, c := range lineColumns(q.Type) {
		exprs[c.Name] = c.expr(twins[tableOf(q.Type)])
	}
	d.LineColumn = func(name string) string { return exprs[name] }
	headers := headerColumns()
	d.HeaderField = func(f record.Field) string {
		if int(f) < len(headers) {
			return headers[f].expr(twins[design.HeaderTable])
		}
		return exprs[f.String()]
	}
	return &d, nil
}

// querier is what *sql.DB and *sql.Conn have in common.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// twins lists the invisible columns of METviewer's tables, by table.
func (a *archive) twins(ctx context.Context, c querier, subset string) (map[string]map[string]bool, error) {
	rows, err := c.QueryContext(ctx, "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = ? AND column_name LIKE 'barograph%' AND "+
		"(table_name = 'stat_header' OR table_name LIKE '%line_data%')", a.database(subset))
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // Err below says what went wrong
	twins := map[string]map[string]bool{}
	for rows.Next() {
		var table, column string
		if err := rows.Scan(&table, &column); err != nil {
			return nil, err
		}
		if twins[table] == nil {
			twins[table] = map[string]bool{}
		}
		twins[table][column] = true
	}
	return twins, rows.Err()
}
