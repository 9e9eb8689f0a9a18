package pebble

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"barograph/answer"
	"barograph/design"
	"barograph/engine"
	"barograph/flavour"
	"barograph/question"
	"barograph/record"
)

// plan is a question in Pebble's terms: which keys of which series to read.
type plan struct {
	series []series
}

// String keeps thousands of keys out of whatever prints a query's arguments.
func (p *plan) String() string { return fmt.Sprintf("%d series", len(p.series)) }

// series is one header that a question asks for.
type series struct {
	header record.Header
	prefix string   // of its keys: all but the epoch
	keys   []string // keys-native: the derived ids, sorted
}

// Phrase derives what to read from the catalog.
func (a *archive) Phrase(ctx context.Context, q *question.Question, f flavour.Name) (*engine.Query, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := Driver().Express(design.KeyValue, f, q); err != nil {
		return nil, err
	}
	out := &engine.Query{Question: q, Flavour: f}
	p := &plan{}
	out.Args = []any{p}
	c, err := a.catalog(q.Subset)
	if err != nil {
		return nil, err
	}
	if c == nil {
		c = design.NewCatalog(q.Subset)
	}
	began := time.Now()
	switch f {
	case flavour.KeysNative:
		p.derive(c, q, true)
		for i := range p.series {
			out.Keys = append(out.Keys, p.series[i].keys...)
		}
		out.Derive = time.Since(began)
		out.Text = fmt.Sprintf("get %d derived ids of %d series", len(out.Keys), len(p.series))
	case flavour.EpochRange:
		if _, _, _, ok := q.Valid.Grid(); !ok && !q.Valid.All() {
			return nil, fmt.Errorf("pebble: %s of a list of times without a step: %w", f, flavour.ErrCannotExpress)
		}
		p.derive(c, q, false)
		out.Derive = time.Since(began)
		out.Text = fmt.Sprintf("scan %d series %s", len(p.series), bounds(&q.Valid))
	default:
		return nil, fmt.Errorf("pebble, %s: %w", f, flavour.ErrCannotExpress)
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

// derive lists the series that q can match, each once, sorted by their keys.
func (p *plan) derive(c *design.Catalog, q *question.Question, withKeys bool) {
	var buf []byte
	for h, g := range c.Series(q) {
		buf = design.AppendSeries(buf[:0], q.Type, q.Subset, h)
		s := series{header: *h, prefix: string(buf)}
		if withKeys {
			for _, v := range g.Times(q) {
				s.keys = append(s.keys, s.prefix+strconv.FormatInt(v, 10))
			}
			slices.Sort(s.keys)
			s.keys = slices.Compact(s.keys)
		}
		p.series = append(p.series, s)
	}
	slices.SortFunc(p.series, func(x, y series) int { return cmp.Compare(x.prefix, y.prefix) })
	p.series = slices.CompactFunc(p.series, func(x, y series) bool { return x.prefix == y.prefix })
}

// Ask reads the pairs at one moment of the store, decodes them and restores
// the order.
func (a *archive) Ask(ctx context.Context, q *engine.Query, into *answer.Builder) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	p, ok := q.Args[0].(*plan)
	if !ok {
		return errors.New("pebble: the query was phrased by another engine")
	}
	r := a.reader(q.Question)
	defer a.readers.Put(r)
	var err error
	if q.Flavour == flavour.KeysNative {
		err = r.multiGet(ctx, a.db, p)
	} else {
		err = r.ranges(ctx, a.db, p)
	}
	if err != nil {
		return err
	}
	answer.Arrange(q.Question, answer.Admitted(q.Question, &r.rows), into)
	return nil
}

// reader holds the memory of one Ask at a time.
type reader struct {
	question *question.Question
	rows     record.Batch
	decoder  design.PayloadDecoder
	key      []byte

	looked, decoded int64 // pairs looked for or walked over, and those of wanted times, for Explain
}

// reader takes a reader from the pool or makes one.
func (s *store) reader(q *question.Question) *reader {
	r, ok := s.readers.Get().(*reader)
	if !ok {
		r = &reader{}
	}
	r.question, r.looked, r.decoded = q, 0, 0
	r.rows.Reset(q.Type, "")
	return r
}

// multiGet reads the derived ids with one iterator, which moves forward only.
// Ids that do not exist are normal.
func (r *reader) multiGet(ctx context.Context, db *pebble.DB, p *plan) (err error) {
	it, err := db.NewIterWithContext(ctx, nil)
	if err != nil {
		return err
	}
	defer closing(&err, it)
	n := 0
	for i := range p.series {
		s := &p.series[i]
		head := r.rows.AddHeader(s.header)
		for _, k := range s.keys {
			if n++; n%64 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			r.looked++
			r.key = append(r.key[:0], k...)
			if !it.SeekGE(r.key) || !bytes.Equal(it.Key(), r.key) {
				if err := it.Error(); err != nil {
					return err
				}
				continue
			}
			if err := r.take(it, head, len(s.prefix)); err != nil {
				return err
			}
		}
	}
	return nil
}

// take decodes the pair under the iterator, if its valid time is wanted.
func (r *reader) take(it *pebble.Iterator, head uint32, prefix int) error {
	valid, err := epoch(it.Key()[prefix:])
	if err != nil {
		return damaged(it.Key(), err)
	}
	if !r.question.Valid.Contains(valid) || !r.question.Clock.AdmitsValid(valid) {
		return nil
	}
	r.decoded++
	value, err := it.ValueAndErr()
	if err != nil {
		return err
	}
	if err := r.decoder.Decode(value, &r.rows, head, valid, r.question.Lead); err != nil {
		return damaged(it.Key(), err)
	}
	return nil
}

// ranges scans each series between the bounds of the valid times.
func (r *reader) ranges(ctx context.Context, db *pebble.DB, p *plan) (err error) {
	it, err := db.NewIterWithContext(ctx, nil)
	if err != nil {
		return err
	}
	defer closing(&err, it)
	n := 0
	for i := range p.series {
		s := &p.series[i]
		from, to := s.bounds(&r.question.Valid)
		it.SetBounds(from, to)
		head := r.rows.AddHeader(s.header)
		for valid := it.First(); valid; valid = it.Next() {
			if n++; n%64 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			r.looked++
			if err := r.take(it, head, len(s.prefix)); err != nil {
				return err
			}
		}
		if err := it.Error(); err != nil {
			return err
		}
	}
	return nil
}

// bounds are the least key to read and the least not to read any more. Epochs
// of one length sort as numbers do; where the bounds differ in length, or are
// negative, the whole series is read, and take sorts out what is not wanted.
// Nothing else lies between '-' and ':': further parts begin with a letter.
func (s *series) bounds(want *question.Times) (from, to []byte) {
	first, last, ok := want.Bounds()
	if !ok {
		first, last = math.MinInt64, math.MaxInt64
	}
	x, y := strconv.FormatInt(first, 10), strconv.FormatInt(last, 10)
	if first < 0 || len(x) != len(y) {
		return []byte(s.prefix + "-"), []byte(s.prefix + ":")
	}
	return []byte(s.prefix + x), []byte(s.prefix + y + "\x00")
}

// epoch reads the last part of a key.
func epoch(text []byte) (int64, error) { return strconv.ParseInt(string(text), 10, 64) }

// ignoreGone forgives a file that Pebble removed while the folder was walked.
func ignoreGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
