package cassandra

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
	"golang.org/x/sync/errgroup"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/docengine"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

// plan is the set of queries for a question: one text, sent for many partitions.
type plan struct {
	*selection
	text    string
	headers []record.Header
	reads   []read
	leads   []any                      // bounds of fcst_lead, bound after the ids
	ids     map[string]docengine.Place // keys: the place of the records of an id
}

// read is one query.
type read struct {
	docengine.Place // Valid is set for documents in flavour keys-native
	args            []any
}

// String describes the plan in printed query arguments, which would otherwise contain thousands of keys.
func (p *plan) String() string { return fmt.Sprintf("%d queries", len(p.reads)) }

// atOnce is the number of ids in one query of flavour keys, whose coordinator queries all of them, and of times in one
// query of epoch-list. ScyllaDB's default limits are the same (max_partition_key_restrictions_per_query and
// max_clustering_key_restrictions_per_query).
const atOnce = 100

// Phrase computes the queries of a question from the catalog.
func (a *openArchive) Phrase(ctx context.Context, q *question.Question, f flavour.Name) (*archive.Query, error) {
	out, c, err := a.NewQuery(ctx, Driver(), a.design, q, f)
	if err != nil {
		return nil, err
	}
	if f == flavour.EpochList && !q.Valid.IsDiscrete() {
		return nil, fmt.Errorf("cassandra: %s needs bounds of the valid times: %w", f, flavour.ErrCannotExpress)
	}
	if _, _, _, grid := q.Valid.Grid(); f == flavour.EpochRange && !grid && !q.Valid.IsAll() {
		return nil, fmt.Errorf("cassandra: %s needs a list of times with a constant step: %w", f, flavour.ErrCannotExpress)
	}
	began := time.Now()
	p := &plan{selection: a.pick(q, c.Facts(q).Plain)}
	out.Args = []any{p}
	if a.bySeries {
		p.ranges(c, q, f, a.storedID)
	} else {
		p.keys(docengine.Derive(c, out), out, a.storedID)
	}
	out.DeriveTime = time.Since(began)
	out.Text = fmt.Sprintf("%s\n-- %d times, %d at once; %d series", p.text, len(p.reads), a.width(f), len(p.headers))
	return out, nil
}

// width returns the number of queries of one question in flight at once.
func (s *store) width(f flavour.Name) int {
	if f == flavour.Keys {
		return max(1, s.inflight/16) // the coordinator makes many reads for each
	}
	return s.inflight
}

// keys adds queries for the derived ids. storedID returns an id as it is stored.
func (p *plan) keys(l *docengine.Lookup, out *archive.Query, storedID func(string) string) {
	p.headers = l.Headers
	condition := " = ?"
	if out.Flavour == flavour.Keys {
		p.named, condition, p.ids = true, " IN ?", map[string]docengine.Place{}
	}
	p.text = p.selection.text() + p.partition[0] + condition
	if n := len(out.Question.Lead); n > 0 {
		p.text += fmt.Sprintf(" AND %s >= ? AND %s <= ?", colLead, colLead)
		p.leads = []any{out.Question.Lead[0], out.Question.Lead[n-1]}
	}
	var ids []string // as they are stored
	for i, id := range out.Keys {
		id = storedID(id)
		if p.ids == nil {
			p.reads = append(p.reads, read{l.Places[i], append([]any{id}, p.leads...)})
			continue
		}
		p.ids[id] = l.Places[i]
		ids = append(ids, id)
	}
	for some := range slices.Chunk(ids, atOnce) {
		p.reads = append(p.reads, read{args: append([]any{some}, p.leads...)})
	}
}

// ranges adds queries for the series and years that q can match. storedID returns a series as it is stored.
func (p *plan) ranges(c *design.Catalog, q *question.Question, f flavour.Name, storedID func(string) string) {
	p.text = p.selection.text() + p.where() + " AND " + colValid
	if f == flavour.EpochList {
		p.text += " IN ?"
	} else {
		p.text += " >= ? AND " + colValid + " <= ?"
	}
	for _, s := range docengine.SeriesOf(c, q) {
		first, last := s.Group.First, s.Group.Last
		if lo, hi, ok := q.Valid.Bounds(); ok {
			first, last = max(first, lo), min(last, hi)
		}
		if last < first {
			continue
		}
		series, place := storedID(s.Prefix), docengine.Place{Head: uint32(len(p.headers))}
		p.headers = append(p.headers, s.Header)
		for year := yearOf(first); year <= yearOf(last); year++ {
			if f == flavour.EpochRange {
				p.reads = append(p.reads, read{place, []any{series, year, first, last}})
				continue
			}
			var times []int64
			for _, v := range q.Valid.Expand() {
				if yearOf(v) == year {
					times = append(times, v)
				}
			}
			slices.Sort(times)
			for some := range slices.Chunk(slices.Compact(times), atOnce) {
				p.reads = append(p.reads, read{place, []any{series, year, some}})
			}
		}
	}
}

