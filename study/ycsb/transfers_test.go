package ycsb

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/engine/kv"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/lab"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/results/measure/pace"
	"github.com/barograph/barograph/results/run"
)

// economy is a small load with transfers, on transactions with a fault.
func economy(t *testing.T, f enginetest.KVFault, assignments ...string) (*Config, kv.Database) {
	t.Helper()
	c := config(t, append([]string{"recordcount=20", "transferproportion=1", "readproportion=0", "updateproportion=0", "threadcount=8"}, assignments...)...)
	db := wrapped{loaded(t, c), func(r *kv.Records) *kv.Records { return enginetest.FaultyKV(enginetest.Optimistic(r), f) }}
	return c, db
}

// TestTransfers: atomic and isolated transactions keep the sum and each balance; aborted ones are repeated and counted
// separately. Other transactions have no times, and status 3.
func TestTransfers(t *testing.T) {
	for _, f := range append([]enginetest.KVFault{""}, enginetest.TransactionFaults()...) {
		if f == enginetest.KVNoUndo {
			continue // no transfer ends with an error of its own
		}
		t.Run(string(f), func(t *testing.T) {
			c, db := economy(t, f)
			db = wrapped{db, conns(overlapping)}
			target := &Target{Scheme: "fake", KV: db}
			s, r, err := target.Measure(t.Context(), c, target.Options(), "transfers", 1)
			if f != "" {
				if code(err) != fault.Differs || s.Verdict == run.Equal || s.Measured() != nil || s.Transfers.Problem() == "" {
					t.Fatalf("status %d, %s: %+v, %v", code(err), s.Verdict, s.Transfers, err)
				}
				t.Log(err)
				return
			}
			x := s.Transfers
			if err != nil || s.Verdict != run.Equal || x.Sum != 20*1000 || x.Unexplained != 0 || x.Accounts != 20 || x.Unknown != 0 || x.Moved == 0 {
				t.Fatalf("%s, %+v, %v", s.Verdict, x, err)
			}
			retried := r.tally(statusRetried, opTransfer)
			if x.Aborted == 0 || retried == 0 || retried > x.Aborted || r.tally(statusOK, opTransfer)+retried != 3000 || r.Succeeded() != 3000 || s.Cell.Value("isolation") != "serializable" {
				t.Errorf("%d conflicts, %d retried, %d at the first try", x.Aborted, retried, r.tally(statusOK, opTransfer))
			}
			var text strings.Builder
			if err := r.WriteText(&text); err != nil || !strings.Contains(text.String(), "[TRANSFER-RETRIED], Operations") || !strings.Contains(text.String(), "[TRANSFER], Sum, 20000") {
				t.Errorf("%v\n%s", err, text.String())
			}
			if _, _, err := target.Measure(t.Context(), c, target.Options(), "transfers", 2); err != nil {
				t.Errorf("a second run over what the first left: %v", err)
			}
		})
	}
}

// overlapping lets other workers run within a connection's transactions. In memory these are so short that on a busy
// machine they would not overlap.
func overlapping(c *kv.Conn) {
	read := c.Read
	c.Read = func(ctx context.Context, key []byte, f kv.Fields, into *kv.Row) error {
		time.Sleep(time.Microsecond)
		return read(ctx, key, f, into)
	}
}

// TestTransfersGivenUp: a transfer with a conflict in each attempt fails, and moves nothing.
func TestTransfersGivenUp(t *testing.T) {
	c, db := economy(t, "", "conflicts=2", "operationcount=8", "threadcount=1")
	tries := 0
	db = wrapped{db, conns(func(c *kv.Conn) {
		transact := c.Transact
		c.Transact = func(ctx context.Context, level kv.IsolationLevel, do func() error) error {
			if tries++; tries > 1 && tries < 8 { // the first reads the balances
				return kv.ErrConflict
			}
			return transact(ctx, level, do)
		}
	})}
	r, err := Run(t.Context(), db, c, Options{})
	if err != nil || code(r.Err()) != fault.Incomplete || r.tally(statusError, opTransfer) != 2 || r.Transfers.Moved != 6 || r.Transfers.Aborted != 6 || r.Transfers.Problem() != "" {
		t.Errorf("%v, %v, %+v", err, r.Err(), r.Transfers)
	}
}

