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

// WrapErrors returns an archive that passes every error of a and its loaders through explain,
// which may add a place and a cure.
func WrapErrors(a Archive, explain func(error) error) Archive {
	return errorWrapper{a, func(err error) error {
		if err == nil {
			return nil
		}
		return explain(err)
	}}
}

type errorWrapper struct {
	Archive
	explain func(error) error
}

// explain returns a function that passes a value and explains the error that came with it.
func explain[T any](e errorWrapper) func(v T, err error) (T, error) {
	return func(v T, err error) (T, error) { return v, e.explain(err) }
}

func (e errorWrapper) Loader(ctx context.Context, subset string) (Loader, error) {
	l, err := e.Archive.Loader(ctx, subset)
	if err != nil {
		return nil, e.explain(err)
	}
	return errorWrapperLoader{l, e}, nil
}

func (e errorWrapper) Marks(ctx context.Context, subset string) ([]Mark, error) {
	return explain[[]Mark](e)(e.Archive.Marks(ctx, subset))
}

func (e errorWrapper) Catalog(ctx context.Context, subset string) (*design.Catalog, error) {
	return explain[*design.Catalog](e)(e.Archive.Catalog(ctx, subset))
}

func (e errorWrapper) Subsets(ctx context.Context) ([]string, error) {
	return explain[[]string](e)(e.Archive.Subsets(ctx))
}

func (e errorWrapper) Contents(ctx context.Context, subset string) (Contents, error) {
	return explain[Contents](e)(e.Archive.Contents(ctx, subset))
}

func (e errorWrapper) Phrase(ctx context.Context, q *question.Question, f flavour.Name) (*Query, error) {
	return explain[*Query](e)(e.Archive.Phrase(ctx, q, f))
}

func (e errorWrapper) Ask(ctx context.Context, q *Query, into *answer.Builder) error {
	return e.explain(e.Archive.Ask(ctx, q, into))
}

func (e errorWrapper) Explain(ctx context.Context, q *Query) (Plan, error) {
	return explain[Plan](e)(e.Archive.Explain(ctx, q))
}

func (e errorWrapper) Dump(ctx context.Context, subset string) iter.Seq2[*record.Batch, error] {
	return func(yield func(*record.Batch, error) bool) {
		for b, err := range e.Archive.Dump(ctx, subset) {
			if !yield(b, e.explain(err)) {
				return
			}
		}
	}
}

// OneOfEach forwards to the archive, if it is Singular.
func (e errorWrapper) OneOfEach() string { return OneOfEach(e.Archive) }

// Check forwards to the archive, if it is a Checker.
func (e errorWrapper) Check(ctx context.Context, subset string) ([]string, error) {
	c, can := e.Archive.(Checker)
	if !can {
		return nil, nil
	}
	return explain[[]string](e)(c.Check(ctx, subset))
}

func (e errorWrapper) Size(ctx context.Context) (int64, error) {
	return explain[int64](e)(e.Archive.Size(ctx))
}

type errorWrapperLoader struct {
	Loader
	to errorWrapper
}

func (l errorWrapperLoader) Add(ctx context.Context, b *record.Batch) error {
	return l.to.explain(l.Loader.Add(ctx, b))
}

func (l errorWrapperLoader) Commit(ctx context.Context, c Commit) (CommitResult, error) {
	return explain[CommitResult](l.to)(l.Loader.Commit(ctx, c))
}
