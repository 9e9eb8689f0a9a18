package mariadb

import (
	"context"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/sqlengine"
)

// Trim removes the rows of METviewer's tables whose valid time is before cutoff, as a commit removes
// replaced rows.
func (l *loader) Trim(ctx context.Context, cutoff int64) error {
	return l.lockedCommit(ctx, func() error { return l.trim(ctx, cutoff) })
}

func (l *loader) trim(ctx context.Context, cutoff int64) error {
	if err := l.a.recover(ctx, l.conn, l.subset); err != nil {
		return err
	}
	if err := l.refresh(ctx); err != nil {
		return err
	}
	q := querier{l.conn}
	stored, err := l.a.StoredTypes(ctx, q, l.subset)
	removed := design.NewCatalog(l.subset)
	types := l.types
	defer func() { l.types = types }()
	l.types = nil
	for _, t := range stored {
		if err != nil || !l.catalog.HasRecordsBefore(t, cutoff) {
			continue
		}
		l.types = append(l.types, t)
		lt := l.w.table(t, nil)
		where := " WHERE ld.fcst_valid_beg < " + l.a.Dialect.DateTime(cutoff)
		for b, dumpErr := range archive.Dump(func(to *archive.Dumper) error { return l.a.DumpType(ctx, q, l.subset, t, where, to) }) {
			if err = dumpErr; err == nil {
				removed.Add(b)
			}
		}
		if err == nil {
			err = l.rows(ctx, "SELECT stat_header_id, "+ownID(t)+" FROM "+l.table(lt.name)+" ld"+where, func(row []any) error {
				var header, id int64
				err := sqlengine.Scan(row, &header, &id)
				if lt.replaced[header] = append(lt.replaced[header], id); id < 0 {
					err = l.foreignError(lt.name + " contains records before this time that another program has loaded")
				}
				return err
			})
		}
	}
	if err != nil {
		return err
	}
	l.catalog.Trim(cutoff, removed, removed.Digest().Records)
	meta := func(ctx context.Context) error { return l.writeMeta(ctx, archive.Commit{}, archive.CommitResult{}) }
	if l.w.isMyISAM() {
		return runSteps(ctx, l.startTransaction, l.w.recordGone, meta, l.commitTransaction, l.w.removeReplaced, l.w.clearGone)
	}
	return runSteps(ctx, l.startTransaction, l.w.removeReplaced, meta, l.commitTransaction)
}
