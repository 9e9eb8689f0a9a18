package postgres

import (
	"context"
	"errors"
	"iter"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"barograph/design"
	"barograph/engine/sqlengine"
	"barograph/record"
)

// dumpRows is about how many records a batch of a dump holds.
const dumpRows = 4096

// errStopped says that the caller wants no more.
var errStopped = errors.New("stopped")

// Dump reads table by table, all as of one moment.
func (a *archive) Dump(ctx context.Context, subset string) iter.Seq2[*record.Batch, error] {
	return func(yield func(*record.Batch, error) bool) {
		err := a.dump(ctx, subset, yield)
		if err != nil && !errors.Is(err, errStopped) {
			yield(nil, failed(ctx, err))
		}
	}
}

func (a *archive) dump(ctx context.Context, subset string, yield func(*record.Batch, error) bool) error {
	ctx, stop := context.WithCancel(ctx) // a dump that is left is ended in the server, too
	defer stop()
	tx, err := a.db.pool.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return err
	}
	defer tx.Rollback(context.WithoutCancel(ctx)) //nolint:errcheck // it only read
	types, err := a.stored(ctx, tx, subset)
	if err != nil {
		return err
	}
	for _, t := range types {
		if a.design == design.Document {
			err = a.dumpDocs(ctx, tx, subset, t, yield)
		} else {
			err = a.dumpLines(ctx, tx, subset, t, yield)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// selection is the query for all records of a type, and its columns.
func (a *archive) selection(subset string, t *record.LineType) (string, []sqlengine.Column) {
	name, cols, _ := sqlengine.Table(a.design, t)
	table := a.dialect.Table(subset, name)
	if a.design == design.Wide {
		return "SELECT " + sqlengine.Names("", cols) + " FROM " + table, cols
	}
	headers := sqlengine.HeaderColumns()[1:]
	return "SELECT " + sqlengine.Names("h.", headers) + ", " + sqlengine.Names("ld.", cols) +
		" FROM " + table + " ld JOIN " + a.dialect.Table(subset, design.HeaderTable) + " h USING (stat_header_id)", append(headers, cols...)
}

func (a *archive) dumpLines(ctx context.Context, tx pgx.Tx, subset string, t *record.LineType, yield func(*record.Batch, error) bool) error {
	text, cols := a.selection(subset, t)
	c := sqlengine.NewCollector(a.design, t, cols, func(src any, into []float64) ([]float64, error) {
		raw, _ := src.([]byte)
		return floats(raw, into), nil
	})
	rows, err := tx.Query(ctx, text)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		fields, raw := rows.FieldDescriptions(), rows.RawValues()
		for k := range cols {
			if err := c.Value(k, cell(raw[k], fields[k].DataTypeOID)); err != nil {
				return err
			}
		}
		if c.Row(); c.Batch.Len() == dumpRows {
			if !yield(&c.Batch, nil) {
				return errStopped
			}
			c.Reset()
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	if c.Batch.Len() > 0 && !yield(&c.Batch, nil) {
		return errStopped
	}
	return nil
}

// cell is a value as the collector takes it.
func cell(raw []byte, oid uint32) any {
	if raw == nil {
		return nil
	}
	switch oid {
	case pgtype.TimestampOID:
		v, _ := moment(raw, oid)
		return v
	case pgtype.Int4OID, pgtype.Int8OID:
		v, _ := whole(raw, oid)
		return v
	case pgtype.Float8OID:
		return float(raw)
	}
	return raw
}

func (a *archive) dumpDocs(ctx context.Context, tx pgx.Tx, subset string, t *record.LineType, yield func(*record.Batch, error) bool) error {
	name, cols, _ := sqlengine.Table(a.design, t)
	fields := cols[1 : 1+int(record.NumFields)]
	rows, err := tx.Query(ctx, "SELECT "+sqlengine.Names("", fields)+", fcst_valid_epoch, data::text FROM "+a.dialect.Table(subset, name))
	if err != nil {
		return err
	}
	defer rows.Close()
	var b record.Batch
	b.Reset(t, "")
	heads := map[record.Header]uint32{}
	var h record.Header
	for rows.Next() {
		raw := rows.RawValues()
		for k, c := range fields {
			if string(raw[k]) != h[c.Field] {
				h[c.Field] = string(raw[k])
			}
		}
		head, ok := heads[h]
		if !ok {
			head = b.AddHeader(h)
			heads[h] = head
		}
		valid, _ := whole(raw[len(fields)], pgtype.Int8OID)
		if err := design.ParseEntries(raw[len(fields)+1], &b, head, valid); err != nil {
			return err
		}
		if b.Len() >= dumpRows {
			if !yield(&b, nil) {
				return errStopped
			}
			b.Reset(t, "")
			clear(heads)
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	if b.Len() > 0 && !yield(&b, nil) {
		return errStopped
	}
	return nil
}
