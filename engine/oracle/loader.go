//go:build oracle

package oracle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	goora "github.com/sijms/go-ora/v2"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/record"
)

func (a *openArchive) Loader(ctx context.Context, subset string) (archive.Loader, error) {
	if a.db.readOnly {
		return nil, &fault.Error{Setting: "oracle", Err: engine.ErrReadOnly, Cure: "open it for writing, as `barograph load` does"}
	}
	if err := storable.Subset(subset); err != nil {
		return nil, err
	}
	if err := a.makeAll(ctx, a.subsetObjects(subset)); err != nil {
		return nil, err
	}
	// Another loader may do the same; then one of them finds the row.
	err := a.Pool.Exec(ctx, "MERGE INTO "+a.OwnTable(subset, sqlengine.CatalogTable)+" c USING (SELECT 1 AS id FROM DUAL) n ON (c.id = n.id)"+
		" WHEN NOT MATCHED THEN INSERT (id, subset, version) VALUES (1, :1, 0)", subset)
	if err != nil && code(err) != keyTaken {
		return nil, err
	}
	return a.NewLoader(subset, sqlengine.LoadSession{
		CheckText: checkText, CheckKey: checkKey, Transaction: a.db.transaction,
		MakeTable: func(ctx context.Context, _ sqlengine.Querier, t *record.LineType) error {
			return a.makeAll(ctx, a.typeObjects(subset, t))
		},
		MakeCommits: true, Insert: insert,
		RowID: "ROWIDTOCHAR(ld.ROWID)", DeleteRows: remove, Analyze: a.analyze,
	}), nil
}

// keyTaken is the error number of a violated unique key.
const keyTaken = 1

var storable = sqlengine.Storable{Product: "Oracle"} //nolint:gochecknoglobals // a constant

// checkText reports whether a text fits a column.
func checkText(b *record.Batch, i int, s string) error {
	if len(s) > maxText {
		return &fault.Error{File: b.File, Line: int(b.Line[i]), Problem: fmt.Sprintf("contains a text of %d bytes; Barograph's columns in Oracle are limited to %d", len(s), maxText), Cure: "shorten it, or use another engine"}
	}
	return storable.Check(b, i, s)
}

// checkKey reports whether an id of a document, or a path, fits its column.
func checkKey(file, key string) error {
	switch {
	case len(key) <= idBytes:
		return nil
	case key == file:
		return &fault.Error{File: file, Problem: "has a path that is too long for Oracle", Cure: "give it a shorter path"}
	}
	return &fault.Error{File: file, Problem: fmt.Sprintf("contains a series whose id has %d bytes; Oracle's columns are limited to %d", len(key), idBytes), Cure: "use the normalized design"}
}

func (a *openArchive) analyze(ctx context.Context, table string) error {
	return a.Pool.Exec(ctx, "BEGIN DBMS_STATS.GATHER_TABLE_STATS(ownname => USER, tabname => :1); END;", table)
}

