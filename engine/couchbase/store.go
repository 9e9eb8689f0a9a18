package couchbase

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/couchbase/gocbcore/v10"
	"github.com/couchbase/gocbcore/v10/memd"
	"github.com/tidwall/gjson"
	"github.com/zeebo/xxh3"
	"golang.org/x/sync/errgroup"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/docengine"
	"github.com/barograph/barograph/record"
)

const (
	longestKey = 250    // bytes; Couchbase's limit
	metaPrefix = "BG::" // prefix of keys that are not documents
)

// keyOf returns the key of an id: the id itself, or a shortened id with a digest of the complete one.
func keyOf(id string) string {
	if len(id) <= longestKey {
		return id
	}
	sum := xxh3.HashString128(id)
	return fmt.Sprintf("%s#%016x%016x", id[:longestKey-33], sum.Hi, sum.Lo)
}

// store implements docengine.SingleDocumentStore.
type store struct {
	*database
	indexMu sync.Mutex
	indexed bool // this process has created the indexes
}

func (s *store) Load(ctx context.Context, name string) ([]byte, int64, error) {
	text, cas, err := s.docs.get(ctx, keyOf(metaPrefix+name))
	if errors.Is(err, gocbcore.ErrDocumentNotFound) {
		return nil, 0, nil
	}
	return text, int64(cas), engine.CallError(ctx, err)
}

func (s *store) Swap(ctx context.Context, name string, text []byte, rev int64) (int64, error) {
	key := keyOf(metaPrefix + name)
	var cas gocbcore.Cas
	var err error
	if rev == 0 {
		cas, err = s.docs.insert(ctx, key, text)
	} else {
		cas, err = s.docs.replace(ctx, key, text, gocbcore.Cas(rev))
	}
	for _, changed := range []error{gocbcore.ErrDocumentExists, gocbcore.ErrCasMismatch, gocbcore.ErrDocumentNotFound} {
		if errors.Is(err, changed) {
			return rev, fmt.Errorf("%s: %w", name, docengine.ErrChanged)
		}
	}
	if err != nil {
		return rev, engine.CallError(ctx, err)
	}
	return int64(cas), nil
}

// Put stores a long text in pieces. The text of the name then lists the names of the pieces. Each Put uses new names
// for them: Get reads the earlier text until Put replaces the list. After that Put deletes the earlier pieces.
func (s *store) Put(ctx context.Context, name string, text []byte) error {
	earlier, err := s.pieces(ctx, name)
	if err != nil {
		return err
	}
	if len(text) > pieceBytes {
		var list pieceList
		for piece := range slices.Chunk(text, pieceBytes) {
			list.Names = append(list.Names, name+"::piece::"+rand.Text())
			if err := s.upsert(ctx, keyOf(metaPrefix+list.Names[len(list.Names)-1]), piece); err != nil {
				return err
			}
		}
		if text, err = json.Marshal(&list); err != nil {
			return err
		}
	}
	if err := s.upsert(ctx, keyOf(metaPrefix+name), text); err != nil {
		return err
	}
	return s.deleteTexts(ctx, earlier)
}

// pieceBytes is the size of a piece, and of the longest text without pieces. Couchbase's limit of a document is
// 20 MiB. The ids of one commit may have more: a window of 262,144 records whose documents have one lead each lists
// as many ids, often of more than 100 bytes.
const pieceBytes = 16 << 20

// pieceList is the text of a name whose text is stored in pieces.
type pieceList struct {
	Names []string `json:"barograph_pieces"`
}

// pieceListStart is the beginning of the JSON of a pieceList.
const pieceListStart = `{"barograph_pieces":`

// pieces returns the names of a text's pieces; none if the text has none or does not exist.
func (s *store) pieces(ctx context.Context, name string) (names []string, err error) {
	found, err := s.docs.lookUp(ctx, keyOf(metaPrefix+name), memd.SubDocOpGet, "barograph_pieces")
	for _, none := range []error{
		gocbcore.ErrDocumentNotFound, gocbcore.ErrPathNotFound, gocbcore.ErrPathMismatch, gocbcore.ErrDocumentNotJSON,
	} {
		if errors.Is(err, none) {
			return nil, nil
		}
	}
	if err == nil {
		err = json.Unmarshal(found, &names)
	}
	return names, engine.CallError(ctx, err)
}

