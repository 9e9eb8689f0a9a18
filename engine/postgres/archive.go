package postgres

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/flavour"
)

// openArchive is the archive of one design.
type openArchive struct {
	*sqlengine.Archive
	db *database
}

// Open opens the archive of a design.
func (db *database) Open(_ context.Context, n design.Name) (archive.Archive, error) {
	if err := sqlengine.CheckOffered(Driver(), n); err != nil {
		return nil, err
	}
	a := &openArchive{db: db}
	// plain is the condition for a table that runs no function when it is read, and hides no row.
	const plain = `relkind IN ('r', 'p') AND NOT relrowsecurity`
	const tables = `SELECT relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE nspname = $1 AND `
	a.Archive = &sqlengine.Archive{
		Driver: Driver, Design: n, Dialect: dialect(), Pool: querier{db.pool}, Placeholder: "$1",
		SubsetIn: a.subset,
		TablesQuery: func(subset string) (string, []any) {
			return tables + plain, []any{schemaName(subset)}
		},
		NonTablesQuery: func(subset string) (string, []any) {
			return tables + `relkind NOT IN ('i', 'I', 'S', 't') AND NOT (` + plain + `)`, []any{schemaName(subset)}
		},
		ListedName:  func(_, table string) string { return table },
		EntriesJSON: func(data string) string { return data + "::text" },
		CountDocs: func(from string) string {
			return "SELECT count(*), coalesce(sum(jsonb_array_length(data)), 0) FROM " + from
		},
		DecodeRepeats: func(src any, into []float64) ([]float64, error) {
			raw, _ := src.([]byte)
			return floats(raw, into), nil
		},
		InSnapshot: a.snapshot,
	}
	// Archives that this user may not read are not listed, unless there are only such archives: subset returns the error.
	a.ContainersQuery = `SELECT nspname FROM (SELECT *, bool_or(readable) OVER () AS any_readable FROM (
			SELECT nspname, relname, has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT') AS readable
			FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
			WHERE relname LIKE 'barograph%catalog' AND relkind = 'r' AND ` + plain + `) AS catalogs) AS known
		WHERE (readable OR NOT any_readable) AND relname = ` + flavour.Quote(a.OwnName(sqlengine.CatalogTable))
	return a, nil
}

// subset returns the subset of a schema. Its name may be escaped or shortened in the schema's name.
func (a *openArchive) subset(ctx context.Context, schema string) (string, bool, error) {
	names, err := sqlengine.QueryTexts(ctx, a.Pool, "SELECT subset FROM "+flavour.Ident(schema)+"."+a.OwnName(sqlengine.CatalogTable))
	if damaged, ok := errors.AsType[*pgconn.PgError](err); ok && strings.HasPrefix(damaged.Code, "XX") {
		return schema, true, nil // reading the catalog reports the damage
	}
	if err != nil || len(names) == 0 {
		return "", false, err
	}
	return names[0], true, nil
}

// snapshot runs f in a transaction that sees one snapshot.
func (a *openArchive) snapshot(ctx context.Context, f func(ctx context.Context, q sqlengine.Querier) error) error {
	tx, err := a.db.pool.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return callError(ctx, err)
	}
	defer tx.Rollback(context.WithoutCancel(ctx)) //nolint:errcheck // it has only read
	return f(ctx, querier{tx})
}

// Check lets the server check each page of the subset's tables, of their TOAST tables and of
// their indexes. Reading all records does not reach each of these pages. It needs the extension
// amcheck: Check creates it in a transaction that it rolls back, if this user may do that. A replica accepts no such
// transaction, and Check finds nothing there.
func (a *openArchive) Check(ctx context.Context, subset string) (problems []string, err error) {
	tx, err := a.db.pool.BeginTx(ctx, pgx.TxOptions{AccessMode: pgx.ReadWrite})
	if hasCode(err, "0A000") {
		return nil, nil
	}
	if err != nil {
		return nil, callError(ctx, err)
	}
	defer tx.Rollback(context.WithoutCancel(ctx)) //nolint:errcheck // the transaction is always rolled back
	if _, err := tx.Exec(ctx, "CREATE EXTENSION IF NOT EXISTS amcheck"); err != nil {
		return nil, ctx.Err()
	}
	const tables = `(SELECT c.oid, reltoastrelid, relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE nspname = $1 AND relkind = 'r') AS t`
	for _, text := range []string{
		`SELECT bt_index_check(indexrelid, heapallindexed => true)::text FROM ` + tables + ` JOIN pg_index i ON indrelid IN (t.oid, reltoastrelid)
			JOIN pg_class x ON x.oid = indexrelid JOIN pg_am m ON m.oid = x.relam WHERE amname = 'btree'`, // '' = correct
		`SELECT relname || ': ' || msg FROM ` + tables + `, LATERAL verify_heapam(t.oid, check_toast => true)`,
	} {
		rows, _ := tx.Query(ctx, text, schemaName(subset)) // CollectRows returns its error
		messages, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if hasCode(err, "42883", "42501") { // an older amcheck, or no permission
			return problems, nil
		}
		if err != nil {
			return append(problems, "a table or its index is damaged: "+err.Error()), nil
		}
		problems = append(problems, slices.DeleteFunc(messages, func(s string) bool { return s == "" })...)
	}
	return problems, nil
}

