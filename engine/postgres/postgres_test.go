package postgres_test

import (
	"net/url"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/engine/postgres"
	"github.com/barograph/barograph/lab"
)

// servers are shared by tests that change nothing outside of their databases.
var servers enginetest.Servers

func TestMain(m *testing.M) { servers.Main(m) }

// databases makes fresh databases on one server.
type databases struct{ server *lab.Lab }

var databaseCount atomic.Int64 // for the names of the databases

// url makes a database and names it.
func (d *databases) url(t testing.TB) string {
	t.Helper()
	name := "test_" + strconv.FormatInt(databaseCount.Add(1), 10)
	execute(t, d.server.URL(), "CREATE DATABASE "+name)
	u, err := url.Parse(d.server.URL())
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/" + name
	return u.String()
}

func TestConformance(t *testing.T) {
	d := databases{server: servers.Lab(t, postgres.Driver(), lab.Options{})}
	enginetest.Run(t, enginetest.Config{
		Driver:     postgres.Driver(),
		URL:        func(t *testing.T) string { return d.url(t) },
		Reopenable: true,
		Unreachable: func(*testing.T) string {
			return "postgres://someone:secret@127.0.0.1:1/nowhere"
		},
	})
}

// TestServerDiesAndTwoLoad kills the server, not the client.
func TestServerDiesAndTwoLoad(t *testing.T) {
	d := databases{server: enginetest.Lab(t, postgres.Driver(), lab.Options{})}
	enginetest.RunServer(t, enginetest.Config{Driver: postgres.Driver(), URL: func(t *testing.T) string { return d.url(t) }}, d.server)
}

// TestFullDisk gives the server a small file system.
func TestFullDisk(t *testing.T) {
	enginetest.RunFullServer(t, postgres.Driver(), lab.Options{}, func(l *lab.Lab) enginetest.Config {
		d := databases{server: l}
		return enginetest.Config{Driver: postgres.Driver(), URL: func(t *testing.T) string { return d.url(t) }}
	})
}
