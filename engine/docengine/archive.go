package docengine

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/tidwall/gjson"
	"github.com/zeebo/xxh3"
	"golang.org/x/sync/errgroup"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

// Options configure an Archive.
type Options struct {
	Shown    string        // the URL without its password, for errors
	ReadOnly bool          // the archive changes nothing
	Lease    time.Duration // for NewLocked: after so long without a heartbeat a loader counts as dead
	Design   design.Name
	// Writers is the number of concurrent write requests; 0 = documents are read and written one after
	// the other, and a Body is valid only during Write.
	Writers         int
	SeparateRecords bool         // the store stores each record separately: a commit writes only its own records of a document
	List            bool         // for NewLocked: keep lists of all ids, for a store that cannot list its documents; see IDs
	Log             *slog.Logger // nil = discard
}

// Archive is the part of an archive that all stores of documents share: subsets, catalog,
// marks, loading. The engine adds Phrase, Ask and the other methods.
type Archive struct {
	store Store
	o     Options

	cache   sync.Map  // by subset: the cachedCatalog that was last read
	turns   sync.Map  // by subset: a channel that is full while a loader of this process commits; see turn
	batches sync.Pool // of *record.Batch, reused by Answer
}

// cachedCatalog is a catalog and the version of its subset, which is the number of the commit that
// stored it. Nobody changes it.
type cachedCatalog struct {
	version int64
	catalog *design.Catalog
	text    uint64 // hash of the stored text
}

// New returns the archive of a store.
func New(s Store, o Options) *Archive {
	return &Archive{store: s, o: o}
}

// Close has nothing to close.
func (a *Archive) Close() error { return nil }

// OneOfEach returns why an archive that stores records one by one cannot store two records of one identity.
func (a *Archive) OneOfEach() string {
	if a.o.SeparateRecords {
		return "a record's primary key is its identity"
	}
	return ""
}

// Subsets lists the subsets, sorted.
func (a *Archive) Subsets(ctx context.Context) ([]string, error) {
	names, err := a.store.Subsets(ctx)
	slices.Sort(names)
	return names, err
}

// Catalog returns the subset's metadata. A subset that does not exist has an empty catalog.
func (a *Archive) Catalog(ctx context.Context, subset string) (*design.Catalog, error) {
	c, err := a.CachedCatalog(ctx, subset)
	if err != nil {
		return nil, err
	}
	copied := design.NewCatalog(subset)
	copied.Merge(c)
	return copied, nil
}

// CachedCatalog is Catalog without a copy. The caller must not change the result. It compares the texts, too: a subset
// that was dropped and loaded again may have the version of the earlier one.
func (a *Archive) CachedCatalog(ctx context.Context, subset string) (*design.Catalog, error) {
	k := a.cached(subset)
	version, text, err := a.store.Describe(ctx, subset, k.version)
	if err != nil || version == 0 {
		return design.NewCatalog(subset), err
	}
	hash := xxh3.Hash(text)
	if k.catalog != nil && version == k.version && (len(text) == 0 || hash == k.text) {
		return k.catalog, nil
	}
	c, err := design.ParseCatalog(text)
	if err != nil {
		return nil, fmt.Errorf("catalog of subset %q: %w", subset, err)
	}
	a.cache.Store(subset, cachedCatalog{version, c, hash})
	return c, nil
}

func (a *Archive) cached(subset string) cachedCatalog {
	v, _ := a.cache.Load(subset)
	k, _ := v.(cachedCatalog)
	return k
}

// HasType reports whether a subset has documents of a line type.
func (a *Archive) HasType(ctx context.Context, subset string, t *record.LineType) (bool, error) {
	c, err := a.CachedCatalog(ctx, subset)
	if err != nil {
		return false, err
	}
	return slices.Contains(slices.Collect(Types(c)), t), nil
}

// Types yields the line types of which a subset has documents.
func Types(c *design.Catalog) iter.Seq[*record.LineType] {
	return func(yield func(*record.LineType) bool) {
		last := ""
		for _, g := range c.Groups { // ordered by line type
			t, ok := record.TypeByName(g.LineType)
			if ok && g.LineType != last && !yield(t) {
				return
			}
			last = g.LineType
		}
	}
}