// TestTransfersOverAKill: a server that is killed leaves unanswered commits, some of which it did. The balances show which
// ones, and these explain no other difference.
func TestTransfersOverAKill(t *testing.T) {
	t.Parallel() // it waits
	for name, isFaulty := range map[string]bool{"a correct store": false, "it does half of what it did not answer": true} {
		t.Run(name, func(t *testing.T) {
			c, db := economy(t, "", "target=400", "operationcount=0", "maxexecutiontime=3")
			var down atomic.Bool
			db = wrapped{db, conns(func(c *kv.Conn) { unanswering(c, &down, isFaulty) })}
			faults, err := lab.ParseFaults("kill@1500ms,restart@2s")
			if err != nil {
				t.Fatal(err)
			}
			inflict := func(_ context.Context, f lab.Fault) (string, error) { down.Store(f.Action == lab.Kill); return "", nil }
			r, err := Run(t.Context(), db, c, Options{Faults: &Faults{All: faults, Inflict: inflict}})
			if err != nil {
				t.Fatal(err)
			}
			x := r.Transfers
			if x.Unknown == 0 || (x.Problem() == "") == isFaulty || !isFaulty && (x.UnknownApplied == 0) || code(r.Err()) != map[bool]int{false: fault.Incomplete, true: fault.Differs}[isFaulty] {
				t.Errorf("%+v: %v", x, r.Err())
			}
			t.Logf("%+v", x)
		})
	}
}

// unanswering makes a connection answer no commit while its server is down. The server does every other transaction, or
// half of each of these.
func unanswering(c *kv.Conn, down *atomic.Bool, half bool) {
	n, within, read, update, transact := 0, false, c.Read, c.Update, c.Transact
	c.Read = func(ctx context.Context, key []byte, f kv.Fields, into *kv.Row) error {
		if down.Load() && !within {
			return io.ErrUnexpectedEOF
		}
		return read(ctx, key, f, into)
	}
	c.Transact = func(ctx context.Context, level kv.IsolationLevel, do func() error) error {
		if !down.Load() {
			return transact(ctx, level, do)
		}
		within = true
		defer func() { within, c.Update = false, update }()
		writes := 0
		if n++; half {
			c.Update = func(ctx context.Context, key []byte, r *kv.Row) error {
				if writes++; writes == 2 {
					return nil
				}
				return update(ctx, key, r)
			}
		}
		undone := errors.New("undone")
		err := transact(ctx, level, func() error {
			if err := do(); err != nil || n%2 == 0 {
				return errors.Join(err, undone)
			}
			return nil
		})
		if err == nil || errors.Is(err, undone) {
			return errors.Join(kv.ErrUnsettled, io.ErrUnexpectedEOF)
		}
		return err
	}
}

// TestExplainBalances: the unknown transfers that explain the balances are found, also if they share accounts.
// Differences that no transfers explain stay.
func TestExplainBalances(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 1000 {
		off, want := make([]int64, 6), int64(0)
		var unknown []transfer
		for range rng.IntN(12) {
			from := rng.Int64N(6)
			x := transfer{from, (from + 1 + rng.Int64N(5)) % 6, 1 + rng.Int64N(mostMoved)}
			unknown = append(unknown, x)
			if rng.IntN(2) == 0 {
				off[x.from], off[x.to] = off[x.from]-x.amount, off[x.to]+x.amount
				want++
			}
		}
		lost := rng.IntN(4) == 0
		if lost {
			off[rng.IntN(6)] -= 1000
		}
		if _, undecided := explainBalances(off, unknown); undecided {
			t.Fatal(unknown)
		}
		if explained := total(off) == 0 && off[0] == 0 && off[1] == 0 && off[2] == 0; explained == lost {
			t.Fatalf("%v of %d are unexplained: %v", want, len(unknown), off)
		}
	}
	began := time.Now()
	many := make([]transfer, 64)
	for i := range many {
		many[i] = transfer{0, 1, 7}
	}
	off := []int64{-500, 0}
	if unexplained, undecided := explainBalances(off, many); unexplained != 0 || !undecided || off[0] != -500 || time.Since(began) > time.Minute {
		t.Errorf("%d, %v, %v", unexplained, undecided, off)
	}
}

