//go:build oracle

package oracle

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"time"

	goora "github.com/sijms/go-ora/v2"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/query/flavour"
)

// openArchive is the archive of one design in the user's schema.
type openArchive struct {
	*sqlengine.Archive
	db *database
}

// allTables is the query for the user's tables.
const allTables = "SELECT table_name FROM user_tables"

// Open opens the archive of a design.
func (db *database) Open(_ context.Context, n design.Name) (archive.Archive, error) {
	if err := sqlengine.CheckOffered(Driver(), n); err != nil {
		return nil, err
	}
	return newArchive(db, n), nil
}

func newArchive(db *database, n design.Name) *openArchive {
	a := &openArchive{db: db}
	a.Archive = &sqlengine.Archive{
		Driver: Driver, Design: n, Dialect: dialect(), Pool: querier{sqlengine.DatabaseSQL{DB: db.pool}}, Placeholder: ":1",
		ContainersQuery: allTables, SubsetIn: a.subset,
		TablesQuery: func(string) (string, []any) { return allTables, nil },
		ListedName:  objectName,
		CountDocs: func(from string) string {
			return "SELECT (SELECT COUNT(*) FROM " + from + "), (SELECT COUNT(*) FROM " + from +
				" r, JSON_TABLE(r.data FORMAT JSON, '$[*]' COLUMNS (fcst_lead NUMBER PATH '$.fcst_lead')) d) FROM DUAL"
		},
	}
	return a
}

// subset returns the subset of a catalog table. The table's name may contain a shortened subset.
func (a *openArchive) subset(ctx context.Context, table string) (string, bool, error) {
	if !strings.HasSuffix(table, "/"+a.OwnName(sqlengine.CatalogTable)) {
		return "", false, nil
	}
	names, err := sqlengine.QueryTexts(ctx, a.Pool, "SELECT subset FROM "+flavour.Ident(table))
	if err != nil || len(names) == 0 { // it was created a moment ago
		return "", false, err
	}
	return names[0], true, nil
}

// Size adds up the segments of this design's tables in all subsets, with their indexes and LOBs.
func (a *openArchive) Size(ctx context.Context) (int64, error) {
	tables := "REGEXP_LIKE(table_name, '" + tablePattern(a.Design) + "')"
	return sqlengine.QueryNumber(ctx, a.Pool, "SELECT SUM(bytes) FROM user_segments WHERE segment_name IN (SELECT table_name FROM user_tables WHERE "+tables+
		" UNION ALL SELECT index_name FROM user_indexes WHERE "+tables+" UNION ALL SELECT segment_name FROM user_lobs WHERE "+tables+")")
}

// tablePattern is a regular expression for the names of a design's tables. A name ends in /table; the subset before it may
// contain any text.
func tablePattern(n design.Name) string {
	tables := "doc_[^/]*"
	if n == design.Normalized {
		tables = "line_data_[^/]*|stat_header|data_file"
	}
	return "/(" + tables + "|barograph_" + string(n) + "_[^/]*)$"
}

// querier is a Querier of the driver's types.
type querier struct{ sqlengine.DatabaseSQL }

// Exec runs a statement.
func (q querier) Exec(ctx context.Context, text string, args ...any) error {
	return q.DatabaseSQL.Exec(ctx, text, arguments(args)...)
}

// Rows passes each row to f.
func (q querier) Rows(ctx context.Context, text string, args []any, f func(row []any) error) error {
	return q.DatabaseSQL.Rows(ctx, text, arguments(args), func(row []any) error {
		for k, v := range row {
			row[k] = canonical(v)
		}
		return f(row)
	})
}

// arguments converts the arguments of a query for the driver: a list of ids may be longer than Oracle
// allows for a text or RAW.
func arguments(args []any) []any {
	out := slices.Clone(args)
	for i, v := range out {
		if text, ok := v.([]byte); ok {
			out[i] = goora.Blob{Data: text, Valid: true}
		}
	}
	return out
}

// canonical converts a value for sqlengine: the driver returns a TIMESTAMP, which has no zone, in some zone.
func canonical(v any) any {
	if t, ok := v.(time.Time); ok {
		return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), 0, time.UTC)
	}
	return v
}

