package postgres

import (
	"strings"

	"github.com/barograph/barograph/design"
	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/flavour"
	"github.com/barograph/barograph/record"
)

// The tables of a subset, in its schema:
//
//	barograph_<design>_catalog   one row; the subset exists if it does
//	barograph_<design>_marks     the files that are loaded whole
//	stat_header, data_file, line_data_<type>   normalized
//	doc_<type>                   document
//	wide_<type>                  wide
//
// The designs may stand side by side. Tables of a line type are made when its
// first record comes.

// typeName is PostgreSQL's type of a column. Counts are doubles, as in
// records, so that nothing is lost.
func typeName(c sqlengine.Column) string {
	switch c.Type {
	case sqlengine.Text:
		return `text COLLATE "C"`
	case sqlengine.Integer:
		return "integer"
	case sqlengine.BigInt:
		return "bigint"
	case sqlengine.Timestamp:
		return "timestamp"
	case sqlengine.Doubles:
		return "double precision[]"
	case sqlengine.Entries:
		return "jsonb"
	}
	return "double precision"
}

// subsetTables are the statements that make a subset.
func (a *archive) subsetTables(subset string) []string {
	catalog := a.Own(subset, sqlengine.CatalogTable)
	out := []string{
		"CREATE SCHEMA IF NOT EXISTS " + flavour.Ident(schemaName(subset)),
		"CREATE TABLE IF NOT EXISTS " + catalog + ` (
  id integer PRIMARY KEY CHECK (id = 1),
  subset text NOT NULL,
  version bigint NOT NULL, -- counts the commits, so that a loader knows of others
  catalog text
)`,
		"INSERT INTO " + catalog + " VALUES (1, " + flavour.Quote(subset) + ", 0, NULL) ON CONFLICT DO NOTHING",
		sqlengine.Create(a.Own(subset, sqlengine.MarksTable), sqlengine.MarkColumns(), typeName),
	}
	if a.Design == design.Normalized {
		header := a.Dialect.Table(subset, design.HeaderTable)
		out = append(out,
			sqlengine.Create(header, sqlengine.HeaderColumns(), typeName),
			"CREATE INDEX IF NOT EXISTS stat_header_unique_pk ON "+header+
				" (model, fcst_var, fcst_lev, obs_var, obs_lev, obtype, vx_mask, interp_mthd, interp_pnts, fcst_thresh, obs_thresh)",
			sqlengine.Create(a.Dialect.Table(subset, sqlengine.FileTable), sqlengine.FileColumns(), typeName),
		)
	}
	return out
}

// typeTables are the statements that make the table of a line type.
//
// METviewer's stat_header_id_idx holds stat_header_id alone. Here the valid
// time follows it, so that a load finds the records that it replaces without
// reading the whole series; a question by header is served by the same index.
func (a *archive) typeTables(subset string, t *record.LineType) []string {
	name, cols, _ := sqlengine.Table(a.Design, t)
	table := a.Dialect.Table(subset, name)
	index := "CREATE INDEX IF NOT EXISTS " + name + "_"
	switch {
	case a.Design == design.Normalized:
		index += "stat_header_id_idx ON " + table + " (stat_header_id, fcst_valid_beg)"
	case a.Design == design.Wide && a.db.wideIndex == brin:
		index += "time_idx ON " + table + " USING brin (fcst_valid_epoch, fcst_valid_beg)"
	default:
		index += "series_idx ON " + table + " (model, fcst_var, fcst_lev, vx_mask, fcst_valid_epoch)"
	}
	p := a.db.parts
	if a.Design == design.Normalized { // METviewer's tables stay as they are
		p = partitioning{}
	}
	key := []string{"model", "fcst_var", "fcst_lev", "vx_mask"}
	create := sqlengine.Create(table, cols, typeName)
	if a.Design == design.Document {
		key = []string{"id"}
		if p.period != "" { // the key of a divided table holds what divides it
			create = strings.Replace(create, " PRIMARY KEY", "", 1)
			create = strings.TrimSuffix(create, "\n)") + ",\n  CONSTRAINT " + name + "_pkey PRIMARY KEY (id, fcst_valid_epoch)\n)"
		}
	}
	out := []string{create + p.clause(key, "fcst_valid_epoch"), index}
	if a.Design == design.Document {
		// Nobody asks for entries by their values; looking at them for the planner
		// costs as much as unpacking them.
		out = append(out, "ALTER TABLE "+table+" ALTER COLUMN data SET STATISTICS 0")
	}
	if p.hash > 0 || p.period != "" {
		out = append(out, "COMMENT ON TABLE "+table+" IS "+flavour.Quote(partitionNote+p.String()))
	}
	return append(out, p.parts(a.Dialect.Table(subset, ""), name, nil)...)
}
