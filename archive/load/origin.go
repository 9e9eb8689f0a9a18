package load

import (
	"context"
	"io"
	"iter"
	"slices"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/record"
)

// Origin is a subset of an archive from which a load copies the records. The load treats it as one file whose name is
// the archive's URL. The last commit copies the marks, quarantine lists and conflicts of the origin's files. Verify,
// Compare and Prune use it, too: for the subset that they check.
type Origin struct {
	Archive archive.Archive
	Subset  string
	Name    string // the archive's URL without its password
	Catalog *design.Catalog
	Marks   []archive.Mark
}

// NewOrigin prepares to read a subset.
func NewOrigin(ctx context.Context, a archive.Archive, subset, name string) (*Origin, error) {
	c, err := a.Catalog(ctx, subset)
	if err != nil {
		return nil, err
	}
	marks, err := a.Marks(ctx, subset)
	return &Origin{Archive: a, Subset: subset, Name: name, Catalog: c, Marks: marks}, err
}

// checkUnchanged returns an error if a load or a removal has changed the subset since NewOrigin.
func (o *Origin) checkUnchanged(ctx context.Context) error {
	now, err := o.Archive.Catalog(ctx, o.Subset)
	if err == nil && (now.Digest() != o.Catalog.Digest() || now.Files != o.Catalog.Files) {
		err = &fault.Status{Code: fault.Incomplete, Err: &fault.Error{
			Problem: "a load changed subset " + o.Subset + " meanwhile", Cure: "run the command again",
		}}
	}
	return err
}

// Bytes is the total size of the files from which the subset was loaded.
func (o *Origin) Bytes() int64 {
	return max(lists.Sum(slices.Values(lists.Map(o.Marks, func(m archive.Mark) int64 { return m.Bytes }))), 1)
}

func (o *Origin) digest() string { return o.Catalog.Digest().String() }

// isContained reports whether an archive with these marks and this catalog contains the subset. A catalog without
// records proves nothing: a damaged origin may have lost its catalog.
func (o *Origin) isContained(marks map[string]archive.Mark, c *design.Catalog) bool {
	missing := lists.Filter(o.Marks, func(m archive.Mark) bool { _, ok := marks[m.Digest]; return !ok })
	return missing == nil && c.Digest() == o.Catalog.Digest() && c.Digest().Records > 0
}

// describe adds what the origin's catalog knows about the files to the catalog of a commit. The marks of a copy
// count trimmed records as stored, so the catalog of the copy must count them as trimmed. The archive that
// receives the copy already counts earlier of them, and merging adds Trimmed to that number. Hence describe
// sets only the difference, and returns it.
func (o *Origin) describe(c *design.Catalog, earlier int64) (added int64) {
	known := design.NewCatalog(c.Subset)
	known.Trimmed, known.TrimmedBefore = max(o.Catalog.Trimmed-earlier, 0), o.Catalog.TrimmedBefore
	known.Quarantine, known.Conflicts, known.MoreConflicts = o.Catalog.Quarantine, o.Catalog.Conflicts, o.Catalog.MoreConflicts
	c.Merge(known)
	return known.Trimmed
}

// originReader reads the records of an Origin.
type originReader struct {
	from *Origin
	read int64 // number of records read
	next func() (*record.Batch, error, bool)
	stop func()
}

func (o *Origin) open(ctx context.Context) recordReader {
	w := &originReader{from: o}
	w.next, w.stop = iter.Pull2(o.Archive.Dump(ctx, o.Subset))
	return w
}

func (w *originReader) Next(into *record.Batch) error {
	b, err, ok := w.next()
	switch {
	case !ok:
		return io.EOF
	case err != nil:
		return err
	}
	*into = *b.Clone()
	into.File, into.Lines, into.KeepConflicts = w.from.Name, b.Len(), w.from.Catalog.KeepsConflicts
	w.read += int64(b.Len())
	return nil
}

// BytesRead is the share of the original files' bytes that corresponds to the records read.
func (w *originReader) BytesRead() int64 {
	return int64(float64(w.from.Bytes()) * float64(w.read) / float64(max(w.from.Catalog.Digest().Records, w.read)))
}

func (w *originReader) Close() error {
	w.stop()
	return nil
}

// intactCatalog reads the catalog of a subset. It refuses a catalog that has changed since the last commit, because the
// next commit would seal the change.
func intactCatalog(ctx context.Context, a archive.Archive, subset string) (*design.Catalog, error) {
	c, err := a.Catalog(ctx, subset)
	if err == nil && !c.Intact() {
		err = &fault.Status{Code: fault.Differs, Err: &fault.Error{
			Setting: "subset " + subset, Problem: "the catalog differs from what the last load wrote; nothing was changed",
			Cure: "barograph verify URL compares the archive with it, and copies the readable records with --salvage",
		}}
	}
	return c, err
}
