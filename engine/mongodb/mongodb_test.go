package mongodb_test

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/engine/mongodb"
	"github.com/barograph/barograph/lab"
)

// envServer names a server on which the conformance suite runs instead of FerretDB:
// mongodb://user:password@host:27017/?replicaSet=rs0. The suite creates and drops databases barograph_test_1 ….
const envServer = "BAROGRAPH_MONGODB"

// fresh returns a function that returns the URL of an empty database of a server. The end of the test drops the
// database. The lease is short, so that crash tests continue soon after a kill.
func fresh(server, query string) func(t *testing.T) string {
	var made atomic.Int64
	return func(t *testing.T) string {
		t.Helper()
		u, err := url.Parse(server)
		if err != nil {
			t.Fatal(err)
		}
		name := fmt.Sprintf("barograph_test_%d", made.Add(1))
		t.Cleanup(func() { drop(t, server, name) })
		u.Path = "/" + name
		u.RawQuery = strings.TrimPrefix(u.RawQuery+"&lease=2"+query, "&")
		return u.String()
	}
}

func drop(t *testing.T, server, name string) {
	t.Helper()
	c, err := mongo.Connect(options.Client().ApplyURI(server))
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.WithoutCancel(t.Context()) // the test's own context has ended
	if err := c.Database(name).Drop(ctx); err != nil {
		t.Errorf("drop %s: %v", name, err)
	}
	_ = c.Disconnect(ctx)
}

func TestConformance(t *testing.T) {
	server := os.Getenv(envServer)
	if server == "" {
		if l := enginetest.Lab(t, mongodb.Driver(), lab.Options{}); l != nil { // a child process gets the URL of a database
			server = l.URL()
		}
	}
	enginetest.Run(t, enginetest.Config{
		Driver:      mongodb.Driver(),
		URL:         fresh(server, ""),
		Reopenable:  true,
		Brief:       true,
		Unreachable: func(*testing.T) string { return "mongodb://root:secret@127.0.0.1:1/?serverSelectionTimeoutMS=300" },
	})
}

// TestServerDiesAndTwoLoad kills the server during loads, and lets two clients load into one subset.
func TestServerDiesAndTwoLoad(t *testing.T) {
	l := enginetest.Lab(t, mongodb.Driver(), lab.Options{})
	enginetest.RunServer(t, enginetest.Config{Driver: mongodb.Driver(), URL: fresh(l.URL(), "&serverSelectionTimeoutMS=1000")}, l)
}

// Another user of the machine can read neither the certificate of clients, nor the URL, nor the data.
func TestOtherUsers(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("NOT TESTED: root is needed to run a command as another user")
	}
	l := enginetest.Lab(t, mongodb.Driver(), lab.Options{})
	n := l.State().Cluster.Nodes[0]
	urlFile := filepath.Join(l.State().Cluster.Dir, engine.URLFile)
	for _, try := range [][]string{{"cat", n.Certificate()}, {"cat", urlFile}, {"ls", filepath.Join(n.Dir, "data")}} {
		c := exec.CommandContext(t.Context(), try[0], try[1])
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		if out, err := c.CombinedOutput(); err == nil || !strings.Contains(string(out), "Permission denied") {
			t.Errorf("%v: %v: %s", try, err, out)
		}
	}
}

// About describes FerretDB as FerretDB, and not as MongoDB.
func TestAboutNamesFerretDB(t *testing.T) {
	l := enginetest.Lab(t, mongodb.Driver(), lab.Options{})
	u, err := url.Parse(strings.Replace(l.URL(), "/?", "/x?", 1))
	if err != nil {
		t.Fatal(err)
	}
	e, err := mongodb.Driver().Open(t.Context(), u, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	a, err := e.About(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if a.Product != "FerretDB" || a.Unranked == "" {
		t.Errorf("the server is described as %+v; it is FerretDB, whose times are not ranked", a)
	}
	t.Logf("%s %s: %s", a.Product, a.Version, a.Unranked)
}
