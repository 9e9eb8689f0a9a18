package load

import (
	"context"
	"fmt"
	"slices"

	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/internal/fault"
)

// Pruned is what Prune has done, or refused to do.
type Pruned struct {
	Lost  int64          // records that are not counted any more
	Total int64          // records that the catalog counted before
	Files []archive.Mark // that the archive does not know any more: the next load reads them again
}

// Err is the error of more lost records than a percentage of all.
func (p *Pruned) Err(limit float64) error {
	if float64(p.Lost)*100 <= limit*float64(p.Total) {
		return nil
	}
	return &fault.Status{Code: fault.Differs, Err: &fault.Error{
		Setting: "--prune",
		Problem: fmt.Sprintf("nothing was forgotten: %d of %d records are gone, which are more than %g %%", p.Lost, p.Total, limit),
		Cure:    "if they were deleted by mistake, bring back a copy; if on purpose, add --force",
	}}
}

// Prune has an archive forget what was deleted from it on purpose: its catalog
// counts what is there, and the marks of files of which records are gone, or
// which are not there any more to be looked at, are forgotten. An archive in
// which anything else has changed is refused. Prune writes nothing unless agreed,
// which sees what it would do, returns nil.
func Prune(ctx context.Context, a archive.Archive, subset string, keepLast bool, agreed func(*Pruned) error) (*Pruned, error) {
	o, err := NewOrigin(ctx, a, subset, "")
	if err != nil {
		return nil, err
	}
	found, err := Walk(ctx, a, subset)
	if err != nil {
		return nil, err
	}
	if !o.Catalog.Intact() || !o.Catalog.Fewer(found) || archive.SumMarks(o.Marks) != o.Catalog.Files {
		return nil, &fault.Error{Setting: "--prune", Problem: "more was changed than records deleted", Cure: "bring back a copy, or load the files into a new archive"}
	}
	total := o.Catalog.Held().Records
	out := &Pruned{Lost: total - found.Held().Records, Total: total}
	if out.Lost == 0 {
		return out, nil
	}
	gone, err := o.incomplete(ctx, keepLast)
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
		if gone[m.Path] {
			out.Files = append(out.Files, m)
			c.Complete = append(c.Complete, m.Removal())
		}
	}
	if err := agreed(out); err != nil {
		return out, err
	}
	l, err := a.Loader(ctx, subset)
	if err != nil {
		return nil, err
	}
	defer l.Close() //nolint:errcheck // everything is committed
	_, err = l.Commit(ctx, c)
	return out, err
}

// incomplete finds the files, by path, of which the archive lacks records, and
// those that cannot be read any more, or have changed.
func (o *Origin) incomplete(ctx context.Context, keepLast bool) (map[string]bool, error) {
	out, digests := map[string]bool{}, map[string]string{}
	var paths []string
	for _, m := range o.Marks {
		paths, digests[m.Path] = append(paths, m.Path), m.Digest
	}
	slices.Sort(paths)
	end := func(f *File) error {
		out[f.Path] = out[f.Path] || f.Err != nil || f.Digest != digests[f.Path]
		return nil //nolint:nilerr // such a file is one of them
	}
	err := o.pair(ctx, slices.Compact(paths), keepLast, end, func(p *pairing) {
		for _, m := range p.wrong {
			out[m.Line.File] = true
		}
	})
	return out, err
}

// pair holds the records of files against the archive's, in as many passes as
// keep the memory small, each of which is given to f.
func (o *Origin) pair(ctx context.Context, paths []string, keepLast bool, end func(*File) error, f func(p *pairing)) error {
	passes := uint64(o.Catalog.Held().Records/twinRecords + 1)
	for pass := range passes {
		p := newPairing(pass, passes)
		if err := p.read(ctx, o, paths, keepLast, end); err != nil {
			return err
		}
		f(p)
	}
	return nil
}
