package history

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/kv"
)

// Witness is a group of clients that read and write their own records in a table: a few keys for
// which all of them contend, and many keys that are written once each, so that no later write hides
// a lost one.
type Witness struct {
	Table   *kv.Records
	Fields  int           // of a record
	Prefix  string        // of the keys of its records; no other record of the table has a key with it
	Clients int           // number of concurrent clients
	Calls   int           // approximate number of calls of each client; 0 = until Finish
	Pause   time.Duration // mean pause between two turns of a client
	Timeout time.Duration // of a call; 0 = none
	Seed    uint64

	began time.Time
}

const (
	shared     = 16               // number of keys for which all clients contend
	finishWait = 30 * time.Second // for which a client tries to reach a server at the end
)

// Recording is a history that is being recorded by the clients that Start has started.
type Recording struct {
	*Witness
	group       errgroup.Group
	stop, abort context.CancelFunc // stop ends the turns, abort also ends the calls
	all         []*client
}

// Start starts the clients. Each takes turns until it has made about Calls calls or, with Calls = 0, until Finish. A
// turn is a call, and after a write also a read of the same key. If ctx ends, the calls end too.
func (w *Witness) Start(ctx context.Context) (*Recording, error) {
	w.began = time.Now()
	r := &Recording{Witness: w}
	for i := range w.Clients {
		conn, err := w.Table.Connect(ctx)
		if err != nil {
			return nil, errors.Join(err, r.close())
		}
		r.all = append(r.all, &client{Witness: w, number: i, conn: conn, rng: rand.New(rand.NewPCG(w.Seed, uint64(i)))})
	}
	calls, abort := context.WithCancel(ctx)
	turns, stop := context.WithCancel(calls)
	r.stop, r.abort = stop, abort
	for _, one := range r.all {
		r.group.Go(func() error { one.run(calls, turns); return nil })
	}
	return r, nil
}

// Since returns a moment as the history states times: as the duration since the start of the history.
func (w *Witness) Since(moment time.Time) time.Duration { return moment.Sub(w.began) }

func (r *Recording) close() (err error) {
	for _, one := range r.all {
		err = errors.Join(err, one.conn.Close())
	}
	return err
}

// Finish waits for the clients (with Calls = 0 it stops them), reads every record once more, and removes the records.
// If a client gets no answer for a key in time, Finish returns an error. The history then lacks the final read of this
// key and of all later keys of this client, and their records remain. The other clients read their keys in any case.
func (r *Recording) Finish(ctx context.Context) ([]Op, error) {
	if r.Calls == 0 {
		r.stop()
		timer := time.AfterFunc(finishWait, r.abort)
		defer timer.Stop()
	}
	err := errors.Join(r.group.Wait(), r.readAll(ctx))
	r.abort()
	var all []Op
	for _, one := range r.all {
		all = append(all, one.ops...)
	}
	return all, errors.Join(err, r.close())
}

// readAll reads every key once more, after the end of all turns. It divides the keys among the clients.
func (r *Recording) readAll(ctx context.Context) error {
	keys := map[string]bool{}
	for _, one := range r.all {
		for i := range one.ops {
			keys[one.ops[i].Key] = true
		}
	}
	keysOf, i := make([][]string, len(r.all)), 0 // by client
	for key := range keys {
		keysOf[i%len(keysOf)] = append(keysOf[i%len(keysOf)], key)
		i++
	}
	var g errgroup.Group
	for i, one := range r.all {
		g.Go(func() error { return one.readFinal(ctx, keysOf[i]) })
	}
	return g.Wait()
}

// client is one client of a witness. It reuses its row for every call.
type client struct {
	*Witness
	number   int
	conn     *kv.Conn
	rng      *rand.Rand
	ops      []Op
	row      kv.Row
	written  int64
	ownKeys  []string // keys that only this client writes, without those that it has deleted
	failures int
}

// run takes turns.
func (c *client) run(ctx, turns context.Context) {
	for turns.Err() == nil && (c.Calls == 0 || len(c.ops) < c.Calls) {
		kind, key := c.draw()
		if kind != Read {
			c.call(ctx, kind, key)
		}
		c.call(ctx, Read, key) // also after a write, before another write replaces its value
		if c.Pause > 0 {
			_ = engine.Pause(turns, time.Duration(float64(c.Pause)*2*c.rng.Float64()))
		}
	}
}

