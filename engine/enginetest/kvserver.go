package enginetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/kv"
	"github.com/barograph/barograph/lab"
)

// RunKilledRecords kills the server while workers insert records under keys, and restarts it. The
// workers open new connections with kv.Records.Reopen and continue. Afterwards every acknowledged
// record must exist with all its fields. cfg.URL names databases of l, whose commits must be
// durable.
func RunKilledRecords(t *testing.T, cfg Config, l *lab.Lab) {
	layouts := kv.OfferOf(&cfg.Driver).Layouts
	for _, layout := range layouts[:min(1, len(layouts))] { // connections are the same for all layouts
		e, err := engine.Registry{cfg.Driver}.Open(t.Context(), cfg.URL(t), engine.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		r, err := kv.DatabaseOf(e).Table(t.Context(), kvTable(layout))
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		k := &killed{Records: r}
		g, ctx := errgroup.WithContext(t.Context())
		for w := range killedWorkers {
			g.Go(func() error { return k.insert(ctx, w) })
		}
		await(t, func() bool { return k.done.Load() > 20*killedWorkers && k.connected.Load() == killedWorkers })
		if err := l.Kill(0); err != nil {
			t.Fatal(err)
		}
		await(t, func() bool { return k.failed.Load() > 0 }) // before it runs again
		if err := l.Restart(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
		k.back.Store(true)
		if err := g.Wait(); err != nil {
			t.Fatal(err)
		}
		k.checkAcknowledged(t)
		t.Logf("%s: %d inserts acknowledged, %d failed", layout, k.done.Load(), k.failed.Load())
		if n := k.failed.Load(); n > 2*killedWorkers {
			t.Errorf("%d inserts of %d workers failed: they used lost connections", n, killedWorkers)
		}
	}
}

const killedWorkers = 4

// await waits until happened returns true, at most a minute.
func await(t *testing.T, happened func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !happened(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the workers do not continue")
		}
	}
}

// killed is a table whose server is killed.
type killed struct {
	*kv.Records
	connected, done, failed atomic.Int64
	back                    atomic.Bool // the server runs again
	keys                    [killedWorkers][]string
}

// insert inserts records until twenty inserts have succeeded after the restart.
func (k *killed) insert(ctx context.Context, worker int) error {
	c, err := k.Connect(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }() // the last connection
	k.connected.Add(1)
	rng, failures := rand.New(rand.NewPCG(1, uint64(worker))), 0
	since := 0 // failures since the restart
	for i, after := 0, 0; after < 20; i++ {
		returned, key := k.back.Load(), fmt.Sprintf("killed%d-%d", worker, i)
		err := c.Insert(ctx, []byte(key), kvRecord(key))
		if err == nil {
			k.keys[worker], failures = append(k.keys[worker], key), 0
			k.done.Add(1)
			if returned {
				after++
			}
			continue
		}
		k.failed.Add(1)
		if errors.Is(err, kv.ErrExists) {
			return fmt.Errorf("%s, which is new: %w", key, err)
		}
		c, err = k.Reopen(ctx, c, []byte(key), func() bool {
			if failures++; k.back.Load() {
				since++
			}
			time.Sleep(kv.BackOff(failures, rng))
			return ctx.Err() == nil && since < 100
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// checkAcknowledged reads every acknowledged record.
func (k *killed) checkAcknowledged(t *testing.T) {
	t.Helper()
	c := kvSuite{Records: k.Records}.connect(t)
	for _, keys := range k.keys {
		for _, key := range keys {
			got := &kv.Row{}
			if err := c.Read(t.Context(), []byte(key), nil, got); err != nil || !got.Equal(kvRecord(key)) {
				t.Errorf("%s was acknowledged; after the restart: %v, %q", key, err, got.Data())
			}
		}
	}
}
