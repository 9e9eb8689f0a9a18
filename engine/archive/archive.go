package archive

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/internal/build"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

// Database opens archives of one design. The error wraps engine.ErrNoDesign if the
// engine does not offer the design.
type Database interface {
	Open(ctx context.Context, d design.Name) (Archive, error)
}

// Archive stores the records of one or more subsets in one design. All methods may be
// called concurrently. Methods that wait return the error of ctx soon after it is done.
type Archive interface {
	// Loader opens a loader for a subset, and creates a subset that does not exist.
	// An embedded engine may allow one loader at a time: a second one is an error.
	Loader(ctx context.Context, subset string) (Loader, error)

	// Marks lists the files that are loaded completely, in the order of loading. It
	// lists none for a subset that does not exist. There is one mark per file content
	// (Mark.Digest): the mark of a file that is loaded again replaces the earlier one.
	Marks(ctx context.Context, subset string) ([]Mark, error)

	// Catalog returns the subset's metadata. A subset that does not exist has the
	// catalog of an empty one.
	Catalog(ctx context.Context, subset string) (*design.Catalog, error)

	// Subsets lists the subsets, sorted.
	Subsets(ctx context.Context) ([]string, error)

	// Contents counts the records and objects of a subset. All counts of a subset that
	// does not exist are zero.
	Contents(ctx context.Context, subset string) (Contents, error)

	// Phrase writes a question as a query of the engine. The error wraps
	// flavour.ErrCannotExpress if the flavour cannot express the question. A subset that
	// does not exist has an empty answer and is no error.
	Phrase(ctx context.Context, q *question.Question, f flavour.Name) (*Query, error)

	// Ask sends a query, resets the builder, and adds every row of the reply to it.
	Ask(ctx context.Context, q *Query, into *answer.Builder) error

	// Explain returns how the engine executes a query. It may run the query.
	Explain(ctx context.Context, q *Query) (Plan, error)

	// Dump yields every record of a subset, in any order. A batch is valid until the next
	// step. Callers compute digests from it.
	Dump(ctx context.Context, subset string) iter.Seq2[*record.Batch, error]

	// Size returns the archive's size on disk in bytes, after the engine has written its memory to disk.
	Size(ctx context.Context) (int64, error)

	Close() error
}

// Checker is an Archive that can check the structures below its records, such as pages and
// indexes. Check returns one line for each damage.
type Checker interface {
	Check(ctx context.Context, subset string) (problems []string, err error)
}

// Query is the form of a question that is sent to one engine. The caller can send it any number of times.
type Query struct {
	Question   *question.Question
	Flavour    flavour.Name
	Text       string             // the query text, or a description if the engine has no query language; a run folder stores it in plans/
	Args       []any              // bound to the placeholders of Text
	Keys       []string           // derived ids, for keys and keys-native
	LeadCoding flavour.LeadCoding // how the engine returns fcst_lead; flavour.Query sets it

	DeriveTime time.Duration // the client's time for deriving the keys
	ServerTime time.Duration // set by Ask: the time that the server reports, 0 = none
}

// PhraseBest phrases a question in the last of the offered flavours that can express it: engines list the most general
// flavour first and the most specific one last. The error wraps flavour.ErrCannotExpress if no flavour can.
func PhraseBest(ctx context.Context, a Archive, q *question.Question, offered []flavour.Name) (query *Query, err error) {
	err = flavour.ErrCannotExpress
	for i := len(offered) - 1; i >= 0 && errors.Is(err, flavour.ErrCannotExpress); i-- {
		query, err = a.Phrase(ctx, q, offered[i])
	}
	return query, err
}

// Plan describes how an engine executes a query.
type Plan struct {
	Text   string   // for people, as the engine prints it
	Access []Access // the steps that reach stored data, in the order of the text; none for an empty archive
}

