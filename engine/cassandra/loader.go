package cassandra

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"sync"
	"unicode/utf8"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
	"github.com/zeebo/xxh3"
	"golang.org/x/sync/errgroup"

	"barograph/design"
	"barograph/engine"
	"barograph/fault"
	"barograph/record"
)

// Loader opens a loader; any number of them may work at once.
func (a *archive) Loader(ctx context.Context, subset string) (engine.Loader, error) {
	if a.readOnly {
		return nil, &fault.Error{Setting: "cassandra", Err: engine.ErrReadOnly, Cure: "open it without --read-only"}
	}
	if !utf8.ValidString(subset) {
		return nil, &fault.Error{Setting: "subset", Problem: strconv.Quote(subset) + " is a name that Barograph's keys cannot hold: it is no UTF-8 text", Cure: "name it otherwise"}
	}
	if sync := a.setting(ctx, "commitlog_sync"); sync == "periodic" {
		a.log.Warn("a commit is not durable on this server", "durability", durability(sync))
	}
	return &loader{archive: a, subset: subset}, ctx.Err()
}

type loader struct {
	*archive
	subset string
	groups design.Groups
}

// Add groups the records into documents.
func (l *loader) Add(ctx context.Context, b *record.Batch) error {
	l.groups.Add(b)
	return ctx.Err()
}

// Close drops what was not committed.
func (l *loader) Close() error {
	l.groups.Reset()
	return nil
}

// Commit writes the records under a number of their own and then has that
// number count; see the package comment. It begins anew where another loader
// was faster.
func (l *loader) Commit(ctx context.Context, c engine.Commit) (engine.Stored, error) {
	defer l.Close() //nolint:errcheck // it forgets the records, whatever became of them
	done, err := l.turn(ctx, l.subset)
	if err != nil {
		return engine.Stored{}, err
	}
	defer done()
	for {
		t := &attempt{loader: l, stored: engine.Stored{Replaced: map[string]int64{}}, units: map[unit]bool{}}
		won, err := t.try(ctx, &c)
		if err != nil {
			return engine.Stored{}, fmt.Errorf("cassandra: commit to %s: %w", l.subset, failed(ctx, err))
		}
		if won {
			return t.stored, nil
		}
	}
}

// attempt is one try of a commit.
type attempt struct {
	*loader
	number  int64
	base    head
	catalog *design.Catalog // as of base

	mu     sync.Mutex // of what follows
	stored engine.Stored
	bytes  int64
	units  map[unit]bool // of the line type under way
}

func (t *attempt) try(ctx context.Context, c *engine.Commit) (won bool, err error) {
	if t.number, t.base, err = t.begin(ctx, t.subset); err != nil {
		return false, err
	}
	t.catalog, err = t.archive.catalog(ctx, t.subset, t.base)
	if errors.Is(err, gocql.ErrNotFound) {
		return false, nil // another loader has committed since, and taken it away
	}
	if err != nil {
		return false, err
	}
	for _, lt := range t.groups.Types() {
		if err := t.create(ctx, t.table(lt), t.createTable(lt)); err != nil {
			return false, err
		}
		if err := t.records(ctx, lt); err != nil {
			return false, err
		}
		if err := t.list(ctx, lt); err != nil {
			return false, err
		}
	}
	if err := c.Check(&t.stored); err != nil {
		return false, err
	}
	next := design.NewCatalog(t.subset)
	next.Merge(t.catalog)
	c.Describe(next, &t.stored)
	done, err := t.describe(ctx, next, c.Done)
	if err != nil {
		return false, err
	}
	if won, err = t.advance(ctx, t.subset, t.number, t.base, t.bytes); err != nil || !won {
		return false, err
	}
	copy(c.Done, done)
	t.archive.mu.Lock()
	t.known[t.cacheKey(t.subset)] = known{t.number, next}
	t.archive.mu.Unlock()
	if err := t.session.Query("DELETE FROM catalogs WHERE design = ? AND subset = ? AND commit_number < ?", t.scope(), t.subset, t.number).ExecContext(context.WithoutCancel(ctx)); err != nil {
		t.log.Warn("an earlier catalog is still there", "subset", t.subset, "error", err)
	}
	return true, nil
}

// describe writes catalog and marks.
func (t *attempt) describe(ctx context.Context, next *design.Catalog, done []engine.Mark) ([]engine.Mark, error) {
	text, err := next.Encode()
	if err != nil {
		return nil, err
	}
	err = t.session.Query("INSERT INTO catalogs (design, subset, commit_number, catalog) VALUES (?, ?, ?, ?)", t.scope(), t.subset, t.number, string(text)).ExecContext(ctx)
	if err != nil {
		return nil, err
	}
	done = slices.Clone(done)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(t.inflight)
	for i := range done {
		done[i].Settle(t.stored)
		mark, err := json.Marshal(done[i])
		if err != nil {
			return nil, err
		}
		group.Go(func() error {
			return t.session.Query("INSERT INTO marks (design, subset, commit_number, number, mark) VALUES (?, ?, ?, ?, ?)", t.scope(), t.subset, t.number, i, string(mark)).ExecContext(ctx)
		})
	}
	return done, group.Wait()
}

