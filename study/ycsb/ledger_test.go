package ycsb

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/barograph/barograph/engine/kv"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/results/measure/pace"
)

// TestCorrectStoreIsNotAccused: a correct store has no wrong result, however calls overlap: 16 workers contend for 20
// records, and replies are late or lost, of executed writes and of others.
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
		if r.checks.versions == 0 || r.tally(statusOK, opUpdate) == 0 {
			t.Errorf("%s: nothing was compared: %+v", all, r.checks)
		}
	}
}

// TestNoncesOfShardsDiffer: shards of one table have different nonces, whichever of them starts earlier. Otherwise each
// would take the other's versions for its own, and report a correct store as wrong.
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

// TestRegister: exactly the values that a read may return are accepted.
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

// TestLedgerSample: the ledger contains the first keys, and a share of the others.
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

// TestLoadReadsDifferentRecords: if the engine cannot count, a load of up to 1,000 records reads each of
// them back, and reports no record twice.
func TestLoadReadsDifferentRecords(t *testing.T) {
	for _, n := range []int64{1, 2, 300, 1000, 5000} {
		var mu sync.Mutex
		read := map[string]bool{}
		uncounted := func(r *kv.Records) *kv.Records {
			out := conns(func(c *kv.Conn) {
				good := c.Read
				c.Read = func(ctx context.Context, key []byte, f kv.Fields, into *kv.Row) error {
					mu.Lock()
					read[string(key)] = true
					mu.Unlock()
					return good(ctx, key, f, into)
				}
			})(r)
			out.Count = nil
			return out
		}
		r, err := Load(t.Context(), wrapped{open(t), uncounted}, config(t, fmt.Sprint("recordcount=", n)), Options{})
		if err != nil || r.Err() != nil {
			t.Fatalf("%d records: %v; %v", n, err, r.Err())
		}
		want := min(n, leastRead)
		if got := r.Answers().ReadBack; int64(len(read)) != want || got != want {
			t.Errorf("of %d records %d were read back, and %d are reported; want %d", n, len(read), got, want)
		}
	}
}

// TestFailedInsertsAreNotClaimed: a record whose insert failed, and which does not exist, is not among the inserted
// records that were read back.
func TestFailedInsertsAreNotClaimed(t *testing.T) {
	c := config(t, "insertproportion=0.1")
	table, err := loaded(t, c).Table(t.Context(), c.TableSpec(""))
	if err != nil {
		t.Fatal(err)
	}
	w, err := newWorkload(c, table)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := table.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w.ledger = newLedger(c.Records)
	for number, isStored := range map[int64]bool{c.Records - 1: true, c.Records: false} {
		w.ledger.open(keyID(c.appendKey(nil, number)), number, len(w.fields), true).settleInsert(1, isStored)
	}
	r := &Report{Config: c}
	if err := r.readLedger(t.Context(), []*worker{w.worker(conn, 0)}); err != nil || r.back.KeysInserted != 1 || r.back.Missing != 0 {
		t.Errorf("%v, %+v", err, r.back)
	}
}

// TestShortValuesAreNotClaimed: values that are too short for a stamp are read back, but not compared. A
// run that updates them reports no last values of keys.
func TestShortValuesAreNotClaimed(t *testing.T) {
	for length, compared := range map[string]bool{"fieldlength=5": false, "fieldlength=8": true} {
		c := config(t, length, "readproportion=0.5", "updateproportion=0.5")
		r, err := Run(t.Context(), loaded(t, c), c, Options{})
		if err != nil || r.Err() != nil {
			t.Fatalf("%s: %v; %v", length, err, r.Err())
		}
		if a := r.Answers(); (a.KeysUpdated > 0) != compared || a.Updates == 0 || (a.Short > 0) == compared {
			t.Errorf("%s: %+v", length, a)
		}
	}
}

