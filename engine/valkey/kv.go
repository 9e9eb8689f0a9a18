package valkey

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
	"github.com/zeebo/xxh3"

	"github.com/barograph/barograph/engine/kv"
	"github.com/barograph/barograph/internal/fault"
)

// kvTables opens tables of records under keys; the package comment describes their layout.
type kvTables struct{ *store }

const (
	// clusterBuckets is the number of buckets of a table in a cluster. It gives two, three, four, six or
	// eight nodes the same number of buckets, and is small enough for a scan to query all of them.
	clusterBuckets = 24

	// maxConnections is the maximum number of connections of a table to a node. Each worker has one.
	maxConnections = 4096
)

// kvTable is an open table.
type kvTable struct {
	*store
	client  redis.UniversalClient // a separate client with a connection for each worker
	shared  *redis.AutoPipeliner  // lets single commands of all workers share connections; nil = not shared
	fields  []string
	records []string // by bucket: prefix of the keys of its records
	indexes []string // by bucket: key of its sorted set

	// of a clustered table
	partitionBytes int    // number of bytes of a key that name its partition; 0 = the table is not clustered
	name           string // of the table
	partitions     string // key of the sorted set of all partitions
}

// sender sends commands.
type sender interface {
	redis.Cmdable
	Process(ctx context.Context, cmd redis.Cmder) error
}

// maxBatch is the maximum number of commands that workers with a shared connection send together.
const maxBatch = 300

// share lets the commands of all workers share a number of connections (?pipeline=): commands that arrive
// during a batch form the next one.
func (tb *kvTable) share(connections int) (err error) {
	if connections == 0 {
		return nil
	}
	o := &redis.AutoPipelineOptions{MaxBatchSize: maxBatch, MaxConcurrentBatches: connections, Unordered: connections > 1}
	switch c := tb.client.(type) {
	case *redis.Client:
		tb.shared, err = c.AutoPipelineWithOptions(o)
	case *redis.ClusterClient:
		tb.shared, err = c.AutoPipelineWithOptions(o)
	}
	return err
}

// shape is the stored description of a table.
type shape struct {
	Fields  []string `json:"fields"`
	Buckets int      `json:"buckets"`
	Prefix  int      `json:"prefix,omitempty"` // for a clustered table
}

// Table opens or creates a table.
func (k kvTables) Table(ctx context.Context, t kv.Table) (*kv.Records, error) {
	if err := t.Choose(Driver()); err != nil {
		return nil, err
	}
	s, err := k.shape(ctx, &t)
	if err != nil {
		return nil, err
	}
	partitions := k.prefix() + "BG::parts::{" + t.Name + "}"
	tb := &kvTable{store: k.store, fields: t.Fields, partitionBytes: s.Prefix, name: t.Name, partitions: partitions}
	for i := range s.Buckets {
		tag := "{" + bucketTag(t.Name, i, s.Buckets) + "}"
		tb.records = append(tb.records, k.prefix()+tag)
		tb.indexes = append(tb.indexes, k.prefix()+"BG::index::"+tag)
	}
	o := k.options()
	o.PoolSize, o.PipelinePoolSize = maxConnections, -1 // pipelines use the same connections
	o.Protocol = 2                                      // with version 3 the driver looks for messages before each reply
	// No retries: callers must know that a server is down. kv.Records.Reopen reconnects.
	o.MaxRetries, o.DialerRetries = -1, 1
	if k.cluster == nil {
		one := o.Simple()
		if k.pipeline == 0 {
			one.Dialer = dialer(one)
		}
		tb.client = redis.NewClient(one)
	} else {
		tb.client = redis.NewClusterClient(o.Cluster())
	}
	if err := tb.share(k.pipeline); err != nil {
		return nil, errors.Join(err, tb.client.Close())
	}
	r := kv.NewRecords(k.readOnly, tb.connect, tb.count)
	r.Close = tb.client.Close
	if tb.partitionBytes > 0 {
		r.Partitions = func(ctx context.Context) (int64, error) {
			n, err := tb.client.ZCard(ctx, tb.partitions).Result()
			return n, callError(ctx, err)
		}
	}
	return r, nil
}