// Access is one step of a plan that reaches stored rows, documents or pairs.
type Access struct {
	Object string `json:"object"` // the table, collection or keyspace
	Method Method `json:"method"`
	Index  string `json:"index,omitempty"` // the index's name; "" = none is used

	// Examined is the number of rows that the step read, including discarded ones, and Kept
	// the number that remained. If Counted is set, the engine counted them (in a parallel
	// scan they may be averages of its workers, exact to half a row each). Otherwise the
	// engine estimated them. -1 = the engine reports neither.
	Examined int64 `json:"examined"`
	Kept     int64 `json:"kept"`
	Counted  bool  `json:"measured"`
}

// Method is an access method.
type Method string

// The methods.
const (
	FullScan   Method = "full scan"   // every row, independent of the question
	PrunedScan Method = "pruned scan" // the engine skips blocks whose bounds exclude every row of the result
	IndexScan  Method = "index scan"  // one or several ranges of an index
	KeyLookup  Method = "key lookup"  // single entries by their complete keys
)

// Contents counts what a subset contains.
type Contents struct {
	Records  map[string]int64 // by line type
	Objects  int64            // documents, pairs or rows, as the design stores them
	Object   string           // "documents", "pairs", "rows"
	Database string           // the server's name for the database that contains the subset; "" = the database of the URL
}

// Total is the number of records of all line types.
func (c Contents) Total() int64 { return lists.Sum(maps.Values(c.Records)) }

// Loader stores records in one subset. One goroutine uses it.
//
// Nobody sees the records of Add before Commit returns. After a crash the archive
// contains all of a commit or nothing of it.
type Loader interface {
	// Add takes records of one line type and one file, with one or more headers. Between
	// two commits no two records have the same identity, unless their batches have
	// KeepConflicts set: then their values differ. The caller leaves the batch unchanged until Commit
	// returns.
	Add(ctx context.Context, b *record.Batch) error

	// Commit stores in one transaction:
	//   - the records that were added since the last commit; a record replaces an
	//     existing one of the same identity,
	//   - their catalog, merged with the catalog of the archive,
	//   - the marks of the files that are complete with this commit.
	// The transaction is durable when Commit returns. After an error the loader has no
	// records: the caller adds them again.
	Commit(ctx context.Context, c Commit) (CommitResult, error)

	// Close drops the records that were not committed.
	Close() error
}

// Commit is what one commit stores besides records.
type Commit struct {
	Catalog  *design.Catalog // catalog of the records that were added since the last commit; nil = no records were added
	Complete []Mark          // files whose records are all in this commit or an earlier one

	// ReplacedCatalog is the stored catalog, if Catalog describes the complete archive and replaces it. If a load has
	// changed the stored catalog, the commit stores nothing and returns ErrChanged. nil = Catalog is merged with it.
	ReplacedCatalog *design.Catalog

	// IsProtected reports whether an existing record must not be replaced. For a batch
	// with KeepConflicts set, it reports whether the archive must not store a second
	// record of that identity. A commit that would violate this stores nothing and returns
	// a *ConflictError. nil = nothing is protected.
	IsProtected func(ExistingRecord) bool
}

// CommitResult reports what a commit did.
type CommitResult struct {
	New      int64            // records that did not exist before
	Objects  int64            // documents or pairs that did not exist before; UpdateCatalog sets it for designs of rows
	Replaced map[string]int64 // by file: records that existed already; see Resolve
	Existing []ExistingRecord // the records of Replaced whose values differ, in any order; for batches with KeepConflicts set, see Resolve

	// Removed is a catalog with negative counts of the records that were replaced; see Resolve. Merged
	// into another catalog it subtracts them.
	Removed *design.Catalog

	// ShortTexts counts, by column, the texts that METviewer's tables store shortened or with
	// replaced letters. The archive also stores the complete texts.
	ShortTexts map[string]int64
}

