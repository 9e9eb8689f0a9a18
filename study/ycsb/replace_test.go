package ycsb

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/kv"
)

// TestReplaceCost: a load that replaces records sends one statement for each, or loads into an emptied table.
func TestReplaceCost(t *testing.T) {
	const records, threads = 1000, 4
	for _, x := range []struct {
		name                      string
		batch                     string
		clear                     bool
		inserts, batches, updates int64 // of the second load, at most
	}{
		{"single inserts", "1", false, threads, 0, records},
		{"batches", "50", false, threads, records / 50, records},
		{"cleared", "50", true, 0, records / 50, 0},
	} {
		t.Run(x.name, func(t *testing.T) {
			var inserts, batches, updates atomic.Int64
			change := func(r *kv.Records) *kv.Records {
				out := *conns(func(c *kv.Conn) {
					insert, many, update := c.Insert, c.InsertMany, c.Update
					c.Insert = func(ctx context.Context, key []byte, r *kv.Row) error {
						inserts.Add(1)
						return insert(ctx, key, r)
					}
					c.InsertMany = func(ctx context.Context, rows []kv.KeyRow) error {
						batches.Add(1)
						return many(ctx, rows)
					}
					c.Update = func(ctx context.Context, key []byte, r *kv.Row) error {
						updates.Add(1)
						return update(ctx, key, r)
					}
				})(r)
				if x.clear {
					out.Clear = func(ctx context.Context) error { return deleteAll(ctx, r) }
				}
				return &out
			}
			target := &Target{Scheme: "dry", KV: wrapped{open(t), change}, Replace: true}
			c := config(t, "batchsize="+x.batch)
			if err := target.LoadAll(t.Context(), c); err != nil {
				t.Fatal(err)
			}
			if x.batch == "1" && (inserts.Load() != records || updates.Load() != 0) {
				t.Errorf("the first load sent %d inserts and %d updates", inserts.Load(), updates.Load())
			}
			for _, n := range []*atomic.Int64{&inserts, &batches, &updates} {
				n.Store(0)
			}
			if err := target.LoadAll(t.Context(), c); err != nil {
				t.Fatal(err)
			}
			if inserts.Load() > x.inserts || batches.Load() > x.batches || updates.Load() > x.updates {
				t.Errorf("the second load sent %d inserts, %d batches and %d updates", inserts.Load(), batches.Load(),
					updates.Load())
			}
		})
	}
}

// TestTrim: a load that replaces records removes those that an earlier run inserted after an outage, during which many
// inserts failed.
func TestTrim(t *testing.T) {
	c := config(t)
	db := loaded(t, c)
	table, err := db.Table(t.Context(), c.TableSpec(""))
	if err != nil {
		t.Fatal(err)
	}
	conn, err := table.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var row kv.Row
	for i := range c.FieldCount {
		row.Add(int(i), []byte("a value"))
	}
	key := c.appendKey(nil, c.Records+500)
	if err := conn.Insert(t.Context(), key, &row); err != nil {
		t.Fatal(err)
	}
	if err := (&Target{KV: db, Replace: true}).LoadAll(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if err := conn.Read(t.Context(), key, nil, &row); !errors.Is(err, kv.ErrNotFound) {
		t.Errorf("the record of the earlier run: %v", err)
	}
}

// TestFailedClear: a load that cannot clear the table does not observe the server. Otherwise nothing would end the
// observation.
func TestFailedClear(t *testing.T) {
	change := func(r *kv.Records) *kv.Records {
		out := *r
		out.Clear = func(context.Context) error { return errors.New("permission denied") }
		return &out
	}
	var asked atomic.Int64
	metrics := func(context.Context) (engine.Metrics, error) { asked.Add(1); return engine.Metrics{}, nil }
	o := Options{Replace: true, Server: Server{Metrics: metrics}}
	r, err := Load(t.Context(), wrapped{open(t), change}, config(t), o)
	if r != nil || err == nil || !strings.Contains(err.Error(), "permission denied") || asked.Load() > 0 {
		t.Errorf("%v, %v; the server was asked %d times", r, err, asked.Load())
	}
}

// deleteAll removes the records of a table one by one.
func deleteAll(ctx context.Context, r *kv.Records) error {
	c, err := r.Connect(ctx)
	if err != nil {
		return err
	}
	var keys [][]byte
	err = c.Scan(ctx, nil, 1<<20, nil, func(key []byte, _ *kv.Row) error {
		keys = append(keys, slices.Clone(key))
		return nil
	})
	for _, key := range keys {
		if err == nil {
			err = c.Delete(ctx, key)
		}
	}
	return err
}
