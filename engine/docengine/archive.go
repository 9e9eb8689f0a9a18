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
	"golang.org/x/sync/errgroup"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

// Options of an Archive.
type Options struct {
	Shown    string        // the URL without its password, for errors
	ReadOnly bool          // nothing is changed
	Lease    time.Duration // of NewLocked: how long a loader gives no sign of life before it counts as dead
	Writers  int           // requests that write documents at a time; 0 = they are read and written as they come, and no Body lives longer
	Apart    bool          // records are stored one by one: of a document only those are written that a commit brings
	Design   design.Name
	List     bool         // of NewLocked: keep lists of all ids, for a store that cannot list what it holds: see IDs
	Log      *slog.Logger // nil = discard
}

// Archive is the part of an archive that every store of documents shares:
// subsets, catalog, marks, loading. The engine adds Phrase, Ask and the rest.
type Archive struct {
	store Store
	o     Options

	mu      sync.Mutex
	known   map[string]known         // catalogs as last read, by subset
	turning map[string]chan struct{} // by subset: taken by the loader of this process that commits
	batches sync.Pool                // of *record.Batch, used again by Answer
}

// known is a catalog and the commit that brought it; it is never changed.
type known struct {
	version int64
	catalog *design.Catalog
}

// New returns the archive in a store.
func New(s Store, o Options) *Archive {
	return &Archive{store: s, o: o, known: map[string]known{}, turning: map[string]chan struct{}{}}
}

// Close has nothing to give up.
func (a *Archive) Close() error { return nil }

