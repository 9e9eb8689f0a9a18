package load

import (
	"context"
	"errors"
	"iter"

	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/record"
)

// Salvaged is what Salvage copied, and what is missing.
type Salvaged struct {
	Records int64          // that the loads stored, by the damaged archive's catalog
	Copied  int64          // that the new archive holds
	Losses  []archive.Loss // places that cannot be read
	Missing []string       // one line for each series with other records than were stored
	Files   []archive.Mark // files of origin: which of them a missing record is from is not stored
}

// Salvage copies every record that can be read into a new archive, in the loads' own way.
// The new archive knows none of the files, so that a load of them brings what is missing.
func Salvage(ctx context.Context, from archive.Archive, subset, name string, to archive.Archive) (*Salvaged, error) {
	kept, err := from.Catalog(ctx, subset)
	if err != nil {
		return nil, err
	}
	s := &Salvaged{Records: kept.Held().Records}
	if s.Files, err = from.Marks(ctx, subset); err != nil {
		s.Losses = append(s.Losses, archive.Loss{Place: "the list of the files of origin", Err: err})
	}
	known := *kept
	known.Quarantine, known.Conflicts = nil, nil // of files that the new archive does not know
	sum, err := Run(ctx, to, subset, nil, Options{From: &Origin{
		Archive: salvaging{from, func(l archive.Loss) { s.Losses = append(s.Losses, l) }}, Subset: subset, Name: name, Catalog: &known,
	}})
	if err != nil {
		return nil, err
	}
	s.Copied, s.Missing = sum.Catalog.Held().Records, kept.Differences(sum.Catalog)
	return s, errors.Join(sum.Failed...)
}

// salvaging is an archive whose dump goes on behind what cannot be read.
type salvaging struct {
	archive.Archive
	lost func(archive.Loss)
}

func (s salvaging) Dump(ctx context.Context, subset string) iter.Seq2[*record.Batch, error] {
	return archive.Salvage(ctx, s.Archive, subset, s.lost)
}