// UpdateCatalog updates the stored catalog of an archive to the state after the commit.
// An engine calls it once and stores the catalog with the records. complete are the marks
// of the commit after CountReplaced, and old are the stored marks of the same files.
func (c *Commit) UpdateCatalog(stored *design.Catalog, n design.Name, s *CommitResult, complete, old []Mark) {
	if n.Rows() {
		s.Objects = s.New
	}
	if c.ReplacedCatalog != nil {
		stored.Clear()
	}
	stored.Objects += s.Objects
	if c.Catalog != nil {
		stored.Merge(c.Catalog)
	}
	if s.Removed != nil {
		stored.Merge(s.Removed)
	}
	stored.Design, stored.Program, stored.Schema = n, build.Version(), stored.RequiredSchema()
	stored.Files.Add(SumMarks(complete))
	stored.Files.Sub(SumMarks(old))
}

// SumMarks returns the digest of marks. Its Records is their number.
func SumMarks(marks []Mark) (d record.Digest) {
	for i := range marks {
		if marks[i].isRemoval() {
			continue
		}
		text, err := json.Marshal(&marks[i])
		if err != nil {
			panic(err) // a mark has only texts, numbers and times
		}
		h := xxh3.Hash128(text)
		d.Add(record.Digest{Hi: h.Hi, Lo: h.Lo, Records: 1})
	}
	return d
}

// SameFiles returns the marks whose files also have a mark in others. It compares digests.
func SameFiles(marks, others []Mark) []Mark {
	same := lists.Set(others, func(m Mark) string { return m.Digest })
	return lists.Filter(marks, func(m Mark) bool { return same[m.Digest] })
}

// Mark states that a file is loaded completely. In every mark
// Read = Stored + Replaced + Quarantined.
type Mark struct {
	Path        string    `json:"path"`   // as given by the user
	Digest      string    `json:"digest"` // of the file's bytes: 32 hexadecimal digits (xxh3); it identifies the file, the path does not
	Bytes       int64     `json:"bytes"`
	Read        int64     `json:"read"`        // data lines
	Stored      int64     `json:"stored"`      // records that were new
	Replaced    int64     `json:"replaced"`    // records that existed already in the archive or in the load: duplicates and conflicts
	Conflicts   int64     `json:"-"`           // the conflicts among Replaced; only the load counts them
	Quarantined int64     `json:"quarantined"` // lines that could not be read
	Loaded      time.Time `json:"loaded"`
	Modified    time.Time `json:"modified,omitzero"` // the file's modification time when it was loaded; zero if a later change could have the same time (see TimestampGranularity)
}

// TimestampGranularity is the coarsest resolution of modification times: file systems count in steps of up to two
// seconds. If a file was modified less than this before it was read, a later change may leave the same time.
const TimestampGranularity = 2 * time.Second

// Unchanged reports whether a file with this size and time of change is the one that was
// loaded, without reading its bytes.
func (m *Mark) Unchanged(size int64, modified time.Time) bool {
	return !m.Modified.IsZero() && m.Bytes == size && m.Modified.Equal(modified)
}

// Times returns Modified and Loaded as one text: an interval of ISO 8601, or a time.
func (m *Mark) Times() string {
	loaded := m.Loaded.Format(time.RFC3339Nano)
	if m.Modified.IsZero() {
		return loaded
	}
	return m.Modified.Format(time.RFC3339Nano) + "/" + loaded
}

// SetTimes reads what Times wrote.
func (m *Mark) SetTimes(text string) (err error) {
	if modified, loaded, both := strings.Cut(text, "/"); both {
		text = loaded
		m.Modified, err = time.Parse(time.RFC3339Nano, modified)
	}
	if err == nil {
		m.Loaded, err = time.Parse(time.RFC3339Nano, text)
	}
	return err
}

// Removal returns the mark that removes a file's mark from an archive.
func (m Mark) Removal() Mark { return Mark{Path: m.Path, Digest: m.Digest} }

func (m *Mark) isRemoval() bool { return m.Loaded.IsZero() }

// WithoutRemovals removes the marks that Removal made. It changes marks.
func WithoutRemovals(marks []Mark) []Mark {
	return slices.DeleteFunc(marks, func(m Mark) bool { return m.isRemoval() })
}

