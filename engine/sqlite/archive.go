package sqlite

import (
	"context"
	"fmt"
	"iter"
	"regexp"
	"strings"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/record"
)

// openArchive is the archive of one design in the file.
type openArchive struct {
	*sqlengine.Archive
	db *database
}

// allTables is the query for the tables of all subsets.
const allTables = "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'"

// nonTables is the query for views, virtual tables, and tables with triggers.
const nonTables = "SELECT tbl_name FROM sqlite_schema WHERE type IN ('view', 'trigger') OR type = 'table' AND sql LIKE 'CREATE VIRTUAL%'"

// Open opens the archive of a design.
func (d *database) Open(_ context.Context, n design.Name) (archive.Archive, error) {
	if err := sqlengine.CheckOffered(Driver(), n); err != nil {
		return nil, err
	}
	a := &openArchive{db: d}
	a.Archive = &sqlengine.Archive{
		Driver: Driver, Design: n, Dialect: dialect(), Pool: sqlengine.DatabaseSQL{DB: d.pool},
		ContainersQuery: allTables,
		SubsetIn: func(_ context.Context, table string) (string, bool, error) {
			s, ok := tableSubset(table, a.OwnName(sqlengine.CatalogTable))
			return s, ok, nil
		},
		TablesQuery:    func(string) (string, []any) { return allTables, nil },
		NonTablesQuery: func(string) (string, []any) { return nonTables, nil },
		ListedName:     tableName,
		EntriesJSON:    func(data string) string { return "json(" + data + ")" },
		CountDocs: func(from string) string {
			return "SELECT count(*), coalesce(sum(json_array_length(data)), 0) FROM " + from
		},
		JoinOperator: "CROSS JOIN", // SQLite then reads the lines in the outer loop, in the order in which they are stored
	}
	return archive.WrapErrors(a, d.explain), nil
}

// Size returns the size of the file with all its designs.
func (a *openArchive) Size(ctx context.Context) (int64, error) { return a.db.size(ctx) }

// The tables of a subset:
//
//	"subset/barograph_<design>_catalog"  one row; the subset exists if this table does
//	"subset/barograph_<design>_marks"    the completely loaded files
//	"subset/stat_header", "subset/data_file", "subset/line_data_<type>"   normalized
//	"subset/doc_<type>"                  document
//
// tableName escapes the few names of subsets that SQLite cannot use. One file may contain several
// designs. The table of a line type is created with its first record.

// types are SQLite's types of columns. Times are text, because SQLite has no type for them, and lists
// of doubles are JSON arrays; the entries of a document are JSONB. Counts keep a fraction if they have
// one, because INTEGER is only an affinity and not a constraint.
var types = sqlengine.TypeNames{ //nolint:gochecknoglobals // a constant table
	sqlengine.Text: "TEXT", sqlengine.Integer: "INTEGER", sqlengine.BigInt: "INTEGER", sqlengine.Timestamp: "TEXT",
	sqlengine.Count: "INTEGER", sqlengine.Double: "REAL", sqlengine.Doubles: "TEXT", sqlengine.Entries: "BLOB",
}

// subsetTables returns the statements that create a subset.
func (a *openArchive) subsetTables(subset string) []string {
	return append([]string{
		sqlengine.CreateText(a.OwnTable(subset, sqlengine.MarksTable), sqlengine.MarkColumns(), types.Of),
		sqlengine.CreateText(a.OwnTable(subset, sqlengine.CatalogTable), sqlengine.CatalogColumns(), types.Of),
	}, a.HeaderTableTexts(subset, indexName(subset, design.HeaderTable, "stat_header_unique_pk"), &types)...)
}

