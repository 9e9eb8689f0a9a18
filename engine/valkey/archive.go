package valkey

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"barograph/design"
	"barograph/engine"
	"barograph/record"
)

// archive is the keyvalue archive of a store.
type archive struct{ *store }

func (a *archive) Close() error { return nil }

// numbered is a mark as it is kept: with its place in the order of loading.
type numbered struct {
	Version int64       `json:"version"`
	Number  int         `json:"number"`
	Mark    engine.Mark `json:"mark"`
}

// Marks lists the loaded files.
func (a *archive) Marks(ctx context.Context, subset string) ([]engine.Mark, error) {
	texts, err := a.client.HVals(ctx, a.own("marks", subset)).Result()
	if err != nil {
		return nil, failed(ctx, err)
	}
	all := make([]numbered, len(texts))
	for i := range texts {
		if err := json.Unmarshal([]byte(texts[i]), &all[i]); err != nil {
			return nil, fmt.Errorf("mark of subset %q: %w", subset, err)
		}
	}
	slices.SortFunc(all, func(x, y numbered) int {
		return cmp.Or(cmp.Compare(x.Version, y.Version), cmp.Compare(x.Number, y.Number))
	})
	marks := make([]engine.Mark, len(all))
	for i := range all {
		marks[i] = all[i].Mark
	}
	return marks, nil
}

// catalog returns the catalog as of a state or a later one. It must not be changed.
func (s *store) catalog(ctx context.Context, subset string, h head) (known, error) {
	s.mu.Lock()
	k := s.known[subset]
	s.mu.Unlock()
	if k.catalog != nil && k.version == h.version {
		return k, nil
	}
	k = known{version: h.version, catalog: design.NewCatalog(subset)}
	if h.version > 0 {
		text, err := s.client.HGet(ctx, s.own("head", subset), "catalog").Bytes()
		if err != nil {
			return k, failed(ctx, err)
		}
		if k.catalog, err = design.ParseCatalog(text); err != nil {
			return k, fmt.Errorf("catalog of subset %q: %w", subset, err)
		}
	}
	s.mu.Lock()
	s.known[subset] = k
	s.mu.Unlock()
	return k, nil
}

// Catalog returns a copy of the subset's catalog.
func (a *archive) Catalog(ctx context.Context, subset string) (*design.Catalog, error) {
	own := design.NewCatalog(subset)
	h, err := a.head(ctx, subset)
	if err != nil {
		return nil, err
	}
	k, err := a.catalog(ctx, subset, h)
	if err != nil {
		return nil, err
	}
	own.Merge(k.catalog)
	return own, nil
}

