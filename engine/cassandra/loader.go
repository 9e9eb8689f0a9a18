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
	"time"
	"unicode/utf8"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
	"github.com/zeebo/xxh3"
	"golang.org/x/sync/errgroup"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/docengine"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/record"
)

// docs implements docengine.Store. docengine passes documents as payloads; docs stores their records one by one.
type docs struct {
	docengine.Payloads
	*tables
}

// Subsets lists the subsets with a commit.
func (d docs) Subsets(ctx context.Context) ([]string, error) {
	if d.bare {
		return nil, nil
	}
	iter := d.session.Query("SELECT design, subset, version FROM heads").IterContext(ctx)
	var names []string
	var scope, name string
	var version int64
	for iter.Scan(&scope, &name, &version) {
		if scope == d.scope() && version > 0 {
			names = append(names, name)
		}
	}
	return names, callError(ctx, iter.Close())
}

// Describe reads version and catalog. The next commit removes the catalog of the previous one, so the
// catalog may disappear between the two reads.
func (d docs) Describe(ctx context.Context, subset string, known int64) (int64, []byte, error) {
	for {
		h, err := d.head(ctx, subset, d.consistency)
		if err != nil || h.version == 0 || h.version == known {
			return h.version, nil, err
		}
		var text []byte
		const catalogs = "SELECT catalog FROM catalogs WHERE design = ? AND subset = ? AND commit_number = ?"
		err = d.session.Query(catalogs, d.scope(), subset, h.catalog).ScanContext(ctx, &text)
		if !errors.Is(err, gocql.ErrNotFound) {
			return h.version, text, callError(ctx, err)
		}
		if err := engine.Pause(ctx, time.Millisecond); err != nil {
			return 0, nil, err
		}
	}
}

// Marks lists the loaded files.
func (d docs) Marks(ctx context.Context, subset string) ([]archive.Mark, error) {
	h, err := d.head(ctx, subset, d.consistency)
	if err != nil || h.version == 0 {
		return nil, err
	}
	iter := d.session.Query("SELECT commit_number, mark FROM marks WHERE design = ? AND subset = ?", d.scope(), subset).IterContext(ctx)
	var marks []archive.Mark
	var number int64
	var text string
	var decodeErr error
	for iter.Scan(&number, &text) {
		if !h.counts(number) {
			continue
		}
		var m archive.Mark
		decodeErr = errors.Join(decodeErr, json.Unmarshal([]byte(text), &m))
		marks = append(marks, m)
	}
	return docengine.Latest(marks), errors.Join(callError(ctx, iter.Close()), decodeErr)
}

// Create refuses a name that keys cannot contain.
func (d docs) Create(ctx context.Context, subset string) error {
	if !utf8.ValidString(subset) {
		problem := strconv.Quote(subset) + " is not valid: Barograph's keys must be UTF-8 text"
		return &fault.Error{Setting: "subset", Problem: problem, Cure: "choose another name"}
	}
	if sync := d.setting(ctx, "commitlog_sync"); sync == "periodic" {
		d.log.Warn("a commit is not durable on this server", "durability", durability(sync))
	}
	return ctx.Err()
}

// attempt is a commit in flight; see the package comment.
type attempt struct {
	docs
	subset string
	number int64
	base   head

	mu     sync.Mutex // locks the fields below
	bytes  int64
	listed map[unit]bool
}

// Begin gets a number.
func (d docs) Begin(ctx context.Context, subset string) (context.Context, docengine.Commit, error) {
	number, base, err := d.begin(ctx, subset)
	return ctx, &attempt{docs: d, subset: subset, number: number, base: base, listed: map[unit]bool{}}, err
}

// Fetch reads the rows of documents that counted at the start.
func (t *attempt) Fetch(ctx context.Context, lt *record.LineType, ids []string, each func(id string, doc []byte) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(t.inflight)
	for _, id := range ids {
		group.Go(func() error {
			doc, err := t.document(ctx, lt, id)
			if err != nil || doc == nil {
				return err
			}
			t.mu.Lock()
			defer t.mu.Unlock()
			return each(id, doc)
		})
	}
	return callError(ctx, group.Wait())
}

// document returns the payload of a document; nil = it does not exist.
func (t *attempt) document(ctx context.Context, lt *record.LineType, id string) (payload []byte, err error) {
	_, _, h, valid, err := design.ParseKey(id)
	if err != nil {
		return nil, err
	}
	every, u := t.all(lt), t.unitOf(lt, t.subset, &h, valid)
	u.name = t.storedID(u.name)
	text, args := every.text()+t.where(), t.args(u)
	if t.bySeries {
		text += " AND " + colValid + " = ?"
		args = append(args, valid)
	}
	var existing record.Batch
	existing.Reset(lt, "")
	head := existing.AddHeader(h)
	at := func(string) (uint32, int64, error) { return head, valid, nil }
	if _, err := every.scanner(t.base.counts, nil).rows(t.session.Query(text, args...).IterContext(ctx), at, &existing); err != nil {
		return nil, err
	}
	g := design.NewGrouper(lt) // sorts the rows in a document's order
	g.Add(&existing)
	for doc := range g.Docs() {
		payload = t.Append(nil, t.subset, id, doc.Rows)
	}
	return payload, nil
}

// Announce creates the tables.
func (t *attempt) Announce(ctx context.Context, all []docengine.Change) error {
	for i := range all {
		if err := t.create(ctx, t.table(all[i].Type), t.createTable(all[i].Type)); err != nil {
			return err
		}
	}
	return nil
}

// Remove is not possible: the number of the commit decides whether a row counts, and a deleted row leaves a
// tombstone that all readers must skip for days.
func (*attempt) Remove(context.Context, *record.LineType, []string) error {
	return errors.ErrUnsupported
}

