package archive

import (
	"context"
	"errors"
)

// Finder is an Archive that finds the marks of files by their digests, without a
// look at those of all others, or errors.ErrUnsupported.
type Finder interface {
	MarksOf(ctx context.Context, subset string, files []Mark) ([]Mark, error)
}

// MarksOf finds the marks that an archive has of files, of which Digest is set;
// errors.ErrUnsupported where it would read all of them for that.
func MarksOf(ctx context.Context, a Archive, subset string, files []Mark) ([]Mark, error) {
	if f, can := a.(Finder); can {
		return f.MarksOf(ctx, subset, files)
	}
	return nil, errors.ErrUnsupported
}

// MarksOf is the archive's, where it has one.
func (e explained) MarksOf(ctx context.Context, subset string, files []Mark) ([]Mark, error) {
	return explain[[]Mark](e)(MarksOf(ctx, e.Archive, subset, files))
}
