package docengine

import (
	"context"
	"iter"

	"barograph/engine"
	"barograph/record"
)

// Walk calls each for every document of a line type of a subset. The document is
// valid until each returns.
type Walk func(t *record.LineType, each func(id string, doc []byte) error) error

// Dump walks the documents of a subset, one line type after the other.
func (a *Archive) Dump(ctx context.Context, subset string, walk Walk) iter.Seq2[*record.Batch, error] {
	return engine.Dump(func(to *engine.Dumper) error {
		known, err := a.Known(ctx, subset)
		if err != nil {
			return err
		}
		var b record.Batch
		for t := range Types(known) {
			b.Reset(t, "")
			err := walk(t, func(id string, doc []byte) error {
				if _, err := to.Full(&b); err != nil {
					return err
				}
				return a.store.Decode(id, doc, &b)
			})
			if err == nil {
				err = to.Rest(&b)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}
