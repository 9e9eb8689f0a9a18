package clickhouse

import (
	"context"
	"strings"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/query/flavour"
)

// openArchive is the archive of one design.
type openArchive struct {
	*sqlengine.Archive
	db *database
}

// Open opens the archive of a design.
func (d *database) Open(_ context.Context, n design.Name) (archive.Archive, error) {
	if err := sqlengine.CheckOffered(Driver(), n); err != nil {
		return nil, err
	}
	a := &openArchive{db: d}
	list := func(engineCondition string) func(subset string) (string, []any) {
		return func(subset string) (string, []any) {
			return "SELECT name FROM system.tables WHERE database = currentDatabase() AND startsWith(name, " +
				quote(tableName(subset, "")) + ") AND engine " + engineCondition, nil
		}
	}
	const isPlain = "IN ('MergeTree', 'ReplacingMergeTree', 'Memory')"
	a.Archive = &sqlengine.Archive{
		Driver: Driver, Design: n, Dialect: dialect(), Pool: d,
		ContainersQuery: "SELECT DISTINCT subset FROM " + commitsTable + " WHERE design = " + quote(string(n)),
		SubsetIn:        func(_ context.Context, subset string) (string, bool, error) { return subset, true, nil },
		TablesQuery:     list(isPlain), NonTablesQuery: list("NOT " + isPlain), ListedName: tableName,
		CountDocs:   func(from string) string { return "SELECT count(), sum(length(data)) FROM " + from },
		EntriesJSON: func(data string) string { return "toJSONString(" + data + ")" },
	}
	return archive.WrapErrors(a, d.describeError), nil
}

// Size returns the bytes on disk of this design's tables in all subsets, which are named subset/table.
func (a *openArchive) Size(ctx context.Context) (int64, error) {
	names := map[design.Name]string{
		design.Wide: "wide_", design.Document: "doc_", design.Normalized: "line_data_|stat_header|data_file",
	}[a.Design]
	return sqlengine.QueryNumber(ctx, a.Pool, "SELECT sum(bytes_on_disk) FROM system.parts WHERE active "+
		"AND database = currentDatabase() AND match(table, '/("+names+"|"+a.OwnName("barograph_")+")[^/]*$')")
}

// Explain returns ClickHouse's plan: the granules (blocks of rows) that remain after the indexes. It has no numbers of
// rows.
func (a *openArchive) Explain(ctx context.Context, q *archive.Query) (archive.Plan, error) {
	if ok, err := a.Exists(ctx, q.Question); err != nil || !ok {
		return archive.Plan{Text: "the subset has no records of this line type\n"}, err
	}
	lines, err := sqlengine.QueryTexts(ctx, a.Pool, "EXPLAIN indexes = 1, pretty = 0 "+q.Text)
	return archive.Plan{Text: strings.Join(lines, "\n") + "\n", Access: accesses(q.Question.Subset, lines)}, err
}

// accesses returns the tables of a plan. A line such as Granules: 4/123 means that an index leaves 4 of 123 granules. A
// table with at least one line in which the numbers differ has a pruned scan.
func accesses(subset string, lines []string) (out []archive.Access) {
	for _, line := range lines {
		line = strings.TrimLeft(line, " │├└─")
		if rest, ok := strings.CutPrefix(line, "ReadFromMergeTree ("); ok {
			name := strings.TrimSuffix(strings.TrimPrefix(rest, databaseName+"."), ")")
			object := strings.TrimPrefix(name, tableName(subset, ""))
			out = append(out, archive.Access{Object: object, Method: archive.FullScan, Examined: -1, Kept: -1})
		}
		if rest, ok := strings.CutPrefix(line, "Granules: "); ok && len(out) > 0 {
			if some, all, ok := strings.Cut(rest, "/"); ok && some != all {
				out[len(out)-1].Method = archive.PrunedScan
			}
		}
	}
	return out
}

// dialect returns ClickHouse's dialect.
func dialect() *flavour.Dialect {
	table := func(subset, table string) string { return ident(tableName(subset, table)) }
	return &flavour.Dialect{
		Name:       "clickhouse",
		NullsFirst: " NULLS FIRST",
		Literal:    quote,
		Table:      table,
		// ClickHouse has no BINARY; its texts compare bytewise. Unlike the other engines, it can use an index through a
		// cast that keeps the order.
		Binary:        func(e string) string { return "CAST(" + e + " AS String)" },
		BinaryLiteral: quote,
		DateTime:      func(v int64) string { return "toDateTime64('" + flavour.DateTime(v) + "', 0, 'UTC')" },
		Epoch:         func(e string) string { return "toUnixTimestamp64Second(" + e + ")" },
		Hour:          func(e string) string { return "toHour(" + e + ")" },
		Real:          func(e string) string { return "toFloat64(" + e + ")" },
		DocAnd:        "\n     AND ",
		DocField:      func(f string) string { return "r." + f },
		DocEntry:      func(c string) string { return "d_" + c },
		DocTable:      docTable(table),
		DocKeys: func(keys []string) (string, []any) {
			return "r.id IN " + flavour.List(keys, quote), nil
		},
	}
}

// quote returns a text literal. flavour.Quote would not do, because backslashes are escapes in ClickHouse.
func quote(s string) string { return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(s) + "'" }

// ident returns a quoted name.
func ident(s string) string { return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"` }
