package load

import (
	"context"
	"io"
	"iter"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/archive"
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
	marks, err := a.Marks(ctx, subset)
	if err != nil {
		return nil, err
	}
	c, err := a.Catalog(ctx, subset)
	return &Origin{Archive: a, Subset: subset, Name: name, Catalog: c, Marks: marks}, err
}

// Bytes is the total size of the files from which the subset was loaded.
func (o *Origin) Bytes() (n int64) {
	for _, m := range o.Marks {
		n += m.Bytes
	}
	return max(n, 1)
}

func (o *Origin) digest() string { return o.Catalog.Digest().String() }

// isContained reports whether an archive with these marks and this catalog contains the subset. A catalog without
// records proves nothing: a damaged origin may have lost its catalog.
func (o *Origin) isContained(marks map[string]archive.Mark, c *design.Catalog) bool {
	missing := lists.Filter(o.Marks, func(m archive.Mark) bool { _, ok := marks[m.Digest]; return !ok })
	return missing == nil && c.Digest() == o.Catalog.Digest() && c.Digest().Records > 0
}

// describe copies what is known about the files into the catalog of a commit. The copied marks also count trimmed
// records. earlier is the number of trimmed records that the archive counts already, for example those of an earlier
// copy.
func (o *Origin) describe(c *design.Catalog, earlier int64) {
	c.Trimmed, c.TrimmedBefore = max(o.Catalog.Trimmed-earlier, 0), o.Catalog.TrimmedBefore
	for _, q := range o.Catalog.Quarantine {
		c.AddQuarantine(q)
	}
	for _, one := range o.Catalog.Conflicts {
		c.AddConflict(one)
	}
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
