package cassandra

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/barograph/barograph/answer"
	"github.com/barograph/barograph/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/docengine"
	"github.com/barograph/barograph/flavour"
	"github.com/barograph/barograph/question"
	"github.com/barograph/barograph/record"
)

// plan is the queries that a question becomes: one text, asked of many
// partitions.
type plan struct {
	*picked
	text    string
	headers []record.Header
	reads   []read
	leads   []any                      // bounds of fcst_lead, bound behind the ids
	ids     map[string]docengine.Place // keys: where the records of an id belong
}

// read is one query.
type read struct {
	docengine.Place // Valid: document, keys-native
	args            []any
}

// String keeps thousands of keys out of whatever prints a query's arguments.
func (p *plan) String() string { return fmt.Sprintf("%d queries", len(p.reads)) }

// atOnce is the number of ids in one query of keys, whose coordinator asks for
// all of them, and of times in one of epoch-list. ScyllaDB takes no longer lists
// unless it is told to (max_partition_key_restrictions_per_query and
// max_clustering_key_restrictions_per_query).
const atOnce = 100

// Phrase derives from the catalog what to read.
func (a *archive) Phrase(ctx context.Context, q *question.Question, f flavour.Name) (*engine.Query, error) {
	out, c, err := a.Phrasing(ctx, Driver(), a.design, q, f)
	if err != nil {
		return nil, err
	}
	if f == flavour.EpochList && !q.Valid.Discrete() {
		return nil, fmt.Errorf("cassandra: %s of times that are left open: %w", f, flavour.ErrCannotExpress)
	}
	if _, _, _, grid := q.Valid.Grid(); f == flavour.EpochRange && !grid && !q.Valid.All() {
		return nil, fmt.Errorf("cassandra: %s of a list of times without a step: %w", f, flavour.ErrCannotExpress)
	}
	began := time.Now()
	p := &plan{picked: a.pick(q, c.Facts(q).Plain)}
	out.Args = []any{p}
	if a.bySeries {
		p.ranges(c, q, f, a.kept)
	} else {
		p.keys(docengine.Derive(c, out), out, a.kept)
	}
	out.Derive = time.Since(began)
	out.Text = fmt.Sprintf("%s\n-- %d times, %d at once; %d series", p.text, len(p.reads), a.width(f), len(p.headers))
	return out, nil
}

// width is the number of queries of one question that are under way at once.
func (s *store) width(f flavour.Name) int {
	if f == flavour.Keys {
		return max(1, s.inflight/16) // each is many reads of its coordinator
	}
	return s.inflight
}

// keys asks for the ids that were derived.
func (p *plan) keys(l *docengine.Lookup, out *engine.Query, kept func(string) string) {
	p.headers = l.Headers
	condition := " = ?"
	if out.Flavour == flavour.Keys {
		p.named, condition, p.ids = true, " IN ?", map[string]docengine.Place{}
	}
	p.text = p.picked.text() + p.partition[0] + condition
	if n := len(out.Question.Lead); n > 0 {
		p.text += fmt.Sprintf(" AND %s >= ? AND %s <= ?", colLead, colLead)
		p.leads = []any{out.Question.Lead[0], out.Question.Lead[n-1]}
	}
	var ids []string // as they are kept
	for i, id := range out.Keys {
		id = kept(id)
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

// ranges lists the series and years that q can match.
func (p *plan) ranges(c *design.Catalog, q *question.Question, f flavour.Name, kept func(string) string) {
	p.text = p.picked.text() + p.where() + " AND " + colValid
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
		series, at := kept(s.Prefix), docengine.Place{Head: uint32(len(p.headers))}
		p.headers = append(p.headers, s.Header)
		for year := yearOf(first); year <= yearOf(last); year++ {
			if f == flavour.EpochRange {
				p.reads = append(p.reads, read{at, []any{series, year, first, last}})
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
				p.reads = append(p.reads, read{at, []any{series, year, some}})
			}
		}
	}
}

// Ask sends the queries, many at once, each to a node that holds its
// partition, decodes what counts and restores the order.
func (a *archive) Ask(ctx context.Context, q *engine.Query, into *answer.Builder) error {
	_, _, err := a.read(ctx, q, into)
	return err
}

// read carries out a query. It returns the numbers of rows that the server sent
// and that were kept.
func (a *archive) read(ctx context.Context, q *engine.Query, into *answer.Builder) (sent int64, kept int, err error) {
	p, err := docengine.Plan[*plan](q)
	if err != nil {
		return 0, 0, err
	}
	h, err := a.head(ctx, q.Question.Subset, a.consistency)
	if err != nil {
		return 0, 0, err
	}
	err = a.Answer(q.Question, p.headers, into, func(rows *record.Batch) (err error) {
		sent, err = a.gather(ctx, q, p, h, rows)
		kept = rows.Len()
		return err
	})
	return sent, kept, failed(ctx, err)
}

// gather sends the queries of a plan.
func (a *archive) gather(ctx context.Context, q *engine.Query, p *plan, h head, rows *record.Batch) (int64, error) {
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
			rows.AppendRow(part, i, part.Head[i])
		}
	}
	return sent.Load(), err
}

// batch is an empty one with all headers.
func (p *plan) batch() *record.Batch {
	b := &record.Batch{}
	b.Reset(p.t, "")
	for _, h := range p.headers {
		b.AddHeader(h)
	}
	return b
}

func (p *plan) place(r *read) place {
	return func(id string) (uint32, int64, error) {
		if p.ids == nil || id == "" {
			return r.Head, r.Valid, nil
		}
		at, ok := p.ids[id]
		if !ok {
			return 0, 0, fmt.Errorf("document %q was not asked for", id)
		}
		return at.Head, at.Valid, nil
	}
}

// Explain tells what Ask does with the query, and counts what it brings; the
// server has no plans.
func (a *archive) Explain(ctx context.Context, q *engine.Query) (engine.Plan, error) {
	var into answer.Builder
	into.Reset(q.Question.Columns)
	sent, kept, err := a.read(ctx, q, &into)
	if err != nil {
		return engine.Plan{}, err
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
	plan := engine.Plan{Text: b.String()}
	if len(p.reads) > 0 {
		method := engine.KeyLookup
		if a.bySeries {
			method = engine.IndexScan
		}
		plan.Access = []engine.Access{{Object: p.table(p.t), Method: method, Index: "PRIMARY KEY", Examined: sent, Kept: int64(kept), Measured: true}}
	}
	return plan, nil
}
