package load

import (
	"context"
	"errors"
	"iter"

	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/record"
)

// SalvageResult describes what Salvage copied, and what is missing.
type SalvageResult struct {
	Records int64          // number of records in the damaged archive's catalog
	Copied  int64          // number of records in the new archive
	Losses  []archive.Loss // places that cannot be read
	Missing []string       // one line for each series whose records differ from the catalog
	// files from which the damaged archive was loaded; it does not store which of them contains a missing record
	Files []archive.Mark
}

// Salvage copies every readable record into a new archive, in the same way as a load. The new
// archive knows none of the files. Loading them again restores the missing records.
func Salvage(ctx context.Context, from archive.Archive, subset, name string, to archive.Archive) (*SalvageResult, error) {
	catalog, err := from.Catalog(ctx, subset)
	if err != nil {
		return nil, err
	}
	s := &SalvageResult{Records: catalog.Digest().Records}
	if s.Files, err = from.Marks(ctx, subset); err != nil {
		s.Losses = append(s.Losses, archive.Loss{Place: "the list of loaded files", Err: err})
	}
	withoutLists := *catalog
	withoutLists.Quarantine, withoutLists.Conflicts = nil, nil // of files that the new archive does not know
	sum, err := Run(ctx, to, subset, nil, Options{Origin: &Origin{
		Archive: salvageArchive{from, func(l archive.Loss) { s.Losses = append(s.Losses, l) }}, Subset: subset, Name: name, Catalog: &withoutLists,
	}})
	if err != nil {
		return nil, err
	}
	s.Copied, s.Missing = sum.Catalog.Digest().Records, catalog.Differences(sum.Catalog)
	return s, errors.Join(sum.Failed...)
}

// salvageArchive is an archive whose Dump continues after a part that cannot be read.
type salvageArchive struct {
	archive.Archive
	onLoss func(archive.Loss)
}

func (s salvageArchive) Dump(ctx context.Context, subset string) iter.Seq2[*record.Batch, error] {
	return archive.Salvage(ctx, s.Archive, subset, s.onLoss)
}
