package docengine

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"slices"
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

// Payloads is the Codec of the design keyvalue, that of
// design.AppendPayload, whose header and valid time are in the id.
type Payloads struct{}

// Append is that of Codec.
func (Payloads) Append(dst []byte, _, _ string, rows *record.Batch) []byte {
	return design.AppendPayload(dst, rows, 0, rows.Len())
}

// Decode is that of Codec.
func (Payloads) Decode(payload []byte, into *record.Batch, head uint32, valid int64) error {
	return design.DecodePayload(payload, into, head, valid)
}

// Prefixes are those of the ids of a line type: one for each version of its files.
func (a *Archive) Prefixes(ctx context.Context, subset string, t *record.LineType) (out []string, err error) {
	c, err := a.Known(ctx, subset)
	if err != nil {
		return nil, err
	}
	for _, g := range c.Groups {
		if g.LineType == t.Name {
			out = append(out, string(design.AppendSubset(nil, g.Version, g.LineType, subset)))
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// CountPayloads counts pairs, and the records that each says it holds.
func (a *Archive) CountPayloads(ctx context.Context, subset string, walk Walk) (engine.Contents, error) {
	c := engine.Contents{Records: map[string]int64{}, Object: "pairs"}
	known, err := a.Known(ctx, subset)
	if err != nil {
		return c, err
	}
	for t := range Types(known) {
		err := walk(t, func(id string, payload []byte) error {
			n, width := binary.Uvarint(payload[min(1, len(payload)):]) // the count follows the layout's version
			if width <= 0 {
				return Damaged(id, errors.New("its payload has no count"))
			}
			c.Objects++
			c.Records[t.Name] += int64(n)
			return nil
		})
		if err != nil {
			return c, err
		}
	}
	return c, nil
}
