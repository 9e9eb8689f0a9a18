package trino_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/engine/enginetest/scantest"
	"github.com/barograph/barograph/engine/launch"
	"github.com/barograph/barograph/engine/tables"
	"github.com/barograph/barograph/engine/trino"
	"github.com/barograph/barograph/lab"
)

// memory is what a node of the tests may use, in bytes.
const memory = 2 << 30

// TestScans puts the tables of the analytical workload through the suite, on
// one node, and three nodes with one placement. The one node takes clients over
// TLS only.
func TestScans(t *testing.T) {
	for _, nodes := range []int{1, 3} {
		t.Run(fmt.Sprintf("nodes=%d", nodes), func(t *testing.T) {
			if nodes > 1 {
				enginetest.AtNight(t, "three nodes differ from one in who reads which part alone")
			}
			server := enginetest.Lab(t, trino.Driver(), lab.Options{Memory: memory, Nodes: nodes, Patience: 5 * time.Minute})
			var made atomic.Int64
			c := scantest.Config{Driver: trino.Driver(), Brief: true, Paths: enginetest.Disks, URL: func(t *testing.T) string {
				t.Helper()
				u, err := url.Parse(server.URL())
				if err != nil {
					t.Fatal(err)
				}
				u.Path = "/t" + strconv.FormatInt(made.Add(1), 10)
				return u.String()
			}}
			if nodes > 1 {
				c.Fixed = &tables.Placement{Paths: enginetest.Disks(t, 3), Partitions: 4}
			}
			scantest.Run(t, c)
			about(t, server.URL(), nodes)
			if spent := scantest.Spends(t, trino.Driver(), c.URL(t), func() {}); spent.CPU <= 0 || spent.Read <= 0 {
				t.Errorf("the server says that it spent %+v on a scan", spent)
			} else {
				t.Log(spent)
			}
			locked(t, server.State().Cluster)
			if nodes == 1 { // the certificate of the coordinator's port
				t.Run("TLS", func(t *testing.T) { enginetest.UsesTLS(t, trino.Driver(), server, 5*time.Minute) })
			}
		})
	}
}

func about(t *testing.T, at string, nodes int) {
	t.Helper()
	e, err := engine.Registry{trino.Driver()}.Open(t.Context(), at, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	a, err := e.About(t.Context())
	if err != nil || a.Version == "" || a.Settings["nodes"] != strconv.Itoa(nodes) {
		t.Errorf("%+v, %v", a, err)
	}
}

// locked: nobody is answered without the password past TLS, by the coordinator or
// by another node.
func locked(t *testing.T, c launch.Cluster) {
	t.Helper()
	for i := range c.Nodes {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+c.Nodes[i].Address("http")+"/v1/statement", strings.NewReader("SELECT 1"))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-Trino-User", "someone")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if resp.StatusCode < 400 {
			t.Errorf("node %d answers someone: %s: %s", i+1, resp.Status, text)
		}
	}
}

func TestURL(t *testing.T) {
	for _, bad := range []string{"trino://127.0.0.1:1/Name", "trino://127.0.0.1:1/a?catalog=X-y", "trino://127.0.0.1:1/a?types=open"} {
		if _, err := (engine.Registry{trino.Driver()}).Open(t.Context(), bad, engine.Options{}); err == nil || errors.Is(err, engine.ErrUnreachable) {
			t.Errorf("%s: %v", bad, err)
		}
	}
	if _, err := (engine.Registry{trino.Driver()}).Open(t.Context(), "trino://someone:secret@127.0.0.1:1/a", engine.Options{}); !errors.Is(err, engine.ErrUnreachable) {
		t.Error(err)
	}
}
