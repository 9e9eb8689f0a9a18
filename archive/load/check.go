package load

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"

	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/record"
)

// A load verifies conservation in four places:
//
//   - Commit: the records that the engine reports as new or existing are as many as it received.
//   - File and total: read = stored + duplicates + conflicts + quarantined.
//   - Catalog: the catalog must have grown by the records that this load stored. It may have grown by
//     more if another loader works on the subset, but never by less.
//   - Archive: the engine must count as many records as the catalog, and at least as many as the marks of
//     all files report. Counting takes longer as the archive grows. A load therefore counts only if it stored
//     a large share of the records. Verify always reads everything.

// conservationCure is the advice for an archive that violates conservation.
const conservationCure = "Barograph or the engine has a bug; do not use the archive, and report the bug"

// ErrNotConserved means that records were lost or duplicated.
var ErrNotConserved = errors.New("records were lost or duplicated")

func conservationError(what string, m archive.Mark) error {
	n := humanize.Comma
	return &fault.Error{File: m.Path, Err: fmt.Errorf("%w: %s: read %s, stored %s, duplicates %s, conflicts %s, quarantined %s",
		ErrNotConserved, what, n(m.Read), n(m.Stored), n(m.Replaced-m.Conflicts), n(m.Conflicts), n(m.Quarantined)), Cure: conservationCure}
}

// checkCommit compares the numbers that a commit reports with the number of records that it
// received.
func checkCommit(given int64, s archive.CommitResult) error {
	if reported := s.New + lists.Sum(maps.Values(s.Replaced)); reported != given {
		return &fault.Error{Err: fmt.Errorf("%w: a commit received %s but reports %s",
			ErrNotConserved, english.Plural(int(given), "record", ""), humanize.Comma(reported)), Cure: conservationCure}
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
		return conservationError("the total; commits stored "+humanize.Comma(r.committedRecords), total)
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
	catalogRecords := catalog.Digest().Records
	grown := catalog.LoadedRecords() - before - r.trimmedRecords
	switch {
	case grown < r.summary.Stored:
		return conservationError("the archive grew by "+english.Plural(int(grown), "record", ""), total)
	case catalog.LoadedRecords() < marked:
		return conservationError(fmt.Sprintf("the archive has %s, but its marks report %s",
			english.Plural(int(catalogRecords), "record", ""), humanize.Comma(marked)), total)
	}
	counted, err := r.count(ctx, subset, catalogRecords)
	switch {
	case err != nil:
		return err
	case counted < catalogRecords:
		return conservationError(fmt.Sprintf("the archive has %s, but its catalog counts %s",
			english.Plural(int(counted), "record", ""), humanize.Comma(catalogRecords)), total)
	case counted == catalogRecords && grown == r.summary.Stored:
		return nil
	}
	r.options.Log.Info("the archive grew by records of another loader", "subset", subset, "records", max(grown-r.summary.Stored, counted-catalogRecords))
	return r.checkTwins(ctx, subset, catalogRecords, total)
}

// isLargeShare reports whether this load stored at least a tenth of the records. Counting then
// takes no longer than loading.
func (r *loadRun) isLargeShare(records int64) bool { return r.summary.Stored*10 >= records }

// markedRecords sums the records of all marks, if this load's share is large.
func (r *loadRun) markedRecords(ctx context.Context, subset string, before int64) (records int64, err error) {
	if !r.isLargeShare(before + r.summary.Stored) {
		return 0, nil
	}
	marks, err := r.archive.Marks(ctx, subset)
	return lists.Sum(slices.Values(lists.Map(marks, func(m archive.Mark) int64 { return m.Stored }))), err
}

// count counts the archive's records if this load stored a large share of them. Otherwise it returns expected, the
// number in the catalog.
func (r *loadRun) count(ctx context.Context, subset string, expected int64) (int64, error) {
	if !r.isLargeShare(expected) {
		return expected, nil
	}
	r.progress.Step = "counting"
	r.report()
	contents, err := r.archive.Contents(ctx, subset)
	r.summary.Counted = &contents
	return contents.Total(), err
}

// twinRecords is the number of identities that twins keeps in memory at a time.
const twinRecords = 1 << 21

// checkTwins looks for twins: identities that the archive has more than once. check calls it if the archive has records
// that this load did not store: either another loader stored them, or the engine stored a record twice. While another
// loader commits, MyISAM shows both a record and its replacement. checkTwins therefore waits for that commit (with an
// empty commit of its own), reads again, and reports only the identities that both readings found.
func (r *loadRun) checkTwins(ctx context.Context, subset string, records int64, total archive.Mark) error {
	found, err := r.twins(ctx, subset, records)
	if err != nil || len(found) == 0 {
		return err
	}
	if _, err := r.loader.Commit(ctx, archive.Commit{}); err != nil {
		return err
	}
	second, err := r.twins(ctx, subset, records)
	if err != nil {
		return err
	}
	maps.DeleteFunc(found, func(k record.Key, _ struct{}) bool { _, ok := second[k]; return !ok })
	if len(found) > 0 {
		return conservationError(english.Plural(len(found), "record is", "records are")+" in the archive more than once", total)
	}
	return nil
}

// twins reads the archive, in several passes to bound its memory, and returns the identities that more than one record
// has.
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
			h.SetBatch(b)
			for i := range b.Len() {
				k := h.RecordKey(i, r.options.OnConflict == Keep)
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
