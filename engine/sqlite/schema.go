package sqlite

import (
	"context"
	"database/sql"
	"strings"

	"barograph/design"
	"barograph/engine/sqlengine"
	"barograph/flavour"
	"barograph/record"
)

// The tables of a subset:
//
//	"subset/barograph_<design>_catalog"  one row; the subset exists if this table does
//	"subset/barograph_<design>_marks"    the files that are loaded whole
//	"subset/stat_header", "subset/data_file", "subset/line_data_<type>"   normalized
//	"subset/doc_<type>"                  document
//
// flavour.SQLiteName writes the few names of subsets that SQLite cannot hold.
// Both designs may stand in one file. Tables of a line type are made when its
// first record comes.

// own is one of Barograph's own tables, which each design has for itself.
func (a *archive) own(subset, table string) string {
	return a.dialect.Table(subset, a.ownName(table))
}

func (a *archive) ownName(table string) string {
	return strings.Replace(table, "barograph_", "barograph_"+string(a.design)+"_", 1)
}

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
		sqlengine.Create(a.own(subset, sqlengine.MarksTable), sqlengine.MarkColumns(), typeName),
		sqlengine.Create(a.own(subset, sqlengine.CatalogTable), sqlengine.CatalogColumns(), typeName),
	}
	if a.design == design.Normalized {
		header := a.dialect.Table(subset, design.HeaderTable)
		out = append(out,
			sqlengine.Create(header, sqlengine.HeaderColumns(), typeName),
			index(subset, design.HeaderTable, "stat_header_unique_pk", header,
				"model, fcst_var, fcst_lev, obs_var, obs_lev, obtype, vx_mask, interp_mthd, interp_pnts, fcst_thresh, obs_thresh"),
			sqlengine.Create(a.dialect.Table(subset, sqlengine.FileTable), sqlengine.FileColumns(), typeName),
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
	name, cols, _ := sqlengine.Table(a.design, t)
	table := a.dialect.Table(subset, name)
	out := []string{sqlengine.Create(table, cols, typeName)}
	if a.design == design.Normalized {
		return append(out, index(subset, name, "stat_header_id_idx", table, "stat_header_id, fcst_valid_beg"))
	}
	return append(out, index(subset, name, "series_idx", table, "model, fcst_var, fcst_lev, vx_mask, fcst_valid_epoch"))
}

func index(subset, table, name, on, columns string) string {
	return "CREATE INDEX IF NOT EXISTS " + flavour.Ident(flavour.SQLiteName(subset, table+"_"+name)) + " ON " + on + " (" + columns + ")"
}

// querier is what *sql.DB, *sql.Conn and *sql.Tx have in common.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// tables lists the names of all tables.
func tables(ctx context.Context, q querier) (map[string]bool, error) {
	names, err := texts(ctx, q, "SELECT name FROM sqlite_schema WHERE type = 'table'")
	if err != nil {
		return nil, err
	}
	out := make(map[string]bool, len(names))
	for _, n := range names {
		out[n] = true
	}
	return out, nil
}

// texts returns the first column of a query.
func texts(ctx context.Context, q querier, query string, args ...any) ([]string, error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // Err below says what went wrong
	var out []string
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, rows.Err()
}