// CountReplaced moves the records that a commit found in the archive from Stored to Replaced. An
// engine calls it on each mark of Commit.Complete before it writes the marks.
func (m *Mark) CountReplaced(s CommitResult) {
	n := s.Replaced[m.Path]
	m.Stored -= n
	m.Replaced += n
}

// BuildCatalog builds the catalog of a subset by reading all its records.
func BuildCatalog(ctx context.Context, a Archive, subset string) (*design.Catalog, error) {
	c := design.NewCatalog(subset)
	for b, err := range a.Dump(ctx, subset) {
		if err != nil {
			return nil, err
		}
		c.Add(b)
	}
	return c, nil
}

// DumpRows is the number of records in a batch of a dump.
const DumpRows = 4096

// errStopped ends a dump whose caller wants no more records.
var errStopped = errors.New("the dump was stopped")

// Dump implements Archive.Dump with walk, which visits the records of an archive and passes them to the Dumper. walk
// must end with an error after the first error of the Dumper. A caller who stops early causes no error.
func Dump(walk func(d *Dumper) error) iter.Seq2[*record.Batch, error] {
	return func(yield func(*record.Batch, error) bool) {
		d := Dumper{yield: yield}
		if err := walk(&d); err != nil && !d.isStopped { // if the context is canceled, err may differ from errStopped
			yield(nil, err)
		}
	}
}

// Dumper yields the batches of a dump.
type Dumper struct {
	yield     func(*record.Batch, error) bool
	isStopped bool
}

// YieldFull yields and empties a batch with at least DumpRows records. emptied reports whether it did; the batch then
// has no headers.
func (d *Dumper) YieldFull(b *record.Batch) (emptied bool, err error) {
	if b.Len() < DumpRows {
		return false, nil
	}
	return true, d.Yield(b)
}

// Yield yields a batch, if it has records, and empties it.
func (d *Dumper) Yield(b *record.Batch) error {
	if b.Len() > 0 && !d.yield(b, nil) {
		d.isStopped = true
		return errStopped
	}
	b.Reset(b.Type, "")
	return nil
}

// ExistingRecord is a record of the archive that has the identity of an incoming one.
type ExistingRecord struct {
	Key        record.Key    // of both
	Stored     record.Digest // of the record in the archive
	Incoming   record.Digest // of the record in the commit
	Difference string        // the first value in which the incoming record differs; "" = none
	Reverse    string        // the same value as Difference, described for the record in the archive
}

// IsDuplicate reports whether both records have the same values.
func (c *ExistingRecord) IsDuplicate() bool { return c.Stored == c.Incoming }

// ConflictError is the error of a commit that would have replaced a record that
// Commit.IsProtected protects, or stored a record twice. The commit stored nothing.
type ConflictError struct{ Records []ExistingRecord }

func (e *ConflictError) Error() string {
	return fmt.Sprintf("the commit stored nothing: the archive has %d protected records with the same identity", len(e.Records))
}

// Resolve corrects the result for row j of b, a record of file that has the identity of row i of stored, a record of
// the archive. Loaders first count every record as New; then they call Resolve for each that has an existing one.
//
// Row j replaces row i: Resolve counts it as Replaced, not as New, and adds both to Existing if their values differ.
// If b has KeepConflicts set, nothing is replaced: both stay, and Resolve only adds them to Existing, duplicates too.
func (s *CommitResult) Resolve(file string, stored *record.Batch, i int, b *record.Batch, j int) {
	same := b.EqualValues(j, stored, i)
	if !b.KeepConflicts {
		s.New--
		s.Replaced[file]++
		if s.Removed == nil {
			s.Removed = design.NewCatalog("")
		}
		s.Removed.Drop(stored, i)
		if same {
			return
		}
	}
	c := ExistingRecord{}
	var h record.Hasher
	h.SetRow(b, j)
	c.Incoming = h.Digest(j)
	h.SetRow(stored, i)
	if c.Key, c.Stored = h.KeyAndDigest(i); !same {
		c.Difference, c.Reverse = b.Difference(j, stored, i), stored.Difference(i, b, j)
	}
	s.Existing = append(s.Existing, c)
}