// Write writes the records of documents, several documents at once, and lists their partitions for dumps.
func (t *attempt) Write(ctx context.Context, lt *record.LineType, docs []docengine.Document) error {
	insert := t.insert(lt)
	byBucket := map[int][]unit{} // partitions that this commit has not listed yet
	var b record.Batch
	group, gctx := errgroup.WithContext(ctx)
	group.SetLimit(t.inflight)
	for i := range docs {
		_, _, h, valid, err := design.ParseKey(docs[i].ID)
		if err == nil {
			b.Reset(lt, "")
			err = t.Decode(docs[i].Body, &b, b.AddHeader(h), valid)
		}
		if err != nil {
			return errors.Join(err, group.Wait())
		}
		u := t.unitOf(lt, t.subset, &h, valid)
		u.name = t.storedID(u.name)
		rows := make([]row, b.Len())
		for i := range rows {
			rows[i] = t.row(u, &b, i)
		}
		if t.listFirst(u) {
			byBucket[bucket(u)] = append(byBucket[bucket(u)], u)
		}
		group.Go(func() error { return t.send(gctx, insert, rows) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return t.list(ctx, lt, byBucket)
}

// listFirst reports whether this commit has not listed a partition yet, and records it as listed.
func (t *attempt) listFirst(u unit) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	listed := t.listed[u]
	t.listed[u] = true
	return !listed
}

// list adds partitions of a line type, by bucket, to the list of partitions.
func (t *attempt) list(ctx context.Context, lt *record.LineType, byBucket map[int][]unit) error {
	const batchRows = 100
	const insert = "INSERT INTO partitions (design, subset, line_type, bucket, name, year) VALUES (?, ?, ?, ?, ?, ?)"
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(t.inflight)
	for _, b := range slices.Sorted(maps.Keys(byBucket)) {
		for units := range slices.Chunk(byBucket[b], batchRows) {
			batch := t.session.Batch(gocql.UnloggedBatch)
			for _, u := range units {
				add(batch, insert, t.scope(), t.subset, lt.Name, b, u.name, u.year)
			}
			group.Go(func() error { return batch.ExecContext(ctx) })
		}
	}
	return group.Wait()
}

// add adds a statement that may be retried, because every key that it writes contains the commit's number.
// The driver retries a batch if all its statements are marked so.
func add(b *gocql.Batch, statement string, args ...any) {
	b.Entries = append(b.Entries, gocql.BatchEntry{Stmt: statement, Args: args, Idempotent: true})
}

func bucket(u unit) int { return int(xxh3.HashString(u.name) % buckets) }

// row is a record, ready to be sent.
type row struct {
	entry int // bytes of entry
	args  []any
}

// row arranges a record in the order of insert.
func (t *attempt) row(u unit, b *record.Batch, i int) row {
	entry := appendEntry([]byte{}, b, i) // an empty entry must not be null
	r := row{entry: len(entry)}
	r.args = make([]any, 0, 12+len(b.Type.Columns))
	r.args = append(r.args, t.args(u)...)
	if t.bySeries {
		r.args = append(r.args, b.Valid[i])
	}
	r.args = append(r.args, b.Lead[i], entry, t.number)
	if b.HasPlainTimes(i) {
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
			r.args = append(r.args, gocql.UnsetValue) // stores neither a value nor a tombstone
		default:
			r.args = append(r.args, b.Num[c.Slot][i])
		}
	}
	if b.Type.Group != nil {
		r.args = append(r.args, slices.Clone(b.Repeats(i)))
	}
	return r
}

// batchRows limits a batch to some ten kilobytes.
const batchRows = 64

// send writes the rows of one document in batches, each within one partition.
func (t *attempt) send(ctx context.Context, insert string, rows []row) error {
	bytes := int64(0)
	for some := range slices.Chunk(rows, batchRows) {
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
	defer t.mu.Unlock()
	t.bytes += bytes
	return nil
}

// Publish writes the catalog and the marks. It then makes the commit visible, unless another commit was first.
func (t *attempt) Publish(ctx context.Context, catalog []byte, done []archive.Mark) (int64, error) {
	const insertCatalog = "INSERT INTO catalogs (design, subset, commit_number, catalog) VALUES (?, ?, ?, ?)"
	const insertMark = "INSERT INTO marks (design, subset, commit_number, number, mark) VALUES (?, ?, ?, ?, ?)"
	if err := t.session.Query(insertCatalog, t.scope(), t.subset, t.number, catalog).ExecContext(ctx); err != nil {
		return 0, err
	}
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(t.inflight)
	for i := range done {
		group.Go(func() error {
			mark, err := json.Marshal(done[i])
			if err != nil {
				return err
			}
			return t.session.Query(insertMark, t.scope(), t.subset, t.number, i, mark).ExecContext(groupCtx)
		})
	}
	if err := group.Wait(); err != nil {
		return 0, err
	}
	if won, err := t.advance(ctx, t.subset, t.number, t.base, t.bytes); err != nil || !won {
		return 0, err
	}
	return t.number, nil
}

// End removes the previous catalogs. What a failed commit has written stays in the tables: readers skip it.
func (t *attempt) End(ctx context.Context, visible bool, err error) error {
	if err != nil {
		return fmt.Errorf("cassandra: commit to %s: %w", t.subset, callError(ctx, err))
	}
	if visible {
		const remove = "DELETE FROM catalogs WHERE design = ? AND subset = ? AND commit_number < ?"
		err := t.session.Query(remove, t.scope(), t.subset, t.number).ExecContext(context.WithoutCancel(ctx))
		if err != nil {
			t.log.Warn("an earlier catalog was not removed", "subset", t.subset, "error", err)
		}
	}
	return nil
}