// join reads the pieces of a text.
func (s *store) join(ctx context.Context, name string, list []byte) ([]byte, error) {
	var pieces pieceList
	if err := json.Unmarshal(list, &pieces); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	texts, err := s.texts(ctx, pieces.Names)
	if err != nil {
		return nil, err
	}
	var out []byte
	for _, n := range pieces.Names {
		piece, exists := texts[n]
		if !exists {
			return nil, fmt.Errorf("%s is missing", n)
		}
		out = append(out, piece...)
	}
	return out, nil
}

func (s *store) upsert(ctx context.Context, key string, text []byte) error {
	return engine.CallError(ctx, s.docs.upsert(ctx, key, text))
}

func (s *store) Get(ctx context.Context, names []string) (map[string][]byte, error) {
	texts, err := s.texts(ctx, names)
	for name, text := range texts {
		if err == nil && bytes.HasPrefix(text, []byte(pieceListStart)) {
			texts[name], err = s.join(ctx, name, text)
		}
	}
	return texts, err
}

// texts reads texts without their pieces.
func (s *store) texts(ctx context.Context, names []string) (map[string][]byte, error) {
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
	all := slices.Clone(names)
	for _, name := range names {
		pieces, err := s.pieces(ctx, name)
		if err != nil {
			return err
		}
		all = append(all, pieces...)
	}
	return s.deleteTexts(ctx, all)
}

func (s *store) deleteTexts(ctx context.Context, names []string) error {
	ids := make([]string, len(names))
	for i, n := range names {
		ids[i] = metaPrefix + n
	}
	return s.remove(ctx, ids)
}

// bulkSize is the number of operations in one bulk request.
const bulkSize = 256

// get reads ids with bulk requests, several at a time, and passes on the documents in the order of the ids,
// one at a time. It ignores ids without a document.
func (s *store) get(ctx context.Context, ids []string, each func(id string, text []byte) error) error {
	size := min(bulkSize, s.inFlight)
	return docengine.InOrder(ctx, ids, size, s.inFlight/size, s.bulkGet, func(first int, gets []document) error {
		for i := range gets {
			switch err := gets[i].err; {
			case errors.Is(err, gocbcore.ErrDocumentNotFound):
				continue
			case err != nil:
				return engine.CallError(ctx, fmt.Errorf("%s: %w", ids[first+i], err))
			}
			if err := each(ids[first+i], gets[i].text); err != nil {
				return err
			}
		}
		return nil
	})
}

// reserve waits until n more operations may be in flight, because the SDK refuses operations that it cannot
// queue. The caller calls release when they are answered.
func (d *database) reserve(ctx context.Context, n int) (release func(), err error) {
	if err := d.operations.Acquire(ctx, int64(n)); err != nil {
		return nil, err
	}
	return func() { d.operations.Release(int64(n)) }, nil
}

// bulkGet is one bulk request. It sends nothing after the end of ctx.
func (s *store) bulkGet(ctx context.Context, ids []string) ([]document, error) {
	release, err := s.reserve(ctx, len(ids))
	if err != nil {
		return nil, engine.CallError(ctx, err)
	}
	defer release()
	keys := make([]string, len(ids))
	for i, id := range ids {
		keys[i] = keyOf(id)
	}
	gets, err := s.docs.gets(ctx, keys)
	return gets, engine.CallError(ctx, err)
}

// leads counts a document's leads with a sub-document look-up.
func (s *store) leads(ctx context.Context, id string) (n int64, err error) {
	found, err := s.docs.lookUp(ctx, keyOf(id), memd.SubDocOpGetCount, "data")
	if err == nil {
		err = json.Unmarshal(found, &n)
	}
	if err != nil {
		return 0, fmt.Errorf("%s: %w", id, err)
	}
	return n, nil
}

