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

// The conservation law is held in four places:
//
//   - of each commit: what it says was new or there already is what it was given;
//   - of each file and of the total: read = stored + same + other + quarantined;
//   - of the catalog, in which each commit counts what it stored and replaced: it
//     grew by the records that this load stored. Where another loader works on the
//     subset, it may have grown by more; by less never;
//   - of the archive: it holds what the catalog counts, and that is at least the
//     records that the marks of its files speak of, whoever loaded them. Counting
//     takes time as the archive grows, so this is looked at only where this load
//     brought much of what is there. Verify reads everything, whenever it is
//     asked to.

// cure is what to do about an archive that broke the law.
const cure = "this is a fault of Barograph or of the engine; do not use the archive, and report it"

// ErrNotConserved says that records were lost or came up twice.
var ErrNotConserved = errors.New("conservation is broken")

func broken(what string, m archive.Mark) error {
	return &fault.Error{File: m.Path, Err: fmt.Errorf("%w: %s: read %d, stored %d, duplicates %d, conflicts %d, quarantined %d",
		ErrNotConserved, what, m.Read, m.Stored, m.Replaced-m.Conflicts, m.Conflicts, m.Quarantined), Cure: cure}
}

// checkCommit holds what a commit says against what it was given.
func checkCommit(given int64, s archive.CommitResult) error {
	took := s.New
	for _, n := range s.Replaced {
		took += n
	}
	if took != given {
		return &fault.Error{Err: fmt.Errorf("%w: a commit was given %d records and speaks of %d", ErrNotConserved, given, took), Cure: cure}
	}
	return nil
}

// check holds the law at the end of a load.
func (r *run) check(ctx context.Context, subset string, before int64) error {
	for _, m := range r.files { // files that ended early: their records are stored, the file is not marked
		r.total(m)
	}
	for _, m := range r.sum.Files {
		if m.Read != m.Stored+m.Replaced+m.Quarantined || m.Stored < 0 || m.Conflicts > m.Replaced {
			return broken("the sum of a file", m)
		}
	}
	total := archive.Mark{Read: r.sum.Read, Stored: r.sum.Stored, Replaced: r.sum.Same + r.sum.Other, Conflicts: r.sum.Other, Quarantined: r.sum.Quarantined}
	if total.Read != total.Stored+total.Replaced+total.Quarantined || total.Stored != r.stored {
		return broken(fmt.Sprintf("the total, of which commits stored %d", r.stored), total)
	}
	marked, err := r.marked(ctx, subset, before) // before the catalog, which never knows of fewer
	if err != nil {
		return err
	}
	catalog, err := r.archive.Catalog(ctx, subset)
	if err != nil {
		return err
	}
	r.sum.Catalog = catalog
	holds := catalog.Held().Records
	grown := catalog.Brought() - before
	switch {
	case grown < r.sum.Stored:
		return broken(fmt.Sprintf("the archive grew by %d records", grown), total)
	case catalog.Brought() < marked:
		return broken(fmt.Sprintf("the archive holds %d records, its marks speak of %d", holds, marked), total)
	}
	counted, err := r.count(ctx, subset, holds)
	switch {
	case err != nil:
		return err
	case counted < holds:
		return broken(fmt.Sprintf("the archive holds %d records, of which its catalog counts %d", counted, holds), total)
	case counted == holds && grown == r.sum.Stored:
		return nil
	}
	r.o.Log.Info("the archive grew by records of another loader", "subset", subset, "records", max(grown-r.sum.Stored, counted-holds))
	return r.checkTwins(ctx, subset, holds, total)
}

// much reports whether this load brought a tenth of the records that there are
// or more, so that counting them takes no longer than loading.
func (r *run) much(records int64) bool { return r.sum.Stored*10 >= records }

// marked sums up the records that marks speak of, where there is much to count.
// They are read where a catalog counts others than this load has seen.
func (r *run) marked(ctx context.Context, subset string, before int64) (records int64, err error) {
	if !r.much(before + r.sum.Stored) {
		return 0, nil
	}
	c, err := r.archive.Catalog(ctx, subset)
	if err != nil {
		return 0, err
	}
	marks := append(slices.Clone(r.marks.all), r.sum.Files...)
	if r.o.From != nil || r.marks.all == nil || !c.Sealed || c.Files.Records != int64(len(marks)) {
		marks, err = r.archive.Marks(ctx, subset)
	}
	for _, m := range marks {
		records += m.Stored
	}
	return records, err
}

// count counts the archive's records where there is much to count; else holds is right.
func (r *run) count(ctx context.Context, subset string, holds int64) (int64, error) {
	if !r.much(holds) {
		return holds, nil
	}
	r.at.Step = "counting"
	r.report()
	contents, err := r.archive.Contents(ctx, subset)
	r.sum.Counted = &contents
	return contents.Total(), err
}

// twinRecords is the number of identities that twins keeps at a time.
const twinRecords = 1 << 21

// checkTwins looks for records that are in the archive twice: what else can
// make it grow by more than what its loaders stored. It is called where records
// came that this load did not bring. MyISAM shows a record and the one that
// replaces it while another loader commits, so what is found must be found
// again after that commit, for which an empty one waits.
func (r *run) checkTwins(ctx context.Context, subset string, records int64, total archive.Mark) error {
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
		return broken(fmt.Sprintf("%d records are in the archive more than once", len(found)), total)
	}
	return nil
}

// twins reads the archive, in as many passes as keep the memory small, and
// returns the identities that more than one record has.
func (r *run) twins(ctx context.Context, subset string, records int64) (map[record.Key]struct{}, error) {
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
				k := h.Record(i, r.o.OnConflict == Keep)
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
