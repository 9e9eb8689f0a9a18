package valkey

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/docengine"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

// openArchive is the keyvalue archive of a store.
type openArchive struct {
	*docengine.Archive
	*store
}

// get reads payloads; a missing one is nil.
func (s *store) get(ctx context.Context, ids []string) ([][]byte, error) {
	out := make([][]byte, len(ids))
	if s.cluster == nil {
		values, err := s.client.MGet(ctx, ids...).Result()
		if err != nil {
			return nil, callError(ctx, err)
		}
		for i, v := range values {
			if text, ok := v.(string); ok {
				out[i] = []byte(text)
			}
		}
		return out, nil
	}
	cmds, err := s.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for _, id := range ids {
			p.Get(ctx, id)
		}
		return nil
	})
	if err != nil && !errors.Is(err, redis.Nil) {
		return nil, callError(ctx, err)
	}
	for i, c := range cmds {
		get, ok := c.(*redis.StringCmd)
		if !ok {
			return nil, errors.New("valkey: a GET has no text")
		}
		value, err := get.Bytes()
		switch {
		case err == nil:
			out[i] = value
		case !errors.Is(err, redis.Nil):
			return nil, callError(ctx, err)
		}
	}
	return out, nil
}

// scanCount is the number of keys that a server examines for one reply of SCAN.
const scanCount = 2000

