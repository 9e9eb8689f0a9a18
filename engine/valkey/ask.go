package valkey

import (
	"context"
	"fmt"
	"strings"

	"github.com/barograph/barograph/answer"
	"github.com/barograph/barograph/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/docengine"
	"github.com/barograph/barograph/flavour"
	"github.com/barograph/barograph/question"
	"github.com/barograph/barograph/record"
)

// plan is the ids that a question reads.
type plan struct {
	*docengine.Lookup
	ids []string // as they are kept
}

// Phrase derives from the catalog what to read.
func (a *archive) Phrase(ctx context.Context, q *question.Question, f flavour.Name) (*engine.Query, error) {
	out, c, err := a.Phrasing(ctx, Driver(), design.KeyValue, q, f)
	if err != nil {
		return nil, err
	}
	p := &plan{Lookup: docengine.Derive(c, out)}
	for _, key := range out.Keys {
		p.ids = append(p.ids, a.id(key))
	}
	out.Args = []any{p}
	out.Text = fmt.Sprintf("%s of %d derived ids of %d series, %d at a time", a.verb(), len(p.ids), len(p.Headers), a.batch)
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

// Ask reads the pairs, several batches at once, decodes them in the order of
// the ids and restores the order of the answer.
func (a *archive) Ask(ctx context.Context, q *engine.Query, into *answer.Builder) error {
	p, err := docengine.Plan[*plan](q)
	if err != nil {
		return err
	}
	if _, err := a.settled(ctx, q.Question.Subset); err != nil {
		return err
	}
	return failed(ctx, a.Answer(q.Question, p.Headers, into, func(rows *record.Batch) error {
		var d design.PayloadDecoder
		return a.fetch(ctx, p.ids, func(i int, payload []byte) error {
			return docengine.Damaged(p.ids[i], d.Decode(payload, rows, p.Places[i].Head, p.Places[i].Valid, q.Question.Lead))
		})
	}))
}

// fetch gets the ids in batches, of which some are under way at once, and hands
// out in order the payloads that exist.
func (s *store) fetch(ctx context.Context, ids []string, each func(i int, payload []byte) error) error {
	return docengine.InOrder(ctx, ids, s.batch, s.inflight, s.get, func(at int, values [][]byte) error {
		for i, v := range values {
			if v == nil {
				continue
			}
			if err := each(at+i, v); err != nil {
				return err
			}
		}
		return nil
	})
}

// Explain tells what Ask does with the query, and counts what it finds; the
// server has no plans.
func (a *archive) Explain(ctx context.Context, q *engine.Query) (engine.Plan, error) {
	p, err := docengine.Plan[*plan](q)
	if err != nil {
		return engine.Plan{}, err
	}
	found := int64(0)
	if err := a.fetch(ctx, p.ids, func(int, []byte) error { found++; return nil }); err != nil {
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
