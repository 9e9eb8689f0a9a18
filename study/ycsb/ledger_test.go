package ycsb

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/barograph/barograph/engine/kv"
)

// A correct store is never accused, however calls overlap: 16 workers contend
// for 20 records, replies come late, some are lost, of writes that were done and
// of writes that were not.
func TestCorrectStoreIsNotAccused(t *testing.T) {
	for _, all := range []string{"writeallfields=false", "writeallfields=true"} {
		c := config(t, "recordcount=20", "threadcount=16", "operationcount=6000", "readproportion=0.5", "updateproportion=0.3", "readmodifywriteproportion=0.15",
			"insertproportion=0.04", "deleteproportion=0.002", "scanproportion=0.05", "fieldcount=3", "maxscanlength=8", "requestdistribution=uniform", all)
		db := loaded(t, c)
		var mu sync.Mutex
		rng := rand.New(rand.NewPCG(1, 2))
		wait := func() (lost bool) {
			mu.Lock()
			d, lost := time.Duration(rng.IntN(200))*time.Microsecond, rng.IntN(400) == 0
			mu.Unlock()
			time.Sleep(d)
			return lost
		}
		lost := errors.New("the reply is lost")
		late := conns(func(c *kv.Conn) {
			good := *c
			write := func(do func() error) error {
				if wait() {
					return lost // it was not done
				}
				err := do()
				if wait() {
					return lost
				}
				return err
			}
			c.Read = func(ctx context.Context, key []byte, f kv.Fields, into *kv.Row) error {
				wait()
				err := good.Read(ctx, key, f, into)
				wait()
				return err
			}
			c.Update = func(ctx context.Context, key []byte, r *kv.Row) error {
				return write(func() error { return good.Update(ctx, key, r) })
			}
			c.Insert = func(ctx context.Context, key []byte, r *kv.Row) error {
				return write(func() error { return good.Insert(ctx, key, r) })
			}
			c.Delete = func(ctx context.Context, key []byte) error {
				return write(func() error { return good.Delete(ctx, key) })
			}
		})
		r, err := Run(t.Context(), wrapped{db, late}, c, Options{})
		if r == nil || r.all(statusWrong) > 0 || r.back.Wrong > 0 || r.all(statusNotFound) > 0 {
			t.Fatalf("%s: %v; %v", all, err, r.Problems)
		}
		if r.seen.versions == 0 || r.tally(statusOK, opUpdate) == 0 {
			t.Errorf("%s: nothing was compared: %+v", all, r.seen)
		}
	}
}

// Every value that a read may return is allowed, and no other.
// Shards that write one table have different nonces, whichever of them starts earlier:
// otherwise each takes the other's versions for its own, and accuses a correct store.
func TestNoncesOfShardsDiffer(t *testing.T) {
	start := time.UnixMilli(1_795_000_000_000)
	for of := int64(1); of <= 7; of++ {
		for late := range int64(2 * nonceMask) {
			a := nonceOf(start, Shard{Index: 0, Of: of})
			for i := int64(1); i < of; i++ {
				if b := nonceOf(start.Add(time.Duration(late)*time.Millisecond), Shard{Index: i, Of: of}); a == b || b == 0 || b > nonceMask {
					t.Fatalf("shard %d of %d, %d ms later: nonce %d, and %d of shard 0", i, of, late, b, a)
				}
			}
		}
	}
}

func TestRegister(t *testing.T) {
	const full = 1<<versionBits - 1
	var e entry
	e.fields = make([]*register, 1)
	f := []int{0}
	judge := func(what string, version uint64, began time.Duration, want int) {
		t.Helper()
		if got := e.fields[0].judge(version, full, true, began); got != want {
			t.Errorf("%s: version %d read from %d on is %d, want %d", what, version, began, got, want)
		}
	}
	judge("before any write", 7, 5, readUnknown)
	e.begin(f, 1, 10)
	judge("the first write is in flight", 7, 15, readUnknown)
	judge("the first write is in flight", 1, 15, readFits)
	e.settle(f, 1, 20, true, false)
	judge("the first write is done", 7, 15, readUnknown)
	judge("the first write is done", 7, 21, readStale)
	e.begin(f, 2, 30)
	e.begin(f, 3, 35)
	e.settle(f, 2, 40, true, false)
	judge("2 is done, 3 is in flight", 1, 39, readFits)
	judge("2 is done, 3 is in flight", 1, 41, readStale)
	judge("2 is done, 3 is in flight", 3, 41, readFits)
	e.settle(f, 3, 50, true, false)
	judge("both are done, in any order", 2, 60, readFits)
	judge("both are done, in any order", 3, 60, readFits)
	e.begin(f, 4, 70)
	e.settle(f, 4, 80, false, true)
	judge("4 was refused", 4, 90, readStale)
	e.begin(f, 5, 100)
	e.settle(f, 5, 110, false, false) // it was not answered
	judge("5 is unknown", 5, 120, readFits)
	judge("5 is unknown", 3, 120, readFits)
	e.begin(f, 6, 130)
	e.settle(f, 6, 140, true, false)
	judge("6 is done", 3, 150, readStale)
	judge("5 may be done later", 5, 150, readFits)
}

// The first keys are remembered, and a share of the others.
func TestLedgerSample(t *testing.T) {
	const keys = 100_000
	l := newLedger(keys)
	var all sync.WaitGroup
	var kept atomic.Int64
	for w := range 4 {
		all.Go(func() {
			for i := w; i < keys; i += 4 {
				id := keyID(binaryKey(i))
				if e := l.open(id, int64(i), 2, false); e != nil {
					kept.Add(1)
					if l.find(id) != e || e.number != int64(i) {
						t.Errorf("key %d has the entry of another", i)
					}
				}
			}
		})
	}
	all.Wait()
	if n := kept.Load(); n != l.len() || n < firstKeys+keys/1000 {
		t.Errorf("%d of %d keys are remembered, %d counted", n, keys, l.len())
	}
}

func binaryKey(i int) []byte { return (&Config{}).appendKey(nil, int64(i)) }
