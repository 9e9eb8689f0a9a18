package pebble

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/record"
)

// Salvage is Dump without unreadable pairs: those in damaged blocks, and those whose values cannot be decoded.
func (a *openArchive) Salvage(ctx context.Context, subset string, lost func(archive.Loss)) iter.Seq2[*record.Batch, error] {
	return a.Archive.Dump(ctx, subset, func(t *record.LineType, each func(id string, doc []byte) error) error {
		prefixes, err := a.Prefixes(ctx, subset, t)
		for _, prefix := range prefixes {
			if err != nil {
				break
			}
			var trial record.Batch
			s := salvage{store: a.store, to: prefixEnd([]byte(prefix)), lost: lost, each: func(key, value []byte) error {
				trial.Reset(t, "")
				if err := design.DecodePayload(value, &trial, trial.AddHeader(record.DefaultHeader()), 0); err != nil {
					lost(archive.Loss{Place: fmt.Sprintf("pair %q", key), Err: err})
					return nil //nolint:nilerr // lost has reported it
				}
				return each(string(key), value)
			}}
			err = s.read(ctx, []byte(prefix))
		}
		return err
	})
}

// salvage reads the pairs before a key.
type salvage struct {
	*store
	to   []byte
	each func(key, value []byte) error
	lost func(archive.Loss)
}

// read reads pairs from a key on. After an unreadable block it looks for the next readable key, and reads the
// pairs before that key backward.
func (s *salvage) read(ctx context.Context, from []byte) error {
	for {
		last, damage, err := s.forward(ctx, from)
		if err != nil || damage == nil {
			return err
		}
		next := s.next(ctx, last)
		first, err := s.backward(ctx, last, next)
		if err != nil {
			return err
		}
		s.lost(archive.Loss{Place: fmt.Sprintf("the pairs from %q to %q", last, first), Err: damage})
		if bytes.Equal(next, s.to) {
			return nil
		}
		from = next
	}
}

// forward reads until a damaged block, whose error is damage. last is the key after the last one that it read.
func (s *salvage) forward(ctx context.Context, from []byte) (last []byte, damage, err error) {
	last = slices.Clone(from)
	it, damage := s.db.NewIterWithContext(ctx, &pebble.IterOptions{LowerBound: from, UpperBound: s.to})
	if damage != nil {
		return last, damage, nil
	}
	defer it.Close() //nolint:errcheck // it returns the error of the block
	for valid := it.First(); valid; valid = it.Next() {
		last = append(append(last[:0], it.Key()...), 0)
		if err := s.pair(ctx, it); err != nil {
			return last, nil, err
		}
	}
	return last, it.Error(), ctx.Err()
}

// pair yields one pair, unless its value cannot be read.
func (s *salvage) pair(ctx context.Context, it *pebble.Iterator) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	key := slices.Clone(it.Key())
	value, err := it.ValueAndErr()
	if err != nil {
		s.lost(archive.Loss{Place: fmt.Sprintf("pair %q", key), Err: err})
		return nil //nolint:nilerr // lost has reported it
	}
	return s.each(key, value)
}

// next returns a key from which on pairs are readable. After a damaged block it increments the bytes of the key
// in turn, beginning with the last one.
func (s *salvage) next(ctx context.Context, damaged []byte) []byte {
	for n := len(damaged); n > 0; n-- {
		key := slices.Clone(damaged[:n])
		if key[n-1]++; key[n-1] == 0 || bytes.Compare(key, s.to) >= 0 {
			continue
		}
		it, err := s.db.NewIterWithContext(ctx, &pebble.IterOptions{LowerBound: key, UpperBound: s.to})
		if err != nil {
			continue
		}
		it.First()
		if errors.Join(it.Error(), it.Close()) == nil {
			return key
		}
	}
	return s.to
}

// backward reads the pairs before a key, down to a damaged block: first is the least key that was read.
func (s *salvage) backward(ctx context.Context, from, to []byte) (first []byte, err error) {
	first = to
	it, err := s.db.NewIterWithContext(ctx, &pebble.IterOptions{LowerBound: from, UpperBound: to})
	if err != nil {
		return first, ctx.Err()
	}
	defer it.Close() //nolint:errcheck // it returns the error of the block
	for valid := it.Last(); valid; valid = it.Prev() {
		first = slices.Clone(it.Key())
		if err := s.pair(ctx, it); err != nil {
			return first, err
		}
	}
	return first, ctx.Err()
}
