package pebble

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
	"sync"

	"github.com/cockroachdb/pebble/v2"

	"github.com/barograph/barograph/engine/kv"
	"github.com/barograph/barograph/internal/fault"
)

// kvPrefix is the first byte of keys in tables of records; keys of archives begin with letters. The table's
// name, a zero byte and the record's key follow.
const kvPrefix = 1

// kvStripes is the number of locks of a table. A writer locks a key while it reads and writes a record: an insert
// must find that no record has the key, and an update must keep the other fields.
const kvStripes = 256

// kvTables opens tables of records under keys.
type kvTables struct{ *store }

// kvTable is an open table. A record's bytes have the format of kv.Row.AppendPacked.
type kvTable struct {
	*store
	name   []byte // prefix of its keys
	fields int
	seed   maphash.Seed
	locks  [kvStripes]sync.Mutex
}

// Table opens or creates a table. The value of its bare prefix is its number of fields.
func (k kvTables) Table(_ context.Context, t kv.Table) (*kv.Records, error) {
	if err := t.Choose(Driver()); err != nil {
		return nil, err
	}
	name := append(append([]byte{kvPrefix}, t.Name...), 0)
	tb := &kvTable{store: k.store, name: name, fields: len(t.Fields), seed: maphash.MakeSeed()}
	fields, exists, err := k.get(tb.name)
	if err != nil {
		return nil, err
	}
	want := binary.AppendUvarint(nil, uint64(tb.fields))
	if !exists {
		if err := t.MissingError(k.readOnly); err != nil {
			return nil, err
		}
		if err := k.write(func() error { return k.db.Set(tb.name, want, pebble.Sync) }); err != nil {
			return nil, err
		}
	} else if !bytes.Equal(fields, want) {
		n, _ := binary.Uvarint(fields)
		problem := fmt.Sprintf("the table has %d fields, not %d", n, tb.fields)
		return nil, &fault.Error{Setting: "fieldcount", Problem: problem, Cure: "give the fieldcount with which it was loaded"}
	}
	r := kv.NewRecords(k.readOnly, tb.connect, tb.count)
	r.Clear = func(context.Context) error {
		all := tb.bounds()
		return k.write(func() error { return k.db.DeleteRange(all.LowerBound, all.UpperBound, pebble.Sync) })
	}
	return r, nil
}

// bounds returns the bounds of the records' keys: above the bare prefix, below the next prefix.
func (tb *kvTable) bounds() *pebble.IterOptions {
	low := append(bytes.Clone(tb.name), 0)
	high := bytes.Clone(tb.name)
	high[len(high)-1]++
	return &pebble.IterOptions{LowerBound: low, UpperBound: high}
}

func (tb *kvTable) count(ctx context.Context) (n int64, err error) {
	it, err := tb.db.NewIterWithContext(ctx, tb.bounds())
	if err != nil {
		return 0, err
	}
	defer joinClose(&err, it)
	for ok := it.First(); ok; ok = it.Next() {
		if n++; n%4096 == 0 && ctx.Err() != nil {
			return 0, ctx.Err()
		}
	}
	return n, it.Error()
}

// kvConn is a connection: a table and the memory of one worker.
type kvConn struct {
	*kvTable
	key, value []byte
	row        kv.Row
	bounds     *pebble.IterOptions
}

func (tb *kvTable) connect() *kv.Conn {
	c := &kvConn{kvTable: tb, bounds: tb.bounds()}
	return &kv.Conn{Read: c.read, Insert: c.insert, Update: c.update, Scan: c.scan, Delete: c.delete, InsertMany: c.insertMany}
}

// fullKey returns the pair's key, valid until the next call. Callers refuse an empty key, because the bare prefix
// is the key of the table's number of fields.
func (c *kvConn) fullKey(key []byte) []byte {
	c.key = append(append(c.key[:0], c.name...), key...)
	return c.key
}