// Subsets lists the subsets that have a commit.
func (a *archive) Subsets(ctx context.Context) ([]string, error) {
	all, err := a.client.SMembers(ctx, a.subsetsKey()).Result()
	if err != nil {
		return nil, failed(ctx, err)
	}
	var names []string
	for _, name := range all {
		h, err := a.head(ctx, name)
		if err != nil {
			return nil, err
		}
		if h.version > 0 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// get reads payloads; one that is not there is nil.
func (s *store) get(ctx context.Context, ids []string) ([][]byte, error) {
	out := make([][]byte, len(ids))
	if s.cluster == nil {
		values, err := s.client.MGet(ctx, ids...).Result()
		if err != nil {
			return nil, failed(ctx, err)
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
		return nil, failed(ctx, err)
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
			return nil, failed(ctx, err)
		}
	}
	return out, nil
}

// pair is a document as it is stored.
type pair struct {
	derived string
	t       *record.LineType
	payload []byte
}

// scanCount is how many keys a server looks at for one reply of SCAN.
const scanCount = 2000

// pairs walks the documents of a subset on all nodes. SCAN looks at every key
// of the server, and may show one twice.
func (a *archive) pairs(ctx context.Context, subset string, each func(p pair) error) error {
	h, err := a.settled(ctx, subset)
	if err != nil {
		return err
	}
	k, err := a.catalog(ctx, subset, h)
	if err != nil || len(k.catalog.Groups) == 0 {
		return err
	}
	parts := map[string]*record.LineType{} // what ids begin with
	for _, g := range k.catalog.Groups {
		t, ok := record.TypeByName(g.LineType)
		if !ok {
			return fmt.Errorf("catalog of subset %q: line type %q is not known", subset, g.LineType)
		}
		parts[string(design.AppendSubset(nil, g.Version, g.LineType, subset))] = t
	}
	masters, err := a.masters(ctx)
	if err != nil {
		return failed(ctx, err)
	}
	w := walk{archive: a, parts: parts, seen: map[string]bool{}, each: each}
	for _, m := range masters {
		if err := w.node(ctx, m); err != nil {
			return failed(ctx, err)
		}
	}
	return nil
}

// walk is a scan under way.
type walk struct {
	*archive
	parts map[string]*record.LineType
	seen  map[string]bool
	each  func(p pair) error
}

// node walks the keys of one node, once per line type and version.
func (w *walk) node(ctx context.Context, m *redis.Client) error {
	for _, prefix := range slices.Sorted(maps.Keys(w.parts)) {
		match := globs.Replace(w.id(prefix)) + "*"
		for cursor := uint64(0); ; {
			found, next, err := m.Scan(ctx, cursor, match, scanCount).Result()
			if err != nil {
				return err
			}
			if err := w.page(ctx, found, w.parts[prefix]); err != nil {
				return err
			}
			if cursor = next; cursor == 0 {
				break
			}
		}
	}
	return nil
}

// globs quotes what means something in a pattern of SCAN.
var globs = strings.NewReplacer("*", `\*`, "?", `\?`, "[", `\[`, "]", `\]`, `\`, `\\`) //nolint:gochecknoglobals // a constant

func (w *walk) page(ctx context.Context, found []string, t *record.LineType) error {
	ids := found[:0]
	for _, id := range found {
		if !w.seen[id] {
			w.seen[id] = true
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	values, err := w.get(ctx, ids)
	if err != nil {
		return err
	}
	for i, v := range values {
		if v == nil {
			continue
		}
		if err := w.each(pair{w.derived(ids[i]), t, v}); err != nil {
			return err
		}
	}
	return nil
}

// Contents counts pairs, and the records that each says it holds.
func (a *archive) Contents(ctx context.Context, subset string) (engine.Contents, error) {
	c := engine.Contents{Records: map[string]int64{}, Object: "pairs"}
	err := a.pairs(ctx, subset, func(p pair) error {
		n, width := binary.Uvarint(p.payload[min(1, len(p.payload)):]) // the count follows the layout's version
		if width <= 0 {
			return damaged(p.derived, errors.New("its payload has no count"))
		}
		c.Objects++
		c.Records[p.t.Name] += int64(n)
		return nil
	})
	return c, err
}

func damaged(id string, err error) error { return fmt.Errorf("pair %q: %w", id, err) }

// Dump walks all pairs of the subset.
func (a *archive) Dump(ctx context.Context, subset string) iter.Seq2[*record.Batch, error] {
	return engine.Dump(func(to *engine.Dumper) error {
		var b record.Batch
		err := a.pairs(ctx, subset, func(p pair) error {
			if b.Type != p.t {
				if err := to.Rest(&b); err != nil {
					return err
				}
				b.Reset(p.t, "")
			}
			_, _, h, valid, err := design.ParseKey(p.derived)
			if err != nil {
				return err
			}
			if err := design.DecodePayload(p.payload, &b, b.AddHeader(h), valid); err != nil {
				return damaged(p.derived, err)
			}
			_, err = to.Full(&b)
			return err
		})
		if err != nil {
			return err
		}
		return to.Rest(&b)
	})
}

// Size is the memory that the data of the whole server take, of all nodes
// together: a store in memory has no other size that tells anything.
func (a *archive) Size(ctx context.Context) (int64, error) {
	masters, err := a.masters(ctx)
	if err != nil {
		return 0, failed(ctx, err)
	}
	var total int64
	for _, m := range masters {
		text, err := m.Info(ctx, "memory").Result()
		if err != nil {
			return 0, failed(ctx, err)
		}
		n, err := strconv.ParseInt(fields(text)["used_memory_dataset"], 10, 64)
		if err != nil {
			return 0, fmt.Errorf("used_memory_dataset: %w", err)
		}
		total += n
	}
	return total, nil
}
