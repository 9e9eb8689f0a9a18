package trino

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/barograph/barograph/engine/launch"
)

// TestJoined: a node is ready only if the coordinator lists it since its last start. Other nodes do not count.
func TestJoined(t *testing.T) {
	n := launch.Node{Index: 1, Dir: t.TempDir()}
	restart := func() (id string) {
		commands, err := start(&launch.Cluster{}, &n)
		if err != nil {
			t.Fatal(err)
		}
		for _, arg := range commands[0].Args {
			if name, ok := strings.CutPrefix(arg, "-Dnode.id="); ok {
				id = name
			}
		}
		return id
	}
	killed, id := restart(), restart()
	for name, c := range map[string]struct {
		active []string // nodes that the coordinator lists
		joined bool
	}{
		"joined":                  {[]string{"node1", id, "node3"}, true},
		"only others":             {[]string{"node1", "node3"}, false},
		"only before its restart": {[]string{"node1", killed, "node3"}, false},
	} {
		coordinator := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			text, _ := io.ReadAll(r.Body)
			_, id, ok := strings.Cut(string(text), "node_id = ")
			active := len(c.active)
			if ok && !slices.Contains(c.active, strings.Trim(id, "'")) {
				active = 0
			}
			fmt.Fprintf(w, `{"id": "1", "data": [[%d]]}`, active)
		}))
		k := newClient(strings.TrimPrefix(coordinator.URL, "http://"), nil)
		if err := checkJoined(t.Context(), k, &n); (err == nil) != c.joined {
			t.Errorf("%s: %v", name, err)
		}
		k.close()
		coordinator.Close()
	}
}

// TestAccounts: only the coordinator, which checks passwords, has the file with their hashes.
func TestAccounts(t *testing.T) {
	c := launch.Cluster{Dir: t.TempDir(), Password: "secret", Nodes: make([]launch.Node, 3)}
	for i := range c.Nodes {
		c.Nodes[i] = launch.Node{
			Index: i, Host: "127.0.0.1", Dir: filepath.Join(c.Dir, strconv.Itoa(i)), Ports: map[string]int{"http": 8080 + i, "https": 8443},
		}
	}
	for i := range c.Nodes {
		if _, err := prepare(&c, &c.Nodes[i]); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{passwords, authenticator} {
			if _, err := os.Stat(filepath.Join(c.Nodes[i].Dir, name)); (err == nil) != (i == 0) {
				t.Errorf("node %d: %s: %v", i+1, name, err)
			}
		}
	}
}