func (c *kvConn) read(ctx context.Context, key []byte, f kv.Fields, into *kv.Row) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if len(key) == 0 {
		return kv.ErrNotFound
	}
	v, closer, err := c.db.Get(c.fullKey(key))
	if errors.Is(err, pebble.ErrNotFound) {
		return kv.ErrNotFound
	}
	if err != nil {
		return err
	}
	return errors.Join(into.ParsePacked(v, c.fields, f), closer.Close())
}

// lock returns the lock of a key. The caller locks it.
func (c *kvConn) lock(key []byte) *sync.Mutex {
	return &c.locks[maphash.Bytes(c.seed, key)%kvStripes]
}

// hasRecord reports whether a record has the key.
func (c *kvConn) hasRecord(key []byte) (bool, error) {
	_, exists, err := c.get(c.fullKey(key))
	return exists, err
}

var errNoKey = errors.New("a record needs a key")

func (c *kvConn) insert(ctx context.Context, key []byte, r *kv.Row) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if len(key) == 0 {
		return errNoKey
	}
	l := c.lock(key)
	l.Lock()
	defer l.Unlock()
	if exists, err := c.hasRecord(key); err != nil {
		return err
	} else if exists {
		return kv.ErrExists
	}
	c.value = r.AppendPacked(c.value[:0], c.fields, nil)
	return c.write(func() error { return c.db.Set(c.fullKey(key), c.value, pebble.Sync) })
}

func (c *kvConn) update(ctx context.Context, key []byte, r *kv.Row) error {
	l := c.lock(key)
	l.Lock()
	defer l.Unlock()
	c.row.Reset()
	if err := c.read(ctx, key, nil, &c.row); err != nil {
		return err
	}
	c.value = r.AppendPacked(c.value[:0], c.fields, &c.row)
	return c.write(func() error { return c.db.Set(c.fullKey(key), c.value, pebble.Sync) })
}

func (c *kvConn) delete(ctx context.Context, key []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if len(key) == 0 {
		return kv.ErrNotFound
	}
	l := c.lock(key)
	l.Lock()
	defer l.Unlock()
	if exists, err := c.hasRecord(key); err != nil {
		return err
	} else if !exists {
		return kv.ErrNotFound
	}
	return c.write(func() error { return c.db.Delete(c.fullKey(key), pebble.Sync) })
}

// insertMany locks every stripe that it needs, in order. Therefore two batches never wait for each other.
func (c *kvConn) insertMany(ctx context.Context, rows []kv.KeyRow) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	var need [kvStripes]bool
	for _, r := range rows {
		need[maphash.Bytes(c.seed, r.Key)%kvStripes] = true
	}
	for i := range need {
		if need[i] {
			c.locks[i].Lock()
			defer c.locks[i].Unlock()
		}
	}
	b := c.db.NewIndexedBatch() // it sees its own pairs and detects a repeated key
	defer joinClose(&err, b)
	for _, r := range rows {
		if len(r.Key) == 0 {
			return errNoKey
		}
		_, closer, err := b.Get(c.fullKey(r.Key))
		if err == nil {
			return errors.Join(kv.ErrExists, closer.Close())
		}
		if !errors.Is(err, pebble.ErrNotFound) {
			return err
		}
		c.value = r.Row.AppendPacked(c.value[:0], c.fields, nil)
		if err := b.Set(c.key, c.value, nil); err != nil {
			return err
		}
	}
	return c.write(func() error { return b.Commit(pebble.Sync) })
}

func (c *kvConn) scan(
	ctx context.Context, from []byte, n int, f kv.Fields, each func(key []byte, r *kv.Row) error,
) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	it, err := c.db.NewIterWithContext(ctx, c.bounds)
	if err != nil {
		return err
	}
	defer joinClose(&err, it)
	for ok := it.SeekGE(c.fullKey(from)); ok && n > 0; ok = it.Next() {
		v, err := it.ValueAndErr()
		if err != nil {
			return err
		}
		c.row.Reset()
		if err := c.row.ParsePacked(v, c.fields, f); err != nil {
			return err
		}
		if err := each(it.Key()[len(c.name):], &c.row); err != nil {
			return err
		}
		n--
	}
	return it.Error()
}