// Explain returns EXPLAIN PLAN: the optimizer's plan, with its estimates.
func (a *openArchive) Explain(ctx context.Context, q *archive.Query) (archive.Plan, error) {
	if ok, err := a.Exists(ctx, q.Question); err != nil || !ok {
		return archive.Plan{Text: "the subset has no records of this line type\n"}, err
	}
	// The plan is in a table of which every session has its own.
	c, err := a.db.pool.Conn(ctx)
	if err != nil {
		return archive.Plan{}, engine.CallError(ctx, err)
	}
	defer c.Close() //nolint:errcheck // it returns to the pool
	return explain(ctx, querier{sqlengine.DatabaseSQL{DB: c}}, q)
}

// token matches a quoted name, a literal or a parameter.
var token = regexp.MustCompile(`"[^"]*"|'[^']*'|:1`)

// withoutParameters replaces the parameter of a question, which is a list of ids, by an empty list. EXPLAIN PLAN accepts
// no parameters, and the plan does not depend on the ids.
func withoutParameters(text string) string {
	return token.ReplaceAllStringFunc(text, func(s string) string {
		if s == ":1" {
			return "'[]'"
		}
		return s
	})
}

func explain(ctx context.Context, c querier, q *archive.Query) (archive.Plan, error) {
	for _, s := range []string{"DELETE FROM plan_table", "EXPLAIN PLAN FOR " + withoutParameters(q.Text)} {
		if err := c.Exec(ctx, s); err != nil {
			return archive.Plan{}, err
		}
	}
	text, err := sqlengine.QueryTexts(ctx, c, "SELECT plan_table_output FROM TABLE(DBMS_XPLAN.DISPLAY)")
	if err != nil {
		return archive.Plan{}, err
	}
	var steps []step
	err = c.Rows(ctx, "SELECT operation, NVL(options, ' '), NVL(object_name, ' '), NVL(cardinality, -1) FROM plan_table ORDER BY id", nil, func(row []any) error {
		var s step
		err := sqlengine.Scan(row, &s.operation, &s.options, &s.object, &s.rows)
		steps = append(steps, s)
		return err
	})
	return archive.Plan{Text: strings.Join(text, "\n") + "\n", Access: accesses(q.Question.Subset, steps)}, err
}

// step is a row of PLAN_TABLE.
type step struct {
	operation, options, object string
	rows                       int64 // the optimizer's estimate
}

// accesses returns one access for each table that the steps read. A step BY INDEX ROWID reads rows, and a step INDEX
// finds them; accesses joins the two. The INDEX is usually the next step, but in nested loops it comes first. An INDEX
// without a step BY INDEX ROWID gives all values itself. The name of an index begins with the name of its table.
func accesses(subset string, steps []step) []archive.Access {
	prefix := objectName(subset, "")
	var out []archive.Access
	for _, s := range steps {
		a := archive.Access{Object: strings.TrimPrefix(s.object, prefix), Method: archive.FullScan, Examined: -1, Kept: s.rows}
		switch {
		case s.operation == "TABLE ACCESS" && strings.HasPrefix(s.options, "BY INDEX ROWID"):
			a.Method = archive.IndexScan
		case s.operation == "TABLE ACCESS":
		case strings.HasPrefix(s.operation, "INDEX"):
			a.Index, a.Method = a.Object, archive.IndexScan
			if strings.HasPrefix(s.options, "UNIQUE") {
				a.Method = archive.KeyLookup
			}
			a.Object = indexed(a.Index)
		default:
			continue
		}
		i := slices.IndexFunc(out, func(o archive.Access) bool {
			return o.Object == a.Object && a.Method != archive.FullScan && o.Method != archive.FullScan && (o.Index == "") != (a.Index == "")
		})
		switch {
		case i < 0:
			out = append(out, a)
		case a.Index != "":
			out[i].Method, out[i].Index = a.Method, a.Index
		default:
			out[i].Kept = a.Kept
		}
	}
	return out
}

// indexed returns the table of one of Barograph's indexes.
func indexed(index string) string {
	for _, suffix := range []string{uniqueSuffix, headerSuffix, seriesSuffix, keySuffix} {
		if table, ok := strings.CutSuffix(index, suffix); ok {
			return table
		}
	}
	return index
}
