package oracle

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	goora "github.com/sijms/go-ora/v2"

	"barograph/design"
	"barograph/engine/sqlengine"
	"barograph/fault"
	"barograph/flavour"
	"barograph/record"
)

// The tables of a subset:
//
//	"subset/barograph_<design>_catalog"  one row; the subset exists if it does
//	"subset/barograph_<design>_marks"    the files that are loaded whole
//	"subset/stat_header", "subset/data_file", "subset/line_data_<type>"   normalized
//	"subset/doc_<type>"                  document
//
// Both designs may stand in one schema. Tables of a line type are made when its
// first record comes.

// own is one of Barograph's own tables, which each design has for itself.
func (a *archive) own(subset, table string) string {
	return a.dialect.Table(subset, a.ownName(table))
}

func (a *archive) ownName(table string) string {
	return strings.Replace(table, "barograph_", "barograph_"+string(a.design)+"_", 1)
}

// idBytes is the most bytes of a text that is no record's: an id, a path.
const idBytes = 4000

// typeName is Oracle's type of a column.
func typeName(c sqlengine.Column) string {
	switch c.Type {
	case sqlengine.Integer:
		return "NUMBER(10)"
	case sqlengine.BigInt:
		return "NUMBER(19)"
	case sqlengine.Count, sqlengine.Double:
		return "BINARY_DOUBLE"
	case sqlengine.Timestamp:
		return "TIMESTAMP(0)"
	case sqlengine.Doubles, sqlengine.Entries:
		return "BLOB" // JSON, UTF-8
	}
	if c.From == sqlengine.Header || c.From == sqlengine.Data {
		return fmt.Sprintf("VARCHAR2(%d BYTE)", flavour.OracleText)
	}
	return fmt.Sprintf("VARCHAR2(%d BYTE)", idBytes)
}

// Ends of the names of indexes; the rest is the table's.
const (
	keySuffix    = "_pk" // of a primary key
	uniqueSuffix = "_unique_pk"
	headerSuffix = "_stat_header_id_idx"
	seriesSuffix = "_series_idx"
)

// object is a table or an index to be made.
type object struct{ view, column, name, text string }

// table is CREATE TABLE. A text may be NULL, as an empty one is.
func table(subset, name string, cols []sqlengine.Column) object {
	open := make([]sqlengine.Column, len(cols))
	copy(open, cols)
	for i := range open {
		open[i].NotNull = open[i].NotNull && open[i].Type != sqlengine.Text
	}
	full := flavour.OracleName(subset, name)
	text := sqlengine.Create(flavour.Ident(full), open, typeName)
	text = strings.Replace(text, " IF NOT EXISTS", "", 1)
	text = strings.Replace(text, " PRIMARY KEY NOT NULL", " CONSTRAINT "+flavour.Ident(full+keySuffix)+" PRIMARY KEY", 1)
	return object{"user_tables", "table_name", full, text}
}

func index(subset, on, name, columns string) object {
	full := flavour.OracleName(subset, on+name)
	return object{"user_indexes", "index_name", full, "CREATE INDEX " + flavour.Ident(full) + " ON " + flavour.Ident(flavour.OracleName(subset, on)) + " (" + columns + ")"}
}

// subsetObjects make a subset. The catalog's table comes last.
func (a *archive) subsetObjects(subset string) []object {
	catalog := flavour.OracleName(subset, a.ownName(sqlengine.CatalogTable))
	out := []object{table(subset, a.ownName(sqlengine.MarksTable), sqlengine.MarkColumns())}
	if a.design == design.Normalized {
		out = append(out,
			table(subset, design.HeaderTable, sqlengine.HeaderColumns()),
			index(subset, design.HeaderTable, uniqueSuffix, "model, fcst_var, fcst_lev, obs_var, obs_lev, obtype, vx_mask, interp_mthd, interp_pnts, fcst_thresh, obs_thresh"),
			table(subset, sqlengine.FileTable, sqlengine.FileColumns()))
	}
	return append(out, object{"user_tables", "table_name", catalog, "CREATE TABLE " + flavour.Ident(catalog) + ` (
  id NUMBER(10) CONSTRAINT ` + flavour.Ident(catalog+keySuffix) + ` PRIMARY KEY CHECK (id = 1),
  subset VARCHAR2(4000 BYTE),
  version NUMBER(19) NOT NULL,
  catalog BLOB
)`})
}

