package load

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/internal/lists"
)

// PruneResult describes what Prune did, or refused to do.
type PruneResult struct {
	Lost  int64          // deleted records, which the catalog no longer counts
	Total int64          // records that the catalog counted before
	Files []archive.Mark // files that the archive no longer knows; the next load reads them again
}

// Err returns an error if more than limit percent of the records were deleted. preview = Prune has not run.
func (p *PruneResult) Err(limit float64, preview bool) error {
	if float64(p.Lost)*100 <= limit*float64(p.Total) {
		return nil
	}
	what, code := "nothing was changed", fault.Differs
	if preview {
		what, code = "the real run would be refused", fault.Incomplete
	}
	return &fault.Status{Code: code, Err: &fault.Error{
		Setting: "--prune",
		Problem: fmt.Sprintf("%s: %d of %d records were deleted, which is more than %g %%", what, p.Lost, p.Total, limit),
		Cure:    "if they were deleted by mistake, restore a copy; if on purpose, add --force",
	}}
}

// Prune accepts that records were deleted on purpose. It recounts the catalog, and removes the marks of two kinds of
// files: files with missing records, and files that it cannot read to compare. It refuses an archive with any other
// change. Prune first calls confirm with the planned result; if confirm returns an error, Prune writes nothing.
func Prune(ctx context.Context, a archive.Archive, subset string, keepLast bool, confirm func(*PruneResult) error) (*PruneResult, error) {
	o, err := NewOrigin(ctx, a, subset, "")
	if err != nil {
		return nil, err
	}
	found, err := archive.BuildCatalog(ctx, a, subset)
	if err != nil {
		return nil, err
	}
	if !o.Catalog.Intact() || !o.Catalog.OnlyRecordsMissing(found) || archive.SumMarks(o.Marks) != o.Catalog.Files {
		return nil, &fault.Error{Setting: "--prune", Problem: "the archive has other changes than deleted records", Cure: "restore a copy, or load the files into a new archive"}
	}
	total := o.Catalog.Digest().Records
	out := &PruneResult{Lost: total - found.Digest().Records, Total: total}
	if out.Lost == 0 {
		return out, nil
	}
	incomplete, err := o.incomplete(ctx, keepLast)
	if err != nil {
		return nil, err
	}
	contents, err := a.Contents(ctx, subset)
	if err != nil {
		return nil, err
	}
	found.Objects, found.Files = contents.Objects, archive.SumMarks(o.Marks)
	c := archive.Commit{Catalog: found, ReplaceCatalog: true}
	for _, m := range o.Marks {
		if incomplete(m) {
			out.Files = append(out.Files, m)
			c.Complete = append(c.Complete, m.Removal())
		}
	}
	if err := confirm(out); err != nil {
		return out, err
	}
	l, err := a.Loader(ctx, subset)
	if err != nil {
		return nil, err
	}
	defer l.Close() //nolint:errcheck // everything is committed
	if now, err := a.Catalog(ctx, subset); err != nil || now.Digest() != o.Catalog.Digest() || now.Files != o.Catalog.Files {
		return nil, cmp.Or[error](err, &fault.Error{
			Setting: "--prune", Problem: "stored nothing, because a load changed subset " + subset + " meanwhile", Cure: "run it again",
		})
	}
	_, err = l.Commit(ctx, c)
	return out, err
}

// incomplete reads the files again. It returns a function that reports whether the archive lacks records of a mark's
// file, or whether no path has the file's bytes any more. A path has two marks if its file was loaded, changed and
// loaded again.
func (o *Origin) incomplete(ctx context.Context, keepLast bool) (func(archive.Mark) bool, error) {
	digests, isIncomplete := map[string]string{}, map[string]bool{} // digests by path, as they are now
	paths := lists.Map(o.Marks, func(m archive.Mark) string { return m.Path })
	slices.Sort(paths)
	end := func(f *File) error {
		digests[f.Path] = f.Digest
		isIncomplete[f.Digest] = isIncomplete[f.Digest] || f.Err != nil
		return nil // the file is incomplete
	}
	err := o.pair(ctx, slices.Compact(paths), keepLast, end, func(p *pairing) {
		for path := range p.lacking {
			isIncomplete[digests[path]] = true
		}
	})
	return func(m archive.Mark) bool { lacks, isRead := isIncomplete[m.Digest]; return lacks || !isRead }, err
}

// pair compares the records of files with the archive's, in several passes to bound its memory. It calls f after each.
func (o *Origin) pair(ctx context.Context, paths []string, keepLast bool, end func(*File) error, f func(p *pairing)) error {
	passes := uint64(o.Catalog.Digest().Records/twinRecords + 1)
	for pass := range passes {
		p := newPairing(pass, passes)
		if err := p.read(ctx, o, paths, keepLast, end); err != nil {
			return err
		}
		f(p)
	}
	return nil
}