// draw chooses the next turn. Of ten turns on average five are reads, two updates, one an insert and one a
// delete of a shared key, and one an insert or a delete of a key of the client's own. If the table has no deletes,
// inserts take their place.
func (c *client) draw() (Kind, string) {
	key := c.Prefix + strconv.Itoa(c.rng.IntN(shared))
	switch n := c.rng.IntN(20); {
	case n < 10:
		return Read, key
	case n < 14:
		return Update, key
	case n < 16, c.conn.Delete == nil && n < 18:
		return Insert, key
	case n < 18:
		return Delete, key
	case n == 19 && len(c.ownKeys) > 8 && c.conn.Delete != nil:
		at := c.rng.IntN(len(c.ownKeys))
		key = c.ownKeys[at]
		c.ownKeys[at] = c.ownKeys[len(c.ownKeys)-1]
		c.ownKeys = c.ownKeys[:len(c.ownKeys)-1]
		return Delete, key
	}
	key = fmt.Sprintf("%s%d-%d", c.Prefix, c.number, c.written)
	c.ownKeys = append(c.ownKeys, key)
	return Insert, key
}

// call makes one call and records it. If the outcome is unknown, it reopens the connection for the next call.
func (c *client) call(ctx context.Context, kind Kind, key string) {
	o := Op{Client: c.number, Key: key, Kind: kind, Outcome: Done}
	if kind == Insert || kind == Update {
		c.written++
		o.Value = c.written*int64(c.Clients) + int64(c.number) + 1
		c.fill(o.Value)
	}
	during, cancel := ctx, context.CancelFunc(func() {})
	if c.Timeout > 0 {
		during, cancel = context.WithTimeout(ctx, c.Timeout)
	}
	o.Call = time.Since(c.began)
	err := c.do(during, kind, []byte(key))
	o.Return = time.Since(c.began)
	cancel()
	switch {
	case err == nil:
	case errors.Is(err, kv.ErrNotFound) || errors.Is(err, kv.ErrExists):
		o.Outcome = Refused
	default:
		o.Outcome, o.Return = Unknown, never
	}
	if kind == Read && o.Outcome == Done {
		o.Value = c.value()
	}
	if kind != Read || o.Outcome != Unknown {
		c.ops = append(c.ops, o)
	}
	if o.Outcome != Unknown {
		c.failures = 0
		return
	}
	c.conn, _ = c.Table.Reopen(ctx, c.conn, []byte(key), func() bool {
		c.failures++
		return engine.Pause(ctx, kv.BackOff(c.failures, c.rng)) == nil
	})
}

func (c *client) do(ctx context.Context, kind Kind, key []byte) error {
	switch kind {
	case Insert:
		return c.conn.Insert(ctx, key, &c.row)
	case Update:
		return c.conn.Update(ctx, key, &c.row)
	case Delete:
		return c.conn.Delete(ctx, key)
	}
	c.row.Reset()
	return c.conn.Read(ctx, key, nil, &c.row)
}

// fill gives every field the value.
func (c *client) fill(value int64) {
	c.row.Reset()
	for i := range c.Fields {
		c.row.SetData(strconv.AppendInt(c.row.Data(), value, 10))
		c.row.End(i)
	}
}

// value returns the value that every field of the row has, or torn.
func (c *client) value() int64 {
	if c.row.Len() != c.Fields {
		return torn
	}
	_, first := c.row.At(0)
	for i := range c.row.Len() {
		if _, v := c.row.At(i); !bytes.Equal(v, first) {
			return torn
		}
	}
	n, err := strconv.ParseInt(string(first), 10, 64)
	if err != nil {
		return torn
	}
	return n
}

// readFinal reads each key until the engine answers, and removes its record. If there is no answer in time, it returns
// without the remaining keys.
func (c *client) readFinal(ctx context.Context, keys []string) error {
	ctx, cancel := context.WithTimeout(ctx, finishWait+time.Duration(len(keys))*time.Second/10)
	defer cancel()
	for _, key := range keys {
		for n := len(c.ops); len(c.ops) == n; {
			if err := ctx.Err(); err != nil {
				return fmt.Errorf("the history's record %s cannot be read after the run: %w", key, err)
			}
			c.call(ctx, Read, key)
		}
		c.ops[len(c.ops)-1].Final = true
		if c.conn.Delete != nil {
			_ = c.conn.Delete(ctx, []byte(key)) // no workload reads a record that remains
		}
	}
	return nil
}
