package couchbase

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/couchbase/gocb/v2"
	"github.com/tidwall/gjson"
	"github.com/zeebo/xxh3"
	"golang.org/x/sync/errgroup"

	"github.com/barograph/barograph/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/docengine"
	"github.com/barograph/barograph/record"
)

const (
	longestKey = 250    // bytes, Couchbase's limit
	metaPrefix = "BG::" // of the keys of what is no document
)

// keyOf is the key of an id: itself, or what fits of it with a digest of the whole.
func keyOf(id string) string {
	if len(id) <= longestKey {
		return id
	}
	sum := xxh3.HashString128(id)
	return fmt.Sprintf("%s#%016x%016x", id[:longestKey-33], sum.Hi, sum.Lo)
}

// store is the collection as docengine sees it.
type store struct {
	*database
	making  sync.Mutex
	indexed bool
}

func (s *store) raw() gocb.Transcoder { return gocb.NewRawJSONTranscoder() }

func (s *store) Load(ctx context.Context, name string) ([]byte, int64, error) {
	got, err := s.docs.Get(keyOf(metaPrefix+name), &gocb.GetOptions{Context: ctx, Transcoder: s.raw()})
	if errors.Is(err, gocb.ErrDocumentNotFound) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, engine.Failed(ctx, err)
	}
	var text []byte
	err = got.Content(&text)
	return text, int64(got.Cas()), err
}

func (s *store) Swap(ctx context.Context, name string, text []byte, rev int64) (int64, error) {
	key := keyOf(metaPrefix + name)
	var done *gocb.MutationResult
	var err error
	if rev == 0 {
		done, err = s.docs.Insert(key, text, &gocb.InsertOptions{Context: ctx, Transcoder: s.raw(), DurabilityLevel: s.durability})
	} else {
		done, err = s.docs.Replace(key, text, &gocb.ReplaceOptions{Context: ctx, Transcoder: s.raw(), Cas: gocb.Cas(rev), DurabilityLevel: s.durability})
	}
	for _, changed := range []error{gocb.ErrDocumentExists, gocb.ErrCasMismatch, gocb.ErrDocumentNotFound} {
		if errors.Is(err, changed) {
			return rev, fmt.Errorf("%s: %w", name, docengine.ErrChanged)
		}
	}
	if err != nil {
		return rev, engine.Failed(ctx, err)
	}
	return int64(done.Cas()), nil
}

func (s *store) Put(ctx context.Context, name string, text []byte) error {
	return s.put(ctx, keyOf(metaPrefix+name), text)
}

func (s *store) put(ctx context.Context, key string, text []byte) error {
	_, err := s.docs.Upsert(key, text, &gocb.UpsertOptions{Context: ctx, Transcoder: s.raw(), DurabilityLevel: s.durability})
	return engine.Failed(ctx, err)
}

func (s *store) Get(ctx context.Context, names []string) (map[string][]byte, error) {
	texts := map[string][]byte{}
	ids := make([]string, len(names))
	for i, n := range names {
		ids[i] = metaPrefix + n
	}
	err := s.get(ctx, ids, func(id string, text []byte) error {
		texts[id[len(metaPrefix):]] = text
		return nil
	})
	return texts, err
}

func (s *store) Delete(ctx context.Context, names []string) error {
	ids := make([]string, len(names))
	for i, n := range names {
		ids[i] = metaPrefix + n
	}
	return s.remove(ctx, ids)
}

// bulkSize is the operations of one bulk request.
const bulkSize = 256

