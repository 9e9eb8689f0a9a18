package load

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"

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
		Problem: fmt.Sprintf("%s: %s of %s %s deleted, which is more than %g %%", what, humanize.Comma(p.Lost),
			english.Plural(int(p.Total), "record", ""), english.PluralWord(int(p.Lost), "was", "were"), limit),
		Cure: "if they were deleted by mistake, restore a copy; if on purpose, add --force",
	}}
}

// ErrOtherChanges is the class of the error of Prune for an archive with other changes than deleted records.
const ErrOtherChanges = fault.Class("the archive has other changes than deleted records")

// Prune accepts that records were deleted on purpose. It recounts the catalog, and removes the marks of two kinds of
// files: files with missing records, and files that it cannot read to compare. It refuses an archive with any other
// change that the catalog shows. If a group has lost records, the catalog does not show other changes of the group.
// Prune first calls confirm with the planned result; if confirm returns an error, Prune writes nothing.
func Prune(ctx context.Context, a archive.Archive, subset string, confirm func(*PruneResult) error) (*PruneResult, error) {
	o, err := NewOrigin(ctx, a, subset, "")
	if err != nil {
		return nil, err
	}
	found, err := rebuildCatalog(ctx, a, subset, o.Marks)
	if err != nil {
		return nil, err
	}
	_, onlyLost := o.Catalog.Differences(found)
	if !o.Catalog.Intact() || !onlyLost || archive.SumMarks(o.Marks) != o.Catalog.Files {
		return nil, cmp.Or[error](o.checkUnchanged(ctx), &fault.Status{Code: fault.Differs, Err: &fault.Error{
			Setting: "--prune, subset " + subset, Err: ErrOtherChanges, Cure: "restore a copy, or load the files into a new archive",
		}})
	}
	total := o.Catalog.Digest().Records
	out := &PruneResult{Lost: total - found.Digest().Records, Total: total}
	if out.Lost == 0 {
		return out, nil
	}
	incomplete, err := o.incomplete(ctx)
	if err != nil {
		return nil, err
	}
	out.Files = lists.Filter(o.Marks, incomplete)
	c := archive.Commit{Catalog: found, ReplacedCatalog: o.Catalog, Complete: lists.Map(out.Files, archive.Mark.Removal)}
	if err := confirm(out); err != nil {
		return out, err
	}
	l, err := a.Loader(ctx, subset)
	if err != nil {
		return nil, err
	}
	defer l.Close() //nolint:errcheck // everything is committed
	_, err = l.Commit(ctx, c)
	if errors.Is(err, archive.ErrChanged) {
		return nil, cmp.Or(o.checkUnchanged(ctx), err)
	}
	return out, err
}

// incomplete reads the files again. It returns a function that reports whether the archive lacks records of a mark's
// file, or whether no path has the file's bytes any more. A path has two marks if its file was loaded, changed and
// loaded again. incomplete accepts a last line without a line end. If the load quarantined that line, the archive lacks
// its record, and the only consequence is that the next load reads the file once more.
func (o *Origin) incomplete(ctx context.Context) (func(archive.Mark) bool, error) {
	digests, isIncomplete := map[string]string{}, map[string]bool{} // digests by path, as they are now
	paths := lists.Map(o.Marks, func(m archive.Mark) string { return m.Path })
	slices.Sort(paths)
	end := func(f *File) error {
		digests[f.Path] = f.Digest
		isIncomplete[f.Digest] = isIncomplete[f.Digest] || f.Err != nil
		return nil // the file is incomplete
	}
	err := o.pair(ctx, slices.Compact(paths), true, end, func(p *pairing) {
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
		p := newPairing(pass, passes, o.Catalog)
		if err := p.read(ctx, o, paths, keepLast, end); err != nil {
			return err
		}
		f(p)
	}
	return nil
}
