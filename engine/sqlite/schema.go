package sqlite

import (
	"github.com/barograph/barograph/design"
	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/flavour"
	"github.com/barograph/barograph/record"
)

// The tables of a subset:
//
//	"subset/barograph_<design>_catalog"  one row; the subset exists if this table does
//	"subset/barograph_<design>_marks"    the files that are loaded whole
//	"subset/stat_header", "subset/data_file", "subset/line_data_<type>"   normalized
//	"subset/doc_<type>"                  document
//
// tableName writes the few names of subsets that SQLite cannot hold.
// Both designs may stand in one file. Tables of a line type are made when its
// first record comes.

// typeName is SQLite's type of a column. Times are text, as SQLite has no
// type for them; counts keep a fraction, should they have one, as INTEGER is
// an affinity and no constraint.
func typeName(c sqlengine.Column) string {
	switch c.Type {
	case sqlengine.Integer, sqlengine.BigInt, sqlengine.Count:
		return "INTEGER"
	case sqlengine.Double:
		return "REAL"
	case sqlengine.Doubles:
		return "TEXT" // a JSON array
	case sqlengine.Entries:
		return "BLOB" // JSONB
	}
	return "TEXT"
}

// subsetTables are the statements that make a subset.
func (a *archive) subsetTables(subset string) []string {
	out := []string{
		sqlengine.Create(a.Own(subset, sqlengine.MarksTable), sqlengine.MarkColumns(), typeName),
		sqlengine.Create(a.Own(subset, sqlengine.CatalogTable), sqlengine.CatalogColumns(), typeName),
	}
	if a.Design == design.Normalized {
		header := a.Dialect.Table(subset, design.HeaderTable)
		out = append(out,
			sqlengine.Create(header, sqlengine.HeaderColumns(), typeName),
			index(subset, design.HeaderTable, "stat_header_unique_pk", header,
				"model, fcst_var, fcst_lev, obs_var, obs_lev, obtype, vx_mask, interp_mthd, interp_pnts, fcst_thresh, obs_thresh"),
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
	out := []string{sqlengine.Create(table, cols, typeName)}
	if a.Design == design.Normalized {
		return append(out, index(subset, name, "stat_header_id_idx", table, "stat_header_id, fcst_valid_beg"))
	}
	return append(out, index(subset, name, "series_idx", table, "model, fcst_var, fcst_lev, vx_mask, fcst_valid_epoch"))
}

func index(subset, table, name, on, columns string) string {
	return "CREATE INDEX IF NOT EXISTS " + flavour.Ident(tableName(subset, table+"_"+name)) + " ON " + on + " (" + columns + ")"
}