// Marks lists the loaded files.
func (a *Archive) Marks(ctx context.Context, subset string) ([]archive.Mark, error) {
	return a.store.Marks(ctx, subset)
}

// MarksOf finds the marks of files, if the store can.
func (a *Archive) MarksOf(ctx context.Context, subset string, files []archive.Mark) ([]archive.Mark, error) {
	if f, can := a.store.(archive.MarkFinder); can {
		return f.MarksOf(ctx, subset, files)
	}
	return nil, errors.ErrUnsupported
}

// NumberedMark is a mark with its place in the order of loading. Stores that store each mark
// separately use it.
type NumberedMark struct {
	Version int64        `json:"version,omitempty"` // number of its commit
	Number  int64        `json:"number"`
	Mark    archive.Mark `json:"mark"`
}

// ParseNumberedMark parses the text of a NumberedMark. Each load parses the marks of all files, several
// thousand for a year. encoding/json takes four times as long.
func ParseNumberedMark(text []byte) (m NumberedMark, err error) {
	if !gjson.ValidBytes(text) {
		return m, fmt.Errorf("mark %q is not JSON", text)
	}
	gjson.ParseBytes(text).ForEach(func(name, value gjson.Result) bool {
		switch name.Str {
		case "version":
			m.Version, err = parseInteger(value)
		case "number":
			m.Number, err = parseInteger(value)
		case "mark":
			value.ForEach(func(name, value gjson.Result) bool {
				err = setMark(&m.Mark, name.Str, value)
				return err == nil
			})
		}
		return err == nil
	})
	if err != nil {
		err = fmt.Errorf("mark %q: %w", text, err)
	}
	return m, err
}

// setMark sets the field of a mark that has this name in JSON.
func setMark(m *archive.Mark, name string, value gjson.Result) (err error) {
	switch name {
	case "path":
		m.Path = value.String()
	case "digest":
		m.Digest = value.String()
	case "bytes":
		m.Bytes, err = parseInteger(value)
	case "read":
		m.Read, err = parseInteger(value)
	case "stored":
		m.Stored, err = parseInteger(value)
	case "replaced":
		m.Replaced, err = parseInteger(value)
	case "quarantined":
		m.Quarantined, err = parseInteger(value)
	case "loaded":
		m.Loaded, err = time.Parse(time.RFC3339Nano, value.Str)
	case "modified":
		m.Modified, err = time.Parse(time.RFC3339Nano, value.Str)
	}
	return err
}

func parseInteger(value gjson.Result) (int64, error) { return strconv.ParseInt(value.Raw, 10, 64) }

// ParseMarks parses texts of NumberedMark and sorts the marks in the order of loading.
func ParseMarks(texts []string) ([]archive.Mark, error) {
	all := make([]NumberedMark, len(texts))
	var err error
	for i := range texts {
		if all[i], err = ParseNumberedMark([]byte(texts[i])); err != nil {
			return nil, err
		}
	}
	marks, _ := SortMarks(all)
	return marks, nil
}

// SortMarks sorts marks in the order of loading and returns the next number.
func SortMarks(all []NumberedMark) (marks []archive.Mark, next int64) {
	slices.SortFunc(all, func(x, y NumberedMark) int {
		return cmp.Or(cmp.Compare(x.Version, y.Version), cmp.Compare(x.Number, y.Number))
	})
	marks = make([]archive.Mark, len(all))
	for i := range all {
		marks[i], next = all[i].Mark, max(next, all[i].Number+1)
	}
	return Latest(marks), next
}

// Latest keeps the last mark of each file, and drops the files whose last mark is a removal.
func Latest(all []archive.Mark) []archive.Mark {
	seen := map[string]bool{}
	out := make([]archive.Mark, 0, len(all))
	for _, m := range slices.Backward(all) {
		if !seen[m.Digest] {
			seen[m.Digest] = true
			out = append(out, m)
		}
	}
	slices.Reverse(out)
	return archive.WithoutRemovals(out)
}

