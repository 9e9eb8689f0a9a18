package load

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/dustin/go-humanize/english"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/record"
)

// SalvageResult describes what Salvage copied, and what is missing.
type SalvageResult struct {
	Records int64          // number of records in the damaged archive's catalog, or else in the marks of its files
	Copied  int64          // number of records in the new archive
	Losses  []archive.Loss // places that cannot be read
	Missing []string       // one line for each group of series whose records differ from the catalog
	// files from which the damaged archive was loaded; it does not store which of them contains a missing record
	Files []archive.Mark
}

// Salvage copies every readable record into a new archive, in the same way as a load. The new archive knows none of the
// files. Loading them again restores the missing records. If the catalog is damaged, Salvage copies the records without
// it. It then cannot know which records are missing, nor whether the archive keeps conflicts; it copies the first
// record of each identity.
func Salvage(
	ctx context.Context, from archive.Archive, subset, name string, to archive.Archive,
) (*SalvageResult, error) {
	s := &SalvageResult{}
	catalog, err := from.Catalog(ctx, subset)
	isCatalogLost := fault.Code(err) == fault.Differs
	switch {
	case isCatalogLost:
		catalog = design.NewCatalog(subset)
		s.Losses = append(s.Losses, archive.Loss{Place: "the catalog", Err: err})
	case err != nil:
		return nil, err
	}
	if s.Files, err = from.Marks(ctx, subset); err != nil {
		s.Losses = append(s.Losses, archive.Loss{Place: "the list of loaded files", Err: err})
	}
	if s.Records = catalog.Digest().Records; isCatalogLost {
		s.Records = lists.Sum(slices.Values(lists.Map(s.Files, func(m archive.Mark) int64 { return m.Stored })))
	}
	withoutLists := *catalog
	withoutLists.Quarantine, withoutLists.Conflicts, withoutLists.MoreConflicts = nil, nil, false // of files that the new archive does not know
	source := salvageArchive{from, func(l archive.Loss) { s.Losses = append(s.Losses, l) }}
	sum, err := Run(ctx, to, subset, nil, Options{
		Origin: &Origin{Archive: source, Subset: subset, Name: name, Catalog: &withoutLists},
	})
	if err != nil {
		return nil, err
	}
	s.Copied = sum.Catalog.Digest().Records
	s.Missing, _ = catalog.Differences(sum.Catalog)
	if isCatalogLost {
		s.Missing = []string{fmt.Sprintf("unknown without the catalog: the list of loaded files counts %s, "+
			"%s copied, %s with a copied record", english.Plural(int(s.Records), "record", ""),
			english.Plural(int(s.Copied), "was", "were"), english.Plural(int(sum.Conflicts), "conflicts", "conflict"))}
	}
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
