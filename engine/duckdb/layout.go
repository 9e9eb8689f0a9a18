package duckdb

import (
	"strings"

	"barograph/design"
	"barograph/engine/sqlengine"
	"barograph/flavour"
	"barograph/record"
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
	for i := range columns {
		// No index: see docs/decisions/0004-duckdb-documents.md.
		columns[i].Primary, columns[i].NotNull = false, columns[i].NotNull || columns[i].Primary
	}
	return layout{design: n, t: t, table: table, columns: columns}
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

// names are the names of a subset's schema and of Barograph's own tables in it.
type names struct {
	design design.Name
	schema string // of the subset, as DuckDB knows it
	prefix string // quoted, up to and including the dot before a table
}

// names finds the schema of a subset. Where DuckDB could take its name for that
// of a database, the file's own name stands before it.
func (a *archive) names(subset string) names {
	n := names{design: a.design, schema: flavour.DuckDBSchema(subset)}
	n.prefix = flavour.Ident(n.schema) + "."
	if a.ambiguous(n.schema) {
		n.prefix = flavour.Ident(a.db.alias) + "." + n.prefix
	}
	return n
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

// dialect is the dialect in which a subset is asked.
func (a *archive) dialect(subset string) *flavour.Dialect {
	if a.ambiguous(flavour.DuckDBSchema(subset)) {
		return flavour.DuckDBIn(a.db.alias)
	}
	return flavour.DuckDB()
}

func (n names) table(name string) string { return n.prefix + name }

// Each design has catalog and marks of its own.
func (n names) catalogName() string { return sqlengine.CatalogTable + "_" + string(n.design) }
func (n names) marksName() string   { return sqlengine.MarksTable + "_" + string(n.design) }
func (n names) catalog() string     { return n.table(n.catalogName()) }
func (n names) marks() string       { return n.table(n.marksName()) }
