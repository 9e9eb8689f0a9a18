// Package pairs stores tables of records under keys in memory. It has no database, so the times of the study ycsb over
// it are the client's own cost, which reports show as the client overhead.
package pairs

import (
	"context"
	"fmt"
	"sync"
	"unsafe"

	"github.com/tidwall/btree"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/kv"
	"github.com/barograph/barograph/internal/fault"
)

// Tables is a set of tables by name. Use New.
type Tables struct {
	readOnly bool

	mu     sync.Mutex
	byName map[string]*table
}

// New creates the tables of an engine. They exist as long as it is open.
func New(readOnly bool) *Tables {
	return &Tables{readOnly: readOnly, byName: map[string]*table{}}
}

// table finds a record by a hash and, for scans, by the order of keys.
type table struct {
	all kv.Fields

	mu     sync.RWMutex
	byKey  map[string]*kv.Row
	sorted btree.Map[string, *kv.Row]
}

// Table opens or creates a table.
func (ts *Tables) Table(_ context.Context, t kv.Table) (*kv.Records, error) {
	if err := t.Check(); err != nil {
		return nil, err
	}
	if t.Layout != "" && t.Layout != kv.Pairs {
		return nil, fmt.Errorf("dry has the layout %s, not %s: %w", kv.Pairs, t.Layout, engine.ErrNoDesign)
	}
	ts.mu.Lock()
	defer ts.mu.Unlock()
	tb := ts.byName[t.Name]
	switch {
	case tb == nil:
		if err := t.MissingError(ts.readOnly); err != nil {
			return nil, err
		}
		tb = &table{byKey: map[string]*kv.Row{}}
		for i := range t.Fields {
			tb.all = append(tb.all, i)
		}
		ts.byName[t.Name] = tb
	case len(tb.all) != len(t.Fields):
		return nil, &fault.Error{Setting: "fieldcount", Problem: fmt.Sprintf("the table has %d fields, not %d", len(tb.all), len(t.Fields)), Cure: "give the fieldcount with which it was loaded"}
	}
	return kv.NewRecords(ts.readOnly, tb.connect, func(context.Context) (int64, error) { return tb.count(), nil }), nil
}

func (tb *table) count() int64 {
	tb.mu.RLock()
	defer tb.mu.RUnlock()
	return int64(len(tb.byKey))
}

// conn is a connection: its table and the memory of one worker.
type conn struct {
	*table
	row kv.Row

	// state of a scan
	key         []byte
	kept        []copied
	fields      kv.Fields
	most, found int
	onScan      func(key string, r *kv.Row) bool
}

func (tb *table) connect() *kv.Conn {
	c := &conn{table: tb}
	c.onScan = c.take
	return &kv.Conn{Read: c.read, Insert: c.insert, Update: c.update, Scan: c.scan, Delete: c.delete, InsertMany: c.insertMany}
}

// choose appends the chosen fields of a record.
func (tb *table) choose(from *kv.Row, f kv.Fields, into *kv.Row) {
	if f == nil {
		into.AddRow(from) // it is stored in the order of fields
		return
	}
	for _, i := range f {
		if v, ok := from.Value(i); ok {
			into.Add(i, v)
		}
	}
}

func (c *conn) read(ctx context.Context, key []byte, f kv.Fields, into *kv.Row) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	r := c.byKey[string(key)]
	if r == nil {
		return kv.ErrNotFound
	}
	c.choose(r, f, into)
	return nil
}

func (c *conn) insert(ctx context.Context, key []byte, r *kv.Row) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byKey[string(key)] != nil {
		return kv.ErrExists
	}
	c.put(key, r)
	return nil
}

func (c *conn) put(key []byte, r *kv.Row) {
	kept := &kv.Row{}
	c.choose(r, c.all, kept)
	k := string(key)
	c.byKey[k] = kept
	c.sorted.Set(k, kept)
}

func (c *conn) insertMany(ctx context.Context, rows []kv.KeyRow) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, r := range rows {
		if c.byKey[string(r.Key)] != nil {
			for _, done := range rows[:i] {
				c.remove(done.Key)
			}
			return kv.ErrExists
		}
		c.put(r.Key, r.Row)
	}
	return nil
}

func (c *conn) remove(key []byte) {
	delete(c.byKey, string(key))
	c.sorted.Delete(string(key))
}

func (c *conn) update(ctx context.Context, key []byte, r *kv.Row) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	old := c.byKey[string(key)]
	if old == nil {
		return kv.ErrNotFound
	}
	c.row.Reset()
	for i := range c.all {
		v, ok := r.Value(i)
		if !ok {
			v, ok = old.Value(i)
		}
		if ok {
			c.row.Add(i, v)
		}
	}
	old.Reset()
	c.choose(&c.row, nil, old)
	return nil
}

func (c *conn) delete(ctx context.Context, key []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byKey[string(key)] == nil {
		return kv.ErrNotFound
	}
	c.remove(key)
	return nil
}

// copied is a record that a scan has copied.
type copied struct {
	key []byte
	row kv.Row
}

// scan copies the records while it holds the table's read lock, and passes them to the function each after it has
// released the lock. Hence each may read and write the table, and scan with this connection.
func (c *conn) scan(ctx context.Context, from []byte, n int, f kv.Fields, each func(key []byte, r *kv.Row) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c.key = append(c.key[:0], from...)
	c.fields, c.most, c.found = f, n, 0
	if n > 0 {
		c.mu.RLock()
		c.sorted.Ascend(unsafe.String(unsafe.SliceData(c.key), len(c.key)), c.onScan) // the tree compares the text and does not keep it
		c.mu.RUnlock()
	}
	kept := c.kept
	c.kept = nil // a scan by each needs memory of its own
	for i := range c.found {
		if err := each(kept[i].key, &kept[i].row); err != nil {
			return err
		}
	}
	c.kept = kept
	return nil
}

// take copies one record; false when there are enough.
func (c *conn) take(key string, r *kv.Row) bool {
	if c.found == len(c.kept) {
		c.kept = append(c.kept, copied{})
	}
	k := &c.kept[c.found]
	k.key = append(k.key[:0], key...)
	k.row.Reset()
	c.choose(r, c.fields, &k.row)
	c.found++
	return c.found < c.most
}
