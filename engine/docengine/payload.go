package docengine

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"

	"github.com/barograph/barograph/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/record"
)

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