// NewQuery returns the query of a question, to which the engine adds its text or keys, and the
// catalog, which the caller must not change. The error wraps flavour.ErrCannotExpress if the design
// does not offer the flavour.
func (a *Archive) NewQuery(
	ctx context.Context, d engine.Driver, n design.Name, q *question.Question, f flavour.Name,
) (*archive.Query, *design.Catalog, error) {
	if err := archive.CanExpress(&d, n, f, q); err != nil {
		return nil, nil, err
	}
	c, err := a.CachedCatalog(ctx, q.Subset)
	return &archive.Query{Question: q, Flavour: f}, c, err
}

// Plan returns the data that Phrase has put into the query for Ask.
func Plan[T any](q *archive.Query) (p T, err error) {
	if len(q.Args) > 0 {
		if p, ok := q.Args[0].(T); ok {
			return p, nil
		}
	}
	return p, fmt.Errorf("the query of %s was phrased by another engine", q.Question.Name)
}

// Series is a header that a question selects.
type Series struct {
	Header record.Header
	Prefix string        // of its ids: everything before the epoch
	Group  *design.Group // contains its times
}

// SeriesOf lists the series that a question can match, without duplicates, sorted by prefix.
func SeriesOf(c *design.Catalog, q *question.Question) (all []Series) {
	var buf []byte
	for h, g := range c.Series(q) {
		buf = design.AppendSeries(buf[:0], q.Type, q.Subset, h)
		all = append(all, Series{*h, string(buf), g})
	}
	slices.SortFunc(all, func(x, y Series) int { return cmp.Compare(x.Prefix, y.Prefix) })
	return slices.CompactFunc(all, func(x, y Series) bool { return x.Prefix == y.Prefix })
}

// Lookup contains the header and the valid time for each id that a question reads.
type Lookup struct {
	Headers []record.Header
	Places  []Place // one for each of Query.Keys
}

// Place is the header and the valid time of a document.
type Place struct {
	Head  uint32 // index of Lookup.Headers
	Valid int64
}

// String keeps thousands of keys out of printed query arguments.
func (l *Lookup) String() string { return fmt.Sprintf("%d ids", len(l.Places)) }

// Derive sets out.Keys to the ids of the documents that its question can match, without
// duplicates, by series and time. It sets out.DeriveTime to the time that it took.
func Derive(c *design.Catalog, out *archive.Query) *Lookup {
	start := time.Now()
	q, l := out.Question, &Lookup{}
	for i, s := range SeriesOf(c, q) {
		l.Headers = append(l.Headers, s.Header)
		times := s.Group.Times(q)
		slices.Sort(times)
		for _, v := range slices.Compact(times) {
			if q.Valid.Contains(v) && q.TimeFilter.AcceptsValid(v) {
				out.Keys = append(out.Keys, s.Prefix+strconv.FormatInt(v, 10))
				l.Places = append(l.Places, Place{uint32(i), v})
			}
		}
	}
	out.DeriveTime = time.Since(start)
	return l
}

// Answer calls read, which appends records to a batch with these headers. Answer then passes
// the records to the builder in the question's order, and omits those that its TimeFilter rejects.
func (a *Archive) Answer(
	q *question.Question, headers []record.Header, into *answer.Builder, read func(rows *record.Batch) error,
) error {
	rows, ok := a.batches.Get().(*record.Batch)
	if !ok {
		rows = &record.Batch{}
	}
	defer a.batches.Put(rows)
	rows.Reset(q.Type, "")
	for _, h := range headers {
		rows.AddHeader(h)
	}
	if err := read(rows); err != nil {
		return err
	}
	answer.Arrange(q, answer.AcceptedRows(q, rows), into)
	return nil
}

