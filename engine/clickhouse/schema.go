package clickhouse

import (
	"fmt"
	"slices"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

// longestName is the greatest length of a table's name in bytes. A subset of up to longestName-40 bytes keeps its name:
// 40 bytes are enough for the slash, the longest name after it, and copySuffix. In the name of a file, ClickHouse
// writes a byte as up to three.
const longestName = 70

// tableName returns the name of a subset's table: subset/table. A long subset is shortened and gets its digest.
func tableName(subset, table string) string {
	if len(subset) > longestName-40 {
		subset = strings.ToValidUTF8(subset[:20], "") + "^" + fmt.Sprintf("%016x", xxh3.HashString(subset))
	}
	return subset + "/" + table
}

// entriesColumn is the column that receives a document's entries as JSON. It is not stored.
const entriesColumn = "entries"

// tableText returns CREATE TABLE. order is the sorting key, in parentheses. more are further parts of the table, such
// as indexes.
func tableText(table string, cols []sqlengine.Column, t *record.LineType, order string, more ...string) string {
	columns := flavour.Join(cols, ",\n  ", func(c sqlengine.Column) string {
		c.NotNull = c.NotNull || c.Primary
		return c.Name + " " + typeName(c, t) + codec(c) // types are NOT NULL by default
	})
	return "CREATE TABLE IF NOT EXISTS " + table + " (\n  " + columns + strings.Join(more, "") +
		"\n) ENGINE = MergeTree ORDER BY " + order + " SETTINGS " + tableSettings
}

// tableSettings make ClickHouse flush inserted and merged data to disk.
const tableSettings = "default_compression_codec = 'ZSTD(1)', fsync_after_insert = 1, fsync_part_directory = 1, " +
	"min_rows_to_fsync_after_merge = 1, min_compressed_bytes_to_fsync_after_merge = 1"

// typeName returns ClickHouse's type of a column. t is the line type of its table, nil for other tables.
func typeName(c sqlengine.Column, t *record.LineType) string {
	switch c.Type {
	case sqlengine.Integer:
		return "Int32"
	case sqlengine.BigInt:
		return "Int64"
	case sqlengine.Count, sqlengine.Double:
		return "Nullable(Float64)"
	case sqlengine.Timestamp:
		if c.NotNull {
			return "DateTime64(0, 'UTC')"
		}
		return "Nullable(DateTime64(0, 'UTC'))"
	case sqlengine.Doubles:
		return "Array(Float64)"
	case sqlengine.Entries:
		entries := entriesType(t)
		return entries + " DEFAULT JSONExtract(" + entriesColumn + ", " + quote(entries) + "),\n  " + entriesColumn + " String EPHEMERAL"
	}
	if c.From == sqlengine.Header || c.From == sqlengine.Data {
		return "LowCardinality(String)"
	}
	return "String"
}

// codec returns the compression of a column if it differs from ClickHouse's default. Of numbers that mostly increase,
// it stores the differences.
func codec(c sqlengine.Column) string {
	if c.Type == sqlengine.BigInt || c.Type == sqlengine.Timestamp && c.NotNull {
		return " CODEC(Delta(8), ZSTD(1))"
	}
	return ""
}

// entriesType returns the type of a document's entries; see design.AppendEntries.
func entriesType(t *record.LineType) string {
	members := []string{"fcst_lead Int32", "fcst_valid_end Nullable(Int64)", "obs_lead Nullable(Int32)"}
	members = append(members, "obs_valid_beg Nullable(Int64)", "obs_valid_end Nullable(Int64)")
	for _, c := range t.Columns {
		if c.Kind == record.Text {
			members = append(members, c.Name+" String")
		} else {
			members = append(members, c.Name+" Nullable(Float64)")
		}
	}
	if t.Group != nil {
		members = append(members, "repeats Array(Nullable(Float64))")
	}
	return "Array(Tuple(" + strings.Join(members, ", ") + "))"
}

// typeTable returns the statement that creates the table of a line type in a design.
func typeTable(n design.Name, table string, cols []sqlengine.Column, t *record.LineType) string {
	const valid = ",\n  INDEX valid fcst_valid_beg TYPE minmax GRANULARITY 1"
	switch n {
	case design.Wide:
		return tableText(table, cols, t, "(fcst_var, fcst_lev, vx_mask, model, fcst_valid_epoch, fcst_lead)", valid)
	case design.Document:
		return tableText(table, cols, t, "id", valid, ",\n  INDEX epoch fcst_valid_epoch TYPE minmax GRANULARITY 1") + ", index_granularity = 256"
	}
	return tableText(table, cols, t, "(stat_header_id, fcst_valid_beg, fcst_lead)")
}

// docTable unnests the selected members of entries.
func docTable(table func(subset, table string) string) func(subset, t, where string, used []question.Column) string {
	return func(subset, t, where string, used []question.Column) string {
		var members []string
		for _, c := range used {
			if m := "r.data." + c.StoredName() + " AS d_" + c.StoredName(); !slices.Contains(members, m) {
				members = append(members, m)
			}
		}
		return table(subset, t) + " AS r ARRAY JOIN " + strings.Join(members, ", ") + "\n   WHERE " + where
	}
}

// comparableList lists columns for the comparison of identities. ifNull replaces NULL, which is equal to nothing, by
// inf, which no record contains.
func comparableList(prefix string, cols []sqlengine.Column) string {
	names := make([]string, len(cols))
	for i, c := range cols {
		if names[i] = prefix + c.Name; c.Type == sqlengine.Count || c.Type == sqlengine.Double {
			names[i] = "ifNull(" + names[i] + ", inf)"
		}
	}
	return strings.Join(names, ", ")
}

// storable describes texts in ClickHouse. They must be UTF-8, because documents pass through its JSON parser.
var storable = sqlengine.Storable{Product: "ClickHouse", ZeroBytes: true} //nolint:gochecknoglobals // a constant
