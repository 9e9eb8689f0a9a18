package archive

import (
	"context"
	"errors"
)

// MarkFinder is an Archive that finds the marks of files by their digests without reading all
// other marks. It returns errors.ErrUnsupported if it cannot.
type MarkFinder interface {
	MarksOf(ctx context.Context, subset string, files []Mark) ([]Mark, error)
}

// MarksOf finds the marks of files by the Digest of each; their other fields need not be set. It returns
// errors.ErrUnsupported if the archive would have to read all marks.
func MarksOf(ctx context.Context, a Archive, subset string, files []Mark) ([]Mark, error) {
	if f, can := a.(MarkFinder); can {
		return f.MarksOf(ctx, subset, files)
	}
	return nil, errors.ErrUnsupported
}

// MarksOf calls the archive's MarksOf, or returns errors.ErrUnsupported if it has none.
func (e errorWrapper) MarksOf(ctx context.Context, subset string, files []Mark) ([]Mark, error) {
	return wrap[[]Mark](e)(MarksOf(ctx, e.Archive, subset, files))
}
