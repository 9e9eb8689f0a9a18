package sqlengine

import (
	"cmp"
	"context"
	"fmt"
	"strconv"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/record"
)

// Trim removes the records with a valid time before cutoff.
func (l *Loader) Trim(ctx context.Context, cutoff int64) error {
	if l.a == nil {
		return errClosed
	}
	err := l.s.Transaction(ctx, func(q Querier) error {
		if err := l.begin(ctx, q); err != nil {
			return err
		}
		types, err := l.a.StoredTypes(ctx, q, l.subset)
		removed, objects := design.NewCatalog(l.subset), int64(0)
		for _, t := range types {
			if err != nil || !l.catalog.HasRecordsBefore(t, cutoff) {
				continue
			}
			where := "fcst_valid_beg < " + l.a.Dialect.DateTime(cutoff)
			table, _ := l.a.Table(l.subset, t)
			if l.a.Design == design.Document {
				where = "fcst_valid_epoch < " + strconv.FormatInt(cutoff, 10)
				var documents int64
				documents, err = QueryNumber(ctx, q, "SELECT count(*) FROM "+table+" WHERE "+where)
				objects += documents
			}
			for b, dumpErr := range archive.Dump(func(to *archive.Dumper) error { return l.dump(ctx, q, t, where, to) }) {
				if err = cmp.Or(err, dumpErr); err == nil {
					removed.Add(b)
				}
			}
			if err == nil {
				err = q.Exec(ctx, "DELETE FROM "+table+" WHERE "+where)
			}
		}
		if err != nil {
			return err
		}
		if l.a.Design != design.Document {
			objects = removed.Digest().Records
		}
		l.catalog.Trim(cutoff, removed, objects)
		return l.writeCatalog(ctx, q)
	})
	if err != nil {
		return engine.CallError(ctx, fmt.Errorf("%s: removal from %s: %w", l.a.Dialect.Name, l.subset, err))
	}
	l.stale = false
	return nil
}

func (l *Loader) dump(ctx context.Context, q Querier, t *record.LineType, where string, to *archive.Dumper) error {
	if l.s.Dump != nil {
		return l.s.Dump(ctx, t, where, to)
	}
	return l.a.DumpType(ctx, q, l.subset, t, " WHERE "+where, to)
}
