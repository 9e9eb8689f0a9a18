package enginetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/kv"
)

// kvTransactions compares the promises about transactions of several records with their behavior.
func (c Config) kvTransactions(t *testing.T, k kvSuite) {
	levels := kv.OfferOf(&c.Driver).Transactions
	if conn := k.connect(t); (conn.Transact == nil) != (len(levels) == 0) {
		t.Fatalf("the driver offers the transactions %v; the engine has the ability: %t", levels, conn.Transact != nil)
	}
	if len(levels) == 0 {
		t.Skip("the engine has no transactions of several records")
	}
	for _, level := range levels {
		if err := CheckTransaction(t.Context(), k.Records, level); err != nil {
			t.Errorf("%s: %v", level, err)
		}
	}
	if err := CheckTransfers(t.Context(), k.Records, levels[len(levels)-1], 1); err != nil {
		t.Error(err)
	}
	for _, level := range kv.IsolationLevels() {
		err := k.connect(t).Transact(t.Context(), level, func() error { return nil })
		if slices.Contains(levels, level) != (err == nil) || err != nil && !errors.Is(err, engine.ErrNoDesign) {
			t.Errorf("of %v, %s is started: %v", levels, level, err)
		}
	}
}

// accountRow has one field, a balance.
func accountRow(n int) *kv.Row {
	r := &kv.Row{}
	r.AddString(0, strconv.Itoa(n))
	return r
}

func accountKey(i int) []byte { return fmt.Appendf(nil, "account%d", i) }

func readAccount(ctx context.Context, c *kv.Conn, i int) (int, error) {
	var row kv.Row
	if err := c.Read(ctx, accountKey(i), kv.Fields{0}, &row); err != nil {
		return 0, err
	}
	v, _ := row.Value(0)
	return strconv.Atoi(string(v))
}

// openAccounts stores accounts of 1000 each.
func openAccounts(ctx context.Context, c *kv.Conn, n int) error {
	for i := range n {
		if err := c.Insert(ctx, accountKey(i), kvRecord("1000")); errors.Is(err, kv.ErrExists) {
			err = c.Update(ctx, accountKey(i), accountRow(1000))
			if err != nil {
				return err
			}
		} else if err != nil {
			return err
		}
	}
	return nil
}

// readUncommitted reads account 1, which had 1000 before a transaction of another connection. It returns 1000, too, if
// the read fails: an engine may let other connections wait for the end of the transaction.
func readUncommitted(ctx context.Context, other *kv.Conn) int {
	ctx, stop := context.WithTimeout(ctx, 2*time.Second)
	defer stop()
	n, err := readAccount(ctx, other, 1)
	if err != nil {
		return 1000
	}
	return n
}

// CheckTransaction checks that a transaction reads its own writes, that nobody else sees them before its
// end, and that afterwards all or none of them are stored.
func CheckTransaction(ctx context.Context, r *kv.Records, level kv.IsolationLevel) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	c, err := r.Connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := openAccounts(ctx, c, 2); err != nil {
		return err
	}
	other, err := r.Connect(ctx)
	if err != nil {
		return err
	}
	defer other.Close()
	enough := errors.New("enough")
	for _, end := range []error{enough, nil} {
		err := c.Transact(ctx, level, func() error {
			for i := range 2 {
				if err := c.Update(ctx, accountKey(i), accountRow(7+i)); err != nil {
					return err
				}
			}
			if n, err := readAccount(ctx, c, 1); err != nil || n != 8 {
				return errors.Join(err, fmt.Errorf("a transaction wrote 8 and reads %d", n))
			}
			if n := readUncommitted(ctx, other); n != 1000 {
				return fmt.Errorf("before the end of a transaction another connection reads its write %d", n)
			}
			return end
		})
		if !errors.Is(err, end) {
			return errors.Join(err, fmt.Errorf("this is the error of a transaction that must end with %q", fmt.Sprint(end)))
		}
		for i, want := range [][]int{{1000, 1000}, {7, 8}}[map[error]int{enough: 0, nil: 1}[end]] {
			if n, err := readAccount(ctx, c, i); err != nil || n != want {
				outcome := fmt.Errorf("after a transaction that ended with %q account %d has %d, not %d", fmt.Sprint(end), i, n, want)
				return errors.Join(err, outcome)
			}
		}
	}
	return nil
}

// CheckTransfers lets eight workers move amounts between five accounts. Each transfer is a transaction,
// which the worker repeats from its beginning if the engine aborted it. Afterwards each account must have
// the balance that results from the transfers.
func CheckTransfers(ctx context.Context, r *kv.Records, level kv.IsolationLevel, seed uint64) error {
	const accounts, workers, each = 5, 8, 25
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	first, err := r.Connect(ctx)
	if err != nil {
		return err
	}
	defer first.Close()
	if err := openAccounts(ctx, first, accounts); err != nil {
		return err
	}
	var mu sync.Mutex
	want := slices.Repeat([]int{1000}, accounts)
	g, ctx := errgroup.WithContext(ctx)
	for w := range workers {
		g.Go(func() error {
			c, err := r.Connect(ctx)
			if err != nil {
				return err
			}
			defer c.Close()
			rng := rand.New(rand.NewPCG(seed, uint64(w)))
			for range each {
				from, amount := rng.IntN(accounts), 1+rng.IntN(9)
				to := (from + 1 + rng.IntN(accounts-1)) % accounts
				for tries := 1; ; tries++ {
					err := c.Transact(ctx, level, func() error { return transfer(ctx, c, from, to, amount) })
					if err == nil {
						break
					}
					if !errors.Is(err, kv.ErrConflict) {
						return err
					}
					if err := engine.Pause(ctx, kv.BackOff(min(tries, 6), rng)); err != nil {
						return err
					}
				}
				mu.Lock()
				want[from], want[to] = want[from]-amount, want[to]+amount
				mu.Unlock()
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	for i := range accounts {
		if n, err := readAccount(context.WithoutCancel(ctx), first, i); err != nil || n != want[i] {
			return errors.Join(err, fmt.Errorf("account %d has %d, but the transfers result in %d", i, n, want[i]))
		}
	}
	return nil
}

// transfer moves an amount between two accounts. It pauses between its reads and writes to cause conflicts.
func transfer(ctx context.Context, c *kv.Conn, from, to, amount int) error {
	fromBalance, err := readAccount(ctx, c, from)
	if err != nil {
		return err
	}
	toBalance, err := readAccount(ctx, c, to)
	if err != nil {
		return err
	}
	time.Sleep(100 * time.Microsecond)
	if err := c.Update(ctx, accountKey(from), accountRow(fromBalance-amount)); err != nil {
		return err
	}
	return c.Update(ctx, accountKey(to), accountRow(toBalance+amount))
}