// OneOfEach says why records that are stored one by one are so under their identity.
func (a *Archive) OneOfEach() string {
	if a.o.Apart {
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

// Catalog is the subset's metadata; that of an empty subset if it does not exist.
func (a *Archive) Catalog(ctx context.Context, subset string) (*design.Catalog, error) {
	c, err := a.Known(ctx, subset)
	if err != nil {
		return nil, err
	}
	own := design.NewCatalog(subset)
	own.Merge(c)
	return own, nil
}

// Known is Catalog without a copy: it must not be changed.
func (a *Archive) Known(ctx context.Context, subset string) (*design.Catalog, error) {
	k := a.last(subset)
	version, text, err := a.store.Describe(ctx, subset, k.version)
	if err != nil || version == 0 {
		return design.NewCatalog(subset), err
	}
	if k.catalog != nil && version == k.version {
		return k.catalog, nil
	}
	c, err := design.ParseCatalog(text)
	if err != nil {
		return nil, fmt.Errorf("catalog of subset %q: %w", subset, err)
	}
	a.keep(subset, known{version, c})
	return c, nil
}

func (a *Archive) last(subset string) known {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.known[subset]
}

func (a *Archive) keep(subset string, k known) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.known[subset] = k
}

// Holds reports whether a subset has documents of a line type.
func (a *Archive) Holds(ctx context.Context, subset string, t *record.LineType) (bool, error) {
	c, err := a.Known(ctx, subset)
	if err != nil {
		return false, err
	}
	for held := range Types(c) {
		if held == t {
			return true, nil
		}
	}
	return false, nil
}

// Types walks the line types that a subset has documents of.
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

// MarksOf finds the marks of files, where the store can.
func (a *Archive) MarksOf(ctx context.Context, subset string, files []archive.Mark) ([]archive.Mark, error) {
	if f, can := a.store.(archive.Finder); can {
		return f.MarksOf(ctx, subset, files)
	}
	return nil, errors.ErrUnsupported
}

// Marked is a mark as stores keep it that keep each for itself: with its place
// in the order of loading.
type Marked struct {
	Version int64        `json:"version,omitempty"` // of its commit
	Number  int64        `json:"number"`
	Mark    archive.Mark `json:"mark"`
}

// ParseMarked reads the text of a Marked. Each load reads those of all files, a
// year's by the thousand: encoding/json takes four times as long for them.
func ParseMarked(text []byte) (m Marked, err error) {
	if !gjson.ValidBytes(text) {
		return m, fmt.Errorf("mark %q is no JSON", text)
	}
	gjson.ParseBytes(text).ForEach(func(name, value gjson.Result) bool {
		switch name.Str {
		case "version":
			m.Version, err = whole(value)
		case "number":
			m.Number, err = whole(value)
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

// setMark sets the field of a mark that has a name in JSON.
func setMark(m *archive.Mark, name string, value gjson.Result) (err error) {
	switch name {
	case "path":
		m.Path = value.String()
	case "digest":
		m.Digest = value.String()
	case "bytes":
		m.Bytes, err = whole(value)
	case "read":
		m.Read, err = whole(value)
	case "stored":
		m.Stored, err = whole(value)
	case "replaced":
		m.Replaced, err = whole(value)
	case "quarantined":
		m.Quarantined, err = whole(value)
	case "loaded":
		m.Loaded, err = time.Parse(time.RFC3339Nano, value.Str)
	case "modified":
		m.Modified, err = time.Parse(time.RFC3339Nano, value.Str)
	}
	return err
}

func whole(value gjson.Result) (int64, error) { return strconv.ParseInt(value.Raw, 10, 64) }

// ParseMarks reads the texts of Marked and puts them into the order of loading.
func ParseMarks(texts []string) ([]archive.Mark, error) {
	all := make([]Marked, len(texts))
	var err error
	for i := range texts {
		if all[i], err = ParseMarked([]byte(texts[i])); err != nil {
			return nil, err
		}
	}
	marks, _ := ByNumber(all)
	return marks, nil
}

// ByNumber puts marks into the order of loading, and tells the next number.
func ByNumber(all []Marked) (marks []archive.Mark, next int64) {
	slices.SortFunc(all, func(x, y Marked) int {
		return cmp.Or(cmp.Compare(x.Version, y.Version), cmp.Compare(x.Number, y.Number))
	})
	marks = make([]archive.Mark, len(all))
	for i := range all {
		marks[i], next = all[i].Mark, max(next, all[i].Number+1)
	}
	return Latest(marks), next
}

// Latest drops marks of files that were loaded again later.
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
	return archive.LoadedMarks(out)
}

// Phrasing begins the phrasing of a question for an engine's design: the error
// wraps flavour.ErrCannotExpress where it offers no such flavour. The catalog
// must not be changed.
func (a *Archive) Phrasing(ctx context.Context, d engine.Driver, n design.Name, q *question.Question, f flavour.Name) (*archive.Query, *design.Catalog, error) {
	if err := archive.Express(&d, n, f, q); err != nil {
		return nil, nil, err
	}
	c, err := a.Known(ctx, q.Subset)
	return &archive.Query{Question: q, Flavour: f}, c, err
}

// Plan is what Phrase has put into the query for Ask.
func Plan[T any](q *archive.Query) (p T, err error) {
	if len(q.Args) > 0 {
		if p, ok := q.Args[0].(T); ok {
			return p, nil
		}
	}
	return p, fmt.Errorf("the query of %s was phrased by another engine", q.Question.Name)
}

// Series is a header that a question asks for.
type Series struct {
	Header record.Header
	Prefix string        // of its ids: all but the epoch
	Group  *design.Group // that knows its times
}

// SeriesOf lists the series that a question can match, each once, sorted by
// their prefixes.
func SeriesOf(c *design.Catalog, q *question.Question) (all []Series) {
	var buf []byte
	for h, g := range c.Series(q) {
		buf = design.AppendSeries(buf[:0], q.Type, q.Subset, h)
		all = append(all, Series{*h, string(buf), g})
	}
	slices.SortFunc(all, func(x, y Series) int { return cmp.Compare(x.Prefix, y.Prefix) })
	return slices.CompactFunc(all, func(x, y Series) bool { return x.Prefix == y.Prefix })
}

// Lookup tells where the records of the ids belong that a question reads.
type Lookup struct {
	Headers []record.Header
	Places  []Place // of each of Query.Keys
}

// Place is header and valid time of a document.
type Place struct {
	Head  uint32 // index of Lookup.Headers
	Valid int64
}

// String keeps thousands of keys out of whatever prints a query's arguments.
func (l *Lookup) String() string { return fmt.Sprintf("%d ids", len(l.Places)) }

// Derive puts into out the ids of the documents that its question can match,
// each once, by series and time, and the time that it took.
func Derive(c *design.Catalog, out *archive.Query) *Lookup {
	began := time.Now()
	q, l := out.Question, &Lookup{}
	for i, s := range SeriesOf(c, q) {
		l.Headers = append(l.Headers, s.Header)
		times := s.Group.Times(q)
		slices.Sort(times)
		for _, v := range slices.Compact(times) {
			if q.Valid.Contains(v) && q.Clock.AdmitsValid(v) {
				out.Keys = append(out.Keys, s.Prefix+strconv.FormatInt(v, 10))
				l.Places = append(l.Places, Place{uint32(i), v})
			}
		}
	}
	out.Derive = time.Since(began)
	return l
}

// Answer restores the order of the records that read appends to a batch, whose
// headers these are, and leaves out those at other times of day than the
// question's.
func (a *Archive) Answer(q *question.Question, headers []record.Header, into *answer.Builder, read func(rows *record.Batch) error) error {
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
	answer.Arrange(q, answer.Admitted(q, rows), into)
	return nil
}

// InOrder gets what belongs to ids in batches of a size, of which as many as
// width are under way at once, and hands them out in order, one at a time. at
// is the index of a batch's first id.
func InOrder[T any](ctx context.Context, ids []string, size, width int, get func(ctx context.Context, some []string) (T, error), each func(at int, some T) error) error {
	group, ctx := errgroup.WithContext(ctx)
	under := make(chan chan T, max(width-1, 0)) // in order; one more is being got
	group.Go(func() error {
		defer close(under)
		for some := range slices.Chunk(ids, size) {
			reply := make(chan T, 1)
			group.Go(func() error {
				values, err := get(ctx, some)
				if err == nil {
					reply <- values
				}
				return err
			})
			select {
			case under <- reply:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	group.Go(func() error {
		at := 0
		for reply := range under {
			select {
			case values := <-reply:
				if err := each(at, values); err != nil {
					return err
				}
				at += size
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	return group.Wait()
}

// Nothing is the plan of a question for a line type that a subset does not hold.
func Nothing(q *archive.Query) archive.Plan {
	return archive.Plan{Text: fmt.Sprintf("subset %q holds no %s: nothing is read", q.Question.Subset, q.Question.Type.Name)}
}

// Walk calls each for every document of a line type of a subset. The document is
// valid until each returns.
type Walk func(t *record.LineType, each func(id string, doc []byte) error) error

// Dump walks the documents of a subset, one line type after the other.
func (a *Archive) Dump(ctx context.Context, subset string, walk Walk) iter.Seq2[*record.Batch, error] {
	return archive.Dump(func(to *archive.Dumper) error {
		known, err := a.Known(ctx, subset)
		if err != nil {
			return err
		}
		var b record.Batch
		var at placer
		for t := range Types(known) {
			b.Reset(t, "")
			err := walk(t, func(id string, doc []byte) error {
				if _, err := to.YieldFull(&b); err != nil {
					return err
				}
				valid, err := at.place(id, &b)
				if err != nil {
					return err
				}
				return Damaged(id, a.store.Decode(doc, &b, at.head, valid))
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

// placer adds the headers of documents to a batch, each once where those of one
// series follow one another.
type placer struct {
	series string // the last id without its epoch
	head   uint32
}

// place returns the valid time of a document; head is then that of its header.
func (p *placer) place(id string, b *record.Batch) (int64, error) {
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

// ErrDamaged is the error of a document that is not as it was written.
var ErrDamaged = errors.New("is damaged")

// Damaged says which document an error is about.
func Damaged(id string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("document %q %w: %w", id, ErrDamaged, err)
}

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
func (a *Archive) CountPayloads(ctx context.Context, subset string, walk Walk) (archive.Contents, error) {
	c := archive.Contents{Records: map[string]int64{}, Object: "pairs"}
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
