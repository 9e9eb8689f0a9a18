package engine

import (
	"errors"
	"iter"

	"github.com/barograph/barograph/record"
)

// DumpRows is the number of records from which on a batch of a dump is handed out.
const DumpRows = 4096

// errLeft ends a walk whose caller wants no more.
var errLeft = errors.New("the walk was left")

// Dump makes an Archive's Dump of a walk over its records. The walk ends with
// the first error that the Dumper returns; a caller who has left is none.
func Dump(walk func(d *Dumper) error) iter.Seq2[*record.Batch, error] {
	return func(yield func(*record.Batch, error) bool) {
		if err := walk(&Dumper{yield}); err != nil && !errors.Is(err, errLeft) {
			yield(nil, err)
		}
	}
}

// Dumper hands out the batches of a dump.
type Dumper struct {
	yield func(*record.Batch, error) bool
}

// Full hands out a batch that has DumpRows records, and empties it. It tells
// whether it did: what the caller knows of the batch's headers is then void.
func (d *Dumper) Full(b *record.Batch) (emptied bool, err error) {
	if b.Len() < DumpRows {
		return false, nil
	}
	return true, d.Rest(b)
}

// Rest hands out what a batch holds, and empties it.
func (d *Dumper) Rest(b *record.Batch) error {
	if b.Len() > 0 && !d.yield(b, nil) {
		return errLeft
	}
	b.Reset(b.Type, "")
	return nil
}
