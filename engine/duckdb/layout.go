package duckdb

import (
	"strings"

	"github.com/barograph/barograph/design"
	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/flavour"
	"github.com/barograph/barograph/record"
)

// layout is a line type's table under a design.
type layout struct {
	design  design.Name
	t       *record.LineType
	table   string
	columns []sqlengine.Column
}

func newLayout(n design.Name, t *record.LineType) layout {
	table, columns, _ := sqlengine.Table(n, t)
	return layout{design: n, t: t, table: table, columns: unkeyed(columns)}
}

// unkeyed drops the primary key: no index is kept, see
// docs/decisions/0004-duckdb-documents.md, and the loader itself numbers the rows.
func unkeyed(cols []sqlengine.Column) []sqlengine.Column {
	for i := range cols {
		cols[i].Primary, cols[i].NotNull = false, cols[i].NotNull || cols[i].Primary
	}
	return cols
}

// entryTimes are the members of a document's entry before the type's own. All
// but fcst_lead are NULL where the times are plain.
var entryTimes = [...]string{"fcst_lead", "fcst_valid_end", "obs_lead", "obs_valid_beg", "obs_valid_end"} //nolint:gochecknoglobals // a constant table

// typeName is DuckDB's type of a column. Counts are doubles, as in records:
// DuckDB packs whole doubles as tightly as integers, and nothing is lost.
func (l *layout) typeName(c sqlengine.Column) string {
	switch c.Type {
	case sqlengine.Text:
		return "VARCHAR"
	case sqlengine.Integer:
		return "INTEGER"
	case sqlengine.BigInt:
		return "BIGINT"
	case sqlengine.Timestamp:
		return "TIMESTAMP"
	case sqlengine.Doubles:
		return "DOUBLE[]"
	case sqlengine.Entries:
		return l.entryType() + "[]"
	}
	return "DOUBLE"
}

// entryType is the type of an entry of a document.
func (l *layout) entryType() string {
	var b strings.Builder
	b.WriteString("STRUCT(")
	for i, name := range entryTimes {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(name + map[bool]string{true: " INTEGER", false: " BIGINT"}[strings.HasSuffix(name, "lead")])
	}
	for _, c := range l.t.Columns {
		b.WriteString(", " + flavour.Ident(c.Name) + map[bool]string{true: " VARCHAR", false: " DOUBLE"}[c.Kind == record.Text])
	}
	if l.t.Group != nil {
		b.WriteString(", repeats DOUBLE[]")
	}
	b.WriteString(")")
	return b.String()
}

// identity lists the columns that tell records of one table apart, and those
// that the comparison of headers needs.
func (l *layout) identity() []sqlengine.Column {
	var out []sqlengine.Column
	for _, c := range l.columns {
		switch c.From {
		case sqlengine.HeaderID, sqlengine.Header, sqlengine.ValidBeg, sqlengine.ValidEnd, sqlengine.InitBeg,
			sqlengine.ObsLead, sqlengine.ObsBeg, sqlengine.ObsEnd:
			out = append(out, c)
		case sqlengine.Data:
			if c.Data.Key {
				out = append(out, c)
			}
		}
	}
	return out
}

// ambiguous reports whether a schema's name is a database's too.
func (a *archive) ambiguous(schema string) bool {
	for _, taken := range [...]string{a.db.alias, "temp", "system", "memory"} {
		if strings.EqualFold(schema, taken) {
			return true
		}
	}
	return false
}

// dialect is the dialect in which a subset is asked. Where DuckDB could take
// the name of its schema for that of a database, the file's own name stands
// before it.
func (a *archive) dialect(subset string) *flavour.Dialect {
	if a.ambiguous(schemaName(subset)) {
		return dialectIn(a.db.alias)
	}
	return dialectIn("")
}
