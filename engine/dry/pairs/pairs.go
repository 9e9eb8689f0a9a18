// Package pairs stores tables of records under keys in memory. It has no database, so the times that the study ycsb
// measures with it are the client's own cost, which reports show as the client overhead.
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
	allFields kv.Fields

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
			tb.allFields = append(tb.allFields, i)
		}
		ts.byName[t.Name] = tb
	case len(tb.allFields) != len(t.Fields):
		problem := fmt.Sprintf("the table has %d fields, not %d", len(tb.allFields), len(t.Fields))
		cure := "give the fieldcount with which it was loaded"
		return nil, &fault.Error{Setting: "fieldcount", Problem: problem, Cure: cure}
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
	from         []byte
	copies       []recordCopy // reused by the next scan
	fields       kv.Fields
	limit, count int
	onScan       func(key string, r *kv.Row) bool // the method take, allocated once
}

func (tb *table) connect() *kv.Conn {
	c := &conn{table: tb}
	c.onScan = c.take
	return &kv.Conn{
		Read: c.read, Insert: c.insert, Update: c.update, Scan: c.scan, Delete: c.delete, InsertMany: c.insertMany,
	}
}

// choose appends the chosen fields of a record; nil = all fields.
func (tb *table) choose(from *kv.Row, f kv.Fields, into *kv.Row) {
	if f == nil {
		into.AddRow(from) // a stored record has its fields in their order
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
	stored := &kv.Row{}
	c.choose(r, c.allFields, stored)
	k := string(key)
	c.byKey[k] = stored
	c.sorted.Set(k, stored)
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
	for i := range c.allFields {
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

// recordCopy is a record that a scan has copied.
type recordCopy struct {
	key []byte
	row kv.Row
}

// scan copies at most n records while it has the table's read lock, and releases the lock. Then it calls each for every
// copy. The function each may therefore read and write the table, and may scan with the same connection.
func (c *conn) scan(
	ctx context.Context, from []byte, n int, f kv.Fields, each func(key []byte, r *kv.Row) error,
) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c.from = append(c.from[:0], from...)
	c.fields, c.limit, c.count = f, n, 0
	if n > 0 {
		first := unsafe.String(unsafe.SliceData(c.from), len(c.from)) // the tree compares the text and does not keep it
		c.mu.RLock()
		c.sorted.Ascend(first, c.onScan)
		c.mu.RUnlock()
	}
	copies := c.copies
	c.copies = nil // if each scans, that scan must not overwrite these copies
	for i := range c.count {
		if err := each(copies[i].key, &copies[i].row); err != nil {
			return err
		}
	}
	c.copies = copies
	return nil
}

// take copies one record; false when there are enough.
func (c *conn) take(key string, r *kv.Row) bool {
	if c.count == len(c.copies) {
		c.copies = append(c.copies, recordCopy{})
	}
	k := &c.copies[c.count]
	k.key = append(k.key[:0], key...)
	k.row.Reset()
	c.choose(r, c.fields, &k.row)
	c.count++
	return c.count < c.limit
}
