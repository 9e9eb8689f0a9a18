package postgres

import (
	"context"
	"iter"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"barograph/design"
	"barograph/engine"
	"barograph/engine/sqlengine"
	"barograph/record"
)

// Dump reads table by table, all as of one moment.
func (a *archive) Dump(ctx context.Context, subset string) iter.Seq2[*record.Batch, error] {
	return engine.Dump(func(to *engine.Dumper) error { return failed(ctx, a.dump(ctx, subset, to)) })
}

func (a *archive) dump(ctx context.Context, subset string, to *engine.Dumper) error {
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
	return sqlengine.DumpTypes(a.design, types,
		func(t *record.LineType) error { return a.dumpLines(ctx, tx, subset, t, "", to) },
		func(t *record.LineType) error { return a.dumpDocs(ctx, tx, subset, t, to) })
}

// selection is the query for all records of a type, and its columns; ld is the
// table of lines.
func (a *archive) selection(subset string, t *record.LineType) (string, []sqlengine.Column) {
	name, cols, _ := sqlengine.Table(a.design, t)
	table := a.dialect.Table(subset, name)
	if a.design == design.Wide {
		return "SELECT " + sqlengine.Names("", cols) + " FROM " + table + " ld", cols
	}
	headers := sqlengine.HeaderColumns()[1:]
	return "SELECT " + sqlengine.Names("h.", headers) + ", " + sqlengine.Names("ld.", cols) +
		" FROM " + table + " ld JOIN " + a.dialect.Table(subset, design.HeaderTable) + " h USING (stat_header_id)", append(headers, cols...)
}

// dumpLines dumps the records for which a condition holds.
func (a *archive) dumpLines(ctx context.Context, tx querier, subset string, t *record.LineType, where string, to *engine.Dumper) error {
	text, cols := a.selection(subset, t)
	c := sqlengine.NewCollector(a.design, t, cols, func(src any, into []float64) ([]float64, error) {
		raw, _ := src.([]byte)
		return floats(raw, into), nil
	})
	rows, err := tx.Query(ctx, text+where)
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
		if err := c.End(to); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	return to.Rest(&c.Batch)
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

func (a *archive) dumpDocs(ctx context.Context, tx pgx.Tx, subset string, t *record.LineType, to *engine.Dumper) error {
	name, _, _ := sqlengine.Table(a.design, t)
	rows, err := tx.Query(ctx, "SELECT "+sqlengine.Names("", sqlengine.DocDumpColumns())+", data::text FROM "+a.dialect.Table(subset, name))
	if err != nil {
		return err
	}
	defer rows.Close()
	docs := sqlengine.NewDocuments(t)
	var h record.Header
	for rows.Next() {
		raw := rows.RawValues()
		for f := range h {
			if string(raw[f]) != h[f] {
				h[f] = string(raw[f])
			}
		}
		valid, _ := whole(raw[len(h)], pgtype.Int8OID)
		if err := docs.Add(h, valid, raw[len(h)+1], to); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	return docs.Rest(to)
}
