package asterixdb_test

import (
	"net/url"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/asterixdb"
	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/lab"
)

// memory is what a node of the tests may use, in bytes.
const memory = 2 << 30

// quick has the options of Java for a server of tests: one thread collects garbage, because the heap is small.
var quick = []string{enginetest.QuickJava + " -XX:+UseSerialGC"}

func up(t *testing.T, nodes int) *lab.Lab {
	t.Helper()
	return enginetest.Lab(t, asterixdb.Driver(), lab.Options{Memory: memory, Nodes: nodes, Environment: quick})
}

// databases provides new databases on a server.
type databases struct {
	server *lab.Lab
	count  atomic.Int64
}

// url returns the URL of a new, empty database. query has the parameters of the engine.
func (d *databases) url(t testing.TB, query string) string {
	t.Helper()
	u, err := url.Parse(d.server.URL())
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/t" + strconv.FormatInt(d.count.Add(1), 10)
	u.RawQuery = query
	return u.String()
}

func (d *databases) config(query string) enginetest.Config {
	return enginetest.Config{
		Driver:     asterixdb.Driver(),
		URL:        func(t *testing.T) string { return d.url(t, query) },
		Reopenable: true,
		Brief:      true,
		Unreachable: func(*testing.T) string {
			return "asterixdb://someone:secret@127.0.0.1:1/nowhere"
		},
	}
}

// TestServer runs all tests of one node on one server, because its start and stop take ten seconds.
func TestServer(t *testing.T) {
	t.Parallel() // with TestThreeNodes, which mostly waits
	d := &databases{server: up(t, 1)}
	t.Run("conformance", func(t *testing.T) { enginetest.Run(t, d.config("")) })
	t.Run("plans", func(t *testing.T) { plans(t, d) })
	t.Run("later indexes", func(t *testing.T) { laterIndexes(t, d) })
	// With closed types every member is declared, and each line type has a dataset. lead is the array index.
	t.Run("closed types", func(t *testing.T) {
		enginetest.AtNight(t, "open types are tested by day")
		enginetest.RunCases(t, d.config("types=closed&indexes=epoch,iso,lead"))
	})
	// RunServer kills the server, not the client.
	t.Run("the server dies, and two load", func(t *testing.T) { enginetest.RunServer(t, d.config(""), d.server) })
}

// TestThreeNodes: each dataset is partitioned over three nodes; AsterixDB keeps no copies. The test kills a node with
// one design only, because the server needs a minute to notice the failure.
func TestThreeNodes(t *testing.T) {
	enginetest.AtNight(t, "one node is tested by day; a node that was killed is missed after a minute only")
	t.Parallel()
	d := &databases{server: up(t, 3)}
	only := func(n design.Name) enginetest.Config {
		c := d.config("")
		enginetest.Only(&c.Driver, n)
		return c
	}
	enginetest.RunCases(t, only(design.Normalized))
	enginetest.RunCluster(t, only(design.Document), d.server, false)
}
