package cassandra_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/cassandra"
	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/engine/kv"
	"github.com/barograph/barograph/lab"
	"github.com/barograph/barograph/record"
)

// archives provides new archives in one keyspace, because the creation of tables takes long.
type archives struct {
	server                *lab.Lab
	keyspace, replication string // "" = those of the server's URL
	count                 atomic.Int64
}

// url returns the URL of a new, empty archive.
func (a *archives) url(t testing.TB) string {
	t.Helper()
	u, err := url.Parse(a.server.URL())
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	q.Set("archive", "test_"+strconv.FormatInt(a.count.Add(1), 10))
	if a.keyspace != "" {
		u.Path = a.keyspace
		q.Set("replication", a.replication)
	}
	u.RawQuery = q.Encode()
	return u.String()
}

func (a *archives) config() enginetest.Config {
	return enginetest.Config{
		Driver:     cassandra.Driver(),
		URL:        func(t *testing.T) string { return a.url(t) },
		Reopenable: true,
		Brief:      true,
		Unreachable: func(*testing.T) string {
			return "cassandra://someone:secret@127.0.0.1:1/nowhere"
		},
	}
}

// of returns the configuration of tests of only one design.
func (a *archives) of(d design.Name) enginetest.Config {
	c := a.config()
	enginetest.Only(&c.Driver, d)
	return c
}

// small has the options of a node with a heap of half a gigabyte, whose commits are durable. With another profile, a
// killed server may lose them.
var small = lab.Options{Profile: "tuned", Memory: 1 << 30}

// TestOneNode runs the suite on one server, because its start takes seconds. It runs in parallel with TestThreeNodes:
// both mostly wait for disks and starts.
func TestOneNode(t *testing.T) {
	t.Parallel()
	a := archives{server: enginetest.Lab(t, cassandra.Driver(), small)}
	t.Run("first clients", func(t *testing.T) { firstClients(t, &a) })
	t.Run("conformance", func(t *testing.T) { enginetest.Run(t, a.config()) })
	t.Run("unconditional", func(t *testing.T) { // reads first, then writes; a prefix of one byte
		enginetest.AtNight(t, "records are tested by day as the default has them")
		c := a.config()
		c.URL = func(t *testing.T) string { return a.url(t) + "&conditional=false&prefix=1" }
		enginetest.RunRecords(t, c)
	})
	t.Run("late reply", func(t *testing.T) { lateReply(t, &a) })
	t.Run("server", func(t *testing.T) { enginetest.RunServer(t, a.config(), a.server) })
}

