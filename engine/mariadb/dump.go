package mariadb

import (
	"context"
	"iter"
	"strings"

	"barograph/design"
	"barograph/engine"
	"barograph/engine/sqlengine"
	"barograph/record"
)

// Dump reads in the order of the tables.
func (a *archive) Dump(ctx context.Context, subset string) iter.Seq2[*record.Batch, error] {
	return engine.Dump(func(to *engine.Dumper) error {
		types, err := a.stored(ctx, subset)
		var twins map[string]map[string]bool
		if err == nil && a.design == design.Normalized {
			twins, err = a.twins(ctx, a.db.pool, subset)
		}
		for _, t := range types {
			if err != nil {
				break
			}
			switch a.design {
			case design.Document:
				err = a.dumpDocs(ctx, subset, t, to)
			case design.Wide:
				err = a.dumpRows(ctx, subset, a.wideSelect(t), to)
			default:
				err = a.dumpRows(ctx, subset, a.lineSelect(t, twins), to)
			}
		}
		return failed(ctx, err)
	})
}

// selection is a SELECT of whole records.
type selection struct {
	columns   string
	collector *sqlengine.Collector
	from      func(a *archive, subset string) string
}

// lineSelect selects records of METviewer's tables.
func (a *archive) lineSelect(t *record.LineType, twins map[string]map[string]bool) selection {
	var cols []sqlengine.Column
	var exprs []string
	for _, c := range headerColumns() {
		cols = append(cols, c.Column)
		exprs = append(exprs, c.expr(twins[design.HeaderTable]))
	}
	for _, c := range lineColumns(t) {
		if c.From == sqlengine.HeaderID || c.From == sqlengine.FileID || c.From == sqlengine.Lead {
			continue
		}
		cols, exprs = append(cols, c.Column), append(exprs, c.expr(twins[tableOf(t)]))
	}
	if hasLineID(t) {
		cols = append(cols, sqlengine.Column{Name: "repeats", Type: sqlengine.Doubles, From: sqlengine.Repeats})
		exprs = append(exprs, "ld."+repeatsColumn)
	}
	return selection{strings.Join(exprs, ", "), sqlengine.NewCollector(a.design, t, cols, sqlengine.AsRepeats), func(a *archive, subset string) string {
		return " FROM " + a.table(subset, tableOf(t)) + " ld JOIN " + a.table(subset, design.HeaderTable) + " h USING (stat_header_id)"
	}}
}

func (a *archive) wideSelect(t *record.LineType) selection {
	name, cols, _ := sqlengine.Table(design.Wide, t)
	return selection{sqlengine.Names("", cols), sqlengine.NewCollector(a.design, t, cols, sqlengine.AsRepeats), func(a *archive, subset string) string {
		return " FROM " + a.table(subset, name)
	}}
}

func (a *archive) dumpRows(ctx context.Context, subset string, s selection, to *engine.Dumper) error {
	rows, err := a.db.pool.QueryContext(ctx, "SELECT "+s.columns+s.from(a, subset)) //nolint:rowserrcheck // Dump checks
	if err != nil {
		return err
	}
	return s.collector.Dump(rows, to)
}

func (a *archive) dumpDocs(ctx context.Context, subset string, t *record.LineType, to *engine.Dumper) error {
	name, _, _ := sqlengine.Table(a.design, t)
	rows, err := a.db.pool.QueryContext(ctx, "SELECT "+sqlengine.Names("", sqlengine.DocDumpColumns())+", data FROM "+a.table(subset, name)) //nolint:rowserrcheck // Dump checks
	if err != nil {
		return err
	}
	return sqlengine.NewDocuments(t).Dump(rows, to)
}
