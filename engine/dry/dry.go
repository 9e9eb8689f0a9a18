package dry

import (
	"context"
	"fmt"
	"iter"
	"net/url"
	"sync"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/dry/pairs"
	"github.com/barograph/barograph/engine/kv"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

// Driver describes the engine.
func Driver() engine.Driver {
	return engine.Driver{
		Scheme:  "dry",
		Summary: "no database: answers come from memory; their time is the client overhead",
		Example: "dry:",
		Offers: []any{archive.Offer{
			Designs: map[design.Name][]flavour.Name{design.Memory: {flavour.Recall}}, NoTrim: true,
		}, kv.Offer{Layouts: []kv.Layout{kv.Pairs}}},
		Place: engine.Memory,
		Open:  open,
	}
}

func open(_ context.Context, _ *url.URL, o engine.Options) (*engine.Engine, error) {
	s := &store{readOnly: o.ReadOnly, subsets: map[string]*subset{}}
	return &engine.Engine{
		Abilities: []any{s, pairs.New(o.ReadOnly)},
		About: func(context.Context) (engine.About, error) {
			return engine.About{Product: "dry", Version: "1", Acknowledged: "in the client's own memory"}, nil
		},
		Close: func() error { return nil },
	}, nil
}

// store is the content of one Engine. All its archives share it.
type store struct {
	readOnly bool

	mu      sync.RWMutex
	commits int64 // number of commits, see storedAnswer
	subsets map[string]*subset
}

// Open returns the archive. memory is the only design.
func (s *store) Open(_ context.Context, d design.Name) (archive.Archive, error) {
	if d != design.Memory {
		return nil, fmt.Errorf("dry has no design %q, only %q: %w", d, design.Memory, engine.ErrNoDesign)
	}
	return &openArchive{s}, nil
}

type openArchive struct{ *store }

func (a *openArchive) Close() error { return nil }

// storedAnswer is the answer that Phrase computed after a number of commits. It is valid until the next commit.
type storedAnswer struct {
	commits int64
	answer  *answer.Answer
}

// String keeps the rows out of printed query arguments.
func (r *storedAnswer) String() string { return fmt.Sprintf("%d rows in memory", r.answer.Rows) }

// Phrase computes the answer and puts it into the query.
func (a *openArchive) Phrase(ctx context.Context, q *question.Question, f flavour.Name) (*archive.Query, error) {
	d := Driver()
	if err := archive.CanExpress(&d, design.Memory, f, q); err != nil {
		return nil, err
	}
	r, err := a.compute(ctx, q)
	if err != nil {
		return nil, err
	}
	text := "recall the answer to " + q.Name + " from memory"
	return &archive.Query{Question: q, Flavour: f, Text: text, Args: []any{r}}, nil
}

// compute answers a question from the stored records.
func (a *openArchive) compute(ctx context.Context, q *question.Question) (*storedAnswer, error) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	ref := answer.NewReference(q)
	if s := a.subsets[q.Subset]; s != nil {
		for _, b := range s.types[q.Type].batches() {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			ref.Add(b)
		}
	}
	return &storedAnswer{commits: a.commits, answer: ref.Answers()[0]}, nil
}

// Ask copies the answer. If records were committed since Phrase, it computes the answer again.
func (a *openArchive) Ask(ctx context.Context, q *archive.Query, into *answer.Builder) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	r := q.Args[0].(*storedAnswer) //nolint:forcetypeassert // only Phrase creates queries
	a.mu.RLock()
	current := a.commits == r.commits
	a.mu.RUnlock()
	if !current {
		var err error
		if r, err = a.compute(ctx, q.Question); err != nil {
			return err
		}
	}
	replay(r.answer, into)
	return nil
}

// replay copies an answer row by row, like an engine that decodes rows.
func replay(from *answer.Answer, into *answer.Builder) {
	into.Reset(from.Columns)
	for i := range from.Rows {
		into.Copy(from, i)
	}
}

// Explain reports that there is no plan, because the answer exists already.
func (a *openArchive) Explain(_ context.Context, q *archive.Query) (archive.Plan, error) {
	plan := archive.Plan{Text: q.Text + ": no plan, no search, no input or output"}
	if r, ok := q.Args[0].(*storedAnswer); ok && r.answer.Rows > 0 {
		n := int64(r.answer.Rows)
		plan.Access = []archive.Access{{Object: "memory", Method: archive.KeyLookup, Examined: n, Kept: n, Counted: true}}
	}
	return plan, nil
}

// Size returns 0, because nothing is on disk.
func (a *openArchive) Size(context.Context) (int64, error) { return 0, nil }

// Dump yields the stored batches.
func (a *openArchive) Dump(ctx context.Context, name string) iter.Seq2[*record.Batch, error] {
	return func(yield func(*record.Batch, error) bool) {
		a.mu.RLock()
		defer a.mu.RUnlock()
		s := a.subsets[name]
		if s == nil {
			return
		}
		for _, t := range s.types {
			for _, b := range t.batches() {
				if err := ctx.Err(); err != nil {
					yield(nil, err)
					return
				}
				if !yield(b, nil) {
					return
				}
			}
		}
	}
}
