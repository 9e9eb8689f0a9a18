package archive

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

// Database opens archives under a design. The error wraps ErrNoDesign where
// the engine does not offer it.
type Database interface {
	Open(ctx context.Context, d design.Name) (Archive, error)
}

// Archive holds the records of one or more subsets under one design. All
// methods may be called concurrently; those that wait return soon after ctx
// is done, with its error.
type Archive interface {
	// Loader opens a loader for a subset, which is made if it does not exist.
	// An embedded engine may allow one loader at a time; it says so by an error.
	Loader(ctx context.Context, subset string) (Loader, error)

	// Marks lists the files that are loaded whole, in the order of loading; none
	// for a subset that does not exist. There is one mark per Digest: that of a
	// file loaded again replaces the earlier one.
	Marks(ctx context.Context, subset string) ([]Mark, error)

	// Catalog is the subset's metadata; that of an empty subset if it does not exist.
	Catalog(ctx context.Context, subset string) (*design.Catalog, error)

	// Subsets lists the subsets, sorted.
	Subsets(ctx context.Context) ([]string, error)

	// Contents counts what a subset holds; zeros if it does not exist.
	Contents(ctx context.Context, subset string) (Contents, error)

	// Phrase puts a question into the engine's words. The error wraps
	// flavour.ErrCannotExpress where a flavour cannot put this question.
	// A subset that does not exist has an empty answer, not an error.
	Phrase(ctx context.Context, q *question.Question, f flavour.Name) (*Query, error)

	// Ask sends a query and decodes every row of the reply into the builder,
	// which the caller has not reset.
	Ask(ctx context.Context, q *Query, into *answer.Builder) error

	// Explain returns how the engine carries out a query. It may run it.
	Explain(ctx context.Context, q *Query) (Plan, error)

	// Dump walks every record of a subset, in any order, in batches that are
	// valid until the next step. It is what digests are computed from.
	Dump(ctx context.Context, subset string) iter.Seq2[*record.Batch, error]

	// Size is the archive's size on disk in bytes, after what is in memory was written.
	Size(ctx context.Context) (int64, error)

	Close() error
}

// Checker is an Archive that can look at what lies below its records, such as
// pages and indexes: what is damaged there is a line each.
type Checker interface {
	Check(ctx context.Context, subset string) (problems []string, err error)
}

// Query is a question in an engine's words, ready to be sent any number of times.
type Query struct {
	Question *question.Question
	Flavour  flavour.Name
	Text     string        // the query text, or a description where there is no language; kept in plans/
	Args     []any         // bound to the placeholders of Text
	Keys     []string      // derived ids, for keys and keys-native
	Leads    flavour.Leads // how fcst_lead comes back; that of flavour.Phrase

	Derive time.Duration // client time spent on deriving the keys
	Server time.Duration // set by Ask: the server's own time, 0 where there is none
}

// Put phrases a question in the last of the offered flavours that can express
// it; the error wraps flavour.ErrCannotExpress where none can.
func Put(ctx context.Context, a Archive, q *question.Question, offered []flavour.Name) (query *Query, err error) {
	err = flavour.ErrCannotExpress
	for i := len(offered) - 1; i >= 0 && errors.Is(err, flavour.ErrCannotExpress); i-- {
		query, err = a.Phrase(ctx, q, offered[i])
	}
	return query, err
}

// Plan is how an engine carries out a query.
type Plan struct {
	Text   string   // as the engine prints it, for people
	Access []Access // how it reaches what is stored, in the order of the text; none where nothing is stored
}

// Access is one step of a plan that reaches stored rows, documents or pairs.
type Access struct {
	Object string `json:"object"` // the table, collection or keyspace
	Method Method `json:"method"`
	Index  string `json:"index,omitempty"` // by its name; "" where none is used

	// Examined is how many rows were looked at, those that were thrown away
	// included, and Kept how many were left. They are counts of the engine where
	// Measured is set (of a parallel scan they may be means of its workers, right
	// to half a row each), otherwise its guesses; -1 = it tells neither.
	Examined int64 `json:"examined"`
	Kept     int64 `json:"kept"`
	Measured bool  `json:"measured"`
}

// Method is a way to reach what is stored.
type Method string

// The methods.
const (
	FullScan   Method = "full scan"   // every row, whatever the question
	PrunedScan Method = "pruned scan" // blocks that cannot hold an answer, by their bounds, are passed over
	IndexScan  Method = "index scan"  // a range or several of an index
	KeyLookup  Method = "key lookup"  // single entries by their whole key
)

// Contents counts what a subset holds.
type Contents struct {
	Records  map[string]int64 // by line type
	Objects  int64            // documents, pairs or rows, as the design stores them
	Object   string           // "documents", "pairs", "rows"
	Database string           // the server's own name of the database that the subset lies in; "" = that of the URL
}

// Total is the number of records of all line types.
func (c Contents) Total() int64 {
	var n int64
	for _, r := range c.Records {
		n += r
	}
	return n
}

