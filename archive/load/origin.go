package load

import (
	"context"
	"io"
	"iter"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/record"
)

// Origin is a subset of an archive whose records are read in place of files: as
// one file of its name, at whose end stands what the archive knows of its own.
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

// Bytes is the size of the files that the subset was loaded from.
func (o *Origin) Bytes() (n int64) {
	for _, m := range o.Marks {
		n += m.Bytes
	}
	return max(n, 1)
}

func (o *Origin) digest() string { return o.Catalog.Held().String() }

// in reports whether an archive of these marks and this catalog holds the subset.
func (o *Origin) in(marks map[string]archive.Mark, c *design.Catalog) bool {
	for _, m := range o.Marks {
		if _, ok := marks[m.Digest]; !ok {
			return false
		}
	}
	return c.Held() == o.Catalog.Held()
}

// describe gives a catalog what is known of the files.
func (o *Origin) describe(c *design.Catalog) {
	c.Trimmed, c.From = o.Catalog.Trimmed, o.Catalog.From // the marks speak of those records, too
	for _, q := range o.Catalog.Quarantine {
		c.Reject(q)
	}
	for _, one := range o.Catalog.Conflicts {
		c.Note(one)
	}
}

// walk is an Origin as it is read.
type walk struct {
	from *Origin
	read int64 // records
	next func() (*record.Batch, error, bool)
	stop func()
}

func (o *Origin) open(ctx context.Context) source {
	w := &walk{from: o}
	w.next, w.stop = iter.Pull2(o.Archive.Dump(ctx, o.Subset))
	return w
}

func (w *walk) Next(into *record.Batch) error {
	b, err, ok := w.next()
	switch {
	case !ok:
		return io.EOF
	case err != nil:
		return err
	}
	*into = *b.Clone()
	into.File, into.Lines, into.Keep = w.from.Name, b.Len(), w.from.Catalog.Keeps
	w.read += int64(b.Len())
	return nil
}

// BytesRead is the records' share in the files that they came from.
func (w *walk) BytesRead() int64 {
	return int64(float64(w.from.Bytes()) * float64(w.read) / float64(max(w.from.Catalog.Held().Records, w.read)))
}

func (w *walk) Close() error {
	w.stop()
	return nil
}
