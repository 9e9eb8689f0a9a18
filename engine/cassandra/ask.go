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

	"golang.org/x/sync/errgroup"

	"barograph/answer"
	"barograph/design"
	"barograph/engine"
	"barograph/flavour"
	"barograph/question"
	"barograph/record"
)

// plan is the queries that a question becomes: one text, asked of many
// partitions.
type plan struct {
	*picked
	text    string
	headers []record.Header
	reads   []read
	leads   []any           // bounds of fcst_lead, bound behind the ids
	ids     map[string]spot // keys: where the records of an id belong
}

// read is one query.
type read struct {
	head  uint32
	valid int64 // document, keys-native
	args  []any
}

type spot struct {
	head  uint32
	valid int64
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
	if err := Driver().Express(a.design, f, q); err != nil {
		return nil, err
	}
	if f == flavour.EpochList && !q.Valid.Discrete() {
		return nil, fmt.Errorf("cassandra: %s of times that are left open: %w", f, flavour.ErrCannotExpress)
	}
	if _, _, _, grid := q.Valid.Grid(); f == flavour.EpochRange && !grid && !q.Valid.All() {
		return nil, fmt.Errorf("cassandra: %s of a list of times without a step: %w", f, flavour.ErrCannotExpress)
	}
	_, c, err := a.described(ctx, q.Subset)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	p := &plan{picked: a.pick(q, c.Facts(q).Plain)}
	out := &engine.Query{Question: q, Flavour: f, Args: []any{p}}
	if a.bySeries {
		p.ranges(c, q, f, a.kept)
	} else {
		out.Keys = p.keys(c, q, f, a.kept)
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

// keys lists the ids that q can match, each once.
func (p *plan) keys(c *design.Catalog, q *question.Question, f flavour.Name, kept func(string) string) (keys []string) {
	var ids []string // as they are kept
	condition := " = ?"
	if f == flavour.Keys {
		p.named, condition, p.ids = true, " IN ?", map[string]spot{}
	}
	p.text = p.picked.text() + p.partition[0] + condition
	if n := len(q.Lead); n > 0 {
		p.text += fmt.Sprintf(" AND %s >= ? AND %s <= ?", colLead, colLead)
		p.leads = []any{q.Lead[0], q.Lead[n-1]}
	}
	for h, g := range p.series(c, q) {
		head := p.header(h)
		times := g.Times(q)
		slices.Sort(times)
		for _, v := range slices.Compact(times) {
			if !q.Valid.Contains(v) || !q.Clock.AdmitsValid(v) {
				continue
			}
			id := string(design.AppendKey(nil, q.Type, q.Subset, h, v))
			keys = append(keys, id)
			id = kept(id)
			ids = append(ids, id)
			if p.ids != nil {
				p.ids[id] = spot{head, v}
			} else {
				p.reads = append(p.reads, read{head, v, append([]any{id}, p.leads...)})
			}
		}
	}
	if p.ids != nil {
		for some := range slices.Chunk(ids, atOnce) {
			p.reads = append(p.reads, read{args: append([]any{some}, p.leads...)})
		}
	}
	return keys
}

// series walks the headers that q can match, each once: a question may name
// one value twice.
func (p *plan) series(c *design.Catalog, q *question.Question) iter.Seq2[*record.Header, *design.Group] {
	return func(yield func(*record.Header, *design.Group) bool) {
		seen := map[record.Header]bool{}
		for h, g := range c.Series(q) {
			if seen[*h] {
				continue
			}
			seen[*h] = true
			if !yield(h, g) {
				return
			}
		}
	}
}

func (p *plan) header(h *record.Header) uint32 {
	p.headers = append(p.headers, *h)
	return uint32(len(p.headers) - 1)
}

// ranges lists the series and years that q can match.
func (p *plan) ranges(c *design.Catalog, q *question.Question, f flavour.Name, kept func(string) string) {
	p.text = p.picked.text() + p.where() + " AND " + colValid
	if f == flavour.EpochList {
		p.text += " IN ?"
	} else {
		p.text += " >= ? AND " + colValid + " <= ?"
	}
	for h, g := range p.series(c, q) {
		first, last := g.First, g.Last
		if lo, hi, ok := q.Valid.Bounds(); ok {
			first, last = max(first, lo), min(last, hi)
		}
		if last < first {
			continue
		}
		series, head := kept(string(design.AppendSeries(nil, q.Type, q.Subset, h))), p.header(h)
		for year := yearOf(first); year <= yearOf(last); year++ {
			if f == flavour.EpochRange {
				p.reads = append(p.reads, read{head: head, args: []any{series, year, first, last}})
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
				p.reads = append(p.reads, read{head: head, args: []any{series, year, some}})
			}
		}
	}
}

// Ask sends the queries, many at once, each to a node that holds its
// partition, decodes what counts and restores the order.
func (a *archive) Ask(ctx context.Context, q *engine.Query, into *answer.Builder) error {
	rows, _, err := a.read(ctx, q)
	if err != nil {
		return failed(ctx, err)
	}
	answer.Arrange(q.Question, rows, into)
	return nil
}

// read carries out a query. The second value is the number of rows that the
// server sent.
func (a *archive) read(ctx context.Context, q *engine.Query) (*record.Batch, int64, error) {
	p, ok := q.Args[0].(*plan)
	if !ok {
		return nil, 0, errors.New("cassandra: the query was phrased by another engine")
	}
	h, err := a.head(ctx, q.Question.Subset, a.consistency)
	if err != nil {
		return nil, 0, err
	}
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
	err = group.Wait()
	rows := p.batch()
	for _, part := range parts {
		for i := range part.Len() {
			rows.AppendRow(part, i, part.Head[i])
		}
	}
	return rows, sent.Load(), err
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
			return r.head, r.valid, nil
		}
		at, ok := p.ids[id]
		if !ok {
			return 0, 0, fmt.Errorf("document %q was not asked for", id)
		}
		return at.head, at.valid, nil
	}
}

// Explain tells what Ask does with the query, and counts what it brings; the
// server has no plans.
func (a *archive) Explain(ctx context.Context, q *engine.Query) (engine.Plan, error) {
	rows, sent, err := a.read(ctx, q)
	if err != nil {
		return engine.Plan{}, failed(ctx, err)
	}
	p, _ := q.Args[0].(*plan)
	var b strings.Builder
	fmt.Fprintf(&b, "%s\ntoken-aware, at %s; decode; sort the rows\n%d rows sent, %d kept\n", q.Text, a.consistency, sent, rows.Len())
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
		plan.Access = []engine.Access{{Object: p.table(p.t), Method: method, Index: "PRIMARY KEY", Examined: sent, Kept: int64(rows.Len()), Measured: true}}
	}
	return plan, nil
}
