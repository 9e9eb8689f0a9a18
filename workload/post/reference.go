package post

import (
	"context"
	"errors"
	"fmt"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/run"
)

// referenceValues is how many values a reference looks at together: it bounds
// the client's memory to some 450 MB, as measured on 13.3 million values.
const referenceValues = 2_000_000

// References say what tables must hold, from the products alone. Those of a
// backlog do not fit into memory: they are computed for so many stations as do,
// then for others, and the digests of the parts added. What was computed once
// serves every method, and all designs that keep the same.
type References struct {
	source   Source
	contents *Contents
	most     int64 // values that are looked at together
	known    map[string]record.Digest
}

// NewReferences surveys a source.
func NewReferences(ctx context.Context, s Source) (*References, error) {
	c, err := Survey(ctx, s)
	if err != nil {
		return nil, err
	}
	return &References{source: s, contents: c, most: referenceValues, known: map[string]record.Digest{}}, nil
}

// Read is what decoding the source came to.
func (r *References) Read() run.Decoded { return r.contents.Read }

// state is how tables came to be as they are: the source was posted with these
// numbers added, one after the other, then what was observed before a moment was
// deleted.
type state struct {
	added   []float64
	deleted int64
}

// never is a moment before any observation.
const never = -farFuture

// digest is that of tables of a design in a state.
func (r *References) digest(ctx context.Context, d engine.PostDesign, p engine.Policy, s state) (record.Digest, error) {
	if d.Slots() > 0 && s.deleted == never {
		d = engine.SingleDesign // the same values
	}
	if p == engine.Overwrite && len(s.added) > 0 {
		s.added = s.added[len(s.added)-1:] // it has every key
	}
	key := fmt.Sprint(d, p, s)
	if have, ok := r.known[key]; ok {
		return have, nil
	}
	var sum record.Digest
	parts := int(r.contents.Read.Values/r.most) + 1
	for part := range parts {
		one := &engine.PostReference{
			Policy: p, Design: d, Only: func(station record.ID) bool { return owner(station, parts) == part },
			Without: func(v *engine.PostedValue) bool { return s.gone(d, v.Time) },
		}
		for _, by := range s.added {
			for m, err := range (shifted{r.source, by}).Products() {
				if err = errors.Join(err, ctx.Err()); err != nil {
					return sum, err
				}
				one.Post([]engine.PostMessage{m.PostMessage})
			}
		}
		sum.Add(one.Digest().Values)
	}
	r.known[key] = sum
	return sum, nil
}

// gone reports whether what was observed at a moment was deleted. A row of an
// array is a day, which ends with 00:00 of the next; what is not on its grid is
// in rows of its own.
func (s *state) gone(d engine.PostDesign, at int64) bool {
	if slots := int64(d.Slots()); slots > 0 && at%(86400/slots) == 0 {
		return at <= s.deleted
	}
	return at < s.deleted
}
