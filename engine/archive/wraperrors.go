package archive

import (
	"context"
	"iter"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

// WrapErrors returns an archive that passes the errors of a and its loaders, except those of Close, through addContext,
// which may add a place and a cure. The result is neither an Adopter nor a Labeler.
func WrapErrors(a Archive, addContext func(error) error) Archive {
	return errorWrapper{a, func(err error) error {
		if err == nil {
			return nil
		}
		return addContext(err)
	}}
}

// errorWrapper passes the error of every call, including nil, through addContext.
type errorWrapper struct {
	Archive
	addContext func(error) error
}

// wrap returns a function that returns a value, and its error with context.
func wrap[T any](e errorWrapper) func(v T, err error) (T, error) {
	return func(v T, err error) (T, error) { return v, e.addContext(err) }
}

func (e errorWrapper) Loader(ctx context.Context, subset string) (Loader, error) {
	l, err := e.Archive.Loader(ctx, subset)
	if err != nil {
		return nil, e.addContext(err)
	}
	return errorWrapperLoader{l, e}, nil
}

func (e errorWrapper) Marks(ctx context.Context, subset string) ([]Mark, error) {
	return wrap[[]Mark](e)(e.Archive.Marks(ctx, subset))
}

func (e errorWrapper) Catalog(ctx context.Context, subset string) (*design.Catalog, error) {
	return wrap[*design.Catalog](e)(e.Archive.Catalog(ctx, subset))
}

func (e errorWrapper) Subsets(ctx context.Context) ([]string, error) {
	return wrap[[]string](e)(e.Archive.Subsets(ctx))
}

func (e errorWrapper) Contents(ctx context.Context, subset string) (Contents, error) {
	return wrap[Contents](e)(e.Archive.Contents(ctx, subset))
}

func (e errorWrapper) Phrase(ctx context.Context, q *question.Question, f flavour.Name) (*Query, error) {
	return wrap[*Query](e)(e.Archive.Phrase(ctx, q, f))
}

func (e errorWrapper) Ask(ctx context.Context, q *Query, into *answer.Builder) error {
	return e.addContext(e.Archive.Ask(ctx, q, into))
}

func (e errorWrapper) Explain(ctx context.Context, q *Query) (Plan, error) {
	return wrap[Plan](e)(e.Archive.Explain(ctx, q))
}

func (e errorWrapper) Dump(ctx context.Context, subset string) iter.Seq2[*record.Batch, error] {
	return e.batches(e.Archive.Dump(ctx, subset))
}

// batches passes the error of each batch through addContext.
func (e errorWrapper) batches(all iter.Seq2[*record.Batch, error]) iter.Seq2[*record.Batch, error] {
	return func(yield func(*record.Batch, error) bool) {
		for b, err := range all {
			if !yield(b, e.addContext(err)) {
				return
			}
		}
	}
}

// OneOfEach forwards to the archive, if it is Singular.
func (e errorWrapper) OneOfEach() string { return OneOfEach(e.Archive) }

// Check forwards to the archive if it is a Checker. Otherwise it checks nothing and reports no problem.
func (e errorWrapper) Check(ctx context.Context, subset string) ([]string, error) {
	c, can := e.Archive.(Checker)
	if !can {
		return nil, nil
	}
	return wrap[[]string](e)(c.Check(ctx, subset))
}

func (e errorWrapper) Size(ctx context.Context) (int64, error) {
	return wrap[int64](e)(e.Archive.Size(ctx))
}

type errorWrapperLoader struct {
	Loader
	wrapper errorWrapper
}

func (l errorWrapperLoader) Add(ctx context.Context, b *record.Batch) error {
	return l.wrapper.addContext(l.Loader.Add(ctx, b))
}

func (l errorWrapperLoader) Commit(ctx context.Context, c Commit) (CommitResult, error) {
	return wrap[CommitResult](l.wrapper)(l.Loader.Commit(ctx, c))
}
