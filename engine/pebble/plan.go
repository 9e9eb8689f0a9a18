package pebble

import (
	"bytes"
	"context"
	"fmt"

	"github.com/barograph/barograph/answer"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/flavour"
)

// Explain tells what Ask does with the query, and counts, by doing it once,
// what it reads; Pebble itself has no plans.
func (a *archive) Explain(ctx context.Context, q *engine.Query) (engine.Plan, error) {
	var into answer.Builder
	into.Reset(q.Question.Columns)
	r, err := a.read(ctx, q, &into)
	if err != nil {
		return engine.Plan{}, err
	}
	p, _ := q.Args[0].(*plan) // read has looked
	out := engine.Plan{Text: a.describe(q, p)}
	if len(q.Keys)+len(p.ranges) > 0 {
		access := engine.Access{Object: q.Question.Type.Name + " pairs", Method: engine.KeyLookup, Index: "key", Examined: r.looked, Kept: r.decoded, Measured: true}
		if q.Flavour != flavour.KeysNative {
			access.Method = engine.IndexScan
		}
		out.Access = []engine.Access{access}
	}
	return out, nil
}

// describe is the plan for people: the first ids or series, and the store's state.
func (a *archive) describe(q *engine.Query, p *plan) string {
	const shown = 20
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s, with one iterator; decode the payloads; sort the rows\n", q.Text)
	for _, id := range q.Keys[:min(len(q.Keys), shown)] {
		fmt.Fprintf(&b, "seek %s\n", id)
	}
	for i := range p.ranges[:min(len(p.ranges), shown)] {
		from, to := keys(&p.ranges[i], &q.Question.Valid)
		fmt.Fprintf(&b, "scan %q … %q\n", from, to)
	}
	if n := max(len(q.Keys), len(p.ranges)) - shown; n > 0 {
		fmt.Fprintf(&b, "and %d more\n", n)
	}
	fmt.Fprintf(&b, "\n%s", a.db.Metrics())
	return b.String()
}