// InOrder calls get for batches of ids, each of size ids, with at most width calls in flight.
// It passes the results to each in the order of ids, one at a time. first is the index of a batch's
// first id.
func InOrder[T any](
	ctx context.Context, ids []string, size, width int,
	get func(ctx context.Context, some []string) (T, error), each func(first int, some T) error,
) error {
	group, ctx := errgroup.WithContext(ctx)
	// The replies in the channel are in the order of ids. Its size limits the calls in flight: width-1 replies wait in
	// the channel, and the receiver below waits for one.
	inFlight := make(chan chan T, max(width-1, 0))
	group.Go(func() error {
		defer close(inFlight)
		for some := range slices.Chunk(ids, size) {
			reply := make(chan T, 1)
			select {
			case inFlight <- reply:
			case <-ctx.Done():
				return ctx.Err()
			}
			group.Go(func() error {
				values, err := get(ctx, some)
				if err == nil {
					reply <- values
				}
				return err
			})
		}
		return nil
	})
	group.Go(func() error {
		first := 0
		for reply := range inFlight {
			select {
			case values := <-reply:
				if err := each(first, values); err != nil {
					return err
				}
				first += size
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	return group.Wait()
}

// EmptyPlan is the plan of a question for a line type that the subset does not have.
func EmptyPlan(q *archive.Query) archive.Plan {
	return archive.Plan{Text: fmt.Sprintf("subset %q has no %s: nothing is read", q.Question.Subset, q.Question.Type.Name)}
}

// Walk calls each for every document of a line type of a subset. doc is valid until each
// returns.
type Walk func(t *record.LineType, each func(id string, doc []byte) error) error

// Dump reads the documents of a subset, one line type after the other.
func (a *Archive) Dump(ctx context.Context, subset string, walk Walk) iter.Seq2[*record.Batch, error] {
	return archive.Dump(func(to *archive.Dumper) error {
		known, err := a.CachedCatalog(ctx, subset)
		if err != nil {
			return err
		}
		var b record.Batch
		var headers headerAdder
		for t := range Types(known) {
			b.Reset(t, "")
			err := walk(t, func(id string, doc []byte) error {
				if _, err := to.YieldFull(&b); err != nil {
					return err
				}
				return headers.decode(a.store, id, doc, &b)
			})
			if err == nil {
				err = to.Yield(&b)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// headerAdder adds the headers of documents to a batch, each only once if the documents of its series
// are consecutive.
type headerAdder struct {
	series string // the last id without its epoch
	head   uint32 // index of its header in the batch
}

// add returns the valid time of a document and sets head to its header.
func (p *headerAdder) add(id string, b *record.Batch) (int64, error) {
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

// decode appends the records of a document to a batch, with its header.
func (p *headerAdder) decode(c Codec, id string, doc []byte, b *record.Batch) error {
	valid, err := p.add(id, b)
	if err != nil {
		return err
	}
	return DocumentError(id, c.Decode(doc, b, p.head, valid))
}

// ErrDamaged is the error of a document that has changed since it was written.
var ErrDamaged = errors.New("is damaged")

// DocumentError adds the id of a document to its error.
func DocumentError(id string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("document %q %w: %w", id, ErrDamaged, err)
}

// Payloads is the Codec of the design keyvalue, with the format of design.AppendPayload. The
// header and valid time are in the id.
type Payloads struct{}

// Append implements Codec.
func (Payloads) Append(dst []byte, _, _ string, rows *record.Batch) []byte {
	return design.AppendPayload(dst, rows, 0, rows.Len())
}

// Decode implements Codec.
func (Payloads) Decode(payload []byte, into *record.Batch, head uint32, valid int64) error {
	return design.DecodePayload(payload, into, head, valid)
}

// Prefixes returns the prefixes of the ids of a line type: one for each value of the header column version (V01 …).
func (a *Archive) Prefixes(ctx context.Context, subset string, t *record.LineType) (out []string, err error) {
	c, err := a.CachedCatalog(ctx, subset)
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

// CountPayloads counts pairs, and their records by the count that each payload begins with.
func (a *Archive) CountPayloads(ctx context.Context, subset string, walk Walk) (archive.Contents, error) {
	c := archive.Contents{Records: map[string]int64{}, Object: "pairs"}
	known, err := a.CachedCatalog(ctx, subset)
	if err != nil {
		return c, err
	}
	for t := range Types(known) {
		err := walk(t, func(id string, payload []byte) error {
			n, width := binary.Uvarint(payload[min(1, len(payload)):]) // the first byte is the version of the layout
			if width <= 0 {
				return DocumentError(id, errors.New("its payload has no count"))
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
