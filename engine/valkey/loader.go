package valkey

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"

	"barograph/design"
	"barograph/engine"
	"barograph/fault"
	"barograph/record"
)

// Loader opens a loader; any number of them may work at once.
func (a *archive) Loader(ctx context.Context, subset string) (engine.Loader, error) {
	if a.readOnly {
		return nil, &fault.Error{Setting: "valkey", Err: engine.ErrReadOnly, Cure: "open it without --read-only"}
	}
	info, err := a.lasting(ctx)
	if err != nil {
		return nil, err
	}
	into := map[string]string{}
	if d := a.durability(ctx, info, into); into["appendfsync"] != always || info["aof_enabled"] != "1" {
		a.log.Warn("a commit is not durable on this server", "durability", d)
	}
	return &loader{store: a.store, subset: subset}, nil
}

// lasting refuses a server that throws records away. It returns what the server
// tells of itself.
func (s *store) lasting(ctx context.Context) (info map[string]string, err error) {
	text, err := s.client.Info(ctx).Result()
	if err != nil {
		return nil, failed(ctx, err)
	}
	info = fields(text)
	if policy := info["maxmemory_policy"]; info["maxmemory"] != "0" && policy != "noeviction" && policy != "" {
		return nil, &fault.Error{Setting: "maxmemory-policy", Problem: policy + " throws records away when memory is short", Cure: "set it to noeviction, or maxmemory to 0"}
	}
	return info, nil
}

type loader struct {
	store  *store
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

// attempt is one try of a commit.
type attempt struct {
	*loader
	token  string
	base   known // what it starts from
	ids    []string
	stored engine.Stored
}

// Commit merges the documents with those that are there and stores them; see
// the package comment. It tries again where another loader was faster.
func (l *loader) Commit(ctx context.Context, c engine.Commit) (engine.Stored, error) {
	defer l.Close() //nolint:errcheck // it forgets the records, whatever became of them
	done, err := l.store.turn(ctx, l.subset)
	if err != nil {
		return engine.Stored{}, err
	}
	defer done()
	if err := l.store.client.SAdd(ctx, l.store.subsetsKey(), l.subset).Err(); err != nil {
		return engine.Stored{}, failed(ctx, err)
	}
	for {
		t := &attempt{loader: l, token: rand.Text(), stored: engine.Stored{Replaced: map[string]int64{}}}
		won, err := t.try(ctx, &c)
		if err != nil {
			t.abandon(ctx)
			return engine.Stored{}, fmt.Errorf("valkey: commit to %s: %w", l.subset, failed(ctx, err))
		}
		if won {
			return t.stored, t.finish(ctx)
		}
		if err := t.store.drop(ctx, l.subset, t.token, t.ids); err != nil {
			return engine.Stored{}, failed(ctx, err)
		}
	}
}

// cleanup is how long a commit that failed, or that counts already, may go on
// after its context is done.
const cleanup = 30 * time.Second

// abandon takes away what a failed attempt has written, if the server lets it:
// otherwise the next commit does. The attempt may count all the same, where
// the reply to its script was lost; then nothing is taken away.
func (t *attempt) abandon(ctx context.Context) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), cleanup)
	defer stop()
	if h, err := t.store.head(ctx, t.subset); err != nil || h.token == t.token {
		return
	}
	if err := t.store.drop(ctx, t.subset, t.token, t.ids); err != nil {
		t.store.log.Warn("a failed commit left something behind, which the next one takes away", "subset", t.subset, "error", err)
	}
}

// finish puts the payloads into their places. The commit counts already: an
// error here means that whoever comes next completes it.
func (t *attempt) finish(ctx context.Context) error {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), cleanup)
	defer stop()
	if err := t.store.apply(ctx, t.subset, t.token); err != nil {
		t.store.log.Warn("a commit counts, but is to be completed by whoever comes next", "subset", t.subset, "error", err)
		return nil
	}
	if err := t.store.sweep(ctx, t.subset, t.base.version+1); err != nil {
		t.store.log.Warn("commits that died are still there", "subset", t.subset, "error", err)
	}
	return nil
}