// shape reads the description of a table, or creates it.
func (k kvTables) shape(ctx context.Context, t *kv.Table) (s shape, err error) {
	key := k.prefix() + "BG::table::{" + t.Name + "}"
	text, err := k.store.client.Get(ctx, key).Bytes()
	if errors.Is(err, redis.Nil) {
		if err := t.MissingError(k.readOnly); err != nil {
			return s, err
		}
		if text, err = k.make(ctx, key, t); err != nil {
			return s, err
		}
	}
	if err != nil {
		return s, callError(ctx, err)
	}
	err = json.Unmarshal(text, &s)
	if err != nil || s.Buckets < 0 || s.Buckets > slots || s.Prefix < 0 || (s.Buckets > 0) == (s.Prefix > 0) {
		return s, &fault.Error{Setting: "key " + key, Problem: "contains no table", Err: err, Cure: "name another table"}
	}
	if (s.Prefix > 0) != (t.Layout == kv.Clustered) {
		return s, &fault.Error{
			Setting: "table " + t.Name, Problem: fmt.Sprintf("does not have the layout %s", t.Layout),
			Cure: "give the layout with which it was loaded, or name another table",
		}
	}
	return s, t.CheckFields(s.Fields)
}

// make creates a table. If another client was first, its table is used.
func (k kvTables) make(ctx context.Context, key string, t *kv.Table) ([]byte, error) {
	nodes, err := k.masters(ctx)
	if err != nil {
		return nil, callError(ctx, err)
	}
	if err := checkEviction(ctx, nodes); err != nil {
		return nil, err
	}
	s := shape{Fields: t.Fields, Buckets: 1}
	switch {
	case t.Layout == kv.Clustered:
		s.Buckets, s.Prefix = 0, k.prefixBytes
	case k.cluster != nil:
		s.Buckets = clusterBuckets
	}
	text, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	if err := k.store.client.SetNX(ctx, key, text, 0).Err(); err != nil {
		return nil, callError(ctx, err)
	}
	text, err = k.store.client.Get(ctx, key).Bytes()
	return text, callError(ctx, err)
}

// bucketTag returns the hash tag of a table's bucket. Its slot is in the bucket's share of all slots, so
// nodes with ranges of slots have equally many buckets.
func bucketTag(table string, bucket, of int) string {
	for i := 0; ; i++ {
		tag := table + "." + strconv.Itoa(bucket) + "." + strconv.Itoa(i)
		if slotOf(tag)*of/slots == bucket {
			return tag
		}
	}
}

// slotOf returns the slot of a hash tag: its CRC-16 (XMODEM), see the specification of Redis' cluster.
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

// bucket returns the bucket of a key.
func (tb *kvTable) bucket(key []byte) int {
	if len(tb.records) == 1 {
		return 0
	}
	return int(xxh3.Hash(key) % uint64(len(tb.records))) //nolint:gosec // less than the number of buckets
}

// count adds up the sizes of the sorted sets.
func (tb *kvTable) count(ctx context.Context) (n int64, err error) {
	indexes := tb.indexes
	if tb.partitionBytes > 0 {
		partitions, err := tb.client.ZRange(ctx, tb.partitions, 0, -1).Result()
		if err != nil || len(partitions) == 0 {
			return 0, callError(ctx, err)
		}
		indexes = tb.indexesOf(partitions)
	}
	cmds, err := tb.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for _, index := range indexes {
			p.ZCard(ctx, index)
		}
		return nil
	})
	if err != nil {
		return 0, callError(ctx, err)
	}
	for _, c := range cmds {
		if c, ok := c.(*redis.IntCmd); ok {
			n += c.Val()
		}
	}
	return n, nil
}

// kvConn is a connection: a table and the memory of one worker.
type kvConn struct {
	*kvTable
	client sender
	row    kv.Row
	names  []string
	args   []any
	boxed  []any // the fields, as arguments of commands
	// listed are partitions of a clustered table that this connection has listed. A server that was restarted may have lost
	// the list's last entries; then callers connect again.
	listed map[string]bool
}

