package oracle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	goora "github.com/sijms/go-ora/v2"

	"github.com/barograph/barograph/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/fault"
	"github.com/barograph/barograph/record"
)

func (a *archive) Loader(ctx context.Context, subset string) (engine.Loader, error) {
	if a.db.readOnly {
		return nil, &fault.Error{Setting: "oracle", Err: engine.ErrReadOnly, Cure: "open it for writing, as `barograph load` does"}
	}
	if !storable(subset) {
		return nil, &fault.Error{Setting: "subset", Problem: "has a name that Oracle cannot hold: it is no UTF-8 text, or has a zero byte", Cure: "name it otherwise"}
	}
	if err := a.makeAll(ctx, a.subsetObjects(subset)); err != nil {
		return nil, err
	}
	// Another loader may do the same: then one of them finds the row.
	err := a.Pool.Exec(ctx, "MERGE INTO "+a.Own(subset, sqlengine.CatalogTable)+" c USING (SELECT 1 AS id FROM DUAL) n ON (c.id = n.id)"+
		" WHEN NOT MATCHED THEN INSERT (id, subset, version) VALUES (1, :1, 0)", subset)
	if err != nil && code(err) != keyTaken {
		return nil, err
	}
	return a.NewLoader(subset, sqlengine.LoadSession{
		Check: checkText, CheckKey: checkKey, Transaction: a.db.transaction,
		Make: func(ctx context.Context, _ sqlengine.Querier, t *record.LineType) error {
			return a.makeAll(ctx, a.typeObjects(subset, t))
		},
		Apart: true, Insert: insert,
		RowID: "ROWIDTOCHAR(ld.ROWID)", Delete: remove, Analyze: a.analyze,
	}), nil
}

// keyTaken is the number of the error of a unique key.
const keyTaken = 1

// storable: a text is UTF-8 without a zero byte.
func storable(s string) bool { return utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 }

// checkText reports whether a text fits a column.
func checkText(b *record.Batch, i int, s string) error {
	switch {
	case !storable(s):
		return &fault.Error{File: b.File, Line: int(b.Line[i]), Problem: "holds text that is not UTF-8, or a zero byte, which Oracle does not store", Cure: "convert the file, e.g. with iconv"}
	case len(s) > maxText:
		return &fault.Error{File: b.File, Line: int(b.Line[i]), Problem: fmt.Sprintf("holds a text of %d bytes; Barograph's columns in Oracle take %d", len(s), maxText), Cure: "shorten it, or use another engine"}
	}
	return nil
}

// checkKey reports whether an id of a document, or a path, fits its column.
func checkKey(file, key string) error {
	switch {
	case len(key) <= idBytes:
		return nil
	case key == file:
		return &fault.Error{File: file, Problem: "has a path that is too long for Oracle", Cure: "name it by a shorter path"}
	}
	return &fault.Error{File: file, Problem: fmt.Sprintf("holds a series whose id has %d bytes; Oracle's columns take %d", len(key), idBytes), Cure: "use the normalized design"}
}

func (a *archive) analyze(ctx context.Context, table string) error {
	return a.Pool.Exec(ctx, "BEGIN DBMS_STATS.GATHER_TABLE_STATS(ownname => USER, tabname => :1); END;", table)
}

// transaction runs f in a transaction. Its rollback does not depend on ctx; a
// session that is lost rolls back by itself.
func (db *database) transaction(ctx context.Context, f func(q sqlengine.Querier) error) error {
	tx, err := db.pool.BeginTx(context.WithoutCancel(ctx), nil)
	if err != nil {
		return err
	}
	if err := f(querier{sqlengine.Standard{Over: tx}}); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
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

// newBulk is that of an INSERT; its parameters are the columns. The first one
// is no BLOB.
func newBulk(table string, cols []sqlengine.Column) *bulk {
	b := &bulk{texts: make([][]string, len(cols)), blobs: map[int][]goora.Blob{}}
	params := make([]string, len(cols))
	for k, c := range cols {
		params[k] = placeholder(c, k+1)
		if c.Type == sqlengine.Entries || c.Type == sqlengine.Doubles {
			b.blobs[k] = nil
		}
	}
	b.text = "INSERT INTO " + table + " (" + sqlengine.Names("", cols) + ") VALUES (" + strings.Join(params, ", ") + ")"
	return b
}

// remove deletes rows by their ROWIDs.
func remove(ctx context.Context, q sqlengine.Querier, table string, ids []string) error {
	b := &bulk{text: "DELETE FROM " + table + " WHERE ROWID = CHARTOROWID(:1)", texts: [][]string{ids}}
	return b.send(ctx, q)
}

func (b *bulk) Null(k int)                   { b.Text(k, "") } // as an empty text is
func (b *bulk) Text(k int, s string)         { b.texts[k] = append(b.texts[k], s) }
func (b *bulk) Whole(k int, v int64)         { b.Text(k, strconv.FormatInt(v, 10)) }
func (b *bulk) Number(k int, f float64)      { b.Text(k, strconv.FormatFloat(f, 'G', -1, 64)) }
func (b *bulk) Time(k int, epoch int64)      { b.Text(k, string(sqlengine.AppendDateTime(nil, epoch))) }
func (b *bulk) List(k int, values []float64) { b.JSON(k, design.AppendRepeats(nil, values)) }
func (b *bulk) JSON(k int, entries []byte) {
	b.blobs[k] = append(b.blobs[k], goora.Blob{Data: slices.Clone(entries), Valid: entries != nil})
}

// send carries the statement out for the rows that are there.
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
