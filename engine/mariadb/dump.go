package mariadb

import (
	"context"
	"database/sql"
	"errors"
	"iter"
	"strings"

	"barograph/design"
	"barograph/engine/sqlengine"
	"barograph/record"
)

// dumpRows is about how many records a batch of a dump holds.
const dumpRows = 4096

// errStopped says that the caller wants no more.
var errStopped = errors.New("stopped")

// Dump reads in the order of the tables.
func (a *archive) Dump(ctx context.Context, subset string) iter.Seq2[*record.Batch, error] {
	return func(yield func(*record.Batch, error) bool) {
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
				err = a.dumpDocs(ctx, subset, t, yield)
			case design.Wide:
				err = a.dumpRows(ctx, subset, a.wideSelect(t), yield)
			default:
				err = a.dumpRows(ctx, subset, a.lineSelect(t, twins, false), yield)
			}
		}
		if err != nil && !errors.Is(err, errStopped) {
			yield(nil, failed(ctx, err))
		}
	}
}

// selection is a SELECT of whole records.
type selection struct {
	columns   string
	collector *sqlengine.Collector
	from      func(a *archive, subset string) string
}

// lineSelect selects records of METviewer's tables, or only what tells them
// apart.
func (a *archive) lineSelect(t *record.LineType, twins map[string]map[string]bool, identity bool) selection {
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
		expr := c.expr(twins[tableOf(t)])
		if identity && c.From == sqlengine.Data && !c.Data.Key {
			expr = "NULL"
		}
		cols, exprs = append(cols, c.Column), append(exprs, expr)
	}
	if hasLineID(t) {
		expr := "ld." + repeatsColumn
		if identity {
			expr = "NULL"
		}
		cols = append(cols, sqlengine.Column{Name: "repeats", Type: sqlengine.Doubles, From: sqlengine.Repeats})
		exprs = append(exprs, expr)
	}
	return selection{strings.Join(exprs, ", "), sqlengine.NewCollector(a.design, t, cols, repeats), func(a *archive, subset string) string {
		return " FROM " + a.table(subset, tableOf(t)) + " ld JOIN " + a.table(subset, design.HeaderTable) + " h USING (stat_header_id)"
	}}
}

func (a *archive) wideSelect(t *record.LineType) selection {
	name, cols, _ := sqlengine.Table(design.Wide, t)
	return selection{sqlengine.Names("", cols), sqlengine.NewCollector(a.design, t, cols, repeats), func(a *archive, subset string) string {
		return " FROM " + a.table(subset, name)
	}}
}

// repeats decodes the text form of repeating columns.
func repeats(src any, into []float64) ([]float64, error) {
	text, err := sqlengine.AsText(src, "")
	if err != nil || text == "" {
		return into, err
	}
	return design.ParseRepeats([]byte(text), into)
}

func (a *archive) dumpRows(ctx context.Context, subset string, s selection, yield func(*record.Batch, error) bool) error {
	c := s.collector
	rows, err := a.db.pool.QueryContext(ctx, "SELECT "+s.columns+s.from(a, subset))
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
	rows, err := a.db.pool.QueryContext(ctx, "SELECT "+sqlengine.Names("", fields)+", fcst_valid_epoch, data FROM "+a.table(subset, name))
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
