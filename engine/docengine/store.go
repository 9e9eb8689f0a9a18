package docengine

import (
	"context"
	"errors"

	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/record"
)

// ErrChanged is the error of a write that came after another client's write.
var ErrChanged = errors.New("another client has changed the document")

// Store is what an engine must provide. Callers may call all methods concurrently. Describe,
// Marks and Begin first roll back or complete commits that crashed before.
type Store interface {
	// Subsets lists the subsets, in any order.
	Subsets(ctx context.Context) ([]string, error)

	// Describe returns the version of a subset, which is the number of its last visible commit, and
	// its catalog. The version is 0 if the subset does not exist. Describe may omit the catalog if the
	// caller knows that version.
	Describe(ctx context.Context, subset string, known int64) (version int64, catalog []byte, err error)

	// Marks lists the marks of the visible commits, one per digest; see Latest.
	Marks(ctx context.Context, subset string) ([]archive.Mark, error)

	// Create creates a subset. It returns an error if the store accepts no loads, or no subset of this name.
	Create(ctx context.Context, subset string) error

	// Begin starts a commit. Commits of one process to one subset are sequential; other
	// processes may commit at the same time. The caller does everything in the context that
	// Begin returns, which may end before ctx.
	Begin(ctx context.Context, subset string) (context.Context, Commit, error)

	Codec
}

// Codec is the format of a document in a store.
type Codec interface {
	// Append appends a document. All rows have one header and valid time.
	Append(dst []byte, subset, id string, rows *record.Batch) []byte

	// Decode appends the document's records to a batch of its line type. head is the index of its header in the batch.
	Decode(doc []byte, into *record.Batch, head uint32, valid int64) error
}

// Commit is a commit in flight. Publish makes it visible. Until then readers see nothing of it, except that readers of
// a LockedStore may see some of its documents.
type Commit interface {
	// Fetch reads documents as of the start of the commit, in any order. ids may include ids
	// without a document. doc is valid until each returns. Calls of each never overlap.
	Fetch(ctx context.Context, t *record.LineType, ids []string, each func(id string, doc []byte) error) error

	// Announce announces all later writes. The caller calls it once, before Write, Remove and Publish.
	Announce(ctx context.Context, all []Change) error

	// Write writes documents. It may be called concurrently.
	Write(ctx context.Context, t *record.LineType, docs []Document) error

	// Remove removes documents that Announce listed in a Change with Removed. It returns errors.ErrUnsupported if
	// the store cannot remove documents.
	Remove(ctx context.Context, t *record.LineType, ids []string) error

	// Publish makes the commit visible: documents, catalog and marks together. They are durable
	// when it returns. It returns version 0 if another commit was first; the caller then
	// starts the commit again.
	Publish(ctx context.Context, catalog []byte, done []archive.Mark) (version int64, err error)

	// End is the last call. It frees the resources of Begin and, if the commit is not
	// visible, removes what it wrote. err is the reason of the failure. End returns it together
	// with its own error.
	End(ctx context.Context, visible bool, err error) error
}

// Change is the announced writes of one line type.
type Change struct {
	Type     *record.LineType
	IDs      []string          // without duplicates, in the order of writing
	Existing map[string][]byte // the existing documents with these ids; empty if Options.Writers is 0 and Removed is false
	Removed  bool              // the commit removes these documents
}

// Document is an id and its stored document.
type Document struct {
	ID    string
	Body  []byte // in the format of Store.Append
	Fresh bool   // no visible commit wrote the document: it is new, or a crashed commit wrote it
}

// SingleDocumentStore is a database that changes one document at a time. NewLocked makes a Store of it.
// Callers may call all methods concurrently. Writes are durable when they return.
type SingleDocumentStore interface {
	Meta
	Documents
}

// Meta stores small named texts: the state of a subset, its lock, marks and undo documents.
type Meta interface {
	// Load reads a text that Swap writes; rev is 0 if it does not exist.
	Load(ctx context.Context, name string) (text []byte, rev int64, err error)

	// Swap writes a text if its revision is still rev (0 = it does not exist yet) and returns
	// the new revision. Otherwise the error wraps ErrChanged. Two clients never succeed with
	// the same rev.
	Swap(ctx context.Context, name string, text []byte, rev int64) (int64, error)

	// Put writes a text, whether it exists or not. Get reads such texts and omits missing
	// ones. Delete ignores missing texts.
	Put(ctx context.Context, name string, text []byte) error
	Get(ctx context.Context, names []string) (map[string][]byte, error)
	Delete(ctx context.Context, names []string) error
}

// Documents stores documents by their ids; each line type of a subset has its own documents.
type Documents interface {
	// Prepare creates the collection and indexes for documents of t. It may be called again.
	Prepare(ctx context.Context, subset string, t *record.LineType) error

	// Fetch is like Commit.Fetch, and Write like Commit.Write.
	Fetch(ctx context.Context, subset string, t *record.LineType, ids []string, each func(id string, doc []byte) error) error
	Write(ctx context.Context, subset string, t *record.LineType, docs []Document) error

	// Remove removes documents and ignores missing ones.
	Remove(ctx context.Context, subset string, t *record.LineType, ids []string) error

	Codec
}