func (tb *kvTable) connect() *kv.Conn {
	c := &kvConn{kvTable: tb, client: tb.client, listed: map[string]bool{}}
	for _, f := range tb.fields {
		c.boxed = append(c.boxed, f)
	}
	conn := &kv.Conn{Read: c.read, Insert: c.insert, Update: c.update, Scan: c.scan, Delete: c.delete}
	if one, ok := tb.client.(*redis.Client); ok && tb.shared == nil {
		own := one.Conn() // a pool checks its connection with a system call before each command
		c.client, conn.Close = own, own.Close
	}
	if len(tb.records) == 1 { // records of several slots cannot be written atomically
		conn.InsertMany = c.insertMany
	}
	return conn
}

// place returns the key of a record, and the key of its sorted set.
func (tb *kvTable) place(key []byte) (record, index string) {
	if tb.partitionBytes > 0 {
		tag := tb.tag(tb.partition(key))
		return tb.prefix() + tag + string(key), tb.prefix() + "BG::index::" + tag
	}
	b := tb.bucket(key)
	return tb.records[b] + string(key), tb.indexes[b]
}

// fieldNames returns the names of fields, valid until the next call.
func (c *kvConn) fieldNames(f kv.Fields) []string {
	if f == nil {
		return c.fields
	}
	c.names = c.names[:0]
	for _, i := range f {
		c.names = append(c.names, c.fields[i])
	}
	return c.names
}

// fill appends the values of chosen fields. It returns false if there are none: every record has all fields.
func fill(values []any, f kv.Fields, into *kv.Row) (found bool) {
	for i, v := range values {
		text, ok := v.(string)
		if !ok {
			continue
		}
		found = true
		if f != nil {
			i = f[i]
		}
		into.AddString(i, text)
	}
	return found
}

// process runs a single command. It waits for a command that is in flight with others even if its context
// ends; only the time limit of a reply bounds it.
func (c *kvConn) process(ctx context.Context, cmd redis.Cmder) error {
	err := ctx.Err()
	switch {
	case err != nil:
		cmd.SetErr(err)
	case c.shared != nil:
		err = c.shared.Process(ctx, cmd)
	default:
		err = c.client.Process(ctx, cmd)
	}
	return err
}

func (c *kvConn) read(ctx context.Context, key []byte, f kv.Fields, into *kv.Row) error {
	record, _ := c.place(key)
	c.args = append(c.args[:0], "hmget", record)
	if f == nil {
		c.args = append(c.args, c.boxed...)
	}
	for _, i := range f {
		c.args = append(c.args, c.boxed[i])
	}
	cmd := redis.NewStringSliceCmd(ctx, c.args...)
	if err := c.process(ctx, cmd); err != nil {
		return callError(ctx, err)
	}
	for i, text := range cmd.Val() {
		if text == "" {
			into.Reset()
			return c.exact(ctx, f, into)
		}
		if f != nil {
			i = f[i]
		}
		into.AddString(i, text)
	}
	return nil
}

// exact repeats a read with a command whose reply distinguishes empty values from missing ones.
func (c *kvConn) exact(ctx context.Context, f kv.Fields, into *kv.Row) error {
	cmd := redis.NewSliceCmd(ctx, c.args...)
	if err := c.process(ctx, cmd); err != nil {
		return callError(ctx, err)
	}
	if !fill(cmd.Val(), f, into) {
		return kv.ErrNotFound
	}
	return nil
}

// setFunction is the code with which the scripts write the fields of a record, 500 at a time. A call in Lua accepts
// only some thousand values.
const setFunction = `
local function set(key, from, to)
	for i = from, to, 1000 do
		redis.call('HSET', key, unpack(ARGV, i, math.min(i + 999, to)))
	end
end
`

// script is a script with its text, for a server that does not know it yet.
type script struct {
	*redis.Script
	text string
}

func newScript(text string) script { return script{redis.NewScript(text), text} }

