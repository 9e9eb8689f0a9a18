package clickhouse

import (
	"fmt"
	"slices"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

// longestName is the most bytes of a table's name: on disk each of them may take three.
const longestName = 70

// tableName is the name of a subset's table: subset/table. A long subset is cut
// and gets its digest.
func tableName(subset, table string) string {
	if len(subset) > longestName-40 {
		subset = strings.ToValidUTF8(subset[:20], "") + "^" + fmt.Sprintf("%016x", xxh3.HashString(subset))
	}
	return subset + "/" + table
}

// entriesColumn takes a document's entries as JSON, and is not stored.
const entriesColumn = "entries"

// tableText is CREATE TABLE. The order is what questions ask for, in parentheses.
func tableText(table string, cols []sqlengine.Column, t *record.LineType, order string, more ...string) string {
	cols = slices.Clone(cols)
	for i := range cols {
		cols[i].Primary, cols[i].NotNull = false, cols[i].NotNull || cols[i].Primary
	}
	text := sqlengine.Create(table, cols, func(c sqlengine.Column) string { return typeName(c, t) + codec(c) })
	// NOT NULL is what types are here.
	text = strings.ReplaceAll(text, " NOT NULL", "")
	return strings.TrimSuffix(text, "\n)") + strings.Join(more, "") + "\n) ENGINE = MergeTree ORDER BY " + order + " SETTINGS " + tableSettings
}

// tableSettings have what is inserted and merged flushed.
const tableSettings = "default_compression_codec = 'ZSTD(1)', fsync_after_insert = 1, fsync_part_directory = 1, " +
	"min_rows_to_fsync_after_merge = 1, min_compressed_bytes_to_fsync_after_merge = 1"

// typeName is ClickHouse's type of a column of a line type's table, or, where t
// is nil, of another one.
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

// codec is how a column is stored, where that is not as ClickHouse does by itself:
// of numbers that mostly grow the differences.
func codec(c sqlengine.Column) string {
	if c.Type == sqlengine.BigInt || c.Type == sqlengine.Timestamp && c.NotNull {
		return " CODEC(Delta(8), ZSTD(1))"
	}
	return ""
}

// entriesType is that of the entries of a document, see design.AppendEntries.
func entriesType(t *record.LineType) string {
	members := []string{"fcst_lead Int32", "fcst_valid_end Nullable(Int64)", "obs_lead Nullable(Int32)", "obs_valid_beg Nullable(Int64)", "obs_valid_end Nullable(Int64)"}
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

// typeTable makes the table of a line type under a design.
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

// docTable unnests the members of entries that are asked for.
func docTable(table func(subset, table string) string) func(subset, t, where string, used []question.Column) string {
	return func(subset, t, where string, used []question.Column) string {
		var members []string
		for _, c := range used {
			if m := "r.data." + c.Stored() + " AS d_" + c.Stored(); !slices.Contains(members, m) {
				members = append(members, m)
			}
		}
		return table(subset, t) + " AS r ARRAY JOIN " + strings.Join(members, ", ") + "\n   WHERE " + where
	}
}

// identity are the columns by which a record is known.
func identity(cols []sqlengine.Column) (out []sqlengine.Column) {
	for _, c := range cols {
		switch c.From {
		case sqlengine.HeaderID, sqlengine.Header, sqlengine.ValidBeg, sqlengine.ValidEnd, sqlengine.InitBeg, sqlengine.ObsLead, sqlengine.ObsBeg, sqlengine.ObsEnd:
			out = append(out, c)
		case sqlengine.Data:
			if c.Data.Key {
				out = append(out, c)
			}
		}
	}
	return out
}

// compared lists columns that are compared with others: nothing is equal to NULL.
func compared(prefix string, cols []sqlengine.Column) string {
	names := make([]string, len(cols))
	for i, c := range cols {
		if names[i] = prefix + c.Name; c.Type == sqlengine.Count || c.Type == sqlengine.Double {
			names[i] = "ifNull(" + names[i] + ", inf)"
		}
	}
	return strings.Join(names, ", ")
}

// storable: texts, subsets and paths stand in ClickHouse's JSON.
var storable = sqlengine.Storable{Product: "ClickHouse", ZeroBytes: true} //nolint:gochecknoglobals // a constant
