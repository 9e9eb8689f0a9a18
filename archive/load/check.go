package load

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/record"
)

// A load verifies conservation in four places:
//
//   - Commit: the records that the engine reports as new or existing are as many as it received.
//   - File and total: read = stored + duplicates + conflicts + quarantined.
//   - Catalog: each commit counts what it stored and replaced. During this load, the catalog grew by
//     the records that the load stored. If another loader works on the subset, it may grow by more, but
//     never by less.
//   - Archive: the engine counts as many records as the catalog, and at least as many as the marks of all
//     files report. Counting takes longer as the archive grows. A load therefore counts only if it stored
//     a large share of the records. Verify always reads everything.

// conservationCure is the advice for an archive that violates conservation.
const conservationCure = "Barograph or the engine has a bug; do not use the archive, and report the bug"

// ErrNotConserved means that records were lost or duplicated.
var ErrNotConserved = errors.New("records were lost or duplicated")

func conservationError(what string, m archive.Mark) error {
	return &fault.Error{File: m.Path, Err: fmt.Errorf("%w: %s: read %d, stored %d, duplicates %d, conflicts %d, quarantined %d",
		ErrNotConserved, what, m.Read, m.Stored, m.Replaced-m.Conflicts, m.Conflicts, m.Quarantined), Cure: conservationCure}
}

// checkCommit compares the numbers that a commit reports with the number of records that it
// received.
func checkCommit(given int64, s archive.CommitResult) error {
	took := s.New
	for _, n := range s.Replaced {
		took += n
	}
	if took != given {
		return &fault.Error{Err: fmt.Errorf("%w: a commit received %d records but reports %d", ErrNotConserved, given, took), Cure: conservationCure}
	}
	return nil
}

// check verifies conservation at the end of a load.
func (r *loadRun) check(ctx context.Context, subset string, before int64) error {
	for _, m := range r.files { // unreadable files: their first records are stored, but the file is not marked
		r.addToTotals(m)
	}
	for _, m := range r.summary.Files {
		if m.Read != m.Stored+m.Replaced+m.Quarantined || m.Stored < 0 || m.Conflicts > m.Replaced {
			return conservationError("the sum of a file", m)
		}
	}
	total := archive.Mark{Read: r.summary.Read, Stored: r.summary.Stored, Replaced: r.summary.Duplicates + r.summary.Conflicts, Conflicts: r.summary.Conflicts, Quarantined: r.summary.Quarantined}
	if total.Read != total.Stored+total.Replaced+total.Quarantined || total.Stored != r.committedRecords {
		return conservationError(fmt.Sprintf("the total; commits stored %d", r.committedRecords), total)
	}
	// Read the marks before the catalog: a catalog that is read later never counts fewer records.
	marked, err := r.markedRecords(ctx, subset, before)
	if err != nil {
		return err
	}
	catalog, err := r.archive.Catalog(ctx, subset)
	if err != nil {
		return err
	}
	r.summary.Catalog = catalog
	holds := catalog.Digest().Records
	grown := catalog.LoadedRecords() - before
	switch {
	case grown < r.summary.Stored:
		return conservationError(fmt.Sprintf("the archive grew by %d records", grown), total)
	case catalog.LoadedRecords() < marked:
		return conservationError(fmt.Sprintf("the archive has %d records, but its marks report %d", holds, marked), total)
	}
	counted, err := r.count(ctx, subset, holds)
	switch {
	case err != nil:
		return err
	case counted < holds:
		return conservationError(fmt.Sprintf("the archive has %d records, but its catalog counts %d", counted, holds), total)
	case counted == holds && grown == r.summary.Stored:
		return nil
	}
	r.options.Log.Info("the archive grew by records of another loader", "subset", subset, "records", max(grown-r.summary.Stored, counted-holds))
	return r.checkTwins(ctx, subset, holds, total)
}

// isLargeShare reports whether this load stored at least a tenth of the records. Counting then
// takes no longer than loading.
func (r *loadRun) isLargeShare(records int64) bool { return r.summary.Stored*10 >= records }

// markedRecords sums the records of all marks, if this load's share is large. It reads the marks if
// the catalog counts others than this load has seen.
func (r *loadRun) markedRecords(ctx context.Context, subset string, before int64) (records int64, err error) {
	if !r.isLargeShare(before + r.summary.Stored) {
		return 0, nil
	}
	c, err := r.archive.Catalog(ctx, subset)
	if err != nil {
		return 0, err
	}
	marks := append(slices.Clone(r.marks.all), r.summary.Files...)
	if r.options.Origin != nil || r.marks.all == nil || !c.Sealed || c.Files.Records != int64(len(marks)) {
		marks, err = r.archive.Marks(ctx, subset)
	}
	for _, m := range marks {
		records += m.Stored
	}
	return records, err
}

// count counts the archive's records if this load's share is large, otherwise it returns expected.
func (r *loadRun) count(ctx context.Context, subset string, holds int64) (int64, error) {
	if !r.isLargeShare(holds) {
		return holds, nil
	}
	r.progress.Step = "counting"
	r.report()
	contents, err := r.archive.Contents(ctx, subset)
	r.summary.Counted = &contents
	return contents.Total(), err
}

// twinRecords is the number of identities that twins keeps in memory at a time.
const twinRecords = 1 << 21

// checkTwins looks for records that are in the archive twice, the only other reason for an archive
// to grow by more than its loaders stored. It is called if the archive contains records that this
// load did not store. While another loader commits, MyISAM shows both a record and its replacement.
// Hence an empty commit waits for the other one, and a twin only counts if it is found again
// afterwards.
func (r *loadRun) checkTwins(ctx context.Context, subset string, records int64, total archive.Mark) error {
	found, err := r.twins(ctx, subset, records)
	if err != nil || len(found) == 0 {
		return err
	}
	if _, err := r.loader.Commit(ctx, archive.Commit{}); err != nil {
		return err
	}
	again, err := r.twins(ctx, subset, records)
	if err != nil {
		return err
	}
	maps.DeleteFunc(found, func(k record.Key, _ struct{}) bool { _, ok := again[k]; return !ok })
	if len(found) > 0 {
		return conservationError(fmt.Sprintf("%d records are in the archive more than once", len(found)), total)
	}
	return nil
}

// twins reads the archive, in as many passes as bound its memory, and returns the identities of
// more than one record.
func (r *loadRun) twins(ctx context.Context, subset string, records int64) (map[record.Key]struct{}, error) {
	passes := uint64(records/twinRecords + 1)
	seen := make(map[record.Key]struct{}, min(records, twinRecords))
	twins := map[record.Key]struct{}{}
	var h record.Hasher
	for pass := range passes {
		clear(seen)
		for b, err := range r.archive.Dump(ctx, subset) {
			if err != nil {
				return nil, err
			}
			h.Use(b)
			for i := range b.Len() {
				k := h.Record(i, r.options.OnConflict == Keep)
				if k.Lo%passes != pass {
					continue
				}
				if _, ok := seen[k]; ok {
					twins[k] = struct{}{}
				}
				seen[k] = struct{}{}
			}
		}
	}
	return twins, nil
}
