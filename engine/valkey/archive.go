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

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/docengine"
	"github.com/barograph/barograph/record"
)

// archive is the keyvalue archive of a store.
type archive struct {
	*docengine.Archive
	*store
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

// scanCount is how many keys a server looks at for one reply of SCAN.
const scanCount = 2000

// globs quotes what means something in a pattern of SCAN.
var globs = strings.NewReplacer("*", `\*`, "?", `\?`, "[", `\[`, "]", `\]`, `\`, `\\`) //nolint:gochecknoglobals // a constant

// walk walks the documents of a subset on all nodes, once per line type and
// version. SCAN looks at every key of the server, and may show one twice.
func (a *archive) walk(ctx context.Context, subset string) docengine.Walk {
	return func(t *record.LineType, each func(id string, doc []byte) error) error {
		if _, err := a.settled(ctx, subset); err != nil {
			return err
		}
		prefixes, err := a.Prefixes(ctx, subset, t)
		if err != nil {
			return err
		}
		masters, err := a.masters(ctx)
		if err != nil {
			return failed(ctx, err)
		}
		seen := map[string]bool{}
		for _, prefix := range prefixes {
			for _, m := range masters {
				if err := a.node(ctx, m, globs.Replace(a.id(prefix))+"*", seen, each); err != nil {
					return failed(ctx, err)
				}
			}
		}
		return nil
	}
}

// node walks the keys of one node.
func (s *store) node(ctx context.Context, m *redis.Client, match string, seen map[string]bool, each func(id string, doc []byte) error) error {
	for cursor := uint64(0); ; {
		found, next, err := m.Scan(ctx, cursor, match, scanCount).Result()
		if err != nil {
			return err
		}
		ids := slices.DeleteFunc(found, func(id string) bool {
			again := seen[id]
			seen[id] = true
			return again
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

// Contents counts pairs, and the records that each says it holds.
func (a *archive) Contents(ctx context.Context, subset string) (engine.Contents, error) {
	return a.CountPayloads(ctx, subset, a.walk(ctx, subset))
}

// Dump walks all pairs of the subset.
func (a *archive) Dump(ctx context.Context, subset string) iter.Seq2[*record.Batch, error] {
	return a.Archive.Dump(ctx, subset, a.walk(ctx, subset))
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
