package enginetest

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/barograph/barograph/engine"
)

// spoilTransactions replaces the transactions of a connection.
func spoilTransactions(bad, c *engine.Conn, f KVFault) {
	n := 0
	var written []engine.KeyRow // in the transaction that runs
	bad.Update = func(ctx context.Context, key []byte, r *engine.Row) error {
		row := &engine.Row{}
		row.AddRow(r)
		written = append(written, engine.KeyRow{Key: slices.Clone(key), Row: row})
		if f == KVTorn && len(written) == 2 && n%10 == 0 {
			return nil
		}
		return c.Update(ctx, key, r)
	}
	bad.Transact = func(ctx context.Context, level engine.IsolationLevel, do func() error) error {
		n, written = n+1, nil
		var failed error
		err := c.Transact(ctx, level, func() error {
			if failed = do(); f == KVNoUndo {
				return nil
			}
			return failed
		})
		if !errors.Is(err, engine.ErrConflict) {
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

// patch writes without reading anew.
func patch(ctx context.Context, c *engine.Conn, rows []engine.KeyRow) error {
	for _, w := range rows {
		if err := c.Update(ctx, w.Key, w.Row); err != nil {
			return err
		}
	}
	return nil
}

// Optimistic gives a table in memory honest transactions, without isolation from
// what is no transaction: writes wait for the end, at which nothing that was
// read may have changed. It is what the faults of transactions are planted in.
func Optimistic(r *engine.Records) *engine.Records {
	var mu sync.Mutex
	versions := map[string]int{}
	wrapped := *r
	wrapped.Connect = func(ctx context.Context) (*engine.Conn, error) {
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
	conn     *engine.Conn
	mu       *sync.Mutex
	versions map[string]int // of all connections

	within bool
	seen   map[string]int
	writes []engine.KeyRow
}

func (o *optimistic) read(ctx context.Context, key []byte, f engine.Fields, into *engine.Row) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.within {
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

func (o *optimistic) update(ctx context.Context, key []byte, r *engine.Row) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.within {
		row := &engine.Row{}
		row.AddRow(r)
		o.writes = append(o.writes, engine.KeyRow{Key: slices.Clone(key), Row: row})
		return nil
	}
	o.versions[string(key)]++
	return o.conn.Update(ctx, key, r)
}

func (o *optimistic) transact(ctx context.Context, _ engine.IsolationLevel, do func() error) error {
	o.within, o.seen, o.writes = true, map[string]int{}, nil
	err := do()
	o.within = false
	if err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for key, version := range o.seen {
		if o.versions[key] != version {
			return engine.ErrConflict
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