// TestTransfersAreRefused: workloads whose balances are not comparable, and tables without transactions, are refused
// before the run.
func TestTransfersAreRefused(t *testing.T) {
	for text, set := range map[string]string{
		"other writes": "updateproportion=0.1", "which change the balances": "dataintegrity=true", "several clients": "shard=1/2", "no other account": "recordcount=1", "is not known": "isolation=chaos",
	} {
		p := Properties{"recordcount": "10", "transferproportion": "1", "readproportion": "0", "updateproportion": "0"}
		if err := p.Set(set); err != nil {
			t.Fatal(err)
		}
		if _, err := NewConfig(p); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v", set, err)
		}
	}
	c := config(t, "transferproportion=1", "readproportion=0", "updateproportion=0")
	if _, err := Run(t.Context(), loaded(t, c), c, Options{}); !errors.Is(err, ErrCannot) || !strings.Contains(err.Error(), "no transactions of several records") {
		t.Errorf("on an engine without transactions: %v", err)
	}
	_, db := economy(t, "")
	other := config(t, "recordcount=20", "transferproportion=1", "readproportion=0", "updateproportion=0", "balance=5")
	if _, err := Run(t.Context(), db, other, Options{}); code(err) != fault.Incomplete || !strings.Contains(err.Error(), "sum up to 20000 before the run, not 100") {
		t.Errorf("another balance: %v", err)
	}
}

// TestUndecidedBalances: balances that may be correct do not hide a wrong result of the same run.
func TestUndecidedBalances(t *testing.T) {
	broken := &run.HistoryCheck{Promises: []run.PromiseResult{{Promised: true, Violations: 1}}}
	for name, x := range map[string]struct {
		wrong   int64
		history *run.HistoryCheck
		want    int
	}{
		"nothing is wrong":    {0, nil, fault.Incomplete},
		"a read is wrong":     {1, nil, fault.Differs},
		"a promise is broken": {0, broken, fault.Differs},
	} {
		groups := emptyGroups()
		groups[opRead][statusWrong] = &pace.OutcomeTimes{RecordCount: x.wrong}
		r := &Report{
			Config: config(t), Result: &pace.Result{Groups: groups}, History: x.history,
			Transfers: &run.Transfers{Undecided: true, Unknown: 100},
		}
		if err := r.Err(); code(err) != x.want {
			t.Errorf("%s: status %d, want %d: %v", name, code(err), x.want, err)
		}
	}
}

// emptyGroups returns the groups of a run without operations.
func emptyGroups() [][]*pace.OutcomeTimes {
	groups := make([][]*pace.OutcomeTimes, len(kinds()))
	for kind := range groups {
		groups[kind] = make([]*pace.OutcomeTimes, len(statuses()))
	}
	return groups
}

// TestCountsInProblems: a problem that counts one thing is in the singular, and a large count has commas.
func TestCountsInProblems(t *testing.T) {
	broken := func(n int) *Report {
		return &Report{History: &run.HistoryCheck{Promises: []run.PromiseResult{{Promised: true, Promise: "x", Violations: n}}}}
	}
	for want, r := range map[string]*Report{
		"x: broken 1 time, such as ": broken(1), "x: broken 1,234 times, such as ": broken(1234),
	} {
		if got := r.brokenPromises(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for want, set := range map[string]func(r *Report){
		"1 answer is wrong; ":                        func(r *Report) { r.Result.Groups[opRead][statusWrong] = &pace.OutcomeTimes{RecordCount: 1} },
		"1,234 answers are wrong; ":                  func(r *Report) { r.Result.Groups[opRead][statusWrong] = &pace.OutcomeTimes{RecordCount: 1234} },
		"did not answer the commits of 1 transfer; ": func(r *Report) { r.Transfers = &run.Transfers{Undecided: true, Unknown: 1} },
		"1 existing record was not found; ":          func(r *Report) { r.Result.Groups[opRead][statusNotFound] = &pace.OutcomeTimes{RecordCount: 1} },
		"1 key to insert existed already; ":          func(r *Report) { r.Result.Groups[opInsert][statusExists] = &pace.OutcomeTimes{RecordCount: 1} },
		"1 record existed already, 1 is new; ": func(r *Report) {
			r.Load = true
			r.Result.Groups[opInsert][statusExists] = &pace.OutcomeTimes{RecordCount: 1}
			r.Result.Groups[opInsert][statusOK] = &pace.OutcomeTimes{RecordCount: 1}
		},
		"overload: 1 operation was due and never started": func(r *Report) { r.Result.Unstarted, r.Result.Ending = 1, pace.OutOfTime },
	} {
		r := &Report{Config: config(t), Result: &pace.Result{Groups: emptyGroups()}}
		if set(r); r.Err() == nil || !strings.Contains(r.Err().Error(), want) {
			t.Errorf("%v, want %q", r.Err(), want)
		}
	}
	for want, r := range map[string]*Report{
		"1 wrong record was read back or counted after the end; ": {Config: config(t), back: answer.Tally{Wrong: 1}},
		"1 acknowledged record is missing; ":                      {Config: config(t), back: answer.Tally{Missing: 1}},
	} {
		if err := r.wrongBack(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
