package valkey

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/docengine"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/record"
)

// docs implements docengine.Store.
type docs struct {
	docengine.Payloads
	*store
}

// Subsets lists the subsets with a commit.
func (d docs) Subsets(ctx context.Context) (names []string, err error) {
	all, err := d.client.SMembers(ctx, d.subsetsKey()).Result()
	if err != nil {
		return nil, callError(ctx, err)
	}
	for _, name := range all {
		h, err := d.head(ctx, name)
		if err != nil {
			return nil, err
		}
		if h.version > 0 {
			names = append(names, name)
		}
	}
	return names, nil
}

// Describe reads version and catalog; the catalog may belong to a later version.
func (d docs) Describe(ctx context.Context, subset string, known int64) (int64, []byte, error) {
	h, err := d.head(ctx, subset)
	if err != nil || h.version == known {
		return h.version, nil, err
	}
	text, err := d.client.HGet(ctx, d.subsetKey("head", subset), "catalog").Bytes()
	return h.version, text, callError(ctx, err)
}

// Marks lists the loaded files.
func (d docs) Marks(ctx context.Context, subset string) ([]archive.Mark, error) {
	texts, err := d.client.HVals(ctx, d.subsetKey("marks", subset)).Result()
	if err != nil {
		return nil, callError(ctx, err)
	}
	return docengine.ParseMarks(texts)
}

// MarksOf returns the existing marks of files.
func (d docs) MarksOf(ctx context.Context, subset string, files []archive.Mark) ([]archive.Mark, error) {
	if len(files) == 0 {
		return nil, nil
	}
	digests := make([]string, len(files))
	for i := range files {
		digests[i] = files[i].Digest
	}
	values, err := d.client.HMGet(ctx, d.subsetKey("marks", subset), digests...).Result()
	if err != nil {
		return nil, callError(ctx, err)
	}
	var texts []string
	for _, v := range values {
		if text, exists := v.(string); exists {
			texts = append(texts, text)
		}
	}
	return docengine.ParseMarks(texts)
}

// Create checks that the server keeps its data.
func (d docs) Create(ctx context.Context, subset string) error {
	nodes, err := d.masters(ctx)
	if err != nil {
		return callError(ctx, err)
	}
	if err := checkEviction(ctx, nodes); err != nil {
		return err
	}
	level, err := d.durability(ctx, nodes, map[string]string{})
	if err != nil {
		return callError(ctx, err)
	}
	if level < synced {
		d.log.Warn("a commit is not durable on this server", "durability", level.String())
	}
	return callError(ctx, d.client.SAdd(ctx, d.subsetsKey(), subset).Err())
}

// checkEviction refuses a server, or a cluster with a node, that evicts records.
func checkEviction(ctx context.Context, nodes []*redis.Client) error {
	for _, node := range nodes {
		text, err := node.Info(ctx, "memory").Result()
		if err != nil {
			return callError(ctx, err)
		}
		info := fields(text)
		if policy := info["maxmemory_policy"]; info["maxmemory"] != "0" && policy != "noeviction" && policy != "" {
			return &fault.Error{
				Setting: "maxmemory-policy of " + node.Options().Addr, Problem: policy + " evicts records when memory is short",
				Cure: "set it to noeviction, or maxmemory to 0",
			}
		}
	}
	return nil
}

// attempt is a commit in flight; see the package comment.
type attempt struct {
	docs
	subset  string
	token   string
	version int64    // version from which it starts
	entries []string // ids that it writes or removes, see parseEntry
}

// Begin first completes visible commits that are not in place.
func (d docs) Begin(ctx context.Context, subset string) (context.Context, docengine.Commit, error) {
	h, err := d.readHead(ctx, subset)
	return ctx, &attempt{docs: d, subset: subset, token: rand.Text(), version: h.version}, err
}

func (t *attempt) Fetch(ctx context.Context, _ *record.LineType, ids []string, each func(id string, doc []byte) error) error {
	keys := make([]string, len(ids))
	for i := range ids {
		keys[i] = t.id(ids[i])
	}
	return callError(ctx, t.fetch(ctx, keys, func(i int, payload []byte) error { return each(ids[i], payload) }))
}

// Announce records the ids, with which any client can complete or remove the commit.
func (t *attempt) Announce(ctx context.Context, all []docengine.Change) error {
	for i := range all {
		for _, id := range all[i].IDs {
			id = t.id(id)
			if all[i].Removed {
				id = removedMark + id
			}
			t.entries = append(t.entries, id)
		}
	}
	return t.list(ctx)
}

