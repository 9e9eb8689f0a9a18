package asterixdb

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/barograph/barograph/engine/kv"
	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/query/flavour"
)

// kvTables opens tables of records under keys. A table is a dataset of open documents in the dataverse
// name_records; their members are the key and the fields.
type kvTables struct{ *database }

type kvTable struct {
	*database
	dataset string // quoted name
	fields  []string
	locks   *kv.Stripes // locked while a record is read and written again, because a statement that does both is not atomic
}

// Table opens or creates a table.
func (k kvTables) Table(ctx context.Context, t kv.Table) (*kv.Records, error) {
	if err := t.Choose(Driver()); err != nil {
		return nil, err
	}
	dataverseName := ident(k.name + "_records")
	name := ident(t.Name)
	tb := &kvTable{database: k.database, dataset: dataverseName + "." + name, fields: t.Fields, locks: kv.NewStripes()}
	_, err := k.client.run(ctx, request{text: "SELECT VALUE 1 FROM " + tb.dataset + " AS d LIMIT 1"})
	if isAbsent(err) {
		if err := t.MissingError(k.readOnly); err != nil {
			return nil, err
		}
		err = k.define(ctx, "CREATE DATAVERSE "+dataverseName+" IF NOT EXISTS;\nUSE "+dataverseName+";\n"+
			"CREATE TYPE barograph_record IF NOT EXISTS AS {"+sqlengine.KVKeyColumn+": string};\n"+
			"CREATE DATASET "+name+"(barograph_record) IF NOT EXISTS PRIMARY KEY "+sqlengine.KVKeyColumn)
	}
	if err != nil {
		return nil, err
	}
	return kv.NewRecords(k.readOnly, tb.connect, tb.count), nil
}

func (tb *kvTable) count(ctx context.Context) (n int64, err error) {
	_, err = tb.client.run(ctx, request{text: "SELECT VALUE COUNT(*) FROM " + tb.dataset + " AS d", row: func(row []byte) error {
		n = gjson.ParseBytes(row).Int()
		return nil
	}})
	return n, err
}

func (tb *kvTable) connect() *kv.Conn {
	c := &kvConn{kvTable: tb}
	return &kv.Conn{
		Read: c.read, Insert: c.insert, Update: c.update, Scan: c.scan, Delete: c.delete,
		ReadPath: c.readPath, UpdatePath: c.updatePath,
	}
}

// kvConn is a connection: a table and the memory of one worker.
type kvConn struct {
	*kvTable
	row kv.Row
}

// keyText returns a key as it is stored: byte b as the letter with that number. AsterixDB compares letters
// and therefore compares bytes. ASCII does not change.
func keyText(key []byte) string {
	var b strings.Builder
	for _, c := range key {
		b.WriteRune(rune(c))
	}
	return b.String()
}

// keyBytes is the inverse of keyText.
func keyBytes(text string) []byte {
	key := make([]byte, 0, len(text))
	for _, r := range text {
		key = append(key, byte(r))
	}
	return key
}

var errNoText = errors.New("asterixdb: a value is not UTF-8 text")

// members returns the fields of a row.
func (tb *kvTable) members(r *kv.Row) (map[string]any, error) {
	out := map[string]any{}
	for i := range r.Len() {
		field, v := r.At(i)
		if !utf8.Valid(v) {
			return nil, errNoText
		}
		out[tb.fields[field]] = string(v)
	}
	return out, nil
}

// columns returns the expressions that select chosen fields, and the fields' indexes.
func (tb *kvTable) columns(f kv.Fields) (string, kv.Fields) {
	if f == nil {
		for i := range tb.fields {
			f = append(f, i)
		}
	}
	return flavour.Join(f, ", ", func(field int) string { return "d." + ident(tb.fields[field]) }), f
}

// decode appends the cells of a row of fields.
func decode(cells []gjson.Result, f kv.Fields, into *kv.Row) {
	for i, cell := range cells {
		if cell.Type == gjson.String {
			into.AddString(f[i], cell.Str)
		}
	}
}

// from selects the record of $key, as d.
func (tb *kvTable) from() string {
	return " FROM " + tb.dataset + " AS d WHERE d." + sqlengine.KVKeyColumn + " = $key"
}

