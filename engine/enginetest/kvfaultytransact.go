package enginetest

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/barograph/barograph/engine/kv"
)

// spoilTransactions replaces the transactions of a connection.
func spoilTransactions(bad, c *kv.Conn, f KVFault) {
	n := 0
	var written []kv.KeyRow // writes of the running transaction
	bad.Update = func(ctx context.Context, key []byte, r *kv.Row) error {
		row := &kv.Row{}
		row.AddRow(r)
		written = append(written, kv.KeyRow{Key: slices.Clone(key), Row: row})
		if f == KVTorn && len(written) == 2 && n%10 == 0 {
			return nil
		}
		return c.Update(ctx, key, r)
	}
	bad.Transact = func(ctx context.Context, level kv.IsolationLevel, do func() error) error {
		n, written = n+1, nil
		var failed error
		err := c.Transact(ctx, level, func() error {
			if failed = do(); f == KVNoUndo {
				return nil
			}
			return failed
		})
		if !errors.Is(err, kv.ErrConflict) {
			return errors.Join(err, failed)
		}
		if f == KVPiece {
			return patch(ctx, c, written)
		}
		if f == KVForgiven {
			return nil
		}
		return err
	}
}

// writeAtOnce replaces the transactions of a connection: they store each write at once, and undo the writes if they
// fail.
func writeAtOnce(bad, c *kv.Conn) {
	var old []kv.KeyRow // the records before each write of the running transaction
	bad.Update = func(ctx context.Context, key []byte, r *kv.Row) error {
		before := &kv.Row{}
		if err := c.Read(ctx, key, nil, before); err != nil {
			return err
		}
		old = append(old, kv.KeyRow{Key: slices.Clone(key), Row: before})
		return c.Update(ctx, key, r)
	}
	bad.Transact = func(ctx context.Context, _ kv.IsolationLevel, do func() error) error {
		old = nil
		err := do()
		if err != nil {
			slices.Reverse(old)
			err = errors.Join(err, patch(ctx, c, old))
		}
		return err
	}
}

// patch writes records without reading them again.
func patch(ctx context.Context, c *kv.Conn, rows []kv.KeyRow) error {
	for _, w := range rows {
		if err := c.Update(ctx, w.Key, w.Row); err != nil {
			return err
		}
	}
	return nil
}

// Optimistic gives a table in memory correct transactions: they delay writes until their end, and conflict
// if anything that they read has changed. They are not isolated from writes outside transactions. Tests
// plant the faults of transactions in this table.
func Optimistic(r *kv.Records) *kv.Records {
	var mu sync.Mutex
	versions := map[string]int{}
	wrapped := *r
	wrapped.Connect = func(ctx context.Context) (*kv.Conn, error) {
		c, err := r.Connect(ctx)
		if err != nil {
			return nil, err
		}
		tx, out := &optimistic{conn: c, mu: &mu, versions: versions}, *c
		out.Read, out.Update, out.Transact = tx.read, tx.update, tx.transact
		return &out, nil
	}
	return &wrapped
}

type optimistic struct {
	conn     *kv.Conn
	mu       *sync.Mutex
	versions map[string]int // shared by all connections

	inTransaction bool
	seen          map[string]int
	writes        []kv.KeyRow
}

func (o *optimistic) read(ctx context.Context, key []byte, f kv.Fields, into *kv.Row) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.inTransaction {
		if _, ok := o.seen[string(key)]; !ok {
			o.seen[string(key)] = o.versions[string(key)]
		}
		for _, w := range slices.Backward(o.writes) {
			if string(w.Key) == string(key) {
				into.AddRow(w.Row)
				return nil
			}
		}
	}
	return o.conn.Read(ctx, key, f, into)
}

func (o *optimistic) update(ctx context.Context, key []byte, r *kv.Row) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.inTransaction {
		row := &kv.Row{}
		row.AddRow(r)
		o.writes = append(o.writes, kv.KeyRow{Key: slices.Clone(key), Row: row})
		return nil
	}
	o.versions[string(key)]++
	return o.conn.Update(ctx, key, r)
}

func (o *optimistic) transact(ctx context.Context, _ kv.IsolationLevel, do func() error) error {
	o.inTransaction, o.seen, o.writes = true, map[string]int{}, nil
	err := do()
	o.inTransaction = false
	if err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for key, version := range o.seen {
		if o.versions[key] != version {
			return kv.ErrConflict
		}
	}
	for _, w := range o.writes {
		o.versions[string(w.Key)]++
		if err := o.conn.Update(ctx, w.Key, w.Row); err != nil {
			return err
		}
	}
	return nil
}
