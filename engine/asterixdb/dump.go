package asterixdb

import (
	"context"
	"iter"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/barograph/barograph/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/record"
)

// Dump reads one line type after the other.
func (a *archive) Dump(ctx context.Context, subset string) iter.Seq2[*record.Batch, error] {
	return engine.Dump(func(to *engine.Dumper) error {
		catalog, err := a.Catalog(ctx, subset)
		if err != nil {
			return err
		}
		names, types := a.targets(catalog)
		for _, name := range names {
			for _, t := range types[name] {
				dump := a.dumpRows
				if a.design == design.Document {
					dump = a.dumpDocs
				}
				if err := dump(ctx, subset, t, to); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

func (a *archive) dumpDocs(ctx context.Context, subset string, t *record.LineType, to *engine.Dumper) error {
	var b record.Batch
	b.Reset(t, "")
	_, err := a.db.client.run(ctx, request{
		text: "SELECT VALUE r FROM " + a.dataset(a.target(t)) + " AS r WHERE r.subset = " + quote(subset) + " AND r.line_type = " + quote(t.Name),
		row: func(doc []byte) error {
			if _, err := design.ParseJSON(doc, &b); err != nil {
				return err
			}
			_, err := to.Full(&b)
			return err
		},
	})
	if err != nil {
		return err
	}
	return to.Rest(&b)
}

// dumpRows joins rows with their headers, by a hash join: all are wanted.
func (a *archive) dumpRows(ctx context.Context, subset string, t *record.LineType, to *engine.Dumper) error {
	var cols []sqlengine.Column
	var exprs []string
	for _, c := range sqlengine.HeaderColumns()[1:] {
		cols, exprs = append(cols, c), append(exprs, "h."+ident(c.Name))
	}
	for _, c := range sqlengine.LineColumns(t) {
		if c.From == sqlengine.HeaderID || c.From == sqlengine.FileID {
			continue
		}
		cols, exprs = append(cols, c), append(exprs, "ld."+ident(c.Name))
	}
	c := newCollector(t, cols)
	of := quote(subset)
	_, err := a.db.client.run(ctx, request{
		text: "SELECT VALUE [" + strings.Join(exprs, ", ") + "] FROM " + a.dataset(design.HeaderTable) + " AS h, " + a.dataset(a.target(t)) +
			" AS ld WHERE h.subset = " + of + " AND ld.subset = " + of + " AND ld.line_type = " + quote(t.Name) + " AND h.stat_header_id = ld.stat_header_id",
		row: func(row []byte) (err error) {
			k := 0
			gjson.ParseBytes(row).ForEach(func(_, cell gjson.Result) bool {
				err = collect(c, k, &cols[k], cell)
				k++
				return err == nil
			})
			if err != nil {
				return err
			}
			return c.End(to)
		},
	})
	if err != nil {
		return err
	}
	return to.Rest(&c.Batch)
}

// newCollector turns rows of a line type into records.
func newCollector(t *record.LineType, cols []sqlengine.Column) *sqlengine.Collector {
	return sqlengine.NewCollector(design.Normalized, t, cols, func(src any, into []float64) ([]float64, error) {
		return design.ParseRepeats([]byte(src.(string)), into)
	})
}

// collect gives the collector column k of the row under way.
func collect(c *sqlengine.Collector, k int, col *sqlengine.Column, cell gjson.Result) error {
	if col.Type == sqlengine.Doubles {
		return c.Value(k, cell.Raw)
	}
	return c.Value(k, cellOf(cell, col.From == sqlengine.Data))
}
