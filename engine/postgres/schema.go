package postgres

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5"

	"barograph/design"
	"barograph/engine/sqlengine"
	"barograph/flavour"
	"barograph/record"
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

// ownName is the name of one of Barograph's own tables, which each design has
// for itself.
func (a *archive) ownName(table string) string {
	return strings.Replace(table, "barograph_", "barograph_"+string(a.design)+"_", 1)
}

func (a *archive) own(subset, table string) string {
	return a.dialect.Table(subset, a.ownName(table))
}

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
	catalog := a.own(subset, sqlengine.CatalogTable)
	out := []string{
		"CREATE SCHEMA IF NOT EXISTS " + flavour.Ident(flavour.PostgresSchema(subset)),
		"CREATE TABLE IF NOT EXISTS " + catalog + ` (
  id integer PRIMARY KEY CHECK (id = 1),
  subset text NOT NULL,
  version bigint NOT NULL, -- counts the commits, so that a loader knows of others
  catalog text
)`,
		"INSERT INTO " + catalog + " VALUES (1, " + flavour.Quote(subset) + ", 0, NULL) ON CONFLICT DO NOTHING",
		sqlengine.Create(a.own(subset, sqlengine.MarksTable), sqlengine.MarkColumns(), typeName),
	}
	if a.design == design.Normalized {
		header := a.dialect.Table(subset, design.HeaderTable)
		out = append(out,
			sqlengine.Create(header, sqlengine.HeaderColumns(), typeName),
			"CREATE INDEX IF NOT EXISTS stat_header_unique_pk ON "+header+
				" (model, fcst_var, fcst_lev, obs_var, obs_lev, obtype, vx_mask, interp_mthd, interp_pnts, fcst_thresh, obs_thresh)",
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
	index := "CREATE INDEX IF NOT EXISTS " + name + "_"
	switch {
	case a.design == design.Normalized:
		index += "stat_header_id_idx ON " + table + " (stat_header_id, fcst_valid_beg)"
	case a.design == design.Wide && a.db.wideIndex == brin:
		index += "time_idx ON " + table + " USING brin (fcst_valid_epoch, fcst_valid_beg)"
	default:
		index += "series_idx ON " + table + " (model, fcst_var, fcst_lev, vx_mask, fcst_valid_epoch)"
	}
	p := a.db.parts
	if a.design == design.Normalized { // METviewer's tables stay as they are
		p = partitioning{}
	}
	key := []string{"model", "fcst_var", "fcst_lev", "vx_mask"}
	create := sqlengine.Create(table, cols, typeName)
	if a.design == design.Document {
		key = []string{"id"}
		if p.period != "" { // the key of a divided table holds what divides it
			create = strings.Replace(create, " PRIMARY KEY", "", 1)
			create = strings.TrimSuffix(create, "\n)") + ",\n  CONSTRAINT " + name + "_pkey PRIMARY KEY (id, fcst_valid_epoch)\n)"
		}
	}
	out := []string{create + p.clause(key, "fcst_valid_epoch"), index}
	if a.design == design.Document {
		// Nobody asks for entries by their values; looking at them for the planner
		// costs as much as unpacking them.
		out = append(out, "ALTER TABLE "+table+" ALTER COLUMN data SET STATISTICS 0")
	}
	if p.hash > 0 || p.period != "" {
		out = append(out, "COMMENT ON TABLE "+table+" IS "+flavour.Quote(partitionNote+p.String()))
	}
	return append(out, p.parts(a.dialect.Table(subset, ""), name, nil)...)
}

// querier is what a pool, a connection and a transaction have in common.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// has reports whether a subset has a table.
func (a *archive) has(ctx context.Context, q querier, subset, table string) (ok bool, err error) {
	err = q.QueryRow(ctx, "SELECT to_regclass($1) IS NOT NULL", a.dialect.Table(subset, table)).Scan(&ok)
	return ok, failed(ctx, err)
}

// stored lists the line types that a subset has a table for.
func (a *archive) stored(ctx context.Context, q querier, subset string) ([]*record.LineType, error) {
	rows, err := q.Query(ctx, `SELECT relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE nspname = $1 AND relkind IN ('r', 'p')`, flavour.PostgresSchema(subset))
	if err != nil {
		return nil, failed(ctx, err)
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, failed(ctx, err)
	}
	all := make(map[string]bool, len(names))
	for _, n := range names {
		all[n] = true
	}
	var types []*record.LineType
	for _, t := range record.Types() {
		if name, _, _ := sqlengine.Table(a.design, t); all[name] {
			types = append(types, t)
		}
	}
	return types, nil
}

// identity lists the columns of a table that tell its records apart.
func identity(cols []sqlengine.Column) []sqlengine.Column {
	var out []sqlengine.Column
	for _, c := range cols {
		switch c.From {
		case sqlengine.HeaderID, sqlengine.Header, sqlengine.ValidBeg, sqlengine.ValidEpoch, sqlengine.ValidEnd, sqlengine.InitBeg,
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
