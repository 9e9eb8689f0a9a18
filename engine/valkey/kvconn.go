package valkey

import (
	"context"
	"errors"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/barograph/barograph/engine"
)

// kvConn is a connection: a table and the memory of one worker.
type kvConn struct {
	*kvTable
	row   engine.Row
	names []string
	args  []any
}

func (tb *kvTable) connect() *engine.Conn {
	c := &kvConn{kvTable: tb}
	conn := &engine.Conn{Read: c.read, Insert: c.insert, Update: c.update, Scan: c.scan, Delete: c.delete}
	if len(tb.records) == 1 { // records of several slots cannot be written all or none
		conn.InsertMany = c.insertMany
	}
	return conn
}

// place is where a record lies: its own key, and that of its sorted set.
func (tb *kvTable) place(key []byte) (record, index string) {
	b := tb.bucket(key)
	return tb.records[b] + string(key), tb.indexes[b]
}

// chosen are the names of fields, valid until the next call.
func (c *kvConn) chosen(f engine.Fields) []string {
	if f == nil {
		return c.fields
	}
	c.names = c.names[:0]
	for _, i := range f {
		c.names = append(c.names, c.fields[i])
	}
	return c.names
}

// fill appends the values of chosen fields; false where there are none: every
// record has all fields.
func fill(values []any, f engine.Fields, into *engine.Row) (found bool) {
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

func (c *kvConn) read(ctx context.Context, key []byte, f engine.Fields, into *engine.Row) error {
	record, _ := c.place(key)
	values, err := c.client.HMGet(ctx, record, c.chosen(f)...).Result()
	if err != nil {
		return failed(ctx, err)
	}
	if !fill(values, f, into) {
		return engine.ErrNotFound
	}
	return nil
}

// setting is how the scripts write the fields of a record: a call of Lua takes
// some thousand values and no more.
const setting = `
local function set(key, from, to)
	for i = from, to, 1000 do
		redis.call('HSET', key, unpack(ARGV, i, math.min(i + 999, to)))
	end
end
`

// script is one, and its text, for a server that does not know it yet.
type script struct {
	*redis.Script
	text string
}

func newScript(text string) script { return script{redis.NewScript(text), text} }

// The scripts change a record and its sorted set in one step: 1 = done, 0 = the
// record is, or is not, there.
//
//nolint:gochecknoglobals // constants: texts and their digests
var (
	insertOne = newScript(setting + `
if redis.call('EXISTS', KEYS[1]) == 1 then
	return 0
end
set(KEYS[1], 2, #ARGV)
redis.call('ZADD', KEYS[2], 0, ARGV[1])
return 1`)

	updateOne = newScript(setting + `
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

	// KEYS: the sorted set and the records; ARGV: how many values a record has,
	// then of each its key, its fields and their values.
	insertAll = newScript(setting + `
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

// once is a command that is sent once: one whose reply is lost may have been
// carried out, and would then find its own record.
type once struct{ *redis.Cmd }

// NoRetry tells the client.
func (once) NoRetry() bool { return true }

// run runs a script, which reports whether it has done something.
func (c *kvConn) run(ctx context.Context, s script, keys []string, args []any) (bool, error) {
	send := func(command, text string) *redis.Cmd {
		all := append(make([]any, 0, 3+len(keys)+len(args)), command, text, len(keys))
		for _, k := range keys {
			all = append(all, k)
		}
		cmd := redis.NewCmd(ctx, append(all, args...)...)
		_ = c.client.Process(ctx, once{cmd}) // cmd has the error
		return cmd
	}
	cmd := send("evalsha", s.Hash())
	if err := cmd.Err(); err != nil && strings.HasPrefix(err.Error(), "NOSCRIPT") {
		cmd = send("eval", s.text)
	}
	n, err := cmd.Int()
	return n == 1, failed(ctx, err)
}

// pairs appends the fields that a row has, and their values.
func (c *kvConn) pairs(r *engine.Row) {
	for i := range r.Len() {
		field, v := r.At(i)
		c.args = append(c.args, c.fields[field], v)
	}
}

func (c *kvConn) insert(ctx context.Context, key []byte, r *engine.Row) error {
	record, index := c.place(key)
	c.args = append(c.args[:0], key)
	c.pairs(r)
	done, err := c.run(ctx, insertOne, []string{record, index}, c.args)
	if err == nil && !done {
		err = engine.ErrExists
	}
	return err
}

func (c *kvConn) update(ctx context.Context, key []byte, r *engine.Row) error {
	record, _ := c.place(key)
	c.args = c.args[:0]
	c.pairs(r)
	done, err := c.run(ctx, updateOne, []string{record}, c.args)
	if err == nil && !done {
		err = engine.ErrNotFound
	}
	return err
}

func (c *kvConn) delete(ctx context.Context, key []byte) error {
	record, index := c.place(key)
	done, err := c.run(ctx, deleteOne, []string{record, index}, append(c.args[:0], key))
	if err == nil && !done {
		err = engine.ErrNotFound
	}
	return err
}

var errUneven = errors.New("valkey: a record of a batch lacks fields")

// insertMany writes the records of the one bucket that there is.
func (c *kvConn) insertMany(ctx context.Context, rows []engine.KeyRow) error {
	if len(rows) == 0 {
		return ctx.Err()
	}
	keys, seen := []string{c.indexes[0]}, make(map[string]struct{}, len(rows))
	c.args = append(c.args[:0], 2*len(c.fields))
	for _, r := range rows {
		if _, twice := seen[string(r.Key)]; twice {
			return engine.ErrExists
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
		err = engine.ErrExists
	}
	return err
}