// list notes the partitions of a line type, so that a dump finds them.
func (t *attempt) list(ctx context.Context, lt *record.LineType) error {
	const many = 100 // short texts to a batch
	in := map[int][]unit{}
	for u := range t.units {
		b := bucket(u)
		in[b] = append(in[b], u)
	}
	clear(t.units)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(t.inflight)
	for _, b := range slices.Sorted(maps.Keys(in)) {
		for some := range slices.Chunk(in[b], many) {
			batch := t.session.Batch(gocql.UnloggedBatch)
			for _, u := range some {
				add(batch, "INSERT INTO partitions (design, subset, line_type, bucket, name, year) VALUES (?, ?, ?, ?, ?, ?)", t.scope(), t.subset, lt.Name, b, u.name, u.year)
			}
			group.Go(func() error { return batch.ExecContext(ctx) })
		}
	}
	return group.Wait()
}

// add adds a statement that may be sent again: the number of a commit is in
// the key of whatever it writes. The driver sends a batch again where all of
// its statements say so.
func add(b *gocql.Batch, statement string, args ...any) {
	b.Entries = append(b.Entries, gocql.BatchEntry{Stmt: statement, Args: args, Idempotent: true})
}

func bucket(u unit) int { return int(xxh3.HashString(u.name) % buckets) }

// piece is the records of one document, ready to be sent.
type piece struct {
	unit unit
	doc  *design.Doc // nil where the archive certainly holds none of them
	rows []row
}

type row struct {
	entry int // bytes of what tells records of one document and lead apart
	args  []any
}

// records writes the records of a line type, document by document, several at
// once.
func (t *attempt) records(ctx context.Context, lt *record.LineType) error {
	insert := t.insert(lt)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(t.inflight)
	for doc := range t.groups.Docs(lt) {
		if ctx.Err() != nil {
			break
		}
		h, valid := doc.Header(), doc.Valid()
		p := piece{unit: t.unitOf(lt, t.subset, h, valid)}
		if t.catalog.Holding(lt, h).MayHold(valid) {
			p.doc = &design.Doc{Rows: doc.Rows.Clone(), From: slices.Clone(doc.From)}
		}
		p.unit.name = t.kept(p.unit.name)
		p.rows = make([]row, doc.Rows.Len())
		for i := range p.rows {
			p.rows[i] = t.row(p.unit, doc, i)
		}
		t.units[p.unit] = true
		group.Go(func() error { return t.send(ctx, lt, insert, &p) })
	}
	return group.Wait()
}

// row lays out a record in the order of insert.
func (t *attempt) row(u unit, doc *design.Doc, i int) row {
	b := doc.Rows
	entry := appendEntry([]byte{}, b, i) // an empty one is not null
	r := row{entry: len(entry)}
	r.args = make([]any, 0, 12+len(b.Type.Columns))
	r.args = append(r.args, t.args(u)...)
	if t.bySeries {
		r.args = append(r.args, b.Valid[i])
	}
	r.args = append(r.args, b.Lead[i], entry, t.number)
	if b.Plain(i) {
		r.args = append(r.args, gocql.UnsetValue, gocql.UnsetValue, gocql.UnsetValue, gocql.UnsetValue)
	} else {
		r.args = append(r.args, b.ValidEnd[i], b.ObsLead[i], b.ObsBeg[i], b.ObsEnd[i])
	}
	for k := range b.Type.Columns {
		c := &b.Type.Columns[k]
		switch {
		case c.Kind == record.Text:
			r.args = append(r.args, b.Text[c.Slot][i])
		case math.IsNaN(b.Num[c.Slot][i]):
			r.args = append(r.args, gocql.UnsetValue) // no value is stored, and no tombstone
		default:
			r.args = append(r.args, b.Num[c.Slot][i])
		}
	}
	if b.Type.Group != nil {
		r.args = append(r.args, slices.Clone(b.Repeats(i)))
	}
	return r
}

// batchRows bounds a batch to some ten kilobytes.
const batchRows = 64

// send writes a document in batches, each within its partition.
func (t *attempt) send(ctx context.Context, lt *record.LineType, insert string, p *piece) error {
	if p.doc != nil {
		if err := t.compare(ctx, lt, p); err != nil {
			return err
		}
	}
	bytes := int64(0)
	for some := range slices.Chunk(p.rows, batchRows) {
		batch := t.session.Batch(gocql.UnloggedBatch)
		for i := range some {
			add(batch, insert, some[i].args...)
			bytes += int64(8*len(some[i].args) + some[i].entry)
		}
		if err := batch.ExecContext(ctx); err != nil {
			return err
		}
	}
	t.mu.Lock()
	t.bytes += bytes
	t.stored.New += int64(len(p.rows))
	t.mu.Unlock()
	return nil
}

// compare looks for the records of a document that are there already.
func (t *attempt) compare(ctx context.Context, lt *record.LineType, p *piece) error {
	every := t.all(lt)
	text, args := every.text()+t.where(), t.args(p.unit)
	if t.bySeries {
		text += " AND " + colValid + " = ?"
		args = append(args, p.doc.Valid())
	}
	var have record.Batch
	have.Reset(lt, "")
	head := have.AddHeader(*p.doc.Header())
	at := func(string) (uint32, int64, error) { return head, p.doc.Valid(), nil }
	if _, err := every.scanner(t.base.counts, nil).rows(t.session.Query(text, args...).IterContext(ctx), at, &have); err != nil {
		return err
	}
	in := engine.IndexOf([]*record.Batch{p.doc.Rows})
	var h record.Hasher
	h.Use(&have)
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range have.Len() {
		if r, ok := in[h.Key(i)]; ok {
			t.stored.Meet(p.doc.From[r.I], &have, i, r.Batch, r.I)
		}
	}
	return nil
}
