package oracle

import (
	"context"
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
		if err == nil {
			err = sqlengine.DumpTypes(a.design, types,
				func(t *record.LineType) error { return a.dumpLines(ctx, subset, t, to) },
				func(t *record.LineType) error { return a.dumpDocs(ctx, subset, t, to) })
		}
		return failed(ctx, err)
	})
}

func (a *archive) dumpLines(ctx context.Context, subset string, t *record.LineType, to *engine.Dumper) error {
	name, lines, _ := sqlengine.Table(a.design, t)
	headers := sqlengine.HeaderColumns()[1:]
	rows, err := a.db.pool.QueryContext(ctx, "SELECT "+sqlengine.Names("h.", headers)+", "+sqlengine.Names("ld.", lines)+ //nolint:rowserrcheck // DumpCells checks
		"\n  FROM "+a.dialect.Table(subset, name)+" ld JOIN "+a.dialect.Table(subset, design.HeaderTable)+" h ON h.stat_header_id = ld.stat_header_id")
	if err != nil {
		return err
	}
	columns := append(headers, lines...)
	c := sqlengine.NewCollector(a.design, t, columns, sqlengine.AsRepeats)
	cells := make([]any, len(columns))
	for k := range cells {
		cells[k] = cell{c.Value, k, false}
	}
	return c.DumpCells(rows, cells, to)
}

func (a *archive) dumpDocs(ctx context.Context, subset string, t *record.LineType, to *engine.Dumper) error {
	name, _, _ := sqlengine.Table(a.design, t)
	rows, err := a.db.pool.QueryContext(ctx, "SELECT "+sqlengine.Names("", sqlengine.DocDumpColumns())+ //nolint:rowserrcheck // Dump checks
		", data FROM "+a.dialect.Table(subset, name))
	if err != nil {
		return err
	}
	return sqlengine.NewDocuments(t).Dump(rows, to)
}
