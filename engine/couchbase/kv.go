package couchbase

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/couchbase/gocbcore/v10"
	"github.com/couchbase/gocbcore/v10/memd"
	"github.com/tidwall/gjson"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/kv"
)

// kvTables opens tables of records under keys. A record is the JSON document {"field0": "value", …} with the key
// table:key, as in YCSB's binding (Couchbase2Client). A text of the store (Put) lists the fields of a table.
type kvTables struct{ *database }

// maxChanges is the greatest number of changes in one sub-document operation.
const maxChanges = 16

type kvTable struct {
	*database
	prefix string
	fields []string
	index  map[string]int // by field name
}

// Table opens or creates a table.
func (k kvTables) Table(ctx context.Context, t kv.Table) (*kv.Records, error) {
	if err := t.Choose(Driver()); err != nil {
		return nil, err
	}
	tb := &kvTable{database: k.database, prefix: t.Name + ":", fields: t.Fields, index: map[string]int{}}
	for i, f := range t.Fields {
		tb.index[f] = i
	}
	name := "table::" + t.Name
	s := &store{database: k.database}
	known, err := s.Get(ctx, []string{name})
	if err != nil {
		return nil, err
	}
	var existing []string
	if text, exists := known[name]; exists {
		if err = json.Unmarshal(text, &existing); err == nil {
			err = t.CheckFields(existing)
		}
	} else if err = t.MissingError(k.readOnly); err == nil {
		if text, err = json.Marshal(t.Fields); err == nil {
			err = s.Put(ctx, name, text)
		}
	}
	if err != nil {
		return nil, err
	}
	return kv.NewRecords(k.readOnly, tb.connect, nil), nil
}

func (tb *kvTable) connect() *kv.Conn {
	c := &kvConn{kvTable: tb, cells: make([]gjson.Result, len(tb.fields))}
	return &kv.Conn{
		Read: c.read, Insert: c.insert, Update: c.update, Delete: c.delete,
		ReadPath: c.readPath, UpdatePath: c.updatePath,
	}
}

// kvConn is a connection: a table and the memory of one worker.
type kvConn struct {
	*kvTable
	cells []gjson.Result // values of the decoded document, by field
	doc   []byte
}

func (tb *kvTable) id(key []byte) string { return tb.prefix + string(key) }

// operate runs an operation as soon as one more may be in flight, and classifies its error.
func (tb *kvTable) operate(ctx context.Context, operation func() error) error {
	release, err := tb.reserve(ctx, 1)
	if err != nil {
		return engine.CallError(ctx, err)
	}
	defer release()
	err = operation()
	switch {
	case ctx.Err() != nil && err != nil:
		return ctx.Err()
	case errors.Is(err, gocbcore.ErrDocumentNotFound):
		return kv.ErrNotFound
	case errors.Is(err, gocbcore.ErrDocumentExists):
		return kv.ErrExists
	}
	return engine.CallError(ctx, err)
}

// read fetches the complete document, also for chosen fields, as YCSB's binding does; readPath reads inside
// the document.
func (c *kvConn) read(ctx context.Context, key []byte, f kv.Fields, into *kv.Row) error {
	return c.operate(ctx, func() error {
		text, _, err := c.docs.get(ctx, c.id(key))
		if err == nil {
			c.decode(text, f, into)
		}
		return err
	})
}

// decode appends chosen fields of a document, in their order.
func (c *kvConn) decode(text []byte, f kv.Fields, into *kv.Row) {
	clear(c.cells)
	gjson.ParseBytes(text).ForEach(func(name, v gjson.Result) bool {
		if i, ok := c.index[name.Str]; ok {
			c.cells[i] = v
		}
		return true
	})
	for i, v := range c.cells {
		if v.Exists() && (f == nil || slices.Contains(f, i)) {
			into.AddString(i, v.String())
		}
	}
}

var errNotUTF8 = errors.New("couchbase: a value is not UTF-8 text")