// CountShortText counts a text in ShortTexts.
func (s *CommitResult) CountShortText(column string) {
	if s.ShortTexts == nil {
		s.ShortTexts = map[string]int64{}
	}
	s.ShortTexts[column]++
}

// RecordIndex finds records by their identity.
type RecordIndex = record.Multimap[Position]

// Position is a row of a batch.
type Position struct {
	Batch *record.Batch
	I     int
}

// NewRecordIndex indexes the records of batches by identity.
func NewRecordIndex(batches []*record.Batch) *RecordIndex {
	index := &RecordIndex{}
	var h record.Hasher
	for _, b := range batches {
		h.SetBatch(b)
		for i := range b.Len() {
			index.Put(h.Key(i), Position{b, i})
		}
	}
	return index
}

// ResolveSome calls Resolve for the records of stored that the index has, and returns
// their rows.
func (s *CommitResult) ResolveSome(stored *record.Batch, index *RecordIndex) (rows []int) {
	var h record.Hasher
	h.SetBatch(stored)
	for i := range stored.Len() {
		found := false
		for p := range index.All(h.Key(i)) {
			s.Resolve(p.Batch.File, stored, i, p.Batch, p.I)
			found = true
		}
		if found {
			rows = append(rows, i)
		}
	}
	return rows
}

// Resolver returns a function that calls Resolve for every record of a dump. A record without an
// incoming one in batches is an error.
func (s *CommitResult) Resolver(batches []*record.Batch) func(stored iter.Seq2[*record.Batch, error]) error {
	var index *RecordIndex // built for the first existing record
	return func(stored iter.Seq2[*record.Batch, error]) error {
		for b, err := range stored {
			if err != nil {
				return err
			}
			if index == nil {
				index = NewRecordIndex(batches)
			}
			if len(s.ResolveSome(b, index)) < b.Len() {
				return fmt.Errorf("internal error: the engine returned a %s record whose identity is not in the commit", b.Type.Name)
			}
		}
		return nil
	}
}

// ErrChanged means that a commit does not fit the archive, because another load has changed the archive meanwhile.
var ErrChanged = errors.New("another load has changed the subset meanwhile")

// Check returns a *ConflictError if the commit would replace a record that IsProtected protects, or store a duplicate of
// an existing record. It returns ErrChanged if the stored catalog is not ReplacedCatalog, or if the archive keeps
// conflicts and the commit would replace them. A loader calls it before anybody can see what it wrote, and while no other
// loader can change the stored catalog.
func (c *Commit) Check(s *CommitResult, stored *design.Catalog) error {
	if old := c.ReplacedCatalog; old != nil && (old.Digest() != stored.Digest() || old.Files != stored.Files) {
		return ErrChanged
	}
	if c.ReplacedCatalog == nil && stored.KeepsConflicts && c.Catalog != nil && len(c.Catalog.Groups) > 0 && !c.Catalog.KeepsConflicts {
		return ErrChanged
	}
	// A duplicate is in Existing only if its batch has KeepConflicts set; see Resolve.
	refused := slices.DeleteFunc(slices.Clone(s.Existing), func(o ExistingRecord) bool {
		return !o.IsDuplicate() && (c.IsProtected == nil || !c.IsProtected(o))
	})
	if len(refused) == 0 {
		return nil
	}
	return &ConflictError{refused}
}

// Singular is an Archive that may be unable to store several records of one identity. OneOfEach returns the
// reason; "" = it can store several. If there is a reason, callers must not add a batch with KeepConflicts set to
// its loader.
type Singular interface{ OneOfEach() string }

// OneOfEach returns why an archive can store only one record of an identity; "" = it can
// store several.
func OneOfEach(a Archive) string {
	if s, ok := a.(Singular); ok {
		return s.OneOfEach()
	}
	return ""
}
