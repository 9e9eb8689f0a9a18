package asterixdb_test

import (
	"net/url"
	"strconv"
	"sync/atomic"
	"testing"

	"barograph/engine/asterixdb"
	"barograph/engine/enginetest"
	"barograph/lab"
)

// memory is what a node of the tests may use, in bytes.
const memory = 4 << 30

// databases names fresh dataverses on one server.
type databases struct {
	server *lab.Lab
	query  string
	made   atomic.Int64
}

func (d *databases) url(t testing.TB) string {
	t.Helper()
	u, err := url.Parse(d.server.URL())
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/t" + strconv.FormatInt(d.made.Add(1), 10)
	u.RawQuery = d.query
	return u.String()
}

func config(d *databases) enginetest.Config {
	return enginetest.Config{
		Driver:     asterixdb.Driver(),
		URL:        func(t *testing.T) string { return d.url(t) },
		Reopenable: true,
		Unreachable: func(*testing.T) string {
			return "asterixdb://someone:secret@127.0.0.1:1/nowhere"
		},
	}
}

func TestConformance(t *testing.T) {
	d := &databases{server: enginetest.Lab(t, asterixdb.Driver(), lab.Options{Memory: memory})}
	enginetest.Run(t, config(d))
}

// TestServerDiesAndTwoLoad kills the server, not the client.
func TestServerDiesAndTwoLoad(t *testing.T) {
	d := &databases{server: enginetest.Lab(t, asterixdb.Driver(), lab.Options{Memory: memory})}
	enginetest.RunServer(t, config(d), d.server)
}

// Every member declared, a dataset per line type, and the array index.
func TestClosedTypes(t *testing.T) {
	d := &databases{server: enginetest.Lab(t, asterixdb.Driver(), lab.Options{Memory: memory}), query: "types=closed&indexes=epoch,iso,lead"}
	enginetest.RunCases(t, config(d))
}

func TestThreeNodes(t *testing.T) {
	d := &databases{server: enginetest.Lab(t, asterixdb.Driver(), lab.Options{Memory: memory, Nodes: 3})}
	enginetest.RunCases(t, config(d))
}
