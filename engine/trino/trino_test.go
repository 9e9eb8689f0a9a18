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

// TestScans runs the suite of the study scan on one node, and at night on three nodes with one placement.
func TestScans(t *testing.T) {
	for _, nodes := range []int{1, 3} {
		t.Run(fmt.Sprintf("nodes=%d", nodes), func(t *testing.T) {
			if nodes > 1 {
				enginetest.AtNight(t, "one node; on three nodes only the reader of each partition differs")
			}
			server := enginetest.Lab(t, trino.Driver(), lab.Options{Memory: memory, Nodes: nodes, Patience: 5 * time.Minute})
			var made atomic.Int64
			newURL := func(t *testing.T) string {
				t.Helper()
				u, err := url.Parse(server.URL())
				if err != nil {
					t.Fatal(err)
				}
				u.Path = "/t" + strconv.FormatInt(made.Add(1), 10)
				return u.String()
			}
			c := scantest.Config{Driver: trino.Driver(), Brief: true, Paths: enginetest.Disks, URL: newURL}
			if nodes > 1 {
				c.Fixed = &tables.Placement{Paths: enginetest.Disks(t, 3), Partitions: 4}
			}
			scantest.Run(t, c)
			about(t, server.URL(), nodes)
			if usage := scantest.Spends(t, trino.Driver(), c.URL(t), func() {}); usage.CPU <= 0 || usage.Read <= 0 {
				t.Errorf("the server reports %+v for a scan", usage)
			} else {
				t.Log(usage)
			}
			refusesStrangers(t, server.State().Cluster)
			if nodes > 1 {
				rejoins(t, server)
			}
			u, err := url.Parse(newURL(t))
			if err != nil {
				t.Fatal(err)
			}
			files, _ := scantest.StarFolder(t)
			first := u.String()
			relay, err := lab.NewRelay(u.Hostname(), u.Host)
			if err != nil {
				t.Fatal(err)
			}
			defer relay.Close()
			u.Host = relay.Addr()
			anotherAddress(t, first, u.String(), files)
			if nodes == 1 { // the certificate of the coordinator's port
				t.Run("TLS", func(t *testing.T) { enginetest.UsesTLS(t, trino.Driver(), server, 5*time.Minute) })
			}
		})
	}
}

// rejoins kills a node and starts it again. The lab must wait until the coordinator lists the new process. The
// coordinator lists the killed one for some seconds more.
func rejoins(t *testing.T, l *lab.Lab) {
	t.Helper()
	if err := errors.Join(l.Kill(1), l.Restart(t.Context(), 1)); err != nil {
		t.Fatal(err)
	}
	about(t, l.URL(), 3)
}

func about(t *testing.T, url string, nodes int) {
	t.Helper()
	e, err := engine.Registry{trino.Driver()}.Open(t.Context(), url, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	a, err := e.About(t.Context())
	if err != nil || a.Version == "" || a.Settings["nodes"] != strconv.Itoa(nodes) {
		t.Errorf("%+v, %v", a, err)
	}
}

// refusesStrangers sends a statement without the password to the port without TLS of every node, which must
// refuse it.
func refusesStrangers(t *testing.T, c launch.Cluster) {
	t.Helper()
	for i := range c.Nodes {
		to := "http://" + c.Nodes[i].Address("http") + "/v1/statement"
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, to, strings.NewReader("SELECT 1"))
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
			t.Errorf("node %d answers a stranger: %s: %s", i+1, resp.Status, text)
		}
	}
}

func TestURL(t *testing.T) {
	open := func(url string) error {
		_, err := engine.Registry{trino.Driver()}.Open(t.Context(), url, engine.Options{})
		return err
	}
	for _, parameters := range []string{"Name", "a?catalog=X-y", "a?types=open"} {
		if err := open("trino://127.0.0.1:1/" + parameters); err == nil || errors.Is(err, engine.ErrUnreachable) {
			t.Errorf("%s: %v", parameters, err)
		}
	}
	if err := open("trino://someone:secret@127.0.0.1:1/a"); !errors.Is(err, engine.ErrUnreachable) {
		t.Error(err)
	}
}