// get reads ids by bulk requests, several at a time, and hands the documents
// over in the order of the ids, one at a time; ids without a document are normal.
func (s *store) get(ctx context.Context, ids []string, each func(id string, text []byte) error) error {
	size := min(bulkSize, s.inFlight)
	return docengine.InOrder(ctx, ids, size, s.inFlight/size, s.bulkGet, func(at int, gets []gocb.GetOp) error {
		for i := range gets {
			text, found, err := content(&gets[i])
			if err != nil {
				return engine.Failed(ctx, fmt.Errorf("%s: %w", ids[at+i], err))
			}
			if found {
				err = each(ids[at+i], text)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// enter waits until n operations more may be under way, as the SDK refuses those
// that it cannot queue; leave ends them.
func (d *database) enter(ctx context.Context, n int) (leave func(), err error) {
	if err := d.room.Acquire(ctx, int64(n)); err != nil {
		return nil, err
	}
	return func() { d.room.Release(int64(n)) }, nil
}

// bulkGet is one bulk request; nothing is sent after the end of ctx.
func (s *store) bulkGet(ctx context.Context, ids []string) ([]gocb.GetOp, error) {
	leave, err := s.enter(ctx, len(ids))
	if err != nil {
		return nil, engine.Failed(ctx, err)
	}
	defer leave()
	gets, ops := make([]gocb.GetOp, len(ids)), make([]gocb.BulkOp, len(ids))
	for i, id := range ids {
		gets[i].ID = keyOf(id)
		ops[i] = &gets[i]
	}
	return gets, engine.Failed(ctx, s.docs.Do(ops, &gocb.BulkOpOptions{Context: ctx, Transcoder: s.raw()}))
}

// content is the document that a get has read, if there is one.
func content(g *gocb.GetOp) (text []byte, found bool, err error) {
	if errors.Is(g.Err, gocb.ErrDocumentNotFound) {
		return nil, false, nil
	}
	if g.Err != nil {
		return nil, false, g.Err
	}
	err = g.Result.Content(&text)
	return text, true, err
}

// leads counts a document's leads by a sub-document look-up.
func (s *store) leads(ctx context.Context, id string) (n int64, err error) {
	found, err := s.docs.LookupIn(keyOf(id), []gocb.LookupInSpec{gocb.CountSpec("data", nil)}, &gocb.LookupInOptions{Context: ctx})
	if err == nil {
		err = found.ContentAt(0, &n)
	}
	if err != nil {
		return 0, fmt.Errorf("%s: %w", id, err)
	}
	return n, nil
}

func (s *store) remove(ctx context.Context, ids []string) error {
	return s.many(ctx, ids, func(ctx context.Context, id string) error {
		_, err := s.docs.Remove(keyOf(id), &gocb.RemoveOptions{Context: ctx, DurabilityLevel: s.durability})
		if errors.Is(err, gocb.ErrDocumentNotFound) {
			return nil
		}
		return err
	})
}

// many does one operation for every id, as many at a time as may be under way.
func (s *store) many(ctx context.Context, ids []string, do func(ctx context.Context, id string) error) error {
	group, inner := errgroup.WithContext(ctx)
	for _, id := range ids {
		leave, err := s.enter(inner, 1)
		if err != nil {
			break
		}
		group.Go(func() error {
			defer leave()
			return do(inner, id)
		})
	}
	if err := group.Wait(); err != nil {
		return engine.Failed(ctx, err)
	}
	return ctx.Err()
}

// Prepare creates the indexes, once.
func (s *store) Prepare(ctx context.Context, _ string, _ *record.LineType) error {
	s.making.Lock()
	defer s.making.Unlock()
	if s.indexed || !s.indexes {
		return ctx.Err()
	}
	if err := tooOld(s.shown, s.version()); err != nil {
		return err
	}
	for _, statement := range indexStatements(s.keyspace()) {
		rows, err := s.cluster.Query(statement, &gocb.QueryOptions{Context: ctx})
		if err != nil {
			return engine.Failed(ctx, fmt.Errorf("%s: %w", statement, err))
		}
		if err := rows.Close(); err != nil {
			return engine.Failed(ctx, err)
		}
	}
	s.indexed = true
	return nil
}

func (s *store) Fetch(ctx context.Context, _ string, _ *record.LineType, ids []string, each func(id string, doc []byte) error) error {
	return s.get(ctx, ids, each)
}

// Write writes by a bulk request; one that asks for durability, which bulk
// requests of the SDK do not offer, by single ones at the same time.
func (s *store) Write(ctx context.Context, _ string, _ *record.LineType, docs []docengine.Document) error {
	defer s.wrote()
	if s.durability != gocb.DurabilityLevelNone {
		body := map[string][]byte{}
		ids := make([]string, len(docs))
		for i := range docs {
			ids[i], body[docs[i].ID] = docs[i].ID, docs[i].Body
		}
		return s.many(ctx, ids, func(ctx context.Context, id string) error { return s.put(ctx, keyOf(id), body[id]) })
	}
	for some := range slices.Chunk(docs, min(bulkSize, s.inFlight)) {
		ops := make([]gocb.BulkOp, len(some))
		for i := range some {
			ops[i] = &gocb.UpsertOp{ID: keyOf(some[i].ID), Value: some[i].Body}
		}
		leave, err := s.enter(ctx, len(ops))
		if err != nil {
			return engine.Failed(ctx, err)
		}
		err = s.docs.Do(ops, &gocb.BulkOpOptions{Context: ctx, Transcoder: s.raw()})
		leave()
		if err != nil {
			return engine.Failed(ctx, err)
		}
		for i, op := range ops {
			if put, ok := op.(*gocb.UpsertOp); ok && put.Err != nil {
				return engine.Failed(ctx, fmt.Errorf("%s: %w", some[i].ID, put.Err))
			}
		}
	}
	return nil
}

func (s *store) Remove(ctx context.Context, _ string, _ *record.LineType, ids []string) error {
	defer s.wrote()
	return s.remove(ctx, ids)
}

// dataType is the original's name of a line type: VSDB_V01_SAL1L2.
func dataType(version string, t *record.LineType) string {
	if design.InHours(version) {
		return "VSDB_" + version + "_" + t.Name
	}
	return "MET_" + version + "_" + t.Name
}

// Append puts the original's members before those of design.AppendJSON.
func (s *store) Append(dst []byte, subset, _ string, rows *record.Batch) []byte {
	h := &rows.Headers[0]
	dst = append(dst, `{"type":"DataDocument","dataType":`...)
	dst = append(dst, literal(dataType(h[record.Version], rows.Type))...)
	dst = append(dst, `,"geoLocation_id":`...)
	dst = append(dst, literal(h[record.VxMask])...)
	n := len(dst)
	dst = design.AppendJSON(dst, subset, rows)
	dst[n] = ',' // in place of the opening brace
	return dst
}

func (s *store) Decode(doc []byte, into *record.Batch, head uint32, valid int64) error {
	return design.ParseEntries([]byte(gjson.GetBytes(doc, "data").Raw), into, head, valid)
}
