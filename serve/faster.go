package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/results/measure"
)

// Alternative is a query configuration for the same records: an archive of equal digest, a design and a
// flavour.
type Alternative struct {
	Archive string  `json:"archive"`
	Engine  string  `json:"engine"`
	Design  string  `json:"design"`
	Flavour string  `json:"flavour"`
	MS      float64 `json:"ms"` // median; 0 unless all results are proven equal to the reference
	Rows    int     `json:"rows"`
	Problem string  `json:"problem,omitempty"`

	err           error // the cause of Problem
	archive       *servedArchive
	subset        string
	cannotExpress bool // the flavour cannot express the question
	times         []time.Duration
}

// repetitions is the number of measured repetitions of each alternative.
const repetitions = 5

// faster sends the same question in turn to every served archive with the same records, in every flavour.
// The reference is the result of the archive that the page shows. faster measures the alternatives whose
// results equal it.
func (s *Server) faster(w http.ResponseWriter, r *http.Request) error {
	a, err := s.parseQuestion(r)
	if err != nil {
		return err
	}
	wide, _, err := a.wide()
	if err != nil {
		return err
	}
	ctx := r.Context()
	alternatives, err := s.alternatives(ctx, a)
	if err != nil {
		return err
	}
	want, err := reference(ctx, alternatives, a, wide)
	if err != nil {
		return err
	}
	for i, rep := range measure.Interleave(a.seed, len(alternatives), repetitions+1) {
		if x := alternatives[i]; x.Problem == "" && !x.cannotExpress {
			want = x.ask(ctx, wide, want, rep > 0) // the first repetition fills the engine's cache
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	alternatives = slices.DeleteFunc(alternatives, func(x *Alternative) bool { return x.cannotExpress })
	for _, x := range alternatives {
		if slices.Sort(x.times); len(x.times) > 0 && x.Problem == "" {
			x.MS = ms(x.times[len(x.times)/2])
		}
	}
	slices.SortStableFunc(alternatives, compareAlternatives)
	return writeJSON(w, alternatives)
}

// reference returns the result of the archive that the page shows. It is an error if none of its configurations
// has a result.
func reference(
	ctx context.Context, alternatives []*Alternative, a *pageQuestion, wide *question.Question,
) (*answer.Answer, error) {
	failed := errors.New("none of its configurations could be queried")
	for _, x := range alternatives {
		if x.archive == a.archive && x.Design == string(a.design) && x.subset == a.subset {
			if want := x.ask(ctx, wide, nil, false); want != nil {
				return want, nil
			}
			failed = cmp.Or(x.err, failed)
		}
	}
	return nil, fmt.Errorf("%s has no result with which others could be compared: %w", a.archive.name, failed)
}

// compareAlternatives orders alternatives by their times. Those without a time are last.
func compareAlternatives(a, b *Alternative) int {
	if (a.Problem == "") != (b.Problem == "") {
		return strings.Compare(a.Problem, b.Problem)
	}
	return cmp.Compare(a.MS, b.MS)
}

// alternatives returns the query configurations for the records of a question's archive.
func (s *Server) alternatives(ctx context.Context, a *pageQuestion) ([]*Alternative, error) {
	var digest string
	err := a.archive.with(ctx, a.design, func(in archive.Archive) error {
		catalog, err := in.Catalog(ctx, a.subset)
		if err == nil {
			digest = catalog.Digest().String()
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	out := []*Alternative{}
	for _, x := range s.holdings(ctx, ranking{}) {
		if x.Problem != "" || x.Digest != digest {
			continue
		}
		o := s.archive(x.Archive)
		for _, f := range archive.Flavours(o.driver, design.Name(x.Design)) {
			out = append(out, &Alternative{
				Archive: x.Archive, Engine: x.Engine, Design: x.Design, Flavour: string(f), archive: o, subset: x.Subset,
			})
		}
	}
	return out, nil
}

// ask queries the alternative once and compares the result with want. It returns want or, if that is nil, the
// result. timed means that the time counts.
func (x *Alternative) ask(ctx context.Context, q *question.Question, want *answer.Answer, timed bool) *answer.Answer {
	err := x.archive.with(ctx, design.Name(x.Design), func(in archive.Archive) error {
		query, err := in.Phrase(ctx, q.InSubset(x.subset), flavour.Name(x.Flavour))
		if errors.Is(err, flavour.ErrCannotExpress) {
			x.cannotExpress = true
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
		if x.Rows = want.Rows; timed {
			x.times = append(x.times, took)
		}
		return nil
	})
	if err != nil {
		x.err, x.Problem = err, fault.Redact(err.Error())
	}
	return want
}
