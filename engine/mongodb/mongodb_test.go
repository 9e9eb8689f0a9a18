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

// envServer names a server to run the conformance suite against, in place of
// FerretDB: mongodb://user:password@host:27017/?replicaSet=rs0. The suite makes
// databases barograph_test_1 … and drops them.
const envServer = "BAROGRAPH_MONGODB"

// fresh returns a function that names an empty database of a server by a URL; it
// is dropped with the test. A short lease lets crash tests go on soon.
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
	ctx := context.WithoutCancel(t.Context()) // which has ended
	if err := c.Database(name).Drop(ctx); err != nil {
		t.Errorf("drop %s: %v", name, err)
	}
	_ = c.Disconnect(ctx)
}

func TestConformance(t *testing.T) {
	server := os.Getenv(envServer)
	if server == "" {
		if l := enginetest.Lab(t, mongodb.Driver(), lab.Options{}); l != nil { // a child process is given its URL
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

// The server is killed during a load, and two loads go into one subset.
func TestServerDiesAndTwoLoad(t *testing.T) {
	l := enginetest.Lab(t, mongodb.Driver(), lab.Options{})
	enginetest.RunServer(t, enginetest.Config{Driver: mongodb.Driver(), URL: fresh(l.URL(), "&serverSelectionTimeoutMS=1000")}, l)
}

// Another user of the machine reads neither the certificate that lets clients in, nor the URL, nor the data.
func TestOtherUsers(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("NOT TESTED: another user takes root")
	}
	l := enginetest.Lab(t, mongodb.Driver(), lab.Options{})
	n := l.State().Cluster.Nodes[0]
	for _, try := range [][]string{{"cat", n.Certificate()}, {"cat", filepath.Join(l.State().Cluster.Dir, engine.URLFile)}, {"ls", filepath.Join(n.Dir, "data")}} {
		c := exec.CommandContext(t.Context(), try[0], try[1])
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		if out, err := c.CombinedOutput(); err == nil || !strings.Contains(string(out), "Permission denied") {
			t.Errorf("%v: %v: %s", try, err, out)
		}
	}
}

// A run names the server that it really was.
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
		t.Errorf("the server is %+v; it is FerretDB, whose times are in no ranking", a)
	}
	t.Logf("%s %s: %s", a.Product, a.Version, a.Unranked)
}
