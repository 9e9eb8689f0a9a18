package valkey

import (
	"context"

	"github.com/redis/go-redis/v9"

	"github.com/barograph/barograph/engine/kv"
)

// cursor walks through a bucket's sorted set.
type cursor struct {
	index string
	after string   // start of the next page, as an argument of ZRANGEBYLEX
	keys  []string // remaining keys of the page
	ended bool     // no page follows
}

// setPage stores a page.
func (cu *cursor) setPage(keys []string, page int64) {
	cu.keys, cu.ended = keys, int64(len(keys)) < page
	if len(keys) > 0 {
		cu.after = "(" + keys[len(keys)-1]
	}
}

// merge yields the keys of a table in their order, merged from the sorted sets of all buckets.
type merge struct {
	client  sender
	cursors []cursor
	page    int64 // number of keys in one request
}

// maxPage is the maximum number of keys in a page.
const maxPage = 10_000

// startMerge requests the first page of every sorted set at once, for a scan of n keys from a key on.
func (c *kvConn) startMerge(ctx context.Context, indexes []string, key []byte, n int) (*merge, error) {
	page := min(kv.PageSize(n, len(indexes)), maxPage)
	w := &merge{client: c.client, cursors: make([]cursor, len(indexes)), page: int64(page)}
	pages := make([]*redis.StringSliceCmd, len(indexes))
	_, err := w.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, index := range indexes {
			w.cursors[i] = cursor{index: index, after: "[" + string(key)}
			pages[i] = w.ask(ctx, p, &w.cursors[i])
		}
		return nil
	})
	if err != nil {
		return nil, callError(ctx, err)
	}
	for i, p := range pages {
		w.cursors[i].setPage(p.Val(), w.page)
	}
	return w, nil
}

func (w *merge) ask(ctx context.Context, c redis.Cmdable, cu *cursor) *redis.StringSliceCmd {
	return c.ZRangeByLex(ctx, cu.index, &redis.ZRangeBy{Min: cu.after, Max: "+", Count: w.page})
}

// next appends at most n keys; fewer at the end of the table.
func (w *merge) next(ctx context.Context, to []string, n int) ([]string, error) {
	for range n {
		least := -1
		for i := range w.cursors {
			cu := &w.cursors[i]
			if len(cu.keys) == 0 && !cu.ended {
				keys, err := w.ask(ctx, w.client, cu).Result()
				if err != nil {
					return to, callError(ctx, err)
				}
				cu.setPage(keys, w.page)
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

// onRecord is called for each record of a scan. Key and row are valid until it returns.
type onRecord = func(key []byte, r *kv.Row) error

// scan scans a table; a clustered table by partitions.
func (c *kvConn) scan(ctx context.Context, from []byte, n int, f kv.Fields, each onRecord) error {
	if err := ctx.Err(); err != nil || n <= 0 {
		return err
	}
	if c.partitionBytes > 0 {
		return c.scanPartitions(ctx, from, n, f, each)
	}
	_, err := c.walk(ctx, c.indexes, from, n, f, each)
	return err
}

// walk takes keys from sorted sets, reads their records and returns their number. It skips a record that was deleted
// meanwhile and takes another key.
func (c *kvConn) walk(
	ctx context.Context, indexes []string, from []byte, n int, f kv.Fields, each onRecord,
) (count int, err error) {
	w, err := c.startMerge(ctx, indexes, from, n)
	if err != nil {
		return 0, err
	}
	var keys []string
	for count < n {
		if keys, err = w.next(ctx, keys[:0], min(n-count, chunk)); err != nil || len(keys) == 0 {
			return count, err
		}
		some, err := c.fetch(ctx, keys, f, each)
		if count += some; err != nil {
			return count, err
		}
	}
	return count, nil
}

// fetch reads the records of keys and returns the number of those that exist.
func (c *kvConn) fetch(ctx context.Context, keys []string, f kv.Fields, each onRecord) (count int, err error) {
	names := c.fieldNames(f)
	cmds, err := c.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for _, key := range keys {
			record, _ := c.place([]byte(key))
			p.HMGet(ctx, record, names...)
		}
		return nil
	})
	if err != nil {
		return 0, callError(ctx, err)
	}
	for i, cmd := range cmds {
		got, ok := cmd.(*redis.SliceCmd)
		c.row.Reset()
		if !ok || !fill(got.Val(), f, &c.row) {
			continue
		}
		if err := each([]byte(keys[i]), &c.row); err != nil {
			return count, err
		}
		count++
	}
	return count, nil
}

// maxPartitions is the maximum number of partitions of a clustered table that a scan reads at once.
const maxPartitions = 32

// partition returns the partition of a clustered table that contains a key: the key's first bytes. Keys of one
// partition are adjacent, and partitions have the order of their keys.
func (tb *kvTable) partition(key []byte) string {
	return string(key[:min(tb.partitionBytes, len(key))])
}

// tag returns the hash tag of a partition.
func (tb *kvTable) tag(partition string) string { return "{" + tb.name + "." + partition + "}" }

// indexesOf returns the keys of the sorted sets of partitions.
func (tb *kvTable) indexesOf(partitions []string) []string {
	out := make([]string, len(partitions))
	for i, partition := range partitions {
		out[i] = tb.prefix() + "BG::index::" + tb.tag(partition)
	}
	return out
}

// list adds a partition to the sorted set of partitions before its first record is written, so scans find it. It is
// never removed.
func (c *kvConn) list(ctx context.Context, partition string) error {
	if c.listed[partition] {
		return nil
	}
	err := c.client.ZAdd(ctx, c.partitions, redis.Z{Member: partition}).Err()
	if err == nil {
		c.listed[partition] = true
	}
	return callError(ctx, err)
}

// scanPartitions reads the partition of the first key, which is enough for most scans. If it is not, it reads one more
// partition, to learn how many records a complete partition has, and then as many at once as should be enough. The first
// partition does not show that, because the scan may start near its end.
func (c *kvConn) scanPartitions(ctx context.Context, from []byte, n int, f kv.Fields, each onRecord) error {
	for partitions, window, round := []string{c.partition(from)}, 1, 0; ; round++ {
		count, err := c.walk(ctx, c.indexesOf(partitions), from, n, f, each)
		if n -= count; err != nil || n <= 0 {
			return err
		}
		if round > 0 { // these partitions were read completely
			window = min(n*len(partitions)/max(count, 1)+1, maxPartitions)
		}
		next := &redis.ZRangeBy{Min: "(" + partitions[len(partitions)-1], Max: "+", Count: int64(window)}
		partitions, err = c.client.ZRangeByLex(ctx, c.partitions, next).Result()
		if err != nil || len(partitions) == 0 {
			return callError(ctx, err)
		}
	}
}