// transaction runs f in a transaction. Its rollback does not depend on ctx; a lost session rolls back by itself.
func (db *database) transaction(ctx context.Context, f func(q sqlengine.Querier) error) error {
	tx, err := db.pool.BeginTx(context.WithoutCancel(ctx), nil)
	if err != nil {
		return err
	}
	if err := f(querier{sqlengine.DatabaseSQL{DB: tx}}); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// placeholder returns the n-th parameter of an INSERT, a text, converted to the column's type.
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

// bulkRows is the number of rows that one statement stores.
const bulkRows = 1000

// bulk collects the parameters of a statement, by column, and sends them as arrays: the server runs the
// statement for each row.
type bulk struct {
	text  string
	texts [][]string
	blobs map[int][]goora.Blob
}

// insert stores rows in bulk.
func insert(ctx context.Context, q sqlengine.Querier, table string, cols []sqlengine.Column, next sqlengine.Next) error {
	b := newBulk(table, cols)
	for {
		ok, err := next(b)
		if err != nil {
			return err
		}
		if rows := len(b.texts[0]); rows == bulkRows || !ok && rows > 0 {
			err = b.send(ctx, q)
		}
		if err != nil || !ok {
			return err
		}
	}
}

// newBulk returns the bulk of an INSERT; its parameters are the columns. The first one must not be a BLOB.
func newBulk(table string, cols []sqlengine.Column) *bulk {
	b := &bulk{texts: make([][]string, len(cols)), blobs: map[int][]goora.Blob{}}
	params := make([]string, len(cols))
	for k, c := range cols {
		params[k] = placeholder(c, k+1)
		if c.Type == sqlengine.Entries || c.Type == sqlengine.Doubles {
			b.blobs[k] = nil
		}
	}
	b.text = "INSERT INTO " + table + " (" + sqlengine.ColumnList("", cols) + ") VALUES (" + strings.Join(params, ", ") + ")"
	return b
}

// remove deletes rows by their ROWIDs.
func remove(ctx context.Context, q sqlengine.Querier, table string, ids []string) error {
	b := &bulk{text: "DELETE FROM " + table + " WHERE ROWID = CHARTOROWID(:1)", texts: [][]string{ids}}
	return b.send(ctx, q)
}

func (b *bulk) Null(k int)                   { b.Text(k, "") } // an empty text is NULL
func (b *bulk) Text(k int, s string)         { b.texts[k] = append(b.texts[k], s) }
func (b *bulk) Integer(k int, v int64)       { b.Text(k, strconv.FormatInt(v, 10)) }
func (b *bulk) Number(k int, f float64)      { b.Text(k, numberText(f)) }
func (b *bulk) Time(k int, epoch int64)      { b.Text(k, string(sqlengine.AppendDateTime(nil, epoch))) }
func (b *bulk) List(k int, values []float64) { b.JSON(k, design.AppendRepeats(nil, values)) }
func (b *bulk) JSON(k int, entries []byte) {
	b.blobs[k] = append(b.blobs[k], goora.Blob{Data: slices.Clone(entries), Valid: entries != nil})
}

// numberText writes a number for TO_BINARY_DOUBLE, whose infinities are INF and -INF.
func numberText(f float64) string {
	return strings.TrimPrefix(strconv.FormatFloat(f, 'G', -1, 64), "+")
}

// send runs the statement for the collected rows.
func (b *bulk) send(ctx context.Context, q sqlengine.Querier) error {
	args := make([]any, len(b.texts))
	for k := range args {
		args[k] = b.texts[k]
		if blobs, ok := b.blobs[k]; ok {
			args[k] = blobs
		}
	}
	if err := q.Exec(ctx, b.text, args...); err != nil {
		return fmt.Errorf("%s: %w", b.text, err)
	}
	for k := range b.texts {
		b.texts[k] = b.texts[k][:0]
	}
	for k := range b.blobs {
		b.blobs[k] = b.blobs[k][:0]
	}
	return nil
}

// The tables of a subset:
//
//	"subset/barograph_<design>_catalog"  one row; the subset exists if it does
//	"subset/barograph_<design>_marks"    the completely loaded files
//	"subset/stat_header", "subset/data_file", "subset/line_data_<type>"   normalized
//	"subset/doc_<type>"                  document
//
// Both designs may exist in one schema. The table of a line type is created with its first record.

// idBytes is the greatest length, in bytes, of a text outside records: an id, a path.
const idBytes = 4000

// typeName returns Oracle's type of a column.
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

// Suffixes of the names of indexes; the rest is the table's name.
const (
	keySuffix    = "_pk" // of a primary key
	uniqueSuffix = "_unique_pk"
	headerSuffix = "_stat_header_id_idx"
	seriesSuffix = "_series_idx"
)

// object is a table or an index to create with the statement text. It exists if a view of the dictionary, such as
// user_tables, has its name in column.
type object struct{ view, column, name, text string }

// table returns CREATE TABLE. A text may be NULL, because an empty text is NULL.
func table(subset, name string, cols []sqlengine.Column) object {
	full := objectName(subset, name)
	columns := flavour.Join(cols, ",\n  ", func(c sqlengine.Column) string {
		text := c.Name + " " + typeName(c)
		switch {
		case c.Primary:
			text += " CONSTRAINT " + flavour.Ident(full+keySuffix) + " PRIMARY KEY"
		case c.NotNull && c.Type != sqlengine.Text:
			text += " NOT NULL"
		}
		return text
	})
	return object{"user_tables", "table_name", full, "CREATE TABLE " + flavour.Ident(full) + " (\n  " + columns + "\n)"}
}

func index(subset, on, name, columns string) object {
	full := objectName(subset, on+name)
	return object{"user_indexes", "index_name", full, "CREATE INDEX " + flavour.Ident(full) + " ON " + flavour.Ident(objectName(subset, on)) + " (" + columns + ")"}
}

// subsetObjects returns the objects of a subset. The catalog's table is last.
func (a *openArchive) subsetObjects(subset string) []object {
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

// typeObjects returns the objects of the table of a line type.
//
// METviewer's stat_header_id_idx contains only stat_header_id. Here the valid time follows it, because a
// load can then find the records that it replaces without reading the whole series. The same index serves a
// question by header.
func (a *openArchive) typeObjects(subset string, t *record.LineType) []object {
	name, cols, _ := sqlengine.DesignTable(a.Design, t)
	out := []object{table(subset, name, cols)}
	if a.Design == design.Normalized {
		return append(out, index(subset, name, headerSuffix, "stat_header_id, fcst_valid_beg"))
	}
	return append(out, index(subset, name, seriesSuffix, "model, fcst_var, fcst_lev, vx_mask, fcst_valid_epoch"))
}

// makeAll creates the missing objects. Each statement commits, so no transaction may be in progress.
func (a *openArchive) makeAll(ctx context.Context, objects []object) error {
	for _, o := range objects {
		n, err := sqlengine.QueryNumber(ctx, a.Pool, "SELECT COUNT(*) FROM "+o.view+" WHERE "+o.column+" = :1", o.name)
		if err != nil {
			return err
		}
		if n > 0 {
			continue
		}
		err = a.Pool.Exec(ctx, o.text)
		switch code(err) {
		case nameTaken: // another loader has just created it
			continue
		case missingRights, noQuota:
			return &fault.Error{Setting: "oracle", Problem: "the user may not create tables", Err: err, Cure: "GRANT CREATE TABLE TO the user; ALTER USER the user QUOTA UNLIMITED ON its tablespace"}
		}
		if err != nil {
			return fmt.Errorf("%s: %w", o.text, err)
		}
	}
	return nil
}
