package pebble

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"barograph/engine"
	"barograph/flavour"
)

// Explain tells what Ask does with the query, and counts, by doing it once,
// what it reads; Pebble itself has no plans.
func (a *archive) Explain(ctx context.Context, q *engine.Query) (engine.Plan, error) {
	p, ok := q.Args[0].(*plan)
	if !ok {
		return engine.Plan{}, errors.New("pebble: the query was phrased by another engine")
	}
	r := a.reader(q.Question)
	defer a.readers.Put(r)
	access := engine.Access{Object: q.Question.Type.Name + " pairs", Index: "key", Measured: true}
	var err error
	if q.Flavour == flavour.KeysNative {
		access.Method = engine.KeyLookup
		err = r.multiGet(ctx, a.db, p)
	} else {
		access.Method = engine.IndexScan
		err = r.ranges(ctx, a.db, p)
	}
	if err != nil {
		return engine.Plan{}, err
	}
	access.Examined, access.Kept = r.looked, r.decoded
	out := engine.Plan{Text: a.describe(q, p)}
	if len(p.series) > 0 {
		out.Access = []engine.Access{access}
	}
	return out, nil
}

// describe is the plan for people: the first series, and the store's state.
func (a *archive) describe(q *engine.Query, p *plan) string {
	const shown = 20
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s, with one iterator; decode the payloads; sort the rows\n", q.Text)
	for i := range min(len(p.series), shown) {
		s := &p.series[i]
		if len(s.keys) > 0 {
			fmt.Fprintf(&b, "seek %s … %s (%d ids)\n", s.keys[0], s.keys[len(s.keys)-1][len(s.prefix):], len(s.keys))
		} else {
			from, to := s.bounds(&q.Question.Valid)
			fmt.Fprintf(&b, "scan %q … %q\n", from, to)
		}
	}
	if n := len(p.series) - shown; n > 0 {
		fmt.Fprintf(&b, "and %d more series\n", n)
	}
	fmt.Fprintf(&b, "\n%s", a.db.Metrics())
	return b.String()
}
