package cassandra_test

import (
	"net/url"
	"strconv"
	"sync/atomic"
	"testing"

	"barograph/engine/cassandra"
	"barograph/engine/enginetest"
	"barograph/lab"
)

// archives makes fresh archives in one keyspace: tables take seconds to make.
type archives struct {
	server *lab.Lab
	made   atomic.Int64
}

// url names an archive that holds nothing.
func (a *archives) url(t testing.TB) string {
	t.Helper()
	u, err := url.Parse(a.server.URL())
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	q.Set("archive", "test_"+strconv.FormatInt(a.made.Add(1), 10))
	u.RawQuery = q.Encode()
	return u.String()
}

func (a *archives) config() enginetest.Config {
	return enginetest.Config{
		Driver:     cassandra.Driver(),
		URL:        func(t *testing.T) string { return a.url(t) },
		Reopenable: true,
		Unreachable: func(*testing.T) string {
			return "cassandra://someone:secret@127.0.0.1:1/nowhere"
		},
	}
}

// small is a server of half a gigabyte of heap, whose commits are durable.
var small = lab.Options{Profile: "tuned", Memory: 1 << 30}

func TestConformance(t *testing.T) {
	a := archives{server: enginetest.Lab(t, cassandra.Driver(), small)}
	enginetest.Run(t, a.config())
}

// TestThreeNodes keeps three copies, so that a quorum is left when a node dies.
func TestThreeNodes(t *testing.T) {
	if testing.Short() {
		t.Skip("NOT TESTED with -short: three servers of Java take minutes to start and to change their tables")
	}
	o := small
	o.Nodes = 3
	a := archives{server: enginetest.Lab(t, cassandra.Driver(), o)}
	enginetest.RunCluster(t, a.config(), a.server, true)
}

// TestServerDiesAndTwoLoad kills the server, not the client; its commits are
// durable under the profile tuned alone.
func TestServerDiesAndTwoLoad(t *testing.T) {
	a := archives{server: enginetest.Lab(t, cassandra.Driver(), small)}
	enginetest.RunServer(t, a.config(), a.server)
}
