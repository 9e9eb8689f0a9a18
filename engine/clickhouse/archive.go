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
	list := func(engines string) func(subset string) (string, []any) {
		return func(subset string) (string, []any) {
			return "SELECT name FROM system.tables WHERE database = currentDatabase() AND startsWith(name, " + quote(tableName(subset, "")) + ") AND engine " + engines, nil
		}
	}
	const stored = "IN ('MergeTree', 'ReplacingMergeTree', 'Memory')"
	a.Archive = &sqlengine.Archive{
		Driver: Driver, Design: n, Dialect: dialect(), Pool: d,
		ContainersQuery: "SELECT DISTINCT subset FROM " + commitsTable + " WHERE design = " + quote(string(n)),
		SubsetIn:        func(_ context.Context, home string) (string, bool, error) { return home, true, nil },
		TablesQuery:     list(stored), NonTablesQuery: list("NOT " + stored), ListedName: tableName,
		CountDocs:   func(from string) string { return "SELECT count(), sum(length(data)) FROM " + from },
		EntriesJSON: func(data string) string { return "toJSONString(" + data + ")" },
	}
	return archive.WrapErrors(a, d.describeError), nil
}

// Size returns the bytes on disk of this design's tables.
func (a *openArchive) Size(ctx context.Context) (int64, error) {
	tables := map[design.Name]string{design.Wide: "wide_", design.Document: "doc_", design.Normalized: "line_data_|stat_header|data_file"}[a.Design]
	return sqlengine.QueryNumber(ctx, a.Pool, "SELECT sum(bytes_on_disk) FROM system.parts WHERE active AND database = currentDatabase() AND match(table, '/("+
		tables+"|"+a.OwnName("barograph_")+")[^/]*$')")
}

// Explain returns the granules that the indexes leave. ClickHouse does not count rows.
func (a *openArchive) Explain(ctx context.Context, q *archive.Query) (archive.Plan, error) {
	if ok, err := a.Exists(ctx, q.Question); err != nil || !ok {
		return archive.Plan{Text: "the subset has no records of this line type\n"}, err
	}
	lines, err := sqlengine.QueryTexts(ctx, a.Pool, "EXPLAIN indexes = 1, pretty = 0 "+q.Text)
	return archive.Plan{Text: strings.Join(lines, "\n") + "\n", Access: accesses(q.Question.Subset, lines)}, err
}

// accesses reads the tables of a plan and the granules of each. The plan lists them as
// Granules: 4/123, and the last line counts.
func accesses(subset string, lines []string) (out []archive.Access) {
	for _, line := range lines {
		line = strings.TrimLeft(line, " │├└─")
		if rest, ok := strings.CutPrefix(line, "ReadFromMergeTree ("); ok {
			name := strings.TrimSuffix(strings.TrimPrefix(rest, databaseName+"."), ")")
			out = append(out, archive.Access{Object: strings.TrimPrefix(name, tableName(subset, "")), Method: archive.FullScan, Examined: -1, Kept: -1})
		}
		if rest, ok := strings.CutPrefix(line, "Granules: "); ok && len(out) > 0 {
			if some, all, ok := strings.Cut(rest, "/"); ok && some != all {
				out[len(out)-1].Method = archive.PrunedScan
			}
		}
	}
	return out
}

// dialect is ClickHouse's dialect.
func dialect() *flavour.Dialect {
	table := func(subset, table string) string { return ident(tableName(subset, table)) }
	return &flavour.Dialect{
		Name:       "clickhouse",
		NullsFirst: " NULLS FIRST",
		Literal:    quote,
		Table:      table,
		// ClickHouse has no BINARY; its texts compare bytewise. Unlike the other engines, it can
		// use an index through a cast that keeps the order.
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

// quote writes a text literal, because backslashes are escapes in ClickHouse.
func quote(s string) string { return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(s) + "'" }

func ident(s string) string { return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"` }
