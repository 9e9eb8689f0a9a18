package valkey

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/internal/fault"
)

// prefix is the prefix of every key of the archive.
func (s *store) prefix() string {
	if s.namespace == "" {
		return ""
	}
	return s.namespace + "::"
}

// subsetKey returns the key of a subset's data other than documents. All such keys of a subset are in one slot.
func (s *store) subsetKey(what, subset string) string {
	return s.prefix() + "BG::" + what + "::{s:" + url.QueryEscape(subset) + "}"
}

func (s *store) subsetsKey() string { return s.prefix() + "BG::subsets" }

// id returns the key of the payload of a derived id. '%' of an id is escaped already, so braces can be escaped with it.
func (s *store) id(derived string) string {
	if strings.ContainsAny(derived, "{}") {
		derived = strings.NewReplacer("{", "%7B", "}", "%7D").Replace(derived)
	}
	return s.prefix() + derived
}

// derived is the inverse of id.
func (s *store) derived(id string) string {
	d := strings.TrimPrefix(id, s.prefix())
	if strings.Contains(d, "%7") {
		d = strings.NewReplacer("%7B", "{", "%7D", "}").Replace(d)
	}
	return d
}

// stage returns the key of a payload that waits for its commit, in the slot of its id.
func (s *store) stage(token, id string) string {
	return s.prefix() + "BG::stage::" + token + "::{" + id + "}"
}

// head is the state of a subset. The zero value is the state of a subset that does not exist.
type head struct {
	version  int64
	applying string // token of a visible commit whose payloads are not all in place
	token    string // token of the last commit
}

func (s *store) head(ctx context.Context, subset string) (h head, err error) {
	v, err := s.client.HMGet(ctx, s.subsetKey("head", subset), "version", "applying", "token").Result()
	if err != nil {
		return h, failed(ctx, err)
	}
	if text, ok := v[0].(string); ok {
		if h.version, err = strconv.ParseInt(text, 10, 64); err != nil {
			return h, fmt.Errorf("subset %q: version: %w", subset, err)
		}
	}
	h.applying, _ = v[1].(string)
	h.token, _ = v[2].(string)
	return h, nil
}

// readOnlyPatience is how long a read-only client waits for others to complete a commit.
const readOnlyPatience = 5 * time.Second

// readHead returns the state of a subset after it has completed a visible commit that is not in place.
func (s *store) readHead(ctx context.Context, subset string) (head, error) {
	h, err := s.head(ctx, subset)
	if err != nil || h.applying == "" {
		return h, err
	}
	unlock, err := s.completing.Lock(ctx, []byte(subset)) // another loader of this process may be completing it
	if err != nil {
		return h, err
	}
	defer unlock()
	began := time.Now()
	for {
		h, err := s.head(ctx, subset)
		if err != nil || h.applying == "" {
			return h, err
		}
		switch {
		case !s.readOnly:
			err = s.apply(ctx, subset, h.applying)
		case time.Since(began) > readOnlyPatience:
			err = &fault.Error{
				Setting: "subset " + strconv.Quote(subset), Problem: "contains an incomplete load", Err: engine.ErrReadOnly,
				Cure: "run the load again, which completes the load or rolls it back",
			}
		default:
			err = engine.Pause(ctx, 10*time.Millisecond)
		}
		if err != nil {
			return h, err
		}
	}
}

// chunk is the number of commands in a writing pipeline.
const chunk = 256

