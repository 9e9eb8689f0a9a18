package mariadb

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/barograph/barograph/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/flavour"
	"github.com/barograph/barograph/question"
	"github.com/barograph/barograph/record"
)

// archive is the server under one design.
type archive struct {
	*sqlengine.Archive
	db   *database
	seen sync.Map // subsets in which nothing is left of a load that died

	statements statements
}

// Open opens the archive under a design.
func (d *database) Open(_ context.Context, n design.Name) (engine.Archive, error) {
	if err := sqlengine.Offered(Driver(), n); err != nil {
		return nil, err
	}
	a := &archive{db: d}
	a.Archive = &sqlengine.Archive{
		Driver: Driver, Design: n, Dialect: dialectIn(d.prefix), Pool: sqlengine.Standard{Over: d.pool}, Param: "?",
		Subset: func(_ context.Context, name string) (string, bool, error) {
			rest, ok := strings.CutPrefix(name, d.prefix)
			return databaseSubset(rest), ok, nil
		},
		Tables: func(subset string) (string, []any) {
			return "SELECT table_name FROM information_schema.tables WHERE table_schema = ?", []any{a.database(subset)}
		},
		Name:      func(_, table string) string { return table },
		TypeTable: a.typeName,
		Ready:     a.ready,
		CountDocs: func(from string) string {
			return "SELECT count(*), CAST(coalesce(sum(json_length(data)), 0) AS SIGNED) FROM " + from
		},
	}
	if n == design.Normalized {
		a.Select = a.metviewerLines
	}
	a.Homes = "SELECT table_schema FROM information_schema.tables WHERE table_name = " + flavour.Quote(a.OwnName(sqlengine.CatalogTable))
	return a, nil
}

func (a *archive) Close() error { return a.statements.close() }

// database is the name of a subset's database: the URL's path and the subset.
func (a *archive) database(subset string) string {
	return a.db.prefix + databaseName(a.db.prefix, subset)
}

// table is the quoted name of a table of a subset.
func (a *archive) table(subset, table string) string { return a.Dialect.Table(subset, table) }

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
	return sqlengine.Number(ctx, a.Pool, "SELECT CAST(SUM(data_length + index_length) AS SIGNED) FROM information_schema.tables WHERE table_schema IN ("+
		strings.Join(quoted, ", ")+")")
}

// Check has the server look at every page and index of the subset's tables.
func (a *archive) Check(ctx context.Context, subset string) (problems []string, err error) {
	text, args := a.Tables(subset)
	tables, err := sqlengine.Texts(ctx, a.Pool, text, args...)
	for _, t := range tables {
		if err != nil {
			break
		}
		err = a.Pool.Rows(ctx, "CHECK TABLE "+a.table(subset, t)+" EXTENDED", nil, func(row []any) error {
			var table, op, kind, said string
			err := sqlengine.Scan(row, &table, &op, &kind, &said)
			if kind == "error" || kind == "warning" || kind == "status" && said != "OK" {
				problems = append(problems, table+": "+said)
			}
			return err
		})
	}
	return problems, err
}

// Contents counts what a subset holds.
func (a *archive) Contents(ctx context.Context, subset string) (engine.Contents, error) {
	c, err := a.Archive.Contents(ctx, subset)
	c.Database = a.database(subset)
	return c, err
}

// typeName is the name of the table of a line type.
func (a *archive) typeName(t *record.LineType) string {
	if a.Design == design.Normalized {
		return tableOf(t)
	}
	name, _, _ := sqlengine.Table(a.Design, t)
	return name
}

// metviewerLines is the query for records of METviewer's tables, and its columns.
func (a *archive) metviewerLines(ctx context.Context, q sqlengine.Querier, subset string, t *record.LineType) (string, []sqlengine.Column, error) {
	twins, err := a.twins(ctx, q, subset)
	exprs, cols := lineSelect(t, twins)
	return "SELECT " + exprs + a.fromLines(subset, t), cols, err
}

func (a *archive) fromLines(subset string, t *record.LineType) string {
	return " FROM " + a.table(subset, tableOf(t)) + " ld JOIN " + a.table(subset, design.HeaderTable) + " h USING (stat_header_id)"
}

// lineSelect are the expressions that select records of METviewer's tables, and
// what they are columns of.
func lineSelect(t *record.LineType, twins map[string]map[string]bool) (exprs string, cols []sqlengine.Column) {
	var list []string
	for _, c := range headerColumns() {
		cols, list = append(cols, c.Column), append(list, c.expr(twins[design.HeaderTable]))
	}
	for _, c := range lineColumns(t) {
		if c.From != sqlengine.HeaderID && c.From != sqlengine.FileID {
			cols, list = append(cols, c.Column), append(list, c.expr(twins[tableOf(t)]))
		}
	}
	if hasLineID(t) {
		cols = append(cols, sqlengine.Column{Name: "repeats", Type: sqlengine.Doubles, From: sqlengine.Repeats})
		list = append(list, "ld."+repeatsColumn)
	}
	return strings.Join(list, ", "), cols
}

func (a *archive) Phrase(ctx context.Context, q *question.Question, f flavour.Name) (*engine.Query, error) {
	if f == flavour.CachedSQL && a.db.cache != "" {
		return nil, fmt.Errorf("mariadb, %s: the server keeps no answers, %s (the lab's profile tuned has a query cache): %w", f, a.db.cache, flavour.ErrCannotExpress)
	}
	dialect, err := a.dialectFor(ctx, q)
	if err != nil {
		return nil, err
	}
	query, err := a.PhraseIn(ctx, dialect, q, f)
	if err == nil && f == flavour.CachedSQL {
		query.Text = "SELECT SQL_CACHE" + strings.TrimPrefix(query.Text, "SELECT")
	}
	return query, err
}

// dialectFor is the dialect for a question of METviewer's tables: its columns
// as they are, or, where they could not hold a value, with their twins.
func (a *archive) dialectFor(ctx context.Context, q *question.Question) (*flavour.Dialect, error) {
	if a.Design != design.Normalized {
		return a.Dialect, nil
	}
	twins, err := a.twins(ctx, a.Pool, q.Subset)
	if err != nil {
		return nil, err
	}
	d := *a.Dialect
	d.Table = func(subset, table string) string {
		if table == design.LineTable(q.Type) {
			table = tableOf(q.Type)
		}
		return a.table(subset, table)
	}
	exprs := map[string]string{question.Repeats: "ld." + repeatsColumn}
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

// twins lists the invisible columns of METviewer's tables, by table.
func (a *archive) twins(ctx context.Context, q sqlengine.Querier, subset string) (map[string]map[string]bool, error) {
	twins := map[string]map[string]bool{}
	err := q.Rows(ctx, "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = ? AND column_name LIKE 'barograph%' AND "+
		"(table_name = 'stat_header' OR table_name LIKE '%line_data%')", []any{a.database(subset)}, func(row []any) error {
		var table, column string
		err := sqlengine.Scan(row, &table, &column)
		if twins[table] == nil {
			twins[table] = map[string]bool{}
		}
		twins[table][column] = true
		return err
	})
	return twins, err
}
