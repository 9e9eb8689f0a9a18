package valkey_test

import (
	"net/url"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/engine/valkey"
	"github.com/barograph/barograph/lab"
)

// namespaces creates empty archives on one server.
type namespaces struct {
	server *lab.Lab
	number atomic.Int64 // of the last namespace
}

// url returns the URL of an empty archive.
func (n *namespaces) url(t testing.TB) string {
	t.Helper()
	u, err := url.Parse(n.server.URL())
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/test_" + strconv.FormatInt(n.number.Add(1), 10)
	return u.String()
}

func (n *namespaces) config() enginetest.Config {
	return enginetest.Config{
		Driver:     valkey.Driver(),
		URL:        func(t *testing.T) string { return n.url(t) },
		Reopenable: true,
		Unreachable: func(*testing.T) string {
			return "valkey://someone:secret@127.0.0.1:1/nowhere"
		},
	}
}

func TestConformance(t *testing.T) {
	n := namespaces{server: enginetest.Lab(t, valkey.Driver(), lab.Options{Profile: "tuned"})}
	enginetest.Run(t, n.config())
}

// TestThreeNodes runs the complete suite on a cluster of three masters.
func TestThreeNodes(t *testing.T) {
	enginetest.NotUnderRace(t)
	n := namespaces{server: enginetest.Lab(t, valkey.Driver(), lab.Options{Profile: "tuned", Nodes: 3})}
	enginetest.Run(t, n.config())
}

// TestServerDiesAndTwoLoad kills the server, not the client. Its commits are durable only with the profile tuned.
func TestServerDiesAndTwoLoad(t *testing.T) {
	n := namespaces{server: enginetest.Lab(t, valkey.Driver(), lab.Options{Profile: "tuned"})}
	enginetest.RunServer(t, n.config(), n.server)
}

// TestFullDisk runs the server on a small file system.
func TestFullDisk(t *testing.T) {
	enginetest.RunFullServer(t, valkey.Driver(), lab.Options{Profile: "tuned"}, func(l *lab.Lab) enginetest.Config {
		n := namespaces{server: l}
		return n.config()
	})
}

// TestPipelined: reads and writes of all workers share two connections, or those of a cluster.
func TestPipelined(t *testing.T) {
	for _, nodes := range []int{1, 3} {
		n := namespaces{server: enginetest.Lab(t, valkey.Driver(), lab.Options{Profile: "tuned", Nodes: nodes})}
		c := n.config()
		c.URL = func(t *testing.T) string {
			u, err := url.Parse(n.url(t))
			if err != nil {
				t.Fatal(err)
			}
			q := u.Query()
			q.Set("pipeline", "2")
			u.RawQuery = q.Encode()
			return u.String()
		}
		t.Run(strconv.Itoa(nodes), func(t *testing.T) { enginetest.RunRecords(t, c) })
	}
}