// TestOverloadedRunIsReadBack: the writes of a run that did not reach its target are read back, too.
func TestOverloadedRunIsReadBack(t *testing.T) {
	t.Parallel() // it waits
	c := config(t, "readproportion=0", "updateproportion=1", "target=1000", "operationcount=0", "maxexecutiontime=1")
	for _, drops := range []bool{false, true} {
		slow := conns(func(c *kv.Conn) {
			good := c.Update
			c.Update = func(ctx context.Context, key []byte, r *kv.Row) error {
				time.Sleep(20 * time.Millisecond)
				if drops {
					return nil
				}
				return good(ctx, key, r)
			}
		})
		r, err := Run(t.Context(), wrapped{loaded(t, config(t)), slow}, c, Options{})
		if r == nil || r.Result.Unstarted == 0 {
			t.Fatalf("%+v, %v", r, err)
		}
		if a := r.Answers(); drops && (code(err) != fault.Differs || a.Wrong == 0) || !drops && (err != nil || code(r.Err()) != fault.Incomplete || a.KeysUpdated == 0) {
			t.Errorf("drops %v: %v; %v; %+v", drops, err, r.Err(), a)
		}
	}
}

// TestMissingRecordsAreCountedOnce: a record that is neither found nor counted is one missing record.
func TestMissingRecordsAreCountedOnce(t *testing.T) {
	s := &faultyStore{kind: dropped, rate: 0.05, rng: rand.New(rand.NewPCG(1, 1)), before: map[string]*kv.Row{}, twice: map[string]bool{}}
	lost := int64(0)
	change := func(r *kv.Records) *kv.Records {
		out := s.change(r)
		count := out.Count
		out.Count = func(ctx context.Context) (int64, error) {
			n, err := count(ctx)
			lost = 1000 - n
			return n, err
		}
		return out
	}
	r, err := Load(t.Context(), wrapped{open(t), change}, config(t), Options{})
	if code(err) != fault.Incomplete || lost == 0 || r.Answers().Missing != lost {
		t.Errorf("%v; %d are missing, and %d are reported", err, lost, r.Answers().Missing)
	}
}

// TestValueOfAnotherProgram: a value without a stamp in a table of stamps is wrong, and the problem states that
// another program may have written it.
func TestValueOfAnotherProgram(t *testing.T) {
	c := config(t, "readproportion=1", "updateproportion=0", "fieldcount=1")
	foreign := conns(func(c *kv.Conn) {
		good, reads := c.Read, 0
		c.Read = func(ctx context.Context, key []byte, f kv.Fields, into *kv.Row) error {
			if reads++; reads <= probed {
				return good(ctx, key, f, into)
			}
			into.Add(0, []byte(strings.Repeat("x", 100)))
			return nil
		}
	})
	r, err := Run(t.Context(), wrapped{loaded(t, c), foreign}, c, Options{})
	if err != nil || code(r.Err()) != fault.Differs || !strings.Contains(r.Problems[0].Kind, "or another program wrote it") {
		t.Errorf("%v; %v; %v", err, r.Err(), r.Problems)
	}
}

// TestLoadAtItsTimeLimit: a load that stored its last record before the time limit is complete, although the next arrival
// would be due after it. A load that has records left is not.
func TestLoadAtItsTimeLimit(t *testing.T) {
	for records, want := range map[int64]pace.Ending{5: pace.Completed, 6: pace.OutOfTime} {
		var now atomic.Int64 // advances only by the sleeps of workers
		clock := &pace.Clock{
			Now: func() time.Duration { return time.Duration(now.Load()) },
			SleepUntil: func(at time.Duration, _ <-chan struct{}) {
				for old := now.Load(); old < int64(at) && !now.CompareAndSwap(old, int64(at)); {
					old = now.Load()
				}
			},
		}
		c := config(t, fmt.Sprint("recordcount=", records), "threadcount=3", "target=5", "maxexecutiontime=1")
		r, err := Load(t.Context(), open(t), c, Options{clock: clock})
		if err != nil || r.Result.Ending != want || r.Operations() != 5 || r.Result.Unstarted != 0 {
			t.Fatalf("%d records: %+v, %v", records, r.Result, err)
		}
		if err := r.Err(); code(err) != map[pace.Ending]int{pace.Completed: 0, pace.OutOfTime: fault.Incomplete}[want] {
			t.Errorf("%d records: %v", records, err)
		}
	}
}