func (s *store) remove(ctx context.Context, ids []string) error {
	return s.forEach(ctx, ids, func(ctx context.Context, id string) error {
		err := s.docs.remove(ctx, keyOf(id))
		if errors.Is(err, gocbcore.ErrDocumentNotFound) {
			return nil
		}
		return err
	})
}

// forEach runs an operation for every id, as many at a time as may be in flight.
func (s *store) forEach(ctx context.Context, ids []string, do func(ctx context.Context, id string) error) error {
	group, inner := errgroup.WithContext(ctx)
	for _, id := range ids {
		release, err := s.reserve(inner, 1)
		if err != nil {
			break
		}
		group.Go(func() error {
			defer release()
			return do(inner, id)
		})
	}
	if err := group.Wait(); err != nil {
		return engine.CallError(ctx, err)
	}
	return ctx.Err()
}

// Prepare creates the indexes, once.
func (s *store) Prepare(ctx context.Context, _ string, _ *record.LineType) error {
	s.indexMu.Lock()
	defer s.indexMu.Unlock()
	if s.indexed || !s.indexes {
		return ctx.Err()
	}
	version, _ := s.version(ctx) // if there is no query service, the first statement below reports it
	if err := tooOld(s.shown, version); err != nil {
		return err
	}
	for _, text := range indexStatements(s.keyspace()) {
		if _, err := s.docs.query(ctx, text, statement{prepare: true}, func([]byte) error { return nil }); err != nil {
			return engine.CallError(ctx, fmt.Errorf("%s: %w", text, err))
		}
	}
	s.indexed = true
	return nil
}

func (s *store) Fetch(
	ctx context.Context, _ string, _ *record.LineType, ids []string, each func(id string, doc []byte) error,
) error {
	return s.get(ctx, ids, each)
}

// Write writes with a bulk request. If it needs durability, which bulk requests of the SDK do not offer, it
// sends single requests at the same time.
func (s *store) Write(ctx context.Context, _ string, _ *record.LineType, docs []docengine.Document) error {
	defer s.recordWrite()
	if s.durability != 0 {
		body := map[string][]byte{}
		ids := make([]string, len(docs))
		for i := range docs {
			ids[i], body[docs[i].ID] = docs[i].ID, docs[i].Body
		}
		return s.forEach(ctx, ids, func(ctx context.Context, id string) error {
			return s.upsert(ctx, keyOf(id), body[id])
		})
	}
	for some := range slices.Chunk(docs, min(bulkSize, s.inFlight)) {
		release, err := s.reserve(ctx, len(some))
		if err != nil {
			return engine.CallError(ctx, err)
		}
		errs := make([]error, len(some))
		err = sendAll(ctx, len(some), func(i int, done func()) (gocbcore.PendingOp, error) {
			o := s.docs.setOptions(keyOf(some[i].ID), some[i].Body, len(some))
			return s.docs.agent.Set(o, func(_ *gocbcore.StoreResult, err error) {
				errs[i] = err
				done()
			})
		})
		release()
		if err != nil {
			return engine.CallError(ctx, err)
		}
		for i, err := range errs {
			if err != nil {
				return engine.CallError(ctx, fmt.Errorf("%s: %w", some[i].ID, err))
			}
		}
	}
	return nil
}

func (s *store) Remove(ctx context.Context, _ string, _ *record.LineType, ids []string) error {
	defer s.recordWrite()
	return s.remove(ctx, ids)
}

// dataType returns the original's name of a line type: VSDB_V01_SAL1L2.
func dataType(version string, t *record.LineType) string {
	if design.LeadsInHours(version) {
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
	dst[n] = ',' // replaces the opening brace
	return dst
}

func (s *store) Decode(doc []byte, into *record.Batch, head uint32, valid int64) error {
	return design.ParseEntries([]byte(gjson.GetBytes(doc, "data").Raw), into, head, valid)
}
