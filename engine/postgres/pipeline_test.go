package postgres_test

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"sync"
	"testing"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/engine/kv"
	"github.com/barograph/barograph/engine/postgres"
	"github.com/barograph/barograph/lab"
)

// pipelined is the URL of a fresh database whose records' workers share so many connections.
func (d *databases) pipelined(t *testing.T, connections string) string {
	u, err := url.Parse(d.url(t))
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	q.Set("pipeline", connections)
	u.RawQuery = q.Encode()
	return u.String()
}

// TestPipelined: statements of all workers share two connections, without transactions of several.
func TestPipelined(t *testing.T) {
	d := databases{server: servers.Lab(t, postgres.Driver(), lab.Options{})}
	driver := postgres.Driver()
	offer := kv.OfferOf(&driver)
	offer.Transactions = nil
	driver.Offers = []any{offer}
	enginetest.RunRecords(t, enginetest.Config{Driver: driver, URL: func(t *testing.T) string { return d.pipelined(t, "2") }, Reopenable: true})
}

// If many inserts are in flight on one connection, only those of an existing key fail. A connection that the server
// closes is reopened once for all workers.
func TestPipelineFailsAndIsLost(t *testing.T) {
	d := databases{server: servers.Lab(t, postgres.Driver(), lab.Options{})}
	address := d.pipelined(t, "1")
	e, err := engine.Registry{postgres.Driver()}.Open(t.Context(), address, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	r, err := kv.DatabaseOf(e).Table(t.Context(), kv.Table{Name: "t", Fields: []string{"a"}, Make: true})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	const workers, keys = 24, 40
	conns, won := make([]*kv.Conn, workers), make([]int, workers)
	for i := range conns {
		if conns[i], err = r.Connect(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	var row kv.Row
	row.AddString(0, "v")
	all(workers, func(i int) {
		for k := range keys {
			switch err := conns[i].Insert(t.Context(), fmt.Appendf(nil, "k%02d", k), &row); {
			case err == nil:
				won[i]++
			case !errors.Is(err, kv.ErrExists):
				t.Errorf("insert of a key that may exist: %v", err)
			}
		}
	})
	total := 0
	for _, n := range won {
		total += n
	}
	if n, err := r.Count(t.Context()); total != keys || n != keys || err != nil {
		t.Errorf("%d inserts succeeded, and the table has %d records, of %d keys: %v", total, n, keys, err)
	}

	execute(t, address[:len(address)-len("?pipeline=1")], "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()")
	failures := make([]error, workers)
	all(workers, func(i int) {
		var into kv.Row
		if failures[i] = conns[i].Read(t.Context(), []byte("k01"), nil, &into); failures[i] == nil {
			return
		}
		other, err := r.Reopen(t.Context(), conns[i], []byte("k01"), func() bool { return true })
		into.Reset()
		if err := errors.Join(err, other.Read(t.Context(), []byte("k01"), nil, &into)); err != nil || into.Len() != 1 {
			t.Errorf("worker %d, behind a lost connection: %d fields, %v", i, into.Len(), err)
		}
	})
	if !slices.ContainsFunc(failures, func(err error) bool { return err != nil }) {
		t.Error("the server closed the shared connection, and no worker got an error")
	}
}

// all runs f for each worker at once.
func all(n int, f func(i int)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { f(i) })
	}
	wg.Wait()
}
