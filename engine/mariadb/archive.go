package mariadb

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/tidwall/gjson"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

// openArchive is the archive of one design.
type openArchive struct {
	*sqlengine.Archive
	db              *database
	recovered       sync.Map // subsets in which a crashed load has left nothing
	foreignCatalogs sync.Map // subsets of another program → foreignCatalog

	statements statements
}

// nonTables selects tables without rows of their own in this database: views, and tables
// whose storage engine reads files or other servers.
const nonTables = "table_type = 'VIEW' OR COALESCE(engine, '') IN ('CONNECT', 'FEDERATED', 'SPIDER', 'S3', 'CSV', 'MRG_MyISAM')"

// Open opens the archive of a design.
func (d *database) Open(_ context.Context, n design.Name) (archive.Archive, error) {
	if err := sqlengine.CheckOffered(Driver(), n); err != nil {
		return nil, err
	}
	a := &openArchive{db: d}
	a.Archive = &sqlengine.Archive{
		Driver: Driver, Design: n, Dialect: dialectIn(d.prefix), Pool: querier{d.pool}, Placeholder: "?",
		SubsetIn: func(_ context.Context, name string) (string, bool, error) {
			rest, ok := strings.CutPrefix(name, d.prefix)
			return databaseSubset(rest), ok, nil
		},
		TablesQuery: func(subset string) (string, []any) {
			return "SELECT table_name FROM information_schema.tables WHERE table_schema = ? AND NOT (" + nonTables + ")", []any{a.database(subset)}
		},
		NonTablesQuery: func(subset string) (string, []any) {
			return "SELECT table_name FROM information_schema.tables WHERE table_schema = ? AND (" + nonTables + ")", []any{a.database(subset)}
		},
		ListedName: func(_, table string) string { return table },
		TableName:  a.typeName,
		Recover:    a.ensureRecovered,
		CountDocs: func(from string) string {
			return "SELECT count(*), CAST(coalesce(sum(json_length(data)), 0) AS SIGNED) FROM " + from
		},
	}
	docTable := a.Dialect.DocTable
	a.Dialect.DocTable = func(subset, t, where string, used []question.Column) string {
		return d.translate(docTable(subset, t, where, used))
	}
	switch n {
	case design.Normalized:
		a.SelectAll, a.ForeignCatalog = a.metviewerLines, a.foreign
	case design.Wide:
		a.SelectAll = a.wideLines
	}
	a.ContainersQuery = "SELECT table_schema FROM information_schema.tables WHERE NOT (" + nonTables + ") AND table_name = " +
		flavour.Quote(a.OwnName(sqlengine.CatalogTable))
	if n == design.Normalized { // also METviewer's own tables
		a.ContainersQuery += " OR table_name = " + flavour.Quote(design.HeaderTable) + " AND LOCATE('" + oldPrefix +
			"', table_schema) <> 1 GROUP BY BINARY table_schema"
	}
	return a, nil
}

// Close closes the prepared statements. It ignores errors, because their connections may be closed.
func (a *openArchive) Close() error {
	a.statements.mu.Lock()
	defer a.statements.mu.Unlock()
	for _, statement := range a.statements.all {
		_ = statement.Close()
	}
	clear(a.statements.all)
	return nil
}

// database returns the name of a subset's database: the URL's path and the subset.
func (a *openArchive) database(subset string) string {
	return a.db.prefix + databaseName(a.db.prefix, subset)
}

// table returns the quoted name of a table of a subset.
func (a *openArchive) table(subset, table string) string { return a.Dialect.Table(subset, table) }

