package sqlite

import (
	"context"
	"iter"

	"barograph/design"
	"barograph/engine"
	"barograph/engine/sqlengine"
	"barograph/record"
)

// Dump reads in the order of the tables.
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
	rows, err := a.db.pool.QueryContext(ctx, "SELECT "+sqlengine.Names("h.", headers)+", "+sqlengine.Names("ld.", lines)+ //nolint:rowserrcheck // Dump checks
		"\n  FROM "+a.dialect.Table(subset, name)+" ld CROSS JOIN "+a.dialect.Table(subset, design.HeaderTable)+" h USING (stat_header_id)")
	if err != nil {
		return err
	}
	return sqlengine.NewCollector(a.design, t, append(headers, lines...), sqlengine.AsRepeats).Dump(rows, to)
}

func (a *archive) dumpDocs(ctx context.Context, subset string, t *record.LineType, to *engine.Dumper) error {
	name, _, _ := sqlengine.Table(a.design, t)
	rows, err := a.db.pool.QueryContext(ctx, "SELECT "+sqlengine.Names("", sqlengine.DocDumpColumns())+ //nolint:rowserrcheck // Dump checks
		", json(data) FROM "+a.dialect.Table(subset, name))
	if err != nil {
		return err
	}
	return sqlengine.NewDocuments(t).Dump(rows, to)
}