// Ask sends the queries, many at once, each to a node with its partition. It decodes the rows that count, and sorts
// them in the question's order.
func (a *openArchive) Ask(ctx context.Context, q *archive.Query, into *answer.Builder) error {
	_, _, err := a.read(ctx, q, into)
	return err
}

// read runs a query. It returns the number of rows that the server sent, and of rows that were kept.
func (a *openArchive) read(ctx context.Context, q *archive.Query, into *answer.Builder) (sent int64, kept int, err error) {
	p, err := docengine.Plan[*plan](q)
	if err != nil {
		return 0, 0, err
	}
	h, err := a.head(ctx, q.Question.Subset, a.consistency)
	if err != nil {
		return 0, 0, err
	}
	err = a.Answer(q.Question, p.headers, into, func(rows *record.Batch) (err error) {
		sent, err = a.sendPlan(ctx, q, p, h, rows)
		kept = rows.Len()
		return err
	})
	return sent, kept, callError(ctx, err)
}

// sendPlan sends the queries of a plan and appends the records that count. It returns the number of rows that the
// server sent.
func (a *openArchive) sendPlan(ctx context.Context, q *archive.Query, p *plan, h head, rows *record.Batch) (int64, error) {
	matcher := answer.NewMatcher(q.Question)
	var next, sent atomic.Int64
	parts := make([]*record.Batch, min(a.width(q.Flavour), len(p.reads)))
	group, ctx := errgroup.WithContext(ctx)
	for i := range parts {
		parts[i] = p.batch()
		group.Go(func() error {
			s := p.scanner(h.counts, matcher.Times)
			for {
				n := next.Add(1) - 1
				if n >= int64(len(p.reads)) {
					return nil
				}
				r := &p.reads[n]
				got, err := s.rows(a.session.Query(p.text, r.args...).IterContext(ctx), p.place(r), parts[i])
				sent.Add(got)
				if err != nil {
					return err
				}
			}
		})
	}
	err := group.Wait()
	for _, part := range parts {
		for i := range part.Len() {
			rows.AppendRow(part, i, part.HeaderIndex[i])
		}
	}
	return sent.Load(), err
}

// batch returns an empty batch with all headers.
func (p *plan) batch() *record.Batch {
	b := &record.Batch{}
	b.Reset(p.t, "")
	for _, h := range p.headers {
		b.AddHeader(h)
	}
	return b
}

// place returns the function that finds the places of the rows of a query.
func (p *plan) place(r *read) place {
	return func(id string) (uint32, int64, error) {
		if p.ids == nil || id == "" {
			return r.Head, r.Valid, nil
		}
		place, ok := p.ids[id]
		if !ok {
			return 0, 0, fmt.Errorf("the reply contains document %q, which was not queried", id)
		}
		return place.Head, place.Valid, nil
	}
}

// Explain describes what Ask does with the query, and counts the rows; the server has no plans.
func (a *openArchive) Explain(ctx context.Context, q *archive.Query) (archive.Plan, error) {
	var into answer.Builder
	into.Reset(q.Question.Columns)
	sent, kept, err := a.read(ctx, q, &into)
	if err != nil {
		return archive.Plan{}, err
	}
	p, _ := q.Args[0].(*plan)
	var b strings.Builder
	fmt.Fprintf(&b, "%s\ntoken-aware, at %s; decode; sort the rows\n%d rows sent, %d kept\n", q.Text, a.consistency, sent, kept)
	for i := range min(len(p.reads), 20) {
		fmt.Fprintf(&b, "%.300s\n", fmt.Sprint(p.reads[i].args...))
	}
	if n := len(p.reads) - 20; n > 0 {
		fmt.Fprintf(&b, "and %d more\n", n)
	}
	plan := archive.Plan{Text: b.String()}
	if len(p.reads) > 0 {
		method := archive.KeyLookup
		if a.bySeries {
			method = archive.IndexScan
		}
		plan.Access = []archive.Access{{
			Object: p.table(p.t), Method: method, Index: "PRIMARY KEY", Examined: sent, Kept: int64(kept), Counted: true,
		}}
	}
	return plan, nil
}

// tables are the tables of one design.
type tables struct {
	*store
	*layout
}

// openArchive is the archive of one design.
type openArchive struct {
	*docengine.Archive
	*tables
}

// separator is between an archive's name and the rest of a key.
const separator = "\x1f"

// scope is the part of a key, besides the subset, that identifies an archive in a keyspace.
func (a *tables) scope() string {
	if a.name == "" {
		return string(a.design)
	}
	return string(a.design) + separator + a.name
}