// Size returns the size of this design's tables in all subsets as the server reports it. For InnoDB it is an estimate.
// The tables of other designs can be in the same database.
func (a *openArchive) Size(ctx context.Context) (int64, error) {
	names, err := a.Subsets(ctx)
	if err != nil || len(names) == 0 {
		return 0, err
	}
	ours := map[design.Name]string{
		design.Normalized: "NOT REGEXP '^(doc|wide|barograph_(document|wide))_'", // METviewer's tables and the additions to them
		design.Document:   "REGEXP '^(doc|barograph_document)_'",
		design.Wide:       "REGEXP '^(wide|barograph_wide)_'",
	}[a.Design]
	return sqlengine.QueryNumber(ctx, a.Pool, "SELECT CAST(SUM(data_length + index_length) AS SIGNED) "+
		"FROM information_schema.tables WHERE table_name "+ours+" AND table_schema IN "+flavour.List(names, func(n string) string { return flavour.Quote(a.database(n)) }))
}

// Check lets the server check every page and index of the subset's tables.
func (a *openArchive) Check(ctx context.Context, subset string) (problems []string, err error) {
	text, args := a.TablesQuery(subset)
	tables, err := sqlengine.QueryTexts(ctx, a.Pool, text, args...)
	for i := 0; i < len(tables) && err == nil; i++ {
		err = a.Pool.Rows(ctx, "CHECK TABLE "+a.table(subset, tables[i])+" EXTENDED", nil, func(row []any) error {
			var table, op, kind, message string
			err := sqlengine.Scan(row, &table, &op, &kind, &message)
			if kind == "error" || kind == "warning" || kind == "status" && message != "OK" {
				problems = append(problems, table+": "+message)
			}
			return err
		})
	}
	return problems, err
}

// Contents counts the records and objects of a subset.
func (a *openArchive) Contents(ctx context.Context, subset string) (archive.Contents, error) {
	c, err := a.Archive.Contents(ctx, subset)
	c.Database = a.database(subset)
	return c, err
}

// typeName returns the name of the table of a line type.
func (a *openArchive) typeName(t *record.LineType) string {
	if a.Design == design.Normalized {
		return tableOf(t)
	}
	name, _, _ := sqlengine.DesignTable(a.Design, t)
	return name
}

// metviewerLines returns the query for records of METviewer's tables, and its columns.
func (a *openArchive) metviewerLines(
	ctx context.Context, q sqlengine.Querier, subset string, t *record.LineType,
) (string, []sqlengine.Column, error) {
	twins, err := a.twins(ctx, q, subset)
	exprs, cols := a.lineSelect(subset, t, twins)
	return "SELECT " + exprs + a.fromLines(subset, t, twins) + a.Where(t), cols, err
}

func (a *openArchive) fromLines(subset string, t *record.LineType, twins map[string]map[string]bool) string {
	headers := a.table(subset, headerTable(t, twins))
	return " FROM " + a.table(subset, tableOf(t)) + " ld JOIN " + headers + " h USING (stat_header_id)"
}

// lineSelect returns the expressions that select records from METviewer's tables, and the
// columns that they belong to.
//
// Rows of another program do not have the repeating columns in one text, and their init times may be
// wrong. For these rows lineSelect selects computed values, which are the argument foreign of add.
func (a *openArchive) lineSelect(subset string, t *record.LineType, twins map[string]map[string]bool) (exprs string, cols []sqlengine.Column) {
	var list []string
	hasOwn := twins[tableOf(t)][ownColumn(t)]
	add := func(c sqlengine.Column, expr, foreign string) {
		switch {
		case foreign == "":
		case !hasOwn:
			expr = foreign
		default:
			expr = "IF(ld." + ownColumn(t) + " IS NULL, " + foreign + ", " + expr + ")"
		}
		cols, list = append(cols, c), append(list, expr)
	}
	for _, c := range headerColumns() {
		add(c.Column, c.expr(twins[headerTable(t, twins)]), "")
	}
	for _, c := range lineColumns(t) {
		switch expr := c.expr(twins[tableOf(t)]); c.From {
		case sqlengine.HeaderID, sqlengine.FileID:
		case sqlengine.InitBeg:
			add(c.Column, expr, initTime)
		default:
			add(c.Column, expr, "")
		}
	}
	if hasLineID(t) {
		foreign := ""
		if hasTable(t) {
			foreign = a.repeatsOf(subset, t)
		}
		add(sqlengine.Column{Name: "repeats", Type: sqlengine.Doubles, From: sqlengine.Repeats}, "ld."+repeatsColumn, foreign)
	}
	return strings.Join(list, ", "), cols
}

