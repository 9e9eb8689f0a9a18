package ycsb

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/kv"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/results/measure/pace"
	"github.com/barograph/barograph/results/run"
)

// accounts are the records of a run with transfers. They form a closed economy, as in YCSB+T: no transfer changes the
// sum of the balances. Slices have an element for each account, from the first requested key on.
type accounts struct {
	before    []int64        // balances before the run
	moved     []atomic.Int64 // sum of the acknowledged transfers to the account, minus those from it
	count     atomic.Int64   // number of acknowledged transfers
	conflicts atomic.Int64   // number of aborted transactions

	mu      sync.Mutex
	unknown []transfer // transfers whose commits were not answered
}

// transfer is an amount that moves from one account to another; 0 = the balance did not suffice.
type transfer struct{ from, to, amount int64 }

const (
	mostMoved      = 100 // largest amount of a transfer
	conflictPauses = 6   // limits the pause before a transfer is repeated, to about 2^5 ms
)

// Transfers reports whether the mix has transfers, which the dry engine does not support.
func (c *Config) Transfers() bool { return c.Mix[opTransfer] > 0 }

// settleTransfers checks the properties of a workload with transfers.
func (c *Config) settleTransfers() error {
	if !c.Transfers() {
		return nil
	}
	for _, op := range []int{opUpdate, opInsert, opModify, opDelete, opUpdatePath} {
		if c.Mix[op] > 0 {
			return badProperty("transferproportion",
				"cannot be combined with other writes, because the expected balances would be unknown",
				"set the proportions of all other writes to 0; reads and scans may remain")
		}
	}
	switch {
	case c.Integrity:
		return badProperty("dataintegrity", "cannot be true in a workload with transfers, which change the balances",
			"set it to false; Barograph checks transfers by the balances")
	case c.Shard.Of > 1:
		return badProperty("shard", "transfers of several clients cannot be added up", "run one client, with more threads")
	case c.InsertCount < 2:
		return badProperty("recordcount", "there is no other account to transfer to", "load at least 2 records")
	}
	return nil
}

// transfer moves an amount between two records. If the engine aborts the transaction in favor of another
// one, transfer repeats the complete transaction, including its reads.
func (k *worker) transfer(ctx context.Context, r *pace.Recorder, from int64) {
	t := transfer{from: from, amount: 1 + k.rng.Int64N(mostMoved)}
	for t.to = from; t.to == from; {
		t.to = k.InsertStart + k.rng.Int64N(k.InsertCount)
	}
	began, amount, tries := r.Now(), t.amount, int64(0)
	var err error
	for ; ; tries++ {
		t.amount = amount
		err = k.conn.Transact(ctx, k.Isolation, func() error { return k.move(ctx, &t) })
		if !errors.Is(err, kv.ErrConflict) {
			break
		}
		k.accounts.conflicts.Add(1)
		pause := kv.BackOff(int(min(tries+1, conflictPauses)), k.rng)
		if tries == k.Conflicts || engine.Pause(ctx, pause) != nil {
			break
		}
	}
	k.accounts.note(t, k.InsertStart, err)
	status := k.status("transfer", from, err)
	if status == statusOK && tries > 0 {
		status = statusRetried
	}
	r.Done(opTransfer, status, began)
}

// move reads and writes both balances, in the current transaction.
func (k *worker) move(ctx context.Context, t *transfer) error {
	from, err := k.balance(ctx, t.from)
	if err != nil {
		return err
	}
	to, err := k.balance(ctx, t.to)
	if err != nil {
		return err
	}
	if from < t.amount {
		t.amount = 0
		return nil
	}
	if err := k.setBalance(ctx, t.from, from-t.amount); err != nil {
		return err
	}
	return k.setBalance(ctx, t.to, to+t.amount)
}

func (k *worker) balance(ctx context.Context, number int64) (int64, error) {
	k.key = k.appendKey(k.key[:0], number)
	k.row.Reset()
	if err := k.conn.Read(ctx, k.key, k.single[0], &k.row); err != nil {
		return 0, err
	}
	value, _ := k.row.Value(0)
	n, err := strconv.ParseInt(string(value), 10, 64)
	if err != nil {
		const cure = "load a table of accounts first (ycsb load -P transfers); to keep this table, name another by -p table=…"
		return 0, &fault.Error{Setting: "record " + string(k.key), Problem: "contains no balance of an account", Cure: cure}
	}
	return n, nil
}

func (k *worker) setBalance(ctx context.Context, number, balance int64) error {
	k.key = k.appendKey(k.key[:0], number)
	k.row.Reset()
	k.row.SetData(strconv.AppendInt(k.row.Data(), balance, 10))
	k.row.End(0)
	return k.conn.Update(ctx, k.key, &k.row)
}