// storedID returns a derived id, or the key of a series, as it is stored.
func (s *store) storedID(id string) string {
	if s.name == "" {
		return id
	}
	return s.name + separator + id
}

// derivedID is the inverse of storedID.
func (s *store) derivedID(stored string) string {
	_, id, ok := strings.Cut(stored, separator)
	if s.name == "" || !ok {
		return stored
	}
	return id
}

// head is the state of a subset. The zero value is the state of a subset that does not exist.
type head struct {
	next    int64   // the last number that a commit has received
	version int64   // number of the last commit that counts
	bad     []int64 // lower numbers that do not count, ascending
	catalog int64   // number of the commit that stored the catalog
	bytes   int64   // bytes that commits have written
}

// counts reports whether the rows of a commit are visible.
func (h *head) counts(number int64) bool {
	if number > h.version {
		return false
	}
	_, bad := slices.BinarySearch(h.bad, number)
	return !bad
}

const headColumns = "SELECT next, version, bad, catalog, bytes FROM heads WHERE design = ? AND subset = ?"

// head reads the state at a consistency level. A quorum read sees every commit that has returned. A serial read also
// completes a commit in flight.
func (a *tables) head(ctx context.Context, subset string, c gocql.Consistency) (h head, err error) {
	if a.bare {
		return h, nil
	}
	err = a.session.Query(headColumns, a.scope(), subset).Consistency(c).ScanContext(ctx, &h.next, &h.version, &h.bad, &h.catalog, &h.bytes)
	if errors.Is(err, gocql.ErrNotFound) {
		return h, nil
	}
	slices.Sort(h.bad)
	return h, callError(ctx, err)
}

// begin gives a commit a unique number. If a reply is lost, the number is not used: the retried update does not apply.
func (a *tables) begin(ctx context.Context, subset string) (number int64, base head, err error) {
	for {
		if base, err = a.head(ctx, subset, a.serial()); err != nil {
			return 0, base, err
		}
		q := a.session.Query("UPDATE heads SET next = ? WHERE design = ? AND subset = ? IF next = ?",
			base.next+1, a.scope(), subset, base.next)
		if base.next == 0 {
			q = a.session.Query("INSERT INTO heads (next, version, catalog, bytes, design, subset) "+
				"VALUES (1, 0, 0, 0, ?, ?) IF NOT EXISTS", a.scope(), subset)
		}
		won, err := q.MapScanCASContext(ctx, map[string]any{})
		if err != nil {
			return 0, base, callError(ctx, err)
		}
		if won {
			return base.next + 1, base, nil
		}
	}
}

// serial returns the consistency of serial reads.
func (s *store) serial() gocql.Consistency {
	if s.consistency == gocql.LocalQuorum {
		return gocql.LocalSerial
	}
	return gocql.Serial
}

// advance makes a commit count if no other commit has counted since the base. The numbers in between will never count.
func (a *tables) advance(ctx context.Context, subset string, number int64, base head, bytes int64) (won bool, err error) {
	bad := []int64{}
	for n := base.version + 1; n < number; n++ {
		bad = append(bad, n)
	}
	q := a.session.Query("UPDATE heads SET version = ?, catalog = ?, bytes = ?, bad = bad + ? WHERE design = ? AND subset = ? IF version = ?",
		number, number, base.bytes+bytes, bad, a.scope(), subset, base.version)
	if won, err = q.MapScanCASContext(ctx, map[string]any{}); won {
		return true, nil
	}
	// The reply may be lost, also for the driver, which then retries the update. The commit may count nevertheless.
	after, stop := context.WithTimeout(context.WithoutCancel(ctx), replyPatience)
	defer stop()
	h, headErr := a.head(after, subset, a.serial())
	if headErr == nil && h.version >= number && h.counts(number) {
		return true, nil
	}
	return false, callError(ctx, errors.Join(err, headErr))
}

// Size returns the tables' size on the disks of the node that replies, or the bytes that commits wrote if these are
// more: the node may not have flushed its memory, and CQL has no statement for that. ScyllaDB does not report sizes.
func (a *openArchive) Size(ctx context.Context) (int64, error) {
	var onDisk, written int64
	const usage = "SELECT table_name, mebibytes FROM system_views.disk_usage WHERE keyspace_name = ?"
	iter := a.session.Query(usage, a.keyspace).IterContext(ctx)
	var table string
	var mebibytes int64
	for iter.Scan(&table, &mebibytes) {
		if len(table) > len(a.prefix) && table[:len(a.prefix)] == a.prefix {
			onDisk += mebibytes << 20
		}
	}
	if err := iter.Close(); err != nil && ctx.Err() != nil { // ScyllaDB does not have the table
		return 0, ctx.Err()
	}
	if a.bare {
		return onDisk, nil
	}
	iter = a.session.Query("SELECT design, bytes FROM heads").IterContext(ctx)
	var d string
	var bytes int64
	for iter.Scan(&d, &bytes) {
		if d == a.scope() {
			written += bytes
		}
	}
	if err := iter.Close(); err != nil {
		return 0, callError(ctx, err)
	}
	return max(onDisk, written), nil
}

