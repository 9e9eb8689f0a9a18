package valkey

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"

	"github.com/redis/go-redis/v9"
	"github.com/zeebo/xxh3"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/fault"
)

// kv opens tables of records under keys; the package comment says how they lie.
type kv struct{ *store }

const (
	// clusterBuckets divide a table in a cluster: so many that two, three, four,
	// six or eight nodes get the same number, so few that a scan can ask all.
	clusterBuckets = 24

	// connections are the most that a table opens to a node: each worker has one.
	connections = 4096
)

// kvTable is an open table.
type kvTable struct {
	*store
	client  redis.UniversalClient // its own: with a connection for each worker
	fields  []string
	records []string // of each bucket: what the keys of its records begin with
	indexes []string // of each bucket: the key of its sorted set
}

// shape is what is kept of a table besides its records.
type shape struct {
	Fields  []string `json:"fields"`
	Buckets int      `json:"buckets"`
}

// Table opens or makes a table.
func (k kv) Table(ctx context.Context, t engine.Table) (*engine.Records, error) {
	if err := t.Choose(Driver()); err != nil {
		return nil, err
	}
	s, err := k.shape(ctx, &t)
	if err != nil {
		return nil, err
	}
	tb := &kvTable{store: k.store, fields: t.Fields}
	for i := range s.Buckets {
		tag := "{" + bucketTag(t.Name, i, s.Buckets) + "}"
		tb.records = append(tb.records, k.prefix()+tag)
		tb.indexes = append(tb.indexes, k.prefix()+"BG::index::"+tag)
	}
	o := k.options()
	o.PoolSize, o.PipelinePoolSize = connections, -1 // pipelines take the same connections
	o.MaxRetries, o.DialerRetries = -1, 1            // whoever asks must know that a server is away; engine.Records.Reopen bridges it
	if k.cluster == nil {
		tb.client = redis.NewClient(o.Simple())
	} else {
		tb.client = redis.NewClusterClient(o.Cluster())
	}
	r := engine.NewRecords(k.readOnly, tb.connect, tb.count)
	r.Close = tb.client.Close
	return r, nil
}

// shape reads what is kept of a table, or makes it.
func (k kv) shape(ctx context.Context, t *engine.Table) (s shape, err error) {
	key := k.prefix() + "BG::table::{" + t.Name + "}"
	text, err := k.store.client.Get(ctx, key).Bytes()
	if errors.Is(err, redis.Nil) {
		if err := t.Absent(k.readOnly); err != nil {
			return s, err
		}
		if text, err = k.make(ctx, key, t); err != nil {
			return s, err
		}
	}
	if err != nil {
		return s, failed(ctx, err)
	}
	if err := json.Unmarshal(text, &s); err != nil || s.Buckets < 1 || s.Buckets > slots {
		return s, &fault.Error{Setting: "key " + key, Problem: "holds no table", Err: err, Cure: "name another table"}
	}
	return s, t.Fits(s.Fields)
}

// make makes a table, unless somebody else was faster: then theirs is the one.
func (k kv) make(ctx context.Context, key string, t *engine.Table) ([]byte, error) {
	if _, err := k.lasting(ctx); err != nil {
		return nil, err
	}
	s := shape{t.Fields, 1}
	if k.cluster != nil {
		s.Buckets = clusterBuckets
	}
	text, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	if err := k.store.client.SetNX(ctx, key, text, 0).Err(); err != nil {
		return nil, failed(ctx, err)
	}
	text, err = k.store.client.Get(ctx, key).Bytes()
	return text, failed(ctx, err)
}

// bucketTag is the hash tag of a table's bucket. Its slot lies in the bucket's
// share of all slots, so that nodes that hold ranges of slots hold buckets alike.
func bucketTag(table string, bucket, of int) string {
	for i := 0; ; i++ {
		tag := table + "." + strconv.Itoa(bucket) + "." + strconv.Itoa(i)
		if slotOf(tag)*of/slots == bucket {
			return tag
		}
	}
}

// slotOf is the slot of a hash tag: its CRC-16 as XMODEM has it, see the
// specification of Redis' cluster.
func slotOf(tag string) int {
	crc := uint16(0)
	for _, b := range []byte(tag) {
		crc ^= uint16(b) << 8
		for range 8 {
			top := crc & 0x8000
			if crc <<= 1; top != 0 {
				crc ^= 0x1021
			}
		}
	}
	return int(crc) % slots
}

// bucket of a key.
func (tb *kvTable) bucket(key []byte) int {
	if len(tb.records) == 1 {
		return 0
	}
	return int(xxh3.Hash(key) % uint64(len(tb.records))) //nolint:gosec // less than the number of buckets
}

// count adds up what the sorted sets hold.
func (tb *kvTable) count(ctx context.Context) (n int64, err error) {
	cmds, err := tb.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for _, index := range tb.indexes {
			p.ZCard(ctx, index)
		}
		return nil
	})
	if err != nil {
		return 0, failed(ctx, err)
	}
	for _, c := range cmds {
		if c, ok := c.(*redis.IntCmd); ok {
			n += c.Val()
		}
	}
	return n, nil
}