// Loader puts records into one subset. It is used by one goroutine.
//
// What Add was given is visible to nobody before Commit, and after a crash
// either all of a commit is there or nothing of it.
type Loader interface {
	// Add takes records. Between two commits no two records that it is given
	// have the same identity, unless their batches have Keep set: then they have
	// different values. The batch stays unchanged until Commit returns; it may hold
	// records of several headers, of one line type and one file.
	Add(ctx context.Context, b *record.Batch) error

	// Commit stores, in one transaction, the records added since the last one,
	// merged with those of the same identity (the new value stands), the
	// catalog of these records, merged with the archive's, and the marks of the
	// files that are whole with this commit. It is durable when Commit returns.
	// After an error the loader holds no record: those to be stored are added again.
	Commit(ctx context.Context, c Commit) (Stored, error)

	// Close drops what was not committed.
	Close() error
}

// Commit is what one commit brings besides records.
type Commit struct {
	Catalog *design.Catalog // of the records added since the last commit; nil = there are none
	Anew    bool            // Catalog is that of the whole archive, and takes the place of the one kept
	Done    []Mark          // files whose records are all in this commit or an earlier one

	// Refuse reports whether the archive's values of a record must not be
	// replaced by others or, of batches with Keep set, that others must not be
	// stored beside them. Where that would happen nothing is stored, and the
	// error is a *Contradicted. nil = the new values stand.
	Refuse func(Contradiction) bool
}

// Stored tells what a commit did.
type Stored struct {
	New      int64            // records that were not there before
	Objects  int64            // documents or pairs that were not there before; of a design of rows Describe sets it
	Replaced map[string]int64 // by file: records that were there already; see Meet
	Other    []Contradiction  // those of Replaced whose values are others, in any order; of batches with Keep set, see Meet

	// Gone counts, in its groups, what was there and was replaced; see Meet.
	Gone *design.Catalog

	// Cut counts, by column, the texts that the tables of another program's schema
	// hold shortened or with other letters. The archive has them whole.
	Cut map[string]int64
}

// Describe makes kept, the catalog of an archive under a design, what it is
// after the commit: an engine calls it once, and stores the catalog with the
// records. done are the marks of the commit, settled, and old those of the same
// files that were there.
func (c *Commit) Describe(kept *design.Catalog, n design.Name, s *Stored, done, old []Mark) {
	if n.Rows() {
		s.Objects = s.New
	}
	if c.Anew {
		kept.Clear()
	}
	kept.Objects += s.Objects
	if c.Catalog != nil {
		kept.Merge(c.Catalog)
	}
	if s.Gone != nil {
		kept.Merge(s.Gone)
	}
	kept.Design, kept.Program, kept.Schema = n, engine.Version(), kept.Needs()
	kept.Files.Add(SumMarks(done))
	kept.Files.Sub(SumMarks(old))
}

// SumMarks is the digest of marks, whose number is its Records.
func SumMarks(marks []Mark) (d record.Digest) {
	for i := range marks {
		if marks[i].forgotten() {
			continue
		}
		text, err := json.Marshal(&marks[i])
		if err != nil {
			panic(err) // a mark is made of texts, numbers and a time
		}
		h := xxh3.Hash128(text)
		d.Add(record.Digest{Hi: h.Hi, Lo: h.Lo, Records: 1})
	}
	return d
}

// SameFiles selects the marks of the same files as some others.
func SameFiles(marks, done []Mark) (out []Mark) {
	same := map[string]bool{}
	for i := range done {
		same[done[i].Digest] = true
	}
	for i := range marks {
		if same[marks[i].Digest] {
			out = append(out, marks[i])
		}
	}
	return out
}

// Mark says that a file is loaded whole. For every mark
// Read = Stored + Replaced + Quarantined.
type Mark struct {
	Path        string    `json:"path"`   // as given by the user
	Digest      string    `json:"digest"` // of the file's bytes: 32 hexadecimal digits (xxh3); a file is known by it, not by its path
	Bytes       int64     `json:"bytes"`
	Read        int64     `json:"read"`        // data lines
	Stored      int64     `json:"stored"`      // records that were new
	Replaced    int64     `json:"replaced"`    // records that the archive or the load had already: duplicates or conflicts
	Other       int64     `json:"-"`           // of Replaced, those with different values; known to the load alone
	Quarantined int64     `json:"quarantined"` // lines that could not be read
	Loaded      time.Time `json:"loaded"`
	Modified    time.Time `json:"modified,omitzero"` // the file's, where its bytes cannot have changed since without another one; see Unchanged
}

// settled is how long a file has been left alone when its time of change tells
// later changes apart: file systems count in ticks of up to two seconds.
const settled = 2 * time.Second

// Stamp notes when the file was loaded, and when it was changed before.
func (m *Mark) Stamp(loaded, modified time.Time) {
	if m.Loaded = loaded.UTC(); loaded.Sub(modified) > settled {
		m.Modified = modified.UTC()
	}
}