// Size returns the bytes of this design's tables in all subsets, with their indexes.
func (a *openArchive) Size(ctx context.Context) (int64, error) {
	schemas, err := sqlengine.QueryTexts(ctx, a.Pool, a.ContainersQuery)
	if err != nil {
		return 0, err
	}
	tables := []string{a.OwnName(sqlengine.CatalogTable), a.OwnName(sqlengine.MarksTable)}
	prefix := map[design.Name]string{design.Normalized: "line_data_", design.Document: "doc_", design.Wide: "wide_"}[a.Design]
	if a.Design == design.Normalized {
		tables = append(tables, design.HeaderTable, sqlengine.FileTable)
	}
	return sqlengine.QueryNumber(ctx, a.Pool, `SELECT sum(pg_total_relation_size(c.oid))::bigint
		FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE nspname = ANY($1) AND relkind IN ('r', 'p') AND (relname = ANY($2) OR starts_with(relname, $3))`, schemas, tables, prefix)
}

// Ask decodes replies in the wire format; see decodeRow.
func (a *openArchive) Ask(ctx context.Context, q *archive.Query, into *answer.Builder) error {
	d := sqlengine.NewResultDecoder(a.Design, q, into)
	if ok, err := a.Exists(ctx, q.Question); err != nil || !ok {
		return err
	}
	args := q.Args
	if a.db.simple {
		args = append([]any{pgx.QueryExecModeSimpleProtocol}, args...)
	}
	return each(ctx, a.db.pool, q.Text, args, func(rows pgx.Rows) error { return decodeRow(d, q.Question.Columns, rows) })
}

// sender is the common interface of a pool, a connection and a transaction.
type sender interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
}

// each calls f for each row of a reply. After an error of f it cancels the statement, because Close would read all
// remaining rows. That closes the connection.
func each(ctx context.Context, over sender, text string, args []any, f func(rows pgx.Rows) error) error {
	callCtx, stop := context.WithCancel(ctx)
	defer stop()
	rows, err := over.Query(callCtx, text, args...)
	if err != nil {
		return callError(ctx, err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := f(rows); err != nil {
			stop()
			return err
		}
	}
	return callError(ctx, rows.Err())
}

// querier implements Querier with pgx.
type querier struct{ over sender }

// conn returns the connection of a transaction.
func conn(q sqlengine.Querier) *pgx.Conn { return q.(querier).over.(*pgx.Conn) }

// Exec runs a statement.
func (q querier) Exec(ctx context.Context, text string, args ...any) error {
	_, err := q.over.Exec(ctx, text, args...)
	return callError(ctx, err)
}

// Rows passes each row to f.
func (q querier) Rows(ctx context.Context, text string, args []any, f func(row []any) error) error {
	var row []any
	return each(ctx, q.over, text, args, func(rows pgx.Rows) error {
		row = row[:0]
		fields := rows.FieldDescriptions()
		for k, raw := range rows.RawValues() {
			row = append(row, cell(raw, &fields[k]))
		}
		return f(row)
	})
}

// cell converts a value for sqlengine. A value of an unknown type becomes its bytes.
func cell(raw []byte, f *pgconn.FieldDescription) any {
	switch {
	case raw == nil:
		return nil
	case f.Format != pgtype.BinaryFormatCode && f.DataTypeOID == pgtype.BoolOID:
		return string(raw) == "t"
	case f.Format != pgtype.BinaryFormatCode:
		return raw
	case f.DataTypeOID == pgtype.Float8OID:
		return float(raw)
	}
	if v, ok := moment(raw, f.DataTypeOID); ok {
		return v
	}
	return raw
}

// Explain runs the query twice: once for the plan as the server prints it, with times and
// pages, and once for the plan as JSON, from which it reads the accesses.
func (a *openArchive) Explain(ctx context.Context, q *archive.Query) (archive.Plan, error) {
	if ok, err := a.Exists(ctx, q.Question); err != nil || !ok {
		return archive.Plan{Text: "the subset has no records of this line type\n"}, err
	}
	lines, err := sqlengine.QueryTexts(ctx, a.Pool, "EXPLAIN (ANALYZE, BUFFERS) "+q.Text, q.Args...)
	if err != nil {
		return archive.Plan{}, err
	}
	plan := archive.Plan{Text: strings.Join(lines, "\n") + "\n"}
	text, err := sqlengine.QueryTexts(ctx, a.Pool, "EXPLAIN (ANALYZE, FORMAT JSON) "+q.Text, q.Args...)
	if err != nil {
		return plan, err
	}
	e, err := parseExplained([]byte(strings.Join(text, "")))
	if err != nil {
		return plan, err
	}
	known, err := a.relations(ctx, q.Question.Subset)
	if err != nil {
		return plan, err
	}
	plan.Access = e.accesses(known)
	return plan, nil
}

// explained is the output of EXPLAIN (ANALYZE, FORMAT JSON).
type explained struct{ Plan node }

// node is a node of a plan. Its counts are averages over its loops. Servers before version 18
// round them: for parallel scans they are exact to half a row per worker.
type node struct {
	Type      string  `json:"Node Type"`
	Relation  string  `json:"Relation Name"`
	Index     string  `json:"Index Name"`
	Condition string  `json:"Index Cond"`
	Rows      float64 `json:"Actual Rows"`
	Loops     float64 `json:"Actual Loops"`
	Filtered  float64 `json:"Rows Removed by Filter"`
	Rechecked float64 `json:"Rows Removed by Index Recheck"`
	Plans     []node
}

func parseExplained(text []byte) (*explained, error) {
	var all []explained
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, err
	}
	if len(all) != 1 {
		return nil, errors.New("postgres: EXPLAIN returned no statement")
	}
	return &all[0], nil
}