// forTypes calls each for every line type of a subset, with the state of the subset before the call.
func (a *openArchive) forTypes(ctx context.Context, subset string, each func(t *record.LineType, h head) error) error {
	h, err := a.head(ctx, subset, a.consistency)
	if err != nil {
		return err
	}
	c, err := a.CachedCatalog(ctx, subset)
	if err != nil {
		return err
	}
	for t := range docengine.Types(c) {
		if err := each(t, h); err != nil {
			return err
		}
	}
	return nil
}

// forUnits calls each for every partition of a line type. Some partitions may contain no record that counts.
func (a *openArchive) forUnits(ctx context.Context, subset string, t *record.LineType, each func(u unit) error) error {
	const partitions = "SELECT name, year FROM partitions WHERE design = ? AND subset = ? AND line_type = ? AND bucket = ?"
	for b := range buckets {
		it := a.session.Query(partitions, a.scope(), subset, t.Name, b).IterContext(ctx)
		var u unit
		var err error
		for err == nil && it.Scan(&u.name, &u.year) {
			err = each(u)
		}
		if err := errors.Join(err, callError(ctx, it.Close())); err != nil {
			return err
		}
	}
	return nil
}

// countWorkers is the number of partitions whose records are counted at once.
const countWorkers = 32

// Contents returns the numbers of the visible records and of their documents.
func (a *openArchive) Contents(ctx context.Context, subset string) (archive.Contents, error) {
	c := archive.Contents{Records: map[string]int64{}, Object: "documents"}
	if a.bySeries {
		c.Object = "rows"
	}
	err := a.forTypes(ctx, subset, func(t *record.LineType, h head) error {
		objects, records, err := a.countRecords(ctx, subset, t, h)
		c.Objects += objects
		if records > 0 {
			c.Records[t.Name] = records
		}
		return callError(ctx, err)
	})
	return c, err
}

// countRecords counts the visible records of a line type, and their objects: documents, or rows of the wide table.
func (a *openArchive) countRecords(
	ctx context.Context, subset string, t *record.LineType, h head,
) (objects, records int64, err error) {
	keysOnly := &selection{layout: a.layout, t: t}
	text := keysOnly.text() + a.where()
	todo := make(chan unit, countWorkers)
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		defer close(todo)
		return a.forUnits(ctx, subset, t, func(u unit) error {
			select {
			case todo <- u:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	})
	type sum struct{ units, rows int64 }
	sums := make([]sum, countWorkers)
	for i := range sums {
		group.Go(func() error {
			var b record.Batch
			s := keysOnly.scanner(h.counts, nil)
			for u := range todo {
				b.Reset(t, "")
				if _, err := s.rows(a.session.Query(text, a.args(u)...).IterContext(ctx), noPlace, &b); err != nil {
					return err
				}
				if b.Len() > 0 {
					sums[i].units++
					sums[i].rows += int64(b.Len())
				}
			}
			return nil
		})
	}
	err = group.Wait()
	for _, s := range sums {
		records += s.rows
		objects += s.units
	}
	if a.bySeries {
		objects = records
	}
	return objects, records, err
}

// noPlace is a place for rows of which only the number matters.
func noPlace(string) (uint32, int64, error) { return 0, 0, nil }

// Dump reads all partitions of the subset, as of one commit.
func (a *openArchive) Dump(ctx context.Context, subset string) iter.Seq2[*record.Batch, error] {
	return archive.Dump(func(to *archive.Dumper) error {
		return a.forTypes(ctx, subset, func(t *record.LineType, h head) error { return a.dumpType(ctx, subset, t, h, to) })
	})
}

// dumpType reads all partitions of a line type.
func (a *openArchive) dumpType(ctx context.Context, subset string, t *record.LineType, h head, to *archive.Dumper) error {
	var b record.Batch
	b.Reset(t, "")
	p := a.all(t)
	s, text := p.scanner(h.counts, nil), p.text()+a.where()
	err := a.forUnits(ctx, subset, t, func(u unit) error {
		header, valid, err := a.header(unit{a.derivedID(u.name), u.year})
		if err != nil {
			return err
		}
		head := b.AddHeader(header)
		place := func(string) (uint32, int64, error) { return head, valid, nil }
		_, err = s.rows(a.session.Query(text, a.args(u)...).IterContext(ctx), place, &b)
		if err != nil {
			return callError(ctx, err)
		}
		_, err = to.YieldFull(&b)
		return err
	})
	if err != nil {
		return err
	}
	return to.Yield(&b)
}
