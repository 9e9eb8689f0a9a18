package dry

import (
	"context"
	"fmt"
	"sync"
	"unsafe"

	"github.com/tidwall/btree"

	"barograph/engine"
	"barograph/fault"
)

// kvTables holds the tables of records under keys, by name, as long as the
// engine is open.
type kvTables struct {
	readOnly bool

	mu     sync.Mutex
	byName map[string]*kvTable
}

// kvTable finds a record by a hash and, for scans, by the order of keys.
type kvTable struct {
	all engine.Fields

	mu     sync.RWMutex
	byKey  map[string]*engine.Row
	sorted btree.Map[string, *engine.Row]
}

// Table opens or makes a table.
func (ts *kvTables) Table(_ context.Context, t engine.Table) (*engine.Records, error) {
	if err := t.Check(); err != nil {
		return nil, err
	}
	if t.Layout != "" && t.Layout != engine.Pairs {
		return nil, fmt.Errorf("dry lays tables out as %s, not as %s: %w", engine.Pairs, t.Layout, engine.ErrNoDesign)
	}
	ts.mu.Lock()
	defer ts.mu.Unlock()
	tb := ts.byName[t.Name]
	switch {
	case tb == nil && !t.Make:
		return nil, &fault.Error{Setting: "table " + t.Name, Problem: "does not exist", Cure: "load it first"}
	case tb == nil:
		tb = &kvTable{byKey: map[string]*engine.Row{}}
		for i := range t.Fields {
			tb.all = append(tb.all, i)
		}
		ts.byName[t.Name] = tb
	case len(tb.all) != len(t.Fields):
		return nil, &fault.Error{Setting: "fieldcount", Problem: fmt.Sprintf("the table has %d fields, not %d", len(tb.all), len(t.Fields)), Cure: "give what it was loaded with"}
	}
	return &engine.Records{
		Connect: func(context.Context) (*engine.Conn, error) { return tb.connect(ts.readOnly), nil },
		Count:   func(context.Context) (int64, error) { return tb.count(), nil },
		Close:   func() error { return nil },
	}, nil
}

func (tb *kvTable) count() int64 {
	tb.mu.RLock()
	defer tb.mu.RUnlock()
	return int64(len(tb.byKey))
}

// kvConn is a connection: a table and the memory of one worker.
type kvConn struct {
	*kvTable
	row engine.Row

	// of a scan
	key         []byte
	kept        []kept
	fields      engine.Fields
	most, found int
	onScan      func(key string, r *engine.Row) bool
}

func (tb *kvTable) connect(readOnly bool) *engine.Conn {
	c := &kvConn{kvTable: tb}
	c.onScan = c.take
	conn := &engine.Conn{
		Read: c.read, Insert: c.insert, Update: c.update, Scan: c.scan, Delete: c.delete, InsertMany: c.insertMany,
		Close: func() error { return nil },
	}
	if readOnly {
		conn.Insert = func(context.Context, []byte, *engine.Row) error { return engine.ErrReadOnly }
		conn.Update, conn.Delete = conn.Insert, func(context.Context, []byte) error { return engine.ErrReadOnly }
		conn.InsertMany = func(context.Context, []engine.KeyRow) error { return engine.ErrReadOnly }
	}
	return conn
}

// choose appends the chosen fields of a record.
func (tb *kvTable) choose(from *engine.Row, f engine.Fields, into *engine.Row) {
	if f == nil {
		into.AddRow(from) // it was stored in the order of fields
		return
	}
	for _, i := range f {
		if v, ok := from.Value(i); ok {
			into.Add(i, v)
		}
	}
}

func (c *kvConn) read(ctx context.Context, key []byte, f engine.Fields, into *engine.Row) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	r := c.byKey[string(key)]
	if r == nil {
		return engine.ErrNotFound
	}
	c.choose(r, f, into)
	return nil
}

func (c *kvConn) insert(ctx context.Context, key []byte, r *engine.Row) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byKey[string(key)] != nil {
		return engine.ErrExists
	}
	c.put(key, r)
	return nil
}

func (c *kvConn) put(key []byte, r *engine.Row) {
	kept := &engine.Row{}
	c.choose(r, c.all, kept)
	k := string(key)
	c.byKey[k] = kept
	c.sorted.Set(k, kept)
}

func (c *kvConn) insertMany(ctx context.Context, rows []engine.KeyRow) error {
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
			return engine.ErrExists
		}
		c.put(r.Key, r.Row)
	}
	return nil
}

func (c *kvConn) remove(key []byte) {
	delete(c.byKey, string(key))
	c.sorted.Delete(string(key))
}

func (c *kvConn) update(ctx context.Context, key []byte, r *engine.Row) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	old := c.byKey[string(key)]
	if old == nil {
		return engine.ErrNotFound
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

func (c *kvConn) delete(ctx context.Context, key []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byKey[string(key)] == nil {
		return engine.ErrNotFound
	}
	c.remove(key)
	return nil
}

// kept is a record that a scan copied.
type kept struct {
	key []byte
	row engine.Row
}

// scan copies the records while it holds the table, and gives them on after,
// so that each may do anything.
func (c *kvConn) scan(ctx context.Context, from []byte, n int, f engine.Fields, each func(key []byte, r *engine.Row) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c.key = append(c.key[:0], from...)
	c.fields, c.most, c.found = f, n, 0
	if n > 0 {
		c.mu.RLock()
		c.sorted.Ascend(unsafe.String(unsafe.SliceData(c.key), len(c.key)), c.onScan) // compared, not kept
		c.mu.RUnlock()
	}
	for i := range c.found {
		if err := each(c.kept[i].key, &c.kept[i].row); err != nil {
			return err
		}
	}
	return nil
}

// take copies one record; false when there are enough.
func (c *kvConn) take(key string, r *engine.Row) bool {
	if c.found == len(c.kept) {
		c.kept = append(c.kept, kept{})
	}
	k := &c.kept[c.found]
	k.key = append(k.key[:0], key...)
	k.row.Reset()
	c.choose(r, c.fields, &k.row)
	c.found++
	return c.found < c.most
}
