package load

import (
	"context"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/record"
)

// Survey builds the catalog and the marks of files without an archive. It lists files that cannot
// be read to their end in failed and continues with the others. It counts a record as often as
// lines contain it; prints, which may be nil, detects records with conflicting values. Survey
// passes each batch to others, too.
func Survey(ctx context.Context, paths []string, o Reading, prints *Fingerprint, others ...func(*record.Batch)) (c *design.Catalog, marks []archive.Mark, failed []error, err error) {
	c = design.NewCatalog("")
	m, q := archive.Mark{}, design.Quarantine{}
	each := func(_ *File, b *record.Batch) error {
		m.Read += int64(b.Lines)
		m.Stored += int64(b.Len())
		m.Quarantined += int64(len(b.Rejects))
		for _, r := range b.Rejects {
			q.Add(r.Line, r.Reason)
		}
		c.Add(b)
		if prints != nil {
			prints.Add(b)
		}
		for _, other := range others {
			other(b)
		}
		if o.ParseCache == nil {
			release(b)
		}
		return nil
	}
	end := func(f *File) error {
		if f.Err != nil {
			failed = append(failed, f.Err)
		}
		m.Path, m.Digest, m.Bytes = f.Path, f.Digest, f.Bytes
		q.File, q.Digest = f.Path, f.Digest
		marks = append(marks, m)
		if q.Lines > 0 {
			c.AddQuarantine(q)
		}
		m, q = archive.Mark{}, design.Quarantine{}
		return nil
	}
	err = Read(ctx, paths, o, each, end)
	return c, marks, failed, err
}
