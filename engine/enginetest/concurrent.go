package enginetest

import (
	"context"
	"fmt"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/question"
)

// concurrent tests several clients at once, also during a load.
func (s *suite) concurrent(t *testing.T) {
	h := s.openNew(t)
	files := Generate(21, 4, caseSeries()...)
	mustStore(t, h, "cases", files, 4)
	qs := theCases(t, "cases")
	want := references(files, qs)
	t.Run("clients", func(t *testing.T) { s.clients(t, h, qs, want, nil) })
	t.Run("clients during a load", func(t *testing.T) {
		s.attacked(t, "questions during a load").Times = 1
		more := Generate(22, 4, mixedSeries()...)
		s.clients(t, h, qs, want, func(ctx context.Context) error {
			_, err := store(ctx, h, "mixed", more, 1)
			return err
		})
		checkDigest(t, h, "mixed", expect(more))
		checkDigest(t, h, "cases", expect(files))
	})
}

// clients runs four goroutines, at night eight, that ask all cases. Each begins with another case, and uses its own
// queries and shared ones.
func (s *suite) clients(
	t *testing.T, h *opened, qs []*question.Question, want []*answer.Answer, loader func(context.Context) error,
) {
	group, ctx := errgroup.WithContext(t.Context())
	if loader != nil {
		group.Go(func() error { return loader(ctx) })
	}
	workers := 4
	if !s.Brief && Nightly() {
		workers = 8
	}
	for worker := range workers {
		group.Go(func() error {
			var into answer.Builder // each goroutine uses one for all its questions
			for round := range s.repetitions(t, 2, 1) {
				for i := range qs {
					i = (i + worker) % len(qs)
					f := s.flavours[(worker+round)%len(s.flavours)]
					p, err := h.Phrase(ctx, qs[i], f)
					if err != nil {
						return fmt.Errorf("%s, %s: phrase: %w", qs[i].Name, f, err)
					}
					if err := askInto(ctx, h, p, &into, want[i]); err != nil {
						return err
					}
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		t.Error(err)
	}
}

func askInto(ctx context.Context, a archive.Archive, p *archive.Query, into *answer.Builder, want *answer.Answer) error {
	if err := a.Ask(ctx, p, into); err != nil {
		return fmt.Errorf("%s, %s: ask: %w", p.Question.Name, p.Flavour, err)
	}
	if _, err := answer.Compare(want, &into.Answer); err != nil {
		return fmt.Errorf("%s, %s: %w", p.Question.Name, p.Flavour, err)
	}
	return nil
}