// globs escapes the special characters in a pattern of SCAN.
var globs = strings.NewReplacer("*", `\*`, "?", `\?`, "[", `\[`, "]", `\]`, `\`, `\\`) //nolint:gochecknoglobals // a constant

// walk calls each once for each document of a subset, on all nodes. It scans the server once for each line type and
// version. SCAN examines every key of the server, and may return a key twice; therefore walk keeps the ids in memory.
func (a *openArchive) walk(ctx context.Context, subset string) docengine.Walk {
	return func(t *record.LineType, each func(id string, doc []byte) error) error {
		if _, err := a.readHead(ctx, subset); err != nil {
			return err
		}
		prefixes, err := a.Prefixes(ctx, subset, t)
		if err != nil {
			return err
		}
		masters, err := a.masters(ctx)
		if err != nil {
			return callError(ctx, err)
		}
		seen := map[string]bool{}
		for _, prefix := range prefixes {
			for _, m := range masters {
				if err := a.node(ctx, m, globs.Replace(a.id(prefix))+"*", seen, each); err != nil {
					return callError(ctx, err)
				}
			}
		}
		return nil
	}
}

// node scans the keys of one node.
func (s *store) node(
	ctx context.Context, m *redis.Client, match string, seen map[string]bool, each func(id string, doc []byte) error,
) error {
	for cursor := uint64(0); ; {
		found, next, err := m.Scan(ctx, cursor, match, scanCount).Result()
		if err != nil {
			return err
		}
		ids := slices.DeleteFunc(found, func(id string) bool {
			duplicate := seen[id]
			seen[id] = true
			return duplicate
		})
		if len(ids) > 0 {
			values, err := s.get(ctx, ids)
			if err != nil {
				return err
			}
			for i, v := range values {
				if v == nil {
					continue
				}
				if err := each(s.derived(ids[i]), v); err != nil {
					return err
				}
			}
		}
		if cursor = next; cursor == 0 {
			return nil
		}
	}
}

// Contents counts pairs, and the records that each pair contains by its own count.
func (a *openArchive) Contents(ctx context.Context, subset string) (archive.Contents, error) {
	return a.CountPayloads(ctx, subset, a.walk(ctx, subset))
}

// Dump yields the records of all pairs of the subset.
func (a *openArchive) Dump(ctx context.Context, subset string) iter.Seq2[*record.Batch, error] {
	return a.Archive.Dump(ctx, subset, a.walk(ctx, subset))
}

// Size returns the memory of the data of the server, of all nodes together: a store in memory has no
// other meaningful size.
func (a *openArchive) Size(ctx context.Context) (int64, error) {
	masters, err := a.masters(ctx)
	if err != nil {
		return 0, callError(ctx, err)
	}
	var total int64
	for _, m := range masters {
		text, err := m.Info(ctx, "memory").Result()
		if err != nil {
			return 0, callError(ctx, err)
		}
		n, err := strconv.ParseInt(fields(text)["used_memory_dataset"], 10, 64)
		if err != nil {
			return 0, fmt.Errorf("used_memory_dataset: %w", err)
		}
		total += n
	}
	return total, nil
}

// plan lists the ids that a question reads.
type plan struct {
	*docengine.Lookup
	ids []string // as keys of the server
}

// Phrase computes from the catalog what to read.
func (a *openArchive) Phrase(ctx context.Context, q *question.Question, f flavour.Name) (*archive.Query, error) {
	out, c, err := a.NewQuery(ctx, Driver(), design.KeyValue, q, f)
	if err != nil {
		return nil, err
	}
	p := &plan{Lookup: docengine.Derive(c, out)}
	for _, key := range out.Keys {
		p.ids = append(p.ids, a.id(key))
	}
	out.Args = []any{p}
	out.Text = fmt.Sprintf("%s of %d derived ids of %d series, %d at a time", a.verb(), len(p.ids), len(p.Headers), a.batch)
	if len(q.Lead) > 0 {
		out.Text += fmt.Sprintf(", keep %d leads", len(q.Lead))
	}
	return out, nil
}

func (s *store) verb() string {
	if s.cluster != nil {
		return "pipelined GET"
	}
	return "MGET"
}

// Ask reads the pairs, several batches at once, decodes them in the order of the ids and restores the order
// of the answer.
func (a *openArchive) Ask(ctx context.Context, q *archive.Query, into *answer.Builder) error {
	p, err := docengine.Plan[*plan](q)
	if err != nil {
		return err
	}
	if _, err := a.readHead(ctx, q.Question.Subset); err != nil {
		return err
	}
	return callError(ctx, a.Answer(q.Question, p.Headers, into, func(rows *record.Batch) error {
		var d design.PayloadDecoder
		return a.fetch(ctx, p.ids, func(i int, payload []byte) error {
			return docengine.DocumentError(p.ids[i], d.Decode(payload, rows, p.Places[i].Head, p.Places[i].Valid, q.Question.Lead))
		})
	}))
}

// fetch gets the ids in batches, several in flight at once, and passes on the existing payloads in order.
func (s *store) fetch(ctx context.Context, ids []string, each func(i int, payload []byte) error) error {
	return docengine.InOrder(ctx, ids, s.batch, s.inflight, s.get, func(at int, values [][]byte) error {
		for i, v := range values {
			if v == nil {
				continue
			}
			if err := each(at+i, v); err != nil {
				return err
			}
		}
		return nil
	})
}

// Explain describes what Ask does with the query, and counts what it finds; the server has no plans.
func (a *openArchive) Explain(ctx context.Context, q *archive.Query) (archive.Plan, error) {
	p, err := docengine.Plan[*plan](q)
	if err != nil {
		return archive.Plan{}, err
	}
	found := int64(0)
	if err := a.fetch(ctx, p.ids, func(int, []byte) error { found++; return nil }); err != nil {
		return archive.Plan{}, callError(ctx, err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %d batches in flight; decode the payloads; sort the rows\n", q.Text, a.inflight)
	fmt.Fprintf(&b, "%d of %d ids exist\n", found, len(p.ids))
	for i := range min(len(p.ids), 20) {
		fmt.Fprintf(&b, "get %s\n", p.ids[i])
	}
	if n := len(p.ids) - 20; n > 0 {
		fmt.Fprintf(&b, "and %d more\n", n)
	}
	plan := archive.Plan{Text: b.String()}
	if len(p.ids) > 0 {
		plan.Access = []archive.Access{{
			Object: string(design.KeyValue), Method: archive.KeyLookup, Index: "hash table",
			Examined: int64(len(p.ids)), Kept: found, Counted: true,
		}}
	}
	return plan, nil
}