// relations describes tables and indexes: what accesses needs to know of them, and a plan does not contain.
type relations struct {
	brin   map[string]bool   // indexes that only exclude blocks
	parent map[string]string // the parents of partitions and of their indexes
	parts  map[string]int    // number of partitions, by parent
}

// relations reads the server's catalog of a subset's schema.
func (a *openArchive) relations(ctx context.Context, subset string) (relations, error) {
	r := relations{brin: map[string]bool{}, parent: map[string]string{}, parts: map[string]int{}}
	err := a.Pool.Rows(ctx, `SELECT c.relname, coalesce(p.relname, ''), (m.amname = 'brin')::int
		FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace LEFT JOIN pg_am m ON m.oid = c.relam
			LEFT JOIN pg_inherits i ON i.inhrelid = c.oid LEFT JOIN pg_class p ON p.oid = i.inhparent
		WHERE nspname = $1 AND (m.amname = 'brin' OR p.oid IS NOT NULL)`, []any{schemaName(subset)}, func(row []any) error {
		var name, parent string
		err := sqlengine.Scan(row, &name, &parent)
		if brin, _ := row[2].(int64); brin == 1 {
			r.brin[name] = true
		}
		if parent != "" && r.parent[name] == "" {
			r.parent[name] = parent
			r.parts[parent]++
		}
		return err
	})
	return r, err
}

// accesses reads the scans of tables from a plan. Scans of a table's partitions are one access
// if they use the same method.
func (e *explained) accesses(known relations) []archive.Access {
	var out []archive.Access
	scanned := map[string]int{} // partitions, by table
	var walk func(n *node)
	walk = func(n *node) {
		if n.Relation != "" {
			a := n.access(known)
			if p := known.parent[n.Relation]; p != "" {
				a.Object = p
				if n.Loops > 0 {
					scanned[p]++
				}
			}
			i := slices.IndexFunc(out, func(o archive.Access) bool {
				return o.Object == a.Object && o.Method == a.Method && o.Index == a.Index
			})
			if i >= 0 && known.parts[a.Object] > 0 {
				out[i].Examined += a.Examined
				out[i].Kept += a.Kept
			} else {
				out = append(out, a)
			}
		}
		for i := range n.Plans {
			walk(&n.Plans[i])
		}
	}
	walk(&e.Plan)
	for i := range out {
		if a := &out[i]; a.Method == archive.FullScan && scanned[a.Object] < known.parts[a.Object] {
			a.Method = archive.PrunedScan
		}
	}
	return out
}

// access describes the access of a node that scans a table.
func (n *node) access(known relations) archive.Access {
	total := func(f float64) int64 { return int64(math.Round(f * n.Loops)) }
	a := archive.Access{Object: n.Relation, Method: archive.FullScan, Kept: total(n.Rows), Counted: true}
	a.Examined = total(n.Rows + n.Filtered + n.Rechecked)
	indexes := n.indexes()
	if len(indexes) == 0 {
		return a
	}
	names := make([]string, len(indexes))
	lookup, pruned := true, true
	for i, x := range indexes {
		names[i] = cmp.Or(known.parent[x.Index], x.Index)
		lookup = lookup && strings.HasSuffix(names[i], "_pkey") && equality.MatchString(x.Condition)
		pruned = pruned && known.brin[x.Index]
	}
	a.Index = strings.Join(names, " + ")
	switch {
	case pruned:
		a.Method = archive.PrunedScan
	case lookup:
		a.Method = archive.KeyLookup
	default:
		a.Method = archive.IndexScan
	}
	return a
}

// equality matches a condition on a key of one column, as all primary keys here are.
var equality = regexp.MustCompile(`^\(\(?\w+\)?(::\w+)? = [^<>]`)

// indexes returns the nodes that name the indexes of a scan: the node itself, or the nodes
// whose bitmaps it uses.
func (n *node) indexes() []*node {
	if n.Index != "" {
		return []*node{n}
	}
	var out []*node
	for i := range n.Plans {
		if strings.HasPrefix(n.Plans[i].Type, "Bitmap") {
			out = append(out, n.Plans[i].indexes()...)
		}
	}
	return out
}