// typeTables returns the statements that create the table of a line type.
//
// METviewer's stat_header_id_idx contains only stat_header_id. Here the valid time follows it,
// because a load can then find the records that it replaces without reading the complete series.
// The same index serves a question by header.
func (a *openArchive) typeTables(subset string, t *record.LineType) []string {
	name, cols, _ := sqlengine.DesignTable(a.Design, t)
	table := a.Dialect.Table(subset, name)
	out := []string{sqlengine.CreateText(table, cols, types.Of)}
	index := typeIndexes[a.Design]
	return append(out, "CREATE INDEX IF NOT EXISTS "+indexName(subset, name, index.name)+" ON "+table+" ("+index.columns+")")
}

// typeIndexes are the indexes of the tables of line types.
var typeIndexes = map[design.Name]struct{ name, columns string }{ //nolint:gochecknoglobals // a constant table
	design.Normalized: {"stat_header_id_idx", "stat_header_id, fcst_valid_beg"},
	design.Document:   {"series_idx", "model, fcst_var, fcst_lev, vx_mask, fcst_valid_epoch"},
}

func indexName(subset, table, name string) string {
	return flavour.Ident(tableName(subset, table+"_"+name))
}

// Check lets SQLite read every used page, which compares its checksum, and compare each index with its
// table, because quick_check accepts an index of another archive. Check handles one table at a time,
// because SQLite stops at the first damaged page.
func (a *openArchive) Check(ctx context.Context, _ string) (problems []string, err error) {
	tables, err := sqlengine.QueryTexts(ctx, a.Pool, allTables)
	if err != nil {
		return nil, err
	}
	for _, table := range tables {
		found, err := sqlengine.QueryTexts(ctx, a.Pool, "PRAGMA integrity_check("+flavour.Quote(table)+")")
		switch {
		case ctx.Err() != nil:
			return problems, ctx.Err()
		case err != nil:
			problems = append(problems, "table "+table+" or its index: "+a.db.explain(err).Error())
		case len(found) != 1 || found[0] != "ok":
			for line := range strings.SplitSeq(strings.Join(found, "\n"), "\n") {
				if !strings.HasPrefix(line, "***") { // not a heading
					problems = append(problems, "table "+table+" or its index: "+line)
				}
			}
		}
	}
	return problems, nil
}

// Explain returns EXPLAIN QUERY PLAN. SQLite reports no counts. For a table that the outermost loop
// scans, Explain uses the number of the table's rows.
func (a *openArchive) Explain(ctx context.Context, q *archive.Query) (archive.Plan, error) {
	if ok, err := a.Exists(ctx, q.Question); err != nil || !ok {
		return archive.Plan{Text: "the subset has no records of this line type\n"}, err
	}
	steps, text, err := a.queryPlan(ctx, q)
	if err != nil {
		return archive.Plan{}, err
	}
	plan := archive.Plan{Text: text, Access: accesses(a.Design, q.Question.Type, q.Question.Subset, steps)}
	if len(plan.Access) == 0 || plan.Access[0].Method != archive.FullScan {
		return plan, nil
	}
	outer := &plan.Access[0]
	outer.Examined, err = sqlengine.QueryNumber(ctx, a.Pool, "SELECT count(*) FROM "+a.Dialect.Table(q.Question.Subset, outer.Object))
	outer.Counted = err == nil
	return plan, err
}

// queryPlan runs EXPLAIN QUERY PLAN. It returns the lines, and a tree for people.
func (a *openArchive) queryPlan(ctx context.Context, q *archive.Query) (steps []string, text string, err error) {
	var b strings.Builder
	depth := map[int]int{}
	err = a.Pool.Rows(ctx, "EXPLAIN QUERY PLAN "+q.Text, q.Args, func(row []any) error {
		var id, parent, unused int
		var detail string
		err := sqlengine.Scan(row, &id, &parent, &unused, &detail)
		depth[id] = depth[parent] + 1
		b.WriteString(strings.Repeat("  ", depth[id]-1) + detail + "\n")
		steps = append(steps, detail)
		return err
	})
	return steps, b.String(), err
}

