package valkey

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"barograph/answer"
	"barograph/design"
	"barograph/engine"
	"barograph/flavour"
	"barograph/question"
	"barograph/record"
)

// plan is the ids that a question reads.
type plan struct {
	headers []record.Header
	gets    []get
	ids     []string // by get
}

// get is one derived id.
type get struct {
	head  uint32
	valid int64
}

// String keeps thousands of keys out of whatever prints a query's arguments.
func (p *plan) String() string { return fmt.Sprintf("%d ids", len(p.ids)) }

// Phrase derives from the catalog what to read.
func (a *archive) Phrase(ctx context.Context, q *question.Question, f flavour.Name) (*engine.Query, error) {
	if err := Driver().Express(design.KeyValue, f, q); err != nil {
		return nil, err
	}
	h, err := a.head(ctx, q.Subset)
	if err != nil {
		return nil, err
	}
	k, err := a.catalog(ctx, q.Subset, h)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	p, keys := a.derive(k.catalog, q)
	out := &engine.Query{Question: q, Flavour: f, Keys: keys, Args: []any{p}, Derive: time.Since(began)}
	out.Text = fmt.Sprintf("%s of %d derived ids of %d series, %d at a time", a.verb(), len(keys), len(p.headers), a.batch)
	if len(q.Lead) > 0 {
		out.Text += fmt.Sprintf(", keep %d leads", len(q.Lead))
	}
	return out, nil
}

func (s *store) verb() string {
	if s.cluster != nil {
		return "pipelined GET"
	}
	return "MGET"
}

// derive lists the ids that q can match, each once.
func (a *archive) derive(c *design.Catalog, q *question.Question) (p *plan, keys []string) {
	p = &plan{}
	seen := map[string]bool{}
	var buf []byte
	for h, g := range c.Series(q) {
		buf = design.AppendSeries(buf[:0], q.Type, q.Subset, h)
		if seen[string(buf)] {
			continue
		}
		seen[string(buf)] = true
		times := g.Times(q)
		slices.Sort(times)
		head := uint32(len(p.headers))
		p.headers = append(p.headers, *h)
		for _, v := range slices.Compact(times) {
			if !q.Valid.Contains(v) || !q.Clock.AdmitsValid(v) {
				continue
			}
			key := string(design.AppendKey(nil, q.Type, q.Subset, h, v))
			keys = append(keys, key)
			p.ids = append(p.ids, a.id(key))
			p.gets = append(p.gets, get{head, v})
		}
	}
	return p, keys
}

// reader holds the memory of one Ask at a time.
type reader struct {
	rows    record.Batch
	decoder design.PayloadDecoder
}

// Ask reads the pairs, several batches at once, decodes them in the order of
// the ids and restores the order of the answer.
func (a *archive) Ask(ctx context.Context, q *engine.Query, into *answer.Builder) error {
	p, ok := q.Args[0].(*plan)
	if !ok {
		return errors.New("valkey: the query was phrased by another engine")
	}
	if _, err := a.settled(ctx, q.Question.Subset); err != nil {
		return err
	}
	r, ok := a.readers.Get().(*reader)
	if !ok {
		r = &reader{}
	}
	defer a.readers.Put(r)
	r.rows.Reset(q.Question.Type, "")
	for _, h := range p.headers {
		r.rows.AddHeader(h)
	}
	err := a.fetch(ctx, p.ids, func(at int, values [][]byte) error {
		for i, v := range values {
			if v == nil { // an id that does not exist
				continue
			}
			g := p.gets[at+i]
			if err := r.decoder.Decode(v, &r.rows, g.head, g.valid, q.Question.Lead); err != nil {
				return damaged(p.ids[at+i], err)
			}
		}
		return nil
	})
	if err != nil {
		return failed(ctx, err)
	}
	answer.Arrange(q.Question, answer.Admitted(q.Question, &r.rows), into)
	return nil
}

// fetch gets the ids in batches, of which some are under way at once, and hands
// out the values in order.
func (s *store) fetch(ctx context.Context, ids []string, each func(at int, values [][]byte) error) error {
	group, ctx := errgroup.WithContext(ctx)
	under := make(chan chan [][]byte, s.inflight-1) // in order; one more is being sent
	group.Go(func() error {
		defer close(under)
		for at := 0; at < len(ids); at += s.batch {
			some, reply := ids[at:min(at+s.batch, len(ids))], make(chan [][]byte, 1)
			group.Go(func() error {
				values, err := s.get(ctx, some)
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
				at += len(values)
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	return group.Wait()
}

// Explain tells what Ask does with the query, and counts what it finds; the
// server has no plans.
func (a *archive) Explain(ctx context.Context, q *engine.Query) (engine.Plan, error) {
	p, ok := q.Args[0].(*plan)
	if !ok {
		return engine.Plan{}, errors.New("valkey: the query was phrased by another engine")
	}
	found := int64(0)
	err := a.fetch(ctx, p.ids, func(_ int, values [][]byte) error {
		for _, v := range values {
			if v != nil {
				found++
			}
		}
		return nil
	})
	if err != nil {
		return engine.Plan{}, failed(ctx, err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %d batches under way; decode the payloads; sort the rows\n%d of %d ids exist\n", q.Text, a.inflight, found, len(p.ids))
	for i := range min(len(p.ids), 20) {
		fmt.Fprintf(&b, "get %s\n", p.ids[i])
	}
	if n := len(p.ids) - 20; n > 0 {
		fmt.Fprintf(&b, "and %d more\n", n)
	}
	plan := engine.Plan{Text: b.String()}
	if len(p.ids) > 0 {
		plan.Access = []engine.Access{{Object: string(design.KeyValue), Method: engine.KeyLookup, Index: "hash table", Examined: int64(len(p.ids)), Kept: found, Measured: true}}
	}
	return plan, nil
}