// The scripts change a record and its sorted set in one step: 1 = done, 0 = the record already exists, or
// does not exist.
//
//nolint:gochecknoglobals // constants: texts and their digests
var (
	insertOne = newScript(setFunction + `
if redis.call('EXISTS', KEYS[1]) == 1 then
	return 0
end
set(KEYS[1], 2, #ARGV)
redis.call('ZADD', KEYS[2], 0, ARGV[1])
return 1`)

	updateOne = newScript(setFunction + `
if redis.call('EXISTS', KEYS[1]) == 0 then
	return 0
end
set(KEYS[1], 1, #ARGV)
return 1`)

	deleteOne = newScript(`
if redis.call('DEL', KEYS[1]) == 0 then
	return 0
end
redis.call('ZREM', KEYS[2], ARGV[1])
return 1`)

	// KEYS: the sorted set and the records. ARGV: the number of values of a record, then for each record
	// its key, its fields and their values.
	insertAll = newScript(setFunction + `
for i = 2, #KEYS do
	if redis.call('EXISTS', KEYS[i]) == 1 then
		return 0
	end
end
local width, at = tonumber(ARGV[1]), 2
for i = 2, #KEYS do
	set(KEYS[i], at + 1, at + width)
	redis.call('ZADD', KEYS[1], 0, ARGV[at])
	at = at + width + 1
end
return 1`)
)

// notRetried is a command that must not be retried: if its reply is lost, it may have been executed, and a retry
// would find its own record.
type notRetried struct{ *redis.Cmd }

// NoRetry implements the client's interface for such commands.
func (notRetried) NoRetry() bool { return true }

// run runs a script and reports whether it has changed something.
func (c *kvConn) run(ctx context.Context, s script, keys []string, args []any) (bool, error) {
	send := func(command, text string) *redis.Cmd {
		all := append(make([]any, 0, 3+len(keys)+len(args)), command, text, len(keys))
		for _, k := range keys {
			all = append(all, k)
		}
		cmd := redis.NewCmd(ctx, append(all, args...)...)
		_ = c.process(ctx, notRetried{cmd}) // cmd contains the error
		return cmd
	}
	cmd := send("evalsha", s.Hash())
	if err := cmd.Err(); err != nil && strings.HasPrefix(err.Error(), "NOSCRIPT") {
		cmd = send("eval", s.text)
	}
	n, err := cmd.Int()
	return n == 1, callError(ctx, err)
}

// pairs appends the fields of a row and their values.
func (c *kvConn) pairs(r *kv.Row) {
	for i := range r.Len() {
		field, v := r.At(i)
		c.args = append(c.args, c.boxed[field], v)
	}
}

func (c *kvConn) insert(ctx context.Context, key []byte, r *kv.Row) error {
	record, index := c.place(key)
	if c.partitionBytes > 0 {
		if err := c.list(ctx, c.partition(key)); err != nil {
			return err
		}
	}
	c.args = append(c.args[:0], key)
	c.pairs(r)
	done, err := c.run(ctx, insertOne, []string{record, index}, c.args)
	if err == nil && !done {
		err = kv.ErrExists
	}
	return err
}

func (c *kvConn) update(ctx context.Context, key []byte, r *kv.Row) error {
	record, _ := c.place(key)
	c.args = c.args[:0]
	c.pairs(r)
	done, err := c.run(ctx, updateOne, []string{record}, c.args)
	if err == nil && !done {
		err = kv.ErrNotFound
	}
	return err
}

func (c *kvConn) delete(ctx context.Context, key []byte) error {
	record, index := c.place(key)
	done, err := c.run(ctx, deleteOne, []string{record, index}, append(c.args[:0], key))
	if err == nil && !done {
		err = kv.ErrNotFound
	}
	return err
}

var errUneven = errors.New("valkey: a record of a batch lacks fields")

// insertMany writes the records of the only bucket.
func (c *kvConn) insertMany(ctx context.Context, rows []kv.KeyRow) error {
	if len(rows) == 0 {
		return ctx.Err()
	}
	keys, seen := []string{c.indexes[0]}, make(map[string]struct{}, len(rows))
	c.args = append(c.args[:0], 2*len(c.fields))
	for _, r := range rows {
		if _, twice := seen[string(r.Key)]; twice {
			return kv.ErrExists
		}
		if r.Row.Len() != len(c.fields) {
			return errUneven
		}
		seen[string(r.Key)] = struct{}{}
		keys = append(keys, c.records[0]+string(r.Key))
		c.args = append(c.args, r.Key)
		c.pairs(r.Row)
	}
	done, err := c.run(ctx, insertAll, keys, c.args)
	if err == nil && !done {
		err = kv.ErrExists
	}
	return err
}