// initTime is the valid time minus the lead. The lead is in hours for VSDB, else [H]HHMMSS.
const initTime = "ld.fcst_valid_beg - INTERVAL IF(h.version = 'V01', ld.fcst_lead * 3600, " +
	"SIGN(ld.fcst_lead) * (ABS(ld.fcst_lead) DIV 10000 * 3600 + ABS(ld.fcst_lead) DIV 100 % 100 * 60 + ABS(ld.fcst_lead) % 100)) SECOND"

// repeatsOf returns the expression of repeating columns from METviewer's child table. METdbLoad
// drops the last threshold of PCT, PJC and PRC, which is always 1, because MET reads no other
// value.
func (a *openArchive) repeatsOf(subset string, t *record.LineType) string {
	child, columns := childTable(tableOf(t))
	order, last := "i_value", "]"
	if t.Name == "MCTC" {
		order += ", j_value"
	}
	if loneThreshold(t) {
		last = ",1]"
	}
	values := lists.Map(columns, func(c metCol) string { return "IF(c." + c.name + " = -9999, NULL, c." + c.name + ")" })
	text := "COALESCE(" + strings.Join(values, ", 'null'), ',', COALESCE(") + ", 'null')"
	return "(SELECT CONCAT('[', GROUP_CONCAT(" + text + " ORDER BY " + order + "), '" + last + "') FROM " + a.table(subset, child) +
		" c WHERE c.line_data_id = ld.line_data_id)"
}

// loneThreshold reports whether a type's last threshold has no further columns.
func loneThreshold(t *record.LineType) bool {
	return t.Name == "PCT" || t.Name == "PJC" || t.Name == "PRC"
}