// step matches a line of EXPLAIN QUERY PLAN that reaches a table: SCAN reads a complete table or
// index, SEARCH a part (sqlite.org/eqp.html).
var step = regexp.MustCompile(`^(SCAN|SEARCH) (\S+?)(?: USING (INTEGER PRIMARY KEY|(?:AUTOMATIC )?(?:PARTIAL )?(?:COVERING )?INDEX (.*?)))?(?: \(([^()]*)\))?(?: LEFT-JOIN)?$`)

// accesses reads the lines of EXPLAIN QUERY PLAN. Rows of json_each come from another step and are not
// an access.
func accesses(n design.Name, t *record.LineType, subset string, steps []string) []archive.Access {
	var out []archive.Access
	for _, s := range steps {
		m := step.FindStringSubmatch(s)
		if m == nil || strings.Contains(s, " VIRTUAL TABLE ") {
			continue
		}
		a := archive.Access{Object: sqlengine.TableOfAlias(n, t, m[2]), Method: archive.IndexScan, Examined: -1, Kept: -1}
		a.Index = strings.ReplaceAll(m[4], tableName(subset, ""), "")
		switch {
		case m[1] == "SCAN":
			a.Method = archive.FullScan
		case m[3] == "INTEGER PRIMARY KEY":
			a.Method, a.Index = archive.KeyLookup, "INTEGER PRIMARY KEY"
			if strings.ContainsAny(m[5], "<>") {
				a.Method = archive.IndexScan
			}
		case strings.HasPrefix(a.Index, "sqlite_autoindex_") && !strings.ContainsAny(m[5], "<>"):
			// The conditions in parentheses fix the complete key of this index, which belongs to a primary key, because
			// Barograph's unique keys have one column each. The key of headers has more columns, but it is not a
			// constraint and has no automatic index.
			a.Method = archive.KeyLookup
		}
		out = append(out, a)
	}
	return out
}

// Salvage reads the tables by ranges of row numbers and omits rows on damaged pages.
func (a *openArchive) Salvage(ctx context.Context, subset string, lost func(archive.Loss)) iter.Seq2[*record.Batch, error] {
	return archive.SalvageSubset(ctx, a, subset, lost)
}

// RowRanges returns the ranges of rows of the tables of a subset.
func (a *openArchive) RowRanges(ctx context.Context, subset string) (ranges []archive.RowRange, err error) {
	types, err := a.StoredTypes(ctx, a.Pool, subset)
	if err != nil {
		return nil, err
	}
	for _, t := range types {
		name, _, _ := sqlengine.DesignTable(a.Design, t)
		query := "SELECT coalesce(max(rowid), 0) FROM " + a.Dialect.Table(subset, name)
		last, err := sqlengine.QueryNumber(ctx, a.Pool, query)
		if err != nil { // the last page is damaged; the index also contains the row numbers
			last, err = sqlengine.QueryNumber(ctx, a.Pool, query+" INDEXED BY "+indexName(subset, name, typeIndexes[a.Design].name))
		}
		if err != nil { // without deletions, no row number is greater than the number of records
			c, err := a.Catalog(ctx, subset)
			if err != nil {
				return nil, err
			}
			last = c.Digest().Records
		}
		ranges = append(ranges, archive.SplitRows(t.Name, last, salvagedRows, 1)...)
	}
	return ranges, nil
}

// DumpRows yields the records of a range of rows.
func (a *openArchive) DumpRows(ctx context.Context, subset string, r archive.RowRange) iter.Seq2[*record.Batch, error] {
	column := "ld.rowid"
	if a.Design == design.Document {
		column = "rowid"
	}
	return archive.Dump(func(to *archive.Dumper) error {
		t, _ := record.TypeByName(r.LineType) // RowRanges has set it
		return a.DumpType(ctx, a.Pool, subset, t, fmt.Sprintf(" WHERE %s BETWEEN %d AND %d", column, r.First, r.Last), to)
	})
}

// salvagedRows is the number of rows that are read together, as long as all of them are readable.
const salvagedRows = 1 << 15
