package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"iter"

	"barograph/design"
	"barograph/engine/sqlengine"
	"barograph/record"
)

// dumpRows is about how many records a batch of a dump holds.
const dumpRows = 4096

// Dump reads in the order of the tables.
func (a *archive) Dump(ctx context.Context, subset string) iter.Seq2[*record.Batch, error] {
	return func(yield func(*record.Batch, error) bool) {
		types, err := a.stored(ctx, subset)
		for _, t := range types {
			if a.design == design.Document {
				err = a.dumpDocs(ctx, subset, t, yield)
			} else {
				err = a.dumpLines(ctx, subset, t, yield)
			}
			if err != nil {
				break
			}
		}
		if err != nil && !errors.Is(err, errStopped) {
			yield(nil, failed(ctx, err))
		}
	}
}

// errStopped says that the caller wants no more.
var errStopped = errors.New("stopped")

func (a *archive) dumpLines(ctx context.Context, subset string, t *record.LineType, yield func(*record.Batch, error) bool) error {
	name, lines, _ := sqlengine.Table(a.design, t)
	headers := sqlengine.HeaderColumns()[1:]
	c := sqlengine.NewCollector(a.design, t, append(headers, lines...), repeats)
	rows, err := a.db.pool.QueryContext(ctx, "SELECT "+sqlengine.Names("h.", headers)+", "+sqlengine.Names("ld.", lines)+
		"\n  FROM "+a.dialect.Table(subset, name)+" ld CROSS JOIN "+a.dialect.Table(subset, design.HeaderTable)+" h USING (stat_header_id)")
	if err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // Err below says what went wrong
	cells := c.Scan()
	for rows.Next() {
		if err := rows.Scan(cells...); err != nil {
			return err
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

func (a *archive) dumpDocs(ctx context.Context, subset string, t *record.LineType, yield func(*record.Batch, error) bool) error {
	name, cols, _ := sqlengine.Table(a.design, t)
	fields := cols[1 : 1+int(record.NumFields)]
	rows, err := a.db.pool.QueryContext(ctx, "SELECT "+sqlengine.Names("", fields)+", fcst_valid_epoch, json(data) FROM "+a.dialect.Table(subset, name))
	if err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // Err below says what went wrong
	var b record.Batch
	b.Reset(t, "")
	heads := map[record.Header]uint32{}
	var h record.Header
	var valid int64
	var data sql.RawBytes
	cells := make([]any, 0, len(fields)+2)
	for _, c := range fields {
		cells = append(cells, &h[c.Field])
	}
	cells = append(cells, &valid, &data)
	for rows.Next() {
		if err := rows.Scan(cells...); err != nil {
			return err
		}
		head, ok := heads[h]
		if !ok {
			head = b.AddHeader(h)
			heads[h] = head
		}
		if err := design.ParseEntries(data, &b, head, valid); err != nil {
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