// typeObjects make the table of a line type.
//
// METviewer's stat_header_id_idx holds stat_header_id alone. Here the valid
// time follows it, so that a load finds the records that it replaces without
// reading the whole series; a question by header is served by the same index.
func (a *archive) typeObjects(subset string, t *record.LineType) []object {
	name, cols, _ := sqlengine.Table(a.design, t)
	out := []object{table(subset, name, cols)}
	if a.design == design.Normalized {
		return append(out, index(subset, name, headerSuffix, "stat_header_id, fcst_valid_beg"))
	}
	return append(out, index(subset, name, seriesSuffix, "model, fcst_var, fcst_lev, vx_mask, fcst_valid_epoch"))
}

// querier is what *sql.DB, *sql.Conn and *sql.Tx have in common.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// makeAll makes what is not there. Each statement commits; so no transaction
// may be under way.
func (db *database) makeAll(ctx context.Context, objects []object) error {
	for _, o := range objects {
		var n int
		err := db.pool.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+o.view+" WHERE "+o.column+" = :1", o.name).Scan(&n)
		if err != nil {
			return failed(ctx, err)
		}
		if n > 0 {
			continue
		}
		_, err = db.pool.ExecContext(ctx, o.text)
		switch code(err) {
		case nameTaken: // by another loader, a moment ago
			continue
		case missingRights, noQuota:
			return &fault.Error{Setting: "oracle", Problem: "the user may not make tables", Err: err, Cure: "GRANT CREATE TABLE TO the user; ALTER USER the user QUOTA UNLIMITED ON its tablespace"}
		}
		if err != nil {
			return failed(ctx, fmt.Errorf("%s: %w", o.text, err))
		}
	}
	return nil
}

// names lists the user's tables.
func (db *database) names(ctx context.Context) (map[string]bool, error) {
	rows, err := db.pool.QueryContext(ctx, "SELECT table_name FROM user_tables")
	if err != nil {
		return nil, failed(ctx, err)
	}
	defer rows.Close() //nolint:errcheck // Err below says what went wrong
	out := map[string]bool{}
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		out[name] = true
	}
	return out, failed(ctx, rows.Err())
}

// placeholder is the n-th parameter of an INSERT, a text, as the column's type.
func placeholder(c sqlengine.Column, n int) string {
	p := fmt.Sprintf(":%d", n)
	switch c.Type {
	case sqlengine.Integer, sqlengine.BigInt:
		return "TO_NUMBER(" + p + ")"
	case sqlengine.Count, sqlengine.Double:
		return "TO_BINARY_DOUBLE(" + p + ")"
	case sqlengine.Timestamp:
		return "TO_TIMESTAMP(" + p + ", 'YYYY-MM-DD HH24:MI:SS')"
	}
	return p
}

// bulkRows is how many rows one statement stores.
const bulkRows = 1000

// bulk collects the parameters of a statement, by column, and sends them as
// arrays: the statement is carried out for each row of them.
type bulk struct {
	text  string
	texts [][]string
	blobs map[int][]goora.Blob
	rows  int
}

// insert is the bulk of an INSERT; its parameters are the columns.
func insert(name string, cols []sqlengine.Column) *bulk {
	b := &bulk{texts: make([][]string, len(cols)), blobs: map[int][]goora.Blob{}}
	params := make([]string, len(cols))
	for k, c := range cols {
		params[k] = placeholder(c, k+1)
		if c.Type == sqlengine.Entries || c.Type == sqlengine.Doubles {
			b.blobs[k] = nil
		}
	}
	b.text = "INSERT INTO " + name + " (" + sqlengine.Names("", cols) + ") VALUES (" + strings.Join(params, ", ") + ")"
	return b
}

// set gives parameter k of the row under way.
func (b *bulk) set(k int, v string) { b.texts[k] = append(b.texts[k], v) }

// setBlob gives a parameter of bytes; nil = NULL.
func (b *bulk) setBlob(k int, v []byte) {
	b.blobs[k] = append(b.blobs[k], goora.Blob{Data: v, Valid: v != nil})
}

// end ends a row, and sends the rows that are there when they are enough.
func (b *bulk) end(ctx context.Context, q querier) error {
	if b.rows++; b.rows < bulkRows {
		return nil
	}
	return b.flush(ctx, q)
}

func (b *bulk) flush(ctx context.Context, q querier) error {
	if b.rows == 0 {
		return ctx.Err()
	}
	args := make([]any, len(b.texts))
	for k := range args {
		args[k] = b.texts[k]
		if blobs, ok := b.blobs[k]; ok {
			args[k] = blobs
		}
	}
	if _, err := q.ExecContext(ctx, b.text, args...); err != nil {
		return fmt.Errorf("%s: %w", b.text, err)
	}
	b.rows = 0
	for k := range b.texts {
		b.texts[k] = b.texts[k][:0]
	}
	for k := range b.blobs {
		b.blobs[k] = b.blobs[k][:0]
	}
	return nil
}
