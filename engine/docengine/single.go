package docengine

import (
	"context"

	"github.com/barograph/barograph/record"
)

// Single is a store that changes one document at a time, of which NewLocked
// makes a Store. All methods may be called concurrently. Writes are durable
// when they return.
type Single interface {
	Meta
	Documents
}

// Meta keeps small named texts: the state of a subset, its lock, marks, undo.
type Meta interface {
	// Load reads a text that is changed by Swap; rev is 0 where there is none.
	Load(ctx context.Context, name string) (text []byte, rev int64, err error)

	// Swap writes a text if its revision is still rev (0 = there is none yet),
	// and returns the new one. The error wraps ErrChanged where it is not; it is
	// never changed by two.
	Swap(ctx context.Context, name string, text []byte, rev int64) (int64, error)

	// Put writes a text whether it is there or not, Get reads such texts; those
	// that do not exist are left out. Delete forgives those, too.
	Put(ctx context.Context, name string, text []byte) error
	Get(ctx context.Context, names []string) (map[string][]byte, error)
	Delete(ctx context.Context, names []string) error
}

// Documents keeps the documents of one line type of a subset by their ids.
type Documents interface {
	// Prepare makes what documents of t need: a collection, indexes. It may be
	// called again.
	Prepare(ctx context.Context, subset string, t *record.LineType) error

	// Fetch is that of Commit, Write too.
	Fetch(ctx context.Context, subset string, t *record.LineType, ids []string, each func(id string, doc []byte) error) error
	Write(ctx context.Context, subset string, t *record.LineType, docs []Document) error

	// Remove removes documents; those that are not there are forgiven.
	Remove(ctx context.Context, subset string, t *record.LineType, ids []string) error

	Codec
}
