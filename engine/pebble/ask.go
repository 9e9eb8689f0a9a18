package pebble

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/barograph/barograph/answer"
	"github.com/barograph/barograph/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/docengine"
	"github.com/barograph/barograph/flavour"
	"github.com/barograph/barograph/question"
	"github.com/barograph/barograph/record"
)

// plan is a question in Pebble's terms: which keys of which series to read.
type plan struct {
	*docengine.Lookup
	ranges []docengine.Series // epoch-range: the series to scan
}

// Phrase derives what to read from the catalog.
func (a *archive) Phrase(ctx context.Context, q *question.Question, f flavour.Name) (*engine.Query, error) {
	out, c, err := a.Phrasing(ctx, Driver(), design.KeyValue, q, f)
	if err != nil {
		return nil, err
	}
	p := &plan{Lookup: &docengine.Lookup{}}
	out.Args = []any{p}
	if f == flavour.KeysNative {
		p.Lookup = docengine.Derive(c, out)
		out.Text = fmt.Sprintf("get %d derived ids of %d series", len(out.Keys), len(p.Headers))
	} else {
		if _, _, _, ok := q.Valid.Grid(); !ok && !q.Valid.All() {
			return nil, fmt.Errorf("pebble: %s of a list of times without a step: %w", f, flavour.ErrCannotExpress)
		}
		began := time.Now()
		p.ranges = docengine.SeriesOf(c, q)
		for i := range p.ranges {
			p.Headers = append(p.Headers, p.ranges[i].Header)
		}
		out.Derive = time.Since(began)
		out.Text = fmt.Sprintf("scan %d series %s", len(p.ranges), bounds(&q.Valid))
	}
	if len(q.Lead) > 0 {
		out.Text += fmt.Sprintf(", keep %d leads", len(q.Lead))
	}
	return out, nil
}

func bounds(t *question.Times) string {
	first, last, ok := t.Bounds()
	if !ok {
		return "from end to end"
	}
	return fmt.Sprintf("from %d to %d", first, last)
}

// Ask reads the pairs at one moment of the store, decodes them and restores
// the order.
func (a *archive) Ask(ctx context.Context, q *engine.Query, into *answer.Builder) error {
	_, err := a.read(ctx, q, into)
	return err
}

// reader reads with one iterator, which moves forward.
type reader struct {
	question *question.Question
	it       *pebble.Iterator
	rows     *record.Batch
	decoder  design.PayloadDecoder

	looked, decoded int64 // pairs looked for or walked over, and those of wanted times
}

func (a *archive) read(ctx context.Context, q *engine.Query, into *answer.Builder) (r reader, err error) {
	p, err := docengine.Plan[*plan](q)
	if err != nil {
		return r, err
	}
	return r, a.Answer(q.Question, p.Headers, into, func(rows *record.Batch) (err error) {
		r.question, r.rows = q.Question, rows
		if r.it, err = a.db.NewIterWithContext(ctx, nil); err != nil {
			return err
		}
		defer closing(&err, r.it)
		if q.Flavour == flavour.KeysNative {
			return r.multiGet(ctx, q.Keys, p)
		}
		return r.ranges(ctx, p)
	})
}

// multiGet reads the derived ids. Ids that do not exist are normal.
func (r *reader) multiGet(ctx context.Context, ids []string, p *plan) error {
	var key []byte
	for i, id := range ids {
		if i%64 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		r.looked++
		key = append(key[:0], id...)
		if r.it.SeekGE(key) && bytes.Equal(r.it.Key(), key) {
			if err := r.take(p.Places[i].Head, p.Places[i].Valid); err != nil {
				return err
			}
		} else if err := r.it.Error(); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// take decodes the pair under the iterator.
func (r *reader) take(head uint32, valid int64) error {
	r.decoded++
	value, err := r.it.ValueAndErr()
	if err != nil {
		return err
	}
	if err := r.decoder.Decode(value, r.rows, head, valid, r.question.Lead); err != nil {
		return docengine.Damaged(string(r.it.Key()), err)
	}
	return nil
}

// ranges scans each series between the bounds of the valid times.
func (r *reader) ranges(ctx context.Context, p *plan) error {
	for i := range p.ranges {
		s := &p.ranges[i]
		r.it.SetBounds(keys(s, &r.question.Valid))
		for ok := r.it.First(); ok; ok = r.it.Next() {
			if r.looked++; r.looked%64 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			valid, err := strconv.ParseInt(string(r.it.Key()[len(s.Prefix):]), 10, 64)
			if err != nil {
				return docengine.Damaged(string(r.it.Key()), err)
			}
			if !r.question.Valid.Contains(valid) || !r.question.Clock.AdmitsValid(valid) {
				continue
			}
			if err := r.take(uint32(i), valid); err != nil {
				return err
			}
		}
		if err := r.it.Error(); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// keys are the least key to read and the least not to read any more. Epochs
// of one length sort as numbers do; where the bounds differ in length, or are
// negative, the whole series is read, and take sorts out what is not wanted.
// Nothing else lies between '-' and ':': further parts begin with a letter.
func keys(s *docengine.Series, want *question.Times) (from, to []byte) {
	first, last, ok := want.Bounds()
	if !ok {
		first, last = math.MinInt64, math.MaxInt64
	}
	x, y := strconv.FormatInt(first, 10), strconv.FormatInt(last, 10)
	if first < 0 || len(x) != len(y) {
		return []byte(s.Prefix + "-"), []byte(s.Prefix + ":")
	}
	return []byte(s.Prefix + x), []byte(s.Prefix + y + "\x00")
}