// list stores the ids in tries.
func (t *attempt) list(ctx context.Context) error {
	return t.client.HSet(ctx, t.subsetKey("tries", t.subset), t.token, formatTry(t.version, t.entries)).Err()
}

// writeStaged sends commands that write stage keys. Another client's sweep may have removed the ids from tries, because a
// later commit is visible. Then writeStaged lists them again: if this client is killed, another one finds the stage keys.
func (t *attempt) writeStaged(ctx context.Context, write func(p redis.Pipeliner)) error {
	var listed *redis.BoolCmd
	_, err := t.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		write(p)
		listed = p.HExists(ctx, t.subsetKey("tries", t.subset), t.token)
		return nil
	})
	if err != nil || listed.Val() {
		return err
	}
	return t.list(ctx)
}

// Remove writes a stage key for each id. When the commit is visible, the payload of the id is removed together with
// its stage key, and therefore only once.
func (t *attempt) Remove(ctx context.Context, _ *record.LineType, ids []string) error {
	for some := range slices.Chunk(ids, chunk) {
		err := t.writeStaged(ctx, func(p redis.Pipeliner) {
			for _, id := range some {
				p.Set(ctx, t.stage(t.token, t.id(id)), "", 0)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Write writes payloads as stage keys.
func (t *attempt) Write(ctx context.Context, _ *record.LineType, docs []docengine.Document) error {
	return t.writeStaged(ctx, func(p redis.Pipeliner) {
		for i := range docs {
			p.Set(ctx, t.stage(t.token, t.id(docs[i].ID)), docs[i].Body, 0)
		}
	})
}

func (t *attempt) Publish(ctx context.Context, catalog []byte, done []archive.Mark) (int64, error) {
	next := t.version + 1
	args := []any{t.version, t.token, catalog}
	for i, m := range done {
		text, err := json.Marshal(docengine.NumberedMark{Version: next, Number: int64(i), Mark: m})
		if err != nil {
			return 0, err
		}
		args = append(args, m.Digest, text)
	}
	keys := []string{t.subsetKey("head", t.subset), t.subsetKey("marks", t.subset), t.subsetKey("tries", t.subset)}
	n, err := commit.Run(ctx, t.client, keys, args...).Int()
	if err != nil || n == 0 {
		return 0, err
	}
	return next, nil
}

// cleanup is how long a failed commit, or one that is visible already, may continue after its context is done.
const cleanup = 30 * time.Second

// End moves the payloads of a visible commit into place, or removes the writes of another one. If it
// cannot, the next client does.
func (t *attempt) End(ctx context.Context, visible bool, err error) error {
	after, stop := context.WithTimeout(context.WithoutCancel(ctx), cleanup)
	defer stop()
	switch {
	case visible:
		t.finish(after)
	case err == nil: // another commit was first
		err = t.drop(after, t.subset, t.token, t.entries)
	default:
		t.abandon(after)
	}
	if err != nil {
		return fmt.Errorf("valkey: commit to %s: %w", t.subset, callError(ctx, err))
	}
	return nil
}

// abandon removes the writes of a failed commit. If the reply to its script was lost, the commit may be visible
// nevertheless; then abandon removes nothing. If the script has not arrived yet, it will be refused.
func (t *attempt) abandon(ctx context.Context) {
	keys := []string{t.subsetKey("head", t.subset), t.subsetKey("tries", t.subset)}
	if invisible, err := abandonTry.Run(ctx, t.client, keys, t.token).Bool(); err != nil || !invisible {
		return
	}
	if err := t.drop(ctx, t.subset, t.token, t.entries); err != nil {
		t.log.Warn("a failed commit was not removed; the next commit removes it", "subset", t.subset, "error", err)
	}
}

// finish moves the payloads into place.
func (t *attempt) finish(ctx context.Context) {
	unlock, err := t.completing.Lock(ctx, []byte(t.subset))
	if err == nil {
		err = t.apply(ctx, t.subset, t.token)
		unlock()
	}
	if err != nil {
		t.log.Warn("a visible commit is incomplete; the next client completes it", "subset", t.subset, "error", err)
		return
	}
	if err := t.sweep(ctx, t.subset, t.version+1); err != nil {
		t.log.Warn("crashed commits were not removed", "subset", t.subset, "error", err)
	}
}