func (c *kvConn) read(ctx context.Context, key []byte, f kv.Fields, into *kv.Row) error {
	columns, f := c.columns(f)
	return c.one(ctx, request{
		text: "SELECT VALUE [" + columns + "]" + c.from(), params: map[string]any{"key": keyText(key)},
		row: func(row []byte) error { decode(gjson.ParseBytes(row).Array(), f, into); return nil },
	})
}

// one runs a request that returns a row if the record exists.
func (tb *kvTable) one(ctx context.Context, r request) error {
	found, row := false, r.row
	r.row = func(text []byte) error {
		found = true
		return row(text)
	}
	_, err := tb.client.run(ctx, r)
	if err == nil && !found {
		err = kv.ErrNotFound
	}
	return err
}

func (c *kvConn) insert(ctx context.Context, key []byte, r *kv.Row) error {
	record, err := c.members(r)
	if err != nil {
		return err
	}
	record[sqlengine.KVKeyColumn] = keyText(key)
	unlock, err := c.locks.Lock(ctx, key) // delete is two statements: its SELECT could find no record, and its DELETE then remove this one
	if err != nil {
		return err
	}
	defer unlock()
	_, err = c.client.run(ctx, request{text: "INSERT INTO " + c.dataset + " ($record)", params: map[string]any{"record": record}})
	if hasCode(err, codeDuplicate) {
		return kv.ErrExists
	}
	return err
}

func (c *kvConn) update(ctx context.Context, key []byte, r *kv.Row) error {
	set, err := c.members(r)
	if err != nil {
		return err
	}
	return c.replace(ctx, key, set)
}

// replace replaces members of a record.
func (tb *kvTable) replace(ctx context.Context, key []byte, set map[string]any) error {
	unlock, err := tb.locks.Lock(ctx, key)
	if err != nil {
		return err
	}
	defer unlock()
	return tb.one(ctx, request{
		text:   "UPSERT INTO " + tb.dataset + " AS u (SELECT VALUE object_concat(d, $set)" + tb.from() + ") RETURNING 1",
		params: map[string]any{"key": keyText(key), "set": set},
		row:    func([]byte) error { return nil },
	})
}

func (c *kvConn) delete(ctx context.Context, key []byte) error {
	unlock, err := c.locks.Lock(ctx, key)
	if err != nil {
		return err
	}
	defer unlock()
	return c.one(ctx, request{
		text:   "SELECT VALUE 1" + c.from() + ";\nDELETE" + c.from(),
		params: map[string]any{"key": keyText(key)},
		row:    func([]byte) error { return nil },
	})
}

func (c *kvConn) scan(ctx context.Context, from []byte, n int, f kv.Fields, each func(key []byte, r *kv.Row) error) error {
	columns, f := c.columns(f)
	_, err := c.client.run(ctx, request{
		text: "SELECT VALUE [d." + sqlengine.KVKeyColumn + ", " + columns + "] FROM " + c.dataset + " AS d " +
			"WHERE d." + sqlengine.KVKeyColumn + " >= $key " +
			"ORDER BY d." + sqlengine.KVKeyColumn + " LIMIT " + strconv.Itoa(n),
		params: map[string]any{"key": keyText(from)},
		row: func(row []byte) error {
			cells := gjson.ParseBytes(row).Array()
			c.row.Reset()
			decode(cells[1:], f, &c.row)
			return each(keyBytes(cells[0].Str), &c.row)
		},
	})
	return err
}

// member returns the name of the member at a path. A record is flat, so a path has only one name.
func member(path string) (string, error) {
	name, ok := strings.CutPrefix(path, "$.")
	if !ok || !plainName.MatchString(name) {
		return "", fmt.Errorf("asterixdb: the path %q does not name a field; write it like $.name", path)
	}
	return name, nil
}

func (c *kvConn) readPath(ctx context.Context, key []byte, path string, into *kv.Row) error {
	name, err := member(path)
	if err != nil {
		return err
	}
	return c.one(ctx, request{
		text:   "SELECT VALUE d." + ident(name) + c.from() + " AND d." + ident(name) + " IS KNOWN",
		params: map[string]any{"key": keyText(key)},
		row:    func(row []byte) error { into.AddString(0, gjson.ParseBytes(row).String()); return nil },
	})
}

func (c *kvConn) updatePath(ctx context.Context, key []byte, path string, value []byte) error {
	name, err := member(path)
	if err != nil {
		return err
	}
	if !utf8.Valid(value) {
		return errNoText
	}
	return c.replace(ctx, key, map[string]any{name: string(value)})
}
