package docengine

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"

	"github.com/barograph/barograph/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/record"
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
		var at placer
		for t := range Types(known) {
			b.Reset(t, "")
			err := walk(t, func(id string, doc []byte) error {
				if _, err := to.Full(&b); err != nil {
					return err
				}
				valid, err := at.place(id, &b)
				if err != nil {
					return err
				}
				return Damaged(id, a.store.Decode(doc, &b, at.head, valid))
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

// placer adds the headers of documents to a batch, each once where those of one
// series follow one another.
type placer struct {
	series string // the last id without its epoch
	head   uint32
}

// place returns the valid time of a document; head is then that of its header.
func (p *placer) place(id string, b *record.Batch) (int64, error) {
	cut := min(strings.LastIndex(id, "::")+2, len(id))
	if valid, err := strconv.ParseInt(id[cut:], 10, 64); err == nil && p.series == id[:cut] && len(b.Headers) > 0 {
		return valid, nil
	}
	_, _, h, valid, err := design.ParseKey(id)
	if err == nil {
		p.series, p.head = strings.Clone(id[:cut]), b.AddHeader(h)
	}
	return valid, err
}

// ErrDamaged is the error of a document that is not as it was written.
var ErrDamaged = errors.New("is damaged")

// Damaged says which document an error is about.
func Damaged(id string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("document %q %w: %w", id, ErrDamaged, err)
}
