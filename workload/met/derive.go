package met

import (
	"context"
	"errors"
	"slices"

	"github.com/barograph/barograph/answer"
	"github.com/barograph/barograph/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/flavour"
	"github.com/barograph/barograph/load"
	"github.com/barograph/barograph/question"
	"github.com/barograph/barograph/record"
)

// DerivedCases is how many of the cases that are derived from the data a study asks.
const DerivedCases = 12

// derive makes cases of what the files, or the archive, hold.
func (s *study) derive(ctx context.Context) (err error) {
	var held *design.Catalog
	if s.origin != nil {
		held = s.origin.Catalog
	} else if held, _, _, err = load.Survey(ctx, s.o.Files, load.Reading{KeepLast: s.o.KeepLast, Parsed: s.parsed}); err != nil {
		return err
	}
	all := held.Cases()
	s.o.Cases, s.o.Derived = all[:min(len(all), 2*DerivedCases)], DerivedCases // some may have no rows
	return nil
}

// Answerable leaves out the questions to which no record of the files is an answer.
func Answerable(ctx context.Context, files []string, o load.Reading, qs []*question.Question) ([]*question.Question, error) {
	open := map[*question.Question]*answer.Matcher{}
	for _, q := range qs {
		open[q] = answer.NewMatcher(q)
	}
	found := errors.New("all have rows")
	each := func(_ *load.File, b *record.Batch) error {
		for q, m := range open {
			if q.Type != b.Type || b.Len() == 0 {
				continue
			}
			m.Use(b)
			for i := range b.Len() {
				if m.Row(i) {
					delete(open, q)
					break
				}
			}
		}
		if len(open) == 0 {
			return found // the other files need not be read
		}
		return nil
	}
	if err := load.Read(ctx, files, o, each, func(*load.File) error { return nil }); err != nil && !errors.Is(err, found) {
		return nil, err
	}
	return slices.DeleteFunc(qs, func(q *question.Question) bool { return open[q] != nil }), nil
}

// AnswerableIn leaves out those to which an archive has none, asked in a flavour.
func AnswerableIn(ctx context.Context, a engine.Archive, f flavour.Name, subset string, qs []*question.Question) (out []*question.Question, err error) {
	var b answer.Builder
	for _, q := range qs {
		query, err := a.Phrase(ctx, q.In(subset), f)
		if err == nil {
			err = a.Ask(ctx, query, &b)
		}
		if err != nil {
			return nil, err
		}
		if b.Rows > 0 {
			out = append(out, q)
		}
	}
	return out, nil
}