func (a *openArchive) Phrase(ctx context.Context, q *question.Question, f flavour.Name) (*archive.Query, error) {
	if f == flavour.CachedSQL && a.db.cacheProblem != "" {
		return nil, fmt.Errorf("mariadb, %s: the server does not cache results, %s (the lab's profile tuned has a query cache): %w",
			f, a.db.cacheProblem, flavour.ErrCannotExpress)
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

// dialectFor returns the dialect for a question on METviewer's tables. It uses METviewer's
// columns, and also their twins for columns that could not store some value.
func (a *openArchive) dialectFor(ctx context.Context, q *question.Question) (*flavour.Dialect, error) {
	if a.Design != design.Normalized {
		return a.Dialect, nil
	}
	twins, err := a.twins(ctx, a.Pool, q.Subset)
	if err != nil {
		return nil, err
	}
	d := *a.Dialect
	d.Table = func(subset, table string) string {
		switch table {
		case design.LineTable(q.Type):
			table = tableOf(q.Type)
		case design.HeaderTable:
			table = headerTable(q.Type, twins)
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
			return headers[f].expr(twins[headerTable(q.Type, twins)])
		}
		return exprs[f.String()]
	}
	return &d, nil
}

// twins lists the invisible columns of METviewer's tables, by table, and the columns of ownHeader. For a
// database of another program it also lists the columns that its tables lack, with lacksPrefix.
func (a *openArchive) twins(ctx context.Context, q sqlengine.Querier, subset string) (map[string]map[string]bool, error) {
	twins, db := map[string]map[string]bool{}, a.database(subset)
	const text = "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = ? AND " +
		"(column_name LIKE 'barograph%' OR table_name = '" + ownHeader + "' OR " +
		"NOT EXISTS (SELECT 1 FROM information_schema.tables WHERE table_schema = ? AND table_name = ?)) AND " +
		"(table_name LIKE '%stat_header' OR table_name LIKE '%line_data%' OR table_name LIKE 'm%obj%' OR table_name = 'mode_cts')"
	err := q.Rows(ctx, text, []any{db, db, a.OwnName(sqlengine.CatalogTable)}, func(row []any) error {
		var table, column string
		err := sqlengine.Scan(row, &table, &column)
		if twins[table] == nil {
			twins[table] = map[string]bool{}
		}
		twins[table][column] = true
		return err
	})
	for table, columns := range twins {
		if columns["stat_header_id"] {
			markLacking(table, columns)
		}
	}
	return twins, err
}

// Ask sends a query as the URL's parameters protocol and server_time request.
func (a *openArchive) Ask(ctx context.Context, q *archive.Query, into *answer.Builder) error {
	err := a.ask(ctx, q, sqlengine.NewResultDecoder(a.Design, q, into))
	if absent(err) {
		return nil
	}
	return callError(ctx, err)
}

func (a *openArchive) ask(ctx context.Context, q *archive.Query, d *sqlengine.ResultDecoder) error {
	if a.db.profile {
		return a.askProfiled(ctx, q, d)
	}
	if !a.db.prepare {
		return a.Pool.Rows(ctx, q.Text, q.Args, d.AddRow)
	}
	s, done, err := a.statements.get(ctx, a.db.pool, q.Text)
	if err != nil {
		return err
	}
	defer done()
	return runPrepared(ctx, s, q, d)
}

// runPrepared executes a prepared statement.
func runPrepared(ctx context.Context, s *sql.Stmt, q *archive.Query, d *sqlengine.ResultDecoder) error {
	rows, err := s.QueryContext(ctx, q.Args...) //nolint:rowserrcheck // ForEachRow checks the error
	if err != nil {
		return err
	}
	return sqlengine.ForEachRow(ctx, rows, d.AddRow)
}

// askProfiled also reads how long the server worked on the query, over the same connection.
func (a *openArchive) askProfiled(ctx context.Context, q *archive.Query, d *sqlengine.ResultDecoder) error {
	c, err := a.db.pool.Conn(ctx)
	if err != nil {
		return err
	}
	defer c.Close() //nolint:errcheck // it returns to the pool
	if a.db.prepare {
		s, err := c.PrepareContext(ctx, q.Text)
		if err != nil {
			return err
		}
		defer s.Close() //nolint:errcheck // it has no pending state
		if err := runPrepared(ctx, s, q, d); err != nil {
			return err
		}
	} else if err := (querier{c}).Rows(ctx, q.Text, q.Args, d.AddRow); err != nil {
		return err
	}
	q.ServerTime, err = serverTime(ctx, c)
	return err
}

// serverTime returns the duration of the connection's last statement in the server, from its
// arrival until the last row is sent.
func serverTime(ctx context.Context, c *sql.Conn) (time.Duration, error) {
	var id int64
	var seconds float64
	var text []byte
	if err := c.QueryRowContext(ctx, "SHOW PROFILES").Scan(&id, &seconds, &text); err != nil {
		return 0, fmt.Errorf("the server's time: %w", err)
	}
	return time.Duration(math.Round(seconds * 1e9)), nil
}

// statements contains the prepared statements of a pool, by text.
type statements struct {
	mu  sync.Mutex
	all map[string]*sql.Stmt
}

// maxStatements is the greatest number of prepared statements of a pool.
const maxStatements = 500

// get prepares a statement, or returns the prepared one. If there are too many, it prepares the
// statement for one use. The caller calls done after reading the rows.
func (s *statements) get(ctx context.Context, pool *sql.DB, text string) (_ *sql.Stmt, done func(), err error) {
	s.mu.Lock()
	known, full := s.all[text], len(s.all) >= maxStatements
	s.mu.Unlock()
	if known != nil {
		return known, func() {}, nil
	}
	statement, err := pool.PrepareContext(ctx, text)
	if err != nil {
		return nil, nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if full || s.all[text] != nil { // another client has prepared it meanwhile
		return statement, func() { _ = statement.Close() }, nil // it has no pending state
	}
	if s.all == nil {
		s.all = map[string]*sql.Stmt{}
	}
	s.all[text] = statement
	return statement, func() {}, nil
}

// Explain runs the query once and returns ANALYZE FORMAT=JSON. MySQL runs nothing.
func (a *openArchive) Explain(ctx context.Context, q *archive.Query) (archive.Plan, error) {
	var plan string
	err := a.db.pool.QueryRowContext(ctx, a.db.explain()+q.Text, q.Args...).Scan(&plan)
	if absent(err) {
		return archive.Plan{Text: "the subset has no records of this line type\n"}, nil
	}
	if err != nil {
		return archive.Plan{}, callError(ctx, err)
	}
	out := archive.Plan{Text: plan}
	out.Access, err = accesses([]byte(plan), func(name string) string {
		switch {
		case name == "ld":
			return a.typeName(q.Question.Type)
		case name == "h" && strings.Contains(q.Text, ident(ownHeader)):
			return ownHeader
		}
		return sqlengine.TableOfAlias(a.Design, q.Question.Type, name)
	})
	return out, err
}

// tableAccess is a table in ANALYZE FORMAT=JSON (mariadb.com/kb/en/analyze-format-json).
// Counts that start with r_ are measured; they are averages over the loops. They are absent
// if the step did not run.
type tableAccess struct {
	Table     string   `json:"table_name"`
	Type      string   `json:"access_type"`
	Function  string   `json:"table_function"` // json_table makes rows of the previous table's columns
	Key       string   `json:"key"`
	Parts     []string `json:"used_key_parts"`
	Condition string   `json:"attached_condition"`
	Rows      float64  `json:"rows"`
	Scanned   float64  `json:"rows_examined_per_scan"` // MySQL's name for rows
	Loops     *float64 `json:"r_loops"`
	Read      *float64 `json:"r_rows"`
	Passed    *float64 `json:"r_filtered"` // percent
}

// accesses reads the tables of a plan in the order of the text. resolve returns the table of an
// alias.
func accesses(plan []byte, resolve func(name string) string) ([]archive.Access, error) {
	if !gjson.ValidBytes(plan) {
		return nil, errors.New("the plan is not JSON")
	}
	var out []archive.Access
	walk(gjson.ParseBytes(plan), func(t *tableAccess) {
		if t.Function == "" && !strings.HasPrefix(t.Table, "<") { // <derived2> and similar names are rows of another step
			out = append(out, t.access(resolve(t.Table)))
		}
	})
	return out, nil
}

// walk calls f for every table of a plan, in the order of the text.
func walk(v gjson.Result, f func(*tableAccess)) {
	var t tableAccess
	if v.Get("access_type").Exists() && json.Unmarshal([]byte(v.Raw), &t) == nil {
		f(&t)
	}
	v.ForEach(func(_, inner gjson.Result) bool {
		if inner.IsObject() || inner.IsArray() {
			walk(inner, f)
		}
		return true
	})
}

func (t *tableAccess) access(object string) archive.Access {
	a := archive.Access{Object: object, Method: archive.IndexScan, Index: t.Key, Examined: int64(math.Round(t.Rows + t.Scanned)), Kept: -1}
	switch t.Type {
	case "ALL", "index": // index: a scan of a complete index
		a.Method = archive.FullScan
	case "const", "eq_ref", "system":
		a.Method = archive.KeyLookup
	case "range":
		if t.Key == "PRIMARY" && len(t.Parts) == 1 && keyList.MatchString(t.Condition) {
			a.Method = archive.KeyLookup
		}
	}
	if t.Loops == nil || *t.Loops > 0 && t.Read == nil {
		return a
	}
	a.Counted, a.Examined, a.Kept = true, 0, 0
	if *t.Loops > 0 {
		examined := *t.Read * *t.Loops
		a.Examined = int64(math.Round(examined))
		if t.Passed != nil {
			examined *= *t.Passed / 100
		}
		a.Kept = int64(math.Round(examined))
	}
	return a
}

// keyList matches a condition that lists values of the primary key.
var keyList = regexp.MustCompile("^[^']*`?id`? (in \\(|= )'")
