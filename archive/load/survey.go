package load

import (
	"context"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/record"
)

// Survey builds the catalog and the marks of files without an archive. It lists files that cannot
// be read to their end in failed and continues with the others. It counts a record once for each
// line that contains it. Survey passes each batch to fingerprint, unless it is nil, and to each of callbacks.
func Survey(ctx context.Context, paths []string, o ReadOptions, fingerprint *Fingerprint, callbacks ...func(*record.Batch)) (c *design.Catalog, marks []archive.Mark, failed []error, err error) {
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
		if fingerprint != nil {
			fingerprint.Add(b)
		}
		for _, callback := range callbacks {
			callback(b)
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
