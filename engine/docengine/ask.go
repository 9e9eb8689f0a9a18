package docengine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/barograph/barograph/answer"
	"github.com/barograph/barograph/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/flavour"
	"github.com/barograph/barograph/question"
	"github.com/barograph/barograph/record"
)

// Phrasing begins the phrasing of a question for an engine's design: the error
// wraps flavour.ErrCannotExpress where it offers no such flavour. The catalog
// must not be changed.
func (a *Archive) Phrasing(ctx context.Context, d engine.Driver, n design.Name, q *question.Question, f flavour.Name) (*engine.Query, *design.Catalog, error) {
	if err := d.Express(n, f, q); err != nil {
		return nil, nil, err
	}
	c, err := a.Known(ctx, q.Subset)
	return &engine.Query{Question: q, Flavour: f}, c, err
}

// Plan is what Phrase has put into the query for Ask.
func Plan[T any](q *engine.Query) (p T, err error) {
	if len(q.Args) > 0 {
		if p, ok := q.Args[0].(T); ok {
			return p, nil
		}
	}
	return p, fmt.Errorf("the query of %s was phrased by another engine", q.Question.Name)
}

// Series is a header that a question asks for.
type Series struct {
	Header record.Header
	Prefix string        // of its ids: all but the epoch
	Group  *design.Group // that knows its times
}

// SeriesOf lists the series that a question can match, each once, sorted by
// their prefixes.
func SeriesOf(c *design.Catalog, q *question.Question) (all []Series) {
	var buf []byte
	for h, g := range c.Series(q) {
		buf = design.AppendSeries(buf[:0], q.Type, q.Subset, h)
		all = append(all, Series{*h, string(buf), g})
	}
	slices.SortFunc(all, func(x, y Series) int { return cmp.Compare(x.Prefix, y.Prefix) })
	return slices.CompactFunc(all, func(x, y Series) bool { return x.Prefix == y.Prefix })
}

// Lookup tells where the records of the ids belong that a question reads.
type Lookup struct {
	Headers []record.Header
	Places  []Place // of each of Query.Keys
}

// Place is header and valid time of a document.
type Place struct {
	Head  uint32 // index of Lookup.Headers
	Valid int64
}

// String keeps thousands of keys out of whatever prints a query's arguments.
func (l *Lookup) String() string { return fmt.Sprintf("%d ids", len(l.Places)) }

// Derive puts into out the ids of the documents that its question can match,
// each once, by series and time, and the time that it took.
func Derive(c *design.Catalog, out *engine.Query) *Lookup {
	began := time.Now()
	q, l := out.Question, &Lookup{}
	for i, s := range SeriesOf(c, q) {
		l.Headers = append(l.Headers, s.Header)
		times := s.Group.Times(q)
		slices.Sort(times)
		for _, v := range slices.Compact(times) {
			if q.Valid.Contains(v) && q.Clock.AdmitsValid(v) {
				out.Keys = append(out.Keys, s.Prefix+strconv.FormatInt(v, 10))
				l.Places = append(l.Places, Place{uint32(i), v})
			}
		}
	}
	out.Derive = time.Since(began)
	return l
}

// Answer restores the order of the records that read appends to a batch, whose
// headers these are, and leaves out those at other times of day than the
// question's.
func (a *Archive) Answer(q *question.Question, headers []record.Header, into *answer.Builder, read func(rows *record.Batch) error) error {
	rows, ok := a.batches.Get().(*record.Batch)
	if !ok {
		rows = &record.Batch{}
	}
	defer a.batches.Put(rows)
	rows.Reset(q.Type, "")
	for _, h := range headers {
		rows.AddHeader(h)
	}
	if err := read(rows); err != nil {
		return err
	}
	answer.Arrange(q, answer.Admitted(q, rows), into)
	return nil
}

// InOrder gets what belongs to ids in batches of a size, of which as many as
// width are under way at once, and hands them out in order, one at a time. at
// is the index of a batch's first id.
func InOrder[T any](ctx context.Context, ids []string, size, width int, get func(ctx context.Context, some []string) (T, error), each func(at int, some T) error) error {
	group, ctx := errgroup.WithContext(ctx)
	under := make(chan chan T, max(width-1, 0)) // in order; one more is being got
	group.Go(func() error {
		defer close(under)
		for some := range slices.Chunk(ids, size) {
			reply := make(chan T, 1)
			group.Go(func() error {
				values, err := get(ctx, some)
				if err == nil {
					reply <- values
				}
				return err
			})
			select {
			case under <- reply:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	group.Go(func() error {
		at := 0
		for reply := range under {
			select {
			case values := <-reply:
				if err := each(at, values); err != nil {
					return err
				}
				at += size
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	return group.Wait()
}

// Nothing is the plan of a question for a line type that a subset does not hold.
func Nothing(q *engine.Query) engine.Plan {
	return engine.Plan{Text: fmt.Sprintf("subset %q holds no %s: nothing is read", q.Question.Subset, q.Question.Type.Name)}
}
