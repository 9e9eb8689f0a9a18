package docengine

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	"barograph/design"
	"barograph/engine"
	"barograph/record"
)

// Derive puts into out the ids of the documents that its question can match,
// sorted, each once, and the time that it took.
func Derive(c *design.Catalog, out *engine.Query) {
	began := time.Now()
	out.Keys = c.Keys(out.Question)
	slices.Sort(out.Keys)
	out.Keys = slices.Compact(out.Keys)
	out.Derive = time.Since(began)
}

// Nothing is the plan of a question for a line type that a subset does not hold.
func Nothing(q *engine.Query) engine.Plan {
	return engine.Plan{Text: fmt.Sprintf("subset %q holds no %s: nothing is read", q.Question.Subset, q.Question.Type.Name)}
}

// Dump walks the documents of a subset, one line type after the other. walk
// calls each for every document of a type; the document is valid until each
// returns.
func (a *Archive) Dump(ctx context.Context, subset string, walk func(t *record.LineType, each func(doc []byte) error) error) iter.Seq2[*record.Batch, error] {
	return engine.Dump(func(d *engine.Dumper) error {
		known, err := a.Known(ctx, subset)
		if err != nil {
			return err
		}
		for t := range Types(known) {
			var b record.Batch
			b.Reset(t, "")
			err := walk(t, func(doc []byte) error {
				if _, err := d.Full(&b); err != nil {
					return err
				}
				return a.store.Decode(doc, &b)
			})
			if err == nil {
				err = d.Rest(&b)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}