// encode sets doc to the document of a row.
func (c *kvConn) encode(r *kv.Row) error {
	c.doc = append(c.doc[:0], '{')
	for i := range r.Len() {
		field, v := r.At(i)
		if !utf8.Valid(v) {
			return errNotUTF8
		}
		if i > 0 {
			c.doc = append(c.doc, ',')
		}
		c.doc = append(append(append(c.doc, literal(c.fields[field])...), ':'), literal(string(v))...)
	}
	c.doc = append(c.doc, '}')
	return nil
}

func (c *kvConn) insert(ctx context.Context, key []byte, r *kv.Row) error {
	if err := c.encode(r); err != nil {
		return err
	}
	return c.operate(ctx, func() error {
		_, err := c.docs.insert(ctx, c.id(key), c.doc)
		return err
	})
}

// update changes fields inside the document, in one operation. If there are too many for one operation, it
// reads the document, changes it and writes it, unless another client has changed it meanwhile.
func (c *kvConn) update(ctx context.Context, key []byte, r *kv.Row) error {
	if r.Len() > maxChanges {
		return c.replace(ctx, key, r)
	}
	specs := make([]gocbcore.SubDocOp, r.Len())
	for i := range specs {
		field, v := r.At(i)
		if !utf8.Valid(v) {
			return errNotUTF8
		}
		specs[i] = setMember(c.fields[field], string(v))
	}
	return c.mutate(ctx, key, specs)
}

func (c *kvConn) mutate(ctx context.Context, key []byte, specs []gocbcore.SubDocOp) error {
	return c.operate(ctx, func() error { return c.docs.mutate(ctx, c.id(key), specs) })
}

// replace replaces a document by itself with changed fields.
func (c *kvConn) replace(ctx context.Context, key []byte, r *kv.Row) error {
	var old, next kv.Row
	return c.operate(ctx, func() error {
		for {
			text, cas, err := c.docs.get(ctx, c.id(key))
			if err != nil {
				return err
			}
			old.Reset()
			next.Reset()
			c.decode(text, nil, &old)
			for i := range c.fields {
				v, ok := r.Value(i)
				if !ok {
					v, ok = old.Value(i)
				}
				if ok {
					next.Add(i, v)
				}
			}
			if err := c.encode(&next); err != nil {
				return err
			}
			_, err = c.docs.replace(ctx, c.id(key), c.doc, cas)
			if !errors.Is(err, gocbcore.ErrCasMismatch) {
				return err
			}
		}
	})
}

func (c *kvConn) delete(ctx context.Context, key []byte) error {
	return c.operate(ctx, func() error { return c.docs.remove(ctx, c.id(key)) })
}

// subDocumentPath returns a path in the notation of sub-document operations: a.b[0].
func subDocumentPath(path string) (string, error) {
	name, ok := strings.CutPrefix(path, "$.")
	if !ok || name == "" {
		return "", fmt.Errorf("couchbase: the path %q does not name a member; write it like $.field3 or $.data[0].value", path)
	}
	return name, nil
}

func (c *kvConn) readPath(ctx context.Context, key []byte, path string, into *kv.Row) error {
	name, err := subDocumentPath(path)
	if err != nil {
		return err
	}
	return c.operate(ctx, func() error {
		found, err := c.docs.lookUp(ctx, c.id(key), memd.SubDocOpGet, name)
		var v string
		if err == nil {
			err = json.Unmarshal(found, &v)
		}
		if errors.Is(err, gocbcore.ErrPathNotFound) {
			return kv.ErrNotFound
		}
		if err == nil {
			into.AddString(0, v)
		}
		return err
	})
}

func (c *kvConn) updatePath(ctx context.Context, key []byte, path string, value []byte) error {
	name, err := subDocumentPath(path)
	if err != nil {
		return err
	}
	if !utf8.Valid(value) {
		return errNotUTF8
	}
	return c.mutate(ctx, key, []gocbcore.SubDocOp{setMember(name, string(value))})
}
