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
		return h, callError(ctx, err)
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

// readHead returns the state of a subset. If a visible commit is not in place, readHead first completes it; a
// read-only client waits until another client has completed it.
func (s *store) readHead(ctx context.Context, subset string) (head, error) {
	h, err := s.head(ctx, subset)
	if err != nil || h.applying == "" {
		return h, err
	}
	unlock, err := s.completing.Lock(ctx, []byte(subset)) // another goroutine may be completing it
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
		return callError(ctx, err)
	}
	_, entries := parseTry(text)
	for some := range slices.Chunk(entries, chunk) {
		cmds, err := s.client.Pipelined(ctx, func(p redis.Pipeliner) error {
			for _, entry := range some {
				switch id, how := s.parseEntry(entry); how {
				case writes:
					p.Rename(ctx, s.stage(token, id), id)
				case removes:
					p.Eval(ctx, removeStaged, []string{s.stage(token, id), id})
				case removesUnstaged:
					p.Del(ctx, id)
				}
			}
			return nil
		})
		if err != nil {
			if err = unexpected(cmds, err); err != nil {
				return callError(ctx, err)
			}
		}
	}
	keys := []string{s.subsetKey("head", subset), s.subsetKey("tries", subset)}
	return callError(ctx, clearApplying.Run(ctx, s.client, keys, token).Err())
}

// An entry of tries is an id whose payload the commit writes, or a mark and an id whose payload it removes. Commits
// of earlier versions wrote no stage keys for ids that they removed.
const (
	removedMark       = "!" // no id begins with it
	formerRemovedMark = "-" // a namespace may begin with it
)

type entryKind int

const (
	writes entryKind = iota
	removes
	removesUnstaged
)

// parseEntry parses an entry of tries.
func (s *store) parseEntry(entry string) (id string, kind entryKind) {
	if id, ok := strings.CutPrefix(entry, removedMark); ok {
		return id, removes
	}
	if id, ok := strings.CutPrefix(entry, formerRemovedMark); ok && strings.HasPrefix(id, s.prefix()) {
		return id, removesUnstaged
	}
	return entry, writes
}

// removeStaged removes a payload and its stage key, unless another client has done it: a later commit may have written
// the payload again.
const removeStaged = `
if redis.call('DEL', KEYS[1]) == 1 then
	redis.call('DEL', KEYS[2])
end
return 1`

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

// commit replaces one version by the next. It returns 1 if it has done so, also if an earlier call did and its reply
// was lost. It returns 0 if the version has changed, or if tries lists the commit no more or as abandoned: the script can
// arrive after its client has given up and removed the payloads.
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
local try = redis.call('HGET', KEYS[3], ARGV[2])
if not try or string.sub(try, 1, 1) == '-' then
	return 0
end
redis.call('HINCRBY', KEYS[1], 'version', 1)
redis.call('HSET', KEYS[1], 'applying', ARGV[2], 'token', ARGV[2], 'catalog', ARGV[3])
for i = 4, #ARGV, 2 do
	redis.call('HSET', KEYS[2], ARGV[i], ARGV[i + 1])
end
return 1`)

// abandonTry marks a commit as abandoned in tries, unless it is visible: commit then refuses it. It returns whether the
// commit is invisible for ever. The version before which it started becomes negative, so that every sweep removes it.
//
//nolint:gochecknoglobals // a constant: the text and its digest
var abandonTry = redis.NewScript(`
if redis.call('HGET', KEYS[1], 'token') == ARGV[1] or redis.call('HGET', KEYS[1], 'applying') == ARGV[1] then
	return 0
end
local try = redis.call('HGET', KEYS[2], ARGV[1])
if try and string.sub(try, 1, 1) ~= '-' then
	redis.call('HSET', KEYS[2], ARGV[1], '-1' .. string.sub(try, string.find(try, '\n') or #try + 1))
end
return 1`)

// formatTry formats what tries contains about a commit: the version from which it starts, and its entries. It
// escapes line feeds; an id contains no other %0A, because a % in it is written %25.
func formatTry(base int64, entries []string) string {
	var b strings.Builder
	b.WriteString(strconv.FormatInt(base, 10))
	for _, entry := range entries {
		b.WriteByte('\n')
		b.WriteString(strings.ReplaceAll(entry, "\n", "%0A"))
	}
	return b.String()
}

// parseTry is the inverse of formatTry.
func parseTry(text string) (base int64, entries []string) {
	first, rest, ok := strings.Cut(text, "\n")
	base, err := strconv.ParseInt(first, 10, 64)
	if err != nil || !ok {
		return base, nil
	}
	entries = strings.Split(rest, "\n")
	for i := range entries {
		entries[i] = strings.ReplaceAll(entries[i], "%0A", "\n")
	}
	return base, entries
}

// drop removes the stage keys of a commit that will never be visible.
func (s *store) drop(ctx context.Context, subset, token string, entries []string) error {
	for some := range slices.Chunk(entries, chunk) {
		if _, err := s.client.Pipelined(ctx, func(p redis.Pipeliner) error {
			for _, entry := range some {
				id, _ := s.parseEntry(entry)
				p.Unlink(ctx, s.stage(token, id))
			}
			return nil
		}); err != nil {
			return err
		}
	}
	return s.client.HDel(ctx, s.subsetKey("tries", subset), token).Err()
}

// sweep drops crashed commits: those that started from a version before the current one.
func (s *store) sweep(ctx context.Context, subset string, version int64) error {
	tries, err := s.client.HGetAll(ctx, s.subsetKey("tries", subset)).Result()
	if err != nil {
		return err
	}
	for token, text := range tries {
		if base, entries := parseTry(text); base < version {
			if err := s.drop(ctx, subset, token, entries); err != nil {
				return err
			}
		}
	}
	return nil
}
