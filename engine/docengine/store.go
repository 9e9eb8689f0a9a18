package docengine

import (
	"context"
	"errors"

	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/record"
)

// ErrChanged is the error of what came too late: somebody else was faster.
var ErrChanged = errors.New("the document was changed by somebody else")

// Store is what an engine must be able to do. All methods may be called
// concurrently. What died before is taken back, or completed, before any of
// them but Create answers.
type Store interface {
	// Subsets lists the subsets, in any order.
	Subsets(ctx context.Context) ([]string, error)

	// Describe returns the number of the commits that count, 0 for a subset that
	// does not exist, and its catalog, which may be left out where that number
	// is known.
	Describe(ctx context.Context, subset string, known int64) (version int64, catalog []byte, err error)

	// Marks lists the marks of the commits that count, one per digest, see Marks.
	Marks(ctx context.Context, subset string) ([]archive.Mark, error)

	// Create makes a subset, or refuses to load into it.
	Create(ctx context.Context, subset string) error

	// Begin begins a commit. Commits of one process to one subset come one after
	// the other; others may be under way elsewhere. All of it is done in the
	// context that Begin returns, which may end sooner than ctx.
	Begin(ctx context.Context, subset string) (context.Context, Commit, error)

	Codec
}

// Codec is the form of a document in a store.
type Codec interface {
	// Append appends a document: rows share one header and valid time.
	Append(dst []byte, subset, id string, rows *record.Batch) []byte

	// Decode appends its records to a batch of its line type, which has its header.
	Decode(doc []byte, into *record.Batch, head uint32, valid int64) error
}

// Commit is a commit under way, of which nothing counts before Count.
type Commit interface {
	// Fetch reads documents as of the beginning, in any order; ids without a
	// document are normal. doc is valid until each returns. each is called by
	// one goroutine at a time.
	Fetch(ctx context.Context, t *record.LineType, ids []string, each func(id string, doc []byte) error) error

	// Note is called once, before all others, with what will be written.
	Note(ctx context.Context, all []Change) error

	// Write writes documents; it may be called concurrently.
	Write(ctx context.Context, t *record.LineType, docs []Document) error

	// Remove removes documents that were noted as Gone; errors.ErrUnsupported
	// where the store cannot.
	Remove(ctx context.Context, t *record.LineType, ids []string) error

	// Count has the commit count: documents, catalog and marks together, durable
	// when it returns. The version is 0 where another commit was faster: then
	// all begins anew.
	Count(ctx context.Context, catalog []byte, done []archive.Mark) (version int64, err error)

	// End is the last call: it gives up what Begin took and, where the commit
	// does not count, takes away what it wrote. err is why it failed, and is
	// returned with what End has to add.
	End(ctx context.Context, counts bool, err error) error
}

// Change is what a commit will write of one line type.
type Change struct {
	Type  *record.LineType
	IDs   []string          // each once, in the order in which they will be written
	There map[string][]byte // the documents that there are under them; none with Options.Writers = 0
	Gone  bool              // they will be removed
}

// Document is an id and what is stored under it.
type Document struct {
	ID    string
	Body  []byte // as Store.Append makes it
	Fresh bool   // it was not there before, unless a commit that died wrote it
}

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
