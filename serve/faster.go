package serve

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/results/measure"
)

// Alternative is a configuration with the same result: an archive of equal digest, a design and a flavour.
type Alternative struct {
	Archive string  `json:"archive"`
	Engine  string  `json:"engine"`
	Design  string  `json:"design"`
	Flavour string  `json:"flavour"`
	MS      float64 `json:"ms"` // median; only of answers that are proven equal
	Rows    int     `json:"rows"`
	Problem string  `json:"problem,omitempty"`

	archive *servedArchive
	subset  string
	took    []time.Duration
}

const askedEach = 5

// faster sends the same question in turn to every archive here with the same records, in every
// flavour, and measures those whose results are equal.
func (s *Server) faster(w http.ResponseWriter, r *http.Request) error {
	a, err := s.asking(r)
	if err != nil {
		return err
	}
	wide, _, err := a.wide()
	if err != nil {
		return err
	}
	ctx := r.Context()
	alternatives := s.alternatives(ctx, a)
	var want *answer.Answer
	for i, rep := range measure.Interleave(a.seed, len(alternatives), askedEach+1) {
		if x := alternatives[i]; x.Problem == "" {
			want = x.ask(ctx, wide, want, rep > 0) // the first one warms, and is compared too
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	alternatives = slices.DeleteFunc(alternatives, func(x *Alternative) bool { return x.Problem == "cannot" })
	for _, x := range alternatives {
		if slices.Sort(x.took); len(x.took) > 0 && x.Problem == "" {
			x.MS = ms(x.took[len(x.took)/2])
		}
	}
	slices.SortStableFunc(alternatives, func(a, b *Alternative) int { return int(1e3 * (a.MS - b.MS)) })
	return write(w, alternatives)
}

// alternatives returns the configurations for the records of a's archive.
func (s *Server) alternatives(ctx context.Context, a *asking) (out []*Alternative) {
	var all []Holding
	var digest string
	for _, o := range s.archives {
		for _, x := range o.holdings(ctx, ranking{}) {
			all = append(all, x)
			if x.Archive == a.archive.name && x.Design == string(a.design) && x.Subset == a.subset {
				digest = x.Digest
			}
		}
	}
	for _, x := range all {
		if x.Problem != "" || x.Digest != digest {
			continue
		}
		o := s.archive(x.Archive)
		for _, f := range archive.Flavours(o.driver, design.Name(x.Design)) {
			out = append(out, &Alternative{Archive: x.Archive, Engine: x.Engine, Design: x.Design, Flavour: string(f), archive: o, subset: x.Subset})
		}
	}
	return out
}

// ask measures one result and compares it with want; it returns the result for the next comparison.
func (x *Alternative) ask(ctx context.Context, q *question.Question, want *answer.Answer, counts bool) *answer.Answer {
	err := x.archive.with(ctx, design.Name(x.Design), func(in archive.Archive) error {
		query, err := in.Phrase(ctx, q.InSubset(x.subset), flavour.Name(x.Flavour))
		if errors.Is(err, flavour.ErrCannotExpress) {
			x.Problem = "cannot"
			return nil
		}
		if err != nil {
			return err
		}
		var b answer.Builder
		began := time.Now()
		if err := in.Ask(ctx, query, &b); err != nil {
			return err
		}
		took := time.Since(began)
		if want == nil {
			want = b.Take()
		} else if _, err := answer.Compare(want, &b.Answer); err != nil {
			return err
		}
		if x.Rows = want.Rows; counts {
			x.took = append(x.took, took)
		}
		return nil
	})
	if err != nil {
		x.Problem = fault.Redact(err.Error())
	}
	return want
}
