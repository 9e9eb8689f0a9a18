package oracle

import (
	"context"
	"fmt"
	"strings"

	"github.com/barograph/barograph/design"
	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/fault"
	"github.com/barograph/barograph/flavour"
	"github.com/barograph/barograph/record"
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
		return fmt.Sprintf("VARCHAR2(%d BYTE)", maxText)
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
	full := objectName(subset, name)
	text := sqlengine.Create(flavour.Ident(full), open, typeName)
	text = strings.Replace(text, " IF NOT EXISTS", "", 1)
	text = strings.Replace(text, " PRIMARY KEY NOT NULL", " CONSTRAINT "+flavour.Ident(full+keySuffix)+" PRIMARY KEY", 1)
	return object{"user_tables", "table_name", full, text}
}

func index(subset, on, name, columns string) object {
	full := objectName(subset, on+name)
	return object{"user_indexes", "index_name", full, "CREATE INDEX " + flavour.Ident(full) + " ON " + flavour.Ident(objectName(subset, on)) + " (" + columns + ")"}
}

// subsetObjects make a subset. The catalog's table comes last.
func (a *archive) subsetObjects(subset string) []object {
	catalog := objectName(subset, a.OwnName(sqlengine.CatalogTable))
	out := []object{table(subset, a.OwnName(sqlengine.MarksTable), sqlengine.MarkColumns())}
	if a.Design == design.Normalized {
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
	name, cols, _ := sqlengine.Table(a.Design, t)
	out := []object{table(subset, name, cols)}
	if a.Design == design.Normalized {
		return append(out, index(subset, name, headerSuffix, "stat_header_id, fcst_valid_beg"))
	}
	return append(out, index(subset, name, seriesSuffix, "model, fcst_var, fcst_lev, vx_mask, fcst_valid_epoch"))
}

// makeAll makes what is not there. Each statement commits; so no transaction
// may be under way.
func (a *archive) makeAll(ctx context.Context, objects []object) error {
	for _, o := range objects {
		n, err := sqlengine.Number(ctx, a.Pool, "SELECT COUNT(*) FROM "+o.view+" WHERE "+o.column+" = :1", o.name)
		if err != nil {
			return err
		}
		if n > 0 {
			continue
		}
		err = a.Pool.Exec(ctx, o.text)
		switch code(err) {
		case nameTaken: // by another loader, a moment ago
			continue
		case missingRights, noQuota:
			return &fault.Error{Setting: "oracle", Problem: "the user may not make tables", Err: err, Cure: "GRANT CREATE TABLE TO the user; ALTER USER the user QUOTA UNLIMITED ON its tablespace"}
		}
		if err != nil {
			return fmt.Errorf("%s: %w", o.text, err)
		}
	}
	return nil
}