// lateReply: the only node stops (SIGSTOP) for a moment, and the client waits for its reply.
func lateReply(t *testing.T, a *archives) {
	e, err := engine.Registry{cassandra.Driver()}.Open(t.Context(), a.url(t)+"&conditional=false", engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	records, err := kv.DatabaseOf(e).Table(t.Context(), kv.Table{Name: "late", Fields: []string{"a"}, Make: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = records.Close() }()
	c, err := records.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var row kv.Row
	row.Add(0, []byte("0"))
	if err := c.Insert(t.Context(), []byte("user1"), &row); err != nil {
		t.Fatal(err)
	}
	inflict := func(action lab.Action) {
		if err := a.server.Inflict(context.WithoutCancel(t.Context()), lab.Fault{Action: action, Node: 1}); err != nil {
			t.Error(err)
		}
	}
	use := func() error {
		var got kv.Row
		return errors.Join(c.Read(t.Context(), []byte("user1"), nil, &got), c.Update(t.Context(), []byte("user1"), &row))
	}
	if err := use(); err != nil { // the driver prepares the statements
		t.Fatal(err)
	}
	inflict(lab.Halt)
	resumed := make(chan struct{})
	time.AfterFunc(3*time.Second, func() { inflict(lab.Resume); close(resumed) })
	if err := use(); err != nil {
		t.Error(err)
	}
	<-resumed
}

// TestThreeNodes: the keyspace of one design has three copies, so a quorum remains after a node failure. That of the
// other design has one copy.
func TestThreeNodes(t *testing.T) {
	enginetest.AtNight(t, "one node is tested by day; three servers of Java take minutes to start and to change their tables")
	t.Parallel()
	o := small
	o.Nodes = 3
	a := archives{server: enginetest.Lab(t, cassandra.Driver(), o)}
	t.Cleanup(func() { // a kill saves the seconds that each node takes to stop
		for i := range o.Nodes {
			if err := a.server.Kill(i); err != nil {
				t.Error(err)
			}
		}
	})
	t.Run("first clients", func(t *testing.T) { firstClients(t, &a) })
	t.Run("records", func(t *testing.T) { enginetest.RunRecords(t, a.config()) })
	t.Run("silent node", func(t *testing.T) { silentNode(t, &a) })
	t.Run("replication=3", func(t *testing.T) {
		enginetest.RunCluster(t, a.of(design.Wide), a.server, true)
	})
	a.keyspace, a.replication = "single", "1"
	t.Run("replication=1", func(t *testing.T) {
		enginetest.RunCluster(t, a.of(design.Document), a.server, false)
	})
}

// firstClients: clients open a missing keyspace shortly after one another, so some of them find tables that are being
// created. No table is created twice, and no client uses a table before all nodes serve it.
func firstClients(t *testing.T, a *archives) {
	const clients, apart = 12, 30 * time.Millisecond
	url := a.url(t)
	group, ctx := errgroup.WithContext(t.Context())
	for i := range clients {
		group.Go(func() error {
			time.Sleep(time.Duration(i) * apart)
			return loadOne(ctx, url, "copy_"+strconv.Itoa(i))
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
}

// loadOne loads a record into each design.
func loadOne(ctx context.Context, url, subset string) (err error) {
	e, err := engine.Registry{cassandra.Driver()}.Open(ctx, url, engine.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	lt, _ := record.TypeByName("PCT")
	for d := range enginetest.Offered(cassandra.Driver()) {
		a, err := archive.DatabaseOf(e).Open(ctx, d)
		if err != nil {
			return err
		}
		l, err := a.Loader(ctx, subset)
		if err != nil {
			return err
		}
		one := enginetest.LongRecord(lt, 1, 3)
		c := archive.Commit{Catalog: design.NewCatalog(subset)}
		c.Catalog.Add(one)
		if err := l.Add(ctx, one); err != nil {
			return err
		}
		if _, err := l.Commit(ctx, c); err != nil {
			return err
		}
		got, err := a.Contents(ctx, subset)
		if err == nil && got.Total() != 1 {
			err = errors.New(subset + " holds " + strconv.FormatInt(got.Total(), 10) + " records")
		}
		if err := errors.Join(err, l.Close(), a.Close()); err != nil {
			return err
		}
	}
	return nil
}

// silentNode stops a node (SIGSTOP), which keeps its connections open. Clients at a quorum go on with the other nodes:
// each of them completes reads and writes of all keys while the node is stopped.
func silentNode(t *testing.T, a *archives) {
	const clients, keys, rounds = 4, 60, 3
	e, err := engine.Registry{cassandra.Driver()}.Open(t.Context(), a.url(t)+"&consistency=quorum&conditional=false", engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	records, err := kv.DatabaseOf(e).Table(t.Context(), kv.Table{Name: "silent", Fields: []string{"a"}, Make: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = records.Close() }()
	key := func(client, i int) []byte { return fmt.Appendf(nil, "user%d%04d", client, i) }
	row := func(value string) *kv.Row {
		r := &kv.Row{}
		r.Add(0, []byte(value))
		return r
	}
	use := func(do func(ctx context.Context, c *kv.Conn, client, i int) error) error {
		group, ctx := errgroup.WithContext(t.Context())
		for client := range clients {
			group.Go(func() error {
				c, err := records.Connect(ctx)
				if err != nil {
					return err
				}
				for i := range keys {
					if err := do(ctx, c, client, i); err != nil {
						return fmt.Errorf("client %d, key %d: %w", client, i, err)
					}
				}
				return nil
			})
		}
		return group.Wait()
	}
	if err := use(func(ctx context.Context, c *kv.Conn, client, i int) error {
		return c.Insert(ctx, key(client, i), row("0"))
	}); err != nil {
		t.Fatal(err)
	}
	round := func(value string) error {
		return use(func(ctx context.Context, c *kv.Conn, client, i int) error {
			var got kv.Row
			if err := c.Read(ctx, key(client, i), nil, &got); err != nil {
				return err
			}
			return c.Update(ctx, key(client, i), row(value))
		})
	}
	if err := round("1"); err != nil { // the driver prepares the statements, on any node
		t.Fatal(err)
	}
	if err := a.server.Inflict(t.Context(), lab.Fault{Action: lab.Halt, Node: 2}); err != nil {
		t.Fatal(err)
	}
	resumed := time.AfterFunc(2*time.Minute, func() {
		_ = a.server.Inflict(context.WithoutCancel(t.Context()), lab.Fault{Action: lab.Resume, Node: 2})
	})
	began := time.Now()
	for i := range rounds {
		if err := round(strconv.Itoa(i + 2)); err != nil {
			t.Error(err)
		}
		t.Logf("round %d ended %v after node 2 was stopped", i+1, time.Since(began))
	}
	t.Logf("%d reads and updates by %d clients took %v while node 2 was stopped", rounds*keys*clients, clients, time.Since(began))
	if !resumed.Stop() {
		t.Error("the clients waited for the node that was stopped")
	} else if err := a.server.Inflict(t.Context(), lab.Fault{Action: lab.Resume, Node: 2}); err != nil {
		t.Fatal(err)
	}
	err = use(func(ctx context.Context, c *kv.Conn, client, i int) error {
		var got kv.Row
		if err := c.Read(ctx, key(client, i), nil, &got); err != nil {
			return err
		}
		if _, value := got.At(0); string(value) != strconv.Itoa(rounds+1) {
			return fmt.Errorf("%q, not the last acknowledged value", value)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