// note records the outcome of a transfer. first is the number of the first account.
func (a *accounts) note(t transfer, first int64, err error) {
	t.from, t.to = t.from-first, t.to-first
	switch {
	case t.amount == 0:
	case err == nil:
		a.moved[t.from].Add(-t.amount)
		a.moved[t.to].Add(t.amount)
		a.count.Add(1)
	case errors.Is(err, kv.ErrUnsettled):
		a.mu.Lock()
		a.unknown = append(a.unknown, t)
		a.mu.Unlock()
	}
}

// balances reads all accounts in one transaction.
func (k *worker) balances(ctx context.Context) (all []int64, err error) {
	for tries := int64(0); tries <= k.Conflicts; tries++ {
		all = make([]int64, 0, k.InsertCount)
		err = k.conn.Transact(ctx, k.Isolation, func() error {
			for i := range k.InsertCount {
				n, err := k.balance(ctx, k.InsertStart+i)
				if err != nil {
					return err
				}
				all = append(all, n)
			}
			return nil
		})
		if !errors.Is(err, kv.ErrConflict) {
			break
		}
	}
	return all, err
}

// countBefore reads the balances before a run. Earlier runs must not have changed their sum.
func (k *worker) countBefore(ctx context.Context) (err error) {
	k.accounts.moved = make([]atomic.Int64, k.InsertCount)
	if k.accounts.before, err = k.balances(ctx); err != nil {
		return err
	}
	if sum := total(k.accounts.before); sum != k.InsertCount*k.Balance {
		return &fault.Status{Code: fault.Incomplete, Err: &fault.Error{
			Setting: "table " + k.Table,
			Problem: fmt.Sprintf("the balances sum up to %d before the run, not %d", sum, k.InsertCount*k.Balance),
			Cure: "load it again (a sweep does by --replace): an earlier run lost or created money, or had another balance " +
				"or recordcount",
		}}
	}
	return nil
}

func total(all []int64) (sum int64) {
	for _, n := range all {
		sum += n
	}
	return sum
}

// audit compares the accounts after a run with the acknowledged transfers.
func (r *Report) audit(ctx context.Context, k *worker) error {
	after, err := k.balances(ctx)
	if err != nil {
		return fmt.Errorf("the balances after the run: %w", err)
	}
	a := k.accounts
	t := &run.Transfers{
		Isolation: string(k.Isolation), Accounts: k.InsertCount, Moved: a.count.Load(), Aborted: a.conflicts.Load(),
		Unknown: int64(len(a.unknown)), Sum: total(after), Expected: k.InsertCount * k.Balance,
	}
	off := make([]int64, len(after)) // differences that acknowledged transfers do not explain
	for i := range after {
		off[i] = after[i] - a.before[i] - a.moved[i].Load()
	}
	t.UnknownApplied, t.Undecided = explainBalances(off, a.unknown)
	for i, n := range off {
		if n == 0 || t.Undecided {
			continue
		}
		if t.Unexplained++; t.Example == "" {
			key := k.appendKey(nil, k.InsertStart+int64(i))
			t.Example = fmt.Sprintf("%s, which has %d and must have %d", key, after[i], after[i]-n)
		}
	}
	r.Transfers = t
	return nil
}

const mostSettled = 1 << 20 // partial sets that explainBalances tries

// explainBalances finds a set of unknown transfers that explains the differences of the balances, subtracts the set
// from them, and returns the number of its transfers. If no set explains the differences of all accounts of unknown
// transfers, explainBalances changes none; undecided reports that it did not try all sets.
func explainBalances(off []int64, unknown []transfer) (applied int64, undecided bool) {
	open := make([]int, len(off)) // undecided transfers of each account
	for _, t := range unknown {
		open[t.from]++
		open[t.to]++
	}
	tried := 0
	var decide func(i int) bool
	decide = func(i int) bool {
		if i == len(unknown) {
			return true
		}
		if tried++; tried > mostSettled {
			return false
		}
		t := unknown[i]
		open[t.from]--
		open[t.to]--
		for _, amount := range []int64{t.amount, 0} {
			off[t.from] += amount
			off[t.to] -= amount
			explained := (open[t.from] > 0 || off[t.from] == 0) && (open[t.to] > 0 || off[t.to] == 0)
			if explained && decide(i+1) {
				if amount > 0 {
					applied++
				}
				return true
			}
			off[t.from] -= amount
			off[t.to] += amount
		}
		open[t.from]++
		open[t.to]++
		return false
	}
	isExplained := decide(0)
	return applied, !isExplained && tried > mostSettled
}
