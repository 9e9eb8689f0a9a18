package oracle

import (
	"context"
	"database/sql"
	"iter"

	"barograph/design"
	"barograph/engine"
	"barograph/engine/sqlengine"
	"barograph/record"
)

// Dump reads table by table.
func (a *archive) Dump(ctx context.Context, subset string) iter.Seq2[*record.Batch, error] {
	return engine.Dump(func(to *engine.Dumper) error {
		types, err := a.stored(ctx, subset)
		for _, t := range types {
			if a.design == design.Document {
				err = a.dumpDocs(ctx, subset, t, to)
			} else {
				err = a.dumpLines(ctx, subset, t, to)
			}
			if err != nil {
				break
			}
		}
		return failed(ctx, err)
	})
}

func (a *archive) dumpLines(ctx context.Context, subset string, t *record.LineType, to *engine.Dumper) error {
	name, lines, _ := sqlengine.Table(a.design, t)
	headers := sqlengine.HeaderColumns()[1:]
	rows, err := a.db.pool.QueryContext(ctx, "SELECT "+sqlengine.Names("h.", headers)+", "+sqlengine.Names("ld.", lines)+
		"\n  FROM "+a.dialect.Table(subset, name)+" ld JOIN "+a.dialect.Table(subset, design.HeaderTable)+" h ON h.stat_header_id = ld.stat_header_id")
	if err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // Err below says what went wrong
	columns := append(headers, lines...)
	c := sqlengine.NewCollector(a.design, t, columns, repeats)
	cells := make([]any, len(columns))
	for k := range cells {
		cells[k] = cell{c.Value, k, false}
	}
	for rows.Next() {
		if err := rows.Scan(cells...); err != nil {
			return err
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

// repeats decodes the JSON of repeating columns.
func repeats(src any, into []float64) ([]float64, error) {
	text, err := sqlengine.AsText(src, "")
	if err != nil || text == "" {
		return into, err
	}
	return design.ParseRepeats([]byte(text), into)
}

func (a *archive) dumpDocs(ctx context.Context, subset string, t *record.LineType, to *engine.Dumper) error {
	name, _, _ := sqlengine.Table(a.design, t)
	rows, err := a.db.pool.QueryContext(ctx, "SELECT "+sqlengine.Names("", sqlengine.DocDumpColumns())+", data FROM "+a.dialect.Table(subset, name))
	if err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // Err below says what went wrong
	docs := sqlengine.NewDocuments(t)
	var fields [record.NumFields]sql.NullString // an empty text is NULL
	var valid int64
	var entries sql.RawBytes
	cells := make([]any, 0, len(fields)+2)
	for f := range fields {
		cells = append(cells, &fields[f])
	}
	cells = append(cells, &valid, &entries)
	for rows.Next() {
		if err := rows.Scan(cells...); err != nil {
			return err
		}
		var h record.Header
		for f := range fields {
			h[f] = fields[f].String
		}
		if err := docs.Add(h, valid, entries, to); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	return docs.Rest(to)
}
