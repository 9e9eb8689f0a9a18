package archive

import (
	"context"
	"errors"
)

// Trimmer is a Loader that can remove records.
type Trimmer interface {
	// Trim removes, in one commit, the records whose fcst_valid_beg is before cutoff (Unix
	// seconds), and removes them from the catalog with Catalog.Trim. Records that were
	// added and not committed stay uncommitted.
	Trim(ctx context.Context, cutoff int64) error
}

// Trim calls the loader's Trim, or returns errors.ErrUnsupported.
func Trim(ctx context.Context, l Loader, cutoff int64) error {
	if t, can := l.(Trimmer); can {
		return t.Trim(ctx, cutoff)
	}
	return errors.ErrUnsupported
}

func (l errorWrapperLoader) Trim(ctx context.Context, cutoff int64) error {
	return l.wrapper.addContext(Trim(ctx, l.Loader, cutoff))
}
