package valkey

import (
	"context"
	"math"

	"github.com/redis/go-redis/v9"

	"github.com/barograph/barograph/engine"
)

// cursor walks through a bucket's sorted set.
type cursor struct {
	index string
	after string   // what the next page begins with, as ZRANGEBYLEX wants it
	keys  []string // of the page, not yet taken
	ended bool     // no page follows
}

// took notes a page.
func (cu *cursor) took(keys []string, page int64) {
	cu.keys, cu.ended = keys, int64(len(keys)) < page
	if len(keys) > 0 {
		cu.after = "(" + keys[len(keys)-1]
	}
}

// merge gives the keys of a table in their order: the sorted sets of all buckets,
// merged.
type merge struct {
	client  redis.UniversalClient
	cursors []cursor
	page    int64 // keys that are asked for at once
}

// mostAsked are the most keys of a page.
const mostAsked = 10_000

// pageOf is how many keys each of so many buckets is asked for when n are
// wanted: its share, and some more, as hashes do not divide keys evenly.
func pageOf(n, buckets int) int64 {
	if buckets == 1 {
		return int64(min(n, mostAsked))
	}
	share := float64(n) / float64(buckets)
	return int64(min(n, mostAsked, int(share+3*math.Sqrt(share))+2))
}

// from begins a walk for n keys: all buckets are asked at once.
func (tb *kvTable) from(ctx context.Context, key []byte, n int) (*merge, error) {
	w := &merge{client: tb.client, cursors: make([]cursor, len(tb.indexes)), page: pageOf(n, len(tb.indexes))}
	pages := make([]*redis.StringSliceCmd, len(tb.indexes))
	_, err := w.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, index := range tb.indexes {
			w.cursors[i] = cursor{index: index, after: "[" + string(key)}
			pages[i] = w.ask(ctx, p, &w.cursors[i])
		}
		return nil
	})
	if err != nil {
		return nil, failed(ctx, err)
	}
	for i, p := range pages {
		w.cursors[i].took(p.Val(), w.page)
	}
	return w, nil
}

func (w *merge) ask(ctx context.Context, c redis.Cmdable, cu *cursor) *redis.StringSliceCmd {
	return c.ZRangeByLex(ctx, cu.index, &redis.ZRangeBy{Min: cu.after, Max: "+", Count: w.page})
}

// next appends at most n keys; fewer where the table ends.
func (w *merge) next(ctx context.Context, to []string, n int) ([]string, error) {
	for range n {
		least := -1
		for i := range w.cursors {
			cu := &w.cursors[i]
			if len(cu.keys) == 0 && !cu.ended {
				keys, err := w.ask(ctx, w.client, cu).Result()
				if err != nil {
					return to, failed(ctx, err)
				}
				cu.took(keys, w.page)
			}
			if len(cu.keys) > 0 && (least < 0 || cu.keys[0] < w.cursors[least].keys[0]) {
				least = i
			}
		}
		if least < 0 {
			return to, nil
		}
		cu := &w.cursors[least]
		to, cu.keys = append(to, cu.keys[0]), cu.keys[1:]
	}
	return to, nil
}

// scan takes keys from the sorted sets, then their records. One that was deleted
// in between is passed by, and another one taken.
func (c *kvConn) scan(ctx context.Context, from []byte, n int, f engine.Fields, each func(key []byte, r *engine.Row) error) error {
	if n <= 0 {
		return ctx.Err()
	}
	w, err := c.from(ctx, from, n)
	if err != nil {
		return err
	}
	var keys []string
	for n > 0 {
		if keys, err = w.next(ctx, keys[:0], min(n, chunk)); err != nil || len(keys) == 0 {
			return err
		}
		given, err := c.fetch(ctx, keys, f, each)
		if err != nil {
			return err
		}
		n -= given
	}
	return nil
}

// fetch gives the records of keys.
func (c *kvConn) fetch(ctx context.Context, keys []string, f engine.Fields, each func(key []byte, r *engine.Row) error) (given int, err error) {
	names := c.chosen(f)
	cmds, err := c.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for _, key := range keys {
			record, _ := c.place([]byte(key))
			p.HMGet(ctx, record, names...)
		}
		return nil
	})
	if err != nil {
		return 0, failed(ctx, err)
	}
	for i, cmd := range cmds {
		got, ok := cmd.(*redis.SliceCmd)
		c.row.Reset()
		if !ok || !fill(got.Val(), f, &c.row) {
			continue
		}
		if err := each([]byte(keys[i]), &c.row); err != nil {
			return given, err
		}
		given++
	}
	return given, nil
}