// try stages the documents and, if nobody else has committed since, commits.
func (t *attempt) try(ctx context.Context, c *engine.Commit) (won bool, err error) {
	h, err := t.store.complete(ctx, t.subset)
	if err != nil {
		return false, err
	}
	if t.base, err = t.store.catalog(ctx, t.subset, h); err != nil {
		return false, err
	}
	if err := t.stageAll(ctx); err != nil {
		return false, err
	}
	if err := c.Check(&t.stored); err != nil {
		return false, err
	}
	next := design.NewCatalog(t.subset)
	next.Merge(t.base.catalog)
	if c.Catalog != nil {
		next.Merge(c.Catalog)
	}
	text, err := next.Encode()
	if err != nil {
		return false, err
	}
	args := []any{t.base.version, t.token, text}
	done := slices.Clone(c.Done)
	for i := range done {
		done[i].Settle(t.stored)
		mark, err := json.Marshal(numbered{Version: t.base.version + 1, Number: i, Mark: done[i]})
		if err != nil {
			return false, err
		}
		args = append(args, done[i].Digest, mark)
	}
	n, err := commit.Run(ctx, t.store.client, []string{t.store.own("head", t.subset), t.store.own("marks", t.subset)}, args...).Int()
	if err != nil || n == 0 {
		return false, err
	}
	copy(c.Done, done)
	t.store.mu.Lock()
	t.store.known[t.subset] = known{version: t.base.version + 1, catalog: next}
	t.store.mu.Unlock()
	return true, nil
}

// stageAll notes the ids and writes the merged payloads as stage keys. One
// chunk is merged and encoded while others are written.
func (t *attempt) stageAll(ctx context.Context) error {
	var derived []byte
	for _, lt := range t.groups.Types() {
		for doc := range t.groups.Docs(lt) {
			derived = design.AppendKey(derived[:0], lt, t.subset, doc.Header(), doc.Valid())
			t.ids = append(t.ids, t.store.id(string(derived)))
		}
	}
	if err := t.store.client.HSet(ctx, t.store.own("tries", t.subset), t.token, formatTry(t.base.version, t.ids)).Err(); err != nil {
		return err
	}
	group, gctx := errgroup.WithContext(ctx)
	group.SetLimit(t.store.inflight)
	at := 0
	for _, lt := range t.groups.Types() {
		part := newPart(lt)
		for doc := range t.groups.Docs(lt) {
			part.add(doc)
			if len(part.docs) == chunk {
				at += t.send(gctx, group, part, at)
				part = newPart(lt)
			}
		}
		at += t.send(gctx, group, part, at)
		if gctx.Err() != nil {
			break
		}
	}
	return group.Wait()
}

// part is a chunk of documents of one line type; their records are copies, as
// a Doc lives for one step.
type part struct {
	docs  []design.Doc
	have  record.Batch // one after the other: what the store holds
	stock record.Batch // have, merged with a document
	buf   []byte
}

func newPart(*record.LineType) *part { return &part{} }

func (p *part) add(d *design.Doc) {
	p.docs = append(p.docs, design.Doc{Rows: d.Rows.Clone(), From: slices.Clone(d.From)})
}

// send merges and writes the documents of a part, whose ids begin at at.
func (t *attempt) send(ctx context.Context, group *errgroup.Group, p *part, at int) int {
	n := len(p.docs)
	if n == 0 {
		return 0
	}
	ids := t.ids[at : at+n]
	group.Go(func() error {
		var have [][]byte
		if t.base.version > 0 {
			var err error
			if have, err = t.store.get(ctx, ids); err != nil {
				return err
			}
		}
		stored := engine.Stored{Replaced: map[string]int64{}}
		_, err := t.store.client.Pipelined(ctx, func(pipe redis.Pipeliner) error {
			for i := range p.docs {
				var old []byte
				if have != nil {
					old = have[i]
				}
				payload, err := p.merge(&p.docs[i], old, &stored)
				if err != nil {
					return damaged(ids[i], err)
				}
				pipe.Set(ctx, t.store.stage(t.token, ids[i]), payload, 0)
			}
			return nil
		})
		if err != nil {
			return err
		}
		t.store.mu.Lock()
		defer t.store.mu.Unlock()
		t.stored.New += stored.New
		for file, n := range stored.Replaced {
			t.stored.Replaced[file] += n
		}
		t.stored.Other = append(t.stored.Other, stored.Other...)
		return nil
	})
	return n
}

// merge encodes a document, merged with the payload that is there; nil = none.
func (p *part) merge(doc *design.Doc, old []byte, stored *engine.Stored) ([]byte, error) {
	rows := doc.Rows
	if old != nil {
		p.have.Reset(doc.Rows.Type, "")
		if err := design.DecodePayload(old, &p.have, p.have.AddHeader(*doc.Header()), doc.Valid()); err != nil {
			return nil, err
		}
		design.Merge(&p.stock, &p.have, doc, func(i, j int) { stored.Meet(doc.From[j], &p.have, i, doc.Rows, j) })
		rows = &p.stock
	}
	stored.New += int64(doc.Rows.Len())
	p.buf = design.AppendPayload(p.buf[:0], rows, 0, rows.Len())
	return slices.Clone(p.buf), nil
}