// Unchanged reports whether a file of this size, changed at this time, is taken
// for the one that was loaded, without a look at its bytes.
func (m *Mark) Unchanged(size int64, modified time.Time) bool {
	return !m.Modified.IsZero() && m.Bytes == size && m.Modified.Equal(modified)
}

// Times are Modified and Loaded in one text: an interval of ISO 8601, or a time.
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

// Forgotten is a mark that takes a file's from an archive.
func (m Mark) Forgotten() Mark { return Mark{Path: m.Path, Digest: m.Digest} }

func (m *Mark) forgotten() bool { return m.Loaded.IsZero() }

// Known are the marks that count.
func Known(marks []Mark) []Mark {
	return slices.DeleteFunc(marks, func(m Mark) bool { return m.forgotten() })
}

// Settle moves to Replaced what a commit found in the archive already. An
// engine calls it on each of Commit.Done before it writes the marks.
func (m *Mark) Settle(s Stored) {
	n := s.Replaced[m.Path]
	m.Stored -= n
	m.Replaced += n
}

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

// Contradiction is a record of which a commit brings different values than the
// archive holds.
type Contradiction struct {
	Key     record.Key    // of both
	Held    record.Digest // of the one that the archive holds
	Brought record.Digest // of the other one
	What    string        // the first value in which they differ
}

// Again reports whether there is no contradiction: what is to be kept beside
// others is there already.
func (c *Contradiction) Again() bool { return c.Held == c.Brought }

// Contradicted is the error of a commit that would have replaced values which
// Commit.Refuse protects, or stored a record twice. Nothing of it is stored.
type Contradicted struct{ Records []Contradiction }

func (e *Contradicted) Error() string {
	return fmt.Sprintf("the archive holds different values of %d records", len(e.Records))
}

// Meet takes row j of b, which came from a file, from New to Replaced: have
// holds it as row i. A loader counts all records as new and calls Meet for
// those that are there already.
//
// Where b has Keep set nothing is replaced: a record of the archive that has
// the identity stays where it is, and is noted in Other, whatever its values.
func (s *Stored) Meet(file string, have *record.Batch, i int, b *record.Batch, j int) {
	same := b.Same(j, have, i)
	if !b.Keep {
		s.New--
		s.Replaced[file]++
		if s.Gone == nil {
			s.Gone = design.NewCatalog("")
		}
		s.Gone.Drop(have, i)
		if same {
			return
		}
	}
	c := Contradiction{}
	var h record.Hasher
	h.UseRow(b, j)
	c.Brought = h.Digest(j)
	h.UseRow(have, i)
	if c.Key, c.Held = h.Both(i); !same {
		c.What = b.Difference(j, have, i)
	}
	s.Other = append(s.Other, c)
}

// Shorten counts a text in Cut.
func (s *Stored) Shorten(column string) {
	if s.Cut == nil {
		s.Cut = map[string]int64{}
	}
	s.Cut[column]++
}

// Index finds records by their identity.
type Index = record.ByKey[At]

// At is a row of a batch.
type At struct {
	Batch *record.Batch
	I     int
}

// IndexOf finds the records of batches.
func IndexOf(batches []*record.Batch) *Index {
	in := &Index{}
	var h record.Hasher
	for _, b := range batches {
		h.Use(b)
		for i := range b.Len() {
			in.Put(h.Key(i), At{b, i})
		}
	}
	return in
}

// MeetSome calls Meet for those records of have that are to be stored again,
// and returns their rows.
func (s *Stored) MeetSome(have *record.Batch, in *Index) (rows []int) {
	var h record.Hasher
	h.Use(have)
	for i := range have.Len() {
		found := false
		for p := range in.All(h.Key(i)) {
			s.Meet(p.Batch.File, have, i, p.Batch, p.I)
			found = true
		}
		if found {
			rows = append(rows, i)
		}
	}
	return rows
}

// MeetAll calls Meet for each record of have; those to be stored are in the index.
func (s *Stored) MeetAll(have *record.Batch, in *Index) error {
	if len(s.MeetSome(have, in)) < have.Len() {
		return fmt.Errorf("a record of %s is found by its columns but not by its identity", have.Type.Name)
	}
	return nil
}

// Check returns a *Contradicted where the commit found values that it must not
// replace. A loader calls it before anything that it wrote counts.
func (c *Commit) Check(s *Stored) error {
	refused := slices.DeleteFunc(slices.Clone(s.Other), func(o Contradiction) bool {
		return !o.Again() && (c.Refuse == nil || !c.Refuse(o))
	})
	if len(refused) == 0 {
		return nil
	}
	return &Contradicted{refused}
}

// Singular is an Archive that holds one record of an identity alone, as it
// stands under it, and says why; "" = it holds several. No batch with Keep set
// is added to it.
type Singular interface{ OneOfEach() string }

// OneOfEach is the archive's, where it is Singular.
func OneOfEach(a Archive) string {
	if s, ok := a.(Singular); ok {
		return s.OneOfEach()
	}
	return ""
}