// apply moves the payloads of a visible commit into place.
func (s *store) apply(ctx context.Context, subset, token string) error {
	text, err := s.client.HGet(ctx, s.subsetKey("tries", subset), token).Result()
	if err != nil && !errors.Is(err, redis.Nil) { // nil: another client has completed it
		return failed(ctx, err)
	}
	_, ids := parseTry(text)
	for some := range slices.Chunk(ids, chunk) {
		cmds, err := s.client.Pipelined(ctx, func(p redis.Pipeliner) error {
			for _, id := range some {
				if gone, ok := strings.CutPrefix(id, goneMark); ok {
					p.Del(ctx, gone)
				} else {
					p.Rename(ctx, s.stage(token, id), id)
				}
			}
			return nil
		})
		if err != nil {
			if err = unexpected(cmds, err); err != nil {
				return failed(ctx, err)
			}
		}
	}
	return failed(ctx, clearApplying.Run(ctx, s.client, []string{s.subsetKey("head", subset), s.subsetKey("tries", subset)}, token).Err())
}

// unexpected returns the first error of a pipeline of renames, except errors about stage keys that are renamed already.
func unexpected(cmds []redis.Cmder, err error) error {
	if len(cmds) == 0 {
		return err
	}
	for _, c := range cmds {
		if err := c.Err(); err != nil && !strings.Contains(err.Error(), "no such key") {
			return err
		}
	}
	return nil
}

// clearApplying marks a commit as complete, unless another one has started since.
//
//nolint:gochecknoglobals // a constant: the text and its digest
var clearApplying = redis.NewScript(`
if redis.call('HGET', KEYS[1], 'applying') == ARGV[1] then
	redis.call('HSET', KEYS[1], 'applying', '')
end
return redis.call('HDEL', KEYS[2], ARGV[1])`)

// commit replaces one version by the next: 1 = done, also if it was done before and the reply was lost; 0 =
// the version has changed.
//
//nolint:gochecknoglobals // a constant: the text and its digest
var commit = redis.NewScript(`
local head = redis.call('HMGET', KEYS[1], 'version', 'applying', 'token')
if head[3] == ARGV[2] then
	return 1
end
if (head[1] or '0') ~= ARGV[1] or (head[2] or '') ~= '' then
	return 0
end
redis.call('HINCRBY', KEYS[1], 'version', 1)
redis.call('HSET', KEYS[1], 'applying', ARGV[2], 'token', ARGV[2], 'catalog', ARGV[3])
for i = 4, #ARGV, 2 do
	redis.call('HSET', KEYS[2], ARGV[i], ARGV[i + 1])
end
return 1`)

// formatTry is a commit's record of itself: the version from which it starts, and its ids. Line feeds in
// ids are escaped.
func formatTry(base int64, ids []string) string {
	var b strings.Builder
	b.WriteString(strconv.FormatInt(base, 10))
	for _, id := range ids {
		b.WriteByte('\n')
		b.WriteString(strings.ReplaceAll(id, "\n", "%0A"))
	}
	return b.String()
}

func parseTry(text string) (base int64, ids []string) {
	first, rest, ok := strings.Cut(text, "\n")
	base, err := strconv.ParseInt(first, 10, 64)
	if err != nil || !ok {
		return base, nil
	}
	ids = strings.Split(rest, "\n")
	for i := range ids {
		ids[i] = strings.ReplaceAll(ids[i], "%0A", "\n")
	}
	return base, ids
}

// drop removes the writes of a commit that will never count.
func (s *store) drop(ctx context.Context, subset, token string, ids []string) error {
	for some := range slices.Chunk(ids, chunk) {
		if _, err := s.client.Pipelined(ctx, func(p redis.Pipeliner) error {
			for _, id := range some {
				p.Unlink(ctx, s.stage(token, id))
			}
			return nil
		}); err != nil {
			return err
		}
	}
	return s.client.HDel(ctx, s.subsetKey("tries", subset), token).Err()
}

// sweep drops crashed commits: those that started from a version before the present one.
func (s *store) sweep(ctx context.Context, subset string, version int64) error {
	tries, err := s.client.HGetAll(ctx, s.subsetKey("tries", subset)).Result()
	if err != nil {
		return err
	}
	for token, text := range tries {
		if base, ids := parseTry(text); base < version {
			if err := s.drop(ctx, subset, token, ids); err != nil {
				return err
			}
		}
	}
	return nil
}
